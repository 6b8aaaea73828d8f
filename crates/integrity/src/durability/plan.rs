//! What a test writes, in which order, and what makes it durable: a plan decides all of it.

use std::path::PathBuf;

use engine::mixed;
pub use results::{DurableOrder as Order, SyncMode, WrittenFile as Target, WrittenRole as Role};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Length of a record of the log: what storage with sectors of 4 KiB writes whole.
pub const LOG_RECORD_BYTES: u32 = 4096;
/// The name and version of a witness's file and of the first line of its protocol.
pub const SCHEMA_OF_WITNESS: &str = "iosonde.witness/2";
/// So many marks fit into a witness's file.
const THREADS_MAX: u32 = 256;
const BATCH_MAX: u32 = 1024;
const AHEAD_MAX: u32 = 1024;
/// A thread has at least this many times as many pages as a batch writes, so that a batch seldom
/// comes back to a page.
const BATCHES_OF_PAGES: u64 = 4;

/// Everything that decides what a test writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Where every choice starts, and what pages are recognised by.
    pub seed: u64,
    /// Size of a page, in bytes.
    pub page_bytes: u32,
    /// How many threads write, each to separate pages.
    pub threads: u32,
    /// Operations of a thread that are in flight together and made durable together.
    pub batch: u32,
    /// Batches of a thread that the witness need not have yet when the next one begins.
    pub ahead: u32,
    /// Batches from one checkpoint to the next, of write-ahead logging.
    pub checkpoint_batches: u32,
    /// The call or flag that makes a write durable.
    pub sync: SyncMode,
    /// Order in which writes become durable.
    pub order: Order,
}

/// What a witness must know to say later what was promised: the first line of its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the file: `iosonde.witness/2`.
    pub schema: String,
    /// Unique name of the run that writes.
    pub id: String,
    /// Version of the program that writes.
    pub tool_version: String,
    /// Name of the host that writes.
    pub host: String,
    /// When it began, UTC, RFC 3339.
    pub started: String,
    /// The I/O goes through the cache of the operating system.
    pub buffered: bool,
    /// The test files stay where all is well, too.
    pub keep: bool,
    /// The user named the witness's file: it stays where all is well, too.
    pub witness_named: bool,
    /// Targets that the user allowed to be overwritten, and that are not removed.
    pub foreign: Vec<PathBuf>,
    /// The plan that decides what is written.
    pub plan: Plan,
    /// The files and devices that are written to.
    pub targets: Vec<Target>,
}

/// Why a plan cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A number is out of its range.
    #[error("{what} is {value}; it must be {least} to {most}")]
    Number {
        /// The setting that is out of range.
        what: &'static str,
        /// The value that the plan has.
        value: u64,
        /// The least value that it may have.
        least: u64,
        /// The greatest value that it may have.
        most: u64,
    },
    /// Pages of this size cannot be recognised.
    #[error(transparent)]
    Page(#[from] crate::PageError),
    /// The targets have too few pages.
    #[error(
        "the targets have {pages} pages of {page_bytes} bytes, and {threads} threads with {batch} \
         operations in flight need at least {needed}; use a larger --size, fewer --threads or a \
         smaller --depth"
    )]
    TooSmall {
        /// How many pages all targets have.
        pages: u64,
        /// Size of a page in bytes.
        page_bytes: u32,
        /// How many threads write at once.
        threads: u32,
        /// Operations that each thread keeps in flight.
        batch: u32,
        /// How many pages the threads need together.
        needed: u64,
    },
    /// The log has too little room.
    #[error(
        "the log has {has} bytes, and needs at least {needed}; use a larger --log-size, fewer \
         --threads or a smaller --depth"
    )]
    LogTooSmall {
        /// The size of the log, in bytes.
        has: u64,
        /// The size that it needs, in bytes.
        needed: u64,
    },
    /// Targets and order do not fit together.
    #[error("{0}")]
    Targets(&'static str),
}

/// A thread's part of the log.
#[derive(Debug, Clone, Copy)]
struct LogShape {
    target: u16,
    /// Records that each thread has room for.
    slots: u64,
}

/// Which page, or place in the log, belongs to which operation.
#[derive(Debug, Clone)]
pub struct Shape {
    seed: u64,
    threads: u64,
    batch: u64,
    /// Targets with pages: number, first page of all, pages.
    data: Vec<(u16, u64, u64)>,
    pages: u64,
    log: Option<LogShape>,
}

impl Plan {
    fn check(&self) -> Result<(), PlanError> {
        let numbers = [
            ("the number of threads", self.threads, THREADS_MAX),
            ("the number of operations in flight", self.batch, BATCH_MAX),
            ("the number of batches ahead of the witness", self.ahead, AHEAD_MAX),
            ("the number of batches between checkpoints", self.checkpoint_batches, 1 << 20),
        ];
        for (what, value, most) in numbers {
            if !(1..=most).contains(&value) {
                let (value, most) = (value.into(), most.into());
                return Err(PlanError::Number { what, value, least: 1, most });
            }
        }
        crate::PageFormat::new(self.page_bytes as usize, self.seed)?;
        Ok(())
    }

    /// Operations of a thread after its mark that may have been made, in part or whole.
    #[must_use]
    pub fn window_batches(&self) -> u64 {
        u64::from(self.ahead) + 1
    }
}

impl Shape {
    /// Lays a plan out on targets.
    pub fn new(plan: &Plan, targets: &[Target]) -> Result<Self, PlanError> {
        plan.check()?;
        let (mut data, mut pages, mut log) = (Vec::new(), 0, None);
        for (number, target) in (0u16..).zip(targets) {
            match target.role {
                Role::Data => {
                    let here = target.size_bytes / u64::from(plan.page_bytes);
                    data.push((number, pages, here));
                    pages += here;
                }
                Role::Log if log.is_some() => {
                    return Err(PlanError::Targets("there is one log, and several were named"));
                }
                Role::Log => log = Some((number, target.size_bytes)),
            }
        }
        let (threads, batch) = (u64::from(plan.threads), u64::from(plan.batch));
        let needed = threads * batch * BATCHES_OF_PAGES;
        if pages < needed {
            let Plan { page_bytes, threads, batch, .. } = *plan;
            return Err(PlanError::TooSmall { pages, page_bytes, threads, batch, needed });
        }
        let log = match (plan.order, log) {
            (Order::Page, None) => None,
            (Order::Page, Some(_)) => {
                return Err(PlanError::Targets("the order `page` has no log"));
            }
            (Order::LogThenPage, None) => {
                return Err(PlanError::Targets("the order `log-then-page` needs a log"));
            }
            (Order::LogThenPage, Some((target, bytes))) => {
                Some(LogShape::new(plan, target, bytes)?)
            }
        };
        Ok(Self { seed: plan.seed, threads, batch, data, pages, log })
    }

    /// How many pages all targets have.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Targets with pages: their numbers, and how many pages each has.
    pub fn data_targets(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.data.iter().map(|(target, _, pages)| (*target, *pages))
    }

    /// The target with the log, and how many records it has room for.
    #[must_use]
    pub fn log_target(&self) -> Option<(u16, u64)> {
        self.log.map(|log| (log.target, log.slots * self.threads))
    }

    /// The pages of a thread, of all.
    fn pages_of(&self, thread: u32) -> std::ops::Range<u64> {
        let at = |n: u64| {
            let at = u128::from(self.pages) * u128::from(n) / u128::from(self.threads);
            u64::try_from(at).unwrap_or(u64::MAX)
        };
        at(thread.into())..at(u64::from(thread) + 1)
    }

    /// Pages that a thread may write: its share of all pages.
    #[must_use]
    pub fn pages_in(&self, thread: u32) -> u64 {
        let own = self.pages_of(thread);
        own.end - own.start
    }

    /// The pages, of all, that a batch of a thread writes: each once, and any with the same chance.
    pub fn batch(&self, thread: u32, batch: u64, out: &mut Vec<u64>) {
        out.clear();
        let own = self.pages_of(thread);
        let count = (own.end - own.start).max(1);
        let stream = mixed(self.seed ^ mixed(u64::from(thread) + 1));
        for operation in batch * self.batch..(batch + 1) * self.batch {
            let mut page = mixed(stream.wrapping_add(operation)) % count;
            while out.contains(&(own.start + page)) {
                page = (page + 1) % count;
            }
            out.push(own.start + page);
        }
    }

    /// The version that an operation of a batch gives to its page or record; none after the last
    /// one that there is.
    #[must_use]
    pub fn version(&self, batch: u64, index: usize) -> Option<u32> {
        u32::try_from(batch.checked_mul(self.batch)?.checked_add(index as u64 + 1)?).ok()
    }

    /// The last version of so many batches; 0 of none.
    #[must_use]
    pub fn versions_of(&self, batches: u64) -> u32 {
        u32::try_from(batches.saturating_mul(self.batch)).unwrap_or(u32::MAX)
    }

    /// The batch that an operation with this version belongs to.
    #[must_use]
    pub fn batch_of(&self, version: u32) -> u64 {
        u64::from(version.saturating_sub(1)) / self.batch
    }

    /// Target and number there of a page, of all.
    #[must_use]
    pub fn place(&self, page: u64) -> (u16, u64) {
        let found = self.data.iter().rev().find(|(_, first, _)| *first <= page);
        found.map_or((0, page), |(target, first, _)| (*target, page - first))
    }

    /// The first page, of all, that is on a target.
    #[must_use]
    pub fn first_page(&self, target: u16) -> u64 {
        self.data.iter().find(|(number, ..)| *number == target).map_or(0, |(_, first, _)| *first)
    }

    /// The thread that a page, of all, belongs to.
    #[must_use]
    pub fn thread_of(&self, page: u64) -> u32 {
        let guess = u128::from(page) * u128::from(self.threads) / u128::from(self.pages.max(1));
        let guess = u32::try_from(guess).unwrap_or(0);
        // Rounding may be one off at a border.
        let last = u32::try_from(self.threads.saturating_sub(1)).unwrap_or(0);
        let near = [guess, guess.saturating_add(1).min(last), guess.saturating_sub(1)];
        near.into_iter().find(|t| self.pages_of(*t).contains(&page)).unwrap_or(guess)
    }

    /// Records of each thread that the log holds.
    #[must_use]
    pub fn log_slots(&self) -> u64 {
        self.log.map_or(0, |log| log.slots)
    }

    /// The place in the log, in records, of an operation.
    #[must_use]
    pub fn slot(&self, thread: u32, version: u32) -> u64 {
        let slots = self.log_slots().max(1);
        u64::from(thread) * slots + u64::from(version.saturating_sub(1)) % slots
    }

    /// The thread that a place in the log belongs to, and its number there.
    #[must_use]
    pub fn slot_owner(&self, slot: u64) -> (u32, u64) {
        let slots = self.log_slots().max(1);
        (u32::try_from(slot / slots).unwrap_or(0), slot % slots)
    }

    /// The last version up to `last` that a place of a thread in the log had or is to have; 0 if
    /// none.
    #[must_use]
    pub fn version_in_slot(&self, number: u64, last: u32) -> u32 {
        let (slots, last) = (self.log_slots().max(1), u64::from(last));
        // Operation k is in the place (k - 1) % slots.
        if number >= last {
            return 0;
        }
        u32::try_from(number + (last - 1 - number) / slots * slots + 1).unwrap_or(0)
    }
}

impl LogShape {
    fn new(plan: &Plan, target: u16, bytes: u64) -> Result<Self, PlanError> {
        let (threads, batch) = (u64::from(plan.threads), u64::from(plan.batch));
        let room = bytes / u64::from(LOG_RECORD_BYTES) / threads;
        let slots = room / batch * batch;
        // Since the last checkpoint, that one, and what the witness need not have.
        let least = (u64::from(plan.checkpoint_batches) + plan.window_batches() + 1) * batch;
        if slots < least {
            let needed = least * threads * u64::from(LOG_RECORD_BYTES);
            return Err(PlanError::LogTooSmall { has: bytes, needed });
        }
        Ok(Self { target, slots })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    pub(crate) fn plan(order: Order) -> Plan {
        Plan {
            seed: 7,
            page_bytes: 4096,
            threads: 3,
            batch: 4,
            ahead: 2,
            checkpoint_batches: 3,
            sync: SyncMode::Fdatasync,
            order,
        }
    }

    fn target(role: Role, size_bytes: u64) -> Target {
        Target { path: "t".into(), size_bytes, role }
    }

    fn shape(pages: [u64; 2], order: Order) -> Shape {
        let mut targets =
            vec![target(Role::Data, pages[0] * 4096), target(Role::Data, pages[1] * 4096)];
        if order == Order::LogThenPage {
            targets.insert(1, target(Role::Log, 1 << 20));
        }
        Shape::new(&plan(order), &targets).unwrap()
    }

    proptest! {
        #[test]
        fn a_batch_writes_pages_of_its_thread_once(seed: u64, first in 20u64..200,
            second in 28u64..100, batch in 0u64..1 << 28) {
            let targets = [target(Role::Data, first * 4096), target(Role::Data, second * 4096)];
            let shape = Shape::new(&Plan { seed, ..plan(Order::Page) }, &targets).unwrap();
            let mut pages = Vec::new();
            for thread in 0..3 {
                shape.batch(thread, batch, &mut pages);
                prop_assert_eq!(pages.iter().collect::<BTreeSet<_>>().len(), 4);
                for page in &pages {
                    prop_assert_eq!(shape.thread_of(*page), thread);
                    let (target, number) = shape.place(*page);
                    prop_assert!(number < [first, second][usize::from(target)]);
                    prop_assert_eq!(shape.first_page(target) + number, *page);
                }
            }
        }

        #[test]
        fn a_place_in_the_log_has_the_last_operation_that_lies_there(last in 0u32..2000,
            thread in 0u32..3) {
            let shape = shape([100, 100], Order::LogThenPage);
            let slots = shape.log_slots();
            prop_assert_eq!(slots, 84);
            let mut held = vec![0; usize::try_from(slots).unwrap()];
            for version in 1..=last {
                let slot = shape.slot(thread, version);
                prop_assert_eq!(shape.slot_owner(slot).0, thread);
                held[usize::try_from(shape.slot_owner(slot).1).unwrap()] = version;
            }
            for (number, version) in (0..).zip(held) {
                prop_assert_eq!(shape.version_in_slot(number, last), version);
            }
        }
    }

    #[test]
    fn versions_count_operations_and_end() {
        let shape = shape([100, 100], Order::Page);
        assert_eq!((shape.version(0, 0), shape.version(5, 3)), (Some(1), Some(24)));
        assert_eq!((shape.versions_of(0), shape.versions_of(6)), (0, 24));
        assert_eq!((shape.batch_of(1), shape.batch_of(24), shape.batch_of(25)), (0, 5, 6));
        assert_eq!(shape.version(1 << 30, 0), None);
        assert_eq!(shape.version(u64::MAX, 3), None);
    }

    #[test]
    fn plans_that_cannot_be_are_refused() {
        let data = || target(Role::Data, 1 << 20);
        let log = || target(Role::Log, 1 << 20);
        let refused = |plan: &Plan, targets: &[Target], words: &str| {
            let error = Shape::new(plan, targets).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        refused(&Plan { threads: 0, ..plan(Order::Page) }, &[data()], "threads is 0");
        refused(&Plan { batch: 2000, ..plan(Order::Page) }, &[data()], "1 to 1024");
        refused(&Plan { page_bytes: 1000, ..plan(Order::Page) }, &[data()], "multiple of 512");
        refused(&plan(Order::Page), &[target(Role::Data, 40 * 4096)], "at least 48");
        refused(&plan(Order::Page), &[data(), log()], "no log");
        refused(&plan(Order::LogThenPage), &[data()], "needs a log");
        refused(&plan(Order::LogThenPage), &[data(), log(), log()], "one log");
        let small = target(Role::Log, 80 * 4096);
        refused(&plan(Order::LogThenPage), &[data(), small], "at least 344064");
    }
}
