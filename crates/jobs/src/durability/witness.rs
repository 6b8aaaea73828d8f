//! The place of the witness's file: here, or on another host by ssh.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use inspect::files::Place;
use inspect::{reading, shell_word};
use integrity::durability::{FILE_BYTES_MAX, Header, State, parse_state};

use super::DurabilityPlan;
use super::layout::absolute;
use crate::conduct::{JobError, Relay};
use crate::event::Event;

/// The place of a witness's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// On this host.
    Here(PathBuf),
    /// In a file on another host, read by ssh.
    There { host: String, file: String },
}

/// Splits `HOST:FILE`; an IPv6 address is in brackets. No host begins with a dash: ssh would take
/// it for an option.
fn split(text: &str, on_windows: bool) -> Result<(String, Option<String>), JobError> {
    let end = match text.find(']').filter(|_| text.starts_with('[')) {
        Some(bracket) => text[bracket..].find(':').map(|at| at + bracket),
        None => text.find(':'),
    };
    let (host, file) = end.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() || host.starts_with('-') || file == Some("") {
        let text = format!("`{text}` names no host; write HOST or HOST:FILE");
        return Err(JobError::Usage(text));
    }
    if host.contains('/') || is_windows_path(text, on_windows) {
        let text = format!(
            "`{text}` is a path and names no host; write HOST or HOST:FILE, or `--witness-file \
             {text}` for a file of this host"
        );
        return Err(JobError::Usage(text));
    }
    Ok((host.to_owned(), file.map(str::to_owned)))
}

/// Whether a text is a path by the rules of Windows: `E:\w`, `E:w`, `\\server\share\w`. Elsewhere a
/// host may have a name of one letter, so that only the form with a backslash is not a host's.
fn is_windows_path(text: &str, on_windows: bool) -> bool {
    let mut letters = text.chars();
    let drive = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && (on_windows || letters.next() == Some('\\'));
    drive || text.starts_with(r"\\")
}

/// The name of a witness's file that the user does not choose.
fn usual_name(header: &Header) -> String {
    format!("iosonde-witness-{:08x}.txt", header.plan.seed & 0xFFFF_FFFF)
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl Source {
    /// What `--verify` names: a file of this host if there is one of that name, or if no host is
    /// before a colon.
    pub(super) fn parse(text: &str) -> Result<Self, JobError> {
        Self::parse_on(text, cfg!(windows))
    }

    fn parse_on(text: &str, on_windows: bool) -> Result<Self, JobError> {
        let host = text.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
        if !host || is_windows_path(text, on_windows) || Path::new(text).exists() {
            return Ok(Self::Here(text.into()));
        }
        match split(text, on_windows)? {
            (host, Some(file)) => Ok(Self::There { host, file }),
            _ => Ok(Self::Here(text.into())),
        }
    }

    /// Where a new run keeps it.
    pub(super) fn of(plan: &DurabilityPlan, header: &Header) -> Result<Self, JobError> {
        let name = usual_name(header);
        match (&plan.witness, &plan.witness_file) {
            (Some(_), Some(_)) => {
                let text = "a run has one witness: name a host or a file, not both";
                Err(JobError::Usage(text.to_owned()))
            }
            (Some(witness), None) => {
                let (host, file) = split(witness, cfg!(windows))?;
                Ok(Self::There { host, file: file.unwrap_or(name) })
            }
            (None, Some(file)) => Ok(Self::Here(absolute(file)?)),
            (None, None) => Ok(Self::Here(absolute(Path::new(&name))?)),
        }
    }

    /// What the user must know of it.
    pub(super) fn describe(&self, header: &Header, killed: bool) -> String {
        let check = format!("after a crash: iosonde validate --verify {}", shell_word(self.name()));
        match self {
            Self::There { host, .. } => format!("{host} is the witness; {check}"),
            Self::Here(_) if killed => format!("the witness's file is {}", self.name()),
            Self::Here(file) if self.is_beside(header) => format!(
                "warning: the witness's file {} is on the file system under test, so a power \
                failure may lose it, too. Use --witness HOST, or \
                 --witness-file on other storage that can be trusted\n{check}",
                file.display()
            ),
            Self::Here(file) => format!(
                "the witness's file {} is on this host: it outlasts a power cut only if its \
                 storage can be trusted; with --witness HOST another host keeps it\n{check}",
                file.display()
            ),
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Here(file) => file.display().to_string(),
            Self::There { host, file } => format!("{host}:{file}"),
        }
    }

    /// Whether it is on a file system that is written to.
    #[cfg(unix)]
    fn is_beside(&self, header: &Header) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let directory = |path: &Path| path.parent().map(Path::to_owned);
        let device = |path: PathBuf| std::fs::metadata(path).ok().map(|m| m.dev());
        let Self::Here(file) = self else { return false };
        let here = directory(file).and_then(device);
        header.targets.iter().any(|t| here.is_some() && directory(&t.path).and_then(device) == here)
    }

    /// The same by the drive or the share; a volume that is mounted in a directory of another is
    /// not told apart.
    #[cfg(not(unix))]
    fn is_beside(&self, header: &Header) -> bool {
        let drive = |path: &Path| {
            let directory = path.parent()?.canonicalize().ok()?;
            directory.components().next().map(|first| first.as_os_str().to_ascii_lowercase())
        };
        let Self::Here(file) = self else { return false };
        let here = drive(file);
        header.targets.iter().any(|t| here.is_some() && drive(&t.path) == here)
    }

    /// The program that is the witness.
    pub(super) fn witness(&self) -> Result<Command, JobError> {
        match self {
            Self::Here(file) => {
                let mut command = this_program()?;
                command.arg("--serve-witness").arg(file);
                Ok(command)
            }
            Self::There { host, file } => {
                Ok(ssh(host, &format!("iosonde validate --serve-witness {}", quoted(file))))
            }
        }
    }

    /// Whether it is a file of this host.
    pub(super) fn is_here(&self) -> bool {
        matches!(self, Self::Here(_))
    }

    /// Reads the promises that it holds now.
    pub(super) fn read(&self) -> Result<(Header, State), JobError> {
        let cannot =
            |why: String| JobError::CannotRun(format!("cannot read `{}`: {why}", self.name()));
        let bytes = match self {
            Self::Here(file) => {
                reading::bytes(file, FILE_BYTES_MAX).map_err(|error| cannot(error.to_string()))?
            }
            Self::There { host, file } => {
                let mut command = ssh(host, &format!("cat -- {}", quoted(file)));
                let output = command.stdin(Stdio::null()).output();
                let output = output.map_err(|error| cannot(format!("ssh: {error}")))?;
                if !output.status.success() {
                    return Err(cannot(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
                }
                output.stdout
            }
        };
        parse_state(&self.name(), &bytes).map_err(|error| JobError::CannotRun(error.to_string()))
    }

    /// Removes a file that has served its purpose, unless the user named it, then or as a copy.
    pub(super) fn remove(&self, header: &Header, relay: &Relay<'_>) {
        let is_one = |mut open: &File| {
            let mut bytes = Vec::new();
            open.read_to_end(&mut bytes)?;
            Ok(parse_state(&self.name(), &bytes).is_ok())
        };
        if let Self::Here(file) = self
            && !header.witness_named
            && file.file_name() == Some(OsStr::new(&usual_name(header)))
            && let Err(error) = Place::of(file).and_then(|place| place.remove_if(is_one))
        {
            let text = format!("cannot remove `{}`: {error}", file.display());
            relay.pass(&Event::Error { text });
        }
    }
}

/// `iosonde validate`, as this process was started.
pub(super) fn this_program() -> Result<Command, JobError> {
    let program = std::env::current_exe()
        .map_err(|error| JobError::CannotRun(format!("where is this program? {error}")))?;
    let mut command = Command::new(program);
    command.arg("validate");
    Ok(command)
}

fn ssh(host: &str, command: &str) -> Command {
    let mut ssh = Command::new("ssh");
    // Nobody can be asked for a password: the connection is for programs.
    ssh.args(["-o", "BatchMode=yes", "--", host, command]);
    ssh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_files_are_told_apart() {
        let there =
            |host: &str, file: &str| Source::There { host: host.to_owned(), file: file.to_owned() };
        let parsed = |text: &str| Source::parse_on(text, false).unwrap();
        assert_eq!(parsed("db2:/var/w"), there("db2", "/var/w"));
        assert_eq!(parsed("root@db2:w x"), there("root@db2", "w x"));
        assert_eq!(parsed("[fe80::1]:w"), there("fe80::1", "w"));
        for file in ["w", "/a:b", "./a:b", "a/b:c"] {
            assert_eq!(parsed(file), Source::Here(file.into()), "{file}");
        }
        for wrong in ["-oProxyCommand=x:w", ":w", "host:"] {
            assert!(Source::parse(wrong).is_err(), "{wrong}");
        }
        assert!(split("-oProxyCommand=x", false).is_err());
        assert_eq!(quoted("it's; rm *"), r"'it'\''s; rm *'");
    }

    /// A path after `--witness` was given to ssh as the name of a host, after the making of files.
    #[test]
    fn a_path_is_no_host() {
        for path in ["/var/w", "./w:x", r"E:\w", r"\\nas\w"] {
            let Err(JobError::Usage(text)) = split(path, false) else {
                panic!("{path} is no host")
            };
            assert!(text.contains(&format!("--witness-file {path}")), "{text}");
        }
    }

    /// `E:\w` was taken for the file `\w` on the host `E`, and given to ssh.
    #[test]
    fn a_drive_is_no_host() {
        let here = |text: &str| Source::Here(text.into());
        for (text, on_windows) in
            [(r"E:\w", true), (r"E:\w", false), ("e:w", true), ("E:/w", true), (r"\\nas\a:b", true)]
        {
            assert_eq!(Source::parse_on(text, on_windows).unwrap(), here(text), "{text}");
        }
        let there = Source::There { host: "e".to_owned(), file: "/w".to_owned() };
        assert_eq!(Source::parse_on("e:/w", false).unwrap(), there, "a host of one letter");
    }
}
