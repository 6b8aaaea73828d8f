//! When a figure is settled: how well the mean of a growing series is known, and when that is
//! enough.
//!
//! The steps are those of simulation output analysis: the warm-up is cut (`truncate`), the mean of
//! the rest gets an interval that knows about autocorrelation (`interval`) and about drift, and a
//! run may end when that interval is narrow enough at two looks in a row ([`Watch`]).

pub(crate) mod interval;
mod truncate;
mod watch;

use serde::{Deserialize, Serialize};

use crate::numbers;
use crate::words::number;

pub use self::watch::Watch;

/// The rule by which a measurement ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Largest half width of the 95 % interval of the mean, in percent of the mean.
    pub precision_percent: f64,
    /// Nothing ends before this many seconds.
    pub at_least_s: f64,
    /// A measurement ends after this many seconds, settled or not.
    pub at_most_s: f64,
}

impl Default for Rule {
    fn default() -> Self {
        Self { precision_percent: 2.0, at_least_s: 15.0, at_most_s: 60.0 }
    }
}

/// How well a mean is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Mean of the series without its warm-up, in the unit of the series; 0 if the series is empty.
    pub mean: f64,
    /// Half width of the 95 % interval of the mean in percent of the mean, autocorrelation and
    /// drift included; absent for fewer than ten values and where the mean is not positive.
    pub half_width_percent: Option<f64>,
    /// Whether the interval is as narrow as asked, and neither a warm-up nor a drift is left.
    pub settled: bool,
    /// Seconds at the beginning that were cut as warm-up.
    pub cut_s: f64,
    /// Mean of the second half less mean of the first, in percent of the mean.
    pub drift_percent: f64,
    /// Seconds that the mean is taken over.
    pub seconds: f64,
    /// The half width that was asked for, in percent.
    pub precision_percent: f64,
    /// How well the mean is known, in a sentence.
    pub explanation: String,
}

/// The share of the drift from the first to the second half by which the mean may be off: of a
/// straight line.
const DRIFT: f64 = 0.5;
/// The same where the drift continues a warm-up that was cut. Of an exponential tail, the mean of T
/// is off by 0.7 of the drift where T is four time constants, by 1.1 where it is two, by 2 where it
/// is one.
const TAIL_DRIFT: f64 = 1.5;
/// The share of the interval of that drift that is added to it, or a run would end where noise
/// hides the tail.
const TAIL_NOISE: f64 = 0.2;
/// Thirty years: a longer value is not a length of time.
const LONGEST_BUCKET_S: f64 = 1e9;

/// Judges a whole series of throughputs (completions per second, one value for each `bucket_s`
/// seconds).
///
/// Values that are not finite are taken for missing intervals and left out. With a `bucket_s` that
/// is not a length of time, or of a series in which nothing completed, nothing is ever settled.
#[must_use]
pub fn judge(series: &[f64], bucket_s: f64, precision_percent: f64) -> Steady {
    let values = finite(series);
    conclude(&values, truncate::warm_up(&values), bucket_s, precision_percent)
}

/// The same for a series whose mean is taken over all of it: nothing is cut, and a remaining
/// warm-up counts as drift.
#[must_use]
pub fn judge_whole(series: &[f64], bucket_s: f64, precision_percent: f64) -> Steady {
    let whole = truncate::Cut { values: 0, still_going: false };
    conclude(&finite(series), whole, bucket_s, precision_percent)
}

fn finite(series: &[f64]) -> Vec<f64> {
    series.iter().copied().filter(|value| value.is_finite()).collect()
}

fn conclude(values: &[f64], cut: truncate::Cut, bucket_s: f64, precision_percent: f64) -> Steady {
    let bucket_s = if (0.0..=LONGEST_BUCKET_S).contains(&bucket_s) { bucket_s } else { 0.0 };
    let precision_percent = if precision_percent.is_finite() { precision_percent } else { 0.0 };
    let kept = &values[cut.values..];
    let mean = numbers::mean(kept).unwrap_or(0.0);
    let percent = |value: f64| {
        let percent = 100.0 * value / mean;
        (mean > 0.0 && percent.is_finite()).then_some(percent)
    };
    let estimate = interval::estimate(kept);
    let before = numbers::mean(&values[..cut.values]);
    let half_width_percent = estimate.and_then(|estimate| {
        let goes_on = before.is_some_and(|before| (mean - before) * estimate.drift > 0.0);
        let drift = if goes_on {
            TAIL_DRIFT * (estimate.drift.abs() + TAIL_NOISE * estimate.drift_noise)
        } else {
            DRIFT * estimate.drift
        };
        percent(estimate.noise.hypot(drift))
    });
    let drift_percent = estimate.and_then(|estimate| percent(estimate.drift)).unwrap_or(0.0);
    let mut steady = Steady {
        mean,
        half_width_percent,
        settled: false,
        cut_s: cut.values as f64 * bucket_s,
        drift_percent,
        seconds: kept.len() as f64 * bucket_s,
        precision_percent,
        explanation: String::new(),
    };
    let drifts = estimate.is_some_and(|estimate| {
        drift_percent.abs() > precision_percent / 2.0 && estimate.drift.abs() > estimate.drift_noise
    });
    steady.settled = bucket_s > 0.0
        && !cut.still_going
        && !drifts
        && half_width_percent.is_some_and(|width| width <= precision_percent);
    steady.explanation = explain(&steady, values.len(), cut.still_going, drifts);
    steady
}

/// The sentence that goes with a conclusion.
fn explain(steady: &Steady, values: usize, warming_up: bool, drifts: bool) -> String {
    let (seconds, asked) = (number(steady.seconds), number(steady.precision_percent));
    let after = if steady.cut_s > 0.0 {
        format!(", after {} s of warm-up", number(steady.cut_s))
    } else {
        String::new()
    };
    let Some(width) = steady.half_width_percent else {
        return if values < interval::FEWEST {
            format!("not settled: {values} intervals are too few to tell; measure longer")
        } else {
            format!("not settled: nothing completed in {seconds} s")
        };
    };
    let figure = format!("{} IOPS ± {} %", number(steady.mean), number(width));
    if steady.settled {
        return format!(
            "settled: {figure} (95 %) over {seconds} s{after}; {asked} % was asked for"
        );
    }
    let why = if warming_up {
        "still warming up when the measurement ended".to_owned()
    } else if drifts {
        let direction = if steady.drift_percent > 0.0 { "rose" } else { "fell" };
        let drift = number(steady.drift_percent.abs());
        format!("it {direction} by {drift} % from the first half to the second")
    } else {
        format!("{asked} % was asked for")
    };
    format!("not settled: {figure} (95 %) over {seconds} s{after}; {why}")
}
