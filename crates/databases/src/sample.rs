//! One reading of a database's counters. They count up since some moment in the past; only
//! differences mean something, and [`crate::DatabaseWindow`] takes them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kinds of databases that can be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// PostgreSQL, of any version.
    PostgreSql,
    /// MySQL or MariaDB, of any version.
    MySql,
    /// Microsoft SQL Server, of any version.
    SqlServer,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PostgreSql => "PostgreSQL",
            Self::MySql => "MySQL",
            Self::SqlServer => "SQL Server",
        })
    }
}

/// All counters of a database at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct DatabaseSample {
    /// When it was taken by this process's clock, in nanoseconds since the database is watched.
    pub at_ns: u64,
    /// When it was taken by the database's own clock, in nanoseconds; only differences mean
    /// something. Absent if it has none.
    pub database_at_ns: Option<u64>,
    /// Which server answered, and since when it runs. Another text is another server, or a new
    /// start of this one.
    pub instance: String,
    /// For how long that server has been running, in seconds; absent if `instance` says since when.
    pub uptime_s: Option<u64>,
    /// Connections that were lost and made anew until now.
    pub reconnections: u32,
    /// The I/O counters of each object.
    pub objects: Vec<ObjectCounters>,
    /// Counters of the database as a whole.
    pub counters: Vec<NamedCounter>,
    /// What is missing, and which setting or privilege would provide it: sentences.
    pub notes: Vec<String>,
}

/// What a database has counted for one object: a file, or a kind of process with a kind of object
/// and a context.
///
/// None is what the database does not count, or does not tell us.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObjectCounters {
    /// Its name, unique in a sample.
    pub object: String,
    /// When its counters were last set to 0, as the database writes it.
    pub since: Option<String>,
    /// Read operations; absent if the database does not count them.
    pub reads: Option<u64>,
    /// Writes; where the database counts them apart, extensions of files are in it.
    pub writes: Option<u64>,
    /// Bytes that these reads moved.
    pub read_bytes: Option<u64>,
    /// Bytes that these writes moved.
    pub written_bytes: Option<u64>,
    /// Calls that wait until written data is on the device (fsync and its like).
    pub syncs: Option<u64>,
    /// Sum of the times of all reads, in picoseconds; starts again at 2^64, after 213 days.
    pub read_time_ps: Option<u64>,
    /// Sum of the times of all writes, likewise.
    pub write_time_ps: Option<u64>,
    /// Sum of the times of all syncs, likewise.
    pub sync_time_ps: Option<u64>,
}

/// What a counter counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Events, such as commits.
    Count,
    /// An amount of bytes.
    Bytes,
    /// A time in nanoseconds.
    Nanoseconds,
}

/// A counter of the whole database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCounter {
    /// The counter's name, such as `wal_bytes`.
    pub name: &'static str,
    /// What its value is counted in.
    pub unit: Unit,
    /// Its value since the server started or the counter was reset.
    pub value: u64,
    /// When it was last set to 0, as the database writes it.
    pub since: Option<String>,
}

/// The facts about a server that a connection finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFacts {
    /// The kind of database: PostgreSQL, MySQL or SQL Server.
    pub kind: Kind,
    /// Its version, as it writes it.
    pub version: String,
    /// Where it keeps its data on its own host; absent if it does not tell us.
    pub data_directory: Option<String>,
}
