//! I/Os that the device works on, in the order in which they will be done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The I/Os of one queue of the caller.
#[derive(Debug, Clone, Default)]
pub struct Completions {
    /// When each is done, in which order it was asked for, its slot, and its result.
    pending: BinaryHeap<Reverse<(u64, u64, u32, i32)>>,
    asked: u64,
}

impl Completions {
    /// None yet, with room for as many as given.
    #[must_use]
    pub fn with_capacity(depth: usize) -> Self {
        Self { pending: BinaryHeap::with_capacity(depth), asked: 0 }
    }

    /// Adds an I/O that will be done at a moment in nanoseconds, with the caller's slot and result.
    pub fn push(&mut self, done_ns: u64, slot: u32, result: i32) {
        self.asked += 1;
        self.pending.push(Reverse((done_ns, self.asked, slot, result)));
    }

    /// When the next one is done, in nanoseconds.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        self.pending.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the slot and result of the next one that is done by a moment. Of two at the same
    /// moment, the one that was asked for first comes first.
    pub fn pop_by(&mut self, now_ns: u64) -> Option<(u32, i32)> {
        self.next_ns().filter(|at| *at <= now_ns)?;
        self.pending.pop().map(|Reverse((_, _, slot, result))| (slot, result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_done_in_the_order_of_time_and_then_of_arrival() {
        let mut all = Completions::with_capacity(4);
        for (at, slot) in [(30, 0), (10, 1), (30, 2), (20, 3)] {
            all.push(at, slot, 512);
        }
        assert_eq!((all.next_ns(), all.pop_by(9)), (Some(10), None));
        let mut order = Vec::new();
        while let Some((slot, 512)) = all.pop_by(30) {
            order.push(slot);
        }
        assert_eq!((order, all.next_ns()), (vec![1, 3, 0, 2], None));
    }
}
