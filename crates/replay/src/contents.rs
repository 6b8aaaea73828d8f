//! What is in the part of a trace that is to be replayed: one pass over it.

use results::Histogram;
use trace::{Io, Kind, LogFinder, Logs, TraceError};

use crate::map::Regions;
use crate::outcome::{LOG_WRITES, SETS, class_of};
use crate::{Ios, OpenTrace, Selection};

/// The largest I/O that is made; longer ones are cut to it.
pub(crate) const LARGEST_BYTES: u64 = 4 << 20;

/// Reads the I/Os of a part, in the order of the trace.
pub(crate) fn selected(open: &OpenTrace<'_>, selection: &Selection) -> Result<Ios, TraceError> {
    let selection = *selection;
    let is_before = move |io: &Result<Io, TraceError>| {
        io.as_ref().map_or(true, |io| io.issued_ns < selection.to_ns)
    };
    let is_in = move |io: &Result<Io, TraceError>| {
        io.as_ref().map_or(true, |io| selection.contains(io.issued_ns))
    };
    Ok(Box::new(open()?.take_while(is_before).filter(is_in)))
}

/// What a part of a trace holds.
#[derive(Debug, Clone)]
pub struct Contents {
    /// I/Os that can be replayed: all but discards.
    pub ios: u64,
    /// Discards, which are not replayed.
    pub discards: u64,
    /// I/Os without a latency in the trace; discards are not counted.
    pub untimed: u64,
    /// I/Os longer than 4 MiB, which are cut to that.
    pub cut: u64,
    /// The longest I/O that is made, in bytes.
    pub largest_bytes: u64,
    /// When the part begins in the trace.
    pub from_ns: u64,
    /// The length of the part: up to the last issue or completion of its I/Os, or up to the end
    /// that the selection has if that is earlier.
    pub span_ns: u64,
    /// The end of the last byte that is used, of any device.
    pub end_bytes: u64,
    /// How many devices the part reads or writes.
    pub devices: usize,
    /// Whether the part has any write, durable or not.
    pub writes: bool,
    /// Recorded latencies by class, in the order of [`CLASSES`](crate::CLASSES); last those of the
    /// writes of the log.
    pub latencies: [Histogram; SETS],
    /// How many I/Os are in the same sets.
    pub counts: [u64; SETS],
    /// Time that I/Os took together: divided by the span, the mean number in flight.
    pub busy_ns: u128,
    regions: Regions,
    logs: Logs,
}

impl Contents {
    /// Reads the trace.
    ///
    /// # Errors
    /// The trace cannot be read.
    pub fn read(open: &OpenTrace<'_>, selection: &Selection) -> Result<Self, TraceError> {
        let mut contents = Self {
            ios: 0,
            discards: 0,
            untimed: 0,
            cut: 0,
            largest_bytes: 0,
            from_ns: 0,
            span_ns: 0,
            end_bytes: 0,
            devices: 0,
            writes: false,
            latencies: std::array::from_fn(|_| Histogram::new()),
            counts: [0; SETS],
            busy_ns: 0,
            regions: Regions::default(),
            logs: Logs::default(),
        };
        let (mut first, mut last, mut end) = (u64::MAX, 0, 0);
        let mut finder = LogFinder::new();
        for io in selected(open, selection)? {
            let io = io?;
            finder.add(&io);
            first = first.min(io.issued_ns);
            last = last.max(io.issued_ns);
            end = end.max(io.issued_ns.saturating_add(io.latency_ns.unwrap_or(0)));
            contents.add(&io);
        }
        contents.from_ns = if selection.from_ns > 0 { selection.from_ns } else { first.min(last) };
        let to = end.max(last).min(selection.to_ns);
        contents.span_ns = to.saturating_sub(contents.from_ns).max(1);
        contents.devices = contents.regions.devices();
        contents.logs = finder.finish();
        contents.count_log(open, selection)?;
        Ok(contents)
    }

    /// Counts the writes of the log, which are known when all is read.
    fn count_log(&mut self, open: &OpenTrace<'_>, selection: &Selection) -> Result<(), TraceError> {
        if self.logs.is_empty() {
            return Ok(());
        }
        for io in selected(open, selection)? {
            let io = io?;
            if self.logs.is_log_write(&io) {
                self.counts[LOG_WRITES] += 1;
                io.latency_ns.iter().for_each(|ns| self.latencies[LOG_WRITES].record(*ns));
            }
        }
        Ok(())
    }

    fn add(&mut self, io: &Io) {
        let Some(class) = class_of(io.kind) else {
            self.discards += 1;
            return;
        };
        self.ios += 1;
        self.counts[class] += 1;
        match io.latency_ns {
            Some(latency) => {
                self.latencies[class].record(latency);
                self.busy_ns += u128::from(latency);
            }
            None => self.untimed += 1,
        }
        if io.kind == Kind::Flush {
            return;
        }
        self.writes |= io.kind != Kind::Read;
        let bytes = io.length_bytes.min(LARGEST_BYTES);
        self.cut += u64::from(io.length_bytes > LARGEST_BYTES);
        self.largest_bytes = self.largest_bytes.max(bytes);
        self.end_bytes = self.end_bytes.max(io.offset_bytes.saturating_add(bytes));
        self.regions.add(io.device, io.offset_bytes, bytes);
    }

    /// Where on the target the I/Os go.
    pub(crate) fn regions(&self) -> &Regions {
        &self.regions
    }

    /// The parts of the devices that are logs, so their writes can be told apart.
    #[must_use]
    pub fn logs(&self) -> &Logs {
        &self.logs
    }

    /// Bytes of the parts that are used, which is what [`MapKind::Compact`](crate::MapKind) needs.
    #[must_use]
    pub fn touched_bytes(&self) -> u64 {
        self.regions.bytes()
    }

    /// Whether every I/O has a latency, which the modes that wait for completions need.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.untimed == 0
    }

    /// The length of the part at another speed.
    #[must_use]
    pub fn span_at(&self, speed: f64) -> u64 {
        crate::scaled(self.span_ns, 1.0 / speed)
    }

    /// I/Os in flight at the same time, on average.
    #[must_use]
    pub fn mean_in_flight(&self) -> f64 {
        self.busy_ns as f64 / self.span_ns as f64
    }
}
