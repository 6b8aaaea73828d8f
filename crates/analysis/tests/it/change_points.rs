//! Changes of level are found where they are, and absent if there is none (fixed seeds).

use crate::normal::Normal;
use analysis::change_points::{ChangePoint, change_points};
use proptest::prelude::*;

/// Levels with how many values each has, and noise of 2 % between them.
fn series(normal: &mut Normal, levels: &[(f64, usize)]) -> Vec<f64> {
    levels
        .iter()
        .flat_map(|&(level, count)| std::iter::repeat_n(level, count))
        .map(|level| level * (1.0 + 0.02 * normal.draw()))
        .collect()
}

fn places(found: &[ChangePoint]) -> Vec<usize> {
    found.iter().map(|f| f.index).collect()
}

/// How many of 400 series hold a change at exactly these places.
fn exact(levels: &[(f64, usize)]) -> usize {
    let mut normal = Normal::seeded(11);
    let mut places_of = levels.iter().scan(0, |at, (_, count)| {
        *at += count;
        Some(*at)
    });
    let truth: Vec<usize> = places_of.by_ref().take(levels.len() - 1).collect();
    (0..400)
        .filter(|_| places(&change_points(&series(&mut normal, levels)).unwrap()) == truth)
        .count()
}

#[test]
fn a_still_series_holds_none() {
    for count in [8, 12, 30, 100] {
        let quiet = exact(&[(1000.0, count)]);
        assert!(quiet >= 392, "{quiet} of 400 with {count} values");
    }
}

#[test]
fn a_tenth_less_is_found_at_its_place() {
    let found = exact(&[(1000.0, 10), (900.0, 10)]);
    assert!(found >= 340, "{found}");
    let short = exact(&[(1000.0, 5), (800.0, 3)]);
    assert!(short >= 320, "{short}");
}

#[test]
fn a_dip_in_the_middle_and_changes_in_a_long_series_are_found() {
    let dip = exact(&[(1000.0, 10), (850.0, 6), (1000.0, 10)]);
    assert!(dip >= 340, "{dip}");
    let long = exact(&[(1000.0, 70), (850.0, 55), (1100.0, 40)]);
    assert!(long >= 340, "{long}");
}

#[test]
fn what_is_known_of_a_change_is_right() {
    let values = [100.0, 101.0, 99.0, 100.0, 100.0, 80.0, 81.0, 79.0, 80.0, 80.0];
    let found = change_points(&values).unwrap();
    assert_eq!(places(&found), [5]);
    assert!((found[0].change_percent + 20.0).abs() < 0.1, "{found:?}");
    assert!((found[0].before - 100.0).abs() < 0.1 && (found[0].after - 80.0).abs() < 0.1);
    assert!(found[0].p < 1e-6);
}

#[test]
fn single_values_out_of_line_and_small_steps_are_no_change() {
    let mut values = vec![100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 101.0, 99.0, 100.0, 100.0];
    values[9] = 50.0;
    assert_eq!(change_points(&values), Some(Vec::new()));
    let step: Vec<f64> = (0..20).map(|i| if i < 10 { 100.0 } else { 100.5 }).collect();
    assert_eq!(change_points(&step), Some(Vec::new()));
    assert_eq!(change_points(&[100.0, 50.0, 50.0, 50.0]), Some(Vec::new()));
    assert_eq!(change_points(&[1.0, f64::NAN, 1.0]), None);
    assert_eq!(change_points(&[1.0; 9]), Some(Vec::new()));
}

proptest! {
    #[test]
    fn any_series_gives_an_answer_in_order(values in proptest::collection::vec(1e-3..1e9_f64,
        0..130)) {
        let found = change_points(&values).unwrap();
        let at = places(&found);
        prop_assert!(at.is_sorted());
        prop_assert!(at.iter().all(|i| (3..=values.len() - 3).contains(i)));
        prop_assert!(found.iter().all(|f| f.p <= 0.001 && f.change_percent.is_finite()));
    }
}
