//! Open loops: I/Os are due whether or not the storage keeps up, and pauses of closed ones.

use workload::{
    Arrival, Block, Bytes, Counts, Nanoseconds, Rate, RateLimit, RateProfile, SimDevice,
    SimService, SimStall, Stream, Target, Think, ThinkFrom, Workload,
};

use crate::simulated::experiment::{
    MS, S, blocks, device, latency, measure, near, reads, workload,
};

fn paced(limit: RateLimit, arrival: Arrival, stream: Stream) -> Stream {
    Stream { rate: Some(Rate { limit, arrival }), ..stream }
}

fn iops(iops: f64, stream: Stream) -> Stream {
    paced(RateLimit::Iops(iops), Arrival::Even, stream)
}

#[test]
fn an_even_rate_is_exact_and_nothing_waits() {
    let m = measure(&workload(iops(1000.0, reads(4)), device(MS)));
    assert_eq!(m.total.ios, 10_000);
    assert_eq!((latency(&m.read).min, latency(&m.read).max), (Some(MS), Some(MS)));
    assert_eq!(m.read.delay_ns.unwrap().max, Some(0));
    assert_eq!(m.checks.rate_reached_percent, Some(100.0));
    near(m.achieved_in_flight, 1.0, 0.001);
}

#[test]
fn a_rate_is_for_all_threads_and_targets_together() {
    let stream = iops(800.0, Stream { threads: 4, ..reads(2) });
    let mut workload = workload(stream, device(MS));
    workload.targets.push(Target { path: "second".into(), size_bytes: Some(Bytes(1 << 20)) });
    let m = measure(&workload);
    assert_eq!(m.total.ios, 8000);
    assert!(m.threads_detail.iter().all(|t| t.total.ios == 1000));
    assert!(m.series.iter().all(|p| (p.read_iops - 800.0).abs() < 1e-6));
}

#[test]
fn a_byte_rate_counts_bytes_of_all_sizes() {
    let mib = |stream| paced(RateLimit::MibPerS(10.0), Arrival::Even, stream);
    let m = measure(&workload(mib(Stream { blocks: blocks(65536), ..reads(4) }), device(MS)));
    assert_eq!(m.total.ios, 1600);
    let sizes = [(8192, 1), (131_072, 1)];
    let blocks = sizes.map(|(bytes, weight)| Block { bytes: Bytes(bytes), weight }).to_vec();
    let m = measure(&workload(mib(Stream { blocks, ..reads(4) }), device(MS)));
    near(m.total.mib_per_s, 10.0, 0.002);
    near(m.checks.rate_reached_percent.unwrap(), 100.0, 0.002);
}

/// Independent arrivals at one exponential server: M/M/1 with 50 % load, whose mean time in the
/// system is 2 S.
#[test]
fn poisson_arrivals_queue_as_theory_says() {
    let device = SimDevice { servers: 1, service: SimService::Exponential, ..device(MS) };
    let stream = paced(RateLimit::Iops(500.0), Arrival::Poisson, reads(256));
    let m = measure(&Workload { seconds: 200.0, ..workload(stream, device) });
    near(m.total.iops, 500.0, 0.02);
    near(latency(&m.read).mean, 2.0 * MS as f64, 0.06);
}

/// Windows of 100 ms with 0, 2 and 1 parts of the rate, four times a pattern of one: every I/O is
/// in its window, and evenly spaced in it.
#[test]
fn a_rate_that_changes_is_exact_in_every_window() {
    let counts = |text: &str| text.parse().unwrap();
    let profile = RateProfile {
        window_ns: Nanoseconds(100 * MS),
        patterns: vec![counts("0 20 10"), counts("10")],
        order: counts("0 1*7"),
    };
    for threads in [1, 4] {
        let stream = iops(200.0, Stream { threads, ..reads(64) });
        let stream = Stream { rate_profile: Some(profile.clone()), ..stream };
        let warmup_seconds = 1.0;
        let interval_ns = Nanoseconds(100 * MS);
        let found =
            Workload { interval_ns, warmup_seconds, seconds: 2.0, ..workload(stream, device(MS)) };
        let m = measure(&found);
        // 100 I/Os of a profile of 1 s are 200 at this rate.
        let expected = [0.0, 40.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0];
        let per_window: Vec<f64> = m.series.iter().map(|p| (p.read_iops / 10.0).round()).collect();
        assert_eq!(per_window, expected.repeat(2));
        assert_eq!((latency(&m.read).max, m.total.ios), (Some(MS), 400));
        assert_eq!(m.checks.rate_reached_percent, Some(100.0));
    }
}

/// I/Os that were due and found no free slot are told of, as where the rate stays the same.
#[test]
fn storage_that_does_not_keep_up_with_a_rate_that_changes_is_told_of() {
    let profile = RateProfile {
        window_ns: Nanoseconds(100 * MS),
        patterns: vec!["1 3".parse().unwrap()],
        order: Counts::default(),
    };
    for rate_profile in [None, Some(profile)] {
        let stream = Stream { rate_profile, ..iops(400.0, reads(1)) };
        let m = measure(&Workload { seconds: 5.0, ..workload(stream, device(10 * MS)) });
        assert!(m.checks.warnings.iter().any(|w| w.contains("did not keep up")), "{:?}", m.checks);
    }
}

/// A window that begins or ends within the profile asks for what is due in it.
#[test]
fn the_reached_rate_is_that_of_the_window() {
    let profile = RateProfile {
        window_ns: Nanoseconds(S),
        patterns: vec!["3 1".parse().unwrap()],
        order: Counts::default(),
    };
    let stream = Stream { rate_profile: Some(profile), ..iops(200.0, reads(64)) };
    let m = measure(&Workload { seconds: 1.0, ..workload(stream, device(MS)) });
    near(m.total.iops, 100.0, 0.001);
    near(m.checks.rate_reached_percent.unwrap(), 100.0, 0.001);
}

/// Random moments within windows keep their share, and several threads together, too.
#[test]
fn random_moments_follow_the_rate() {
    let profile = RateProfile {
        window_ns: Nanoseconds(10 * MS),
        patterns: vec!["9*50 1*50".parse().unwrap()],
        order: Counts::default(),
    };
    let stream = paced(RateLimit::Iops(1000.0), Arrival::Poisson, reads(64));
    let stream = Stream { rate_profile: Some(profile), threads: 3, ..stream };
    let interval_ns = Nanoseconds(500 * MS);
    let load = workload(stream, device(1000));
    let m = measure(&Workload { seconds: 100.0, interval_ns, ..load });
    near(m.total.iops, 1000.0, 0.02);
    let half =
        |first: usize| -> f64 { m.series.iter().skip(first).step_by(2).map(|p| p.read_iops).sum() };
    near(half(0) / half(1), 9.0, 0.05);
}

/// The device serves nothing in the last second of every five.
fn stalling(service_ns: u64, servers: u32) -> SimDevice {
    let stall = Some(SimStall { period_ns: Nanoseconds(5 * S), length_ns: Nanoseconds(S) });
    SimDevice { stall, servers, ..device(service_ns) }
}

/// The window of 20 s holds four whole stalls and what comes of them.
fn around_stalls(stream: Stream, device: SimDevice) -> Workload {
    Workload { seconds: 20.0, warmup_seconds: 2.0, ..workload(stream, device) }
}

/// fio stopped for a second at 1000 IOPS said: max 143 us, because it asked no later than it could.
/// Of each 5000 I/Os here, the k-th after the beginning of a stall waits for its end and for the k
/// before it, half a millisecond each: latency(k) = 1000.5 ms - k x 0.5 ms. The 1 % above p99 are
/// the first 50.
#[test]
fn one_slot_shows_a_stall_in_the_latency_of_all_who_waited() {
    let m = measure(&around_stalls(iops(1000.0, reads(1)), stalling(MS / 2, 1)));
    assert_eq!(m.total.ios, 20_000);
    near(latency(&m.read).max.unwrap() as f64, 1.0005 * S as f64, 0.001);
    near(latency(&m.read).p99.unwrap() as f64, 975.5 * MS as f64, 0.008);
    near(latency(&m.read).p90.unwrap() as f64, 750.5 * MS as f64, 0.008);
    // Only one I/O in each stall was really under way.
    let service = m.read.service_ns.unwrap();
    near(service.p99.unwrap() as f64, (MS / 2) as f64, 0.008);
    near(service.max.unwrap() as f64, 1.0005 * S as f64, 0.001);
    let delay = m.read.delay_ns.unwrap();
    near(delay.p99.unwrap() as f64, 975.0 * MS as f64, 0.008);
    near(latency(&m.read).mean, service.mean + delay.mean, 1e-6);
    assert!(m.checks.littles_law_percent.unwrap().abs() < 0.1);
}

/// With slots for everybody all wait at the device: eight servers of 1 ms clear eight at a time, so
/// that latency(k) = 1001 ms - k x 7/8 ms.
#[test]
fn many_slots_show_the_same_stall_as_service_time() {
    let m = measure(&around_stalls(iops(1000.0, reads(2048)), stalling(MS, 8)));
    assert_eq!(m.total.ios, 20_000);
    near(latency(&m.read).p99.unwrap() as f64, 957.0 * MS as f64, 0.01);
    assert_eq!(m.read.delay_ns.unwrap().max, Some(0));
    assert_eq!(m.read.service_ns, m.read.latency_ns);
}

#[test]
fn a_rate_above_the_capacity_is_said() {
    let m = measure(&workload(iops(10_000.0, reads(8)), device(MS)));
    near(m.total.iops, 8000.0, 0.001);
    near(m.checks.rate_reached_percent.unwrap(), 80.0, 0.001);
    let said = m.checks.warnings.iter().any(|w| w.contains("did not keep up"));
    assert!(said, "{:?}", m.checks.warnings);
    // Of 11 s, I/Os of the last 20 % are still due.
    near(latency(&m.read).max.unwrap() as f64, 2.2 * S as f64, 0.01);
}

/// Only a run of one stream said how much of its rate it reached.
#[test]
fn every_stream_says_what_it_reached_of_its_rate() {
    let mut workload =
        workload(iops(1000.0, Stream { name: "kept".into(), ..reads(4) }), device(MS));
    workload.streams.push(iops(4000.0, Stream { name: "missed".into(), ..reads(2) }));
    workload.streams.push(Stream { name: "free".into(), ..reads(1) });
    let m = measure(&workload);
    let reached = |i: usize| m.streams[i].rate_reached_percent;
    near(reached(0).unwrap(), 100.0, 0.001);
    near(reached(1).unwrap(), 50.0, 0.001);
    assert_eq!(reached(2), None);
    assert_eq!(m.checks.rate_reached_percent, reached(1), "the lowest");
}

/// In a sum of a paced and a free stream, only the I/Os of the first had a service time: Little's
/// law was judged by their mean for all, and was off by half.
#[test]
fn a_paced_stream_beside_a_free_one_adds_up() {
    let free = Stream { name: "free".into(), ..reads(4) };
    let mut workload = workload(iops(100.0, Stream { name: "paced".into(), ..reads(1) }), {
        SimDevice { servers: 5, ..device(MS) }
    });
    workload.streams.push(Stream { blocks: blocks(65536), ..free });
    let slow_link = workload.sim.as_mut().unwrap();
    slow_link.link_bytes_per_s = Some(Bytes(1 << 30));
    let m = measure(&workload);
    let [paced, free] = [0, 1].map(|i| m.streams[i].total.clone());
    assert!(free.service_ns.is_none() && paced.service_ns.is_some());
    let service = m.total.service_ns.unwrap().mean;
    let each = |s: &results::Statistics| s.ios as f64 * latency(s).mean;
    near(service, (each(&free) + each(&paced)) / m.total.ios as f64, 0.01);
    let little = m.checks.littles_law_percent.unwrap();
    assert!(little.abs() < 0.1, "{little}");
}

#[test]
fn pauses_begin_when_a_burst_is_complete() {
    let think =
        Some(Think { pause_ns: Nanoseconds(5 * MS), burst_ios: 4, from: ThinkFrom::Completion });
    let run = |depth| measure(&workload(Stream { think, ..reads(depth) }, device(MS)));
    // Four at a time take 1 ms, two at a time 2 ms, one at a time 4 ms; then 5 ms of pause.
    for (depth, cycle_ms) in [(8, 6), (4, 6), (2, 7), (1, 9)] {
        let m = run(depth);
        near(m.total.ios as f64, 4.0 * 10_000.0 / f64::from(cycle_ms), 0.001);
        assert_eq!(latency(&m.read).max, Some(MS), "a pause is no latency");
        assert!(m.stalls.longest_gap_ns <= MS, "a pause is no stall");
    }
}
