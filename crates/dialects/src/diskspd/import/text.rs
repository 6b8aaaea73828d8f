//! DiskSpd's text, of versions 2.0.21 to 2.2. There may be other text around it, and several
//! results after one another. Tabs may have become blanks, and lines may be indented, as in mails
//! and on web pages.

use results::Measurement;

use super::asked::of_command_line;
use super::input::{Input, size};
use super::percentiles::{Chart, is_row};
use super::spans::{Figures, Head, Rates, Span, Times, unknown_load, without_words};
use crate::diskspd::profile::TimeSpan;
use crate::diskspd::result::FAILED;
use crate::foreign::{ForeignRuns, ReadError, fnv_1a};
use crate::identities::{Printed, PrintedFigures};

const COMMAND: &str = "Command Line:";
const RESULTS: &str = "Results for timespan ";
const INTERRUPTED: &str = "The test was interrupted before";

/// Whether there is a result of DiskSpd in a text.
#[must_use]
pub fn is_in(text: &str) -> bool {
    let mut parameters = false;
    text.lines().map(str::trim).any(|line| {
        parameters |= line == "Input parameters:";
        line.starts_with(RESULTS)
            || (parameters && line.starts_with("timespan:"))
            || is_heading(line)
    })
}

/// Every time span of a text that was measured.
pub fn read(text: &str, file: &str, read: &str) -> Result<ForeignRuns, ReadError> {
    let mut reader = Reader { file, read, ..Reader::default() };
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let is_last = lines.peek().is_none() && !text.ends_with('\n');
        reader.number = number + 1;
        if !(is_last && reader.is_cut(line.trim())) {
            reader.line(line.trim_end_matches('\r'))?;
        }
    }
    reader.end_of_run();
    Ok(reader.found)
}

/// Whether a line has the columns of a table of I/Os.
fn is_heading(line: &str) -> bool {
    line.starts_with("thread")
        && ["| ", "bytes", "I/Os", "I/O per s"].iter().all(|c| line.contains(c))
}

/// What the lines at hand belong to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Text that is not read as a part of a result.
    #[default]
    Outside,
    /// Between the command line and the figures.
    Input,
    /// The head of a time span's figures, and its processors.
    Span,
    /// Rows of a table of I/Os.
    Table(Direction),
    /// Rows of the table of percentiles.
    Percentiles,
    /// The sum of all time spans.
    Totals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Total,
    Read,
    Write,
}

impl Direction {
    /// The table with this title.
    fn of_title(text: &str) -> Option<Self> {
        match text {
            "Total IO" => Some(Self::Total),
            "Read IO" => Some(Self::Read),
            "Write IO" => Some(Self::Write),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
struct Reader<'a> {
    file: &'a str,
    read: &'a str,
    /// The number of the current line, counted from 1.
    number: usize,
    part: Part,
    input: Input,
    head: Head<'a>,
    /// Everything of the run so far, as a number.
    hash: u64,
    spans: Vec<Open>,
    /// The columns of the table at hand.
    columns: Vec<String>,
    /// The table of percentiles at hand.
    chart: Chart,
    /// The last line with anything in it.
    above: String,
    found: ForeignRuns,
}

/// A time span that is being read.
#[derive(Debug, Default)]
struct Open {
    line: usize,
    span: Span,
    /// What was asked for; `None` if the text does not say.
    asked: Option<TimeSpan>,
    /// Why there is nothing in it.
    left_out: Option<String>,
    /// It has tables alone: somebody quoted them.
    is_quoted: bool,
    /// Which tables have begun: total, reads, writes.
    tables: [bool; 3],
    /// Which of them have their sum.
    sums: [bool; 3],
    /// Whether its tables have mean latencies.
    means: bool,
    percentiles: bool,
}

impl Reader<'_> {
    fn line(&mut self, raw: &str) -> Result<(), ReadError> {
        let line = raw.trim();
        if let Some(command) = line.strip_prefix(COMMAND) {
            self.end_of_run();
            self.head = Head { file: self.file, ..Head::default() };
            self.head.command_line = Some(command.trim().to_owned()).filter(|c| !c.is_empty());
            self.part = Part::Input;
        } else if let Some(rest) = line.strip_prefix(RESULTS) {
            self.begin_span(rest);
        } else if line == "Totals:" {
            self.part = Part::Totals;
        } else if self.part == Part::Outside && is_heading(line) {
            self.begin_quoted();
            self.part = Part::Table(Direction::of_title(&self.above).unwrap_or(Direction::Total));
        }
        if self.part != Part::Outside {
            self.hash = self.hash.rotate_left(5) ^ fnv_1a(raw);
        }
        match self.part {
            Part::Input => self.input_line(line),
            Part::Span | Part::Table(_) | Part::Percentiles => self.figures(raw)?,
            Part::Outside | Part::Totals => {}
        }
        if !line.is_empty() {
            line.clone_into(&mut self.above);
        }
        Ok(())
    }

    /// Whether a row of a table, the last line of a text, was cut: it lacks cells, or digits.
    fn is_cut(&self, row: &str) -> bool {
        let sum = row.strip_prefix("total:");
        let rest = sum.or_else(|| Some(row.split_once('|')?.1)).filter(|_| !is_heading(row));
        let (Part::Table(_), Some(rest)) = (self.part, rest) else { return false };
        let names = self.columns.iter().skip(1);
        let names: Vec<&String> = names.filter(|name| sum.is_none() || *name != "file").collect();
        let cells: Vec<&str> = rest.trim_end_matches('|').splitn(names.len(), '|').collect();
        let last = cells.last().map_or("", |cell| cell.trim());
        let decimals = last.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let is_whole = match names.last().map(|name| name.as_str()) {
            Some("file") => last.ends_with(')'),
            Some("AvgLat" | "LatStdDev") => decimals > 2 || last == "N/A",
            _ => decimals > 1,
        };
        cells.len() < names.len() || !is_whole
    }

    /// Begins a result of which there are tables alone.
    fn begin_quoted(&mut self) {
        self.end_of_run();
        self.head = Head { file: self.file, ..Head::default() };
        let span = Span { number: 1, ..Span::default() };
        self.spans.push(Open { line: self.number, span, is_quoted: true, ..Open::default() });
        self.columns.clear();
    }

    fn begin_span(&mut self, rest: &str) {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        // A result whose head is missing begins with its first time span.
        if self.part == Part::Outside || (digits == "1" && !self.spans.is_empty()) {
            self.end_of_run();
            self.head = Head { file: self.file, ..Head::default() };
        }
        let number = digits.parse().unwrap_or(self.spans.len() + 1);
        let asked = self.input.span(number).cloned();
        let (line, span) = (self.number, Span { number, ..Span::default() });
        self.spans.push(Open { line, span, asked, ..Open::default() });
        self.columns.clear();
        self.part = Part::Span;
    }

    fn input_line(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("computer name:") {
            self.head.host = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        } else if let Some(start) = line.strip_prefix("start time:") {
            self.head.printed = Some(start.trim().to_owned());
        } else if let Some(scheme) = line.strip_prefix("active power scheme:") {
            // Windows writes the identifier of the scheme between the brackets.
            self.head.is_own = scheme.trim_end().ends_with("()");
        } else {
            self.input.line(line);
        }
    }

    /// A line of a time span's figures.
    fn figures(&mut self, raw: &str) -> Result<(), ReadError> {
        let (text, number) = (raw.trim(), self.number);
        let table = Direction::of_title(text);
        let is_again = |open: &Open| table.is_some_and(|table| open.tables[table as usize]);
        if self.spans.last().is_some_and(is_again) {
            // The table of another result, which has lost its beginning.
            self.begin_quoted();
        }
        let title = match text {
            // Before 2.1.
            "total:" | "Total latency distribution:" => Some(Part::Percentiles),
            _ if text.starts_with("Latency distribution:") => Some(Part::Percentiles),
            // The use of the processors.
            _ if text.contains("|  Usage |") => Some(Part::Span),
            _ => table.map(Part::Table),
        };
        let row = Row { text, raw, number };
        let Some(open) = self.spans.last_mut() else { return Ok(()) };
        if let Some(part) = title {
            self.part = part;
            self.chart = Chart::default();
        } else if text.starts_with("%-ile") {
            self.part = Part::Percentiles;
            self.chart = Chart::of(&row, &self.above, &open.span)?;
        } else if is_row(text, self.part == Part::Percentiles) {
            open.percentiles |= self.chart.row(&row, &mut open.span)?;
        } else if self.part == Part::Span {
            open.head_line(&row)?;
        } else if let Part::Table(direction) = self.part {
            if text.starts_with("thread") && text.contains('|') {
                self.columns = columns(&row)?;
                open.tables[direction as usize] = true;
                open.means |= self.columns.iter().any(|name| name == "AvgLat");
            } else {
                open.table_line(&row, direction, &self.columns)?;
            }
        }
        Ok(())
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
            open.settle(self.input.threads_unsaid(open.span.number));
            if let Some(what) = open.nothing() {
                let (line, number) = (open.line, open.span.number);
                let note = format!("line {line}: time span {number} {what}");
                self.found.notes.push(note);
            } else if open.asked.is_none() {
                match self.asked(&open) {
                    Ok(asked) => open.asked = Some(asked),
                    Err(why) => self.is_of_unknown_load(&mut open, &why),
                }
            }
            let (warmup, cooldown) =
                open.asked.as_ref().map_or((0, 0), |a| (a.warmup_s, a.cooldown_s));
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

    /// Notes that the load of these figures is unknown.
    fn is_of_unknown_load(&mut self, open: &mut Open, why: &str) {
        let what = unknown_load(why);
        let (line, number) = (open.line, open.span.number);
        self.found.notes.push(format!("line {line}: time span {number}: {what}"));
        open.span.warnings.push(what);
    }

    /// The load of figures without parameters; otherwise why it is unknown.
    fn asked(&self, open: &Open) -> Result<TimeSpan, String> {
        let number = open.span.number;
        let asked = match &self.head.command_line {
            None => Err("the result has neither all its `Input parameters:` nor a `Command Line:`"
                .to_owned()),
            Some(_) if number > 1 => Err("a command line runs one time span only".to_owned()),
            Some(line) => of_command_line(line, &open.span.targets),
        };
        asked.map_err(|why| match &self.head.command_line {
            Some(_) => format!("the result has not all its `Input parameters:`, and {why}"),
            None => why,
        })
    }

    fn measurement(&mut self, open: Open) -> Option<Measurement> {
        if open.nothing().is_some() {
            return None;
        }
        let missing = open.missing();
        let Open { line, mut span, asked, .. } = open;
        let number = span.number;
        if let Some(missing) = missing {
            let note =
                format!("line {line}: time span {number} is incomplete, {missing} is missing");
            self.found.notes.push(note);
        }
        span.missing = missing;
        let place = format!("{:016x} {number}", self.hash);
        match span.measurement(asked.as_ref(), &self.head, &place, self.read) {
            Ok(measurement) => Some(measurement),
            Err(reasons) => {
                self.found.notes.push(without_words(line, number, &reasons));
                None
            }
        }
    }
}

/// A line of figures, and where it is.
pub(super) struct Row<'a> {
    /// Its text, without blanks around it.
    pub(super) text: &'a str,
    pub(super) raw: &'a str,
    pub(super) number: usize,
}

impl Row<'_> {
    pub(super) fn whole(&self, cell: &str) -> Result<u64, ReadError> {
        cell.parse().map_err(|_| self.wrong(cell, "a whole number below 2^64"))
    }

    pub(super) fn amount(&self, cell: &str) -> Result<f64, ReadError> {
        let value = cell.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
        value.ok_or_else(|| self.wrong(cell, "a number from 0 on"))
    }

    fn wrong(&self, cell: &str, wanted: &str) -> ReadError {
        let before = self.raw.find(cell).and_then(|at| self.raw.get(..at)).unwrap_or_default();
        let what = format!("`{cell}` is not {wanted}");
        ReadError { line: self.number, column: before.chars().count() + 1, what }
    }

    pub(super) fn error(&self, what: &str) -> ReadError {
        let column = self.raw.chars().take_while(|c| c.is_whitespace()).count() + 1;
        ReadError { line: self.number, column, what: what.to_owned() }
    }
}

impl Open {
    /// Why nothing of it can be kept.
    fn nothing(&self) -> Option<String> {
        let is_empty = self.sums == [false; 3];
        match &self.left_out {
            Some(what) => Some(format!("is left out: {what}")),
            None => is_empty.then(|| "has no figures; left out".to_owned()),
        }
    }

    /// What the text should have and does not.
    fn missing(&self) -> Option<&'static str> {
        let measures = self.asked.as_ref().is_some_and(|asked| asked.measure_latency);
        if self.is_quoted {
            None
        } else if !self.sums[Direction::Write as usize] {
            Some("the table of writes")
        } else if self.sums != self.tables {
            Some("the sum of a table")
        } else if self.span.seconds <= 0.0 {
            Some("the length of the test")
        } else if (measures || self.means) && !self.percentiles {
            Some("the table of percentiles")
        } else if self.percentiles && !self.means {
            Some("the column of mean latencies, and with it every latency,")
        } else {
            None
        }
    }

    /// Takes from the figures what the rest of the text does not say, such as the threads of `-F`
    /// before 2.1.
    fn settle(&mut self, threads_unsaid: bool) {
        let span = &mut self.span;
        if let Some(asked) = self.asked.as_mut().filter(|_| threads_unsaid) {
            let threads = if span.threads > 0 { span.threads } else { span.threads_in_rows };
            let threads = u32::try_from(threads).unwrap_or(0).max(1);
            match asked.targets.as_mut_slice() {
                [one] => one.threads_per_file = threads,
                _ => asked.thread_count = threads,
            }
        }
        if !self.is_quoted {
            return;
        }
        let names = [Direction::Total, Direction::Read, Direction::Write];
        let figures = names.into_iter().zip([&span.total, &span.read, &span.write]);
        let known = |(_, figures): &(Direction, &Figures)| {
            figures.ios > 0 && figures.rates.is_some_and(|rates| rates.iops > 0.0)
        };
        if let Some((_, figures)) = figures.into_iter().find(known) {
            let iops = figures.rates.map_or(0.0, |rates| rates.iops);
            (span.seconds, span.is_derived) = (figures.ios as f64 / iops, true);
            let what = "the length of the run is not in the text: it follows from I/Os and IOPS";
            span.warnings.push(what.to_owned());
        }
        if let [_, true, false] | [_, false, true] = self.sums {
            let (there, only) = if self.sums[Direction::Read as usize] {
                ("reads", &span.read)
            } else {
                ("writes", &span.write)
            };
            span.warnings.push(format!("the text has the table of {there} alone"));
            if span.total.ios == 0 {
                span.total = Figures { printed: PrintedFigures::default(), ..only.clone() };
            }
        }
    }

    /// Length, and the mean of all processors.
    fn head_line(&mut self, row: &Row) -> Result<(), ReadError> {
        if row.text.starts_with(INTERRUPTED) || row.text.starts_with(FAILED) {
            self.left_out = Some(row.text.to_owned());
        } else if let Some(time) = row.text.strip_prefix("actual test time:") {
            self.span.seconds = row.amount(time.trim().trim_end_matches('s'))?;
        } else if let Some(threads) = row.text.strip_prefix("thread count:") {
            self.span.threads = row.whole(threads.trim())?;
        } else if let Some(usage) = row.text.strip_prefix("avg.|") {
            let usage = usage.split('|').next().unwrap_or_default();
            self.span.host_percent = Some(row.amount(usage.trim().trim_end_matches('%'))?);
        }
        Ok(())
    }

    /// A row of a thread on a target, or the sum of all.
    fn table_line(
        &mut self,
        row: &Row,
        direction: Direction,
        columns: &[String],
    ) -> Result<(), ReadError> {
        if let Some(sum) = row.text.strip_prefix("total:") {
            let columns: Vec<&String> = columns.iter().filter(|name| *name != "file").collect();
            let cells = cells_of(sum.trim_end().trim_end_matches('|'), row, &columns)?;
            self.sums[direction as usize] = true;
            let times = Times { mean: cells.mean_ms, stddev: cells.stddev_ms, ..Times::default() };
            match direction {
                Direction::Total => self.span.total = Figures { times, ..cells.figures },
                Direction::Read => self.span.read = Figures { times, ..cells.figures },
                Direction::Write => self.span.write = Figures { times, ..cells.figures },
            }
        } else if let Some((thread, rest)) = row.text.split_once('|')
            && !thread.trim().is_empty()
            && thread.trim().bytes().all(|b| b.is_ascii_digit())
        {
            let cells = cells_of(rest, row, &columns.iter().collect::<Vec<_>>())?;
            let number = thread.trim().parse::<u64>().unwrap_or(0);
            self.span.threads_in_rows = self.span.threads_in_rows.max(number.saturating_add(1));
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
}

/// The names of the columns, that of the threads first.
fn columns(row: &Row) -> Result<Vec<String>, ReadError> {
    let names: Vec<String> = row.text.split('|').map(|name| name.trim().to_owned()).collect();
    for wanted in ["bytes", "I/Os"] {
        if !names.iter().any(|name| name == wanted) {
            return Err(row.error(&format!("the table has no column `{wanted}`")));
        }
    }
    Ok(names)
}

/// Takes the cells of a row one by one.
#[derive(Debug, Default)]
struct Cells {
    figures: Figures,
    mean_ms: Option<f64>,
    stddev_ms: Option<f64>,
    file: Option<(String, u64)>,
}

fn cells_of(text: &str, row: &Row, columns: &[&String]) -> Result<Cells, ReadError> {
    let names = columns.get(1..).unwrap_or_default();
    if names.is_empty() {
        let what = "the table has no heading (`thread | bytes | I/Os …`), so the meaning \
                    of this row is not known";
        return Err(row.error(what));
    }
    // A path may have bars in it.
    let found: Vec<&str> = text.splitn(names.len(), '|').map(str::trim).collect();
    if found.len() < names.len() {
        let (has, wanted) = (found.len() + 1, names.len() + 1);
        return Err(row.error(&format!("the row has {has} columns and its heading {wanted}")));
    }
    let mut cells = Cells::default();
    let (mut iops, mut mib_per_s) = (None, None);
    let printed = |cell| Printed::text(cell, 1.0);
    for (name, cell) in names.iter().zip(found) {
        match name.as_str() {
            "bytes" => cells.figures.bytes = row.whole(cell)?,
            "I/Os" => cells.figures.ios = row.whole(cell)?,
            "MiB/s" | "MB/s" => mib_per_s = Some((row.amount(cell)?, printed(cell))),
            "I/O per s" => iops = Some((row.amount(cell)?, printed(cell))),
            "AvgLat" => cells.mean_ms = Some(row.amount(cell)?),
            "LatStdDev" if cell != "N/A" => cells.stddev_ms = Some(row.amount(cell)?),
            "file" => cells.file = Some(file(cell)),
            _ => {}
        }
    }
    let rates = iops.zip(mib_per_s);
    cells.figures.rates = rates.map(|(iops, mib)| Rates { iops: iops.0, mib_per_s: mib.0 });
    cells.figures.printed = PrintedFigures {
        seconds: None,
        ios: Some(Printed::count(cells.figures.ios)),
        bytes: Some(Printed::count(cells.figures.bytes)),
        iops: iops.and_then(|iops| iops.1),
        mib_per_s: mib_per_s.and_then(|mib| mib.1),
    };
    Ok(cells)
}

/// Splits `PATH (SIZE)`; a size of 0 if there is none.
fn file(cell: &str) -> (String, u64) {
    let parts = cell.rsplit_once(" (").and_then(|(path, rest)| {
        let bytes = size(rest.strip_suffix(')')?)?;
        Some((path.trim_end().to_owned(), bytes))
    });
    parts.unwrap_or_else(|| (cell.to_owned(), 0))
}
