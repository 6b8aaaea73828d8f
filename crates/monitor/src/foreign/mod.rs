//! Recordings that other tools made: `iostat` and `sar -d` of sysstat, and Performance Monitor's
//! CSV.
//!
//! A tool prints rates of an interval; a recording holds amounts that add up. So an amount here is
//! the rate times the length of the interval, and a figure of one interval is what the tool
//! printed. What a tool does not report is absent: see [`counters::Unreported`].

mod call;
mod cells;
pub(crate) mod decimal;
mod document;
mod iostat;
pub(crate) mod moments;
mod perfmon;
mod perfmon_names;
mod sadf;
mod sar;

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use results::{Experiment, Recording, null_for_nan, whole_part};
use serde_json::{Deserializer, Value};
use thiserror::Error;

/// The facts that reading a file needs.
#[derive(Debug, Clone)]
pub struct Reading<'a> {
    /// The file's name, without its directory.
    pub file: &'a str,
    /// The moment (UTC, RFC 3339) to use as the start of a recording without a date.
    pub read: &'a str,
    /// The time zone of times that name none.
    pub zone: TimeZone,
    /// The interval, of reports that have no times.
    pub interval_seconds: Option<f64>,
}

/// The recording in a file, with notes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForeignRecordings {
    /// Every recording, in the order of the file.
    pub documents: Vec<Experiment<Recording>>,
    /// Lines and columns that were left out.
    pub notes: Vec<String>,
}

/// Why a file that was recognised cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ForeignError {
    /// A line is not as the tool writes it.
    #[error("line {line}: {what}")]
    Line {
        /// The number of the line, counted from 1.
        line: usize,
        /// What is wrong with the line.
        what: String,
    },
    /// The reports do not say when they were made.
    #[error(
        "neither times nor a call such as `iostat -x 5` above its reports tell how long the \
         intervals are. Say how many seconds, as in `--interval 5`, or record with `iostat -xt 5`"
    )]
    NoTimes,
    /// A figure can be read in two ways.
    #[error(
        "`{cell}` may be {} or {}: write numbers with a point and without separators of thousands, \
         as Performance Monitor does",
        .cell.replacen(',', ".", 1),
        .cell.replacen(',', "", 1)
    )]
    Ambiguous {
        /// The cell.
        cell: String,
    },
    /// A file of sar without its tables of disks.
    #[error(
        "it has tables of sar, and none of disks. Print those of the same recording with \
         `sar -d -f FILE`, or `sadf -d FILE -- -d`"
    )]
    NoDiskTable,
    /// The file has no counter of a disk.
    #[error(
        "no column is a counter of a disk that iosonde knows; the first one is `{first}`. \
         Windows names counters in its own language, and iosonde knows the English, French and \
         German names, and some Spanish, Russian, Turkish and Hungarian ones. Rename the counters \
         in the first line, or collect `\\PhysicalDisk(*)\\*` again"
    )]
    NoDisk {
        /// The name of the first column.
        first: String,
    },
}

/// A kind of file that holds a recording.
#[derive(Debug)]
pub struct Format {
    /// What it is, in a phrase.
    pub about: &'static str,
    is_in: fn(&str) -> bool,
    read: fn(&str, &Reading<'_>) -> Result<ForeignRecordings, ForeignError>,
}

/// Every kind, in the order in which a file is looked at.
pub static FORMATS: [Format; 5] = [
    Format {
        about: "Performance Monitor's CSV or TSV (PDH-CSV 4.0: typeperf, relog, a Data Collector \
                Set)",
        is_in: perfmon::is_in,
        read: perfmon::read,
    },
    Format {
        about: "iostat's JSON (-o JSON)",
        is_in: iostat::json::is_in,
        read: iostat::json::read,
    },
    Format { about: "iostat's text", is_in: iostat::is_in, read: iostat::read },
    Format { about: "sadf's lines and JSON (-d, -j)", is_in: sadf::is_in, read: sadf::read },
    Format { about: "sar -d's text", is_in: sar::is_in, read: sar::read },
];

/// Reads the recordings of a text; `None` if it is of no tool that is known.
///
/// # Errors
/// It is of such a tool, and cannot be read.
pub fn recognise(
    text: &str,
    reading: &Reading<'_>,
) -> Result<Option<ForeignRecordings>, ForeignError> {
    let format = FORMATS.iter().find(|format| (format.is_in)(text));
    format.map(|format| (format.read)(text, reading)).transpose()
}

/// What to say about JSON that has no end.
const CUT: &str = "the JSON ends in the middle, as where the tool was killed: what follows the \
                   last whole interval is left out";

/// What to say about a last row that was cut.
const CUT_ROW: &str = "the file ends in the middle of a row, which is left out with its interval";

/// Leaves out the interval of a row that was cut, whose end (a key of the intervals) is known only
/// where the row was cut after its time.
fn leave_out_cut<T>(intervals: &mut BTreeMap<u64, T>, end: Option<u64>) {
    let last = intervals.last_key_value().map(|(last, _)| *last);
    if end.is_none_or(|end| Some(end) <= last) {
        intervals.pop_last();
    }
}

/// The documents of sysstat's JSON, and whether the last one was cut; it then has the intervals
/// that are whole.
fn sysstat_json(text: &str) -> Result<(Vec<Value>, bool), ForeignError> {
    let text = &*null_for_nan(text);
    let mut found = Vec::new();
    let mut stream = Deserializer::from_str(text).into_iter();
    loop {
        let begin = stream.byte_offset();
        match stream.next() {
            None => return Ok((found, false)),
            Some(Ok(value)) => found.push(value),
            Some(Err(error)) => {
                let rest = text.get(begin..).filter(|_| error.is_eof()).unwrap_or_default();
                let whole = whole_part(rest, "statistics");
                let Some(Ok(value)) = whole.map(|whole| serde_json::from_str(&whole)) else {
                    let line = error.line();
                    let damaged = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
                    let damaged: String = damaged.trim().chars().take(60).collect();
                    let what = format!(
                        "`{damaged}` is not JSON as sysstat writes it. The file is damaged, or was \
                         changed: import it as `iostat -o JSON` or `sadf -j` wrote it"
                    );
                    return Err(ForeignError::Line { line, what });
                };
                found.push(value);
                return Ok((found, true));
            }
        }
    }
}
