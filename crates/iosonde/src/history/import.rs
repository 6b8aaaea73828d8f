//! `iosonde history import`: results from files, each file as a whole or not at all.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use dialects::foreign::{Found, ReadError};
use dialects::recognise::recognise;
use history::{ExchangeError, History, HistoryError, Imported, Place};
use report::text::clean;
use thiserror::Error;
use workload::{Bytes, plural, show_number};

use crate::exit::{Failure, Outcome, print};
use crate::recording::HistoryPlace;

/// How much of a file decides whether iosonde wrote it.
const HEAD_BYTES: u64 = 4096;
/// The largest file of another tool that is read; all of it is in memory, several times.
const FOREIGN_BYTES_MAX: u64 = 256 << 20;
/// Notes on one file that are shown; a long file may have one on each of its lines.
const NOTES_SHOWN: usize = 20;

/// `iosonde history import`
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Exports of `iosonde history export`, results as `--json` prints them, or results of SQLIO
    /// (text), DiskSpd (text, XML), fio (JSON) and IOMeter (CSV); `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Why nothing of a file was imported.
#[derive(Debug, Error)]
enum ImportError {
    /// iosonde's own, or nobody's.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// Of another tool, and not as that tool writes it.
    #[error(transparent)]
    Foreign(#[from] ReadError),
    /// The store.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The file.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// The history that is written to.
    #[error("it is the history itself")]
    Itself,
    /// Not iosonde's, and too large.
    #[error(
        "it is no export of iosonde, and results of other tools are read up to {}",
        Bytes(FOREIGN_BYTES_MAX)
    )]
    TooLarge,
}

/// The history, opened where there is something to put into it: a file that is refused makes none.
struct Store {
    place: Place,
    open: Option<History>,
}

impl Store {
    /// Whether the history is one that is there.
    fn is_there(&self) -> bool {
        match &self.place {
            Place::File(path) => self.open.is_some() || path.exists(),
            Place::Postgres(_) => true,
        }
    }

    fn open(&mut self) -> Result<&History, HistoryError> {
        let history = match self.open.take() {
            Some(history) => history,
            None => History::open(&self.place)?,
        };
        Ok(self.open.insert(history))
    }
}

/// Runs the command. What came before a file that is refused stays.
pub(crate) fn import(args: &ImportArgs, place: &HistoryPlace) -> Result<Outcome, Failure> {
    let mut store = Store { place: place.place()?, open: None };
    for path in &args.files {
        let (imported, notes) =
            import_one(path, &mut store).map_err(|error| refused(path, &error))?;
        show_notes(path, &notes);
        print(&format!("{}: {}\n", name(path), counts(imported)))?;
    }
    Ok(Outcome::Done)
}

fn import_one(path: &Path, store: &mut Store) -> Result<(Imported, Vec<String>), ImportError> {
    if history::is_open(path) {
        return Err(ImportError::Itself);
    }
    let mut file = open(path)?;
    if !is_own(&mut file)? {
        if file.metadata()?.len() > FOREIGN_BYTES_MAX {
            return Err(ImportError::TooLarge);
        }
        let mut bytes = Vec::new();
        (&mut file).take(FOREIGN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        let short =
            path.file_name().map_or_else(|| name(path), |n| n.to_string_lossy().into_owned());
        if let Some(Found { measurements, notes }) = recognise(&bytes, &short, &written(&file))? {
            let nothing = measurements.is_empty() && !store.is_there();
            let imported = if nothing {
                Imported::default()
            } else {
                store.open()?.import_foreign(measurements)?
            };
            return Ok((imported, notes));
        }
        file.rewind()?;
    }
    if !store.is_there() {
        history::check_import(BufReader::new(&file))?;
        file.rewind()?;
    }
    Ok((store.open()?.import(BufReader::new(file))?, Vec::new()))
}

/// Whether a file begins as iosonde's do: an object with a schema of iosonde.
fn is_own(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::new();
    (&mut *file).take(HEAD_BYTES).read_to_end(&mut head)?;
    file.rewind()?;
    let head = String::from_utf8_lossy(&head);
    Ok(head.trim_start().starts_with('{')
        && head.contains("\"schema\"")
        && head.contains("\"iosonde."))
}

/// When the file was written, which is the best that is known of runs without a date.
fn written(file: &File) -> String {
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    let moment = jiff::Timestamp::try_from(modified.unwrap_or_else(|_| SystemTime::now()));
    moment
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .round(jiff::Unit::Second)
        .map_or_else(|_| jiff::Timestamp::UNIX_EPOCH.to_string(), |moment| moment.to_string())
}

fn show_notes(path: &Path, notes: &[String]) {
    for note in notes.iter().take(NOTES_SHOWN) {
        eprintln!("{}", clean(&format!("{}: {note}", name(path))));
    }
    if let more @ 1.. = notes.len().saturating_sub(NOTES_SHOWN) {
        eprintln!("{}: {} more notes like these", name(path), show_number(more as f64));
    }
}

fn name(path: &Path) -> String {
    if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The file, or what came on stdin as one: the history must not be held while a pipe is waited for.
fn open(path: &Path) -> io::Result<File> {
    if !is_stdin(path) {
        return File::open(path);
    }
    let mut file = tempfile::tempfile()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    file.rewind()?;
    Ok(file)
}

fn refused(path: &Path, error: &ImportError) -> Failure {
    let name = name(path);
    // The message may quote the file.
    Failure::CannotRun(clean(&match error {
        ImportError::History(error) => format!("nothing of `{name}` was imported: {error}"),
        ImportError::Exchange(ExchangeError::History(error)) => {
            format!("nothing of `{name}` was imported: {error}")
        }
        error => format!("`{name}`, {error}; nothing of it was imported"),
    }))
}

fn counts(imported: Imported) -> String {
    let Imported { new, completed, already_there } = imported;
    let results = |count| plural(count, "result", "results");
    let mut parts = vec![format!("{} imported", results(new))];
    if completed > 0 {
        parts.push(format!("{} completed", results(completed)));
    }
    if already_there > 0 {
        parts.push(format!("{} there already", results(already_there)));
    }
    parts.join(", ")
}
