//! What a dialect says of itself: one line of [`DIALECTS`](crate::DIALECTS).

use workload::Workload;

use crate::convert::Parts;
use crate::drives::Drives;
use crate::fio::jobs::Environment;
use crate::foreign::{ForeignRuns, ReadError};

/// A tool people come from, and which of its files are read.
#[derive(Debug)]
pub struct Dialect {
    /// The word by which people call it, in small letters.
    pub name: &'static str,
    /// How it writes its name itself.
    pub title: &'static str,
    /// Whether its command line is a command of iosonde, which a link with its name runs.
    pub is_command: bool,
    /// The kinds of result files that it writes.
    pub results: &'static [ResultFile],
    /// Its file that holds a workload.
    pub workloads: Option<&'static WorkloadFile>,
}

/// A kind of file that holds results.
#[derive(Debug)]
pub struct ResultFile {
    /// Whether there is one in a text.
    pub is_in: fn(&str) -> bool,
    /// Reads every run. Takes the name of the file, and the moment (UTC, RFC 3339) to use as the
    /// start of runs whose start is not known.
    pub read: fn(&str, &str, &str) -> Result<ForeignRuns, ReadError>,
}

/// The text of a file, and what of the workload is lost; or why it cannot be written.
pub(crate) type WrittenFile = Result<(String, Vec<String>), String>;

/// A kind of file that holds a workload.
#[derive(Debug)]
pub struct WorkloadFile {
    /// The word for it on the command line.
    pub word: &'static str,
    /// What it is, in a phrase.
    pub about: &'static str,
    /// The name of such files in a sentence.
    pub files: &'static str,
    /// The usual extensions of such files.
    pub extensions: &'static [&'static str],
    /// Whether a text looks like one.
    pub is_in: fn(&str) -> bool,
    /// Reads every workload. An error lists what is wrong, line by line.
    pub read: fn(&[u8], &Drives, Environment<'_>) -> Result<Parts, String>,
    /// Writes a workload; also what of it is lost.
    pub write: fn(&Workload) -> WrittenFile,
    /// What such a file calls the test file in a directory; `None` if iosonde chooses.
    pub test_file: Option<&'static str>,
}

/// No two kinds have one word.
impl PartialEq for WorkloadFile {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}
