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
    let left = until_ns.saturating_sub(clock.now());
    if left > SPIN_NS {
        std::thread::sleep(Duration::from_nanos(left - SPIN_NS));
    }
    while clock.now() < until_ns {
        std::hint::spin_loop();
    }
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
