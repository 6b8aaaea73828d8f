//! What a simulated database does, as plain data.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::units::{bytes, nanoseconds};

/// What a simulated database does: its users, how much they do at a time, and when it writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Size of a page, in bytes.
    #[serde(with = "bytes")]
    pub page_bytes: u32,
    /// Seed of every random choice, and what every page is made from.
    pub seed: u64,
    /// How many threads share the users.
    pub threads: u32,
    /// I/Os of one thread in flight.
    pub depth: u32,
    /// Pages that are gathered into one write, at most.
    pub gather_pages: u32,
    /// Changed pages that a thread holds back in memory, at most.
    pub dirty_pages: u32,
    /// How often a thread writes all of its changed pages.
    #[serde(rename = "checkpoint_every_ns", with = "nanoseconds")]
    pub checkpoint_every: Duration,
    /// When a write is on stable media.
    pub hardening: Hardening,
    /// Read, change and log pages here and there.
    pub random: RandomUsers,
    /// Read pages in a row and check them.
    pub audit: ScanUsers,
    /// Users that read many pages at once.
    pub read_ahead: ScanUsers,
    /// Write many pages at once without reading them.
    pub bulk: ScanUsers,
    /// Read and write pages, one I/O after the other.
    pub pages: PageUsers,
    /// Write whole tables, one after another, and merge them.
    pub tables: TableUsers,
    /// How the database writes its log.
    pub log: Logging,
    /// Changed pages that a thread writes together to a separate area
    /// ([`crate::Role::Doublewrite`]) before they are written in their places; 0 writes them there
    /// at once.
    pub doublewrite_pages: u32,
    /// Makes files shorter and longer, where their place says that they can; none does not.
    pub resizing: Option<Resizing>,
    /// Number of times to read a wrong page again.
    pub rereads: u32,
    /// The run ends with the first page that is wrong.
    pub stop_on_fault: bool,
    /// How often users work and every page is read after that; 0 continues until the user ends it.
    pub cycles: u32,
    /// When users and checkpoints wait with their next I/O; none is never.
    pub throttle: Option<Throttle>,
    /// How often a random user finds the page that it wants to read in memory, in percent;
    /// read-ahead users, too, unless reading ahead is forced.
    pub cache_hit_percent: f64,
    /// Read-ahead users read whatever is in memory.
    pub force_read_ahead: bool,
    /// Several pages go into one I/O; otherwise each has its own, one after the other for each
    /// user.
    pub scatter_gather: bool,
}

/// When I/Os wait: as long as the smoothed duration of those on a file is above a target, users and
/// checkpoints begin no other on it before those under way are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// The duration. Averages begin with it.
    #[serde(rename = "target_ns", with = "nanoseconds")]
    pub target: Duration,
    /// The first writing of all pages and the checkpoint at the end of the work do not wait.
    #[serde(default)]
    pub bursts: bool,
}

/// When a write is on stable media.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hardening {
    /// When the write is done (write-through), as SQL Server has it.
    WriteThrough,
    /// When the file was flushed after it (fdatasync): the log before a commit is done, a data file
    /// at the end of a checkpoint.
    Flush,
}

/// Users that change a page here and there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomUsers {
    /// How many such users there are.
    pub users: u32,
    /// How often the next page is anywhere instead of after the last one, in percent.
    pub jump_percent: f64,
    /// Pages between two commits, from and to.
    pub chain_pages: (u32, u32),
    /// Share of the pages that are changed, in percent.
    pub update_percent: f64,
    /// Length of the log record of a change, from and to.
    pub log_bytes: (u32, u32),
    /// How often a change is taken back before it is logged, in percent.
    pub rollback_percent: f64,
    /// How long a user pauses after a commit.
    #[serde(rename = "sleep_ns", with = "nanoseconds")]
    pub sleep: Duration,
}

/// Users that read or write pages in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanUsers {
    /// How many such users there are.
    pub users: u32,
    /// Pages of one I/O, from and to.
    pub pages: (u32, u32),
    /// I/Os from one pause to the next.
    pub cycles: u32,
    /// How long a user pauses after so many I/Os.
    #[serde(rename = "delay_ns", with = "nanoseconds")]
    pub delay: Duration,
}

/// Users that read or write pages and nothing else: no log, no chains, no pauses. With as many of
/// them as a thread has I/Os in flight, its queue is always full.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageUsers {
    /// How many such users there are.
    pub users: u32,
    /// Share of the I/Os that write, in percent.
    pub write_percent: f64,
    /// Pages of one I/O, from and to.
    pub pages: (u32, u32),
    /// Whether offsets are random or consecutive.
    pub order: PageOrder,
}

/// Where the next I/O of page users is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageOrder {
    /// At a random place each time.
    Random,
    /// After the last one of the same thread, and at the first page again after the last. Threads
    /// begin in different places.
    Sequential,
}

/// Users that write whole tables, as engines of log-structured merge trees do: records to the log
/// until a table is full, then all of the table in a row, and now and then they read tables and
/// write as many in their place. Each has separate tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableUsers {
    /// How many such users there are.
    pub users: u32,
    /// Pages of a table, which are written in a row when it is full.
    pub table_pages: u32,
    /// How many pages an I/O has.
    pub io_pages: u32,
    /// Length of a record of the log, from and to.
    pub log_bytes: (u32, u32),
    /// Records between two commits, from and to.
    pub records: (u32, u32),
    /// Commits until a table is full.
    pub commits: u32,
    /// Tables that are written before some are merged.
    pub merge_after: u32,
    /// Tables that are merged; 0 merges none.
    pub merged: u32,
}

impl Default for TableUsers {
    /// No users. If there are any, they write tables of 64 MiB with 1 MiB at a time, on pages of 4
    /// KiB.
    fn default() -> Self {
        Self {
            users: 0,
            table_pages: 16_384,
            io_pages: 256,
            log_bytes: (64, 1024),
            records: (1, 16),
            commits: 200,
            merge_after: 4,
            merged: 4,
        }
    }
}

/// How the database writes its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logging {
    /// Blocks of the log have a multiple of this, and of what the target asks for.
    #[serde(with = "bytes")]
    pub block_bytes: u32,
    /// The record of a change has an image of the page with it: it is longer by a page.
    pub page_images: bool,
    /// Where files are flushed, the log is flushed before a commit is done; otherwise a commit is
    /// done when its records are written.
    pub commits_flush: bool,
}

impl Default for Logging {
    fn default() -> Self {
        Self { block_bytes: 512, page_images: false, commits_flush: true }
    }
}

/// A user that makes files shorter and longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Resizing {
    /// The pause before it changes the size of a file, at least.
    #[serde(rename = "pause_min_ns", with = "nanoseconds")]
    pub pause_min: Duration,
    /// The pause before it changes the size of a file, at most.
    #[serde(rename = "pause_max_ns", with = "nanoseconds")]
    pub pause_max: Duration,
    /// By how many steps of the file, from and to.
    pub steps: (u32, u32),
    /// Zeros are written over what comes at the end of a longer file; otherwise the file system has
    /// to see to it.
    pub stamp: bool,
}

impl Default for Resizing {
    /// The defaults of SQLIOSim.
    fn default() -> Self {
        let (pause_min, pause_max) = (Duration::from_secs(120), Duration::from_secs(600));
        Self { pause_min, pause_max, steps: (1, 20), stamp: false }
    }
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
            pages: PageUsers {
                users: 0,
                write_percent: 0.0,
                pages: (1, 1),
                order: PageOrder::Random,
            },
            tables: TableUsers::default(),
            log: Logging::default(),
            doublewrite_pages: 0,
            resizing: None,
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

impl Plan {
    /// The largest I/O of data, in pages.
    #[must_use]
    pub fn io_pages(&self) -> u32 {
        self.io_pages_of_users().max(self.gathered())
    }

    /// The largest I/O of users that change nothing in memory, in pages.
    pub(crate) fn io_pages_of_users(&self) -> u32 {
        if self.scatter_gather { self.pages_of_users() } else { 1 }
    }

    /// Whether users work with several pages in one I/O, which a database has in separate places in
    /// its memory. That every page is written before they come, and read when they have gone, does
    /// not count.
    pub(crate) fn scatters(&self) -> bool {
        self.scatter_gather && (self.changes_pages() || self.pages_of_users() > 1)
    }

    /// The most pages of which a user reads or writes all at once.
    fn pages_of_users(&self) -> u32 {
        let scans = [&self.audit, &self.read_ahead, &self.bulk].map(|s| (s.users, s.pages.1));
        let others =
            [(self.pages.users, self.pages.pages.1), (self.tables.users, self.tables.io_pages)];
        let all = scans.into_iter().chain(others).filter(|(users, _)| *users > 0);
        all.fold(1, |most, (_, pages)| most.max(pages))
    }

    /// Changed pages that go into one write, at most.
    pub(crate) fn gathered(&self) -> u32 {
        if self.scatter_gather { self.gather_pages } else { 1 }
    }

    /// The same plan without a database: nobody but these users, no log, and no page is written
    /// twice.
    #[must_use]
    pub fn only_pages(&self, pages: PageUsers) -> Self {
        let none = |scan: ScanUsers| ScanUsers { users: 0, ..scan };
        Self {
            random: RandomUsers { users: 0, ..self.random },
            audit: none(self.audit),
            read_ahead: none(self.read_ahead),
            bulk: none(self.bulk),
            pages,
            tables: TableUsers { users: 0, ..self.tables },
            doublewrite_pages: 0,
            ..*self
        }
    }

    /// Whether users change pages in memory, which are logged first and written later.
    pub(crate) fn changes_pages(&self) -> bool {
        self.random.users > 0 || self.tables.users > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_work_with_single_pages_scatter_none() {
        let whole = Plan::default();
        assert!(whole.scatters() && !Plan { scatter_gather: false, ..whole }.scatters());
        let none = |scan| ScanUsers { users: 0, ..scan };
        let pages = |most| PageUsers { users: 32, pages: (1, most), ..whole.pages };
        let single = Plan {
            random: RandomUsers { users: 0, ..whole.random },
            audit: none(whole.audit),
            read_ahead: none(whole.read_ahead),
            bulk: none(whole.bulk),
            pages: pages(1),
            ..whole
        };
        // The first writing of all pages still takes many at once.
        assert!(!single.scatters() && single.io_pages() == single.gather_pages);
        assert!(Plan { pages: pages(8), ..single }.scatters());
        // Checkpoints gather what users have changed in memory.
        assert!(Plan { random: whole.random, ..single }.scatters());
        assert_eq!(Plan { pages: pages(100), ..single }.io_pages(), 100);
    }
}
