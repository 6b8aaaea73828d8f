//! One line per command that an agent carried out, in a file on its host.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use inspect::files::{Access, Draft, Place, Readers};
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

/// The first line of the file.
const HEAD: &str = "# Commands that `iosonde agent` carried out on this host, one per line.\n";

/// The file. It is only ever appended to.
#[derive(Debug)]
pub(crate) struct Audit {
    file: File,
    from: String,
}

impl Audit {
    /// Opens the file, which is made where there is none. A file that is not an audit log stays as
    /// it is. Commands come from there, or from where sshd says.
    ///
    /// # Errors
    /// It cannot be written to.
    pub(crate) fn open(path: &Path, from: Option<String>) -> Result<Self, AuditError> {
        let file = opened(path);
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

/// The file, open to be appended to.
fn opened(path: &Path) -> io::Result<File> {
    let place = Place::of(path)?;
    match place.open(Access::Append) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        file => return recognised(file?),
    }
    let draft = Draft::of(&place, Readers::Anybody)?;
    draft.file().write_all(HEAD.as_bytes())?;
    match draft.into_file() {
        // Another agent of this host was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => drop(made?),
    }
    recognised(place.open(Access::Append)?)
}

fn recognised(file: File) -> io::Result<File> {
    let mut found = Vec::new();
    (&file).take(HEAD.len() as u64).read_to_end(&mut found)?;
    if found == HEAD.as_bytes() {
        return Ok(file);
    }
    Err(io::Error::other("it exists and is not the audit log of an agent"))
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
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains(r#"run="a\nb" command=prepare about="/data\r\nx""#), "{text}");
        let missing = place.path().join("no/agent.log");
        let error = Audit::open(&missing, None).unwrap_err().to_string();
        assert!(error.contains("agent.log"), "{error}");
    }

    /// `--audit` wrote to whatever it was given: a line appeared at the end of a database's file
    /// and at the start of a block device.
    #[test]
    fn only_a_new_file_or_an_audit_log_is_written_to() {
        let place = tempfile::tempdir().unwrap();
        for (name, content) in
            [("empty", ""), ("shop.mdf", "precious"), ("log", "2026 process=1\n")]
        {
            let path = place.path().join(name);
            std::fs::write(&path, content).unwrap();
            let error = Audit::open(&path, None).unwrap_err().to_string();
            assert!(error.contains("not the audit log"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        }
        let directory = Audit::open(place.path(), None).unwrap_err().to_string();
        assert!(directory.contains("directory"), "{directory}");
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_an_audit_log_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (log, link) = (place.path().join("agent.log"), place.path().join("link"));
        drop(Audit::open(&log, None).unwrap());
        std::os::unix::fs::symlink(&log, &link).unwrap();
        assert!(Audit::open(&link, None).unwrap_err().to_string().contains("link"));
        let other = place.path().join("other");
        std::fs::hard_link(&log, &other).unwrap();
        assert!(Audit::open(&log, None).unwrap_err().to_string().contains("hard links"));
    }
}
