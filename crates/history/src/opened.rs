//! The SQLite files that this process has open: closing a second descriptor of one would drop its
//! locks.
//!
//! Closing any descriptor of a file drops every POSIX lock that the process has on that file,
//! including those of SQLite's connections; another program may then reset the log that a
//! connection still writes to ("How To Corrupt An SQLite Database File", 2.2). So this process
//! reads the header of a file itself only while no connection to it is open, and opens connections
//! through this module alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::platform::{FileId, file_id};

/// How many connections each file has.
static OPEN: Mutex<BTreeMap<FileId, usize>> = Mutex::new(BTreeMap::new());

fn open() -> MutexGuard<'static, BTreeMap<FileId, usize>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that has a connection of this process. Drop it after the connection.
#[derive(Debug)]
pub(crate) struct OpenFile(Option<FileId>);

impl OpenFile {
    /// For a connection without a file.
    pub(crate) fn none() -> Self {
        Self(None)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let Some(id) = self.0.take() else { return };
        let mut files = open();
        if let Some(count) = files.get_mut(&id) {
            *count -= 1;
            if *count == 0 {
                files.remove(&id);
            }
        }
    }
}

/// Whether this process has a connection to the file: then nobody else in it may open and close it.
pub(crate) fn is_open(path: &Path) -> bool {
    file_id(path).is_some_and(|id| open().contains_key(&id))
}

/// Looks at a file before it is a database, unless this process has it open as one; `None` if it
/// has.
pub(crate) fn look<T>(path: &Path, look: impl FnOnce(&Path) -> T) -> Option<T> {
    let files = open();
    let is_open = file_id(path).is_some_and(|id| files.contains_key(&id));
    // The lock is held until the look is over: nobody connects meanwhile.
    (!is_open).then(|| look(path))
}

/// Connects to a file. `connect` must not wait for other processes.
pub(crate) fn connect<T, E>(
    path: &Path,
    connect: impl FnOnce() -> Result<T, E>,
) -> Result<(T, OpenFile), E> {
    let mut files = open();
    let connection = connect()?;
    let id = file_id(path);
    if let Some(id) = id {
        *files.entry(id).or_default() += 1;
    }
    Ok((connection, OpenFile(id)))
}
