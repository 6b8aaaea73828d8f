//! What a thread is started with: everything of its worker but the queue, which the thread opens
//! itself.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use workload::Buffers as Layout;

use crate::begin::Begun;
use crate::buffers::BufferPlan;
use crate::clock::Clock;
use crate::crew::{Crew, Machine};
use crate::drive;
use crate::error::EngineError;
use crate::platform;
use crate::queue::Queue;
use crate::run::Backend;
use crate::worker::{Message, Timeline};

/// Makes a worker, or those of a pool's thread, in the thread that it will run in.
pub(crate) type MakeCrew = Box<dyn FnOnce() -> Crew + Send>;

/// A thread's work that has everything but its queue.
pub(crate) struct Job {
    pub make_crew: MakeCrew,
    pub go: Receiver<Timeline>,
    pub sender: SyncSender<Message>,
    pub begun: Arc<Begun>,
}

impl Job {
    /// Makes everything ready, reports that, waits for the start, and works on a queue that was
    /// made with `plan`.
    pub(crate) fn run<Q: Queue>(self, mut queue: Q, plan: BufferPlan, mut backend: Backend) {
        let feature = match plan.layout {
            Layout::Large if platform::has_large_pages() => Some("large pages"),
            Layout::Single | Layout::Large => None,
            Layout::Scattered { .. } | Layout::Pages { .. } => Some("vectored"),
        };
        backend.features.extend(feature.map(str::to_owned));
        // Buffers of gigabytes take seconds to fill, so the clock is set only when all are.
        let mut crew = (self.make_crew)();
        crew.prepare(&mut queue);
        if self.sender.send(Message::Ready(Ok(backend))).is_err() {
            return;
        }
        // No start comes when another worker could not open its queue.
        let Ok(timeline) = self.go.recv() else { return };
        crew.start_at(timeline);
        self.begun.wait(Clock::get(), timeline.start_ns);
        // What it is does not change, so that it need not be asked in every step.
        match crew {
            Crew::One(worker) => drive::drive(*worker, queue),
            Crew::Pool(pool) => drive::drive(*pool, queue),
        }
    }

    /// Reports that the queue cannot be opened.
    pub(crate) fn fail(self, error: EngineError) {
        let _ = self.sender.send(Message::Ready(Err(error)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::null::NullQueue;
    use crate::offsets::Offsets;
    use crate::pace::Pace;
    use crate::queue::{Finished, Request};
    use crate::random::Random;
    use crate::shared::{Ending, InFlight};
    use crate::worker::{Worker, WorkerPlan};
    use std::io;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::sync_channel;
    use workload::{OnError, Stream};

    const DEPTH: u32 = 4;

    /// Counts the write buffers that were asked for.
    struct Counting(NullQueue, Arc<AtomicU32>);

    impl Queue for Counting {
        fn now(&self) -> u64 {
            self.0.now()
        }

        fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
            self.0.issue(requests)
        }

        fn wait(&mut self, until_ns: u64) -> io::Result<()> {
            self.0.wait(until_ns)
        }

        fn reap(&mut self, finished: &mut Vec<Finished>) {
            self.0.reap(finished);
        }

        fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
            self.1.fetch_add(1, Ordering::SeqCst);
            self.0.write_buffer(slot)
        }

        fn read_buffer(&self, slot: u32) -> &[u8] {
            self.0.read_buffer(slot)
        }
    }

    fn worker(sender: SyncSender<Message>) -> Worker {
        let stream = Stream { depth: DEPTH, write_percent: 100, ..Stream::default() };
        Worker::new(WorkerPlan {
            worker: 0,
            stream: &stream,
            offsets: Offsets::new(&stream, 1 << 20, 0, &Arc::default()),
            pace: Pace::new(&stream, 0, 1),
            random: Random::new(1, 0),
            content_seed: 1,
            source: Arc::default(),
            on_error: OnError::Stop,
            ending: Arc::new(Ending::at(0)),
            in_flight: Arc::new(InFlight::new(DEPTH)),
            sender,
            empties: sync_channel(1).1,
            thread_cpu_ns: || None,
        })
    }

    /// Write buffers were filled when the clock of the run was already set: a thread with gigabytes
    /// of them came seconds too late to a run that counted from its start.
    #[test]
    fn a_worker_is_ready_when_its_buffers_are_filled() {
        let (sender, messages) = sync_channel(0);
        let (go, wait_for_go) = sync_channel(1);
        let asked = Arc::new(AtomicU32::new(0));
        let plan = BufferPlan {
            depth: DEPTH,
            bytes: 8192,
            reads: false,
            writes: true,
            layout: Layout::Single,
        };
        let queue = Counting(NullQueue::new(plan).unwrap(), Arc::clone(&asked));
        let for_worker = sender.clone();
        let make_crew: MakeCrew = Box::new(move || Crew::One(Box::new(worker(for_worker))));
        let job = Job { make_crew, go: wait_for_go, sender, begun: Arc::default() };
        let backend =
            Backend { name: "null", reason: String::new(), features: Vec::new(), late: None };
        let thread = std::thread::spawn(move || job.run(queue, plan, backend));
        let ready = messages.recv();
        assert!(matches!(ready, Ok(Message::Ready(Ok(_)))), "{ready:?}");
        assert_eq!(asked.load(Ordering::SeqCst), DEPTH);
        drop(go);
        thread.join().unwrap();
    }
}
