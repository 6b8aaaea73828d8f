//! The document of how many times the load of a trace storage carries, `iosonde.fit/1`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capture::CapturedOp;
use crate::experiment::Conclusion;
use crate::measurement::Measurement;
use crate::replay::{ReplayTiming, TracePart};

/// How many times the load of a trace each target carries.
///
/// METHODS.md says how both edges are found and what they mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// The part of the trace whose load is fitted.
    pub part: TracePart,
    /// The limits of latency that have to hold.
    pub limits: Vec<FitLimit>,
    /// By how many percent the load grows each month, where that was said.
    pub growth_percent: Option<f64>,
    /// The answers, one per target: first those that were measured, then the models.
    pub results: Vec<FitResult>,
}

/// A limit of the latency of one kind of I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitLimit {
    /// The kind of I/O that it limits.
    pub kind: CapturedOp,
    /// The quantile that is limited, 0 to 1.
    pub quantile: f64,
    /// The largest latency that the quantile may have.
    pub at_most_ns: u64,
    /// Where the limit comes from, in words: a published source, or the user.
    pub source: String,
}

/// How many times the load one target carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitResult {
    /// The target, or the model that stands for it.
    pub target: PathBuf,
    /// Where the model comes from; absent for a target that was measured.
    pub model: Option<String>,
    /// The answer in a sentence, for people.
    pub sentence: String,
    /// The largest factor at which an open loop held.
    pub lower: FitEdge,
    /// The least factor at which copies that wait for the storage no longer held.
    pub upper: FitEdge,
    /// What gave out first; absent if nothing was seen to give out.
    pub cause: Option<FitCause>,
    /// In how many months the load reaches the lower edge at its growth.
    pub lower_months: Option<f64>,
    /// In how many months it reaches the upper edge.
    pub upper_months: Option<f64>,
    /// Every replay, in the order in which they ran.
    pub attempts: Vec<FitAttempt>,
}

/// An edge of the answer: a factor, and whether the edge is at it, above it or below it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitEdge {
    /// The factor: how many times the users of the trace.
    pub users: f64,
    /// Whether the edge is at the factor, above it or below it.
    pub side: FitSide,
}

/// On which side of the factor an edge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FitSide {
    /// The edge is at the factor.
    At,
    /// The edge is above the factor; the replays do not show how far.
    Above,
    /// The edge is below the factor; the replays do not show how far.
    Below,
}

/// What kept a replay from holding its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum FitCause {
    /// A latency was above its limit.
    Latency {
        /// The kind of I/O whose limit it is.
        kind: CapturedOp,
        /// The latency that was measured at the quantile of the limit.
        was_ns: u64,
        /// The largest latency that it may have.
        limit_ns: u64,
    },
    /// I/Os could not be issued as fast as they were due.
    Throughput,
    /// There were fewer than 20 I/Os of this kind, so its limit was not judged.
    TooFew {
        /// The kind of I/O whose limit was not judged.
        kind: CapturedOp,
    },
    /// The host that replayed was too slow. This says nothing about the storage.
    Host,
}

/// One replay of the search, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitAttempt {
    /// How many times the users of the trace it replayed.
    pub users: f64,
    /// What decided when an I/O was issued.
    pub timing: ReplayTiming,
    /// In how many thirds of the replay everything held.
    pub held_thirds: u32,
    /// The main reason why not everything held; absent if everything held.
    pub cause: Option<FitCause>,
    /// For how many percent of the time the replay worked instead of waiting for the storage or for
    /// the time of an I/O; absent in documents of before that was counted.
    pub working_percent: Option<f64>,
    /// For how many percent of the time the processors were idle, where that is known.
    pub idle_percent: Option<f64>,
}

impl Conclusion for Fit {
    const SCHEMA: &'static str = "iosonde.fit/1";

    fn title(&self, _: &[Measurement]) -> String {
        format!("fit of {}", self.part.title())
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        let targets = self.results.iter_mut().map(|result| &mut result.target);
        std::iter::once(&mut self.part.trace).chain(targets).collect()
    }
}
