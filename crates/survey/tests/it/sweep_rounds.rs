//! Sweeps in rounds: they end when the storage is steady, on simulated devices that are or are not.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::Permissions;
use results::{Experiment, Measurement, Status, Sweep, SweptRounds};
use survey::{LabContext, LabRecord, Progress, SweepOptions, sweep};
use workload::sweep::{Matrix, Plan, preset};
use workload::{
    Bytes, EngineChoice, Nanoseconds, Pattern, SimCache, SimCacheKind, SimDevice, SimNoise, Target,
};

/// The specification's test, shortened: two shares of writes, three blocks, windows of a second.
fn plan(run_percent: f64, seed: u64) -> Plan {
    let noise = SimNoise { run_percent, ..SimNoise::default() };
    let standard = preset("snia-pts").unwrap().plan();
    let matrix = Matrix {
        writes: vec![0, 35, 100],
        blocks: vec![Bytes(1 << 20), Bytes(64 << 10), Bytes(4 << 10)],
        seconds: 1.0,
        ..standard.matrix[0].clone()
    };
    Plan {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(1 << 30)) }],
        engine: EngineChoice::Sim,
        sim: Some(SimDevice {
            bytes_per_s: Some(Bytes(500_000_000)),
            noise: (run_percent > 0.0).then_some(noise),
            ..SimDevice::default()
        }),
        seed,
        matrix: vec![matrix],
        ..standard
    }
}

/// The whole sweep of a plan.
fn swept(plan: &Plan) -> Experiment<Sweep> {
    sweep_from(plan, None, usize::MAX).0
}

/// A sweep that a signal ends once so many measurements are made, and these.
fn sweep_from(
    plan: &Plan,
    record: Option<LabRecord>,
    most: usize,
) -> (Experiment<Sweep>, Vec<Measurement>) {
    assert_eq!(plan.violations(), []);
    let (stop, mut made) = (AtomicBool::new(false), Vec::new());
    let mut observe = |progress: Progress<'_>| {
        if let Progress::Measured(measurement) = progress {
            made.push(measurement.clone());
            stop.store(made.len() >= most, Ordering::Relaxed);
        }
    };
    let options = SweepOptions { plan: plan.clone(), permissions: Permissions::default() };
    let context = LabContext { record, ..LabContext::new(&stop, &mut observe) };
    let experiment = sweep(options, context).unwrap();
    (experiment, made)
}

fn rounds(plan: &Plan) -> (Experiment<Sweep>, SweptRounds) {
    let experiment = swept(plan);
    assert_eq!(experiment.status, Status::Complete);
    let [rounds] = experiment.conclusion.rounds.as_slice() else { panic!("one group") };
    let rounds = rounds.clone();
    (experiment, rounds)
}

#[test]
fn a_device_that_holds_still_is_steady_after_five_rounds() {
    let (experiment, found) = rounds(&plan(0.0, 1));
    assert_eq!((found.rounds, found.window_from, found.steady), (5, Some(1), true));
    assert_eq!(experiment.measurements.len(), 9 * 5);
    // Twice the gibibyte, in windows that may end after its end.
    assert!(found.written_before_bytes >= 2 << 30, "{}", found.written_before_bytes);
    let titles: Vec<&str> = found.tracked.iter().map(|cell| cell.title.as_str()).collect();
    assert_eq!(
        titles,
        ["1 MiB random read", "64 KiB random mix with 35 % writes", "4 KiB random write"]
    );
    // 8 servers of 100 µs and 8.4 µs for 4 KiB more: known to a thousandth.
    let writes = found.tracked[2].mean_iops.unwrap();
    assert!((writes / (8.0 / (100e-6 + 4096.0 / 500e6)) - 1.0).abs() < 1e-3, "{writes}");
    assert!(found.differences.iter().any(|text| text.contains("simulated")));
    assert!(found.differences.iter().any(|text| text.contains("minute")));
}

/// The rule is that of the specification, whatever the device does: it is applied here once more,
/// by another way.
#[test]
fn it_ends_with_the_first_five_rounds_that_are_steady_and_has_their_figures() {
    let mut seen = Vec::new();
    for seed in 0..12 {
        let plan = plan(12.0, seed);
        let (experiment, found) = rounds(&plan);
        let is_steady = |window: &[f64]| {
            let mean = window.iter().sum::<f64>() / 5.0;
            let (low, high) =
                window.iter().fold((f64::MAX, 0.0f64), |(l, h), x| (l.min(*x), h.max(*x)));
            let slope: f64 = window.iter().zip(-2i8..).map(|(x, at)| f64::from(at) * x).sum();
            high - low <= 0.2 * mean && (4.0 * slope / 10.0).abs() <= 0.1 * mean
        };
        let count = found.rounds as usize;
        let first = (5..=count)
            .find(|end| found.tracked.iter().all(|cell| is_steady(&cell.iops[end - 5..*end])));
        assert_eq!(found.steady, first.is_some(), "seed {seed}");
        assert_eq!(first.unwrap_or(25), count, "seed {seed}");
        let from = found.window_from.unwrap() as usize;
        assert_eq!(from, count - 4);
        for tracked in &found.tracked {
            let cell = &experiment.conclusion.cells[tracked.cell as usize];
            let mean = tracked.iops[from - 1..].iter().sum::<f64>() / 5.0;
            assert!((cell.iops.unwrap() / mean - 1.0).abs() < 1e-3, "{}", tracked.title);
            assert_eq!(cell.measurements.len(), 5);
        }
        seen.push(count);
    }
    assert!(seen.iter().any(|count| *count > 5), "no device needed more rounds: {seen:?}");
}

#[test]
fn a_device_that_never_holds_still_ends_after_the_last_round_and_says_so() {
    let mut plan = plan(60.0, 1);
    plan.rounds.as_mut().unwrap().at_most = 7;
    let (_, found) = rounds(&plan);
    assert_eq!((found.rounds, found.window_from, found.steady), (7, Some(3), false));
    assert!(found.differences.iter().any(|text| text.contains("fewer rounds")));
}

/// The second of two targets was never reached, and was said to have been resumed.
#[test]
fn nothing_is_said_of_a_target_that_was_not_reached() {
    let mut plan = plan(0.0, 1);
    plan.targets.push(Target { path: "other".into(), size_bytes: Some(Bytes(1 << 30)) });
    let (cut, _) = sweep_from(&plan, None, 3);
    let groups: Vec<_> = cut.conclusion.rounds.iter().map(|r| r.targets.clone()).collect();
    assert_eq!(groups, [vec![0]]);
}

#[test]
fn an_interrupted_sweep_ends_as_one_that_was_not() {
    let plan = plan(12.0, 3);
    let (whole, all) = sweep_from(&plan, None, usize::MAX);
    let (cut, kept) = sweep_from(&plan, None, 20);
    assert_eq!((cut.status, kept.len()), (Status::Interrupted, 20));
    assert_eq!(cut.conclusion.rounds[0].rounds, 2);
    assert_eq!(cut.conclusion.rounds[0].window_from, None);
    let record = LabRecord { id: cut.id, started: cut.started, measurements: kept };
    let (resumed, again) = sweep_from(&plan, Some(record), usize::MAX);
    assert_eq!(20 + again.len(), all.len());
    let (resumed, whole) = (&resumed.conclusion.rounds[0], &whole.conclusion.rounds[0]);
    assert_eq!(resumed.tracked, whole.tracked);
    // A pause of any length lay between: that is no longer the specification's test.
    assert!(resumed.differences.iter().any(|text| text.contains("resumed")));
    assert!(!whole.differences.iter().any(|text| text.contains("resumed")));
}

/// Sequential reads covered half of the file, which fitted a cache that the whole file does not
/// fit: 3,844 MiB/s where `run` said 800.
#[test]
fn sequential_reads_of_a_sweep_cover_the_whole_file() {
    let cache = SimCache {
        kind: SimCacheKind::Lru,
        size_bytes: Bytes(160 << 20),
        hit_ns: Nanoseconds(1_000),
    };
    let matrix = Matrix {
        patterns: vec![Pattern::Sequential, Pattern::SequentialShared],
        blocks: vec![Bytes(64 << 10)],
        threads: vec![1],
        depths: vec![4],
        seconds: 4.0,
        warmup_seconds: 2.0,
        ..Matrix::default()
    };
    let plan = Plan {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(256 << 20)) }],
        engine: EngineChoice::Sim,
        sim: Some(SimDevice { servers: 1, cache: Some(cache), ..SimDevice::default() }),
        ..Plan::new("sequential", vec![matrix])
    };
    let experiment = swept(&plan);
    assert_eq!(experiment.measurements.len(), 2);
    for measurement in &experiment.measurements {
        assert_eq!(measurement.used_bytes(), 256 << 20);
        // One server of 100 µs.
        let iops = measurement.total.iops;
        assert!((9_900.0..10_100.0).contains(&iops), "{iops}");
    }
    let begins = experiment.measurements.iter().map(|m| m.workload.streams[0].begin_bytes);
    assert!(begins.collect::<Vec<_>>().windows(2).any(|pair| pair[0] != pair[1]));
}
