//! What a file is for, by its path.

use serde::{Deserialize, Serialize};

/// The use that a database makes of a file. Its path decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileClass {
    /// The log of a database: written ahead, redo, or of changes (binlog).
    Log,
    /// The data of a database: tables, indexes, undo and transaction status.
    Data,
    /// A file that matches no naming rule of a database.
    Other,
}

/// Files in these directories are logs, whatever their names.
const LOG_DIRECTORIES: [&str; 3] = ["pg_wal", "pg_xlog", "#innodb_redo"];
/// Files in these directories are data, unless a rule says that they are logs.
const DATA_DIRECTORIES: [&str; 5] =
    ["pg_tblspc", "pg_xact", "pg_clog", "pg_multixact", "pg_commit_ts"];
/// Endings of the names of logs.
const LOG_ENDINGS: [&str; 3] = ["-wal", ".ldf", ".wal"];
/// Endings of the names of data files.
const DATA_ENDINGS: [&str; 14] = [
    ".ibd", ".mdf", ".ndf", ".dbf", ".db", ".db3", ".sqlite", ".sqlite3", ".myd", ".myi", ".mai",
    ".mad", ".ibu", ".wt",
];

impl FileClass {
    /// Every class, logs first.
    pub const ALL: [Self; 3] = [Self::Log, Self::Data, Self::Other];

    /// The class of the file with this path, by how databases name their files.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let path = path.to_lowercase();
        let mut parts = path.rsplit('/');
        let name = parts.next().unwrap_or_default();
        let directories: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let is_in = |names: &[&str]| directories.iter().any(|part| names.contains(part));
        if is_in(&LOG_DIRECTORIES) || is_log(name) {
            Self::Log
        } else if is_in(&DATA_DIRECTORIES) || is_data(name, &directories) {
            Self::Data
        } else {
            Self::Other
        }
    }

    /// The stream that marks an I/O as one of a file of this class.
    pub(crate) fn stream(self) -> u32 {
        match self {
            Self::Log => u32::MAX,
            Self::Data => u32::MAX - 1,
            Self::Other => u32::MAX - 2,
        }
    }
}

fn is_log(name: &str) -> bool {
    let is_numbered = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // `binlog.000001`, `mysql-bin.000001`, `db1-binlog.000001`.
    let is_binlog = name.rsplit_once('.').is_some_and(|(stem, number)| {
        is_numbered(number) && (stem.ends_with("binlog") || stem.ends_with("-bin"))
    });
    let is_redo = name.strip_suffix(".log").is_some_and(|stem| stem.starts_with("redo"));
    is_binlog
        || is_redo
        || ["ib_logfile", "aria_log.", "wiredtigerlog."].iter().any(|head| name.starts_with(head))
        || LOG_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// `directories` are those above the file, the nearest first.
fn is_data(name: &str, directories: &[&str]) -> bool {
    // PostgreSQL names files of tables by numbers: `base/16384/2619`, `16389_fsm`, `16389.1`.
    let is_relation = name.starts_with(|c: char| c.is_ascii_digit())
        && match directories {
            ["global", ..] => true,
            [number, "base", ..] => number.bytes().all(|b| b.is_ascii_digit()),
            _ => false,
        };
    let is_system = name.starts_with("ibdata") || name.starts_with("undo_0");
    is_relation || is_system || DATA_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_databases_are_recognised() {
        let log = [
            "/var/lib/postgresql/15/main/pg_wal/000000010000000000000001",
            "/data/pg_xlog/archive_status/x",
            "/var/lib/mysql/ib_logfile0",
            "/var/lib/mysql/#innodb_redo/#ib_redo12",
            "/var/lib/mysql/aria_log.00000001",
            "/var/lib/mysql/mysql-bin.000042",
            "/var/lib/mysql/binlog.000001",
            "/srv/app/users.db-wal",
            "/mnt/sql/Shop_Log.LDF",
            "/u02/redo01.log",
        ];
        let data = [
            "/var/lib/postgresql/15/main/base/16384/2619",
            "/var/lib/postgresql/15/main/base/16384/16389_fsm",
            "/var/lib/postgresql/15/main/global/1262",
            "/x/pg_tblspc/16390/PG_15_202209061/5/16391.1",
            "/x/pg_xact/0000",
            "/var/lib/mysql/ibdata1",
            "/var/lib/mysql/shop/orders.ibd",
            "/mnt/sql/Shop.mdf",
            "/srv/app/users.db",
        ];
        let other = [
            "/var/lib/postgresql/15/main/postmaster.pid",
            "/var/lib/postgresql/15/main/base/16384/pg_internal.init",
            "/var/lib/postgresql/15/main/base/pgsql_tmp/pgsql_tmp99.0",
            "/var/log/postgresql/postgresql.log",
            "/home/redo/letter.txt",
            "/srv/robin.1x",
            "",
            "/",
        ];
        for (paths, class) in
            [(&log[..], FileClass::Log), (&data, FileClass::Data), (&other, FileClass::Other)]
        {
            for path in paths {
                assert_eq!(FileClass::of(path), class, "{path}");
            }
        }
    }
}
