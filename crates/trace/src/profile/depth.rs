//! How many I/Os are in flight.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::histogram::Histogram;

/// The most completions that are remembered.
const IN_FLIGHT_MAX: usize = 65536;

/// I/Os in flight, from those whose latency is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Depth {
    /// The mean over time: the sum of all latencies divided by the time.
    pub mean: f64,
    /// The median of what an I/O finds when it is issued, itself included.
    pub p50: u64,
    /// 99 % of the I/Os find at most this many.
    pub p99: u64,
    /// The most that any I/O finds.
    pub max: u64,
}

/// Which I/Os have not completed yet, by the time at which they complete.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    ends_ns: BinaryHeap<Reverse<u64>>,
    found: Histogram<6>,
    latency_ns: u128,
}

impl InFlight {
    pub(super) fn add(&mut self, issued_ns: u64, latency_ns: Option<u64>) {
        let Some(latency_ns) = latency_ns else { return };
        while self.ends_ns.peek().is_some_and(|Reverse(end)| *end <= issued_ns) {
            self.ends_ns.pop();
        }
        if self.ends_ns.len() == IN_FLIGHT_MAX {
            self.ends_ns.pop();
        }
        self.ends_ns.push(Reverse(issued_ns.saturating_add(latency_ns)));
        self.found.add(self.ends_ns.len() as u64);
        self.latency_ns += u128::from(latency_ns);
    }

    pub(super) fn finish(self, span_ns: u64) -> Option<Depth> {
        Some(Depth {
            mean: self.latency_ns as f64 / (span_ns > 0).then_some(span_ns)? as f64,
            p50: self.found.quantile(0.5)?,
            p99: self.found.quantile(0.99)?,
            max: self.found.max(),
        })
    }
}
