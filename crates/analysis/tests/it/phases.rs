//! Levels of throughput told apart, and what must not be taken for one.

use crate::normal::Normal;
use analysis::phases::{WriteCache, plateaus, write_cache};
use proptest::collection::vec;
use proptest::prelude::*;

const BUCKET_S: f64 = 0.25;

/// Levels of so many seconds each, with a ripple of 3 % and no trend.
fn levels(parts: &[(f64, usize)]) -> Vec<f64> {
    let wave = [1.0, -0.4, 0.3, -0.9, 0.6, -0.6, 0.0];
    let values = parts.iter().flat_map(|(level, seconds)| vec![*level; seconds * 4]);
    values.enumerate().map(|(index, level)| level * (1.0 + 0.03 * wave[index % 7])).collect()
}

fn close(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.01
}

#[test]
fn a_write_cache_and_what_lies_behind_it_are_told_apart() {
    let cache = write_cache(&levels(&[(2500.0, 25), (1000.0, 35)]), BUCKET_S).unwrap();
    assert!((cache.at_s - 25.0).abs() < 0.3, "{cache:?}");
    assert!(close(cache.cached.mean, 2500.0) && close(cache.sustained.mean, 1000.0), "{cache:?}");
    assert!((cache.cached.seconds + cache.sustained.seconds - 60.0).abs() < 1e-9, "{cache:?}");
    let start = "sustained: 1000 IOPS ± ";
    assert!(cache.explanation.starts_with(start), "{}", cache.explanation);
    assert!(cache.explanation.contains(" from 25 s on, after 25"), "{}", cache.explanation);
    assert!(!cache.explanation.contains("limit"), "{}", cache.explanation);
}

#[test]
fn credits_that_run_out_leave_the_even_rate_of_a_limit() {
    let mut series = levels(&[(3000.0, 20)]);
    series.extend((0..160).map(|index| 100.0 + f64::from(index % 2) * 0.5));
    let cache = write_cache(&series, BUCKET_S).unwrap();
    assert!(cache.sustained.cv_percent < 1.0, "{cache:?}");
    assert!(cache.explanation.contains("kept by a limit"), "{}", cache.explanation);
}

#[test]
fn of_three_falling_levels_the_first_is_the_cache_and_the_last_is_sustained() {
    let series = levels(&[(3000.0, 15), (1500.0, 15), (500.0, 30)]);
    assert_eq!(plateaus(&series, BUCKET_S).len(), 3);
    let cache = write_cache(&series, BUCKET_S).unwrap();
    assert!(close(cache.cached.mean, 3000.0) && close(cache.sustained.mean, 500.0), "{cache:?}");
    assert!((cache.at_s - 30.0).abs() < 0.3, "{cache:?}");
}

#[test]
fn what_rises_comes_back_or_falls_at_the_very_end_is_no_cache() {
    for parts in [
        &[(1000.0, 20), (2500.0, 40)][..],
        &[(2000.0, 60)],
        &[(2000.0, 20), (800.0, 20), (2000.0, 20)],
        &[(2000.0, 15), (800.0, 15), (2000.0, 15), (800.0, 15)],
        &[(2000.0, 56), (800.0, 4)],
        &[(1000.0, 30), (870.0, 30)],
    ] {
        assert_eq!(write_cache(&levels(parts), BUCKET_S), None, "{parts:?}");
    }
}

/// A quick assessment of a volume with burst credits gave no warning: its runs last 4 s, and a
/// level had to last 5 s.
#[test]
fn a_fall_within_a_short_run_is_seen() {
    let mut series = vec![32_000.0; 37];
    series.extend(vec![500.0; 43]);
    let found = write_cache(&series, 0.05).unwrap();
    assert!(close(found.sustained.mean, 500.0) && (found.at_s - 1.85).abs() < 0.06, "{found:?}");
    // The last half second of 4 s.
    let mut late = vec![32_000.0; 70];
    late.extend(vec![500.0; 10]);
    assert!(write_cache(&late, 0.05).is_some());
}

#[test]
fn a_stall_at_the_end_is_no_level() {
    let mut series = vec![32_000.0; 60];
    series.extend([9000.0]);
    series.extend([0.0; 20]);
    assert_eq!(write_cache(&series, 0.05), None);
    for bucket_s in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(write_cache(&levels(&[(2500.0, 25), (1000.0, 35)]), bucket_s), None);
    }
}

/// Of 1 000 series of the length of a quick run each: noise, autocorrelated noise, an open
/// beginning, dips.
#[test]
fn noise_in_a_short_run_is_no_level() {
    let mut normal = Normal::seeded(7);
    let mut found = 0;
    for series in 0..4000 {
        let kind = series % 4;
        let mut slow = 0.0;
        let values: Vec<f64> = (0..80)
            .map(|index| {
                slow = 0.9 * slow + normal.draw() * 0.05 * (1.0_f64 - 0.81).sqrt();
                let noise = match kind {
                    1 => slow,
                    2 => 0.03 * normal.draw() - 0.6 * (-f64::from(index) / 20.0).exp(),
                    3 if normal.draw() > 1.65 => -0.7,
                    _ => 0.1 * normal.draw(),
                };
                1000.0 * (1.0 + noise)
            })
            .collect();
        found += usize::from(write_cache(&values, 0.05).is_some());
    }
    assert_eq!(found, 0);
}

#[test]
fn a_slow_start_may_lie_before_the_cached_phase() {
    let cache = write_cache(&levels(&[(500.0, 5), (2500.0, 25), (1000.0, 30)]), BUCKET_S).unwrap();
    assert!(close(cache.cached.mean, 2500.0) && (cache.at_s - 30.0).abs() < 0.3, "{cache:?}");
}

#[test]
fn a_warm_up_is_no_step() {
    for tau in [8.0, 30.0, 120.0] {
        let rise = |index| 1.0 - 0.6 * (-f64::from(index) * BUCKET_S / tau).exp();
        let series: Vec<f64> = (0..480).map(|index| 1000.0 * rise(index)).collect();
        let noise = levels(&[(1.0, 120)]);
        let series: Vec<f64> = series.iter().zip(&noise).map(|(a, b)| a * b).collect();
        assert_eq!(plateaus(&series, BUCKET_S).len(), 1, "{tau} s");
    }
}

#[test]
fn stalls_and_dips_are_no_levels() {
    let mut series = levels(&[(1000.0, 120)]);
    for (index, value) in series.iter_mut().enumerate() {
        if index % 40 < 3 || index % 23 == 0 {
            *value *= 0.1;
        }
    }
    for length in [60, 61, 62, 63, 64, 82, 120, 123, 240, 363, 480] {
        assert_eq!(plateaus(&series[..length], BUCKET_S).len(), 1, "{length} values");
    }
}

#[test]
fn a_long_pause_is_a_level_of_its_own() {
    let found = plateaus(&levels(&[(1000.0, 20), (0.0, 20), (1000.0, 20)]), BUCKET_S);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[1].half_width_percent, None);
    assert!((found[1].from_s - 20.0).abs() < 0.3, "{found:?}");
}

#[test]
fn nothing_comes_of_nothing() {
    assert_eq!(plateaus(&[], BUCKET_S), []);
    assert_eq!(plateaus(&[f64::NAN; 50], BUCKET_S), []);
    assert_eq!(plateaus(&[1.0], BUCKET_S).len(), 1);
    assert_eq!(write_cache(&[], BUCKET_S), None);
}

fn number() -> impl Strategy<Value = f64> {
    let special = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE];
    prop_oneof![any::<f64>(), 0.0..1e6_f64, proptest::sample::select(special.to_vec())]
}

fn reads_back(cache: &WriteCache) -> bool {
    serde_json::to_string(cache).is_ok_and(|text| {
        serde_json::from_str::<WriteCache>(&text).is_ok_and(|read| read == *cache)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn phases_take_anything(series in vec(number(), 0..150), bucket_s in number()) {
        let found = plateaus(&series, bucket_s);
        prop_assert!(found.iter()
            .all(|plateau| plateau.mean.is_finite() && plateau.from_s.is_finite()));
        if let Some(cache) = write_cache(&series, bucket_s) {
            prop_assert!(reads_back(&cache));
        }
    }

    #[test]
    fn plateaus_cover_the_series_in_order(parts in vec((1.0..1e4_f64, 3..30_usize), 1..6)) {
        let series = levels(&parts);
        let found = plateaus(&series, BUCKET_S);
        let mut end_s = 0.0;
        for plateau in &found {
            prop_assert!((plateau.from_s - end_s).abs() < 1e-9);
            end_s += plateau.seconds;
        }
        prop_assert!((end_s - series.len() as f64 * BUCKET_S).abs() < 1e-9);
        prop_assert!(found.len() <= parts.len(), "{found:?}");
    }

    #[test]
    fn a_clear_fall_is_found_wherever_it_is(first in 5..50_usize, last in 6..50_usize,
        ratio in 0.05..0.7_f64) {
        let cache = write_cache(&levels(&[(1000.0, first), (1000.0 * ratio, last)]), BUCKET_S)
            .unwrap();
        prop_assert!((cache.at_s - first as f64).abs() < 0.3, "{cache:?}");
    }
}
