//! Results from files, iosonde's own and those of other tools: each file as a whole or not at all.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _};
use std::path::Path;
use std::time::SystemTime;

use dialects::convert::listed;
use dialects::foreign::{ForeignRuns, ReadError};
use dialects::recognise::recognise;
use dialects::{DIALECTS, sqliosim, text};
use history::{Added, ExchangeError, History, HistoryError, Imported, LineError, Place};
use inspect::reading;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use monitor::foreign::{self, ForeignError, ForeignRecordings, Reading};
use results::{Document, Experiment, Measurement, Recording};
use survey::{CollectError, collected_sweeps};
use thiserror::Error;
use workload::{Bytes, show_number};

use crate::relog;
use crate::system_tool::{SystemTool, ToolError};

/// How much of a file decides whether iosonde wrote it.
const HEAD_BYTES: u64 = 4096;
/// Notes of a file without a result that its error repeats.
const NOTES_SHOWN: usize = 5;
/// The largest file of another tool that is read; all of it is in memory, several times.
pub(crate) const FOREIGN_BYTES_MAX: u64 = reading::RESULTS_BYTES_MAX;

/// Why nothing of a file was imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The file looks like an export of iosonde, and cannot be read as one.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The file is of another tool, but not as that tool writes it.
    #[error(transparent)]
    Foreign(#[from] ReadError),
    /// A recording of another tool, and not as that tool writes it.
    #[error(transparent)]
    Recording(#[from] ForeignError),
    /// A recording that cannot be written as a document.
    #[error("its recording cannot be kept: {0}")]
    Json(#[from] serde_json::Error),
    /// The file is of no known tool.
    #[error("it is in none of the formats that iosonde imports. {formats}", formats = formats())]
    Unknown,
    /// What blkparse prints.
    #[error("{}", crate::capture::BLKPARSE)]
    Blkparse,
    /// The file looks like JSON, and is of no known tool.
    #[error("{0}. {formats}", formats = formats())]
    UnknownJson(ExchangeError),
    /// The history cannot be opened, read or written.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The file cannot be opened or read.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// The file is the history into which it would be imported.
    #[error("it is the history itself")]
    Itself,
    /// The runs of another tool are to be one sweep, and cannot.
    #[error("{0}")]
    Sweep(#[from] CollectError),
    /// The file is an export of iosonde, whose results are imported as they are.
    #[error("it is an export of iosonde, whose results stay what they are; leave out `--as-sweep`")]
    NotForeign,
    /// The file is a recording of counters, whose windows are not measurements of loads.
    #[error("it is a recording of counters, which is not a sweep; leave out `--as-sweep`")]
    RecordingAsSweep,
    /// The file is of another tool, and has no result that can be kept.
    #[error("it has no result that can be kept{}", first_of(.0))]
    Nothing(Vec<String>),
    /// The file is not an export of iosonde, and is too large for other tools.
    #[error(
        "it is not an export of iosonde, and results of other tools are read up to {}",
        Bytes(FOREIGN_BYTES_MAX)
    )]
    TooLarge,
    /// A binary log of Performance Monitor, on a system without `relog`.
    #[error(
        "it is a binary log of Performance Monitor, which only Windows' own relog reads. Convert \
         it on Windows with `relog {name} -f CSV -o {name}.csv`, and import that file"
    )]
    BinaryLog {
        /// The name of the file, for the command that converts it.
        name: String,
    },
    /// `relog` did not convert a binary log.
    #[error(
        "{source}. Convert it by hand with `relog {name} -f CSV -o {name}.csv`, and import that \
         file"
    )]
    Relog {
        /// The name of the file, for the command that converts it.
        name: String,
        /// Why `relog` did not convert it.
        source: ToolError,
    },
}

/// The first of these notes, after a colon.
fn first_of(notes: &[String]) -> String {
    let shown = notes.iter().take(NOTES_SHOWN).cloned().collect::<Vec<_>>().join("; ");
    let more = notes.len().saturating_sub(NOTES_SHOWN);
    match (shown.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!(": {shown}"),
        (false, more) => format!(": {shown}; and {more} more"),
    }
}

impl ImportError {
    /// It, with the name of the file.
    #[must_use]
    pub fn of(&self, name: &str) -> String {
        match self {
            Self::History(_) | Self::Exchange(ExchangeError::History(_)) => {
                format!("nothing of `{name}` was imported: {self}")
            }
            error => format!("`{name}`, {error}; nothing of it was imported"),
        }
    }
}

/// What can be imported, in a sentence.
fn formats() -> String {
    let tools = DIALECTS.iter().filter(|tool| !tool.results.is_empty()).map(|tool| tool.title);
    let recordings = foreign::FORMATS.iter().map(|format| format.about);
    format!(
        "These are: results of {} (docs/import.md has their versions); recordings: {}; exports of \
         `iosonde history export`, and what `--json` printed",
        listed(tools),
        listed(recordings.chain([sqliosim::LOG_ABOUT]))
    )
}

/// What became of a file.
#[derive(Debug, Default)]
pub struct ImportedFile {
    /// How many results it has.
    pub counts: Imported,
    /// Its results in the order of the file, a phrase each, where another tool wrote several.
    pub results: Vec<String>,
    /// How it was read.
    pub notes: Vec<String>,
}

/// A history that files are imported into, opened where there is something to put into it: a file
/// that is refused makes none.
pub struct Importer {
    place: Place,
    open: Option<History>,
    as_sweep: bool,
    interval_seconds: Option<f64>,
    /// What converts binary logs of Performance Monitor, where this system has it.
    relog: Option<SystemTool>,
}

impl Importer {
    /// Imports into the history at this place.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self { place, open: None, as_sweep: false, interval_seconds: None, relog: relog::relog() }
    }

    /// Makes one sweep of the runs of a file of another tool that are on one target.
    #[must_use]
    pub fn as_sweep(self, as_sweep: bool) -> Self {
        Self { as_sweep, ..self }
    }

    /// The interval of reports that have no times.
    #[must_use]
    pub fn with_interval(self, seconds: Option<f64>) -> Self {
        Self { interval_seconds: seconds, ..self }
    }

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

    /// Imports a file, or stdin for `-`.
    ///
    /// # Errors
    /// Why nothing of it was imported.
    pub fn import(&mut self, path: &Path) -> Result<ImportedFile, ImportError> {
        if history::is_open(path) {
            return Err(ImportError::Itself);
        }
        let mut file = if relog::is_binary_log(path) {
            relog::converted(path, self.relog.as_ref())?
        } else {
            // The history must not be held while a pipe is waited for.
            crate::files::open(path)?
        };
        if !is_own(&mut file)? {
            if let Some(done) = self.foreign(path, &mut file)? {
                return Ok(done);
            }
            file.rewind()?;
        } else if self.as_sweep {
            return Err(ImportError::NotForeign);
        }
        if !self.is_there() {
            let checked = history::check_import(BufReader::new(&file));
            file.rewind()?;
            checked.map_err(|error| unknown(error, &mut file))?;
            file.rewind()?;
        }
        let imported = self.open()?.import(BufReader::new(&file));
        file.rewind()?;
        let counts = imported.map_err(|error| unknown(error, &mut file))?;
        Ok(ImportedFile { counts, ..ImportedFile::default() })
    }

    /// Imports a file of another tool; `None` if it is of no tool that is known.
    fn foreign(
        &mut self,
        path: &Path,
        file: &mut File,
    ) -> Result<Option<ImportedFile>, ImportError> {
        if file.metadata()?.len() > FOREIGN_BYTES_MAX {
            return Err(ImportError::TooLarge);
        }
        let mut bytes = Vec::new();
        (&mut *file).take(FOREIGN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let read = written(file);
        let Some(ForeignRuns { measurements, notes }) = recognise(&bytes, &name, &read)? else {
            return self.recordings(&text::decode(&bytes), &name, &read);
        };
        if measurements.is_empty() {
            return Err(ImportError::Nothing(notes));
        }
        let mut results: Vec<String> = measurements.iter().map(run_in_words).collect();
        let counts = if self.as_sweep {
            results.clear();
            self.sweeps(measurements, &name)?
        } else {
            self.open()?.import_foreign(measurements)?
        };
        Ok(Some(ImportedFile { counts, results, notes }))
    }

    /// Stores one sweep per target.
    fn sweeps(
        &mut self,
        measurements: Vec<Measurement>,
        file: &str,
    ) -> Result<Imported, ImportError> {
        let sweeps = collected_sweeps(measurements, file)?;
        let history = self.open()?;
        let mut imported = Imported::default();
        for sweep in sweeps {
            match history.add(&Document::Sweep(Box::new(sweep)))? {
                Added::New => imported.new += 1,
                Added::AlreadyThere => imported.already_there += 1,
            }
        }
        Ok(imported)
    }

    /// Imports the recordings of another tool; `None` if the text has none that is known.
    fn recordings(
        &mut self,
        text: &str,
        file: &str,
        read: &str,
    ) -> Result<Option<ImportedFile>, ImportError> {
        let interval_seconds = self.interval_seconds;
        let reading = Reading { file, read, zone: TimeZone::system(), interval_seconds };
        let found = match foreign::recognise(text, &reading)? {
            Some(ForeignRecordings { documents, notes }) => Some((documents, notes)),
            None => sqliosim::recording(text, file, read).map(|(one, notes)| (vec![one], notes)),
        };
        let Some((documents, notes)) = found else { return Ok(None) };
        if documents.is_empty() {
            return Err(ImportError::Nothing(notes));
        }
        if self.as_sweep {
            return Err(ImportError::RecordingAsSweep);
        }
        let lines = documents.iter().map(serde_json::to_string);
        let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
        let counts = self.open()?.import(lines.join("\n").as_bytes())?;
        let in_words = |d: &Experiment<Recording>| {
            let Experiment { id, started, conclusion, .. } = d;
            format!("{id}: {} from {started}", conclusion.name)
        };
        let results = documents.iter().map(in_words).collect();
        Ok(Some(ImportedFile { counts, results, notes }))
    }
}

/// A run of another tool in a phrase.
fn run_in_words(run: &Measurement) -> String {
    let Measurement { id, workload, total, .. } = run;
    format!("{id}: {} IOPS, {}", show_number(total.iops), workload.title())
}

/// The error for a file that is neither another tool's nor iosonde's.
fn unknown(error: ExchangeError, file: &mut File) -> ImportError {
    let unread = match &error {
        ExchangeError::Result { number, what }
            if matches!(
                **what,
                LineError::NotJson(_) | LineError::NotText | LineError::NotResult(_)
            ) =>
        {
            Some(*number)
        }
        _ => None,
    };
    let mut first = [0; 1024];
    let count = file.read(&mut first).unwrap_or(0);
    let head = text::decode(first.get(..count).unwrap_or_default());
    // A table whose first cell is in quotes begins with a complete JSON text, but it is not JSON.
    if trace::is_blkparse_text(&head) {
        return ImportError::Blkparse;
    }
    match (unread, head.trim_start().starts_with('{')) {
        (Some(_), false) => ImportError::Unknown,
        (Some(1), true) => ImportError::UnknownJson(error),
        _ => ImportError::Exchange(error),
    }
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
    let moment = Timestamp::try_from(modified.unwrap_or_else(|_| SystemTime::now()));
    let moment = moment.and_then(|moment| moment.round(jiff::Unit::Second));
    moment.unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
