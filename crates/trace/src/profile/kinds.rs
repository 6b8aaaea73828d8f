//! The mix: I/Os and bytes of each kind and on each device, their sizes and latencies.

use std::collections::BTreeMap;

use super::histogram::{Histogram, Latency};
use crate::io::{Io, Kind};

/// The most sizes that are told apart, and the most that are reported.
const SIZES_MAX: usize = 4096;
const SIZES_SHOWN: usize = 8;
/// The most devices that are told apart.
const DEVICES_MAX: usize = 64;

/// I/Os of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct KindTotal {
    /// The kind.
    pub kind: Kind,
    /// How many.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u128,
    /// The most frequent sizes, the most frequent first; at most 8.
    pub sizes: Vec<SizeCount>,
    /// I/Os of other sizes.
    pub other_sizes: u64,
    /// Their latencies.
    pub latency: Option<Latency>,
}

/// How often a size occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeCount {
    /// The size.
    pub bytes: u64,
    /// I/Os of it.
    pub ios: u64,
}

/// What one device did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceTotal {
    /// Its number in the trace.
    pub device: u32,
    /// Reads.
    pub reads: u64,
    /// Writes, durable ones too.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
    /// Bytes that were read.
    pub read_bytes: u128,
    /// Bytes that were written.
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
