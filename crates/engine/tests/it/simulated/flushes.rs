//! Flushes between writes.

use workload::{Nanoseconds, Pattern, SimDevice, Stream, SyncCall, SyncPolicy};

use crate::simulated::experiment::{MS, device, latency, measure, near, reads, workload, writes};

fn flushed(every_writes: u32, stream: Stream) -> Stream {
    let call = SyncCall::Fdatasync;
    Stream { sync: Some(SyncPolicy { every_writes, call }), ..stream }
}

fn slow_flush(sync_ms: u64) -> SimDevice {
    SimDevice { sync_ns: Nanoseconds(sync_ms * MS), ..device(MS) }
}

#[test]
fn a_flush_comes_after_every_so_many_writes() {
    let m = measure(&workload(flushed(10, writes(1)), slow_flush(5)));
    // Ten writes of 1 ms and a flush of 5 ms.
    near(m.write.ios as f64, 10_000.0 / 15.0 * 10.0, 0.002);
    assert!((m.write.ios / 10).abs_diff(m.sync.ios) <= 1, "{} {}", m.write.ios, m.sync.ios);
    assert_eq!((latency(&m.sync).min, latency(&m.sync).max), (Some(5 * MS), Some(5 * MS)));
    assert_eq!((m.total.ios, m.sync.bytes), (m.write.ios, 0), "flushes count in no other figure");
    assert!(m.checks.littles_law_percent.unwrap().abs() < 0.1);
}

/// A flush that overtakes writes in flight would promise what is not so.
#[test]
fn a_flush_waits_for_the_writes_before_it_and_nothing_runs_beside_it() {
    let m = measure(&workload(flushed(8, writes(8)), slow_flush(2)));
    // Eight writes side by side in 1 ms, then a flush of 2 ms alone.
    near(m.write.ios as f64, 10_000.0 / 3.0 * 8.0, 0.002);
    assert_eq!(latency(&m.write).max, Some(MS));
    near(m.achieved_in_flight, (8.0 + 2.0) / 3.0, 0.002);
}

#[test]
fn every_thread_flushes_its_own_writes_and_reads_do_not_count() {
    let stream = flushed(4, Stream { threads: 3, write_percent: 50, ..reads(2) });
    let m = measure(&workload(stream, slow_flush(1)));
    for thread in &m.threads_detail {
        assert!((thread.write.ios / 4).abs_diff(thread.sync.ios) <= 1);
        assert!(thread.read.ios > 0);
    }
}

#[test]
fn group_commit_of_a_log() {
    let stream = Stream { pattern: Pattern::Sequential, durable: true, ..flushed(1, writes(1)) };
    let m = measure(&workload(stream, slow_flush(3)));
    assert_eq!((m.write.ios, m.sync.ios), (2500, 2500));
}
