//! What was recorded, as amounts that can be compared with what the kernel counts itself.

use trace::{Io, Kind};

/// I/Os and bytes by what they do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Reads.
    pub reads: u64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Writes, durable ones included.
    pub writes: u64,
    /// Bytes that were written.
    pub write_bytes: u64,
    /// Flushes of the device.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
}

impl Tally {
    /// Counts an I/O.
    pub fn add(&mut self, io: &Io) {
        match io.kind {
            Kind::Read => {
                self.reads += 1;
                self.read_bytes = self.read_bytes.saturating_add(io.length_bytes);
            }
            Kind::Write | Kind::DurableWrite => {
                self.writes += 1;
                self.write_bytes = self.write_bytes.saturating_add(io.length_bytes);
            }
            Kind::Flush => self.flushes += 1,
            Kind::Discard => self.discards += 1,
        }
    }

    /// Both together.
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
    /// The last I/Os.
    pub ios: Vec<Io>,
    /// What was not recorded.
    pub counts: Counts,
    /// When recording ended, on the clock of the I/Os: it began at 0.
    pub until_ns: u64,
}

/// What a recording did not turn into I/Os of the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events that there was no room for. Each is an I/O (eBPF), or the issue or the completion of
    /// one (tracefs).
    pub lost: u64,
    /// Completions of I/Os that began before the recording.
    pub early: Tally,
    /// Completions without bytes: callers that waited for a flush, and `twice`.
    pub empty: u64,
    /// Writes that the kernel completed once more without bytes, after their flushes; absent if
    /// unknown.
    pub twice: Option<u64>,
    /// I/Os whose arrival the kernel did not note; they have no latency.
    pub undated: u64,
}
