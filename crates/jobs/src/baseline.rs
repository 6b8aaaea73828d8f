//! The baseline of a place: results that have a tag, with which later results are compared.
//!
//! A baseline has several results, because one alone does not show how far results differ when
//! nothing changed.

use history::compare::{BAND_PERCENT, CompareOptions, KeptSide, compare_kept};
use history::{Entry, Filter, History, HistoryError, Order, Page};
use results::{Comparison, Document, Status};
use survey::Site;

use crate::again::{Again, AgainError, again};
use crate::plan::Plan;

/// Results that make a baseline: from five, the spread between results is known well enough that a
/// change of a tenth shows.
pub const BASELINE_RESULTS: u64 = 5;

/// The plan to measure, and the results to compare it with.
#[derive(Debug)]
pub struct Baseline {
    /// The results with the tag, of the same target and host, the oldest first; empty where a
    /// baseline has to be measured.
    pub older: Vec<Entry>,
    /// The plans to carry out: those of a new baseline, or the one that repeats the newest of it.
    pub plans: Vec<Plan>,
}

impl Baseline {
    /// Looks for the baseline of the target of `plan`. If there is none, or if a new one is asked
    /// for, runs `plan` several times, each time with another seed.
    ///
    /// # Errors
    /// The history cannot be read, or the newest result of the baseline cannot be repeated.
    pub fn find(
        history: &History,
        tag: &str,
        plan: &Plan,
        renew: bool,
    ) -> Result<Self, AgainError> {
        let older = if renew { Vec::new() } else { tagged(history, tag, plan)? };
        let Some(newest) = older.last() else {
            let plans = (0..BASELINE_RESULTS).map(|n| seeded(plan, n)).collect();
            return Ok(Self { older, plans });
        };
        // Loads that are no longer alike are left to the comparison, which gives the reason.
        let wanted = Again { selector: &newest.id, anyway: true };
        let plans = vec![again(history, wanted)?.plan];
        Ok(Self { older, plans })
    }

    /// Whether this call measures a new baseline.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.older.is_empty()
    }
}

/// The same measurement with other random choices.
fn seeded(plan: &Plan, number: u64) -> Plan {
    let mut plan = plan.clone();
    if let Plan::Assess(options) = &mut plan {
        options.seed = options.seed.wrapping_add(number);
    }
    plan
}

/// The results with a tag that measured the target of a plan on this host, the oldest first.
fn tagged(history: &History, tag: &str, plan: &Plan) -> Result<Vec<Entry>, HistoryError> {
    let job = plan.job();
    let targets = job.targets();
    let host = (!job.is_artificial())
        .then(|| Site::of_paths(&targets).environment().host.as_ref().map(|h| h.hostname.clone()))
        .flatten();
    let filter = Filter {
        tag: Some(tag.to_owned()),
        target: targets.first().map(|target| target.display().to_string()),
        host: host.clone(),
        ..Filter::default()
    };
    let mut found = history.list(&filter, Order::OLDEST, Page::ALL)?.entries;
    // Without a host, the filter takes those of every host.
    found.retain(|entry| entry.host == host && entry.status == Some(Status::Complete));
    Ok(found)
}

/// Gives new results the tag, and takes it from the older ones of the same target and host.
///
/// # Errors
/// The history cannot be written.
pub fn set_baseline(
    history: &History,
    tag: &str,
    plan: &Plan,
    new: &[String],
) -> Result<(), HistoryError> {
    let older = tagged(history, tag, plan)?;
    history.all_or_nothing(|| {
        for entry in older.iter().filter(|entry| !new.contains(&entry.id)) {
            history.untag(&entry.id, tag)?;
        }
        for id in new {
            history.tag(id, tag)?;
        }
        Ok(())
    })
}

/// Compares a new result with a baseline.
///
/// # Errors
/// The history cannot be read.
pub fn compare_with_baseline(
    history: &History,
    tag: &str,
    older: &[Entry],
    new: &Document,
) -> Result<Comparison, HistoryError> {
    let how = CompareOptions {
        band_percent: BAND_PERCENT,
        anyway: false,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    let name = format!("@{tag}");
    let judged = [history.find(new.id())?];
    let a = KeptSide { name: &name, entries: older };
    let b = KeptSide { name: new.id(), entries: &judged };
    compare_kept(history, a, b, how)
}
