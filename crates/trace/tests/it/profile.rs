//! Figures of traces whose figures are known.

use proptest::collection::vec;
use proptest::prelude::*;
use trace::profile::{Profile, Summary};
use trace::{Io, Kind};

const PAGE: u64 = 4096;
const MIB: u64 = 1 << 20;

fn io(issued_ns: u64, kind: Kind, offset_bytes: u64, length_bytes: u64) -> Io {
    Io { issued_ns, latency_ns: None, device: 0, stream: 0, offset_bytes, length_bytes, kind }
}

fn summary(ios: impl IntoIterator<Item = Io>) -> Summary {
    let mut profile = Profile::new();
    ios.into_iter().for_each(|io| profile.add(&io));
    profile.finish()
}

/// Numbers that depend on nothing but their seed.
fn numbers(mut seed: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    })
}

fn close(found: f64, known: f64, by: f64) {
    assert!((found - known).abs() <= by, "{found} instead of {known}");
}

/// A scan that repeats finds nothing in a smaller LRU cache, and everything in a larger one. Of
/// 100,000 pages about 16,000 are in the sample.
#[test]
fn a_repeated_scan_has_a_cliff() {
    for pages in [1000_u64, 100_000] {
        let scan = (0..4 * pages).map(|i| io(i, Kind::Read, i % pages * PAGE, PAGE));
        let locality = summary(scan).locality.unwrap();
        close(locality.touched_bytes / (pages * PAGE) as f64, 1.0, 0.03);
        assert_eq!(pages <= 16384, locality.sampled >= 1.0);
        for point in &locality.cache {
            let known = if point.bytes >= pages * PAGE { 0.25 } else { 1.0 };
            // At the edge, a sample may be on either side.
            if point.bytes.abs_diff(pages * PAGE) > pages * PAGE / 10 {
                close(point.miss, known, 0.03);
            }
        }
        assert_eq!(locality.read_after_write, Some(0.0));
    }
}

/// Random reads of all pages alike: a cache serves its share of them.
#[test]
fn a_cache_serves_its_share_of_uniform_reads() {
    let pages = 64 * MIB / PAGE * 4;
    let reads = numbers(1).take(600_000).map(|n| io(0, Kind::Read, n % pages * PAGE, PAGE));
    let found = summary(reads).locality.unwrap();
    for point in found.cache.iter().filter(|point| point.bytes >= 8 * MIB) {
        let cold = pages as f64 / 600_000.0;
        let known = (1.0 - point.bytes as f64 / (pages * PAGE) as f64).max(cold);
        close(point.miss, known, 0.06);
    }
    // Every page receives about as many accesses as any other.
    let half = found.hot.iter().find(|part| part.share <= 0.5).unwrap();
    close(half.bytes / found.touched_bytes, 0.39, 0.03);
}

/// Nine of ten accesses go to a tenth of the pages.
#[test]
fn a_hot_part_is_found() {
    let pages = 100_000;
    let page = |n: u64| if n % 10 < 9 { (n >> 8) % (pages / 10) } else { (n >> 8) % pages };
    let reads = numbers(7).take(1_000_000).map(|n| io(0, Kind::Read, page(n) * PAGE, PAGE));
    let found = summary(reads).locality.unwrap();
    let hot = |share: f64| found.hot.iter().find(|p| p.share >= share).unwrap().bytes;
    close(hot(0.9) / (pages * PAGE) as f64, 0.1, 0.01);
    assert!(hot(0.5) < hot(0.8) && hot(0.8) < hot(0.9) && hot(0.9) < hot(0.99));
}

#[test]
fn reads_of_what_was_written_are_known() {
    let writes = (0..500).map(|i| io(i, Kind::Write, i * PAGE, PAGE));
    let reads = (0..2000).map(|i| io(500 + i, Kind::Read, i * PAGE, PAGE));
    let found = summary(writes.chain(reads)).locality.unwrap();
    assert_eq!(found.read_after_write, Some(0.25));
}

#[test]
fn dispersion_is_0_of_a_metronome_and_1_of_chance() {
    let metronome = summary((0..200_000).map(|i| io(i * 100_000, Kind::Read, 0, PAGE)));
    assert_eq!(metronome.bursts.len(), 3, "of 20 s, no 30 windows of 1 s");
    metronome.bursts.iter().for_each(|b| close(b.dispersion, 0.0, 1e-9));
    let mut time = 0.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of seconds")]
    let chance = numbers(3).take(400_000).map(|n| {
        time -= ((n >> 11) as f64 / (1_u64 << 53) as f64).max(1e-12).ln() * 1e5;
        io(time as u64, Kind::Write, 0, PAGE)
    });
    let chance = summary(chance);
    chance.bursts[..3].iter().for_each(|b| close(b.dispersion, 1.0, 0.15));
    assert_eq!((chance.bursts, chance.read_bursts.len()), (chance.write_bursts, 0));
    // Ten at once every 10 ms: within 1 ms they come together, over 10 ms they are even.
    let bursts = summary((0..50_000).map(|i| io(i / 10 * 10_000_000, Kind::Read, 0, PAGE))).bursts;
    close(bursts[0].dispersion, 9.0, 0.01);
    close(bursts[1].dispersion, 0.0, 1e-6);
}

#[test]
fn sequential_streams_are_told_from_random_ones() {
    let random = numbers(5).take(10_000).map(|n| io(0, Kind::Read, (n >> 16) * PAGE, PAGE));
    close(summary(random).read_sequence.unwrap().sequential, 0.0, 0.001);
    // Three streams in turn; the log of a database begins each write with its last page.
    let log = |i: u64| io(i, Kind::Write, i * PAGE, 2 * PAGE);
    let streams = (0..3000).map(|i| match i % 3 {
        0 => log(i / 3),
        1 => io(i, Kind::Write, (1 << 40) + i / 3 * 65536, 65536),
        _ => io(i, Kind::Write, 1 << 50, 8192),
    });
    let found = summary(streams).write_sequence.unwrap();
    close(found.sequential, 1998.0 / 3000.0, 1e-9);
    close(found.repeated, 999.0 / 3000.0, 1e-9);
    let bytes = 1001.0 * PAGE as f64 + 1000.0 * 65536.0 + 8192.0;
    close(found.run_bytes, bytes / 3.0, 1e-3);
}

#[test]
fn depth_follows_from_latencies() {
    let four =
        (0..4000).map(|i| Io { latency_ns: Some(4_000), ..io(i * 1_000, Kind::Read, 0, PAGE) });
    let found = summary(four);
    let depth = found.depth.unwrap();
    assert_eq!((depth.p50, depth.p99, depth.max), (4, 4, 4));
    close(depth.mean, 4.0, 0.01);
    close(found.seconds, 0.004_003, 1e-9);
    let latency = found.kinds[0].latency.unwrap();
    assert_eq!((latency.ios, latency.max_ns), (4000, 4000));
    close(latency.p99_ns as f64, 4000.0, 40.0);
}

#[test]
fn the_timeline_keeps_every_io_in_few_points() {
    let ios = (0..90_000).map(|i| io(i * 100_000_000, Kind::Write, 0, PAGE));
    let found = summary(ios.chain([io(9_000_000_000_000, Kind::Flush, 0, 0)]));
    assert!((129..=256).contains(&found.timeline.len()), "{}", found.timeline.len());
    assert_eq!(found.timeline.iter().map(|point| point.writes).sum::<u64>(), 90_000);
    assert_eq!(found.timeline.iter().map(|point| point.flushes).sum::<u64>(), 1);
    assert!(found.timeline.windows(2).all(|p| p[0].from_ns + p[0].width_ns == p[1].from_ns));
    assert_eq!(found.busiest_second.unwrap().ios, 10);
    assert_eq!(found.busiest_minute.unwrap().ios, 600);
}

#[test]
fn the_busiest_second_is_found() {
    let quiet = (0..50).map(|i| io(i * 100_000_000, Kind::Read, 0, MIB));
    let busy = (0..100).map(|i| io(5_200_000_000 + i, Kind::Read, 0, PAGE));
    let peak = summary(quiet.chain(busy)).busiest_second.unwrap();
    assert_eq!((peak.from_ns, peak.ios, peak.bytes), (5_000_000_000, 100, 100 * 4096));
    assert_eq!(peak.most_bytes, 10 * u128::from(MIB));
}

#[test]
fn nothing_has_no_figures() {
    let nothing = summary([]);
    assert_eq!((nothing.ios, nothing.kinds.len(), nothing.timeline.len()), (0, 0, 0));
    assert!(nothing.locality.is_none() && nothing.depth.is_none() && nothing.bursts.is_empty());
}

fn times() -> impl Strategy<Value = (u64, Option<u64>)> {
    (any::<u64>(), any::<Option<u64>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Time that runs back, offsets and lengths up to the last, any device.
    #[test]
    fn any_io_is_counted(
        ios in vec((times(), any::<u32>(), any::<u64>(), any::<u64>(), 0_usize..5), 0..40),
    ) {
        let all = ios.iter().map(|(times, device, offset_bytes, length_bytes, kind)| Io {
            latency_ns: times.1,
            device: *device,
            ..io(times.0, Kind::ALL[*kind], *offset_bytes, *length_bytes)
        });
        let found = summary(all);
        prop_assert_eq!(found.ios, ios.len() as u64);
        prop_assert_eq!(found.kinds.iter().map(|kind| kind.ios).sum::<u64>(), ios.len() as u64);
        prop_assert!(found.timeline.len() <= 256);
        let mut points = found.locality.iter().flat_map(|locality| &locality.cache);
        prop_assert!(points.all(|point| (0.0..=1.0).contains(&point.miss)));
    }
}

/// Two I/Os within 2 ms in the middle of ten seconds that were recorded.
#[test]
fn rates_are_over_the_time_that_was_recorded() {
    let ios = [5_000_000_000, 5_001_000_000].map(|ns| io(ns, Kind::Read, 0, PAGE));
    let found = |begin: Option<u64>, end: Option<u64>| {
        let mut profile = Profile::recorded_from(begin);
        for io in &ios {
            profile.add(io);
        }
        let found = profile.finish_at(end);
        let points = &found.timeline;
        let last = points.last().map_or(0, |point| point.from_ns.saturating_add(point.width_ns));
        let reads: u64 = points.iter().map(|point| point.reads).sum();
        (found.seconds, last / 1_000_000, reads, found.busiest_second.map(|peak| peak.from_ns))
    };
    let five = Some(5_000_000_000);
    assert_eq!(found(None, None), (0.001, 10, 2, None));
    assert_eq!(found(Some(0), None), (5.001, 5020, 2, five));
    assert_eq!(found(Some(0), Some(10_000_000_000)), (10.0, 10_000, 2, five));
    // A time that cannot be: the I/Os decide.
    assert_eq!(found(Some(0), Some(1)).0, 5.001);
    assert_eq!(found(Some(6_000_000_000), Some(1)), (0.0, 10, 2, None));
    assert!(found(None, Some(u64::MAX)).0 > 1e10);
}
