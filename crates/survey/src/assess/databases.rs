//! What each database does to its storage: the shapes of its I/O, by published facts. A shape is
//! not the database itself.
//!
//! | database | sources |
//! |---|---|
//! | SQL Server | Ruthruff, Predeployment I/O Best Practices; Microsoft's pages on reading and writing pages and on BACKUP |
//! | PostgreSQL | its documentation: block and WAL page size, `io_combine_limit`, `checkpoint_flush_after` |
//! | MySQL | its manual: InnoDB page size, linear read-ahead, doublewrite buffer, redo log, binary log |
//! | Oracle | its documentation: block size, multiblock reads, redo block size, direct path |
//! | SQLite | its pages on atomic commit and on write-ahead logging |
//! | RocksDB | its wiki: block size, `compaction_readahead_size`, `writable_file_max_buffer_size`, write-ahead log |

use results::verdict::Database;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// One shape of I/O: its block size, I/Os in flight, and what the database does it for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) block: u64,
    pub(super) depth: u32,
    pub(super) operation: &'static str,
}

const fn shape(block: u64, depth: u32, operation: &'static str) -> Shape {
    Shape { block, depth, operation }
}

/// The I/O shapes of one database.
#[derive(Debug, Clone, Copy)]
pub(super) struct Profile {
    /// Single pages at random places; the first is raised in depth.
    pub(super) page_reads: &'static [Shape],
    /// Single pages written at random places, raised in depth; absent if nothing is written in
    /// place.
    pub(super) page_write: Option<Shape>,
    /// Long reads in order; the first is raised in depth.
    pub(super) scans: &'static [Shape],
    /// Writes that a commit waits for, one at a time.
    pub(super) log_writes: &'static [Shape],
    /// Reads of the log at random places.
    pub(super) log_random_reads: &'static [Shape],
    /// Reads of the log in order.
    pub(super) log_scans: &'static [Shape],
    /// Long writes, one after the other.
    pub(super) bulk_writes: &'static [Shape],
}

/// The I/O shapes of a database.
pub(super) fn profile(database: Database) -> &'static Profile {
    match database {
        Database::Generic => &GENERIC,
        Database::SqlServer => &SQL_SERVER,
        Database::Postgres => &POSTGRES,
        Database::MySql => &MYSQL,
        Database::Oracle => &ORACLE,
        Database::Sqlite => &SQLITE,
        Database::RocksDb => &ROCKSDB,
    }
}

const FLUSH: &str = "transaction log, one flush after the other";

static GENERIC: Profile = Profile {
    page_reads: &[shape(8 * KIB, 32, "reading single pages (OLTP)")],
    page_write: Some(shape(8 * KIB, 32, "checkpoint and lazy writer, page by page (OLTP)")),
    scans: &[
        shape(64 * KIB, 8, "table scans, read-ahead"),
        shape(256 * KIB, 8, "read-ahead of large scans"),
        shape(MIB, 4, "backup, read-ahead at its largest"),
    ],
    log_writes: &[shape(512, 1, FLUSH), shape(4 * KIB, 1, FLUSH), shape(60 * KIB, 1, FLUSH)],
    log_random_reads: &[shape(8 * KIB, 8, "rollback, recovery")],
    log_scans: &[],
    bulk_writes: &[shape(64 * KIB, 8, "checkpoint, bulk load, index build")],
};

static SQL_SERVER: Profile = Profile {
    page_reads: &[shape(8 * KIB, 32, "single pages, prefetch of lookups")],
    page_write: Some(shape(8 * KIB, 32, "checkpoint and lazy writer, page by page")),
    scans: &[
        shape(64 * KIB, 8, "table scans, extent by extent"),
        shape(512 * KIB, 8, "read-ahead of 64 pages"),
        shape(MIB, 4, "backup, read-ahead of 128 pages (Enterprise edition)"),
    ],
    log_writes: &[
        shape(512, 1, "log flush of a small commit: one sector"),
        shape(4 * KIB, 1, "log flush of a commit"),
        shape(60 * KIB, 1, "log flush of a full log buffer"),
    ],
    log_random_reads: &[shape(8 * KIB, 8, "rollback")],
    log_scans: &[shape(120 * KIB, 1, "log reader: replication, log backup, recovery")],
    bulk_writes: &[
        shape(64 * KIB, 8, "bulk load, index build"),
        shape(256 * KIB, 8, "checkpoint, 32 neighbouring pages gathered"),
    ],
};

static POSTGRES: Profile = Profile {
    page_reads: &[shape(8 * KIB, 16, "index lookups; bitmap heap scans prefetch 16 pages")],
    page_write: Some(shape(8 * KIB, 32, "checkpoint and background writer, page by page")),
    scans: &[
        shape(128 * KIB, 4, "sequential scans, VACUUM (io_combine_limit)"),
        shape(MIB, 2, "base backup"),
    ],
    log_writes: &[
        shape(8 * KIB, 1, "WAL flush of a commit: one WAL page"),
        shape(64 * KIB, 1, "WAL flush of a group of commits, after full pages"),
    ],
    log_random_reads: &[],
    log_scans: &[shape(128 * KIB, 1, "recovery, WAL sender and archiver")],
    bulk_writes: &[shape(256 * KIB, 2, "checkpoint, flushed in runs (checkpoint_flush_after)")],
};

static MYSQL: Profile = Profile {
    page_reads: &[shape(16 * KIB, 16, "InnoDB pages")],
    page_write: Some(shape(16 * KIB, 32, "page cleaner, after the doublewrite buffer")),
    scans: &[
        shape(16 * KIB, 64, "linear read-ahead: the 64 pages of an extent"),
        shape(MIB, 4, "backup of whole extents"),
    ],
    log_writes: &[
        shape(512, 1, "redo log block"),
        shape(4 * KIB, 1, "redo log or binary log, flushed at each commit"),
        shape(16 * KIB, 1, "redo log of a group of commits"),
    ],
    log_random_reads: &[],
    log_scans: &[shape(64 * KIB, 1, "recovery, replication from the binary log")],
    bulk_writes: &[shape(MIB, 1, "doublewrite buffer, a batch of pages in order")],
};

static ORACLE: Profile = Profile {
    page_reads: &[shape(8 * KIB, 32, "single-block reads (db file sequential read)")],
    page_write: Some(shape(8 * KIB, 32, "database writer")),
    scans: &[
        shape(128 * KIB, 8, "multiblock reads of 16 blocks (db file scattered read)"),
        shape(MIB, 4, "multiblock and direct-path reads at their largest, backup"),
    ],
    log_writes: &[
        shape(512, 1, "log writer: one redo block"),
        shape(4 * KIB, 1, "log writer: a commit"),
        shape(128 * KIB, 1, "log writer: a group of commits"),
    ],
    log_random_reads: &[],
    log_scans: &[shape(MIB, 1, "archiver, recovery")],
    bulk_writes: &[shape(MIB, 4, "direct-path load, archiver")],
};

static SQLITE: Profile = Profile {
    page_reads: &[shape(4 * KIB, 1, "pages, one after the other")],
    page_write: Some(shape(4 * KIB, 1, "pages copied back at a checkpoint")),
    scans: &[],
    log_writes: &[shape(4 * KIB, 1, "journal or write-ahead log, synced at each commit")],
    log_random_reads: &[],
    log_scans: &[],
    bulk_writes: &[],
};

static ROCKSDB: Profile = Profile {
    page_reads: &[
        shape(4 * KIB, 32, "point reads, a block each"),
        shape(16 * KIB, 32, "point reads of larger blocks"),
    ],
    page_write: None,
    scans: &[shape(2 * MIB, 2, "compaction input (compaction_readahead_size)")],
    log_writes: &[shape(4 * KIB, 1, "write-ahead log, synced writes")],
    log_random_reads: &[],
    log_scans: &[],
    bulk_writes: &[shape(MIB, 2, "flush and compaction output")],
};
