//! What a simulated database does, as plain data.

use std::time::Duration;

use thiserror::Error;

use crate::page::SECTOR_BYTES;

/// The most pages of one I/O.
const IO_PAGES_MAX: u32 = 4096;
/// The longest record of the log.
pub(crate) const LOG_RECORD_BYTES_MAX: u32 = 64_000;
/// The most users of a kind, and the most threads.
const USERS_MAX: u32 = 65_536;

/// What a simulated database does: who works on it, how much at a time, and when it writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Size of a page.
    pub page_bytes: u32,
    /// Where every random choice starts, and what every page is made from.
    pub seed: u64,
    /// Threads; the users are spread over them.
    pub threads: u32,
    /// I/Os of one thread in flight.
    pub depth: u32,
    /// Pages that are gathered into one write, at most.
    pub gather_pages: u32,
    /// Changed pages that a thread holds back in memory, at most.
    pub dirty_pages: u32,
    /// How often a thread writes all of its changed pages.
    pub checkpoint_every: Duration,
    /// When what was written is on stable media.
    pub hardening: Hardening,
    /// Read, change and log pages here and there.
    pub random: RandomUsers,
    /// Read pages in a row and check them.
    pub audit: ScanUsers,
    /// Read many pages at once.
    pub read_ahead: ScanUsers,
    /// Write many pages at once without reading them.
    pub bulk: ScanUsers,
    /// How often a page that is wrong is read again.
    pub rereads: u32,
    /// The run ends with the first page that is wrong.
    pub stop_on_fault: bool,
    /// How often users work and every page is read behind that; 0 is until somebody ends it.
    pub cycles: u32,
    /// When users and checkpoints wait with their next I/O; none is never.
    pub throttle: Option<Throttle>,
    /// How often a random user finds the page that it wants to read in memory, in percent; read-ahead users, too, unless reading ahead is
    /// forced.
    pub cache_hit_percent: f64,
    /// Read-ahead users read whatever is in memory.
    pub force_read_ahead: bool,
    /// Several pages go into one I/O; otherwise each has its own, one behind the other for each user.
    pub scatter_gather: bool,
}

/// When I/Os wait: as long as the smoothed duration of those on a file is above a target, users and checkpoints begin no other on it
/// before those under way are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttle {
    /// The duration. Averages begin with it.
    pub target: Duration,
    /// The first writing of all pages and the checkpoint at the end of the work do not wait.
    pub bursts: bool,
}

/// When what was written is on stable media.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hardening {
    /// When the write is done (write-through), as SQL Server has it.
    WriteThrough,
    /// When the file was flushed after it (fdatasync): the log before a commit is done, a data file at the end of a checkpoint.
    Flush,
}

/// Users that change a page here and there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomUsers {
    /// How many.
    pub users: u32,
    /// How often the next page is anywhere instead of behind the last one, in percent.
    pub jump_percent: f64,
    /// Pages between two commits, from and to.
    pub chain_pages: (u32, u32),
    /// Share of the pages that are changed, in percent.
    pub update_percent: f64,
    /// Length of the log record of a change, from and to.
    pub log_bytes: (u32, u32),
    /// How often a change is taken back before it is logged, in percent.
    pub rollback_percent: f64,
    /// The pause behind a commit.
    pub sleep: Duration,
}

/// Users that read or write pages in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanUsers {
    /// How many.
    pub users: u32,
    /// Pages of one I/O, from and to.
    pub pages: (u32, u32),
    /// I/Os between two pauses.
    pub cycles: u32,
    /// The pause.
    pub delay: Duration,
}

impl Default for Plan {
    /// SQLIOSim's default users on two threads, with SQL Server's page and write-through.
    fn default() -> Self {
        let scan = |users, pages, milliseconds| ScanUsers {
            users,
            pages,
            cycles: 2,
            delay: Duration::from_millis(milliseconds),
        };
        Self {
            page_bytes: 8192,
            seed: 42,
            threads: 2,
            depth: 32,
            gather_pages: 32,
            dirty_pages: 4096,
            checkpoint_every: Duration::from_secs(15),
            hardening: Hardening::WriteThrough,
            random: RandomUsers {
                users: 8,
                jump_percent: 5.0,
                chain_pages: (50, 100),
                update_percent: 90.0,
                log_bytes: (64, 8192),
                rollback_percent: 1.0,
                sleep: Duration::from_millis(5),
            },
            audit: scan(2, (64, 64), 200),
            read_ahead: scan(2, (32, 64), 200),
            bulk: scan(8, (64, 128), 10),
            rereads: 15,
            stop_on_fault: true,
            cycles: 1,
            throttle: None,
            cache_hit_percent: 0.0,
            force_read_ahead: true,
            scatter_gather: true,
        }
    }
}

/// A rule that a plan breaks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field} is {value}: {rule}")]
pub struct PlanError {
    /// The field.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What it must be.
    pub rule: &'static str,
}

impl Plan {
    /// The largest I/O of data, in pages.
    #[must_use]
    pub fn io_pages(&self) -> u32 {
        if !self.scatter_gather {
            return 1;
        }
        let scans = [&self.audit, &self.read_ahead, &self.bulk].map(|s| s.pages.1);
        scans.into_iter().fold(self.gather_pages, u32::max)
    }

    /// Changed pages that go into one write, at most.
    pub(crate) fn gathered(&self) -> u32 {
        if self.scatter_gather { self.gather_pages } else { 1 }
    }

    /// Every rule that the plan breaks.
    #[must_use]
    pub fn violations(&self) -> Vec<PlanError> {
        let mut found = Vec::new();
        let mut check = |holds: bool, field, value: String, rule| {
            if !holds {
                found.push(PlanError { field, value, rule });
            }
        };
        let page = self.page_bytes as usize;
        let ok = page.is_multiple_of(SECTOR_BYTES) && (SECTOR_BYTES..=65_536).contains(&page);
        let rule = "a page is a multiple of 512 bytes, at most 64 KiB";
        check(ok, "page_bytes", self.page_bytes.to_string(), rule);
        for (field, value) in [
            ("threads", self.threads),
            ("depth", self.depth),
            ("dirty_pages", self.dirty_pages),
            ("rereads", self.rereads),
            ("audit.cycles", self.audit.cycles),
            ("read_ahead.cycles", self.read_ahead.cycles),
            ("bulk.cycles", self.bulk.cycles),
        ] {
            check(value > 0, field, value.to_string(), "it must be at least 1");
        }
        let rule = "a thread needs an I/O for its log, one for its changed pages and one for its users; use at least 4";
        check(self.depth >= 4, "depth", self.depth.to_string(), rule);
        for (field, value) in [
            ("threads", self.threads),
            ("random.users", self.random.users),
            ("audit.users", self.audit.users),
            ("read_ahead.users", self.read_ahead.users),
            ("bulk.users", self.bulk.users),
        ] {
            check(value <= USERS_MAX, field, value.to_string(), "it must be at most 65536");
        }
        let gather = (self.gather_pages, self.gather_pages);
        for (field, (from, to)) in [
            ("gather_pages", gather),
            ("audit.pages", self.audit.pages),
            ("read_ahead.pages", self.read_ahead.pages),
            ("bulk.pages", self.bulk.pages),
            ("random.chain_pages", self.random.chain_pages),
        ] {
            let ok = from > 0 && from <= to && to <= IO_PAGES_MAX;
            check(ok, field, format!("{from} to {to}"), "it must be 1 to 4096, the smaller first");
        }
        let (from, to) = self.random.log_bytes;
        let ok = from > 0 && from <= to && to <= LOG_RECORD_BYTES_MAX;
        let rule = "a record has 1 to 64000 bytes, the smaller first";
        check(ok, "random.log_bytes", format!("{from} to {to}"), rule);
        for (field, percent) in [
            ("cache_hit_percent", self.cache_hit_percent),
            ("random.jump_percent", self.random.jump_percent),
            ("random.update_percent", self.random.update_percent),
            ("random.rollback_percent", self.random.rollback_percent),
        ] {
            let ok = (0.0..=100.0).contains(&percent);
            check(ok, field, percent.to_string(), "it must be 0 to 100 percent");
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_breaks_a_rule_is_named() {
        assert_eq!(Plan::default().violations(), []);
        let plan = Plan { page_bytes: 1000, depth: 1, ..Plan::default() };
        let fields: Vec<_> = plan.violations().into_iter().map(|v| v.field).collect();
        assert_eq!(fields, ["page_bytes", "depth"]);
        let random = RandomUsers { log_bytes: (100, 64), jump_percent: f64::NAN, ..plan.random };
        let plan = Plan { random, ..Plan::default() };
        let text: Vec<_> = plan.violations().into_iter().map(|v| v.to_string()).collect();
        assert_eq!(text.len(), 2, "{text:?}");
    }
}
