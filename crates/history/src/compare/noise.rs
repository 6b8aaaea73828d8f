//! How far runs differ by themselves on a host: what a single run is held against.

use std::collections::BTreeMap;

use analysis::comparison::{KNOWN_RUNS, Spread};
use analysis::numbers;
use results::{Document, Figure};

use super::figures;
use super::loads::Groups;

/// The widest spread between runs of one result that was seen, figure by figure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Noise {
    widest: BTreeMap<Figure, Spread>,
}

impl Noise {
    /// Looks for loads that ran three times or more within one result. Runs of several results may
    /// be months apart, and changes between them are not noise.
    pub fn of<'a>(documents: impl IntoIterator<Item = &'a Document>) -> Self {
        let mut noise = Self::default();
        for document in documents {
            let groups = Groups::of(std::slice::from_ref(document));
            for group in groups.all().filter(|g| g.runs.len() >= KNOWN_RUNS) {
                for figure in Figure::ALL {
                    noise.see(figure, &figures::values(figure, &group.runs));
                }
            }
        }
        noise
    }

    fn see(&mut self, figure: Figure, values: &[f64]) {
        let Some(cv_percent) = numbers::cv_percent(values) else { return };
        if values.len() < KNOWN_RUNS {
            return;
        }
        let seen = Spread { cv_percent, runs: values.len() };
        let widest = self.widest.entry(figure).or_insert(seen);
        if seen.cv_percent > widest.cv_percent {
            *widest = seen;
        }
    }

    /// The widest spread of a figure; `None` if no load was repeated.
    #[must_use]
    pub fn known(&self, figure: Figure) -> Option<Spread> {
        self.widest.get(&figure).copied()
    }

    /// What a single run is held against, in a sentence.
    pub(super) fn sentence(&self) -> Option<String> {
        // Runs that did not differ at all, as of an ideal simulated device, tell nothing of noise.
        let spread = self.known(Figure::Iops).filter(|spread| spread.cv_percent > 0.0)?;
        Some(format!(
            "A single run is held against the widest spread that repeated runs showed on this \
             host: {} % in IOPS over {} runs.",
            workload::show_number(spread.cv_percent),
            spread.runs
        ))
    }
}
