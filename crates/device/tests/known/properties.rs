//! What is true of every device, however odd.

use device::{Device, Op, Outcome, Reply, Request};
use proptest::option::of;
use proptest::prelude::*;
use workload::{
    Bytes, Nanoseconds, SimAssignment, SimBucket, SimCache, SimCacheKind, SimDevice, SimDrift,
    SimMisaligned, SimNoise, SimService, SimStall, SimWarmup, SimWriteCache,
};

use crate::closed_loop::{MS, S, closed_loop, request};

fn time() -> impl Strategy<Value = Nanoseconds> {
    prop_oneof![Just(0), 1..10 * MS, Just(u64::MAX)].prop_map(Nanoseconds)
}

fn size() -> impl Strategy<Value = Bytes> {
    prop_oneof![Just(0), 1u64..1 << 24, Just(u64::MAX)].prop_map(Bytes)
}

fn factor() -> impl Strategy<Value = f64> {
    0.01..1000.0
}

prop_compose! {
    fn before_servers()(
        queue_limit in of(0u32..5),
        link_bytes_per_s in of(size()),
        bucket in of((of(0u64..1000), 0u64..100, of(size()), size())),
        cache in of((any::<bool>(), size(), time())),
        write_cache in of((size(), size(), time())),
        durable_ns in of(time()),
    ) -> SimDevice {
        let bucket = bucket.map(|(iops, burst_ios, bytes_per_s, burst_bytes)| {
            SimBucket { iops, burst_ios, bytes_per_s, burst_bytes }
        });
        let kind = |lru| if lru { SimCacheKind::Lru } else { SimCacheKind::Region };
        let cache = cache.map(|(lru, size_bytes, hit_ns)| {
            SimCache { kind: kind(lru), size_bytes, hit_ns }
        });
        let write_cache = write_cache.map(|(size_bytes, drain_bytes_per_s, hit_ns)| {
            SimWriteCache { size_bytes, drain_bytes_per_s, hit_ns }
        });
        SimDevice {
            queue_limit, link_bytes_per_s, bucket, cache, write_cache, durable_ns,
                ..SimDevice::default()
        }
    }
}

prop_compose! {
    fn device()(
        before in before_servers(),
        servers in 0u32..5,
        random: bool,
        separate: bool,
        exponential: bool,
        times in [time(), time(), time(), time(), time()],
        bytes_per_s in of(size()),
        misaligned in of((1u64..5000, factor())),
        warmup in of(factor()),
        noise in of((0.0..100.0, 0.0..100.0, of((0.0..100.0, 0.0..1.0)))),
        stall in of((1..MS, 0..MS)),
    ) -> SimDevice {
        let [read_ns, write_ns, sync_ns, tau_ns, period_ns] = times;
        SimDevice {
            servers,
            assignment: if random { SimAssignment::Random } else { SimAssignment::Free },
            separate,
            read_ns,
            write_ns,
            sync_ns,
            bytes_per_s,
            service: if exponential { SimService::Exponential } else { SimService::Constant },
            misaligned: misaligned.map(|(align, factor)| SimMisaligned { align_bytes: Bytes(align),
                factor }),
            warmup: warmup.map(|factor| SimWarmup { factor, tau_ns }),
            noise: noise.map(|(run_percent, io_percent, drift)| {
                let drift = drift.map(|(percent, correlation)| SimDrift { percent, correlation,
                    period_ns });
                SimNoise { run_percent, io_percent, drift }
            }),
            stall: stall.map(|(period, length)| {
                SimStall { period_ns: Nanoseconds(period), length_ns: Nanoseconds(length) }
            }),
            ..before
        }
    }
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, Request)>> {
    let ops = prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Sync)];
    let io = (0..MS, 0usize..2, ops, 0u64..1 << 20, 0u32..1 << 16, any::<bool>());
    prop::collection::vec(io, 1..200).prop_map(|ios| {
        let mut now = 0;
        let io = |(pause, target, op, offset, bytes, durable)| {
            now += pause;
            (now, Request { target, op, offset, bytes, durable })
        };
        ios.into_iter().map(io).collect()
    })
}

fn replies(model: &SimDevice, arrivals: &[(u64, Request)]) -> Vec<Reply> {
    let mut device = Device::new(model, &[1 << 20, 1 << 20], 7);
    arrivals.iter().map(|(now, request)| device.serve(request, *now)).collect()
}

proptest! {
    #[test]
    fn time_passes_all_bytes_come_and_the_same_seed_gives_the_same(
        model in device(), arrivals in arrivals(),
    ) {
        let first = replies(&model, &arrivals);
        for ((now, request), reply) in arrivals.iter().zip(&first) {
            prop_assert!(reply.done_ns > *now);
            prop_assert_eq!(reply.outcome, Outcome::Done { bytes: request.bytes });
        }
        prop_assert_eq!(first, replies(&model, &arrivals));
    }

    /// No mix of options makes more than what every part of the device can do.
    #[test]
    fn no_part_is_overrun(
        servers in 1u32..8, limit in of(1u32..8), iops in of(100u64..5000), random: bool,
            depth in 1usize..32,
    ) {
        let model = SimDevice {
            servers,
            queue_limit: limit,
            assignment: if random { SimAssignment::Random } else { SimAssignment::Free },
            read_ns: Nanoseconds(MS),
            bucket: iops.map(|iops| SimBucket { iops: Some(iops), ..SimBucket::default() }),
            ..SimDevice::default()
        };
        let mut device = Device::new(&model, &[1 << 20], 1);
        let seen = closed_loop(&mut device, depth, (0, S), |_| request(Op::Read));
        let places = [u64::from(servers), limit.map_or(u64::MAX, u64::from), depth as u64];
        let most = places.into_iter().min().unwrap() * 1000;
        prop_assert!(seen.ios.len() as u64 <= most.min(iops.map_or(u64::MAX, |iops| iops + 1)));
        let limited = depth == 1 || (!random && limit.is_none());
        if limited && iops.is_none() {
            prop_assert!(seen.ios.len() as u64 + places[0].min(places[2]) >= most);
        }
    }
}
