//! Where a series changes its level: the best cut into two levels.

use std::ops::Range;

use crate::numbers;
use crate::steady::interval;

/// Values that a level needs at least.
const FEWEST: usize = interval::FEWEST;
/// The shortest window in which a change is looked for.
const WINDOW: usize = 4 * FEWEST;
/// How many times their common 95 % interval two levels have to be apart. More than once, as the
/// cut is the best of many.
const APART: f64 = 2.5;
/// The share of the difference that has to appear between the thirds next to the cut.
const SUDDEN: f64 = 0.75;

/// The indices at which a new level begins, in order.
pub(super) fn changes(values: &[f64], least_step: f64) -> Vec<usize> {
    let mut found = Vec::new();
    search(values, 0..values.len(), least_step, &mut found);
    found.sort_unstable();
    settle(values, least_step, found)
}

/// Finds the clearest change in a range, then those on both sides of it.
fn search(values: &[f64], range: Range<usize>, least_step: f64, found: &mut Vec<usize>) {
    let clearest = windows(&range)
        .filter_map(|window| {
            let cut = best_cut(values, &window)?;
            let clear =
                clearness(&values[window.start..cut], &values[cut..window.end], least_step)?;
            Some((clear, cut))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((_, cut)) = clearest {
        found.push(cut);
        search(values, range.start..cut, least_step, found);
        search(values, cut..range.end, least_step, found);
    }
}

/// Windows of all lengths from the whole range, by halves, each overlapping the next by half.
fn windows(range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let (start, end) = (range.start, range.end);
    let lengths = std::iter::successors(Some(end - start), |length| Some(length / 2))
        .take_while(|length| *length >= WINDOW)
        .chain((end - start < WINDOW).then_some(end - start));
    lengths.flat_map(move |length| {
        let step = (length / 2).max(1);
        (start..=end - length).step_by(step).map(move |from| from..from + length)
    })
}

/// The cut at which two levels fit the window best by least squares.
fn best_cut(values: &[f64], window: &Range<usize>) -> Option<usize> {
    let part = &values[window.clone()];
    let (mean, count) = (numbers::mean(part)?, part.len());
    let mut sum = 0.0;
    let mut best = None;
    for (index, value) in part.iter().enumerate() {
        if index >= FEWEST && index + FEWEST <= count {
            let gain = sum * sum / (index as f64 * (count - index) as f64);
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, window.start + index));
            }
        }
        sum += value - mean;
    }
    best.map(|(_, index)| index)
}

/// How far two levels are apart, as a multiple of the least distance; `None` if they are one.
fn clearness(left: &[f64], right: &[f64], least_step: f64) -> Option<f64> {
    let (before, after) = (numbers::mean(left)?, numbers::mean(right)?);
    let (edge, start) = (left.len() - left.len() / 3, right.len() / 3);
    let sudden = numbers::mean(&right[..start])? - numbers::mean(&left[edge..])?;
    let noise = interval::least_noise(left)?.hypot(interval::least_noise(right)?);
    let step = after - before;
    let large = step.abs() >= least_step * before.abs().max(after.abs());
    let clear = step.abs() / (APART * noise).max(f64::MIN_POSITIVE);
    let stands = large && clear > 1.0 && sudden / step >= SUDDEN;
    // Last, as it costs most. A stall moves the mean of a short stretch, not its median.
    let medians = || Some((numbers::median(left)?, numbers::median(right)?));
    let moved = |(before, after): (f64, f64)| {
        (after - before).abs() >= least_step * before.abs().max(after.abs())
    };
    (stands && medians().is_some_and(moved)).then_some(clear)
}

/// Moves each cut to its best place between its neighbours, and drops those that no longer separate
/// two levels.
fn settle(values: &[f64], least_step: f64, mut cuts: Vec<usize>) -> Vec<usize> {
    let mut index = 0;
    while index < cuts.len() {
        let from = if index == 0 { 0 } else { cuts[index - 1] };
        let to = cuts.get(index + 1).copied().unwrap_or(values.len());
        let cut = best_cut(values, &(from..to)).unwrap_or(cuts[index]);
        if clearness(&values[from..cut], &values[cut..to], least_step).is_some() {
            cuts[index] = cut;
            index += 1;
        } else {
            // The one before has a new neighbour.
            cuts.remove(index);
            index = index.saturating_sub(1);
        }
    }
    cuts
}
