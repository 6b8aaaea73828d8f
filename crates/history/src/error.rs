//! What can be wrong with a history, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// A history that cannot be used.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// There is no data directory.
    #[error(
        "no place for the history is known: neither XDG_DATA_HOME nor HOME is set; name a file with `--history FILE`"
    )]
    NoPlace,
    /// The file or its directory cannot be reached.
    #[error("cannot use the history `{}`: {source}; name another with `--history FILE`", path.display())]
    Unreachable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error(
        "`{}` is no history of iosonde and was left as it is; name another file with `--history FILE`",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is of a newer program.
    #[error(
        "the history `{}` was written by a newer iosonde: it has version {found}, this program knows up to {known}; use \
         the newer program, or another file with `--history FILE`",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that this program knows.
        known: u32,
    },
    /// The file is damaged.
    #[error(
        "the history `{}` is damaged ({what}) and was left as it is; copy it, save what can be read with \
         `sqlite3 FILE .recover`, and go on with another file by `--history FILE`",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        what: String,
    },
    /// Another program has held it for long.
    #[error("the history `{}` is held by another program for more than half a minute; end that one, or name another file with `--history FILE`", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Anything else that SQLite says.
    #[error("cannot use the history `{}`: {source}; name another with `--history FILE`", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// A document cannot be written or read.
    #[error("a measurement in the history `{}` cannot be read or written: {source}; it may be of another version of iosonde", path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The cell has its measurement.
    #[error(
        "cell {cell} of the experiment `{experiment}` is in the history already: does another iosonde do the same experiment?"
    )]
    KeptTwice {
        /// The experiment.
        experiment: String,
        /// The cell, from 0.
        cell: u32,
    },
}

impl HistoryError {
    /// What SQLite says of a file, as one of ours.
    pub(crate) fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Foreign { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, what: source.to_string() },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            _ => Self::Store { path, source },
        }
    }
}

/// Whether a row is there already.
pub(crate) fn is_duplicate(error: &rusqlite::Error) -> bool {
    let unique =
        [rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE, rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY];
    error.sqlite_error().is_some_and(|e| unique.contains(&e.extended_code))
}
