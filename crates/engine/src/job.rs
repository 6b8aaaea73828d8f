//! What a thread is started with: everything of its worker but the queue, which the thread opens itself.

use std::sync::mpsc::{Receiver, SyncSender};

use crate::clock::Clock;
use crate::drive;
use crate::error::EngineError;
use crate::queue::Queue;
use crate::run::Backend;
use crate::worker::{Message, Timeline, Worker};

/// Makes a worker, in the thread that it will run in.
pub(crate) type MakeWorker = Box<dyn FnOnce() -> Worker + Send>;

/// A worker that has everything but its queue.
pub(crate) struct Job {
    pub make_worker: MakeWorker,
    pub go: Receiver<Timeline>,
    pub sender: SyncSender<Message>,
}

impl Job {
    /// Makes everything ready, reports that, waits for the start, and works.
    pub(crate) fn run<Q: Queue>(self, mut queue: Q, backend: Backend) {
        // Buffers of gigabytes take seconds to fill, so the clock is set only when all are.
        let mut worker = (self.make_worker)();
        worker.prepare(&mut queue);
        if self.sender.send(Message::Ready(Ok(backend))).is_err() {
            return;
        }
        // No start comes when another worker could not open its queue.
        let Ok(timeline) = self.go.recv() else { return };
        worker.start_at(timeline);
        drive::sleep_until(Clock::get(), timeline.start_ns);
        drive::drive(worker, &mut queue);
    }

    /// Reports that the queue cannot be opened.
    pub(crate) fn fail(self, error: EngineError) {
        let _ = self.sender.send(Message::Ready(Err(error)));
    }
}
