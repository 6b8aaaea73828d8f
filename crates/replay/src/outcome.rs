//! What came of a replay: counts, latencies, and how faithful the times were.

use crate::host::HostFigures;
use results::Histogram;
use trace::Kind;

/// The classes that are counted apart.
pub const CLASSES: [Kind; 4] = [Kind::Read, Kind::Write, Kind::DurableWrite, Kind::Flush];

/// The place of the writes of the log, which are counted in their class, too.
pub const LOG_WRITES: usize = CLASSES.len();

/// How many sets of I/Os are counted: the classes, and the writes of the log.
pub const SETS: usize = CLASSES.len() + 1;

/// The class of a kind; `None` for discards, which are not replayed.
pub(crate) fn class_of(kind: Kind) -> Option<usize> {
    CLASSES.iter().position(|class| *class == kind)
}

/// What was counted of one class of I/Os.
#[derive(Debug, Clone, Default)]
pub struct ClassFigures {
    /// I/Os that completed without an error.
    pub ios: u64,
    /// Bytes that these I/Os moved.
    pub bytes: u64,
    /// Latency from the moment at which each was due.
    pub from_due: Histogram,
    /// Latency from the moment at which each was issued.
    pub from_issue: Histogram,
}

/// Parts of a replay whose latencies are kept apart.
pub const PARTS: usize = 3;

/// What happened in an interval of the replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interval {
    /// I/Os that completed in it without an error, flushes included.
    pub ios: u64,
    /// The longest latency of these, from the moment at which each was due.
    pub max_ns: u64,
    /// The sum of their latencies, from the moment at which each was due.
    pub sum_ns: u64,
}

/// Everything that a replay counts.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// By class, in the order of [`CLASSES`]; last the writes of the log.
    pub classes: [ClassFigures; SETS],
    /// Latency from due of each third of the replay, by the same sets.
    pub parts: [[Histogram; SETS]; PARTS],
    /// How late I/Os were issued: from the moment at which each was due.
    pub lag: Histogram,
    /// I/Os that were due and had to wait because as many as are allowed were in flight.
    pub waited: u64,
    /// The most I/Os that were in flight at once.
    pub most_in_flight: u32,
    /// From the start to the last completion.
    pub elapsed_ns: u64,
    /// How late the last I/Os were issued: the backlog that had built up.
    pub backlog_ns: u64,
    /// When the last I/O was due, in [`Mode::AsTimed`](crate::Mode); by then all should be issued.
    pub last_due_ns: u64,
    /// I/Os that failed. The first failure ends the replay.
    pub errors: u64,
    /// What the first of them said.
    pub first_error: Option<String>,
    /// I/Os that had not returned when the replay gave up waiting.
    pub unfinished: u64,
    /// The replay was ended before the end of the trace.
    pub ended_early: bool,
    /// The replay over time, in equal intervals.
    pub intervals: Vec<Interval>,
    /// The length of each of the intervals.
    pub interval_ns: u64,
    /// What of all that is the work of this host, and not of the target.
    pub host: HostFigures,
}

impl Figures {
    /// I/Os of all classes that completed without an error.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.classes[..CLASSES.len()].iter().map(|class| class.ios).sum()
    }

    /// I/Os per second, over the time that the replay took.
    #[must_use]
    pub fn iops(&self) -> f64 {
        self.ios() as f64 * 1e9 / self.elapsed_ns.max(1) as f64
    }
}
