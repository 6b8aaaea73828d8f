//! Tests of the rules a workload must keep.

use super::*;
use crate::arrival::{Arrival, Rate};
use crate::model::Target;
use crate::order::Pool;
use crate::sim::{
    SimBucket, SimCache, SimCacheKind, SimDevice, SimDrift, SimMisaligned, SimNoise, SimStall,
    SimWarmup, SimWriteCache,
};
use crate::stream::{SyncCall, SyncPolicy};
use crate::units::Nanoseconds;
use proptest::prelude::*;

fn workload(stream: Stream) -> Workload {
    let target = Target { path: "/data".into(), size_bytes: Some(Bytes(1 << 30)) };
    Workload::single(target, stream)
}

fn fields(violations: &[Violation]) -> Vec<&str> {
    violations.iter().map(|v| v.field.as_str()).collect()
}

#[test]
fn the_default_breaks_no_rule() {
    assert_eq!(workload(Stream::default()).violations(), []);
}

#[test]
fn all_violations_come_together() {
    let stream = Stream { depth: 0, threads: 0, write_percent: 101, ..Stream::default() };
    let found = Workload { seconds: 0.0, ..workload(stream) }.violations();
    assert_eq!(
        fields(&found),
        ["seconds", "streams[0].threads", "streams[0].depth", "streams[0].write_percent"]
    );
    assert_eq!(found[2].to_string(), "streams[0].depth is 0: it must be 1 to 65536");
}

#[test]
fn a_depth_that_the_engine_cannot_hold_is_refused_not_capped() {
    let stream = Stream { depth: 32, ..Stream::default() };
    let found = Workload { engine: EngineChoice::Sync, ..workload(stream) }.violations();
    assert_eq!(fields(&found), ["streams[0].depth"]);
    assert!(found[0].rule.contains("more threads"));
}

#[test]
fn blocks_must_fit_the_target_and_its_alignment() {
    let facts = [TargetFacts { size_bytes: 1 << 20, direct_align_bytes: 4096 }];
    let blocks = vec![Block { bytes: Bytes(512), weight: 1 }];
    let found = workload(Stream { blocks, ..Stream::default() }).violations_on(&facts);
    assert_eq!(fields(&found), ["streams[0].blocks", "streams[0].align_bytes"]);
    let stream = Stream { offset_bytes: Bytes(1 << 20), ..Stream::default() };
    let found = workload(stream).violations_on(&facts);
    assert_eq!(fields(&found), ["streams[0].offset_bytes", "streams[0].blocks"]);
}

/// A simulated device that served in no time stopped the virtual clock, and with it the program.
#[test]
fn a_simulated_device_takes_time() {
    let none = Nanoseconds(0);
    let cache = SimCache { kind: SimCacheKind::Lru, size_bytes: Bytes(1 << 20), hit_ns: none };
    let drain_bytes_per_s = Bytes(1 << 20);
    let write_cache = SimWriteCache { size_bytes: Bytes(1 << 20), drain_bytes_per_s, hit_ns: none };
    let stall = SimStall { period_ns: Nanoseconds(5), length_ns: Nanoseconds(5) };
    let device = SimDevice {
        servers: u32::MAX,
        read_ns: none,
        write_ns: none,
        sync_ns: none,
        cache: Some(cache),
        write_cache: Some(write_cache),
        stall: Some(stall),
        ..SimDevice::default()
    };
    let workload = workload(Stream::default());
    let found = Workload { engine: EngineChoice::Sim, sim: Some(device), ..workload }.violations();
    let expected = [
        "sim.servers",
        "sim.read_ns",
        "sim.write_ns",
        "sim.sync_ns",
        "sim.cache.hit_ns",
        "sim.write_cache.hit_ns",
        "sim.stall.length_ns",
    ];
    assert_eq!(fields(&found), expected);
}

#[test]
fn a_simulated_device_has_rates_and_factors_that_mean_something() {
    let none = Some(Bytes(0));
    let [nothing, hit_ns] = [Nanoseconds(0), Nanoseconds(1)];
    let drift = SimDrift { percent: f64::NAN, correlation: 1.0, period_ns: nothing };
    let size_bytes = Bytes(65 << 30);
    let drain_bytes_per_s = Bytes(0);
    let device = SimDevice {
        queue_limit: Some(0),
        bytes_per_s: none,
        link_bytes_per_s: none,
        bucket: Some(SimBucket { bytes_per_s: none, iops: Some(0), ..SimBucket::default() }),
        misaligned: Some(SimMisaligned { align_bytes: Bytes(0), factor: f64::INFINITY }),
        cache: Some(SimCache { kind: SimCacheKind::Lru, size_bytes, hit_ns }),
        write_cache: Some(SimWriteCache { size_bytes, drain_bytes_per_s, hit_ns }),
        warmup: Some(SimWarmup { factor: 0.0, tau_ns: nothing }),
        noise: Some(SimNoise { run_percent: -1.0, io_percent: 101.0, drift: Some(drift) }),
        fail_every: Some(0),
        short_every: Some(0),
        ..SimDevice::default()
    };
    let sim = |device| {
        let workload = workload(Stream::default());
        Workload { engine: EngineChoice::Sim, sim: Some(device), ..workload }.violations()
    };
    let expected = [
        "sim.queue_limit",
        "sim.warmup.tau_ns",
        "sim.noise.drift.period_ns",
        "sim.bytes_per_s",
        "sim.link_bytes_per_s",
        "sim.bucket.bytes_per_s",
        "sim.write_cache.drain_bytes_per_s",
        "sim.bucket.iops",
        "sim.fail_every",
        "sim.short_every",
        "sim.cache.size_bytes",
        "sim.warmup.factor",
        "sim.misaligned.factor",
        "sim.misaligned.align_bytes",
        "sim.noise.run_percent",
        "sim.noise.io_percent",
        "sim.noise.drift.percent",
        "sim.noise.drift.correlation",
    ];
    assert_eq!(fields(&sim(device)), expected);
    let bucket = Some(SimBucket::default());
    assert_eq!(fields(&sim(SimDevice { bucket, ..SimDevice::default() })), ["sim.bucket"]);
}

/// The name of a stream is that of its threads: one with a NUL in it ended the program in a panic.
#[test]
fn names_can_be_shown_and_given_to_threads() {
    for name in ["", "a\0b", "two\nlines", "\u{1b}[2J", &"x".repeat(65)] {
        let found = workload(Stream { name: name.to_owned(), ..Stream::default() }).violations();
        assert_eq!(fields(&found), ["streams[0].name"], "{name:?}");
        assert!(!found[0].to_string().contains(char::is_control));
    }
    for name in ["log", "Größe", &"x".repeat(64)] {
        let found = workload(Stream { name: name.to_owned(), ..Stream::default() }).violations();
        assert_eq!(found, [], "{name:?}");
    }
}

/// A stride longer than the used part read its first block again and again.
#[test]
fn a_stride_ends_inside_the_used_part() {
    let facts = [TargetFacts { size_bytes: 1 << 20, direct_align_bytes: 4096 }];
    let stride = |bytes| Pattern::Stride { stride_bytes: Bytes(bytes) };
    let of = |bytes| workload(Stream { pattern: stride(bytes), ..Stream::default() });
    assert_eq!(of(1 << 20).violations_on(&facts), []);
    let found = of((1 << 20) + 4096).violations_on(&facts);
    assert_eq!(fields(&found), ["streams[0].pattern.stride_bytes"]);
}

/// A month in steps of 10 ms is a quarter of a billion points, in memory and in the result.
#[test]
fn a_series_has_an_end() {
    let of = |seconds, ms: u64| Workload {
        seconds,
        interval_ns: Nanoseconds(ms * 1_000_000),
        ..workload(Stream::default())
    };
    assert_eq!(of(10_000.0, 10).violations(), []);
    assert_eq!(fields(&of(10_001.0, 10).violations()), ["interval_ns"]);
    assert_eq!(of(86_400.0 * 31.0, 3000).violations(), []);
    assert_eq!(of(1.0, 3_600_000).violations(), []);
}

proptest! {
    #[test]
    fn checking_never_panics(
        depth: u32, threads: u32, write: u8, random: u8, seconds: f64, offset: u64, span: u64,
        size: u64, align: u64, block: u64, theta: f64, targets in prop::collection::vec(any::<usize>(), 0..3),
    ) {
        let stream = Stream {
            depth, threads, write_percent: write, random_percent: random, targets,
            offset_bytes: Bytes(offset), span_bytes: Some(Bytes(span)),
            blocks: vec![Block { bytes: Bytes(block), weight: 1 }],
            distribution: Distribution::Zipf { theta }, ..Stream::default()
        };
        let workload = Workload { seconds, ..workload(stream) };
        let _ = workload.violations();
        let _ = workload.violations_on(&[TargetFacts { size_bytes: size, direct_align_bytes: align }]);
    }
}

/// A run with a rate that the storage kept after a while was cut there, and ended early: a precision is of throughput that
/// the storage decides.
#[test]
fn a_precision_and_a_set_rate_are_refused_together() {
    let rate = Some(Rate { limit: RateLimit::Iops(100.0), arrival: Arrival::Even });
    let paced = workload(Stream { rate, ..Stream::default() });
    assert_eq!(paced.violations(), []);
    let both = Workload { precision: Some(Precision::default()), ..paced }.violations();
    assert_eq!(fields(&both), ["precision.percent"]);
}

#[test]
fn a_mapped_target_takes_no_other_engine_and_any_depth() {
    let stream = Stream { depth: 32, ..Stream::default() };
    let mapped = Workload { mode: Mode::Mapped, ..workload(stream) };
    assert_eq!(mapped.violations(), []);
    for (engine, refused) in [(EngineChoice::Null, false), (EngineChoice::Aio, true)] {
        let found = Workload { engine, ..mapped.clone() }.violations();
        assert_eq!(fields(&found) == ["engine"], refused, "{found:?}");
    }
    // Copying needs no alignment.
    let facts = [TargetFacts { size_bytes: 1 << 20, direct_align_bytes: 4096 }];
    let blocks = vec![Block { bytes: Bytes(511), weight: 1 }];
    let small = workload(Stream { blocks, ..Stream::default() });
    assert_eq!(Workload { mode: Mode::Mapped, ..small }.violations_on(&facts), []);
}

#[test]
fn pieces_divide_blocks_and_are_aligned_for_direct_io() {
    let facts = [TargetFacts { size_bytes: 1 << 20, direct_align_bytes: 4096 }];
    let with = |buffers| workload(Stream { buffers, ..Stream::default() });
    let scattered = |pieces| with(Buffers::Scattered { pieces });
    assert_eq!(scattered(2).violations(), []);
    assert_eq!(scattered(2).violations_on(&facts), []);
    assert_eq!(fields(&scattered(4).violations_on(&facts)), ["streams[0].buffers.pieces"]);
    let buffered = Workload { mode: Mode::Buffered, ..scattered(4) };
    assert_eq!(buffered.violations_on(&facts), []);
    for pieces in [0, 3, 2048] {
        for buffers in [Buffers::Scattered { pieces }, Buffers::Copied { pieces }] {
            assert_eq!(fields(&with(buffers).violations()), ["streams[0].buffers.pieces"]);
        }
    }
    let copied = with(Buffers::Copied { pieces: 16 });
    assert_eq!(copied.violations_on(&facts), []);
    assert_eq!(Workload { mode: Mode::Mapped, ..copied }.violations(), []);
    let mapped = Workload { mode: Mode::Mapped, ..scattered(2) };
    assert_eq!(fields(&mapped.violations()), ["streams[0].buffers"]);
}

#[test]
fn a_source_of_writes_holds_a_block() {
    let source = |bytes| Content::Source { bytes: Bytes(bytes) };
    let of = |content, content_file: Option<&str>| {
        let content_file = content_file.map(Into::into);
        workload(Stream { write_percent: 100, content, content_file, ..Stream::default() })
            .violations()
    };
    assert_eq!(of(source(8192), None), []);
    assert_eq!(of(source(1 << 20), Some("/bytes")), []);
    assert_eq!(fields(&of(source(8191), None)), ["streams[0].content.bytes"]);
    assert_eq!(fields(&of(Content::Random, Some("/bytes"))), ["streams[0].content_file"]);
}

#[test]
fn a_pool_has_rules_of_its_own() {
    let with = |share, stream: Stream| {
        let stream = Stream { pool: Some(Pool { share }), ..stream };
        let target = |name: &str| Target { path: name.into(), size_bytes: None };
        Workload { targets: vec![target("a"), target("b")], ..workload(stream) }
    };
    let drawn = |weights: &[u32]| PoolShare::Drawn { weights: weights.to_vec() };
    let found = |share, stream| with(share, stream).violations();
    let deep = || Stream { threads: 3, depth: 40_000, ..Stream::default() };
    for share in [PoolShare::InTurn, drawn(&[]), drawn(&[0, 1])] {
        assert_eq!(found(share.clone(), deep()), []);
        let workload = with(share, deep());
        assert_eq!((workload.threads(), workload.in_flight()), (3, 120_000));
    }
    assert_eq!(fields(&found(PoolShare::Each, deep())), ["streams[0].depth"]);
    let each = with(PoolShare::Each, Stream { threads: 3, depth: 5, ..Stream::default() });
    assert_eq!((each.threads(), each.in_flight()), (3, 30));
    for weights in [&[0, 0][..], &[1], &[1, 2, 3]] {
        let found = found(drawn(weights), Stream::default());
        assert_eq!(fields(&found), ["streams[0].pool.share.weights"]);
    }
    let one_at_a_time =
        |share| Workload { engine: EngineChoice::Sync, ..with(share, Stream::default()) };
    assert_eq!(one_at_a_time(PoolShare::InTurn).violations(), []);
    assert_eq!(fields(&one_at_a_time(PoolShare::Each).violations()), ["streams[0].depth"]);
    let sync = Some(SyncPolicy { every_writes: 1, call: SyncCall::default() });
    let flushing = Stream { sync, write_percent: 100, ..Stream::default() };
    assert_eq!(fields(&found(PoolShare::InTurn, flushing)), ["streams[0].sync"]);
    let many = Stream { threads: 2049, ..Stream::default() };
    assert_eq!(fields(&found(PoolShare::InTurn, many)), ["threads"]);
}
