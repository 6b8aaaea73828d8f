//! One thread of a stream on one target: a state machine without threads and backends.
//!
//! A driver calls [`Worker::step`] whenever something may have happened and waits until the moment
//! it names. The same machine runs on real queues and on simulated ones.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use results::ErrorKind;
use workload::{OnError, Stream, SyncCall};

use crate::choices::Choices;
use crate::mix::Mixed;
use crate::offsets::Offsets;
use crate::pace::Pace;
use crate::queue::{Finished, KINDS, Op, Queue, Request};
use crate::random::Random;
use crate::recorder::{Snapshot, Span};
use crate::shared::{Ending, InFlight, Unfinished};
pub(crate) use crate::timeline::Timeline;

/// Even with nothing due, a worker looks up this often: the end may have come sooner than planned.
pub(crate) const LOOK_UP_NS: u64 = 50_000_000;
/// Different errors that a worker keeps apart.
const ERROR_RECORDS_MAX: usize = 64;

/// What a driver of a worker does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Wait for a completion, at most until this moment, and step again.
    Wait(u64),
    /// Stop, because the worker is done.
    Done,
}

/// What a worker sends to the coordinator.
#[derive(Debug)]
pub(crate) enum Message {
    /// One interval's counts. The box goes back to the worker.
    Snapshot(Box<Snapshot>),
    /// The worker's queue is open, or cannot be.
    Ready(Result<crate::Backend, crate::EngineError>),
    /// The worker is done; these are its last figures.
    Done(Box<WorkerEnd>),
}

/// The last message of a worker.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkerEnd {
    /// The number of the worker in the run.
    pub worker: usize,
    /// I/Os that failed, counted by operation and kind of error.
    pub errors: Vec<Failure>,
    /// The error of the queue itself, if it failed.
    pub queue_error: Option<String>,
    /// I/Os that had not returned when the worker gave up.
    pub unfinished: Unfinished,
    /// Kind and age of each I/O that was in flight when the window ended: they are in no figure.
    pub left_over: Vec<(usize, u64)>,
    /// Open loop: how long the first I/O that was not issued any more had been due at the end.
    pub behind_ns: u64,
}

/// Failed I/Os with the same operation and the same kind of error.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub op: Op,
    pub kind: ErrorKind,
    /// How many I/Os failed this way.
    pub count: u64,
    /// Where the first of them was, in bytes.
    pub first_offset: u64,
    /// The system's number of the first; 0 for a short transfer.
    pub errno: i32,
}

/// Everything a worker is made from.
pub(crate) struct WorkerPlan<'a> {
    /// The number of the worker in the run.
    pub worker: usize,
    /// The stream that it works for.
    pub stream: &'a Stream,
    /// The source of its offsets.
    pub offsets: Offsets,
    /// When its I/Os may start.
    pub pace: Pace,
    /// Where its random choices come from.
    pub random: Random,
    /// Where the content of its writes starts.
    pub content_seed: u64,
    /// The bytes from which its writes take theirs, for the content `source`.
    pub source: Arc<Vec<u8>>,
    /// What to do after a failed I/O.
    pub on_error: OnError,
    /// The end of the window, which may move.
    pub ending: Arc<Ending>,
    /// Its table of I/Os in flight, which the watchdog reads.
    pub in_flight: Arc<InFlight>,
    /// Carries messages to the coordinator.
    pub sender: SyncSender<Message>,
    /// Snapshots that come back empty, to be filled again.
    pub empties: Receiver<Box<Snapshot>>,
    /// CPU time of the calling thread.
    pub thread_cpu_ns: fn() -> Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    op: Op,
    /// The part of a mix that says how it is answered, counted from 1.
    answered_by: u8,
    offset: u64,
    bytes: u32,
    done_bytes: u32,
    due_ns: u64,
    issued_ns: u64,
}

impl Slot {
    const EMPTY: Self = Self {
        op: Op::Read,
        answered_by: 0,
        offset: 0,
        bytes: 0,
        done_bytes: 0,
        due_ns: 0,
        issued_ns: 0,
    };
}

/// A worker as a state machine: it issues I/Os and counts completions.
pub(crate) struct Worker {
    number: usize,
    /// A pool's thread lends its own.
    pub choices: Choices,
    /// A pool's thread may lend its own.
    pub pace: Pace,
    on_error: OnError,
    timeline: Timeline,
    ending: Arc<Ending>,
    watched: Arc<InFlight>,
    sender: SyncSender<Message>,
    empties: Receiver<Box<Snapshot>>,
    thread_cpu_ns: fn() -> Option<u64>,

    slots: Vec<Slot>,
    /// Slots without an I/O; a pool may hand them out.
    pub free: Vec<u32>,
    /// I/Os of a mix that are to be answered, and by which part.
    pub unanswered: Vec<(Op, u8)>,
    requests: Vec<Request>,
    finished: Vec<Finished>,

    counts: Box<Snapshot>,
    boundary_ns: u64,
    last_ns: u64,
    /// I/Os that were issued and have not finished.
    pub in_flight: u32,
    busy_since_ns: u64,
    writes_since_flush: u32,
    flush: Option<(u32, Op)>,
    flushing: bool,
    left_over_noted: bool,
    closed: bool,
    end: WorkerEnd,
}

impl Worker {
    /// A worker before its run. All memory it will use is taken here.
    pub(crate) fn new(plan: WorkerPlan<'_>) -> Self {
        let stream = plan.stream;
        let depth = stream.depth as usize;
        let flush = stream.sync.map(|sync| {
            let op = match sync.call {
                SyncCall::Fsync => Op::Fsync,
                SyncCall::Fdatasync => Op::Fdatasync,
            };
            (sync.every_writes, op)
        });
        Self {
            number: plan.worker,
            choices: Choices::new(
                stream,
                plan.offsets,
                plan.random,
                plan.content_seed,
                plan.source,
            ),
            pace: plan.pace,
            on_error: plan.on_error,
            timeline: Timeline::default(),
            ending: plan.ending,
            watched: plan.in_flight,
            sender: plan.sender,
            empties: plan.empties,
            thread_cpu_ns: plan.thread_cpu_ns,
            slots: vec![Slot::EMPTY; depth],
            free: (0..stream.depth).rev().collect(),
            unanswered: Vec::with_capacity(if stream.mix.is_some() { depth } else { 0 }),
            requests: Vec::with_capacity(depth),
            finished: Vec::with_capacity(depth),
            counts: Box::new(Snapshot::new(plan.worker, stream.is_open_loop())),
            boundary_ns: 0,
            last_ns: 0,
            in_flight: 0,
            busy_since_ns: 0,
            writes_since_flush: 0,
            flush,
            flushing: false,
            left_over_noted: false,
            closed: false,
            end: WorkerEnd {
                worker: plan.worker,
                errors: Vec::with_capacity(ERROR_RECORDS_MAX),
                ..WorkerEnd::default()
            },
        }
    }

    /// Fills the write buffers, before the run.
    pub(crate) fn prepare<Q: Queue>(&mut self, queue: &mut Q) {
        self.choices.prepare(queue, u32::try_from(self.slots.len()).unwrap_or(0));
    }

    /// Sets the worker to the phases of its run, which are known when all workers are ready.
    pub(crate) fn start_at(&mut self, timeline: Timeline) {
        self.timeline = timeline;
        self.boundary_ns = timeline.window_ns;
        (self.last_ns, self.busy_since_ns) = (timeline.start_ns, timeline.start_ns);
        self.pace.begin(timeline.start_ns);
    }

    /// Takes what has finished, issues what may start, and says what to wait for.
    #[inline]
    pub(crate) fn step<Q: Queue>(&mut self, queue: &mut Q) -> Next {
        let now = self.absorb(queue);
        if let Some(limit) = self.over(now) {
            if self.in_flight == 0 || now >= limit {
                return Next::Done;
            }
            return self.send(queue, now, limit.min(now + LOOK_UP_NS));
        }
        let until = self.fill(queue, now);
        self.send(queue, now, until.min(self.next_look(now)))
    }

    /// Takes what has finished, and gives the time at which it did.
    #[inline]
    pub(crate) fn absorb<Q: Queue>(&mut self, queue: &mut Q) -> u64 {
        queue.reap(&mut self.finished);
        let now = queue.now();
        let end = self.ending.ns();
        self.pass_boundaries(now, end);
        if now >= end {
            self.note_left_over(end);
        }
        self.take_finished(now, end);
        now
    }

    /// Whether no I/O may start any more: then this is how long those under way are waited for. At
    /// the end of the window, which may be earlier, the last counts are sent.
    #[inline]
    pub(crate) fn over(&mut self, now: u64) -> Option<u64> {
        // A failed I/O may just have ended the run.
        let end = self.ending.ns();
        if now < end {
            return None;
        }
        self.close();
        let stop = self.ending.stop_ns();
        (now >= stop).then(|| stop.saturating_add(self.timeline.drain_ns))
    }

    /// When the worker must look up even if nothing is due and nothing finishes.
    #[inline]
    pub(crate) fn next_look(&self, now: u64) -> u64 {
        let end = self.ending.ns();
        let next = if now < end { self.boundary_ns.min(end) } else { self.ending.stop_ns() };
        next.min(now + LOOK_UP_NS)
    }

    /// Whether the queue failed, so that the worker cannot continue.
    pub(crate) fn is_broken(&self) -> bool {
        self.end.queue_error.is_some()
    }

    /// Ends the worker: what it knows beyond its snapshots. `now` is the time on its queue's clock.
    pub(crate) fn finish(mut self, now: u64, queue_error: Option<String>) {
        if queue_error.is_some() {
            // Without this the others would continue, and the run would pass for complete.
            self.ending.fail(now);
            self.end.queue_error = queue_error;
        }
        self.close();
        self.end.unfinished =
            self.watched.unfinished(now, self.timeline.window_ns, self.ending.ns());
        // A coordinator that is gone needs no answer.
        let _ = self.sender.send(Message::Done(Box::new(self.end)));
    }

    fn take_finished(&mut self, now: u64, end: u64) {
        if self.finished.is_empty() {
            return;
        }
        self.note_gap(now.min(end));
        let mut finished = std::mem::take(&mut self.finished);
        for one in finished.drain(..) {
            self.take(one, now, now < end);
        }
        self.finished = finished;
        if self.in_flight == 0
            && let Pace::Bursts(bursts) = &mut self.pace
        {
            bursts.idle(now);
        }
    }

    fn take(&mut self, finished: Finished, now: u64, counts: bool) {
        let slot = &mut self.slots[finished.slot as usize];
        let transferred = u32::try_from(finished.result).unwrap_or(0);
        slot.done_bytes += transferred;
        let flush = slot.op.kind() == 2;
        let complete = finished.result >= 0 && (flush || slot.done_bytes >= slot.bytes);
        if !complete && transferred > 0 {
            // A short transfer is not an error: the rest is asked for, and the I/O is one I/O.
            let rest = Request {
                slot: finished.slot,
                op: slot.op,
                target: 0,
                offset: slot.offset + u64::from(slot.done_bytes),
                bytes: slot.bytes - slot.done_bytes,
                buffer_offset: slot.done_bytes,
            };
            self.requests.push(rest);
            return;
        }
        let slot = *slot;
        self.watched.done(finished.slot as usize);
        self.free.push(finished.slot);
        self.in_flight -= 1;
        self.flushing &= !flush;
        if slot.answered_by != 0 && complete {
            self.unanswered.push((slot.op, slot.answered_by));
        }
        if complete {
            if counts {
                let tally = &mut self.counts.tallies[slot.op.kind()];
                tally.record(if flush { 0 } else { slot.bytes }, slot.due_ns, slot.issued_ns, now);
            }
        } else {
            self.fail(slot, finished.result, now, counts);
        }
    }

    #[cold]
    fn fail(&mut self, slot: Slot, result: i32, now: u64, counts: bool) {
        let errno = result.wrapping_neg().max(0);
        let kind = crate::error::kind_of(errno);
        if counts {
            self.counts.tallies[slot.op.kind()].errors += 1;
            self.counts.failed_ns += now.saturating_sub(slot.issued_ns) as f64;
        }
        let errors = &mut self.end.errors;
        if let Some(record) = errors.iter_mut().find(|e| e.op == slot.op && e.kind == kind) {
            record.count += 1;
        } else if errors.len() < ERROR_RECORDS_MAX {
            let first_offset = slot.offset;
            errors.push(Failure { op: slot.op, kind, count: 1, first_offset, errno });
        }
        if self.on_error == OnError::Stop {
            self.ending.fail(now);
        }
    }

    /// Fills `requests` with everything that may start now; gives the moment when more may.
    pub(crate) fn fill<Q: Queue>(&mut self, queue: &mut Q, now: u64) -> u64 {
        if matches!(self.pace, Pace::Free) && self.flush.is_none() {
            while let Some(slot) = self.free.pop() {
                self.begin(queue, slot, now);
            }
            return u64::MAX;
        }
        loop {
            if let Some((every, op)) = self.flush
                && self.writes_since_flush >= every
            {
                // A flush covers the writes before it, so they must be complete.
                if self.in_flight == 0 && self.requests.is_empty() {
                    self.writes_since_flush = 0;
                    self.flushing = true;
                    if let Some(slot) = self.free.pop() {
                        self.put(slot, op, 0, 0, now);
                    }
                }
                return u64::MAX;
            }
            if self.flushing {
                return u64::MAX;
            }
            let due = self.pace.due(now);
            if due > now {
                return due;
            }
            let Some(slot) = self.free.pop() else { return u64::MAX };
            let (op, bytes) = self.begin(queue, slot, due);
            self.writes_since_flush += u32::from(op == Op::Write);
            self.pace.started(now, u64::from(bytes), &mut self.choices.random);
        }
    }

    /// Makes the next read or write, in a free slot.
    #[inline]
    fn begin<Q: Queue>(&mut self, queue: &mut Q, slot: u32, due_ns: u64) -> (Op, u32) {
        let (op, offset, bytes) = self.choices.next(slot);
        if op == Op::Write {
            self.choices.freshen(queue, slot, bytes);
        }
        self.put(slot, op, offset, bytes, due_ns);
        (op, bytes)
    }

    /// Makes an I/O of a mix, in a free slot.
    pub(crate) fn start<Q: Queue>(&mut self, queue: &mut Q, io: Mixed, now: u64) {
        let Some(slot) = self.free.pop() else { return };
        if io.op == Op::Write {
            self.choices.freshen(queue, slot, io.bytes);
        }
        self.put(slot, io.op, io.offset, io.bytes, now);
        self.slots[slot as usize].answered_by = io.answered_by;
    }

    #[inline]
    fn put(&mut self, slot: u32, op: Op, offset: u64, bytes: u32, due_ns: u64) {
        self.slots[slot as usize] = Slot { op, offset, bytes, due_ns, ..Slot::EMPTY };
        self.requests.push(Request { slot, op, target: 0, offset, bytes, buffer_offset: 0 });
    }

    /// Hands the requests to the queue.
    pub(crate) fn send<Q: Queue>(&mut self, queue: &mut Q, stepped_ns: u64, until: u64) -> Next {
        let mut requests = std::mem::take(&mut self.requests);
        let issued = self.send_in_batches(queue, &requests, stepped_ns);
        requests.clear();
        self.requests = requests;
        match issued {
            Ok(()) => Next::Wait(until),
            Err(error) => {
                self.end.queue_error = Some(error.to_string());
                self.ending.fail(queue.now());
                Next::Done
            }
        }
    }

    /// All requests share the moment before the first of them is handed over: what waits for the
    /// calls before its own waits for this program, and that is part of its latency. A device that
    /// works on the first batch while the next is made does not idle, as it would if all were
    /// handed over at once.
    fn send_in_batches<Q: Queue>(
        &mut self,
        queue: &mut Q,
        mut requests: &[Request],
        stepped_ns: u64,
    ) -> io::Result<()> {
        if requests.is_empty() {
            return Ok(());
        }
        let now = queue.now();
        self.add_area(stepped_ns, now);
        self.stamp(requests, now);
        while !requests.is_empty() {
            let (batch, rest) = requests.split_at(queue.batch().min(requests.len()));
            queue.issue(batch)?;
            if !rest.is_empty() {
                queue.start()?;
            }
            requests = rest;
        }
        Ok(())
    }

    fn stamp(&mut self, requests: &[Request], now: u64) {
        if self.in_flight == 0 {
            self.busy_since_ns = now;
        }
        let open_loop = self.counts.tallies[0].open_loop.is_some();
        for request in requests {
            let slot = &mut self.slots[request.slot as usize];
            if request.buffer_offset > 0 {
                continue;
            }
            slot.issued_ns = now;
            if !open_loop || slot.op.kind() == 2 {
                slot.due_ns = now;
            }
            self.watched.issued(request.slot as usize, now);
            self.in_flight += 1;
        }
    }

    /// Counts the time from the last event to `now` with what is in flight; a snapshot leaves at
    /// every boundary in between.
    fn pass_boundaries(&mut self, now: u64, end: u64) {
        let now = now.min(end);
        while now >= self.boundary_ns && self.boundary_ns < end && !self.closed {
            let boundary = self.boundary_ns;
            self.add_area(self.last_ns, boundary);
            let passed = now.saturating_sub(self.timeline.window_ns) / self.timeline.interval_ns;
            self.publish(Span::Interval(passed), boundary);
            // A worker that was held up gives the intervals it missed as one.
            self.boundary_ns = self.timeline.boundary_after(now);
        }
        self.add_area(self.last_ns, now);
    }

    #[inline]
    fn add_area(&mut self, from: u64, to: u64) {
        self.counts.in_flight_ns +=
            f64::from(self.in_flight) * to.saturating_sub(from.max(self.last_ns)) as f64;
        self.last_ns = self.last_ns.max(to);
    }

    /// Notes how long nothing has completed.
    #[inline]
    fn note_gap(&mut self, now: u64) {
        if self.in_flight > 0 {
            let since = self.busy_since_ns.max(self.timeline.window_ns);
            let gap = now.saturating_sub(since);
            self.counts.longest_gap_ns = self.counts.longest_gap_ns.max(gap);
        }
        self.busy_since_ns = now;
    }

    /// Sends the counts up to a boundary and continues with empty ones that belong to `next`.
    fn publish(&mut self, next: Span, boundary: u64) {
        let Ok(mut empty) = self.empties.try_recv() else {
            // The coordinator lags; in the window the counts simply stay in this interval.
            if self.counts.span == Span::WarmUp {
                self.counts.clear();
                self.counts.span = next;
            }
            return;
        };
        self.counts.thread_cpu_ns = (self.thread_cpu_ns)();
        self.counts.until_ns = boundary.saturating_sub(self.timeline.window_ns);
        empty.clear();
        empty.span = next;
        let full = std::mem::replace(&mut self.counts, empty);
        let _ = self.sender.try_send(Message::Snapshot(full));
    }

    /// Notes which I/Os the window ended without, once.
    #[cold]
    fn note_left_over(&mut self, end: u64) {
        if std::mem::replace(&mut self.left_over_noted, true) {
            return;
        }
        let slots = self.watched.pending().map(|(slot, _)| self.slots[slot]);
        let age = |s: Slot| (s.op.kind(), end.saturating_sub(s.due_ns));
        self.end.left_over = slots.map(age).collect();
    }

    /// Sends the counts of the last interval, the first time that it is called.
    fn close(&mut self) {
        if self.closed {
            return;
        }
        self.closed = true;
        let end = self.ending.ns();
        self.note_left_over(end);
        self.note_gap(end.max(self.busy_since_ns));
        if let Some(due) = self.pace.scheduled() {
            self.end.behind_ns = end.saturating_sub(due);
        }
        self.counts.thread_cpu_ns = (self.thread_cpu_ns)();
        self.counts.until_ns = end.saturating_sub(self.timeline.window_ns);
        let empty =
            Box::new(Snapshot { span: self.counts.span, ..Snapshot::new(self.number, false) });
        let full = std::mem::replace(&mut self.counts, empty);
        let _ = self.sender.send(Message::Snapshot(full));
    }
}

/// Kinds that a worker counts apart, as a check of the array's length.
const _: () = assert!(KINDS == 3);
