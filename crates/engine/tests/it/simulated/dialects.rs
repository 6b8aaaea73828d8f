//! What other tools do, whole runs of it: their orders, their pauses, their caps and their last
//! phase.

use engine::Event;
use results::Status;
use workload::{
    Arrival, Bytes, DiskspdAccess, DiskspdOrder, DiskspdSlices, Nanoseconds, Pattern, Rate,
    RateLimit, SimCache, SimCacheKind, SimDevice, SimStall, SimStuck, Stream, Target, Think,
    ThinkFrom, Workload,
};

use crate::simulated::experiment::{
    MS, S, blocks, device, interrupted, latency, measure, near, reads, workload,
};

fn diskspd(access: DiskspdAccess) -> DiskspdOrder {
    DiskspdOrder {
        access,
        step_bytes: Bytes(4096),
        thread_stride_bytes: Bytes(1 << 20),
        slices: DiskspdSlices::default(),
    }
}

/// Two targets, threads of each, several at a time: the order is one of a thread on its target, and
/// directions are drawn.
#[test]
fn every_access_of_diskspd_runs() {
    for access in [
        DiskspdAccess::Random,
        DiskspdAccess::Mixed { random_percent: 30 },
        DiskspdAccess::Sequential,
        DiskspdAccess::Interlocked,
        DiskspdAccess::Parallel,
    ] {
        let stream = Stream {
            diskspd: Some(diskspd(access)),
            threads: 2,
            write_percent: 30,
            blocks: blocks(65_536),
            ..reads(2)
        };
        let mut workload = workload(stream, device(MS));
        workload.targets.push(Target { path: "second".into(), size_bytes: Some(Bytes(2 << 20)) });
        let m = measure(&workload);
        assert_eq!(m.total.ios, 80_000, "{access:?}");
        assert_eq!(m.total.bytes, 80_000 * 65_536);
        let writes = m.write.ios as f64 / 80_000.0;
        // In a mixed order a jump decides for three I/Os and more.
        assert!((0.285..0.315).contains(&writes), "{access:?}: {writes}");
        let again = measure(&workload);
        assert_eq!(again.write.ios, m.write.ios, "the same seed, the same I/Os");
        let other = measure(&Workload { seed: 7, ..workload });
        assert_ne!(other.write.ios, m.write.ios);
    }
}

#[test]
fn the_matrix_of_sqlio_runs() {
    let pattern = Pattern::Matrix { columns: 64, rows: 64, same_column: false };
    let stream = Stream { pattern, threads: 4, ..reads(1) };
    let m = measure(&workload(stream, device(MS)));
    assert_eq!((m.total.ios, m.total.errors), (40_000, 0));
}

/// Two lines of SQLIO's parameter file name the same file: each block is read once, so that a cache
/// never has it.
#[test]
fn streams_that_do_the_same_go_through_a_file_together() {
    let kind = SimCacheKind::Lru;
    let cache = SimCache { kind, size_bytes: Bytes(1 << 20), hit_ns: Nanoseconds(1000) };
    let sim = SimDevice { cache: Some(cache), ..device(MS) };
    let mut workload = workload(Stream { pattern: Pattern::SequentialShared, ..reads(1) }, sim);
    workload.streams.push(workload.streams[0].clone());
    workload.streams[1].name = "second".to_owned();
    let m = measure(&workload);
    assert_eq!((latency(&m.read).min, m.total.ios), (Some(MS), 20_000));
    // Each has its own cursor: one reads what the other has read.
    workload.streams[1].pattern = Pattern::Sequential;
    assert!(latency(&measure(&workload).read).min < Some(MS));
}

fn capped(limit: RateLimit, stream: Stream) -> Stream {
    Stream { rate: Some(Rate { limit, arrival: Arrival::Capped }), ..stream }
}

/// DiskSpd's meter counts milliseconds in whole bytes: `-b8K -g200i` gave 198.95, and `-b512 -g1i`
/// had no limit.
#[test]
fn a_cap_is_exact_for_rates_in_ios_and_in_bytes() {
    for (iops, threads) in [(200.0, 1), (1.0, 1), (333.0, 3), (1000.0, 4)] {
        let stream = capped(RateLimit::Iops(iops), Stream { threads, ..reads(4) });
        let m = measure(&workload(stream, device(MS)));
        near(m.total.ios as f64, iops * 10.0, 1e-9);
        assert_eq!((latency(&m.read).min, latency(&m.read).max), (Some(MS), Some(MS)));
        assert!(m.read.delay_ns.is_none(), "a cap is no open loop");
        assert_eq!(m.checks.rate_reached_percent, None);
    }
    // 10 MB per second.
    let limit = RateLimit::MibPerS(10e6 / 1_048_576.0);
    let stream = capped(limit, Stream { threads: 2, blocks: blocks(8000), ..reads(4) });
    let m = measure(&workload(stream, device(MS)));
    assert_eq!(m.total.bytes, 100_000_000);
}

#[test]
fn a_cap_that_is_never_reached_changes_nothing() {
    let m = measure(&workload(capped(RateLimit::Iops(1e6), reads(2)), device(MS)));
    assert_eq!(m.total.ios, 20_000);
    assert_eq!(latency(&m.read).max, Some(MS));
}

/// 200 I/Os each second, and a second of every five without service: the 200 that were held up
/// follow at once, and none of them counts the time before it was issued.
#[test]
fn what_a_stall_held_up_follows_at_full_speed() {
    let stall = Some(SimStall { period_ns: Nanoseconds(5 * S), length_ns: Nanoseconds(S) });
    let workload =
        workload(capped(RateLimit::Iops(200.0), reads(1)), SimDevice { stall, ..device(MS) });
    let m = measure(&Workload { seconds: 20.0, warmup_seconds: 2.0, ..workload });
    assert_eq!(m.total.ios, 4000);
    // Four of 4000 met a stall.
    near(latency(&m.read).p99.unwrap() as f64, MS as f64, 0.008);
    assert!(latency(&m.read).max > Some(S - 5 * MS));
}

/// Bursts of 10 at depth 10 take 2 ms on 8 servers of 1 ms. With the pause of 10 ms from the last
/// completion a period is 12 ms, from the last submission 10 ms.
#[test]
fn a_pause_counts_from_the_last_submission_or_completion() {
    for (from, period_ms) in [(ThinkFrom::Completion, 12), (ThinkFrom::Submission, 10)] {
        let think = Think { pause_ns: Nanoseconds(10 * MS), burst_ios: 10, from };
        let stream = Stream { think: Some(think), ..reads(10) };
        let m = measure(&Workload {
            seconds: 12.0,
            warmup_seconds: 0.0,
            ..workload(stream, device(MS))
        });
        assert_eq!(m.total.ios, 12_000 / period_ms * 10, "{from:?}");
    }
}

/// At depth 1, a burst of 4 is issued one after the other: the pause begins with the last, which is
/// still under way.
#[test]
fn a_pause_from_submission_overlaps_the_last_of_the_burst() {
    let from = ThinkFrom::Submission;
    let think = Think { pause_ns: Nanoseconds(7 * MS), burst_ios: 4, from };
    let stream = Stream { think: Some(think), ..reads(1) };
    let m = measure(&Workload { warmup_seconds: 0.0, ..workload(stream, device(MS)) });
    assert_eq!(m.total.ios, 4 * 1000, "3 ms until the last is issued, and 7 ms");
}

/// Two I/Os at a time of 1 ms: 20 000 in the window, and I/O 21 000 half a second after it does not
/// come back.
fn with_a_cooldown(cooldown_seconds: f64) -> Workload {
    let stuck = Some(SimStuck { at_io: 21_000, length_ns: Nanoseconds(100 * S) });
    let workload = workload(reads(2), SimDevice { stuck, ..device(MS) });
    Workload { warmup_seconds: 0.0, cooldown_seconds, ..workload }
}

#[test]
fn io_goes_on_after_the_window_and_counts_nowhere() {
    for (cooldown, unfinished) in [(0.0, 0), (0.4, 0), (1.0, 1)] {
        let m = measure(&with_a_cooldown(cooldown));
        assert_eq!(m.stalls.unfinished, unfinished, "with {cooldown} s");
        assert_eq!(m.status == Status::Complete, unfinished == 0);
        assert_eq!((m.seconds, m.total.ios), (10.0, 20_000 - 2));
        assert_eq!((m.series.len(), latency(&m.read).max), (10, Some(MS)));
        assert_eq!(m.stalls.longest_gap_ns, MS);
        near(m.achieved_in_flight, 2.0, 1e-6);
    }
}

#[test]
fn an_error_after_the_window_is_an_error_of_the_run() {
    let mut workload = with_a_cooldown(1.0);
    workload.sim = Some(SimDevice { fail_every: Some(20_500), ..device(MS) });
    let m = measure(&workload);
    assert_eq!((m.status, m.total.ios, m.total.errors), (Status::Failed, 20_000 - 2, 0));
    assert_eq!(m.errors.len(), 1);
    assert_eq!(measure(&Workload { cooldown_seconds: 0.0, ..workload }).status, Status::Complete);
}

/// What ends the run there leaves the window whole.
#[test]
fn a_signal_ends_what_follows_the_window() {
    let last = |e: &Event| matches!(e, Event::Interval { point, .. } if point.t > 9.5);
    let (m, _) = interrupted(&with_a_cooldown(1.0), last);
    assert_eq!((m.status, m.total.ios, m.stalls.unfinished), (Status::Complete, 20_000 - 2, 0));
    let early = |e: &Event| matches!(e, Event::Interval { point, .. } if point.t > 4.5);
    let (m, _) = interrupted(&with_a_cooldown(1.0), early);
    assert_eq!((m.status, m.stalls.unfinished), (Status::Interrupted, 0));
}
