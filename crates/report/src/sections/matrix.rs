//! What writes cost readers: a grid of read rates and write rates.

use results::{
    CellOutcome, Document, Experiment, Interference, MatrixCell, Measurement, ReadWriteMatrix,
    WriteCost, WriteLimit,
};
use workload::{show_ns, show_number};

use super::caption;
use super::make::{
    brief, column, fact, full, linear, names, number, point, section, series, table, text, whole,
};
use super::{loads, tested};
use crate::language::say;
use crate::model::{
    Block, Card, Cell, Chart, Judgement, Section, Series, Shape, Side, Table, Unit,
};
use crate::words;

/// How to take a latency from a cell.
type Latency = fn(&MatrixCell) -> Option<u64>;

/// Answer, heat maps and tables of a matrix.
pub(super) fn sections(e: &Experiment<ReadWriteMatrix>) -> Vec<Section> {
    let document = Document::Matrix(Box::new(e.clone()));
    let grid = Grid { matrix: &e.conclusion, measurements: &e.measurements };
    let all = loads::shown(&document).map(|table| full([Block::Table(table)]));
    let sections = [
        section("verdict", say!("heading-what-writes-cost-readers"), answer(e)),
        tested::of_experiment(e, highest(&e.conclusion)),
        section("matrix", say!("heading-reads-beside-writes"), grid.blocks()),
        section("costs", say!("heading-read-rate-by-read-rate"), grid.costs()),
        section("loads", say!("heading-every-measurement"), all.into_iter().collect()),
    ];
    sections.into_iter().flatten().collect()
}

pub(super) struct Grid<'a> {
    pub(super) matrix: &'a ReadWriteMatrix,
    pub(super) measurements: &'a [Measurement],
}

impl Grid<'_> {
    /// The table, the heat maps and all cells, each for its detail.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = vec![brief(compact(self).map(Block::Table))];
        blocks.push(full(heat_maps(self).into_iter().map(Block::Chart)));
        blocks.push(full(every_cell(self).map(Block::Table)));
        blocks
    }

    /// What writes cost at each read rate.
    pub(super) fn costs(&self) -> Vec<Block> {
        costs(self.matrix).map(Block::Table).into_iter().collect()
    }
}

fn answer(e: &Experiment<ReadWriteMatrix>) -> Vec<Block> {
    let (judgement, answer) = match e.conclusion.interference {
        Interference::None => (Judgement::Good, say!("matrix-none")),
        Interference::Slight => (Judgement::Doubtful, say!("matrix-slight")),
        Interference::Strong => (Judgement::Bad, say!("matrix-strong")),
        Interference::Unknown => (Judgement::Unknown, say!("matrix-not-known")),
    };
    let card = Card {
        heading: say!("label-cost-of-writes"),
        judgement,
        answer,
        evidence: vec![words::clean(&e.conclusion.sentence)],
        original: Vec::new(),
        bullet: None,
    };
    vec![Block::Cards(vec![card])]
}

fn highest(matrix: &ReadWriteMatrix) -> Vec<crate::model::Fact> {
    let one = |name: String, iops: Option<f64>| Some(fact(name, show_number(iops?) + " IOPS"));
    let read = one(say!("matrix-highest-read"), matrix.highest_read_iops);
    let write = one(say!("matrix-highest-write"), matrix.highest_write_iops);
    [read, write].into_iter().flatten().collect()
}

/// The rates of one axis with the names of their levels, rising.
fn axis(matrix: &ReadWriteMatrix, of: fn(&MatrixCell) -> (u8, f64)) -> Vec<(u8, String)> {
    let mut levels: Vec<(u8, f64)> = matrix.cells.iter().map(of).collect();
    levels.sort_by_key(|(percent, _)| *percent);
    levels.dedup_by_key(|(percent, _)| *percent);
    levels.into_iter().map(|(percent, iops)| (percent, show_number(iops))).collect()
}

fn reads(cell: &MatrixCell) -> (u8, f64) {
    (cell.read_percent, cell.offered_read_iops)
}

fn writes(cell: &MatrixCell) -> (u8, f64) {
    (cell.write_percent, cell.offered_write_iops)
}

fn at(matrix: &ReadWriteMatrix, read: u8, write: u8) -> Option<&MatrixCell> {
    matrix.cells.iter().find(|c| (c.read_percent, c.write_percent) == (read, write))
}

fn heat_maps(grid: &Grid<'_>) -> Vec<Chart> {
    let maps: [(&str, String, Latency); 4] = [
        ("read-p99", say!("heading-p99-of-reads"), |c| c.read_p99_ns),
        ("read-p50", say!("matrix-p50-of-reads"), |c| c.read_p50_ns),
        ("write-p99", say!("matrix-p99-of-writes"), |c| c.write_p99_ns),
        ("write-p50", say!("matrix-p50-of-writes"), |c| c.write_p50_ns),
    ];
    maps.into_iter().filter_map(|(key, what, of)| heat_map(grid, (key, &what), of)).collect()
}

/// One row per write rate, the highest on top.
fn heat_map(grid: &Grid<'_>, (key, what): (&str, &str), of: Latency) -> Option<Chart> {
    let matrix = grid.matrix;
    let columns = axis(matrix, reads);
    let rows = axis(matrix, writes);
    let row = |(write, name): &(u8, String)| {
        let value = |(i, (read, _)): (usize, &(u8, String))| {
            Some(point(i as f64, of(at(matrix, *read, *write)?)? as f64, None))
        };
        let points = columns.iter().enumerate().filter_map(value).collect();
        series(say!("matrix-writes-per-s", rate = name), Shape::Cells, Side::Left, points)
    };
    let caption = say!("matrix-caption", caption = caption::of(grid.measurements));
    let title = say!("matrix-chart", latency = what);
    let series: Vec<Series> = rows.iter().rev().map(row).collect();
    // What no cell has is not a picture; a row of it without figures is.
    series.iter().any(|s| !s.points.is_empty()).then(|| Chart {
        key: format!("matrix-{key}"),
        title,
        caption,
        x: names(
            say!("label-reads-per-second"),
            columns.iter().map(|(_, name)| name.clone()).collect(),
        ),
        left: linear(what, Unit::Nanoseconds),
        right: None,
        series,
        marks: Vec::new(),
    })
}

/// p99 of reads as a grid of words: one column per read rate.
fn compact(grid: &Grid<'_>) -> Option<Table> {
    let matrix = grid.matrix;
    // A grid without reads has no latency of reads.
    let columns: Vec<_> = axis(matrix, reads).into_iter().filter(|(p, _)| *p > 0).collect();
    let heads =
        columns.iter().map(|(_, name)| column("read_p99", format!("{name} r/s"), Unit::Text));
    let shown = |cell: Option<&MatrixCell>| match cell {
        None => Cell::Empty,
        Some(cell) => match (cell.outcome, cell.read_p99_ns) {
            (CellOutcome::Reached, Some(ns)) => text(show_ns(ns as f64)),
            (CellOutcome::Reached, None) => text(say!("matrix-few-reads")),
            (outcome, _) => text(word(outcome)),
        },
    };
    let row = |(write, name): (u8, String)| {
        let cells = columns.iter().map(|(read, _)| shown(at(matrix, *read, write)));
        std::iter::once(text(&name)).chain(cells).collect()
    };
    let rows = axis(matrix, writes).into_iter().map(row).collect();
    let heads = std::iter::once(column("writes", say!("label-writes-per-second"), Unit::Text))
        .chain(heads)
        .collect();
    table("read-p99", say!("heading-p99-of-reads"), &caption::of(grid.measurements), heads, rows)
}

fn word(outcome: CellOutcome) -> String {
    match outcome {
        CellOutcome::Reached => say!("matrix-reached"),
        CellOutcome::NotReached => say!("matrix-not-reached"),
        CellOutcome::Skipped => say!("matrix-skipped"),
    }
}

fn every_cell(grid: &Grid<'_>) -> Option<Table> {
    let columns = vec![
        column("offered_read_iops", say!("label-reads-offered"), Unit::Iops),
        column("offered_write_iops", say!("label-writes-offered"), Unit::Iops),
        column("outcome", say!("label-outcome"), Unit::Text),
        column("read_iops", say!("label-reads"), Unit::Iops),
        column("write_iops", say!("label-writes"), Unit::Iops),
        column("read_p50_ns", say!("label-read-p50"), Unit::Nanoseconds),
        column("read_p99_ns", say!("label-read-p99"), Unit::Nanoseconds),
        column("write_p50_ns", say!("label-write-p50"), Unit::Nanoseconds),
        column("write_p99_ns", say!("label-write-p99"), Unit::Nanoseconds),
    ];
    let row = |c: &MatrixCell| {
        vec![
            number(c.offered_read_iops),
            number(c.offered_write_iops),
            text(word(c.outcome)),
            number(c.read_iops),
            number(c.write_iops),
            whole(c.read_p50_ns),
            whole(c.read_p99_ns),
            whole(c.write_p50_ns),
            whole(c.write_p99_ns),
        ]
    };
    let rows = grid.matrix.cells.iter().map(row).collect();
    table("matrix", say!("heading-every-cell"), &caption::of(grid.measurements), columns, rows)
}

fn costs(matrix: &ReadWriteMatrix) -> Option<Table> {
    let columns = vec![
        column("offered_read_iops", say!("label-reads"), Unit::Iops),
        column("read_p99_alone_ns", say!("label-p99-alone"), Unit::Nanoseconds),
        column("bearable_write_iops", say!("label-bearable-writes"), Unit::Iops),
        column("read_p99_ratio", say!("label-p99-then-times"), Unit::Number),
        column("excessive_write_iops", say!("label-too-many-writes"), Unit::Iops),
        column("limit", say!("label-because"), Unit::Text),
    ];
    let row = |c: &WriteCost| {
        vec![
            number(c.offered_read_iops),
            whole(c.p99_alone_ns),
            number(c.bearable_write_iops),
            number(c.p99_ratio),
            number(c.excessive_write_iops),
            text(c.limit.map_or_else(String::new, because)),
        ]
    };
    let rows = matrix.costs.iter().map(row).collect();
    table("costs", say!("heading-writes-that-readers-bear"), "", columns, rows)
}

fn because(limit: WriteLimit) -> String {
    match limit {
        WriteLimit::Latency => say!("matrix-limit-latency"),
        WriteLimit::ReadRate => say!("matrix-limit-reads"),
        WriteLimit::WriteRate => say!("matrix-limit-writes"),
        WriteLimit::TooFewReads => say!("matrix-limit-few-reads"),
    }
}
