//! The table of the SQLIO-Parse scripts, out of files of SQLIO's output.

use std::path::{Path, PathBuf};

use dialects::sqlio::{COLUMNS, csv, readings, row};
use inspect::files::{Output, Seal};

use super::text::{RESULTS_BYTES_MAX, text_of};
use crate::conduct::JobError;

/// Every run in files of SQLIO's output.
#[derive(Debug, Default)]
pub struct ResultTable {
    /// One row per run, with a cell for each of SQLIO's columns.
    pub rows: Vec<[String; COLUMNS.len()]>,
    /// What is missing or left out, one sentence each.
    pub notes: Vec<String>,
}

impl ResultTable {
    /// Reads logs, console captures and pasted text.
    ///
    /// # Errors
    /// A file cannot be read, or has no run of SQLIO.
    pub fn of(files: &[PathBuf]) -> Result<Self, JobError> {
        let mut table = Self::default();
        for path in files {
            let shown = path.display();
            let text = text_of(path, RESULTS_BYTES_MAX)
                .map_err(|e| JobError::Companion(format!("`{shown}`: {e}")))?;
            let (readings, notes) = readings(&text);
            if readings.is_empty() {
                return Err(JobError::Companion(format!(
                    "`{shown}` has no run of SQLIO: none of its lines begins with `sqlio v`"
                )));
            }
            table.notes.extend(notes.iter().map(|note| format!("note: `{shown}`, {note}")));
            for reading in readings {
                if let Some(missing) = reading.missing {
                    let line = reading.line;
                    table.notes.push(format!(
                        "note: `{shown}`, line {line}: the run is incomplete, {missing} is missing"
                    ));
                }
                table.rows.push(row(&reading.printout));
            }
        }
        Ok(table)
    }

    /// Writes it as CSV; with `overwrite`, in the place of any other file.
    ///
    /// # Errors
    /// It cannot be written there.
    pub fn write_csv(&self, path: &Path, overwrite: bool) -> Result<(), JobError> {
        let output = Output::claim(path, Seal::None, overwrite);
        let written = output.and_then(|output| output.write(csv(&self.rows)));
        written.map_err(|e| JobError::Companion(format!("cannot write `{}`: {e}", path.display())))
    }
}
