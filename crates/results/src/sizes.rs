//! What an experiment over file sizes concludes, `iosonde.sizes/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edge::Edge;
use crate::experiment::Conclusion;

/// The same load on parts of one file that differ in size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sizes {
    /// The result for every size, in rising order.
    pub curve: Vec<SizeResult>,
    /// Why there are no larger sizes.
    pub largest_reason: String,
    /// What the sizes say about a cache; absent for a load that says nothing about it.
    pub edge: Option<Edge>,
}

impl Conclusion for Sizes {
    const SCHEMA: &'static str = "iosonde.sizes/1";
}

/// What the load gave on one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeResult {
    /// The bytes that I/O was spread over.
    pub file_bytes: u64,
    /// I/Os per second in the measured window.
    pub iops: f64,
    /// MiB per second in the measured window.
    pub mib_per_s: f64,
    /// Half width of the 95 % interval of the throughput in percent, if known.
    pub half_width_percent: Option<f64>,
    /// Mean latency in nanoseconds; absent if nothing completed.
    pub mean_latency_ns: Option<f64>,
    /// Median latency in nanoseconds; absent if too few I/Os completed.
    pub p50_latency_ns: Option<u64>,
    /// 99th percentile of latency in nanoseconds; absent if too few I/Os completed.
    pub p99_latency_ns: Option<u64>,
    /// What was read in order before, so that caches could fill; absent on a simulated device.
    pub warmed: Option<Warmed>,
}

/// A pass over a size before it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warmed {
    /// How many bytes the pass read.
    pub bytes: u64,
    /// How many seconds the pass took.
    pub seconds: f64,
    /// Whether it read all of the size; false if the time for a pass was used up.
    pub whole: bool,
}
