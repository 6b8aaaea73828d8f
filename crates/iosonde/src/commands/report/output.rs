//! The file that a report goes to: new, or an earlier report of the same kind; never somebody
//! else's.

use std::path::Path;

use report::Format;

use crate::exit::Failure;
use crate::files::Claimed;

/// Whether the output is a directory, there or by its name.
pub(super) fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}

/// Makes sure that a report can be written, before anything is done.
pub(super) fn claim(path: &Path, format: &Format) -> Result<Claimed, Failure> {
    Ok(Claimed::of_report(path, format.ending(), format.is_report)?)
}
