//! One interface to both databases: the same statements, with `$1`, `$2` … in rising order, and the
//! same values.

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "no_postgres.rs"]
mod postgres;
mod sqlite;

use std::cell::Cell;
use std::path::Path;

use crate::error::HistoryError;
use crate::place::Place;
use crate::value::{Mismatch, Row, Value};

pub(crate) use self::postgres::{Postgres, SCHEMA as POSTGRES_SCHEMA};
pub(crate) use self::sqlite::Sqlite;

/// What a connection is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Measurements: on the disk when a transaction has ended.
    Records,
    /// What a running process shows meanwhile: never waits for a disk, and not for others.
    Live,
}

/// Most rows that one statement takes.
const ROWS: usize = 16;

/// Memory for a transaction of thousands of rows.
const ROOM_KIB: u32 = 65_536;

/// An open database, whichever it is.
#[derive(Debug)]
pub(crate) struct Connection {
    place: Place,
    database: Database,
    /// Transactions that are open within each other; only the outermost is one of the database.
    depth: Cell<u32>,
}

#[derive(Debug)]
enum Database {
    Sqlite(Sqlite),
    Postgres(Box<Postgres>),
}

impl Connection {
    /// A connection to a file of SQLite.
    pub(crate) fn sqlite(path: &Path, used: Use) -> Result<Self, HistoryError> {
        let place = Place::File(path.to_owned());
        let database = Sqlite::open(path, used).map_err(|e| HistoryError::sqlite(&place, e))?;
        Ok(Self { place, database: Database::Sqlite(database), depth: Cell::new(0) })
    }

    /// A database of SQLite in memory, which is to become this file.
    pub(crate) fn in_memory(path: &Path) -> Result<Self, HistoryError> {
        let place = Place::File(path.to_owned());
        let database = Sqlite::in_memory().map_err(|e| HistoryError::sqlite(&place, e))?;
        Ok(Self { place, database: Database::Sqlite(database), depth: Cell::new(0) })
    }

    /// A connection to a PostgreSQL server.
    pub(crate) fn postgres(url: &crate::ServerUrl, used: Use) -> Result<Self, HistoryError> {
        let database = Database::Postgres(Box::new(Postgres::open(url, used)?));
        Ok(Self { place: Place::Postgres(url.clone()), database, depth: Cell::new(0) })
    }

    /// The place that it was opened at.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Whether the disk of a file is full, so that the file is only read.
    pub(crate) fn is_full(&self) -> bool {
        matches!(&self.database, Database::Sqlite(sqlite) if sqlite.is_full())
    }

    /// An error of SQLite as one of the history.
    fn failed(&self, error: rusqlite::Error) -> HistoryError {
        match HistoryError::sqlite(&self.place, error) {
            // It is only read because of that.
            HistoryError::ReadOnly { place, source } if self.is_full() => {
                HistoryError::Full { place, source }
            }
            error => error,
        }
    }

    /// The SQLite connection, where it is one.
    pub(crate) fn as_sqlite(&self) -> Option<&rusqlite::Connection> {
        match &self.database {
            Database::Sqlite(sqlite) => Some(sqlite.inner()),
            Database::Postgres(_) => None,
        }
    }

    /// Text of the present moment in milliseconds since 1970 by the clock of the database.
    pub(crate) fn now_ms(&self) -> &'static str {
        match self.database {
            Database::Sqlite(_) => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
            Database::Postgres(_) => "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        }
    }

    /// Does a statement; how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, HistoryError> {
        match &self.database {
            Database::Sqlite(sqlite) => sqlite.execute(sql, values).map_err(|e| self.failed(e)),
            Database::Postgres(postgres) => {
                postgres.execute(sql, values).map_err(|e| HistoryError::postgres(&self.place, e))
            }
        }
    }

    /// Makes room for a transaction of thousands of rows, so that what changes in it is written
    /// once, for as long as the answer is held.
    pub(crate) fn expect_much(&self) -> Result<Option<Room<'_>>, HistoryError> {
        if self.as_sqlite().is_none() {
            return Ok(None);
        }
        let before = self.query_one("PRAGMA cache_size", &[], Row::take::<i64>)?;
        self.batch(&format!("PRAGMA cache_size = -{ROOM_KIB}"))?;
        Ok(before.map(|before| Room { connection: self, before }))
    }

    /// Puts a row into a table whose key is `number`; the number that it got, `None` if nothing was
    /// put.
    ///
    /// In SQLite, a statement with RETURNING keeps every page that it changes, to undo it: a third
    /// of the time of an import.
    pub(crate) fn insert_numbered(
        &self,
        sql: &str,
        values: &[Value],
    ) -> Result<Option<i64>, HistoryError> {
        match &self.database {
            Database::Sqlite(sqlite) => {
                let put = sqlite.execute(sql, values);
                let put = put.map_err(|e| self.failed(e))?;
                Ok((put > 0).then(|| sqlite.inner().last_insert_rowid()))
            }
            Database::Postgres(_) => {
                self.query_one(&format!("{sql} RETURNING number"), values, Row::take::<i64>)
            }
        }
    }

    /// Runs several statements without values.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), HistoryError> {
        match &self.database {
            Database::Sqlite(sqlite) => sqlite.batch(sql).map_err(|e| self.failed(e)),
            Database::Postgres(postgres) => {
                postgres.batch(sql).map_err(|e| HistoryError::postgres(&self.place, e))
            }
        }
    }

    /// Runs a query and reads every row.
    pub(crate) fn query<T>(
        &self,
        sql: &str,
        values: &[Value],
        read: impl Fn(&mut Row) -> Result<T, Mismatch>,
    ) -> Result<Vec<T>, HistoryError> {
        let rows = match self.rows(sql, values) {
            // A server that was started anew is asked again.
            Err(error) if error.is_lost() && self.depth.get() == 0 => {
                self.connect_again()?;
                self.rows(sql, values)?
            }
            rows => rows?,
        };
        let read = |row: Vec<Value>| read(&mut Row::new(row));
        let read = |row| read(row).map_err(|mismatch| HistoryError::row(&self.place, &mismatch));
        rows.into_iter().map(read).collect()
    }

    fn rows(&self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, HistoryError> {
        match &self.database {
            Database::Sqlite(sqlite) => sqlite.query(sql, values).map_err(|e| self.failed(e)),
            Database::Postgres(postgres) => {
                postgres.query(sql, values).map_err(|e| HistoryError::postgres(&self.place, e))
            }
        }
    }

    /// The first row of an answer, if there is one.
    pub(crate) fn query_one<T>(
        &self,
        sql: &str,
        values: &[Value],
        read: impl Fn(&mut Row) -> Result<T, Mismatch>,
    ) -> Result<Option<T>, HistoryError> {
        Ok(self.query(sql, values, read)?.into_iter().next())
    }

    /// Puts rows into a table, several with each statement. `into` is `table (column, column)`.
    pub(crate) fn insert(&self, into: &str, rows: Vec<Vec<Value>>) -> Result<(), HistoryError> {
        let mut rows = rows.into_iter().peekable();
        while let Some(first) = rows.peek() {
            let width = first.len();
            let many = rows.len() >= ROWS;
            let count = if many { ROWS } else { 1 };
            let values: Vec<Value> = rows.by_ref().take(count).flatten().collect();
            self.execute(&insertion(into, count, width), &values)?;
        }
        Ok(())
    }

    /// Does something in a transaction: all of it, or nothing where it fails.
    pub(crate) fn within<T, E: From<HistoryError>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let sql = match self.database {
            // Writers come one after the other, instead of failing where two began by reading.
            Database::Sqlite(_) => "BEGIN IMMEDIATE",
            Database::Postgres(_) => "BEGIN",
        };
        self.between(sql, work)
    }

    /// Reads several things as they are at one moment.
    pub(crate) fn snapshot<T, E: From<HistoryError>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let sql = match self.database {
            Database::Sqlite(_) => "BEGIN",
            Database::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        self.between(sql, work)
    }

    fn between<T, E: From<HistoryError>>(
        &self,
        begin: &str,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if self.depth.get() > 0 {
            return work();
        }
        self.begin(begin)?;
        let end = Ending { connection: self, done: Cell::new(false) };
        self.depth.set(1);
        let result = work()?;
        self.batch("COMMIT")?;
        end.done.set(true);
        Ok(result)
    }

    fn begin(&self, sql: &str) -> Result<(), HistoryError> {
        match self.batch(sql) {
            Err(error) if error.is_lost() => {
                self.connect_again()?;
                self.batch(sql)
            }
            begun => begun,
        }
    }

    fn connect_again(&self) -> Result<(), HistoryError> {
        match &self.database {
            Database::Sqlite(_) => Ok(()),
            Database::Postgres(postgres) => postgres.connect_again(),
        }
    }
}

/// Memory for much; it is given back at the end.
pub(crate) struct Room<'a> {
    connection: &'a Connection,
    /// As SQLite's `cache_size` counts: pages, or KiB where it is negative.
    before: i64,
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        // The next statement that fails says why.
        let _ = self.connection.batch(&format!("PRAGMA cache_size = {}", self.before));
    }
}

/// Ends a transaction that was not committed, also where the work in it panicked.
struct Ending<'a> {
    connection: &'a Connection,
    done: Cell<bool>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.connection.depth.set(0);
        if !self.done.get() {
            // Fails where the database has rolled back by itself.
            let _ = self.connection.batch("ROLLBACK");
        }
    }
}

/// The statement that puts `count` rows of `width` columns into a table.
fn insertion(into: &str, count: usize, width: usize) -> String {
    let row = |n: usize| {
        let places: Vec<String> = (1..=width).map(|i| format!("${}", n * width + i)).collect();
        format!("({})", places.join(", "))
    };
    let rows: Vec<String> = (0..count).map(row).collect();
    format!("INSERT INTO {into} VALUES {}", rows.join(", "))
}
