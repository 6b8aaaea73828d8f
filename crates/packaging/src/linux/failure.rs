//! What can go wrong while packages are made.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Why a package could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A file or directory could not be used.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// The attempted action, a verb.
        what: &'static str,
        /// The file or directory that could not be used.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A program that could not be started
    #[error("cannot start {program}: {source}. Install it, or call ./x package, which does")]
    Start {
        /// The program that could not be started.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A program ran and failed.
    #[error("{program} failed:\n{said}")]
    Failed {
        /// The program, with its arguments.
        program: String,
        /// Its exit status, after what it wrote if that was caught.
        said: String,
    },
    /// A package that cannot be put together
    #[error("{0}")]
    Package(String),
}

impl From<rpm::Error> for Failure {
    fn from(error: rpm::Error) -> Self {
        Self::Package(format!("cannot make an RPM package: {error}"))
    }
}

/// Text that is the reason for a failure.
pub(crate) fn because(text: impl Into<String>) -> Failure {
    Failure::Package(text.into())
}

/// For `map_err`: which file it was.
pub(crate) fn at(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
    let path = path.to_owned();
    move |source| Failure::File { what, path, source }
}

/// For `map_err` on an archive that is made in memory.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes values")]
pub(crate) fn packing(error: io::Error) -> Failure {
    because(format!("cannot write an archive: {error}"))
}

/// Reads a file as a whole.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(at("read", path))
}

/// Writes a file as a whole.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(at("write", path))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Runs a program to its end and takes what it wrote; fails when it does.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let done = finish(command)?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let said = [done.stdout, done.stderr].concat();
    let said = format!("{}{}", String::from_utf8_lossy(&said), done.status);
    Err(Failure::Failed { program: shown(command), said })
}

/// Runs a command as [`output`] does, and returns text.
pub(crate) fn text(command: &mut Command) -> Result<String, Failure> {
    Ok(String::from_utf8_lossy(&output(command)?).into_owned())
}

/// Runs a program to its end, however it ends.
pub(crate) fn finish(command: &mut Command) -> Result<Output, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.output().map_err(|source| Failure::Start { program, source })
}

/// Runs a program whose output the user sees on stderr.
pub(crate) fn watch(command: &mut Command) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let stderr = std::io::stderr();
    let status =
        command.stdout(stderr).status().map_err(|e| Failure::Start { program, source: e })?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::Failed { program: shown(command), said: status.to_string() })
}
