//! Every load that was measured, as one table: the columns that a history keeps of a measurement.

use std::ops::Range;

use results::{Document, Environment, Measurement};

use super::caption;
use super::make::{column, number, table, text, whole};
use crate::model::{Cell, Column, Table, Unit};
use crate::words;

/// Columns that are of no use to a reader where all rows hold the same: what was tested says it already.
const COMMON: [&str; 17] = [
    "cell",
    "host",
    "target",
    "device",
    "pattern",
    "write_percent",
    "block_bytes",
    "threads",
    "file_bytes",
    "direct",
    "durable",
    "engine",
    "seconds",
    "errors",
    "status",
    "load",
    "used_bytes",
];
/// Columns for programs, which a table for people leaves out.
const FOR_PROGRAMS: [&str; 5] =
    ["measurement_id", "experiment_id", "kind", "started", "tool_version"];

/// All columns, in their order. Their keys are the header of the CSV: they may grow at the end, and never change.
pub(crate) fn columns() -> Vec<Column> {
    vec![
        column("cell", "No.", Unit::Count),
        column("load", "Load", Unit::Text),
        column("threads", "Threads", Unit::Count),
        column("depth", "Depth", Unit::Count),
        column("in_flight", "In flight", Unit::Count),
        column("achieved_in_flight", "Achieved", Unit::Number),
        column("iops", "IOPS", Unit::Iops),
        column("half_width_percent", "±", Unit::Percent),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("latency_min_ns", "Min", Unit::Nanoseconds),
        column("latency_mean_ns", "Mean", Unit::Nanoseconds),
        column("latency_p50_ns", "p50", Unit::Nanoseconds),
        column("latency_p90_ns", "p90", Unit::Nanoseconds),
        column("latency_p95_ns", "p95", Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("latency_p99_9_ns", "p99.9", Unit::Nanoseconds),
        column("latency_max_ns", "Max", Unit::Nanoseconds),
        column("errors", "Errors", Unit::Count),
        column("status", "Status", Unit::Text),
        column("ios", "I/Os", Unit::Count),
        column("seconds", "Seconds", Unit::Seconds),
        column("pattern", "Pattern", Unit::Text),
        column("write_percent", "Writes", Unit::Percent),
        column("block_bytes", "Block", Unit::Bytes),
        column("file_bytes", "File size", Unit::Bytes),
        column("direct", "Direct", Unit::Text),
        column("durable", "Durable", Unit::Text),
        column("target", "Target", Unit::Text),
        column("device", "Device", Unit::Text),
        column("host", "Host", Unit::Text),
        column("engine", "Engine", Unit::Text),
        column("started", "Started", Unit::Moment),
        column("kind", "Kind", Unit::Text),
        column("tool_version", "Version", Unit::Text),
        column("measurement_id", "Measurement", Unit::Text),
        column("experiment_id", "Result", Unit::Text),
        column("used_bytes", "Used", Unit::Bytes),
    ]
}

/// A row for each measurement of a document.
pub(crate) fn rows(document: &Document) -> Vec<Vec<Cell>> {
    let measurements = document.measurements();
    measurements.iter().enumerate().map(|(place, m)| row(document, place, m)).collect()
}

fn row(document: &Document, place: usize, m: &Measurement) -> Vec<Cell> {
    let t = &m.total;
    let l = t.latency_ns;
    let mut row = vec![
        whole(place as u64),
        text(&m.workload.title()),
        whole(m.threads),
        whole(m.depth.map(u64::from)),
        whole(m.in_flight),
        number(words::achieved(m)),
        number(t.iops),
        number(m.steady.as_ref().and_then(|s| s.half_width_percent)),
        number(t.mib_per_s),
        whole(l.and_then(|l| words::least(m, &l))),
        number(l.map(|l| l.mean)),
        whole(l.and_then(|l| l.p50)),
        whole(l.and_then(|l| l.p90)),
        whole(l.and_then(|l| l.p95)),
        whole(l.and_then(|l| l.p99)),
        whole(l.and_then(|l| l.p99_9)),
        whole(l.map(|l| l.max)),
        whole(t.errors),
        text(words::status(m.status)),
        whole(t.ios),
        number(m.seconds),
    ];
    row.extend(identity(document, m));
    row
}

/// What was done, where, by what and when.
fn identity(document: &Document, m: &Measurement) -> Vec<Cell> {
    let environment =
        if m.environment.host.is_some() { &m.environment } else { document.environment() };
    let yes_no = |value: bool| text(if value { "yes" } else { "no" });
    let streams = &m.workload.streams;
    vec![
        text(m.workload.pattern_kind().word()),
        whole(alike(streams.iter().map(|s| u64::from(s.write_percent)))),
        whole(alike(streams.iter().flat_map(|s| &s.blocks).map(|b| b.bytes.0))),
        whole(Some(m.file_bytes).filter(|bytes| m.origin.is_none() || *bytes > 0)),
        yes_no(m.workload.is_direct()),
        yes_no(m.workload.is_durable()),
        text(&targets(m)),
        text(&device(environment)),
        text(environment.host.as_ref().map_or("", |h| &h.hostname)),
        text(&m.engine.name),
        number(moment(&m.started)),
        text(document.kind()),
        text(&m.tool_version),
        text(&m.id),
        text(document.id()),
        whole(words::used_bytes(m)),
    ]
}

/// The one value of all, if there is one.
fn alike(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values = values;
    let first = values.next()?;
    values.all(|v| v == first).then_some(first)
}

fn targets(m: &Measurement) -> String {
    let paths = m.workload.targets.iter().map(|t| words::path(&t.path));
    paths.collect::<Vec<_>>().join(" + ")
}

/// The devices under the targets, each once.
fn device(environment: &Environment) -> String {
    let mut names: Vec<String> = Vec::new();
    for device in environment.storage.iter().flat_map(|s| &s.devices) {
        let model = device.model.as_deref().map(str::trim).filter(|m| !m.is_empty());
        let name = words::clean(model.unwrap_or(&device.name));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(" + ")
}

/// Seconds since 1970 of an RFC 3339 time.
fn moment(time: &str) -> Option<f64> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.as_millisecond() as f64 / 1e3)
}

/// A column of words in front of the others: its key, its heading, and what it says of each measurement.
pub(super) type Lead<'a> = (&'static str, &'a str, &'a dyn Fn(usize) -> String);

/// Some of the loads of a document for people.
pub(super) struct Shown<'a> {
    /// Name and heading of the table.
    pub(super) key: &'a str,
    pub(super) title: &'a str,
    /// Which measurements of the document.
    pub(super) range: Range<usize>,
    /// A column of words in front.
    pub(super) lead: Option<Lead<'a>>,
}

impl Shown<'_> {
    /// The table without what is the same everywhere.
    pub(super) fn table(self, document: &Document) -> Option<Table> {
        let measurements = document.measurements();
        let measurements: Vec<(usize, &Measurement)> = measurements
            .into_iter()
            .enumerate()
            .filter(|(place, _)| self.range.contains(place))
            .collect();
        let rows: Vec<Vec<Cell>> =
            measurements.iter().map(|(place, m)| row(document, *place, m)).collect();
        let all = columns();
        let alike = |c: usize| {
            let first = rows.first().and_then(|r| r.get(c));
            rows.iter().all(|r| r.get(c) == first)
        };
        let kept = |(c, column): &(usize, &Column)| {
            let known = COMMON.contains(&column.key) && alike(*c);
            !known && !FOR_PROGRAMS.contains(&column.key)
        };
        let kept: Vec<usize> = all.iter().enumerate().filter(kept).map(|(c, _)| c).collect();
        let mut columns: Vec<Column> = kept.iter().filter_map(|c| all.get(*c).cloned()).collect();
        let mut shown: Vec<Vec<Cell>> = rows
            .iter()
            .map(|row| kept.iter().map(|c| row.get(*c).cloned().unwrap_or(Cell::Empty)).collect())
            .collect();
        if let Some((key, name, words)) = self.lead {
            columns.insert(0, column(key, name, Unit::Text));
            for (row, (place, _)) in shown.iter_mut().zip(&measurements) {
                row.insert(0, text(&words(*place)));
            }
        }
        let caption = caption::of(measurements.iter().map(|(_, m)| *m));
        table(self.key, self.title, &caption, columns, shown)
    }
}

/// All loads of a document for people.
pub(super) fn shown(document: &Document) -> Option<Table> {
    Shown { key: "loads", title: "Every load", range: 0..usize::MAX, lead: None }.table(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_seconds_since_1970() {
        assert_eq!(moment("1970-01-02T00:00:00.5Z"), Some(86_400.5));
        assert_eq!(moment("yesterday"), None);
    }
}
