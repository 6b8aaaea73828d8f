//! Performance Monitor's CSV and TSV, as `typeperf`, `relog` and Data Collector Sets write them.
//!
//! The first row begins the recording: nobody knows how long the interval before it was. Counters
//! that have no place in a recording are attached to it as they are.

use std::collections::{BTreeMap, HashMap};

use counters::{BlockKind, DiskTally};
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use results::AttachedSeries;
use workload::plural;

use super::cells::Rates;
use super::decimal::DecimalMark;
use super::document::{Found, Window};
use super::moments::{clock, day, in_zone, rising, usual};
use super::perfmon_names::{self, Disk as DiskColumn};
use super::{ForeignError, ForeignRecordings, Reading};

const MARKS: [&str; 2] = ["(PDH-CSV 4.0)", "(PDH-TSV 4.0)"];
/// Columns that are attached, at most.
const ATTACHED_MAX: usize = 64;
/// Unknown counters that a warning names, at most.
const NAMED_MAX: usize = 8;

/// Whether a line names the columns. Where date and time have a column each, the host is in the
/// first name: `Date \\HOST (PDH-CSV 4.0)`.
fn is_heading(line: &str) -> bool {
    let line = line.trim_start_matches(['\u{feff}', '"', ' ']);
    let first = line.split('"').next().unwrap_or_default();
    let is_in = |mark: &str| first.strip_prefix("Date ").is_some_and(|rest| rest.contains(mark));
    MARKS.iter().any(|mark| first.starts_with(mark) || is_in(mark))
}

pub(super) fn is_in(text: &str) -> bool {
    text.lines().any(is_heading)
}

/// The parts of a text that begin with a heading: recordings that were written one after the other.
fn sessions(text: &str) -> Vec<&str> {
    let mut at = 0;
    let mut begins = Vec::new();
    for line in text.split_inclusive('\n') {
        if is_heading(line) {
            begins.push(at);
        }
        at += line.len();
    }
    let ends = begins.iter().skip(1).copied().chain([at]);
    begins.iter().zip(ends).filter_map(|(begin, end)| text.get(*begin..end)).collect()
}

/// Whether a line, the last of a file, or any, ends in the middle of a field.
fn is_cut(line: &str, is_last: bool) -> bool {
    let line = line.trim_end();
    line.matches('"').count() % 2 == 1 || is_last && !line.ends_with('"')
}

/// A column of the file: one counter of one host.
#[derive(Debug)]
struct Column {
    /// The counter's name, without the host.
    name: String,
    host: String,
    /// Set where it is a counter of a disk.
    disk: Option<DiskColumn>,
}

impl Column {
    /// Parses a heading such as `\\HOST\PhysicalDisk(0 C:)\Disk Reads/sec`, in a file of this host
    /// if it names none.
    fn of(path: &str, host: &str) -> Self {
        let (host, rest) = match path.strip_prefix(r"\\").and_then(|rest| rest.split_once('\\')) {
            Some((host, rest)) => (host, rest),
            None => (host, path.trim_start_matches('\\')),
        };
        Self { name: rest.to_owned(), host: host.to_owned(), disk: perfmon_names::disk(rest) }
    }
}

impl Column {
    fn is_known_of_disk(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.is_known)
    }
}

/// A row of the file, with its time.
struct Row {
    at: f64,
    cells: Vec<Option<f64>>,
}

pub(super) fn read(text: &str, reading: &Reading<'_>) -> Result<ForeignRecordings, ForeignError> {
    let mut found = ForeignRecordings::default();
    for session in sessions(text) {
        read_session(session, reading, &mut found)?;
    }
    Ok(found)
}

/// What the first line of a recording tells.
struct Heading {
    separator: char,
    /// Columns of the date and the time.
    times: usize,
    columns: Vec<Column>,
    /// The zone of the times, where it names one.
    zone: Option<TimeZone>,
}

impl Heading {
    fn of(line: &str) -> Result<Self, ForeignError> {
        let separator = separator(line);
        let names = fields(line, separator);
        let times = if names.get(1).is_some_and(|name| name == "Time") { 2 } else { 1 };
        let mut words = names.iter().take(1).flat_map(|name| name.split(' '));
        let host = words.find_map(|word| word.strip_prefix(r"\\")).unwrap_or_default();
        let columns: Vec<Column> =
            names.iter().skip(times).map(|name| Column::of(name, host)).collect();
        if !columns.iter().any(Column::is_known_of_disk) {
            let is_disk = |column: &Column| column.disk.is_some();
            let first = times + columns.iter().position(is_disk).unwrap_or(0);
            let first = names.get(first).map_or("", String::as_str);
            let first = first.chars().take(100).collect();
            return Err(ForeignError::NoDisk { first });
        }
        let zone = names.first().and_then(|name| zone(name));
        Ok(Self { separator, times, columns, zone })
    }

    /// How the rows under it write fractions.
    fn decimal_mark(&self, text: &str) -> Result<DecimalMark, ForeignError> {
        let of_columns = |of_disks: bool| {
            let cells = |line| fields(line, self.separator).into_iter().skip(self.times);
            let cells = text.lines().skip(1).flat_map(move |line| cells(line).zip(&self.columns));
            let is_wanted = move |column: &Column| column.disk.is_some() == of_disks;
            cells.filter(move |(_, column)| is_wanted(column)).map(|(cell, _)| cell)
        };
        DecimalMark::of(of_columns(true), of_columns(false))
    }
}

fn read_session(
    text: &str,
    reading: &Reading<'_>,
    found: &mut ForeignRecordings,
) -> Result<(), ForeignError> {
    let line = text.lines().next().unwrap_or_default().trim_start_matches('\u{feff}');
    let heading = Heading::of(line)?;
    let decimal = heading.decimal_mark(text)?;
    let Heading { separator, times, columns, zone } = heading;
    let is_local = zone.is_none();
    let zone = zone.unwrap_or_else(|| reading.zone.clone());
    let mut unread: BTreeMap<usize, (u64, String)> = BTreeMap::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut said: Vec<String> = Vec::new();
    let mut left_out = 0_usize;
    let mut lines = text.lines().skip(1).peekable();
    while let Some(line) = lines.next() {
        let cells = fields(line, separator);
        let is_last = lines.peek().is_none() && !text.ends_with('\n');
        let is_short = cells.len() < columns.len() + times;
        if cells.len() > 1 && (is_cut(line, is_last) || is_last && is_short) {
            said.push("a row that ends in the middle is left out".to_owned());
            continue;
        }
        let (time, cells) = cells.split_at(times.min(cells.len()));
        let Some(time) = moment(&time.join(" "), &zone) else {
            // What typeperf says at its end has one field.
            left_out += usize::from(cells.len() > 1);
            continue;
        };
        let numbers = columns.iter().enumerate().map(|(place, column)| {
            let cell = cells.get(place).map_or("", |cell| cell.trim());
            let number = decimal.number(cell);
            if number.is_none() && column.disk.is_some() && !cell.is_empty() {
                unread.entry(place).or_insert_with(|| (0, cell.to_owned())).0 += 1;
            }
            number
        });
        rows.push(Row { at: time, cells: numbers.collect() });
    }
    let times: Vec<f64> = rows.iter().map(|row| row.at).collect();
    let risen = rows.into_iter().zip(rising(&times));
    let rows: Vec<Row> = risen.filter_map(|(row, at)| Some(Row { at: at?, ..row })).collect();
    left_out += times.len() - rows.len();
    if left_out > 0 {
        said.push(format!("rows without a time, or not in order, are left out: {left_out}"));
    }
    found.notes.extend_from_slice(&said);
    if rows.len() < 2 {
        found.notes.push(
            "Performance Monitor wrote fewer than two rows with a time, which make no interval; \
            left out"
                .to_owned(),
        );
        return Ok(());
    }
    let mut recording = Found { is_local, ..recording(&columns, &rows, reading) };
    recording.warnings.extend(said);
    recording.warnings.extend(unread.iter().filter_map(|(place, (cells, first))| {
        let name = &columns.get(*place)?.name;
        let cells = plural(*cells, "cell", "cells");
        Some(format!("`{name}`: {cells} without a number, first `{first}`: unknown there"))
    }));
    found.documents.push(recording.document(text, reading, kind));
    Ok(())
}

/// `C:` is a volume, `0 C:` a disk.
fn kind(name: &str) -> BlockKind {
    let name = name.rsplit('\\').next().unwrap_or(name);
    let is_disk = name.starts_with(|c: char| c.is_ascii_digit()) || name == "_Total";
    if is_disk { BlockKind::Disk } else { BlockKind::Partition }
}

/// The separator of fields: the sign after the first field if that has quotes. A spreadsheet leaves
/// the quotes out, and writes the separator of its country.
fn separator(line: &str) -> char {
    const KNOWN: [char; 3] = [',', '\t', ';'];
    let quoted = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let next = quoted.and_then(|(_, rest)| rest.chars().next());
    let most = || KNOWN.into_iter().rev().max_by_key(|s| line.matches(*s).count());
    next.filter(|c| KNOWN.contains(c)).or_else(most).unwrap_or(',')
}

/// The fields of a line; quotes are taken off.
fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let (mut quoted, mut chars) = (false, line.chars().peekable());
    while let Some(c) = chars.next() {
        if c == '"' {
            if quoted && chars.peek() == Some(&'"') {
                chars.next();
            } else {
                quoted = !quoted;
                continue;
            }
        }
        match fields.last_mut() {
            Some(field) if quoted || c != separator => field.push(c),
            _ => fields.push(String::new()),
        }
    }
    fields
}

/// The zone in `(PDH-CSV 4.0) (W. Europe Standard Time)(-60)`: minutes to add to get UTC.
fn zone(name: &str) -> Option<TimeZone> {
    let minutes: i32 = name.trim_end().strip_suffix(')')?.rsplit_once('(')?.1.parse().ok()?;
    let offset = Offset::from_seconds(minutes.checked_mul(-60)?).ok()?;
    Some(TimeZone::fixed(offset))
}

/// `11/25/2026 10:00:01.123`: the month comes first, whatever the system's language.
fn moment(cell: &str, zone: &TimeZone) -> Option<f64> {
    let words: Vec<&str> = cell.split_whitespace().collect();
    let (date, rest) = words.split_first()?;
    let (time, _, used) = clock(rest)?;
    let at: DateTime = day(date, true).filter(|_| used == rest.len())?.to_datetime(time);
    in_zone(at, zone)
}

fn recording(columns: &[Column], rows: &[Row], reading: &Reading<'_>) -> Found {
    let mut found = Found { tool: "Performance Monitor", ..Found::default() };
    let begin = rows.first().map_or(0.0, |row| row.at);
    let hosts = hosts(columns);
    if let [host] = hosts.as_slice() {
        found.host = Some((*host).to_owned()).filter(|host| !host.is_empty());
    }
    let disks = disks(columns, hosts.len() > 1);
    let mut used = vec![false; columns.len()];
    let mut last = begin;
    for row in rows.iter().skip(1) {
        let (t, seconds) = (row.at - begin, row.at - last);
        let mut window = Window { t, seconds, ..Window::default() };
        for (name, counters) in &disks {
            let disk = Disk { counters, row, used: &mut used };
            window.disks.extend(disk.tally(seconds).map(|tally| (name.clone(), tally)));
        }
        last = row.at;
        found.windows.push(window);
    }
    found.interval_seconds = usual(found.windows.iter().map(|window| window.seconds));
    found.started = Some(begin);
    found.attached = attached(columns, rows, &used, begin, reading.file);
    let rest = used.iter().filter(|used| !**used).count();
    if rest > ATTACHED_MAX {
        found.warnings.push(format!(
            "the first {ATTACHED_MAX} of {rest} other counters are attached; the rest is left out"
        ));
    }
    found.warnings.extend(unknown(columns));
    found.method.push(
        "The first row begins the recording: Performance Monitor does not say how long the \
         interval before it was."
            .to_owned(),
    );
    found
}

/// Names the counters of disks that are in no list of names.
fn unknown(columns: &[Column]) -> Option<String> {
    let of_disk = columns.iter().filter(|c| c.disk.is_some() && !c.is_known_of_disk());
    let mut names: Vec<&str> = of_disk.filter_map(|c| Some(c.name.rsplit_once(")\\")?.1)).collect();
    names.sort_unstable();
    names.dedup();
    let shown: Vec<String> = names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| {
        format!(
            "iosonde does not know these counters of disks in this language: {}{more}. They are \
             attached, and no figure is made of them",
            shown.join(", ")
        )
    })
}

fn hosts(columns: &[Column]) -> Vec<&str> {
    let mut hosts: Vec<&str> = Vec::new();
    for column in columns.iter().filter(|column| column.disk.is_some()) {
        if !hosts.contains(&column.host.as_str()) {
            hosts.push(&column.host);
        }
    }
    hosts
}

/// The places of a disk's counters by their names in small letters.
type Counters = HashMap<String, usize>;

/// The disks, in the order of the file. The sum of all is left out where the disks are there.
fn disks(columns: &[Column], several_hosts: bool) -> Vec<(String, Counters)> {
    let mut disks: Vec<(String, Counters)> = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        let Some(DiskColumn { instance: disk, counter, .. }) = &column.disk else { continue };
        let name = if several_hosts { format!(r"{}\{disk}", column.host) } else { disk.clone() };
        let position = disks.iter().position(|(known, _)| *known == name);
        let position = position.unwrap_or_else(|| {
            disks.push((name, Counters::new()));
            disks.len() - 1
        });
        if let Some((_, counters)) = disks.get_mut(position) {
            counters.entry(counter.clone()).or_insert(place);
        }
    }
    let is_sum = |name: &str| name.rsplit('\\').next() == Some("_Total");
    if disks.iter().any(|(name, _)| !is_sum(name)) {
        disks.retain(|(name, _)| !is_sum(name));
    }
    disks
}

/// A disk in a row. What it takes is noted.
struct Disk<'a> {
    counters: &'a Counters,
    row: &'a Row,
    used: &'a mut [bool],
}

impl Disk<'_> {
    /// A counter; `None` if the file does not have it, or the row has no number.
    fn take(&mut self, counter: &str) -> Option<f64> {
        let place = *self.counters.get(counter)?;
        if let Some(used) = self.used.get_mut(place) {
            *used = true;
        }
        *self.row.cells.get(place)?
    }

    /// What it did; `None` if a cell is empty: the disk came or went.
    fn tally(mut self, seconds: f64) -> Option<DiskTally> {
        let of_disk = |place: &usize| self.row.cells.get(*place).copied().flatten();
        if self.counters.values().any(|place| of_disk(place).is_none()) {
            return None;
        }
        let ns = |seconds: f64| seconds * 1e9;
        let mut rates = Rates {
            reads: self.take("disk reads/sec"),
            writes: self.take("disk writes/sec"),
            read_bytes: self.take("disk read bytes/sec"),
            written_bytes: self.take("disk write bytes/sec"),
            queue: self.take("avg. disk queue length"),
            in_flight: self.take("current disk queue length"),
            busy_percent: self.take("% idle time").map(|idle| (100.0 - idle).max(0.0)),
            splits: self.take("split io/sec"),
            ..Rates::default()
        };
        // A mean weighs nothing without the number of I/Os that it is of.
        if let Some(reads) = rates.reads {
            rates.read_ns = self.take("avg. disk sec/read").map(ns);
            let size = self.take("avg. disk bytes/read").map(|size| size * reads);
            rates.read_bytes = rates.read_bytes.or(size);
        }
        if let Some(writes) = rates.writes {
            rates.write_ns = self.take("avg. disk sec/write").map(ns);
            let size = self.take("avg. disk bytes/write").map(|size| size * writes);
            rates.written_bytes = rates.written_bytes.or(size);
        }
        rates.transfers = self.take("disk transfers/sec");
        rates.transfer_bytes = self.take("disk bytes/sec");
        if rates.transfers.is_some() {
            rates.transfer_ns = self.take("avg. disk sec/transfer").map(ns);
        }
        Some(rates.tally(seconds))
    }
}

/// The columns that no disk took, with their figures.
fn attached(
    columns: &[Column],
    rows: &[Row],
    used: &[bool],
    begin: f64,
    file: &str,
) -> Vec<AttachedSeries> {
    let is_sum = |c: &Column| c.disk.as_ref().is_some_and(|disk| disk.instance == "_Total");
    let has_disks = columns.iter().any(|c| c.disk.is_some() && !is_sum(c));
    let is_free =
        |place: usize, c: &Column| used.get(place) == Some(&false) && !(has_disks && is_sum(c));
    let free = columns.iter().enumerate().filter(|(place, column)| is_free(*place, column));
    let series = free.map(|(place, column)| {
        let figure = |row: &Row| Some((row.at - begin, (*row.cells.get(place)?)?));
        let points: Vec<(f64, f64)> = rows.iter().filter_map(figure).collect();
        AttachedSeries { file: file.to_owned(), name: column.name.clone(), points }
    });
    series.filter(|series| !series.points.is_empty()).take(ATTACHED_MAX).collect()
}
