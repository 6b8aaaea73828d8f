//! Whether durable writes can be where they claim to be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the latency of durable writes is credible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// They take longer than plain ones, and as long as the medium needs.
    Plausible,
    /// They are faster than the medium can write: a cache answers, which may be protected.
    FasterThanMedium,
    /// They cost no more than plain ones although there is a write cache.
    NoSlowerThanCached,
    /// The medium is slow. Yet they are faster than a protected cache in front of it would be, or
    /// cost no more than plain ones although such a cache would show.
    NotBelieved,
    /// Too few latencies are known to say.
    Unknown,
}

/// Whether durable writes of one storage are credible.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Honesty {
    /// What the latencies say about the durability of writes.
    pub sign: Sign,
    /// Mean latency of small durable writes.
    pub durable_latency_ns: f64,
    /// Mean latency of the same writes without durability.
    pub plain_latency_ns: Option<f64>,
    /// Mean latency of single random reads, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_ns: Option<f64>,
    /// What was found, in words.
    pub statement: String,
    /// The rule that was applied, with its numbers.
    pub rule: String,
}
