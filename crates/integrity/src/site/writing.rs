//! Writes that no user waits for: the log, and changed pages once their records are on stable
//! media.

use std::io;

use engine::{Op, Request};

use super::{Site, State, Task, nanoseconds};
use crate::ledger::Claim;
use crate::log::BLOCK_BYTES_MAX;

impl Site<'_> {
    /// Writes pending records of the log if a user waits for them, if there are many, or if no more
    /// will come.
    pub(super) fn write_log(&mut self, leaving: bool) {
        let Some(log) = &mut self.log else { return };
        let pending = log.pending_bytes();
        if self.log_busy || pending == 0 {
            return;
        }
        let awaited = leaving
            || pending >= BLOCK_BYTES_MAX / 2
            || !self.batch.is_empty()
            || !self.ready.is_empty()
            || self.states.iter().any(|state| matches!(state, State::Committing(_)));
        if !awaited {
            return;
        }
        let Some(slot) = self.free.pop() else { return };
        let Some(block) = log.block(self.queue.write_buffer(slot)) else {
            self.free.push(slot);
            self.fail(io::Error::other(
                "a record does not fit into the log; use a larger log file or fewer threads",
            ));
            return;
        };
        self.log_busy = true;
        let (target, bytes) = (log.target(), block.bytes);
        let request =
            Request { slot, op: Op::Write, target, offset: block.offset, bytes, buffer_offset: 0 };
        self.put(slot, Task::Log(block), request);
    }

    /// Writes changed pages: all of them at a checkpoint and at the end, and when memory is nearly
    /// full of them.
    pub(super) fn write_back(&mut self, now: u64, leaving: bool) {
        let full = self.dirty.len() >= (self.shared.dirty_most * 3 / 4).max(1);
        let something = !self.dirty.is_empty() || !self.to_harden.is_empty();
        let begins = (leaving || full || now >= self.next_checkpoint_ns) && something;
        if !self.in_checkpoint && begins {
            self.in_checkpoint = true;
            self.next_checkpoint_ns =
                now.saturating_add(nanoseconds(self.shared.plan.checkpoint_every));
            self.batch = std::mem::take(&mut self.dirty);
            self.batch.sort_unstable_by_key(|d| std::cmp::Reverse((d.file, d.claim.page)));
        }
        // The last is kept for the log.
        let kept = usize::from(self.log.is_some());
        self.clear();
        while self.free.len() > kept && !self.batch_waits(leaving) {
            let Some((file, claims)) = self.next_gathered() else { break };
            self.writing += 1;
            self.write(file, claims, None);
        }
        let writes = !self.batch.is_empty() || !self.ready.is_empty() || self.writing > 0;
        if !self.in_checkpoint || writes || !self.doubling.group.is_empty() {
            return;
        }
        while self.free.len() > kept {
            let Some(file) = self.to_harden.pop() else { break };
            self.hardening += 1;
            let target = self.shared.file(file).target;
            self.start(Task::HardenData, Op::Fdatasync, target, 0, 0);
        }
        if self.to_harden.is_empty() && self.hardening == 0 {
            self.in_checkpoint = false;
            self.work.checkpoints += 1;
            self.cell().checkpoints.add(1);
        }
    }

    /// Whether the next page of the checkpoint waits for I/Os on its file to become faster.
    fn batch_waits(&mut self, leaving: bool) -> bool {
        let Some(next) = self.ready.last() else { return false };
        let Some(throttle) = self.shared.plan.throttle else { return false };
        let target = self.shared.file(next.file).target;
        let waits = !(leaving && throttle.bursts) && self.must_wait(target);
        let before = std::mem::replace(&mut self.batch_held, waits.then_some(target));
        if waits && before != Some(target) {
            self.count_throttled(target);
        }
        waits
    }

    /// Changed pages that are next to each other and whose records are on stable media.
    fn next_gathered(&mut self) -> Option<(u16, Vec<Claim>)> {
        let first = self.ready.last().copied()?;
        let mut claims = self.spare.pop().unwrap_or_default();
        while let Some(next) = self.ready.last().copied() {
            let beside = next.file == first.file
                && next.claim.page == first.claim.page + claims.len() as u64
                && claims.len() < self.shared.plan.gathered() as usize;
            if !beside || !self.is_hard(next.record) {
                break;
            }
            claims.push(next.claim);
            self.ready.pop();
        }
        if claims.is_empty() {
            self.spare.push(claims);
            return None;
        }
        Some((first.file, claims))
    }
}
