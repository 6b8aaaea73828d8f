//! A document whose paths are UTF-8, so that it can be written as JSON.

use results::Document;

use crate::words;

/// The document with replacement characters where a path is not UTF-8: such a path has no place in
/// JSON.
pub(crate) fn in_utf8(mut document: Document) -> Document {
    for path in document.paths_mut() {
        if path.to_str().is_none() {
            *path = words::path_lossy(path);
        }
    }
    document
}
