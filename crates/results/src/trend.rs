//! The documents of what was measured on many dates, `iosonde.trend/1`, and of what the storage
//! does now compared with that, `iosonde.drift/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::ChangePoint;
use crate::comparison::Figure;

/// The schema name that every trend carries.
pub const TREND_SCHEMA: &str = "iosonde.trend/1";
/// The schema name of the document that `iosonde history drift` prints.
pub const DRIFT_SCHEMA: &str = "iosonde.drift/1";

/// A figure over many dates, load by load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// Which document this is: always `iosonde.trend/1`.
    pub schema: String,
    /// Version of the program that drew it.
    pub tool_version: String,
    /// The figure that is followed over the dates.
    pub figure: Figure,
    /// The loads; those with the most dates first.
    pub loads: Vec<TrendLoad>,
    /// How it was made, sentence by sentence.
    pub method: Vec<String>,
    /// Every reason to doubt the trend.
    pub warnings: Vec<String>,
}

/// One load on one target over many dates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendLoad {
    /// The load in words: `8 KiB random read, 4 threads × depth 8`.
    pub title: String,
    /// Name of the conditions that all its points share.
    pub conditions_id: String,
    /// The machine; absent for a simulated device.
    pub host: Option<String>,
    /// The file or device that received the I/O.
    pub target: String,
    /// Bytes of the target that I/O could use.
    pub file_bytes: u64,
    /// One value per result, the oldest first.
    pub points: Vec<TrendPoint>,
    /// Where the level changed; `index` counts the points.
    pub changes: Vec<ChangePoint>,
    /// Whether the level changed, in a sentence.
    pub explanation: String,
}

/// The figure of one result, with its date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendPoint {
    /// Unique name of the result in the history.
    pub id: String,
    /// When it started: UTC, RFC 3339.
    pub started: String,
    /// The figure; the geometric mean of the runs where there are several.
    pub value: f64,
    /// Runs of this load in the result.
    pub runs: usize,
    /// Version of the program that measured.
    pub tool_version: String,
    /// The device's model, if it is known.
    pub device: Option<String>,
}

/// What a device does now, next to what it was measured to be able to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// Which document this is: always `iosonde.drift/1`.
    pub schema: String,
    /// Version of the program that compared.
    pub tool_version: String,
    /// The name of the machine that the device is on.
    pub host: String,
    /// The target, as it was named.
    pub target: String,
    /// The device whose counters were read.
    pub device: String,
    /// How many seconds the counters were watched.
    pub seconds: f64,
    /// What it does now, each load next to the most that was measured.
    pub loads: Vec<DriftLoad>,
    /// I/Os in flight at the device, averaged.
    pub average_queue: f64,
    /// Share of the time in which the device had anything to do, percent.
    pub utilisation_percent: f64,
    /// What follows from the loads, sentence by sentence.
    pub findings: Vec<String>,
    /// Every reason to doubt the findings.
    pub warnings: Vec<String>,
}

/// One kind of load: how much there is now, and how much there could be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriftLoad {
    /// The kind of load, for example `reads`.
    pub name: String,
    /// What is compared: I/Os or MiB per second.
    pub figure: Figure,
    /// How much the counters show now.
    pub now: f64,
    /// The most that was measured; absent if nothing like it was measured.
    pub capacity: Option<Capacity>,
    /// Now in percent of the most.
    pub used_percent: Option<f64>,
    /// Mean latency now; absent without I/O.
    pub latency_now_ns: Option<f64>,
}

/// The most that was measured of a kind of load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// How much it was, in the unit of the figure.
    pub value: f64,
    /// The load that gave it, in words.
    pub load: String,
    /// Mean latency of that load, in nanoseconds.
    pub latency_ns: Option<f64>,
    /// Unique name of the result that it comes from.
    pub id: String,
    /// When that result started: UTC, RFC 3339.
    pub started: String,
}
