//! What a device did, by its own account.

use std::ops::Range;

use device::{Op, Outcome};

/// One I/O that was answered. Times are of the device's own clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Served {
    pub(super) op: Op,
    pub(super) outcome: Outcome,
    pub(super) arrived_ns: u64,
    /// When the model has it done.
    pub(super) due_ns: u64,
    /// When the answer was on its way.
    pub(super) answered_ns: u64,
}

/// What the device answered in a span of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivered {
    /// Length of the span in seconds.
    pub seconds: f64,
    /// Reads that the device answered without a failure.
    pub read: Direction,
    /// Writes that the device answered without a failure.
    pub write: Direction,
    /// Flushes that the device answered without a failure.
    pub sync: Direction,
    /// I/Os that the device made fail.
    pub failed: u64,
    /// How much later than the model says the answers were given: 99 % of them were no later. 0
    /// without any.
    pub lateness_p99_ns: u64,
}

/// One kind of I/O that the device answered; those that it made fail are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Direction {
    /// How many I/Os the device answered without a failure.
    pub ios: u64,
    /// Bytes that these I/Os moved.
    pub bytes: u64,
    /// Sum of the times from their arrival at the device to its answer.
    pub latency_sum_ns: u64,
}

impl Direction {
    /// Mean time from arrival to answer; `None` without I/Os.
    #[must_use]
    pub fn latency_mean_ns(&self) -> Option<f64> {
        (self.ios > 0).then(|| self.latency_sum_ns as f64 / self.ios as f64)
    }

    fn add(&mut self, bytes: u32, served: &Served) {
        self.ios += 1;
        self.bytes += u64::from(bytes);
        self.latency_sum_ns += served.answered_ns.saturating_sub(served.arrived_ns);
    }
}

impl Delivered {
    /// The answers in `span`, from the device's log.
    pub(super) fn of(log: &[Served], span: &Range<u64>) -> Self {
        let mut delivered = Self {
            seconds: span.end.saturating_sub(span.start) as f64 / 1e9,
            read: Direction::default(),
            write: Direction::default(),
            sync: Direction::default(),
            failed: 0,
            lateness_p99_ns: 0,
        };
        let mut late_ns = Vec::new();
        for served in log.iter().filter(|s| span.contains(&s.answered_ns)) {
            late_ns.push(served.answered_ns.saturating_sub(served.due_ns));
            let direction = match served.op {
                Op::Read => &mut delivered.read,
                Op::Write => &mut delivered.write,
                Op::Sync => &mut delivered.sync,
            };
            match served.outcome {
                Outcome::Done { bytes } => direction.add(bytes, served),
                Outcome::Failed => delivered.failed += 1,
            }
        }
        late_ns.sort_unstable();
        let rank = (late_ns.len() * 99).div_ceil(100);
        delivered.lateness_p99_ns = rank.checked_sub(1).map_or(0, |at| late_ns[at]);
        delivered
    }

    /// Reads and writes per second, over the span; flushes are not counted.
    #[must_use]
    pub fn iops(&self) -> f64 {
        if self.seconds > 0.0 {
            (self.read.ios + self.write.ios) as f64 / self.seconds
        } else {
            0.0
        }
    }

    /// Mean time from arrival to answer of reads and writes; `None` without any.
    #[must_use]
    pub fn latency_mean_ns(&self) -> Option<f64> {
        let ios = self.read.ios + self.write.ios;
        let sum = self.read.latency_sum_ns + self.write.latency_sum_ns;
        (ios > 0).then(|| sum as f64 / ios as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(op: Op, arrived_ns: u64, due_ns: u64, answered_ns: u64) -> Served {
        Served { op, outcome: Outcome::Done { bytes: 512 }, arrived_ns, due_ns, answered_ns }
    }

    #[test]
    fn only_what_was_answered_in_the_span_counts() {
        let mut log = vec![
            served(Op::Read, 0, 10, 10),
            served(Op::Read, 0, 20, 25),
            served(Op::Write, 5, 30, 29),
            served(Op::Sync, 5, 30, 30),
            served(Op::Read, 0, 40, 40),
        ];
        log.push(Served { outcome: Outcome::Failed, ..log[1] });
        let delivered = Delivered::of(&log, &(20..40));
        let read = Direction { ios: 1, bytes: 512, latency_sum_ns: 25 };
        assert_eq!((delivered.read, delivered.failed), (read, 1));
        assert_eq!(delivered.write.latency_mean_ns(), Some(24.0));
        assert_eq!(delivered.sync.ios, 1);
        assert_eq!(delivered.lateness_p99_ns, 5);
        assert_eq!(delivered.latency_mean_ns(), Some(24.5));
        assert!((delivered.iops() - 2.0 / 20e-9).abs() < 1.0);
    }

    #[test]
    fn nothing_served_is_no_latency() {
        let delivered = Delivered::of(&[], &(7..7));
        assert_eq!((delivered.latency_mean_ns(), delivered.lateness_p99_ns), (None, 0));
        assert!(delivered.iops().abs() < f64::EPSILON);
    }
}
