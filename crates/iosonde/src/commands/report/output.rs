//! The file of a report.

use std::io;
use std::path::Path;

use inspect::files::Output;
use report::Format;

use crate::exit::Failure;

/// Whether the output is a directory, existing or by its name.
pub(super) fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}

/// Claims the file of a report. It replaces an earlier report that nobody changed.
pub(super) fn claim(path: &Path, format: &Format, overwrite: bool) -> Result<Output, Failure> {
    Output::claim(path, format.seal, overwrite).map_err(|error| cannot_write(path, &error))
}

/// The file of a report cannot be written.
pub(super) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::CannotRun(format!("cannot write the report `{}`: {error}", path.display()))
}
