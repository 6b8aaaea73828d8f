//! IOMeter's result file: appends run by run to what is already in it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use dialects::iometer::result::{End, HostCpu, Measured, Session, is_result};
use dialects::iometer::{Config, Record, StepWorkload, TestType};
use inspect::files::Log;
use results::Measurement;

use crate::conduct::JobError;

/// So much of a file tells whether it is a result file.
const HEAD_BYTES: u64 = 1 << 20;
/// What such a file is, for messages.
const KIND: &str = "a result file of IOMeter";

/// A result file that grows with every run.
pub(super) struct Results {
    path: PathBuf,
    /// None in a rehearsal.
    log: Option<Log>,
    session: Session,
    begun: bool,
    /// Place of the access specifications that were written last.
    specs_of: Option<usize>,
}

/// Now, local time, as IOMeter writes it.
fn stamp() -> String {
    let now = jiff::Zoned::now();
    format!("{}:{:03}", now.strftime("%Y-%m-%d %H:%M:%S"), now.millisecond())
}

impl Results {
    /// Claims the file, before anything is measured; `touch` tries whether its directory takes
    /// files.
    pub(super) fn claim(path: &Path, config: &Config, touch: bool) -> Result<Self, JobError> {
        let failed = |error: io::Error| {
            JobError::Companion(format!(
                "cannot write `{}`: {error}; nothing was measured",
                path.display()
            ))
        };
        let log = if touch {
            Some(Log::claim(path, KIND, is_one).map_err(failed)?)
        } else {
            Log::check(path, KIND, is_one).map_err(failed)?;
            None
        };
        let setup = config.setup.clone().unwrap_or_default();
        let number = TestType::ALL.iter().position(|t| *t == setup.test_type);
        let session = Session {
            test_type: number.and_then(|n| u8::try_from(n).ok()),
            description: setup.description,
            started: stamp(),
            ..Session::default()
        };
        Ok(Self { path: path.to_owned(), log, session, begun: false, specs_of: None })
    }

    /// Appends a run to the file.
    pub(super) fn add(
        &mut self,
        config: &Config,
        (place, run): (usize, &StepWorkload),
        measurement: &Measurement,
        cpu: Option<&HostCpu>,
    ) -> Result<(), String> {
        let with_specs = self.specs_of != Some(place);
        let ended = &stamp();
        let measured = Measured { config, place, run, measurement, cpu, ended, with_specs };
        let mut text = String::new();
        if !self.begun {
            let ends_a_line = self.log.as_ref().map_or(Ok(true), Log::ends_a_line);
            if !ends_a_line.map_err(|e| self.failure(&e))? {
                text.push('\n');
            }
            text.push_str(&self.session.head());
        }
        text.push_str(&measured.result().to_csv());
        self.append(&text).map_err(|e| self.failure(&e))?;
        (self.begun, self.specs_of) = (true, Some(place));
        Ok(())
    }

    /// Says how it ended, and where the results are. Nothing is written of what measured nothing.
    pub(super) fn end(mut self, whole: bool) -> Result<Option<PathBuf>, String> {
        let end = if whole { End::Whole } else { End::Aborted };
        if !self.begun {
            return Ok(None);
        }
        self.append(end.line()).map_err(|e| self.failure(&e))?;
        Ok(Some(self.path))
    }

    /// The error for a file that cannot be written.
    fn failure(&self, error: &io::Error) -> String {
        format!("cannot write `{}`: {error}", self.path.display())
    }

    /// In one piece, so that a crash leaves whole runs.
    fn append(&mut self, text: &str) -> io::Result<()> {
        let Some(log) = &mut self.log else { return Ok(()) };
        log.append(text)?;
        log.sync()
    }
}

/// Whether a file is a result file of IOMeter.
fn is_one(file: &File) -> io::Result<bool> {
    let mut bytes = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut bytes)?;
    Ok(is_result(&String::from_utf8_lossy(&bytes)))
}

/// Which rows the file asks for.
pub(super) fn record(config: &Config) -> Record {
    config.setup.as_ref().map_or(Record::All, |setup| setup.record)
}

/// Whether the file asks for results while the runs continue, which IOMeter writes into a second
/// file.
pub(super) fn wants_instantaneous(config: &Config) -> bool {
    config.display.iter().any(|line| line.trim_start().to_ascii_uppercase().starts_with("ENABLED,"))
}
