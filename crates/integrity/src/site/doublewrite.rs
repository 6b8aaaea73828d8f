//! Changed pages are written twice: first, one after the other, to a separate area; in their places
//! when that is on stable media.
//!
//! A write in place that is torn can then be mended from the area. The area holds separate pages,
//! which are checked like all others.

use engine::Op;

use super::{Dirty, Site, Task};
use crate::plan::Hardening;

/// Pages on their way through the area.
#[derive(Debug, Default)]
pub(super) struct Doubling {
    pub group: Vec<Dirty>,
    /// So many of them are being written to the area, or have been.
    begun: usize,
    /// Whether the area is flushed after its writes.
    flushes: bool,
}

impl Site<'_> {
    /// Lets pages of the checkpoint be written in their places: all of them, or the next that the
    /// area holds.
    pub(super) fn clear(&mut self) {
        let Some(area) = self.shared.area() else {
            if self.ready.is_empty() {
                std::mem::swap(&mut self.ready, &mut self.batch);
            }
            return;
        };
        if !self.ready.is_empty() || self.writing > 0 && self.doubling.group.is_empty() {
            return;
        }
        if self.doubling.group.is_empty() {
            self.group();
        }
        if self.doubling.group.is_empty() {
            return;
        }
        self.write_to_area(area);
        if self.doubling.begun < self.doubling.group.len() || self.writing > 0 {
            return;
        }
        if self.shared.plan.hardening == Hardening::Flush && !self.doubling.flushes {
            if self.free.is_empty() {
                return;
            }
            self.doubling.flushes = true;
            self.hardening += 1;
            self.to_harden.retain(|file| *file != area);
            let target = self.shared.file(area).target;
            self.start(Task::HardenData, Op::Fdatasync, target, 0, 0);
        }
        if self.hardening == 0 {
            let doubling = std::mem::take(&mut self.doubling);
            self.ready = doubling.group;
            // The last is written first.
            self.ready.reverse();
        }
    }

    /// The next pages of the checkpoint whose records are on stable media.
    fn group(&mut self) {
        let most = self.shared.plan.doublewrite_pages as usize;
        while self.doubling.group.len() < most {
            let Some(next) = self.batch.last().copied().filter(|d| self.is_hard(d.record)) else {
                break;
            };
            self.batch.pop();
            self.doubling.group.push(next);
        }
    }

    fn write_to_area(&mut self, area: u16) {
        let pages = u64::from(self.shared.plan.doublewrite_pages);
        let first = u64::from(self.thread) * pages;
        let each = self.shared.plan.io_pages() as usize;
        while self.doubling.begun < self.doubling.group.len() && !self.free.is_empty() {
            let count = each.min(self.doubling.group.len() - self.doubling.begun);
            let from = first + self.doubling.begun as u64;
            let mut claims = self.spare.pop().unwrap_or_default();
            let file = self.shared.file(area);
            // Nobody else has them while users work.
            claims.extend((from..from + count as u64).map_while(|page| file.claim(page)));
            self.doubling.begun += count;
            if claims.is_empty() {
                self.spare.push(claims);
                continue;
            }
            self.writing += 1;
            self.write(area, claims, None);
        }
    }
}
