//! How still a figure held, and how well it repeats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How steady an interval series (throughput or latency, one value a second) was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// What speaks for and against a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// Runs that gave a usable figure.
    pub runs: usize,
    /// Mean of the runs; 0 if there are none.
    pub mean: f64,
    /// Coefficient of variation of the runs; absent with fewer than two.
    pub cv_percent: Option<f64>,
    /// Half width of the 95 % interval of the mean of the runs (Student), in percent of the mean;
    /// absent with fewer than two.
    pub half_width_percent: Option<f64>,
    /// Share of the device's I/O that was not the test's; absent if the device's counters were not
    /// read.
    pub foreign_percent: Option<f64>,
    /// Whether something contradicts the figure: runs that vary by more than 5 %, or foreign I/O of
    /// more than 2 %.
    pub noisy: bool,
    /// What was found, in one sentence.
    pub explanation: String,
}
