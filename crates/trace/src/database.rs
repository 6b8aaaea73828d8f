//! What a database counted while a trace was recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a database counted about itself, from before the recording to after it. It holds no name
/// of a host, a user or an object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DatabaseUse {
    /// Product and version, such as `PostgreSQL 15.3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The time between both readings of its counters.
    pub seconds: f64,
    /// Reads that it asked of the operating system; absent where it does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Bytes that these reads moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Mean time of these reads; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_ns: Option<f64>,
    /// Writes that it asked of the operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// Bytes that these writes moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Mean time of these writes; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_latency_ns: Option<f64>,
    /// Calls that wait until data is on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncs: Option<u64>,
    /// Mean time of these calls; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_latency_ns: Option<f64>,
    /// What else it counted, by name; the name of a counter ends in its unit if it has one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}
