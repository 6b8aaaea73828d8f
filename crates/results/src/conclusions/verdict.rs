//! Whether the storage is fast enough for each part of a database.

use std::fmt;

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
    /// Every database, the generic one first.
    pub const ALL: [Self; 7] = [
        Self::Generic,
        Self::SqlServer,
        Self::Postgres,
        Self::MySql,
        Self::Oracle,
        Self::Sqlite,
        Self::RocksDb,
    ];

    /// The name for use in a sentence.
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

    /// The word in JSON, and after `--for`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::SqlServer => "sqlserver",
            Self::Postgres => "postgres",
            Self::MySql => "mysql",
            Self::Oracle => "oracle",
            Self::Sqlite => "sqlite",
            Self::RocksDb => "rocksdb",
        }
    }
}

/// A part of a database, with the I/O that it does.
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
    /// The name of the role, as a heading.
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

impl Role {
    /// The unit of its load, per second.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Log => "commits/s",
            Self::OltpData => "IOPS",
            Self::DssData | Self::Compaction => "MiB/s",
        }
    }
}

/// The load of a role that the storage must carry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// The role that has to carry it.
    pub role: Role,
    /// The load per second, in the unit of the role: commits of a log, I/Os of OLTP data, MiB of a
    /// data warehouse and of compaction.
    pub per_second: f64,
}

/// As `--need` takes it.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = self.per_second;
        match self.role {
            Role::Log => write!(f, "log={amount}/s"),
            Role::OltpData => write!(f, "oltp={amount}iops"),
            Role::DssData | Role::Compaction => write!(f, "scan={amount}MiBps"),
        }
    }
}

/// A class of storage that figures are compared within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Rotating disks.
    Hdd,
    /// Flash with a SATA or SAS interface.
    SataSsd,
    /// Flash with an NVMe interface.
    Nvme,
    /// Flash reached through a storage network.
    Array,
    /// A volume of a cloud provider.
    Cloud,
}

/// How sure a verdict is, from the surest.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Sureness {
    /// There is no reason to doubt it.
    High,
    /// It may change with a longer or quieter measurement.
    Medium,
    /// The verdict is only an indication.
    Low,
}

impl Sureness {
    /// The word for use in a sentence.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// How sure a verdict is, with the reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confidence {
    /// How sure the verdict is: high, medium or low.
    pub sureness: Sureness,
    /// What keeps it from being surer, the most severe first; empty if it is high.
    pub reasons: Vec<String>,
}

/// A limit of a role, from the strictest to the widest.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Far better than the role asks.
    Excellent,
    /// What the role should ideally get.
    Ideal,
    /// What the role can live with.
    Acceptable,
}

/// What keeps more load from fitting within a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeldBy {
    /// The latency: with more load, it exceeds the limit.
    Latency,
    /// The throughput: the storage does not do more.
    Throughput,
    /// Nothing that was seen: no greater load was tried.
    Nothing,
}

/// How much load fits within one limit of a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FittingLoad {
    /// Which of the role's limits it is.
    pub level: Level,
    /// The limit of that level, in nanoseconds of latency.
    pub limit_ns: u64,
    /// The load in words, for example `8 KiB random read`.
    pub load: String,
    /// How much of it fits per second, in the unit of the role; 0 if nothing that was tried does.
    pub per_second: f64,
    /// It is hardly less than this.
    pub low: f64,
    /// It is hardly more than this; absent if no greater load was tried.
    pub high: Option<f64>,
    /// The latency that is judged, at this load; absent if nothing fits.
    pub latency_ns: Option<f64>,
    /// What keeps a greater load from fitting.
    pub held_by: HeldBy,
}

impl FittingLoad {
    /// Half of the interval in percent of the capacity; `None` if an end is not known, or nothing
    /// fits.
    #[must_use]
    pub fn half_width_percent(&self) -> Option<f64> {
        (self.per_second > 0.0).then_some(())?;
        Some(50.0 * (self.high? - self.low) / self.per_second)
    }
}

/// Which latency is compared with the limits.
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
    /// The role that the limits belong to.
    pub role: Role,
    /// Up to here the storage is excellent.
    pub excellent_ns: u64,
    /// Up to here it is good: what the role ideally gets.
    pub ideal_ns: u64,
    /// Up to here it is acceptable; beyond, unfit.
    pub acceptable_ns: u64,
    /// The latency that is compared with them.
    #[serde(default)]
    pub statistic: Statistic,
    /// If the mean is judged, a load does not fit if one I/O in a hundred takes longer than this
    /// many times the acceptable limit: its user is stalled, which a mean hides.
    #[serde(default = "default_tail_factor")]
    pub tail_factor: u32,
    /// Where the limits come from, in words.
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
    /// The need fits within far less latency than the role asks.
    Excellent,
    /// It fits within what the role ideally gets.
    Good,
    /// It fits within what the role can live with.
    Acceptable,
    /// It seems to fit, but the figures are not sure enough to say so.
    Indication,
    /// The need does not fit within what the role can live with.
    Unfit,
    /// There is no need to judge by, or nothing that could be judged.
    NotJudged,
}

impl Grade {
    /// The word for use in a sentence.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Excellent => "excellent",
            Self::Good => "good",
            Self::Acceptable => "acceptable",
            Self::Indication => "indication only",
            Self::Unfit => "unfit",
            Self::NotJudged => "not judged",
        }
    }
}

/// How well the storage serves a role, and how that was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The role of the storage that is judged.
    pub role: Role,
    /// How the storage meets the need; not judged if no need was named.
    pub grade: Grade,
    /// How sure that is; absent if nothing could be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// How much load fits within each limit, the strictest first; empty if nothing was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacities: Vec<FittingLoad>,
    /// What is needed; absent if the user did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
    /// How the storage compares with others of its class, in a sentence; absent if the class is not
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The verdict in one sentence, with the figure that decided it.
    pub headline: String,
    /// What was measured for it, one sentence per load.
    pub evidence: Vec<String>,
    /// What keeps this verdict from being final.
    pub caveats: Vec<String>,
    /// The limits it was judged by.
    pub limits: Limits,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_has_one_word() {
        for database in Database::ALL {
            assert_eq!(serde_json::json!(database), database.word());
        }
    }
}
