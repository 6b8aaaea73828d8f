//! How long I/Os on a target take, smoothed as SQLIOSim does it, and which threads that holds back.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::plan::Throttle;

/// What the threads of a run know together of the I/Os on a target.
///
/// Nothing here orders anything else: a thread that sees an old figure begins one I/O more, or one
/// less.
#[derive(Debug)]
pub(crate) struct Pace {
    target_ns: f64,
    /// How many I/Os the average forgets the oldest after: as many as can be in flight.
    memory: f64,
    /// The smoothed duration, as the bits of an `f64`.
    average_ns: AtomicU64,
    in_flight: AtomicU64,
    in_flight_max: AtomicU64,
    throttled: AtomicU64,
}

/// How the I/Os on a target were throttled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paced {
    /// The smoothed duration of its I/Os at the end. It is not a mean of all of them.
    pub running_average_ns: f64,
    /// How often an I/O had to wait.
    pub throttled: u64,
    /// The most I/Os that were in flight at once.
    pub in_flight_max: u64,
}

impl Pace {
    /// A target without I/Os. Of these, `most` can be in flight.
    pub(crate) fn new(throttle: Throttle, most: u64) -> Self {
        let target_ns = throttle.target.as_nanos() as f64;
        Self {
            target_ns,
            memory: most.max(1) as f64,
            average_ns: AtomicU64::new(target_ns.to_bits()),
            in_flight: AtomicU64::new(0),
            in_flight_max: AtomicU64::new(0),
            throttled: AtomicU64::new(0),
        }
    }

    pub(crate) fn began(&self) {
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.in_flight_max.fetch_max(now, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self, latency_ns: u64) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        let mut old = self.average_ns.load(Ordering::Relaxed);
        loop {
            let average = f64::from_bits(old);
            let new = (average + (latency_ns as f64 - average) / self.memory).to_bits();
            let order = Ordering::Relaxed;
            match self.average_ns.compare_exchange_weak(old, new, order, order) {
                Ok(_) => return,
                Err(other) => old = other,
            }
        }
    }

    /// Whether the next I/O waits until those under way are done.
    pub(crate) fn must_wait(&self) -> bool {
        let average = f64::from_bits(self.average_ns.load(Ordering::Relaxed));
        average > self.target_ns && self.in_flight.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn count_throttled(&self) {
        self.throttled.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn paced(&self) -> Paced {
        Paced {
            running_average_ns: f64::from_bits(self.average_ns.load(Ordering::Relaxed)),
            throttled: self.throttled.load(Ordering::Relaxed),
            in_flight_max: self.in_flight_max.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_average_starts_at_the_target_and_slow_ios_let_others_wait() {
        let throttle = Throttle { target: Duration::from_millis(100), bursts: true };
        let pace = Pace::new(throttle, 4);
        assert!(!pace.must_wait());
        (0..3).for_each(|_| pace.began());
        assert!(!pace.must_wait());
        pace.ended(500_000_000);
        // 100 + (500 - 100) / 4
        assert!((pace.paced().running_average_ns - 200e6).abs() < 1.0);
        assert!(pace.must_wait());
        pace.ended(0);
        assert!(pace.must_wait());
        pace.ended(0);
        // Nothing is under way: the next may begin, however slow the last ones were.
        assert!(pace.paced().running_average_ns > 100e6 && !pace.must_wait());
        pace.began();
        pace.ended(0);
        pace.began();
        assert!(!pace.must_wait());
        assert_eq!(pace.paced().in_flight_max, 3);
    }
}
