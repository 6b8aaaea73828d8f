//! The terminal of another tool's command.

use std::io::{self, Write as _};
use std::sync::atomic::AtomicBool;

use jobs::{Event, Recording, RunDisplay, Sink, Subject, Terminal, ToolSession};
use screen::{Display, Manner};

use crate::conducting::words;
use crate::exit::print;

/// Prints on stdout, and shows each run as the flags say.
pub(super) struct ToolTerminal {
    manner: Manner,
    pub(super) display: Display,
}

impl ToolTerminal {
    pub(super) fn new(manner: Manner) -> Self {
        Self { manner, display: Display::new(manner.quiet) }
    }

    /// What surrounds the command.
    pub(super) fn session<'a>(
        &'a mut self,
        recording: Option<&'a Recording>,
        stop: &'a AtomicBool,
    ) -> ToolSession<'a> {
        ToolSession { terminal: self, recording, stop }
    }
}

impl Terminal for ToolTerminal {
    fn show(&mut self, subject: &Subject) -> Box<dyn RunDisplay> {
        Box::new(ToolDisplay(Display::of(self.manner, subject)))
    }

    fn print(&mut self, text: &str) -> Result<(), String> {
        words(print(text))
    }

    fn message(&mut self, text: &str) {
        self.display.message(text);
    }

    fn error(&mut self, text: &str) {
        self.display.error(text);
    }
}

/// Shows one run.
struct ToolDisplay(Display);

impl Sink for ToolDisplay {
    fn hear(&mut self, event: &Event) {
        self.0.hear(event);
    }
}

impl RunDisplay for ToolDisplay {
    fn message(&mut self, text: &str) {
        self.0.message(text);
    }

    fn aside(&mut self, text: &str) {
        self.0.aside(text);
    }

    fn dots(&mut self, count: usize) {
        if !self.0.is_screen() {
            // Stdout is for the result alone. What cannot be shown is not worth failing for.
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
