//! What is known no better than ± 50 % is evidence for nothing: no verdict, no cause and no claim
//! uses it as a fact.

use analysis::cause::{Cause, Evidence, Observed, causes};
use analysis::claims::{Claim, Figure, Outcome, Selector, Setting, judge as judge_claim};
use analysis::knee::{Knee, LoadPoint, find_knee};
use analysis::verdict::{Basis, Grade, Level, Limits, Need, Role, Trial, Verdict, judge};
use proptest::prelude::*;

/// Commits one after the other, known so well.
fn commits(per_second: f64, half_width_percent: f64) -> Trial {
    Trial {
        label: format!("log write of {per_second}"),
        offered: None,
        per_second,
        mean_ns: 2e5,
        p99_ns: Some(4e5),
        p99_9_ns: Some(5e5),
        ios: 100_000,
        beyond: [0; 3],
        far_beyond: 0,
        half_width_percent: Some(half_width_percent),
        seconds: 30.0,
    }
}

fn verdict(trials: Vec<Trial>, need: Option<f64>) -> Verdict {
    let need = need.map(|per_second| Need { role: Role::Log, per_second });
    judge(&Limits::of(Role::Log), need, Basis { trials, ..Basis::default() })
}

/// ± 643 % stood next to a figure that a grade was given for.
#[test]
fn no_grade_rests_on_a_figure_that_is_not_known() {
    for need in [None, Some(1.0), Some(100.0), Some(1e6)] {
        let found = verdict(vec![commits(5000.0, 643.0)], need);
        assert_eq!(found.grade, Grade::NotJudged, "{}", found.headline);
        assert!(found.capacities.is_empty() && found.confidence.is_none(), "{found:?}");
        assert!(found.headline.contains("more than 50 % off"), "{}", found.headline);
        assert!(found.evidence[0].contains("not judged"), "{:?}", found.evidence);
    }
    // One that is known is judged by itself.
    let trials = || vec![commits(1000.0, 2.0), commits(50_000.0, 60.0)];
    let found = verdict(trials(), Some(500.0));
    assert_eq!(found.grade, Grade::Excellent, "{}", found.headline);
    let widest = found.capacities.iter().find(|c| c.level == Level::Acceptable).unwrap();
    assert!((widest.per_second - 1000.0).abs() < 1e-9, "{widest:?}");
    // Nobody knows that the other does not carry it.
    assert_eq!(verdict(trials(), Some(20_000.0)).grade, Grade::NotJudged);
    let sure = vec![commits(1000.0, 2.0), commits(50_000.0, 50.0)];
    assert_eq!(verdict(sure, Some(20_000.0)).grade, Grade::Excellent, "50 % is known");
}

fn points(half: impl Fn(usize) -> Option<f64>) -> Vec<Observed> {
    let loads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let point = |(place, in_flight): (usize, f64)| {
        let iops = in_flight.min(8.0) * 1000.0;
        Observed {
            in_flight,
            achieved_in_flight: in_flight,
            iops,
            half_width_percent: half(place),
            mean_ns: in_flight / iops * 1e9,
            p50_ns: Some(in_flight / iops * 1e9),
            thread_percent: Some(20.0),
            ..Observed::default()
        }
    };
    loads.into_iter().enumerate().map(point).collect()
}

fn knee(points: &[Observed]) -> Knee {
    let point = |p: &Observed| LoadPoint {
        in_flight: p.in_flight,
        throughput: p.iops,
        latency_ns: p.mean_ns,
        half_width_percent: None,
    };
    find_knee(&points.iter().map(point).collect::<Vec<_>>()).unwrap()
}

fn evidence<'a>(knee: &'a Knee, points: &'a [Observed]) -> Evidence<'a> {
    Evidence {
        knee,
        points,
        beside_iops: &[],
        block_bytes: 8192.0,
        writes: false,
        link: None,
        queues: &[],
        tool_ceiling_iops: Some(1e6),
        more_threads_ratio: None,
        larger_block: None,
    }
}

#[test]
fn loads_that_are_hardly_known_prove_no_cause() {
    let known = points(|_| Some(0.3));
    let knee = knee(&known);
    let found = causes(&evidence(&knee, &known));
    assert_ne!(found[0].cause, Cause::Unknown, "an exact rate is evidence: {found:?}");
    let unsure = points(|_| Some(51.0));
    let found = causes(&evidence(&knee, &unsure));
    assert_eq!(found[0].cause, Cause::Unknown, "{found:?}");
}

proptest! {
    /// Whatever figures are hardly known, the causes are those of the other loads.
    #[test]
    fn causes_are_those_of_what_is_known(
        unsure in prop::collection::vec(any::<bool>(), 8),
        factor in 0.01..100.0_f64,
    ) {
        let mut all = points(|place| Some(if unsure[place] { 75.0 } else { 1.0 }));
        let knee = knee(&points(|_| None));
        let known: Vec<Observed> =
            all.iter().filter(|p| p.half_width_percent == Some(1.0)).copied().collect();
        for point in all.iter_mut().filter(|p| p.half_width_percent == Some(75.0)) {
            point.iops *= factor;
        }
        prop_assert_eq!(causes(&evidence(&knee, &all)), causes(&evidence(&knee, &known)));
    }
}

fn setting(iops: f64, half_width_percent: f64) -> Setting {
    Setting {
        load: "random_read_8k".to_owned(),
        title: "8 KiB random read".to_owned(),
        block_bytes: Some(8192),
        random: Some(true),
        write_percent: 0,
        durable: false,
        in_flight: 32,
        file_bytes: 1 << 30,
        figures: vec![(Figure::Iops, iops)],
        half_width_percent: Some(half_width_percent),
    }
}

#[test]
fn a_claim_is_neither_met_nor_missed_by_what_is_not_known() {
    let expect = vec!["iops >= 8000".parse().unwrap()];
    let claim = Claim { name: None, of: Selector::default(), expect, documented: None };
    for iops in [100.0, 1e6] {
        let found = judge_claim(&claim, &[setting(iops, 60.0)]);
        assert_eq!(found.outcome, Outcome::NotMeasured, "{found:?}");
        assert!(found.sentence.contains("more than 50 % off"), "{}", found.sentence);
    }
    let found = judge_claim(&claim, &[setting(1e6, 60.0), setting(9000.0, 5.0)]);
    assert_eq!(found.outcome, Outcome::Met, "{found:?}");
    assert!(found.sentence.contains("9 000"), "{}", found.sentence);
}
