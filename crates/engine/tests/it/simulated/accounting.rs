//! What counts, where, and how it adds up. That parts add up to totals is asserted of every
//! experiment.

use engine::Event;
use results::{Histogram, IntervalSpread, Measurement, Statistics, Status, ThreadPoint};
use workload::{Bytes, Nanoseconds, SimDevice, SimStall, SimStuck, Stream, Target, Workload};

use crate::simulated::experiment::{MS, S, device, interrupted, latency, measure, near, observed};
use crate::simulated::experiment::{reads, workload};

fn stuck(at_io: u64, length_ns: u64) -> SimDevice {
    let stuck = Some(SimStuck { at_io, length_ns: Nanoseconds(length_ns) });
    SimDevice { stuck, ..device(MS) }
}

#[test]
fn what_completes_in_the_warm_up_counts_nowhere() {
    let m = measure(&workload(reads(2), stuck(1, S / 2)));
    assert_eq!((m.total.ios, latency(&m.read).max), (20_000, Some(MS)));
    assert_eq!(m.stalls.longest_gap_ns, MS);
}

/// An I/O belongs to the window in which it completes, with all of its latency.
#[test]
fn what_completes_in_the_window_counts_wherever_it_began() {
    let m = measure(&workload(reads(2), stuck(1, 3 * S)));
    // One slot works all the time, the other for the 8 s after the first I/O at 3 s.
    assert_eq!(m.total.ios, 10_000 + 1 + 8000 - 1);
    assert_eq!(latency(&m.read).max, Some(3 * S));
    assert_eq!(m.series[2].max_ns, Some(3 * S), "it ended 2 s into the window");
}

#[test]
fn what_completes_after_the_window_counts_nowhere() {
    let m = measure(&Workload { warmup_seconds: 0.0, ..workload(reads(2), stuck(1, 12 * S)) });
    assert_eq!((m.status, m.seconds), (Status::Complete, 10.0));
    assert_eq!((m.total.ios, latency(&m.read).max), (10_000 - 1, Some(MS)));
    assert_eq!(m.stalls.unfinished, 0, "it came back while the run waited for it");
}

#[test]
fn intervals_of_any_length_add_up() {
    for interval_ns in [10 * MS, 250 * MS, 700 * MS, 7 * S, 60 * S] {
        let interval_ns = Nanoseconds(interval_ns);
        let stream = Stream { threads: 3, write_percent: 50, ..reads(2) };
        let m = measure(&Workload { interval_ns, ..workload(stream, device(MS)) });
        assert_eq!(m.total.ios, 60_000);
        let count = (10 * S).div_ceil(interval_ns.0);
        assert_eq!(m.series.len() as u64, count, "{interval_ns}");
        near(m.series.last().unwrap().t, 10.0, 1e-9);
        for point in &m.series {
            near(point.read_iops + point.write_iops, 6000.0, 0.001);
        }
    }
}

/// A result of DiskSpd has the intervals of every thread, and how the latencies in each are spread.
#[test]
fn the_series_of_the_threads_add_up_to_that_of_all() {
    let stall = Some(SimStall { period_ns: Nanoseconds(5 * S), length_ns: Nanoseconds(2 * S) });
    let device = SimDevice { stall, ..device(MS) };
    for interval_ns in [250 * MS, 700 * MS, 7 * S] {
        let stream = Stream { threads: 3, write_percent: 30, ..reads(4) };
        let interval_ns = Nanoseconds(interval_ns);
        let workload = Workload { interval_ns, ..workload(stream, device.clone()) };
        let plain = measure(&workload);
        assert!(plain.threads_detail.iter().all(|thread| thread.series.is_empty()));
        let m = measure(&Workload { thread_series: true, ..workload });
        assert_eq!((m.total.ios, &m.series), (plain.total.ios, &plain.series));
        for (index, point) in m.series.iter().enumerate() {
            let of: Vec<&ThreadPoint> = m.threads_detail.iter().map(|t| &t.series[index]).collect();
            assert!(of.iter().all(|p| (p.t, p.seconds) == (point.t, point.seconds)));
            let ios = |pick: fn(&ThreadPoint) -> u64| of.iter().map(|p| pick(p)).sum::<u64>();
            let counted = [ios(|p| p.read.ios), ios(|p| p.write.ios)];
            for (ios, per_s) in counted.iter().zip([point.read_iops, point.write_iops]) {
                assert!((*ios as f64 - per_s * point.seconds).abs() < 1e-3, "{ios} {point:?}");
            }
            let longest = of.iter().flat_map(|p| [p.read.max_ns, p.write.max_ns]).flatten().max();
            assert_eq!(longest, point.max_ns);
        }
        for thread in &m.threads_detail {
            for (whole, pick) in [
                (&thread.read, (|p| &p.read) as fn(&ThreadPoint) -> &IntervalSpread),
                (&thread.write, |p| &p.write),
            ] {
                adds_up(whole, &thread.series.iter().map(pick).collect::<Vec<_>>());
            }
        }
    }
}

/// The spreads of all intervals are together that of the whole.
fn adds_up(whole: &Statistics, intervals: &[&IntervalSpread]) {
    let latency = latency(whole);
    assert_eq!(intervals.iter().map(|i| i.ios).sum::<u64>(), whole.ios);
    assert_eq!(intervals.iter().filter_map(|i| i.min_ns).min(), latency.min);
    assert_eq!(intervals.iter().filter_map(|i| i.max_ns).max(), latency.max);
    let ios = whole.ios as f64;
    let mean = |of: &dyn Fn(&IntervalSpread) -> Option<f64>| {
        let sums = intervals.iter().filter_map(|i| Some(of(i)? * i.ios as f64));
        sums.sum::<f64>() / ios
    };
    near(mean(&|i| i.mean_ns), latency.mean, 1e-9);
    let square =
        |i: &IntervalSpread| Some(i.stddev_ns?.powi(2) + (i.mean_ns? - latency.mean).powi(2));
    near(mean(&square).sqrt(), latency.stddev.unwrap(), 0.01);
    for empty in intervals.iter().filter(|i| i.ios == 0) {
        assert_eq!(**empty, IntervalSpread::default());
    }
}

/// Nothing is served in the last 2 s of every 5 s.
#[test]
fn a_stall_leaves_empty_intervals_and_a_gap_of_its_length() {
    let stall = Some(SimStall { period_ns: Nanoseconds(5 * S), length_ns: Nanoseconds(2 * S) });
    let m = measure(&workload(reads(8), SimDevice { stall, ..device(MS) }));
    let iops: Vec<f64> = m.series.iter().map(|p| p.read_iops.round()).collect();
    // The window is 1 s to 11 s; the stalls are 3 s to 5 s and 8 s to 10 s.
    let expected = [8000.0, 8000.0, 0.0, 0.0, 8000.0, 8000.0, 8000.0, 0.0, 0.0, 8000.0];
    let off = iops.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= 8.0, "{iops:?}");
    assert_eq!((m.series[3].read_iops, m.series[3].read_p99_ns), (0.0, None));
    let gap = m.stalls.longest_gap_ns;
    assert!((2 * S..=2 * S + MS).contains(&gap), "{gap}");
    near(m.total.iops, 8000.0 * 0.6, 0.001);
}

#[test]
fn the_live_stream_shows_the_series() {
    let (m, events) = observed(&workload(reads(8), device(MS)));
    let shown: Vec<_> = events
        .iter()
        .filter_map(|e| match e {
            Event::Interval { point, .. } => Some(*point),
            _ => None,
        })
        .collect();
    assert!(shown == m.series);
    let at = |wanted: fn(&Event) -> bool| events.iter().position(wanted).unwrap();
    let began = at(|e| matches!(e, Event::WindowBegan { .. }));
    assert!(at(|e| matches!(e, Event::WarmingUp { .. })) < began);
    assert!(began < at(|e| matches!(e, Event::Interval { .. })));
    assert!(matches!(events.last(), Some(Event::WindowEnded)));
}

#[test]
fn those_who_look_on_see_what_each_worker_does() {
    let stream = Stream { threads: 3, ..reads(2) };
    let mut workload = workload(stream, device(MS));
    workload.targets.push(Target { path: "second".into(), size_bytes: Some(Bytes(1 << 20)) });
    let (m, events) = observed(&workload);
    let looks: Vec<_> = events
        .iter()
        .filter_map(|e| match e {
            Event::Workers { names, points } => Some((names, points)),
            _ => None,
        })
        .collect();
    assert_eq!(looks.len(), m.series.len(), "once a second");
    for ((names, points), second) in looks.into_iter().zip(&m.series) {
        assert_eq!(names.targets[1], std::path::Path::new("second"));
        let places: Vec<_> = points.iter().map(|p| (p.stream, p.target, p.thread)).collect();
        assert_eq!(places, [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 0), (0, 1, 1), (0, 1, 2)]);
        near(points.iter().map(|p| p.iops).sum(), second.read_iops, 1e-9);
        near(points.iter().map(|p| p.mib_per_s).sum(), second.read_mib_per_s, 1e-9);
        assert_eq!(points.iter().filter_map(|p| p.max_ns).max(), second.max_ns);
    }
}

/// Two streams of three threads on two targets, of which one has only one stream.
#[test]
fn threads_targets_and_streams_are_told_apart() {
    let both = Stream { name: "both".into(), threads: 3, write_percent: 50, ..reads(1) };
    let one = Stream { name: "one".into(), threads: 3, targets: vec![1], ..reads(2) };
    let device = SimDevice { servers: 64, ..device(MS) };
    let mut workload = workload(both, device);
    workload.streams.push(one);
    workload.targets.push(Target { path: "second".into(), size_bytes: Some(Bytes(1 << 20)) });
    let m = measure(&workload);
    assert_eq!((m.threads, m.in_flight, m.threads_detail.len()), (9, 12, 9));
    let ios: Vec<u64> = m.targets.iter().map(|t| t.total.ios).collect();
    assert_eq!(ios, [30_000, 30_000 + 60_000]);
    assert_eq!(m.streams[1].write.ios, 0);
    for thread in &m.threads_detail {
        let depth = if thread.stream == "one" { 2 } else { 1 };
        assert_eq!(thread.total.ios, depth * 10_000);
        near(thread.achieved_depth, depth as f64, 1e-6);
    }
}

/// Threads had no histograms, so that nobody could say which of them saw the slow I/Os.
#[test]
fn the_histograms_of_threads_add_up() {
    let stream = Stream { threads: 3, write_percent: 50, ..reads(2) };
    let m = measure(&workload(stream, device(MS)));
    let read = |s: &Option<String>| Histogram::decode(s.as_deref().unwrap()).unwrap();
    let mut sum = Histogram::new();
    for thread in &m.threads_detail {
        let own = read(&thread.write.histogram);
        assert_eq!(own.count(), thread.write.ios);
        sum.merge(&own);
    }
    assert!(sum == read(&m.write.histogram));
    let m = measure(&workload(reads(2), device(MS)));
    assert_eq!(m.threads_detail[0].total.histogram, None, "it would be that of the total");
}

fn rate_is_kept(m: &Measurement, iops: f64) {
    near(m.total.iops, iops, 0.001);
    assert_eq!(m.checks.warnings, [""; 0]);
}

#[test]
fn an_interruption_shortens_the_window_and_keeps_the_figures() {
    let third = |e: &Event| matches!(e, Event::Interval { point, .. } if point.t >= 2.9);
    let (m, _) = interrupted(&workload(reads(8), device(MS)), third);
    assert_eq!(m.status, Status::Interrupted);
    assert!((3.0..3.1).contains(&m.seconds), "{}", m.seconds);
    rate_is_kept(&m, 8000.0);
    near(m.achieved_in_flight, 8.0, 0.001);
}

#[test]
fn an_interruption_in_the_warm_up_gives_an_empty_result() {
    let at_once = |e: &Event| matches!(e, Event::WarmingUp { .. });
    let (m, events) = interrupted(&workload(reads(8), device(MS)), at_once);
    assert_eq!((m.status, m.seconds, m.total.ios), (Status::Interrupted, 0.0, 0));
    assert_eq!((m.series.len(), m.total.iops, m.achieved_in_flight), (0, 0.0, 0.0));
    assert!(!events.iter().any(|e| matches!(e, Event::Interval { .. })));
}
