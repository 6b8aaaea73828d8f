//! The I/Os that are known and not yet complete, and which of them wait for which. Times count from
//! the start of the replay, which begins after the first I/Os are known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use engine::Op;

use crate::steps::{Parent, Step};

/// I/Os that are known ahead of the oldest that is not complete; a power of two.
pub(crate) const WINDOW: u64 = 16_384;
/// No I/O.
const NONE: u64 = u64::MAX;

const EMPTY: Entry = Entry {
    step: Step {
        due_ns: 0,
        parent: None,
        depth: 0,
        op: Op::Read,
        class: 0,
        is_log: false,
        offset: 0,
        bytes: 0,
    },
    done_ns: 0,
    host_ns: 0,
    is_done: false,
    first_child: NONE,
    next_sibling: NONE,
};

#[derive(Debug, Clone, Copy)]
struct Entry {
    step: Step,
    done_ns: u64,
    /// By how much this I/O, and those it waited for, came later for the host's sake.
    host_ns: u64,
    is_done: bool,
    /// The I/Os that wait for this one, as a list through `next_sibling`.
    first_child: u64,
    next_sibling: u64,
}

/// A ring of I/Os by number. Its memory is taken at once.
#[derive(Debug)]
pub(crate) struct Window {
    entries: Vec<Entry>,
    /// The oldest I/O that is not complete.
    oldest: u64,
    /// The number of the next I/O.
    next: u64,
    /// I/Os whose time is known, by that time.
    ready: BinaryHeap<Reverse<(u64, u64)>>,
}

fn at(number: u64) -> usize {
    usize::try_from(number % WINDOW).unwrap_or(0)
}

impl Window {
    pub(crate) fn new() -> Self {
        let size = at(WINDOW - 1) + 1;
        let ready = BinaryHeap::with_capacity(size);
        Self { entries: vec![EMPTY; size], oldest: 0, next: 0, ready }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.next - self.oldest < WINDOW
    }

    /// The number that the next I/O will have.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn step(&self, number: u64) -> &Step {
        &self.entries[at(number)].step
    }

    /// Adds an I/O.
    pub(crate) fn admit(&mut self, step: Step) {
        self.entries[at(self.next)] = Entry { step, ..EMPTY };
        self.next += 1;
    }

    /// The same where it waits for another: it becomes ready at its time, or when the other is
    /// complete and the think time over.
    pub(crate) fn admit_dependent(&mut self, step: Step, now_ns: u64) {
        let number = self.next;
        self.admit(step);
        let ready_ns = match step.parent {
            None => step.due_ns,
            // So old that its entry has another I/O: it is complete for long.
            Some(parent) if parent.number + WINDOW <= number => now_ns,
            Some(Parent { number: other, think_ns }) => {
                let parent = &mut self.entries[at(other)];
                if !parent.is_done {
                    let sibling = std::mem::replace(&mut parent.first_child, number);
                    self.entries[at(number)].next_sibling = sibling;
                    return;
                }
                let (done_ns, host_ns) = (parent.done_ns, parent.host_ns);
                self.entries[at(number)].host_ns = host_ns;
                done_ns.saturating_add(think_ns)
            }
        };
        self.ready.push(Reverse((ready_ns, number)));
    }

    /// The first I/O that becomes ready, and when.
    pub(crate) fn first_ready(&self) -> Option<(u64, u64)> {
        self.ready.peek().map(|Reverse(first)| *first)
    }

    pub(crate) fn take_ready(&mut self) {
        self.ready.pop();
    }

    /// Notes that an I/O is complete, and what the host added to it: those that wait for it become
    /// ready. Gives what the host added to it and to those that it waited for.
    pub(crate) fn complete(&mut self, number: u64, now_ns: u64, host_ns: u64) -> u64 {
        let entry = &mut self.entries[at(number)];
        (entry.is_done, entry.done_ns) = (true, now_ns);
        let host_ns = entry.host_ns.saturating_add(host_ns);
        entry.host_ns = host_ns;
        let mut child = std::mem::replace(&mut entry.first_child, NONE);
        while child != NONE {
            let entry = &mut self.entries[at(child)];
            entry.host_ns = host_ns;
            let think_ns = entry.step.parent.map_or(0, |parent| parent.think_ns);
            let next = entry.next_sibling;
            self.ready.push(Reverse((now_ns.saturating_add(think_ns), child)));
            child = next;
        }
        while self.oldest < self.next && self.entries[at(self.oldest)].is_done {
            self.oldest += 1;
        }
        host_ns
    }
}
