//! Options that every job has: the simulated device, and what may be overwritten.

use std::fs;
use std::path::{Path, PathBuf};

use workload::SimDevice;

use crate::conduct::JobError;

/// A simulated device in its own table, as a workload file has it.
#[derive(serde::Deserialize)]
struct Wrapped {
    sim: SimDevice,
}

/// The device of `--sim`: a TOML table on one line, or a file that holds one.
///
/// # Errors
/// The file cannot be read, or the text is not a device.
pub fn simulated_device(text: &str) -> Result<SimDevice, JobError> {
    let text = if text.contains('=') {
        // A table on one line has commas where a file has line ends.
        format!("sim = {{ {text} }}")
    } else {
        let read = fs::read_to_string(text);
        let wrong = |e| JobError::Usage(format!("the simulated device `{text}`: {e}"));
        format!("[sim]\n{}", read.map_err(wrong)?)
    };
    let wrapped: Result<Wrapped, _> = toml::from_str(&text);
    wrapped.map(|w| w.sim).map_err(|e| JobError::Usage(format!("the simulated device: {e}")))
}

/// What may be overwritten must be a target.
///
/// # Errors
/// A name in `all` is not one of the targets.
pub fn check_destroy(targets: &[&Path], all: &[PathBuf]) -> Result<(), JobError> {
    let stray = all.iter().find(|destroy| !targets.contains(&destroy.as_path()));
    stray.map_or(Ok(()), |destroy| {
        Err(JobError::Usage(format!(
            "--destroy {} names no target: it must repeat one exactly",
            destroy.display()
        )))
    })
}
