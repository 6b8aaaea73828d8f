//! How large a cache answers instead of the storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the sizes say about a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "CacheOutcome")]
pub enum Outcome {
    /// There is a cache, and its size was estimated.
    Found,
    /// It is larger than one size and smaller than the next; nothing in between was measured.
    Between,
    /// Every size fitted in it: latency is lower throughout than the medium itself can be.
    AllFits,
    /// No cache took part in the measurement.
    NoneSeen,
    /// Latency is the same at every size: no cache takes part, or one that is larger than all of
    /// them.
    Flat,
    /// Latency changes with the size, but not as a cache makes it change.
    Unclear,
}

/// How the size of the cache was estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// From the share of fast I/Os at each size.
    FastShare,
    /// From the mean latency at each size.
    MeanLatency,
    /// From the last size that fits and the first that does not.
    Neighbours,
}

/// The effective size of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheSize {
    /// The best estimate of the size, in bytes.
    pub bytes: u64,
    /// Lower end of the 95 % interval.
    pub low_bytes: u64,
    /// Upper end of the 95 % interval.
    pub high_bytes: u64,
    /// What the estimate was made from.
    pub method: Method,
}

/// One size and the share of its I/Os that were fast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeShare {
    /// The size that I/O was spread over.
    pub file_bytes: u64,
    /// How many I/Os the share was counted from.
    pub ios: u64,
    /// Share of I/Os faster than the threshold, in percent.
    pub fast_percent: f64,
    /// What a cache of the estimated size would answer, min(1, C/F), in percent; absent without an
    /// estimate.
    pub expected_percent: Option<f64>,
}

/// A size of the test file that a fair test needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FairSize {
    /// How many times as large as the cache it is.
    pub times: u32,
    /// That many times the upper end of the cache's interval.
    pub file_bytes: u64,
    /// Share of random reads that the cache still answers there, in percent.
    pub hit_percent: f64,
    /// By how much the cache makes the mean latency too low, in percent of the latency of a miss.
    pub latency_error_percent: f64,
}

/// What a sweep over sizes says about the caches under the operating system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    /// Whether there is a cache, and how well its size is known.
    pub outcome: Outcome,
    /// The effective size of the cache; absent if none was found.
    pub cache: Option<CacheSize>,
    /// I/Os faster than this are taken for answered by the cache.
    pub threshold_ns: Option<f64>,
    /// Mean latency of an I/O that the cache answers.
    pub hit_latency_ns: Option<f64>,
    /// Mean latency of an I/O that it does not.
    pub miss_latency_ns: Option<f64>,
    /// Every size in rising order, if fast and slow I/Os can be distinguished.
    pub shares: Vec<SizeShare>,
    /// Whether the shares follow min(1, C/F) as those of a cache with recency or of a fixed region
    /// do.
    pub follows_law: Option<bool>,
    /// What a fair test of the storage under the cache needs.
    pub fair_sizes: Vec<FairSize>,
    /// The rule that was applied, with its numbers.
    pub rule: String,
    /// What was found about the cache, in words.
    pub explanation: String,
}
