//! Tests of the rules a workload must keep.

use super::*;
use crate::arrival::{Arrival, Rate, Think, ThinkFrom};
use crate::model::Target;
use crate::order::{Hint, Pool, PoolMember, PoolShare};
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

/// Once it was accepted and ignored.
#[test]
fn direct_io_takes_no_hint() {
    for hint in [Hint::Random, Hint::Sequential] {
        let stream = |mode| Stream { hint: Some(hint), mode, ..Stream::default() };
        let found = workload(stream(None)).violations();
        assert_eq!(fields(&found), ["streams[0].hint"], "the workload's mode is direct");
        assert!(found[0].rule.contains("another mode"));
        assert_eq!(workload(stream(Some(Mode::Buffered))).violations(), []);
        assert_eq!(workload(stream(Some(Mode::Mapped))).violations(), []);
        let buffered = Workload { mode: Mode::Buffered, ..workload(stream(Some(Mode::Direct))) };
        assert_eq!(fields(&buffered.violations()), ["streams[0].hint"], "the stream's own mode");
        let buffered = Workload { mode: Mode::Buffered, ..workload(stream(None)) };
        assert_eq!(buffered.violations(), []);
    }
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
        size: u64, align: u64, block: u64, theta: f64,
            targets in prop::collection::vec(any::<usize>(), 0..3),
    ) {
        let stream = Stream {
            depth, threads, write_percent: write, random_percent: random, targets,
            offset_bytes: Bytes(offset), span_bytes: Some(Bytes(span)),
            blocks: vec![Block { bytes: Bytes(block), weight: 1 }],
            distribution: Distribution::Zipf { theta }, ..Stream::default()
        };
        let workload = Workload { seconds, ..workload(stream) };
        let _ = workload.violations();
        let _ = workload.violations_on(&[TargetFacts { size_bytes: size,
            direct_align_bytes: align }]);
    }
}

/// A run with a rate that the storage kept after a while was cut there, and ended early: a
/// precision is of throughput that the storage decides.
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
        assert_eq!(fields(&scattered(pieces).violations()), ["streams[0].buffers.pieces"]);
    }
    let pages = |bytes| with(Buffers::Pages { bytes: Bytes(bytes) });
    assert_eq!((pages(4096).violations(), pages(4096).violations_on(&facts)), (vec![], vec![]));
    assert_eq!(fields(&pages(512).violations_on(&facts)), ["streams[0].buffers.bytes"]);
    for bytes in [0, 3000] {
        assert_eq!(fields(&pages(bytes).violations()), ["streams[0].buffers.bytes"]);
    }
    for mapped in [scattered(2), pages(4096)] {
        let mapped = Workload { mode: Mode::Mapped, ..mapped };
        assert_eq!(fields(&mapped.violations()), ["streams[0].buffers"]);
    }
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

/// Two streams with the same three threads.
fn joined(share: &PoolShare, second: Stream) -> Workload {
    let pool = Some(Pool { share: share.clone() });
    let first = Stream { threads: 3, depth: 4, targets: vec![0], pool, ..Stream::default() };
    let second = Stream {
        joined: true,
        targets: vec![1],
        threads: 3,
        depth: 4,
        pool: first.pool.clone(),
        ..second
    };
    let target = |name: &str| Target { path: name.into(), size_bytes: None };
    let (targets, streams) = (vec![target("a"), target("b")], vec![first, second]);
    Workload { targets, streams, ..workload(Stream::default()) }
}

#[test]
fn threads_of_two_streams_are_counted_once() {
    let write = || Stream { write_percent: 100, ..Stream::default() };
    let each = joined(&PoolShare::Each, write());
    assert_eq!(each.violations(), []);
    assert_eq!((each.threads(), each.in_flight(), each.workers()), (3, 24, 6));
    assert_eq!(each.crews().first(), Some(&(0..2)));
    let drawn = PoolShare::Drawn { weights: Vec::new() };
    let drawn = joined(&drawn, write());
    assert_eq!(drawn.violations(), []);
    assert_eq!((drawn.threads(), drawn.in_flight(), drawn.workers()), (3, 12, 6));
    let mut some = drawn;
    some.streams[1].members = vec![PoolMember { thread: 1, weight: Some(7) }];
    assert_eq!(some.violations(), []);
    assert_eq!((some.threads(), some.in_flight(), some.workers()), (3, 12, 4));
    let of_second = |thread| some.streams[1].weight_for(thread);
    assert_eq!([of_second(0), of_second(1), of_second(2)], [None, Some(Some(7)), None]);
    assert_eq!(some.streams[0].weight_for(2), Some(None));
}

/// A change of a joined stream that breaks a rule, and the field that is named.
type Case<'a> = (&'a PoolShare, &'a dyn Fn(&mut Stream), &'a str);

#[test]
fn streams_with_the_same_threads_have_rules_of_their_own() {
    let drawn = PoolShare::Drawn { weights: Vec::new() };
    let broken = |share: &PoolShare, change: &dyn Fn(&mut Stream)| {
        let mut workload = joined(share, Stream::default());
        change(&mut workload.streams[1]);
        fields(&workload.violations()).iter().map(|f| (*f).to_owned()).collect::<Vec<_>>()
    };
    let member = |thread, weight| PoolMember { thread, weight };
    let second = "streams[1].";
    let cases: [Case; 12] = [
        (&drawn, &|s| s.threads = 2, "threads"),
        (&drawn, &|s| s.depth = 5, "depth"),
        (&drawn, &|s| s.pool = Some(Pool { share: PoolShare::Each }), "pool.share"),
        (&drawn, &|s| s.pool = None, "joined"),
        (&drawn, &|s| s.cpus = vec![0], "cpus"),
        (&drawn, &|s| s.priority = Some(Priority::Idle), "priority"),
        (&drawn, &|s| s.mode = Some(Mode::Mapped), "mode"),
        (&drawn, &|s| s.buffers = Buffers::Large, "buffers"),
        (
            &drawn,
            &|s| s.rate = Some(Rate { limit: RateLimit::Iops(9.0), arrival: Arrival::Capped }),
            "rate",
        ),
        (&drawn, &|s| s.members = vec![member(2, None), member(1, None)], "members"),
        (&drawn, &|s| s.members = vec![member(3, None)], "members"),
        (&PoolShare::Each, &|s| s.members = vec![member(0, Some(1))], "members"),
    ];
    for (share, change, field) in cases {
        let found = broken(share, change);
        assert!(found.contains(&format!("{second}{field}")), "{field}: {found:?}");
    }
    // What each has of its own may differ.
    let pause = Think { pause_ns: Nanoseconds(9), burst_ios: 1, from: ThinkFrom::default() };
    let own = |s: &mut Stream| {
        (s.write_percent, s.durable, s.mode) = (100, true, Some(Mode::Buffered));
        (s.depth, s.think, s.content) = (9, Some(pause), Content::Zero);
    };
    assert_eq!(broken(&PoolShare::Each, &own), [""; 0]);
    let mut idle = joined(&drawn, Stream::default());
    for stream in &mut idle.streams {
        stream.members = vec![member(0, None), member(2, None)];
    }
    let found = idle.violations();
    assert!(found.len() == 1 && found[0].to_string().contains("without thread 1"), "{found:?}");
    let mut alone = joined(&drawn, Stream::default());
    alone.streams.remove(0);
    assert_eq!(fields(&alone.violations()), ["streams[0].joined"]);
    let outside = Stream { members: vec![member(0, None)], ..Stream::default() };
    assert_eq!(fields(&workload(outside).violations()), ["streams[0].members"]);
    let mut deep = joined(&PoolShare::Each, Stream::default());
    (deep.streams[0].depth, deep.streams[1].depth) = (40_000, 40_000);
    assert_eq!(fields(&deep.violations()), ["streams[0].depth"]);
}

#[test]
fn the_series_of_threads_are_bounded() {
    let of = |threads, seconds, thread_series| {
        let stream = Stream { threads, ..Stream::default() };
        Workload { seconds, thread_series, ..workload(stream) }.violations()
    };
    assert_eq!(of(100, 1000.0, true), []);
    assert_eq!(fields(&of(100, 1001.0, true)), ["thread_series"]);
    assert_eq!(of(100, 1001.0, false), []);
}

#[test]
fn short_intervals_are_for_few_threads() {
    let of = |threads, interval_ns, seconds| {
        let interval_ns = Nanoseconds(interval_ns);
        let stream = Stream { threads, ..Stream::default() };
        let workload = Workload { seconds, interval_ns, ..workload(stream) };
        fields(&workload.violations()).len()
    };
    assert_eq!(of(16, 1_000_000, 10.0), 0);
    assert_eq!(of(17, 1_000_000, 10.0), 1);
    assert_eq!(of(17, 10_000_000, 10.0), 0);
    assert_eq!(of(1, 999_999, 10.0), 1);
    assert_eq!(of(1, 1_000_000, 1001.0), 1, "a million points");
}

/// Each target was compared with all before it.
#[test]
fn many_targets_are_checked_in_one_pass() {
    let target = |n: u64| Target { path: n.to_string().into(), size_bytes: None };
    let mut workload = workload(Stream { targets: vec![0], ..Stream::default() });
    workload.targets = (0..200_000).map(target).collect();
    assert_eq!(workload.violations(), []);
    workload.targets.push(target(5));
    assert_eq!(fields(&workload.violations()), ["targets[200000].path"]);
}

#[test]
fn a_stream_may_have_its_own_mode() {
    let buffered = Stream { mode: Some(Mode::Buffered), ..Stream::default() };
    let block =
        |stream: Stream| Stream { blocks: vec![Block { bytes: Bytes(1000), weight: 1 }], ..stream };
    let facts = [TargetFacts { size_bytes: 1 << 30, direct_align_bytes: 512 }];
    let mut both = workload(block(buffered.clone()));
    assert_eq!(both.violations_on(&facts), []);
    assert!(!both.is_direct() && both.modes() == [Mode::Buffered]);
    both.streams.push(block(Stream::default()));
    let found = both.violations_on(&facts);
    assert!(found.iter().all(|v| v.field.starts_with("streams[1].")) && !found.is_empty());
    assert_eq!(both.modes(), [Mode::Buffered, Mode::Direct]);
    let mapped = Stream { mode: Some(Mode::Mapped), ..Stream::default() };
    let asked = Workload { engine: EngineChoice::Uring, ..workload(mapped) };
    assert_eq!(fields(&asked.violations()), ["engine"]);
}
