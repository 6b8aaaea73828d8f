//! What is looked for on the disks of a recording: the files under its targets.

use std::path::PathBuf;

use trace::{FileExtent, TracedFile};

/// Which files to find, and on which disks.
#[derive(Debug, Clone, Copy)]
pub struct FilesRequest<'a> {
    /// Files, and directories whose files are meant, those of directories in them too.
    pub roots: &'a [PathBuf],
    /// The recorded disks, in the order of their numbers.
    pub devices: &'a [String],
    /// Whether the trace may have the names of files.
    pub names: bool,
}

/// What a look at the files found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilesFound {
    /// The files that no look before found; their numbers continue.
    pub files: Vec<TracedFile>,
    /// Where all these files are at this moment, also those found before.
    pub extents: Vec<FileExtent>,
    /// Why something was left out: sentences without names.
    pub notes: Vec<String>,
}
