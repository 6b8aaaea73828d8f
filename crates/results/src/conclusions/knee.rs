//! Where throughput stops growing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The saturation point of a load curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// The least measured load that gives at least 95 % of the highest throughput.
    pub operating_point: CurvePoint,
    /// The point with the highest measured throughput.
    pub peak: CurvePoint,
    /// Whether throughput stopped growing at the end of the curve.
    pub reached: Reached,
    /// N95: the least load with 95 % of the highest throughput of the loads measured, interpolated
    /// between them. If the curve still rises at the deepest of them, a deeper ramp would put it
    /// deeper.
    pub operating_load: f64,
    /// Where N95 lies with 95 % confidence. Absent if neither the points nor a fit say how certain
    /// they are.
    pub operating_load_interval: Option<Interval>,
    /// N* = saturated throughput x unloaded latency (Little 1961), in I/Os in flight: the load at
    /// which the two asymptotes of the fitted curve meet, and the number of I/Os the storage works
    /// on at once. Never below the shallowest load measured. Absent if the ceiling was not seen or
    /// the curve does not fit the points.
    pub little_knee: Option<f64>,
    /// Where N* lies with 95 % confidence.
    pub little_knee_interval: Option<Interval>,
    /// Latency of an I/O that waits for no other: from the fit if there is a Little knee, otherwise
    /// measured at the shallowest load.
    pub unloaded_latency_ns: f64,
    /// Throughput at unlimited load, in the unit of the points given: from the fit if there is a
    /// Little knee, otherwise the highest measured, which the true one may exceed. For a retrograde
    /// curve, the height of its peak.
    pub saturated_throughput: f64,
    /// Where it lies with 95 % confidence; absent if it is only the highest measured.
    pub saturated_throughput_interval: Option<Interval>,
    /// For a retrograde curve, the universal scalability law fitted to it.
    pub usl: Option<Usl>,
    /// Typical distance of the measured points from the fitted curve; absent if no curve was
    /// fitted.
    pub fit_error_percent: Option<f64>,
    /// The rule that was applied, with its numbers.
    pub rule: String,
    /// What the curve shows, in words.
    pub explanation: String,
}

/// Whether throughput stopped growing at the end of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// Throughput stopped growing before the deepest point.
    Saturated,
    /// Throughput was still rising at the deepest point: the capacity is at least what was measured
    /// there.
    NotReached,
    /// Throughput declines past its peak by more than the points scatter.
    Retrograde,
    /// The points scatter too much, or end too early, to tell whether throughput still rises.
    Unclear,
}

impl Reached {
    /// Whether the curve shows where throughput stops growing.
    #[must_use]
    pub fn shows_a_limit(self) -> bool {
        match self {
            Self::Saturated | Self::Retrograde => true,
            Self::NotReached | Self::Unclear => false,
        }
    }
}

/// A measured point picked from the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Its place among the points given.
    pub index: usize,
    /// I/Os in flight, over all threads and targets.
    pub in_flight: f64,
    /// Measured throughput, in the unit of the points given.
    pub throughput: f64,
    /// Mean latency that was measured there.
    pub latency_ns: f64,
}

/// Where a figure lies with 95 % confidence.
///
/// From 200 curves, drawn by scattering the points around the fitted curve (around the points
/// themselves where it does not fit) and fitted again: the middle 95 % of what they give, and at
/// least 5 % of the figure either way. The standard deviation of each point is its own half width
/// by 1.96 or the distance of all points from the fit, whichever is larger: a point cannot know how
/// much the storage differs from one measurement to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// A universal scalability law (Gunther) fitted to a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usl {
    /// Throughput of one in flight, `l`, in the unit of the points.
    pub one_throughput: f64,
    /// Contention, `s`: the share of work that one I/O at a time has to itself.
    pub contention: f64,
    /// Coherence, `k`: what I/Os cost each other in pairs.
    pub coherence: f64,
    /// Load at the peak of the fitted law, `sqrt((1 - s) / k)`; absent if it has no peak.
    pub peak_in_flight: Option<f64>,
    /// Typical distance of the points from the law.
    pub error_percent: f64,
}
