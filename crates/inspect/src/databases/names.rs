//! Names of files that belong to a database.

use std::path::Path;

/// Extensions of files that belong to a database.
const EXTENSIONS: [&str; 43] = [
    "mdf",
    "ndf",
    "ldf",
    "bak",
    "trn",
    "ibd",
    "ibdata",
    "ibu",
    "ibz",
    "frm",
    "myd",
    "myi",
    "mai",
    "mad",
    "dblwr",
    "dbf",
    "ctl",
    "ora",
    "db",
    "db3",
    "sqlite",
    "sqlite3",
    "db-wal",
    "db-shm",
    "db-journal",
    "sqlite-wal",
    "sqlite-shm",
    "sqlite-journal",
    "wal",
    "sst",
    "wt",
    "ddl",
    "fdb",
    "gdb",
    "mdb",
    "accdb",
    "edb",
    "rdb",
    "aof",
    "duckdb",
    "lmdb",
    "couch",
    "tokudb",
];
/// Beginnings of names of files that belong to a database and may have no extension.
const BEGINNINGS: [&str; 13] = [
    "ibdata",
    "ib_logfile",
    "ib_buffer_pool",
    "ibtmp",
    "#ib_",
    "undo_0",
    "undo00",
    "aria_log",
    "pg_control",
    "pg_filenode.map",
    "wiredtiger",
    "neostore",
    "sqlbct",
];

/// The name by which a file is known to belong to a database, as the end of a sentence.
#[must_use]
pub fn database_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    if BEGINNINGS.iter().any(|known| name.starts_with(known)) {
        return Some(format!("its name is {name}"));
    }
    let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
    EXTENSIONS.contains(&extension.as_str()).then(|| format!("its extension is .{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_files_are_known_by_their_names() {
        for name in [
            "a.MDF",
            "t.ibd",
            "x.ldf",
            "ibdata1",
            "app.sqlite",
            "aria_log.00000001",
            "dump.rdb",
            "undo001",
            "#ib_16384_0.dblwr",
            "a.db-journal",
            "WiredTigerHS.wt",
        ] {
            assert!(database_name(Path::new(name)).is_some(), "{name}");
        }
        for name in ["testfile.dat", "iosonde.test", "undo.txt", "16384"] {
            assert_eq!(database_name(Path::new(name)), None, "{name}");
        }
    }
}
