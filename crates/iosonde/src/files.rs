//! Files that a command leaves: written whole or not at all, and never over somebody else's.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Names that are tried for a new file before giving up.
const NAMES: u32 = 1000;

/// A new file beside another, with a name that nobody has.
pub(crate) fn create_beside(path: &Path, extension: &str) -> io::Result<(PathBuf, File)> {
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let beside = path.with_extension(format!("{extension}{suffix}"));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < NAMES => {
                number += 1;
            }
            made => return made.map(|file| (beside, file)),
        }
    }
}

/// Writes a file whole or not at all, over what was there.
pub(crate) fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let (beside, mut file) = create_beside(path, "part")?;
    let written = file
        .write_all(content.as_ref())
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The part is ours and worth nothing.
        let _ = fs::remove_file(&beside);
    }
    written
}
