//! The witness's file: who writes what, and how far its promises go.
//!
//! It begins with one line of JSON ([`Header`]), filled up with spaces to a multiple of 4096 bytes.
//! Two places of 16384 bytes follow, which are written in turn, so that one is whole whatever
//! happens to the witness: each is a line of JSON ([`State`]), a tab, the checksum of that line
//! (xxh3, 16 hexadecimal digits), and newlines up to its length. The whole one with the higher
//! sequence counts.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use inspect::files::{Access, Draft, Place, Readers};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use twox_hash::XxHash3_64;

use crate::durability::plan::{Header, SCHEMA_OF_WITNESS};

/// The header's length is a multiple of this.
const HEADER_STEP: usize = 4096;
/// Length of each place for marks.
const PLACE_BYTES: usize = 16 << 10;
/// No file of a witness is longer.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// What a thread has promised: batches whose records are durable in the log, and batches whose
/// pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Promised {
    /// Batches in the log; 0 without a log.
    pub log: u64,
    /// Batches of pages that are promised.
    pub data: u64,
}

/// The promises that a witness holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct State {
    /// A number that grows with every change.
    pub sequence: u64,
    /// Time that the writer had written for, over all rounds.
    pub elapsed_ms: u64,
    /// The promises of each thread, by its number.
    pub threads: Vec<Promised>,
}

/// A witness's file that cannot be used.
#[derive(Debug, Error)]
pub enum StateError {
    /// The file is not a witness's file.
    #[error("`{name}` is not a file of a witness: {cause}")]
    Foreign {
        /// The name of the file, for messages.
        name: String,
        /// The sign by which that is known.
        cause: String,
    },
    /// The file belongs to another run.
    #[error("`{}` belongs to another run ({id}); name another file, or remove it", path.display())]
    Other {
        /// The file of the other run.
        path: PathBuf,
        /// The run that it belongs to.
        id: String,
    },
    /// It cannot be read or written.
    #[error("cannot {what} `{}`: {source}", path.display())]
    Io {
        /// What the witness tried to do.
        what: &'static str,
        /// The file of the witness.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The file of a witness, open.
#[derive(Debug)]
pub struct StateFile {
    file: File,
    path: PathBuf,
    header_bytes: usize,
    state: State,
}

fn place_of(state: &State) -> Vec<u8> {
    let line = serde_json::to_string(state).unwrap_or_default();
    let sum = XxHash3_64::oneshot(line.as_bytes());
    let mut bytes = format!("{line}\t{sum:016x}\n").into_bytes();
    bytes.resize(PLACE_BYTES.max(bytes.len()), b'\n');
    bytes
}

fn parse_place(bytes: &[u8]) -> Option<State> {
    let line = std::str::from_utf8(bytes).ok()?.lines().next()?;
    let (line, sum) = line.split_once('\t')?;
    let right = u64::from_str_radix(sum, 16).ok()? == XxHash3_64::oneshot(line.as_bytes());
    if right { serde_json::from_str(line).ok() } else { None }
}

fn header_of(header: &Header) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(header).unwrap_or_default();
    let length = (bytes.len() + 1).next_multiple_of(HEADER_STEP);
    bytes.resize(length - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// Reads what a witness's file holds. `name` is for messages.
pub fn parse_state(name: &str, bytes: &[u8]) -> Result<(Header, State), StateError> {
    let foreign =
        |cause: &str| StateError::Foreign { name: name.to_owned(), cause: cause.to_owned() };
    let end = bytes.iter().position(|b| *b == b'\n').ok_or_else(|| foreign("it has no line"))?;
    let header: Header =
        serde_json::from_slice(&bytes[..end]).map_err(|e| foreign(&e.to_string()))?;
    if header.schema != SCHEMA_OF_WITNESS {
        return Err(foreign(&format!(
            "it says `{}`, and not `{SCHEMA_OF_WITNESS}`",
            header.schema
        )));
    }
    let places = bytes[end + 1..].chunks(PLACE_BYTES).take(2);
    let state = places.filter_map(parse_place).max_by_key(|state| state.sequence);
    let state = state.ok_or_else(|| foreign("neither of its two marks is whole"))?;
    if state.threads.len() != header.plan.threads as usize {
        return Err(foreign("it has marks of another number of threads"));
    }
    Ok((header, state))
}

impl StateFile {
    /// Opens the file of this run, or creates it so that it lasts. Never touches a file of another
    /// run.
    pub fn open(path: &Path, header: &Header) -> Result<Self, StateError> {
        let io = |what| move |source| StateError::Io { what, path: path.to_owned(), source };
        let place = Place::of(path).map_err(io("make"))?;
        match Self::make(&place, path, header) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut file = place.open(Access::Write).map_err(io("open"))?;
                let mut bytes = Vec::new();
                (&mut file).take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(io("read"))?;
                let (found, state) = parse_state(&path.to_string_lossy(), &bytes)?;
                if found.id != header.id || found.plan != header.plan {
                    return Err(StateError::Other { path: path.to_owned(), id: found.id });
                }
                let header_bytes = bytes.iter().position(|b| *b == b'\n').map_or(0, |at| at + 1);
                Ok(Self { file, path: path.to_owned(), header_bytes, state })
            }
            made => made.map_err(io("make")),
        }
    }

    fn make(place: &Place, path: &Path, header: &Header) -> io::Result<Self> {
        let draft = Draft::of(place, Readers::Anybody)?;
        let threads = vec![Promised::default(); header.plan.threads as usize];
        let state = State { threads, ..State::default() };
        let head = header_of(header);
        let mut out = draft.file();
        out.write_all(&head)?;
        // Both places are there, so that later writes change no length.
        out.write_all(&place_of(&state))?;
        out.write_all(&vec![b'\n'; PLACE_BYTES])?;
        out.sync_all()?;
        let file = draft.into_file()?;
        // Its name must last, too; where directories cannot be flushed, they need not be.
        place.sync();
        Ok(Self { file, path: path.to_owned(), header_bytes: head.len(), state })
    }

    /// The promises that the file holds.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes new marks; when this returns, they last.
    pub fn keep(&mut self, elapsed_ms: u64, threads: Vec<Promised>) -> Result<(), StateError> {
        let sequence = self.state.sequence + 1;
        self.state = State { sequence, elapsed_ms, threads };
        let place = usize::from(sequence % 2 == 1) * PLACE_BYTES;
        let at = SeekFrom::Start((self.header_bytes + place) as u64);
        let bytes = place_of(&self.state);
        let written = self.file.seek(at).and_then(|_| self.file.write_all(&bytes));
        let kept = written.and_then(|()| self.file.sync_data());
        kept.map_err(|source| StateError::Io { what: "write", path: self.path.clone(), source })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::durability::plan::{Order, Plan, SyncMode};
    use proptest::prelude::*;

    pub(crate) fn header(threads: u32) -> Header {
        Header {
            schema: SCHEMA_OF_WITNESS.to_owned(),
            id: "run".to_owned(),
            tool_version: "0".to_owned(),
            host: "here".to_owned(),
            started: "now".to_owned(),
            buffered: false,
            keep: false,
            witness_named: false,
            foreign: Vec::new(),
            plan: Plan {
                seed: u64::MAX,
                page_bytes: 8192,
                threads,
                batch: 8,
                ahead: 4,
                checkpoint_batches: 4,
                sync: SyncMode::Fua,
                order: Order::Page,
            },
            targets: Vec::new(),
        }
    }

    fn promised(batches: &[u64]) -> Vec<Promised> {
        batches.iter().map(|n| Promised { log: *n, data: n / 2 }).collect()
    }

    #[test]
    fn what_is_kept_is_read_back_also_when_the_last_write_is_torn() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("witness");
        let header = header(3);
        let mut file = StateFile::open(&path, &header).unwrap();
        let read = || parse_state("witness", &std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(read(), (header.clone(), file.state().clone()));
        for n in 1..5 {
            file.keep(n, promised(&[n, u64::MAX, 0])).unwrap();
            assert_eq!(read().1, *file.state());
        }
        drop(file);
        let mut file = StateFile::open(&path, &header).unwrap();
        assert_eq!(file.state().sequence, 4);
        file.keep(9, promised(&[9, 9, 9])).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(15).position(|w| w == b"\"elapsed_ms\":9,").unwrap();
        bytes[at..at + 4].fill(0);
        let (_, before) = parse_state("witness", &bytes).unwrap();
        assert_eq!((before.sequence, before.elapsed_ms), (4, 4));
    }

    #[test]
    fn the_most_threads_fit_into_a_place() {
        let threads = vec![Promised { log: u64::from(u32::MAX), data: u64::from(u32::MAX) }; 256];
        let state = State { sequence: u64::MAX, elapsed_ms: u64::MAX, threads };
        let place = place_of(&state);
        assert_eq!(place.len(), PLACE_BYTES);
        assert_eq!(parse_place(&place), Some(state));
    }

    #[test]
    fn files_of_others_are_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("witness");
        StateFile::open(&path, &header(2)).unwrap();
        let other = Header { id: "other".to_owned(), ..header(2) };
        assert!(matches!(StateFile::open(&path, &other), Err(StateError::Other { .. })));
        std::fs::write(&path, "somebody's data\n").unwrap();
        assert!(matches!(StateFile::open(&path, &other), Err(StateError::Foreign { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "somebody's data\n");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200),
            at in 0usize..20_000, whole: bool) {
            if whole {
                let mut file = header_of(&header(2));
                file.extend(place_of(&State { threads: promised(&[1, 2]), ..State::default() }));
                let at = at % file.len();
                let end = (at + bytes.len()).min(file.len());
                let length = end - at;
                file[at..end].copy_from_slice(&bytes[..length]);
                bytes = file;
            }
            let _ = parse_state("name", &bytes);
        }
    }
}
