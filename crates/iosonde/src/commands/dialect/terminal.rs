//! The terminal of another tool's command.

use std::io::{self, Write as _};
use std::sync::atomic::AtomicBool;

use jobs::{Event, JobError, Sink, Subject, Terminal, ToolSession};
use results::Status;
use screen::{Display, Manner};

use crate::conducting::words;
use crate::exit::{Failure, Outcome, print};
use crate::recording::RecordingArgs;

/// Prints on stdout, and shows what happens as the flags say.
pub(super) struct ToolTerminal(pub Display);

/// Runs a tool's command.
pub(super) fn conduct(
    manner: Manner,
    recording: &RecordingArgs,
    stop: &AtomicBool,
    work: impl FnOnce(&mut ToolSession<'_>) -> Result<Status, JobError>,
) -> Result<Outcome, Failure> {
    let mut terminal = ToolTerminal(Display::new(manner.quiet));
    let open = move |subject: &Subject| -> Box<dyn Terminal> {
        Box::new(ToolTerminal(Display::of(manner, subject)))
    };
    let recording = recording.recording()?;
    let (terminal, recording) = (&mut terminal, recording.as_ref());
    Ok(work(&mut ToolSession { terminal, open: &open, recording, stop })?.into())
}

impl Sink for ToolTerminal {
    fn hear(&mut self, event: &Event) {
        self.0.hear(event);
    }
}

impl Terminal for ToolTerminal {
    fn aside(&mut self, text: &str) {
        self.0.aside(text);
    }

    fn dots(&mut self, count: usize) {
        if !self.0.is_screen() {
            // Stdout is for the result alone. If the messages cannot be shown, that is no reason to
            // fail.
            let _ = writeln!(io::stderr(), "{}", ".".repeat(count));
        }
    }

    fn finish(&mut self) {
        self.0.finish();
    }

    fn print(&mut self, text: &str) -> Result<(), String> {
        words(print(text))
    }
}
