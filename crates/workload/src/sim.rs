//! A device whose behaviour is known: what the engine `sim` simulates on its virtual clock.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Nanoseconds};

/// A simulated device: parallel servers with a first-come-first-served queue, and the limits and
/// caches before them.
///
/// An I/O passes, in this order: the queue limit, the bucket, the link, then a cache or a server.
/// What each part does to throughput and latency is known by arithmetic; METHODS.md has the
/// formulas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimDevice {
    /// I/Os that are served at the same time.
    pub servers: u32,
    /// How an I/O is assigned to a server.
    #[serde(skip_serializing_if = "is_default")]
    pub assignment: SimAssignment,
    /// Each target has its own device, with all of this; otherwise all targets share one.
    #[serde(skip_serializing_if = "is_default")]
    pub separate: bool,
    /// I/Os that the device takes at the same time; the others wait before it in the order of their
    /// arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<u32>,
    /// Time one server needs for a read.
    pub read_ns: Nanoseconds,
    /// Time one server needs for a write.
    pub write_ns: Nanoseconds,
    /// Time a flush needs; it begins when all writes before it are done.
    pub sync_ns: Nanoseconds,
    /// A durable write passes the write cache by and keeps its server this much longer than a plain
    /// one. Without it a durable write is a plain one, as on a device that says that a write is
    /// stable when it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durable_ns: Option<Nanoseconds>,
    /// Bytes one server moves each second, in time that is added to that of the read or write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<Bytes>,
    /// How service times are spread around their mean.
    pub service: SimService,
    /// I/Os that servers need longer for because of where they begin or end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misaligned: Option<SimMisaligned>,
    /// Limit of the path to the device, in bytes per second. Reads and writes pass it one after the
    /// other in the order of their arrival, before they are served; flushes do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_s: Option<Bytes>,
    /// A limit of the rate that lets bursts through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<SimBucket>,
    /// A cache that serves reads of what it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<SimCache>,
    /// A write cache that drains at its own pace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<SimWriteCache>,
    /// A device that is slower at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<SimWarmup>,
    /// A device that is not always equally fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<SimNoise>,
    /// Times in which the device begins nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<SimStall>,
    /// One I/O that takes its own time.
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
            assignment: SimAssignment::Free,
            separate: false,
            queue_limit: None,
            read_ns: Nanoseconds(100_000),
            write_ns: Nanoseconds(100_000),
            sync_ns: Nanoseconds(100_000),
            durable_ns: None,
            bytes_per_s: None,
            service: SimService::Constant,
            misaligned: None,
            link_bytes_per_s: None,
            bucket: None,
            cache: None,
            write_cache: None,
            warmup: None,
            noise: None,
            stall: None,
            stuck: None,
            fail_every: None,
            short_every: None,
        }
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How an I/O is assigned to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimAssignment {
    /// To the first server that is free.
    #[default]
    Free,
    /// Any of them, each equally likely, whether it is free or not: every server has its own queue,
    /// as the channels of a flash device have.
    Random,
}

/// How service times are spread around their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimService {
    /// Every I/O takes exactly the mean.
    #[default]
    Constant,
    /// Times are exponentially distributed, with the given mean.
    Exponential,
}

/// I/Os whose offset or length is not a multiple of `align_bytes` take a server longer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimMisaligned {
    /// What both are a multiple of where an I/O is aligned.
    pub align_bytes: Bytes,
    /// How many times as long a server needs.
    pub factor: f64,
}

/// A token bucket, full at first: I/Os pass at once until what it holds is used up, then at the
/// rate at which it is filled. At least one of the rates is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimBucket {
    /// Reads and writes per second that it lets through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<u64>,
    /// Reads and writes that a full bucket lets through at once.
    pub burst_ios: u64,
    /// Bytes per second that it lets through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<Bytes>,
    /// Bytes that a full bucket lets through at once.
    pub burst_bytes: Bytes,
}

/// A cache that answers reads of what it holds, without a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimCache {
    /// Whether it always holds the same blocks, or those used last.
    #[serde(default)]
    pub kind: SimCacheKind,
    /// How many bytes it holds.
    pub size_bytes: Bytes,
    /// Time of a read from it.
    pub hit_ns: Nanoseconds,
}

/// How a cache decides which blocks it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimCacheKind {
    /// Always the first bytes of each target.
    #[default]
    Region,
    /// The blocks of 4 KiB that were read or written last, of all targets together; at first, the
    /// first ones.
    Lru,
}

/// Writes complete into a cache until it is full, and then as fast as it drains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimWriteCache {
    /// How many bytes it takes before it is full.
    pub size_bytes: Bytes,
    /// Bytes that leave it for the media each second.
    pub drain_bytes_per_s: Bytes,
    /// Time of a write that finds room.
    pub hit_ns: Nanoseconds,
}

/// Times of service, of hits and of flushes begin `factor` times as long as they are later, and
/// approach that exponentially.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimWarmup {
    /// How many times as long at time 0; below 1, the device is faster at first.
    pub factor: f64,
    /// The time in which the difference shrinks to 1/e.
    pub tau_ns: Nanoseconds,
}

/// Times of service, of hits and of flushes vary. Each percentage is the standard deviation of the
/// natural logarithm of a factor that is normally distributed there.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimNoise {
    /// From run to run: one factor for the whole run, drawn from its seed.
    pub run_percent: f64,
    /// From I/O to I/O: a factor of mean 1 for each.
    pub io_percent: f64,
    /// How the speed changes from one period to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<SimDrift>,
}

/// The speed of the device changes with every period: the logarithms of its factors are an
/// autoregressive process of order 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimDrift {
    /// The standard deviation over many periods, in percent.
    pub percent: f64,
    /// The correlation of one period with the next: 0 to below 1.
    pub correlation: f64,
    /// The length of a period, over which the speed stays the same.
    pub period_ns: Nanoseconds,
}

/// For `length_ns` at the end of every `period_ns`, the device begins nothing; what it has begun
/// before, it completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimStall {
    /// From one stall to the next.
    pub period_ns: Nanoseconds,
    /// How long the device begins nothing.
    pub length_ns: Nanoseconds,
}

/// The n-th I/O takes this time in all, instead of what it would have taken. The others wait for it
/// no longer than they would have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimStuck {
    /// The I/O that takes so long, counted from 1.
    pub at_io: u64,
    /// How long it takes, from its arrival on.
    pub length_ns: Nanoseconds,
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: &str = r#"
        servers = 64
        assignment = "random"
        separate = true
        queue_limit = 32
        read_ns = "90us"
        write_ns = "30us"
        sync_ns = "2ms"
        durable_ns = "1ms"
        bytes_per_s = "2G"
        service = "exponential"
        misaligned = { align_bytes = "4K", factor = 1.8 }
        link_bytes_per_s = "400M"
        bucket = { iops = 3000, burst_ios = 5400000, bytes_per_s = "125M", burst_bytes = "1G" }
        cache = { kind = "lru", size_bytes = "2G", hit_ns = "20us" }
        write_cache = { size_bytes = "1G", drain_bytes_per_s = "200M", hit_ns = "10us" }
        warmup = { factor = 3.0, tau_ns = "8s" }
        stall = { period_ns = "5s", length_ns = "1s" }
        stuck = { at_io = 1000, length_ns = "20s" }
        fail_every = 1000
        short_every = 100
        [noise]
        run_percent = 5.0
        io_percent = 10.0
        drift = { percent = 5.0, correlation = 0.9, period_ns = "250ms" }
    "#;

    #[test]
    fn everything_can_be_written_and_comes_back_the_same() {
        let device: SimDevice = toml::from_str(EVERYTHING).unwrap();
        assert_eq!(device.noise.unwrap().drift.unwrap().period_ns, Nanoseconds(250_000_000));
        assert_eq!(device.cache.unwrap().kind, SimCacheKind::Lru);
        for device in [device, SimDevice::default()] {
            let text = toml::to_string(&device).unwrap();
            assert_eq!(toml::from_str::<SimDevice>(&text).unwrap(), device, "{text}");
            let json = serde_json::to_string(&device).unwrap();
            assert_eq!(serde_json::from_str::<SimDevice>(&json).unwrap(), device, "{json}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused_at_every_level() {
        for text in [
            "server = 8",
            "noise = { percent = 5.0 }",
            "noise = { drift = { percent = 5.0, correlation = 0.5, period_ns = 1, tau = 1 } }",
            "bucket = { rate = 5 }",
            "cache = { kind = \"arc\", size_bytes = 1, hit_ns = 1 }",
            "warmup = { factor = 1.0, tau_ns = 1, of = 2 }",
            "misaligned = { align_bytes = 1 }",
        ] {
            assert!(toml::from_str::<SimDevice>(text).is_err(), "{text}");
        }
    }
}
