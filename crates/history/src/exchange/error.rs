//! Errors of exports and imports.

use std::io;

use results::DocumentError;
use thiserror::Error;

use crate::HistoryError;

/// The longest id that is taken.
pub(super) const ID_MAX: usize = 100;

/// What went wrong on the way out of a history or into one.
#[derive(Debug, Error)]
pub enum ExchangeError {
    /// The history cannot be read or written.
    #[error(transparent)]
    History(Box<HistoryError>),
    /// The output of an export cannot be written.
    #[error("{0}")]
    Write(io::Error),
    /// The input of an import cannot be read.
    #[error("{0}")]
    Read(io::Error),
    /// A line of an export is not as it should be.
    #[error("line {line}: {what}")]
    Line {
        /// The number of the line, counted from 1.
        line: u64,
        /// What is wrong with the line.
        what: Box<LineError>,
    },
    /// The text is neither an export nor a result.
    #[error("document {number}: {what}")]
    Result {
        /// The number of the result in the input, counted from 1.
        number: u64,
        /// What is wrong with the result.
        what: Box<LineError>,
    },
    /// The input has no bytes, or nothing but blanks.
    #[error("it is empty")]
    Empty,
}

/// What can be wrong with one line of an export, or with one result.
#[derive(Debug, Error)]
pub enum LineError {
    /// The line, or the whole input of results, is longer than what is read.
    #[error("it is longer than {most_bytes} bytes, and no result is as long as that")]
    TooLong {
        /// The most bytes that are read.
        most_bytes: u64,
    },
    /// The text is not valid UTF-8.
    #[error("it is not valid UTF-8, so it was damaged on its way or is not text")]
    NotText,
    /// The text is not complete JSON.
    #[error(
        "it is not complete JSON ({0}): JSON lines of `history export` and results of `--json` can \
         be imported"
    )]
    NotJson(serde_json::Error),
    /// It is JSON, but not what belongs there.
    #[error("it does not describe a result ({0})")]
    NotResult(serde_json::Error),
    /// The document in it is not a result that is known here.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The whole file is of a newer program.
    #[error(
        "this is an `{found}`, and this program reads `{known}`: use the iosonde that wrote it, \
         or a newer one"
    )]
    Newer {
        /// What the file says it is.
        found: String,
        /// The formats that this program reads.
        known: &'static str,
    },
    /// The document has something that would be lost.
    #[error(
        "the result `{id}` has `{field}`, which this version of iosonde does not know and would \
         lose; use the iosonde that wrote it, or a newer one"
    )]
    WouldLose {
        /// Id of the result that would lose something.
        id: String,
        /// Where in the document it is.
        field: String,
    },
    /// The id is not one that iosonde gives.
    #[error("`{}` is not an id of a result: letters, digits, `-`, `_` and `.` are, up to {ID_MAX} \
        of \
        them", id.escape_debug())]
    BadId {
        /// The text that should be an id.
        id: String,
    },
    /// Parts of the line do not agree with each other.
    #[error("the result `{id}` contradicts itself: {what}")]
    Contradiction {
        /// Id of the result that contradicts itself.
        id: String,
        /// Which parts do not agree, in words.
        what: String,
    },
    /// The last line is not there.
    #[error(
        "the export ends here without its last line, which counts the results: it is not whole; \
         get the file again"
    )]
    Truncated,
    /// The number of results is wrong.
    #[error(
        "the export says that it holds {said} results, but it holds {found}: it is not whole; get \
         the file again"
    )]
    Count {
        /// The number in the last line.
        said: u64,
        /// The number of results before it.
        found: u64,
    },
    /// There is more after the last line.
    #[error("there is something after the end of the export; put each export into a separate file")]
    AfterEnd,
    /// The history has another result of that name.
    #[error(
        "the history has a result `{id}` with other content ({what}); nothing was imported from \
         here. Delete the one that is there (`iosonde history delete {id}`), or leave this one out"
    )]
    Conflict {
        /// Id that both results have.
        id: String,
        /// What differs between the two, in words.
        what: String,
    },
    /// The history could not take it.
    #[error(transparent)]
    History(Box<HistoryError>),
}

impl From<HistoryError> for ExchangeError {
    fn from(error: HistoryError) -> Self {
        Self::History(Box::new(error))
    }
}

impl From<HistoryError> for LineError {
    fn from(error: HistoryError) -> Self {
        Self::History(Box::new(error))
    }
}
