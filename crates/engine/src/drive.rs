//! Drivers of workers: on a real queue, each in its own thread; on simulated queues, all in one thread on one clock.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::clock::Clock;
use crate::queue::Queue;
use crate::sim::SimQueue;
use crate::worker::{Next, Worker};

/// A sleeping thread may wake this much late, so the last stretch before a due moment is spent looking at the clock.
pub(crate) const SPIN_NS: u64 = 30_000;

/// Sleeps until shortly before a moment, then looks at the clock until it has come.
pub(crate) fn sleep_until(clock: Clock, until_ns: u64) {
    let left = until_ns.saturating_sub(clock.now());
    if left > SPIN_NS {
        std::thread::sleep(Duration::from_nanos(left - SPIN_NS));
    }
    while clock.now() < until_ns {
        std::hint::spin_loop();
    }
}

/// Runs a worker on a queue to its end.
pub(crate) fn drive<Q: Queue>(mut worker: Worker, queue: &mut Q) {
    let error = loop {
        match worker.step(queue) {
            Next::Done => break None,
            Next::Wait(until) => {
                if let Err(error) = queue.wait(until) {
                    break Some(error.to_string());
                }
            }
        }
    };
    worker.finish(queue.now(), error);
}

/// One simulated worker and when it next wants to be stepped.
struct Simulated {
    worker: Worker,
    queue: SimQueue,
    until: u64,
}

impl Simulated {
    fn next_event(&self) -> u64 {
        self.queue.next_completion().unwrap_or(u64::MAX).min(self.until)
    }
}

/// Runs all workers of a simulated run to their end, always the one whose next event is first.
///
/// `after_step` is called after every step with the time, so that messages are taken as they come.
pub(crate) fn drive_simulated(
    workers: Vec<(Worker, SimQueue)>,
    clock: &Rc<Cell<u64>>,
    mut after_step: impl FnMut(u64),
) {
    let start = clock.get();
    let with_start = |(worker, queue)| Simulated { worker, queue, until: start };
    let mut running: Vec<Simulated> = workers.into_iter().map(with_start).collect();
    while let Some((index, at)) = first_event(&running) {
        clock.set(clock.get().max(at));
        let Simulated { worker, queue, until } = &mut running[index];
        match worker.step(queue) {
            Next::Wait(next) => *until = next,
            Next::Done => running.swap_remove(index).worker.finish(clock.get(), None),
        }
        after_step(clock.get());
    }
}

fn first_event(running: &[Simulated]) -> Option<(usize, u64)> {
    running.iter().map(Simulated::next_event).enumerate().min_by_key(|(_, at)| *at)
}
