//! Drivers of workers: on a real queue, each in its own thread; on simulated queues, all in one
//! thread on one clock.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::rc::Rc;
use std::time::Duration;

use crate::clock::Clock;
use crate::crew::{Crew, Machine};
use crate::platform::SPIN_NS;
use crate::queue::Queue;
use crate::sim::SimQueue;
use crate::worker::Next;

/// Sleeps until shortly before a moment, then looks at the clock until it has come.
pub fn sleep_until(clock: Clock, until_ns: u64) {
    if let Some(ns) = sleep_ns(clock.now(), until_ns, SPIN_NS) {
        std::thread::sleep(Duration::from_nanos(ns));
    }
    while clock.now() < until_ns {
        std::hint::spin_loop();
    }
}

/// How long to sleep before a moment, of which the last stretch is spent looking at the clock;
/// `None` if it is too near to sleep.
fn sleep_ns(now_ns: u64, until_ns: u64, spin_ns: u64) -> Option<u64> {
    until_ns.saturating_sub(now_ns).checked_sub(spin_ns).filter(|ns| *ns > 0)
}

/// Runs a worker, or a pool of them, on a queue to its end.
pub(crate) fn drive<M: Machine, Q: Queue>(mut worker: M, mut queue: Q) {
    let error = loop {
        match worker.step(&mut queue) {
            Next::Done => break None,
            Next::Wait(until) => {
                if let Err(error) = queue.wait(until) {
                    break Some(error.to_string());
                }
            }
        }
    };
    let now = queue.now();
    // Closes the target. Until then, anyone who prepares it again finds it in use.
    drop(queue);
    worker.finish(now, error);
}

/// Runs all threads of a simulated run to their end, always the one whose next event is first.
///
/// What a thread waits for changes in its own steps only, so a heap of all next events is always
/// right. `after_step` is called after every step with the time, so that messages are taken as they
/// come.
pub(crate) fn drive_simulated(
    crews: Vec<(Crew, SimQueue)>,
    clock: &Rc<Cell<u64>>,
    mut after_step: impl FnMut(u64),
) {
    let mut running: Vec<Option<(Crew, SimQueue)>> = crews.into_iter().map(Some).collect();
    let mut events: BinaryHeap<Reverse<(u64, usize)>> =
        (0..running.len()).map(|index| Reverse((clock.get(), index))).collect();
    while let Some(mut first) = events.peek_mut() {
        let Reverse((at, index)) = *first;
        clock.set(clock.get().max(at));
        let next = running[index].as_mut().and_then(|(crew, queue)| match crew.step(queue) {
            Next::Wait(until) => Some(queue.next_completion().unwrap_or(u64::MAX).min(until)),
            Next::Done => None,
        });
        if let Some(next) = next {
            *first = Reverse((next, index));
        } else {
            PeekMut::pop(first);
            if let Some((crew, _)) = running[index].take() {
                crew.finish(clock.get(), None);
            }
        }
        after_step(clock.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows may wake a thread 1 ms late, Linux 30 µs: so much before the moment, sleeping ends.
    #[test]
    fn the_last_stretch_before_a_moment_is_not_slept() {
        let (windows, linux) = (1_000_000, 30_000);
        for (now, until, spin, expected) in [
            (0, 5_000_000, windows, Some(4_000_000)),
            (7, 1_000_008, windows, Some(1)),
            (7, 1_000_007, windows, None),
            (0, 999_999, windows, None),
            (0, 999_999, linux, Some(969_999)),
            (0, 30_000, linux, None),
            (9, 9, linux, None),
            (9, 3, windows, None),
            (0, u64::MAX, windows, Some(u64::MAX - 1_000_000)),
        ] {
            assert_eq!(sleep_ns(now, until, spin), expected, "{now} {until} {spin}");
        }
    }
}
