//! The lines of an export, `iosonde.export/1`, written and read: a head, one line per result, and
//! the count.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Read as _, Write};

use results::{Document, Measurement, Status};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{ExchangeError, ID_MAX, LineError};

/// What the head of an export says that it is.
pub(crate) const SCHEMA: &str = "iosonde.export/1";
/// What the heads of every version begin with.
const ANY_VERSION: &str = "iosonde.export/";
/// The longest line that is read, and therefore written. A sweep of ten thousand cells fits.
pub(crate) const LINE_BYTES: u64 = 1 << 30;

/// The first line of an export.
#[derive(Debug, Deserialize)]
struct Head {
    schema: String,
}

/// The last line of an export.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tail {
    results: u64,
}

/// A note that a user wrote about a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Remark {
    /// When it was written: UTC, RFC 3339.
    pub written: String,
    /// The note as the user typed it.
    pub text: String,
}

/// A measurement and its cell in the experiment's plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cell {
    /// The number of the cell, from 0.
    #[serde(rename = "cell")]
    pub number: u32,
    /// Unique name of the measurement.
    pub id: String,
    /// The figures, where the document does not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measurement: Option<Box<Measurement>>,
}

/// One result: all that a history knows of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// What the history stores besides the document.
    pub about: About,
    /// The document; absent if it never came to its end.
    pub document: Option<Document>,
}

/// What a history stores about a result besides its document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    pub id: String,
    pub schema: String,
    pub kind: String,
    pub title: String,
    pub started: String,
    pub finished: Option<String>,
    pub status: Option<Status>,
    pub plan_id: String,
    /// JSON as text, so that not a byte of it changes.
    pub plan: String,
    pub tags: Vec<String>,
    pub notes: Vec<Remark>,
    pub cells: Vec<Cell>,
}

impl Line {
    /// The measurement of each cell, with its number.
    pub(crate) fn measurements(&self) -> Result<Vec<(u32, &Measurement)>, LineError> {
        let inside = self.document.as_ref().map(Document::measurements).unwrap_or_default();
        let inside: HashMap<&str, &Measurement> =
            inside.into_iter().map(|m| (m.id.as_str(), m)).collect();
        let mut all = Vec::with_capacity(self.about.cells.len());
        let mut taken = HashSet::new();
        for Cell { number, id, measurement } in &self.about.cells {
            let found = measurement.as_deref().or_else(|| inside.get(id.as_str()).copied());
            let Some(found) = found.filter(|m| m.id == *id) else {
                let what = format!("the measurement `{id}` of cell {number} is not in it");
                return Err(self.contradiction(what));
            };
            if !taken.insert(*number) {
                return Err(self.contradiction(format!("it has the cell {number} twice")));
            }
            all.push((*number, found));
        }
        Ok(all)
    }

    /// Whether the document is the one that the rest is about.
    fn check(self) -> Result<Self, LineError> {
        check_id(&self.about.id)?;
        if let Some(document) = &self.document {
            let about = &self.about;
            let said = [&about.id, &about.schema, &about.kind, &about.started];
            let found = [document.id(), document.schema(), document.kind(), document.started()];
            let names = ["id", "schema", "kind", "started"];
            let other = said.iter().zip(found).position(|(said, found)| *said != found);
            if let Some(name) = other.and_then(|n| names.get(n)) {
                let what = format!("its `{name}` is another than that of its document");
                return Err(self.contradiction(what));
            }
        }
        self.measurements()?;
        Ok(self)
    }

    fn contradiction(&self, what: String) -> LineError {
        LineError::Contradiction { id: self.about.id.clone(), what }
    }
}

/// The first line, with its end.
pub(crate) fn head() -> String {
    format!("{{\"schema\":\"{SCHEMA}\"}}\n")
}

/// Writes the first line of an export.
pub(crate) fn write_head(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(head().as_bytes())
}

/// Writes the line of a result.
pub(crate) fn write_result(out: &mut dyn Write, line: &Line) -> io::Result<()> {
    let mut out = Within { out, id: &line.about.id, left: LINE_BYTES };
    let about = serde_json::to_string(&line.about)?;
    // The document is the last field, and the brace follows it.
    let fields = about.strip_suffix('}').unwrap_or(&about);
    write!(out, "{fields},\"document\":")?;
    match &line.document {
        Some(document) => document.write_json(&mut out)?,
        None => out.write_all(b"null")?,
    }
    out.write_all(b"}\n")
}

/// Accepts a line of a result of this length: an export must be readable by an import.
struct Within<'a> {
    out: &'a mut dyn Write,
    id: &'a str,
    left: u64,
}

impl Write for Within<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        let Some(left) = self.left.checked_sub(written as u64) else {
            return Err(io::Error::other(format!(
                "`{}` is too large for a line of an export; `iosonde history backup` copies it",
                self.id
            )));
        };
        self.left = left;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes the last line of an export.
pub(crate) fn write_tail(out: &mut dyn Write, results: u64) -> io::Result<()> {
    write_line(out, &Tail { results })
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// What an import takes from its input, one after the other.
#[derive(Debug)]
pub(crate) enum Item {
    /// A line of an export, which holds one result.
    Line(Box<Line>),
    /// A result as a command printed it.
    Result(Box<Document>),
}

/// Where in its input a reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first line of the input.
    Begin,
    /// After the head of an export, or a line of it.
    Lines,
    /// Among results that follow each other.
    Results,
    /// After the last line of an export, where nothing may follow.
    End,
}

/// Reads an export, or results as the commands print them.
pub(crate) struct Reader<R> {
    input: R,
    most_bytes: u64,
    state: State,
    /// Lines, or results, that were begun.
    number: u64,
    /// How many results were read so far.
    found: u64,
    /// Results that were not yet parsed.
    results: std::vec::IntoIter<Value>,
}

impl<R: BufRead> Reader<R> {
    /// Reads lines of at most so many bytes.
    pub(crate) fn new(input: R, most_bytes: u64) -> Self {
        let results = Vec::new().into_iter();
        Self { input, most_bytes, state: State::Begin, number: 0, found: 0, results }
    }

    /// An error in the line that was read last.
    pub(crate) fn at(&self, what: LineError) -> ExchangeError {
        let (number, what) = (self.number, Box::new(what));
        if self.state == State::Results {
            ExchangeError::Result { number, what }
        } else {
            ExchangeError::Line { line: number, what }
        }
    }

    /// The next result; none after the last one of a whole input.
    pub(crate) fn next(&mut self) -> Result<Option<Item>, ExchangeError> {
        if self.state == State::Begin {
            self.begin()?;
        }
        match self.state {
            State::Lines => self.line(),
            State::Results => {
                let Some(value) = self.results.next() else { return Ok(None) };
                self.number += 1;
                let document = document(&value).map_err(|e| self.at(e))?;
                Ok(Some(Item::Result(Box::new(document))))
            }
            State::Begin | State::End => Ok(None),
        }
    }

    fn begin(&mut self) -> Result<(), ExchangeError> {
        let first = self.read_line()?.ok_or(ExchangeError::Empty)?;
        match serde_json::from_slice::<Head>(&first) {
            Ok(Head { schema }) if schema == SCHEMA => self.state = State::Lines,
            Ok(Head { schema }) if schema.starts_with(ANY_VERSION) => {
                return Err(self.at(LineError::Newer { found: schema, known: SCHEMA }));
            }
            _ => self.begin_results(first)?,
        }
        Ok(())
    }

    /// Takes the whole input for results: one, or several after each other.
    fn begin_results(&mut self, mut text: Vec<u8>) -> Result<(), ExchangeError> {
        self.state = State::Results;
        self.number = 1;
        let more = (self.most_bytes + 1).saturating_sub(text.len() as u64);
        (&mut self.input).take(more).read_to_end(&mut text).map_err(ExchangeError::Read)?;
        if text.len() as u64 > self.most_bytes {
            return Err(self.at(LineError::TooLong { most_bytes: self.most_bytes }));
        }
        let text = std::str::from_utf8(&text).map_err(|_| self.at(LineError::NotText))?;
        let mut values = Vec::new();
        for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            values.push(value.map_err(|e| self.at(LineError::NotJson(e)))?);
            self.number += 1;
        }
        if values.is_empty() {
            return Err(ExchangeError::Empty);
        }
        self.number = 0;
        self.results = values.into_iter();
        Ok(())
    }

    fn line(&mut self) -> Result<Option<Item>, ExchangeError> {
        let Some(line) = self.read_line()? else {
            return Err(self.at(LineError::Truncated));
        };
        let text = std::str::from_utf8(&line).map_err(|_| self.at(LineError::NotText))?;
        let value: Value = serde_json::from_str(text).map_err(|e| {
            let what = if e.is_eof() { LineError::Truncated } else { LineError::NotJson(e) };
            self.at(what)
        })?;
        if value.get("results").is_some() && value.get("id").is_none() {
            return self.end(value).map(|()| None);
        }
        let line = result(value).map_err(|e| self.at(e))?;
        self.found += 1;
        Ok(Some(Item::Line(Box::new(line))))
    }

    fn end(&mut self, value: Value) -> Result<(), ExchangeError> {
        let tail: Tail =
            serde_json::from_value(value).map_err(|e| self.at(LineError::NotResult(e)))?;
        if tail.results != self.found {
            let what = LineError::Count { said: tail.results, found: self.found };
            return Err(self.at(what));
        }
        while let Some(line) = self.read_line()? {
            if !line.trim_ascii().is_empty() {
                return Err(self.at(LineError::AfterEnd));
            }
        }
        self.state = State::End;
        Ok(())
    }

    fn read_line(&mut self) -> Result<Option<Vec<u8>>, ExchangeError> {
        let mut line = Vec::new();
        let mut input = (&mut self.input).take(self.most_bytes + 1);
        input.read_until(b'\n', &mut line).map_err(ExchangeError::Read)?;
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if line.len() as u64 > self.most_bytes {
            return Err(self.at(LineError::TooLong { most_bytes: self.most_bytes }));
        }
        Ok(Some(line))
    }
}

fn result(mut value: Value) -> Result<Line, LineError> {
    let found = value.as_object_mut().and_then(|fields| fields.remove("document"));
    let about: About = serde_json::from_value(value.clone()).map_err(LineError::NotResult)?;
    keeps_all(&about.id, &value, serde_json::to_value(&about))?;
    let document = match found {
        None | Some(Value::Null) => None,
        Some(found) => Some(document(&found)?),
    };
    Line { about, document }.check()
}

/// A document that is known here with all that is in it.
fn document(value: &Value) -> Result<Document, LineError> {
    let document = Document::from_value(value.clone())?;
    check_id(document.id())?;
    keeps_all(document.id(), value, document.to_value())?;
    Ok(document)
}

/// Names are typed, printed, and part of the names of files: nothing else may be in them.
fn check_id(id: &str) -> Result<(), LineError> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !id.is_empty() && id.len() <= ID_MAX && id.chars().all(good) {
        return Ok(());
    }
    Err(LineError::BadId { id: id.chars().take(ID_MAX).collect() })
}

/// Refuses what would lose a part by being read and written again.
fn keeps_all(id: &str, value: &Value, again: serde_json::Result<Value>) -> Result<(), LineError> {
    let again = again.map_err(LineError::NotResult)?;
    match lost(value, &again) {
        Some(field) => Err(LineError::WouldLose { id: id.to_owned(), field }),
        None => Ok(()),
    }
}

/// The first field that is in one value and not in the other, by its path.
fn lost(value: &Value, again: &Value) -> Option<String> {
    let inside = |name: &str, path: String| {
        if path.is_empty() { name.to_owned() } else { format!("{name}.{path}") }
    };
    match (value, again) {
        (Value::Object(fields), Value::Object(others)) => {
            fields.iter().find_map(|(name, field)| match others.get(name) {
                Some(other) => lost(field, other).map(|path| inside(name, path)),
                // An absent field may be written as null, or not at all.
                None if field.is_null() || field.as_array().is_some_and(Vec::is_empty) => None,
                None => Some(name.clone()),
            })
        }
        (Value::Array(values), Value::Array(others)) => {
            if values.len() != others.len() {
                return Some(String::new());
            }
            let mut pairs = values.iter().zip(others).enumerate();
            pairs.find_map(|(n, (v, o))| lost(v, o).map(|path| inside(&n.to_string(), path)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A result too large for an import used to be exported anyway, and could not be read again.
    #[test]
    fn no_line_is_written_that_is_too_long_to_be_read() {
        let mut text = Vec::new();
        let mut out = Within { out: &mut text, id: "e", left: 8 };
        write_line(&mut out, &"12345").unwrap();
        let error = write_line(&mut out, &"").unwrap_err().to_string();
        assert!(error.contains("`e`") && error.contains("backup"), "{error}");
    }
}
