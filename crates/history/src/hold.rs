//! One process works on an experiment at a time.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use inspect::files::{Access, Draft, Place as FilePlace, Readers};

use crate::connection::{Connection, Use};
use crate::environment::fnv_1a;
use crate::error::HistoryError;
use crate::place::Place;
use crate::value::{Row, values};

/// An experiment that nobody else works on while this is there. It is given back when this is
/// dropped, and when the process dies, in whatever way.
#[derive(Debug)]
pub struct Hold {
    _file: Option<LockFile>,
    /// A separate session: its end frees the lock, whatever becomes of the one that records.
    _session: Option<Connection>,
}

#[derive(Debug)]
struct LockFile {
    place: FilePlace,
    /// The lock is on this open file.
    file: File,
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // First the name, then the lock: a process that has locked a file without a name tries
        // again.
        let _ = self.place.remove(&self.file);
    }
}

/// Holds an experiment, so that no other process records it.
pub(crate) fn hold(place: &Place, id: &str) -> Result<Hold, HistoryError> {
    match place {
        Place::File(path) => Ok(Hold { _file: Some(in_file(path, id)?), _session: None }),
        Place::Postgres(url) => {
            let connection = Connection::postgres(url, Use::Records)?;
            Ok(Hold { _file: None, _session: Some(in_session(connection, id)?) })
        }
    }
}

/// How often a lock that is taken is tried again: another process may only look whether its owner
/// is dead.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(10);
/// Names next to a history that are searched for locks of processes that were killed.
const NAMES_MAX: usize = 10_000;

fn in_file(history: &Path, id: &str) -> Result<LockFile, HistoryError> {
    let path = beside(history, id);
    let unreachable = |source| HistoryError::Unreachable { path: path.clone(), source };
    let place = FilePlace::of(&path).map_err(unreachable)?;
    remove_left(&place, history);
    let mut by = None;
    for _ in 0..ATTEMPTS {
        let file = match place.open(Access::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match made(&place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file.map_err(unreachable)?,
            },
            file => {
                let moved = |e: io::Error| io::Error::new(e.kind(), format!("{e}; move it away"));
                taken(file.map_err(moved).map_err(unreachable)?, &mut by).map_err(unreachable)?
            }
        };
        // The last owner may have removed it meanwhile: a lock on a file without a name keeps
        // nobody out.
        if let Some(file) = file
            && place.is(&file)
        {
            return Ok(LockFile { place, file });
        }
        std::thread::sleep(PAUSE);
    }
    Err(HistoryError::Held { id: id.to_owned(), by })
}

/// The text of a lock file: the process that holds it, for the message of others. It always has the
/// same length, so that it is never cut.
fn text() -> String {
    format!("{:>10}\n", std::process::id())
}

/// The process that a lock file names; `None` if it is not a lock file.
fn process_in(file: &File) -> io::Result<Option<u32>> {
    let mut text = String::new();
    let mut reader = file;
    reader.rewind()?;
    if reader.take(12).read_to_string(&mut text).is_err() || text.len() != 11 {
        return Ok(None);
    }
    Ok(text.strip_suffix('\n').and_then(|text| text.trim_start().parse().ok()))
}

/// A new lock file. It is locked and complete before it has its name.
fn made(place: &FilePlace) -> io::Result<Option<File>> {
    let draft = Draft::of(place, Readers::Anybody)?;
    draft.file().write_all(text().as_bytes())?;
    let file = draft.into_file()?;
    Ok(FilePlace::lock(&file).then_some(file))
}

/// The lock of a file that is there; `None` if another process has it.
fn taken(file: File, by: &mut Option<String>) -> io::Result<Option<File>> {
    let Some(process) = process_in(&file)? else {
        return Err(io::Error::other("it is not a lock file of iosonde; move it away"));
    };
    if !FilePlace::lock(&file) {
        *by = Some(format!("process {process}"));
        return Ok(None);
    }
    let mut writer = &file;
    writer.rewind()?;
    writer.write_all(text().as_bytes())?;
    Ok(Some(file))
}

/// Removes the lock files of processes that were killed.
fn remove_left(place: &FilePlace, history: &Path) {
    let Some(history) = history.file_name() else { return };
    let begin = [history.as_encoded_bytes(), b"-held-"].concat();
    for name in place.neighbours(NAMES_MAX).unwrap_or_default() {
        let other = place.sibling(&name);
        if name.as_encoded_bytes().starts_with(&begin) && other.path() != place.path() {
            // What cannot be removed stays for the next time.
            let _ = other.remove_if(|file| {
                Ok(process_in(file)?.is_some() && FilePlace::is_own(file) && FilePlace::lock(file))
            });
        }
    }
}

/// The file that is locked: next to the history, named after the experiment.
fn beside(history: &Path, id: &str) -> PathBuf {
    let plain = !id.is_empty()
        && id.len() <= 64
        && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let name = if plain { id.to_owned() } else { format!("{:016x}", fnv_1a(id.as_bytes())) };
    let mut path = OsString::from(history);
    path.push(format!("-held-{name}"));
    path.into()
}

fn in_session(connection: Connection, id: &str) -> Result<Connection, HistoryError> {
    let name = i64::from_ne_bytes(fnv_1a(id.as_bytes()).to_ne_bytes());
    let sql = "SELECT pg_try_advisory_lock($1)";
    let held = connection.query_one(sql, values![name], Row::take::<bool>)?;
    if held == Some(true) {
        return Ok(connection);
    }
    Err(HistoryError::Held { id: id.to_owned(), by: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn held(history: &Path, id: &str) -> PathBuf {
        let name = format!("{}-held-{id}", history.display());
        PathBuf::from(name)
    }

    /// A link of the lock's name emptied the file that it led to.
    #[test]
    #[cfg(unix)]
    fn a_lock_never_touches_what_is_not_a_lock_file() {
        let room = tempfile::tempdir().unwrap();
        let (history, victim) = (room.path().join("h.db"), room.path().join("victim"));
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, held(&history, "link")).unwrap();
        fs::hard_link(&victim, held(&history, "hard")).unwrap();
        fs::write(held(&history, "foreign"), "precious").unwrap();
        fs::write(held(&history, "empty"), "").unwrap();
        fs::create_dir(held(&history, "directory")).unwrap();
        for id in ["link", "hard", "foreign", "empty", "directory"] {
            assert!(in_file(&history, id).is_err(), "{id}");
        }
        drop(in_file(&history, "other").unwrap());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(fs::read_to_string(held(&history, "foreign")).unwrap(), "precious");
        assert_eq!(fs::read_dir(room.path()).unwrap().count(), 6, "nothing was removed or made");
    }

    /// Locks of killed processes stayed for ever.
    #[test]
    fn a_lock_that_a_killed_process_left_is_taken_or_removed() {
        let room = tempfile::tempdir().unwrap();
        let history = room.path().join("h.db");
        for id in ["one", "two"] {
            fs::write(held(&history, id), format!("{:>10}\n", 999_999_999)).unwrap();
        }
        let one = in_file(&history, "one").unwrap();
        assert!(!held(&history, "two").exists());
        let Err(HistoryError::Held { by, .. }) = in_file(&history, "one") else { panic!("free") };
        assert_eq!(by, Some(format!("process {}", std::process::id())));
        let two = in_file(&history, "two").unwrap();
        assert!(held(&history, "one").exists(), "its process lives");
        drop((one, two));
        assert_eq!(fs::read_dir(room.path()).unwrap().count(), 0);
    }
}
