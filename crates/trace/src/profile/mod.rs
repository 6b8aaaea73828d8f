//! What a trace is like: figures of its I/Os, in bounded memory however long it is.
//!
//! Give the I/Os in the order of their issue ([`Ordered`](crate::Ordered)). METHODS.md defines
//! each figure.

mod bursts;
mod cache;
mod depth;
mod histogram;
mod kinds;
mod peak;
mod sequential;
mod timeline;

pub use bursts::Burstiness;
pub use cache::{CachePoint, HotPart, Locality, PAGE_BYTES};
pub use depth::Depth;
pub use histogram::{Histogram, Latency};
pub use kinds::{DeviceTotal, KindTotal, SizeCount};
pub use peak::Peak;
pub use sequential::Sequence;
pub use timeline::TimePoint;

use crate::io::{Io, Kind};

/// The figures of a trace while it is read.
#[derive(Debug, Default)]
pub struct Profile {
    first_ns: Option<u64>,
    last_ns: u64,
    newest_ns: u64,
    late: u64,
    kinds: kinds::Kinds,
    timeline: timeline::Timeline,
    sequences: [sequential::Sequences; 2],
    locality: cache::Sampler,
    bursts: [bursts::Bursts; 3],
    depth: depth::InFlight,
    second: peak::Windows<1_000_000_000>,
    minute: peak::Windows<60_000_000_000>,
}

/// What a trace is like. What its source does not tell is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The time that was recorded: from the begin or, where it is not known, the first issue, to
    /// the end or, where it is not known, the last issue or completion. Rates are over it.
    pub seconds: f64,
    /// I/Os of all kinds, flushes and discards included.
    pub ios: u64,
    /// I/Os that came so late that they could not be put into order.
    pub late: u64,
    /// Each kind that occurs in the trace.
    pub kinds: Vec<KindTotal>,
    /// Each device, the first 64 of them.
    pub devices: Vec<DeviceTotal>,
    /// Rates and latencies over time: at most 256 points of equal length.
    pub timeline: Vec<TimePoint>,
    /// How sequential reads are; absent without reads.
    pub read_sequence: Option<Sequence>,
    /// How sequential writes are, durable ones included; absent without writes.
    pub write_sequence: Option<Sequence>,
    /// Which parts are used how often, and what a cache would do.
    pub locality: Option<Locality>,
    /// How bursty all reads and writes are, over time scales.
    pub bursts: Vec<Burstiness>,
    /// How bursty reads are, over time scales.
    pub read_bursts: Vec<Burstiness>,
    /// How bursty writes are, durable ones included.
    pub write_bursts: Vec<Burstiness>,
    /// How many I/Os are in flight.
    pub depth: Option<Depth>,
    /// The busiest second, where the trace is as long.
    pub busiest_second: Option<Peak>,
    /// The busiest minute, where the trace is longer.
    pub busiest_minute: Option<Peak>,
}

impl Profile {
    /// Starts without any I/O. Time counts from the first one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A profile of a recording that began then, on the clock of the I/Os; at the first I/O where
    /// that is not known.
    #[must_use]
    pub fn recorded_from(begin_ns: Option<u64>) -> Self {
        Self { first_ns: begin_ns, newest_ns: begin_ns.unwrap_or(0), ..Self::default() }
    }

    /// Adds an I/O. A late one counts at the latest time reached so far.
    pub fn add(&mut self, io: &Io) {
        let first_ns = *self.first_ns.get_or_insert(io.issued_ns);
        // What comes late counts at the time that has been reached.
        self.late += u64::from(io.issued_ns < self.newest_ns);
        self.newest_ns = self.newest_ns.max(io.issued_ns);
        let since_ns = self.newest_ns - first_ns;
        let end_ns = io.issued_ns.saturating_add(io.latency_ns.unwrap_or(0));
        self.last_ns = self.last_ns.max(end_ns.saturating_sub(first_ns)).max(since_ns);
        self.kinds.add(io);
        self.timeline.add(since_ns, io);
        self.depth.add(self.newest_ns, io.latency_ns);
        let side = match io.kind {
            Kind::Read => 0,
            Kind::Write | Kind::DurableWrite => 1,
            Kind::Flush | Kind::Discard => return,
        };
        self.second.add(since_ns, io.length_bytes);
        self.minute.add(since_ns, io.length_bytes);
        let [all, reads, writes] = &mut self.bursts;
        all.add(since_ns);
        let of_kind = if side == 0 { reads } else { writes };
        of_kind.add(since_ns);
        let [reads, writes] = &mut self.sequences;
        (if side == 0 { reads } else { writes }).add(io);
        self.locality.add(io);
    }

    /// The figures of all that was added.
    #[must_use]
    pub fn finish(self) -> Summary {
        self.finish_at(None)
    }

    /// The same of a recording that ended then, on the clock of the I/Os; with the last I/O where
    /// that is not known.
    #[must_use]
    pub fn finish_at(mut self, end_ns: Option<u64>) -> Summary {
        let first_ns = self.first_ns.unwrap_or(0);
        let end_ns = end_ns.map_or(0, |end_ns| end_ns.saturating_sub(first_ns));
        let span_ns = self.last_ns.max(end_ns);
        let until_ns = (self.newest_ns - first_ns).max(end_ns);
        if let Some(last_ns) = end_ns.checked_sub(1) {
            self.timeline.reach(last_ns);
        }
        let [read_sequence, write_sequence] = self.sequences.map(sequential::Sequences::finish);
        let [bursts, read_bursts, write_bursts] = self.bursts.map(|b| b.finish(until_ns));
        Summary {
            seconds: span_ns as f64 / 1e9,
            ios: self.kinds.ios(),
            late: self.late,
            depth: self.depth.finish(span_ns),
            timeline: self.timeline.finish(),
            read_sequence,
            write_sequence,
            locality: self.locality.finish(),
            bursts,
            read_bursts,
            write_bursts,
            busiest_second: self.second.finish().filter(|_| span_ns >= 1_000_000_000),
            busiest_minute: self.minute.finish().filter(|_| span_ns > 60_000_000_000),
            devices: self.kinds.devices(),
            kinds: self.kinds.finish(),
        }
    }
}
