//! A batch file or PowerShell script of SQLIO calls, run as it is. No shell is ever started.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dialects::sqlio::script::{Action, Around, Output, Step, power_script, script as read_script};
use inspect::files::Place;
use results::Status;
use workload::{EngineChoice, Target, show_duration};

use super::call::{Call, CallSettings};
use super::outputs::{Outputs, same};
use super::text::{SCRIPT_BYTES_MAX, text_of};
use crate::conduct::JobError;
use crate::ends::ends;
use crate::job::Description;
use crate::tool::ToolSession;

/// From one look at the signal to the next.
const LOOK: Duration = Duration::from_millis(50);

/// A step that can be done.
struct ReadyStep {
    line: usize,
    work: Work,
    output: Destination,
}

enum Work {
    Call(Box<Call>),
    Echo(String),
    Pause(f64),
}

/// Where what a step prints goes.
enum Destination {
    Stdout,
    Nowhere,
    File { path: PathBuf, append: bool },
}

/// A batch file of calls, each of which can be run.
pub struct Script {
    /// What differs from a shell, one sentence each.
    pub notes: Vec<String>,
    steps: Vec<ReadyStep>,
    settings: CallSettings,
}

impl Script {
    /// Reads a batch file, or a PowerShell script if its name ends in `.ps1`; `arguments` are the
    /// words after its name. All errors that can be known are reported before anything runs; a
    /// rehearsal does not even test whether it could write.
    ///
    /// # Errors
    /// What is wrong, line by line.
    pub fn read(
        file: &str,
        arguments: &[String],
        settings: CallSettings,
        is_rehearsal: bool,
    ) -> Result<Self, JobError> {
        let text = text_of(Path::new(file), SCRIPT_BYTES_MAX)
            .map_err(|e| JobError::Companion(format!("`{file}`: {e}")))?;
        let drives = settings.places.drives();
        let around = Around {
            variables: &|name| std::env::var(name).ok(),
            exists: &|name| drives.path(name).is_ok_and(|path| path.exists()),
            arguments,
            file,
        };
        let is_powershell =
            Path::new(file).extension().is_some_and(|e| e.eq_ignore_ascii_case("ps1"));
        let found =
            if is_powershell { power_script(&text, &around) } else { read_script(&text, &around) };
        let found = found.map_err(|complaints| {
            let lines: Vec<String> =
                complaints.0.iter().map(|c| format!("`{file}`, {c}")).collect();
            JobError::Usage(lines.join("\n"))
        })?;
        let mut reader = Reader {
            file,
            settings: &settings,
            is_rehearsal,
            outputs: Outputs::new(settings.places.overwrite),
            named: Vec::new(),
            wrong: Vec::new(),
        };
        let mut steps = Vec::new();
        for step in found.steps {
            steps.extend(reader.step(step)?);
        }
        let Reader { wrong, named, .. } = reader;
        if !wrong.is_empty() {
            return Err(JobError::Usage(wrong.join("\n")));
        }
        settings.places.check_destroy(&named)?;
        let notes = found.notes.iter().map(|note| format!("note: `{file}`, {note}")).collect();
        Ok(Self { notes, steps, settings })
    }

    /// What would be done, and on its last line how long it takes.
    #[must_use]
    pub fn describe(&self) -> Description {
        let (mut work, mut calls, mut seconds) = (Vec::new(), 0, 0.0);
        for ReadyStep { line, work: what, output } in &self.steps {
            let does = match what {
                Work::Call(call) => {
                    calls += 1;
                    seconds += call.seconds(&self.settings);
                    format!("sqlio for {}", show_duration(call.seconds(&self.settings)))
                }
                Work::Echo(_) => "a line of text".to_owned(),
                Work::Pause(pause) => {
                    seconds += pause;
                    format!("pause of {}", show_duration(*pause))
                }
            };
            let into = match output {
                Destination::Stdout => String::new(),
                Destination::Nowhere => ", printed nowhere".to_owned(),
                Destination::File { path, append } => {
                    let how = if *append { "behind" } else { "instead of" };
                    format!(", {how} what is in {}", path.display())
                }
            };
            work.push(format!("line {line}: {does}{into}"));
        }
        let end = ends(seconds).map_or_else(String::new, |end| format!("; ends about {end}"));
        let (plural, time) = (if calls == 1 { "" } else { "s" }, show_duration(seconds));
        work.push(format!("{calls} call{plural}, {time} with the pauses{end}"));
        Description { work, ..Description::default() }
    }

    /// Does the steps. One that fails does not keep the others from being done, as in a batch file.
    ///
    /// # Errors
    /// It was ended while a call made its files ready.
    pub fn run(&self, session: &mut ToolSession<'_>) -> Result<Status, JobError> {
        let mut status = Status::Complete;
        let mut outputs = Outputs::new(self.settings.places.overwrite);
        let files = self.steps.iter().enumerate().filter_map(|(index, step)| match &step.output {
            Destination::File { path, .. } => Some((same(path), index)),
            _ => None,
        });
        let last: HashMap<PathBuf, usize> = files.collect();
        for (index, step) in self.steps.iter().enumerate() {
            if session.is_stopped() {
                return Ok(Status::Interrupted);
            }
            match self.step(step, &mut outputs, session) {
                Ok(Status::Complete) => {}
                Ok(Status::Interrupted) => return Ok(Status::Interrupted),
                Ok(Status::Failed) => status = Status::Failed,
                Err(error) if error.is_interrupted() => return Err(error),
                Err(error) => {
                    status = Status::Failed;
                    session.failed(&format!("line {}", step.line), &error);
                }
            }
            if let Destination::File { path, .. } = &step.output
                && last.get(&same(path)) == Some(&index)
            {
                outputs.close(path);
            }
        }
        Ok(status)
    }

    fn step(
        &self,
        ReadyStep { work, output, .. }: &ReadyStep,
        outputs: &mut Outputs,
        session: &mut ToolSession<'_>,
    ) -> Result<Status, JobError> {
        // The file is made anew even if a call fails, as a shell would.
        if let Destination::File { path, append } = output {
            let begun = outputs.begin(path, *append);
            begun.map_err(|e| JobError::Companion(cannot_write(path, &e)))?;
        }
        match work {
            Work::Pause(seconds) => pause(*seconds, self.settings.places.engine, session),
            Work::Echo(text) => {
                let text = late(text) + "\n";
                let written = match output {
                    Destination::Stdout => session.terminal.print(&text),
                    other => write(outputs, other, &text),
                };
                written.map_err(JobError::Companion)?;
            }
            Work::Call(call) => {
                let call = call.ready(&self.settings)?;
                call.say_notes(session.terminal);
                return call.run_into(session, &mut |display, text| match output {
                    Destination::Stdout => display.print(text),
                    other => write(outputs, other, text),
                });
            }
        }
        Ok(Status::Complete)
    }
}

/// Makes sure of the steps of a file one by one.
struct Reader<'a> {
    file: &'a str,
    settings: &'a CallSettings,
    is_rehearsal: bool,
    outputs: Outputs,
    /// The names that `--destroy` may have: those of targets.
    named: Vec<Target>,
    wrong: Vec<String>,
}

impl Reader<'_> {
    /// A step; `None` if something is wrong with it.
    fn step(&mut self, step: Step) -> Result<Option<ReadyStep>, JobError> {
        let Step { line, column, action, output } = step;
        let place = format!("`{}`, line {line}, column {column}: ", self.file);
        let Some(work) = self.work(action, &place)? else { return Ok(None) };
        let output = match output {
            None => Destination::Stdout,
            Some(Output { file: None, .. }) => Destination::Nowhere,
            Some(Output { file: Some(name), append }) => {
                match self.settings.places.drives().path(&late(&name)) {
                    Ok(path) => Destination::File { path, append },
                    Err(error) => {
                        self.wrong.push(format!("{place}{error}"));
                        return Ok(None);
                    }
                }
            }
        };
        if let Destination::File { path, append } = &output {
            let tried = self.outputs.check(path, *append);
            let tried =
                tried.and_then(|()| if self.is_rehearsal { Ok(()) } else { Place::try_out(path) });
            if let Err(error) = tried {
                self.wrong.push(place + &cannot_write(path, &error));
            }
        }
        Ok(Some(ReadyStep { line, work, output }))
    }

    fn work(&mut self, action: Action, place: &str) -> Result<Option<Work>, JobError> {
        Ok(Some(match action {
            Action::Echo(text) => Work::Echo(text),
            Action::Pause(seconds) => {
                let most = self.settings.seconds.unwrap_or(f64::INFINITY);
                Work::Pause(f64::from(seconds).min(most))
            }
            Action::Call(arguments) => match Call::read(&arguments, self.settings, place) {
                Ok(Some(call)) => {
                    self.named.extend_from_slice(call.ready(self.settings)?.targets());
                    Work::Call(Box::new(call))
                }
                Ok(None) => Work::Echo(dialects::sqlio::USAGE.trim_end().to_owned()),
                Err(JobError::Usage(text)) => {
                    self.wrong.push(text);
                    return Ok(None);
                }
                Err(other) => return Err(other),
            },
        }))
    }
}

/// Simulated time is not waited for.
fn pause(seconds: f64, engine: EngineChoice, session: &ToolSession<'_>) {
    let begin = Instant::now();
    let over = || begin.elapsed().as_secs_f64() >= seconds || session.is_stopped();
    while engine != EngineChoice::Sim && !over() {
        std::thread::sleep(LOOK.min(Duration::from_secs_f64(seconds)));
    }
}

fn write(outputs: &mut Outputs, output: &Destination, text: &str) -> Result<(), String> {
    match output {
        Destination::Stdout | Destination::Nowhere => Ok(()),
        Destination::File { path, .. } => {
            outputs.write(path, text).map_err(|e| cannot_write(path, &e))
        }
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write `{}`: {error}", path.display())
}

/// The text with values that are known only now.
fn late(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let now = jiff::Zoned::now();
    let host = inspect::Inspector::new().host().hostname;
    text.replace("%DATE%", &now.strftime("%Y-%m-%d").to_string())
        .replace("%TIME%", &now.strftime("%H:%M:%S").to_string())
        .replace("%COMPUTERNAME%", &host)
}
