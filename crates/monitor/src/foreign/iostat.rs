//! The text of `iostat`: `-x` of every version, and the short table.
//!
//! The first report after the heading is of the time since the system booted, and no interval.

use std::collections::HashMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::cells::{number, sysstat_cpu, sysstat_rates};
use super::document::{Found, Window, linux_kind, usual};
use super::moments::{clock, day, in_zone, iso};
use super::{ForeignError, ForeignRecordings, Reading};

const DAY: f64 = 86_400.0;
/// Columns of which a table of devices has one.
const COLUMNS: [&str; 4] = ["r/s", "tps", "r_await", "rkB/s"];

/// Whether a line is the heading of a table of devices.
fn is_heading(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let named = |word: &&str| matches!(*word, "Device" | "Device:");
    words.iter().any(named) && words.iter().any(|word| COLUMNS.contains(word))
}

pub(super) fn is_in(text: &str) -> bool {
    text.lines().any(is_heading)
}

#[derive(Debug, Default)]
struct Report {
    /// When, in seconds since 1970, where it says so.
    at: Option<f64>,
    cpu: HashMap<String, f64>,
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
}

pub(super) fn read(text: &str, reading: &Reading<'_>) -> Result<ForeignRecordings, ForeignError> {
    let mut found = ForeignRecordings::default();
    let sessions = sessions(text, reading)?;
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
    for (index, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some((host, _, cpus)) = host_line(&words, month_first) {
            sessions.push(Session { host: Some(host), cpus, ..Session::default() });
            table = Table::None;
        }
        let Some(session) = sessions.last_mut() else { break };
        session.lines.push(line);
        if words.is_empty() {
            table = Table::None;
        } else if is_heading(line) {
            session.begin(|report| !report.devices.is_empty());
            table = Table::of_devices(&words);
        } else if words.first() == Some(&"avg-cpu:") {
            session.begin(|report| !report.devices.is_empty() || !report.cpu.is_empty());
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
        } else {
            let wrong = |what| ForeignError::Line { line: index + 1, what };
            session.row(&mut table, &words).map_err(wrong)?;
        }
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
}

impl Session<'_> {
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
                report.devices.push(((*name).to_owned(), cells(names, words, *place)?));
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
        let figure =
            number(word).ok_or_else(|| format!("`{name}` is `{word}`, which is not a number"))?;
        Ok((name.clone(), figure))
    };
    columns.map(cell).collect()
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
    if used != rest.len() || !date.contains(['/', '.', '-']) {
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
    let Session { host, cpus, reports, undated, local, .. } = session;
    if reports.len() < 2 {
        return Ok(None);
    }
    let mut found = Found { tool: "iostat", host, is_local: local, ..Found::default() };
    let times: Option<Vec<f64>> = reports.iter().map(|report| report.at).collect();
    let lengths: Vec<f64> = match (&times, reading.interval_seconds) {
        (_, Some(seconds)) => vec![seconds; reports.len() - 1],
        (Some(times), None) => lengths(times),
        (None, None) => return Err(ForeignError::NoTimes),
    };
    found.interval_seconds = usual(lengths.iter().copied());
    found.started = times.and_then(|times| times.first().copied()).filter(|_| !undated);
    let mut t = 0.0;
    for (report, seconds) in reports.iter().skip(1).zip(lengths) {
        if seconds <= 0.0 {
            found.warnings.push("a report whose clock stood still is left out".to_owned());
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
    found.method.push(
        "The first report of iostat is of the time since the system booted, and left out."
            .to_owned(),
    );
    Ok(Some(found))
}

/// The lengths of the intervals. Times have whole seconds: one that is a second off is as long as
/// the others.
fn lengths(times: &[f64]) -> Vec<f64> {
    let apart = times.iter().zip(times.iter().skip(1)).map(|(begin, end)| end - begin);
    // After midnight of a day that is not known, the clock begins anew.
    let apart: Vec<f64> =
        apart.map(|s| if (-DAY..0.0).contains(&s) { s + DAY } else { s }).collect();
    let usual = usual(apart.iter().copied());
    let near = |seconds: f64| if (seconds - usual).abs() <= 1.0 { usual } else { seconds };
    apart.into_iter().map(near).collect()
}
