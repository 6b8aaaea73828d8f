//! Makes the steps on a queue: a state machine that knows neither threads nor files.
//!
//! Between its start and its end it allocates nothing and takes no lock; every some thousand I/Os
//! it is handed the next block of steps.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Finished, Queue, Request, WriteContent};
use trace::TraceError;

use crate::host::Share;
use crate::outcome::{Figures, Interval, LOG_WRITES, PARTS};
use crate::steps::{Mode, Step};
use crate::window::Window;

/// Even with nothing due, it looks up this often: the user may have asked for the end.
const LOOK_UP_NS: u64 = 50_000_000;
/// How long I/Os that are in flight at an early end are waited for.
const DRAIN_NS: u64 = 5_000_000_000;
/// Intervals that are kept; of a longer replay, they are longer.
const INTERVALS_MAX: usize = 256;

/// Where the steps come from.
pub trait Supply {
    /// Gives the next block of steps, and takes an empty one back; `None` at the end.
    ///
    /// # Errors
    /// The trace cannot be read.
    fn next_block(&mut self, used: Vec<Step>) -> Result<Option<Vec<Step>>, TraceError>;
}

/// How a replay is made.
#[derive(Debug)]
pub struct PlayOptions<'a> {
    /// What decides when an I/O is issued.
    pub mode: Mode,
    /// The most I/Os in flight, which is the depth of the queue.
    pub depth: u32,
    /// No I/O is issued after this time.
    pub at_most_ns: u64,
    /// The length of an interval of the result, at first.
    pub interval_ns: u64,
    /// The length of the replay, whose thirds are kept apart.
    pub span_ns: u64,
    /// Set, it ends the replay early.
    pub stop: &'a AtomicBool,
    /// What is written; none on a device that keeps no data.
    pub content: Option<WriteContent>,
}

/// Why a replay could not go on.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The queue to the target does not work.
    #[error("the I/O engine failed: {0}. Try another with --engine.")]
    Queue(#[from] io::Error),
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    number: u64,
    due_ns: u64,
    issued_ns: u64,
    done_bytes: u32,
    /// From when the target no longer kept it from being issued.
    free_ns: u64,
}

struct Player<'a> {
    options: PlayOptions<'a>,
    window: Window,
    /// The next I/O, where they are issued in their order.
    cursor: u64,
    block: Vec<Step>,
    /// How many steps of the block have been taken.
    taken: usize,
    exhausted: bool,
    slots: Vec<Slot>,
    free: Vec<u32>,
    requests: Vec<Request>,
    start_ns: u64,
    /// When an I/O last was due and found no free slot.
    blocked_ns: u64,
    last_done_ns: u64,
    share: Share,
    figures: Figures,
}

/// Makes all steps of a supply on a queue.
///
/// # Errors
/// The trace cannot be read, or the queue does not work. A failed I/O ends the replay and is in the
/// figures.
pub fn play<Q: Queue + ?Sized>(
    queue: &mut Q,
    supply: &mut dyn Supply,
    mut options: PlayOptions<'_>,
) -> Result<Figures, PlayError> {
    if let Some(content) = &mut options.content {
        (0..options.depth).for_each(|slot| content.prepare(queue.write_buffer(slot)));
    }
    let mut player = Player::new(options);
    let mut finished: Vec<Finished> = Vec::with_capacity(player.slots.len());
    player.admit(supply, 0)?;
    player.start_ns = queue.now();
    player.last_done_ns = player.start_ns;
    player.share.begin(player.start_ns);
    let mut drain_until = u64::MAX;
    loop {
        queue.reap(&mut finished);
        let now = queue.now();
        player.share.looked(now);
        for one in finished.drain(..) {
            player.take(one, now);
        }
        let ended = player.is_ended(now);
        let mut until = u64::MAX;
        if ended {
            drain_until = drain_until.min(now.saturating_add(DRAIN_NS));
            if player.in_flight() == 0 || now >= drain_until {
                break;
            }
        } else {
            player.admit(supply, now)?;
            until = player.fill(now);
            player.share.behind(player.blocked_ns == now);
            if player.is_through() {
                break;
            }
        }
        player.send(queue)?;
        let asleep = queue.now();
        queue.wait(until.min(drain_until).min(now + LOOK_UP_NS))?;
        player.share.waited(queue.now().saturating_sub(asleep));
    }
    Ok(player.finish())
}

impl<'a> Player<'a> {
    fn new(options: PlayOptions<'a>) -> Self {
        let depth = options.depth.max(1);
        let figures = Figures {
            interval_ns: options.interval_ns.max(1),
            intervals: Vec::with_capacity(INTERVALS_MAX),
            ..Figures::default()
        };
        Self {
            options,
            window: Window::new(),
            cursor: 0,
            block: Vec::new(),
            taken: 0,
            exhausted: false,
            slots: vec![Slot::default(); depth as usize],
            free: (0..depth).rev().collect(),
            requests: Vec::with_capacity(depth as usize),
            start_ns: 0,
            blocked_ns: 0,
            last_done_ns: 0,
            share: Share::default(),
            figures,
        }
    }

    fn in_flight(&self) -> u32 {
        u32::try_from(self.slots.len() - self.free.len()).unwrap_or(u32::MAX)
    }

    fn is_ended(&mut self, now: u64) -> bool {
        let asked = self.options.stop.load(Ordering::Relaxed) || self.figures.errors > 0;
        self.figures.ended_early |= asked;
        asked || now.saturating_sub(self.start_ns) >= self.options.at_most_ns
    }

    /// Whether every I/O of the trace is complete.
    fn is_through(&self) -> bool {
        let all_issued = match self.options.mode {
            Mode::Dependent => self.window.first_ready().is_none(),
            _ => self.cursor == self.window.next(),
        };
        self.exhausted && all_issued && self.in_flight() == 0
    }

    /// Takes steps from the supply as long as there is room for them.
    fn admit(&mut self, supply: &mut dyn Supply, now: u64) -> Result<(), TraceError> {
        while self.window.has_room() && !self.exhausted {
            let Some(step) = self.block.get(self.taken).copied() else {
                let mut used = std::mem::take(&mut self.block);
                used.clear();
                self.taken = 0;
                match supply.next_block(used)? {
                    Some(block) => self.block = block,
                    None => self.exhausted = true,
                }
                continue;
            };
            self.taken += 1;
            match self.options.mode {
                Mode::Dependent => {
                    self.window.admit_dependent(step, now.saturating_sub(self.start_ns));
                }
                _ => self.window.admit(step),
            }
        }
        Ok(())
    }

    /// Prepares everything that may start now; gives the moment when more may.
    fn fill(&mut self, now: u64) -> u64 {
        loop {
            let (number, due_ns) = match self.options.mode {
                Mode::Dependent => match self.window.first_ready() {
                    Some((ready_ns, number)) => (number, self.start_ns.saturating_add(ready_ns)),
                    None => return u64::MAX,
                },
                _ if self.cursor == self.window.next() => return u64::MAX,
                Mode::AsTimed => {
                    let due_ns = self.window.step(self.cursor).due_ns;
                    (self.cursor, self.start_ns.saturating_add(due_ns))
                }
                Mode::Closed if self.in_flight() < self.window.step(self.cursor).depth => {
                    (self.cursor, now)
                }
                Mode::Closed => return u64::MAX,
            };
            if due_ns > now {
                return due_ns;
            }
            let Some(slot) = self.free.pop() else {
                self.blocked_ns = now;
                return u64::MAX;
            };
            match self.options.mode {
                Mode::Dependent => self.window.take_ready(),
                _ => self.cursor += 1,
            }
            self.figures.waited += u64::from(due_ns < self.blocked_ns);
            let free_ns = if self.share.is_for_slots() { now } else { due_ns };
            self.prepare(slot, number, (due_ns, free_ns));
        }
    }

    fn prepare(&mut self, slot: u32, number: u64, (due_ns, free_ns): (u64, u64)) {
        let Step { op, offset, bytes, .. } = *self.window.step(number);
        self.slots[slot as usize] = Slot { number, due_ns, free_ns, ..Slot::default() };
        self.requests.push(Request { slot, op, target: 0, offset, bytes, buffer_offset: 0 });
    }

    /// Hands over what is prepared, in batches, so that a device works on the first while the next
    /// is handed over.
    fn send<Q: Queue + ?Sized>(&mut self, queue: &mut Q) -> io::Result<()> {
        if self.requests.is_empty() {
            return Ok(());
        }
        if let Some(content) = &mut self.options.content {
            for request in self.requests.iter().filter(|r| r.buffer_offset == 0 && r.op.writes()) {
                content.freshen(queue.write_buffer(request.slot), request.bytes as usize);
            }
        }
        let in_flight = self.in_flight();
        self.figures.most_in_flight = self.figures.most_in_flight.max(in_flight);
        let mut requests = self.requests.as_slice();
        while !requests.is_empty() {
            let (batch, rest) = requests.split_at(queue.batch().min(requests.len()));
            let now = queue.now();
            for request in batch.iter().filter(|request| request.buffer_offset == 0) {
                let slot = &mut self.slots[request.slot as usize];
                slot.issued_ns = now;
                let late = now.saturating_sub(slot.due_ns);
                self.figures.lag.record(late);
                self.figures.backlog_ns = late;
                self.figures.host.backlog_ns = slot.free_ns.saturating_sub(slot.due_ns);
                self.figures.last_due_ns = slot.due_ns.saturating_sub(self.start_ns);
            }
            queue.issue(batch)?;
            if !rest.is_empty() {
                queue.start()?;
            }
            requests = rest;
        }
        self.requests.clear();
        // Here and not in `wait`, where it would count as time in which nothing was to do.
        queue.start()
    }

    fn take(&mut self, finished: Finished, now: u64) {
        let slot = &mut self.slots[finished.slot as usize];
        let step = *self.window.step(slot.number);
        let moved = u32::try_from(finished.result).unwrap_or(0);
        slot.done_bytes = slot.done_bytes.saturating_add(moved);
        if moved > 0 && slot.done_bytes < step.bytes {
            // A short transfer is not an error: the rest is asked for, and the I/O is one I/O.
            self.requests.push(Request {
                slot: finished.slot,
                op: step.op,
                target: 0,
                offset: step.offset + u64::from(slot.done_bytes),
                bytes: step.bytes - slot.done_bytes,
                buffer_offset: slot.done_bytes,
            });
            return;
        }
        let slot = *slot;
        self.free.push(finished.slot);
        let noticing_ns = self.share.noticing_ns().min(now.saturating_sub(slot.issued_ns));
        let host_ns = slot.issued_ns.saturating_sub(slot.free_ns).saturating_add(noticing_ns);
        let since_start_ns = now.saturating_sub(self.start_ns);
        let before_ns = self.window.complete(slot.number, since_start_ns, host_ns);
        self.last_done_ns = self.last_done_ns.max(now);
        self.share.completed(now.saturating_sub(before_ns));
        if finished.result < 0 || slot.done_bytes < step.bytes {
            self.fail(finished.result, &step);
            return;
        }
        let latency = now.saturating_sub(slot.due_ns);
        let since = slot.due_ns.saturating_sub(self.start_ns);
        let part = since.saturating_mul(PARTS as u64) / self.options.span_ns.max(1);
        let part = usize::try_from(part).unwrap_or(PARTS).min(PARTS - 1);
        let sets = [Some(usize::from(step.class)), step.is_log.then_some(LOG_WRITES)];
        for set in sets.into_iter().flatten() {
            let class = &mut self.figures.classes[set];
            class.ios += 1;
            class.bytes += u64::from(step.bytes);
            class.from_due.record(latency);
            class.from_issue.record(now.saturating_sub(slot.issued_ns));
            self.figures.parts[part][set].record(latency);
            self.figures.host.parts[part][set].record(latency.saturating_sub(host_ns));
        }
        self.count(now, latency);
    }

    #[cold]
    fn fail(&mut self, result: i32, step: &Step) {
        self.figures.errors += 1;
        let what = if result < 0 {
            io::Error::from_raw_os_error(result.saturating_neg()).to_string()
        } else {
            "it transferred no bytes".to_owned()
        };
        let (op, offset, bytes) = (step.op.name(), step.offset, step.bytes);
        let error = format!("{op} of {bytes} bytes at {offset}: {what}");
        self.figures.first_error.get_or_insert(error);
    }

    fn count(&mut self, now: u64, latency: u64) {
        let since = now.saturating_sub(self.start_ns);
        let figures = &mut self.figures;
        let mut index = since / figures.interval_ns;
        while index >= INTERVALS_MAX as u64 {
            let half = figures.intervals.len().div_ceil(2);
            for at in 0..half {
                let mut joined = figures.intervals[2 * at];
                if let Some(other) = figures.intervals.get(2 * at + 1) {
                    joined.ios += other.ios;
                    joined.sum_ns = joined.sum_ns.saturating_add(other.sum_ns);
                    joined.max_ns = joined.max_ns.max(other.max_ns);
                }
                figures.intervals[at] = joined;
            }
            figures.intervals.truncate(half);
            figures.interval_ns = figures.interval_ns.saturating_mul(2);
            index = since / figures.interval_ns;
        }
        let index = usize::try_from(index).unwrap_or(0);
        if figures.intervals.len() <= index {
            figures.intervals.resize(index + 1, Interval::default());
        }
        let interval = &mut figures.intervals[index];
        interval.ios += 1;
        interval.sum_ns = interval.sum_ns.saturating_add(latency);
        interval.max_ns = interval.max_ns.max(latency);
    }

    fn finish(mut self) -> Figures {
        self.figures.unfinished = u64::from(self.in_flight());
        self.figures.elapsed_ns = self.last_done_ns.saturating_sub(self.start_ns).max(1);
        self.share.finish(self.start_ns, &mut self.figures.host);
        self.figures
    }
}
