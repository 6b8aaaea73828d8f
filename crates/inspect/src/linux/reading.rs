//! Opening files for reading without waiting.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Opens a name that may lead to anything by the time it is opened: a pipe or a device does not
/// hold up the call, and a terminal does not become that of the program.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// What something is that is neither a file nor a directory.
pub(crate) fn kind_of(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    match (kind.is_fifo(), kind.is_socket()) {
        (true, _) => "a named pipe",
        (_, true) => "a socket",
        _ => "a device",
    }
}

/// Whether it is read from its beginning to its end only: a pipe, a socket, a terminal.
pub(crate) fn is_stream(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    kind.is_fifo() || kind.is_socket() || kind.is_char_device()
}
