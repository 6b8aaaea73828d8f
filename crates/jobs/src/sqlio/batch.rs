//! Every combination of lists on each drive, as the SQLIO_Batch script measured them, with SQLIO's
//! text in a file. It is a sweep; its texts are a companion of that.

use std::io;
use std::path::{Path, PathBuf};

use dialects::drives::Drives;
use dialects::sqlio::{Buffering, Command, Surroundings, Timing, Walk, job};
use inspect::files::Log;
use results::Measurement;
use workload::sweep::Cell;
use workload::{Pattern, Target};

use super::outputs::is_output;
use crate::conduct::JobError;
use crate::places::Places;
use crate::sweep::Companion;

/// The largest file of texts that is read, in bytes: a test has about 1 KB.
const TEXTS_MAX: u64 = 1 << 30;

/// The files that a batch uses.
#[derive(Debug, Default)]
pub struct BatchTargets {
    /// The targets, one per drive.
    pub targets: Vec<Target>,
    /// The name of each in SQLIO's text.
    pub names: Vec<String>,
}

impl BatchTargets {
    /// One file per drive.
    ///
    /// # Errors
    /// A drive is not mapped, or is named twice.
    pub fn of(drives: &[String], file: &str, places: &Places) -> Result<Self, JobError> {
        let (mut found, mut wrong) = (Self::default(), Vec::new());
        let targets = &mut found.targets;
        for drive in drives {
            let name = file_on(drive, file);
            match places.drives().path(&name) {
                _ if places.is_artificial() => {
                    targets.push(Target { path: PathBuf::from(&name), size_bytes: None });
                }
                Ok(path) if targets.iter().any(|t| t.path == path) => {
                    let path = path.display();
                    wrong.push(format!(
                        "`{drive}` is `{path}`, as a drive before it: each is named once"
                    ));
                }
                Ok(path) => targets.push(Target { path, size_bytes: None }),
                Err(error) => wrong.push(error.to_string()),
            }
            found.names.push(name);
        }
        if wrong.is_empty() { Ok(found) } else { Err(JobError::Usage(wrong.join("\n"))) }
    }
}

/// `G:testfile.dat`, or the file in a directory.
fn file_on(drive: &str, file: &str) -> String {
    let letter = drive.trim_end_matches(':');
    if letter.len() == 1 && letter.bytes().all(|b| b.is_ascii_alphanumeric()) {
        format!("{letter}:{file}")
    } else {
        Path::new(drive).join(file).display().to_string()
    }
}

/// SQLIO's text of every test, appended to a file as the tests are finished.
#[derive(Debug)]
pub struct BatchTexts {
    buffering: Buffering,
    names: Vec<String>,
    path: PathBuf,
    /// The open file, from the beginning of the tests.
    log: Option<Log>,
    /// What was in the file before. A process that is killed may have kept a test and not written
    /// its text.
    earlier: String,
    /// The command that resumes an interrupted batch.
    pub resumption: Option<String>,
    /// Names were found already; here they are only printed.
    anywhere: Drives,
}

impl BatchTexts {
    /// Texts of tests on files of these names; where no file is named, one of today's date.
    #[must_use]
    pub fn new(result: Option<PathBuf>, names: Vec<String>, buffering: Buffering) -> Self {
        let date = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
        let dated = || PathBuf::from(format!("SQLIO_Result.{date}.txt"));
        let letters = ('A'..='Z').chain('0'..='9').filter_map(|d| format!("{d}=.").parse().ok());
        let path = result.unwrap_or_else(dated);
        let anywhere = Drives::new(letters.collect());
        Self {
            buffering,
            names,
            path,
            log: None,
            earlier: String::new(),
            resumption: None,
            anywhere,
        }
    }

    /// The path of the result file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text of a cell as SQLIO prints it.
    fn text(&self, cell: &Cell, measurement: &Measurement) -> Result<String, String> {
        let name =
            cell.targets.first().and_then(|t| self.names.get(*t)).cloned().unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let seconds = cell.seconds.ceil() as u32;
        let command = Command {
            writes: cell.write_percent > 0,
            threads: Some(cell.threads),
            seconds,
            order: if cell.pattern == Pattern::Random { Walk::Random } else { Walk::Sequential },
            block_kib: u32::try_from(cell.block_bytes.0 >> 10).unwrap_or(u32::MAX),
            outstanding: cell.depth,
            buffering: self.buffering,
            latency: Some(Timing { processor: false, initiation: false }),
            files: vec![name],
            ..Command::default()
        };
        let size = measurement.file_bytes;
        let around = Surroundings {
            drives: &self.anywhere,
            current: &|_| Some(size),
            size_bytes: None,
            seconds: None,
        };
        let job = job(&command, None, &around).map_err(|e| e.to_string())?;
        Ok(job.printout(&command, measurement).to_text())
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        self.log.as_mut().map_or(Ok(()), |log| log.append(text))
    }
}

impl Companion for BatchTexts {
    fn resumption(&self) -> Option<String> {
        self.resumption.clone()
    }

    fn begin(&mut self) -> Result<(), String> {
        let path = self.path.display().to_string();
        let failed = |e: io::Error| format!("cannot write `{path}`: {e}; nothing was measured");
        let log = Log::claim(&self.path, "an output of SQLIO", is_output).map_err(failed)?;
        if !log.is_new() {
            let bytes = inspect::reading::bytes(&self.path, TEXTS_MAX).map_err(failed)?;
            self.earlier = String::from_utf8_lossy(&bytes).into();
        }
        self.log = Some(log);
        Ok(())
    }

    fn measured(
        &mut self,
        cell: &Cell,
        measurement: &Measurement,
        is_new: bool,
    ) -> Result<(), String> {
        let text = self.text(cell, measurement)?;
        if !is_new && self.earlier.contains(&text) {
            return Ok(());
        }
        self.append(&text).map_err(|e| format!("cannot write `{}`: {e}", self.path.display()))
    }
}
