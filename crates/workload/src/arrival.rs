//! When I/Os of a stream may start: the rate of an open loop, the pauses of a closed one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Nanoseconds;

/// When I/Os of an open loop are due.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// How much, for the whole stream over all of its threads and targets.
    pub limit: RateLimit,
    /// How the I/Os are spaced in time.
    #[serde(default)]
    pub arrival: Arrival,
}

/// How much an open loop offers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateLimit {
    /// A number of I/Os per second.
    Iops(f64),
    /// A number of MiB per second.
    MibPerS(f64),
}

/// Spacing of the I/Os of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// At equal intervals, by a fixed schedule.
    #[default]
    Even,
    /// At exponentially distributed distances, as independent users make them.
    Poisson,
    /// A cap on a closed loop instead of an open one: no I/O starts before its share of the rate is
    /// due, and latency counts from its submission. The rate is one on average from the start of
    /// the run: what a stall held up may follow at full speed.
    Capped,
}

/// Pauses between bursts: a thread issues a burst, waits until all of it is complete, then pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Think {
    /// The length of a pause; `from` names the event that begins it.
    pub pause_ns: Nanoseconds,
    /// How many I/Os a burst has.
    #[serde(default = "one")]
    pub burst_ios: u32,
    /// The event from which the pause is counted.
    #[serde(default, skip_serializing_if = "ThinkFrom::is_completion")]
    pub from: ThinkFrom,
}

/// When the pause after a burst begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThinkFrom {
    /// When all of the burst is complete.
    #[default]
    Completion,
    /// When the last of the burst is issued.
    Submission,
}

impl ThinkFrom {
    /// Whether it is the ordinary one.
    #[must_use]
    pub fn is_completion(&self) -> bool {
        *self == Self::Completion
    }
}

fn one() -> u32 {
    1
}
