//! Whether the same load had the same throughput each time it was measured.
//!
//! Burst credits and caches are used up between measurements as well as within them. Two
//! measurements of one load at the same number of I/Os in flight can be compared; different loads
//! have different ceilings anyway.

use serde::{Deserialize, Serialize};

use crate::words::grouped;

/// Measurements that differ by this factor or more had different levels. Runs of a noisy host (10 %
/// standard deviation) differ by as much in 4 of 1 000 pairs.
pub const FACTOR: f64 = 1.5;

/// One measurement of a load, at one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// I/Os in flight, over all threads.
    pub in_flight: u64,
    /// I/Os per second.
    pub iops: f64,
    /// Half width of the 95 % interval of that, where known.
    pub half_width_percent: Option<f64>,
}

/// Two levels of the same load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelChange {
    /// The load in words, for example `4 KiB random write`.
    pub load: String,
    /// I/Os in flight at both measurements.
    pub in_flight: u64,
    /// I/Os a second at the earlier measurement.
    pub before_iops: f64,
    /// I/Os a second at the last measurement.
    pub last_iops: f64,
    /// How the level changed, in one or two sentences.
    pub statement: String,
}

impl LevelChange {
    /// Whether the last level is the lower one.
    #[must_use]
    pub fn fell(&self) -> bool {
        self.last_iops < self.before_iops
    }
}

/// The change from the runs before to the last one, in the order in which they were made: the
/// earlier run that is farthest from the last counts. `None` where none is 1.5 times as fast or as
/// slow, or where the intervals meet.
#[must_use]
pub fn change(load: &str, runs: &[Run]) -> Option<LevelChange> {
    let usable = |run: &Run| run.iops.is_finite() && run.iops > 0.0;
    let (last, before) = runs.split_last()?;
    let last = Some(last).filter(|run| usable(run))?;
    let ratio = |run: &Run| (run.iops / last.iops).ln().abs();
    let same = before.iter().filter(|run| usable(run) && run.in_flight == last.in_flight);
    let farthest = same.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let half = |run: &Run| run.half_width_percent.unwrap_or(0.0) / 100.0 * run.iops;
    let apart = (farthest.iops - last.iops).abs() > half(farthest) + half(last);
    (apart && ratio(farthest) >= FACTOR.ln()).then(|| LevelChange {
        load: load.to_owned(),
        in_flight: last.in_flight,
        before_iops: farthest.iops,
        last_iops: last.iops,
        statement: statement(load, farthest, last),
    })
}

fn statement(load: &str, before: &Run, last: &Run) -> String {
    let why = if last.iops < before.iops {
        "Credits or a cache were used up in between; the last level is the one that is judged."
    } else {
        "A cache filled, or the storage was busy at first."
    };
    format!(
        "{load} at {} in flight had two levels: {} IOPS, and later {} IOPS. {why}",
        last.in_flight,
        grouped(before.iops),
        grouped(last.iops)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(in_flight: u64, iops: f64) -> Run {
        Run { in_flight, iops, half_width_percent: Some(2.0) }
    }

    #[test]
    fn the_last_level_is_told_from_the_farthest_before() {
        let found = change("reads", &[run(8, 32_000.0), run(8, 1000.0), run(8, 500.0)]).unwrap();
        assert!(found.fell());
        let said = "reads at 8 in flight had two levels: 32 000 IOPS, and later 500 IOPS. ";
        assert!(found.statement.starts_with(said), "{}", found.statement);
        let rise = change("reads", &[run(8, 500.0), run(8, 32_000.0)]).unwrap();
        assert!(!rise.fell() && rise.statement.contains("A cache filled"), "{}", rise.statement);
    }

    #[test]
    fn other_depths_noise_and_wide_intervals_are_no_change() {
        assert_eq!(change("reads", &[run(4, 32_000.0), run(8, 500.0)]), None);
        assert_eq!(change("reads", &[run(8, 1400.0), run(8, 1000.0)]), None);
        let wide = Run { half_width_percent: Some(40.0), ..run(8, 1600.0) };
        assert_eq!(change("reads", &[wide, run(8, 1000.0)]), None);
        assert!(change("reads", &[run(8, 1600.0), run(8, 1000.0)]).is_some());
        assert_eq!(change("reads", &[run(8, 1600.0)]), None);
        assert_eq!(change("reads", &[]), None);
    }

    proptest! {
        #[test]
        fn no_input_panics(runs in proptest::collection::vec((0..3_u64, any::<f64>(),
            any::<Option<f64>>()), 0..5)) {
            let run = |(in_flight, iops, half_width_percent)| Run { in_flight, iops,
                half_width_percent };
            let runs: Vec<Run> = runs.into_iter().map(run).collect();
            if let Some(found) = change("reads", &runs) {
                prop_assert!(found.before_iops.is_finite() && found.last_iops.is_finite());
            }
        }
    }
}
