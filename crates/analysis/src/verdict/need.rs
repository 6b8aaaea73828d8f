//! What a database needs of its storage.

use serde::{Deserialize, Serialize};

use super::limits::Role;

/// The load of a role that the storage must carry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// The role that has to carry it.
    pub role: Role,
    /// The load per second, in the unit of the role: commits of a log, I/Os of OLTP data, MiB of a
    /// data warehouse and of compaction.
    pub per_second: f64,
}

/// A size of database that `--need` knows by name: `small`, `medium`, `large`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NamedNeed {
    /// The word on the command line.
    pub name: &'static str,
    /// Commits of the log, I/Os of OLTP data, MiB of scans, each second.
    pub log: f64,
    /// I/Os of OLTP data per second.
    pub oltp: f64,
    /// MiB of scans and of compaction.
    pub scan: f64,
    /// Where these amounts come from, in words.
    pub source: &'static str,
}

/// Needs by size. I/Os and MiB are what cloud volumes are sold with for a database of that size
/// (Azure Premium SSD: P10, P30 and P60). For commits no such table is known: those are ours, a
/// fifth of the I/Os.
pub const NAMED_NEEDS: [NamedNeed; 3] = [
    NamedNeed {
        name: "small",
        log: 100.0,
        oltp: 500.0,
        scan: 95.0,
        source: "Azure Premium SSD P10 (500 IOPS, 100 MB/s); commits: our choice",
    },
    NamedNeed {
        name: "medium",
        log: 1000.0,
        oltp: 5000.0,
        scan: 190.0,
        source: "Azure Premium SSD P30 (5 000 IOPS, 200 MB/s); commits: our choice",
    },
    NamedNeed {
        name: "large",
        log: 3200.0,
        oltp: 16_000.0,
        scan: 477.0,
        source: "Azure Premium SSD P60 (16 000 IOPS, 500 MB/s); commits: our choice",
    },
];

impl NamedNeed {
    /// What it needs of a role.
    #[must_use]
    pub fn of(&self, role: Role) -> Need {
        let per_second = match role {
            Role::Log => self.log,
            Role::OltpData => self.oltp,
            Role::DssData | Role::Compaction => self.scan,
        };
        Need { role, per_second }
    }
}
