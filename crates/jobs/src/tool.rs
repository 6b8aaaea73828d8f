//! What the command of another tool needs besides its work: the display of its runs, the history,
//! and its end.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Permissions, Start};
use results::{Document, Measurement, Status};
use workload::Workload;

use crate::conduct::{Conducted, JobError, Session};
use crate::event::{Event, Sink};
use crate::job::Job as _;
use crate::recorder::Recording;
use crate::subject::Subject;

/// The terminal of such a command: shows what happens, and prints results.
pub trait Terminal: Sink {
    /// A sentence for the user, unless messages are off.
    fn message(&mut self, text: &str) {
        self.hear(&Event::Notice { text: text.to_owned() });
    }

    /// A sentence that is shown even with `--quiet`.
    fn aside(&mut self, text: &str);

    /// A line with so many dots, for people who count I/Os by them.
    fn dots(&mut self, count: usize);

    /// Leaves the terminal clean for the result.
    fn finish(&mut self);

    /// Prints a result.
    ///
    /// # Errors
    /// It cannot be printed, and why, as a sentence.
    fn print(&mut self, text: &str) -> Result<(), String>;
}

/// What surrounds the command of another tool.
pub struct ToolSession<'a> {
    /// Talks to the user outside of runs.
    pub terminal: &'a mut dyn Terminal,
    /// Opens the terminal of one run.
    pub open: &'a dyn Fn(&Subject) -> Box<dyn Terminal>,
    /// Where results are kept; `None` keeps none.
    pub recording: Option<&'a Recording>,
    /// Set, it ends the command early.
    pub stop: &'a AtomicBool,
}

/// What a tool does next to its own run.
pub(crate) trait RunView {
    /// Something happens in the engine; it is shown after this.
    fn hear(&mut self, event: &engine::Event, display: &mut dyn Terminal) {
        let _ = (event, display);
    }

    /// Everything is made ready; may take its time before the I/O begins.
    fn ready(&mut self, display: &mut dyn Terminal) {
        let _ = display;
    }

    /// Shows a measurement that is finished.
    fn show(&mut self, measurement: &Measurement, display: &mut dyn Terminal)
    -> Result<(), String>;
}

/// A view that is used as a sink.
struct Viewer<'a> {
    display: Box<dyn Terminal>,
    view: &'a mut dyn RunView,
}

impl Sink for Viewer<'_> {
    fn hear(&mut self, event: &Event) {
        if let Event::Engine(event) = event {
            self.view.hear(event, self.display.as_mut());
        }
        self.display.hear(event);
    }

    fn ready(&mut self) -> Start {
        self.view.ready(self.display.as_mut());
        Start::Now
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        self.display.finish();
        let Document::Measurement(measurement) = document else { return Ok(()) };
        for warning in &measurement.checks.warnings {
            self.display.message(&format!("warning: {warning}"));
        }
        self.view.show(measurement, self.display.as_mut())
    }
}

impl ToolSession<'_> {
    /// Makes one measurement, and says how it ended.
    pub(crate) fn measure(
        &mut self,
        workload: &Workload,
        permissions: Permissions,
        view: &mut dyn RunView,
    ) -> Result<Status, JobError> {
        let display = (self.open)(&workload.subject()?);
        let (recording, stop) = (self.recording, self.stop);
        let mut sink = Viewer { display, view };
        let conducted = workload.run(&mut Session {
            permissions,
            recording,
            sink: &mut sink,
            stop,
            resumed: None,
        })?;
        self.ending(conducted)
    }

    fn ending(&self, Conducted { documents, kept }: Conducted) -> Result<Status, JobError> {
        kept.map_err(JobError::Companion)?;
        let status = documents.iter().map(Document::status).find(|s| *s != Status::Complete);
        let has_errors =
            documents.iter().flat_map(Document::measurements).any(|m| !m.errors.is_empty());
        Ok(match status {
            Some(status) => status,
            // The signal may come after the window, while I/Os are still waited for.
            None if self.is_stopped() => Status::Interrupted,
            None if has_errors => Status::Failed,
            None => Status::Complete,
        })
    }

    /// Says why a part of the work could not be done, while the rest continues.
    pub(crate) fn failed(&mut self, part: &str, error: &JobError) {
        let lines = error.to_string();
        let lines: Vec<String> =
            lines.lines().map(|line| format!("error: {part}: {line}")).collect();
        self.terminal.aside(&lines.join("\n"));
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A result document as JSON text.
pub(crate) fn to_json<T: serde::Serialize>(document: &T) -> Result<String, String> {
    let text = results::to_indented_json(document);
    text.map(|text| text + "\n").map_err(|e| e.to_string())
}
