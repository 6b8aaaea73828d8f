//! The checks on devices that are formulas.

use super::*;
use proptest::prelude::*;
use workload::sweep::Matrix;
use workload::{Bytes, Precision};

fn plan(seed: u64) -> Plan {
    let matrix = Matrix {
        blocks: [4096, 8192, 65536, 262_144, 1 << 20].map(Bytes).to_vec(),
        threads: vec![1, 2, 4, 8],
        depths: vec![1, 2, 4, 8, 16, 32, 64],
        seconds: 60.0,
        ..Matrix::default()
    };
    let precision = Some(Precision { percent: 5.0, ..Precision::default() });
    Plan { adaptive: true, precision, seed, ..Plan::new("t", vec![matrix]) }
}

/// What a cell gives at the start of a window and over all of it.
type Device<'d> = &'d dyn Fn(&Cell) -> (f64, f64);

/// What each measurement is multiplied with, by its number.
type Noise<'n> = &'n dyn Fn(usize) -> f64;

/// Measures until no more is asked for; returns the measurements.
fn measure(plan: &Plan, cells: &[&Cell], device: Device<'_>) -> Vec<Record> {
    measure_noisy(plan, cells, device, &|_| 1.0)
}

fn measure_noisy(
    plan: &Plan,
    cells: &[&Cell],
    device: Device<'_>,
    noise: Noise<'_>,
) -> Vec<Record> {
    let (mut records, mut fitted) = (Vec::new(), Fitted::new());
    while let Some(step) = Standing::of(plan, cells, &records, &mut fitted).next {
        let factor = noise(records.len());
        let (start_iops, whole_iops) = device(step.cell);
        let (start_iops, whole_iops) = (factor * start_iops, factor * whole_iops);
        let iops = if step.whole { whole_iops } else { start_iops };
        let seconds = if step.whole { 60.0 } else { 6.0 };
        let latency_ns = 1e9 * step.cell.in_flight() as f64 / iops;
        let round = Round { iops, latency_ns, seconds, half_width_percent: None };
        records.push(Record { cell: step.cell.number, slot: step.slot, round, start_iops });
        assert!(records.len() < 1000, "it comes to an end");
    }
    records
}

/// Share of the inferred cells whose whole window is inside of their interval; `None` if nothing is
/// inferred.
fn coverage(standing: &Standing<'_>, records: &[Record], device: Device<'_>) -> Option<f64> {
    let inferred = |c: &&&Cell| records.iter().all(|r| r.cell != c.number);
    let inside = |c: &&Cell| {
        let found = standing.inferred(c).unwrap();
        let off = (device(c).1 / found.iops).ln().abs();
        off <= (found.error_percent / 100.0).ln_1p() + 1e-9
    };
    let found: Vec<bool> = standing.cells.iter().filter(inferred).map(inside).collect();
    let held = found.iter().filter(|held| **held).count();
    (!found.is_empty()).then(|| held as f64 / found.len() as f64)
}

/// Numbers of a normal distribution that look random.
fn normal(number: usize) -> f64 {
    let uniform = |n: usize| {
        let x = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let x = (x ^ (x >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((x >> 11) as f64 + 1.0) / (1u64 << 53) as f64
    };
    let (radius, turn) = (uniform(2 * number), uniform(2 * number + 1));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
}

/// Sixteen servers with a time per I/O and a time per byte, and a link of 1 GB/s.
fn plain(cell: &Cell) -> f64 {
    let (n, block) = (cell.in_flight() as f64, cell.block_bytes.0 as f64);
    let service = 1e-3 + block / 500e6;
    (n / (service + block / 1e9)).min(16.0 / service).min(1e9 / block)
}

/// A number from 0 to 1 that looks random.
fn chance(cell: &Cell) -> f64 {
    let x = u64::from(cell.number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn a_device_that_the_model_describes_is_checked_nine_times_and_not_refined() {
    let (plan, device) = (plan(7), |c: &Cell| (plain(c), plain(c)));
    let all = plan.cells();
    let cells: Vec<&Cell> = all.iter().collect();
    let records = measure(&plan, &cells, &device);
    let standing = Standing::of(&plan, &cells, &records, &mut Fitted::new());
    // Two more corners, which may be among the nine.
    let checked = records.iter().filter(|r| r.slot == CHECK_SLOT).count();
    assert!((CHECKS..=CHECKS + 2).contains(&checked), "{checked}");
    let published = standing.publish().unwrap();
    assert_eq!((published.refinements.len(), published.cells.len()), (0, CHECKS));
    assert!(published.widened_percent.unwrap() < 5.0, "{published:?}");
    assert!(coverage(&standing, &records, &device).unwrap() >= 0.9);
}

/// Credits that run out within a window: short windows saw four times the rate, their checks had
/// wide intervals because of the fall, and these excused the difference.
#[test]
fn what_changes_within_a_window_does_not_confirm_what_short_windows_saw() {
    let (plan, device) = (plan(7), |c: &Cell| (plain(c), plain(c).min(3000.0)));
    let all = plan.cells();
    let cells: Vec<&Cell> = all.iter().collect();
    let records = measure(&plan, &cells, &device);
    let standing = Standing::of(&plan, &cells, &records, &mut Fitted::new());
    assert_eq!(standing.refinements.first(), Some(&Refinement::WholeWindows));
    assert!(!standing.short_windows);
    if let Some(held) = coverage(&standing, &records, &device) {
        assert!(held >= 0.9, "{held}");
    }
    assert!(records.len() < cells.len() * 3 / 4, "{}", records.len());
}

#[test]
fn where_nothing_follows_from_anything_every_cell_is_measured() {
    let device = |c: &Cell| (plain(c) * (1.0 + chance(c)), plain(c) * (1.0 + chance(c)));
    let plan = plan(7);
    let all = plan.cells();
    let cells: Vec<&Cell> = all.iter().collect();
    let records = measure(&plan, &cells, &device);
    let standing = Standing::of(&plan, &cells, &records, &mut Fitted::new());
    assert!(standing.every_cell, "{:?}", standing.refinements);
    assert_eq!(coverage(&standing, &records, &device), None);
}

/// Share of the measured cells whose truth is in the interval of the first measurement, which knew
/// only its own window.
fn measured_coverage(standing: &Standing<'_>, records: &[Record], device: Device<'_>) -> f64 {
    let first = |cell: &&Cell| records.iter().find(|r| r.cell == cell.number);
    let inside = |cell: &&Cell| {
        let found = first(cell)?;
        let limit = (standing.of_measured(cell, 0.5)? / 100.0).ln_1p();
        Some((device(cell).1 / found.round.iops).ln().abs() <= limit)
    };
    let found: Vec<bool> = standing.cells.iter().filter_map(inside).collect();
    found.iter().filter(|held| **held).count() as f64 / found.len() as f64
}

/// Speeds differed by 5 % from one measurement to the next. No window can know that, and each gave
/// the half-width of its own noise: 6 of 199 measured cells had their truth in their interval.
#[test]
fn what_differs_between_measurements_is_in_the_intervals_of_measured_cells() {
    let (plan, device) = (plan(7), |c: &Cell| (plain(c), plain(c)));
    let all = plan.cells();
    let cells: Vec<&Cell> = all.iter().collect();
    let records = measure_noisy(&plan, &cells, &device, &|n| (0.05 * normal(n)).exp());
    let standing = Standing::of(&plan, &cells, &records, &mut Fitted::new());
    assert!(standing.repeats.len() >= super::super::rising::REPEATS);
    let held = measured_coverage(&standing, &records, &device);
    assert!(held >= 0.9, "{held}");
    assert!(coverage(&standing, &records, &device).unwrap() >= 0.9);
    let quiet = measure(&plan, &cells, &device);
    let quiet = Standing::of(&plan, &cells, &quiet, &mut Fitted::new());
    let width = quiet.of_measured(cells[0], 0.5).unwrap();
    assert!((width - 0.5).abs() < 1e-9, "{width}: nothing differs, nothing widens");
}

/// A neighbour that comes and goes: the checks were far off because everything is, which called for
/// whole windows, every size and every cell, and took longer than the whole matrix.
#[test]
fn where_nothing_repeats_intervals_grow_and_no_more_is_measured() {
    let (plan, device) = (plan(7), |c: &Cell| (plain(c), plain(c)));
    let all = plan.cells();
    let cells: Vec<&Cell> = all.iter().collect();
    let (mut inferred, mut measured) = (0.0, 0.0);
    for seed in 0..4 {
        let noise = |n: usize| (0.3 * normal(1000 * seed + n)).exp();
        let records = measure_noisy(&plan, &cells, &device, &noise);
        let standing = Standing::of(&plan, &cells, &records, &mut Fitted::new());
        assert_eq!(standing.refinements, [], "{seed}");
        inferred += coverage(&standing, &records, &device).unwrap() / 4.0;
        measured += measured_coverage(&standing, &records, &device) / 4.0;
    }
    // Of one drawing it may be less.
    assert!(inferred >= 0.9 && measured >= 0.9, "{inferred} {measured}");
}

#[test]
fn a_short_window_is_known_no_better_than_its_beginning_stands_for_the_whole() {
    // All windows fall by 4 %, which is too little for whole windows.
    let (plan, device) = (plan(7), |c: &Cell| (plain(c), 0.96 * plain(c)));
    let all = plan.cells();
    let cells: Vec<&Cell> = all.iter().collect();
    let records = measure(&plan, &cells, &device);
    let standing = Standing::of(&plan, &cells, &records, &mut Fitted::new());
    assert!(standing.short_windows);
    let once = |c: &&&Cell| {
        !standing.whole.contains(&c.number) && records.iter().any(|r| r.cell == c.number)
    };
    let cell = cells.iter().find(once).unwrap();
    let widened = standing.of_measured(cell, 1.0).unwrap();
    assert!((widened - 100.0 * (1.01 / 0.96 - 1.0)).abs() < 1e-6, "{widened}");
}

#[test]
fn checks_are_drawn_by_the_seed_and_spread_over_the_sizes() {
    let all = plan(7).cells();
    let cells: Vec<&Cell> = all.iter().collect();
    let numbers = |seed: u64| -> Vec<u32> {
        drawn(&plan(seed), &cells).iter().take(CHECKS).map(|c| c.number).collect()
    };
    assert_eq!(numbers(7), numbers(7));
    assert_ne!(numbers(7), numbers(8));
    let mut sizes: Vec<u64> =
        drawn(&plan(7), &cells).iter().take(5).map(|c| c.block_bytes.0).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [4096, 8192, 65536, 262_144, 1 << 20]);
}

#[test]
fn the_rank_is_that_of_split_conformal_prediction() {
    let of = |n: u32| -> Vec<Check> {
        let check = |i: u32| {
            let score = f64::from(i) / 100.0;
            Check { cell: i, error: score, score, change: 0.0 }
        };
        (1..=n).map(check).collect()
    };
    let score = |n: u32| (100.0 * quantile(&of(n), |c| c.score)).round();
    // Of 9, rank 9; of 19, rank 18; of 5, rank 6, which there is not: the largest.
    assert_eq!([score(9), score(19), score(5), score(0)], [9.0, 18.0, 5.0, 0.0]);
    assert_eq!(quantile(&of(9), |c| -c.score).abs(), 0.0, "inside of all intervals");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn whatever_is_measured_every_interval_has_an_end(
        figures in prop::collection::vec(prop_oneof![Just(0.0), 1e-3..1e6f64], 32),
        later in prop::collection::vec(prop_oneof![Just(0.0), 1e-3..1e6f64], 32),
    ) {
        let place = |c: &Cell| c.number as usize * 7 % 32;
        let device = |c: &Cell| (figures[place(c)], later[place(c)]);
        let plan = plan(7);
        let all: Vec<Cell> = plan.cells().into_iter().step_by(2).collect();
        let cells: Vec<&Cell> = all.iter().collect();
        let records = measure(&plan, &cells, &device);
        let standing = Standing::of(&plan, &cells, &records, &mut Fitted::new());
        for found in cells.iter().filter_map(|c| standing.inferred(c)) {
            prop_assert!(found.error_percent.is_finite() && found.error_percent >= 0.0);
        }
        // Where an interrupted sweep continues, it does what it would have done.
        let before = &records[..records.len() / 2];
        let next = Standing::of(&plan, &cells, before, &mut Fitted::new()).next;
        let next = next.map(|step| (step.cell.number, step.slot));
        let expected = records.get(records.len() / 2).map(|r| (r.cell, r.slot));
        prop_assert_eq!(next, expected);
    }
}
