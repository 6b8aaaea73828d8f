//! How well the throughput of one measurement is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure whose interval is wider than this, in percent either way, is not known: outputs grey
/// it, and nothing is judged by it.
pub const UNSURE_PERCENT: f64 = 50.0;

/// Whether a figure with this half width is not known. A half width that is absent says nothing.
#[must_use]
pub fn is_unsure(half_width_percent: Option<f64>) -> bool {
    half_width_percent.is_some_and(|percent| percent > UNSURE_PERCENT)
}

/// How well a mean is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steady {
    /// Mean of the series without its warm-up, in the unit of the series; 0 if the series is empty.
    pub mean: f64,
    /// Half width of the 95 % interval of the mean in percent of the mean, autocorrelation and
    /// drift included; absent with fewer than ten values or if the mean is not positive.
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
    /// Whether the run was steady, in one sentence.
    pub explanation: String,
}
