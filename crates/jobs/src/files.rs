//! Files that a command leaves: written whole or not at all, and never over somebody else's.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Names that are tried for a new file before giving up.
const NAMES: u32 = 1000;

/// A new file beside another, with a name that nobody has.
///
/// # Errors
/// It cannot be made.
pub fn create_beside(path: &Path, extension: &str) -> io::Result<(PathBuf, File)> {
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
///
/// # Errors
/// It cannot be written; what was there is still there.
pub fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    make_whole(path, |out| out.write_all(content.as_ref()))
}

/// The same for what is not held in memory as a whole: `write` is given what it writes to.
///
/// # Errors
/// It cannot be written; what was there is still there.
pub fn make_whole<T, E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    let (beside, file) = create_beside(path, "part")?;
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|value| {
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        Ok(value)
    });
    if written.is_err() {
        // The part is ours and worth nothing.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Only what is not there yet, is empty, or is a file of the same kind may be written to.
///
/// `kind` names it, and `is_one` tells whether a file is one. That the directory takes a file is
/// tried.
///
/// # Errors
/// It may not be written to, or cannot be.
pub fn claim(
    path: &Path,
    kind: &str,
    is_one: impl FnOnce(File) -> io::Result<bool>,
) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            return Err(io::Error::other("it is no ordinary file; name another"));
        }
        Ok(found) if found.len() > 0 && !is_one(File::open(path)?)? => {
            return Err(io::Error::other(format!("it is there and no {kind}; name another")));
        }
        _ => {}
    }
    takes_files(path)
}

/// Tries whether a file can be made beside this one.
///
/// # Errors
/// It cannot.
pub fn takes_files(path: &Path) -> io::Result<()> {
    let (beside, _) = create_beside(path, "part")?;
    fs::remove_file(beside)
}

/// The first bytes of a file, no more than `most`.
///
/// # Errors
/// It cannot be read.
pub fn first_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a file begins with this text.
///
/// # Errors
/// It cannot be read.
pub fn begins_with(file: File, head: &str) -> io::Result<bool> {
    let mut found = Vec::new();
    file.take(head.len() as u64).read_to_end(&mut found)?;
    Ok(found == head.as_bytes())
}
