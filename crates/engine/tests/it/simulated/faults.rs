//! Devices that fail, cut short or never answer.

use engine::Event;
use results::{ErrorKind, Status};
use workload::{
    Arrival, Nanoseconds, OnError, Pattern, Rate, RateLimit, SimDevice, SimStall, SimStuck, Stream,
    Workload,
};

use crate::simulated::experiment::{
    MS, S, device, interrupted, latency, measure, near, observed, reads, workload, writes,
};

fn failing(every: u64) -> SimDevice {
    SimDevice { fail_every: Some(every), ..device(MS) }
}

fn at_once(workload: Workload) -> Workload {
    Workload { warmup_seconds: 0.0, ..workload }
}

#[test]
fn errors_are_counted_by_kind_and_the_run_goes_on() {
    let stream = Stream { pattern: Pattern::Sequential, ..reads(1) };
    let workload = at_once(workload(stream, failing(100)));
    let m = measure(&Workload { on_error: OnError::Continue, ..workload });
    assert_eq!(m.status, Status::Complete);
    // The I/O that ends with the window is not in it.
    assert_eq!((m.total.ios, m.total.errors), (9_900, 99));
    let [error] = m.errors.as_slice() else { panic!("{:?}", m.errors) };
    assert_eq!((error.kind, error.operation.as_str()), (ErrorKind::Io, "read"));
    assert_eq!((error.first_offset_bytes, error.path.to_str()), (99 * 8192, Some("sim")));
    assert!((99..=100).contains(&error.count), "{}", error.count);
    // EIO, and ERROR_IO_DEVICE.
    let number = if cfg!(windows) { "os error 1117" } else { "os error 5" };
    assert!(error.message.contains(number), "{}", error.message);
}

#[test]
fn reads_and_writes_fail_apart() {
    let stream = Stream { write_percent: 50, ..reads(4) };
    let workload = at_once(workload(stream, failing(10)));
    let m = measure(&Workload { on_error: OnError::Continue, ..workload });
    let mut kinds: Vec<_> = m.errors.iter().map(|e| e.operation.as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["read", "write"]);
    let count: u64 = m.errors.iter().map(|e| e.count).sum();
    assert!(count.abs_diff(m.total.errors) <= 4, "{count} {}", m.total.errors);
    near(m.total.errors as f64, (m.total.ios + m.total.errors) as f64 / 10.0, 0.01);
}

#[test]
fn the_first_error_ends_the_run() {
    let m = measure(&at_once(workload(writes(1), failing(100))));
    assert_eq!(m.status, Status::Failed);
    near(m.seconds, 0.1, 1e-6);
    assert_eq!((m.total.ios, m.total.errors, m.errors[0].count), (99, 1, 1));
    assert_eq!(m.errors[0].operation, "write");
    assert_eq!(m.stalls.unfinished, 0);
    near(m.total.iops, 990.0, 1e-6);
}

/// After the I/O that ended the run, its thread still issued a whole batch to a device that had
/// just failed.
#[test]
fn nothing_is_issued_after_the_error_that_ends_the_run() {
    let m = measure(&at_once(workload(Stream { threads: 4, ..reads(8) }, failing(1))));
    assert_eq!((m.status, m.total.ios, m.errors[0].count), (Status::Failed, 0, 32));
    assert!(m.seconds < 0.01);
}

/// The time in flight of I/Os that fail was in the integral and not in the sum, so that a device
/// that failed every tenth I/O was said to be miscounted by ten percent.
#[test]
fn failed_ios_were_in_flight_too() {
    let workload = at_once(workload(reads(8), failing(10)));
    let m = measure(&Workload { on_error: OnError::Continue, ..workload });
    near(m.total.errors as f64, 8000.0, 0.01);
    let little = m.checks.littles_law_percent.unwrap();
    assert!(little.abs() < 0.1, "{little}");
}

/// A run that is interrupted because something hangs stays an interrupted one.
#[test]
fn an_interrupted_run_is_not_a_failed_one() {
    let stuck = Some(SimStuck { at_io: 5, length_ns: Nanoseconds(20 * S) });
    let workload = at_once(workload(reads(2), SimDevice { stuck, ..device(MS) }));
    let third = |e: &Event| matches!(e, Event::Interval { point, .. } if point.t >= 2.9);
    let (m, _) = interrupted(&workload, third);
    assert_eq!((m.status, m.stalls.unfinished), (Status::Interrupted, 1));
}

/// The watchdog looks five times a second: an I/O that returned after 15.1 s could escape it.
#[test]
fn an_io_that_returned_after_over_15_s_counts() {
    for length_ns in [15_050 * MS, 15_150 * MS, 16 * S] {
        let stuck = Some(SimStuck { at_io: 5, length_ns: Nanoseconds(length_ns) });
        let workload = at_once(workload(reads(1), SimDevice { stuck, ..device(MS) }));
        let m = measure(&Workload { seconds: 20.0, ..workload });
        assert_eq!((m.stalls.over_15_s, m.stalls.unfinished), (1, 0), "{length_ns}");
    }
}

/// A device that stops for good 100 ms before the end of the window: the percentiles are those of
/// the time before, and nothing said that they are too good.
#[test]
fn what_is_stuck_when_the_window_ends_is_said() {
    let stall = Some(SimStall { period_ns: Nanoseconds(11 * S), length_ns: Nanoseconds(100 * MS) });
    let device = SimDevice { stall, ..device(MS / 10) };
    let rate = Rate { limit: RateLimit::Iops(1000.0), arrival: Arrival::Even };
    let open = Stream { rate: Some(rate), ..reads(2048) };
    for (stream, count) in [(open, 90), (reads(8), 8)] {
        let m = measure(&workload(stream, device.clone()));
        assert!(latency(&m.read).p99.unwrap() <= MS, "{:?}", m.read.latency_ns);
        let said = m.checks.warnings.iter().find(|w| w.contains("when the window ended"));
        let said = said.unwrap_or_else(|| panic!("{:?}", m.checks.warnings));
        let number: u64 = said.split(' ').find_map(|word| word.parse().ok()).unwrap();
        assert!(number.abs_diff(count) <= 1, "{said}");
        assert!(said.contains("100 ms") || said.contains("99."), "{said}");
    }
}

/// The rest is asked for, and the I/O is one I/O with all of its bytes and the time of both parts.
#[test]
fn a_short_transfer_is_continued_and_counted_once() {
    let device = SimDevice { short_every: Some(3), ..device(MS) };
    let m = measure(&at_once(workload(reads(1), device)));
    assert_eq!((m.total.errors, m.errors.len()), (0, 0));
    assert_eq!(m.total.bytes, m.total.ios * 8192);
    // Requests 3, 6, 9 ... are cut: each third request is the first part of an I/O of two requests.
    near(m.total.ios as f64, 10_000.0 * 2.0 / 3.0, 0.001);
    assert_eq!((latency(&m.read).min, latency(&m.read).max), (Some(MS), Some(2 * MS)));
}

/// One of two slots waits 20 s for its I/O; the window of 12 s and the 5 s after it do not. Such a
/// run passed for complete, and the program said that all was well.
#[test]
fn a_stuck_io_holds_up_neither_the_others_nor_the_end() {
    let stuck = Some(SimStuck { at_io: 5, length_ns: Nanoseconds(20 * S) });
    let workload = at_once(workload(reads(2), SimDevice { stuck, ..device(MS) }));
    let (m, events) = observed(&Workload { seconds: 12.0, ..workload });
    assert_eq!((m.status, m.seconds), (Status::Failed, 12.0));
    assert_eq!((m.stalls.unfinished, m.stalls.over_15_s), (1, 1));
    let oldest = m.stalls.oldest_unfinished_ns;
    assert!((16 * S..=17 * S).contains(&oldest), "{oldest}");
    near(m.total.iops, 1000.0, 0.001);
    near(m.achieved_in_flight, 2.0, 0.001);
    let little = m.checks.littles_law_percent.unwrap();
    assert!(little.abs() < 0.1, "what never returns was in flight, too: {little}");
    let warned = |e: &Event| matches!(e, Event::Warning { text } if text.contains("over 15 s"));
    assert_eq!(events.iter().filter(|e| warned(e)).count(), 1);
    let said = m.checks.warnings.iter().any(|w| w.contains("had not returned"));
    assert!(said, "{:?}", m.checks.warnings);
}

#[test]
fn a_stuck_io_that_returns_is_the_longest_latency() {
    let stuck = Some(SimStuck { at_io: 2000, length_ns: Nanoseconds(3 * S) });
    let m = measure(&workload(reads(1), SimDevice { stuck, ..device(MS) }));
    assert_eq!((latency(&m.read).max, m.stalls.longest_gap_ns), (Some(3 * S), 3 * S));
    assert_eq!((m.stalls.unfinished, m.stalls.over_15_s), (0, 0));
    assert_eq!(m.series.iter().filter(|p| p.read_iops == 0.0).count(), 2);
}
