//! The documents of what was measured on many dates, `iosonde.trend/1`, and of what the storage
//! does now beside it, `iosonde.drift/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::ChangePoint;
use crate::comparison::Figure;

/// The schema name that every trend carries.
pub const TREND_SCHEMA: &str = "iosonde.trend/1";
/// The schema name of what `iosonde history drift` says.
pub const DRIFT_SCHEMA: &str = "iosonde.drift/1";

/// A figure over many dates, load by load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// Always `iosonde.trend/1`.
    pub schema: String,
    /// Version of the program that drew it.
    pub tool_version: String,
    /// Which figure.
    pub figure: Figure,
    /// The loads; those with the most dates first.
    pub loads: Vec<TrendLoad>,
    /// How it was made, sentence by sentence.
    pub method: Vec<String>,
    /// Every reason to doubt it.
    pub warnings: Vec<String>,
}

/// One load on one target over many dates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendLoad {
    /// The load in words: `8 KiB random read, 4 threads × depth 8`.
    pub title: String,
    /// Name of the conditions.
    pub conditions_id: String,
    /// The machine; none for a simulated device.
    pub host: Option<String>,
    /// What received the I/O.
    pub target: String,
    /// Bytes that I/O could use.
    pub file_bytes: u64,
    /// One value for each result, the oldest first.
    pub points: Vec<TrendPoint>,
    /// Where the level changed; `index` counts the points.
    pub changes: Vec<ChangePoint>,
    /// The outcome in a sentence.
    pub explanation: String,
}

/// The figure of one result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendPoint {
    /// Unique name of the result.
    pub id: String,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// The figure; the geometric mean of the runs where there are several.
    pub value: f64,
    /// Runs of this load in the result.
    pub runs: usize,
    /// Version of the program that measured.
    pub tool_version: String,
    /// The device's model, where it is known.
    pub device: Option<String>,
}

/// What a device does now beside what it was measured to be able to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// Always `iosonde.drift/1`.
    pub schema: String,
    /// Version of the program.
    pub tool_version: String,
    /// The machine.
    pub host: String,
    /// The target, as it was named.
    pub target: String,
    /// The device whose counters were read.
    pub device: String,
    /// Over how many seconds.
    pub seconds: f64,
    /// What it does now, each beside the most that was measured.
    pub loads: Vec<DriftLoad>,
    /// I/Os in flight at the device, averaged.
    pub average_queue: f64,
    /// Share of the time in which the device had anything to do, percent.
    pub utilisation_percent: f64,
    /// The outcome, sentence by sentence.
    pub findings: Vec<String>,
    /// Every reason to doubt it.
    pub warnings: Vec<String>,
}

/// One kind of load now and at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriftLoad {
    /// What, for example `random reads`.
    pub name: String,
    /// I/Os or MiB for each second.
    pub figure: Figure,
    /// What the counters say now.
    pub now: f64,
    /// The most that was measured; none where nothing like it was.
    pub capacity: Option<Capacity>,
    /// Now in percent of the most.
    pub used_percent: Option<f64>,
    /// Mean latency now; none without I/O.
    pub latency_now_ns: Option<f64>,
}

/// The most that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// I/Os or MiB for each second.
    pub value: f64,
    /// The load in words.
    pub load: String,
    /// Mean latency there.
    pub latency_ns: Option<f64>,
    /// The result it comes from.
    pub id: String,
    /// When that was, UTC, RFC 3339.
    pub started: String,
}
