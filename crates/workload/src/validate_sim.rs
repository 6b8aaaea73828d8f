//! The rules a simulated device must keep.

use super::Violations;
use crate::sim::{
    SimBucket, SimCacheKind, SimDevice, SimDrift, SimMisaligned, SimNoise, SimStall, SimWarmup,
};
use crate::units::{Bytes, Nanoseconds};

/// The most servers, and the most I/Os it takes at a time.
const SERVERS_MAX: u32 = 1 << 20;
/// The smallest and the largest cache that knows what it holds: one block, and half a gigabyte of
/// memory.
const LRU_BYTES: (u64, u64) = (4096, 64 << 30);
/// Times as long: the largest factor.
const FACTOR_MAX: f64 = 1000.0;

/// Notes every rule that the device breaks.
pub(super) fn check(found: &mut Violations, sim: &SimDevice) {
    for (field, count) in [("sim.servers", Some(sim.servers)), ("sim.queue_limit", sim.queue_limit)]
    {
        let Some(count) = count else { continue };
        let ok = (1..=SERVERS_MAX).contains(&count);
        found.check(ok, field, count, "it must be 1 to 1048576");
    }
    check_times(found, sim);
    check_rates(found, sim);
    if let Some(cache) = sim.cache
        && cache.kind == SimCacheKind::Lru
    {
        let ok = (LRU_BYTES.0..=LRU_BYTES.1).contains(&cache.size_bytes.0);
        let rule = "a cache of the kind `lru` must have 4 KiB to 64 GiB";
        found.check(ok, "sim.cache.size_bytes", cache.size_bytes, rule);
    }
    if let Some(SimBucket { iops: None, bytes_per_s: None, .. }) = sim.bucket {
        found.check(false, "sim.bucket", "without a rate", "give it iops or bytes_per_s");
    }
    if let Some(SimStall { period_ns, length_ns }) = sim.stall {
        let rule = "it must be shorter than the period, or the device would never work";
        found.check(length_ns < period_ns, "sim.stall.length_ns", length_ns, rule);
    }
    check_factors(found, sim);
    if let Some(noise) = sim.noise {
        check_noise(found, noise);
    }
}

/// A virtual clock on which nothing takes time would never come to the end of the run.
fn check_times(found: &mut Violations, sim: &SimDevice) {
    let times: [(&str, Option<Nanoseconds>); 8] = [
        ("sim.read_ns", Some(sim.read_ns)),
        ("sim.write_ns", Some(sim.write_ns)),
        ("sim.sync_ns", Some(sim.sync_ns)),
        ("sim.cache.hit_ns", sim.cache.map(|c| c.hit_ns)),
        ("sim.write_cache.hit_ns", sim.write_cache.map(|c| c.hit_ns)),
        ("sim.warmup.tau_ns", sim.warmup.map(|w| w.tau_ns)),
        ("sim.noise.drift.period_ns", sim.noise.and_then(|n| n.drift).map(|d| d.period_ns)),
        ("sim.stuck.length_ns", sim.stuck.map(|s| s.length_ns)),
    ];
    for (field, time) in times {
        if let Some(time) = time {
            found.check(time.0 > 0, field, time, "it must be at least 1 ns");
        }
    }
}

fn check_rates(found: &mut Violations, sim: &SimDevice) {
    let rates: [(&str, Option<Bytes>); 4] = [
        ("sim.bytes_per_s", sim.bytes_per_s),
        ("sim.link_bytes_per_s", sim.link_bytes_per_s),
        ("sim.bucket.bytes_per_s", sim.bucket.and_then(|b| b.bytes_per_s)),
        ("sim.write_cache.drain_bytes_per_s", sim.write_cache.map(|c| c.drain_bytes_per_s)),
    ];
    for (field, rate) in rates {
        if let Some(rate) = rate {
            found.check(rate.0 > 0, field, rate, "it must be at least 1 byte a second");
        }
    }
    let counts = [
        ("sim.bucket.iops", sim.bucket.and_then(|b| b.iops)),
        ("sim.fail_every", sim.fail_every),
        ("sim.short_every", sim.short_every),
    ];
    for (field, count) in counts {
        if let Some(count) = count {
            found.check(count > 0, field, count, "it must be at least 1");
        }
    }
}

fn check_factors(found: &mut Violations, sim: &SimDevice) {
    let mut factor = |field: &str, factor: f64| {
        let ok = factor > 0.0 && factor <= FACTOR_MAX;
        found.check(ok, field, factor, "it must be above 0 and at most 1000");
    };
    if let Some(SimWarmup { factor: value, .. }) = sim.warmup {
        factor("sim.warmup.factor", value);
    }
    if let Some(SimMisaligned { align_bytes, factor: value }) = sim.misaligned {
        factor("sim.misaligned.factor", value);
        let rule = "it must be at least 1 byte";
        found.check(align_bytes.0 > 0, "sim.misaligned.align_bytes", align_bytes, rule);
    }
}

fn check_noise(found: &mut Violations, noise: SimNoise) {
    let mut percent = |field: &str, value: f64| {
        let ok = (0.0..=100.0).contains(&value);
        found.check(ok, field, value, "it must be 0 to 100 percent");
    };
    percent("sim.noise.run_percent", noise.run_percent);
    percent("sim.noise.io_percent", noise.io_percent);
    if let Some(SimDrift { percent: value, correlation, .. }) = noise.drift {
        percent("sim.noise.drift.percent", value);
        let ok = (0.0..1.0).contains(&correlation);
        let rule = "it must be at least 0 and below 1";
        found.check(ok, "sim.noise.drift.correlation", correlation, rule);
    }
}
