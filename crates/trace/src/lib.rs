//! The file format `.iotrace`: what a live system asked of its storage, one record per I/O.
//!
//! This crate reads no clock and opens no file: it works on any reader and writer. A trace holds
//! no content and no name, only numbers for devices and streams. `docs/iotrace.md` describes the
//! bytes.

mod block;
mod columns;
mod csv;
mod io;
mod reader;
mod writer;

pub use csv::{CsvError, CsvReader, Layout};
pub use io::{DeviceFacts, Header, Io, Kind, TICK_NS};
pub use reader::{Ending, Reader};
pub use writer::Writer;

/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The first bytes are not those of a trace.
    #[error("this is not an .iotrace file: its first bytes differ. Check the file's name.")]
    NotATrace,
    /// A later version of iosonde wrote the file.
    #[error(
        "the trace has format version {0}, and this iosonde reads version 1. Use a newer iosonde."
    )]
    Version(u8),
    /// The header is cut off or damaged.
    #[error("the header of the trace is damaged. Copy the file again, or use another copy.")]
    Header,
    /// The header that the caller wants to write is larger than a reader accepts.
    #[error("the header of the trace would have {0} bytes, more than 65536. List fewer devices.")]
    HeaderTooLarge(usize),
    /// Reading or writing failed.
    #[error("cannot read or write the trace: {0}. Check the disk that holds it.")]
    Io(#[from] std::io::Error),
}
