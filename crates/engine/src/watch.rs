//! The watchdog: finds I/Os that take very long while they are still running.

use std::sync::Arc;

use workload::show_ns;

use crate::event::{Event, Observer};
use crate::shared::InFlight;

/// An I/O that runs this long is counted and reported; databases log the same moment.
pub(crate) const LONG_IO_NS: u64 = 15_000_000_000;
/// Time between two looks, in nanoseconds.
const PERIOD_NS: u64 = 200_000_000;

/// Looks at every I/O in flight, five times a second.
pub(crate) struct Watchdog {
    workers: Vec<Arc<InFlight>>,
    next_look_ns: u64,
    /// I/Os that were counted: worker, slot, time of issue.
    counted: Vec<(usize, usize, u64)>,
    over_15_s: u64,
}

impl Watchdog {
    pub(crate) fn new(workers: &[Arc<InFlight>]) -> Self {
        Self { workers: workers.to_vec(), next_look_ns: 0, counted: Vec::new(), over_15_s: 0 }
    }

    /// Looks, if it is time to, and reports what is new.
    pub(crate) fn look(&mut self, now_ns: u64, observer: &mut dyn Observer) {
        if now_ns < self.next_look_ns {
            return;
        }
        self.next_look_ns = now_ns + PERIOD_NS;
        let mut long = Vec::new();
        for (worker, in_flight) in self.workers.iter().enumerate() {
            let old =
                in_flight.pending().filter(|(_, at)| now_ns.saturating_sub(*at) >= LONG_IO_NS);
            long.extend(old.map(|(slot, at)| (worker, slot, at)));
        }
        let new = long.iter().filter(|io| !self.counted.contains(io)).count() as u64;
        if new > 0 {
            self.over_15_s += new;
            let oldest = long.iter().map(|(.., at)| now_ns - at).max().unwrap_or(0);
            let text = format!(
                "{} I/Os have been running for over 15 s, the oldest for {}",
                long.len(),
                show_ns(oldest as f64)
            );
            observer.event(&Event::Warning { text });
        }
        self.counted = long;
    }

    /// I/Os that were seen running for 15 s or more.
    pub(crate) fn over_15_s(&self) -> u64 {
        self.over_15_s
    }
}
