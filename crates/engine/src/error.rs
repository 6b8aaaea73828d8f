//! What can go wrong before and beside the I/O itself.

use std::io;
use std::path::PathBuf;

use results::ErrorKind;
use thiserror::Error;
use workload::{Bytes, Violation};

/// A run that could not start.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The workload breaks rules; all of them are named.
    #[error("{}", list(.0))]
    Invalid(Vec<Violation>),
    /// A backend does not work here.
    #[error("the engine `{engine}` does not work here: {cause}; try `--engine auto`")]
    Unavailable {
        /// The backend that was asked for.
        engine: &'static str,
        /// What the system said.
        cause: String,
    },
    /// A target cannot be opened for the I/O of the run.
    #[error("cannot open `{}` for {what}: {source}", path.display())]
    Open {
        /// The target.
        path: PathBuf,
        /// "reading" or "reading and writing", and how.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// A thread cannot be set up as the workload asks.
    #[error("cannot {what}: {source}; {remedy}")]
    Thread {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The buffers of all I/Os in flight would take too much memory.
    #[error(
        "the buffers of all I/Os in flight need {needed}, more than a quarter of the free memory \
         ({free}). Most of it is for the stream `{stream}`: {threads} threads x depth {depth} x \
         blocks of {block}. Use fewer threads, a smaller depth or smaller blocks"
    )]
    TooMuchMemory {
        /// All buffers.
        needed: Bytes,
        /// Memory that programs can have.
        free: Bytes,
        /// The stream that needs most.
        stream: String,
        /// Its threads on all targets.
        threads: u64,
        /// I/Os of each of its threads.
        depth: u32,
        /// Its largest block.
        block: Bytes,
    },
    /// The file that writes take their bytes from cannot be used.
    #[error("cannot write from the bytes of `{}`: {source}; name a file that can be read and is \
        not empty", path.display())]
    ContentFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The buffers that writes take their bytes from would take too much memory.
    #[error(
        "the buffers that writes take their bytes from need {needed}, more than a quarter of the \
         free memory ({free}); use smaller ones"
    )]
    SourceTooLarge {
        /// All of them.
        needed: Bytes,
        /// Memory that programs can have.
        free: Bytes,
    },
    /// The observer did not let it begin.
    #[error("the run was called off before its first I/O")]
    CalledOff,
    /// Memory for the I/Os in flight cannot be had.
    #[error(
        "cannot get memory for {depth} I/Os of {bytes} bytes: {source}; use a smaller depth or \
         block"
    )]
    Memory {
        /// I/Os of one thread.
        depth: u32,
        /// Largest block.
        bytes: u32,
        /// What the system said.
        source: io::Error,
    },
}

fn list(violations: &[Violation]) -> String {
    let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// The kind of a failed I/O by the system's error number; 0 stands for a short transfer.
#[must_use]
pub(crate) fn kind_of(errno: i32) -> ErrorKind {
    if errno == 0 {
        return ErrorKind::ShortTransfer;
    }
    match (errno, io::Error::from_raw_os_error(errno).kind()) {
        (5, _) => ErrorKind::Io,
        (6 | 19, _) => ErrorKind::NoDevice,
        (_, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => ErrorKind::NoSpace,
        (_, io::ErrorKind::InvalidInput) => ErrorKind::Invalid,
        (_, io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied) => {
            ErrorKind::ReadOnly
        }
        (_, io::ErrorKind::TimedOut) => ErrorKind::TimedOut,
        _ => ErrorKind::Other,
    }
}

/// What the system says of an error number; 0 stands for a short transfer.
#[must_use]
pub(crate) fn message_of(errno: i32) -> String {
    if errno == 0 {
        return "fewer bytes than asked, and no more to come".to_owned();
    }
    io::Error::from_raw_os_error(errno).to_string()
}
