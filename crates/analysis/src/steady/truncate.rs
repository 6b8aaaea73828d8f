//! The warm-up at the beginning of a series, found and cut.

use crate::numbers;

use super::interval;

/// Values in a batch of MSER-5.
const BATCH: usize = 5;
/// The largest share of the batches that may be cut.
const MOST: [usize; 2] = [3, 5];
/// How far the cut part must be from the rest, in standard errors. A warm-up that looks like noise
/// is not one, and cutting it would cost data and bias the mean. More than the 2 of a single test,
/// as the place was chosen for being the most different of many.
const SIGNIFICANT: f64 = 4.0;

/// The place where the warm-up ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut {
    /// Values to leave out at the beginning.
    pub values: usize,
    /// True where the warm-up may continue: the best cut was the last one looked at.
    pub still_going: bool,
}

/// Finds the warm-up by MSER-5: of all cuts up to three fifths of the series, the one that
/// minimises the squared standard error of the mean of the rest, in batches of five (K. White, M.
/// Cobb, S. Spratt, "A comparison of five steady-state truncation heuristics for simulation",
/// 2000). Only what differs clearly from the rest is cut.
pub(super) fn warm_up(values: &[f64]) -> Cut {
    let (batches, _) = values.as_chunks::<BATCH>();
    let batches: Vec<f64> = batches.iter().filter_map(|batch| numbers::mean(batch)).collect();
    let none = Cut { values: 0, still_going: false };
    let last = batches.len() * MOST[0] / MOST[1];
    let Some(best) = best_cut(&batches, last) else { return none };
    let (cut, rest) = values.split_at(best * BATCH);
    if cut.is_empty() || !differ(cut, rest) {
        return none;
    }
    Cut { values: cut.len(), still_going: best == last }
}

/// The cut with the smallest sum of squares over the square of the number of values kept.
fn best_cut(batches: &[f64], last: usize) -> Option<usize> {
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    // From the end, so that every suffix costs one step. Shifted by the mean: squares of large
    // values cancel badly.
    let shift = numbers::mean(batches)?;
    for (index, value) in batches.iter().enumerate().rev() {
        let value = value - shift;
        sum += value;
        squares += value * value;
        count += 1.0;
        let error = (squares - sum * sum / count).max(0.0) / (count * count);
        if index <= last && best.is_none_or(|(least, _)| error <= least) {
            best = Some((error, index));
        }
    }
    best.map(|(_, index)| index)
}

fn differ(cut: &[f64], rest: &[f64]) -> bool {
    let (Some(before), Some(after)) = (numbers::mean(cut), numbers::mean(rest)) else {
        return false;
    };
    let Some(spread) = interval::effective_stddev(rest) else { return false };
    let error = spread * (1.0 / cut.len() as f64 + 1.0 / rest.len() as f64).sqrt();
    (before - after).abs() > SIGNIFICANT * error
}
