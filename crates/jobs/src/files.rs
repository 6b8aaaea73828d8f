//! Files that flags name, and the journal of an assessment.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use inspect::files::{Draft, Place, Readers, free_place};
use inspect::reading;
use results::Measurement;

use crate::conduct::JobError;

/// The text of a file that a flag names.
///
/// # Errors
/// It cannot be read, is too large, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, JobError> {
    let wrong = |error| JobError::Usage(format!("`{}`: {error}", path.display()));
    let bytes = reading::bytes(path, reading::TEXT_BYTES_MAX).map_err(wrong)?;
    let refused = |why: &str| JobError::Usage(format!("`{}` {why}", path.display()));
    let is_utf16 =
        matches!(bytes.as_slice(), [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, _, ..] | [_, 0, ..]);
    if is_utf16 {
        return Err(refused(
            "is text in UTF-16, as Windows writes it, and TOML is UTF-8: save it as UTF-8 (in \
             Notepad: Save As, Encoding: UTF-8), or convert it with `iconv -f UTF-16 -t UTF-8`",
        ));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        refused(&format!("is not UTF-8 in line {line}: save it as UTF-8"))
    })?;
    // Notepad puts a mark in front.
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// Opens a file that may be larger than memory, or a stream as a file without a name.
///
/// # Errors
/// It cannot be read, or is larger than 16 GiB.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    const STREAM_BYTES_MAX: u64 = 16 << 30;
    reading::open_or_copy(path, STREAM_BYTES_MAX, tempfile::tempfile)
}

/// A journal for runs without a history: every finished measurement becomes a line of JSON in a
/// file next to the report, so that a crash loses none. The report holds all of them; once it is
/// written, the journal is removed.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Option<(Place, File)>,
    has_failed: bool,
}

impl Journal {
    /// A journal of this report; made with its first measurement.
    #[must_use]
    pub fn beside(report: &Path) -> Self {
        Self { path: report.with_extension("partial.jsonl"), file: None, has_failed: false }
    }

    /// Keeps a measurement.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&mut self, measurement: &Measurement) -> io::Result<()> {
        let written = self.write(measurement);
        self.has_failed |= written.is_err();
        written
    }

    fn write(&mut self, measurement: &Measurement) -> io::Result<()> {
        let mut line = serde_json::to_vec(measurement)?;
        line.push(b'\n');
        if let Some((_, file)) = &mut self.file {
            file.write_all(&line)?;
            return file.sync_data();
        }
        let place = free_place(&Place::of(&self.path)?)?;
        let draft = Draft::of(&place, Readers::Anybody)?;
        draft.file().write_all(&line)?;
        draft.file().sync_all()?;
        let file = draft.into_file()?;
        place.path().clone_into(&mut self.path);
        self.file = Some((place, file));
        Ok(())
    }

    /// The path of the journal, if it holds every measurement.
    #[must_use]
    pub fn whole(&self) -> Option<&Path> {
        self.file.as_ref().filter(|_| !self.has_failed).map(|_| &*self.path)
    }

    /// Removes the journal, once the report is written.
    pub fn remove(self) {
        if let Some((place, file)) = &self.file {
            // A file that remains is a copy of what the report holds.
            let _ = place.remove(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a full disk, the error of a report said that every measurement was in a journal that
    /// could not be written either.
    #[test]
    fn a_journal_that_failed_once_is_not_whole() {
        let directory = tempfile::tempdir().unwrap();
        let measurement = testing::measurement("m", workload::Workload::default());
        let report = directory.path().join("new/r.html");
        let mut journal = Journal::beside(&report);
        assert!(journal.keep(&measurement).is_err() && journal.whole().is_none());
        std::fs::create_dir(directory.path().join("new")).unwrap();
        journal.keep(&measurement).unwrap();
        assert!(journal.whole().is_none());
        let mut journal = Journal::beside(&report);
        journal.keep(&measurement).unwrap();
        assert!(journal.whole().is_some_and(Path::exists));
    }
}
