//! What the I/O of each engine is like: pages, log, flushes, and users.

use std::time::Duration;

use crate::plan::{
    Hardening, Logging, PageOrder, PageUsers, Plan, RandomUsers, ScanUsers, TableUsers,
};

/// An engine whose I/O is imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imitated {
    /// SQL Server: 8 KiB pages, direct, a log with write-through
    Sqlserver,
    /// PostgreSQL: buffered, 8 KiB pages, page images in the log, a flush per commit and after each
    /// checkpoint
    Postgres,
    /// MySQL (InnoDB): 16 KiB pages that are written twice, a log in blocks of 512 bytes, flushes
    Mysql,
    /// SQLite with a write-ahead log: buffered, 4 KiB pages, one writer, pages in the log
    Sqlite,
    /// RocksDB: buffered, tables that are written whole and merged, a log that no commit flushes
    Rocksdb,
}

/// The largest table of RocksDB, and the share of the data that a table has at most.
const TABLE_BYTES: u64 = 64 << 20;
const TABLES: u64 = 32;

impl Imitated {
    /// Every profile, in the order of the help.
    pub const ALL: [Self; 5] =
        [Self::Sqlserver, Self::Postgres, Self::Mysql, Self::Sqlite, Self::Rocksdb];

    /// Whether the engine goes through the operating system's cache.
    #[must_use]
    pub fn is_buffered(self) -> bool {
        matches!(self, Self::Postgres | Self::Sqlite | Self::Rocksdb)
    }

    /// The usual plan as this engine has it, for so much data.
    #[must_use]
    pub fn plan(self, usual: Plan, data_bytes: u64) -> Plan {
        match self {
            Self::Sqlserver => usual,
            Self::Postgres => postgres(&usual),
            Self::Mysql => mysql(&usual),
            Self::Sqlite => sqlite(&usual),
            Self::Rocksdb => rocksdb(&usual, data_bytes),
        }
    }
}

/// Users of this kind with other I/Os.
fn with(scan: ScanUsers, users: u32, pages: u32) -> ScanUsers {
    ScanUsers { users, pages: (pages, pages), ..scan }
}

/// Users that read single pages, or a few.
fn readers(users: u32, pages: (u32, u32)) -> PageUsers {
    PageUsers { users, write_percent: 0.0, pages, order: PageOrder::Random }
}

/// Reads are combined up to 128 KiB; each page is written alone, and the log has its own whole
/// pages.
fn postgres(usual: &Plan) -> Plan {
    Plan {
        page_bytes: 8192,
        gather_pages: 1,
        hardening: Hardening::Flush,
        checkpoint_every: Duration::from_secs(30),
        log: Logging { block_bytes: 8192, page_images: true, commits_flush: true },
        random: RandomUsers { log_bytes: (64, 1024), ..usual.random },
        audit: with(usual.audit, 2, 16),
        read_ahead: with(usual.read_ahead, 2, 16),
        bulk: with(usual.bulk, 2, 1),
        ..*usual
    }
}

/// Reading ahead takes an extent of 64 pages; the page cleaner goes round every second.
fn mysql(usual: &Plan) -> Plan {
    Plan {
        page_bytes: 16_384,
        gather_pages: 1,
        hardening: Hardening::Flush,
        checkpoint_every: Duration::from_secs(1),
        doublewrite_pages: 128,
        log: Logging { block_bytes: 512, page_images: false, commits_flush: true },
        random: RandomUsers { log_bytes: (64, 1024), ..usual.random },
        audit: with(usual.audit, 2, 64),
        read_ahead: with(usual.read_ahead, 2, 64),
        bulk: with(usual.bulk, 0, 1),
        ..*usual
    }
}

/// One connection writes, others read. A frame of the log is a page and 24 bytes; 1000 of them are
/// a checkpoint.
fn sqlite(usual: &Plan) -> Plan {
    Plan {
        page_bytes: 4096,
        threads: 1,
        gather_pages: 1,
        // A checkpoint begins at three quarters.
        dirty_pages: 1334,
        hardening: Hardening::Flush,
        checkpoint_every: Duration::from_secs(3600),
        log: Logging { block_bytes: 4096, page_images: true, commits_flush: true },
        random: RandomUsers {
            users: 1,
            jump_percent: 50.0,
            chain_pages: (1, 8),
            log_bytes: (24, 24),
            sleep: Duration::ZERO,
            ..usual.random
        },
        audit: ScanUsers { cycles: 64, ..with(usual.audit, 1, 1) },
        read_ahead: with(usual.read_ahead, 0, 1),
        bulk: with(usual.bulk, 0, 1),
        pages: readers(4, (1, 1)),
        ..*usual
    }
}

/// Blocks of 4 to 16 KiB are read here and there; tables are written and merged with 1 MiB at a
/// time.
fn rocksdb(usual: &Plan, data_bytes: u64) -> Plan {
    let page_bytes = 4096;
    let table = (data_bytes / TABLES).min(TABLE_BYTES) / u64::from(page_bytes);
    Plan {
        page_bytes,
        hardening: Hardening::Flush,
        log: Logging { block_bytes: 512, page_images: false, commits_flush: false },
        random: RandomUsers { users: 0, ..usual.random },
        audit: with(usual.audit, 2, 64),
        read_ahead: with(usual.read_ahead, 0, 1),
        bulk: with(usual.bulk, 0, 1),
        pages: readers(16, (1, 4)),
        tables: TableUsers {
            users: 4,
            table_pages: u32::try_from(table).unwrap_or(u32::MAX).max(1),
            ..TableUsers::default()
        },
        ..*usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_a_plan_that_keeps_the_rules() {
        for engine in Imitated::ALL {
            for data in [0, 1 << 20, 1 << 30, 1 << 40] {
                let plan = engine.plan(Plan::default(), data);
                assert_eq!(plan.violations(), [], "{engine:?}");
            }
        }
        let usual = Imitated::Sqlserver.plan(Plan::default(), 1 << 30);
        assert_eq!(usual, Plan::default());
        let rocks = Imitated::Rocksdb.plan(Plan::default(), 1 << 30);
        assert_eq!(u64::from(rocks.tables.table_pages) * 4096, 32 << 20);
    }
}
