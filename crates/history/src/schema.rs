//! The tables, their versions, and how a file is known to be a history.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::HistoryError;

/// What the header of the file says of its content: "iosd".
const APPLICATION_ID: i32 = 0x696F_7364;
/// How an SQLite file begins, and where in its header the application's number is (SQLite, "Database File Format").
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const APPLICATION_AT: usize = 68;
const HEADER_BYTES: usize = 100;

/// The version that this program writes.
const VERSION: u32 = 1;
/// What leads from each version to the next. Version 0 is an empty file. An entry never changes once it was released.
const STEPS: [&str; VERSION as usize] = ["
    CREATE TABLE experiments (
        id       TEXT PRIMARY KEY,
        schema   TEXT NOT NULL,
        kind     TEXT NOT NULL,
        title    TEXT NOT NULL,
        started  TEXT NOT NULL,
        finished TEXT,
        status   TEXT CHECK (status IN ('complete', 'interrupted', 'failed')),
        plan_id  TEXT NOT NULL,
        plan     TEXT NOT NULL
    ) STRICT;
    CREATE INDEX experiments_by_kind ON experiments (kind, started);
    CREATE TABLE measurements (
        id            TEXT PRIMARY KEY,
        experiment_id TEXT NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
        cell          INTEGER NOT NULL,
        started       TEXT NOT NULL,
        document      TEXT NOT NULL,
        UNIQUE (experiment_id, cell)
    ) STRICT;
"];

/// Refuses a file that is no history, by its header, before SQLite opens it: opening alone may write.
pub(crate) fn refuse_foreign(path: &Path) -> Result<(), HistoryError> {
    let unreachable = |source| HistoryError::Unreachable { path: path.to_owned(), source };
    let mut header = Vec::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreachable(error)),
        Ok(file) => file.take(HEADER_BYTES as u64).read_to_end(&mut header).map_err(unreachable)?,
    };
    let ours = header.len() == HEADER_BYTES
        && header.starts_with(MAGIC)
        && header[APPLICATION_AT..].starts_with(&APPLICATION_ID.to_be_bytes());
    if header.is_empty() || ours {
        return Ok(());
    }
    Err(HistoryError::Foreign { path: path.to_owned() })
}

/// Makes the tables, or brings those of an older version up to date; refuses those of a newer one.
pub(crate) fn bring_up_to_date(
    path: &Path,
    connection: &mut Connection,
) -> Result<(), HistoryError> {
    let at = |error| HistoryError::of(path, error);
    let found = version(connection).map_err(at)?;
    if found > VERSION {
        return Err(HistoryError::Newer { path: path.to_owned(), found, known: VERSION });
    }
    if found < VERSION {
        migrate(connection).map_err(at)?;
    }
    // Every commit is on the disk before the next measurement begins, and readers do not wait for it. WAL comes after
    // the tables: from the first moment on, the header of the file itself says whose it is.
    let sql =
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; SELECT 1 FROM measurements LIMIT 0;";
    connection.execute_batch(sql).map_err(at)?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(at)
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// All steps in one transaction: an interrupted one leaves the version before it.
fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let found = usize::try_from(version(&transaction)?).unwrap_or(0);
    for step in STEPS.iter().skip(found) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
