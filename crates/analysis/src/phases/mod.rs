//! Levels of throughput that follow each other in one run: a cache that fills, credits that run
//! out.
//!
//! A mean over such a run describes no level that exists. So the levels are separated, each
//! with its own mean and interval, and the last one counts.

mod split;

use serde::{Deserialize, Serialize};

use crate::numbers;
use crate::steady::interval;
use crate::words::number;

/// Steps smaller than this share of the higher level are too small to report.
const LEAST_STEP: f64 = 0.1;
/// A fall counts as the end of a cache where it takes at least this share of the level before.
const LEAST_FALL: f64 = 0.2;
/// And where what follows lasts at least this long, to the end of the run,
const LASTING_S: f64 = 5.0;
/// or this share of a run that is shorter than 40 s: one of 4 s never has a level of 5 s.
const LASTING_SHARE: f64 = 0.125;
/// The longest interval of a series, in seconds.
const LONGEST_BUCKET_S: f64 = 1e9;
/// A rate this even is kept by a limit; media scatter more.
const EVEN_PERCENT: f64 = 1.0;

/// A stretch of a run over which throughput kept its level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    /// When it began, in seconds from the start of the series.
    pub from_s: f64,
    /// How long throughput stayed at this level, in seconds.
    pub seconds: f64,
    /// Mean over it, in the unit of the series.
    pub mean: f64,
    /// Half width of the 95 % interval of the mean in percent of the mean, autocorrelation
    /// included; absent if the mean is not positive or there are fewer than ten values.
    pub half_width_percent: Option<f64>,
    /// Standard deviation of the single values in percent of the mean; 0 if it is not known.
    pub cv_percent: f64,
}

/// A run that was fast at first and slower for the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteCache {
    /// The first level: the cache, or the burst that credits pay for.
    pub cached: Plateau,
    /// The level after that was used up. This is the figure that counts.
    pub sustained: Plateau,
    /// When throughput fell to the sustained level, in seconds from the start of the series.
    pub at_s: f64,
    /// What happened to throughput, in a sentence.
    pub explanation: String,
}

/// The levels of a series (completions per second, one value per `bucket_s` seconds), in their
/// order: one if nothing changed, none for an empty series.
///
/// A change is a step: the series is cut where two levels fit it best (least squares), in windows
/// of every length from the whole down to 40 values (as seeded binary segmentation does: S. Kovács
/// and others, 2020). A cut is kept if the levels differ by more than 2.5 times their 95 %
/// intervals taken together, which include autocorrelation; if their means and their medians differ
/// by a tenth of the higher; and if at least three quarters of the difference appear at the cut,
/// which they do not in a slow warm-up. Nothing is drawn at random. A level lasts ten values or
/// more. Values that are not finite are left out.
#[must_use]
pub fn plateaus(series: &[f64], bucket_s: f64) -> Vec<Plateau> {
    let kept: Vec<(usize, f64)> =
        series.iter().copied().enumerate().filter(|(_, value)| value.is_finite()).collect();
    let values: Vec<f64> = kept.iter().map(|(_, value)| *value).collect();
    let bucket_s = if (0.0..=LONGEST_BUCKET_S).contains(&bucket_s) { bucket_s } else { 0.0 };
    let mut bounds = vec![0];
    bounds.extend(split::changes(&values, LEAST_STEP));
    bounds.push(values.len());
    let plateau = |pair: &[usize]| {
        let part = &values[pair[0]..pair[1]];
        let mean = numbers::mean(part)?;
        let percent = |width: f64| Some(100.0 * width / mean).filter(|p| p.is_finite());
        Some(Plateau {
            from_s: kept[pair[0]].0 as f64 * bucket_s,
            seconds: part.len() as f64 * bucket_s,
            mean,
            half_width_percent: interval::noise(part).filter(|_| mean > 0.0).and_then(percent),
            cv_percent: numbers::cv_percent(part).unwrap_or(0.0),
        })
    };
    bounds.windows(2).filter_map(plateau).collect()
}

/// Separates the cached phase of a run from its sustained one, if throughput fell from one level to
/// a lower one that lasted.
///
/// *Fell*: by at least a fifth, and not to nothing, which is a stall. *Lasted*: to the end of the
/// run, at least five seconds, or an eighth of a run shorter than 40 s. If several levels are above
/// the last, the first of them is the cached one. If an equally low level was between high ones,
/// throughput comes and goes, and no cache has ended: `None`.
#[must_use]
pub fn write_cache(series: &[f64], bucket_s: f64) -> Option<WriteCache> {
    if !(bucket_s > 0.0 && bucket_s <= LONGEST_BUCKET_S) {
        return None;
    }
    let plateaus = plateaus(series, bucket_s);
    let (sustained, before) = plateaus.split_last()?;
    let higher = |plateau: &Plateau| sustained.mean <= (1.0 - LEAST_FALL) * plateau.mean;
    let first = before.iter().rposition(|plateau| !higher(plateau)).map_or(0, |index| index + 1);
    let run_s = sustained.from_s + sustained.seconds;
    // Half an interval allows for rounding.
    let lasting_s = LASTING_S.min(LASTING_SHARE * run_s) - 0.5 * bucket_s;
    // At most a slow start may come before the high levels.
    if first > 1 || sustained.seconds < lasting_s || is_stall(series, sustained, bucket_s) {
        return None;
    }
    let cached = before.get(first)?.clone();
    let explanation = explain(&cached, sustained);
    let at_s = sustained.from_s;
    Some(WriteCache { cached, sustained: sustained.clone(), at_s, explanation })
}

/// Whether nothing completed in a stretch but at its edges.
fn is_stall(series: &[f64], plateau: &Plateau, bucket_s: f64) -> bool {
    let first_s = plateau.from_s + 0.5 * bucket_s;
    let last = series.len().saturating_sub(1);
    let mut inner =
        series.iter().enumerate().take(last).filter(|(i, _)| *i as f64 * bucket_s > first_s);
    inner.all(|(_, value)| *value == 0.0)
}

fn explain(cached: &Plateau, sustained: &Plateau) -> String {
    let figure = |plateau: &Plateau| {
        let width = plateau.half_width_percent.map(|width| format!(" ± {} %", number(width)));
        format!("{} IOPS{}", number(plateau.mean), width.unwrap_or_default())
    };
    let why = if sustained.cv_percent <= EVEN_PERCENT {
        "a cache or a burst of credits was used up; a rate as even as this one is kept by a limit"
    } else {
        "a cache or a burst of credits was used up"
    };
    format!(
        "sustained: {} from {} s on, after {} for {} s; {why}",
        figure(sustained),
        number(sustained.from_s),
        figure(cached),
        number(cached.seconds)
    )
}
