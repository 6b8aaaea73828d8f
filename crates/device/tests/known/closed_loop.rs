//! The simplest load: so many I/Os in flight, and each that is done makes room for the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use device::{Device, Op, Request};
use workload::{Nanoseconds, SimDevice};

/// One millisecond in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;
/// One second in nanoseconds.
pub(crate) const S: u64 = 1_000_000_000;

/// A device of eight servers, each of which needs 1 ms.
pub(crate) fn millisecond() -> SimDevice {
    let time = Nanoseconds(MS);
    SimDevice { read_ns: time, write_ns: time, sync_ns: time, ..SimDevice::default() }
}

/// 8 KiB at the beginning of the first target.
pub(crate) fn request(op: Op) -> Request {
    Request { target: 0, op, offset: 0, bytes: 8192, durable: false }
}

/// What a load saw.
#[derive(Debug, Default)]
pub(crate) struct LoadRecord {
    /// Arrival and completion of each I/O that was done in the window, in the order of completion.
    pub(crate) ios: Vec<(u64, u64)>,
    /// Length of the window.
    pub(crate) seconds: f64,
}

impl LoadRecord {
    /// I/Os a second.
    pub(crate) fn iops(&self) -> f64 {
        self.ios.len() as f64 / self.seconds
    }

    /// Mean time of an I/O.
    pub(crate) fn mean_ns(&self) -> f64 {
        let sum: u64 = self.ios.iter().map(|(from, to)| to - from).sum();
        sum as f64 / self.ios.len() as f64
    }

    /// I/Os done before a moment.
    pub(crate) fn done_before(&self, ns: u64) -> usize {
        self.ios.partition_point(|(_, to)| *to < ns)
    }
}

/// `depth` I/Os in flight until `until_ns`; what is done from `from_ns` on counts. `next` makes the
/// next I/O of a slot.
pub(crate) fn closed_loop(
    device: &mut Device,
    depth: usize,
    (from_ns, until_ns): (u64, u64),
    mut next: impl FnMut(usize) -> Request,
) -> LoadRecord {
    let mut in_flight = BinaryHeap::new();
    for slot in 0..depth {
        in_flight.push(Reverse((device.serve(&next(slot), 0).done_ns, slot, 0)));
    }
    let mut seen =
        LoadRecord { seconds: (until_ns - from_ns) as f64 / 1e9, ..LoadRecord::default() };
    while let Some(Reverse((now, slot, arrived))) = in_flight.pop()
        && now < until_ns
    {
        if now >= from_ns {
            seen.ios.push((arrived, now));
        }
        in_flight.push(Reverse((device.serve(&next(slot), now).done_ns, slot, now)));
    }
    seen
}

/// Reads at the beginning of one target of 1 GiB, after a second of warm-up.
pub(crate) fn reads(model: &SimDevice, depth: usize, seconds: u64) -> LoadRecord {
    let mut device = Device::new(model, &[1 << 30], 1);
    closed_loop(&mut device, depth, (S, (1 + seconds) * S), |_| request(Op::Read))
}

/// Asserts that two numbers differ by at most this share.
#[track_caller]
pub(crate) fn near(value: f64, truth: f64, share: f64) {
    let deviation = (value - truth).abs() / truth.abs();
    assert!(deviation <= share, "{value} is {:.3} % off {truth}", 100.0 * deviation);
}

/// Mean and standard deviation.
pub(crate) fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (values.len() - 1) as f64).sqrt())
}
