//! Completed I/Os: compares everything that was read with what it should hold.

use std::io;
use std::time::Duration;

use engine::{Finished, Op, Request};
use results::Persistence;

use super::{Busy, LOOK_UP_NS, Site, State, Task};
use crate::checks::{Checks, Touched};
use crate::classify::whole_version;
use crate::ledger::Claim;
use crate::log::Log;
use crate::past_cache;
use crate::plan::Hardening;

/// So much at the beginning of a frame is fetched before it is looked at; the processor sees then
/// what comes next.
const FETCHED_BYTES: usize = 512;
/// What the processor fetches by itself ends where a frame of memory does.
const FRAME_BYTES: usize = 4096;
/// Frames whose beginning is fetched: of more, the last would wait for the first.
const FRAMES_FETCHED: usize = 2;

/// An I/O that has finished, and when that was seen: a page that is looked into lets others wait
/// for long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reaped {
    finished: Finished,
    at_ns: u64,
    /// From the start of the run.
    after: Duration,
}

impl Site<'_> {
    /// Takes so many I/Os that have finished. More are looked for only when the last are taken.
    pub(super) fn take_finished(&mut self, most: usize) {
        if self.finished.is_empty() {
            self.reap();
            self.fetch_next();
        }
        for _ in 0..most {
            // Reading a page again finds what else has finished meanwhile, and leaves it here.
            let Some(one) = self.finished.pop() else { break };
            self.take(one);
            self.fetch_next();
        }
    }

    /// Prefetches the beginning of the next page, and its state, while other work is done.
    fn fetch_next(&self) {
        let Some((slot, file, claims)) = self.next_read() else { return };
        let Some(first) = claims.first() else { return };
        self.shared.file(file).ledger.fetch(first.page);
        for frame in self.page_read(slot, 0).chunks(FRAME_BYTES).take(FRAMES_FETCHED) {
            past_cache::fetch(&frame[..FETCHED_BYTES.min(frame.len())]);
        }
    }

    /// The read that is looked at next: its slot, its file and its pages.
    fn next_read(&self) -> Option<(u32, u16, &[Claim])> {
        let slot = self.finished.last()?.finished.slot;
        match &self.slots.get(slot as usize)?.as_ref()?.task {
            Task::Read { file, claims, .. } => Some((slot, *file, claims)),
            _ => None,
        }
    }

    /// A page of what a slot has read, by its index there.
    fn page_read(&self, slot: u32, index: usize) -> &[u8] {
        let bytes = self.shared.format.page_bytes();
        let part = index * bytes..(index + 1) * bytes;
        self.queue.read_buffer(slot).get(part).unwrap_or_default()
    }

    fn reap(&mut self) {
        self.queue.reap(&mut self.fresh);
        let (at_ns, after) = (self.queue.now(), self.shared.since_start());
        let seen = self.fresh.drain(..).map(|finished| Reaped { finished, at_ns, after });
        self.finished.extend(seen);
    }

    fn take(&mut self, reaped: Reaped) {
        let Reaped { finished: one, at_ns, after } = reaped;
        let Some(mut busy) = self.slots.get_mut(one.slot as usize).and_then(Option::take) else {
            return;
        };
        let moved = u32::try_from(one.result).unwrap_or(0);
        busy.done_bytes += moved;
        let rest = busy.request.bytes.saturating_sub(busy.done_bytes);
        if rest > 0 && moved > 0 {
            let request = Request {
                offset: busy.request.offset + u64::from(busy.done_bytes),
                bytes: rest,
                buffer_offset: busy.request.buffer_offset + busy.done_bytes,
                ..busy.request
            };
            self.requests.push(request);
            self.slots[one.slot as usize] = Some(busy);
            return;
        }
        let is_sync = matches!(busy.request.op, Op::Fsync | Op::Fdatasync);
        let complete = one.result >= 0 && (is_sync || rest == 0);
        self.count(&busy, complete, at_ns);
        if !complete {
            self.shared.failed_io(&busy.request, one.result);
        }
        if let Task::Again = busy.task {
            // A second read takes it from the slot.
            self.slots[one.slot as usize] = Some(busy);
            return;
        }
        self.finish(busy.task, one.slot, complete, after);
        // It may be used again already, or never have come back from reading a page again.
        if self.slots[one.slot as usize].is_none() {
            self.free.push(one.slot);
        }
    }

    fn count(&mut self, busy: &Busy, complete: bool, at_ns: u64) {
        let latency_ns = at_ns.saturating_sub(busy.issued_ns);
        if let Some(pace) = self.shared.paces.get(usize::from(busy.request.target)) {
            pace.ended(latency_ns);
        }
        let Some(figures) = self.figures.get_mut(usize::from(busy.request.target)) else { return };
        let cell = self.shared.teller.cell(self.thread);
        let (kind, seen) = match busy.request.op {
            Op::Read => (&mut figures.read, &cell.read),
            Op::Write | Op::WriteDurable => (&mut figures.write, &cell.write),
            Op::Fsync | Op::Fdatasync => (&mut figures.sync, &cell.sync),
        };
        let pages = match &busy.task {
            Task::Read { claims, .. } => {
                cell.pages_read.add(claims.len() as u64);
                claims.len()
            }
            Task::Write { claims, .. } => {
                cell.pages_written.add(claims.len() as u64);
                claims.len()
            }
            Task::Stamp { pages, .. } => *pages,
            _ => 1,
        };
        if complete {
            kind.record(pages, u64::from(busy.request.bytes), latency_ns);
            seen.record(u64::from(busy.request.bytes), latency_ns);
        } else {
            kind.errors += 1;
        }
    }

    fn finish(&mut self, task: Task, slot: u32, complete: bool, after: Duration) {
        match task {
            Task::Read { file, claims, seat } => {
                for (index, claim) in claims.iter().enumerate() {
                    // The first wrong page ends the run if the plan asks for that.
                    if complete && !self.shared.is_broken() {
                        let is_last = index + 1 == claims.len();
                        self.check(file, claim, (slot, index, is_last), after);
                    } else {
                        self.shared.file(file).ledger.release(claim);
                    }
                }
                self.recycle(claims);
                self.states[seat] = State::Idle;
            }
            Task::Write { file, claims, seat } => {
                self.wrote(file, &claims, complete.then_some(after));
                self.recycle(claims);
                match seat {
                    Some(seat) => self.states[seat] = State::Idle,
                    None => self.writing -= 1,
                }
            }
            Task::Log(block) if complete && self.flushes_log() => {
                let target = self.log.as_ref().map_or(0, Log::target);
                // In the same slot: there may be no other.
                let (offset, bytes, buffer_offset) = (0, 0, 0);
                let op = Op::Fdatasync;
                let request = Request { slot, op, target, offset, bytes, buffer_offset };
                self.put(slot, Task::HardenLog(block), request);
            }
            Task::Log(block) | Task::HardenLog(block) => {
                self.log_busy = false;
                match &mut self.log {
                    Some(log) if complete => log.harden(block, after),
                    _ => {
                        let what = "the log cannot be written, and no page may be before it";
                        self.fail(io::Error::other(what));
                    }
                }
            }
            Task::HardenData | Task::HardenFor(_) => {
                match task {
                    Task::HardenFor(seat) => self.states[seat] = State::Idle,
                    _ => self.hardening -= 1,
                }
                if !complete {
                    let what =
                        "a file cannot be flushed, so nobody knows which writes before it arrived";
                    self.fail(io::Error::other(what));
                }
            }
            Task::Stamp { file, .. } => {
                self.wrote(file, &[], complete.then_some(after));
                if let Some(resizing) = &mut self.resizing {
                    resizing.stamps -= 1;
                }
            }
            Task::Again | Task::Abandoned => {}
        }
    }

    fn flushes_log(&self) -> bool {
        let plan = self.shared.plan;
        plan.hardening == Hardening::Flush && plan.log.commits_flush
    }

    pub(super) fn recycle(&mut self, mut claims: Vec<Claim>) {
        claims.clear();
        self.spare.push(claims);
    }

    /// Notes that pages were written, when that was seen; none if the write has failed.
    fn wrote(&mut self, file: u16, claims: &[Claim], done: Option<Duration>) {
        let place = self.shared.file(file);
        for claim in claims {
            if let Some(after) = done {
                place.ledger.written(claim, claim.next_version(), after);
                let version = claim.next_version();
                self.remember(Touched { after, file, page: claim.page, version, wrote: true });
            } else {
                place.ledger.failed(claim);
            }
        }
        if done.is_some() {
            self.must_flush(file);
        }
    }

    /// If files are flushed, writes to this one are not on stable media before that.
    fn must_flush(&mut self, file: u16) {
        let flushes = self.shared.plan.hardening == Hardening::Flush;
        if flushes && !self.to_harden.contains(&file) {
            self.to_harden.push(file);
        }
    }

    fn remember(&self, touched: Touched) {
        self.shared.remember(self.thread, touched);
    }

    /// Compares one page of a read with what it should hold, and releases it.
    fn check(
        &mut self,
        file: u16,
        claim: &Claim,
        (slot, index, is_last): (u32, usize, bool),
        after: Duration,
    ) {
        let ledger = &self.shared.file(file).ledger;
        if (claim.version == 0 && !claim.zero) || claim.bad {
            // The content is unknown, or known to be wrong.
            ledger.release(claim);
            return;
        }
        self.work.pages_checked += 1;
        self.cell().pages_checked.add(1);
        let found = self.page_read(slot, index);
        let next = if is_last {
            self.next_read().map_or(&[][..], |(slot, ..)| self.page_read(slot, 0))
        } else {
            self.page_read(slot, index + 1)
        };
        if let Some(version) = whole_version(&self.shared.format, file, claim, found, next) {
            if self.shared.file(file).read(claim, version) {
                // A write that failed was not waited for by any flush.
                self.must_flush(file);
            }
            self.remember(Touched { after, file, page: claim.page, version, wrote: false });
            return;
        }
        let found = found.to_vec();
        let shared = self.shared;
        self.distracted = true;
        let kept = Checks { shared, file, claim }.look_into(&found, &mut |bytes| {
            self.read_again((file, claim.page), (slot, index), bytes)
        });
        match kept {
            Some(Persistence::Persistent) => ledger.wrong(claim),
            _ => ledger.release(claim),
        }
    }

    /// Reads a page again, alone, and waits for it. The read uses the same memory; the first
    /// content is kept elsewhere.
    fn read_again(
        &mut self,
        (file, page): (u16, u64),
        (slot, index): (u32, usize),
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
        let place = self.shared.file(file);
        let length = self.shared.bytes_of(1);
        let buffer_offset = self.shared.bytes_of(index);
        let request = Request {
            slot,
            op: Op::Read,
            target: place.target,
            offset: place.offset(page),
            bytes: length,
            buffer_offset,
        };
        self.put(slot, Task::Again, request);
        if let Err(error) = self.wait_for(slot) {
            if let Some(busy) = &mut self.slots[slot as usize] {
                busy.task = Task::Abandoned;
            }
            let text = error.to_string();
            self.fail(error);
            return Err(io::Error::other(text));
        }
        let done_bytes = self.slots[slot as usize].take().map_or(0, |busy| busy.done_bytes);
        if done_bytes != length {
            return Err(io::Error::other("the page could not be read again"));
        }
        let part = buffer_offset as usize..(buffer_offset + length) as usize;
        bytes.clear();
        bytes.extend_from_slice(self.queue.read_buffer(slot).get(part).unwrap_or_default());
        Ok(())
    }

    /// Waits until the I/O of a slot is over. What else finishes is kept for later.
    fn wait_for(&mut self, slot: u32) -> io::Result<()> {
        let mut others = Vec::new();
        let mut over = false;
        while !over {
            let until = self.queue.now() + LOOK_UP_NS;
            if let Err(error) = self.issue().and_then(|()| self.queue.wait(until)) {
                self.finished.append(&mut others);
                return Err(error);
            }
            self.reap();
            self.tell_of_long_ios();
            let mine = self.finished.iter().position(|f| f.finished.slot == slot);
            let mine = mine.map(|i| self.finished.remove(i));
            others.append(&mut self.finished);
            if let Some(mine) = mine {
                self.take(mine);
                // The rest of a short I/O was submitted again.
                over = self.requests.iter().all(|r| r.slot != slot);
            }
        }
        self.finished.append(&mut others);
        Ok(())
    }
}
