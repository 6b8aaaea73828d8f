//! A lock on a file that the kernel frees when its process dies, flock(2), and which file a path
//! leads to.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Device and inode of a file.
pub(crate) type FileId = (u64, u64);

/// The file that a path leads to, found without opening it; `None` if there is no such file.
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Opens a file, creating it if needed, and locks it; `None` if another process holds it.
pub(crate) fn lock(path: &Path) -> io::Result<Option<File>> {
    loop {
        let mut options = OpenOptions::new();
        let file =
            options.read(true).write(true).create(true).truncate(false).mode(0o666).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        // The last owner may have removed it meanwhile: a lock on a file without a name keeps
        // nobody out.
        let ours = file.metadata()?;
        let same =
            |there: &std::fs::Metadata| (there.dev(), there.ino()) == (ours.dev(), ours.ino());
        match std::fs::metadata(path) {
            Ok(there) if same(&there) => return Ok(Some(file)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}
