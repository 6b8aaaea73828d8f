//! Programs that come with Windows, run to their end within a time.

use std::ffi::OsStr;
use std::io::{self, Read as _, Seek as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use dialects::text;
use thiserror::Error;

/// How often a program is looked at.
const STEP: Duration = Duration::from_millis(20);
/// Bytes of what a program prints that an error repeats.
const SAID_BYTES_MAX: u64 = 600;

/// A program and how long it may run.
#[derive(Debug, Clone)]
pub(crate) struct SystemTool {
    program: PathBuf,
    limit: Duration,
}

/// Why a program did not do its work.
#[derive(Debug, Error)]
pub enum ToolError {
    /// It was not started, or its output cannot be had.
    #[error("{program} cannot be run: {source}")]
    Start {
        /// The file name of the program.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It ran for too long, and was ended.
    #[error("{program} was not done after {seconds} s, and was ended")]
    TooLong {
        /// The file name of the program.
        program: String,
        /// How long it was allowed to run.
        seconds: u64,
    },
    /// It refused, with what it printed.
    #[error("{program} failed: {said}")]
    Failed {
        /// The file name of the program.
        program: String,
        /// The beginning of what it printed, or its exit code.
        said: String,
    },
}

impl SystemTool {
    /// The program of this name in the directory of Windows; `None` on other systems. No other
    /// directory is searched, so that no other program of that name is run.
    pub(crate) fn of_windows(name: &str, limit: Duration) -> Option<Self> {
        let root = std::env::var_os("SystemRoot").filter(|_| cfg!(windows))?;
        Some(Self::new(PathBuf::from(root).join("System32").join(name), limit))
    }

    /// A program at this path, which may run for at most `limit`.
    pub(crate) fn new(program: PathBuf, limit: Duration) -> Self {
        Self { program, limit }
    }

    fn name(&self) -> String {
        self.program.file_name().unwrap_or(self.program.as_os_str()).to_string_lossy().into_owned()
    }

    /// Runs it with these arguments and without input.
    ///
    /// # Errors
    /// It was not started, ran for too long, or refused.
    pub(crate) fn run(&self, arguments: &[&OsStr]) -> Result<(), ToolError> {
        let start = |source| ToolError::Start { program: self.name(), source };
        // A file takes all that is printed, however much that is, and nobody has to read meanwhile.
        let mut said = tempfile::tempfile().map_err(start)?;
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::null());
        command.stdout(said.try_clone().map_err(start)?);
        command.stderr(said.try_clone().map_err(start)?);
        let mut child = command.spawn().map_err(start)?;
        let status = self.wait(&mut child).map_err(start)?;
        let Some(status) = status else {
            return Err(ToolError::TooLong { program: self.name(), seconds: self.limit.as_secs() });
        };
        if status.success() {
            return Ok(());
        }
        said.rewind().map_err(start)?;
        let mut bytes = Vec::new();
        said.take(SAID_BYTES_MAX).read_to_end(&mut bytes).map_err(start)?;
        let said = text::decode(&bytes).split_whitespace().collect::<Vec<_>>().join(" ");
        let said = if said.is_empty() { status.to_string() } else { said };
        Err(ToolError::Failed { program: self.name(), said })
    }

    /// Its end; `None` if it was ended because its time was over.
    fn wait(&self, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if began.elapsed() >= self.limit {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(STEP);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<(), ToolError> {
        let words = ["-c", script].map(OsStr::new);
        SystemTool::new("/bin/sh".into(), limit).run(&words)
    }

    #[test]
    fn what_a_program_says_is_in_the_error() {
        let long = Duration::from_secs(60);
        shell("echo done; exit 0", long).unwrap();
        let error = shell("echo 'ERROR:  denied' >&2; exit 5", long).unwrap_err().to_string();
        assert_eq!(error, "sh failed: ERROR: denied");
        let error = shell("exit 5", long).unwrap_err().to_string();
        assert_eq!(error, "sh failed: exit status: 5");
        let error = SystemTool::new("/no/relog.exe".into(), long).run(&[]).unwrap_err();
        assert!(error.to_string().starts_with("relog.exe cannot be run: "), "{error}");
    }

    /// More than a pipe holds, which nobody reads.
    #[test]
    fn a_program_may_print_much() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo 'a line of about forty characters, so'; \
            i=$((i+1)); done; exit 1";
        let error = shell(script, Duration::from_secs(60)).unwrap_err().to_string();
        assert!(error.len() < 700, "{}", error.len());
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let error = shell("exec sleep 600", Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, ToolError::TooLong { .. }), "{error}");
    }

    #[test]
    fn only_windows_has_programs_of_windows() {
        assert!(SystemTool::of_windows("relog.exe", Duration::ZERO).is_none());
    }
}
