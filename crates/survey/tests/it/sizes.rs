//! The edge of caches whose size is known, through the whole experiment, in virtual time.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::Permissions;
use results::edge::{Method, Outcome};
use results::{Experiment, Sizes, Status};
use survey::{LabContext, Progress, STANDARD_SIZES, Setup, SizesOptions, Timing, sizes};
use workload::{
    Bytes, EngineChoice, Mode, Nanoseconds, Pattern, Precision, SimCache, SimCacheKind, SimDevice,
    SimNoise, Stream, Target,
};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

fn options(sim: SimDevice, sizes: &[u64]) -> SizesOptions {
    let precision = Precision { at_least_seconds: 5.0, ..Precision::default() };
    SizesOptions {
        setup: Setup {
            targets: vec![Target { path: "sim".into(), size_bytes: None }],
            permissions: Permissions::default(),
            engine: EngineChoice::Sim,
            sim: Some(sim),
            mode: Mode::Direct,
            seed: 1,
            timing: Timing { seconds: 15.0, precision: Some(precision), ..Timing::default() },
        },
        stream: Stream { depth: 4, ..Stream::default() },
        sizes: sizes.iter().map(|s| Bytes(*s)).collect(),
        fill_seconds: 60.0,
        pass_seconds: 60.0,
    }
}

fn cached(kind: SimCacheKind, cache: u64, noise: f64) -> SimDevice {
    let (size_bytes, hit_ns) = (Bytes(cache), Nanoseconds(200_000));
    SimDevice {
        read_ns: Nanoseconds(4_000_000),
        cache: Some(SimCache { kind, size_bytes, hit_ns }),
        noise: Some(SimNoise { run_percent: noise, io_percent: noise, drift: None }),
        ..SimDevice::default()
    }
}

fn run(options: &SizesOptions) -> Experiment<Sizes> {
    sizes(options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap()
}

#[test]
fn caches_of_both_kinds_are_found_within_a_few_percent() {
    for kind in [SimCacheKind::Lru, SimCacheKind::Region] {
        let list = [256 * MIB, 512 * MIB, 2 * GIB, 8 * GIB];
        let experiment = run(&options(cached(kind, 700 * MIB, 5.0), &list));
        let edge = experiment.conclusion.edge.unwrap();
        let cache = edge.cache.unwrap();
        assert_eq!((edge.outcome, cache.method), (Outcome::Found, Method::FastShare));
        let error = cache.bytes as f64 / (700 * MIB) as f64 - 1.0;
        assert!(error.abs() < 0.05, "{kind:?}: {}", edge.explanation);
        assert_eq!(edge.follows_law, Some(true), "{kind:?}: {:?}", edge.shares);
        assert_eq!(experiment.conclusion.curve.len(), 4);
        assert_eq!(experiment.file_bytes, 8 * GIB, "one file of the largest size");
    }
}

#[test]
fn the_sizes_of_the_founding_document_are_measured_where_they_fit() {
    let device = SimDevice { read_ns: Nanoseconds(2_000_000), ..SimDevice::default() };
    let all: Vec<u64> = STANDARD_SIZES.iter().map(|s| s.0).collect();
    let experiment = run(&options(device.clone(), &all));
    let sizes: Vec<u64> = experiment.conclusion.curve.iter().map(|r| r.file_bytes).collect();
    assert_eq!(sizes, all);
    assert_eq!(experiment.conclusion.edge.unwrap().outcome, Outcome::Flat);
    let mut small = options(device, &all);
    small.setup.targets[0].size_bytes = Some(Bytes(4 * GIB));
    let experiment = run(&small);
    assert_eq!(experiment.conclusion.curve.last().unwrap().file_bytes, 2 * GIB);
    assert!(experiment.conclusion.largest_reason.contains("asked for"));
    small.setup.targets[0].size_bytes = Some(Bytes(300 * MIB));
    let refused = sizes_error(&small);
    assert!(refused.contains("two sizes at least must fit"), "{refused}");
}

fn sizes_error(options: &SizesOptions) -> String {
    sizes(options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap_err().to_string()
}

#[test]
fn a_load_that_says_nothing_of_a_cache_gives_the_curve_alone() {
    let device = cached(SimCacheKind::Region, 600 * MIB, 0.0);
    let mut options = options(device, &[512 * MIB, GIB]);
    options.stream.write_percent = 50;
    let experiment = run(&options);
    assert_eq!(experiment.conclusion.edge, None);
    assert_eq!(experiment.conclusion.curve.len(), 2);
    assert!(experiment.method.iter().any(|s| s.contains("the curve alone")));
    options.setup.targets.push(Target { path: "other".into(), size_bytes: None });
    assert!(sizes_error(&options).contains("one target at a time"));
}

#[test]
fn an_interrupted_experiment_keeps_what_was_measured() {
    let stop = AtomicBool::new(false);
    let options = options(SimDevice::default(), &[GIB, 2 * GIB, 4 * GIB]);
    let experiment = sizes(
        &options,
        LabContext::new(&stop, &mut |progress| {
            if matches!(progress, Progress::Measured(_)) {
                stop.store(true, Ordering::Relaxed);
            }
        }),
    )
    .unwrap();
    assert_eq!((experiment.status, experiment.measurements.len()), (Status::Interrupted, 1));
}

/// On a real file each size is read before it is measured; here the file is in memory, and the time
/// for it is ample.
#[test]
#[cfg(target_os = "linux")]
fn real_files_are_read_before_they_are_measured() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(SimDevice::default(), &[8 * MIB, 32 * MIB]);
    (options.setup.engine, options.setup.sim) = (EngineChoice::Auto, None);
    options.setup.mode = Mode::Buffered;
    options.setup.targets[0].path = directory.path().to_owned();
    options.setup.timing =
        Timing { seconds: 0.1, warmup_seconds: 0.0, precision: None, settle_seconds: 0.0 };
    let experiment = run(&options);
    let warmed: Vec<_> = experiment.conclusion.curve.iter().map(|r| r.warmed.unwrap()).collect();
    assert!(warmed.iter().all(|w| w.whole), "{warmed:?}");
    assert_eq!(warmed.iter().map(|w| w.bytes).collect::<Vec<_>>(), [8 * MIB, 32 * MIB]);
    assert_eq!(experiment.file_bytes, 32 * MIB);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the file is removed");
}

/// Sequential reads covered half of each size only, since the lab let them begin elsewhere each
/// time.
#[test]
fn a_sequential_load_covers_each_size_to_its_end() {
    let mut options = options(SimDevice::default(), &[GIB, 2 * GIB]);
    options.stream.pattern = Pattern::Sequential;
    let experiment = run(&options);
    let streams = experiment.measurements.iter().map(|m| &m.workload.streams[0]);
    let covered: Vec<_> = streams.map(|s| (s.offset_bytes.0, s.span_bytes.unwrap().0)).collect();
    assert_eq!(covered, [(0, GIB), (0, 2 * GIB)]);
}

/// The pass before a size had eight I/Os in flight, which the engine `sync` refuses: the experiment
/// ended there.
#[test]
#[cfg(target_os = "linux")]
fn the_pass_before_a_size_works_with_every_engine() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(SimDevice::default(), &[MIB, 2 * MIB]);
    (options.setup.engine, options.setup.sim) = (EngineChoice::Sync, None);
    options.setup.mode = Mode::Buffered;
    options.stream.depth = 1;
    options.setup.targets[0].path = directory.path().to_owned();
    options.setup.timing =
        Timing { seconds: 0.1, warmup_seconds: 0.0, precision: None, settle_seconds: 0.0 };
    let experiment = run(&options);
    assert_eq!((experiment.status, experiment.conclusion.curve.len()), (Status::Complete, 2));
}
