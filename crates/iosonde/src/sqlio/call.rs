//! One call of SQLIO: understood, run, and printed as SQLIO prints it.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use dialects::sqlio::{Around, Asked, Command, Job, Parameters, job, parameters, parse};
use engine::Permissions;
use jobs::{BegunFiles, announcements, check_cpus};
use results::Measurement;
use workload::{Bytes, Stream, Target, Workload};

use super::flags::SqlioFlags;
use super::input::{SCRIPT_BYTES_MAX, text_of};
use super::threads;
use crate::conducting::Manners;
use crate::exit::{Failure, Outcome, print};
use crate::run::{self, RunView, describe, json};
use screen::Display;

/// The size of what is no real file.
const ARTIFICIAL_BYTES: u64 = 64 << 30;

/// A call that keeps SQLIO's rules.
pub(super) struct Call {
    command: Command,
    parameters: Option<(String, Vec<Parameters>)>,
    notes: Vec<String>,
}

/// Reads a call; none where it asks for the usage. `place` stands in front of what is wrong.
pub(super) fn read(
    tokens: &[String],
    flags: &SqlioFlags,
    place: &str,
) -> Result<Option<Call>, Failure> {
    let wrong = |text: String| {
        let lines: Vec<String> = text.lines().map(|line| format!("{place}{line}")).collect();
        Failure::WrongUsage(lines.join("\n"))
    };
    let (command, notes) = match parse(tokens).map_err(|e| wrong(e.to_string()))? {
        Asked::Usage => return Ok(None),
        Asked::Run(command, notes) => (*command, notes),
    };
    let parameters = match &command.parameter_file {
        None => None,
        Some(name) => {
            let path = flags.place.drives().path(name).map_err(|e| wrong(e.to_string()))?;
            let text = text_of(&path, SCRIPT_BYTES_MAX)
                .map_err(|e| wrong(format!("`-F{name}`: `{}`: {e}", path.display())))?;
            let lines = parameters(name, &text).map_err(|e| wrong(e.to_string()))?;
            Some((name.clone(), lines))
        }
    };
    let call = Call { command, parameters, notes };
    call.job(flags).map_err(|error| match error {
        Failure::WrongUsage(text) => wrong(text),
        other => other,
    })?;
    Ok(Some(call))
}

impl Call {
    /// What the call does, with the files as they are now.
    fn job(&self, flags: &SqlioFlags) -> Result<Job, Failure> {
        let artificial = flags.place.is_artificial();
        let drives = flags.place.drives();
        let around = Around {
            drives: &drives,
            current: &|path| if artificial { Some(ARTIFICIAL_BYTES) } else { current(path) },
            size_bytes: flags.size,
            seconds: flags.seconds,
        };
        let parameters =
            self.parameters.as_ref().map(|(name, lines)| (name.as_str(), lines.as_slice()));
        let job = job(&self.command, parameters, &around);
        let mut job = job.map_err(|complaints| Failure::WrongUsage(complaints.to_string()))?;
        flags.place.apply(&mut job.workload)?;
        check_cpus(&job.workload).map_err(Failure::WrongUsage)?;
        Ok(job)
    }

    /// The files it works on.
    pub(super) fn targets(&self, flags: &SqlioFlags) -> Result<Vec<Target>, Failure> {
        self.job(flags).map(|job| job.workload.targets)
    }

    /// Seconds it takes.
    pub(super) fn seconds(&self, flags: &SqlioFlags) -> f64 {
        flags.seconds.unwrap_or(f64::from(self.command.seconds))
    }
}

/// Usable bytes of what is there; none where nothing is. A file that iosonde began is there without
/// any.
fn current(path: &Path) -> Option<u64> {
    fs::metadata(path).ok()?;
    let target = Target { path: path.to_owned(), size_bytes: None };
    let look = Workload::single(
        target,
        Stream {
            blocks: vec![workload::Block { bytes: Bytes(1), weight: 1 }],
            ..Stream::default()
        },
    );
    let plan = engine::plan(&look, &Permissions::default()).ok()?.into_iter().next()?;
    Some(plan.file_bytes)
}

/// Runs a call. `out` is given the text.
pub(super) fn run(
    call: &Call,
    flags: &SqlioFlags,
    stop: &AtomicBool,
    out: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let job = call.job(flags)?;
    let targets = &job.workload.targets;
    let permissions = flags.place.permissions(targets);
    let mut display = Display::new(flags.place.quiet);
    for note in call.notes.iter().chain(&job.notes) {
        display.message(&format!("note: {note}"));
    }
    if flags.dry_run {
        return dry_run(&job, &permissions);
    }
    let begun =
        if flags.place.is_artificial() { BegunFiles::default() } else { BegunFiles::of(targets)? };
    let plans = engine::plan(&job.workload, &permissions)?;
    announcements(&plans).iter().for_each(|text| display.message(text));
    drop(display);
    let manners = Manners {
        manner: flags.place.manner(),
        json: flags.json,
        recording: flags.recording.recording()?,
        permissions,
    };
    let mut view = CallView { job: &job, call, flags, out };
    let done = run::view(&job.workload, &manners, &mut view, stop);
    drop(begun);
    done
}

/// Prints a call's measurement as SQLIO does.
struct CallView<'a> {
    job: &'a Job,
    call: &'a Call,
    flags: &'a SqlioFlags,
    out: &'a mut dyn FnMut(&str) -> Result<(), Failure>,
}

impl RunView for CallView<'_> {
    fn show(&mut self, measurement: &Measurement) -> Result<(), Failure> {
        let command = &self.call.command;
        if !self.flags.place.quiet {
            let display = &mut Display::new(false);
            let warnings = measurement.checks.warnings.iter();
            warnings.for_each(|text| display.message(&format!("warning: {text}")));
            threads::show(command.debug, measurement, display);
        }
        (self.out)(&if self.flags.json {
            json(measurement)?
        } else {
            self.job.printout(command, measurement).to_text()
        })
    }
}

fn dry_run(job: &Job, permissions: &Permissions) -> Result<Outcome, Failure> {
    let plans = engine::plan(&job.workload, permissions)?;
    let (threads, in_flight) = (job.workload.threads(), job.workload.in_flight());
    let (title, seconds) = (job.workload.title(), job.workload.seconds);
    let text = describe(&plans);
    print(&format!(
        "{title}\n{text}threads: {threads}, in flight: {in_flight}, {seconds} s measured\n"
    ))?;
    Ok(Outcome::Done)
}
