//! What a driver drives: one worker, or the workers of a pool's thread together.

use crate::pool::Pool;
use crate::queue::Queue;
use crate::worker::{Next, Timeline, Worker};

/// A state machine on a queue.
pub(crate) trait Machine {
    /// Fills the write buffers, before the run.
    fn prepare<Q: Queue>(&mut self, queue: &mut Q);

    /// Sets it to the phases of its run.
    fn start_at(&mut self, timeline: Timeline);

    /// Takes what has finished, issues what may start, and says what to wait for.
    fn step<Q: Queue>(&mut self, queue: &mut Q) -> Next;

    /// Ends it. `now` is the time on its queue's clock.
    fn finish(self, now: u64, queue_error: Option<String>);
}

impl Machine for Worker {
    fn prepare<Q: Queue>(&mut self, queue: &mut Q) {
        self.prepare(queue);
    }

    fn start_at(&mut self, timeline: Timeline) {
        self.start_at(timeline);
    }

    #[inline]
    fn step<Q: Queue>(&mut self, queue: &mut Q) -> Next {
        self.step(queue)
    }

    fn finish(self, now: u64, queue_error: Option<String>) {
        self.finish(now, queue_error);
    }
}

/// What one thread is given to do.
pub(crate) enum Crew {
    /// An ordinary thread, with a single worker.
    One(Box<Worker>),
    /// A thread of a pool, with several workers.
    Pool(Box<Pool>),
}

impl Machine for Crew {
    fn prepare<Q: Queue>(&mut self, queue: &mut Q) {
        match self {
            Self::One(worker) => worker.prepare(queue),
            Self::Pool(pool) => pool.prepare(queue),
        }
    }

    fn start_at(&mut self, timeline: Timeline) {
        match self {
            Self::One(worker) => worker.start_at(timeline),
            Self::Pool(pool) => pool.start_at(timeline),
        }
    }

    fn step<Q: Queue>(&mut self, queue: &mut Q) -> Next {
        match self {
            Self::One(worker) => worker.step(queue),
            Self::Pool(pool) => pool.step(queue),
        }
    }

    fn finish(self, now: u64, queue_error: Option<String>) {
        match self {
            Self::One(worker) => worker.finish(now, queue_error),
            Self::Pool(pool) => pool.finish(now, queue_error),
        }
    }
}
