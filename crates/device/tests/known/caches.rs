//! Caches of reads and of writes.

use device::{Device, Op, Request};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use workload::{Bytes, Nanoseconds, SimCache, SimCacheKind, SimDevice, SimWriteCache};

use crate::closed_loop::{MS, S, closed_loop, millisecond, near, request};

/// A hit takes 0.1 ms, and all else 1 ms.
const HIT: u64 = MS / 10;

fn caching(kind: SimCacheKind, size_bytes: u64) -> SimDevice {
    let cache = SimCache { kind, size_bytes: Bytes(size_bytes), hit_ns: Nanoseconds(HIT) };
    SimDevice { cache: Some(cache), ..millisecond() }
}

/// Asserts which share of uniform random reads of 8 KiB over targets of these sizes hits.
#[track_caller]
fn hits(model: &SimDevice, target_bytes: &[u64], share: f64) {
    let mut device = Device::new(model, target_bytes, 1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let places = target_bytes.iter().sum::<u64>() / 8192;
    let next = |_| {
        let mut offset = random.next_u64() % places * 8192;
        let mut target = 0;
        while offset >= target_bytes[target] {
            offset -= target_bytes[target];
            target += 1;
        }
        Request { target, offset, ..request(Op::Read) }
    };
    let seen = closed_loop(&mut device, 4, (0, 20 * S), next);
    let hits = seen.ios.iter().filter(|(from, to)| to - from == HIT).count() as f64;
    let n = seen.ios.len() as f64;
    let sigma = (n * share * (1.0 - share)).sqrt();
    assert!((hits - n * share).abs() <= 4.0 * sigma, "{} is not {share}", hits / n);
}

/// Hit share = min(1, C / F), from the first read on.
#[test]
fn both_kinds_of_cache_serve_their_share_of_random_reads() {
    for kind in [SimCacheKind::Region, SimCacheKind::Lru] {
        let model = caching(kind, 64 << 20);
        for (mib, share) in [(32, 1.0), (64, 1.0), (128, 0.5), (256, 0.25), (1024, 0.0625)] {
            hits(&model, &[mib << 20], share);
        }
    }
}

/// A region is that of each target; what was used last is that of all together.
#[test]
fn an_lru_cache_is_one_for_all_targets() {
    let targets = [64 << 20, 192 << 20];
    hits(&caching(SimCacheKind::Region, 64 << 20), &targets, 0.5);
    hits(&caching(SimCacheKind::Lru, 64 << 20), &targets, 0.25);
    let own = SimDevice { separate: true, ..caching(SimCacheKind::Lru, 64 << 20) };
    hits(&own, &targets, 0.5);
}

/// A loop over more than the cache holds never hits (Denning's anomaly of LRU); over less, it
/// always does.
#[test]
fn an_lru_cache_knows_what_was_used_last() {
    for (mib, fits) in [(32u64, true), (65, false)] {
        let mut device = Device::new(&caching(SimCacheKind::Lru, 64 << 20), &[1 << 30], 1);
        let read = |offset| Request { offset, bytes: 1 << 16, ..request(Op::Read) };
        let mut now = 0;
        for round in 0..3 {
            for at in 0..mib << 4 {
                let done = device.serve(&read((512 << 20) + (at << 16)), now).done_ns;
                let hit = done - now == HIT;
                assert_eq!(hit, fits && round > 0, "{mib} MiB, round {round}, {at}");
                now = done;
            }
        }
    }
}

#[test]
fn what_was_written_is_in_an_lru_cache() {
    let mut device = Device::new(&caching(SimCacheKind::Lru, 1 << 20), &[1 << 30], 1);
    let at = |op| Request { offset: 512 << 20, ..request(op) };
    let mut time = |op, now| device.serve(&at(op), now).done_ns - now;
    assert_eq!([time(Op::Write, 0), time(Op::Read, S)], [MS, HIT]);
    // Half of this is in it.
    let half = Request { offset: (512 << 20) + 4096, ..request(Op::Read) };
    assert_eq!(device.serve(&half, 2 * S).done_ns, 2 * S + MS);
    assert_eq!(device.serve(&half, 3 * S).done_ns, 3 * S + HIT);
}

/// Fast for W / (X - D), then exactly D; the latency is then N / X.
#[test]
fn a_write_cache_fills_and_then_drains() {
    let write_cache = Some(SimWriteCache {
        size_bytes: Bytes(100 * 8192),
        drain_bytes_per_s: Bytes(100 * 8192),
        hit_ns: Nanoseconds(MS),
    });
    let model = SimDevice { write_cache, ..millisecond() };
    let writes = |durable| {
        let mut device = Device::new(&model, &[1 << 30], 1);
        closed_loop(&mut device, 1, (0, 20 * S), |_| Request { durable, ..request(Op::Write) })
    };
    let seen = writes(false);
    let fast = seen.ios.iter().take_while(|(from, to)| to - from == MS).count();
    near(fast as f64, 1000.0 * 100.0 / 900.0, 0.01);
    near((seen.ios.len() - fast) as f64 / (20.0 - 1.0 / 9.0), 100.0, 0.01);
    assert_eq!(seen.ios.len(), writes(true).ios.len(), "a device that is not honest");
    let durable_ns = Some(Nanoseconds(9 * MS));
    let mut device = Device::new(&SimDevice { durable_ns, ..model }, &[1 << 30], 1);
    let next = |_| Request { durable: true, ..request(Op::Write) };
    let seen = closed_loop(&mut device, 4, (0, 20 * S), next);
    near(seen.iops(), 400.0, 0.01);
}

#[test]
fn a_cache_that_is_larger_than_the_targets_holds_them() {
    let model = caching(SimCacheKind::Lru, 1 << 50);
    hits(&model, &[1 << 20], 1.0);
}
