//! SQLite through the common interface.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};

use super::Use;
use crate::opened::{self, OpenFile};
use crate::value::Value;

/// How long a writer waits for another one.
const BUSY: Duration = Duration::from_secs(30);
/// The same for live events: better to lose one than to wait.
const BUSY_LIVE: Duration = Duration::from_millis(100);
/// How many prepared statements are cached.
const STATEMENTS: usize = 64;

/// A connection to an SQLite file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
    /// Whether the disk had no room for what SQLite keeps next to the file. Then it is only read.
    full: bool,
    /// Dropped last: until then the file is not opened in any other way.
    _file: OpenFile,
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// Sets up a connection, and looks whether it can be used at all.
fn ready(connection: Connection, used: Use) -> rusqlite::Result<Connection> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(if used == Use::Live { BUSY_LIVE } else { BUSY })?;
    let sql = match used {
        // Every commit is on the disk before the next measurement begins.
        Use::Records => "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
        // In WAL mode NORMAL waits for the disk only where the log is moved into the file;
        // recording connections do that. A crash of the system may then cost the last moments, but
        // never the file.
        Use::Live => {
            "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON;"
        }
    };
    connection.execute_batch(sql)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Whether a file cannot be used because what SQLite keeps next to it cannot be made.
fn is_closed(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Whether the disk has no room for what SQLite keeps next to a file: its memory map, or its log.
fn is_full(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMOPEN, SQLITE_IOERR_SHMSIZE};
    let beside = [SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMOPEN, SQLITE_IOERR_SHMSIZE];
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || error.sqlite_error().is_some_and(|error| beside.contains(&error.extended_code))
}

/// Sets up a connection that needs no room on the disk: what the log next to the file holds is
/// indexed in memory, which SQLite does for a connection that has the file for itself ("Use of WAL
/// Without Shared-Memory"). Nothing is written, not even at the end.
fn ready_without_room(connection: Connection) -> rusqlite::Result<Connection> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; PRAGMA query_only = ON;",
    )?;
    connection.busy_timeout(BUSY)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// A path that SQLite takes for the file that it is: a relative one may begin with `file:`, or be
/// `:memory:`.
fn named(path: &Path) -> PathBuf {
    if path.is_relative() { Path::new(".").join(path) } else { path.to_owned() }
}

/// The URL by which SQLite reads a file that nobody writes to, without any other file next to it;
/// `None` if there is no file, or if a log next to it holds data that is not in the file yet.
fn still(path: &Path) -> Option<String> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let nothing = std::fs::metadata(&log).map_or(true, |log| log.len() == 0);
    let path = std::path::absolute(path).ok().filter(|path| path.is_file() && nothing)?;
    let mut url = "file:".to_owned();
    for byte in path.to_str()?.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                url.push(char::from(byte));
            }
            _ => url.extend(format!("%{byte:02x}").chars()),
        }
    }
    url.push_str("?immutable=1");
    Some(url)
}

impl Sqlite {
    /// A database in memory.
    pub(crate) fn in_memory() -> rusqlite::Result<Self> {
        let connection = ready(Connection::open_in_memory()?, Use::Records)?;
        Ok(Self { connection, full: false, _file: OpenFile::none() })
    }

    /// Opens a file. What cannot be written can still be read.
    pub(crate) fn open(path: &Path, used: Use) -> rusqlite::Result<Self> {
        let opened = Self::open_as(path, &named(path), OpenFlags::SQLITE_OPEN_READ_WRITE, used);
        let full = matches!(&opened, Err(error) if is_full(error));
        match (opened, still(path)) {
            (Err(error), Some(url)) if full || is_closed(&error) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                let opened = Self::open_as(path, Path::new(&url), flags, used);
                opened.map(|opened| Self { full, ..opened })
            }
            (Err(_), None) if full => Self::open_without_room(path),
            (opened, _) => opened,
        }
    }

    /// Opens a file whose log holds data that is not in the file yet, on a full disk.
    fn open_without_room(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let (connection, file) =
            opened::connect(path, || Connection::open_with_flags(named(path), flags))?;
        Ok(Self { connection: ready_without_room(connection)?, full: true, _file: file })
    }

    /// Whether the disk is full, and the file is therefore only read.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    fn open_as(path: &Path, name: &Path, flags: OpenFlags, used: Use) -> rusqlite::Result<Self> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let (connection, file) =
            opened::connect(path, || Connection::open_with_flags(name, flags))?;
        Ok(Self { connection: ready(connection, used)?, full: false, _file: file })
    }

    /// The connection as the library has it.
    pub(crate) fn inner(&self) -> &Connection {
        &self.connection
    }

    fn prepare(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        self.connection.prepare_cached(sql)
    }

    /// Does a statement; how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Value]) -> rusqlite::Result<u64> {
        self.prepare(sql)?.execute(params_from_iter(values)).map(|count| count as u64)
    }

    /// Runs several statements without values.
    pub(crate) fn batch(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.execute_batch(sql)
    }

    /// Runs a query and returns every row.
    pub(crate) fn query(&self, sql: &str, values: &[Value]) -> rusqlite::Result<Vec<Vec<Value>>> {
        let mut statement = self.prepare(sql)?;
        let width = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let columns = (0..width).map(|column| {
                Ok(match row.get_ref(column)? {
                    ValueRef::Null => Value::Null,
                    ValueRef::Integer(number) => Value::Integer(number),
                    ValueRef::Real(number) => Value::Real(number),
                    ValueRef::Text(text) | ValueRef::Blob(text) => {
                        Value::Text(String::from_utf8_lossy(text).into_owned())
                    }
                })
            });
            all.push(columns.collect::<rusqlite::Result<_>>()?);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a full disk a history could not be listed: SQLite had no room for its memory map, and
    /// what a killed run had left was in the log next to the file.
    #[test]
    fn a_log_is_read_where_there_is_no_room_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("h.db");
        let killed = Connection::open(&path).unwrap();
        killed.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        killed
            .execute_batch(
                "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (7)",
            )
            .unwrap();
        drop(killed);
        let _ = std::fs::remove_file(directory.path().join("h.db-shm"));
        let before = std::fs::read(&path).unwrap();
        let read = Sqlite::open_without_room(&path).unwrap();
        assert!(read.is_full());
        assert_eq!(read.query("SELECT a FROM t", &[]).unwrap(), [[Value::Integer(7)]]);
        let refused = read.execute("INSERT INTO t VALUES (8)", &[]).unwrap_err();
        assert_eq!(refused.sqlite_error_code(), Some(ErrorCode::ReadOnly));
        drop(read);
        assert!(!directory.path().join("h.db-shm").exists());
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    /// SQLite took `--history :memory:` for a history that is nowhere, and `file:x?mode=…` for an
    /// order.
    #[test]
    fn a_relative_path_is_a_path_whatever_its_name() {
        for name in [":memory:", "file:a?mode=memory", "history.db"] {
            assert_eq!(named(Path::new(name)), Path::new(".").join(name));
        }
        assert_eq!(named(Path::new("/data/h.db")), Path::new("/data/h.db"));
    }
}
