//! What went wrong, and what became of it.

use std::io::{self, Write};

use serde::Serialize;

use super::plan::Fault;

/// A range of bytes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The offset at which it begins.
    pub offset: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

impl Span {
    /// Whether it has a byte in common with that range.
    #[must_use]
    pub fn touches(&self, range: &std::ops::Range<u64>) -> bool {
        self.offset < range.end && range.start < self.offset + self.bytes
    }
}

/// A fault that happened. Spans are whole sectors, or what of a sector was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Injected {
    /// The number of the fault, from 0.
    pub number: usize,
    /// When it happened, on the device's clock.
    pub at_ns: u64,
    /// What went wrong.
    pub fault: Fault,
    /// The name of the request's file.
    pub file: String,
    /// Where the request begins in the file, in bytes.
    pub offset: u64,
    /// The length of the request in bytes.
    pub bytes: u64,
    /// The bit of the file that was flipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bit: Option<u64>,
    /// The offset that a misdirected request went to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<u64>,
    /// The bytes that are wrong because of it. Empty if it changed no byte: then nobody can find
    /// it.
    pub changed: Vec<Span>,
    /// What of that a reader was handed, in order of time.
    #[serde(skip)]
    pub visible: Vec<Span>,
    /// What of that was written again before anybody had read it.
    #[serde(skip)]
    pub healed: Vec<Span>,
}

/// A line of the device's log.
#[derive(Debug, Clone, Copy)]
enum Line {
    Injected(usize),
    /// For the first time since that part was last written.
    Visible(Later),
    Healed(Later),
    Lost(Later),
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Later {
    number: usize,
    at_ns: u64,
    #[serde(flatten)]
    span: Span,
}

/// Everything that went wrong, in order.
#[derive(Default)]
pub(super) struct Records {
    injected: Vec<Injected>,
    lines: Vec<Line>,
}

impl Records {
    pub(super) fn all(&self) -> &[Injected] {
        &self.injected
    }

    /// Takes a fault that is about to happen; gives its number.
    pub(super) fn begin(&mut self, injected: Injected) -> usize {
        let number = self.injected.len();
        self.injected.push(Injected { number, ..injected });
        number
    }

    /// The fault has happened, and these bytes are wrong now.
    pub(super) fn happened(&mut self, number: usize, bit: Option<u64>, changed: Vec<Span>) {
        if let Some(injected) = self.injected.get_mut(number) {
            (injected.bit, injected.changed) = (bit, changed);
            self.lines.push(Line::Injected(number));
        }
    }

    pub(super) fn visible(&mut self, number: usize, at_ns: u64, span: Span) {
        if let Some(injected) = self.injected.get_mut(number) {
            injected.visible.push(span);
            self.lines.push(Line::Visible(Later { number, at_ns, span }));
        }
    }

    /// A crash has taken what this fault had acknowledged as stable.
    pub(super) fn lost(&mut self, number: usize, at_ns: u64, span: Span) {
        if let Some(injected) = self.injected.get_mut(number) {
            injected.changed.push(span);
            self.lines.push(Line::Lost(Later { number, at_ns, span }));
        }
    }

    pub(super) fn healed(&mut self, number: usize, at_ns: u64, span: Span) {
        if let Some(injected) = self.injected.get_mut(number) {
            injected.healed.push(span);
            self.lines.push(Line::Healed(Later { number, at_ns, span }));
        }
    }

    /// Writes a line of JSON for everything that happened.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        #[derive(Serialize)]
        #[serde(tag = "event", rename_all = "snake_case")]
        enum Event<'a> {
            Injected(&'a Injected),
            Visible(&'a Later),
            Healed(&'a Later),
            Lost(&'a Later),
        }
        for line in &self.lines {
            let event = match line {
                Line::Injected(number) => match self.injected.get(*number) {
                    Some(injected) => Event::Injected(injected),
                    None => continue,
                },
                Line::Visible(later) => Event::Visible(later),
                Line::Healed(later) => Event::Healed(later),
                Line::Lost(later) => Event::Lost(later),
            };
            serde_json::to_writer(&mut *out, &event)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// Puts sectors next to each other into one span. They are in order.
pub(in crate::linux) fn joined(parts: impl IntoIterator<Item = Span>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for part in parts {
        match spans.last_mut() {
            Some(last) if last.offset + last.bytes == part.offset => last.bytes += part.bytes,
            _ => spans.push(part),
        }
    }
    spans
}
