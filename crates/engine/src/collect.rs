//! Puts together what the workers send: totals for each worker, and the series.
//!
//! Where the beginning of the window may turn out to be warm-up, the counts of each worker are kept
//! in parts of equal length, so that the first of them can be left out afterwards. There are never
//! more than [`PARTS_MAX`]: when they are full, each two become one.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

use results::{Histogram, Point, ThreadPoint};

use crate::queue::KINDS;
use crate::recorder::{Snapshot, Span, Tally};
use crate::spread::Spread;
use crate::worker::WorkerEnd;

/// At most so many intervals are open at a time; then the oldest is closed without late workers.
const OPEN_MAX: usize = 8;

/// Parts of the window that are kept apart.
const PARTS_MAX: usize = 32;

/// What one worker did in a part of the window.
#[derive(Default)]
pub(crate) struct Counts {
    /// One entry each for reads, writes and flushes.
    pub tallies: [Tally; KINDS],
    /// Integral of the I/Os in flight over time.
    pub in_flight_ns: f64,
    /// The part of that integral that failed I/Os had.
    pub failed_ns: f64,
    /// The longest time in which nothing completed.
    pub longest_gap_ns: u64,
    /// The thread's CPU time at the end of the part.
    cpu_end_ns: Option<u64>,
}

impl Counts {
    /// Adds the counts of a later time.
    fn merge(&mut self, later: &Self) {
        for (mine, theirs) in self.tallies.iter_mut().zip(&later.tallies) {
            mine.merge(theirs);
        }
        self.in_flight_ns += later.in_flight_ns;
        self.failed_ns += later.failed_ns;
        self.longest_gap_ns = self.longest_gap_ns.max(later.longest_gap_ns);
        self.cpu_end_ns = later.cpu_end_ns.or(self.cpu_end_ns);
    }

    fn add(&mut self, snapshot: &Snapshot) {
        for (mine, theirs) in self.tallies.iter_mut().zip(&snapshot.tallies) {
            mine.merge(theirs);
        }
        self.in_flight_ns += snapshot.in_flight_ns;
        self.failed_ns += snapshot.failed_ns;
        self.longest_gap_ns = self.longest_gap_ns.max(snapshot.longest_gap_ns);
        self.cpu_end_ns = snapshot.thread_cpu_ns.or(self.cpu_end_ns);
    }
}

/// What the collector knows about one worker so far.
#[derive(Default)]
pub(crate) struct WorkerTotals {
    /// The counts of the whole window; complete after [`Collector::finish`].
    pub counts: Counts,
    /// The same in parts, while the run continues.
    parts: Vec<Counts>,
    /// The thread's CPU time at the beginning of the window.
    cpu_begin_ns: Option<u64>,
    /// The worker's last message; `None` while it runs.
    pub end: Option<WorkerEnd>,
    /// What it counted is known up to here, from the beginning of the window.
    pub known_ns: u64,
    /// Intervals before this one are complete.
    progress: u64,
    /// Reads and writes of each interval, where they are kept.
    intervals: Vec<[Spread; 2]>,
}

impl WorkerTotals {
    /// CPU time the thread used in the window, where the system tells.
    pub(crate) fn cpu_ns(&self) -> Option<u64> {
        Some(self.counts.cpu_end_ns?.saturating_sub(self.cpu_begin_ns?))
    }

    /// Adds the counts of an interval.
    fn keep(&mut self, interval: u64, tallies: &[Tally; KINDS]) {
        let at = usize::try_from(interval).unwrap_or(usize::MAX);
        if self.intervals.len() <= at {
            self.intervals.resize_with(at + 1, Default::default);
        }
        for (spread, tally) in self.intervals[at].iter_mut().zip(tallies) {
            spread.add(&tally.latency);
        }
    }

    /// The counts of the part with this number.
    fn part(&mut self, number: usize) -> &mut Counts {
        if self.parts.len() <= number {
            self.parts.resize_with(number + 1, Counts::default);
        }
        &mut self.parts[number]
    }

    /// Joins every two parts to one.
    fn halve(&mut self) {
        let mut halved: Vec<Counts> = Vec::with_capacity(PARTS_MAX);
        for (number, part) in self.parts.drain(..).enumerate() {
            match halved.last_mut() {
                Some(last) if number % 2 == 1 => last.merge(&part),
                _ => halved.push(part),
            }
        }
        self.parts = halved;
    }
}

/// One interval, added up over all workers.
struct Interval {
    reads: Tally,
    writes: Tally,
}

/// A closed interval as plain numbers, without histograms.
#[derive(Debug, Clone, Copy, Default)]
struct Closed {
    ios: [u64; 2],
    bytes: [u64; 2],
    errors: u64,
    mean_ns: [Option<f64>; 2],
    p99_ns: [Option<u64>; 2],
    max_ns: Option<u64>,
}

/// Receives the messages of all workers and adds them up.
pub(crate) struct Collector {
    /// The sums of each worker, by its number.
    pub workers: Vec<WorkerTotals>,
    returns: Vec<SyncSender<Box<Snapshot>>>,
    open: BTreeMap<u64, Interval>,
    closed: Vec<Closed>,
    interval_ns: u64,
    /// Intervals in a part; `None` if there is one part only.
    part_intervals: Option<u64>,
    /// Whether the series of each worker is kept, too.
    keeps_workers: bool,
}

impl Collector {
    /// A collector that gives snapshots back through `returns`, by worker number.
    ///
    /// With `in_parts`, the beginning of the window can be left out in the end.
    pub(crate) fn new(
        returns: Vec<SyncSender<Box<Snapshot>>>,
        interval_ns: u64,
        in_parts: bool,
    ) -> Self {
        let workers = returns.iter().map(|_| WorkerTotals::default()).collect();
        let (open, closed) = (BTreeMap::new(), Vec::new());
        let part_intervals = in_parts.then_some(1);
        Self { workers, returns, open, closed, interval_ns, part_intervals, keeps_workers: false }
    }

    /// Keeps the series of each worker, too.
    pub(crate) fn keep_workers(self, keeps_workers: bool) -> Self {
        Self { keeps_workers, ..self }
    }

    /// Takes one snapshot and gives its memory back to the worker.
    pub(crate) fn take(&mut self, snapshot: Box<Snapshot>) {
        match snapshot.span {
            Span::WarmUp => {
                self.workers[snapshot.worker].cpu_begin_ns = snapshot.thread_cpu_ns;
            }
            Span::Interval(index) => {
                let part = self.part_of(index);
                let keeps = self.keeps_workers;
                let worker = &mut self.workers[snapshot.worker];
                worker.part(part).add(&snapshot);
                if keeps {
                    worker.keep(index, &snapshot.tallies);
                }
                worker.known_ns = snapshot.until_ns;
                // Of a long interval, several snapshots may come.
                worker.progress = snapshot.until_ns / self.interval_ns;
                self.add(index, &snapshot);
            }
        }
        // A worker that is done does not wait for it any more.
        let _ = self.returns[snapshot.worker].try_send(snapshot);
    }

    /// The part that an interval belongs to; makes room for it.
    fn part_of(&mut self, interval: u64) -> usize {
        let Some(mut intervals) = self.part_intervals else { return 0 };
        while interval / intervals >= PARTS_MAX as u64 {
            intervals *= 2;
            self.workers.iter_mut().for_each(WorkerTotals::halve);
        }
        self.part_intervals = Some(intervals);
        usize::try_from(interval / intervals).unwrap_or(PARTS_MAX)
    }

    /// Joins the parts, without those that hold the first `cut_ns` of the window, and returns what
    /// was left out.
    ///
    /// Only whole parts are left out, so it may be more than was asked for. Nothing is left out if
    /// parts were not kept or if nothing would remain.
    pub(crate) fn finish(&mut self, cut_ns: u64) -> u64 {
        let part_ns = self.part_intervals.unwrap_or(0).saturating_mul(self.interval_ns);
        let known = self.workers.iter().map(|w| w.parts.len()).max().unwrap_or(0);
        let wanted = if part_ns > 0 { cut_ns.div_ceil(part_ns) } else { 0 };
        let cut = usize::try_from(wanted).unwrap_or(usize::MAX);
        let cut = if cut < known { cut } else { 0 };
        for worker in &mut self.workers {
            let mut parts = std::mem::take(&mut worker.parts);
            let kept = parts.split_off(cut.min(parts.len()));
            for part in parts {
                worker.cpu_begin_ns = part.cpu_end_ns.or(worker.cpu_begin_ns);
            }
            for part in kept {
                worker.counts.merge(&part);
            }
        }
        cut as u64 * part_ns
    }

    /// Notes the last message of a worker.
    pub(crate) fn finished(&mut self, end: WorkerEnd) {
        let worker = &mut self.workers[end.worker];
        worker.progress = u64::MAX;
        worker.end = Some(end);
    }

    /// Whether every worker has sent its last message.
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
                // Intervals in which every worker was held up are zero, not absent: the number of
                // points is a length of time.
                for held_up in self.closed.len()..at {
                    self.closed.push(Closed::default());
                    points.push(self.point(held_up, self.interval_ns));
                }
                self.closed.push(Closed::of(&interval));
                points.push(self.point(at, self.interval_ns));
            }
        }
        points
    }

    /// The whole series for a window of this length, without what was cut at its beginning. The
    /// points of that part are returned separately, with times up to 0.
    pub(crate) fn series(&mut self, window_ns: u64, cut_ns: u64) -> (Vec<Point>, Vec<Point>) {
        for worker in &mut self.workers {
            worker.progress = u64::MAX;
        }
        self.close_intervals();
        let whole_ns = cut_ns + window_ns;
        let count = whole_ns.div_ceil(self.interval_ns);
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(1 << 28);
        self.closed.resize(count, Closed::default());
        let length = |i: usize| self.length_ns(i, whole_ns);
        let begin_s = cut_ns as f64 / 1e9;
        let shifted = |point: Point| Point { t: point.t - begin_s, ..point };
        let points = (0..count).filter(|i| length(*i) > 0).map(|i| self.point(i, length(i)));
        points.map(shifted).partition(|point| point.t > 1e-9)
    }

    /// The length of an interval of a window that is so long in all.
    fn length_ns(&self, index: usize, whole_ns: u64) -> u64 {
        let from = index as u64 * self.interval_ns;
        self.interval_ns.min(whole_ns.saturating_sub(from))
    }

    /// The series of one worker, where it is kept: one point for each of the whole series.
    pub(crate) fn worker_series(
        &self,
        worker: &WorkerTotals,
        window_ns: u64,
        cut_ns: u64,
    ) -> Vec<ThreadPoint> {
        if !self.keeps_workers {
            return Vec::new();
        }
        let whole_ns = cut_ns + window_ns;
        let cut = usize::try_from(cut_ns / self.interval_ns).unwrap_or(usize::MAX);
        let lengths = (cut..self.closed.len()).map(|i| (i, self.length_ns(i, whole_ns)));
        let point = |(index, length_ns): (usize, u64)| {
            // Where a worker was held up it sent nothing.
            let [read, write] = worker.intervals.get(index).copied().unwrap_or_default();
            let end_ns = index as u64 * self.interval_ns + length_ns;
            ThreadPoint {
                t: end_ns as f64 / 1e9 - cut_ns as f64 / 1e9,
                seconds: length_ns as f64 / 1e9,
                read: read.published(),
                write: write.published(),
            }
        };
        lengths.filter(|(_, length_ns)| *length_ns > 0).map(point).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    /// A thread that hangs in a system call over several points sends nothing for them. When such
    /// points were left out of what is shown and watched, a stall raised the mean that ends a run,
    /// and warm-up was cut at the wrong place.
    #[test]
    fn points_that_every_worker_slept_through_are_shown_as_zeros() {
        let mut collector = Collector::new(vec![sync_channel(4).0], 100, true);
        for (interval, until_ns) in [(0, 100), (1, 200), (5, 600)] {
            let mut snapshot = Box::new(Snapshot::new(0, false));
            snapshot.span = Span::Interval(interval);
            snapshot.until_ns = until_ns;
            snapshot.tallies[0].record(512, 0, 0, 50);
            collector.take(snapshot);
        }
        let shown: Vec<bool> =
            collector.close_intervals().iter().map(|p| p.read_iops > 0.0).collect();
        assert_eq!(shown, [true, true, false, false, false, true]);
    }
}
