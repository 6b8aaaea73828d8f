//! A load whose throughput changed from one measurement to the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two levels of the same load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelChange {
    /// The load in words, for example `8 KiB random read`.
    pub load: String,
    /// I/Os in flight at both measurements.
    pub in_flight: u64,
    /// I/Os a second at the earlier measurement.
    pub before_iops: f64,
    /// I/Os a second at the last measurement.
    pub last_iops: f64,
    /// What was seen, in one or two sentences.
    pub statement: String,
}
