//! What writes cost readers on devices whose answer is known, in virtual time.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::Permissions;
use results::{CellOutcome, Experiment, Interference, ReadWriteMatrix, Status, WriteLimit};
use survey::{LabContext, MATRIX_LEVELS, MatrixOptions, Progress, Setup, Timing, matrix};
use workload::{Bytes, EngineChoice, Mode, Nanoseconds, SimDevice, SimWriteCache, Stream, Target};

fn options(sim: SimDevice) -> MatrixOptions {
    let timing = Timing { seconds: 10.0, precision: None, ..Timing::default() };
    MatrixOptions {
        setup: Setup {
            targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(1 << 30)) }],
            permissions: Permissions::default(),
            engine: EngineChoice::Sim,
            sim: Some(sim),
            mode: Mode::Direct,
            seed: 1,
            timing,
        },
        stream: Stream { depth: 32, ..Stream::default() },
        levels: MATRIX_LEVELS.to_vec(),
        cell_seconds: 10.0,
    }
}

fn run(options: &MatrixOptions) -> Experiment<ReadWriteMatrix> {
    matrix(options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap()
}

/// Four servers of 2 ms for reads and 4 ms for writes: 2,000 reads or 1,000 writes per second.
fn shared() -> SimDevice {
    let (read_ns, write_ns) = (Nanoseconds(2_000_000), Nanoseconds(4_000_000));
    SimDevice { servers: 4, read_ns, write_ns, ..SimDevice::default() }
}

/// Writes go to a cache of this size and need no server.
fn cached(size: u64, drain: u64) -> SimDevice {
    let write_cache = SimWriteCache {
        size_bytes: Bytes(size),
        drain_bytes_per_s: Bytes(drain),
        hit_ns: Nanoseconds(500_000),
    };
    SimDevice { write_cache: Some(write_cache), ..shared() }
}

fn outcome(matrix: &ReadWriteMatrix, read: u8, write: u8) -> CellOutcome {
    let found = |c: &&results::MatrixCell| (c.read_percent, c.write_percent) == (read, write);
    matrix.cells.iter().find(found).unwrap().outcome
}

#[test]
fn reads_and_writes_that_share_servers_interfere() {
    let experiment = run(&options(shared()));
    let found = &experiment.conclusion;
    let (read, write) = (found.highest_read_iops.unwrap(), found.highest_write_iops.unwrap());
    assert!((read / 2000.0 - 1.0).abs() < 0.01, "{read}");
    assert!((write / 1000.0 - 1.0).abs() < 0.01, "{write}");
    assert_eq!((found.cells.len(), found.interference), (24, Interference::Strong));
    // The servers have one time for both: shares add up.
    for cell in &found.cells {
        let sum = cell.read_percent + cell.write_percent;
        // At exactly 100 % a queue grows so slowly that either answer is right.
        if sum != 100 {
            assert_eq!(cell.outcome == CellOutcome::Reached, sum < 100, "{cell:#?}");
        }
        let shown = cell.outcome == CellOutcome::Reached;
        assert_eq!(cell.read_p99_ns.is_some(), shown && cell.read_percent > 0, "{cell:#?}");
    }
    assert_eq!(outcome(found, 80, 80), CellOutcome::Skipped);
    let measured = found.cells.iter().filter(|c| c.outcome != CellOutcome::Skipped).count();
    assert_eq!(experiment.measurements.len(), measured + 2);
    assert!(found.sentence.starts_with("Writes slow reads down: at "), "{}", found.sentence);
    // The more reads there are, the fewer writes they bear.
    let bearable: Vec<f64> = found.costs.iter().map(|c| c.bearable_write_iops).collect();
    assert!(bearable.windows(2).all(|w| w[0] >= w[1]), "{bearable:?}");
    assert!(bearable[0] >= 200.0 && bearable[3] < 200.0, "{bearable:?}");
}

#[test]
fn writes_that_need_no_server_cost_readers_nothing() {
    let found = run(&options(cached(1 << 40, 1 << 40))).conclusion;
    assert_eq!(found.interference, Interference::None, "{found:#?}");
    assert!(found.cells.iter().all(|c| c.outcome == CellOutcome::Reached), "{found:#?}");
    assert!(found.costs.iter().all(|c| c.limit.is_none() && c.p99_ratio < 1.25));
    assert!(found.sentence.starts_with("Writes do not slow reads down"), "{}", found.sentence);
}

/// 64 MiB that drain at 500 writes per second of 8 KiB: full within seconds. What counts as the
/// highest write rate is what is left then.
#[test]
fn a_write_cache_that_fills_gives_its_drain_rate() {
    let found = run(&options(cached(64 << 20, 500 * 8192))).conclusion;
    let write = found.highest_write_iops.unwrap();
    assert!((write / 500.0 - 1.0).abs() < 0.05, "{write}");
    assert!(found.cells.iter().all(|c| c.outcome == CellOutcome::Reached), "{found:#?}");
}

#[test]
fn a_rate_above_the_capacity_is_not_a_latency() {
    let mut options = options(shared());
    options.levels = vec![60, 100];
    let found = run(&options).conclusion;
    let cell = found.cells.iter().find(|c| (c.read_percent, c.write_percent) == (60, 60)).unwrap();
    assert_eq!(cell.outcome, CellOutcome::NotReached);
    assert_eq!((cell.read_p99_ns, cell.write_p99_ns), (None, None));
    assert!(cell.read_iops.is_some());
    let cost = found.costs.iter().find(|c| c.read_percent == 60).unwrap();
    assert_eq!(cost.bearable_write_iops, 0.0);
    assert!(matches!(cost.limit, Some(WriteLimit::ReadRate | WriteLimit::WriteRate)), "{cost:?}");
}

#[test]
fn an_interrupted_experiment_keeps_what_was_measured() {
    let stop = AtomicBool::new(false);
    let mut count = 0;
    let experiment = matrix(
        &options(shared()),
        LabContext::new(&stop, &mut |progress| {
            if matches!(progress, Progress::Measured(_)) {
                count += 1;
                stop.store(count == 4, Ordering::Relaxed);
            }
        }),
    )
    .unwrap();
    assert_eq!((experiment.status, experiment.measurements.len()), (Status::Interrupted, 4));
    assert_eq!(experiment.conclusion.cells.len(), 2);
    assert_eq!(experiment.conclusion.interference, Interference::Unknown);
}

#[test]
fn levels_out_of_range_are_refused() {
    let refused = |levels: &[u8], cell_seconds: f64| {
        let options = MatrixOptions { levels: levels.to_vec(), cell_seconds, ..options(shared()) };
        matrix(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ()))
            .unwrap_err()
            .to_string()
    };
    assert!(refused(&[101], 10.0).contains("0 to 100 percent"));
    assert!(refused(&[0], 10.0).contains("at least one level above 0"));
    assert!(refused(&[50], 0.0).contains("more than 0"));
}
