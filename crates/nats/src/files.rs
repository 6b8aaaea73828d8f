//! Files of a site: private from the beginning, never overwritten, replaced whole.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use inspect::files::{Access, Draft, Place, Readers};

use crate::NatsError;

fn failed<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> NatsError + 'a {
    move |source| NatsError::File { what, path: path.to_owned(), source }
}

/// Makes a directory that only its user may enter, or takes the one that is there.
pub(crate) fn directory(path: &Path) -> Result<(), NatsError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(failed("make", path))
}

/// Makes a file that must not be there. Only its owner may read it.
pub(crate) fn create(path: &Path, text: &str) -> Result<(), NatsError> {
    let made = || -> io::Result<()> {
        let mut draft = Draft::of(&Place::of(path)?, Readers::Owner)?;
        draft.file().write_all(text.as_bytes())?;
        draft.file().sync_all()?;
        draft.publish()
    };
    made().map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => NatsError::Exists(path.to_owned()),
        _ => NatsError::File { what: "make", path: path.to_owned(), source },
    })
}

/// Replaces a file of the site by another text, at once and wholly. Both have the same first line,
/// which names what they are; any other file stays.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), NatsError> {
    let replaced = || -> io::Result<()> {
        let place = Place::of(path)?;
        let draft = Draft::of(&place, Readers::Owner)?;
        draft.file().write_all(text.as_bytes())?;
        draft.file().sync_all()?;
        let earlier = place.open(Access::Read)?;
        let head = text.split_inclusive('\n').next().unwrap_or_default();
        if !begins_with(&earlier, head)? {
            return Err(io::Error::other("it is not from iosonde; move it away"));
        }
        draft.replace_open(&earlier)
    };
    match replaced() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(path, text),
        replaced => replaced.map_err(failed("replace", path)),
    }
}

fn begins_with(file: &File, head: &str) -> io::Result<bool> {
    let mut found = Vec::new();
    file.take(head.len() as u64).read_to_end(&mut found)?;
    Ok(found == head.as_bytes())
}

/// Removes a file of the site that begins with `head`, if it is there.
pub(crate) fn remove(path: &Path, head: &str) -> Result<(), NatsError> {
    let removed = Place::of(path).and_then(|place| place.remove_if(|file| begins_with(file, head)));
    match removed {
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
