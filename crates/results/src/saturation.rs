//! What `iosonde knee` concludes, `iosonde.knee/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::{Likely, Link};
use crate::experiment::Conclusion;
use crate::knee::Knee;
use crate::measurement::Measurement;

/// Where one load saturates, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saturation {
    /// The load in words, for example `8 KiB random read`.
    pub title: String,
    /// The saturation point in I/Os in flight and I/Os a second; absent if fewer than two loads
    /// could be measured. Places in it are those among the points of `curve`.
    pub knee: Option<Knee>,
    /// The loads of the search, in rising order.
    pub curve: Vec<CurveLoad>,
    /// Loads off the curve: other splits over threads, larger blocks, the search for a latency.
    pub controls: Vec<CurveLoad>,
    /// Why throughput stops growing, the likeliest cause first.
    pub causes: Vec<Likely>,
    /// Whether all I/Os in flight count, or those of each thread; absent if that was not measured.
    pub split: Option<Split>,
    /// The path to the storage, as the user named it.
    pub link: Option<Link>,
    /// The most that fits within a latency, if that was asked for.
    pub latency_target: Option<WithinLatency>,
}

impl Conclusion for Saturation {
    const SCHEMA: &'static str = "iosonde.knee/1";

    fn title(&self, _: &[Measurement]) -> String {
        self.title.clone()
    }
}

/// One load, in short. Its measurement has everything else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveLoad {
    /// Place of its measurement in the document.
    pub measurement: usize,
    /// What this load was measured for.
    pub purpose: Purpose,
    /// How many threads all streams have together.
    pub threads: u64,
    /// I/Os that each thread keeps in flight.
    pub depth: u32,
    /// I/Os in flight, as the plan asks for.
    pub in_flight: u64,
    /// I/Os in flight, averaged over the measured window.
    pub achieved_in_flight: f64,
    /// Mean size of an I/O, in bytes.
    pub block_bytes: f64,
    /// I/Os per second in the measured window.
    pub iops: f64,
    /// MiB per second in the measured window.
    pub mib_per_s: f64,
    /// How well the throughput is known, percent either way; absent if the series is too short to
    /// say.
    pub half_width_percent: Option<f64>,
    /// Mean latency; absent if nothing completed.
    pub mean_ns: Option<f64>,
    /// 99th percentile; absent below 1 000 I/Os.
    pub p99_ns: Option<u64>,
    /// IOPS x mean service time against what was in flight (Little's law), percent.
    pub littles_law_percent: Option<f64>,
    /// I/Os in flight at the device, as the kernel counted them.
    pub device_in_flight: Option<f64>,
}

/// What `knee` measures a load for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// As a point of the curve, to find the saturation point.
    Curve,
    /// The same number in flight over more threads.
    Split,
    /// Larger blocks, to see whether bandwidth is the bottleneck.
    LargerBlock,
    /// To find the most that fits within a latency.
    LatencyTarget,
}

/// Which number decides where it saturates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Split {
    /// Whether it is the number in all, or that of each thread.
    pub decides: Decides,
    /// Throughput with more threads by that with fewer, at the same number in flight beyond
    /// saturation.
    pub more_threads_ratio: f64,
    /// The answer in a sentence, with its figures.
    pub explanation: String,
}

/// Which number of I/Os decides where a load saturates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decides {
    /// All I/Os in flight, however they are spread over threads.
    TotalInFlight,
    /// The I/Os of each thread: more threads get more.
    DepthOfEachThread,
}

/// The most I/Os a second within a latency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WithinLatency {
    /// The latency, as it was asked for: `5ms@p99`.
    pub target: String,
    /// The same latency in nanoseconds.
    pub latency_ns: u64,
    /// `mean`, `p50`, `p90`, `p95`, `p99` or `p99.9`.
    pub statistic: String,
    /// Place among the measurements of the load that gave the most; absent if no load was within
    /// it.
    pub measurement: Option<usize>,
    /// I/Os in flight at that load; absent if no load was within it.
    pub in_flight: Option<u64>,
    /// I/Os per second of that load.
    pub iops: Option<f64>,
    /// The latency of that load, in nanoseconds.
    pub reached_ns: Option<f64>,
    /// I/Os a second that were expected.
    pub expected_iops: Option<f64>,
    /// Whether the expectation is met; absent without an expectation, or if too few I/Os were
    /// measured to judge it.
    pub met: Option<bool>,
    /// What fits within the latency, in a sentence.
    pub explanation: String,
}
