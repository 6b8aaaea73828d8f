//! I/Os in the order of their issue, from a source that has them in about another: a capture
//! writes an I/O when it completes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::io::Io;

/// The most I/Os that wait for an earlier one.
const WAITING_MAX: usize = 65536;

/// The I/Os of a source by their time of issue. One that comes more than 65,536 I/Os too late is
/// passed on late. Among equal times, the order of the source stays.
#[derive(Debug)]
pub struct Ordered<I, E> {
    from: Option<I>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    number: u64,
    /// What ended the source; passed on after what waits.
    error: Option<E>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Waiting {
    issued_ns: u64,
    number: u64,
    io: Io,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.issued_ns, self.number).cmp(&(other.issued_ns, other.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<I, E> Ordered<I, E> {
    /// Puts these I/Os into the order of their issue.
    pub fn new(from: I) -> Self {
        Self { from: Some(from), waiting: BinaryHeap::new(), number: 0, error: None }
    }
}

impl<I: Iterator<Item = Result<Io, E>>, E> Iterator for Ordered<I, E> {
    type Item = Result<Io, E>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(from) = self.from.as_mut().filter(|_| self.waiting.len() < WAITING_MAX) {
            match from.next() {
                Some(Ok(io)) => {
                    let (issued_ns, number) = (io.issued_ns, self.number);
                    self.waiting.push(Reverse(Waiting { issued_ns, number, io }));
                    self.number += 1;
                }
                Some(Err(error)) => (self.from, self.error) = (None, Some(error)),
                None => self.from = None,
            }
        }
        match self.waiting.pop() {
            Some(Reverse(first)) => Some(Ok(first.io)),
            None => self.error.take().map(Err),
        }
    }
}
