//! One call of SQLIO: understood, run, and printed as SQLIO prints it.

use std::fs;
use std::path::Path;

use dialects::sqlio::{
    Command, Invocation, Parameters, Surroundings, job, parameters, parse, threads,
};
use engine::Permissions;
use results::{Measurement, Status};
use workload::{Block, Bytes, Stream, Target, Workload};

use super::text::{SCRIPT_BYTES_MAX, text_of};
use crate::begun::{BegunFiles, announcements};
use crate::conduct::JobError;
use crate::cpus::check_cpus;
use crate::job::Description;
use crate::places::Places;
use crate::plan::Plan;
use crate::tool::{RunView, Terminal, ToolSession, to_json};

/// The size of a target that is not a real file.
const ARTIFICIAL_BYTES: u64 = 64 << 30;

/// Options of iosonde next to SQLIO's.
#[derive(Debug, Clone, Default)]
pub struct CallSettings {
    /// The place on this host for each file of the call.
    pub places: Places,
    /// Size of files that neither exist nor have a size in a parameter file.
    pub size: Option<Bytes>,
    /// Length of every run instead of `-s`.
    pub seconds: Option<f64>,
    /// The result is printed as JSON instead of SQLIO's text.
    pub json: bool,
}

/// A call that keeps SQLIO's rules.
#[derive(Debug)]
pub struct Call {
    command: Command,
    parameters: Option<(String, Vec<Parameters>)>,
    notes: Vec<String>,
}

/// A call with the files as they are now.
pub struct ReadyCall<'a> {
    call: &'a Call,
    job: dialects::sqlio::Job,
    permissions: Permissions,
    json: bool,
}

/// Is given what a call prints.
pub(super) type Out<'o> = dyn FnMut(&mut dyn Terminal, &str) -> Result<(), String> + 'o;

impl Call {
    /// Reads a call; `None` if it asks for the usage. `place` precedes each line of an error.
    ///
    /// # Errors
    /// What is wrong, line by line.
    pub fn read(
        tokens: &[String],
        settings: &CallSettings,
        place: &str,
    ) -> Result<Option<Self>, JobError> {
        let wrong = |text: String| {
            let lines: Vec<String> = text.lines().map(|line| format!("{place}{line}")).collect();
            JobError::Usage(lines.join("\n"))
        };
        let (command, notes) = match parse(tokens).map_err(|e| wrong(e.to_string()))? {
            Invocation::Usage => return Ok(None),
            Invocation::Run(command, notes) => (*command, notes),
        };
        let parameters = match &command.parameter_file {
            None => None,
            Some(name) => {
                let path = settings.places.drives().path(name).map_err(|e| wrong(e.to_string()))?;
                let text = text_of(&path, SCRIPT_BYTES_MAX)
                    .map_err(|e| wrong(format!("`-F{name}`: `{}`: {e}", path.display())))?;
                let lines = parameters(name, &text).map_err(|e| wrong(e.to_string()))?;
                Some((name.clone(), lines))
            }
        };
        let call = Self { command, parameters, notes };
        call.ready(settings).map_err(|error| match error {
            JobError::Usage(text) => wrong(text),
            other => other,
        })?;
        Ok(Some(call))
    }

    /// What the call does, with the files as they are now.
    ///
    /// # Errors
    /// It cannot be done.
    pub fn ready(&self, settings: &CallSettings) -> Result<ReadyCall<'_>, JobError> {
        let places = &settings.places;
        let (artificial, drives) = (places.is_artificial(), places.drives());
        let around = Surroundings {
            drives: &drives,
            current: &|path| if artificial { Some(ARTIFICIAL_BYTES) } else { current(path) },
            size_bytes: settings.size,
            seconds: settings.seconds,
        };
        let parameters =
            self.parameters.as_ref().map(|(name, lines)| (name.as_str(), lines.as_slice()));
        let job = job(&self.command, parameters, &around);
        let mut job = job.map_err(|complaints| JobError::Usage(complaints.to_string()))?;
        places.apply(&mut job.workload);
        check_cpus(&job.workload).map_err(JobError::Usage)?;
        let permissions = places.permissions(&job.workload.targets);
        Ok(ReadyCall { call: self, job, permissions, json: settings.json })
    }

    /// How many seconds the call takes.
    pub(super) fn seconds(&self, settings: &CallSettings) -> f64 {
        settings.seconds.unwrap_or(f64::from(self.command.seconds))
    }
}

/// Usable bytes of an existing file; `None` without a file. A file that iosonde began has none.
fn current(path: &Path) -> Option<u64> {
    fs::metadata(path).ok()?;
    let target = Target { path: path.to_owned(), size_bytes: None };
    let blocks = vec![Block { bytes: Bytes(1), weight: 1 }];
    let look = Workload::single(target, Stream { blocks, ..Stream::default() });
    let plan = engine::plan(&look, &Permissions::default()).ok()?.into_iter().next()?;
    Some(plan.file_bytes)
}

impl ReadyCall<'_> {
    /// The files that the call works on.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.job.workload.targets
    }

    /// The call as a plan; its result is then one of iosonde, and not SQLIO's text.
    #[must_use]
    pub fn plan(&self) -> Plan {
        Plan::Run(Box::new(self.job.workload.clone()))
    }

    /// Reports what differs from SQLIO.
    pub fn say_notes(&self, terminal: &mut dyn Terminal) {
        for note in self.call.notes.iter().chain(&self.job.notes) {
            terminal.message(&format!("note: {note}"));
        }
    }

    /// What it would do.
    ///
    /// # Errors
    /// A target cannot be used.
    pub fn describe(&self) -> Result<Description, JobError> {
        let workload = &self.job.workload;
        let (threads, in_flight) = (workload.threads(), workload.in_flight());
        let seconds = workload.seconds;
        Ok(Description {
            work: vec![workload.title()],
            notes: vec![format!(
                "threads: {threads}, in flight: {in_flight}, {seconds} s measured"
            )],
            ..Description::of(engine::plan(workload, &self.permissions)?)
        })
    }

    /// Runs it, and prints its result.
    ///
    /// # Errors
    /// Nothing was measured, or the result was not delivered or kept, and why.
    pub fn run(&self, session: &mut ToolSession<'_>) -> Result<Status, JobError> {
        self.run_into(session, &mut |display, text| display.print(text))
    }

    /// The same; `out` is given the text.
    pub(super) fn run_into(
        &self,
        session: &mut ToolSession<'_>,
        out: &mut Out<'_>,
    ) -> Result<Status, JobError> {
        let workload = &self.job.workload;
        let begin = !workload.engine.is_artificial();
        let _begun = begin.then(|| BegunFiles::of(&workload.targets)).transpose()?;
        let plans = engine::plan(workload, &self.permissions)?;
        for text in announcements(&plans) {
            session.terminal.message(&text);
        }
        let mut view = CallView { call: self, out };
        session.measure(workload, self.permissions.clone(), &mut view)
    }
}

/// Prints a call's measurement as SQLIO does.
struct CallView<'a, 'o> {
    call: &'a ReadyCall<'a>,
    out: &'a mut Out<'o>,
}

impl RunView for CallView<'_, '_> {
    fn show(
        &mut self,
        measurement: &Measurement,
        display: &mut dyn Terminal,
    ) -> Result<(), String> {
        let command = &self.call.call.command;
        for line in threads(command.debug, measurement) {
            display.message(&line);
        }
        let text = if self.call.json {
            to_json(measurement)?
        } else {
            self.call.job.printout(command, measurement).to_text()
        };
        (self.out)(display, &text)
    }
}
