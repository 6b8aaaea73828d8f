//! What databases counted, next to the devices.

use counters::{DISK_FIELDS, Span};
use results::{RecordedPoint, RecordedRow, Recording};

use super::make::{
    Drawn, Named, beside, brief, chart, column, full, linear, number, points, section, series,
    table, text,
};
use crate::databases::{TOTAL, busiest, label, lowest, meaning, totals};
use crate::language::say;
use crate::model::{Block, Cell, Chart, Column, Section, Series, Shape, Side, Table, Unit};
use crate::words;

/// Objects that a terminal has room for, besides the sums.
const OBJECTS: usize = 12;
const MIB: f64 = 1_048_576.0;

/// A column: its key, the figure of a database, that of a device, the heading, and what the figure
/// is divided by.
const COLUMNS: [(&str, &str, &str, &str, Unit, f64); 8] = [
    ("reads_per_s", "reads_per_s", "reads_per_s", "Reads", Unit::Iops, 1.0),
    ("writes_per_s", "writes_per_s", "writes_per_s", "Writes", Unit::Iops, 1.0),
    ("read_mib_per_s", "read_bytes_per_s", "read_bytes_per_s", "Read", Unit::MibPerS, MIB),
    ("write_mib_per_s", "write_bytes_per_s", "write_bytes_per_s", "Written", Unit::MibPerS, MIB),
    (
        "read_latency_ns",
        "read_latency_ns",
        "read_latency_ns",
        "Read latency",
        Unit::Nanoseconds,
        1.0,
    ),
    (
        "write_latency_ns",
        "write_latency_ns",
        "write_latency_ns",
        "Write latency",
        Unit::Nanoseconds,
        1.0,
    ),
    ("syncs_per_s", "syncs_per_s", "flushes_per_s", "Syncs or flushes", Unit::Number, 1.0),
    (
        "sync_latency_ns",
        "sync_latency_ns",
        "flush_latency_ns",
        "Sync latency",
        Unit::Nanoseconds,
        1.0,
    ),
];

/// Both sides, what their difference means, each object, and the counters; `None` if no database
/// was watched.
pub(super) fn of(r: &Recording, shown: &[RecordedPoint]) -> Option<Section> {
    if r.totals.rows.is_empty() {
        return None;
    }
    let mut blocks: Vec<Block> = meaning(r).into_iter().map(Block::Paragraph).collect();
    blocks.extend(sides(r).map(Block::Table));
    blocks.extend(beside(charts(r, shown)));
    let objects = |rows: &[&RecordedRow]| objects(rows).map(Block::Table);
    blocks.push(full(objects(&r.totals.rows.iter().collect::<Vec<_>>())));
    blocks.push(brief(objects(&busiest(&r.totals.rows, OBJECTS))));
    blocks.extend(counters(r).map(Block::Table));
    section("databases", say!("heading-databases-beside-devices"), blocks)
}

fn columns(first: &[(&'static str, &str)]) -> Vec<Column> {
    let mut columns: Vec<Column> =
        first.iter().map(|(key, name)| column(key, *name, Unit::Text)).collect();
    columns.extend(COLUMNS.iter().map(|(key, _, _, title, unit, _)| column(key, *title, *unit)));
    columns
}

fn figures(row: &RecordedRow) -> impl Iterator<Item = Cell> {
    let known = row.figures();
    COLUMNS.iter().map(move |(_, name, _, _, _, unit)| {
        let figure = known.iter().find(|(known, _)| known == name);
        number(figure.and_then(|(_, figure)| *figure).map(|figure| figure / unit))
    })
}

/// The sums of the databases, and the devices.
fn sides(r: &Recording) -> Option<Table> {
    let mut lines: Vec<Vec<Cell>> = totals(&r.totals.rows)
        .map(|row| std::iter::once(text(label(row, &r.totals.rows))).chain(figures(row)).collect())
        .collect();
    for (name, total) in lowest(r) {
        let cells = COLUMNS.iter().map(|(_, _, name, _, _, unit)| {
            number(total.figures.get(*name).copied().flatten().map(|figure| figure / unit))
        });
        lines.push(std::iter::once(text(name)).chain(cells).collect());
    }
    let caption = "over the whole time; latency weighs each operation alike";
    table(
        "sides",
        say!("heading-databases-and-devices"),
        caption,
        columns(&[("who", "Who")]),
        lines,
    )
}

/// Each object of each database.
fn objects(rows: &[&RecordedRow]) -> Option<Table> {
    let line = |row: &RecordedRow| {
        [text(&row.source), text(&row.object)].into_iter().chain(figures(row)).collect()
    };
    let lines = rows.iter().map(|row| line(row)).collect();
    let columns = columns(&[("source", "Database"), ("object", "Object")]);
    table(
        "rows",
        say!("heading-objects"),
        "as the database counts them, over the whole time",
        columns,
        lines,
    )
}

/// What is counted for a database as a whole.
fn counters(r: &Recording) -> Option<Table> {
    let columns = vec![
        column("source", say!("label-database"), Unit::Text),
        column("counter", say!("label-counter"), Unit::Text),
        column("amount", say!("label-amount"), Unit::Number),
        column("per_s", say!("label-per-second"), Unit::Number),
    ];
    let line = |(row, name, amount): (&RecordedRow, &str, f64)| {
        let per_s = (row.seconds > 0.0).then(|| amount / row.seconds);
        let of = if row.object == TOTAL { row.source.clone() } else { label(row, &r.totals.rows) };
        vec![text(&of), text(name), number(amount), number(per_s)]
    };
    let lines = r.totals.rows.iter().flat_map(|row| {
        row.counters.iter().map(move |(name, amount)| line((row, name.as_str(), *amount)))
    });
    table(
        "counted",
        say!("heading-counters-of-the-database"),
        "over the whole time",
        columns,
        lines.collect(),
    )
}

/// I/Os and latency of each database and of the devices over time.
fn charts(r: &Recording, shown: &[RecordedPoint]) -> Vec<Chart> {
    let drawn = |name: &'static str, title: &str, unit| {
        let mut lines: Vec<Series> = Vec::new();
        for total in totals(&r.totals.rows) {
            let figure = |point: &RecordedPoint| {
                let same =
                    |row: &&RecordedRow| row.source == total.source && row.object == total.object;
                let known = point.rows.iter().find(same)?.figures();
                known.iter().find(|(known, _)| *known == name).and_then(|(_, figure)| *figure)
            };
            let all = points(shown.iter().map(|p| (p.t - p.seconds / 2.0, figure(p))));
            let of = words::clean(total.source.split("://").next().unwrap_or_default());
            lines.push(series(&of, Shape::Line, Side::Left, all));
        }
        let field = DISK_FIELDS.iter().find(|field| field.name == name);
        for (device, _) in lowest(r) {
            let figure = |point: &RecordedPoint| {
                let span: Span = point.span();
                field?.of(&point.disks.get(device).copied().unwrap_or_default(), span)
            };
            let all = points(shown.iter().map(|p| (p.t - p.seconds / 2.0, figure(p))));
            lines.push(series(device, Shape::Dashed, Side::Left, all));
        }
        chart(
            &Named { key: &format!("databases-{name}"), title, caption: "database and device" },
            Drawn {
                x: linear(say!("label-time"), Unit::Seconds),
                left: linear(title, unit),
                right: None,
                series: lines,
                marks: Vec::new(),
            },
        )
    };
    let all = [
        drawn("reads_per_s", "Reads", Unit::Iops),
        drawn("writes_per_s", "Writes", Unit::Iops),
        drawn("read_latency_ns", "Read latency", Unit::Nanoseconds),
        drawn("write_latency_ns", "Write latency", Unit::Nanoseconds),
    ];
    all.into_iter().flatten().collect()
}
