//! The time spans of a DiskSpd profile, one after the other, and their result in DiskSpd's forms.

mod events;
mod output;
mod plan;
mod spans;
mod system;

use dialects::diskspd::command::{CommandLine, XmlCall};

pub use self::events::set as set_event;
pub use self::output::{Also, Form};
pub use self::plan::ProfileSettings;
pub use self::spans::Spans;

use crate::conduct::JobError;
use crate::places::Places;
use inspect::reading;

/// A longer file is not a profile.
const PROFILE_BYTES_MAX: u64 = 16 << 20;

/// The profile that `-X` names.
///
/// # Errors
/// It cannot be read, or is wrong; each line names the file.
pub fn read_profile(call: XmlCall, places: &Places) -> Result<CommandLine, JobError> {
    let name = call.file.clone();
    let failed = |what: String| {
        let lines: Vec<String> = what.lines().map(|line| format!("`{name}`: {line}")).collect();
        JobError::NotUnderstood(lines.join("\n"))
    };
    let path = places.drives().path(&name).map_err(|e| failed(e.to_string()))?;
    let bytes = reading::bytes(&path, PROFILE_BYTES_MAX).map_err(|e| failed(e.to_string()))?;
    call.profile(&bytes).map_err(|e| failed(e.to_string()))
}
