//! Exit codes, and how failures are shown.

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use ::report::text::clean;
use engine::{EngineError, PrepareError};
use jobs::JobError;
pub(crate) use jobs::Outcome;
use workload::Violation;
use workload::secrets::concealed;

use flags::{PageError, in_flags};

/// The meaning of an exit code. A new code goes into [`Exit::ALL`]: `--help` reads that list, and a
/// test compares the README with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Exit {
    Done = 0,
    CannotRun = 1,
    WrongUsage = 2,
    WrongData = 3,
    NotMet = 4,
    Interrupted = 130,
}

impl Exit {
    const ALL: [Self; 6] = [
        Self::Done,
        Self::CannotRun,
        Self::WrongUsage,
        Self::WrongData,
        Self::NotMet,
        Self::Interrupted,
    ];

    fn words(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::CannotRun => "could not run or I/O failed",
            Self::WrongUsage => "wrong usage",
            Self::WrongData => "the storage returned wrong data",
            Self::NotMet => "an expectation was not met or could not be judged",
            Self::Interrupted => "interrupted (what was measured is shown)",
        }
    }
}

/// Every exit code with its meaning, in one sentence.
pub(crate) fn codes() -> String {
    let codes = Exit::ALL.map(|exit| format!("{} {}", exit as u8, exit.words()));
    format!("Exit codes:\n  {}", codes.join("\n  "))
}

/// DiskSpd's exit code for a wrong command line; only `iosonde diskspd` uses it.
const NOT_UNDERSTOOD: u8 = 3;

/// Why a command could not be done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It could not run (exit code 1).
    CannotRun(String),
    /// It was asked for in a wrong way (exit code 2).
    WrongUsage(String),
    /// The load breaks rules (exit code 2).
    Invalid(Vec<Violation>),
    /// A command line or a profile of another tool is wrong (exit code 3, as that tool has it).
    NotUnderstood(String),
    /// A signal came before there was anything to show (exit code 130).
    Interrupted(String),
}

/// The words in which the user described the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    /// As flags, each with one value.
    Flags,
    /// As flags with lists.
    Lists,
    /// As fields of a file.
    Fields,
}

impl Failure {
    /// The violations in the words of the user.
    pub(crate) fn in_flags(self, words: Words) -> Self {
        match self {
            Self::Invalid(violations) if words != Words::Fields => {
                let named = |violation| in_flags(violation, words == Words::Lists);
                Self::Invalid(violations.into_iter().map(named).collect())
            }
            other => other,
        }
    }

    /// The sentence that the user reads.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Invalid(violations) => listed(&violations),
            Self::CannotRun(text)
            | Self::WrongUsage(text)
            | Self::NotUnderstood(text)
            | Self::Interrupted(text) => text,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::CannotRun(error.to_string())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Invalid(violations) => Self::Invalid(violations),
            _ => Self::CannotRun(error.to_string()),
        }
    }
}

impl From<PrepareError> for Failure {
    fn from(error: PrepareError) -> Self {
        match error {
            PrepareError::Invalid(violations) => Self::Invalid(violations),
            PrepareError::Interrupted => Self::Interrupted(error.to_string()),
            PrepareError::Engine(error) => error.into(),
            _ => Self::CannotRun(error.to_string()),
        }
    }
}

impl From<PageError> for Failure {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Unknown { .. } => Self::WrongUsage(error.to_string()),
            PageError::Made(_) => Self::CannotRun(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::CannotRun(error.to_string())
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Prepare(error) => error.into(),
            JobError::Engine(error) => error.into(),
            JobError::Plan(_) | JobError::Usage(_) => Self::WrongUsage(error.to_string()),
            JobError::NotUnderstood(text) => Self::NotUnderstood(text),
            JobError::Interrupted(_) => Self::Interrupted(error.to_string()),
            JobError::History(_)
            | JobError::Watch(_)
            | JobError::CannotRun(_)
            | JobError::Companion(_) => Self::CannotRun(error.to_string()),
        }
    }
}

fn listed(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Shows a failure on stderr, after leaving the live screen, and gives the exit code.
pub(crate) fn report(outcome: Result<Outcome, Failure>) -> ExitCode {
    screen::leave();
    let ended = |exit: Exit| ExitCode::from(exit as u8);
    let (code, text) = match outcome {
        Ok(Outcome::Done) => return ended(Exit::Done),
        Ok(Outcome::IoFailed) => return ended(Exit::CannotRun),
        Ok(Outcome::WrongData) => return ended(Exit::WrongData),
        Ok(Outcome::NotMet) => return ended(Exit::NotMet),
        Ok(Outcome::Interrupted) => return ended(Exit::Interrupted),
        Ok(Outcome::Code(code)) => return ExitCode::from(code),
        Err(Failure::CannotRun(text)) => (Exit::CannotRun as u8, text),
        Err(Failure::Invalid(violations)) => (Exit::WrongUsage as u8, listed(&violations)),
        Err(Failure::WrongUsage(text)) => (Exit::WrongUsage as u8, text),
        Err(Failure::NotUnderstood(text)) => (NOT_UNDERSTOOD, text),
        Err(Failure::Interrupted(text)) => (Exit::Interrupted as u8, text),
    };
    let mut stderr = io::stderr().lock();
    // A library may quote what it was given.
    for line in concealed(&text).lines() {
        // A closed stderr leaves the exit code as the answer.
        let _ = writeln!(stderr, "error: {}", clean(line));
    }
    ExitCode::from(code)
}

/// The text of a report for stdout. On a terminal with colours, uncertain figures are dimmed.
pub(crate) fn styled(text: String) -> String {
    let says = |name: &str, is: &dyn Fn(&str) -> bool| std::env::var(name).is_ok_and(|v| is(&v));
    let plain = says("NO_COLOR", &|v| !v.is_empty()) || says("TERM", &|v| v == "dumb");
    if plain || !io::stdout().is_terminal() { text } else { report::text::dimmed(&text) }
}

/// Writes a whole text to stdout. If its reader has gone, that is not a failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::CannotRun(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
