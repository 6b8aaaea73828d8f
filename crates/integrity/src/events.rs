//! What happens during a run: one stream of events that every display reads.
//!
//! Each thread counts into a [`Cell`] of its own, which nobody else writes; another thread adds
//! them up once a second. Counting costs an I/O some stores to memory that its thread has at hand,
//! and no lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use results::PageDamage;
use serde::{Deserialize, Serialize};

use crate::run::Phase;
use crate::shared::Shared;
use crate::units::nanoseconds;
use crate::waiting::Waits;

/// Time from one glance to the next.
const PERIOD: Duration = Duration::from_secs(1);
/// The parts into which an octave of latencies is divided.
const PARTS: u64 = 8;
/// Latencies shorter than this are counted as one, as a power of two in nanoseconds: a microsecond.
const SHORTEST_BITS: u32 = 10;
/// Octaves from there on: up to eighteen minutes.
const OCTAVES: usize = 30;
/// Buckets of a latency count: the parts of all octaves.
const BUCKETS: usize = OCTAVES * 8;

/// What happens in a run. Its JSON form is described in `docs/live.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A phase of the run begins.
    #[serde(rename = "phase_began")]
    Began {
        /// The phase that has just begun.
        phase: Phase,
        /// The cycle that it belongs to, from 1.
        cycle: u32,
    },
    /// How it goes, once a second.
    Glance(Box<Glance>),
    /// Something that people must hear of at once.
    #[serde(rename = "incident")]
    Notice(Notice),
}

/// Takes events; threads of the run call it while they work.
pub type Hear<'a> = dyn Fn(&Event) + Sync + 'a;

/// Something that people must hear of at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// What it is about, for programs.
    #[serde(flatten)]
    pub kind: NoticeKind,
    /// The whole of it, in a sentence.
    pub text: String,
}

/// The subject of a notice, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "damage", rename_all = "snake_case")]
pub enum NoticeKind {
    /// A page was wrong in this way.
    WrongData(PageDamage),
    /// A block of the log was wrong in this way.
    WrongLog(PageDamage),
    /// The system failed an I/O, as it had failed none before.
    IoFailed,
    /// I/Os on a target take very long and are still under way.
    LongIo,
    /// The user wants an end, and I/Os in flight do not return.
    EndWaits,
}

/// The state of a run: what was done since the last glance, and the sums so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Glance {
    /// The phase that the figures are of.
    pub phase: Phase,
    /// How long the phase has lasted.
    #[serde(rename = "since_ns", with = "nanoseconds")]
    pub since: Duration,
    /// How much of it is done, from 0 to 1; absent if nobody knows.
    pub share: Option<f64>,
    /// The time over which the rates of this glance were counted.
    pub seconds: f64,
    /// Reads that completed since the last glance.
    pub read: RecentIo,
    /// Writes that completed since the last glance.
    pub write: RecentIo,
    /// Flushes that completed since the last glance.
    pub sync: RecentIo,
    /// Pages checked in the whole run.
    pub pages_checked: u64,
    /// Pages changed in the whole run.
    pub changes: u64,
    /// Commits that users asked for, in the whole run.
    pub commits: u64,
    /// Checkpoints that completed, in the whole run.
    pub checkpoints: u64,
    /// Wrong pages in the whole run.
    pub faults: u64,
    /// Wrong blocks of the logs in the whole run.
    pub log_faults: u64,
    /// Failed I/Os in the whole run.
    pub failures: u64,
    /// I/Os of the whole run that took very long.
    pub long_ios: u64,
    /// I/Os that are in flight now.
    pub in_flight: u64,
    /// For how long the oldest of them has been.
    #[serde(rename = "oldest_ns", with = "nanoseconds")]
    pub oldest: Duration,
}

impl Glance {
    /// How long the phase still takes if it continues like this; `None` if nobody knows.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let share = self.share.filter(|share| *share > 0.0)?;
        Duration::try_from_secs_f64(self.since.as_secs_f64() * (1.0 - share) / share).ok()
    }
}

/// I/Os of one kind since the last glance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RecentIo {
    /// Completed I/Os per second.
    pub iops: f64,
    /// Bytes per second, read or written.
    pub bytes_per_s: f64,
    /// Mean latency in nanoseconds; absent if nothing completed.
    pub mean_ns: Option<f64>,
    /// Median latency in nanoseconds, within 6 percent.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latency, to 6 percent.
    pub p99_ns: Option<u64>,
}

/// What one thread has counted, for others to look at. Only that thread writes it.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Cell {
    pub read: KindCounter,
    pub write: KindCounter,
    pub sync: KindCounter,
    pub pages_read: Count,
    pub pages_written: Count,
    pub pages_checked: Count,
    pub changes: Count,
    pub commits: Count,
    pub checkpoints: Count,
    pub in_flight: Count,
    pub oldest_ns: Count,
}

impl Default for Cell {
    fn default() -> Self {
        let counted = || KindCounter {
            ios: Count::default(),
            bytes: Count::default(),
            latency_ns: Count::default(),
            buckets: std::array::from_fn(|_| Count::default()),
        };
        Self {
            read: counted(),
            write: counted(),
            sync: counted(),
            pages_read: Count::default(),
            pages_written: Count::default(),
            pages_checked: Count::default(),
            changes: Count::default(),
            commits: Count::default(),
            checkpoints: Count::default(),
            in_flight: Count::default(),
            oldest_ns: Count::default(),
        }
    }
}

/// A number that one thread writes and others read.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Adds to it; for the thread that it belongs to.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        // Nobody else writes, so nothing is lost between the two.
        self.set(self.get().wrapping_add(more));
    }

    #[inline]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts of I/Os of one kind.
#[derive(Debug)]
pub(crate) struct KindCounter {
    ios: Count,
    bytes: Count,
    latency_ns: Count,
    buckets: [Count; BUCKETS],
}

impl KindCounter {
    #[inline]
    pub(crate) fn record(&self, bytes: u64, latency_ns: u64) {
        self.ios.add(1);
        self.bytes.add(bytes);
        self.latency_ns.add(latency_ns);
        if let Some(bucket) = self.buckets.get(bucket_of(latency_ns)) {
            bucket.add(1);
        }
    }
}

#[inline]
fn bucket_of(latency_ns: u64) -> usize {
    let ns = latency_ns.max(1 << SHORTEST_BITS);
    let bits = ns.ilog2();
    let part = (ns >> (bits - PARTS.ilog2())) % PARTS;
    let bucket = u64::from(bits - SHORTEST_BITS) * PARTS + part;
    usize::try_from(bucket).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

/// The middle of a bucket of the latency histogram, in nanoseconds.
fn middle_of(bucket: usize) -> u64 {
    let (octave, part) = (bucket as u64 / PARTS, bucket as u64 % PARTS);
    let whole = 1_u64 << (u64::from(SHORTEST_BITS) + octave);
    whole + whole * part / PARTS + whole / PARTS / 2
}

/// The cells of all threads together.
#[derive(Debug, Clone, Default)]
struct Sums {
    kinds: [KindSums; 3],
    pages_read: u64,
    pages_written: u64,
    pages_checked: u64,
    changes: u64,
    commits: u64,
    checkpoints: u64,
    in_flight: u64,
    oldest_ns: u64,
}

#[derive(Debug, Clone, Default)]
struct KindSums {
    ios: u64,
    bytes: u64,
    latency_ns: u64,
    buckets: Vec<u64>,
}

impl Sums {
    fn of(cells: &[Cell]) -> Self {
        let mut sums = Self::default();
        for cell in cells {
            for (sum, kind) in sums.kinds.iter_mut().zip([&cell.read, &cell.write, &cell.sync]) {
                sum.add(kind);
            }
            sums.pages_read += cell.pages_read.get();
            sums.pages_written += cell.pages_written.get();
            sums.pages_checked += cell.pages_checked.get();
            sums.changes += cell.changes.get();
            sums.commits += cell.commits.get();
            sums.checkpoints += cell.checkpoints.get();
            sums.in_flight += cell.in_flight.get();
            sums.oldest_ns = sums.oldest_ns.max(cell.oldest_ns.get());
        }
        sums
    }
}

impl KindSums {
    fn add(&mut self, counted: &KindCounter) {
        self.ios += counted.ios.get();
        self.bytes += counted.bytes.get();
        self.latency_ns = self.latency_ns.wrapping_add(counted.latency_ns.get());
        self.buckets.resize(BUCKETS, 0);
        for (sum, bucket) in self.buckets.iter_mut().zip(&counted.buckets) {
            *sum += bucket.get();
        }
    }

    /// What came since `before`, per second.
    fn since(&self, before: &Self, seconds: f64) -> RecentIo {
        let ios = self.ios.saturating_sub(before.ios);
        if ios == 0 || seconds <= 0.0 {
            return RecentIo::default();
        }
        let latency_ns = self.latency_ns.wrapping_sub(before.latency_ns);
        let old = before.buckets.iter().copied().chain(std::iter::repeat(0));
        let new: Vec<u64> =
            self.buckets.iter().zip(old).map(|(new, old)| new.saturating_sub(old)).collect();
        RecentIo {
            iops: ios as f64 / seconds,
            bytes_per_s: self.bytes.saturating_sub(before.bytes) as f64 / seconds,
            mean_ns: Some(latency_ns as f64 / ios as f64),
            p50_ns: quantile(&new, 50),
            p99_ns: quantile(&new, 99),
        }
    }
}

/// The latency that so many percent of the I/Os do not exceed.
fn quantile(buckets: &[u64], percent: u64) -> Option<u64> {
    let all: u64 = buckets.iter().sum();
    let wanted = all.saturating_mul(percent).div_ceil(100).max(1);
    let mut seen = 0;
    let bucket = buckets.iter().position(|count| {
        seen += count;
        seen >= wanted
    });
    bucket.map(middle_of)
}

/// The phase that a run is in.
#[derive(Debug)]
pub(crate) struct Stage {
    phase: Phase,
    began: Instant,
    /// What had been done when it began.
    before: Sums,
    /// What it is to do: pages, blocks of the log, or nanoseconds.
    whole: u64,
}

/// The listener for what happens, and which of it to pass on.
pub(crate) struct Teller<'a> {
    hear: &'a Hear<'a>,
    /// One cell of counts per thread.
    pub cells: Vec<Cell>,
    stage: Mutex<Stage>,
    /// Blocks of the log that were read.
    pub log_blocks: AtomicU64,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(threads: u32, hear: &'a Hear<'a>) -> Self {
        let stage =
            Stage { phase: Phase::Load, began: Instant::now(), before: Sums::default(), whole: 0 };
        Self {
            hear,
            cells: (0..threads.max(1)).map(|_| Cell::default()).collect(),
            stage: Mutex::new(stage),
            log_blocks: AtomicU64::new(0),
        }
    }

    /// The counts that a thread writes to.
    pub(crate) fn cell(&self, thread: u32) -> &Cell {
        &self.cells[thread as usize % self.cells.len()]
    }

    pub(crate) fn notice(&self, kind: NoticeKind, text: String) {
        (self.hear)(&Event::Notice(Notice { kind, text }));
    }

    /// A phase begins, which is over after so many pages, blocks of the log or nanoseconds.
    pub(crate) fn begins(&self, phase: Phase, cycle: u32, whole: u64) {
        let stage = Stage { phase, began: Instant::now(), before: Sums::of(&self.cells), whole };
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        (self.hear)(&Event::Began { phase, cycle });
    }

    /// Tells every second how it goes, until nobody can say any more that it is over.
    pub(crate) fn tell(&self, shared: &Shared<'_>, over: &Receiver<()>) {
        let (mut before, mut at) = (Sums::of(&self.cells), Instant::now());
        let mut waits = Waits::default();
        while over.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
            let (sums, now) = (Sums::of(&self.cells), Instant::now());
            let glance = self.glance(shared, &sums, &before, now - at);
            (self.hear)(&Event::Glance(Box::new(glance)));
            (before, at) = (sums, now);
            let stops = shared.stop.load(Ordering::Relaxed);
            let (all, limit) = (shared.waiting(), shared.long_io);
            for (kind, text) in waits.look(&all, &shared.paths, limit, stops, now) {
                self.notice(kind, text);
            }
        }
    }

    fn glance(&self, shared: &Shared<'_>, sums: &Sums, before: &Sums, time: Duration) -> Glance {
        let seconds = time.as_secs_f64();
        let [read, write, sync] =
            [0, 1, 2].map(|kind| sums.kinds[kind].since(&before.kinds[kind], seconds));
        let (phase, since, share) = self.progress(sums);
        Glance {
            phase,
            since,
            share,
            seconds,
            read,
            write,
            sync,
            pages_checked: sums.pages_checked,
            changes: sums.changes,
            commits: sums.commits,
            checkpoints: sums.checkpoints,
            faults: shared.fault_count.load(Ordering::Relaxed),
            log_faults: shared.log_fault_count(),
            failures: shared.failure_count.load(Ordering::Relaxed),
            long_ios: shared.long_ios.load(Ordering::Relaxed),
            in_flight: sums.in_flight,
            oldest: Duration::from_nanos(sums.oldest_ns),
        }
    }

    /// The phase, how long it has lasted, and how much of it is done.
    fn progress(&self, sums: &Sums) -> (Phase, Duration, Option<f64>) {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let since = stage.began.elapsed();
        let done = match stage.phase {
            Phase::Load => sums.pages_written.saturating_sub(stage.before.pages_written) as f64,
            Phase::Work => since.as_nanos() as f64,
            Phase::Audit => sums.pages_read.saturating_sub(stage.before.pages_read) as f64,
            Phase::Log => self.log_blocks.load(Ordering::Relaxed) as f64,
        };
        let share = (stage.whole > 0).then(|| (done / stage.whole as f64).min(1.0));
        (stage.phase, since, share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_near_every_latency_in_it() {
        for ns in
            (10..40).flat_map(|bits| [0, 1, 3, 5, 7].map(|part| (1_u64 << bits) * (8 + part) / 8))
        {
            let middle = middle_of(bucket_of(ns)) as f64;
            assert!((middle / ns as f64 - 1.0).abs() <= 0.0625, "{ns} is in {middle}");
        }
        assert_eq!(bucket_of(0), 0);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn a_glance_is_of_what_came_since_the_last() {
        let cells = [Cell::default(), Cell::default()];
        cells[0].read.record(8192, 1_000_000);
        let before = Sums::of(&cells);
        for _ in 0..98 {
            cells[1].read.record(8192, 100_000);
        }
        cells[0].read.record(8192, 50_000_000);
        cells[0].read.record(8192, 50_000_000);
        let lately = Sums::of(&cells).kinds[0].since(&before.kinds[0], 2.0);
        assert!((lately.iops - 50.0).abs() < 1e-9 && (lately.bytes_per_s - 409_600.0).abs() < 1e-9);
        assert!(lately.mean_ns.is_some_and(|ns| (ns - 1_098_000.0).abs() < 1.0));
        let near =
            |ns: Option<u64>, what: f64| ns.is_some_and(|ns| (ns as f64 / what - 1.0).abs() < 0.07);
        assert!(near(lately.p50_ns, 1e5) && near(lately.p99_ns, 5e7), "{lately:?}");
        let sums = Sums::of(&cells);
        assert_eq!(sums.kinds[0].since(&sums.kinds[0], 1.0), RecentIo::default());
        assert_eq!(sums.kinds[1].since(&before.kinds[1], 1.0), RecentIo::default());
    }
}
