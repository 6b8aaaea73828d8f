//! Files of a site: private from the beginning, never overwritten, replaced whole.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::NatsError;

fn failed<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> NatsError + 'a {
    move |source| NatsError::File { what, path: path.to_owned(), source }
}

/// Only the user who owns a file may read it.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Makes a directory that only its user may enter, or takes the one that is there.
pub(crate) fn directory(path: &Path) -> Result<(), NatsError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(failed("make", path))
}

/// Makes a file that must not be there.
pub(crate) fn create(path: &Path, text: &str) -> Result<(), NatsError> {
    let mut options = OpenOptions::new();
    let file = private(options.write(true).create_new(true)).open(path);
    let mut file = file.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => NatsError::Exists(path.to_owned()),
        _ => NatsError::File { what: "make", path: path.to_owned(), source },
    })?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed("write", path))
}

/// Replaces a file by another text, at once and wholly.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), NatsError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    let _ = fs::remove_file(&new);
    create(&new, text)?;
    fs::rename(&new, path).map_err(failed("replace", path))
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), NatsError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Reads a file of at most so many bytes.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<String, NatsError> {
    inspect::reading::text(path, bytes_max).map_err(failed("read", path))
}

/// Refuses a file with a key that every user may read.
pub(crate) fn check_private(path: &Path) -> Result<(), NatsError> {
    let metadata = fs::metadata(path).map_err(failed("read", path))?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o007 != 0 {
        return Err(NatsError::Open(path.to_owned()));
    }
    let _ = metadata;
    Ok(())
}
