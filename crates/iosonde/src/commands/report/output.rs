//! The file of a report: a new one, or an earlier report of the same kind, never a file that
//! iosonde did not make.

use std::path::Path;

use report::Format;

use crate::exit::Failure;
use crate::files::Claimed;

/// Whether the output is a directory, existing or by its name.
pub(super) fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}

/// Makes sure that a report can be written, before anything is measured.
pub(super) fn claim(path: &Path, format: &Format) -> Result<Claimed, Failure> {
    Ok(Claimed::of_report(path, format.ending(), format.is_report)?)
}
