//! What speaks for and against a figure: true rounds, repeated runs, the I/O of others.

use analysis::noise::{Traffic, Trust, foreign_percent, rounds, trust};
use proptest::collection::vec;
use proptest::prelude::*;

fn traffic(ios: f64, bytes: f64) -> Traffic {
    Traffic { ios, bytes }
}

#[test]
fn the_last_five_rounds_decide() {
    let settled = rounds(&[10.0, 400.0, 101.0, 99.0, 100.0, 102.0, 98.0]);
    assert!(settled.settled && settled.intervals == 5, "{settled:?}");
    assert!(!rounds(&[100.0; 4]).settled);
    assert!(!rounds(&[130.0, 100.0, 100.0, 100.0, 100.0]).settled, "a range of 28 %");
    assert!(!rounds(&[95.0, 98.0, 101.0, 104.0, 107.0]).settled, "a slope of 12 %");
}

#[test]
fn what_the_device_did_beyond_the_test_is_foreign() {
    let own = traffic(1000.0, 8_192_000.0);
    let percent = foreign_percent(traffic(1250.0, 8_192_000.0 + 250.0 * 4096.0), own).unwrap();
    assert!((percent - 20.0).abs() < 1e-9, "of the I/Os: {percent}");
    let percent = foreign_percent(traffic(1010.0, 16_384_000.0), own).unwrap();
    assert!((percent - 50.0).abs() < 1e-9, "of the bytes: {percent}");
}

#[test]
fn pieces_and_larger_pieces_of_the_tests_own_io_are_not_foreign() {
    let own = traffic(1000.0, 1e9);
    assert_eq!(foreign_percent(own, own), Some(0.0));
    assert_eq!(foreign_percent(traffic(4000.0, 1e9), own), Some(0.0), "split");
    assert_eq!(foreign_percent(traffic(1000.0, 1.5e9), own), Some(0.0), "made larger");
    assert_eq!(foreign_percent(traffic(200.0, 1e9), own), Some(0.0), "merged");
    assert_eq!(foreign_percent(traffic(0.0, 0.0), own), None);
    assert_eq!(foreign_percent(traffic(-1.0, 5.0), own), None);
    assert_eq!(foreign_percent(traffic(1.0, f64::NAN), own), None);
}

#[test]
fn runs_that_repeat_on_a_quiet_device_are_not_noisy() {
    let trust = trust(&[100.0, 101.0, 99.0], Some(0.4));
    assert!(!trust.noisy, "{trust:?}");
    assert!((trust.cv_percent.unwrap() - 1.0).abs() < 1e-9);
    assert!((trust.half_width_percent.unwrap() - 4.3027 / 3.0_f64.sqrt()).abs() < 1e-3);
    assert_eq!(
        trust.explanation,
        "3 runs vary by 1 %; 0.4 % of the device's I/O was not this test's"
    );
}

#[test]
fn scatter_and_foreign_io_are_named() {
    let scattered = trust(&[100.0, 120.0], None);
    assert!(scattered.noisy, "{scattered:?}");
    assert_eq!(scattered.explanation, "noisy: 2 runs vary by 12.9 %");
    let shared = trust(&[100.0], Some(7.0));
    assert!(shared.noisy, "{shared:?}");
    assert_eq!(
        shared.explanation,
        "noisy: one run, so how well it repeats is not known; 7 % of the device's I/O was not \
         this test's"
    );
    assert_eq!(trust(&[], None).explanation, "nothing was measured");
}

fn number() -> impl Strategy<Value = f64> {
    let special = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE];
    prop_oneof![any::<f64>(), 0.0..1e6_f64, proptest::sample::select(special.to_vec())]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn trust_takes_anything(runs in vec(number(), 0..12),
        foreign in proptest::option::of(number())) {
        let trust = trust(&runs, foreign);
        let text = serde_json::to_string(&trust).unwrap();
        prop_assert!(serde_json::from_str::<Trust>(&text).is_ok_and(|read| read == trust),
            "{trust:?}");
        let _ = rounds(&runs);
    }

    #[test]
    fn foreign_io_is_a_share(numbers in [number(), number(), number(), number()]) {
        let [a, b, c, d] = numbers;
        if let Some(percent) = foreign_percent(traffic(a, b), traffic(c, d)) {
            prop_assert!((0.0..=100.0).contains(&percent), "{percent}");
        }
    }
}
