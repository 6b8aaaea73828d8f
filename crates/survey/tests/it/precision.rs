//! A measurement ends when its mean is known, and says how well. On a simulated device, in virtual
//! time.

use std::sync::atomic::AtomicBool;

use engine::Permissions;
use results::Measurement;
use survey::{Lab, LabContext, Setup, Timing};
use workload::{
    Bytes, EngineChoice, Mode, Nanoseconds, Precision, SimDevice, SimService, SimWarmup,
    SimWriteCache, Stream, Target,
};

fn setup(sim: SimDevice, precision: Precision, seconds: f64) -> Setup {
    Setup {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(1 << 30)) }],
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(sim),
        mode: Mode::Direct,
        seed: 7,
        timing: Timing { seconds, precision: Some(precision), ..Timing::default() },
    }
}

fn measure(setup: Setup, stream: Stream) -> Measurement {
    let stop = AtomicBool::new(false);
    let mut quiet = |_: survey::Progress<'_>| ();
    let mut lab = Lab::open(setup, &stream, LabContext::new(&stop, &mut quiet)).unwrap();
    lab.measure(vec![stream]).unwrap()
}

fn device(service: SimService) -> SimDevice {
    let time = Nanoseconds(10_000_000);
    SimDevice { read_ns: time, write_ns: time, service, ..SimDevice::default() }
}

#[test]
fn a_steady_device_is_measured_no_longer_than_needed() {
    let stream = Stream { depth: 8, ..Stream::default() };
    let m = measure(setup(device(SimService::Constant), Precision::default(), 60.0), stream);
    assert!((15.0..18.0).contains(&m.seconds), "{}", m.seconds);
    let steady = m.steady.unwrap();
    assert!(steady.settled, "{}", steady.explanation);
    assert!((steady.mean / 800.0 - 1.0).abs() < 0.005, "{}", steady.mean);
}

#[test]
fn what_does_not_settle_says_so_and_ends_at_its_longest() {
    let stream = Stream::default();
    let precision = Precision { percent: 0.1, at_least_seconds: 5.0, ..Precision::default() };
    let m = measure(setup(device(SimService::Exponential), precision, 20.0), stream);
    assert!(m.seconds > 15.0, "{}", m.seconds);
    let steady = m.steady.unwrap();
    assert!(!steady.settled);
    assert!(m.checks.warnings.contains(&steady.explanation), "{:?}", m.checks.warnings);
}

/// No statistic foresees a write cache that will be full a second later.
#[test]
fn writes_go_on_until_enough_is_written_to_fill_a_cache() {
    let stream = Stream { depth: 8, write_percent: 100, ..Stream::default() };
    let constant = || device(SimService::Constant);
    let by_time = Precision { written_seconds: 40.0, ..Precision::default() };
    let m = measure(setup(constant(), by_time, 60.0), stream.clone());
    assert!((40.0..47.0).contains(&m.seconds), "{}", m.seconds);
    let by_bytes = Precision { written_bytes: Bytes(800 * 8192 * 20), ..Precision::default() };
    let m = measure(setup(constant(), by_bytes, 60.0), stream);
    assert!((20.0..24.0).contains(&m.seconds), "{}", m.seconds);
}

/// The sustained rate is the headline; what the cache did is next to it, not in it.
#[test]
fn a_write_cache_is_told_apart_from_what_is_behind_it() {
    let cache = SimWriteCache {
        size_bytes: Bytes(640 << 20),
        drain_bytes_per_s: Bytes(2 << 20),
        hit_ns: Nanoseconds(2_000_000),
    };
    let sim = SimDevice { write_cache: Some(cache), ..device(SimService::Constant) };
    let stream = Stream { depth: 8, write_percent: 100, ..Stream::default() };
    let m = measure(setup(sim, Precision::default(), 60.0), stream);
    let phases = m.phases.as_ref().unwrap();
    let sustained = 256.0;
    assert!((m.total.iops / sustained - 1.0).abs() < 0.02, "{} IOPS", m.total.iops);
    assert!((phases.cached.mean / 4000.0 - 1.0).abs() < 0.05, "{phases:?}");
    let full_s = f64::from(640 << 20) / (4000.0 * 8192.0 - f64::from(2 << 20));
    assert!((phases.at_s + 1.0 - full_s).abs() < 1.0, "{} of {full_s}", phases.at_s);
    assert!(m.checks.warnings.contains(&phases.explanation));
    assert!(m.warmup_series.last().unwrap().t.abs() < 1e-9);
    assert!(m.rounds.unwrap().settled);
}

/// `7 506 IOPS` stood next to `mean 7 998 IOPS ± 0.07 %`: the interval was of what was left after a
/// warm-up that no other figure of a window of fixed length leaves out.
#[test]
fn without_a_precision_the_interval_is_of_the_same_mean_as_the_figures() {
    let warmup = Some(SimWarmup { factor: 3.0, tau_ns: Nanoseconds(5_000_000_000) });
    let sim = SimDevice { warmup, ..device(SimService::Constant) };
    let mut fixed = setup(sim, Precision::default(), 60.0);
    fixed.timing.precision = None;
    let m = measure(fixed, Stream { depth: 8, ..Stream::default() });
    let steady = m.steady.unwrap();
    assert!(steady.cut_s < 1e-9, "{steady:?}");
    assert!((steady.mean / m.total.iops - 1.0).abs() < 1e-3, "{steady:?} {}", m.total.iops);
    assert!(!steady.settled, "{}", steady.explanation);
}

/// 300 s of a cache that was full after 292 s had 7 837 IOPS as their headline next to "sustained:
/// 322", and nothing said that the one held the other.
#[test]
fn figures_that_hold_both_levels_say_so() {
    let cache = SimWriteCache {
        size_bytes: Bytes(640 << 20),
        drain_bytes_per_s: Bytes(2 << 20),
        hit_ns: Nanoseconds(2_000_000),
    };
    let sim = SimDevice { write_cache: Some(cache), ..device(SimService::Constant) };
    let stream = Stream { depth: 8, write_percent: 100, ..Stream::default() };
    let both = |m: &Measurement| m.checks.warnings.iter().any(|w| w.contains("both levels"));
    let cut = setup(sim, Precision::default(), 60.0);
    assert!(!both(&measure(cut.clone(), stream.clone())));
    let timing = Timing { precision: None, ..cut.timing };
    let whole = measure(Setup { timing, ..cut }, stream);
    assert!(whole.phases.is_some() && both(&whole), "{:?}", whole.checks.warnings);
}
