//! Whether durable writes can be where they claim to be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What durable writes look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// They take longer than plain ones, and as long as the medium needs.
    Plausible,
    /// They are faster than the medium can write: a cache answers, which may be protected.
    FasterThanMedium,
    /// They cost no more than plain ones although there is a write cache.
    NoSlowerThanCached,
    /// The medium is slow, and they are faster than a protected cache in front of it, or cost no
    /// more than plain ones where such a cache would show.
    NotBelieved,
    /// Too little is known.
    Unknown,
}

/// The outcome for one storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Honesty {
    /// What was seen.
    pub sign: Sign,
    /// Mean latency of small durable writes.
    pub durable_latency_ns: f64,
    /// Mean latency of the same writes without durability.
    pub plain_latency_ns: Option<f64>,
    /// Mean latency of single random reads, where they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_ns: Option<f64>,
    /// The outcome in words.
    pub statement: String,
    /// The rule that was applied, with its numbers.
    pub rule: String,
}
