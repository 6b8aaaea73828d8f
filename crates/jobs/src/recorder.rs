//! Stores a job in the history: each measurement before the next begins, and at the end the whole
//! document.
//!
//! The history is opened before anything is measured; if it cannot be used, the job ends then. If
//! it fails later, on a full disk for example, measuring continues: the result is delivered, and a
//! notice says what is not stored.

use history::{Experiment, History, HistoryError, Hold, NewExperiment, Place};
use results::{Document, Measurement, Status};
use survey::LabRecord;

use crate::event::Event;
use crate::live::Live;
use crate::subject::Subject;

/// Where and how results are kept.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The history; made if it does not exist.
    pub place: Place,
    /// Names under which the result is found again.
    pub tags: Vec<String>,
    /// The place as the user has to type it to find the result again; `None` if it is the usual
    /// one.
    pub named: Option<String>,
}

/// An experiment of the history that did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedJob {
    /// Its unique name.
    pub id: String,
    /// When it began: UTC, RFC 3339.
    pub started: String,
}

impl UnfinishedJob {
    /// One that is in a history.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        Self { id: experiment.id.clone(), started: experiment.started.clone() }
    }
}

/// Records one document. Without a history it does nothing.
pub struct Recorder {
    history: Option<History>,
    subject: Subject,
    tags: Vec<String>,
    named: Option<String>,
    id: String,
    started: String,
    hold: Option<Hold>,
    begun: bool,
    cells: u32,
    /// Measurements that are in the history.
    kept: u32,
    /// Why one is not; said once.
    failed: bool,
    live: Option<Live>,
}

impl Recorder {
    /// Opens the history, or makes it if it does not exist.
    ///
    /// # Errors
    /// The history cannot be used.
    pub fn open(recording: Option<&Recording>, subject: Subject) -> Result<Self, HistoryError> {
        let history = recording.map(|recording| History::open(&recording.place)).transpose()?;
        Ok(Self {
            history,
            subject,
            tags: recording.map_or_else(Vec::new, |recording| recording.tags.clone()),
            named: recording.and_then(|recording| recording.named.clone()),
            id: String::new(),
            started: String::new(),
            hold: None,
            begun: false,
            cells: 0,
            kept: 0,
            failed: false,
            live: None,
        })
    }

    /// What is measured, and by which command.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The history; `None` if nothing is recorded.
    #[must_use]
    pub fn history(&self) -> Option<&History> {
        self.history.as_ref()
    }

    /// Adds a tag, which the result gets besides those it already has.
    pub fn tag(&mut self, name: &str) {
        self.tags.push(name.to_owned());
    }

    /// Whether something of the document is in the history.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.begun
    }

    /// The document has an id. `notify` gets the warning where the history cannot be used, which
    /// does not end the job.
    pub fn named(&mut self, id: &str, started: &str, notify: &mut dyn FnMut(String)) {
        if self.id.is_empty()
            && let Err(error) = self.began(id, started)
        {
            self.warn(&error, notify);
        }
    }

    /// Publishes an event for those who watch.
    pub fn tell(&self, event: &Event) {
        if let Some(live) = &self.live {
            live.hear(event);
        }
    }

    /// The document has an id: nobody else works on it from now on.
    ///
    /// # Errors
    /// Another process works on it, or the history cannot be used.
    pub fn began(&mut self, id: &str, started: &str) -> Result<(), HistoryError> {
        (self.id, self.started) = (id.to_owned(), started.to_owned());
        let Some(history) = &self.history else { return Ok(()) };
        self.hold = Some(history.hold(id)?);
        if self.subject.watched {
            let run = self.subject.live(id, started);
            self.live = Some(Live::begin(history.place().clone(), run));
        }
        Ok(())
    }

    /// The job resumes one that was interrupted.
    ///
    /// # Errors
    /// Another process works on it, or the history cannot be used.
    pub fn resumes(&mut self, id: &str, started: &str) -> Result<(), HistoryError> {
        self.began(id, started)?;
        if let Some(history) = &self.history {
            history.go_on(id)?;
        }
        self.begun = true;
        Ok(())
    }

    /// The job resumes one that was interrupted, in the order in which it had measured. What ended
    /// early is measured again.
    ///
    /// # Errors
    /// Another process works on it, or the history cannot be used.
    pub(crate) fn resumes_in_order(
        &mut self,
        job: &UnfinishedJob,
    ) -> Result<LabRecord, HistoryError> {
        self.resumes(&job.id, &job.started)?;
        let mut kept = match &self.history {
            Some(history) => history.measurements(&job.id)?,
            None => Vec::new(),
        };
        while let Some(last) = kept.pop_if(|kept| kept.measurement.status != Status::Complete) {
            if let Some(history) = &self.history {
                history.forget(&job.id, last.cell)?;
            }
        }
        self.cells = kept.last().map_or(0, |last| last.cell + 1);
        let measurements: Vec<Measurement> = kept.into_iter().map(|k| k.measurement).collect();
        self.kept = u32::try_from(measurements.len()).unwrap_or(u32::MAX);
        Ok(LabRecord { id: job.id.clone(), started: job.started.clone(), measurements })
    }

    /// A measurement is finished: it is kept before the next begins.
    pub fn measured(&mut self, measurement: &Measurement, notify: &mut dyn FnMut(String)) {
        let cell = self.cells;
        self.cells += 1;
        if let Err(error) = self.keep(cell, measurement) {
            self.warn(&error, notify);
        }
    }

    /// Keeps the measurement of a cell.
    ///
    /// # Errors
    /// The history cannot be written.
    pub fn keep(&mut self, cell: u32, measurement: &Measurement) -> Result<(), HistoryError> {
        patiently(|| self.begin())?;
        if let Some(history) = &self.history {
            patiently(|| history.keep(&self.id, cell, measurement))?;
            self.kept += 1;
        }
        Ok(())
    }

    /// A recording begins, with all that is known before its first point: it is in the history at
    /// once.
    ///
    /// # Errors
    /// The history cannot be written.
    pub fn begin_recording(
        &mut self,
        id: &str,
        started: &str,
        subject: Subject,
    ) -> Result<(), HistoryError> {
        self.subject = subject;
        self.began(id, started)?;
        self.begin()
    }

    /// Nothing is recorded of a job that measured nothing: it begins with its first measurement.
    fn begin(&mut self) -> Result<(), HistoryError> {
        let Some(history) = self.history.as_ref().filter(|_| !self.begun) else { return Ok(()) };
        let Subject { kind, schema, title, plan, plan_id, .. } = &self.subject;
        let (id, started) = (&self.id, &self.started);
        history.begin(&NewExperiment { id, schema, kind, title, started, plan_id, plan })?;
        self.begun = true;
        self.tags.iter().try_for_each(|tag| history.tag(id, tag).map(drop))
    }

    fn warn(&mut self, error: &HistoryError, notify: &mut dyn FnMut(String)) {
        if !self.failed {
            self.failed = true;
            notify(format!("warning: {error}; measuring continues without it"));
        }
    }

    /// Stores the whole document. Parts that could not be stored before are stored now, if that has
    /// become possible.
    ///
    /// # Errors
    /// What is not stored, and why.
    pub fn finish(&mut self, document: &Document) -> Result<(), String> {
        self.end_live();
        // Some kinds have no measurements at all; of the others, an empty one says nothing.
        let says = matches!(document, Document::Recording(_) | Document::Capture(_))
            || !document.has_figures();
        let measured = says || document.measurements().iter().any(|m| m.seconds > 0.0);
        let Some(history) = self.history.as_ref().filter(|_| measured) else { return Ok(()) };
        let history_of = history.place().to_string();
        if !self.begun {
            document.started().clone_into(&mut self.started);
        }
        let begun = self.begin();
        let finish = |history: &History| history.finish(document);
        let done = begun.and_then(|()| self.history.as_ref().map_or(Ok(()), finish));
        self.hold = None;
        done.map_err(|error| {
            let what = match (self.kept, document.measurements().len()) {
                (_, 0) => format!("it is not recorded in {history_of}"),
                (kept, of) => {
                    format!("{kept} of its {of} measurements are recorded in {history_of}")
                }
            };
            format!("{error}\nthe result is shown, but {what}")
        })
    }

    /// The job ended without a document.
    pub fn give_up(&mut self) {
        self.end_live();
        self.hold = None;
    }

    fn end_live(&mut self) {
        if let Some(mut live) = self.live.take() {
            live.end();
        }
    }

    /// That the document is in the history, and how it is found there; `None` if it is not.
    #[must_use]
    pub fn kept_event(&self) -> Option<Event> {
        self.begun.then(|| Event::Kept { id: self.id.clone(), history: self.named.clone() })
    }
}

/// How often a measurement waits for a writer that holds the history for long, such as an import:
/// half a minute each time.
const PATIENCE: u32 = 20;

/// Tries again while another program holds the history. A measurement is worth more than the wait.
fn patiently(mut record: impl FnMut() -> Result<(), HistoryError>) -> Result<(), HistoryError> {
    for _ in 1..PATIENCE {
        match record() {
            Err(HistoryError::Busy { .. }) => {}
            done => return done,
        }
    }
    record()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_outlasts_a_long_import() {
        let busy = || Err(HistoryError::Busy { place: Place::File("history.db".into()) });
        let mut asked = 0;
        let kept = patiently(|| {
            asked += 1;
            if asked < 5 { busy() } else { Ok(()) }
        });
        assert!(kept.is_ok() && asked == 5);
        let mut asked = 0;
        let given_up = patiently(|| {
            asked += 1;
            busy()
        });
        assert!(matches!(given_up, Err(HistoryError::Busy { .. })) && asked == PATIENCE);
    }
}
