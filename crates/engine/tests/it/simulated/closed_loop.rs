//! Closed loops: throughput and latency follow from the device by arithmetic.

use results::Measurement;
use workload::{
    Block, Bytes, Distribution, Nanoseconds, Pattern, SimCache, SimCacheKind, SimDevice,
    SimService, SimWriteCache, Stream, Target, Workload,
};

use crate::simulated::experiment::{
    MS, blocks, device, latency, measure, near, reads, workload, writes,
};

/// X(N) = min(N, C) / S, and latency = max(N, C) / C x S, for 8 servers of 1 ms.
#[test]
fn throughput_and_latency_are_exact_below_and_above_saturation() {
    for (threads, depth) in [(1, 1), (1, 4), (2, 4), (8, 1), (3, 3), (1, 16), (4, 8)] {
        let m = measure(&workload(Stream { threads, ..reads(depth) }, device(MS)));
        let n = u64::from(threads * depth);
        assert_eq!(m.total.ios, n.min(8) * 10_000, "{threads} x {depth}");
        assert_eq!(m.total.bytes, m.total.ios * 8192);
        let latency = latency(&m.read);
        near(latency.mean, n.max(8) as f64 / 8.0 * MS as f64, 0.001);
        if n <= 8 {
            assert_eq!((latency.min, latency.max), (Some(MS), Some(MS)), "{threads} x {depth}");
        }
        near(m.achieved_in_flight, n as f64, 1e-6);
        assert!(m.checks.littles_law_percent.unwrap().abs() < 0.1, "{:?}", m.checks);
        assert_eq!((m.threads, m.depth, m.in_flight), (u64::from(threads), Some(depth), n));
        assert_eq!(m.write.ios + m.sync.ios, 0);
        assert_eq!(m.checks.warnings, [""; 0]);
    }
}

#[test]
fn exponential_service_has_its_mean_and_its_tail() {
    let device = SimDevice { service: SimService::Exponential, ..device(MS) };
    let m = measure(&Workload { seconds: 30.0, ..workload(reads(4), device) });
    let latency = latency(&m.read);
    near(latency.mean, MS as f64, 0.01);
    near(latency.p99.unwrap() as f64, MS as f64 * 100f64.ln(), 0.03);
    near(latency.stddev.unwrap(), MS as f64, 0.02);
}

#[test]
fn mixed_io_keeps_its_shares_and_its_times() {
    let device = SimDevice { servers: 1, write_ns: Nanoseconds(2 * MS), ..device(MS) };
    let m = measure(&workload(Stream { write_percent: 30, ..reads(1) }, device));
    let writes = m.write.ios as f64;
    let sigma = (m.total.ios as f64 * 0.3 * 0.7).sqrt();
    assert!((writes - 0.3 * m.total.ios as f64).abs() < 4.0 * sigma, "{writes} of {}", m.total.ios);
    assert_eq!(latency(&m.read).max, Some(MS));
    assert_eq!(latency(&m.write).min, Some(2 * MS));
    // One server works all the time; at each edge of the window an I/O may be cut.
    let busy = m.read.ios + 2 * m.write.ios;
    assert!((9_998..=10_002).contains(&busy), "{busy} ms of work in 10 s");
}

#[test]
fn block_sizes_come_in_their_shares() {
    let blocks = [(8192, 70), (65536, 30)];
    let blocks = blocks.map(|(bytes, weight)| Block { bytes: Bytes(bytes), weight }).to_vec();
    let m = measure(&workload(Stream { blocks, ..reads(8) }, device(MS)));
    let more = m.total.bytes - m.total.ios * 8192;
    assert_eq!(more % (65536 - 8192), 0);
    let large = (more / (65536 - 8192)) as f64;
    let sigma = (m.total.ios as f64 * 0.3 * 0.7).sqrt();
    assert!((large - 0.3 * m.total.ios as f64).abs() < 4.0 * sigma, "{large} of {}", m.total.ios);
}

/// X = min(C / S, link / block): 100 MiB/s carry 1600 blocks of 64 KiB.
#[test]
fn a_link_limits_bytes() {
    let link_bytes_per_s = Some(Bytes(100 << 20));
    let device = SimDevice { link_bytes_per_s, ..device(MS) };
    let m = measure(&workload(Stream { blocks: blocks(65536), ..reads(32) }, device));
    assert!((15_999..=16_001).contains(&m.total.ios), "{}", m.total.ios);
    near(m.total.mib_per_s, 100.0, 0.001);
    near(latency(&m.read).mean, 32.0 * 625_000.0, 0.001);
}

/// The link was reserved for the end of each I/O's service, first come first served: a read of 100
/// µs waited for a write of 10 ms that had come before it, over a link that could have carried
/// thousands meanwhile.
#[test]
fn a_link_that_is_wide_enough_costs_nothing() {
    let slow_writes = SimDevice { write_ns: Nanoseconds(10 * MS), ..device(MS / 10) };
    let stream = Stream { threads: 8, write_percent: 50, ..reads(1) };
    let without = measure(&workload(stream.clone(), slow_writes.clone()));
    // A byte each nanosecond and more: 8 KiB take 7 ns.
    let link_bytes_per_s = Some(Bytes(1 << 40));
    let with = measure(&workload(stream, SimDevice { link_bytes_per_s, ..slow_writes }));
    near(with.total.iops, without.total.iops, 0.001);
    near(latency(&with.read).mean, latency(&without.read).mean, 0.001);
    assert!(latency(&with.read).max < Some(MS / 10 + 1000), "{:?}", with.read.latency_ns);
}

/// Hit share = min(1, C / F): a quarter of the file is in the cache.
#[test]
fn a_cache_serves_its_share() {
    let cache = SimCache {
        kind: SimCacheKind::Region,
        size_bytes: Bytes(256 << 20),
        hit_ns: Nanoseconds(MS / 10),
    };
    let device = SimDevice { cache: Some(cache), ..device(MS) };
    let m = measure(&workload(reads(1), device.clone()));
    near(latency(&m.read).mean, (0.25 * 0.1 + 0.75) * MS as f64, 0.02);
    let hot = Distribution::Hot { span_percent: 25.0, access_percent: 100.0 };
    let m = measure(&workload(Stream { distribution: hot, ..reads(1) }, device));
    assert_eq!(latency(&m.read).max, Some(MS / 10), "all of the hot part is in the cache");
}

/// Fast until W / (rate - D), then exactly D.
#[test]
fn a_write_cache_fills_and_then_drains() {
    let write_cache = Some(SimWriteCache {
        size_bytes: Bytes(64 << 20),
        drain_bytes_per_s: Bytes(16 << 20),
        hit_ns: Nanoseconds(MS / 10),
    });
    let device = SimDevice { write_cache, ..device(MS) };
    let stream = Stream { blocks: blocks(65536), ..writes(1) };
    let m = measure(&Workload { warmup_seconds: 0.0, ..workload(stream, device) });
    near(m.write.bytes as f64, f64::from((64 + 10 * 16) << 20), 0.01);
    near(m.series[9].write_mib_per_s, 16.0, 0.01);
    assert!(m.series[0].write_mib_per_s > 60.0);
}

/// A log of its own target next to the data: each stream as if it were alone while there are
/// servers for both.
#[test]
fn streams_run_side_by_side() {
    let data = Stream { name: "data".into(), targets: vec![0], ..reads(7) };
    let log = Stream {
        name: "log".into(),
        targets: vec![1],
        pattern: Pattern::Sequential,
        blocks: blocks(4096),
        durable: true,
        ..writes(1)
    };
    let device = SimDevice { write_ns: Nanoseconds(MS / 2), ..device(MS) };
    let mut workload = workload(data, device);
    workload.streams.push(log);
    workload.targets.push(Target { path: "log".into(), size_bytes: Some(Bytes(1 << 20)) });
    let m = measure(&workload);
    let figures: Vec<_> = m.streams.iter().map(|s| (s.name.as_str(), s.total.ios)).collect();
    assert_eq!(figures, [("data", 70_000), ("log", 20_000)]);
    assert_eq!((m.targets[0].read.ios, m.targets[1].write.ios), (70_000, 20_000));
    assert_eq!(m.targets[1].write.bytes, 20_000 * 4096);
    assert_eq!((m.depth, m.in_flight, m.file_bytes), (None, 8, (1 << 30) + (1 << 20)));
    assert!(m.streams[1].total.latency_ns == m.write.latency_ns);
}

fn without_name(mut m: Measurement) -> Measurement {
    (m.id, m.started) = (String::new(), String::new());
    m
}

#[test]
fn the_same_seed_gives_the_same_result_and_another_seed_other_offsets() {
    // Offsets show in the latencies: a part of the target is cached.
    let cache = SimCache {
        kind: SimCacheKind::Region,
        size_bytes: Bytes(256 << 20),
        hit_ns: Nanoseconds(MS / 10),
    };
    let device = SimDevice { cache: Some(cache), service: SimService::Exponential, ..device(MS) };
    let stream = Stream { threads: 2, write_percent: 20, ..reads(3) };
    let run = |seed| {
        let workload = Workload { seed, seconds: 2.0, ..workload(stream.clone(), device.clone()) };
        without_name(measure(&workload))
    };
    let (first, second, other) = (run(1), run(1), run(2));
    assert!(first == second);
    assert!(first.total.histogram != other.total.histogram);
    assert!(first.read.ios != other.read.ios);
}
