//! The levels of throughput before and after a write cache was full.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run that was fast at first and slower for the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WriteCache {
    /// The first level: the cache, or the burst that credits pay for.
    pub cached: Plateau,
    /// The level after that was used up. This is the figure that counts.
    pub sustained: Plateau,
    /// When throughput fell to the sustained level, in seconds from the start of the series.
    pub at_s: f64,
    /// What happened to throughput, in one sentence.
    pub explanation: String,
}

/// A stretch of a run over which throughput kept its level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
