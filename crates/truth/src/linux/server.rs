//! The device on the clock of the machine: takes I/Os, asks the model when they are done, and
//! answers then.
//!
//! The schedule is in the model's time. An answer that comes late, because the host was busy,
//! delays that one I/O; the server that it occupied is free when the model says, so the capacity
//! stays what it is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use device::{Device, Op, Outcome, Request};
use workload::{Nanoseconds, SimDevice};

use super::delivered::{Delivered, Served};
use super::priority;

/// What the lead is found with: so many I/Os, one after the other, of so long.
const PROBES: usize = 16;
const PROBE_NS: u64 = 2_000_000;
/// More than this is a busy host, and not what the way to the device takes.
const LEAD_MOST_NS: u64 = 300_000;
/// Threads that answer, so that those due at the same moment do not wait for each other.
const ANSWERING: usize = 2;
const SEED: u64 = 42;

/// Sends the answer of an I/O when it is due.
pub(super) type Answer = Box<dyn FnOnce(Outcome) + Send>;

/// A device that serves in real time.
pub(super) struct Server {
    model: SimDevice,
    target_bytes: Vec<u64>,
    start: Instant,
    state: Mutex<State>,
    /// Something is due sooner than all before it, or the end has come.
    sooner: Condvar,
    /// Answers come at once and are not counted.
    instant: AtomicBool,
    /// So much earlier than due is an answer begun.
    lead_ns: AtomicU64,
}

struct State {
    device: Device,
    /// Time 0 of the device, on the server's clock.
    origin_ns: u64,
    pending: BinaryHeap<Reverse<Pending>>,
    sequence: u64,
    log: Vec<Served>,
    ended: bool,
}

struct Pending {
    due_ns: u64,
    sequence: u64,
    arrived_ns: u64,
    op: Op,
    outcome: Outcome,
    answer: Answer,
}

impl Server {
    /// A device that is idle and begins its time now.
    pub(super) fn new(model: SimDevice, target_bytes: &[u64]) -> Self {
        let device = Device::new(&model, target_bytes, SEED);
        let state = State {
            device,
            origin_ns: 0,
            pending: BinaryHeap::new(),
            sequence: 0,
            log: Vec::new(),
            ended: false,
        };
        Self {
            model,
            target_bytes: target_bytes.to_vec(),
            start: Instant::now(),
            state: Mutex::new(state),
            sooner: Condvar::new(),
            instant: AtomicBool::new(false),
            lead_ns: AtomicU64::new(0),
        }
    }

    /// Measures how long the way from a program to the device, the timer and the way back take
    /// together, and answers that much earlier from now on, so that programs see the model's times.
    /// `read` makes one I/O.
    pub(super) fn find_lead(&self, read: impl Fn() -> io::Result<usize>) -> io::Result<()> {
        let model =
            SimDevice { servers: 1, read_ns: Nanoseconds(PROBE_NS), ..SimDevice::default() };
        self.lock().device = Device::new(&model, &self.target_bytes, SEED);
        let mut over_ns = Vec::new();
        for _ in 0..PROBES {
            let begin_ns = self.now_ns();
            read()?;
            over_ns.push((self.now_ns() - begin_ns).saturating_sub(PROBE_NS));
        }
        over_ns.sort_unstable();
        self.lead_ns.store(over_ns[PROBES / 2].min(LEAD_MOST_NS), Ordering::Relaxed);
        self.instantly(|| ());
        Ok(())
    }

    /// The present moment, in nanoseconds of the server's clock.
    pub(super) fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// A thread that panicked did so between two I/Os: what it left is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an I/O that has just arrived. It is answered `later_ns` after the model has it done.
    pub(super) fn accept(&self, request: Request, later_ns: u64, answer: Answer) {
        priority::raise();
        if self.instant.load(Ordering::Acquire) {
            return answer(Outcome::Done { bytes: request.bytes });
        }
        let mut state = self.lock();
        // Under the lock, so that arrivals never go back in time.
        let arrived_ns = self.now_ns();
        let origin_ns = state.origin_ns;
        let reply = state.device.serve(&request, arrived_ns.saturating_sub(origin_ns));
        let due_ns = reply.done_ns.saturating_add(origin_ns).saturating_add(later_ns);
        state.sequence += 1;
        let pending = Pending {
            due_ns,
            sequence: state.sequence,
            arrived_ns,
            op: request.op,
            outcome: reply.outcome,
            answer,
        };
        let first = state.pending.peek().is_none_or(|Reverse(p)| due_ns < p.due_ns);
        state.pending.push(Reverse(pending));
        drop(state);
        if first {
            self.sooner.notify_one();
        }
    }

    /// Starts the threads that answer; they end with [`Server::end`].
    pub(super) fn start_answering(self: &Arc<Self>) -> io::Result<Vec<JoinHandle<()>>> {
        let answer = |number| {
            let server = Arc::clone(self);
            let name = format!("truth-answer-{number}");
            thread::Builder::new().name(name).spawn(move || {
                priority::raise();
                while let Some(pending) = server.next_due() {
                    server.answer(pending);
                }
            })
        };
        (0..ANSWERING).map(answer).collect()
    }

    /// Waits for the next I/O to be due; none when the device has ended.
    fn next_due(&self) -> Option<Pending> {
        let mut state = self.lock();
        loop {
            let (now_ns, lead_ns) = (self.now_ns(), self.lead_ns.load(Ordering::Relaxed));
            let wait_ns = match state.pending.peek() {
                Some(Reverse(p)) => p.due_ns.saturating_sub(lead_ns).saturating_sub(now_ns),
                None if state.ended => return None,
                None => u64::MAX,
            };
            if wait_ns == 0 || state.ended {
                let pending = state.pending.pop();
                let more = state.pending.peek().is_some();
                drop(state);
                if more {
                    // The others sleep until this one was due, and not until the next is.
                    self.sooner.notify_one();
                }
                return pending.map(|Reverse(p)| p);
            }
            let wait = Duration::from_nanos(wait_ns.min(3_600_000_000_000));
            let waited = self.sooner.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn answer(&self, pending: Pending) {
        let Pending { due_ns, arrived_ns, op, outcome, answer, .. } = pending;
        answer(outcome);
        let answered_ns = self.now_ns();
        self.lock().log.push(Served { op, outcome, arrived_ns, due_ns, answered_ns });
    }

    /// Answers at once what comes while `work` is done. Then the device is idle, and begins its
    /// time anew.
    pub(super) fn instantly<T>(&self, work: impl FnOnce() -> T) -> T {
        self.instant.store(true, Ordering::Release);
        let done = work();
        let mut state = self.lock();
        state.device = Device::new(&self.model, &self.target_bytes, SEED);
        state.origin_ns = self.now_ns();
        state.log.clear();
        drop(state);
        self.instant.store(false, Ordering::Release);
        done
    }

    /// The answers in a span of the server's clock.
    pub(super) fn delivered(&self, span: &Range<u64>) -> Delivered {
        Delivered::of(&self.lock().log, span)
    }

    /// Answers all that is pending, and from now on everything at once.
    pub(super) fn end(&self) {
        self.instant.store(true, Ordering::Release);
        self.lock().ended = true;
        self.sooner.notify_all();
    }
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Pending {}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due_ns, self.sequence).cmp(&(other.due_ns, other.sequence))
    }
}
