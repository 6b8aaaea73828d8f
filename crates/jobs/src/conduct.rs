//! From a plan to its documents.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use engine::{Clock, EngineError, Go, Observer, Permissions, PrepareError, Prompt, Start};
use history::HistoryError;
use inspect::shell_word;
use results::{Document, Status};
use survey::{LabContext, LabRecord, Progress};
use thiserror::Error;

use crate::event::{Event, Sink};
use crate::job::Job;
use crate::monitor::WatchError;
use crate::plan::{Plan, PlanError};
use crate::recorder::{Recorder, Recording, UnfinishedJob};
use crate::run::HeldTargets;
use crate::subject::Subject;

/// The surroundings of a job: its permissions, its sinks, and its place in a history.
pub struct Session<'a> {
    /// What may be done to the targets.
    pub permissions: Permissions,
    /// Where results are kept; `None` keeps none.
    pub recording: Option<&'a Recording>,
    /// Hears everything and is given the documents.
    pub sink: &'a mut dyn Sink,
    /// If it is set, the job ends early: documents then have what was measured until then.
    pub stop: &'a AtomicBool,
    /// The experiment that is resumed; `None` for a new one.
    pub resumed: Option<UnfinishedJob>,
}

/// The documents of a job that came to an end.
#[derive(Debug)]
pub struct Conducted {
    /// One for each result; several where targets took turns.
    pub documents: Vec<Document>,
    /// Why something was not delivered or not kept, as sentences.
    pub kept: Result<(), String>,
}

/// Why a job has no document.
#[derive(Debug, Error)]
pub enum JobError {
    /// The plan cannot be carried out.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The targets cannot be made ready, or a rule of the workload is broken.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The I/O engine cannot start or continue.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The history cannot be used.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// It was asked for in a way that cannot be.
    #[error("{0}")]
    Usage(String),
    /// The job cannot be done on this host.
    #[error("{0}")]
    CannotRun(String),
    /// It was ended before there was anything to show.
    #[error("{0}")]
    Interrupted(String),
    /// A target or database that cannot be watched.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// A command line or a profile of another tool is wrong, and that tool has an exit code for it.
    #[error("{0}")]
    NotUnderstood(String),
    /// Something besides the job failed, such as a file of results for another tool.
    #[error("{0}")]
    Companion(String),
}

impl JobError {
    /// Whether a signal ended it before there was anything to show.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Prepare(PrepareError::Interrupted))
    }
}

impl From<serde_json::Error> for JobError {
    fn from(error: serde_json::Error) -> Self {
        Self::Plan(error.into())
    }
}

/// Carries out a plan from its beginning.
///
/// # Errors
/// Nothing was measured, and why.
pub fn conduct(plan: &Plan, session: &mut Session<'_>) -> Result<Conducted, JobError> {
    plan.job().run(session)
}

/// A job of one document that keeps its measurements as they come.
///
/// # Errors
/// Nothing was measured, and why.
pub fn conduct_one(
    session: &mut Session<'_>,
    job: &dyn Job,
    make: impl FnOnce(LabContext<'_>) -> Result<Document, PrepareError>,
) -> Result<Conducted, JobError> {
    conduct_resumed_by(None, session, job, make)
}

/// The same for one that another command than `iosonde again --resume` resumes.
pub(crate) fn conduct_resumed_by(
    command: Option<String>,
    session: &mut Session<'_>,
    job: &dyn Job,
    make: impl FnOnce(LabContext<'_>) -> Result<Document, PrepareError>,
) -> Result<Conducted, JobError> {
    let stop = session.stop;
    let relay = Relay { command, ..Relay::open(session, job)? };
    let record = relay.record()?;
    let mut begins = None;
    let mut observe = |progress: Progress<'_>| {
        // The first step makes the targets ready.
        if matches!(progress, Progress::Step { number: 2.., .. }) {
            begins.get_or_insert_with(|| relay.wait_for_start());
        }
        relay.hear(&progress);
    };
    let document = make(LabContext { record, ..LabContext::new(stop, &mut observe) });
    let document = document.inspect_err(|_| relay.give_up())?;
    if begins == Some(false) {
        relay.give_up();
        return Err(EngineError::CalledOff.into());
    }
    Ok(relay.finish(document))
}

/// The command that resumes a job that ended early; `None` if it is complete or not recorded.
pub(crate) fn resumption(
    document: &Document,
    recorder: &Recorder,
    (recording, permissions): (Option<&Recording>, &Permissions),
) -> Option<String> {
    let is_left = document.status() != Status::Complete && recorder.is_begun();
    let recording = recording.filter(|_| is_left)?;
    let history = recording.named.iter().map(|place| format!(" --history {}", shell_word(place)));
    let destroy = permissions.destroy.iter();
    let destroy = destroy.map(|named| format!(" --destroy {}", shell_word(named.to_string())));
    let command = format!("iosonde again --resume {}", document.id());
    Some([command].into_iter().chain(history).chain(destroy).collect())
}

/// Passes an event to the recorder and then to the sink: an event says that a result is kept only
/// after it is.
pub(crate) struct Relay<'s> {
    recorder: RefCell<Recorder>,
    sink: RefCell<&'s mut dyn Sink>,
    /// The plan that the document stores.
    plan: Option<serde_json::Value>,
    /// The experiment that is resumed.
    resumed: Option<UnfinishedJob>,
    /// What its resumption needs, where a plan can be resumed.
    recording: Option<(&'s Recording, Permissions)>,
    /// The command that resumes it, if that is not `iosonde again --resume`.
    command: Option<String>,
}

impl<'s> Relay<'s> {
    /// Opens the history of the session.
    pub(crate) fn open(session: &'s mut Session<'_>, job: &dyn Job) -> Result<Self, JobError> {
        let plan = job.plan();
        // Hosts that are reached in another way than usual are named again.
        let is_fleet = matches!(plan, Plan::Fleet(_));
        let is_resumable = plan.instead_of_resuming().is_none() && !is_fleet;
        let permissions = session.permissions.clone();
        let recording = session.recording.filter(|_| is_resumable);
        let relay = Self::of(session, job.subject()?, plan.carried_json())?;
        Ok(Self { recording: recording.map(|recording| (recording, permissions)), ..relay })
    }

    /// The same for what no plan repeats.
    pub(crate) fn of(
        session: &'s mut Session<'_>,
        subject: Subject,
        plan: Option<serde_json::Value>,
    ) -> Result<Self, HistoryError> {
        let recorder = Recorder::open(session.recording, subject)?;
        let resumed = session.resumed.take();
        let (recorder, sink) = (RefCell::new(recorder), RefCell::new(&mut *session.sink));
        Ok(Self { recorder, sink, plan, resumed, recording: None, command: None })
    }

    /// What was measured of an experiment that is resumed.
    pub(crate) fn record(&self) -> Result<Option<LabRecord>, HistoryError> {
        let Some(job) = &self.resumed else { return Ok(None) };
        let record = self.recorder.borrow_mut().resumes_in_order(job)?;
        self.notice(format!("{} measurements are there already", record.measurements.len()));
        Ok(Some(record))
    }

    pub(crate) fn recorder(&self) -> &RefCell<Recorder> {
        &self.recorder
    }

    /// Passes an event to those who watch, and to the sink.
    pub(crate) fn pass(&self, event: &Event) {
        self.recorder.borrow().tell(event);
        self.sink.borrow_mut().hear(event);
    }

    /// Whether the reader of the output has gone.
    pub(crate) fn is_left(&self) -> bool {
        self.sink.borrow_mut().is_left()
    }

    /// Sends a sentence to the user.
    pub(crate) fn notice(&self, text: String) {
        self.sink.borrow_mut().hear(&Event::Notice { text });
    }

    pub(crate) fn hear(&self, progress: &Progress<'_>) {
        let event = Event::of(progress);
        let mut notify = |text| self.notice(text);
        let mut recorder = self.recorder.borrow_mut();
        match progress {
            Progress::Began { id, started } => recorder.named(id, started, &mut notify),
            Progress::Measured(measurement) => recorder.measured(measurement, &mut notify),
            _ => {}
        }
        drop(recorder);
        self.pass(&event);
    }

    /// Tells those who wait for it what is ready.
    pub(crate) fn targets_ready(&self, targets: &HeldTargets) {
        self.sink.borrow_mut().targets_ready(targets);
    }

    /// Waits until the job may begin what it measures; whether it may. A job that may not ends by
    /// its signal to stop.
    pub(crate) fn wait_for_start(&self) -> bool {
        let start = self.sink.borrow_mut().ready();
        if let Start::At(at_ns) = start {
            let (clock, _prompt) = (Clock::get(), Prompt::take());
            engine::sleep_until(clock, at_ns);
            let late_ns = clock.now().saturating_sub(at_ns);
            let begun = engine::Event::ThreadsStarted { after_ns: late_ns, late_ns };
            self.pass(&Event::Engine(begun));
        }
        start != Start::Never
    }

    /// Names the files that remain if the program is killed from now on.
    pub(crate) fn leaves_behind(&self, words: Option<&str>) {
        self.sink.borrow_mut().leaves_behind(words);
    }

    /// Delivers the document with its plan, then keeps it.
    pub(crate) fn finish(&self, mut document: Document) -> Conducted {
        document.set_plan(self.plan.clone());
        let delivered = self.sink.borrow_mut().deliver(&document);
        let mut recorder = self.recorder.borrow_mut();
        let kept = recorder.finish(&document);
        if let (Ok(()), Some(event)) = (&kept, recorder.kept_event()) {
            self.sink.borrow_mut().hear(&event);
        }
        if let Some((recording, permissions)) = &self.recording
            && let Some(usual) = resumption(&document, &recorder, (Some(recording), permissions))
        {
            let command = self.command.as_ref().unwrap_or(&usual);
            self.notice(format!("resume it with `{command}`"));
        }
        Conducted { documents: vec![document], kept: both(delivered, kept) }
    }

    pub(crate) fn give_up(&self) {
        self.recorder.borrow_mut().give_up();
    }
}

/// What the engine does in a job of one measurement.
impl Observer for &Relay<'_> {
    fn event(&mut self, event: &engine::Event) -> Go {
        self.hear(&Progress::Engine(event));
        Go::On
    }

    fn start(&mut self) -> Start {
        self.sink.borrow_mut().ready()
    }
}

/// A full disk may cost a report and the record. Both errors are reported.
pub(crate) fn both(first: Result<(), String>, second: Result<(), String>) -> Result<(), String> {
    match (first, second) {
        (Err(first), Err(second)) => Err(format!("{first}\n{second}")),
        (first, second) => first.and(second),
    }
}
