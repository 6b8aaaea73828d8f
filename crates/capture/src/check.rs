//! What was recorded, as amounts that can be compared with what the kernel counts itself.

use trace::{Io, Kind};

/// I/Os and bytes by what they do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Reads of any size.
    pub reads: u64,
    /// Bytes that these reads covered.
    pub read_bytes: u64,
    /// Writes, durable ones included.
    pub writes: u64,
    /// Bytes that these writes covered.
    pub write_bytes: u64,
    /// Flushes, and what is recorded as one: a caller that waited for a flush.
    pub flushes: u64,
    /// Discards; their bytes are not counted.
    pub discards: u64,
}

impl Tally {
    /// Counts one I/O.
    pub fn add(&mut self, io: &Io) {
        self.add_all(io.kind, 1, io.length_bytes);
    }

    /// Counts I/Os of a kind, which have these bytes together.
    pub fn add_all(&mut self, kind: Kind, ios: u64, bytes: u64) {
        match kind {
            Kind::Read => {
                self.reads += ios;
                self.read_bytes = self.read_bytes.saturating_add(bytes);
            }
            Kind::Write | Kind::DurableWrite => {
                self.writes += ios;
                self.write_bytes = self.write_bytes.saturating_add(bytes);
            }
            Kind::Flush => self.flushes += ios,
            Kind::Discard => self.discards += ios,
        }
    }

    /// The sum of both tallies.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            read_bytes: self.read_bytes.saturating_add(other.read_bytes),
            writes: self.writes + other.writes,
            write_bytes: self.write_bytes.saturating_add(other.write_bytes),
            flushes: self.flushes + other.flushes,
            discards: self.discards + other.discards,
        }
    }
}

/// What is left when a recording ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    /// I/Os that no poll took; of tracefs also those in flight, without a latency.
    pub ios: Vec<Io>,
    /// What the whole recording lost, left out or met in an unusual form.
    pub counts: Counts,
    /// When recording ended, on the clock of the I/Os: it began at 0.
    pub until_ns: u64,
}

/// Lost events by their reason. Each is an I/O (eBPF), or the issue or the completion of one
/// (tracefs).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lost {
    /// Events that found no room in the buffer.
    pub full: u64,
    /// The program would have interrupted itself, so the kernel did not run it.
    pub interrupted: u64,
    /// The table of the chosen processes' I/Os had no room.
    pub unnoted: u64,
}

impl Lost {
    /// Lost events for all reasons together.
    #[must_use]
    pub fn total(self) -> u64 {
        self.full + self.interrupted + self.unnoted
    }
}

/// What a recording did not turn into I/Os of the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events that are known to be lost.
    pub lost: Lost,
    /// Completions of I/Os that began before the recording.
    pub early: Tally,
    /// I/Os of other processes or cgroups than those that are recorded.
    pub others: Tally,
    /// Completions without bytes: callers that waited for a flush, and `twice`.
    pub empty: u64,
    /// Empty completions that were recorded as flushes.
    pub waits: u64,
    /// Writes that the kernel completed once more without bytes, after their flushes; absent if
    /// unknown.
    pub twice: Option<u64>,
    /// I/Os whose arrival the kernel did not note; they have no latency.
    pub undated: u64,
}
