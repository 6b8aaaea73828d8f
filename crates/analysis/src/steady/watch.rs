//! A series that grows, looked at now and then until its mean is known well enough.

use super::{Rule, Steady, judge};

/// Each look is this much later than the one before. Looking all the time would end a run at its
/// luckiest moment (Y. Chow, H. Robbins, 1965, on sequential intervals; the cure is few looks and a
/// second one that agrees).
const LATER: f64 = 1.15;
/// Looks in a row that have to find it settled.
const AGREE: u32 = 2;

/// Looks at a growing series at geometrically spaced times and says when it is enough.
#[derive(Debug, Clone)]
pub struct Watch {
    rule: Rule,
    bucket_s: f64,
    series: Vec<f64>,
    /// Seconds of the series at which it is looked at next.
    next_s: f64,
    settled_looks: u32,
}

impl Watch {
    /// A watch without values. Each value will stand for `bucket_s` seconds.
    #[must_use]
    pub fn new(rule: Rule, bucket_s: f64) -> Self {
        let next_s = rule.at_least_s.max(bucket_s);
        Self { rule, bucket_s, series: Vec::new(), next_s, settled_looks: 0 }
    }

    /// Takes the next value (completions per second). True when the series was settled at two looks
    /// in a row and nothing forbids an end; the caller ends the run then, and at `at_most_s` in any
    /// case.
    ///
    /// `may_stop` is false while something else forbids an end, as long as a write has not exceeded
    /// the caches that may be there: no statistic foresees a cliff. A value that is not finite
    /// counts as time that passed without one.
    pub fn push(&mut self, value: f64, may_stop: bool) -> bool {
        self.series.push(value);
        let seconds = self.series.len() as f64 * self.bucket_s;
        let due = seconds >= self.next_s * (1.0 - 1e-9);
        if !due {
            return false;
        }
        self.next_s = seconds * LATER;
        let settled = self.conclude().settled;
        self.settled_looks = if settled { self.settled_looks.saturating_add(1) } else { 0 };
        self.settled_looks >= AGREE && may_stop
    }

    /// All values that were added so far.
    #[must_use]
    pub fn series(&self) -> &[f64] {
        &self.series
    }

    /// How well the mean is known at this moment.
    #[must_use]
    pub fn conclude(&self) -> Steady {
        judge(&self.series, self.bucket_s, self.rule.precision_percent)
    }
}
