//! The file format `.iotrace`: what a live system asked of its storage, one record per I/O.
//!
//! This crate reads no clock and opens no file: it works on any reader and writer. A trace holds
//! no content, only numbers for devices, streams and files, and names of files only where they were
//! asked for. `docs/iotrace.md` describes the bytes.

mod anonymise;
mod blkparse;
mod blktrace;
mod block;
mod busiest;
mod columns;
mod csv;
mod database;
mod etw;
mod files;
mod fio;
mod io;
mod lines;
mod logs;
mod order;
mod pairs;
pub mod profile;
mod reader;
mod writer;

pub use anonymise::{Permutation, Regions};
pub use blkparse::is_blkparse_text;
pub use blktrace::{BLKTRACE_MAGICS, BlktraceReader};
pub use busiest::BusiestWindows;
pub use csv::{CsvReader, Layout, csv_began_unix_ms};
pub use database::DatabaseUse;
pub use etw::EtwReader;
pub use files::{
    EXTENTS_MAX, FILES_MAX, FileClass, FileExtent, FileFinder, FileMap, FilePlace, Moment,
    NAME_MAX, TracedFile,
};
pub use fio::FioReader;
pub use io::{DeviceFacts, Header, Io, Kind, TICK_NS};
pub use logs::{LogFinder, Logs};
pub use order::Ordered;
pub use pairs::Pairs;
pub use reader::{Annexes, Ending, Reader};
pub use writer::Writer;

/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The first bytes are not those of a trace.
    #[error(
        "this is not an .iotrace file: its first bytes differ. `iosonde capture import` reads \
         traces of other tools."
    )]
    NotATrace,
    /// A later version of iosonde wrote the file.
    #[error(
        "the trace has format version {0}, and this iosonde reads versions 1 and 2. Use a newer \
         iosonde."
    )]
    Version(u8),
    /// The header is cut off or damaged.
    #[error("the header of the trace is damaged. Copy the file again, or use another copy.")]
    Header,
    /// The header that the caller wants to write is larger than a reader accepts.
    #[error("the header of the trace would have {0} bytes, more than 65536. List fewer devices.")]
    HeaderTooLarge(usize),
    /// More about files or a database than a reader accepts.
    #[error("the trace has no room for so many files or counters. Record fewer files.")]
    AnnexTooLarge,
    /// Reading or writing the trace failed.
    #[error("cannot read or write the trace: {0}")]
    Io(#[from] std::io::Error),
}

/// Why a trace of another tool cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A line lacks a column, or holds a value that cannot be.
    #[error("line {line} of the trace: {what}. Check that the file has the layout you named.")]
    Line {
        /// The number of the line, counted from 1.
        line: u64,
        /// What is wrong, as the second half of a sentence.
        what: &'static str,
    },
    /// A record of a binary trace is not one.
    #[error("record {record} of the trace: {what}. Copy the file again, or use another copy.")]
    Record {
        /// The number of the record in its file, counted from 1.
        record: u64,
        /// What is wrong, as the second half of a sentence.
        what: &'static str,
    },
    /// Reading the trace failed.
    #[error("cannot read the trace: {0}")]
    Io(#[from] std::io::Error),
}
