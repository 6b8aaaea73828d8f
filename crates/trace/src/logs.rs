//! Where the logs are, by how they are written: one after the other, and each write is made durable
//! before the next.
//!
//! A database appends to its log and waits until that is on stable storage, by a flush or by a
//! durable write. Data files are written at other places, or many writes share a flush. So a part
//! of a device is one of a log if most of its writes continue, or repeat, a recent write and were
//! made durable at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::files::FileClass;
use crate::io::{Io, Kind};

/// Size of a part that is a log or not, as a power of two; more parts become fewer, larger ones.
const REGION_BITS: u32 = 20;
const REGIONS_MAX: usize = 1 << 16;
/// The runs of writes that are followed on each device, and the most devices.
const RUNS: usize = 32;
const DEVICES_MAX: usize = 1024;
/// How far before the end of a write the next may begin: a log writes its last page again.
const OVERLAP_BYTES: u64 = 8192;
/// So many writes of a run may share a flush: a long record is written in pieces.
const SHARED_MAX: u32 = 8;
/// A part with fewer appends does not count as a log, because chance could explain them.
const APPENDS_MIN: u64 = 8;

/// Looks for logs while a trace is read.
#[derive(Debug, Default)]
pub struct LogFinder {
    /// Whether any write so far is marked as one of a log.
    is_marked: bool,
    bits: u32,
    devices: HashMap<u32, Vec<Run>>,
    regions: BTreeMap<(u32, u64), Counts>,
}

/// A run of writes, each of which continues or repeats the one before.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: u64,
    end: u64,
    /// Appends since the last flush or durable write.
    pending: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    writes: u64,
    appends: u64,
    /// Writes that are marked as those of a log.
    marked: u64,
}

/// The parts of devices that are logs. Where I/Os are marked by the class of their file, and some
/// write is one of a log file, those marks decide. Otherwise the pattern does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logs {
    is_marked: bool,
    bits: u32,
    regions: BTreeSet<(u32, u64)>,
    /// How many parts have writes of a log.
    parts: usize,
}

impl LogFinder {
    /// Starts without any I/O.
    #[must_use]
    pub fn new() -> Self {
        Self { bits: REGION_BITS, ..Self::default() }
    }

    /// Adds an I/O; give them in the order of their issue.
    pub fn add(&mut self, io: &Io) {
        match io.kind {
            Kind::Write | Kind::DurableWrite => self.write(io),
            Kind::Flush => self.flush(io.device),
            Kind::Read | Kind::Discard => {}
        }
    }

    fn write(&mut self, io: &Io) {
        let is_marked = io.stream == FileClass::Log.stream();
        self.is_marked |= is_marked;
        if !self.devices.contains_key(&io.device) && self.devices.len() == DEVICES_MAX {
            return;
        }
        let runs = self.devices.entry(io.device).or_default();
        let (start, end) = (io.offset_bytes, io.offset_bytes.saturating_add(io.length_bytes));
        let follows = |r: &Run| {
            let continues = (r.end.saturating_sub(OVERLAP_BYTES)..=r.end).contains(&start);
            (continues && end > r.end) || (start == r.start && end == r.end)
        };
        let before = runs.iter().position(follows).map(|index| runs.remove(index));
        runs.truncate(RUNS - 1);
        let durable = io.kind == Kind::DurableWrite;
        let pending = match before {
            Some(run) if !durable => run.pending.saturating_add(1),
            _ => 0,
        };
        runs.insert(0, Run { start, end, pending });
        let appends = u64::from(durable && before.is_some());
        let counts = self.regions.entry((io.device, start >> self.bits)).or_default();
        counts.writes += 1;
        counts.appends += appends;
        counts.marked += u64::from(is_marked);
        self.join();
    }

    /// What was appended since the last flush is durable, unless that was much.
    fn flush(&mut self, device: u32) {
        let Some(runs) = self.devices.get_mut(&device) else { return };
        for run in runs {
            let pending = std::mem::take(&mut run.pending);
            if pending <= SHARED_MAX {
                let counts = self.regions.entry((device, run.start >> self.bits)).or_default();
                counts.appends += u64::from(pending);
            }
        }
    }

    fn join(&mut self) {
        while self.regions.len() > REGIONS_MAX && self.bits < 63 {
            self.bits += 1;
            let mut joined: BTreeMap<(u32, u64), Counts> = BTreeMap::new();
            for ((device, region), counts) in &self.regions {
                let into = joined.entry((*device, region >> 1)).or_default();
                into.writes += counts.writes;
                into.appends += counts.appends;
                into.marked += counts.marked;
            }
            self.regions = joined;
        }
    }

    /// The logs of all that was added.
    #[must_use]
    pub fn finish(self) -> Logs {
        let is_log =
            |counts: &Counts| counts.appends >= APPENDS_MIN && 2 * counts.appends > counts.writes;
        let marked = self.regions.values().filter(|counts| counts.marked > 0).count();
        let found = self.regions.into_iter().filter(|(_, counts)| is_log(counts));
        let regions: BTreeSet<_> = found.map(|(region, _)| region).collect();
        let parts = if self.is_marked { marked } else { regions.len() };
        Logs { is_marked: self.is_marked, bits: self.bits, regions, parts }
    }
}

impl Logs {
    /// Whether no log was found: there is none, or its flushes are not in the trace.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.is_marked && self.regions.is_empty()
    }

    /// Whether an I/O writes to a log.
    #[must_use]
    pub fn is_log_write(&self, io: &Io) -> bool {
        if self.is_marked {
            let is_write = matches!(io.kind, Kind::Write | Kind::DurableWrite);
            return is_write && io.stream == FileClass::Log.stream();
        }
        self.is_log_write_by_pattern(io)
    }

    /// Whether an I/O writes to what looks like a log by how it is written, whatever its file is.
    #[must_use]
    pub fn is_log_write_by_pattern(&self, io: &Io) -> bool {
        matches!(io.kind, Kind::Write | Kind::DurableWrite)
            && self.regions.contains(&(io.device, io.offset_bytes >> self.bits))
    }

    /// Bytes of the parts that are logs.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.parts as u64).saturating_mul(1 << self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: u64 = 1 << 30;

    fn io(kind: Kind, offset_bytes: u64) -> Io {
        let length_bytes = if kind == Kind::Flush { 0 } else { 8192 };
        let (issued_ns, latency_ns, device, stream) = (0, None, 0, 0);
        Io { issued_ns, latency_ns, device, stream, offset_bytes, length_bytes, kind }
    }

    fn logs(ios: impl IntoIterator<Item = Io>) -> Logs {
        let mut finder = LogFinder::new();
        ios.into_iter().for_each(|io| finder.add(&io));
        finder.finish()
    }

    /// A database that commits a hundred times and writes pages of data in between.
    fn database(append: Kind, flushes: bool) -> Vec<Io> {
        let commit = |n: u64| {
            let data = io(Kind::Write, n * 7_919 % 1_000 * 8192);
            let flush = flushes.then(|| io(Kind::Flush, 0));
            [data, io(append, LOG + n * 8192)].into_iter().chain(flush)
        };
        (0..100).flat_map(commit).collect()
    }

    #[test]
    fn appends_that_are_durable_at_once_are_a_log() {
        for (append, flushes) in [(Kind::Write, true), (Kind::DurableWrite, false)] {
            let found = logs(database(append, flushes));
            assert!(found.is_log_write(&io(append, LOG + 5 * 8192)), "{append:?}");
            assert!(!found.is_log_write(&io(Kind::Write, 8192)), "{append:?}");
            assert!(!found.is_log_write(&io(Kind::Read, LOG)), "{append:?}");
            assert_eq!(found.bytes(), 1 << REGION_BITS);
        }
    }

    #[test]
    fn appends_that_nothing_makes_durable_are_no_log() {
        assert!(logs(database(Kind::Write, false)).is_empty());
    }

    /// A checkpoint, or a copy of a file: many writes in a row, and one flush.
    #[test]
    fn many_writes_that_share_a_flush_are_no_log() {
        let part = |n: u64| (0..20).map(move |i| io(Kind::Write, LOG + (n * 20 + i) * 8192));
        let parts = (0..20).flat_map(|n| part(n).chain([io(Kind::Flush, 0)]));
        assert!(logs(parts).is_empty());
    }

    /// A log that writes its last page again until that is full.
    #[test]
    fn a_page_that_is_written_again_is_one_of_the_log() {
        let commit = |n: u64| [io(Kind::Write, LOG + n / 4 * 8192), io(Kind::Flush, 0)];
        assert!(!logs((0..100).flat_map(commit)).is_empty());
    }

    /// The journal of a file system looks like a log, and a log that is written in large pieces
    /// does not. Marks tell them apart.
    #[test]
    fn marks_decide_over_the_pattern() {
        let mark = |io: Io| {
            let is_log = io.kind == Kind::Write && io.offset_bytes < LOG;
            Io { stream: if is_log { FileClass::Log } else { FileClass::Other }.stream(), ..io }
        };
        let found = logs(database(Kind::Write, true).into_iter().map(mark));
        let (log, journal) = (mark(io(Kind::Write, 8192)), mark(io(Kind::Write, LOG)));
        assert!(found.is_log_write(&log) && !found.is_log_write_by_pattern(&log));
        assert!(!found.is_log_write(&journal) && found.is_log_write_by_pattern(&journal));
        assert!(found.bytes() >= 1 << REGION_BITS && !found.is_empty());
    }

    /// Pages of data all over a large disk: parts become larger, and the log is still found.
    #[test]
    fn a_log_among_very_many_parts_is_found() {
        let data = (0..1 << 18).map(|n| io(Kind::Write, (1 << 40) + (n << REGION_BITS)));
        let found = logs(database(Kind::Write, true).into_iter().chain(data));
        assert!(found.is_log_write(&io(Kind::Write, LOG)));
        assert!(!found.is_log_write(&io(Kind::Write, 1 << 40)));
    }
}
