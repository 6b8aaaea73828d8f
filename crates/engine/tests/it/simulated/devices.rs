//! What the model of the device says is what a run reports: the parts that the crate `device` tests
//! alone, through a whole measurement.

use results::Measurement;
use workload::{
    Bytes, Nanoseconds, SimBucket, SimCache, SimCacheKind, SimDevice, SimNoise, SimWarmup, Stream,
    Target, Workload,
};

use crate::simulated::experiment::{
    MS, S, blocks, device, latency, measure, near, reads, workload, writes,
};

fn cold(workload: Workload) -> Measurement {
    measure(&Workload { warmup_seconds: 0.0, ..workload })
}

/// X = C / (base + bytes / rate).
#[test]
fn larger_blocks_take_longer() {
    let device = SimDevice { bytes_per_s: Some(Bytes(100 << 20)), ..device(MS) };
    for (bytes, service) in [(8192, 1_078_125.0), (1 << 20, 11e6)] {
        let stream = Stream { blocks: blocks(bytes), ..reads(4) };
        let m = measure(&workload(stream, device.clone()));
        near(m.total.iops, 4e9 / service, 1e-3);
        near(latency(&m.read).mean, service, 1e-6);
    }
}

/// X = min(N, C, Q) / S.
#[test]
fn a_queue_limit_is_the_limit() {
    let device = SimDevice { queue_limit: Some(3), ..device(MS) };
    for depth in [1, 3, 16] {
        let m = measure(&workload(reads(depth), device.clone()));
        near(m.total.iops, f64::from(depth.min(3)) * 1000.0, 1e-6);
        near(latency(&m.read).mean, f64::from(depth.max(3)) / 3.0 * MS as f64, 2e-3);
    }
}

/// Fast for B / (X - R) = 3 s, and then exactly R, as the series shows.
#[test]
fn a_burst_ends_when_its_bucket_is_empty() {
    let bucket = SimBucket { iops: Some(500), burst_ios: 22_500, ..SimBucket::default() };
    let device = SimDevice { bucket: Some(bucket), ..device(MS) };
    let m = cold(workload(reads(32), device));
    for point in &m.series {
        let truth = if point.t < 3.5 { 8000.0 } else { 500.0 };
        near(point.read_iops, truth, 0.02);
    }
    near(m.total.ios as f64, 24_000.0 + 7.0 * 500.0, 0.01);
}

/// Hit share = min(1, C / F), and of two sizes of latency every I/O has one.
#[test]
fn an_lru_cache_has_its_share() {
    let hit_ns = Nanoseconds(MS / 10);
    let cache = SimCache { kind: SimCacheKind::Lru, size_bytes: Bytes(256 << 20), hit_ns };
    let device = SimDevice { cache: Some(cache), ..device(MS) };
    let m = measure(&Workload { seconds: 30.0, ..workload(reads(4), device) });
    near(latency(&m.read).mean, (0.25 * 0.1 + 0.75) * MS as f64, 0.01);
    assert_eq!((latency(&m.read).min, latency(&m.read).max), (Some(MS / 10), Some(MS)));
}

fn on_two_targets(device: SimDevice) -> Measurement {
    let mut workload = workload(reads(16), device);
    workload.targets.push(Target { path: "other".into(), size_bytes: Some(Bytes(1 << 30)) });
    measure(&workload)
}

#[test]
fn two_targets_have_one_device_or_two() {
    let shared = on_two_targets(device(MS));
    near(shared.total.iops, 8000.0, 1e-3);
    let separate = on_two_targets(SimDevice { separate: true, ..device(MS) });
    near(separate.total.iops, 16_000.0, 1e-3);
    for target in &separate.targets {
        near(target.read.iops, 8000.0, 1e-3);
    }
}

/// A durable stream passes a write cache by; the same device without `durable_ns` says that it did
/// what it did not.
#[test]
fn durable_writes_tell_an_honest_device_from_another() {
    let write_cache = Some(workload::SimWriteCache {
        size_bytes: Bytes(1 << 30),
        drain_bytes_per_s: Bytes(1 << 20),
        hit_ns: Nanoseconds(MS / 20),
    });
    let lying = SimDevice { write_cache, ..device(MS) };
    let honest = SimDevice { durable_ns: Some(Nanoseconds(2 * MS)), ..lying.clone() };
    let mean = |device, durable| {
        let stream = Stream { durable, ..writes(1) };
        latency(&measure(&Workload { seconds: 1.0, ..workload(stream, device) }).write).mean
    };
    near(mean(lying.clone(), false), mean(lying, true), 1e-9);
    near(mean(honest.clone(), false), MS as f64 / 20.0, 1e-6);
    near(mean(honest, true), 3.0 * MS as f64, 1e-6);
}

/// Each run has its own speed, which its seed decides.
#[test]
fn noise_from_run_to_run_is_that_of_the_seed() {
    let noise = Some(SimNoise { run_percent: 5.0, ..SimNoise::default() });
    let of = |seed| {
        let device = SimDevice { noise, ..device(MS) };
        let workload = Workload { seed, seconds: 1.0, ..workload(reads(8), device) };
        cold(workload).total.iops
    };
    let iops: Vec<f64> = (0..100).map(of).collect();
    let logarithms = iops.iter().map(|x| (x / 8000.0).ln());
    let deviation = (logarithms.map(|l| l * l).sum::<f64>() / 100.0).sqrt();
    near(deviation, 0.05, 0.3);
    assert_eq!(of(5).to_bits(), iops[5].to_bits());
}

/// S(t) = S x (1 + (f - 1) e^(-t / tau)), so that the series rises to its end.
#[test]
fn a_warm_up_shows_in_the_series() {
    let warmup = Some(SimWarmup { factor: 2.0, tau_ns: Nanoseconds(2 * S) });
    let m = cold(workload(reads(8), SimDevice { warmup, ..device(MS) }));
    for point in &m.series {
        let middle = point.t - 0.5;
        near(point.read_iops, 8000.0 / (1.0 + (-middle / 2.0).exp()), 0.01);
    }
}
