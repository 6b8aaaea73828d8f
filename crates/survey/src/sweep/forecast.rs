//! How many measurements an adaptive sweep makes and how long they take, before anything is known
//! of the storage.

use std::collections::{BTreeMap, BTreeSet};

use workload::sweep::{Cell, Plan};

use super::adaptive::BUDGET_SHARE;
use super::checks::{CHECKS, kinds};
use super::rising::REPEATS;

/// A window that may end ends at the second look, this many times later than the first.
const SECOND_LOOK: f64 = 1.15;
/// The deepest loads of the smallest and of the largest block, over their whole length.
const CORNERS: usize = 2;
/// The same load split in two ways, at both ends of the sizes.
const CONTROLS: usize = 4;

/// About what an adaptive sweep takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Measurements, those apart that make the best of a load better known.
    pub measurements: usize,
    /// Seconds of warm-ups, windows and pauses.
    pub seconds: f64,
}

/// Forecasts an adaptive sweep: every ramp goes up to the deepest load, windows end as soon as they
/// may, there are no repetitions beyond the nine that show what a measurement is worth and the time
/// that is reserved for others, and the checks call for no more.
#[must_use]
pub fn forecast(plan: &Plan) -> Forecast {
    let cells = plan.cells();
    let cells_of: Vec<&Cell> = cells.iter().collect();
    let pause_s = if plan.engine.is_artificial() { 0.0 } else { plan.settle_seconds };
    let (mut measurements, mut seconds) = (0, 0.0);
    for kind in &kinds(&cells_of) {
        let count = design_count(kind);
        let longest = kind.iter().map(|c| c.seconds).fold(0.0, f64::max);
        let warmup = kind.iter().map(|c| c.warmup_seconds).fold(0.0, f64::max);
        let (window, first) = match plan.precision {
            None => (longest, longest),
            Some(p) if kind[0].write_percent > 0 => {
                (SECOND_LOOK * p.at_least_seconds, p.written_seconds)
            }
            Some(p) => (SECOND_LOOK * p.at_least_seconds, SECOND_LOOK * p.at_least_seconds),
        };
        // Checks have the whole length, whatever is known before.
        let left = kind.len() - count;
        // With more cells, nine are drawn, and the two corners are measured in addition.
        let checks = if left > CHECKS { CHECKS + CORNERS } else { left };
        let count = count + REPEATS.min(count);
        measurements += count + checks;
        seconds += checks as f64 * (warmup + longest);
        seconds += pause_s + first.min(longest) - window.min(longest);
        seconds += count as f64 * (warmup + window.min(longest));
    }
    let whole_s = plan.times(&cells).total_s();
    Forecast { measurements, seconds: seconds.max(BUDGET_SHARE * whole_s).min(whole_s) }
}

/// Cells of one kind that are measured at least once.
fn design_count(kind: &[&Cell]) -> usize {
    let mut sizes: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for cell in kind {
        sizes.entry(cell.block_bytes.0).or_default().insert(cell.in_flight());
    }
    let last = sizes.len() - 1;
    let of_size = |(place, loads): (usize, &BTreeSet<u64>)| {
        if place == 0 || place == last { ramp_length(loads) } else { loads.len().min(2) }
    };
    let count: usize = sizes.values().enumerate().map(of_size).sum();
    let split = kind.iter().any(|c| c.threads != kind[0].threads);
    (count + if split { CONTROLS } else { 0 }).min(kind.len())
}

/// Loads of which each is at least twice the one before.
fn ramp_length(loads: &BTreeSet<u64>) -> usize {
    let mut before = 0;
    let rising = loads.iter().filter(|load| {
        let taken = **load >= 2 * before;
        if taken {
            before = **load;
        }
        taken
    });
    rising.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::sweep::{Matrix, preset};
    use workload::{Bytes, Precision};

    fn plan(blocks: &[u64], threads: &[u32]) -> Plan {
        let matrix = Matrix {
            blocks: blocks.iter().map(|b| Bytes(*b)).collect(),
            threads: threads.to_vec(),
            depths: vec![1, 2, 3, 4, 8],
            ..Matrix::default()
        };
        let precision = Some(Precision { percent: 5.0, ..Precision::default() });
        Plan { adaptive: true, precision, settle_seconds: 0.0, ..Plan::new("test", vec![matrix]) }
    }

    #[test]
    fn two_ramps_two_cells_of_each_size_between_controls_repetitions_and_checks_are_foreseen() {
        // 1, 2, 4, 8 in flight at either end, each twice; 3 is not twice the load before. The rest
        // of ten cells checks the others.
        assert_eq!(forecast(&plan(&[4096, 65536], &[1])).measurements, 8 + 8 + 2);
        assert_eq!(forecast(&plan(&[4096, 8192, 16384, 65536], &[1])).measurements, 12 + 9 + 8);
        // With 2 threads there are 16 in flight as well; 6 of 20 cells are left.
        assert_eq!(forecast(&plan(&[4096, 65536], &[1, 2])).measurements, 10 + 4 + 9 + 6);
    }

    #[test]
    fn no_longer_is_foreseen_than_the_whole_matrix() {
        let plan = plan(&[4096], &[1]);
        let whole_s = plan.times(&plan.cells()).total_s();
        let Forecast { seconds, .. } = forecast(&plan);
        assert!(seconds <= whole_s, "{seconds}");
        assert!(seconds > BUDGET_SHARE * whole_s, "a few cells take longer than their share");
    }

    #[test]
    fn the_large_matrix_takes_about_five_hours() {
        let mut plan = preset("grove-rasmussen").unwrap().plan();
        plan.adaptive = true;
        plan.precision = Some(Precision { percent: 5.0, ..Precision::default() });
        let Forecast { measurements, seconds } = forecast(&plan);
        assert!((4.0..6.0).contains(&(seconds / 3600.0)), "{seconds} s for {measurements}");
    }
}
