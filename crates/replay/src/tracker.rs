//! What had completed in the trace when an I/O was issued there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// I/Os in flight that are remembered; one more is taken for one that nothing waits for.
const IN_FLIGHT_MAX: usize = 65_536;

/// The I/Os of a trace that are under way while it is read.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    /// When each completes, and its number.
    under_way: BinaryHeap<Reverse<(u64, u64)>>,
    /// The completion that is the last so far.
    last: Option<(u64, u64)>,
}

impl Tracker {
    /// An I/O is issued at this moment: gives the time and the number of the I/O that completed
    /// last before it.
    pub(crate) fn issue(&mut self, now: u64) -> Option<(u64, u64)> {
        while let Some(Reverse(first)) = self.under_way.peek().copied() {
            if first.0 > now {
                break;
            }
            self.under_way.pop();
            self.last = Some(first);
        }
        self.last
    }

    /// The I/O of this number completes then.
    pub(crate) fn completes(&mut self, at: u64, number: u64) {
        if self.under_way.len() < IN_FLIGHT_MAX {
            self.under_way.push(Reverse((at, number)));
        }
    }

    /// How many I/Os of the trace are in flight, as far as they are remembered.
    pub(crate) fn in_flight(&self) -> usize {
        self.under_way.len()
    }
}
