//! One thread of the simulated database: it does on a queue what its users wish, keeps the log
//! ahead of the pages, and checks everything that it reads.

mod doublewrite;
mod finished;
mod resizing;
mod waiting;
mod wishes;
mod writing;

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{Finished, Op, Queue, Request};
use results::DatabaseWork;

use crate::events::Cell;
use crate::figures::FileFigures;
use crate::ledger::Claim;
use crate::log::{Block, Log};
use crate::page::PageId;
use crate::past_cache;
use crate::run::Phase;
use crate::shared::Shared;
use crate::users::{Chance, User, Wish};
use doublewrite::Doubling;
use finished::Reaped;
use resizing::Resizing;

/// A thread looks up this often even if nothing finishes.
const LOOK_UP_NS: u64 = 20_000_000;

/// What a slot is busy with.
#[derive(Debug)]
enum Task {
    Read {
        file: u16,
        claims: Vec<Claim>,
        seat: usize,
    },
    Write {
        file: u16,
        claims: Vec<Claim>,
        seat: Option<usize>,
    },
    Log(Block),
    HardenLog(Block),
    HardenData,
    /// For a user that waits for it.
    HardenFor(usize),
    /// Writes zeros over the new end of a file.
    Stamp {
        file: u16,
        pages: usize,
    },
    Again,
    /// Nobody waits for it any more.
    Abandoned,
}

/// An I/O in flight, and what it is for.
#[derive(Debug)]
struct Busy {
    task: Task,
    request: Request,
    done_bytes: u32,
    issued_ns: u64,
    /// It was counted as one that takes too long.
    told: bool,
}

/// A user and what it is about.
#[derive(Debug)]
struct Seat {
    user: User,
    /// The last record that it logged.
    record: Option<u64>,
    /// What it wants and has to wait with, because I/Os are too slow.
    held: Option<Wish>,
    /// What it is going to want.
    next: Option<Wish>,
}

/// What the user of a seat waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Working,
    Until(u64),
    Committing(u64),
    Gone,
}

/// A page that was changed in memory and is not written yet.
#[derive(Debug, Clone, Copy)]
struct Dirty {
    file: u16,
    claim: Claim,
    /// The record of its change, which must be on stable media first.
    record: u64,
}

/// What a thread returns when it ends.
pub(crate) struct Left {
    pub log: Option<Log>,
    pub figures: Vec<FileFigures>,
    pub work: DatabaseWork,
    /// The error that ended it, if one did.
    pub failed: Option<io::Error>,
}

/// One thread, with its users, its log and its queue.
pub(crate) struct Site<'a> {
    shared: &'a Shared<'a>,
    thread: u32,
    queue: &'a mut dyn Queue,
    slots: Vec<Option<Busy>>,
    free: Vec<u32>,
    seats: Vec<Seat>,
    /// Of each seat. They are all looked at whenever something has finished, so they are close
    /// together.
    states: Vec<State>,
    /// Seats whose users are asked now.
    asked: Vec<usize>,
    /// Slots that its users leave to the log and to changed pages.
    reserved: usize,
    /// The one that is asked first.
    turn: usize,
    chance: Chance,
    log: Option<Log>,
    log_busy: bool,
    dirty: Vec<Dirty>,
    /// What a checkpoint still has to write; the last comes first.
    batch: Vec<Dirty>,
    /// What of it may be written in its place.
    ready: Vec<Dirty>,
    doubling: Doubling,
    /// Writes of a checkpoint under way.
    writing: u32,
    /// Files that a checkpoint has written to and not flushed.
    to_harden: Vec<u16>,
    hardening: u32,
    in_checkpoint: bool,
    /// The target that it waits for to become faster.
    batch_held: Option<u16>,
    next_checkpoint_ns: u64,
    requests: Vec<Request>,
    finished: Vec<Reaped>,
    /// Where completions are collected before they are sorted.
    fresh: Vec<Finished>,
    spare: Vec<Vec<Claim>>,
    figures: Vec<FileFigures>,
    work: DatabaseWork,
    failed: Option<io::Error>,
    /// How many of its I/Os had been under way for long when it last looked.
    named: usize,
    /// When it last looked at its I/Os.
    told_ns: u64,
    /// Whether it has just examined a page, which takes long.
    distracted: bool,
    /// Pages of each file when they were last looked at.
    sizes: Vec<u64>,
    resizing: Option<Resizing>,
    /// Room for a page, where it is made before it is copied past the cache.
    scratch: Vec<u8>,
}

impl<'a> Site<'a> {
    /// A thread with its users, and its log.
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        thread: u32,
        users: Vec<User>,
        chance: Chance,
        log: Option<Log>,
        queue: &'a mut dyn Queue,
    ) -> Self {
        let depth = shared.plan.depth;
        let seat = |user| Seat { user, record: None, held: None, next: None };
        // Users that change no page leave nothing to others but a flush now and then.
        let reserved = if users.iter().any(User::changes_pages) { 2 } else { 0 };
        let every = nanoseconds(shared.plan.checkpoint_every);
        let next_checkpoint_ns = queue.now().saturating_add(every);
        Self {
            shared,
            thread,
            queue,
            slots: (0..depth).map(|_| None).collect(),
            free: (0..depth).rev().collect(),
            states: vec![State::Idle; users.len()],
            asked: Vec::with_capacity(users.len()),
            seats: users.into_iter().map(seat).collect(),
            reserved,
            turn: 0,
            chance,
            log,
            log_busy: false,
            dirty: Vec::new(),
            batch: Vec::new(),
            ready: Vec::new(),
            doubling: Doubling::default(),
            writing: 0,
            to_harden: Vec::new(),
            hardening: 0,
            in_checkpoint: false,
            batch_held: None,
            next_checkpoint_ns,
            requests: Vec::with_capacity(depth as usize),
            finished: Vec::with_capacity(depth as usize),
            fresh: Vec::with_capacity(depth as usize),
            spare: Vec::new(),
            figures: vec![FileFigures::default(); shared.paths.len()],
            work: DatabaseWork::default(),
            failed: None,
            named: 0,
            told_ns: 0,
            distracted: false,
            sizes: Vec::with_capacity(shared.files.len()),
            resizing: None,
            scratch: vec![0; shared.format.page_bytes()],
        }
    }

    /// Works until all users have left, `end_ns` has come, or the run is over for another reason;
    /// then writes the pages in memory.
    pub(crate) fn work(mut self, end_ns: u64) -> Left {
        while self.failed.is_none() && !self.shared.is_broken() {
            self.distracted = false;
            self.take_finished(self.queue.batch());
            if self.distracted {
                // Looking into a page takes long, and what has finished meanwhile is not late.
                continue;
            }
            let now = self.queue.now();
            if let Some(kept) = self.shared.kept.filter(|_| self.thread == 0 && end_ns != u64::MAX)
            {
                kept.set_left(end_ns.saturating_sub(now));
            }
            let leaving = now >= end_ns || self.shared.stop.load(Ordering::Relaxed);
            if !leaving {
                self.ask_users(now);
            }
            let gone = leaving || self.states.iter().all(|state| *state == State::Gone);
            self.go_on_resizing();
            self.write_log(gone);
            self.write_back(now, gone);
            if gone && self.is_clean() {
                break;
            }
            let until = if leaving { now + LOOK_UP_NS } else { self.next_look(now).min(end_ns) };
            if let Err(error) = self.issue_and_wait(until) {
                self.fail(error);
            }
        }
        self.leave()
    }

    /// Ends this thread, and with it the run.
    fn fail(&mut self, error: io::Error) {
        self.shared.end();
        self.failed.get_or_insert(error);
    }

    /// Waits for I/Os in flight, and releases changed pages that can no longer be written.
    fn leave(mut self) -> Left {
        while self.slots.iter().any(Option::is_some) {
            let until = self.queue.now() + LOOK_UP_NS;
            if let Err(error) = self.issue_and_wait(until) {
                self.fail(error);
                break;
            }
            self.take_finished(usize::MAX);
        }
        self.tell_of_long_ios();
        self.leave_resizing();
        for dirty in self.unwritten() {
            self.shared.file(dirty.file).ledger.release(&dirty.claim);
        }
        let Self { log, figures, work, failed, .. } = self;
        Left { log, figures, work, failed }
    }

    /// What others see of this thread.
    fn cell(&self) -> &'a Cell {
        self.shared.teller.cell(self.thread)
    }

    /// Pages that were changed in memory and are not being written.
    fn unwritten(&self) -> impl Iterator<Item = &Dirty> {
        self.dirty.iter().chain(&self.batch).chain(&self.ready).chain(&self.doubling.group)
    }

    fn is_clean(&self) -> bool {
        let logged = self.log.as_ref().is_none_or(|l| l.pending_bytes() == 0);
        let written =
            self.unwritten().next().is_none() && !self.in_checkpoint && self.to_harden.is_empty();
        let ends = self.shared.stop.load(Ordering::Relaxed);
        let resized = ends || !self.resizing.as_ref().is_some_and(Resizing::is_bound);
        logged && written && resized && self.slots.iter().all(Option::is_none)
    }

    /// When a user wants something again. Without room for it, only what finishes helps, and that
    /// ends the wait.
    fn next_look(&self, now: u64) -> u64 {
        if !self.has_room() {
            return now + LOOK_UP_NS;
        }
        let wake = |state: &State| match state {
            // Those whose wishes were fulfilled from memory are asked again at once.
            State::Idle => now,
            State::Until(at) => *at,
            _ => u64::MAX,
        };
        self.states.iter().map(wake).min().unwrap_or(u64::MAX).min(now + LOOK_UP_NS)
    }

    /// The phase, as far as it says which files are used.
    fn phase(&self) -> Phase {
        match self.seats.first().map(|seat| &seat.user) {
            Some(User::Whole(walk)) if walk.writes => Phase::Load,
            Some(User::Whole(_)) => Phase::Audit,
            _ => Phase::Work,
        }
    }

    /// Whether its users, all of them alike, write every page for the first time.
    fn loads(&self) -> bool {
        self.seats.first().is_some_and(|seat| seat.user.loads())
    }

    fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// How many I/Os users can begin.
    fn room(&self) -> usize {
        self.free.len().saturating_sub(self.reserved.max(usize::from(self.in_checkpoint)))
    }

    fn start(&mut self, task: Task, op: Op, target: u16, offset: u64, bytes: u32) {
        let Some(slot) = self.free.pop() else { return };
        self.put(slot, task, Request { slot, op, target, offset, bytes, buffer_offset: 0 });
    }

    fn put(&mut self, slot: u32, task: Task, request: Request) {
        if let Some(pace) = self.shared.paces.get(usize::from(request.target)) {
            pace.began();
        }
        if let Task::Write { file, claims, .. } = &task {
            let ledger = &self.shared.file(*file).ledger;
            for claim in claims {
                ledger.writing(claim);
            }
        }
        // It has no age before it is issued.
        let busy = Busy { task, request, done_bytes: 0, issued_ns: u64::MAX, told: false };
        self.slots[slot as usize] = Some(busy);
        self.requests.push(request);
    }

    fn read(&mut self, from: PageId, claims: Vec<Claim>, seat: usize) {
        let bytes = self.shared.bytes_of(claims.len());
        let file = self.shared.file(from.file);
        let (target, offset) = (file.target, file.offset(from.page));
        let task = Task::Read { file: from.file, claims, seat };
        self.start(task, Op::Read, target, offset, bytes);
    }

    fn write(&mut self, file: u16, claims: Vec<Claim>, seat: Option<usize>) {
        let (Some(slot), Some(first)) = (self.free.pop(), claims.first().copied()) else { return };
        let format = &self.shared.format;
        let place = self.shared.file(file);
        let buffer = self.queue.write_buffer(slot);
        for (claim, page) in claims.iter().zip(buffer.chunks_exact_mut(format.page_bytes())) {
            let (id, version) = (PageId { file, page: claim.page }, claim.next_version());
            if place.is_direct {
                format.fill(id, version, &mut self.scratch);
                past_cache::copy(&self.scratch, page);
            } else {
                format.fill(id, version, page);
            }
        }
        let (target, offset) = (place.target, place.offset(first.page));
        let bytes = self.shared.bytes_of(claims.len());
        let request = Request { slot, op: Op::Write, target, offset, bytes, buffer_offset: 0 };
        self.put(slot, Task::Write { file, claims, seat }, request);
    }

    /// Submits I/Os, and waits for a completion unless one is still unhandled.
    fn issue_and_wait(&mut self, until_ns: u64) -> io::Result<()> {
        let issues = !self.requests.is_empty();
        self.issue()?;
        if self.finished.is_empty() {
            self.tell_sometimes();
            return self.queue.wait(until_ns);
        }
        // The device has something to do while that is looked at.
        if issues { self.queue.start() } else { Ok(()) }
    }

    fn issue(&mut self) -> io::Result<()> {
        if self.requests.is_empty() {
            return Ok(());
        }
        let now = self.queue.now();
        for request in &self.requests {
            // The rest of a short I/O began after the part that was moved.
            let begins = |busy: &&mut Busy| busy.done_bytes == 0;
            if let Some(busy) = self.slots[request.slot as usize].as_mut().filter(begins) {
                busy.issued_ns = now;
            }
        }
        self.queue.issue(&self.requests)?;
        self.requests.clear();
        Ok(())
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
