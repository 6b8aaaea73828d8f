//! Which file a path leads to.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Device and inode of a file.
pub(crate) type FileId = (u64, u64);

/// The file that a path leads to, found without opening it; `None` if there is no such file.
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}
