//! The figures of each result in one row per load, with the change.

use std::collections::BTreeSet;

use results::change::{Change, Compared};
use results::{ComparedFigure, ComparedLoad, Comparison, Document, Figure};

use super::super::comparison::{signed, unit};
use super::super::make::{self, column, text};
use super::Named;
use crate::language::say;
use crate::model::{Block, Cell, Table, Unit};
use crate::words;

/// From this size on, throughput is in MiB/s.
const LARGE_MIB: f64 = 0.25;

/// What each table is of: its key and its figure.
const TABLES: [(&str, Figure); 5] = [
    ("compared-saturated", Figure::SaturatedIops),
    ("compared-throughput", Figure::Iops),
    ("compared-bandwidth", Figure::MibPerS),
    ("compared-mean", Figure::MeanNs),
    ("compared-p99", Figure::P99Ns),
];

fn title(figure: Figure) -> String {
    match figure {
        Figure::SaturatedIops => say!("overlay-saturated"),
        Figure::Iops => say!("heading-throughput"),
        Figure::MibPerS => say!("overlay-large"),
        Figure::MeanNs => say!("label-mean-latency"),
        Figure::P99Ns => say!("overlay-p99"),
        other => other.title().to_owned(),
    }
}

/// The blocks with one table per figure.
pub(super) fn blocks(first: &Named<'_>, alike: &[(&Named<'_>, &Comparison)]) -> Vec<Block> {
    let unsure = unsure(first, alike);
    let tables = TABLES.iter().filter_map(|(key, figure)| {
        let rows = rows(*figure, alike, &unsure);
        table(key, &title(*figure), *figure, first, alike, &rows)
    });
    tables.map(Block::Table).collect()
}

/// The names of measurements whose figures are hardly known.
fn unsure(first: &Named<'_>, alike: &[(&Named<'_>, &Comparison)]) -> BTreeSet<String> {
    let sides = std::iter::once(first).chain(alike.iter().map(|(side, _)| *side));
    let documents = sides.flat_map(|side| side.side.documents.iter().copied());
    let measured = documents.flat_map(Document::measurements);
    measured.filter(|m| m.is_unsure()).map(|m| m.id.clone()).collect()
}

/// A load: what the first side has, and what each of the others has.
struct Row {
    title: String,
    caption: String,
    first: Cell,
    others: Vec<Option<(Cell, String)>>,
}

/// Whether a table is the one that this load's throughput is in.
fn belongs(figure: Figure, load: &ComparedLoad) -> bool {
    let mean = |of: Figure| load.figures.iter().find(|f| f.figure == of).map(|f| f.b.mean);
    let is_large = match (mean(Figure::Iops), mean(Figure::MibPerS)) {
        (Some(iops), Some(mib)) => mib >= LARGE_MIB * iops,
        _ => false,
    };
    match figure {
        Figure::Iops => !is_large,
        Figure::MibPerS => is_large,
        _ => true,
    }
}

fn rows(
    figure: Figure,
    alike: &[(&Named<'_>, &Comparison)],
    unsure: &BTreeSet<String>,
) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (place, (_, comparison)) in alike.iter().enumerate() {
        let loads = comparison.loads.iter().filter(|l| l.unlike.is_empty() && belongs(figure, l));
        for load in loads {
            let Some(found) = load.figures.iter().find(|f| f.figure == figure) else { continue };
            let (title, caption) = (words::clean(&load.title), words::clean(&load.caption));
            let cell = |mean: f64, runs: &[String]| {
                let is_unsure = runs.iter().any(|run| unsure.contains(run));
                if is_unsure { Cell::Unsure(mean) } else { Cell::Number(mean) }
            };
            let of_side = (cell(found.b.mean, &load.runs_b), change(found));
            let known = rows.iter().position(|r| r.title == title && r.caption == caption);
            let at = known.unwrap_or(rows.len());
            if known.is_none() {
                let others = vec![None; alike.len()];
                let first = cell(found.a.mean, &load.runs_a);
                rows.push(Row { title, caption, first, others });
            }
            if let Some(slot) = rows.get_mut(at).and_then(|row| row.others.get_mut(place)) {
                *slot = Some(of_side);
            }
        }
    }
    rows
}

fn table(
    key: &str,
    title: &str,
    figure: Figure,
    first: &Named<'_>,
    alike: &[(&Named<'_>, &Comparison)],
    rows: &[Row],
) -> Option<Table> {
    let caption = rows.first().map(|row| row.caption.clone()).unwrap_or_default();
    let is_common = rows.iter().all(|row| row.caption == caption);
    let figures = unit(figure);
    let mut columns = vec![column("load", say!("label-load"), Unit::Text)];
    if !is_common {
        columns.push(column("of", say!("overlay-of"), Unit::Text));
    }
    columns.push(column("figure", first.title(), figures));
    columns.extend(alike.iter().map(|(side, _)| column("figure", side.title(), figures)));
    let others = rows.iter().flat_map(|row| row.others.iter().flatten());
    let has_interval = others.into_iter().any(|(_, words)| words.contains(" ("));
    let change = |side: &Named<'_>| match (alike.len(), has_interval) {
        (1, true) => say!("overlay-change-interval"),
        (1, false) => say!("overlay-change"),
        (_, true) => say!("overlay-change-of-interval", side = &side.letter),
        (_, false) => say!("overlay-change-of", side = &side.letter),
    };
    columns.extend(alike.iter().map(|(side, _)| column("change", change(side), Unit::Text)));
    let cells = |row: &Row| {
        let mut cells = vec![text(&row.title)];
        if !is_common {
            cells.push(text(&row.caption));
        }
        cells.push(row.first.clone());
        let others = || row.others.iter();
        cells.extend(others().map(|o| o.as_ref().map_or(Cell::Empty, |(cell, _)| cell.clone())));
        cells.extend(others().map(|o| o.as_ref().map_or(Cell::Empty, |(_, words)| text(words))));
        cells
    };
    let caption = if is_common { caption } else { String::new() };
    make::table(key, title, &caption, columns, rows.iter().map(cells).collect())
}

/// The change with its interval and what it means, as far as that is known.
fn change(figure: &ComparedFigure) -> String {
    let Some(compared) = &figure.compared else {
        let percent = 100.0 * (figure.b.mean / figure.a.mean - 1.0);
        return format!("{} %", signed(percent));
    };
    let Compared { change_percent, interval_percent, verdict, .. } = compared;
    let interval = interval_percent.map_or_else(String::new, |(low, high)| {
        say!("overlay-interval", low = signed(low), high = signed(high))
    });
    let verdict = match verdict {
        Change::Better => say!("comparison-better"),
        Change::Same => say!("comparison-same"),
        Change::Worse => say!("comparison-worse"),
        Change::CannotTell => say!("comparison-cannot-tell"),
    };
    let change = signed(*change_percent);
    if interval.is_empty() {
        return say!("overlay-change-verdict", change = change, verdict = verdict);
    }
    say!("overlay-change-within", change = change, interval = interval, verdict = verdict)
}
