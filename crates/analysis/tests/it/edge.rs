//! The cache edge of simulated caches whose size is known, and of latencies that no cache made.

use analysis::edge::{Edge, Method, Outcome, SizePoint, find_edge};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Uniform numbers from 0 to 1 (D. Lehmer's generator): the tests need no better ones, only the
/// same ones every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0 * 48271 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }

    /// Nearly normal, mean 0 and standard deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
fn whole(value: f64) -> u64 {
    value.max(1.0) as u64
}

/// What one size gives: `ios` reads, of which the share `hits` takes `hit_ns`, the rest `miss_ns`,
/// spread by 10 %.
fn size(random: &mut Random, file_bytes: u64, hits: f64, ns: (f64, f64), ios: u32) -> SizePoint {
    let run = 1.0 + 0.03 * random.normal();
    let latencies: Vec<(u64, u64)> = (0..ios)
        .map(|_| {
            let mean = if random.next() < hits { ns.0 } else { ns.1 };
            (whole(mean * run * (1.0 + 0.1 * random.normal())), 1)
        })
        .collect();
    let mean_latency_ns = latencies.iter().map(|(l, _)| *l as f64).sum::<f64>() / f64::from(ios);
    SizePoint { file_bytes, mean_latency_ns, latencies }
}

/// Ten doubling sizes from 128 MiB on, read through a cache.
fn sweep(seed: u64, cache: u64, ns: (f64, f64)) -> Vec<SizePoint> {
    let mut random = Random(seed * 7919 + 1);
    let share = |size: u64| (cache as f64 / size as f64).min(1.0);
    (0..10).map(|i| size(&mut random, MIB << (7 + i), share(MIB << (7 + i)), ns, 2000)).collect()
}

fn edge(points: &[SizePoint]) -> Edge {
    find_edge(points, None).unwrap()
}

#[test]
fn a_cache_is_found_to_a_few_percent_and_the_interval_holds_it() {
    let (mut covered, mut worst) = (0, 0.0_f64);
    for seed in 1..=100 {
        let cache = 300 * MIB + seed * 61 * MIB;
        let edge = edge(&sweep(seed, cache, (100_000.0, 5_000_000.0)));
        assert_eq!((edge.outcome, edge.follows_law), (Outcome::Found, Some(true)), "{edge:?}");
        let found = edge.cache.unwrap();
        assert_eq!(found.method, Method::FastShare);
        worst = worst.max((found.bytes as f64 / cache as f64 - 1.0).abs());
        covered += u32::from((found.low_bytes..=found.high_bytes).contains(&cache));
    }
    assert!(worst < 0.08, "the largest error is {worst}");
    assert!((90..=100).contains(&covered), "{covered} of 100 intervals hold the truth");
}

#[test]
fn one_size_beyond_the_cache_is_enough() {
    let mut random = Random(5);
    let point = size(&mut random, 8 * GIB, 0.25, (1e5, 1e6), 4000);
    let cache = edge(&[point]).cache.unwrap();
    assert!((cache.bytes as f64 / (2 * GIB) as f64 - 1.0).abs() < 0.06, "{cache:?}");
}

#[test]
fn modes_that_are_close_leave_it_to_the_means() {
    let points = sweep(3, 2 * GIB, (100_000.0, 160_000.0));
    let edge = edge(&points);
    let cache = edge.cache.unwrap();
    assert_eq!((edge.outcome, cache.method), (Outcome::Found, Method::MeanLatency));
    assert!(cache.low_bytes <= 2 * GIB && 2 * GIB <= cache.high_bytes, "{cache:?}");
    assert!((cache.bytes as f64 / (2 * GIB) as f64).log2().abs() < 0.5, "{cache:?}");
}

#[test]
fn the_same_latency_at_every_size_is_no_edge() {
    let flat = sweep(4, 0, (1.0, 4_000_000.0));
    assert_eq!(edge(&flat).outcome, Outcome::Flat);
    assert_eq!(find_edge(&flat, Some(true)).unwrap().outcome, Outcome::NoneSeen);
    let fits = sweep(4, 1000 * GIB, (100_000.0, 1.0));
    let edge = find_edge(&fits, Some(true)).unwrap();
    assert_eq!((edge.outcome, edge.cache), (Outcome::AllFits, None));
    assert!(edge.explanation.contains("Everything fitted"), "{}", edge.explanation);
}

/// A few slow I/Os at every size, or a mixture that does not depend on the size, do not show a
/// cache.
#[test]
fn two_humps_in_the_same_shares_at_every_size_are_no_cache() {
    let mut random = Random(6);
    let mut sizes = |hits: f64| -> Vec<SizePoint> {
        (0..8).map(|i| size(&mut random, GIB << i, hits, (1e5, 1e7), 2000)).collect()
    };
    let mixture = edge(&sizes(0.6));
    assert_eq!((mixture.outcome, mixture.cache), (Outcome::NoneSeen, None));
    assert_eq!(edge(&sizes(0.99)).cache, None);
}

#[test]
fn a_cache_that_breaks_the_law_is_said_to() {
    let mut random = Random(7);
    let mut at = |gib: u64, hits: f64| size(&mut random, gib * GIB, hits, (1e5, 5e6), 2000);
    // A cache that keeps what it read first: beyond its size, it forgets nearly all of it.
    let points = [at(1, 1.0), at(2, 1.0), at(4, 0.9), at(8, 0.15), at(16, 0.05)];
    let edge = edge(&points);
    assert_eq!((edge.outcome, edge.follows_law), (Outcome::Found, Some(false)), "{edge:?}");
    assert!(edge.explanation.contains("not like one that keeps what was read last"));
}

#[test]
fn a_cache_between_two_sizes_is_given_as_such() {
    let mut random = Random(8);
    let fits = size(&mut random, GIB, 1.0, (1e5, 5e6), 2000);
    let beyond = size(&mut random, 1024 * GIB, 0.0, (1e5, 5e6), 2000);
    let edge = edge(&[fits, beyond]);
    let cache = edge.cache.unwrap();
    assert_eq!((edge.outcome, cache.method), (Outcome::Between, Method::Neighbours));
    assert_eq!(cache.low_bytes, GIB);
    assert!(cache.high_bytes < 6 * GIB);
}

#[test]
fn a_fair_test_says_how_much_of_it_the_cache_still_answers() {
    let edge = edge(&sweep(9, 2 * GIB, (100_000.0, 5_000_000.0)));
    let [usual, strict] = edge.fair_sizes.as_slice() else { panic!("two sizes") };
    assert_eq!((usual.times, strict.times), (4, 20));
    assert!((usual.hit_percent - 25.0).abs() < 1e-9 && (strict.hit_percent - 5.0).abs() < 1e-9);
    assert!((strict.latency_error_percent - 5.0 * 0.98).abs() < 0.05);
    assert!(strict.file_bytes >= 40 * GIB);
}

#[test]
fn seeks_that_grow_with_the_file_are_not_taken_for_a_cache_by_their_humps() {
    let mut random = Random(10);
    let points: Vec<SizePoint> = (0..8)
        .map(|i| size(&mut random, GIB << i, 0.0, (1.0, 4e6 + 8e5 * f64::from(i)), 2000))
        .collect();
    let edge = edge(&points);
    assert!(edge.cache.is_none_or(|c| c.method == Method::MeanLatency), "{edge:?}");
}

/// A busy host: stalls raised the mean of the larger sizes, and a cache was seen where there is
/// none.
#[test]
fn means_that_stalls_raised_are_no_edge() {
    let mut random = Random(11);
    let stalled = [0.0, 0.0, 0.06, 0.1];
    let points: Vec<SizePoint> = stalled
        .iter()
        .enumerate()
        .map(|(i, stalls)| {
            let mut point = size(&mut random, GIB << i, 1.0 - stalls, (1.2e5, 3e5), 4000);
            point.latencies.push((3_000_000, whole(4000.0 * stalls * 0.2)));
            let (sum, ios) = point
                .latencies
                .iter()
                .fold((0.0, 0.0), |(s, k), (ns, n)| (s + (*ns * *n) as f64, k + *n as f64));
            point.mean_latency_ns = sum / ios;
            point
        })
        .collect();
    assert!(points[3].mean_latency_ns > 1.4 * points[0].mean_latency_ns, "the means rise");
    let edge = edge(&points);
    assert_eq!((edge.outcome, edge.cache), (Outcome::Flat, None), "{edge:?}");
}

proptest! {
    #[test]
    fn no_input_panics_and_every_figure_is_finite(
        points in prop::collection::vec(
            (any::<u64>(), any::<f64>(), prop::collection::vec((any::<u64>(), any::<u64>()), 0..8)),
            0..8,
        ),
        rotational in any::<Option<bool>>(),
    ) {
        let points: Vec<SizePoint> = points
            .into_iter()
            .map(|(file_bytes, mean_latency_ns, latencies)| {
                SizePoint { file_bytes, mean_latency_ns, latencies }
            })
            .collect();
        if let Some(edge) = find_edge(&points, rotational) {
            let text = serde_json::to_string(&edge).unwrap();
            prop_assert_eq!(serde_json::from_str::<Edge>(&text).unwrap(), edge);
        }
    }
}
