//! Whether the storage is fast enough for each part of a database.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What will live on the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// Any database: the patterns that most have in common.
    #[default]
    Generic,
    /// Microsoft SQL Server.
    SqlServer,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB with InnoDB.
    MySql,
    /// Oracle Database.
    Oracle,
    /// SQLite.
    Sqlite,
    /// RocksDB and other engines of log-structured merge trees.
    RocksDb,
}

impl Database {
    /// Every database.
    pub const ALL: [Self; 7] = [
        Self::Generic,
        Self::SqlServer,
        Self::Postgres,
        Self::MySql,
        Self::Oracle,
        Self::Sqlite,
        Self::RocksDb,
    ];

    /// The name as it stands in a sentence.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Generic => "a database",
            Self::SqlServer => "SQL Server",
            Self::Postgres => "PostgreSQL",
            Self::MySql => "MySQL (InnoDB)",
            Self::Oracle => "Oracle Database",
            Self::Sqlite => "SQLite",
            Self::RocksDb => "RocksDB",
        }
    }
}

/// What will live on the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The transaction log (write-ahead log, redo log): a commit waits for each write.
    Log,
    /// Data files of many small transactions: a user waits for single random reads.
    OltpData,
    /// Data files of a data warehouse: a query waits for long scans.
    DssData,
    /// Background work of a log-structured merge tree: whole files are read and written in order.
    Compaction,
}

impl Role {
    /// The role as a heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Log => "Transaction log",
            Self::OltpData => "OLTP data files",
            Self::DssData => "Data warehouse (DSS) data files",
            Self::Compaction => "Flush and compaction",
        }
    }
}

/// Which latency is held against the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The mean: the published limits are limits of averages (Avg. Disk sec/Read and sec/Write).
    #[default]
    Mean,
    /// The 99th percentile; stricter than the published limits.
    P99,
}

/// The latency limits of one role. In a TOML file the last three may be left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The role they belong to.
    pub role: Role,
    /// Up to here the storage is excellent.
    pub excellent_ns: u64,
    /// Up to here it is good: what the role ideally gets.
    pub ideal_ns: u64,
    /// Up to here it is acceptable; beyond, unfit.
    pub acceptable_ns: u64,
    /// Which latency is judged.
    #[serde(default)]
    pub statistic: Statistic,
    /// Where the mean is judged, a 99th percentile beyond this many times the acceptable limit
    /// costs one grade: one I/O in a hundred then stalls its user, which a mean hides.
    #[serde(default = "default_tail_factor")]
    pub tail_factor: u32,
    /// Where the limits come from.
    #[serde(default = "default_source")]
    pub source: String,
}

fn default_tail_factor() -> u32 {
    4
}

fn default_source() -> String {
    "set by the user".to_owned()
}

/// How well the storage serves a role. Ordered from best to worst, and what was not judged last.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Far better than the role asks.
    Excellent,
    /// Within what the role ideally gets.
    Good,
    /// Within what the role can live with.
    Acceptable,
    /// Beyond it.
    Unfit,
    /// Nothing was measured that could be judged.
    NotJudged,
}

impl Grade {
    /// The grade as a word in a sentence.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Excellent => "excellent",
            Self::Good => "good",
            Self::Acceptable => "acceptable",
            Self::Unfit => "unfit",
            Self::NotJudged => "not judged",
        }
    }
}

/// A role, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The role.
    pub role: Role,
    /// The grade of the worst measurement.
    pub grade: Grade,
    /// The verdict in one sentence, with the figure and the file size that decided it.
    pub headline: String,
    /// One sentence for each measurement.
    pub evidence: Vec<String>,
    /// What keeps this verdict from being final.
    pub caveats: Vec<String>,
    /// The limits it was judged by.
    pub limits: Limits,
}
