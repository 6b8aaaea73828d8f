//! Several sides, and how many times as fast the fastest is as each of the others.

use results::{Comparison, Figure};

use super::kept::{CompareOptions, Side, compare_kept};
use crate::{History, HistoryError};

/// Compares the fastest side with each of the others, which are first in their comparisons; the
/// nearest to it comes first.
///
/// The fastest has the highest geometric mean of the IOPS over the loads that it shares with the
/// first side.
pub fn rank_kept(
    history: &History,
    sides: &[Side<'_>],
    how: CompareOptions<'_>,
) -> Result<Vec<Comparison>, HistoryError> {
    let Some((first, others)) = sides.split_first() else { return Ok(Vec::new()) };
    let mut fastest = (*first, 1.0);
    for side in others {
        let comparison = compare_kept(history, *first, *side, how)?;
        if let Some(ratio) = ratio(&comparison).filter(|ratio| *ratio > fastest.1) {
            fastest = (*side, ratio);
        }
    }
    let mut ranked = Vec::new();
    for side in sides.iter().filter(|side| side.name != fastest.0.name) {
        ranked.push(compare_kept(history, *side, fastest.0, how)?);
    }
    ranked.sort_by(|x, y| {
        let (x, y) = (ratio(x).unwrap_or(f64::MAX), ratio(y).unwrap_or(f64::MAX));
        x.total_cmp(&y)
    });
    Ok(ranked)
}

/// How many times as fast the second side is as the first, over the loads that both have.
fn ratio(comparison: &Comparison) -> Option<f64> {
    let figures = comparison.loads.iter().flat_map(|load| &load.figures);
    let logs: Vec<f64> = figures
        .filter(|figure| figure.figure == Figure::Iops)
        .map(|figure| (figure.b.mean / figure.a.mean).ln())
        .filter(|log| log.is_finite())
        .collect();
    let count = logs.len() as f64;
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / count).exp())
}
