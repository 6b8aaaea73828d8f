//! Recognises directories of databases. Many files of a database have no magic; the files next to
//! them and the directories above them tell which database it is.

use std::fs;
use std::path::{Path, absolute};

/// Directories above a file that are looked at.
const LEVELS_MAX: usize = 12;
/// Names of one directory that are looked at.
const NAMES_MAX: usize = 20_000;

/// A database, by the contents of its directory.
struct Home {
    what: &'static str,
    /// Names that are all in it. A `*` at the end or the beginning of a name stands for the rest.
    has: &'static [&'static str],
    /// Levels below it whose files belong to the database.
    depth: usize,
}

const fn home(what: &'static str, has: &'static [&'static str], depth: usize) -> Home {
    Home { what, has, depth }
}

/// The databases that are known by their directory, as their own manuals describe it.
const HOMES: &[Home] = &[
    home("PostgreSQL", &["PG_VERSION"], 8),
    home("PostgreSQL", &["archive_status", "0000*"], 1),
    home("MySQL or MariaDB", &["ibdata1"], 4),
    home("MySQL or MariaDB", &["aria_log_control"], 4),
    home("MySQL or MariaDB", &["mysql.ibd"], 4),
    home("MySQL or MariaDB", &["#innodb_redo"], 4),
    home("MySQL or MariaDB", &["ib_buffer_pool"], 4),
    home("MySQL or MariaDB", &["ib_logfile0"], 1),
    home("MySQL or MariaDB", &["*.frm"], 0),
    home("MySQL or MariaDB", &["*-bin.index"], 0),
    home("MySQL or MariaDB", &["binlog.index"], 0),
    home("MongoDB", &["WiredTiger", "WiredTiger.wt"], 4),
    home("MongoDB", &["storage.bson"], 4),
    home("LevelDB or RocksDB", &["CURRENT", "MANIFEST-*"], 2),
    home("CockroachDB", &["marker.manifest.*"], 3),
    home("Redis", &["appendonlydir"], 1),
    home("Redis", &["*.aof.manifest"], 0),
    home("ClickHouse", &["columns.txt", "checksums.txt"], 2),
    home("ClickHouse", &["preprocessed_configs", "metadata"], 12),
    home("ClickHouse", &["format_version.txt"], 3),
    home("Cassandra", &["*-TOC.txt"], 1),
    home("Cassandra", &["CommitLog-*.log"], 1),
    home("etcd", &["wal", "snap"], 2),
    home("Kafka", &["meta.properties", "recovery-point-offset-checkpoint"], 2),
    home("Kafka", &["leader-epoch-checkpoint"], 0),
    home("Elasticsearch", &["node.lock", "_state"], 8),
    home("Lucene (Elasticsearch)", &["segments_*"], 0),
    home("Lucene (Elasticsearch)", &["translog.ckp"], 0),
    home("Derby", &["service.properties", "seg0"], 3),
    home("Neo4j", &["neostore"], 3),
    home("Db2", &["SQLSPCS.1"], 4),
    home("Db2", &["SQLDBCON"], 4),
    home("CouchDB", &["_dbs.couch"], 4),
    home("Prometheus", &["chunks_head", "wal"], 4),
    home("Prometheus", &["meta.json", "index", "chunks"], 2),
    home("InfluxDB", &["_series"], 4),
    home("Berkeley DB", &["__db.001"], 1),
    home("Ceph", &["ceph_fsid", "whoami"], 6),
    home("Oracle", &["*.dbf", "*.ctl"], 0),
    home("SQL Server", &["master.mdf"], 1),
];

/// The database of a directory with a distinct name.
fn named(name: &str) -> Option<&'static str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // A tablespace: `PG_16_202307071`.
    let tablespace = name.strip_prefix("PG_").and_then(|rest| rest.split_once('_'));
    if tablespace.is_some_and(|(major, catalog)| {
        major.bytes().all(|b| b.is_ascii_digit() || b == b'.') && digits(catalog)
    }) {
        return Some("PostgreSQL");
    }
    match name {
        "appendonlydir" => Some("Redis"),
        "#innodb_redo" | "#innodb_temp" => Some("MySQL or MariaDB"),
        // `NODE0000` of an instance of Db2.
        _ => name.strip_prefix("NODE").is_some_and(|n| n.len() == 4 && digits(n)).then_some("Db2"),
    }
}

/// The database whose directory a file is in, as the end of a sentence.
///
/// All directories above the file are examined, across mounts too: a database may have its log on
/// another disk.
pub(super) fn database_at(path: &Path) -> Option<String> {
    let path = absolute(path).ok()?;
    for (level, directory) in path.ancestors().skip(1).take(LEVELS_MAX).enumerate() {
        let is_root = directory.parent().is_none();
        let names = if is_root { Vec::new() } else { names_in(directory) };
        let name = directory.file_name().map(|name| name.to_string_lossy().into_owned());
        let by_name = name.as_deref().and_then(named);
        let homes = HOMES.iter().filter(|home| level <= home.depth);
        let found = homes.filter(|home| home.has.iter().all(|part| is_among(part, &names)));
        if let Some(what) = by_name.or(found.map(|home| home.what).next()) {
            return Some(format!("it is in a directory of {what}, `{}`", directory.display()));
        }
    }
    None
}

/// Names of what is in a directory; a directory that cannot be read has none.
fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(NAMES_MAX);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether a name, which may have a `*` at one of its ends, is among the names of a directory.
fn is_among(wanted: &str, names: &[String]) -> bool {
    let is_it = |name: &String| match (wanted.strip_suffix('*'), wanted.strip_prefix('*')) {
        (Some(beginning), _) => name.starts_with(beginning),
        (None, Some(end)) => name.ends_with(end),
        (None, None) => name == wanted,
    };
    names.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_found(parts: &[&str], file: &str) -> bool {
        let directory = tempfile::tempdir().unwrap();
        for part in parts.iter().chain([&file]) {
            let path = directory.path().join(part);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        database_at(&directory.path().join(file)).is_some()
    }

    /// A file in `pg_xact`, `global` or `#innodb_redo` was overwritten: only numbers next to
    /// `PG_VERSION` were known.
    #[test]
    fn a_database_is_known_by_what_is_around_a_file() {
        for (parts, file) in [
            (&["PG_VERSION"][..], "pg_xact/0000"),
            (&["PG_VERSION"], "base/5/1249_fsm"),
            (&["PG_VERSION"], "postmaster.opts"),
            (&[], "space/PG_16_202307071/5/16384"),
            (&["pg_wal/archive_status/x", "pg_wal/000000010000000000000001"], "pg_wal/odd"),
            (&["ibdata1"], "shop/orders.par"),
            (&["aria_log_control"], "mysql/proc.MAD2"),
            (&["data/#innodb_redo/#ib_redo9"], "data/#innodb_redo/x"),
            (&["CURRENT", "MANIFEST-000004"], "000003.log"),
            (&["WiredTiger", "WiredTiger.wt"], "journal/x"),
            (&["storage.bson"], "collection-0"),
            (&[], "appendonlydir/x.incr"),
            (&["columns.txt", "checksums.txt"], "data.bin"),
            (&["member/wal/0.wal", "member/snap/x"], "member/wal/1.tmp"),
            (&["node.lock", "_state/x"], "indices/a/0/index/_0.cfs"),
            (&["meta.properties", "recovery-point-offset-checkpoint"], "topic-0/0.log"),
            (&[], "db2inst1/NODE0000/SHOP/T0000000/C0000000"),
        ] {
            assert!(is_found(parts, file), "{file} next to {parts:?}");
        }
    }

    #[test]
    fn other_directories_are_not_a_databases() {
        for (parts, file) in [
            (&[][..], "data/x.dat"),
            (&["CURRENT"], "x.dat"),
            (&["pg/PG_VERSION"], "x.dat"),
            (&["a/ibdata1"], "b/x.dat"),
            (&["wal/x"], "x.dat"),
            (&["segments_1"], "deep/x.dat"),
            (&[], "PG_data/x.dat"),
            (&[], "NODE12/x.dat"),
        ] {
            assert!(!is_found(parts, file), "{file} next to {parts:?}");
        }
        for path in ["", "x", "/"] {
            assert_eq!(database_at(Path::new(path)), None);
        }
    }
}
