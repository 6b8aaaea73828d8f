//! The text of `iostat`: `-x` of every version, and the short table.
//!
//! The first report after the heading is of the time since the system booted, and no interval,
//! unless `-y` leaves it out. `--pretty` spreads a report over several tables.

pub(super) mod json;

use std::collections::{HashMap, HashSet};

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::call::Call;
use super::cells::{is_cut_row, number, sysstat_cell, sysstat_cpu, sysstat_rates};
use super::document::{Found, Window, leaves_out_idle, linux_kind};
use super::moments::{clock, day, in_zone, iso, lengths, usual};
use super::{ForeignError, ForeignRecordings, Reading};

/// Whether a line is the heading of a table of devices.
fn is_heading(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let named = |word: &&str| matches!(*word, "Device" | "Device:");
    let is_column = |word: &&str| *word == "tps" || word.ends_with("/s");
    words.iter().any(named) && words.iter().any(is_column)
}

pub(super) fn is_in(text: &str) -> bool {
    text.lines().any(is_heading)
}

#[derive(Debug, Default)]
struct Report {
    /// When, in seconds since 1970, where it says so.
    at: Option<f64>,
    cpu: HashMap<String, f64>,
    /// The columns of its tables of devices.
    columns: HashSet<String>,
    devices: Vec<(String, HashMap<String, f64>)>,
}

/// What one call of iostat printed.
#[derive(Debug, Default)]
struct Session<'a> {
    lines: Vec<&'a str>,
    host: Option<String>,
    cpus: Option<u32>,
    reports: Vec<Report>,
    /// A time was there, and its day is not known.
    undated: bool,
    /// A time was there without its zone.
    local: bool,
    /// Its reports are intervals, the first one, too.
    all_are_intervals: bool,
    call: Call,
    warnings: Vec<String>,
}

pub(super) fn read(text: &str, reading: &Reading<'_>) -> Result<ForeignRecordings, ForeignError> {
    found_in(sessions(text, reading)?, reading)
}

fn found_in(
    sessions: Vec<Session<'_>>,
    reading: &Reading<'_>,
) -> Result<ForeignRecordings, ForeignError> {
    let mut found = ForeignRecordings::default();
    for session in sessions.into_iter().filter(|session| !session.reports.is_empty()) {
        let text = session.lines.join("\n");
        match recording(session, reading)? {
            Some(recording) => {
                found.documents.push(recording.document(&text, reading, linux_kind));
            }
            None => found.notes.push(
                "the only report of iostat is of the time since the system booted, and no \
                 interval; left out"
                    .to_owned(),
            ),
        }
    }
    Ok(found)
}

/// A text, cut where a new call of iostat began.
fn sessions<'a>(text: &'a str, reading: &Reading<'_>) -> Result<Vec<Session<'a>>, ForeignError> {
    let mut sessions = vec![Session::default()];
    let mut table = Table::None;
    let month_first = text.contains(" AM") || text.contains(" PM");
    let mut lines = text.lines().enumerate().peekable();
    let mut last_call = None;
    while let Some((index, line)) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let call = Call::of(&words, "iostat");
        let is_call = call.is_some();
        last_call = call.or(last_call);
        if let Some((host, _, cpus)) = host_line(&words, month_first) {
            // Of the report that `-y` leaves out, an empty line is left.
            let empty = lines.clone().take_while(|(_, line)| line.trim().is_empty());
            let call = last_call.take().unwrap_or_default();
            let all_are_intervals = call.omits_first || empty.count() >= 2;
            let host = Some(host);
            sessions.push(Session { host, cpus, all_are_intervals, call, ..Session::default() });
            table = Table::None;
        }
        let Some(session) = sessions.last_mut() else { break };
        session.lines.push(line);
        if words.is_empty() || is_call {
            table = Table::None;
        } else if is_heading(line) {
            session.begin(|report| words.iter().any(|word| report.has_column(word)));
            table = Table::of_devices(&words);
            session.note_columns(&words);
        } else if words.first() == Some(&"avg-cpu:") {
            session.begin(|report| !report.columns.is_empty() || !report.cpu.is_empty());
            let names = words.iter().skip(1).map(|word| (*word).to_owned()).collect();
            table = Table::Cpu(names);
        } else if let Some((at, dated)) = time_line(&words, month_first, reading) {
            session.begin(|_| true);
            session.undated |= !dated;
            session.local |= words.len() > 1;
            if let Some(report) = session.reports.last_mut() {
                report.at = Some(at);
            }
            table = Table::None;
        } else if lines.peek().is_none() && !text.ends_with('\n') && table.is_cut(&words) {
            session.reports.pop();
            session.warnings.push("the last report ends in the middle of a row; left out".into());
        } else if words.iter().all(|word| number(word).is_none()) {
            // The end of a fence, or a shell's prompt.
            table = Table::None;
        } else {
            let wrong = |what| ForeignError::Line { line: index + 1, what };
            session.row(&mut table, &words).map_err(wrong)?;
        }
    }
    for session in &mut sessions {
        session.reports.pop_if(|report| report.columns.is_empty());
    }
    Ok(sessions)
}

/// The table that the next line belongs to.
#[derive(Debug)]
enum Table {
    None,
    Cpu(Vec<String>),
    /// The columns, and the place of the device's name among them.
    Devices(Vec<String>, usize),
}

impl Table {
    fn of_devices(words: &[&str]) -> Self {
        let place = words.iter().position(|word| word.trim_end_matches(':') == "Device");
        let names = words.iter().map(|word| (*word).to_owned()).collect();
        Self::Devices(names, place.unwrap_or(0))
    }

    /// Whether the last line of a file without its end is a row that was cut.
    fn is_cut(&self, words: &[&str]) -> bool {
        match self {
            Self::None => false,
            Self::Cpu(names) => is_cut_row(words, names.len(), None),
            Self::Devices(names, place) => is_cut_row(words, names.len(), Some(*place)),
        }
    }
}

impl Report {
    fn has_column(&self, word: &str) -> bool {
        self.columns.contains(word)
    }

    fn names(&self) -> Vec<&str> {
        self.devices.iter().map(|(name, _)| &**name).collect()
    }

    fn device(&mut self, name: &str) -> &mut HashMap<String, f64> {
        let known = self.devices.iter().position(|(known, _)| known == name);
        let place = known.unwrap_or_else(|| {
            self.devices.push((name.to_owned(), HashMap::new()));
            self.devices.len() - 1
        });
        &mut self.devices[place].1
    }
}

impl Session<'_> {
    fn note_columns(&mut self, words: &[&str]) {
        let columns = words.iter().filter(|word| word.trim_end_matches(':') != "Device");
        if let Some(report) = self.reports.last_mut() {
            report.columns.extend(columns.map(|word| (*word).to_owned()));
        }
    }

    /// Begins a report, unless the last one still lacks what comes next.
    fn begin(&mut self, is_whole: impl Fn(&Report) -> bool) {
        if self.reports.last().is_none_or(is_whole) {
            self.reports.push(Report::default());
        }
    }

    fn row(&mut self, table: &mut Table, words: &[&str]) -> Result<(), String> {
        let Some(report) = self.reports.last_mut() else { return Ok(()) };
        match table {
            Table::None => {}
            Table::Cpu(names) => {
                report.cpu = cells(names, words, usize::MAX)?;
                *table = Table::None;
            }
            Table::Devices(names, place) => {
                let Some(name) = words.get(*place) else {
                    return Err(format!("a device without a name, and {} columns", words.len()));
                };
                report.device(name).extend(cells(names, words, *place)?);
            }
        }
        Ok(())
    }
}

/// The figures of a row by the names of its columns.
fn cells(names: &[String], words: &[&str], skipped: usize) -> Result<HashMap<String, f64>, String> {
    if names.len() != words.len() {
        return Err(format!("{} columns where the heading names {}", words.len(), names.len()));
    }
    let columns = names.iter().zip(words).enumerate().filter(|(place, _)| *place != skipped);
    let cell = |(_, (name, word)): (usize, (&String, &&str))| {
        Ok(sysstat_cell(name, word)?.map(|figure| (name.clone(), figure)))
    };
    columns.map(cell).filter_map(Result::transpose).collect()
}

/// `Linux 6.1 (host)  11/25/26  _x86_64_  (2 CPU)`: the host, the day, the processors.
pub(super) fn host_line(
    words: &[&str],
    month_first: bool,
) -> Option<(String, Option<Date>, Option<u32>)> {
    if words.first() != Some(&"Linux") {
        return None;
    }
    let host = words.get(2)?.strip_prefix('(')?.strip_suffix(')')?.to_owned();
    let date = words.get(3).and_then(|word| day(word, month_first));
    let cpus = words.iter().find_map(|word| word.strip_prefix('(')?.parse().ok());
    Some((host, date, cpus))
}

/// The line before a report with `-t`: the moment in seconds since 1970, and whether its day is
/// known. A day that may be two is the first of 1970.
fn time_line(words: &[&str], month_first: bool, reading: &Reading<'_>) -> Option<(f64, bool)> {
    if let [one] = words {
        return iso(one).map(|at| (at, true));
    }
    let (date, rest) = words.split_first()?;
    let (time, _, used) = clock(rest)?;
    if used != rest.len() || !date.contains(['/', '.', '-', '年']) {
        return None;
    }
    match day(date, month_first) {
        Some(date) => Some((in_zone(date.to_datetime(time), &reading.zone)?, true)),
        None => {
            Some((in_zone(Date::new(1970, 1, 1).ok()?.to_datetime(time), &TimeZone::UTC)?, false))
        }
    }
}

/// The intervals; `None` if the only report is not an interval.
fn recording(session: Session<'_>, reading: &Reading<'_>) -> Result<Option<Found>, ForeignError> {
    let Session { host, cpus, mut reports, undated, local, all_are_intervals, .. } = session;
    let Session { lines, call, warnings, .. } = session;
    let tables: Vec<_> = reports.iter().map(Report::names).collect();
    let is_idle_left_out = call.omits_idle || leaves_out_idle(&tables);
    // The file ends with a heading.
    let is_last = lines.last().is_some_and(|line| is_heading(line));
    reports.pop_if(|report| report.devices.is_empty() && (is_last || !is_idle_left_out));
    let skipped = usize::from(!all_are_intervals);
    if reports.len() <= skipped {
        return Ok(None);
    }
    let mut found = Found { tool: "iostat", host, is_local: local, ..Found::default() };
    let times: Option<Vec<f64>> = reports.iter().map(|report| report.at).collect();
    let of_call = call.interval_seconds.filter(|_| times.is_none() || reports.len() == 1);
    let interval_seconds = reading.interval_seconds.or(of_call);
    let mut lengths = match (&times, interval_seconds) {
        (_, Some(seconds)) => vec![seconds; reports.len() - 1],
        (Some(times), None) => lengths(times, !undated),
        (None, None) => return Err(ForeignError::NoTimes),
    };
    found.interval_seconds = interval_seconds.unwrap_or(usual(lengths.iter().copied()));
    if all_are_intervals {
        // Nothing says when the first one began. It is taken to be as long as the others.
        lengths.insert(0, found.interval_seconds);
    }
    if found.interval_seconds <= 0.0 {
        return Err(ForeignError::NoTimes);
    }
    let first = times.and_then(|times| times.first().copied()).filter(|_| !undated);
    let before = if all_are_intervals { found.interval_seconds } else { 0.0 };
    found.started = first.map(|at| at - before);
    let mut t = 0.0;
    for (report, seconds) in reports.iter().skip(skipped).zip(lengths) {
        if seconds <= 0.0 {
            found.warnings.push(
                "a report is left out: the clock stood still before it, or was set back".to_owned(),
            );
            continue;
        }
        t += seconds;
        let disk = |(name, cells): &(String, HashMap<String, f64>)| {
            (name.clone(), sysstat_rates(|column| cells.get(column).copied()).tally(seconds))
        };
        let cpu = sysstat_cpu(|column| report.cpu.get(column).copied(), seconds, cpus);
        let disks = report.devices.iter().map(disk).collect();
        found.windows.push(Window { t, seconds, disks, cpu });
    }
    found.warnings.dedup();
    found.method.push(if all_are_intervals {
        "iostat left out the time since the system booted (-y).".to_owned()
    } else {
        "The first report of iostat is of the time since the system booted, and left out."
            .to_owned()
    });
    found.warnings.extend(warnings);
    if is_idle_left_out {
        found.fill_idle();
    }
    Ok(Some(found))
}
