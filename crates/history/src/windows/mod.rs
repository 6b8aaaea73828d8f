//! A lock on a file that the system frees when its process dies: a file that is shared with nobody
//! for writing.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

/// On Windows, files are not identified.
pub(crate) type FileId = std::convert::Infallible;

/// None: Windows keeps locks with the handle that took them, so closing another handle drops
/// nothing.
pub(crate) fn file_id(_: &Path) -> Option<FileId> {
    None
}

/// Others may read and remove, not write (FILE_SHARE_READ | FILE_SHARE_DELETE).
const SHARED: u32 = 1 | 4;
/// ERROR_SHARING_VIOLATION: another process has the file open.
const TAKEN: i32 = 32;

/// Opens a file, creating it if needed, and locks it; `None` if another process holds it.
pub(crate) fn lock(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).share_mode(SHARED);
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.raw_os_error() == Some(TAKEN) => Ok(None),
        Err(error) => Err(error),
    }
}
