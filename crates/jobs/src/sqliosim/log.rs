//! SQLIOSim's log, written while it happens.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use dialects::sqliosim::log::{BEGIN, Entry, Kind};
use dialects::text::decode;
use inspect::files::Log as FileLog;
use jiff::Zoned;

use crate::conduct::JobError;

/// The log of a run, in SQLIOSim's format.
pub struct Log {
    file: FileLog,
    failed: Option<io::Error>,
}

impl Log {
    /// Begins a log, at the end of an earlier one if there is one.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open(path: &Path) -> Result<Self, JobError> {
        let file = FileLog::claim(path, "a log of SQLIOSim", is_log).map_err(|error| {
            JobError::CannotRun(format!("the log `{}`: {error}", path.display()))
        })?;
        Ok(Self { file, failed: None })
    }

    /// Writes an entry to the log.
    pub fn say(&mut self, error: bool, text: &str) {
        let (kind, user) =
            if error { (Kind::Error, "Validation") } else { (Kind::Info, "Monitor") };
        let entry = Entry { kind, user, text }.to_text(&Zoned::now());
        if let Err(error) = self.file.append(&entry) {
            self.failed.get_or_insert(error);
        }
    }

    /// The first entry that could not be written.
    #[must_use]
    pub fn failed(self) -> Option<io::Error> {
        self.failed
    }
}

/// Whether a file begins as a log does.
fn is_log(file: &File) -> io::Result<bool> {
    let mut bytes = Vec::new();
    file.take(256).read_to_end(&mut bytes)?;
    Ok(decode(&bytes).trim_start_matches(['\u{feff}', ' ', '\r', '\n']).starts_with(BEGIN))
}
