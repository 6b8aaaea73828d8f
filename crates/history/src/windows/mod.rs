//! Which file a path leads to.

use std::path::Path;

/// On Windows, files are not identified.
pub(crate) type FileId = std::convert::Infallible;

/// None: Windows keeps locks with the handle that took them, so closing another handle drops
/// nothing.
pub(crate) fn file_id(_: &Path) -> Option<FileId> {
    None
}
