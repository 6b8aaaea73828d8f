//! IOMeter's result file: lines of values that commas part and nothing quotes, appended session by
//! session.
//!
//! [`read`] takes a file of any version, [`ResultFile::to_csv`] writes one of 1.1.0, and [`import`]
//! makes measurements.

mod columns;
mod figures;
mod import;
mod measured;
mod read;
mod write;

use std::collections::BTreeMap;

pub use columns::Column;
pub use import::{import, is_result};
pub use measured::{CpuShares, HostCpu, Measured};
pub use read::read;

use super::config::AccessSpec;
use super::read::Version;

/// Everything that a result file of IOMeter says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultFile {
    /// One session per start of a test, in the order of the file.
    pub sessions: Vec<Session>,
}

/// All runs of one start of a test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    /// Number of the test type, in IOMeter's order.
    pub test_type: Option<u8>,
    /// The description of the test; may be empty.
    pub description: String,
    /// Version of IOMeter that wrote it.
    pub version: Option<Version>,
    /// Start, local time, `YYYY-MM-DD HH:MM:SS:mmm`; empty where it is not known.
    pub started: String,
    /// The runs, in the order of the file.
    pub runs: Vec<ResultRun>,
    /// Whether the session ran to its end.
    pub end: End,
}

/// How a session of IOMeter ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum End {
    /// The file does not say, as in versions before 1.1.0.
    #[default]
    Unsaid,
    /// All runs came to their ends.
    Whole,
    /// The user or an error ended it.
    Aborted,
}

/// The figures of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultRun {
    /// The access specifications, if they are before the run: the first time, and whenever they
    /// change.
    pub specs: Option<Vec<AccessSpec>>,
    /// The rows of a file of instantaneous results, each with its time.
    pub is_instantaneous: bool,
    /// The figures: `ALL`, then for each manager its row, its processors, and its workers, each
    /// followed by its targets.
    pub rows: Vec<ResultRow>,
    /// End, local time; empty where it is not known.
    pub ended: String,
}

/// A row of figures in a result file.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRow {
    /// When, in a file of instantaneous results.
    pub stamp: Option<String>,
    /// What the figures of the row are about.
    pub kind: RowKind,
    /// The name of the machine, worker or target.
    pub name: String,
    /// The access specification; empty where workers differ, and for targets.
    pub spec: String,
    /// The figures that the row has.
    pub cells: BTreeMap<Column, Number>,
}

impl ResultRow {
    /// A row in which nothing is counted yet.
    #[must_use]
    pub fn new(kind: RowKind, name: &str, spec: &str) -> Self {
        let (name, spec) = (name.to_owned(), spec.to_owned());
        Self { stamp: None, kind, name, spec, cells: BTreeMap::new() }
    }

    /// A figure, where the row has it.
    #[must_use]
    pub fn figure(&self, column: Column) -> Option<f64> {
        self.cells.get(&column).map(|number| match number {
            Number::Whole(n) => *n as f64,
            Number::Figure(n) => *n,
        })
    }

    /// A count, if the row has it and it is not -1, which means that values differ.
    #[must_use]
    pub fn count(&self, column: Column) -> Option<u64> {
        match self.cells.get(&column)? {
            Number::Whole(n) => u64::try_from(*n).ok().filter(|n| *n != u64::MAX),
            Number::Figure(_) => None,
        }
    }
}

/// What the figures of a row are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// All managers together.
    All,
    /// One manager, which is one machine.
    Manager,
    /// One CPU of a machine.
    Processor,
    /// A worker: a thread of a machine.
    Worker,
    /// A disk or file of a thread.
    Disk,
    /// A network target of a worker.
    Network,
}

impl RowKind {
    const WORDS: [(Self, &'static str); 6] = [
        (Self::All, "ALL"),
        (Self::Manager, "MANAGER"),
        (Self::Processor, "PROCESSOR"),
        (Self::Worker, "WORKER"),
        (Self::Disk, "DISK"),
        (Self::Network, "NETWORK"),
    ];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    fn from_word(text: &str) -> Option<Self> {
        let is_it = |(_, word): &&(Self, &str)| word.eq_ignore_ascii_case(text.trim());
        Self::WORDS.iter().find(is_it).map(|(kind, _)| *kind)
    }
}

/// A value of a row, as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A number without a decimal point.
    Whole(i128),
    /// Written with six digits after the point.
    Figure(f64),
}
