//! The databases that storage can be judged for: what each asks of it, and where its limits come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{Limits, Role};

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

    /// The roles that storage has for it, in the order of a report.
    #[must_use]
    pub fn roles(self) -> &'static [Role] {
        match self {
            Self::Sqlite => &[Role::Log, Role::OltpData],
            Self::RocksDb => &[Role::Log, Role::OltpData, Role::Compaction],
            _ => &[Role::Log, Role::OltpData, Role::DssData],
        }
    }

    /// The limits of each of its roles.
    ///
    /// Published limits are those of SQL Server and, for single-block reads, of Oracle. Where a database publishes
    /// none, those of SQL Server hold, because the same thing waits for the same I/O; the source says so.
    #[must_use]
    pub fn limits(self) -> Vec<Limits> {
        let limits = |role: &Role| {
            let published = Limits::of(*role);
            let source = match self {
                Self::Generic | Self::SqlServer => published.source.clone(),
                Self::Oracle if *role == Role::OltpData => format!(
                    "{}; the Oracle Database 2 Day + Performance Tuning Guide (Monitoring I/O) as well calls single-block \
                     reads below 10 ms satisfactory",
                    published.source
                ),
                _ => format!(
                    "{} publishes no limits; those of SQL Server ({})",
                    self.title(),
                    published.source
                ),
            };
            Limits { source, ..published }
        };
        self.roles().iter().map(limits).collect()
    }
}
