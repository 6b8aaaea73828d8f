//! How an experiment is made and run, and what is often asserted of its result.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use engine::{Event, Permissions, Prepared};
use results::{Latency, Measurement, Point, Statistics};
use workload::{Block, Bytes, EngineChoice, Nanoseconds, SimDevice, Stream, Target, Workload};

/// One millisecond in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;
/// One second in nanoseconds.
pub(crate) const S: u64 = 1_000_000_000;

/// Ten seconds after one of warm-up, of one stream on one target of 1 GiB.
pub(crate) fn workload(stream: Stream, device: SimDevice) -> Workload {
    let target = Target { path: "sim".into(), size_bytes: Some(Bytes(1 << 30)) };
    Workload {
        engine: EngineChoice::Sim,
        sim: Some(device),
        seconds: 10.0,
        warmup_seconds: 1.0,
        ..Workload::single(target, stream)
    }
}

/// Random 8 KiB reads at this depth.
pub(crate) fn reads(depth: u32) -> Stream {
    Stream { depth, ..Stream::default() }
}

/// Random 8 KiB writes at this depth.
pub(crate) fn writes(depth: u32) -> Stream {
    Stream { write_percent: 100, ..reads(depth) }
}

/// A device that serves 8 I/Os at a time, each in this time.
pub(crate) fn device(service_ns: u64) -> SimDevice {
    let time = Nanoseconds(service_ns);
    SimDevice { read_ns: time, write_ns: time, ..SimDevice::default() }
}

/// Blocks of one size.
pub(crate) fn blocks(bytes: u64) -> Vec<Block> {
    vec![Block { bytes: Bytes(bytes), weight: 1 }]
}

pub(crate) fn prepared(workload: &Workload) -> Prepared {
    let stop = AtomicBool::new(false);
    engine::prepare(workload, &Permissions::default(), &stop, &mut |_| ()).unwrap()
}

/// Runs it.
pub(crate) fn measure(workload: &Workload) -> Measurement {
    observed(workload).0
}

/// Runs it; gives all events, too.
pub(crate) fn observed(workload: &Workload) -> (Measurement, Vec<Event>) {
    interrupted(workload, |_| false)
}

/// Runs it until `ends` is true of an event.
pub(crate) fn interrupted(
    workload: &Workload,
    ends: impl Fn(&Event) -> bool,
) -> (Measurement, Vec<Event>) {
    let stop = AtomicBool::new(false);
    let events = RefCell::new(Vec::new());
    let mut observe = |event: &Event| {
        if ends(event) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        events.borrow_mut().push(event.clone());
    };
    let measurement = engine::run(workload, &prepared(workload), &stop, &mut observe).unwrap();
    fits_together(&measurement);
    (measurement, events.into_inner())
}

/// The latency of statistics that have one.
pub(crate) fn latency(statistics: &Statistics) -> Latency {
    statistics.latency_ns.unwrap()
}

/// Asserts that two numbers differ by at most this share.
#[track_caller]
pub(crate) fn near(value: f64, truth: f64, share: f64) {
    let deviation = (value - truth).abs() / truth.abs();
    assert!(deviation <= share, "{value} is {:.3} % off {truth}", 100.0 * deviation);
}

/// How many I/Os and bytes the points of a series stand for.
pub(crate) fn sum(series: &[Point]) -> [f64; 4] {
    series.iter().fold([0.0; 4], |[r, w, rb, wb], p| {
        let mib = p.seconds * 1_048_576.0;
        [
            r + p.read_iops * p.seconds,
            w + p.write_iops * p.seconds,
            rb + p.read_mib_per_s * mib,
            wb + p.write_mib_per_s * mib,
        ]
    })
}

/// What must be true of every result, whatever was done.
pub(crate) fn fits_together(m: &Measurement) {
    let parts = [&m.total, &m.read, &m.write, &m.sync];
    for part in parts {
        if m.seconds > 0.0 {
            near(part.iops * m.seconds + 1.0, part.ios as f64 + 1.0, 1e-9);
            near(part.mib_per_s * m.seconds * 1_048_576.0 + 1.0, part.bytes as f64 + 1.0, 1e-9);
        }
        assert_eq!(part.latency_ns.is_some(), part.ios > 0);
    }
    assert_eq!(m.total.ios, m.read.ios + m.write.ios);
    assert_eq!(m.total.bytes, m.read.bytes + m.write.bytes);
    assert_eq!(m.total.errors, m.read.errors + m.write.errors);
    let of = |s: &Statistics| [s.ios, s.bytes, s.errors];
    let add = |sum: [u64; 3], s: [u64; 3]| [sum[0] + s[0], sum[1] + s[1], sum[2] + s[2]];
    for (kind, total) in parts.into_iter().enumerate() {
        let streams = m.streams.iter().map(|s| [&s.total, &s.read, &s.write, &s.sync][kind]);
        let targets = m.targets.iter().map(|s| [&s.total, &s.read, &s.write, &s.sync][kind]);
        let threads = m.threads_detail.iter().map(|s| [&s.total, &s.read, &s.write, &s.sync][kind]);
        assert_eq!(streams.map(of).fold([0; 3], add), of(total), "over streams");
        assert_eq!(targets.map(of).fold([0; 3], add), of(total), "over targets");
        assert_eq!(threads.map(of).fold([0; 3], add), of(total), "over threads");
    }
    let [reads, writes, read_bytes, write_bytes] = sum(&m.series);
    near(reads + 1.0, m.read.ios as f64 + 1.0, 1e-9);
    near(writes + 1.0, m.write.ios as f64 + 1.0, 1e-9);
    near(read_bytes + 1.0, m.read.bytes as f64 + 1.0, 1e-9);
    near(write_bytes + 1.0, m.write.bytes as f64 + 1.0, 1e-9);
    assert_eq!(m.series.iter().map(|p| p.errors).sum::<u64>(), m.total.errors);
    let length: f64 = m.series.iter().map(|p| p.seconds).sum();
    near(length + 1.0, m.seconds + 1.0, 1e-9);
}
