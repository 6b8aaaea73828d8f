//! Opening files for reading.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Opens a name whose kind was looked at.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// What something is that is neither a file nor a directory.
pub(crate) fn kind_of(_: &Metadata) -> &'static str {
    "a device"
}

/// The names of streams are not Windows'.
pub(crate) fn is_stream(_: &Metadata) -> bool {
    false
}
