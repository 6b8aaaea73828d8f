//! What can go wrong before and next to the I/O itself.

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
    #[error("the engine `{engine}` does not work here: {cause}{}", other_engine(engine))]
    Unavailable {
        /// The backend that was asked for.
        engine: &'static str,
        /// The error message of the system.
        cause: String,
    },
    /// A target cannot be opened for the I/O of the run.
    #[error("cannot open `{}` for {what}: {source}", path.display())]
    Open {
        /// The target that cannot be used.
        path: PathBuf,
        /// "reading" or "reading and writing", and how.
        what: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A thread cannot be set up as the workload asks.
    #[error("cannot {what}: {source}; {remedy}")]
    Thread {
        /// What iosonde tried to do, beginning with a verb.
        what: String,
        /// The error of the operating system.
        source: io::Error,
        /// What the user can do about it.
        remedy: &'static str,
    },
    /// The buffers of all I/Os in flight would take too much memory.
    #[error(
        "the buffers of all I/Os in flight need {needed}, more than a quarter of the free memory \
         ({free}). Most of it is for the stream `{stream}`: {threads} threads x depth {depth} x \
         blocks of {block}. Use fewer threads, a smaller depth or smaller blocks"
    )]
    TooMuchMemory {
        /// Memory that the buffers of all I/Os in flight and the sources of written bytes need.
        needed: Bytes,
        /// Memory that is free for programs.
        free: Bytes,
        /// The stream that needs the most.
        stream: String,
        /// Its threads, on all of its targets.
        threads: u64,
        /// I/Os of each of its threads.
        depth: u32,
        /// The largest block of that stream.
        block: Bytes,
    },
    /// The file that writes take their bytes from cannot be used.
    #[error("cannot write from the bytes of `{}`: {source}; name a file that can be read and is \
        not empty", path.display())]
    ContentFile {
        /// The file that cannot be read.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The buffers that writes take their bytes from would take too much memory.
    #[error(
        "the buffers that writes take their bytes from need {needed}, more than a quarter of the \
         free memory ({free}); use smaller ones"
    )]
    SourceTooLarge {
        /// Memory that the sources of all written bytes need.
        needed: Bytes,
        /// Memory that is free for programs.
        free: Bytes,
    },
    /// The observer did not let it begin.
    #[error("the run was called off before its first I/O")]
    CalledOff,
    /// Other hosts were to make the I/O, and did not; why, in a sentence.
    #[error("{0}")]
    Elsewhere(String),
    /// Memory for the I/Os in flight cannot be had.
    #[error(
        "cannot get memory for {depth} I/Os of {bytes} bytes: {source}; use a smaller depth or \
         block"
    )]
    Memory {
        /// I/Os that one thread keeps in flight.
        depth: u32,
        /// The largest block of that thread.
        bytes: u32,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// What to try instead of an engine that was asked for.
fn other_engine(engine: &str) -> &'static str {
    if engine == "auto" { "" } else { "; try `--engine auto`" }
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
    if let Some(kind) = kind_by_number(errno, cfg!(windows)) {
        return kind;
    }
    match (errno, io::Error::from_raw_os_error(errno).kind()) {
        (_, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => ErrorKind::NoSpace,
        (_, io::ErrorKind::InvalidInput) => ErrorKind::Invalid,
        (_, io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied) => {
            ErrorKind::ReadOnly
        }
        (_, io::ErrorKind::TimedOut) => ErrorKind::TimedOut,
        _ => ErrorKind::Other,
    }
}

/// The error number of a device that failed: `EIO`, and on Windows `ERROR_IO_DEVICE`, since 5 is
/// "access denied" there.
pub(crate) const DEVICE_FAILED: i32 = if cfg!(windows) { 1117 } else { 5 };

/// The kinds of numbers for which the standard library has no kind. The same number means
/// something else on Windows, so the numbers of both systems are here, named as the systems do.
fn kind_by_number(number: i32, on_windows: bool) -> Option<ErrorKind> {
    match (number, on_windows) {
        // EIO. ERROR_CRC, ERROR_DISK_OPERATION_FAILED, ERROR_IO_DEVICE and, for a request that the
        // device refused, ERROR_DEVICE_HARDWARE_ERROR.
        (5, false) | (23 | 1127 | 1117 | 483, true) => Some(ErrorKind::Io),
        // ENXIO, ENODEV. ERROR_DEV_NOT_EXIST, ERROR_NO_SUCH_DEVICE, ERROR_DEVICE_NOT_CONNECTED.
        (6 | 19, false) | (55 | 433 | 1167, true) => Some(ErrorKind::NoDevice),
        // ERROR_ACCESS_DENIED, ERROR_WRITE_PROTECT.
        (5 | 19, true) => Some(ErrorKind::ReadOnly),
        // ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER.
        (6 | 87, true) => Some(ErrorKind::Invalid),
        // ERROR_SEM_TIMEOUT.
        (121, true) => Some(ErrorKind::TimedOut),
        _ => None,
    }
}

/// The system's text for an error number; 0 stands for a short transfer.
#[must_use]
pub(crate) fn message_of(errno: i32) -> String {
    if errno == 0 {
        return "fewer bytes than asked, and no more to come".to_owned();
    }
    io::Error::from_raw_os_error(errno).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `validate` on Windows said of the engine `auto` that `--engine auto` would work.
    #[test]
    fn what_failed_is_not_the_remedy() {
        let error = |engine| {
            let cause = "it is not here".to_owned();
            EngineError::Unavailable { engine, cause }.to_string()
        };
        assert!(error("aio").ends_with("it is not here; try `--engine auto`"));
        assert!(error("auto").ends_with("it is not here"));
    }

    /// Numbers of Linux were read on Windows: "access denied" passed for a broken device, a closed
    /// handle and a write-protected disk for one that had gone.
    #[test]
    fn error_numbers_mean_what_they_mean_on_their_system() {
        let linux = |number| kind_by_number(number, false);
        let windows = |number| kind_by_number(number, true);
        assert_eq!(
            [5, 6, 19].map(linux),
            [ErrorKind::Io, ErrorKind::NoDevice, ErrorKind::NoDevice].map(Some)
        );
        assert_eq!([23, 483, 1117].map(windows), [Some(ErrorKind::Io); 3]);
        assert_eq!([55, 433, 1167].map(windows), [Some(ErrorKind::NoDevice); 3]);
        assert_eq!([5, 19].map(windows), [Some(ErrorKind::ReadOnly); 2]);
        assert_eq!([6, 87].map(windows), [Some(ErrorKind::Invalid); 2]);
        assert_eq!((linux(1117), windows(2)), (None, None));
        assert_eq!(kind_of(DEVICE_FAILED), ErrorKind::Io);
        assert_eq!(kind_of(0), ErrorKind::ShortTransfer);
    }
}
