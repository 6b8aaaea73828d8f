//! What was expected of the storage, and whether it does that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a claim came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// One setting gives all of it.
    Met,
    /// None does.
    NotMet,
    /// Nothing was measured that it speaks of, or too few I/Os to say.
    NotMeasured,
}

/// A claim and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedClaim {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// What was expected, as it was written.
    pub expect: Vec<String>,
    /// How it came out.
    pub outcome: Outcome,
    /// How many settings it was held against.
    pub settings: usize,
    /// What the best of them reaches of the expectation it misses most, in percent; 100 and more is
    /// met.
    pub attained_percent: Option<f64>,
    /// The outcome in one sentence.
    pub sentence: String,
}
