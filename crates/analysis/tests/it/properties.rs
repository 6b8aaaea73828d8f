//! Properties that hold for any input.

use analysis::agreement::{Flow, Observed, Suspicion, Window, compare};
use analysis::knee::{LoadPoint, RampRule, find_knee, ramp_is_done};
use analysis::noise::stability;
use analysis::numbers;
use analysis::verdict::{Basis, Grade, Limits, LoadSearch, Need, Role, Statistic, Trial, judge};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::*;
use proptest::sample::select;

/// Any bit pattern, with the troublemakers more often than chance has them.
fn number() -> impl Strategy<Value = f64> {
    let special = [0.0, -0.0, -1.0, 1.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE];
    prop_oneof![ANY, select(special.to_vec()), 0.1..1e6_f64]
}

fn any_point() -> impl Strategy<Value = LoadPoint> {
    (number(), number(), number(), proptest::option::of(number())).prop_map(
        |(in_flight, throughput, latency_ns, half_width_percent)| LoadPoint {
            in_flight,
            throughput,
            latency_ns,
            half_width_percent,
        },
    )
}

/// A doubling ramp of plausible throughputs that keeps Little's law.
fn ramp() -> impl Strategy<Value = Vec<LoadPoint>> {
    vec(100.0..1e5_f64, 2..11).prop_map(|throughputs| {
        let points = throughputs.into_iter().zip(0..);
        points
            .map(|(throughput, power)| {
                let in_flight = 2.0_f64.powi(power);
                let latency_ns = in_flight / throughput * 1e9;
                LoadPoint { in_flight, throughput, latency_ns, half_width_percent: None }
            })
            .collect()
    })
}

fn flow() -> impl Strategy<Value = Flow> {
    (number(), number(), proptest::option::of(number()), number()).prop_map(
        |(iops, bytes_per_s, latency_ns, merges_per_s)| Flow {
            iops,
            bytes_per_s,
            latency_ns,
            merges_per_s,
        },
    )
}

fn observed() -> impl Strategy<Value = Observed> {
    (flow(), flow()).prop_map(|(read, write)| Observed { read, write })
}

fn trial(mean_ns: f64, ios: u64, late: u64) -> Trial {
    Trial {
        label: "8 KiB random reads".to_owned(),
        offered: None,
        per_second: 5000.0,
        mean_ns,
        p99_ns: Some(mean_ns),
        p99_9_ns: None,
        ios,
        beyond: [late; 3],
        far_beyond: late,
        half_width_percent: Some(1.0),
        seconds: 30.0,
    }
}

/// A result that holds only finite numbers reads back from JSON, where others turn into null.
fn reads_back<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> bool {
    serde_json::to_string(value).is_ok_and(|text| serde_json::from_str::<T>(&text).is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn knee_takes_anything(points in vec(any_point(), 0..9)) {
        let _ = ramp_is_done(&points, &RampRule::default());
        if let Some(knee) = find_knee(&points) {
            prop_assert!(knee.operating_point.index < points.len());
            prop_assert!(reads_back(&knee), "{knee:?}");
        }
    }

    #[test]
    fn ramp_rule_takes_anything(points in ramp(), a in number(), b in number(), c in number(),
        steps: usize) {
        let rule = RampRule {
            min_gain_percent: a,
            flat_steps: steps,
            min_latency_rise_share: b,
            max_fall_percent: c,
        };
        let _ = ramp_is_done(&points, &rule);
    }

    #[test]
    fn knee_knows_no_unit(points in ramp(), power in -10..20_i32) {
        let scale = 2.0_f64.powi(power);
        let scaled: Vec<LoadPoint> = points
            .iter()
            .map(|point| LoadPoint { throughput: point.throughput * scale, ..*point })
            .collect();
        let (knee, other) = (find_knee(&points).unwrap(), find_knee(&scaled).unwrap());
        prop_assert_eq!(knee.operating_point.index, other.operating_point.index);
        prop_assert_eq!(knee.reached, other.reached);
        prop_assert_eq!(knee.little_knee.is_some(), other.little_knee.is_some());
        if let (Some(a), Some(b)) = (knee.little_knee, other.little_knee) {
            prop_assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
            prop_assert!((knee.unloaded_latency_ns / other.unloaded_latency_ns - 1.0).abs() < 0.01);
        }
    }

    #[test]
    fn operating_point_is_no_deeper_than_the_points_and_not_far_below_the_best(points in ramp()) {
        let knee = find_knee(&points).unwrap();
        prop_assert!(knee.operating_point.throughput >= 0.85 * knee.peak.throughput);
        prop_assert!(points[knee.operating_point.index]
            .in_flight.total_cmp(&knee.operating_point.in_flight).is_eq());
        if let Some(little_knee) = knee.little_knee {
            prop_assert!(little_knee >= 1.0 - 1e-9 && little_knee <= points[points.len() - 1]
                .in_flight);
        }
    }

    #[test]
    fn agreement_takes_anything(
        tool in observed(), kernel in observed(), in_flight in number(), seconds in number(),
            tolerance in number(),
    ) {
        let agreement = compare(&Window { tool, kernel, in_flight, seconds,
            tolerance_percent: tolerance });
        prop_assert!(reads_back(&agreement), "{agreement:?}");
        prop_assert!(!(agreement.within_tolerance && agreement.suspicion.is_some()));
    }

    /// Whatever is merged, split, cached or added by another program, from a little to a thousand
    /// times, is named as such and raises no doubt, and no percentage beyond ten times is shown.
    #[test]
    fn what_happens_to_ios_is_explained(
        iops in 10.0..1e6_f64, bytes in 4096.0..1e6_f64, times in 1.2..1000.0_f64,
        kind in 0..4_usize, writes in proptest::bool::ANY,
    ) {
        let tool = Flow { iops, bytes_per_s: iops * bytes, ..Flow::default() };
        let (expected, ios_times, bytes_times) = [
            (Suspicion::Merging, 1.0 / times, 1.0),
            (Suspicion::Splitting, times, 1.0),
            (Suspicion::Caching, 1.0 / times, 1.0 / times),
            (Suspicion::OtherLoad, times, times),
        ][kind];
        let kernel = Flow { iops: iops * ios_times, bytes_per_s: tool.bytes_per_s * bytes_times,
            ..tool };
        let of = |flow| if writes { Observed { write: flow, ..Observed::default() } } else {
            Observed { read: flow, ..Observed::default() } };
        let agreement = compare(&Window { tool: of(tool), kernel: of(kernel), in_flight: 0.0,
            seconds: 60.0, tolerance_percent: 2.0 });
        prop_assert_eq!(agreement.suspicion, Some(expected));
        prop_assert!(!expected.is_doubt());
        let words: Vec<&str> = agreement.explanation.split(' ').collect();
        for pair in words.windows(2).filter(|pair| pair[1] == "%") {
            let percent: f64 = pair[0].parse().unwrap();
            prop_assert!(percent <= 900.0, "{}", agreement.explanation);
        }
    }

    /// More I/Os with fewer bytes, or more bytes in no more I/Os, is always a doubt.
    #[test]
    fn a_contradiction_is_a_doubt(
        iops in 10.0..1e6_f64, bytes in 4096.0..1e6_f64, more in 1.03..100.0_f64,
        fewer in 0.0..0.97_f64, kind in 0..2_usize,
    ) {
        let tool = Flow { iops, bytes_per_s: iops * bytes, ..Flow::default() };
        let (ios_times, bytes_times) = [(more, fewer), (1.0, more)][kind];
        let kernel = Flow { iops: iops * ios_times, bytes_per_s: tool.bytes_per_s * bytes_times,
            ..tool };
        let of = |flow| Observed { read: flow, ..Observed::default() };
        let agreement = compare(&Window { tool: of(tool), kernel: of(kernel), in_flight: 0.0,
            seconds: 60.0, tolerance_percent: 2.0 });
        prop_assert!(agreement.suspicion.is_some_and(Suspicion::is_doubt), "{agreement:?}");
    }

    #[test]
    fn an_observer_agrees_with_itself(iops in 1.0..1e7_f64, bytes in 512.0..1e7_f64) {
        let flow = Flow { iops, bytes_per_s: iops * bytes, latency_ns: Some(1e5),
            merges_per_s: 0.0 };
        let seen = Observed { read: flow, write: flow };
        let window = Window { tool: seen, kernel: seen, in_flight: 1.0, seconds: 1.0,
            tolerance_percent: 0.0 };
        prop_assert!(compare(&window).within_tolerance);
    }

    #[test]
    fn a_grade_never_improves_with_latency_or_need(
        role in select(Role::ALL.to_vec()), percentile: bool, ios in 1_u64..1_000_000,
        mean in 1e3..1e9_f64, late in 0.0..1.0_f64, slower in 1.0..10.0_f64, need in 1.0..1e4_f64,
        more in 1.0..10.0_f64,
    ) {
        let statistic = if percentile { Statistic::P99 } else { Statistic::Mean };
        let limits = Limits { statistic, ..Limits::of(role) };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let of_all = |share: f64| (ios as f64 * share.min(1.0)) as u64;
        let grade = |mean: f64, late: f64, per_second: f64| {
            let trials = vec![trial(mean, ios, of_all(late))];
            let need = Some(Need { role, per_second });
            judge(&limits, need, Basis { trials, ..Basis::default() }).grade
        };
        // What is not known is neither better nor worse.
        let rank = |grade: Grade| (grade != Grade::NotJudged).then_some(grade);
        let before = rank(grade(mean, late, need));
        for after in [grade(mean * slower, late * slower, need), grade(mean, late, need * more)] {
            if let (Some(before), Some(after)) = (before, rank(after)) {
                prop_assert!(after >= before, "{before:?} {after:?}");
            }
        }
    }

    #[test]
    fn a_verdict_takes_anything(
        numbers in [number(), number(), number(), number(), number(), number(), number()],
        counts: [u64; 5], open: bool, limits in [any::<u64>(), any::<u64>(), any::<u64>()],
        tail_factor: u32,
    ) {
        let measured = Trial {
            label: String::new(),
            offered: open.then_some(numbers[0]),
            per_second: numbers[1],
            mean_ns: numbers[2],
            p99_ns: Some(numbers[3]),
            p99_9_ns: None,
            ios: counts[0],
            beyond: [counts[1], counts[2], counts[3]],
            far_beyond: counts[4],
            half_width_percent: Some(numbers[4]),
            seconds: numbers[5],
        };
        let [excellent_ns, ideal_ns, acceptable_ns] = limits;
        let limits = Limits { excellent_ns, ideal_ns, acceptable_ns, tail_factor,
            ..Limits::of(Role::Log) };
        let need = Some(Need { role: Role::Log, per_second: numbers[6] });
        for limits in [&limits, &Limits::of(Role::Log)] {
            let trials = vec![measured.clone(), trial(1e6, 1000, 3)];
            let search = LoadSearch { first: numbers[6], close: 1.1, at_most: 9 };
            let _ = search.next(limits, &trials);
            let verdict = judge(limits, need, Basis { trials, ..Basis::default() });
            prop_assert!(verdict.headline.starts_with("Transaction log: "));
        }
    }

    #[test]
    fn stability_takes_anything(series in vec(number(), 0..40)) {
        let stability = stability(&series);
        prop_assert!(reads_back(&stability), "{stability:?}");
        let _ = (numbers::median(&series), numbers::cv_percent(&series));
    }

    #[test]
    fn stability_knows_no_unit(series in vec(1.0..1e6_f64, 5..40)) {
        let scaled: Vec<f64> = series.iter().map(|value| value * 1024.0).collect();
        let (one, other) = (stability(&series), stability(&scaled));
        prop_assert_eq!(one.settled, other.settled);
        prop_assert!((one.range_percent - other.range_percent).abs() < 1e-6);
    }

    #[test]
    fn median_is_between_its_values(values in vec(-1e9..1e9_f64, 1..20)) {
        let median = numbers::median(&values).unwrap();
        let not_above = values.iter().filter(|value| **value <= median).count();
        let not_below = values.iter().filter(|value| **value >= median).count();
        prop_assert!(2 * not_above >= values.len() && 2 * not_below >= values.len());
    }
}
