//! Exit codes, and how failures are shown.

use std::io::{self, Write};
use std::process::ExitCode;

use ::report::text::clean;
use engine::{EngineError, PrepareError};

/// How a command ended when it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was done.
    Done,
    /// It ran, but I/O failed; what was measured was shown.
    IoFailed,
    /// It ran, and the storage does not reach what was expected of it.
    NotMet,
    /// The storage returned wrong data.
    WrongData,
    /// A signal ended it; what was measured was shown.
    Interrupted,
    /// A command that it ran ended with this code.
    Code(u8),
}

/// Why a command could not be done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It could not run (exit code 1).
    CannotRun(String),
    /// It was asked for in a wrong way (exit code 2).
    WrongUsage(String),
    /// A command line or a profile of another tool is wrong (exit code 3, as that tool has it).
    NotUnderstood(String),
    /// A signal came before there was anything to show (exit code 130).
    Interrupted(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::CannotRun(error.to_string())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Invalid(_) => Self::WrongUsage(error.to_string()),
            _ => Self::CannotRun(error.to_string()),
        }
    }
}

impl From<PrepareError> for Failure {
    fn from(error: PrepareError) -> Self {
        match error {
            PrepareError::Invalid(_) => Self::WrongUsage(error.to_string()),
            PrepareError::Interrupted => Self::Interrupted(error.to_string()),
            PrepareError::Engine(error) => error.into(),
            _ => Self::CannotRun(error.to_string()),
        }
    }
}

/// Shows a failure on stderr, on a terminal without a screen, and gives the exit code.
pub(crate) fn report(outcome: Result<Outcome, Failure>) -> ExitCode {
    crate::screen::leave();
    let (code, text) = match outcome {
        Ok(Outcome::Done) => return ExitCode::SUCCESS,
        Ok(Outcome::IoFailed) => return ExitCode::from(1),
        Ok(Outcome::WrongData) => return ExitCode::from(3),
        Ok(Outcome::NotMet) => return ExitCode::from(4),
        Ok(Outcome::Interrupted) => return ExitCode::from(130),
        Ok(Outcome::Code(code)) => return ExitCode::from(code),
        Err(Failure::CannotRun(text)) => (1, text),
        Err(Failure::WrongUsage(text)) => (2, text),
        Err(Failure::NotUnderstood(text)) => (3, text),
        Err(Failure::Interrupted(text)) => (130, text),
    };
    let mut stderr = io::stderr().lock();
    for line in text.lines() {
        // A closed stderr leaves the exit code as the answer.
        let _ = writeln!(stderr, "error: {}", clean(line));
    }
    ExitCode::from(code)
}

/// Writes a whole text to stdout. A reader that has gone away is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::CannotRun(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
