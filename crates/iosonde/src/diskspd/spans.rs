//! The time spans of a profile, one after the other.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use counters::{CpuCounters, Sampler};
use dialects::diskspd::command::{CommandLine, Events};
use dialects::diskspd::measured::span_result;
use dialects::diskspd::profile::Profile;
use dialects::diskspd::result::{RunResult, SpanResult};
use engine::Event;
use jiff::Timestamp;
use results::Measurement;

use super::events::{self, Watch};
use super::flags::DiskspdFlags;
use super::output::{self, Output};
use super::plan::{Planned, cannot, plan, precreate};
use super::system::{Machine, sample};
use crate::conducting::Manners;
use crate::exit::{Failure, Outcome, print};
use crate::run::{self, RunView};
use screen::Display;

/// Runs all time spans and writes the result.
pub(super) fn run(
    line: &CommandLine,
    flags: &DiskspdFlags,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let mut planned = plan(&line.profile, flags)?;
    let mut targets: Vec<_> = planned.iter().flat_map(|p| p.job.workload.targets.clone()).collect();
    output::check(flags, &targets)?;
    targets.extend(output::places(flags));
    flags.place.check_destroy(&targets)?;
    for planned in planned.iter_mut().filter(|planned| planned.stands_alone()) {
        planned.look()?;
    }
    if flags.dry_run {
        return dry_run(&planned);
    }
    let mut display = Display::new(flags.place.quiet);
    precreate(&line.profile, flags, stop, &mut display)?;
    drop(display);
    let machine = Machine::look(Timestamp::now());
    let mut run = Run {
        line,
        flags,
        result: RunResult { system: machine.info.clone(), spans: Vec::new() },
        machine,
        measurements: Vec::new(),
    };
    let (outcome, asked) = thread::scope(|scope| {
        let watch = Watch::begin(&line.events, stop, scope);
        let outcome = run.spans(&mut planned, stop);
        (outcome, watch.has_happened())
    });
    if run.measurements.is_empty() {
        return outcome;
    }
    // The result says how long was measured, if that is not what the command line says.
    let mut profile = line.profile.clone();
    profile.time_spans = planned.into_iter().map(|planned| planned.span).collect();
    let (result, measurements) = (&run.result, run.measurements.as_slice());
    Output { profile: &profile, result, measurements }.write(flags)?;
    match outcome {
        // It ended as it was told to.
        Ok(Outcome::Interrupted) if asked => Ok(Outcome::Done),
        outcome => outcome,
    }
}

fn dry_run(planned: &[Planned]) -> Result<Outcome, Failure> {
    for (index, planned) in planned.iter().enumerate() {
        let workload = &planned.job.workload;
        let text = if planned.stands_alone() { planned.describe()? } else { String::new() };
        let notes: Vec<String> =
            planned.job.notes.iter().map(|note| format!("note: {note}\n")).collect();
        print(&format!(
            "time span {}: {}\n{text}{}{} s of warm-up, {} s measured\n",
            index + 1,
            workload.title(),
            notes.concat(),
            workload.warmup_seconds,
            workload.seconds,
        ))?;
    }
    Ok(Outcome::Done)
}

/// A run and what it has given so far.
struct Run<'a> {
    line: &'a CommandLine,
    flags: &'a DiskspdFlags,
    machine: Machine,
    result: RunResult,
    measurements: Vec<Measurement>,
}

impl Run<'_> {
    fn spans(&mut self, planned: &mut [Planned], stop: &AtomicBool) -> Result<Outcome, Failure> {
        let (mut outcome, alone) = (Outcome::Done, planned.len() == 1);
        for (index, planned) in planned.iter_mut().enumerate() {
            if stop.load(Ordering::Relaxed) {
                self.result.spans.push(SpanResult::Interrupted);
                outcome = Outcome::Interrupted;
                continue;
            }
            let ended = self.span(planned, stop);
            if self.result.spans.len() == index {
                self.result.spans.push(match &ended {
                    Err(failure) if !matches!(failure, Failure::Interrupted(_)) => {
                        SpanResult::Failed(words_of(failure).lines().collect::<Vec<_>>().join("; "))
                    }
                    _ => SpanResult::Interrupted,
                });
            }
            match ended {
                Ok(Outcome::Done) => {}
                // A later success does not hide it.
                Ok(other) => outcome = other,
                Err(failure) if alone => return Err(failure),
                Err(Failure::Interrupted(_)) => outcome = Outcome::Interrupted,
                Err(failure) => {
                    outcome = Outcome::IoFailed;
                    // Said now, because the time spans that follow may take long.
                    say_failed(index, &failure);
                }
            }
        }
        Ok(outcome)
    }

    fn span(&mut self, planned: &mut Planned, stop: &AtomicBool) -> Result<Outcome, Failure> {
        let begun = planned.settle()?;
        let planned = &*planned;
        let quiet = self.flags.place.quiet;
        let mut display = Display::new(quiet);
        planned.job.notes.iter().for_each(|note| display.message(&format!("note: {note}")));
        planned.announce(&mut display);
        drop(display);
        let manners = Manners {
            manner: self.flags.place.manner(),
            json: false,
            recording: self.flags.recording.recording()?,
            permissions: planned.permissions.clone(),
        };
        let mut view = SpanView {
            witness: Witness::new(&self.line.events, &self.line.profile),
            events: &self.line.events,
            stop,
            quiet,
            measured: None,
        };
        let outcome = run::view(&planned.job.workload, &manners, &mut view, stop);
        let SpanView { witness, measured, .. } = view;
        let outcome = outcome.map_err(cannot);
        drop(begun);
        if let Some(measurement) = measured {
            let ticks = witness.ticks(&self.machine);
            let result = span_result(&planned.span, &planned.job, &measurement, ticks);
            self.result.spans.push(result);
            self.measurements.push(measurement);
        }
        outcome
    }
}

/// Watches a time span, and has its measurement.
struct SpanView<'a> {
    witness: Witness<'a>,
    events: &'a Events,
    stop: &'a AtomicBool,
    quiet: bool,
    measured: Option<Measurement>,
}

impl RunView for SpanView<'_> {
    fn hear(&mut self, event: &Event, display: &mut Display) {
        self.witness.hear(event, display);
    }

    /// Files are made before the event is waited for, so that what waits with it begins at the same
    /// time.
    fn ready(&mut self, display: &mut Display) {
        if let Some(event) = &self.events.ready {
            display.message(&format!("waiting for the event `{event}`, which is a file"));
            events::await_ready(self.events, self.stop);
        }
    }

    fn show(&mut self, measurement: &Measurement) -> Result<(), Failure> {
        if !self.quiet {
            let mut display = Display::new(false);
            let warnings = measurement.checks.warnings.iter();
            warnings.for_each(|text| display.message(&format!("warning: {text}")));
        }
        self.measured = Some(measurement.clone());
        Ok(())
    }
}

/// Says why a time span among others could not be run.
fn say_failed(index: usize, failure: &Failure) {
    for line in words_of(failure).lines() {
        Display::new(false).error(&format!("time span {}: {line}", index + 1));
    }
}

fn words_of(failure: &Failure) -> &str {
    let (Failure::CannotRun(text)
    | Failure::WrongUsage(text)
    | Failure::NotUnderstood(text)
    | Failure::Interrupted(text)) = failure;
    text
}

/// Who sees what happens while a time span runs.
struct Witness<'a> {
    events: &'a Events,
    /// A dot after so many completions; 0: none.
    progress: u32,
    verbose: bool,
    sampler: Option<Sampler>,
    began: Option<CpuCounters>,
    ended: Option<CpuCounters>,
    completions: f64,
    dots: f64,
}

impl<'a> Witness<'a> {
    fn new(events: &'a Events, profile: &Profile) -> Self {
        Self {
            events,
            progress: profile.progress,
            verbose: profile.verbose,
            sampler: Sampler::new(Vec::new()).ok(),
            began: None,
            ended: None,
            completions: 0.0,
            dots: 0.0,
        }
    }

    fn hear(&mut self, event: &Event, display: &mut Display) {
        match event {
            Event::WarmingUp { seconds } => {
                self.say(&format!("warming up for {seconds} s"), display);
            }
            Event::WindowBegan { seconds } => {
                self.began = sample(self.sampler.as_mut());
                self.say(&format!("measuring for {seconds} s"), display);
                Self::happens(self.events.started.as_deref(), display);
            }
            Event::WindowEnded => {
                self.ended = sample(self.sampler.as_mut());
                self.say("measured", display);
                Self::happens(self.events.finished.as_deref(), display);
            }
            Event::Interval { point, .. } if self.progress > 0 => {
                self.completions += (point.read_iops + point.write_iops) * point.seconds;
                let dots = (self.completions / f64::from(self.progress)).floor();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "saturates"
                )]
                let new = (dots - self.dots) as usize;
                self.dots = dots;
                // Stdout is for the result alone. What cannot be shown is not worth failing for.
                if new > 0 && !display.is_screen() {
                    let _ = writeln!(io::stderr(), "{}", ".".repeat(new.min(1 << 16)));
                }
            }
            _ => {}
        }
    }

    fn say(&self, text: &str, display: &mut Display) {
        if self.verbose {
            let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S");
            display.aside(&format!("{now}: {text}"));
        }
    }

    fn happens(event: Option<&str>, display: &mut Display) {
        if let Some(Err(Failure::CannotRun(text))) = event.map(events::set) {
            display.aside(&format!("warning: {text}"));
        }
    }

    /// What the processors did in the window.
    fn ticks(self, machine: &Machine) -> Vec<dialects::diskspd::result::CpuTicks> {
        match (self.began, self.ended) {
            (Some(began), Some(ended)) => machine.ticks(&began, &ended),
            _ => machine.ticks(&CpuCounters::default(), &CpuCounters::default()),
        }
    }
}
