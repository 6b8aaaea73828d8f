//! Rates and latencies over time, in a bounded number of points: where there would be more, each
//! two become one.

use super::histogram::Histogram;
use crate::io::{Io, Kind};

/// At most this many points; beyond that, pairs of them are joined.
const POINTS_MAX: usize = 256;
/// The length of the first points.
const WIDTH_NS: u64 = 10_000_000;

/// What happened in one of equal parts of the time.
#[derive(Debug, Clone, PartialEq)]
pub struct TimePoint {
    /// Its begin, since that of the recording, or the first I/O where that is not known.
    pub from_ns: u64,
    /// How much time it covers. All points of a timeline cover the same.
    pub width_ns: u64,
    /// Reads that were issued in this time.
    pub reads: u64,
    /// Writes issued in it, durable ones too.
    pub writes: u64,
    /// Flushes that were issued in this time.
    pub flushes: u64,
    /// Bytes that these reads covered.
    pub read_bytes: u128,
    /// Bytes that these writes covered.
    pub write_bytes: u128,
    /// Latencies of these reads, as far as they are known.
    pub read_latency: Histogram<3>,
    /// Latencies of these writes, as far as they are known.
    pub write_latency: Histogram<3>,
}

/// The points while they are counted.
#[derive(Debug)]
pub(super) struct Timeline {
    width_ns: u64,
    points: Vec<TimePoint>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { width_ns: WIDTH_NS, points: Vec::new() }
    }
}

impl Timeline {
    pub(super) fn add(&mut self, since_ns: u64, io: &Io) {
        let index = self.reach(since_ns);
        self.points[index].add(io);
    }

    /// Makes the points until this time; gives the index of the last.
    #[expect(clippy::cast_possible_truncation, reason = "the index is below 256")]
    pub(super) fn reach(&mut self, since_ns: u64) -> usize {
        while since_ns / self.width_ns >= POINTS_MAX as u64 {
            self.halve();
        }
        let index = (since_ns / self.width_ns) as usize;
        while self.points.len() <= index {
            let from_ns = self.points.len() as u64 * self.width_ns;
            self.points.push(TimePoint::empty(from_ns, self.width_ns));
        }
        index
    }

    /// Doubles the length of the points and joins them in pairs.
    fn halve(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        let width_ns = self.width_ns;
        let join = |pair: &[TimePoint]| {
            let mut joined = pair[0].clone();
            pair[1..].iter().for_each(|second| joined.join(second));
            TimePoint { width_ns, ..joined }
        };
        self.points = self.points.chunks(2).map(join).collect();
    }

    pub(super) fn finish(self) -> Vec<TimePoint> {
        self.points
    }
}

impl TimePoint {
    fn empty(from_ns: u64, width_ns: u64) -> Self {
        Self {
            from_ns,
            width_ns,
            reads: 0,
            writes: 0,
            flushes: 0,
            read_bytes: 0,
            write_bytes: 0,
            read_latency: Histogram::default(),
            write_latency: Histogram::default(),
        }
    }

    fn add(&mut self, io: &Io) {
        let bytes = u128::from(io.length_bytes);
        let latency = match io.kind {
            Kind::Read => {
                (self.reads, self.read_bytes) = (self.reads + 1, self.read_bytes + bytes);
                &mut self.read_latency
            }
            Kind::Write | Kind::DurableWrite => {
                (self.writes, self.write_bytes) = (self.writes + 1, self.write_bytes + bytes);
                &mut self.write_latency
            }
            Kind::Flush => {
                self.flushes += 1;
                return;
            }
            Kind::Discard => return,
        };
        if let Some(latency_ns) = io.latency_ns {
            latency.add(latency_ns);
        }
    }

    fn join(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.flushes += other.flushes;
        self.read_bytes += other.read_bytes;
        self.write_bytes += other.write_bytes;
        self.read_latency.join(&other.read_latency);
        self.write_latency.join(&other.write_latency);
    }
}
