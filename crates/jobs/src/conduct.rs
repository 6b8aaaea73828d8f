//! From a plan to its documents.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use engine::{EngineError, Permissions, PrepareError};
use history::HistoryError;
use results::Document;
use survey::Progress;
use thiserror::Error;

use crate::event::{Event, Sink};
use crate::job::Job;
use crate::plan::{Plan, PlanError};
use crate::recorder::{Recorder, Recording};

/// What surrounds a job: what it may do, who hears of it, and where it is kept.
pub struct Session<'a> {
    /// What may be done to the targets.
    pub permissions: Permissions,
    /// Where results are kept; none keeps nothing.
    pub recording: Option<&'a Recording>,
    /// Hears everything and is given the documents.
    pub sink: &'a mut dyn Sink,
    /// Set, it ends the job early: documents then have what was measured until then.
    pub stop: &'a AtomicBool,
}

/// Hears what a survey does.
type Observe<'o> = &'o mut dyn FnMut(Progress<'_>);

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
    /// The engine cannot run.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The history cannot be used.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// What was asked for is wrong.
    #[error("{0}")]
    Usage(String),
    /// A command line or a profile of another tool is wrong, where that tool has an exit code for
    /// it.
    #[error("{0}")]
    NotUnderstood(String),
    /// Something besides the job cannot be done, such as a file of results for another tool.
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
        Self::Plan(PlanError::Json(error.to_string()))
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
pub(crate) fn conduct_one(
    session: &mut Session<'_>,
    job: &dyn Job,
    make: impl FnOnce(&AtomicBool, Observe<'_>) -> Result<Document, PrepareError>,
) -> Result<Conducted, JobError> {
    let stop = session.stop;
    let relay = Relay::open(session, job)?;
    let document =
        make(stop, &mut |progress| relay.hear(&progress)).inspect_err(|_| relay.give_up())?;
    Ok(relay.finish(document))
}

/// Passes what happens to the recorder and to the sink, in this order: what is told as kept is
/// kept.
pub(crate) struct Relay<'s> {
    recorder: RefCell<Recorder>,
    sink: RefCell<&'s mut dyn Sink>,
    /// What the document carries.
    plan: Option<serde_json::Value>,
}

impl<'s> Relay<'s> {
    /// Opens the history of the session.
    pub(crate) fn open(session: &'s mut Session<'_>, job: &dyn Job) -> Result<Self, JobError> {
        let recorder = Recorder::open(session.recording, job.subject()?)?;
        let (recorder, sink) = (RefCell::new(recorder), RefCell::new(&mut *session.sink));
        Ok(Self { recorder, sink, plan: job.plan().to_json() })
    }

    pub(crate) fn recorder(&self) -> &RefCell<Recorder> {
        &self.recorder
    }

    pub(crate) fn ready(&self) {
        self.sink.borrow_mut().ready();
    }

    /// A sentence for the user.
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
        recorder.tell(&event);
        self.sink.borrow_mut().hear(&event);
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
        Conducted { documents: vec![document], kept: both(delivered, kept) }
    }

    pub(crate) fn give_up(&self) {
        self.recorder.borrow_mut().give_up();
    }
}

/// A full disk may cost a report and the record: both are said.
pub(crate) fn both(first: Result<(), String>, second: Result<(), String>) -> Result<(), String> {
    match (first, second) {
        (Err(first), Err(second)) => Err(format!("{first}\n{second}")),
        (first, second) => first.and(second),
    }
}
