//! Whether several targets together give the sum of each alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Several targets at once, judged against each alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Which targets, by their place among those measured alone.
    pub targets: Vec<usize>,
    /// Sum of what they give alone.
    pub expected_per_s: f64,
    /// What they give together, in the same unit.
    pub measured_per_s: f64,
    /// The measured throughput in percent of the expected one.
    pub efficiency_percent: f64,
    /// How far that may be off by what the measurements scatter, in percentage points.
    pub margin_percent: f64,
    /// False where the efficiency is below 95 % by more than its margin.
    pub linear: bool,
    /// Whether they give no more together than the fastest of them alone.
    pub like_one: bool,
    /// What each target kept of what it gives alone, in percent, in the order of `targets`.
    pub kept_percent: Vec<f64>,
}

/// How a set of targets scales.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaling {
    /// Every step in rising number of targets.
    pub steps: Vec<Step>,
    /// Place among the steps of the first that is not linear.
    pub first_non_linear: Option<usize>,
    /// Sets of targets that share a bottleneck, found from pairs that gave no sum.
    pub shared: Vec<Vec<usize>>,
    /// Throughput that no step exceeds although more targets were added; absent unless the last two
    /// steps agree in it.
    pub ceiling_per_s: Option<f64>,
    /// The rule that was applied, with its numbers.
    pub rule: String,
    /// What follows from the steps, sentence by sentence.
    pub findings: Vec<String>,
}
