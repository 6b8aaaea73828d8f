//! What databases counted, next to the devices.

use counters::{DISK_FIELDS, Span};
use results::{RecordedPoint, RecordedRow, Recording};

use super::make::{
    Drawn, Named, beside, brief, chart, column, full, linear, number, points, section, series,
    table, text,
};
use crate::databases::{busiest, devices, label, meaning, totals};
use crate::language::say;
use crate::model::{Block, Cell, Chart, Column, Section, Series, Shape, Side, Table, Unit};
use crate::words;

/// The most objects in a terminal's table, besides the sums.
const OBJECTS: usize = 12;
const MIB: f64 = 1_048_576.0;

/// A column of databases and devices.
struct Figure {
    key: &'static str,
    /// The figure's name at a database.
    database: &'static str,
    /// The figure's name at a device.
    device: &'static str,
    title: fn() -> String,
    unit: Unit,
    /// What the figure is divided by before it is shown.
    divisor: f64,
}

const fn figure(
    key: &'static str,
    [database, device]: [&'static str; 2],
    title: fn() -> String,
    unit: Unit,
) -> Figure {
    let divisor = if matches!(unit, Unit::MibPerS) { MIB } else { 1.0 };
    Figure { key, database, device, title, unit, divisor }
}

const COLUMNS: [Figure; 8] = [
    figure("reads_per_s", ["reads_per_s"; 2], || say!("label-reads"), Unit::Iops),
    figure("writes_per_s", ["writes_per_s"; 2], || say!("label-writes"), Unit::Iops),
    figure("read_mib_per_s", ["read_bytes_per_s"; 2], || say!("label-read"), Unit::MibPerS),
    figure("write_mib_per_s", ["write_bytes_per_s"; 2], || say!("label-written"), Unit::MibPerS),
    figure("read_latency_ns", ["read_latency_ns"; 2], read_latency, Unit::Nanoseconds),
    figure("write_latency_ns", ["write_latency_ns"; 2], write_latency, Unit::Nanoseconds),
    figure(
        "syncs_per_s",
        ["syncs_per_s", "flushes_per_s"],
        || say!("databases-syncs"),
        Unit::Number,
    ),
    figure(
        "sync_latency_ns",
        ["sync_latency_ns", "flush_latency_ns"],
        || say!("databases-sync-latency"),
        Unit::Nanoseconds,
    ),
];

fn read_latency() -> String {
    say!("databases-read-latency")
}

fn write_latency() -> String {
    say!("databases-write-latency")
}

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

fn columns(first: impl IntoIterator<Item = (&'static str, String)>) -> Vec<Column> {
    let first = first.into_iter().map(|(key, name)| column(key, name, Unit::Text));
    first.chain(COLUMNS.iter().map(|c| column(c.key, (c.title)(), c.unit))).collect()
}

fn figures(row: &RecordedRow) -> impl Iterator<Item = Cell> {
    let known = row.figures();
    COLUMNS.iter().map(move |column| {
        let figure = known.iter().find(|(name, _)| *name == column.database);
        number(figure.and_then(|(_, figure)| *figure).map(|figure| figure / column.divisor))
    })
}

/// The sums of the databases, and the devices.
fn sides(r: &Recording) -> Option<Table> {
    let mut lines: Vec<Vec<Cell>> = totals(&r.totals.rows)
        .map(|row| std::iter::once(text(label(row, &r.totals.rows))).chain(figures(row)).collect())
        .collect();
    for (name, total) in devices(r) {
        let cells = COLUMNS.iter().map(|column| {
            let figure = total.figures.get(column.device).copied().flatten();
            number(figure.map(|figure| figure / column.divisor))
        });
        lines.push(std::iter::once(text(name)).chain(cells).collect());
    }
    table(
        "sides",
        say!("heading-databases-and-devices"),
        &say!("databases-sides-caption"),
        columns([("who", say!("databases-counted-by"))]),
        lines,
    )
}

/// A table with each object of each database.
fn objects(rows: &[&RecordedRow]) -> Option<Table> {
    let line = |row: &RecordedRow| {
        [text(&row.source), text(&row.object)].into_iter().chain(figures(row)).collect()
    };
    let lines = rows.iter().map(|row| line(row)).collect();
    let columns =
        columns([("source", say!("label-database")), ("object", say!("databases-object"))]);
    let caption = say!("databases-objects-caption");
    table("rows", say!("heading-objects"), &caption, columns, lines)
}

/// A table of counters for databases as a whole.
fn counters(r: &Recording) -> Option<Table> {
    let columns = vec![
        column("source", say!("label-database"), Unit::Text),
        column("counter", say!("label-counter"), Unit::Text),
        column("amount", say!("label-amount"), Unit::Number),
        column("per_s", say!("label-per-second"), Unit::Number),
    ];
    let line = |(row, name, amount): (&RecordedRow, &str, f64)| {
        let per_s = (row.seconds > 0.0).then(|| amount / row.seconds);
        let of = if row.object == RecordedRow::TOTAL {
            row.source.clone()
        } else {
            label(row, &r.totals.rows)
        };
        vec![text(&of), text(name), number(amount), number(per_s)]
    };
    let lines = r.totals.rows.iter().flat_map(|row| {
        row.counters.iter().map(move |(name, amount)| line((row, name.as_str(), *amount)))
    });
    table(
        "counted",
        say!("heading-counters-of-the-database"),
        &say!("recording-whole-time"),
        columns,
        lines.collect(),
    )
}

/// I/Os and latency of each database and of the devices over time.
fn charts(r: &Recording, shown: &[RecordedPoint]) -> Vec<Chart> {
    let drawn = |name: &'static str, title: String, unit| {
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
        for (device, _) in devices(r) {
            let figure = |point: &RecordedPoint| {
                let span: Span = point.span();
                field?.of(&point.disks.get(device).copied().unwrap_or_default(), span)
            };
            let all = points(shown.iter().map(|p| (p.t - p.seconds / 2.0, figure(p))));
            lines.push(series(device, Shape::Dashed, Side::Left, all));
        }
        chart(
            &Named {
                key: &format!("databases-{name}"),
                title: &title,
                caption: &say!("databases-chart-caption"),
            },
            Drawn {
                x: linear(say!("label-time"), Unit::Seconds),
                left: linear(&title, unit),
                right: None,
                series: lines,
                marks: Vec::new(),
            },
        )
    };
    let all = [
        drawn("reads_per_s", say!("label-reads"), Unit::Iops),
        drawn("writes_per_s", say!("label-writes"), Unit::Iops),
        drawn("read_latency_ns", read_latency(), Unit::Nanoseconds),
        drawn("write_latency_ns", write_latency(), Unit::Nanoseconds),
    ];
    all.into_iter().flatten().collect()
}
