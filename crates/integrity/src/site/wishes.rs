//! The wishes of a thread's users, and the I/Os that fulfil them.

use engine::Op;

use super::{Dirty, Seat, Site, State, Task, nanoseconds};
use crate::ledger::Claim;
use crate::pace::Pace;
use crate::page::PageId;
use crate::plan::Hardening;
use crate::users::{User, Wish};

/// Wishes that are fulfilled from memory alone before the thread looks at its queue again.
const WISHES_AT_ONCE: u32 = 64;
/// A user that has to wait, for I/Os to become faster or for pages that others have, asks again
/// after this, if nothing has finished meanwhile.
const HELD_NS: u64 = 1_000_000;

impl Site<'_> {
    /// Asks every user that can continue what it wants, and does that, as long as there is room.
    pub(super) fn ask_users(&mut self, now: u64) {
        let seats = self.seats.len();
        if self.shared.plan.throttle.is_some() {
            // Where one may continue and others wait, it is not always the same one.
            self.turn = (self.turn + 1) % seats.max(1);
        }
        let mut asked = std::mem::take(&mut self.asked);
        asked.clear();
        let in_turn = (self.turn..seats).chain(0..self.turn);
        asked.extend(in_turn.filter(|seat| self.can_go_on(*seat, now)));
        if !asked.is_empty() && self.has_room() {
            self.sizes.clear();
            self.sizes.extend(self.shared.sizes(self.phase()));
            self.look_ahead(&asked);
            for seat in &asked {
                if !self.ask(*seat, now) {
                    // The other users have no room either.
                    break;
                }
            }
        }
        self.asked = asked;
    }

    /// Whether nothing is left that the user of a seat waits for.
    fn can_go_on(&self, seat: usize, now: u64) -> bool {
        match self.states[seat] {
            State::Idle => true,
            State::Until(at) => at <= now,
            State::Committing(record) => self.is_hard(record),
            State::Working | State::Gone => false,
        }
    }

    /// Asks a user until it has to wait for something; false if there was no room for what it
    /// wants.
    fn ask(&mut self, seat: usize, now: u64) -> bool {
        for _ in 0..WISHES_AT_ONCE {
            if !self.can_go_on(seat, now) {
                break;
            }
            if !self.has_room() {
                return false;
            }
            let Seat { user, held, next, .. } = &mut self.seats[seat];
            let was_held = held.is_some();
            let wish = held
                .take()
                .or_else(|| next.take())
                .unwrap_or_else(|| user.next(&self.sizes, &mut self.chance));
            if self.holds(seat, wish, was_held) {
                self.states[seat] = State::Until(now.saturating_add(HELD_NS));
                break;
            }
            self.states[seat] = self.fulfil(seat, wish, now);
        }
        true
    }

    /// Collects the wishes of the idle users and prefetches the state of their pages, before it
    /// fulfils the first. One after the other, each would wait for memory.
    fn look_ahead(&mut self, asked: &[usize]) {
        for number in asked.iter().take(self.room()) {
            let seat = &mut self.seats[*number];
            if self.states[*number] != State::Idle || seat.next.is_some() {
                continue;
            }
            let wish = seat.user.next(&self.sizes, &mut self.chance);
            if let Wish::Read { from, .. } | Wish::Write { from, .. } = wish {
                self.shared.file(from.file).ledger.fetch(from.page);
            }
            seat.next = Some(wish);
        }
    }

    /// Whether a user has to wait with what it wants, because I/Os on the file are too slow.
    fn holds(&mut self, seat: usize, wish: Wish, was_held: bool) -> bool {
        let Some(throttle) = self.shared.plan.throttle else { return false };
        let (Wish::Read { from, .. } | Wish::Write { from, .. }) = wish else { return false };
        let target = self.shared.file(from.file).target;
        if (self.loads() && throttle.bursts) || !self.must_wait(target) {
            return false;
        }
        self.seats[seat].held = Some(wish);
        if !was_held {
            self.count_throttled(target);
        }
        true
    }

    pub(super) fn must_wait(&self, target: u16) -> bool {
        self.shared.paces.get(usize::from(target)).is_some_and(Pace::must_wait)
    }

    pub(super) fn count_throttled(&self, target: u16) {
        if let Some(pace) = self.shared.paces.get(usize::from(target)) {
            pace.count_throttled();
        }
    }

    pub(super) fn is_hard(&self, record: u64) -> bool {
        self.log.as_ref().is_none_or(|log| log.is_hard(record))
    }

    fn fulfil(&mut self, seat: usize, wish: Wish, now: u64) -> State {
        match wish {
            Wish::Leave => State::Gone,
            Wish::Log { bytes } => {
                self.seats[seat].record = self.log.as_mut().map(|log| log.append(bytes));
                State::Idle
            }
            Wish::Harden { file } => self.harden_for(seat, file),
            Wish::Resize { steps } => self.begin_resizing(seat, steps),
            Wish::Sleep(time) => State::Until(now.saturating_add(nanoseconds(time))),
            Wish::Commit => match self.seats[seat].record.take() {
                Some(record) => {
                    self.work.commits += 1;
                    self.cell().commits.add(1);
                    State::Committing(record)
                }
                None => State::Idle,
            },
            Wish::Change { id, log_bytes } => {
                self.change(seat, id, log_bytes);
                State::Idle
            }
            Wish::Read { from, pages } => {
                let percent = self.seats[seat].user.hit_percent(self.shared.plan);
                if percent > 0.0 && self.chance.percent(percent) {
                    self.work.cache_hits += 1;
                    return State::Idle;
                }
                let claims = self.claim(from, pages);
                if claims.is_empty() {
                    self.work.cache_hits += 1;
                    self.spare.push(claims);
                    return self.without_pages(seat, now);
                }
                self.read(from, claims, seat);
                State::Working
            }
            Wish::Write { from, pages } => {
                let claims = self.claim(from, pages);
                self.keep_rest(seat, wish, claims.len());
                if claims.is_empty() {
                    self.spare.push(claims);
                    return self.without_pages(seat, now);
                }
                let loads = matches!(&self.seats[seat].user, User::Whole(_));
                if loads && claims.iter().all(|claim| claim.version > 0) {
                    // A run that was killed has written them already.
                    let ledger = &self.shared.file(from.file).ledger;
                    for claim in &claims {
                        ledger.release(claim);
                    }
                    self.recycle(claims);
                    return State::Idle;
                }
                self.write(from.file, claims, Some(seat));
                State::Working
            }
        }
    }

    /// Keeps the rest of a write whose pages another thread has, for phases that must write all of
    /// it.
    fn keep_rest(&mut self, seat: usize, wish: Wish, claimed: usize) {
        let Wish::Write { from, pages } = wish else { return };
        let done = u32::try_from(claimed).unwrap_or(u32::MAX);
        let next = PageId { page: from.page + u64::from(done), ..from };
        let is_there = next.page < self.shared.file(from.file).pages();
        if done < pages && is_there && self.seats[seat].user.wants_all() {
            self.seats[seat].held = Some(Wish::Write { from: next, pages: pages - done });
        }
    }

    /// Flushes a file for a user, where files are flushed.
    fn harden_for(&mut self, seat: usize, file: u16) -> State {
        if self.shared.plan.hardening != Hardening::Flush {
            return State::Idle;
        }
        self.to_harden.retain(|known| *known != file);
        let target = self.shared.file(file).target;
        self.start(Task::HardenFor(seat), Op::Fdatasync, target, 0, 0);
        State::Working
    }

    /// What a user does if other threads have all of its pages.
    fn without_pages(&self, seat: usize, now: u64) -> State {
        let insists = self.seats[seat].user.insists();
        if insists { State::Until(now.saturating_add(HELD_NS)) } else { State::Idle }
    }

    /// Claims consecutive pages, up to the first that another thread has.
    fn claim(&mut self, from: PageId, pages: u32) -> Vec<Claim> {
        let mut claims = self.spare.pop().unwrap_or_default();
        let file = self.shared.file(from.file);
        let wanted = from.page..from.page.saturating_add(u64::from(pages));
        claims.extend(wanted.map_while(|page| file.claim(page)));
        claims
    }

    fn change(&mut self, seat: usize, id: PageId, log_bytes: u32) {
        if self.dirty.len() >= self.shared.dirty_most {
            self.work.no_room += 1;
            return;
        }
        let Some(claim) = self.shared.file(id.file).claim(id.page) else { return };
        let image = if self.shared.plan.log.page_images { self.shared.plan.page_bytes } else { 0 };
        let bytes = log_bytes.saturating_add(image);
        let record = self.log.as_mut().map_or(0, |log| log.append(bytes));
        self.seats[seat].record = Some(record);
        self.work.changes += 1;
        self.cell().changes.add(1);
        self.dirty.push(Dirty { file: id.file, claim, record });
    }
}
