//! What can be wrong with a history, and what to do about it.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;
use servers::UrlError;
use thiserror::Error;

use crate::place::Place;
use crate::value::Mismatch;

/// An error that a database reports.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// SQLite reports an error.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL, or the way to it.
    #[cfg(feature = "postgres")]
    #[error("{}", servers::whole(.0))]
    Postgres(#[from] postgres::Error),
    /// No connection, for a reason of this system.
    #[cfg(feature = "postgres")]
    #[error("{0}")]
    Connection(String),
}

#[cfg(feature = "postgres")]
impl From<servers::ConnectError> for DatabaseError {
    fn from(error: servers::ConnectError) -> Self {
        match error {
            servers::ConnectError::Postgres(error) => Self::Postgres(error),
            other => Self::Connection(other.to_string()),
        }
    }
}

impl From<UrlError> for HistoryError {
    fn from(UrlError(what): UrlError) -> Self {
        Self::BadUrl { what }
    }
}

/// A history that cannot be used.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// What has no figures is to be compared.
    #[error(
        "`{id}` is {says}, not how fast it is, so there is nothing to compare; `iosonde history \
         show {id}` shows it"
    )]
    NotCompared {
        /// Id of the result that has no figures.
        id: String,
        /// What it is, and what it says.
        says: &'static str,
    },
    /// The system names no data directory.
    #[error(
        "no place for the history is known: neither XDG_DATA_HOME nor HOME is set; name a file \
         with `--history FILE`"
    )]
    NoPlace,
    /// The URL says something that is not understood.
    #[error(
        "the URL of the history is not understood ({what}); it should be like \
         `postgres://user@host:5432/database?sslmode=require`"
    )]
    BadUrl {
        /// What is wrong with the URL.
        what: String,
    },
    /// This program was built without the feature `postgres`.
    #[error(
        "this build of iosonde cannot keep a history in PostgreSQL. Use a package, or the program \
         that `./x build` makes; or name a file with `--history FILE`"
    )]
    NoPostgres,
    /// There is no history at the place.
    #[error(
        "there is no history at `{place}`; a run makes it, or name another with `--history PLACE`"
    )]
    NotThere {
        /// The place where it should be.
        place: Place,
    },
    /// The file or its directory cannot be reached.
    #[error("cannot use the history `{}`: {source}; name another with `--history \
        PLACE`", path.display())]
    Unreachable {
        /// The file that could not be used: the history, its lock, or a copy.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file or database at the place is not a history.
    #[error(
        "`{place}` is not a history of iosonde and was left as it is; name another with `--history \
         PLACE`"
    )]
    Foreign {
        /// The file or URL of the history.
        place: Place,
    },
    /// Another version of the program made it.
    #[error(
        "another version of iosonde made the history `{place}`: its tables have version {found}, \
         and this program reads version {known}. Export it with the program that made it \
         (`iosonde history export -o all.jsonl`) and import that file, or name another with \
         `--history PLACE`"
    )]
    OtherVersion {
        /// The file or URL of the history.
        place: Place,
        /// The version of its tables.
        found: u32,
        /// The version that this program reads.
        known: u32,
    },
    /// The history is damaged.
    #[error(
        "the history `{place}` is damaged ({what}) and was left as it is; copy it, save what can \
         be read with `sqlite3 FILE .recover`, and start another with `--history PLACE`"
    )]
    Damaged {
        /// The file or URL of the history.
        place: Place,
        /// What is damaged, in words.
        what: String,
    },
    /// Another program has held it for long.
    #[error(
        "the history `{place}` is held by another program for too long; end that one, or name \
         another with `--history PLACE`"
    )]
    Busy {
        /// The file or URL of the history.
        place: Place,
    },
    /// The disk has no space left.
    #[error(
        "the history `{place}` cannot grow: {source}; make room, or name another with `--history \
         PLACE`. What was kept before is still there"
    )]
    Full {
        /// The file or URL of the history.
        place: Place,
        /// The error that the database reports.
        source: DatabaseError,
    },
    /// The history may not be written.
    #[error(
        "the history `{place}` cannot be written: {source}; see to the permissions of the file \
         and its directory, or name another with `--history PLACE`"
    )]
    ReadOnly {
        /// The file or URL of the history.
        place: Place,
        /// The error that the database reports.
        source: DatabaseError,
    },
    /// The server cannot be reached, or does not let us in.
    #[error(
        "cannot reach the history `{place}`: {source}; see to the server, the URL and the password"
    )]
    NoConnection {
        /// The file or URL of the history.
        place: Place,
        /// The error that the database reports.
        source: DatabaseError,
    },
    /// Anything else that a database says.
    #[error("cannot use the history `{place}`: {source}; name another with `--history PLACE`")]
    Store {
        /// The file or URL of the history.
        place: Place,
        /// The error that the database reports.
        source: DatabaseError,
    },
    /// A document cannot be written or read.
    #[error(
        "a result in the history `{place}` cannot be read or written: {what}; it may be of \
         another version of iosonde"
    )]
    Document {
        /// The file or URL of the history.
        place: Place,
        /// What is wrong with it, in words.
        what: String,
    },
    /// The cell already has a measurement.
    #[error(
        "cell {cell} of the experiment `{experiment}` is in the history already: does another \
         iosonde do the same experiment?"
    )]
    KeptTwice {
        /// Id of the experiment that has the cell.
        experiment: String,
        /// Number of the cell, from 0.
        cell: u32,
    },
    /// A result with this id exists and differs.
    #[error("the history has a result `{id}` with other content; nothing was changed")]
    Differs {
        /// Id that both results have.
        id: String,
    },
    /// No result fits what the user typed.
    #[error(
        "there is no result `{selector}` in the history `{place}`; `iosonde history list` shows \
         what there is"
    )]
    NotFound {
        /// The selector that the user typed.
        selector: String,
        /// The file or URL of the history that was searched.
        place: Place,
    },
    /// The tag exists on no result.
    #[error("no result has the tag `{tag}`: give it to one with `iosonde history tag ID {tag}`")]
    NoTagged {
        /// The tag that the user typed.
        tag: String,
    },
    /// No result with the tag can be compared with.
    #[error(
        "none of the {all} results with the tag `{tag}` is older and of {}",
        places.join(", ")
    )]
    NoBaseline {
        /// The tag that the user typed.
        tag: String,
        /// How many results have the tag.
        all: usize,
        /// Targets and hosts of the result to judge.
        places: Vec<String>,
    },
    /// What the user typed fits several results.
    #[error("`{selector}` is the beginning of several results: {}; write more of the one that is \
        meant", candidates.join(", "))]
    Ambiguous {
        /// The selector that the user typed.
        selector: String,
        /// Some of the results that fit.
        candidates: Vec<String>,
    },
    /// Not a name for a tag.
    #[error(
        "`{tag}` is not a name for a tag: letters, digits, `-`, `_` and `.` are, and at most 64 of \
         them"
    )]
    BadTag {
        /// The text that was given as a tag.
        tag: String,
    },
    /// The place has the form of a connection string. It is not repeated: it may hold a
    /// password.
    #[error(
        "the history is neither a file nor a database that iosonde can use: its name looks like a \
         connection string. Give a file, or postgres://user@host/database in lower case, with the \
         password in PGPASSWORD or ~/.pgpass"
    )]
    OtherDatabase,
    /// Another process is recording the experiment.
    #[error("the experiment `{id}` is being worked on by {}; wait for it, or end \
        it", by.as_deref().unwrap_or("another iosonde"))]
    Held {
        /// Id of the experiment that is being recorded.
        id: String,
        /// Which process, where it is known.
        by: Option<String>,
    },
    /// A backup would overwrite a file.
    #[error("`{}` is there already and was left as it is; name a file that is not \
        there", path.display())]
    Exists {
        /// The file that exists already.
        path: PathBuf,
    },
}

impl HistoryError {
    /// An error of SQLite as one of the history.
    pub(crate) fn sqlite(place: &Place, source: rusqlite::Error) -> Self {
        let place = place.clone();
        let code = source.sqlite_error_code();
        let what = source.to_string();
        let source = DatabaseError::Sqlite(source);
        match code {
            Some(ErrorCode::NotADatabase) => Self::Foreign { place },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { place, what },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { place },
            Some(ErrorCode::DiskFull) => Self::Full { place, source },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Self::ReadOnly { place, source }
            }
            _ => Self::Store { place, source },
        }
    }

    /// Without a client there are no errors of PostgreSQL.
    #[cfg(not(feature = "postgres"))]
    pub(crate) fn postgres(_: &Place, source: std::convert::Infallible) -> Self {
        match source {}
    }

    /// An error of PostgreSQL as one of the history.
    #[cfg(feature = "postgres")]
    pub(crate) fn postgres(place: &Place, source: postgres::Error) -> Self {
        let place = place.clone();
        let state = source.code().map(|state| state.code().to_owned()).unwrap_or_default();
        let closed = source.is_closed();
        let source = DatabaseError::Postgres(source);
        // Classes and states are those of "PostgreSQL Error Codes" in its manual.
        match state.as_str() {
            "53100" => Self::Full { place, source },
            "25006" | "42501" => Self::ReadOnly { place, source },
            "55P03" | "57014" | "40P01" => Self::Busy { place },
            state if ["08", "28", "57P"].iter().any(|c| state.starts_with(c)) || closed => {
                Self::NoConnection { place, source }
            }
            _ => Self::Store { place, source },
        }
    }

    /// A row that does not hold what it should.
    pub(crate) fn row(place: &Place, mismatch: &Mismatch) -> Self {
        Self::Damaged { place: place.clone(), what: mismatch.to_string() }
    }

    /// Whether a row with the same key is there already.
    pub(crate) fn is_duplicate(&self) -> bool {
        match self {
            Self::Store { source: DatabaseError::Sqlite(error), .. } => {
                let unique = [
                    rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE,
                    rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
                ];
                error.sqlite_error().is_some_and(|e| unique.contains(&e.extended_code))
            }
            #[cfg(feature = "postgres")]
            Self::Store { source: DatabaseError::Postgres(error), .. } => {
                error.code() == Some(&postgres::error::SqlState::UNIQUE_VIOLATION)
            }
            _ => false,
        }
    }

    /// Whether the connection to a server is lost.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            #[cfg(feature = "postgres")]
            Self::NoConnection { source: DatabaseError::Postgres(error), .. } => {
                servers::is_lost(error)
            }
            _ => false,
        }
    }
}
