//! The time that an experiment has taken, and the time that is left.

use std::time::{Duration, Instant};

use results::Measurement;

use crate::forecast::LabForecast;

/// No forecast before so many steps and seconds: the first steps are the shortest.
const TOLD_FROM: (usize, f64) = (3, 10.0);

/// How long the steps from this one on may take, by how long those before it took.
pub(crate) fn seconds_left(elapsed: Duration, number: usize, of: usize) -> Option<f64> {
    let (done, seconds) = (number.saturating_sub(1), elapsed.as_secs_f64());
    let is_known = done >= TOLD_FROM.0 && seconds >= TOLD_FROM.1;
    is_known.then(|| seconds / done as f64 * (of + 1).saturating_sub(number) as f64)
}

/// What of an experiment is over, and how long the rest takes.
#[derive(Debug, Default)]
pub(crate) struct LabClock {
    foreseen: Option<LabForecast>,
    /// When the first step was reported that was not the making of the files, its number, and how
    /// many measurements there were before it.
    begun: Option<(Instant, usize, usize)>,
    /// What was said last: the time left only falls.
    told_s: Option<f64>,
    /// Time of the measurements that were made, with warm-up and pauses, whether or not it passed.
    pub(crate) spent_s: f64,
}

impl LabClock {
    pub(crate) fn new(foreseen: Option<LabForecast>) -> Self {
        Self { foreseen, ..Self::default() }
    }

    /// The time left at the beginning of a step, when so many measurements are there: what the
    /// forecast says, scaled by how long the measurements so far took against it.
    pub(crate) fn seconds_left(&mut self, step: (usize, usize), there: usize) -> Option<f64> {
        let (number, of) = step;
        let (begun, first, before) =
            *self.begun.get_or_insert_with(|| (Instant::now(), number, there));
        let elapsed = begun.elapsed();
        let by_steps = || seconds_left(elapsed, number + 1 - first, of + 1 - first);
        let foreseen = self.foreseen.as_ref().and_then(|forecast| {
            let (all_s, left_s) = (forecast.after(before)?, forecast.after(there)?);
            let done_s = all_s - left_s;
            let pace = if done_s > 0.0 { elapsed.as_secs_f64() / done_s } else { 1.0 };
            Some(left_s * pace)
        });
        let left_s = foreseen.or_else(by_steps)?;
        let told_s = self.told_s.map_or(left_s, |told_s| told_s.min(left_s));
        self.told_s = Some(told_s);
        Some(told_s)
    }
}

/// How long a measurement took, from the first I/O to the last.
pub(crate) fn seconds_of(measurement: &Measurement) -> f64 {
    let warmup_s: f64 = measurement.warmup_series.iter().map(|point| point.seconds).sum();
    measurement.workload.warmup_seconds + warmup_s + measurement.seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_from_what_was_done_and_not_before_something_was() {
        let after = |seconds, number, of| seconds_left(Duration::from_secs(seconds), number, of);
        assert_eq!(after(60, 1, 40), None, "nothing was done yet");
        assert_eq!(after(2, 10, 40), None, "the first steps are the shortest");
        assert_eq!(after(30, 11, 40), Some(90.0), "3 s each, and 30 of them");
        assert_eq!(after(30, 41, 40), Some(0.0), "one that nobody expected");
    }

    /// The time left rose whenever a step took longer than those before it.
    #[test]
    fn the_time_left_only_falls() {
        let mut foreseen = LabForecast::default();
        for end_s in [10.0, 20.0, 100.0] {
            foreseen.push(end_s);
        }
        let begun = Instant::now().checked_sub(Duration::from_secs(30));
        let told = |there| {
            let mut clock = LabClock { foreseen: Some(foreseen.clone()), ..LabClock::default() };
            clock.begun = begun.map(|begun| (begun, 1, 0));
            clock.seconds_left((there + 1, 3), there)
        };
        let near =
            |left_s: Option<f64>, truth: f64| left_s.is_some_and(|l| (l - truth).abs() < 0.1);
        assert!(near(told(1), 270.0), "three times as long as foreseen");
        assert!(near(told(2), 120.0), "half as long again");
        let mut clock = LabClock { foreseen: Some(foreseen), ..LabClock::default() };
        assert_eq!(clock.seconds_left((1, 3), 0), Some(100.0), "as foreseen");
        clock.begun = begun.map(|begun| (begun, 1, 0));
        assert_eq!(clock.seconds_left((2, 3), 1), Some(100.0), "never more than was said");
        assert!(near(clock.seconds_left((3, 3), 3), 0.0));
        assert_eq!(clock.seconds_left((9, 9), 8), Some(0.0), "more than were foreseen");
    }
}
