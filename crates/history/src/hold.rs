//! One process works on an experiment at a time.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::connection::{Connection, Use};
use crate::environment::fnv_1a;
use crate::error::HistoryError;
use crate::place::Place;
use crate::platform;
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
    path: PathBuf,
    /// The lock is on this open file.
    _file: File,
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // First the name, then the lock: a process that has locked a file without a name tries
        // again.
        let _ = std::fs::remove_file(&self.path);
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

fn in_file(history: &Path, id: &str) -> Result<LockFile, HistoryError> {
    let path = beside(history, id);
    let unreachable = |source| HistoryError::Unreachable { path: path.clone(), source };
    let Some(mut file) = platform::lock(&path).map_err(unreachable)? else {
        let mut by = String::new();
        let read = File::open(&path).and_then(|file| file.take(20).read_to_string(&mut by));
        let by = read.ok().and_then(|_| by.trim().parse::<u32>().ok());
        let by = by.map(|process| format!("process {process}"));
        return Err(HistoryError::Held { id: id.to_owned(), by });
    };
    // The holder's name, for the message of other processes. The lock holds without it, too.
    let _ = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(LockFile { path, _file: file })
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
