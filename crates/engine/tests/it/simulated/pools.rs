//! Threads that work on all targets of their stream.

use results::Measurement;
use workload::{
    Arrival, Block, Bytes, DiskspdAccess, DiskspdOrder, DiskspdSlices, Nanoseconds, OnError, Pool,
    PoolMember, PoolShare, Rate, RateLimit, SimDevice, Stream, Target, Think, ThinkFrom, Workload,
};

use crate::simulated::experiment::{MS, device, measure, reads, workload};

/// A pool on this many targets, and a device that serves 16 I/Os at a time in a millisecond each.
fn pool(stream: Stream, share: PoolShare, targets: usize) -> Workload {
    let device = SimDevice { servers: 16, ..device(MS) };
    let mut workload = workload(Stream { pool: Some(Pool { share }), ..stream }, device);
    for number in 1..targets {
        let path = format!("target {number}").into();
        workload.targets.push(Target { path, size_bytes: Some(Bytes(1 << 28)) });
    }
    workload
}

fn drawn(weights: &[u32]) -> PoolShare {
    PoolShare::Drawn { weights: weights.to_vec() }
}

fn on_targets(m: &Measurement) -> Vec<u64> {
    m.targets.iter().map(|t| t.total.ios).collect()
}

/// What is counted apart is all there is.
fn adds_up(m: &Measurement) {
    let sum = |ios: &mut dyn Iterator<Item = u64>| ios.sum::<u64>();
    assert_eq!(sum(&mut m.targets.iter().map(|t| t.total.ios)), m.total.ios);
    assert_eq!(sum(&mut m.threads_detail.iter().map(|t| t.total.ios)), m.total.ios);
    assert_eq!(sum(&mut m.threads_detail.iter().map(|t| t.write.bytes)), m.write.bytes);
    let rows = m.threads_detail.len() as u64;
    assert_eq!(rows, m.threads * m.targets.len() as u64);
    let depth: f64 = m.threads_detail.iter().map(|t| t.achieved_depth).sum();
    assert!((depth - m.achieved_in_flight).abs() < 1e-6);
    let law = m.checks.littles_law_percent.unwrap();
    assert!(law.abs() < 0.1, "{law}");
    assert_eq!(m.checks.warnings, [""; 0]);
}

#[test]
fn each_target_has_the_depth_of_each_thread() {
    let stream = Stream { threads: 2, write_percent: 30, ..reads(2) };
    let m = measure(&pool(stream, PoolShare::Each, 3));
    assert_eq!((m.threads, m.in_flight, m.depth), (2, 12, Some(2)));
    assert_eq!((m.streams[0].threads, m.streams[0].depth), (2, 2));
    assert_eq!(on_targets(&m), [40_000; 3]);
    assert!((m.achieved_in_flight - 12.0).abs() < 1e-6, "{}", m.achieved_in_flight);
    let rows: Vec<_> = m.threads_detail.iter().map(|t| (t.thread, t.target)).collect();
    assert_eq!(rows, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    for row in &m.threads_detail {
        assert_eq!((row.total.ios, row.stream.as_str()), (20_000, "main"));
        assert!((row.achieved_depth - 2.0).abs() < 1e-6, "{}", row.achieved_depth);
    }
    adds_up(&m);
}

/// A pool of one target is nothing but its threads.
#[test]
fn a_pool_of_one_target_does_what_threads_do() {
    let stream = Stream { threads: 3, write_percent: 40, ..reads(4) };
    let shares = [PoolShare::Each, PoolShare::InTurn, drawn(&[]), drawn(&[7])];
    let figures = |m: &Measurement| (m.read.ios, m.write.ios, m.threads, m.in_flight);
    let mut ordinary = pool(stream.clone(), PoolShare::Each, 1);
    ordinary.streams[0].pool = None;
    let expected = figures(&measure(&ordinary));
    for share in shares {
        let m = measure(&pool(stream.clone(), share.clone(), 1));
        assert_eq!(figures(&m), expected, "{share:?}");
        adds_up(&m);
    }
}

#[test]
fn targets_in_turn_get_the_same() {
    let m = measure(&pool(Stream { threads: 2, ..reads(4) }, PoolShare::InTurn, 3));
    assert_eq!((m.threads, m.in_flight, m.total.ios), (2, 8, 80_000));
    for row in &m.threads_detail {
        assert!(row.total.ios.abs_diff(40_000 / 3) <= 1, "{}", row.total.ios);
        assert!((row.achieved_depth - 4.0 / 3.0).abs() < 1e-3, "{}", row.achieved_depth);
    }
    adds_up(&m);
}

#[test]
fn drawn_targets_get_their_weights() {
    let order = DiskspdOrder {
        access: DiskspdAccess::Random,
        step_bytes: Bytes(8192),
        thread_stride_bytes: Bytes(0),
        slices: DiskspdSlices::default(),
    };
    for diskspd in [None, Some(order)] {
        for (weights, shares) in [
            (vec![1, 3, 6], [0.1, 0.3, 0.6]),
            (vec![5, 0, 5], [0.5, 0.0, 0.5]),
            (vec![4, 4, 4], [1.0 / 3.0; 3]),
            (vec![], [1.0 / 3.0; 3]),
        ] {
            let stream = Stream { threads: 2, diskspd: diskspd.clone(), ..reads(5) };
            let m = measure(&pool(stream, drawn(&weights), 3));
            assert_eq!((m.total.ios, m.in_flight), (100_000, 10));
            for (ios, share) in on_targets(&m).iter().zip(shares) {
                let found = *ios as f64 / 100_000.0;
                assert!((found - share).abs() < 0.005, "{weights:?}: {found} for {share}");
            }
            adds_up(&m);
        }
    }
}

/// Every figure of a target is its own: the second one fails, and only there errors are counted, by
/// its own name.
#[test]
fn errors_are_told_of_their_own_target() {
    for share in [PoolShare::Each, PoolShare::InTurn, drawn(&[])] {
        let mut workload = pool(reads(2), share, 2);
        workload.on_error = OnError::Continue;
        workload.sim = Some(SimDevice { fail_every: Some(97), ..device(MS) });
        let m = measure(&workload);
        let told: u64 = m.errors.iter().map(|e| e.count).sum();
        assert!(told >= m.total.errors && m.total.errors > 0);
        for target in &m.targets {
            let of = |e: &&results::ErrorRecord| e.path == target.path;
            let count: u64 = m.errors.iter().filter(of).map(|e| e.count).sum();
            // Records count the warm-up, too.
            assert!(count >= target.total.errors && count > 0, "{:?}", target.path);
        }
        let errors: u64 = m.targets.iter().map(|t| t.total.errors).sum();
        assert_eq!(errors, m.total.errors);
    }
}

/// The rate is the stream's, whatever the share; nothing waits, because the device is fast enough.
#[test]
fn a_rate_is_shared_by_the_whole_pool() {
    for share in [PoolShare::Each, PoolShare::InTurn, drawn(&[])] {
        for arrival in [Arrival::Even, Arrival::Poisson] {
            let rate = Some(Rate { limit: RateLimit::Iops(3000.0), arrival });
            let m = measure(&pool(Stream { threads: 2, rate, ..reads(8) }, share.clone(), 3));
            let iops = m.total.iops;
            assert!((iops / 3000.0 - 1.0).abs() < 0.02, "{share:?} {arrival:?}: {iops}");
            for ios in on_targets(&m) {
                assert!((ios as f64 / 10_000.0 - 1.0).abs() < 0.05, "{share:?} {arrival:?}: {ios}");
            }
            let delay = m.total.delay_ns.as_ref().unwrap();
            assert!(delay.mean < 0.2 * MS as f64, "{share:?} {arrival:?}: {}", delay.mean);
        }
    }
}

/// A rate that the device cannot keep shows in the delay, and at the end.
#[test]
fn a_pool_that_does_not_keep_up_says_so() {
    let rate = Some(Rate { limit: RateLimit::Iops(20_000.0), arrival: Arrival::Even });
    for share in [PoolShare::Each, PoolShare::InTurn] {
        let m = measure(&pool(Stream { threads: 2, rate, ..reads(4) }, share.clone(), 3));
        let told = m.checks.warnings.iter().any(|w| w.contains("did not keep up"));
        assert!(told, "{share:?}: {:?}", m.checks.warnings);
    }
}

/// Handed out, a burst is one of the thread; otherwise, each target has its own.
#[test]
fn pauses_are_those_of_who_has_the_depth() {
    let pause_ns = Nanoseconds(9 * MS);
    let think = Some(Think { pause_ns, burst_ios: 6, from: ThinkFrom::Completion });
    for (share, bursts) in [(PoolShare::InTurn, 1), (drawn(&[]), 1), (PoolShare::Each, 3)] {
        let m = measure(&pool(Stream { think, ..reads(6) }, share.clone(), 3));
        assert!(m.total.ios.abs_diff(1000 * 6 * bursts) <= 6 * bursts, "{share:?} {}", m.total.ios);
    }
}

/// Two streams of one target each, whose I/O differs, with the same threads.
fn joined(share: &PoolShare, first: Stream, second: Stream) -> Workload {
    let mut workload = pool(Stream { targets: vec![0], ..first }, share.clone(), 2);
    let second = Stream { name: "second".into(), joined: true, targets: vec![1], ..second };
    workload.streams.push(Stream { pool: Some(Pool { share: share.clone() }), ..second });
    workload
}

fn on_streams(m: &Measurement) -> Vec<u64> {
    m.streams.iter().map(|s| s.total.ios).collect()
}

#[test]
fn one_thread_may_work_for_several_streams() {
    let block = |bytes| vec![Block { bytes: Bytes(bytes), weight: 1 }];
    let writes = Stream { write_percent: 100, blocks: block(65_536), threads: 2, ..reads(3) };
    let m = measure(&joined(&PoolShare::Each, Stream { threads: 2, ..reads(5) }, writes.clone()));
    assert_eq!((m.threads, m.in_flight, m.depth), (2, 16, None));
    assert_eq!((m.streams[0].threads, m.streams[1].threads), (2, 2));
    assert_eq!(on_streams(&m), [100_000, 60_000]);
    assert_eq!((m.read.ios, m.write.bytes), (100_000, 60_000 * 65_536));
    let rows: Vec<_> =
        m.threads_detail.iter().map(|t| (t.stream.as_str(), t.thread, t.target)).collect();
    assert_eq!(rows, [("main", 0, 0), ("second", 0, 1), ("main", 1, 0), ("second", 1, 1)]);
    let depth: f64 = m.threads_detail.iter().map(|t| t.achieved_depth).sum();
    assert!((depth - 16.0).abs() < 1e-6, "{depth}");
    // Each stream has its own pace.
    let limit = RateLimit::Iops(100.0);
    let capped = Stream { rate: Some(Rate { limit, arrival: Arrival::Capped }), ..writes };
    let m = measure(&joined(&PoolShare::Each, Stream { threads: 2, ..reads(5) }, capped));
    assert_eq!(m.streams[0].total.ios, 100_000);
    assert!(m.streams[1].total.ios.abs_diff(1000) <= 10, "{}", m.streams[1].total.ios);
}

#[test]
fn what_is_handed_out_goes_to_streams_by_their_weights() {
    let writes = Stream { write_percent: 100, threads: 2, ..reads(4) };
    let first = Stream { threads: 2, ..reads(4) };
    let mut workload = joined(&drawn(&[1]), first, writes);
    workload.streams[1].pool = Some(Pool { share: drawn(&[3]) });
    let m = measure(&workload);
    assert_eq!((m.threads, m.in_flight), (2, 8));
    let [a, b] = on_streams(&m)[..] else { panic!("{m:?}") };
    assert_eq!((a + b, m.write.ios), (80_000, b));
    assert!(b.abs_diff(60_000) < 600, "{b}");
    assert!((m.achieved_in_flight - 8.0).abs() < 1e-6, "{}", m.achieved_in_flight);
}

/// The second thread alone works for the second stream, and each draws by its own weights.
#[test]
fn threads_of_a_pool_may_have_different_targets() {
    let mut workload =
        joined(&drawn(&[]), Stream { threads: 2, ..reads(4) }, Stream { threads: 2, ..reads(4) });
    workload.streams[1].members = vec![PoolMember { thread: 1, weight: Some(4) }];
    let m = measure(&workload);
    assert_eq!((m.threads, m.in_flight), (2, 8));
    assert_eq!((m.streams[0].threads, m.streams[1].threads), (2, 1));
    let rows: Vec<_> = m.threads_detail.iter().map(|t| (t.thread, t.target, t.total.ios)).collect();
    let [(0, 0, whole), (1, 0, part), (1, 1, rest)] = rows[..] else { panic!("{rows:?}") };
    assert_eq!((whole, part + rest), (40_000, 40_000));
    assert!(rest.abs_diff(32_000) < 500, "{rest}");
}

/// With DiskSpd's order, what a thread does follows from its number among all threads, whether its
/// targets are those of one stream or of several.
#[test]
fn joined_streams_draw_as_one_does() {
    let order = |access| {
        let slices = DiskspdSlices::default();
        DiskspdOrder { access, step_bytes: Bytes(8192), thread_stride_bytes: Bytes(0), slices }
    };
    for access in [DiskspdAccess::Random, DiskspdAccess::Interlocked] {
        for weights in [[2, 2], [1, 3]] {
            let diskspd = Some(order(access));
            let stream = Stream { threads: 3, write_percent: 40, diskspd, ..reads(4) };
            let one = measure(&pool(stream.clone(), drawn(&weights), 2));
            let mut workload = joined(&drawn(&weights[..1]), stream.clone(), stream);
            workload.streams[1].pool = Some(Pool { share: drawn(&weights[1..]) });
            let two = measure(&workload);
            let rows = |m: &Measurement| -> Vec<_> {
                m.threads_detail.iter().map(|t| (t.target, t.read.ios, t.write.ios)).collect()
            };
            assert_eq!(rows(&one), rows(&two), "{access:?} {weights:?}");
        }
    }
}
