//! A configuration as a file.

use std::fmt::Write as _;

use thiserror::Error;

use super::config::Configuration;
use super::keys::{Section, Value};
use super::read::around;

/// Why a configuration cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` has a line break or another control character in it, which such a file has no way to \
     say; use another name"
)]
pub struct WriteError(pub String);

/// Writes everything that a configuration says, with the names of keys that its files have. It
/// reads back as the same.
pub fn write(config: &Configuration) -> Result<String, WriteError> {
    let mut text = "; SQLIOSim's configuration, as iosonde takes it. 10000 is 100 %.\n".to_owned();
    let mut copy = config.clone();
    for section in config.sections() {
        let _ = writeln!(text, "\n[{}]", config.name_of(section));
        let unit = about(section);
        if !unit.is_empty() {
            let _ = writeln!(text, "; {unit}");
        }
        for key in copy.keys(section) {
            if let Some(value) = shown(&key.value)? {
                let _ = writeln!(text, "{}={value}", key.name);
            }
        }
    }
    Ok(text)
}

fn about(section: Section) -> &'static str {
    match section {
        Section::Config => "TestCycleDuration in s, TargetIODuration in ms",
        Section::File(_) => "sizes in MB",
        Section::Random => "UserCount -1 is twice the CPUs, at most 8; SleepAfter in ms",
        Section::Audit | Section::ReadAhead | Section::Bulk => "pages; delays in ms",
        Section::Shrink => "intervals in s",
    }
}

fn shown(value: &Value<'_>) -> Result<Option<String>, WriteError> {
    Ok(match value {
        Value::Flag(flag) => Some(if **flag { "TRUE" } else { "FALSE" }.to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Maybe(number) => number.map(|n| n.to_string()),
        Value::Text(text) => Some(quoted(text)?),
        Value::MaybeText(text) => text.as_deref().map(quoted).transpose()?,
    })
}

/// A text that reads as itself: with quotation marks where its ends would be taken off.
fn quoted(text: &str) -> Result<String, WriteError> {
    if text.contains(char::is_control) {
        return Err(WriteError(text.escape_debug().to_string()));
    }
    let bare = text.trim_matches(around) == text && !text.starts_with(['"', '\'']);
    Ok(if bare { text.to_owned() } else { format!("\"{text}\"") })
}
