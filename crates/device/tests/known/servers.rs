//! Servers, how they get work, and how long they need.

use device::{Device, Op, Outcome, Request};
use workload::{Bytes, Nanoseconds, SimAssignment, SimDevice, SimMisaligned, SimService, SimStuck};

use crate::closed_loop::{MS, S, closed_loop, millisecond, near, reads, request};

/// X = min(N, C) / S, and latency = max(N, C) / C x S.
#[test]
fn throughput_is_that_of_the_servers_that_have_work() {
    for depth in [1, 4, 8, 9, 32] {
        let seen = reads(&millisecond(), depth, 10);
        near(seen.iops(), depth.min(8) as f64 * 1000.0, 1e-9);
        near(seen.mean_ns(), depth.max(8) as f64 / 8.0 * MS as f64, 1e-3);
    }
}

/// X = N / (N + C - 1) x C / S for exponential service: a balanced closed network (Lazowska et al.,
/// 1984, chapter 5).
#[test]
fn servers_with_queues_of_their_own_saturate_slowly() {
    let model = SimDevice {
        servers: 32,
        assignment: SimAssignment::Random,
        service: SimService::Exponential,
        ..millisecond()
    };
    for depth in [1, 8, 32, 128, 512] {
        let n = depth as f64;
        let seen = reads(&model, depth, 30);
        near(seen.iops(), n / (n + 31.0) * 32.0 * 1000.0, 0.01);
    }
}

/// Each server gets its share.
#[test]
fn a_random_server_is_any_of_them() {
    let model = SimDevice { servers: 4, assignment: SimAssignment::Random, ..millisecond() };
    let mut device = Device::new(&model, &[1 << 30], 3);
    let mut last = 0;
    for _ in 0..40_000 {
        last = last.max(device.serve(&request(Op::Read), 0).done_ns);
    }
    // 10 000 for each, and the longest queue is a few standard deviations of 87 longer.
    assert!((10_000 * MS..10_400 * MS).contains(&last), "{last}");
}

/// X = min(N, C, Q) / S, and latency = N / X.
#[test]
fn a_queue_limit_below_the_servers_is_the_limit() {
    for limit in [1, 5, 8, 100] {
        let model = SimDevice { queue_limit: Some(limit), ..millisecond() };
        for depth in [1, 4, 8, 64] {
            let seen = reads(&model, depth, 10);
            let busy = (depth as f64).min(8.0).min(limit.into());
            near(seen.iops(), busy * 1000.0, 1e-9);
            near(seen.mean_ns(), depth as f64 / busy * MS as f64, 2e-3);
        }
    }
}

/// What waits before the device waits for what is in it, be it served by a cache or not.
#[test]
fn flushes_have_their_place_in_the_queue() {
    let model = SimDevice { queue_limit: Some(2), sync_ns: Nanoseconds(5 * MS), ..millisecond() };
    let mut device = Device::new(&model, &[1 << 30], 1);
    let mut at = |op| device.serve(&request(op), 0).done_ns / MS;
    let ops = [Op::Write, Op::Sync, Op::Read, Op::Read];
    // The flush waits for the write; two reads, one after the other, have the place next to it.
    assert_eq!(ops.map(&mut at), [1, 6, 2, 3]);
}

/// Service = base + bytes / rate.
#[test]
fn larger_blocks_take_longer() {
    let model = SimDevice { bytes_per_s: Some(Bytes(100 << 20)), ..millisecond() };
    for (bytes, service) in [(4096, 1_039_062.0), (65536, 1_625_000.0), (1 << 20, 11e6)] {
        let mut device = Device::new(&model, &[1 << 30], 1);
        let next = |_| Request { bytes, ..request(Op::Read) };
        let seen = closed_loop(&mut device, 16, (S, 11 * S), next);
        near(seen.iops(), 8.0 / service * 1e9, 1e-3);
    }
}

#[test]
fn what_begins_or_ends_beside_the_alignment_takes_longer() {
    let misaligned = Some(SimMisaligned { align_bytes: Bytes(4096), factor: 2.5 });
    let mut device = Device::new(&SimDevice { misaligned, ..millisecond() }, &[1 << 30], 1);
    let mut time =
        |offset, bytes| device.serve(&Request { offset, bytes, ..request(Op::Write) }, 0).done_ns;
    let times = [time(0, 8192), time(4096, 4096), time(512, 8192), time(8192, 512)];
    assert_eq!(times, [MS, MS, 5 * MS / 2, 5 * MS / 2]);
}

/// Latency = write + durable.
#[test]
fn a_durable_write_takes_its_time_where_the_device_is_honest() {
    let durable = Request { durable: true, ..request(Op::Write) };
    let of = |durable_ns| {
        let model = SimDevice { durable_ns, ..millisecond() };
        let mut device = Device::new(&model, &[1 << 30], 1);
        [durable, request(Op::Write), request(Op::Read)].map(|r| device.serve(&r, 0).done_ns)
    };
    assert_eq!(of(None), [MS, MS, MS]);
    assert_eq!(of(Some(Nanoseconds(4 * MS))), [5 * MS, MS, MS]);
}

/// Together, two targets have what one has, or twice that.
#[test]
fn targets_share_a_device_or_have_their_own() {
    for (separate, share) in [(false, 1.0), (true, 2.0)] {
        let model = SimDevice { separate, ..millisecond() };
        let mut device = Device::new(&model, &[1 << 30, 1 << 30], 1);
        let next = |slot| Request { target: slot % 2, ..request(Op::Read) };
        let seen = closed_loop(&mut device, 64, (S, 11 * S), next);
        near(seen.iops(), share * 8000.0, 1e-9);
    }
}

/// What is chance in one is not a copy of what it is in the other.
#[test]
fn devices_of_their_own_have_chance_of_their_own() {
    let service = SimService::Exponential;
    let model = SimDevice { separate: true, service, ..millisecond() };
    let mut device = Device::new(&model, &[1 << 30, 1 << 30], 1);
    let mut time = |target| {
        let reads = [0; 4].map(|_| Request { target, ..request(Op::Read) });
        reads.map(|r| device.serve(&r, 0).done_ns)
    };
    assert_ne!(time(0), time(1));
}

#[test]
fn a_link_is_that_of_all_targets_or_of_each() {
    for (separate, share) in [(false, 1.0), (true, 2.0)] {
        let link_bytes_per_s = Some(Bytes(8192 * 100));
        let model = SimDevice { separate, link_bytes_per_s, ..millisecond() };
        let mut device = Device::new(&model, &[1 << 30, 1 << 30], 1);
        let next = |slot| Request { target: slot % 2, ..request(Op::Read) };
        let seen = closed_loop(&mut device, 64, (S, 11 * S), next);
        near(seen.iops(), share * 100.0, 1e-2);
    }
}

/// A stuck I/O takes its own time and holds up nobody, though it has a place in the queue.
#[test]
fn faults_are_those_of_the_model() {
    let stuck = Some(SimStuck { at_io: 2, length_ns: Nanoseconds(S) });
    let model = SimDevice { queue_limit: Some(1), stuck, fail_every: Some(3), ..millisecond() };
    let mut device = Device::new(&SimDevice { short_every: Some(4), ..model }, &[1 << 30], 1);
    let mut serve = || device.serve(&request(Op::Read), 0);
    let replies = [serve(), serve(), serve(), serve()];
    assert_eq!(replies.map(|r| r.done_ns), [MS, S, 3 * MS, 4 * MS]);
    let whole = Outcome::Done { bytes: 8192 };
    let outcomes = [whole, whole, Outcome::Failed, Outcome::Done { bytes: 4096 }];
    assert_eq!(replies.map(|r| r.outcome), outcomes);
}
