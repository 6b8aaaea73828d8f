//! What one worker has counted since it last published.
//!
//! A worker counts into a [`Snapshot`] that is its own. At every boundary of the series, and in
//! long intervals every second, it sends the snapshot to the coordinator and continues with an
//! empty one, so that totals are the sum of the intervals by construction and the hot path has
//! neither a lock nor a shared cache line.

use results::Histogram;

use crate::queue::KINDS;

/// Counts and latencies of one kind of I/O.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// I/Os that completed without error.
    pub ios: u64,
    /// Bytes that these I/Os moved.
    pub bytes: u64,
    /// I/Os that completed with an error.
    pub errors: u64,
    /// From the intended start, where there is one, otherwise from submission, to completion.
    pub latency: Histogram,
    /// The two parts of the latency; only in an open loop.
    pub open_loop: Option<Box<OpenLoop>>,
}

/// The two parts of an open loop's latency.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenLoop {
    /// From submission to completion: the service time.
    pub service: Histogram,
    /// From the intended start to submission.
    pub delay: Histogram,
}

impl OpenLoop {
    #[inline(never)]
    fn record(&mut self, due_ns: u64, issued_ns: u64, now_ns: u64) {
        self.service.record(now_ns.saturating_sub(issued_ns));
        self.delay.record(issued_ns.saturating_sub(due_ns));
    }
}

impl Tally {
    /// An empty tally; `open_loop` says whether service and delay are kept apart.
    #[must_use]
    pub(crate) fn new(open_loop: bool) -> Self {
        Self { open_loop: open_loop.then(Box::default), ..Self::default() }
    }

    /// Counts one I/O that has finished.
    #[inline]
    pub(crate) fn record(&mut self, bytes: u32, due_ns: u64, issued_ns: u64, now_ns: u64) {
        self.ios += 1;
        self.bytes += u64::from(bytes);
        self.latency.record(now_ns.saturating_sub(due_ns));
        if let Some(parts) = &mut self.open_loop {
            parts.record(due_ns, issued_ns, now_ns);
        }
    }

    /// Adds the counts of another tally.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.errors += other.errors;
        // In a sum of open and closed loops, what a closed one counted is service time without
        // delay.
        if other.open_loop.is_some() && self.open_loop.is_none() {
            let service = self.latency.clone();
            self.open_loop = Some(Box::new(OpenLoop { service, ..OpenLoop::default() }));
        }
        self.latency.merge(&other.latency);
        if let Some(mine) = &mut self.open_loop {
            let theirs = other.open_loop.as_deref();
            mine.service.merge(theirs.map_or(&other.latency, |t| &t.service));
            if let Some(theirs) = theirs {
                mine.delay.merge(&theirs.delay);
            }
        }
    }

    fn clear(&mut self) {
        if self.ios > 0 {
            self.latency.clear();
            if let Some(parts) = &mut self.open_loop {
                parts.service.clear();
                parts.delay.clear();
            }
        }
        (self.ios, self.bytes, self.errors) = (0, 0, 0);
    }
}

/// Which part of a run a snapshot belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    /// Before the measured window; not counted.
    WarmUp,
    /// This interval of the measured window, counted from 0.
    Interval(u64),
}

/// What one worker counted in one span.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    /// The number of the worker that sends it.
    pub worker: usize,
    /// The span; a worker that is held up may give several intervals as the first of them.
    pub span: Span,
    /// One entry each for reads, writes and flushes.
    pub tallies: [Tally; KINDS],
    /// Up to when it counted, from the beginning of the window; set when it is sent.
    pub until_ns: u64,
    /// Integral of the I/Os in flight over time, in nanoseconds.
    pub in_flight_ns: f64,
    /// The part of that integral that failed I/Os had.
    pub failed_ns: f64,
    /// Longest time without a completion while I/Os were in flight.
    pub longest_gap_ns: u64,
    /// CPU time of the thread at the end of the span, where the system tells.
    pub thread_cpu_ns: Option<u64>,
}

impl Snapshot {
    /// An empty snapshot of the warm-up.
    #[must_use]
    pub(crate) fn new(worker: usize, open_loop: bool) -> Self {
        Self {
            worker,
            span: Span::WarmUp,
            tallies: std::array::from_fn(|_| Tally::new(open_loop)),
            until_ns: 0,
            in_flight_ns: 0.0,
            failed_ns: 0.0,
            longest_gap_ns: 0,
            thread_cpu_ns: None,
        }
    }

    /// Empties it for the next use, without giving memory back.
    pub(crate) fn clear(&mut self) {
        self.tallies.iter_mut().for_each(Tally::clear);
        (self.in_flight_ns, self.failed_ns) = (0.0, 0.0);
        self.longest_gap_ns = 0;
        self.thread_cpu_ns = None;
    }
}
