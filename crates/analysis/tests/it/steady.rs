//! The rule by which a figure is settled, on series whose answer can be seen.

use analysis::steady::{Rule, Steady, Watch, judge};
use proptest::collection::vec;
use proptest::prelude::*;

const BUCKET_S: f64 = 0.25;

/// A ripple without trend, of `percent` either way.
fn ripple(count: usize, mean: f64, percent: f64) -> Vec<f64> {
    let wave = [1.0, -0.4, 0.3, -0.9, 0.6, -0.6, 0.0];
    (0..count).map(|index| mean * (1.0 + percent / 100.0 * wave[index % wave.len()])).collect()
}

/// Seconds at which the watch ends the series.
fn stops_at(rule: Rule, series: &[f64], may_stop: impl Fn(f64) -> bool) -> Option<f64> {
    let mut watch = Watch::new(rule, BUCKET_S);
    let ends = series
        .iter()
        .enumerate()
        .position(|(index, value)| watch.push(*value, may_stop((index + 1) as f64 * BUCKET_S)));
    ends.map(|index| (index + 1) as f64 * BUCKET_S)
}

#[test]
fn a_quiet_series_ends_at_the_second_look() {
    let ends = stops_at(Rule::default(), &ripple(400, 812.0, 3.0), |_| true);
    assert_eq!(ends, Some(17.25));
}

#[test]
fn nothing_ends_while_something_forbids_it() {
    let ends = stops_at(Rule::default(), &ripple(400, 812.0, 3.0), |seconds| seconds >= 40.0);
    assert!((40.0..47.0).contains(&ends.unwrap()), "{ends:?}");
}

#[test]
fn a_warm_up_is_cut_and_named() {
    let mut series = vec![300.0; 20];
    series.extend(ripple(100, 800.0, 2.0));
    let steady = judge(&series, BUCKET_S, 2.0);
    assert!(steady.settled, "{steady:?}");
    assert!((steady.cut_s - 5.0).abs() < 1e-9);
    assert!((steady.mean / 800.0 - 1.0).abs() < 0.002, "{steady:?}");
    assert!(steady.explanation.starts_with("settled: 800 IOPS ± "), "{}", steady.explanation);
    assert!(steady.explanation.contains("after 5 s of warm-up"), "{}", steady.explanation);
}

#[test]
fn a_warm_up_that_goes_on_is_not_settled() {
    let series: Vec<f64> =
        (0..120).map(|index| 1000.0 * (1.0 - 0.6 * (-f64::from(index) / 120.0).exp())).collect();
    let steady = judge(&series, BUCKET_S, 5.0);
    assert!(!steady.settled && steady.explanation.starts_with("not settled: "), "{steady:?}");
    assert_eq!(stops_at(Rule::default(), &series, |_| true), None);
}

#[test]
fn a_cliff_in_the_middle_is_not_settled() {
    let mut series = ripple(100, 1000.0, 2.0);
    series.extend(ripple(60, 300.0, 2.0));
    let steady = judge(&series, BUCKET_S, 5.0);
    assert!(!steady.settled, "{steady:?}");
}

#[test]
fn what_is_too_short_dead_or_timeless_is_never_settled() {
    for (series, bucket_s) in [
        (vec![], BUCKET_S),
        (vec![5.0; 9], BUCKET_S),
        (vec![0.0; 100], BUCKET_S),
        (vec![f64::NAN; 100], BUCKET_S),
        (vec![f64::MAX; 100], BUCKET_S),
        (vec![5.0; 100], 0.0),
        (vec![5.0; 100], f64::NAN),
    ] {
        let steady = judge(&series, bucket_s, 2.0);
        assert!(!steady.settled, "{steady:?}");
        assert!(steady.explanation.starts_with("not settled: "), "{steady:?}");
    }
    assert!(judge(&[5.0; 100], BUCKET_S, 2.0).settled);
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        0.0..1e6_f64,
        proptest::sample::select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX]),
    ]
}

fn reads_back(steady: &Steady) -> bool {
    serde_json::to_string(steady)
        .is_ok_and(|text| serde_json::from_str::<Steady>(&text).is_ok_and(|read| read == *steady))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn judge_takes_anything(series in vec(number(), 0..120), bucket_s in number(),
        precision in number()) {
        let steady = judge(&series, bucket_s, precision);
        prop_assert!(reads_back(&steady), "{steady:?}");
        prop_assert!(!steady.settled || steady.half_width_percent.unwrap() <= precision);
    }

    #[test]
    fn watch_takes_anything(series in vec(number(), 0..120), bucket_s in number(),
        rule in [number(), number(), number()]) {
        let [precision_percent, at_least_s, at_most_s] = rule;
        let mut watch = Watch::new(Rule { precision_percent, at_least_s, at_most_s }, bucket_s);
        for value in &series {
            if watch.push(*value, true) {
                prop_assert!(watch.conclude().settled);
            }
        }
        prop_assert!(reads_back(&watch.conclude()));
    }

    #[test]
    fn the_unit_of_the_series_does_not_matter(series in vec(1.0..1e4_f64, 10..100),
        power in -10..20_i32) {
        let scale = 2.0_f64.powi(power);
        let scaled: Vec<f64> = series.iter().map(|value| value * scale).collect();
        let (one, other) = (judge(&series, BUCKET_S, 2.0), judge(&scaled, BUCKET_S, 2.0));
        prop_assert_eq!(one.settled, other.settled);
        prop_assert_eq!(one.half_width_percent, other.half_width_percent);
        prop_assert!((one.mean * scale / other.mean - 1.0).abs() < 1e-12);
    }
}
