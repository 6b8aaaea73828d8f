//! One line per command that an agent carried out, in a file on its host.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use thiserror::Error;

/// The file cannot be written to.
#[derive(Debug, Error)]
#[error(
    "cannot write to `{}`, where each command is noted: {source}. Name another file with `--audit`",
    path.display()
)]
pub(crate) struct AuditError {
    path: PathBuf,
    source: io::Error,
}

/// The file. It is only ever appended to.
#[derive(Debug)]
pub(crate) struct Audit {
    file: File,
    from: String,
}

impl Audit {
    /// Opens the file, which is made where there is none. Commands come from there, or from where
    /// sshd says.
    ///
    /// # Errors
    /// It cannot be written to.
    pub(crate) fn open(path: &Path, from: Option<String>) -> Result<Self, AuditError> {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.map_err(|source| AuditError { path: path.to_owned(), source })?;
        // What sshd says: the address and port of the other end, then ours.
        let of_ssh = || std::env::var("SSH_CONNECTION").unwrap_or_default();
        let from = from.unwrap_or_else(of_ssh);
        let from = from.split(' ').next().filter(|from| !from.is_empty()).unwrap_or("local");
        Ok(Self { file, from: from.to_owned() })
    }

    /// Notes a command; texts from outside cannot begin a line.
    pub(crate) fn note(&mut self, run: &str, command: &str, about: &str) {
        let quoted = |text: &str| format!("{text:?}");
        let line = format!(
            "{} process={} from={} run={} command={command} about={}\n",
            Timestamp::now(),
            std::process::id(),
            quoted(&self.from),
            quoted(run),
            quoted(about)
        );
        // A full disk must not keep a load from being stopped.
        let _ = self.file.write_all(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_line_whatever_it_says() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("agent.log");
        for run in ["a\nb", "\"c\""] {
            Audit::open(&path, None).unwrap().note(run, "prepare", "/data\r\nx");
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains(r#"run="a\nb" command=prepare about="/data\r\nx""#), "{text}");
        let missing = place.path().join("no/agent.log");
        let error = Audit::open(&missing, None).unwrap_err().to_string();
        assert!(error.contains("agent.log"), "{error}");
    }
}
