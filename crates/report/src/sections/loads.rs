//! Every load that was measured, as one table of the figures in [`results::FIGURES`].

use std::ops::Range;

use results::{Document, Environment, FIGURES, FigureField, Measurement, PartOf, Status, figure};

use super::caption;
use super::make::{column, greyed, table, text, whole};
use crate::language::say;
use crate::model::{Block, Cell, Column, Table, Unit};
use crate::words;

/// Columns that are left out if all rows hold the same: the section on what was tested has it.
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
const FOR_PROGRAMS: [&str; 6] =
    ["measurement_id", "experiment_id", "kind", "started", "tool_version", "conditions_id"];

/// Figures that a terminal has room for.
const BRIEF: [&str; 9] = [
    "load",
    "threads",
    "depth",
    "in_flight",
    "iops",
    "half_width_percent",
    "mib_per_s",
    "latency_mean_ns",
    "latency_p99_ns",
];

/// The figures that were in the first tables, in their order; those that came later follow in the
/// order of the list.
const FIRST: [&str; 38] = [
    "cell",
    "load",
    "threads",
    "depth",
    "in_flight",
    "achieved_in_flight",
    "iops",
    "half_width_percent",
    "mib_per_s",
    "latency_min_ns",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p95_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_max_ns",
    "errors",
    "status",
    "ios",
    "seconds",
    "pattern",
    "write_percent",
    "block_bytes",
    "file_bytes",
    "direct",
    "durable",
    "target",
    "device",
    "host",
    "engine",
    "started",
    "kind",
    "tool_version",
    "measurement_id",
    "experiment_id",
    "used_bytes",
    "conditions_id",
];

/// The figures of a load in the order of the columns. Their keys are the header of the CSV: it may
/// grow at the end, and never changes.
pub(crate) fn figures() -> impl Iterator<Item = &'static FigureField> {
    let later = |figure: &&FigureField| figure.in_reports && !FIRST.contains(&figure.key);
    FIRST.iter().filter_map(|key| figure(key)).chain(FIGURES.iter().filter(later))
}

/// One row per measurement of a document, with a cell for each of [`figures`] and an empty one. A
/// measurement of several hosts is followed by a row for each of them, whose last cell names it.
pub(crate) fn records(document: &Document) -> Vec<Vec<Cell>> {
    let measurements = document.measurements();
    let of = |(m, cell): (&&Measurement, u32)| {
        let all = (row(document, cell, m), Cell::Empty);
        let own = m.hosts.iter().map(move |host| {
            (row(document, cell, &host.measurement), text(words::clean(&host.name)))
        });
        let rows: Vec<_> = std::iter::once(all).chain(own).collect();
        rows.into_iter().map(|(mut row, of_host)| {
            row.push(of_host);
            row
        })
    };
    measurements.iter().zip(0..).flat_map(of).collect()
}

fn row(document: &Document, cell: u32, m: &Measurement) -> Vec<Cell> {
    let part_of = PartOf { experiment_id: document.id(), kind: document.kind(), cell };
    let environment =
        if m.environment.host.is_some() { &m.environment } else { document.environment() };
    let cell = |figure: &FigureField| match figure.key {
        // For people, everything that received the I/O is named; and an experiment may have its
        // environment only once.
        "target" => text(targets(m)),
        "device" => text(device(environment)),
        "host" => text(environment.hostname().unwrap_or_default()),
        "latency_min_ns" => whole(m.total.latency_ns.and_then(|l| words::least(m, &l))),
        _ => Cell::of(figure, &figure.of(m, &part_of)),
    };
    figures().map(cell).collect()
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

/// A column of words in front of the others: its key, its heading, and what it says of each
/// measurement.
pub(super) type Lead<'a> = (&'static str, &'a str, &'a dyn Fn(usize) -> String);

/// Some of the loads of a document for people.
pub(super) struct Shown<'a> {
    /// Name and heading of the table.
    pub(super) key: &'a str,
    pub(super) title: &'a str,
    /// The place of its measurements in the document.
    pub(super) range: Range<usize>,
    /// A column of words in front.
    pub(super) lead: Option<Lead<'a>>,
}

impl Shown<'_> {
    /// The table without columns that are the same everywhere.
    pub(super) fn table(self, document: &Document) -> Option<Table> {
        let measurements = document.measurements();
        let measurements: Vec<(u32, &Measurement)> = (0..)
            .zip(measurements)
            .filter(|(place, _)| self.range.contains(&(*place as usize)))
            .collect();
        let rows: Vec<Vec<Cell>> =
            measurements.iter().map(|(place, m)| row(document, *place, m)).collect();
        let shown: Vec<bool> =
            figures().enumerate().map(|(at, figure)| is_shown(figure, at, &rows)).collect();
        let mut columns: Vec<Column> = figures()
            .zip(&shown)
            .filter(|(_, shown)| **shown)
            .map(|(f, _)| Column::of(f))
            .map(|c| if BRIEF.contains(&c.key) { c } else { c.full() })
            .collect();
        let kept = |row: Vec<Cell>| {
            row.into_iter().zip(&shown).filter(|(_, shown)| **shown).map(|(cell, _)| cell).collect()
        };
        let mut shown: Vec<Vec<Cell>> = rows.into_iter().map(kept).collect();
        if let Some((key, name, words)) = self.lead {
            columns.insert(0, column(key, name, Unit::Text));
            for (row, (place, _)) in shown.iter_mut().zip(&measurements) {
                row.insert(0, text(words(*place as usize)));
            }
        }
        let caption = caption::of(measurements.iter().map(|(_, m)| *m));
        table(self.key, self.title, &caption, columns, shown)
    }
}

/// All loads of a document for people.
pub(super) fn shown(document: &Document) -> Option<Table> {
    Shown { key: "loads", title: &say!("heading-every-load"), range: 0..usize::MAX, lead: None }
        .table(document)
}

/// The measurements of an experiment that did not come to its end.
pub(crate) fn kept(measurements: &[Measurement]) -> Vec<Block> {
    const KEYS: [&str; 7] = [
        "load",
        "file_bytes",
        "in_flight",
        "iops",
        "mib_per_s",
        "latency_mean_ns",
        "latency_p99_ns",
    ];
    let figures = || KEYS.iter().filter_map(|key| figure(key));
    let columns: Vec<Column> =
        figures().map(Column::of).chain([column("status", "", Unit::Text)]).collect();
    let row = |m: &Measurement| {
        let part_of = PartOf { experiment_id: "", kind: "", cell: 0 };
        let cells = figures().map(|figure| Cell::of(figure, &figure.of(m, &part_of)));
        greyed(&columns, cells.chain([text(ended(m))]).collect(), m.is_unsure())
    };
    let rows = measurements.iter().map(row).collect();
    let table = table("kept", say!("heading-what-was-measured"), "", columns.clone(), rows);
    table.map(Block::Table).into_iter().collect()
}

/// How a measurement ended, where it did not as it should.
pub(super) fn ended(m: &Measurement) -> &'static str {
    match m.status {
        Status::Complete if m.errors.is_empty() => "",
        Status::Complete => "errors",
        other => other.word(),
    }
}

/// Whether a table for people has a figure; `at` is its place in each of these rows.
fn is_shown(figure: &FigureField, at: usize, rows: &[Vec<Cell>]) -> bool {
    let first = rows.first().and_then(|row| row.get(at));
    let alike = rows.iter().all(|row| row.get(at) == first);
    let common = alike && COMMON.contains(&figure.key);
    let absent = alike && first == Some(&Cell::Empty) && !FIRST.contains(&figure.key);
    !(common || absent || FOR_PROGRAMS.contains(&figure.key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_columns_are_figures_of_reports_and_no_figure_of_reports_is_forgotten() {
        let names = FIRST.iter().chain(&COMMON).chain(&FOR_PROGRAMS);
        for key in names.chain(&["target", "device", "host", "file_bytes", "latency_min_ns"]) {
            assert!(figure(key).is_some_and(|figure| figure.in_reports), "{key}");
        }
        let of_reports = FIGURES.iter().filter(|figure| figure.in_reports).count();
        assert_eq!(figures().count(), of_reports);
        assert!(figures().zip(FIRST).all(|(figure, key)| figure.key == key));
    }
}
