//! What was expected of the storage, and whether it does that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a claim is met by what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A single setting gives all of it.
    Met,
    /// None of the settings gives all of it.
    NotMet,
    /// Nothing that the claim is about was measured, or too few I/Os to say.
    NotMeasured,
}

/// A claim, and whether it is met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedClaim {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// What was expected, as it was written.
    pub expect: Vec<String>,
    /// Whether the measurements meet the claim.
    pub outcome: Outcome,
    /// How many settings were compared with it.
    pub settings: usize,
    /// What the best of them reaches of the expectation it misses most, in percent; at 100 and more
    /// the claim is met.
    pub attained_percent: Option<f64>,
    /// Whether the claim is met, in one sentence.
    pub sentence: String,
}
