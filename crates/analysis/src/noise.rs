//! Whether a figure held still over the window in which it was measured, whether it repeats, and
//! whether the storage was the test's alone: what decides whether to trust it.

use serde::{Deserialize, Serialize};

use crate::numbers;
use crate::steady::interval;
use crate::words::number;

/// Parts into which the window is cut, as the five rounds of the SNIA rule.
const ROUNDS: usize = 5;
/// Largest spread of the rounds, in percent of the mean.
const RANGE_LIMIT_PERCENT: f64 = 20.0;
/// Largest change of the fitted line over the window, in percent of the mean.
const SLOPE_LIMIT_PERCENT: f64 = 10.0;

/// How steady an interval series (throughput or latency, one value a second) was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// Intervals that held a usable value.
    pub intervals: usize,
    /// Mean of the intervals, in the unit of the series; 0 if there are none.
    pub mean: f64,
    /// Standard deviation of the single intervals in percent of the mean.
    pub cv_percent: f64,
    /// Rise (or fall, negative) over the whole window of the straight line fitted by least squares,
    /// in percent of the mean.
    pub slope_percent: f64,
    /// Highest less lowest round mean in percent of the mean; the rounds are five consecutive equal
    /// parts of the window.
    pub range_percent: f64,
    /// Whether the range is at most 20 % and the slope at most 10 % either way. Never true with
    /// fewer than five intervals, or if the series is zero throughout.
    pub settled: bool,
}

/// Judges an interval series by the steady-state rule of the SNIA Solid State Storage Performance
/// Test Specification (2.0.2, 2020): over five rounds the tracked value spreads by at most 20 % of
/// its mean and its fitted line moves by at most 10 % of the mean.
///
/// The specification's rounds last a minute. Here they are five equal parts of the window, because
/// single seconds of a slow disk scatter by more than 20 % through counting alone while its rate
/// stands still; how much they scatter is `cv_percent`. A window of 30 s that passes has not
/// drifted in 30 s; nothing follows for the hour. Values that are not finite are taken for missing
/// intervals.
#[must_use]
pub fn stability(series: &[f64]) -> Stability {
    let kept: Vec<(f64, f64)> = series
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_finite())
        .map(|(index, value)| (index as f64, *value))
        .collect();
    let values: Vec<f64> = kept.iter().map(|(_, value)| *value).collect();
    let mean = numbers::mean(&values).unwrap_or(0.0);
    let percent = |value: f64| {
        let percent = 100.0 * value / mean.abs();
        percent.is_finite().then_some(percent)
    };
    let range_percent = round_range(&values).and_then(percent);
    let slope_percent = line_change(&kept).and_then(percent);
    Stability {
        intervals: values.len(),
        mean,
        cv_percent: numbers::cv_percent(&values).unwrap_or(0.0),
        slope_percent: slope_percent.unwrap_or(0.0),
        range_percent: range_percent.unwrap_or(0.0),
        settled: values.len() >= ROUNDS
            && range_percent.is_some_and(|range| range <= RANGE_LIMIT_PERCENT)
            && slope_percent.is_some_and(|slope| slope.abs() <= SLOPE_LIMIT_PERCENT),
    }
}

/// The same rule on true rounds, one value for each (the specification's last a minute): the last
/// five decide, and fewer are never settled.
#[must_use]
pub fn rounds(rounds: &[f64]) -> Stability {
    stability(&rounds[rounds.len().saturating_sub(ROUNDS)..])
}

/// The I/O of a test or of a device over the same time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    /// Reads and writes, flushes left out.
    pub ios: f64,
    /// Bytes that these reads and writes moved.
    pub bytes: f64,
}

/// The share of a device's I/O that was not the test's own, in percent: of its I/Os or of its
/// bytes, whichever is more. 0 where the device did no more than the test.
///
/// More I/Os for the same bytes are pieces of the test's own, and more bytes in no more I/Os its
/// own made larger: only what has both, at a sector or more for each additional I/O, comes from
/// elsewhere. That may be another program, or the file system itself (journal, copy-on-write).
///
/// `None` where a number is negative or not finite, or the device did nothing.
#[must_use]
pub fn foreign_percent(device: Traffic, own: Traffic) -> Option<f64> {
    const SECTOR_BYTES: f64 = 512.0;
    let all = [device.ios, device.bytes, own.ios, own.bytes];
    if !all.iter().all(|value| value.is_finite() && *value >= 0.0) {
        return None;
    }
    if device.ios <= 0.0 || device.bytes <= 0.0 {
        return None;
    }
    let more = Traffic { ios: device.ios - own.ios, bytes: device.bytes - own.bytes };
    if more.ios <= 0.0 || more.bytes < SECTOR_BYTES * more.ios {
        return Some(0.0);
    }
    Some(100.0 * (more.ios / device.ios).max(more.bytes / device.bytes))
}

/// Largest coefficient of variation of repeated runs that passes for the same figure.
const CV_LIMIT_PERCENT: f64 = 5.0;
/// Largest share of foreign I/O, the tolerance in which tool and kernel agree.
const FOREIGN_LIMIT_PERCENT: f64 = 2.0;

/// How far a figure can be trusted, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// Runs that gave a usable figure.
    pub runs: usize,
    /// Mean of the runs; 0 if there are none.
    pub mean: f64,
    /// Coefficient of variation of the runs; absent for fewer than two.
    pub cv_percent: Option<f64>,
    /// Half width of the 95 % interval of the mean of the runs (Student), in percent of the mean;
    /// absent for fewer than two.
    pub half_width_percent: Option<f64>,
    /// Share of the device's I/O that was not the test's; absent if the device's counters were not
    /// read.
    pub foreign_percent: Option<f64>,
    /// Whether something contradicts the figure: runs that vary by more than 5 %, or foreign I/O of
    /// more than 2 %.
    pub noisy: bool,
    /// What supports or weakens the figure, in a sentence.
    pub explanation: String,
}

/// Judges a figure by its repetitions, each a separate run, and by the I/O of others meanwhile.
///
/// What varies most in benchmarks varies from run to run and is not seen within one (T. Kalibera,
/// R. Jones, "Rigorous Benchmarking in Reasonable Time", 2013). A noisy figure is to be marked, not
/// hidden.
#[must_use]
pub fn trust(runs: &[f64], foreign_percent: Option<f64>) -> Trust {
    let runs: Vec<f64> = runs.iter().copied().filter(|run| run.is_finite()).collect();
    let foreign_percent = foreign_percent.filter(|percent| percent.is_finite());
    let cv_percent = numbers::cv_percent(&runs);
    let half_width_percent = cv_percent.and_then(|cv| {
        let count = runs.len() as f64;
        Some(interval::t_975(count - 1.0)? * cv / count.sqrt()).filter(|width| width.is_finite())
    });
    let varies = cv_percent.is_some_and(|cv| cv > CV_LIMIT_PERCENT);
    let shared = foreign_percent.is_some_and(|percent| percent > FOREIGN_LIMIT_PERCENT);
    let noisy = varies || shared;
    let repeated = match (runs.len(), cv_percent) {
        (0, _) => "nothing was measured".to_owned(),
        (1, _) => "one run, so how well it repeats is not known".to_owned(),
        (count, Some(cv)) => format!("{count} runs vary by {} %", number(cv)),
        (count, None) => format!("{count} runs have no mean to vary about"),
    };
    let foreign = foreign_percent.map_or(String::new(), |percent| {
        format!("; {} % of the device's I/O was not this test's", number(percent))
    });
    let word = if noisy { "noisy: " } else { "" };
    Trust {
        runs: runs.len(),
        mean: numbers::mean(&runs).unwrap_or(0.0),
        cv_percent,
        half_width_percent,
        foreign_percent,
        noisy,
        explanation: format!("{word}{repeated}{foreign}"),
    }
}

/// How far a single run may be from the others, in percent either way, with 95 % confidence.
///
/// Each group holds runs of one load. Their variation about the means of their groups is pooled,
/// and Student's factor allows for the few runs there are. `None` if no load was measured twice.
#[must_use]
pub fn run_to_run(groups: &[Vec<f64>]) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for group in groups.iter().filter(|group| group.len() > 1) {
        let mean = numbers::mean(group).filter(|mean| *mean > 0.0)?;
        squares += group.iter().map(|run| (run / mean - 1.0).powi(2)).sum::<f64>();
        freedom += group.len() as f64 - 1.0;
    }
    if freedom <= 0.0 {
        return None;
    }
    let percent = 100.0 * (squares / freedom).sqrt() * interval::t_975(freedom)?;
    percent.is_finite().then_some(percent)
}

/// Highest less lowest mean of the rounds; of fewer values than rounds, of the values themselves.
fn round_range(values: &[f64]) -> Option<f64> {
    let rounds = ROUNDS.min(values.len());
    let mut lowest = f64::INFINITY;
    let mut highest = f64::NEG_INFINITY;
    for round in 0..rounds {
        let part = &values[round * values.len() / rounds..(round + 1) * values.len() / rounds];
        let level = numbers::mean(part)?;
        lowest = lowest.min(level);
        highest = highest.max(level);
    }
    (rounds > 0).then_some(highest - lowest)
}

/// Change of the least-squares line from the first to the last interval.
fn line_change(points: &[(f64, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?.0, points.last()?.0);
    let count = points.len() as f64;
    let x_mean = points.iter().map(|point| point.0).sum::<f64>() / count;
    let y_mean = points.iter().map(|point| point.1).sum::<f64>() / count;
    let products: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let squares: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    (squares > 0.0).then(|| products / squares * (last - first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_still_series_is_settled() {
        let stability = stability(&[500.0; 30]);
        assert!(stability.settled);
        assert!((stability.mean - 500.0).abs() < 1e-9);
        assert!(stability.range_percent < 1e-9);
        assert!(stability.cv_percent < 1e-9);
    }

    #[test]
    fn a_ramp_is_not_settled_and_its_slope_is_exact() {
        let series: Vec<f64> = (0..21).map(|second| 90.0 + f64::from(second)).collect();
        let stability = stability(&series);
        assert!((stability.slope_percent - 20.0).abs() < 1e-9);
        assert!(!stability.settled);
    }

    #[test]
    fn scatter_without_drift_is_settled_but_shows_in_cv() {
        let series: Vec<f64> =
            (0..40).map(|second| if second % 2 == 0 { 70.0 } else { 130.0 }).collect();
        let stability = stability(&series);
        assert!(stability.settled, "{stability:?}");
        assert!(stability.cv_percent > 29.0);
    }

    #[test]
    fn a_cliff_is_not_settled() {
        let series: Vec<f64> =
            (0..30).map(|second| if second < 20 { 1000.0 } else { 300.0 }).collect();
        assert!(!stability(&series).settled);
    }

    #[test]
    fn too_short_or_dead_is_never_settled() {
        assert!(!stability(&[]).settled);
        assert!(!stability(&[1.0; 4]).settled);
        assert!(!stability(&[0.0; 30]).settled);
        assert!(!stability(&[f64::NAN; 30]).settled);
        assert!(!stability(&[f64::MAX; 30]).settled);
    }
}
