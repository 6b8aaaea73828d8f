//! When a figure changed in a series over many dates: e-divisive means, confirmed by a t-test.
//!
//! D. Matteson, N. James, "A nonparametric approach for multiple change point analysis of
//! multivariate data" (2014) find where two parts of a series differ most in distribution. Their
//! test shuffles; a t-test in its place gives the same answer each time (M. Fleming et al.,
//! "Hunter: using change point detection to hunt for performance regressions", 2023).

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::numbers;

/// Fewest values in which a change is looked for.
pub const FEWEST: usize = 8;
/// Fewest values of a level: one or two may be disturbed.
const LEVEL_MIN: usize = 3;
/// Values that are looked at together. In longer series, far parts would blur what happened between
/// near ones.
const WINDOW: usize = 40;
/// Chance at which a split is tried …
const TRIED_P: f64 = 0.05;
/// … and at which a change is in the end: so many places are tried that the usual 5 % would find
/// one in most series …
const STANDS_P: f64 = 0.001;
/// … and the more, the longer the series: of more values than 20, the chance is this over their
/// number.
const STANDS_P_OVER: f64 = 0.02;
/// A change smaller than this, in percent, is of no interest however sure it is.
const LEAST_PERCENT: f64 = 1.0;

/// A change from one level to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// Index of the first value of the new level.
    pub index: usize,
    /// Geometric mean of the level before.
    pub before: f64,
    /// Geometric mean of the level after.
    pub after: f64,
    /// From before to after, percent of before.
    pub change_percent: f64,
    /// Chance of two such parts if nothing had changed between them; not corrected for the search.
    pub p: f64,
}

/// Finds the changes of level in a series of values above 0, in the order of their dates.
///
/// Fewer than eight values hold none, and a level has at least three. A series with a value that is
/// not finite and above 0 has no answer.
#[must_use]
pub fn change_points(values: &[f64]) -> Option<Vec<ChangePoint>> {
    if values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    if logs.len() < FEWEST {
        return Some(Vec::new());
    }
    let mut cuts = Vec::new();
    let mut start = 0;
    loop {
        let end = (start + WINDOW).min(logs.len());
        split(&logs, start, end, &mut cuts);
        if end == logs.len() {
            break;
        }
        start += WINDOW / 2;
    }
    cuts.sort_unstable();
    cuts.dedup();
    confirm(&logs, &mut cuts);
    Some(described(&logs, &cuts))
}

/// Collects the places of `start..end` at which it parts best, and those of its parts.
fn split(logs: &[f64], start: usize, end: usize, cuts: &mut Vec<usize>) {
    if end - start < FEWEST {
        return;
    }
    let Some((cut, until)) = best_cut(&logs[start..end]) else { return };
    let (cut, until) = (start + cut, start + until);
    let differ = t_test(&logs[start..cut], &logs[cut..until]).is_some_and(|p| p <= TRIED_P);
    if differ {
        cuts.push(cut);
        split(logs, start, cut, cuts);
        split(logs, cut, end, cuts);
    }
}

/// Where a series parts best, and up to where the second part is of one kind.
fn best_cut(values: &[f64]) -> Option<(usize, usize)> {
    let count = values.len();
    // sums[i][j]: all distances between one of the first i values and one of the first j.
    let mut sums = vec![vec![0.0_f64; count + 1]; count + 1];
    for i in 0..count {
        for j in 0..count {
            let distance = (values[i] - values[j]).abs();
            sums[i + 1][j + 1] = distance + sums[i][j + 1] + sums[i + 1][j] - sums[i][j];
        }
    }
    let mut best: Option<(f64, usize, usize)> = None;
    for cut in LEVEL_MIN..=count.checked_sub(LEVEL_MIN)? {
        for until in cut + LEVEL_MIN..=count {
            let (m, n) = (cut as f64, (until - cut) as f64);
            let inside_first = sums[cut][cut] / (m * (m - 1.0));
            let inside_second = sums[until][until] - 2.0 * sums[cut][until] + sums[cut][cut];
            let between = sums[cut][until] - sums[cut][cut];
            let energy = 2.0 * between / (m * n) - inside_first - inside_second / (n * (n - 1.0));
            let divergence = energy * m * n / (m + n);
            if best.is_none_or(|(most, ..)| divergence > most) {
                best = Some((divergence, cut, until));
            }
        }
    }
    best.map(|(_, cut, until)| (cut, until))
}

/// Removes the least certain change until all that remain are certain.
fn confirm(logs: &[f64], cuts: &mut Vec<usize>) {
    let stands = STANDS_P.min(STANDS_P_OVER / logs.len() as f64);
    loop {
        let weakest = parts(logs, cuts)
            .windows(2)
            .enumerate()
            .map(|(place, pair)| (place, doubt(pair[0], pair[1])))
            .max_by(|x, y| x.1.total_cmp(&y.1));
        match weakest {
            Some((place, p)) if p > stands => {
                cuts.remove(place);
            }
            _ => return,
        }
    }
}

/// The chance of two such levels without a change; 1 for parts that are too small or too short.
fn doubt(before: &[f64], after: &[f64]) -> f64 {
    let change = numbers::mean(after).zip(numbers::mean(before)).map_or(0.0, |(a, b)| a - b);
    if before.len().min(after.len()) < LEVEL_MIN || 100.0 * change.exp_m1().abs() < LEAST_PERCENT {
        return 1.0;
    }
    t_test(before, after).unwrap_or(1.0)
}

/// The values of each level between the cuts.
fn parts<'a>(logs: &'a [f64], cuts: &[usize]) -> Vec<&'a [f64]> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([logs.len()]);
    starts.zip(ends).map(|(start, end)| &logs[start..end]).collect()
}

fn described(logs: &[f64], cuts: &[usize]) -> Vec<ChangePoint> {
    let parts = parts(logs, cuts);
    let pairs = cuts.iter().zip(parts.windows(2));
    pairs
        .filter_map(|(index, pair)| {
            let (before, after) = (numbers::mean(pair[0])?, numbers::mean(pair[1])?);
            Some(ChangePoint {
                index: *index,
                before: before.exp(),
                after: after.exp(),
                change_percent: 100.0 * (after - before).exp_m1(),
                p: t_test(pair[0], pair[1])?,
            })
        })
        .collect()
}

/// Student's two-sided test of two means, with the common variance: short levels have too few
/// values for one each.
fn t_test(a: &[f64], b: &[f64]) -> Option<f64> {
    let (m, n) = (a.len() as f64, b.len() as f64);
    let (mean_a, mean_b) = (numbers::mean(a)?, numbers::mean(b)?);
    let squares =
        |values: &[f64], mean: f64| values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let freedom = m + n - 2.0;
    let variance = (squares(a, mean_a) + squares(b, mean_b)) / freedom * (1.0 / m + 1.0 / n);
    let difference = (mean_b - mean_a).abs();
    if variance <= 0.0 {
        return Some(if difference > 0.0 { 0.0 } else { 1.0 });
    }
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some((2.0 * student.sf(difference / variance.sqrt())).min(1.0)).filter(|p| p.is_finite())
}
