//! Puts together what the workers send: totals for each worker, and the series.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

use results::{Histogram, Point};

use crate::queue::KINDS;
use crate::recorder::{Snapshot, Span, Tally};
use crate::worker::WorkerEnd;

/// Intervals that may be open at a time before the oldest is closed without those who are late.
const OPEN_MAX: usize = 8;

/// What one worker did in the whole window.
pub(crate) struct WorkerTotals {
    /// Reads, writes, flushes.
    pub tallies: [Tally; KINDS],
    /// Integral of the I/Os in flight over time.
    pub in_flight_ns: f64,
    /// What failed I/Os have a part in of it.
    pub failed_ns: f64,
    /// Longest time without a completion.
    pub longest_gap_ns: u64,
    /// The thread's CPU time at the beginning and at the end of the window.
    pub cpu_ns: (Option<u64>, Option<u64>),
    /// Its last words; none while it runs.
    pub end: Option<WorkerEnd>,
    /// What it counted is known up to here, from the beginning of the window.
    pub known_ns: u64,
    /// Intervals before this one are complete.
    progress: u64,
}

/// One interval over all workers.
struct Interval {
    reads: Tally,
    writes: Tally,
}

/// A closed interval: plain numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Closed {
    ios: [u64; 2],
    bytes: [u64; 2],
    errors: u64,
    mean_ns: [Option<f64>; 2],
    p99_ns: [Option<u64>; 2],
    max_ns: Option<u64>,
}

/// Where all messages end up.
pub(crate) struct Collector {
    /// By worker number.
    pub workers: Vec<WorkerTotals>,
    returns: Vec<SyncSender<Box<Snapshot>>>,
    open: BTreeMap<u64, Interval>,
    closed: Vec<Closed>,
    interval_ns: u64,
}

impl Collector {
    /// A collector that gives snapshots back through `returns`, by worker number.
    pub(crate) fn new(returns: Vec<SyncSender<Box<Snapshot>>>, interval_ns: u64) -> Self {
        let worker = || WorkerTotals {
            tallies: Default::default(),
            in_flight_ns: 0.0,
            failed_ns: 0.0,
            longest_gap_ns: 0,
            cpu_ns: (None, None),
            end: None,
            known_ns: 0,
            progress: 0,
        };
        let workers = returns.iter().map(|_| worker()).collect();
        Self { workers, returns, open: BTreeMap::new(), closed: Vec::new(), interval_ns }
    }

    /// Takes one snapshot and gives its memory back to the worker.
    pub(crate) fn take(&mut self, snapshot: Box<Snapshot>) {
        let worker = &mut self.workers[snapshot.worker];
        match snapshot.span {
            Span::WarmUp => worker.cpu_ns.0 = snapshot.thread_cpu_ns,
            Span::Interval(index) => {
                for (mine, theirs) in worker.tallies.iter_mut().zip(&snapshot.tallies) {
                    mine.merge(theirs);
                }
                worker.in_flight_ns += snapshot.in_flight_ns;
                worker.longest_gap_ns = worker.longest_gap_ns.max(snapshot.longest_gap_ns);
                worker.cpu_ns.1 = snapshot.thread_cpu_ns.or(worker.cpu_ns.1);
                worker.failed_ns += snapshot.failed_ns;
                worker.known_ns = snapshot.until_ns;
                // Of a long interval, several snapshots may come.
                worker.progress = snapshot.until_ns / self.interval_ns;
                self.add(index, &snapshot);
            }
        }
        // A worker that is done does not wait for it any more.
        let _ = self.returns[snapshot.worker].try_send(snapshot);
    }

    /// Notes a worker's last words.
    pub(crate) fn finished(&mut self, end: WorkerEnd) {
        let worker = &mut self.workers[end.worker];
        worker.progress = u64::MAX;
        worker.end = Some(end);
    }

    /// Whether every worker is done.
    pub(crate) fn all_finished(&self) -> bool {
        self.workers.iter().all(|w| w.end.is_some())
    }

    fn add(&mut self, index: u64, snapshot: &Snapshot) {
        let at = usize::try_from(index).unwrap_or(usize::MAX);
        if let Some(late) = self.closed.get_mut(at) {
            late.add_late(&snapshot.tallies);
            return;
        }
        let empty = || Interval { reads: Tally::new(false), writes: Tally::new(false) };
        let interval = self.open.entry(index).or_insert_with(empty);
        for (mine, theirs) in [
            (&mut interval.reads, &snapshot.tallies[0]),
            (&mut interval.writes, &snapshot.tallies[1]),
        ] {
            mine.ios += theirs.ios;
            mine.bytes += theirs.bytes;
            mine.errors += theirs.errors;
            mine.latency.merge(&theirs.latency);
        }
    }

    /// Closes every interval that all workers are past, and gives the new points of the series.
    pub(crate) fn close_intervals(&mut self) -> Vec<Point> {
        let complete = self.workers.iter().map(|w| w.progress).min().unwrap_or(0);
        let mut points = Vec::new();
        while let Some((&index, _)) = self.open.first_key_value() {
            if index >= complete && self.open.len() <= OPEN_MAX {
                break;
            }
            if let Some((_, interval)) = self.open.pop_first() {
                let at = usize::try_from(index).unwrap_or(usize::MAX);
                // Intervals in which nobody counted anything are zero, not absent.
                self.closed.resize(at.max(self.closed.len()), Closed::default());
                self.closed.push(Closed::of(&interval));
                points.push(self.point(at, self.interval_ns));
            }
        }
        points
    }

    /// The whole series, for a window of this length.
    pub(crate) fn series(&mut self, window_ns: u64) -> Vec<Point> {
        for worker in &mut self.workers {
            worker.progress = u64::MAX;
        }
        self.close_intervals();
        let count = window_ns.div_ceil(self.interval_ns);
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(1 << 28);
        self.closed.resize(count, Closed::default());
        let length = |i: usize| {
            let from = i as u64 * self.interval_ns;
            self.interval_ns.min(window_ns.saturating_sub(from))
        };
        (0..count).filter(|i| length(*i) > 0).map(|i| self.point(i, length(i))).collect()
    }

    fn point(&self, index: usize, length_ns: u64) -> Point {
        let closed = &self.closed[index];
        let seconds = length_ns as f64 / 1e9;
        let mib = 1_048_576.0 * seconds;
        Point {
            t: (index as u64 * self.interval_ns + length_ns) as f64 / 1e9,
            seconds,
            read_iops: closed.ios[0] as f64 / seconds,
            write_iops: closed.ios[1] as f64 / seconds,
            read_mib_per_s: closed.bytes[0] as f64 / mib,
            write_mib_per_s: closed.bytes[1] as f64 / mib,
            read_mean_ns: closed.mean_ns[0],
            write_mean_ns: closed.mean_ns[1],
            read_p99_ns: closed.p99_ns[0],
            write_p99_ns: closed.p99_ns[1],
            max_ns: closed.max_ns,
            errors: closed.errors,
        }
    }
}

impl Closed {
    fn of(interval: &Interval) -> Self {
        let both = [&interval.reads, &interval.writes];
        let latency = |f: fn(&Histogram) -> Option<u64>| both.map(|t| f(&t.latency));
        Self {
            ios: both.map(|t| t.ios),
            bytes: both.map(|t| t.bytes),
            errors: both.iter().map(|t| t.errors).sum(),
            mean_ns: both.map(|t| t.latency.mean()),
            p99_ns: latency(|h| h.quantile(0.99)),
            max_ns: latency(Histogram::max).into_iter().flatten().max(),
        }
    }

    fn add_late(&mut self, tallies: &[Tally; KINDS]) {
        for (i, tally) in tallies.iter().take(2).enumerate() {
            self.ios[i] += tally.ios;
            self.bytes[i] += tally.bytes;
            self.errors += tally.errors;
            self.max_ns = self.max_ns.max(tally.latency.max());
        }
    }
}
