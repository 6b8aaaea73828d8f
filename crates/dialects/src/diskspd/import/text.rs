//! DiskSpd's text. It may stand among other text, and several results after one another.

use results::Measurement;

use super::input::{Input, size};
use super::spans::{Figures, Head, Span, Times};
use crate::diskspd::result::FAILED;
use crate::foreign::{Found, ReadError, fnv_1a};

const COMMAND: &str = "Command Line: ";
const RESULTS: &str = "Results for timespan ";
const INTERRUPTED: &str = "The test was interrupted before";

/// Whether there is a result of DiskSpd in a text.
#[must_use]
pub fn is_in(text: &str) -> bool {
    let mut lines = text.lines();
    let mut parameters = false;
    lines.any(|line| {
        parameters |= line.trim_end() == "Input parameters:";
        line.starts_with(RESULTS) || (parameters && line.starts_with("\ttimespan:"))
    })
}

/// Every time span of a text that was measured.
pub fn read(text: &str, file: &str, read: &str) -> Result<Found, ReadError> {
    let mut reader = Reader { file, read, ..Reader::default() };
    for (number, line) in text.lines().enumerate() {
        reader.number = number + 1;
        reader.line(line.trim_end_matches('\r'))?;
    }
    reader.end_of_run();
    Ok(reader.found)
}

/// What the lines at hand belong to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Nothing of DiskSpd's.
    #[default]
    Outside,
    /// Between the command line and the figures.
    Input,
    /// The head of a time span's figures, and its processors.
    Span,
    /// A table of I/Os.
    Table(Direction),
    /// A table of percentiles: of all targets, or of one.
    Percentiles(bool),
    /// The sum of all time spans.
    Totals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Total,
    Read,
    Write,
}

#[derive(Debug, Default)]
struct Reader<'a> {
    file: &'a str,
    read: &'a str,
    /// Of the line at hand, from 1.
    number: usize,
    part: Part,
    input: Input,
    head: Head<'a>,
    /// Everything of the run so far, as a number.
    hash: u64,
    spans: Vec<Open>,
    /// The columns of the table at hand.
    columns: Vec<String>,
    found: Found,
}

/// A time span that is being read.
#[derive(Debug, Default)]
struct Open {
    line: usize,
    span: Span,
    /// Why there is nothing in it.
    left_out: Option<String>,
    tables: u8,
    percentiles: bool,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) -> Result<(), ReadError> {
        if let Some(command) = line.strip_prefix(COMMAND) {
            self.end_of_run();
            self.head = Head { file: self.file, ..Head::default() };
            self.head.command_line = Some(command.trim_end().to_owned());
            self.part = Part::Input;
        } else if let Some(rest) = line.strip_prefix(RESULTS) {
            self.begin_span(rest);
        } else if line == "Totals:" {
            self.part = Part::Totals;
        }
        if self.part != Part::Outside {
            self.hash = self.hash.rotate_left(5) ^ fnv_1a(line);
        }
        match self.part {
            Part::Input => self.input_line(line),
            Part::Span | Part::Table(_) | Part::Percentiles(_) => return self.figures(line),
            Part::Outside | Part::Totals => {}
        }
        Ok(())
    }

    fn begin_span(&mut self, rest: &str) {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        // A result whose head is missing begins with its first time span.
        if self.part == Part::Outside || (digits == "1" && !self.spans.is_empty()) {
            self.end_of_run();
            self.head = Head { file: self.file, ..Head::default() };
        }
        let number = digits.parse().unwrap_or(self.spans.len() + 1);
        let asked = number.checked_sub(1).and_then(|n: usize| self.input.spans.get(n)).cloned();
        let span = Span { number, asked, ..Span::default() };
        self.spans.push(Open { line: self.number, span, ..Open::default() });
        self.part = Part::Span;
    }

    fn input_line(&mut self, line: &str) {
        let text = line.trim();
        if let Some(name) = text.strip_prefix("computer name: ") {
            self.head.host = Some(name.to_owned()).filter(|name| !name.is_empty());
        } else if let Some(start) = text.strip_prefix("start time: ") {
            self.head.printed = Some(start.to_owned());
        } else {
            self.input.line(line);
        }
    }

    /// A line of a time span's figures.
    fn figures(&mut self, line: &str) -> Result<(), ReadError> {
        self.part = match line.trim_end() {
            "Total IO" => Part::Table(Direction::Total),
            "Read IO" => Part::Table(Direction::Read),
            "Write IO" => Part::Table(Direction::Write),
            "Total latency distribution:" => Part::Percentiles(true),
            text if text.starts_with("Latency distribution: ") => Part::Percentiles(false),
            _ => self.part,
        };
        let number = self.number;
        let Some(open) = self.spans.last_mut() else { return Ok(()) };
        match self.part {
            Part::Span => open.head_line(line, number),
            Part::Table(direction) if line.starts_with("thread |") => {
                self.columns = line.split('|').map(|name| name.trim().to_owned()).collect();
                open.tables = open.tables.max(direction as u8);
                Ok(())
            }
            Part::Table(direction) => open.table_line(line, number, direction, &self.columns),
            Part::Percentiles(true) => open.percentile_line(line, number),
            _ => Ok(()),
        }
    }

    fn end_of_run(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        if spans.is_empty() && self.part == Part::Input {
            let note = format!("line {}: the result ends before its first figures", self.number);
            self.found.notes.push(note);
        }
        // The date is that of the end of the last one.
        let mut to_end = 0.0;
        let mut measured: Vec<Measurement> = Vec::new();
        for mut open in spans.into_iter().rev() {
            let (warmup, cooldown) =
                open.span.asked.as_ref().map_or((0, 0), |a| (a.warmup_s, a.cooldown_s));
            open.span.seconds_to_end = to_end + open.span.seconds + f64::from(cooldown);
            to_end = open.span.seconds_to_end + f64::from(warmup);
            measured.extend(self.measurement(open));
        }
        measured.reverse();
        self.found.measurements.extend(measured);
        self.part = Part::Outside;
        self.input = Input::default();
        self.hash = 0;
    }

    fn measurement(&mut self, open: Open) -> Option<Measurement> {
        let Open { line, mut span, left_out, tables, percentiles } = open;
        let number = span.number;
        let latency = span.asked.as_ref().is_some_and(|asked| asked.measure_latency);
        if let Some(what) = left_out {
            self.found.notes.push(format!("line {line}: time span {number} is left out: {what}"));
            return None;
        }
        if tables == 0 && span.read.ios == 0 && span.write.ios == 0 {
            let note = format!("line {line}: time span {number} has no figures; left out");
            self.found.notes.push(note);
            return None;
        }
        if tables < Direction::Write as u8 {
            span.missing = Some("the table of writes");
        } else if latency && !percentiles {
            span.missing = Some("the table of percentiles");
        }
        if let Some(missing) = span.missing {
            let note =
                format!("line {line}: time span {number} is incomplete, {missing} is missing");
            self.found.notes.push(note);
        }
        let place = format!("{:016x} {number}", self.hash);
        Some(span.measurement(&self.head, &place, self.read))
    }
}

impl Open {
    /// Length, and the mean of all processors.
    fn head_line(&mut self, line: &str, number: usize) -> Result<(), ReadError> {
        if line.starts_with(INTERRUPTED) || line.starts_with(FAILED) {
            self.left_out = Some(line.to_owned());
        } else if let Some(time) = line.strip_prefix("actual test time:") {
            let time = time.trim().trim_end_matches('s');
            self.span.seconds = amount(time, line, number)?;
        } else if let Some(usage) = line.trim_start().strip_prefix("avg.|") {
            let usage = usage.split('|').next().unwrap_or_default();
            self.span.host_percent =
                Some(amount(usage.trim().trim_end_matches('%'), line, number)?);
        }
        Ok(())
    }

    /// A row of a thread on a target, or the sum of all.
    fn table_line(
        &mut self,
        line: &str,
        number: usize,
        direction: Direction,
        columns: &[String],
    ) -> Result<(), ReadError> {
        if let Some(cells) = line.strip_prefix("total:") {
            let cells = cells_of(cells, line, number, columns)?;
            let times = Times { mean: cells.mean_ms, stddev: cells.stddev_ms, ..Times::default() };
            match direction {
                Direction::Total => self.span.total = times,
                Direction::Read => self.span.read = Figures { times, ..cells.figures },
                Direction::Write => self.span.write = Figures { times, ..cells.figures },
            }
        } else if let Some((thread, rest)) = line.split_once('|')
            && !thread.trim().is_empty()
            && thread.trim().bytes().all(|b| b.is_ascii_digit())
        {
            let cells = cells_of(rest, line, number, columns)?;
            let (path, bytes) = cells.file.unwrap_or_default();
            let target = self.span.on_target(&path, bytes);
            match direction {
                Direction::Total => {}
                Direction::Read => target.read.add(&cells.figures),
                Direction::Write => target.write.add(&cells.figures),
            }
        }
        Ok(())
    }

    /// A percentile of all targets together.
    fn percentile_line(&mut self, line: &str, number: usize) -> Result<(), ReadError> {
        let mut cells = line.split('|');
        let name = cells.next().unwrap_or_default().trim();
        let percent = match name {
            "min" | "max" => None,
            _ => match percent_of(name) {
                Some(percent) => Some(percent),
                None => return Ok(()),
            },
        };
        let span = &mut self.span;
        for times in [&mut span.read.times, &mut span.write.times, &mut span.total] {
            let cell = cells.next().unwrap_or_default().trim();
            if cell == "N/A" || cell.is_empty() {
                continue;
            }
            let ms = amount(cell, line, number)?;
            match (name, percent) {
                ("min", _) => times.min = Some(ms),
                (_, Some(percent)) => times.percentiles.push((percent, ms)),
                _ => times.max = Some(ms),
            }
        }
        self.percentiles |= name == "max";
        Ok(())
    }
}

/// `25th`, `3-nines`.
fn percent_of(name: &str) -> Option<f64> {
    if let Some(percent) = name.strip_suffix("th") {
        return percent.parse().ok().filter(|p| (0.0..=100.0).contains(p));
    }
    let nines: usize = name.strip_suffix("-nines")?.parse().ok().filter(|n| (3..=9).contains(n))?;
    format!("99.{}", "9".repeat(nines - 2)).parse().ok()
}

/// The cells of a row.
#[derive(Debug, Default)]
struct Cells {
    figures: Figures,
    mean_ms: Option<f64>,
    stddev_ms: Option<f64>,
    file: Option<(String, u64)>,
}

fn cells_of(text: &str, line: &str, number: usize, columns: &[String]) -> Result<Cells, ReadError> {
    let mut cells = Cells::default();
    let names = columns.iter().skip(1);
    let count = columns.len().saturating_sub(1).max(1);
    // A path may have bars in it.
    for (name, cell) in names.zip(text.splitn(count, '|')) {
        let cell = cell.trim();
        match name.as_str() {
            "bytes" => cells.figures.bytes = whole(cell, line, number)?,
            "I/Os" => cells.figures.ios = whole(cell, line, number)?,
            "AvgLat" => cells.mean_ms = Some(amount(cell, line, number)?),
            "LatStdDev" if cell != "N/A" => cells.stddev_ms = Some(amount(cell, line, number)?),
            "file" => cells.file = Some(file(cell)),
            _ => {}
        }
    }
    Ok(cells)
}

/// `PATH (SIZE)`.
fn file(cell: &str) -> (String, u64) {
    let parts = cell.rsplit_once(" (").and_then(|(path, rest)| {
        let bytes = size(rest.strip_suffix(')')?)?;
        Some((path.to_owned(), bytes))
    });
    parts.unwrap_or_else(|| (cell.to_owned(), 0))
}

fn whole(cell: &str, line: &str, number: usize) -> Result<u64, ReadError> {
    cell.parse().map_err(|_| wrong(cell, line, number, "a whole number below 2^64"))
}

fn amount(cell: &str, line: &str, number: usize) -> Result<f64, ReadError> {
    let value = cell.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
    value.ok_or_else(|| wrong(cell, line, number, "a number from 0 on"))
}

fn wrong(cell: &str, line: &str, number: usize, wanted: &str) -> ReadError {
    let before = line.find(cell).and_then(|at| line.get(..at)).unwrap_or_default();
    let what = format!("`{cell}` is not {wanted}");
    ReadError { line: number, column: before.chars().count() + 1, what }
}
