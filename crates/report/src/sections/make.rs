//! Small pieces of a report: facts, cells, columns, axes, series, charts. What cannot be drawn or
//! is not a figure stays out.

use std::collections::HashSet;

use results::Measurement;
use results::steady::is_unsure;

use super::contradiction;
use crate::language::say;
use crate::model::{
    Axis, Block, Cell, Chart, Column, Detail, Fact, Mark, Point, Scale, Section, Series, Shape,
    Side, Table, Unit, keep,
};
use crate::words;

/// Larger figures than this are not measurements.
const PLAUSIBLE: f64 = 1e18;
/// Longer keys are cut to so many characters.
const KEY: usize = 60;

/// A figure that can be shown.
pub(super) fn plausible(value: f64) -> bool {
    value.is_finite() && value.abs() < PLAUSIBLE
}

pub(super) fn fact(name: impl Into<String>, value: impl Into<String>) -> Fact {
    Fact { name: name.into(), value: value.into() }
}

/// Texts of a document, ready to be shown.
pub(super) fn cleaned(texts: &[String]) -> Vec<String> {
    texts.iter().map(|t| words::clean(t)).filter(|t| !t.is_empty()).collect()
}

/// Every reason to doubt the figures of a measurement, ready to be shown.
pub(super) fn doubts(m: &Measurement) -> Vec<String> {
    let contradictions = m.checks.contradictions.iter().map(contradiction::sentence);
    cleaned(&m.checks.warnings).into_iter().chain(contradictions).collect()
}

pub(super) fn column(key: &'static str, name: impl Into<String>, unit: Unit) -> Column {
    Column::new(key, name, unit)
}

pub(super) fn text(text: impl AsRef<str>) -> Cell {
    let text = text.as_ref();
    if text.is_empty() { Cell::Empty } else { Cell::Text(words::clean(text)) }
}

pub(super) fn number(value: impl Into<Option<f64>>) -> Cell {
    match value.into() {
        Some(value) if value.is_finite() => Cell::Number(value),
        _ => Cell::Empty,
    }
}

pub(super) fn whole(value: impl Into<Option<u64>>) -> Cell {
    value.into().map_or(Cell::Empty, |value| Cell::Number(value as f64))
}

/// The cells of a load, with its figures in grey where they are hardly known.
pub(super) fn greyed(columns: &[Column], row: Vec<Cell>, unsure: bool) -> Vec<Cell> {
    let is_figure = |unit: Unit| matches!(unit, Unit::Iops | Unit::MibPerS | Unit::Nanoseconds);
    let grey = |(cell, column): (Cell, &Column)| match cell {
        Cell::Number(figure) if unsure && is_figure(column.unit) => Cell::Unsure(figure),
        cell => cell,
    };
    row.into_iter().zip(columns).map(grey).collect()
}

pub(super) fn linear(title: impl Into<String>, unit: Unit) -> Axis {
    Axis { title: title.into(), unit, scale: Scale::Linear }
}

pub(super) fn log2(title: impl Into<String>, unit: Unit) -> Axis {
    Axis { title: title.into(), unit, scale: Scale::Log2 }
}

pub(super) fn log10(title: impl Into<String>, unit: Unit) -> Axis {
    Axis { title: title.into(), unit, scale: Scale::Log10 }
}

pub(super) fn names(title: impl Into<String>, names: Vec<String>) -> Axis {
    Axis { title: title.into(), unit: Unit::Text, scale: Scale::Names(names) }
}

/// The axis of a throughput in the unit that a load is judged by.
pub(super) fn throughput(bandwidth: bool) -> Axis {
    linear(say!("label-throughput"), if bandwidth { Unit::MibPerS } else { Unit::Iops })
}

/// A point, with the interval that the true figure is thought to be in.
pub(super) fn point(x: f64, y: f64, half_width_percent: Option<f64>) -> Point {
    let known = half_width_percent.filter(|h| h.is_finite() && *h >= 0.0);
    let interval = known.map(|h| ((y * (1.0 - h / 100.0)).max(0.0), y * (1.0 + h / 100.0)));
    let interval = interval.filter(|(low, high)| plausible(*low) && plausible(*high));
    Point { x, y, interval, label: None }
}

/// Points of figures that may be missing.
pub(super) fn points(figures: impl IntoIterator<Item = (f64, Option<f64>)>) -> Vec<Point> {
    figures.into_iter().filter_map(|(x, y)| Some(point(x, y?, None))).collect()
}

pub(super) fn series(
    name: impl AsRef<str>,
    shape: Shape,
    side: Side,
    points: Vec<Point>,
) -> Series {
    Series { name: words::clean(name.as_ref()), shape, side, points }
}

pub(super) fn mark(x: f64, label: impl Into<String>) -> Mark {
    Mark { x, label: label.into() }
}

/// The words that a chart is named by.
pub(super) struct Named<'a> {
    pub(super) key: &'a str,
    pub(super) title: &'a str,
    pub(super) caption: &'a str,
}

/// The axes and series of a chart.
pub(super) struct Drawn {
    pub(super) x: Axis,
    pub(super) left: Axis,
    pub(super) right: Option<Axis>,
    pub(super) series: Vec<Series>,
    pub(super) marks: Vec<Mark>,
}

/// The chart without what cannot be drawn; `None` if no series has two points.
pub(super) fn chart(named: &Named<'_>, drawn: Drawn) -> Option<Chart> {
    chart_of(named, drawn, 2)
}

/// The chart without what cannot be drawn; `None` if no series has so many points.
pub(super) fn chart_of(named: &Named<'_>, drawn: Drawn, fewest: usize) -> Option<Chart> {
    let Drawn { x, left, right, mut series, mut marks } = drawn;
    for one in &mut series {
        let y = if one.side == Side::Right { right.as_ref()? } else { &left };
        one.points.retain(|p| fits(&x, p.x) && fits(y, p.y) && p.y >= 0.0);
        one.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    series.retain(|s| !s.points.is_empty());
    if !series.iter().any(|s| s.points.len() >= fewest) {
        return None;
    }
    marks.retain(|m| fits(&x, m.x));
    let right = right.filter(|_| series.iter().any(|s| s.side == Side::Right));
    Some(Chart {
        key: key(named.key),
        title: words::clean(named.title),
        caption: words::clean(named.caption),
        x,
        left,
        right,
        series,
        marks,
    })
}

/// Whether a figure has a place on an axis.
fn fits(axis: &Axis, value: f64) -> bool {
    plausible(value)
        && match &axis.scale {
            Scale::Linear => true,
            Scale::Log2 | Scale::Log10 => value > 1e-12,
            Scale::Names(names) => value >= 0.0 && value < names.len() as f64,
        }
}

/// A short name that every file system takes: `8 KiB random read` is `8k-random-read`.
pub(super) fn key(text: &str) -> String {
    let short = text.replace(" KiB", "k").replace(" MiB", "m").replace(" GiB", "g");
    let mut key = String::new();
    for c in short.chars() {
        if c.is_ascii_alphanumeric() {
            key.push(c.to_ascii_lowercase());
        } else if !key.is_empty() && !key.ends_with('-') {
            key.push('-');
        }
    }
    let key: String = key.chars().take(KEY).collect();
    let key = key.trim_end_matches('-');
    if key.is_empty() { "chart".to_owned() } else { key.to_owned() }
}

/// Blocks of charts side by side; `None` without charts.
pub(super) fn beside(charts: Vec<Chart>) -> Option<Block> {
    (!charts.is_empty()).then_some(Block::Charts(charts))
}

/// The first chart in full width, the others side by side.
pub(super) fn first_large(charts: Vec<Chart>) -> Vec<Block> {
    let mut charts = charts.into_iter();
    let mut blocks: Vec<Block> = charts.next().map(Block::Chart).into_iter().collect();
    blocks.extend(beside(charts.collect()));
    blocks
}

/// A section; `None` if nothing is in it.
pub(super) fn section(
    key: &'static str,
    heading: impl Into<String>,
    blocks: Vec<Block>,
) -> Option<Section> {
    (!blocks.is_empty()).then(|| Section { key, heading: heading.into(), blocks })
}

/// Blocks that a terminal has no room for.
pub(super) fn full(blocks: impl IntoIterator<Item = Block>) -> Block {
    Block::Only(Detail::Full, blocks.into_iter().collect())
}

/// Blocks that a terminal shows instead of longer ones.
pub(super) fn brief(blocks: impl IntoIterator<Item = Block>) -> Block {
    Block::Only(Detail::Brief, blocks.into_iter().collect())
}

/// A section that a terminal has no room for.
pub(super) fn full_section(section: Option<Section>) -> Option<Section> {
    section.map(|section| Section { blocks: vec![full(section.blocks)], ..section })
}

/// Every key of a chart or table in these blocks, in their order.
fn keys<'a>(blocks: &'a mut [Block], found: &mut Vec<&'a mut String>) {
    for block in blocks {
        match block {
            Block::Only(_, inner) => keys(inner, found),
            Block::Chart(chart) => found.push(&mut chart.key),
            Block::Charts(charts) => found.extend(charts.iter_mut().map(|chart| &mut chart.key)),
            Block::Table(table) => found.push(&mut table.key),
            _ => {}
        }
    }
}

/// Gives charts and tables the keys of the same sections in English: they are for programs.
pub(super) fn take_keys(sections: &mut [Section], mut english: Vec<Section>) {
    let (mut own, mut wanted) = (Vec::new(), Vec::new());
    for section in sections {
        keys(&mut section.blocks, &mut own);
    }
    for section in &mut english {
        keys(&mut section.blocks, &mut wanted);
    }
    if own.len() == wanted.len() {
        own.into_iter().zip(wanted).for_each(|(own, wanted)| std::mem::swap(own, wanted));
    }
}

/// Gives charts and tables of a result names that are unique among them.
pub(super) fn make_unique(sections: &mut [Section]) {
    let mut taken = HashSet::new();
    for block in sections.iter_mut().flat_map(|s| &mut s.blocks) {
        match block {
            Block::Chart(chart) => unique(&mut chart.key, &mut taken),
            Block::Charts(charts) => {
                for chart in charts {
                    unique(&mut chart.key, &mut taken);
                }
            }
            Block::Table(table) => unique(&mut table.key, &mut taken),
            _ => {}
        }
    }
}

fn unique(key: &mut String, taken: &mut HashSet<String>) {
    let first = key.clone();
    let mut number = 1u32;
    while !taken.insert(key.clone()) {
        number += 1;
        *key = format!("{first}-{number}");
    }
}

/// Columns that say how well the figures of their row are known.
const HOW_WELL: [&str; 2] = ["half_width_percent", "error_percent"];

/// The rows with their figures in grey where a column says that they are hardly known.
fn greyed_rows(columns: &[Column], rows: Vec<Vec<Cell>>) -> Vec<Vec<Cell>> {
    let Some(place) = columns.iter().position(|c| HOW_WELL.contains(&c.key)) else { return rows };
    let row = |row: Vec<Cell>| {
        let half = match row.get(place) {
            Some(Cell::Number(half)) => Some(*half),
            _ => None,
        };
        greyed(columns, row, is_unsure(half))
    };
    rows.into_iter().map(row).collect()
}

/// The table without columns that are empty in every row; `None` without rows. Uncertain figures,
/// by the column of their interval, are grey.
pub(super) fn table(
    key: &str,
    title: impl AsRef<str>,
    caption: &str,
    mut columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
) -> Option<Table> {
    if rows.is_empty() {
        return None;
    }
    let mut rows = greyed_rows(&columns, rows);
    let holds = |c: usize| rows.iter().any(|r| r.get(c).is_some_and(|cell| *cell != Cell::Empty));
    let kept: Vec<bool> = (0..columns.len()).map(holds).collect();
    keep(&mut columns, &kept);
    for row in &mut rows {
        keep(row, &kept);
        row.resize(columns.len(), Cell::Empty);
    }
    let (key, title, caption) =
        (self::key(key), words::clean(title.as_ref()), words::clean(caption));
    Some(Table { key, title, caption, columns, rows })
}
