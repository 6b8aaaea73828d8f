//! What `sadf` makes of the binary files of `sar`: lines with semicolons (`-d`) and JSON (`-j`), of
//! disks (`-- -d`) and of processors (`-- -u`). Each row has its moment and its interval.

use std::collections::{BTreeMap, HashMap};

use jiff::tz::TimeZone;
use serde_json::Value;

use super::cells::{is_cut_row, sysstat_cell, sysstat_cpu, sysstat_rates, whole};
use super::document::{Found, Window, leaves_out_idle, linux_kind};
use super::moments::{clock, day, in_zone, usual};
use super::{CUT, CUT_ROW, ForeignError, ForeignRecordings, Reading, leave_out_cut, sysstat_json};

const FIRST: &str = "# hostname;interval;timestamp";
const RESTART: &str = "LINUX-RESTART";
const RESTARTED: &str = "the system was restarted while sar recorded";

pub(super) fn is_in(text: &str) -> bool {
    let is_json = text.trim_start().starts_with('{') && text.contains("\"sysstat\"");
    is_json && text.contains("\"timestamp\"") && text.contains("\"interval\"")
        || text.lines().any(|line| line.starts_with(FIRST))
}

pub(super) fn read(text: &str, reading: &Reading<'_>) -> Result<ForeignRecordings, ForeignError> {
    let hosts = if text.trim_start().starts_with('{') {
        of_json(text, reading)?
    } else {
        of_lines(text, reading)?
    };
    let mut found = ForeignRecordings::default();
    for recording in hosts.into_iter().filter_map(Host::recording) {
        found.documents.push(recording.document(text, reading, linux_kind));
    }
    if found.documents.is_empty() { Err(ForeignError::NoDiskTable) } else { Ok(found) }
}

/// The figures of a row by the names of the columns of `sar`.
type Figures = HashMap<String, f64>;

/// What happened in an interval.
#[derive(Default)]
struct Interval {
    end: f64,
    seconds: f64,
    disks: Vec<(String, Figures)>,
    cpu: Figures,
}

#[derive(Default)]
struct Host {
    name: String,
    cpus: Option<u32>,
    /// By their end in milliseconds since 1970.
    intervals: BTreeMap<u64, Interval>,
    is_local: bool,
    warnings: Vec<String>,
}

impl Host {
    /// The interval that ends at a moment: tables of disks and of processors follow each other.
    fn interval(&mut self, end: f64, seconds: f64) -> &mut Interval {
        let new = || Interval { end, seconds, ..Interval::default() };
        self.intervals.entry(whole(end * 1e3)).or_insert_with(new)
    }

    fn recording(self) -> Option<Found> {
        let mut intervals: Vec<Interval> = self.intervals.into_values().collect();
        let names = |interval: &'_ Interval| {
            interval.disks.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        let tables: Vec<Vec<String>> = intervals.iter().map(names).collect();
        let tables: Vec<Vec<&str>> =
            tables.iter().map(|names| names.iter().map(String::as_str).collect()).collect();
        let is_idle_left_out = leaves_out_idle(&tables);
        intervals.retain(|interval| is_idle_left_out || !interval.disks.is_empty());
        let first = intervals.first().filter(|_| tables.iter().any(|names| !names.is_empty()))?;
        let begin = first.end - first.seconds;
        let mut found = Found { tool: "sar", is_local: self.is_local, ..Found::default() };
        found.host = Some(self.name).filter(|name| !name.is_empty());
        found.started = Some(begin);
        found.interval_seconds = usual(intervals.iter().map(|interval| interval.seconds));
        for Interval { end, seconds, disks, cpu } in intervals {
            let disk = |(name, figures): (String, Figures)| {
                (name, sysstat_rates(|column| figures.get(column).copied()).tally(seconds))
            };
            let disks = disks.into_iter().map(disk).collect();
            let cpu = sysstat_cpu(|column| cpu.get(column).copied(), seconds, self.cpus);
            found.windows.push(Window { t: end - begin, seconds, disks, cpu });
        }
        if is_idle_left_out {
            found.fill_idle();
        }
        found.method.push(
            "sar counts discards among the I/Os (tps) and among their mean time (await)."
                .to_owned(),
        );
        found.warnings = self.warnings;
        Some(found)
    }
}

/// `2026-11-28 12:44:01 UTC`, without a zone the time of the system, or seconds since 1970; and
/// whether it is the time of the system.
fn moment(text: &str, reading: &Reading<'_>) -> Option<(f64, bool)> {
    if let Ok(seconds) = text.parse::<u32>() {
        return Some((seconds.into(), false));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let (date, rest) = words.split_first()?;
    let (time, _, used) = clock(rest)?;
    let zone = match rest.get(used..) {
        Some([]) => None,
        Some(["UTC"]) => Some(TimeZone::UTC),
        _ => return None,
    };
    let at = day(date, false)?.to_datetime(time);
    Some((in_zone(at, zone.as_ref().unwrap_or(&reading.zone))?, zone.is_none()))
}

fn of_lines(text: &str, reading: &Reading<'_>) -> Result<Vec<Host>, ForeignError> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if line.starts_with(FIRST) {
            columns = line.split(';').collect();
            continue;
        }
        let cells: Vec<&str> = line.split(';').collect();
        let kind = columns.get(3).copied().unwrap_or_default();
        let is_cut = lines.peek().is_none() && !text.ends_with('\n') && {
            let figures = cells.get(3..).unwrap_or_default();
            is_cut_row(figures, columns.len().saturating_sub(3), Some(0))
        };
        if let Some(host) = hosts.last_mut().filter(|_| is_cut && !line.contains(RESTART)) {
            let at = cells.get(2).filter(|_| cells.len() > 3).and_then(|at| moment(at, reading));
            if kind == "DEV" {
                leave_out_cut(&mut host.intervals, at.map(|(end, _)| whole(end * 1e3)));
            }
            host.warnings.push(CUT_ROW.to_owned());
            continue;
        }
        let &[name, interval, at, what, ..] = cells.as_slice() else { continue };
        if hosts.last().is_none_or(|host| host.name != name) {
            hosts.push(Host { name: name.to_owned(), ..Host::default() });
        }
        let Some(host) = hosts.last_mut() else { break };
        if what.starts_with(RESTART) {
            host.warnings.push(RESTARTED.to_owned());
            continue;
        }
        let wrong = |what: String| ForeignError::Line { line: index + 1, what };
        if !["DEV", "CPU"].contains(&kind) {
            continue;
        }
        if cells.len() != columns.len() {
            let named = columns.len();
            return Err(wrong(format!("{} columns where the heading names {named}", cells.len())));
        }
        let unknown = || wrong(format!("`{at}` is not a time as sadf writes it"));
        let (end, is_local) = moment(at, reading).ok_or_else(unknown)?;
        let Some(seconds) = interval.parse().ok().filter(|seconds: &f64| *seconds > 0.0) else {
            continue;
        };
        let cell = |(column, cell): (&&str, &&str)| {
            let figure = sysstat_cell(column, cell).map_err(wrong)?;
            Ok(figure.map(|figure| ((*column).to_owned(), figure)))
        };
        let figures = columns.iter().zip(&cells).skip(4).map(cell);
        let figures = figures.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        host.is_local |= is_local;
        let interval = host.interval(end, seconds);
        match (kind, what) {
            ("DEV", _) => interval.disks.push((what.to_owned(), figures)),
            (_, "-1" | "all") => interval.cpu = figures,
            _ => {}
        }
    }
    Ok(hosts)
}

fn of_json(text: &str, reading: &Reading<'_>) -> Result<Vec<Host>, ForeignError> {
    let (documents, is_cut) = sysstat_json(text)?;
    let hosts = documents.iter().filter_map(|value| value["sysstat"]["hosts"].as_array()).flatten();
    let mut hosts: Vec<Host> = hosts.map(|value| of_json_host(value, reading)).collect();
    if let Some(last) = hosts.last_mut().filter(|_| is_cut) {
        last.warnings.push(CUT.to_owned());
    }
    Ok(hosts)
}

fn of_json_host(value: &Value, reading: &Reading<'_>) -> Host {
    let mut host = Host {
        name: value["nodename"].as_str().unwrap_or_default().to_owned(),
        cpus: value["number-of-cpus"].as_u64().and_then(|cpus| u32::try_from(cpus).ok()),
        ..Host::default()
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    if !list(&value["restarts"]).is_empty() {
        host.warnings.push(RESTARTED.to_owned());
    }
    for report in list(&value["statistics"]) {
        let time = &report["timestamp"];
        let word = |name: &str| time[name].as_str().unwrap_or_default();
        let zone = if time["utc"].as_u64() == Some(1) { " UTC" } else { "" };
        let at = moment(&format!("{} {}{zone}", word("date"), word("time")), reading);
        let seconds = time["interval"].as_f64().filter(|seconds| *seconds > 0.0);
        let (Some((end, is_local)), Some(seconds)) = (at, seconds) else { continue };
        host.is_local |= is_local;
        let interval = host.interval(end, seconds);
        for disk in list(&report["disk"]) {
            let name = disk["disk-device"].as_str().unwrap_or_default().to_owned();
            interval.disks.push((name, json_figures(&disk)));
        }
        let all = list(&report["cpu-load"]).into_iter().find(|cpu| cpu["cpu"] == "all");
        interval.cpu = all.map(|cpu| json_figures(&cpu)).unwrap_or_default();
    }
    host
}

/// The numbers of an object, by the names of the text's columns.
fn json_figures(value: &Value) -> Figures {
    let column = |name: &str| match name {
        "rkB" | "wkB" | "dkB" | "rd_sec" | "wr_sec" | "dc_sec" => format!("{name}/s"),
        "util-percent" => "%util".to_owned(),
        "idle" | "iowait" | "steal" => format!("%{name}"),
        other => other.to_owned(),
    };
    let figures = value.as_object().into_iter().flatten();
    figures.filter_map(|(name, value)| Some((column(name), value.as_f64()?))).collect()
}
