//! The time spans of a profile, one after the other.

use std::sync::atomic::AtomicBool;
use std::thread;

use counters::{CpuCounters, Sampler};
use dialects::diskspd::command::{CommandLine, Events};
use dialects::diskspd::measured::span_result;
use dialects::diskspd::profile::Profile;
use dialects::diskspd::result::{RunResult, SpanResult};
use engine::Event;
use jiff::Timestamp;
use results::{Measurement, Status};

use super::events::{self, Watch};
use super::output::{self, Printed};
use super::plan::{ProfileSettings, SpanPlan, cannot, plan, precreate};
use super::system::{Machine, sample};
use crate::conduct::JobError;
use crate::job::Description;
use crate::plan::Plan;
use crate::tool::{RunView, Terminal, ToolSession};

/// The time spans of a profile, each of which can be run.
pub struct Spans<'a> {
    line: &'a CommandLine,
    settings: &'a ProfileSettings,
    planned: Vec<SpanPlan>,
}

impl<'a> Spans<'a> {
    /// Makes sure of all time spans and of where the result goes; a rehearsal does not even try to
    /// write.
    ///
    /// # Errors
    /// Everything that keeps them from being run.
    pub fn of(
        line: &'a CommandLine,
        settings: &'a ProfileSettings,
        is_rehearsal: bool,
    ) -> Result<Self, JobError> {
        let mut planned = plan(&line.profile, settings)?;
        let targets: Vec<_> = planned.iter().flat_map(|p| p.job.workload.targets.clone()).collect();
        output::check(settings, &targets, is_rehearsal)?;
        settings.places.check_destroy(&targets)?;
        for planned in planned.iter_mut().filter(|planned| planned.stands_alone()) {
            planned.look()?;
        }
        Ok(Self { line, settings, planned })
    }

    /// The time span as a plan; its result is then one of iosonde, and not DiskSpd's.
    ///
    /// # Errors
    /// There are several.
    pub fn plan(&self) -> Result<Plan, JobError> {
        match self.planned.as_slice() {
            [span] => Ok(Plan::Run(Box::new(span.job.workload.clone()))),
            spans => Err(JobError::Usage(format!(
                "the profile has {} time spans, and a plan is one run: keep one of them",
                spans.len()
            ))),
        }
    }

    /// What each time span would do.
    ///
    /// # Errors
    /// A target cannot be used.
    pub fn describe(&self) -> Result<Vec<Description>, JobError> {
        self.planned.iter().enumerate().map(|(index, span)| span.describe(index + 1)).collect()
    }

    /// Runs all time spans and writes the result.
    ///
    /// # Errors
    /// Nothing was measured, or the result cannot be written.
    pub fn run(mut self, session: &mut ToolSession<'_>) -> Result<Status, JobError> {
        let (line, settings) = (self.line, self.settings);
        precreate(&line.profile, settings, session)?;
        let machine = Machine::look(Timestamp::now());
        let stop = session.stop;
        let mut run = Run {
            line,
            result: RunResult { system: machine.info.clone(), spans: Vec::new() },
            machine,
            measurements: Vec::new(),
            session,
        };
        let (status, asked) = thread::scope(|scope| {
            let watch = Watch::begin(&line.events, stop, scope);
            let status = run.spans(&mut self.planned);
            (status, watch.has_happened())
        });
        if run.measurements.is_empty() {
            return status;
        }
        // The result says how long was measured, if that is not what the command line says.
        let mut profile = line.profile.clone();
        profile.time_spans = self.planned.into_iter().map(|planned| planned.span).collect();
        let (result, measurements) = (&run.result, run.measurements.as_slice());
        let output = Printed { profile: &profile, result, measurements };
        output.write(settings, run.session.terminal).map_err(JobError::Companion)?;
        match status {
            // The event that the command line names ended it: it counts as complete.
            Ok(Status::Interrupted) if asked => Ok(Status::Complete),
            status => status,
        }
    }
}

/// A run and what it has given so far.
struct Run<'a, 's> {
    line: &'a CommandLine,
    machine: Machine,
    result: RunResult,
    measurements: Vec<Measurement>,
    session: &'a mut ToolSession<'s>,
}

impl Run<'_, '_> {
    fn spans(&mut self, planned: &mut [SpanPlan]) -> Result<Status, JobError> {
        let (mut status, alone) = (Status::Complete, planned.len() == 1);
        for (index, planned) in planned.iter_mut().enumerate() {
            if self.session.is_stopped() {
                self.result.spans.push(SpanResult::Interrupted);
                status = Status::Interrupted;
                continue;
            }
            let ended = self.span(planned);
            if self.result.spans.len() == index {
                self.result.spans.push(match &ended {
                    Err(error) if !error.is_interrupted() => {
                        SpanResult::Failed(error.to_string().lines().collect::<Vec<_>>().join("; "))
                    }
                    _ => SpanResult::Interrupted,
                });
            }
            match ended {
                Ok(Status::Complete) => {}
                // A later success does not hide it.
                Ok(other) => status = other,
                Err(error) if alone => return Err(error),
                Err(error) if error.is_interrupted() => status = Status::Interrupted,
                Err(error) => {
                    status = Status::Failed;
                    // Said now, because the time spans that follow may take long.
                    self.session.failed(&format!("time span {}", index + 1), &error);
                }
            }
        }
        Ok(status)
    }

    fn span(&mut self, planned: &mut SpanPlan) -> Result<Status, JobError> {
        let _begun = planned.settle()?;
        let planned = &*planned;
        let notes = planned.job.notes.iter().map(|note| format!("note: {note}"));
        for text in notes.chain(planned.announcements()) {
            self.session.terminal.message(&text);
        }
        let mut view = SpanView {
            witness: Witness::new(&self.line.events, &self.line.profile),
            events: &self.line.events,
            stop: self.session.stop,
            measured: None,
        };
        let permissions = planned.permissions.clone();
        let ended = self.session.measure(&planned.job.workload, permissions, &mut view);
        let SpanView { witness, measured, .. } = view;
        if let Some(measurement) = measured {
            let ticks = witness.ticks(&self.machine);
            let result = span_result(&planned.span, &planned.job, &measurement, ticks);
            self.result.spans.push(result);
            self.measurements.push(measurement);
        }
        ended.map_err(cannot)
    }
}

/// Watches a time span, and has its measurement.
struct SpanView<'a> {
    witness: Witness<'a>,
    events: &'a Events,
    stop: &'a AtomicBool,
    measured: Option<Measurement>,
}

impl RunView for SpanView<'_> {
    fn hear(&mut self, event: &Event, display: &mut dyn Terminal) {
        self.witness.hear(event, display);
    }

    /// Files are made before the event is waited for, so that what waits with it begins at the same
    /// time.
    fn ready(&mut self, display: &mut dyn Terminal) {
        if let Some(event) = &self.events.ready {
            display.message(&format!("waiting for the event `{event}`, which is a file"));
            events::await_ready(self.events, self.stop);
        }
    }

    fn show(&mut self, measurement: &Measurement, _: &mut dyn Terminal) -> Result<(), String> {
        self.measured = Some(measurement.clone());
        Ok(())
    }
}

/// The sink of events while a time span runs.
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

    fn hear(&mut self, event: &Event, display: &mut dyn Terminal) {
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
                if new > 0 {
                    display.dots(new.min(1 << 16));
                }
            }
            _ => {}
        }
    }

    fn say(&self, text: &str, display: &mut dyn Terminal) {
        if self.verbose {
            let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S");
            display.aside(&format!("{now}: {text}"));
        }
    }

    fn happens(event: Option<&str>, display: &mut dyn Terminal) {
        if let Some(Err(error)) = event.map(events::set) {
            display.aside(&format!("warning: {error}"));
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
