//! A device whose behaviour is known: what the engine `sim` simulates on its virtual clock.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Nanoseconds};

/// A simulated device: parallel servers with a first-come-first-served queue, and what may stand before or between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimDevice {
    /// I/Os that are served at the same time.
    pub servers: u32,
    /// Time one server needs for a read.
    pub read_ns: Nanoseconds,
    /// Time one server needs for a write.
    pub write_ns: Nanoseconds,
    /// Time a flush needs; it begins when all writes before it are done.
    pub sync_ns: Nanoseconds,
    /// How service times are spread.
    pub service: SimService,
    /// Limit of the path to the device, in bytes for each second. Reads and writes pass it one after the other in the
    /// order of their arrival, before they are served; flushes do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_s: Option<Bytes>,
    /// A part of the target that is served from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<SimCache>,
    /// A write cache that drains at its own pace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<SimWriteCache>,
    /// Times in which the device begins nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<SimStall>,
    /// One I/O that takes a time of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck: Option<SimStuck>,
    /// Every n-th I/O fails with an I/O error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_every: Option<u64>,
    /// Every n-th I/O transfers only half of its bytes, in whole sectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_every: Option<u64>,
}

impl Default for SimDevice {
    /// Eight servers of 100 µs: 80 000 IOPS from eight in flight on.
    fn default() -> Self {
        Self {
            servers: 8,
            read_ns: Nanoseconds(100_000),
            write_ns: Nanoseconds(100_000),
            sync_ns: Nanoseconds(100_000),
            service: SimService::Constant,
            link_bytes_per_s: None,
            cache: None,
            write_cache: None,
            stall: None,
            stuck: None,
            fail_every: None,
            short_every: None,
        }
    }
}

/// How service times are spread around their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimService {
    /// Always the mean.
    #[default]
    Constant,
    /// Exponentially distributed.
    Exponential,
}

/// The first bytes of the target are served from a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimCache {
    /// Size of the cached part.
    pub size_bytes: Bytes,
    /// Time of a read from it; hits need no server.
    pub hit_ns: Nanoseconds,
}

/// Writes complete into a cache until it is full, and then as fast as it drains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimWriteCache {
    /// Size of the cache.
    pub size_bytes: Bytes,
    /// Bytes that leave it for the media each second.
    pub drain_bytes_per_s: Bytes,
    /// Time of a write that finds room.
    pub hit_ns: Nanoseconds,
}

/// For `length_ns` at the end of every `period_ns`, the device begins nothing; what it has begun before, it completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimStall {
    /// From one stall to the next.
    pub period_ns: Nanoseconds,
    /// Length of the stall.
    pub length_ns: Nanoseconds,
}

/// The n-th I/O takes this time in all, instead of what it would have taken. The others wait for it no longer than they
/// would have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimStuck {
    /// Which I/O, counted from 1.
    pub at_io: u64,
    /// How long it takes, from its arrival on.
    pub length_ns: Nanoseconds,
}
