//! The configuration that counts: a file or one of those by name, and the command line over it.

use std::path::{Path, PathBuf};

use dialects::drives::Drives;
use dialects::sqliosim::{Command, Configuration, NAMES, Reading, read, shipped, write};
use dialects::text::decode;
use inspect::files::{Output, Seal};
use inspect::reading;

use crate::conduct::JobError;

/// A longer file is not a configuration.
const BYTES_MAX: u64 = 4 << 20;
/// The file that SQLIOSim takes where none is named.
const USUAL: &str = "sqliosim.cfg.ini";

/// Reads the configuration and sets what the command line says.
///
/// # Errors
/// It cannot be read, or breaks rules; all of them are named.
pub fn effective(command: &Command, drives: &Drives) -> Result<Reading, JobError> {
    let mut reading = configuration(command.config.as_deref(), drives)?;
    reading.config.set(command);
    let wrong: Vec<String> = reading.config.violations().iter().map(ToString::to_string).collect();
    if wrong.is_empty() { Ok(reading) } else { Err(JobError::Usage(wrong.join("\n"))) }
}

fn configuration(name: Option<&str>, drives: &Drives) -> Result<Reading, JobError> {
    let Some(name) = name else {
        if Path::new(USUAL).is_file() {
            return from_file(USUAL, drives);
        }
        let config = shipped("default").unwrap_or_default();
        return Ok(Reading { config, notes: Vec::new() });
    };
    let is_file = drives.path(name).is_ok_and(|path| path.is_file());
    match shipped(name) {
        Some(config) if !is_file => Ok(Reading { config, notes: Vec::new() }),
        _ => from_file(name, drives),
    }
}

fn from_file(name: &str, drives: &Drives) -> Result<Reading, JobError> {
    let path = path_of(drives, name)?;
    let text = reading::bytes(&path, BYTES_MAX).map(|bytes| decode(&bytes)).map_err(|error| {
        let names = NAMES.join(", ");
        JobError::Usage(format!("`{name}`: {error}; built in are {names}"))
    })?;
    read(name, &text).map_err(|wrong| JobError::Usage(wrong.to_string()))
}

/// The place that a name stands for.
///
/// # Errors
/// It is on a drive that is not mapped.
pub fn path_of(drives: &Drives, name: &str) -> Result<PathBuf, JobError> {
    drives.path(name).map_err(|error| JobError::Usage(error.to_string()))
}

/// Writes a configuration; with `overwrite`, in the place of any other file.
///
/// # Errors
/// It cannot be written.
pub fn save(config: &Configuration, path: &Path, overwrite: bool) -> Result<(), JobError> {
    let text = write(config).map_err(|error| JobError::Usage(error.to_string()))?;
    let output = Output::claim(path, Seal::None, overwrite);
    let saved = output.and_then(|output| output.write(text));
    saved.map_err(|error| JobError::CannotRun(format!("`-save {}`: {error}", path.display())))
}
