//! No cause is named with confidence that is not the device's, in virtual time.

use std::sync::atomic::AtomicBool;

use engine::Permissions;
use results::Saturation;
use results::cause::{Cause, Certainty};
use survey::{KneeOptions, LabContext, Publish, Setup, Timing, knee};
use workload::{
    Bytes, EngineChoice, Mode, Nanoseconds, SimAssignment, SimBucket, SimDevice, SimNoise,
    SimService, SimWriteCache, Stream, Target,
};

#[path = "../../../analysis/tests/it/contradiction/mod.rs"]
mod contradiction;

fn of(sim: SimDevice, write_percent: u8, seed: u64) -> Saturation {
    let timing = Timing { seconds: 1.0, warmup_seconds: 0.1, precision: None, settle_seconds: 0.0 };
    let setup = Setup {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(1 << 30)) }],
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(sim),
        mode: Mode::Direct,
        seed,
        timing,
    };
    let stream = Stream { write_percent, ..Stream::default() };
    let options =
        KneeOptions { setup, stream, in_flight: (1, 256), link: None, latency_target: None };
    let found =
        knee(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap().conclusion;
    assert_consistent(&found);
    found
}

fn assert_consistent(found: &Saturation) {
    let knee = Publish::from_published(found.knee.clone().unwrap());
    let causes: Vec<_> = Publish::from_published(found.causes.clone());
    let deepest = found.curve.last().unwrap().in_flight as f64;
    let split = found.split.as_ref().map(|split| split.explanation.as_str());
    let wrong = contradiction::contradictions(&knee, &causes, deepest, split);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The first cause, where it is named with confidence.
fn confident(found: &Saturation) -> Option<Cause> {
    let first = &found.causes[0];
    (first.certainty != Certainty::Possible).then_some(first.cause)
}

fn device(servers: u32, service_ns: u64) -> SimDevice {
    let ns = Nanoseconds(service_ns);
    SimDevice { servers, read_ns: ns, write_ns: ns, ..SimDevice::default() }
}

/// They were called a throttle.
#[test]
fn sixteen_servers_of_exactly_5_ms_may_be_a_throttle_or_the_storage() {
    let found = of(device(16, 5_000_000), 0, 1);
    assert_eq!(confident(&found), None, "{:#?}", found.causes);
    for cause in [Cause::Device, Cause::Throttle] {
        assert!(found.causes.iter().any(|likely| likely.cause == cause), "{:#?}", found.causes);
    }
}

/// It was called a link: larger blocks move the same bytes, as fast as the cache drains.
#[test]
fn a_write_cache_that_fills_is_not_surely_a_path() {
    for (size, drain) in [(1 << 24, 20_000_000), (1 << 26, 50_000_000), (1 << 28, 100_000_000)] {
        let cache = SimWriteCache {
            size_bytes: Bytes(size),
            drain_bytes_per_s: Bytes(drain),
            hit_ns: Nanoseconds(20_000),
        };
        let found = of(SimDevice { write_cache: Some(cache), ..device(16, 1_000_000) }, 100, 1);
        let named = confident(&found);
        assert!(named.is_none_or(|cause| cause == Cause::Device), "{:#?}", found.causes);
    }
}

/// 17 of 216 were a throttle, 4 of them certainly.
#[test]
fn quiet_devices_are_not_called_what_they_are_not() {
    for servers in [1, 5, 16, 40] {
        for service_ns in [1_000_000, 5_000_000] {
            for service in [SimService::Constant, SimService::Exponential] {
                for assignment in [SimAssignment::Free, SimAssignment::Random] {
                    let quiet = device(servers, service_ns);
                    let found = of(SimDevice { service, assignment, ..quiet }, 0, 3);
                    let named = confident(&found);
                    let right = [None, Some(Cause::Device), Some(Cause::NotReached)];
                    assert!(right.contains(&named), "{servers} x {service_ns}: {found:#?}");
                }
            }
        }
    }
}

/// The throttles of few I/Os were missed.
#[test]
fn a_throttle_of_few_ios_is_among_the_causes() {
    for iops in [100, 300, 500] {
        let bucket = SimBucket { iops: Some(iops), burst_ios: 1, ..SimBucket::default() };
        let noise = Some(SimNoise { run_percent: 3.0, io_percent: 10.0, drift: None });
        let found = of(SimDevice { bucket: Some(bucket), noise, ..device(64, 1_000_000) }, 0, 1);
        let throttle = found.causes.iter().any(|likely| likely.cause == Cause::Throttle);
        assert!(throttle, "{iops}: {:#?}", found.causes);
        assert!([None, Some(Cause::Throttle)].contains(&confident(&found)), "{found:#?}");
    }
}
