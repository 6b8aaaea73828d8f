//! By what a file is known to belong to a database: such files are never written to.

use std::path::Path;

/// Extensions of files that belong to a database.
const DATABASE_EXTENSIONS: [&str; 28] = [
    "mdf",
    "ndf",
    "ldf",
    "bak",
    "trn",
    "ibd",
    "ibdata",
    "frm",
    "myd",
    "myi",
    "dbf",
    "ctl",
    "ora",
    "db",
    "db3",
    "sqlite",
    "sqlite3",
    "db-wal",
    "sqlite-wal",
    "wal",
    "sst",
    "wt",
    "ddl",
    "fdb",
    "gdb",
    "mdb",
    "accdb",
    "edb",
];
/// Beginnings of names of files that belong to a database and may have no extension of their own.
const DATABASE_NAMES: [&str; 6] =
    ["ibdata", "ib_logfile", "ibtmp", "#ib_redo", "undo_0", "pg_control"];
/// A file with this name lies in every directory of a PostgreSQL database; its data files have bare
/// numbers.
const DATABASE_NEIGHBOUR: &str = "PG_VERSION";

/// By what a file is known to be a database's, if it is.
pub(crate) fn database_sign(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    if DATABASE_NAMES.iter().any(|known| name.starts_with(known)) {
        return Some(format!("its name is {name}"));
    }
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    if let Some(extension) = extension.filter(|e| DATABASE_EXTENSIONS.contains(&e.as_str())) {
        return Some(format!("its extension is .{extension}"));
    }
    let directory = path.parent()?;
    let is_number = name.starts_with(|c: char| c.is_ascii_digit());
    (is_number && directory.join(DATABASE_NEIGHBOUR).exists())
        .then(|| format!("{DATABASE_NEIGHBOUR} is in its directory"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn database_files_are_known_by_their_names() {
        for name in ["a.MDF", "t.ibd", "x.ldf", "ibdata1", "app.sqlite"] {
            assert!(database_sign(Path::new(name)).is_some(), "{name}");
        }
        assert_eq!(database_sign(Path::new("testfile.dat")), None);
    }

    #[test]
    fn numbered_files_beside_pg_version_are_a_databases() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(database_sign(&dir.path().join("16385.1")), None);
        fs::write(dir.path().join("PG_VERSION"), "17\n").unwrap();
        assert!(database_sign(&dir.path().join("16385.1")).is_some());
        assert_eq!(database_sign(&dir.path().join("iosonde.test")), None);
    }
}
