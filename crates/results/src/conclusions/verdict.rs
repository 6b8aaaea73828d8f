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

impl Role {
    /// In what its load is counted, each second.
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
    /// The role.
    pub role: Role,
    /// The load, each second, in the unit of the role: commits of a log, I/Os of OLTP data, MiB of
    /// a data warehouse and of compaction.
    pub per_second: f64,
}

/// A class of storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Disks that turn.
    Hdd,
    /// Flash behind SATA or SAS.
    SataSsd,
    /// Flash behind NVMe.
    Nvme,
    /// Flash behind a storage network.
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
    /// Nothing speaks against it.
    High,
    /// It may change with a longer or quieter measurement.
    Medium,
    /// It is an indication and no more.
    Low,
}

impl Sureness {
    /// As it stands in a sentence.
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
    /// How sure.
    pub sureness: Sureness,
    /// What keeps it from being surer, the gravest first; empty where it is high.
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
    /// What the role ideally gets.
    Ideal,
    /// What the role can live with.
    Acceptable,
}

/// What keeps more load from fitting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeldBy {
    /// The latency: with more load, it is beyond the limit.
    Latency,
    /// The throughput: more load is not done at all.
    Throughput,
    /// Nothing that was seen: no greater load was tried.
    Nothing,
}

/// How much load fits within one limit of a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FittingLoad {
    /// Which limit.
    pub level: Level,
    /// The limit.
    pub limit_ns: u64,
    /// The load.
    pub load: String,
    /// How much of it fits, each second, in the unit of the role; 0 where none that was tried does.
    pub per_second: f64,
    /// It is hardly less than this.
    pub low: f64,
    /// It is hardly more than this; none where no greater load was tried.
    pub high: Option<f64>,
    /// The latency that is judged, at this load; none where none fits.
    pub latency_ns: Option<f64>,
    /// What keeps more from fitting.
    pub held_by: HeldBy,
}

impl FittingLoad {
    /// Half of the interval in percent of the capacity; none where an end is not known, or nothing
    /// fits.
    #[must_use]
    pub fn half_width_percent(&self) -> Option<f64> {
        (self.per_second > 0.0).then_some(())?;
        Some(50.0 * (self.high? - self.low) / self.per_second)
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
    /// Where the mean is judged, a load does not fit if one I/O in a hundred takes longer than this
    /// many times the acceptable limit: its user is stalled, which a mean hides.
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
    /// The need fits within far less latency than the role asks.
    Excellent,
    /// It fits within what the role ideally gets.
    Good,
    /// It fits within what the role can live with.
    Acceptable,
    /// It seems to fit, but the figures are not sure enough to say so.
    Indication,
    /// It does not fit.
    Unfit,
    /// There is no need to judge by, or nothing that could be judged.
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
            Self::Indication => "indication only",
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
    /// How the storage meets the need; not judged where none was named. Earlier builds held the
    /// latency of the worst load against the limits, whatever was needed.
    pub grade: Grade,
    /// How sure that is; none where nothing could be judged, and of earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// How much load fits within each limit, the strictest first; empty where nothing was measured,
    /// and of earlier builds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacities: Vec<FittingLoad>,
    /// What is needed; none where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
    /// How the storage compares with others of its class, in a sentence; none where the class is
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The verdict in one sentence, with the figure that decided it.
    pub headline: String,
    /// One sentence for each load.
    pub evidence: Vec<String>,
    /// What keeps this verdict from being final.
    pub caveats: Vec<String>,
    /// The limits it was judged by.
    pub limits: Limits,
}
