//! An adaptive sweep answers what the full matrix answers, in a part of its time, and says how sure
//! it is. On simulated devices, in virtual time.

use std::sync::atomic::AtomicBool;

use engine::Permissions;
use results::{Experiment, Refinement, Source, Sweep, SweptCell};
use survey::{LabContext, SweepOptions, sweep};
use workload::sweep::{Matrix, Plan, preset};
use workload::{
    Bytes, EngineChoice, Nanoseconds, Precision, SimBucket, SimDevice, SimDrift, SimMisaligned,
    SimNoise, SimService, SimStall, Target,
};

/// An array of 24 spindles' worth of servers behind a link of 200 MB/s.
fn array(run_percent: f64) -> SimDevice {
    SimDevice {
        servers: 24,
        read_ns: Nanoseconds(5_000_000),
        write_ns: Nanoseconds(6_000_000),
        service: SimService::Constant,
        bytes_per_s: Some(Bytes(100_000_000)),
        link_bytes_per_s: Some(Bytes(200_000_000)),
        noise: (run_percent > 0.0).then(|| SimNoise { run_percent, ..SimNoise::default() }),
        ..SimDevice::default()
    }
}

/// What that array gives in saturation.
fn truth(write_percent: u8, block_bytes: f64) -> f64 {
    let base_s = if write_percent == 0 { 5e-3 } else { 6e-3 };
    let service_s = base_s + block_bytes / 100e6;
    (24.0 / service_s).min(200e6 / block_bytes)
}

fn plan(sim: SimDevice, seed: u64, plan: Plan) -> Plan {
    Plan {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(64 << 30)) }],
        engine: EngineChoice::Sim,
        adaptive: true,
        precision: Some(Precision { percent: 5.0, ..Precision::default() }),
        sim: Some(sim),
        seed,
        ..plan
    }
}

/// The whole sweep of a plan.
fn swept(plan: &Plan) -> Experiment<Sweep> {
    let options = SweepOptions { plan: plan.clone(), permissions: Permissions::default() };
    sweep(options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap()
}

fn errors_percent(experiment: &Experiment<Sweep>) -> Vec<f64> {
    let sweep = &experiment.conclusion;
    let of_curve = |curve: &results::SweptCurve| {
        let cell = &sweep.cells[curve.cells[0] as usize].cell;
        let truth = truth(cell.write_percent, cell.block_bytes.0 as f64);
        100.0 * (curve.best_iops / truth - 1.0)
    };
    sweep.curves.iter().map(of_curve).collect()
}

#[test]
fn the_best_of_every_load_is_within_three_percent_in_a_tenth_of_the_time() {
    let plan = plan(array(5.0), 11, preset("grove-rasmussen").unwrap().plan());
    let experiment = swept(&plan);
    let sweep = &experiment.conclusion;
    // 57.6 hours with the pauses, which simulated devices do not need.
    assert!((sweep.matrix_seconds - 48.0 * 3600.0).abs() < 1.0);
    let share = sweep.device_seconds / sweep.matrix_seconds;
    // 2 % for what the others are inferred from, and 9 of 144 cells of each kind and two corners as
    // checks; the nine that are measured twice have short windows.
    assert!(share <= 0.10, "{share}");
    let errors = errors_percent(&experiment);
    assert_eq!(errors.len(), 24);
    let within = errors.iter().filter(|e| e.abs() <= 3.0).count();
    assert!(within >= 22, "{within} of 24: {errors:?}");
    let worst = errors.iter().map(|e| e.abs()).fold(0.0, f64::max);
    assert!(worst < 5.0, "{errors:?}");
    assert!(sweep.cells.iter().all(|c| c.iops.is_some() && c.error_percent.is_some()));
    let inferred = sweep.cells.iter().filter(|c| c.source == Source::Inferred).count();
    assert!(inferred > 300, "{inferred}");
}

fn small() -> Plan {
    let matrix = Matrix {
        writes: vec![0, 100],
        blocks: vec![Bytes(8192), Bytes(65536), Bytes(262_144), Bytes(1 << 20)],
        threads: vec![1, 2, 4],
        depths: vec![1, 2, 4, 8, 16, 32],
        seconds: 300.0,
        warmup_seconds: 0.0,
        ..Matrix::default()
    };
    Plan::new("small", vec![matrix])
}

#[test]
fn a_quiet_device_needs_no_more_repetitions() {
    let plan = plan(array(0.0), 5, small());
    let experiment = swept(&plan);
    // One device, whatever the split: no more than the ramps, the points between, two controls,
    // nine cells that show that nothing differs, nine checks and two corners for each kind.
    let measured = experiment.measurements.len();
    assert!(measured <= 2 * (8 + 8 + 4 + 4 + 1 + 9 + 9 + 2), "{measured}");
    for curve in &experiment.conclusion.curves {
        let cells = || curve.cells.iter().map(|n| &experiment.conclusion.cells[*n as usize]);
        assert!(cells().all(|c| c.iops.is_some()));
    }
    let errors = errors_percent(&experiment);
    assert!(errors.iter().all(|e| e.abs() < 1.5), "{errors:?}");
}

/// Share of the cells of a source whose truth is in their interval; `None` without such cells.
fn held(found: &Sweep, truth: &Sweep, source: Source) -> Option<f64> {
    let pairs = found.cells.iter().zip(&truth.cells).filter(|(here, _)| here.source == source);
    let inside = |(here, there): (&SweptCell, &SweptCell)| {
        let off = (there.iops.unwrap() / here.iops.unwrap()).ln().abs();
        off <= (here.error_percent.unwrap() / 100.0).ln_1p() + 1e-9
    };
    let held: Vec<bool> = pairs.map(inside).collect();
    let inside = held.iter().filter(|held| **held).count() as f64;
    (!held.is_empty()).then(|| inside / held.len() as f64)
}

/// An adaptive sweep, and what the cells give on average without what differs from one measurement
/// to the next.
fn found_and_truth(sim: &SimDevice, matrix: &Plan) -> (Sweep, Sweep) {
    let adaptive = plan(sim.clone(), 5, matrix.clone());
    let found = swept(&adaptive);
    let quiet = SimDevice { noise: None, ..sim.clone() };
    let whole = Plan { adaptive: false, precision: None, ..plan(quiet, 5, matrix.clone()) };
    let full = swept(&whole);
    (found.conclusion, full.conclusion)
}

/// Share of the inferred cells that have the figure of the full matrix in their interval; `None` if
/// nothing is inferred.
fn coverage(sim: &SimDevice, matrix: &Plan) -> (Option<f64>, Sweep) {
    let (found, full) = found_and_truth(sim, matrix);
    (held(&found, &full, Source::Inferred), found)
}

fn reads(blocks: &[u64]) -> Plan {
    let matrix = Matrix {
        blocks: blocks.iter().map(|b| Bytes(*b)).collect(),
        threads: vec![1, 2, 4],
        depths: vec![1, 2, 4, 8, 16, 32],
        seconds: 120.0,
        warmup_seconds: 0.0,
        ..Matrix::default()
    };
    Plan::new("reads", vec![matrix])
}

/// A collection of garbage for 6 s of every 30 s, which windows of 6 s did not see: none of the
/// intervals held what the full matrix gave.
#[test]
fn pauses_longer_than_short_windows_are_inside_of_the_intervals() {
    let stall =
        SimStall { period_ns: Nanoseconds(30_000_000_000), length_ns: Nanoseconds(6_000_000_000) };
    let sim = SimDevice { stall: Some(stall), ..array(0.0) };
    let (held, sweep) = coverage(&sim, &reads(&[8192, 16384, 65536, 262_144, 1 << 20]));
    assert!(held.is_none_or(|held| held >= 0.9), "{held:?} {:?}", sweep.checks);
    assert_eq!(sweep.checks[0].refinements[0], Refinement::WholeWindows);
}

/// Blocks below 4 KiB are read, changed and written: no surface describes them and the others.
#[test]
fn blocks_that_follow_another_rule_are_inside_of_the_intervals() {
    let misaligned = Some(SimMisaligned { align_bytes: Bytes(4096), factor: 3.0 });
    let sim = SimDevice { misaligned, ..array(2.0) };
    let (held, sweep) = coverage(&sim, &reads(&[1024, 2048, 4096, 8192, 65536]));
    assert!(held.is_none_or(|held| held >= 0.9), "{held:?} {:?}", sweep.checks);
    assert!(!sweep.checks.is_empty());
}

#[test]
fn credits_that_run_out_within_a_window_are_inside_of_the_intervals() {
    let bucket = SimBucket { iops: Some(500), burst_ios: 60_000, ..SimBucket::default() };
    let sim = SimDevice { bucket: Some(bucket), ..array(2.0) };
    let (held, sweep) = coverage(&sim, &reads(&[8192, 16384, 65536, 262_144, 1 << 20]));
    assert!(held.is_none_or(|held| held >= 0.9), "{held:?} {:?}", sweep.checks);
    assert!(sweep.device_seconds < sweep.matrix_seconds, "{:?}", sweep.checks);
}

/// Slow enough that a test of it is quick.
fn slow(noise: SimNoise) -> SimDevice {
    SimDevice {
        servers: 8,
        read_ns: Nanoseconds(50_000_000),
        bytes_per_s: Some(Bytes(10_000_000)),
        noise: Some(noise),
        ..SimDevice::default()
    }
}

/// Small blocks are read, changed and written, and speed differs by 5 % from one measurement to the
/// next. 6 of 199 measured cells had the truth in their interval, and the best of a load was three
/// times what had been measured of it.
#[test]
fn measured_cells_hold_the_truth_and_agree_with_the_best_of_their_load() {
    let misaligned = Some(SimMisaligned { align_bytes: Bytes(4096), factor: 4.0 });
    let noise = SimNoise { run_percent: 5.0, ..SimNoise::default() };
    let sim = SimDevice { misaligned, ..slow(noise) };
    let (found, full) = found_and_truth(&sim, &reads(&[1024, 4096, 16_384, 65_536, 262_144]));
    for source in [Source::Measured, Source::Inferred] {
        let share = held(&found, &full, source);
        assert!(share.is_some_and(|share| share >= 0.9), "{source:?}: {share:?}");
    }
    for (here, there) in found.curves.iter().zip(&full.curves) {
        let off = (here.best_iops / there.best_iops).ln().abs();
        let limit = (here.error_percent.unwrap() / 100.0).ln_1p();
        assert!(off <= limit, "{}: {} of {}", here.title, here.best_iops, there.best_iops);
    }
}

/// A neighbour that comes and goes for minutes: windows of two minutes are 20 % off what they give
/// on average, and 58 % of the inferred cells held it. The sweep took longer than the matrix.
#[test]
fn a_busy_neighbour_is_in_the_intervals_and_not_a_reason_to_measure_everything() {
    let period_ns = Nanoseconds(5_000_000_000);
    let drift = Some(SimDrift { percent: 30.0, correlation: 0.9, period_ns });
    let sim = slow(SimNoise { drift, ..SimNoise::default() });
    let (found, mut full) = found_and_truth(&sim, &reads(&[4096, 16_384, 65_536, 262_144]));
    // The mean of a speed whose logarithm is normal.
    for cell in &mut full.cells {
        cell.iops = cell.iops.map(|iops| iops * (0.3f64 * 0.3 / 2.0).exp());
    }
    for source in [Source::Measured, Source::Inferred] {
        let share = held(&found, &full, source);
        assert!(share.is_some_and(|share| share >= 0.9), "{source:?}: {share:?}");
    }
    assert!(found.device_seconds < found.matrix_seconds, "{:?}", found.checks);
}
