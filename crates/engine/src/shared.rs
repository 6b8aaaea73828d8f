//! The few words that a worker and the coordinator share while a run continues.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Read by every worker in every step, written at most a few times in a run.
#[derive(Debug)]
pub(crate) struct Ending {
    end_ns: AtomicU64,
    stop_ns: AtomicU64,
    failed: AtomicBool,
}

impl Ending {
    /// A run that ends at this moment of the run's clock.
    pub(crate) fn at(end_ns: u64) -> Self {
        let [end_ns, stop_ns] = [end_ns; 2].map(AtomicU64::new);
        Self { end_ns, stop_ns, failed: AtomicBool::new(false) }
    }

    /// The end of the measured window.
    #[inline]
    pub(crate) fn ns(&self) -> u64 {
        self.end_ns.load(Ordering::Relaxed)
    }

    /// The moment from which on no I/O starts: the end of the window, or of what continues
    /// uncounted after it.
    #[inline]
    pub(crate) fn stop_ns(&self) -> u64 {
        self.stop_ns.load(Ordering::Relaxed)
    }

    /// Ends the run no later than now.
    pub(crate) fn end_now(&self, now_ns: u64) {
        self.end_window(now_ns, 0);
    }

    /// Ends the window no later than at this moment, and the run so much later.
    pub(crate) fn end_window(&self, end_ns: u64, cooldown_ns: u64) {
        self.stop_ns.fetch_min(end_ns.saturating_add(cooldown_ns), Ordering::Relaxed);
        self.end_ns.fetch_min(end_ns, Ordering::Relaxed);
    }

    /// Ends the run because an I/O failed.
    pub(crate) fn fail(&self, now_ns: u64) {
        self.failed.store(true, Ordering::Relaxed);
        self.end_now(now_ns);
    }

    /// Whether an I/O error ended the run.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

/// When each I/O in flight of one worker was issued, for the watchdog; zero where none is.
#[derive(Debug)]
pub(crate) struct InFlight(Box<[AtomicU64]>);

impl InFlight {
    /// A table for a queue of this depth.
    pub(crate) fn new(depth: u32) -> Self {
        Self((0..depth).map(|_| AtomicU64::new(0)).collect())
    }

    /// Notes that a slot's I/O was issued.
    #[inline]
    pub(crate) fn issued(&self, slot: usize, at_ns: u64) {
        self.0[slot].store(at_ns.max(1), Ordering::Relaxed);
    }

    /// Notes that the I/O of a slot is done.
    #[inline]
    pub(crate) fn done(&self, slot: usize) {
        self.0[slot].store(0, Ordering::Relaxed);
    }

    /// Issue times of everything in flight, by slot.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let times = self.0.iter().map(|t| t.load(Ordering::Relaxed));
        times.enumerate().filter(|(_, t)| *t > 0)
    }

    /// What is still in flight now, for a window that began and ended at these moments.
    pub(crate) fn unfinished(&self, now_ns: u64, window_ns: u64, end_ns: u64) -> Unfinished {
        let mut unfinished = Unfinished::default();
        for (_, at) in self.pending() {
            unfinished.ages_ns.push(now_ns.saturating_sub(at));
            unfinished.in_window_ns += end_ns.saturating_sub(at.max(window_ns)) as f64;
        }
        unfinished
    }
}

/// I/Os of one worker that had not returned at the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Unfinished {
    /// For how long each has been running.
    pub ages_ns: Vec<u64>,
    /// Their time in flight inside the measured window, all together.
    pub in_window_ns: f64,
}
