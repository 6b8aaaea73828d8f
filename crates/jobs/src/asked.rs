//! Options that every job has: the simulated device, and what may be overwritten.

use std::path::Path;

use analysis::claims::Claim;
use engine::Destroy;
use results::verdict::Database;
use workload::SimDevice;

use crate::conduct::JobError;
use crate::files::read_text;

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
        format!("[sim]\n{}", read_text(Path::new(text))?)
    };
    let wrapped: Result<Wrapped, _> = toml::from_str(&text);
    wrapped.map(|w| w.sim).map_err(|e| JobError::Usage(format!("the simulated device: {e}")))
}

/// What may be overwritten must be a target.
///
/// # Errors
/// A name in `all` is not one of the targets.
pub fn check_destroy(targets: &[&Path], all: &[Destroy]) -> Result<(), JobError> {
    let stray = all.iter().find(|destroy| !targets.iter().any(|target| destroy.names(target)));
    stray.map_or(Ok(()), |destroy| {
        Err(JobError::Usage(format!(
            "--destroy {destroy} names no target: it must repeat one exactly"
        )))
    })
}

/// What a user expects of storage: the claims of a file, or what a provider documents for a volume,
/// by its name; `volumes` is a file of more of these.
///
/// # Errors
/// A file cannot be read, or the volume or a claim is not known.
pub fn expected_claims(
    text: Option<&str>,
    volumes: Option<&Path>,
    database: Database,
) -> Result<Vec<Claim>, JobError> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let path = Path::new(text);
    if survey::names_volume(text) && !path.exists() {
        let own = volumes.map(read_text).transpose()?;
        let claims = survey::volume_claims(text, own.as_deref(), database);
        return claims.map_err(|e| JobError::Usage(format!("--expect {e}")));
    }
    let wrong = |what: String| JobError::Usage(format!("`{}`: {what}", path.display()));
    survey::parse_claims(&read_text(path)?, database).map_err(|e| wrong(e.to_string()))
}
