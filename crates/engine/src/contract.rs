//! The contract of [`Queue`], checked against every backend.
//!
//! Backends that cannot work on a system are skipped by name.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use device::Device;
use workload::{Buffers as Layout, Nanoseconds, OnError, SimDevice, Stream};

use crate::buffers::BufferPlan;
use crate::drive;
use crate::error::DEVICE_FAILED;
use crate::null::NullQueue;
use crate::offsets::Offsets;
use crate::pace::Pace;
use crate::queue::{Finished, Op, Queue, Request};
use crate::random::Random;
use crate::shared::{Ending, InFlight};
use crate::sim::SimQueue;
use crate::worker::{Message, Timeline, Worker, WorkerPlan};

/// I/Os at a time in the contract.
pub(crate) const DEPTH: u32 = 8;
/// Size of one I/O of the tests.
pub(crate) const BLOCK: u32 = 8192;
/// Size of the target after the queue: three times the depth.
pub(crate) const SIZE: u64 = 3 * DEPTH as u64 * BLOCK as u64;
/// Nothing here takes long; a longer wait is a hang.
const HANGS: Duration = Duration::from_secs(20);

/// What can be expected of the target after a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// Reads return what was written, and I/O past the end is an error.
    Data,
    /// Nothing: the target is artificial and has neither content nor end.
    Nothing,
}

/// The plan that the queues of the contract are made with.
pub(crate) fn plan(depth: u32) -> BufferPlan {
    BufferPlan { depth, bytes: BLOCK, reads: true, writes: true, layout: Layout::Single }
}

/// A queue and what has been seen of it.
struct Checked<'a, Q> {
    queue: &'a mut Q,
    last_ns: u64,
    finished: Vec<Finished>,
}

impl<Q: Queue> Checked<'_, Q> {
    fn now(&mut self) -> u64 {
        let now = self.queue.now();
        assert!(now >= self.last_ns, "time ran from {} to {now}", self.last_ns);
        self.last_ns = now;
        now
    }

    /// Waits and reaps until `count` I/Os have come back; gives their results by slot.
    fn results(&mut self, count: usize) -> Vec<(u32, i32)> {
        let start = Instant::now();
        while self.finished.len() < count {
            assert!(start.elapsed() < HANGS, "{} of {count} came back", self.finished.len());
            let until = self.now() + 5_000_000;
            self.queue.wait(until).unwrap();
            self.now();
            self.queue.reap(&mut self.finished);
        }
        assert_eq!(self.finished.len(), count, "more came back than was issued");
        let mut results: Vec<_> = self.finished.drain(..).map(|f| (f.slot, f.result)).collect();
        results.sort_unstable();
        results
    }

    /// Issues requests and gives the results of all of them.
    fn perform(&mut self, requests: &[Request]) -> Vec<(u32, i32)> {
        self.queue.issue(requests).unwrap();
        let results = self.results(requests.len());
        let mut slots: Vec<u32> = requests.iter().map(|r| r.slot).collect();
        slots.sort_unstable();
        let back: Vec<u32> = results.iter().map(|r| r.0).collect();
        assert_eq!(back, slots, "every request comes back exactly once");
        results
    }
}

fn request(slot: u32, op: Op, offset: u64) -> Request {
    Request { slot, op, target: 0, offset, bytes: BLOCK, buffer_offset: 0 }
}

/// Everything that a worker relies on.
pub(crate) fn keeps_the_contract<Q: Queue>(queue: &mut Q, depth: u32, keeps: Keeps) {
    let mut checked = Checked { queue, last_ns: 0, finished: Vec::new() };
    waits_when_idle(&mut checked);
    let written = writes_at_full_depth(&mut checked, depth);
    if keeps == Keeps::Data {
        reads_back(&mut checked, depth, &written);
        continues_in_the_middle(&mut checked);
        reads_at_the_end(&mut checked);
    }
    flushes(&mut checked);
    partial_batches(&mut checked, depth);
    assert_eq!(checked.perform(&[]), [], "nothing issued, nothing back");
}

fn waits_when_idle<Q: Queue>(checked: &mut Checked<'_, Q>) {
    let until = checked.now() + 2_000_000;
    checked.queue.wait(until).unwrap();
    assert!(checked.now() >= until, "nothing can be reaped, so only the moment ends the wait");
    checked.queue.reap(&mut checked.finished);
    assert_eq!(checked.finished, []);
    checked.queue.wait(0).unwrap();
}

/// Runs three rounds at full depth; each slot is used again as soon as its I/O is back. Returns
/// what was written, by block.
fn writes_at_full_depth<Q: Queue>(checked: &mut Checked<'_, Q>, depth: u32) -> Vec<Vec<u8>> {
    let mut random = Random::new(7, 0);
    let mut written = Vec::new();
    for round in 0..3 {
        let mut requests = Vec::new();
        for slot in 0..depth {
            let buffer = checked.queue.write_buffer(slot);
            assert_eq!(buffer.len(), BLOCK as usize);
            random.fill(buffer);
            written.push(buffer.to_vec());
            let block = u64::from(round * depth + slot);
            requests.push(request(slot, Op::Write, block * u64::from(BLOCK)));
        }
        let results = checked.perform(&requests);
        assert!(results.iter().all(|r| r.1 == BLOCK.cast_signed()), "{results:?}");
    }
    written
}

/// Reads the blocks in another order than they were written, through other slots.
fn reads_back<Q: Queue>(checked: &mut Checked<'_, Q>, depth: u32, written: &[Vec<u8>]) {
    let mut blocks: Vec<usize> = (0..written.len()).rev().collect();
    while !blocks.is_empty() {
        let batch: Vec<usize> = blocks.drain(..blocks.len().min(depth as usize)).collect();
        let offset = |block: usize| block as u64 * u64::from(BLOCK);
        let slots = 0..u32::try_from(batch.len()).unwrap();
        let requests: Vec<Request> =
            slots.clone().zip(&batch).map(|(s, b)| request(s, Op::Read, offset(*b))).collect();
        let results = checked.perform(&requests);
        assert!(results.iter().all(|r| r.1 == BLOCK.cast_signed()), "{results:?}");
        for (slot, block) in slots.zip(&batch) {
            assert!(checked.queue.read_buffer(slot) == written[*block], "block {block} is another");
        }
    }
}

/// The rest of a short transfer goes to its place in the buffer; the part before it stays as it is.
fn continues_in_the_middle<Q: Queue>(checked: &mut Checked<'_, Q>) {
    let half = BLOCK / 2;
    let at = |op, part: u32| Request {
        offset: u64::from(part * half),
        bytes: half,
        buffer_offset: part * half,
        ..request(0, op, 0)
    };
    let buffer = checked.queue.write_buffer(0);
    let (first, second) = buffer.split_at_mut(half as usize);
    first.fill(0x11);
    second.fill(0x22);
    for op in [Op::Write, Op::Read] {
        for part in [1, 0] {
            assert_eq!(checked.perform(&[at(op, part)]), [(0, half.cast_signed())]);
        }
    }
    let read = checked.queue.read_buffer(0);
    assert!(read[..half as usize].iter().all(|b| *b == 0x11), "the first half is another");
    assert!(read[half as usize..].iter().all(|b| *b == 0x22), "the second half is another");
}

/// After the end there is nothing: fewer bytes or none, but an answer.
fn reads_at_the_end<Q: Queue>(checked: &mut Checked<'_, Q>) {
    let half = u64::from(BLOCK / 2);
    let results = checked.perform(&[request(0, Op::Read, SIZE - half)]);
    assert_eq!(results, [(0, (BLOCK / 2).cast_signed())]);
    let results = checked.perform(&[request(0, Op::Read, SIZE)]);
    assert_eq!(results, [(0, 0)]);
}

fn flushes<Q: Queue>(checked: &mut Checked<'_, Q>) {
    for op in [Op::Fsync, Op::Fdatasync] {
        let flush = Request { bytes: 0, ..request(0, op, 0) };
        assert_eq!(checked.perform(&[flush]), [(0, 0)], "{op:?}");
    }
}

/// Requests that are issued while others are under way, one or a few at a time.
fn partial_batches<Q: Queue>(checked: &mut Checked<'_, Q>, depth: u32) {
    let mut free: Vec<u32> = (0..depth).collect();
    let mut random = Random::new(3, 0);
    let (mut issued, mut back) = (0, 0);
    let start = Instant::now();
    while back < 100 {
        let count = usize::try_from(random.below(free.len() as u64 + 1)).unwrap();
        let slots = free.drain(..count.min(100 - issued));
        let block = |slot: u32| u64::from(slot) * u64::from(BLOCK);
        let requests: Vec<_> = slots.map(|s| request(s, Op::Read, block(s))).collect();
        issued += requests.len();
        checked.queue.issue(&requests).unwrap();
        if random.percent(50) {
            checked.queue.start().unwrap();
        }
        if random.percent(80) {
            let until = checked.now() + 100_000;
            checked.queue.wait(until).unwrap();
        }
        checked.queue.reap(&mut checked.finished);
        for one in checked.finished.drain(..) {
            assert_eq!(one.result, BLOCK.cast_signed());
            assert!(!free.contains(&one.slot), "slot {} came back twice", one.slot);
            free.push(one.slot);
            back += 1;
        }
        assert!(start.elapsed() < HANGS, "{back} of {issued} came back");
    }
    assert_eq!(free.len(), depth as usize);
}

/// A failed I/O comes back with the negative error number, and the queue continues.
pub(crate) fn tells_errors<Q: Queue>(queue: &mut Q, failing: Op, errno: i32) {
    let mut checked = Checked { queue, last_ns: 0, finished: Vec::new() };
    let results = checked.perform(&[request(0, failing, 0), request(1, failing, 0)]);
    assert_eq!(results, [(0, -errno), (1, -errno)]);
    let good = if failing == Op::Write { Op::Read } else { Op::Write };
    assert_eq!(checked.perform(&[request(1, good, 0)]), [(1, BLOCK.cast_signed())]);
}

/// An I/O that does not come back does not hold up `wait`.
pub(crate) fn gives_up_waiting<Q: Queue>(queue: &mut Q) {
    let mut checked = Checked { queue, last_ns: 0, finished: Vec::new() };
    checked.queue.issue(&[request(0, Op::Read, 0)]).unwrap();
    let until = checked.now() + 3_000_000;
    let start = Instant::now();
    while checked.now() < until {
        checked.queue.wait(until).unwrap();
        assert!(start.elapsed() < HANGS, "the wait is endless");
    }
    checked.queue.reap(&mut checked.finished);
    assert_eq!(checked.finished, []);
}

fn simulated(model: &SimDevice) -> SimQueue {
    let device = Rc::new(RefCell::new(Device::new(model, &[1 << 30], 1)));
    SimQueue::new(&device, &Rc::new(Cell::new(1)), plan(DEPTH), vec![(0, false)]).unwrap()
}

#[test]
fn the_null_queue_keeps_the_contract() {
    let mut queue = NullQueue::new(plan(DEPTH)).unwrap();
    keeps_the_contract(&mut queue, DEPTH, Keeps::Nothing);
}

#[test]
fn the_simulated_queue_keeps_the_contract() {
    keeps_the_contract(&mut simulated(&SimDevice::default()), DEPTH, Keeps::Nothing);
    let failing = SimDevice { fail_every: Some(1), ..SimDevice::default() };
    let mut queue = simulated(&failing);
    let mut checked = Checked { queue: &mut queue, last_ns: 0, finished: Vec::new() };
    assert_eq!(checked.perform(&[request(3, Op::Read, 0)]), [(3, -DEVICE_FAILED)]);
    let slow = SimDevice { read_ns: Nanoseconds(60_000_000_000), ..SimDevice::default() };
    gives_up_waiting(&mut simulated(&slow));
}

/// A queue whose system calls fail after a while.
struct Broken {
    queue: NullQueue,
    steps_left: u32,
    in_wait: bool,
}

impl Broken {
    fn step(&mut self, here: bool) -> io::Result<()> {
        self.steps_left = self.steps_left.saturating_sub(1);
        let broken = here && self.steps_left == 0;
        if broken { Err(io::Error::other("the ring is gone")) } else { Ok(()) }
    }
}

impl Queue for Broken {
    fn now(&self) -> u64 {
        self.queue.now()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        self.step(!self.in_wait)?;
        self.queue.issue(requests)
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        self.step(self.in_wait)?;
        self.queue.wait(until_ns)
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        self.queue.reap(finished);
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.queue.write_buffer(slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.queue.read_buffer(slot)
    }
}

/// A queue that failed while it waited used to end only its own worker: the others continued, and
/// the run counted as complete. When it failed at submission, its error was lost.
#[test]
fn a_broken_queue_fails_the_run_and_says_why() {
    for in_wait in [true, false] {
        let queue =
            Broken { queue: NullQueue::new(plan(DEPTH)).unwrap(), steps_left: 100, in_wait };
        let stream = Stream { depth: DEPTH, ..Stream::default() };
        let start_ns = queue.now();
        let timeline = Timeline {
            start_ns,
            window_ns: start_ns,
            interval_ns: 1_000_000_000,
            drain_ns: 1_000_000_000,
        };
        let ending = Arc::new(Ending::at(start_ns + 20_000_000_000));
        let (sender, messages) = sync_channel(10);
        let mut worker = Worker::new(WorkerPlan {
            worker: 0,
            stream: &stream,
            offsets: Offsets::new(&stream, SIZE, 0, &Arc::default()),
            pace: Pace::new(&stream, 0, 1),
            random: Random::new(1, 0),
            content_seed: 1,
            source: Arc::default(),
            on_error: OnError::Stop,
            ending: Arc::clone(&ending),
            in_flight: Arc::new(InFlight::new(DEPTH)),
            sender,
            empties: sync_channel(1).1,
            thread_cpu_ns: || None,
        });
        worker.start_at(timeline);
        drive::drive(worker, queue);
        assert!(ending.has_failed() && ending.ns() < start_ns + 20_000_000_000);
        let last = messages.try_iter().last();
        let Some(Message::Done(end)) = last else { panic!("{last:?}") };
        assert_eq!(end.queue_error.as_deref(), Some("the ring is gone"));
    }
}
