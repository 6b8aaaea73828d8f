//! How often a comparison says what is true, over simulated runs of known truth (fixed seeds).

use crate::normal::Normal;
use analysis::comparison::{
    Basis, Change, Compared, Deciding, Direction, Spread, compare, overall,
};
use proptest::prelude::*;

const SERIES: u32 = 2000;
const BAND: f64 = 5.0;

/// Verdicts on many pairs of sides in percent of the pairs.
#[derive(Debug, Default)]
struct Shares {
    better: f64,
    same: f64,
    worse: f64,
    cannot_tell: f64,
}

/// What is true of the second side, and how it is measured.
struct Truth {
    runs: (usize, usize),
    change: f64,
    spread: f64,
    known: Option<Spread>,
}

fn shares(truth: &Truth) -> Shares {
    let mut normal = Normal::seeded(20_261_121);
    let mut shares = Shares::default();
    for _ in 0..SERIES {
        let mut side = |runs: usize, mean: f64| -> Vec<f64> {
            (0..runs).map(|_| mean * (1.0 + truth.spread * normal.draw())).collect()
        };
        let (a, b) =
            (side(truth.runs.0, 50_000.0), side(truth.runs.1, 50_000.0 * (1.0 + truth.change)));
        let found = compare(&a, &b, Direction::Higher, BAND, truth.known).unwrap();
        *match found.verdict {
            Change::Better => &mut shares.better,
            Change::Same => &mut shares.same,
            Change::Worse => &mut shares.worse,
            Change::CannotTell => &mut shares.cannot_tell,
        } += 100.0 / f64::from(SERIES);
    }
    shares
}

fn runs(each: usize, change: f64) -> Shares {
    shares(&Truth { runs: (each, each), change, spread: 0.02, known: None })
}

#[test]
fn nothing_changed_is_hardly_ever_called_a_change() {
    let five = runs(5, 0.0);
    assert!(five.better + five.worse <= 0.1, "{five:?}");
    assert!(five.same >= 93.0, "{five:?}");
    let ten = runs(10, 0.0);
    assert!(ten.better + ten.worse <= 0.1 && ten.same >= 99.0, "{ten:?}");
    // The noisier the runs, the closer to what the tests allow: one in twenty each way, never more.
    for spread in [0.05, 0.1, 0.3] {
        for each in [2, 3, 5] {
            let noisy = shares(&Truth { runs: (each, each), change: 0.0, spread, known: None });
            assert!(noisy.better <= 6.0 && noisy.worse <= 6.0, "{each} {spread} {noisy:?}");
            assert!(noisy.same <= 55.0, "{each} {spread} {noisy:?}");
        }
    }
}

#[test]
fn a_tenth_less_is_found() {
    let three = runs(3, -0.10);
    assert!(three.worse >= 70.0 && three.better <= 0.0, "{three:?}");
    let five = runs(5, -0.10);
    assert!(five.worse >= 97.0 && five.same <= 0.0, "{five:?}");
    let more = runs(5, 0.10);
    assert!(more.better >= 90.0, "{more:?}");
}

#[test]
fn at_the_edge_of_the_band_little_is_claimed() {
    let edge = runs(5, -0.05);
    assert!(edge.worse <= 6.5 && edge.same <= 6.5, "{edge:?}");
    assert!(edge.cannot_tell >= 85.0, "{edge:?}");
}

#[test]
fn two_single_runs_say_nothing_without_a_known_spread() {
    let single = shares(&Truth { runs: (1, 1), change: -0.5, spread: 0.02, known: None });
    assert!(single.cannot_tell > 99.99, "{single:?}");
    let found = compare(&[100.0], &[800.0], Direction::Higher, BAND, None).unwrap();
    assert_eq!((found.basis, found.interval_percent), (Basis::Nothing, None));
    assert!((found.change_percent - 700.0).abs() < 1e-9);
    assert!(found.explanation.contains("one run on each side"), "{}", found.explanation);
}

#[test]
fn a_single_run_is_held_against_the_spread_that_is_known() {
    let known = Some(Spread { cv_percent: 2.0, runs: 5 });
    let null = shares(&Truth { runs: (1, 1), change: 0.0, spread: 0.02, known });
    assert!(null.worse + null.better <= 0.2 && null.same <= 0.0, "{null:?}");
    let half = shares(&Truth { runs: (1, 1), change: -0.5, spread: 0.02, known });
    assert!(half.worse >= 99.9, "{half:?}");
    // A baseline of five runs knows its own spread; one new run is judged by it.
    let own = |change| shares(&Truth { runs: (5, 1), change, spread: 0.02, known: None });
    let (null, fifth) = (own(0.0), own(-0.2));
    assert!(null.worse + null.better <= 1.0 && null.same <= 0.0, "{null:?}");
    assert!(fifth.worse >= 90.0, "{fifth:?}");
    // The wider of the two spreads decides.
    let wild = Some(Spread { cv_percent: 40.0, runs: 5 });
    let wide = shares(&Truth { runs: (5, 1), change: -0.2, spread: 0.02, known: wild });
    assert!(wide.cannot_tell > 99.9, "{wide:?}");
}

/// The chance that is given for a change beyond the band is one: at its edge, it is below 5 % one
/// time in twenty.
#[test]
fn chances_are_chances() {
    let mut normal = Normal::seeded(7);
    let mut below = 0;
    for _ in 0..SERIES {
        let mut side = |mean: f64| -> Vec<f64> {
            (0..5).map(|_| mean * (0.03 * normal.draw()).exp()).collect()
        };
        let (a, b) = (side(1.0), side(0.95));
        let found = compare(&a, &b, Direction::Higher, BAND, None).unwrap();
        below += u32::from(found.worse_p.unwrap() <= 0.05);
    }
    let share = f64::from(below) / f64::from(SERIES);
    assert!((0.035..0.065).contains(&share), "{share}");
}

#[test]
fn less_latency_is_better() {
    let (slow, fast) = ([10.0, 10.1, 9.9, 10.0], [8.0, 8.1, 7.9, 8.0]);
    let found = compare(&slow, &fast, Direction::Lower, BAND, None).unwrap();
    assert_eq!(found.verdict, Change::Better);
    assert!(found.rank_p.unwrap() < 0.03);
    assert_eq!(compare(&fast, &slow, Direction::Lower, BAND, None).unwrap().verdict, Change::Worse);
    assert_eq!(
        compare(&fast, &slow, Direction::Higher, BAND, None).unwrap().verdict,
        Change::Better
    );
}

#[test]
fn a_change_of_unclear_size_is_said_to_be_one() {
    let a = [100.0, 101.0, 99.0, 100.5, 99.5];
    let b = a.map(|v| v * 0.952);
    let found = compare(&a, &b, Direction::Higher, BAND, None).unwrap();
    assert_eq!(found.verdict, Change::CannotTell);
    assert!(found.explanation.contains("changed, but by how much"), "{}", found.explanation);
}

#[test]
fn what_cannot_be_a_figure_is_left_out() {
    assert_eq!(compare(&[], &[1.0], Direction::Higher, BAND, None), None);
    assert_eq!(compare(&[0.0, -1.0, f64::NAN], &[1.0], Direction::Higher, BAND, None), None);
    let found = compare(&[f64::INFINITY, 2.0], &[2.0], Direction::Higher, BAND, None).unwrap();
    assert_eq!(found.a.runs, 1);
}

fn consistent(c: &Compared) -> bool {
    let inside = c
        .interval_percent
        .is_none_or(|(l, h)| l <= c.change_percent + 1e-6 && c.change_percent - 1e-6 <= h);
    let numbers = [Some(c.change_percent), c.worse_p, c.better_p, c.rank_p];
    inside && numbers.iter().flatten().all(|n| n.is_finite()) && serde_json::to_string(c).is_ok()
}

proptest! {
    #[test]
    fn any_numbers_give_a_consistent_answer(
        a in proptest::collection::vec(proptest::num::f64::ANY, 0..12),
        b in proptest::collection::vec(0.1..1e9_f64, 0..12),
        band in proptest::num::f64::ANY,
        cv in proptest::num::f64::ANY,
        known in 0usize..9,
    ) {
        let known = Some(Spread { cv_percent: cv, runs: known });
        for direction in [Direction::Higher, Direction::Lower] {
            for (a, b) in [(&a, &b), (&b, &a), (&b, &b)] {
                if let Some(found) = compare(a, b, direction, band, known) {
                    prop_assert!(consistent(&found), "{found:?}");
                }
            }
        }
    }
}

fn deciding<'a>(name: &'a str, says_same: bool, compared: &Compared) -> Deciding<'a> {
    let Compared { verdict, worse_p, better_p, .. } = *compared;
    Deciding { name, says_same, verdict, worse_p, better_p }
}

/// The verdicts of an overall over `loads` loads of which the first `changed` lost a fifth.
fn verdict(loads: usize, changed: usize, normal: &mut Normal, spread: f64) -> Change {
    let mut side =
        |mean: f64| -> Vec<f64> { (0..5).map(|_| mean * (spread * normal.draw()).exp()).collect() };
    let compared: Vec<Compared> = (0..loads)
        .map(|load| {
            let (a, b) = (side(1.0), side(if load < changed { 0.8 } else { 1.0 }));
            compare(&a, &b, Direction::Higher, BAND, None).unwrap()
        })
        .collect();
    let figures: Vec<Deciding<'_>> =
        compared.iter().map(|compared| deciding("IOPS", true, compared)).collect();
    overall(&figures).verdict
}

/// Thirty figures that vary by a tenth: by one figure at a time, nearly every second comparison
/// would cry wolf.
#[test]
fn many_loads_do_not_make_a_change_of_chance() {
    let mut normal = Normal::seeded(3);
    let false_alarms = (0..300)
        .filter(|_| matches!(verdict(30, 0, &mut normal, 0.1), Change::Better | Change::Worse))
        .count();
    assert!(false_alarms <= 20, "{false_alarms} of 300");
    let found = (0..100).filter(|_| verdict(30, 1, &mut normal, 0.01) == Change::Worse).count();
    assert!(found >= 98, "{found} of 100");
    let same = (0..100).filter(|_| verdict(30, 0, &mut normal, 0.01) == Change::Same).count();
    assert!(same >= 98, "{same} of 100");
}

#[test]
fn a_tail_may_be_worse_but_decides_no_sameness() {
    let still = [100.0, 101.0, 99.0, 100.0, 100.0];
    let rate = compare(&still, &still, Direction::Higher, BAND, None).unwrap();
    let wild = [100.0, 150.0, 60.0, 110.0, 90.0];
    let tail = compare(&still, &wild, Direction::Lower, BAND, None).unwrap();
    assert_eq!(tail.verdict, Change::CannotTell);
    let of_both =
        |tail| overall(&[deciding("IOPS", true, &rate), deciding("p99 latency", false, tail)]);
    let found = of_both(&tail);
    assert_eq!(found.verdict, Change::Same);
    assert_eq!(found.findings, ["IOPS: the same", "p99 latency: cannot be told"]);
    let slow = compare(&still, &still.map(|v| 2.0 * v), Direction::Lower, BAND, None).unwrap();
    assert_eq!(of_both(&slow).verdict, Change::Worse);
    assert_eq!(overall(&[]).verdict, Change::CannotTell);
}
