//! Saturation points of devices whose truth is known, in virtual time.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Permissions, PrepareError};
use results::cause::Cause;
use results::knee::Reached;
use results::{Decides, Experiment, Measurement, Purpose, Saturation, Status};
use survey::{KneeOptions, LabContext, Progress, Publish, Setup, Timing, knee};
use workload::{
    Block, Bytes, EngineChoice, Mode, Nanoseconds, Pattern, Precision, SimAssignment, SimBucket,
    SimDevice, SimNoise, SimService, Stream, Target,
};

fn device(servers: u32, noise_percent: f64) -> SimDevice {
    let ns = Nanoseconds(1_000_000);
    let noise = SimNoise { run_percent: noise_percent, io_percent: 10.0, drift: None };
    SimDevice {
        servers,
        read_ns: ns,
        write_ns: ns,
        noise: (noise_percent > 0.0).then_some(noise),
        ..SimDevice::default()
    }
}

fn options(sim: SimDevice, seed: u64) -> KneeOptions {
    let precision = Precision { percent: 5.0, at_least_seconds: 1.0, ..Precision::default() };
    let timing = Timing {
        seconds: 3.0,
        warmup_seconds: 0.1,
        precision: Some(precision),
        settle_seconds: 0.0,
    };
    let setup = Setup {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(1 << 30)) }],
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(sim),
        mode: Mode::Direct,
        seed,
        timing,
    };
    KneeOptions {
        setup,
        stream: Stream::default(),
        in_flight: (1, 256),
        link: None,
        latency_target: None,
    }
}

fn blocks(options: KneeOptions, bytes: u64) -> KneeOptions {
    let blocks = vec![Block { bytes: Bytes(bytes), weight: 1 }];
    KneeOptions { stream: Stream { blocks, ..options.stream }, ..options }
}

fn of(options: &KneeOptions) -> Experiment<Saturation> {
    knee(options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap()
}

fn near(value: f64, truth: f64, factor: f64) -> bool {
    value <= truth * factor && value >= truth / factor
}

#[test]
fn noisy_devices_are_found_within_one_step() {
    for (seed, servers) in [(1, 4), (2, 12), (3, 32), (4, 50)] {
        let found = of(&options(device(servers, 5.0), seed));
        let knee = found.conclusion.knee.unwrap();
        let truth = f64::from(servers);
        assert!(near(knee.little_knee.unwrap(), truth, 2.0), "{servers}: {knee:?}");
        assert!(near(knee.operating_load, 0.95 * truth, 2.0), "{servers}: {knee:?}");
        assert!(found.conclusion.curve.len() <= 11);
        let interval = knee.little_knee_interval.unwrap();
        assert!(interval.low < truth * 1.2 && interval.high > truth / 1.2, "{interval:?}");
        let split = found.conclusion.split.unwrap();
        assert_eq!(split.decides, Decides::TotalInFlight, "{}", split.explanation);
    }
}

#[test]
fn every_point_keeps_littles_law_and_points_to_its_measurement() {
    let found = of(&options(device(8, 0.0), 1));
    let loads = found.conclusion.curve.iter().chain(&found.conclusion.controls);
    let mut places: Vec<usize> = Vec::new();
    for load in loads {
        assert!(load.littles_law_percent.unwrap().abs() < 0.5, "{load:?}");
        let measurement = &found.measurements[load.measurement];
        assert_eq!(measurement.in_flight, load.in_flight);
        places.push(load.measurement);
    }
    places.sort_unstable();
    assert_eq!(places, (0..found.measurements.len()).collect::<Vec<_>>());
    assert_eq!(found.schema, "iosonde.knee/1");
}

/// The cause that is named first.
fn cause(options: &KneeOptions) -> Cause {
    let found = of(options);
    found.conclusion.causes[0].cause
}

#[test]
fn causes_are_told_apart() {
    for seed in 1..=3 {
        assert_eq!(cause(&options(device(16, 3.0), seed)), Cause::Device);
        let random = SimDevice {
            assignment: SimAssignment::Random,
            service: SimService::Exponential,
            ..device(8, 3.0)
        };
        assert_eq!(cause(&options(random, seed)), Cause::Device);
        let queue = SimDevice { queue_limit: Some(32), ..device(200, 3.0) };
        assert_eq!(cause(&options(queue, seed)), Cause::Queue);
        let wide = SimDevice { queue_limit: Some(200), ..device(16, 3.0) };
        assert_eq!(cause(&options(wide, seed)), Cause::Device, "a queue that is not the limit");
        let iops = Some(3000);
        let bucket = Some(SimBucket { iops, burst_ios: 2000, ..SimBucket::default() });
        let cloud = SimDevice { bucket, ..device(64, 3.0) };
        assert_eq!(cause(&options(cloud, seed)), Cause::Throttle);
        assert_eq!(cause(&options(device(4000, 3.0), seed)), Cause::NotReached);
    }
}

fn named(link: &str) -> results::cause::Link {
    link.parse::<analysis::cause::Link>().unwrap().publish()
}

#[test]
fn a_link_is_known_by_its_name_and_by_larger_blocks() {
    let link = SimDevice { link_bytes_per_s: Some(Bytes(190_000_000)), ..device(64, 3.0) };
    let unnamed = blocks(options(link, 1), 65_536);
    assert_eq!(cause(&unnamed), Cause::Link);
    let two = KneeOptions { link: Some(named("2GFC")), ..unnamed.clone() };
    assert_eq!(cause(&two), Cause::Link);
    // Named wrongly: the same bandwidth is far from what 16GFC carries, but no count of I/Os
    // either.
    let wide = KneeOptions { link: Some(named("16GFC")), ..unnamed };
    let found = of(&wide);
    let full = found.conclusion.causes.iter().find(|likely| likely.cause == Cause::Link);
    assert!(full.is_none_or(|likely| !likely.against.is_empty()), "{full:?}");
}

#[test]
fn the_most_within_a_latency_is_between_the_doublings() {
    // Beyond 8 servers the latency of a closed loop is N / 8 ms: 2 ms at 16, 2.5 ms at 20 in
    // flight.
    let target = Some("2.5ms@mean".parse().unwrap());
    let options = KneeOptions { latency_target: target, ..options(device(8, 0.0), 1) };
    let found = of(&options);
    let within = found.conclusion.latency_target.unwrap();
    assert!((18..=20).contains(&within.in_flight.unwrap_or(8)) || within.iops.unwrap() > 7900.0);
    assert!(within.reached_ns.unwrap() <= 2.5e6, "{within:?}");
    assert!(near(within.iops.unwrap(), 8000.0, 1.01), "{within:?}");
    assert_eq!(within.met, None);
    let never = Some("10us@p99".parse().unwrap());
    let found = of(&KneeOptions { latency_target: never, ..options });
    let within = found.conclusion.latency_target.unwrap();
    assert_eq!((within.measurement, within.iops), (None, None));
    assert!(within.explanation.contains("No load"), "{}", within.explanation);
}

#[test]
fn percentiles_are_searched_between_doublings() {
    // Exponential service: percentiles grow with the queue, long before throughput is flat.
    let sim = SimDevice {
        assignment: SimAssignment::Random,
        service: SimService::Exponential,
        ..device(16, 0.0)
    };
    let target = Some("10ms@p99".parse().unwrap());
    let found = of(&KneeOptions { latency_target: target, ..options(sim, 1) });
    let extra = found.conclusion.controls.iter();
    let extra = extra.filter(|load| load.purpose == Purpose::LatencyTarget).count();
    let within = found.conclusion.latency_target.unwrap();
    assert!((1..=8).contains(&extra), "{extra} loads between");
    assert!(within.reached_ns.unwrap() <= 10e6 && within.reached_ns.unwrap() > 8e6, "{within:?}");
}

#[test]
fn more_threads_and_targets_share_what_is_in_flight() {
    let mut options = options(device(32, 0.0), 1);
    options.stream.threads = 4;
    options.in_flight = (1, 128);
    let found = of(&options);
    let loads: Vec<u64> = found.conclusion.curve.iter().map(|load| load.in_flight).collect();
    assert!(loads.iter().all(|n| n.is_multiple_of(4)), "{loads:?}");
    assert_eq!(loads.first(), Some(&4));
    let knee = found.conclusion.knee.unwrap();
    assert!(near(knee.little_knee.unwrap(), 32.0, 1.05), "{knee:?}");
    options.in_flight = (1, 3);
    let refused = knee_error(&options);
    assert!(refused.contains("multiple of 4"), "{refused}");
}

fn knee_error(options: &KneeOptions) -> String {
    let refused: PrepareError =
        knee(options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap_err();
    refused.to_string()
}

#[test]
fn an_interrupted_search_keeps_what_was_measured() {
    let stop = AtomicBool::new(false);
    let mut kept = 0;
    let found = knee(
        &options(device(8, 0.0), 1),
        LabContext::new(&stop, &mut |progress| {
            if let Progress::Measured(_) = progress {
                kept += 1;
                stop.store(kept == 3, Ordering::Relaxed);
            }
        }),
    )
    .unwrap();
    assert_eq!((found.status, found.measurements.len()), (Status::Interrupted, 3));
    assert_eq!(found.conclusion.knee.unwrap().reached, Reached::NotReached);
}

/// Sequential reads began at the same place at every depth: a cache below the operating system had
/// what was asked for.
#[test]
fn sequential_reads_begin_at_another_place_at_every_depth() {
    let mut options = options(device(8, 0.0), 1);
    options.stream.pattern = Pattern::Sequential;
    let found = of(&options);
    let offset = |m: &Measurement| m.workload.streams[0].begin_bytes;
    let mut places: Vec<Bytes> = found.measurements.iter().map(offset).collect();
    places.sort_unstable();
    places.dedup();
    assert!(places.len() + 1 >= found.measurements.len(), "{places:?}");
}

/// The first moments of a measurement that Ctrl-C ended were a point of the curve.
#[test]
fn a_measurement_that_was_cut_short_is_kept_and_is_no_point_of_the_curve() {
    let stop = AtomicBool::new(false);
    let mut kept = 0;
    let found = knee(
        &options(device(8, 0.0), 1),
        LabContext::new(&stop, &mut |progress| match progress {
            Progress::Measured(_) => kept += 1,
            Progress::Engine(engine::Event::Interval { .. }) if kept == 3 => {
                stop.store(true, Ordering::Relaxed);
            }
            _ => {}
        }),
    )
    .unwrap();
    assert_eq!((found.status, found.measurements.len()), (Status::Interrupted, 4));
    assert_eq!(found.conclusion.curve.len(), 3);
    assert_eq!(found.measurements[3].status, Status::Interrupted);
}
