//! The mix: I/Os and bytes of each kind and on each device, their sizes and latencies.

use std::collections::BTreeMap;

use super::histogram::{Histogram, Latency};
use crate::io::{Io, Kind};

/// The most sizes that are told apart, and the most that are reported.
const SIZES_MAX: usize = 4096;
const SIZES_SHOWN: usize = 8;
/// The most devices that are told apart.
const DEVICES_MAX: usize = 64;

/// I/Os of one kind on all devices, with their sizes and latencies.
#[derive(Debug, Clone, PartialEq)]
pub struct KindTotal {
    /// The operation that these I/Os have in common.
    pub kind: Kind,
    /// How many of them the trace has.
    pub ios: u64,
    /// Bytes that they cover.
    pub bytes: u128,
    /// The most frequent sizes, the most frequent first; at most 8.
    pub sizes: Vec<SizeCount>,
    /// I/Os whose size is not one of those listed.
    pub other_sizes: u64,
    /// Their latencies; absent if none of them is known.
    pub latency: Option<Latency>,
}

/// How many I/Os of a kind have exactly this size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeCount {
    /// The size of one I/O, in bytes.
    pub bytes: u64,
    /// How many I/Os have this size.
    pub ios: u64,
}

/// What was asked of one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceTotal {
    /// Its number in the trace.
    pub device: u32,
    /// Reads of any size.
    pub reads: u64,
    /// Writes, including durable ones.
    pub writes: u64,
    /// Flushes of its volatile cache.
    pub flushes: u64,
    /// Discards; their bytes are in neither sum below.
    pub discards: u64,
    /// Bytes that the reads covered.
    pub read_bytes: u128,
    /// Bytes that the writes covered, including durable ones.
    pub write_bytes: u128,
    /// Where the last of its reads and writes ends.
    pub end_bytes: u64,
}

/// All kinds while they are counted.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    kinds: BTreeMap<Kind, OfKind>,
    devices: BTreeMap<u32, DeviceTotal>,
}

#[derive(Debug, Default)]
struct OfKind {
    ios: u64,
    bytes: u128,
    sizes: BTreeMap<u64, u64>,
    latency: Histogram<6>,
}

impl Kinds {
    pub(super) fn add(&mut self, io: &Io) {
        let kind = self.kinds.entry(io.kind).or_default();
        kind.ios += 1;
        kind.bytes += u128::from(io.length_bytes);
        if kind.sizes.len() < SIZES_MAX || kind.sizes.contains_key(&io.length_bytes) {
            *kind.sizes.entry(io.length_bytes).or_default() += 1;
        }
        if let Some(latency_ns) = io.latency_ns {
            kind.latency.add(latency_ns);
        }
        if self.devices.len() < DEVICES_MAX || self.devices.contains_key(&io.device) {
            self.devices.entry(io.device).or_insert_with(|| DeviceTotal::of(io.device)).add(io);
        }
    }

    pub(super) fn ios(&self) -> u64 {
        self.kinds.values().map(|kind| kind.ios).sum()
    }

    pub(super) fn devices(&self) -> Vec<DeviceTotal> {
        self.devices.values().copied().collect()
    }

    pub(super) fn finish(self) -> Vec<KindTotal> {
        self.kinds.into_iter().map(|(kind, counted)| counted.finish(kind)).collect()
    }
}

impl OfKind {
    fn finish(self, kind: Kind) -> KindTotal {
        let mut sizes: Vec<SizeCount> =
            self.sizes.into_iter().map(|(bytes, ios)| SizeCount { bytes, ios }).collect();
        sizes.sort_by_key(|size| (std::cmp::Reverse(size.ios), size.bytes));
        sizes.truncate(SIZES_SHOWN);
        let other_sizes = self.ios - sizes.iter().map(|size| size.ios).sum::<u64>();
        let (ios, bytes, latency) = (self.ios, self.bytes, self.latency.latency());
        KindTotal { kind, ios, bytes, sizes, other_sizes, latency }
    }
}

impl DeviceTotal {
    fn of(device: u32) -> Self {
        let (read_bytes, write_bytes) = (0, 0);
        let (reads, writes, flushes, discards, end_bytes) = (0, 0, 0, 0, 0);
        Self { device, reads, writes, flushes, discards, read_bytes, write_bytes, end_bytes }
    }

    fn add(&mut self, io: &Io) {
        let bytes = u128::from(io.length_bytes);
        match io.kind {
            Kind::Read => (self.reads, self.read_bytes) = (self.reads + 1, self.read_bytes + bytes),
            Kind::Write | Kind::DurableWrite => {
                (self.writes, self.write_bytes) = (self.writes + 1, self.write_bytes + bytes);
            }
            Kind::Flush => self.flushes += 1,
            Kind::Discard => self.discards += 1,
        }
        if !matches!(io.kind, Kind::Flush | Kind::Discard) {
            self.end_bytes = self.end_bytes.max(io.offset_bytes.saturating_add(io.length_bytes));
        }
    }
}
