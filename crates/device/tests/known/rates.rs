//! Limits of a rate: the link and the bucket.

use device::{Device, Op, Request};
use workload::{Bytes, SimBucket, SimDevice};

use crate::closed_loop::{LoadRecord, MS, S, closed_loop, millisecond, near, request};

fn from_the_start(model: &SimDevice, depth: usize, seconds: u64) -> LoadRecord {
    let mut device = Device::new(model, &[1 << 30], 1);
    closed_loop(&mut device, depth, (0, seconds * S), |_| request(Op::Read))
}

/// Fast for B / (X - R), and then exactly R: 8000 IOPS for 10 s, then 500.
#[test]
fn a_burst_lasts_as_long_as_its_bucket() {
    let bucket = SimBucket { iops: Some(500), burst_ios: 75_000, ..SimBucket::default() };
    let seen = from_the_start(&SimDevice { bucket: Some(bucket), ..millisecond() }, 32, 60);
    near(seen.done_before(10 * S) as f64, 80_000.0, 1e-3);
    let after = |s: u64| (seen.done_before((s + 5) * S) - seen.done_before(s * S)) as f64;
    for s in [11, 20, 30, 50] {
        near(after(s), 2500.0, 1e-3);
    }
    let late = &seen.ios[seen.done_before(30 * S)..];
    let mean = late.iter().map(|(from, to)| (to - from) as f64).sum::<f64>() / late.len() as f64;
    near(mean, 32.0 / 500.0 * 1e9, 1e-3);
}

/// One I/O at a time reaches the rate, too: the time of service is not added to that of the token.
#[test]
fn a_bucket_without_a_burst_is_its_rate() {
    let bucket = SimBucket { iops: Some(500), ..SimBucket::default() };
    for depth in [1, 2, 64] {
        let seen = from_the_start(&SimDevice { bucket: Some(bucket), ..millisecond() }, depth, 20);
        near(seen.iops(), 500.0, 1e-3);
    }
}

#[test]
fn a_bucket_of_bytes_limits_bytes() {
    let bytes_per_s = Some(Bytes(10 << 20));
    let bucket = SimBucket { bytes_per_s, burst_bytes: Bytes(50 << 20), ..SimBucket::default() };
    let model = SimDevice { bucket: Some(bucket), ..millisecond() };
    for bytes in [4096, 65536, 1 << 20] {
        let mut device = Device::new(&model, &[1 << 30], 1);
        let next = |_| Request { bytes, ..request(Op::Write) };
        let seen = closed_loop(&mut device, 16, (0, 100 * S), next);
        near(seen.ios.len() as f64 * f64::from(bytes), f64::from((50 + 100 * 10) << 20), 1e-2);
    }
}

/// Of two limits the narrower one counts.
#[test]
fn ios_and_bytes_are_limited_together() {
    let bytes_per_s = Some(Bytes(8192 * 1000));
    let bucket = SimBucket { iops: Some(500), bytes_per_s, ..SimBucket::default() };
    let model = SimDevice { bucket: Some(bucket), ..millisecond() };
    for (bytes, iops) in [(4096, 500.0), (8192, 500.0), (32768, 250.0)] {
        let mut device = Device::new(&model, &[1 << 30], 1);
        let next = |_| Request { bytes, ..request(Op::Read) };
        near(closed_loop(&mut device, 16, (S, 21 * S), next).iops(), iops, 2e-3);
    }
}

/// What is not used comes back: after a pause of B / R the burst is whole again.
#[test]
fn a_bucket_fills_while_nothing_comes() {
    let bucket = SimBucket { iops: Some(100), burst_ios: 200, ..SimBucket::default() };
    let model = SimDevice { servers: 1000, bucket: Some(bucket), ..millisecond() };
    let mut device = Device::new(&model, &[1 << 30], 1);
    let mut at_once = |now: u64| {
        let done = (0..300).map(|_| device.serve(&request(Op::Read), now).done_ns);
        done.filter(|done| *done == now + MS).count()
    };
    // 300 at once leave it empty for a second; two more fill it; after half of that, it is half
    // full.
    assert_eq!([at_once(0), at_once(3 * S), at_once(5 * S)], [200, 200, 100]);
}

/// X = L / block; what one I/O needs on the link is added to its latency.
#[test]
fn a_link_carries_its_rate() {
    let model = SimDevice { link_bytes_per_s: Some(Bytes(8192 * 2000)), ..millisecond() };
    let seen = from_the_start(&model, 1, 10);
    near(seen.mean_ns(), 1.5 * MS as f64, 1e-6);
    near(from_the_start(&model, 32, 10).iops(), 2000.0, 1e-3);
}
