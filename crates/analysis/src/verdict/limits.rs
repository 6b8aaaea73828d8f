//! What each part of a database asks of its storage.

use serde::{Deserialize, Serialize};

use super::capacity::Level;

/// A part of a database, with the I/O that it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// All roles, in the order of a report.
    pub const ALL: [Self; 4] = [Self::Log, Self::OltpData, Self::DssData, Self::Compaction];

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

/// Which latency is compared with the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The mean: the published limits are limits of averages (Avg. Disk sec/Read and sec/Write).
    #[default]
    Mean,
    /// The 99th percentile; stricter than the published limits.
    P99,
}

impl Statistic {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P99 => "99th percentile",
        }
    }
}

/// The latency limits of one role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    pub statistic: Statistic,
    /// If the mean is judged, a load does not fit if one I/O in a hundred takes longer than this
    /// many times the acceptable limit: its user is stalled, which a mean hides.
    pub tail_factor: u32,
    /// Where the limits come from, in words.
    pub source: String,
}

const MS: u64 = 1_000_000;

impl Limits {
    /// The limits of *Predeployment I/O Best Practices* (Ruthruff, Microsoft, 2007): log 1-5 ms, 1
    /// ms with a write cache; OLTP data 4-20 ms, ideally no more than 10; DSS data no more than 30
    /// ms.
    ///
    /// | role | excellent | ideal | acceptable |
    /// |---|---|---|---|
    /// | log | *0.4 ms* | 1 ms | 5 ms |
    /// | OLTP data | 4 ms | 10 ms | 20 ms |
    /// | DSS data | *6 ms* | *15 ms* | 30 ms |
    ///
    /// Only for OLTP data does the document give all three. What it leaves open (in italics) is
    /// filled in with the OLTP proportions: ideal is half of acceptable, and excellent four tenths
    /// of ideal.
    #[must_use]
    pub fn of(role: Role) -> Self {
        let document = "Ruthruff, Predeployment I/O Best Practices, Microsoft 2007";
        let (excellent_ns, ideal_ns, acceptable_ns, note) = match role {
            Role::Log => (
                MS * 4 / 10,
                MS,
                5 * MS,
                "log 1-5 ms, 1 ms with a write cache; excellent: 4/10 of ideal, as for OLTP data",
            ),
            Role::OltpData => (4 * MS, 10 * MS, 20 * MS, "OLTP data 4-20 ms, ideally up to 10 ms"),
            Role::DssData => (
                6 * MS,
                15 * MS,
                30 * MS,
                "DSS data up to 30 ms; ideal and excellent in the proportions of OLTP data",
            ),
            Role::Compaction => {
                (6 * MS, 15 * MS, 30 * MS, "sequential I/O in large blocks, as for DSS data")
            }
        };
        Self {
            role,
            excellent_ns,
            ideal_ns,
            acceptable_ns,
            // A mean hides the one page in a hundred that a user waits for. A scan is a stream, and
            // its mean is what its reader sees.
            statistic: match role {
                Role::Log | Role::OltpData => Statistic::P99,
                Role::DssData | Role::Compaction => Statistic::Mean,
            },
            tail_factor: 4,
            source: format!("{document}: {note}"),
        }
    }

    /// The latency limit of this level, in nanoseconds.
    #[must_use]
    pub fn at(&self, level: Level) -> u64 {
        match level {
            Level::Excellent => self.excellent_ns,
            Level::Ideal => self.ideal_ns,
            Level::Acceptable => self.acceptable_ns,
        }
    }

    /// Whether the limits rise from excellent to acceptable and none is zero; nothing is judged by
    /// others.
    #[must_use]
    pub fn are_ordered(&self) -> bool {
        self.excellent_ns > 0
            && self.excellent_ns <= self.ideal_ns
            && self.ideal_ns <= self.acceptable_ns
            && self.tail_factor > 0
    }
}
