//! What I/O off the boundaries of the storage costs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The same load on and off the boundaries of the storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alignment {
    /// The load in words, for example `4 KiB random write`.
    pub load: String,
    /// By how many bytes every I/O of the second run was shifted.
    pub shift_bytes: u64,
    /// I/Os a second on the boundaries.
    pub aligned_iops: f64,
    /// I/Os a second off the boundaries.
    pub shifted_iops: f64,
    /// I/Os a second off the boundaries, in percent of those on them.
    pub kept_percent: f64,
    /// How far that percentage may be off, in percentage points.
    pub margin_percent: f64,
    /// Whether the shifted run is slower by more than the margin.
    pub matters: bool,
    /// What it costs, in a sentence.
    pub statement: String,
}
