//! Which load to offer next, so that few trials show how much fits within each limit.

use super::capacity::{Fit, Level, Trial};
use super::limits::Limits;

/// How far a step goes where nothing is known on one side.
const UP: f64 = 1.5;
const DOWN: f64 = 3.0;
/// Loads below this share of the first are too small to try.
const LEAST_SHARE: f64 = 0.01;

/// A search over the load of an open loop: the widest limit first, then the stricter ones between
/// the loads that are known already.
///
/// It stores only where it begins and ends: the next load follows from the trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadSearch {
    /// The load that the search begins with.
    pub first: f64,
    /// A load that fits and one that does not are close enough at this ratio.
    pub close: f64,
    /// The most trials that it makes.
    pub at_most: usize,
}

impl LoadSearch {
    /// The load to offer next; `None` if the search is over.
    #[must_use]
    pub fn next(&self, limits: &Limits, trials: &[Trial]) -> Option<f64> {
        if !(self.first > 0.0 && self.first.is_finite()) || trials.len() >= self.at_most {
            return None;
        }
        if trials.is_empty() {
            return Some(self.first);
        }
        Level::ALL.iter().rev().find_map(|level| self.between(limits, *level, trials))
    }

    fn between(&self, limits: &Limits, level: Level, trials: &[Trial]) -> Option<f64> {
        let loads = |fits: bool| {
            let of = trials.iter().filter(move |t| t.fits(limits, level).is_yes() == fits);
            of.map(Trial::load)
        };
        let beyond = loads(false).reduce(f64::min);
        let within = loads(true).filter(|l| beyond.is_none_or(|b| *l < b)).reduce(f64::max);
        match (within, beyond) {
            (Some(within), Some(beyond)) if beyond > self.close * within => {
                Some((within * beyond).sqrt())
            }
            // The widest limit needs a load that is too much for sure.
            (Some(_), Some(_)) if level == Level::Acceptable => {
                let sure = trials.iter().any(|t| t.fits(limits, level) == Fit::No);
                let most = trials.iter().map(Trial::load).fold(0.0, f64::max);
                (!sure).then_some(most * self.close)
            }
            (Some(within), None) => Some(within * UP),
            (None, Some(beyond)) => (beyond > LEAST_SHARE * self.first).then_some(beyond / DOWN),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }
}
