//! A figure over time, and what a device does now, as pieces of a report.

use results::{Drift, DriftLoad, Figure, Trend, TrendLoad};
use workload::show_number;

use super::comparison::{drawable, figure_value, signed, unit};
use super::make::{brief, cleaned, column, full, number, table, text};
use crate::language::{count, say};
use crate::model::{
    Axis, Block, Cell, Chart, Detail, Mark, Point, Scale, Series, Shape, Side, Table, Unit,
    resolved,
};
use crate::words;

/// Dates of a load that a terminal has room for.
const DATES: usize = 30;
/// Loads of a trend that are drawn; the others are named.
const TREND_LOADS: usize = 6;

/// What a report says of a trend: a chart and one table per load, method, warnings.
#[must_use]
pub fn trend_blocks(trend: &Trend, detail: Detail) -> Vec<Block> {
    let mut blocks = Vec::new();
    if trend.loads.is_empty() {
        blocks.push(Block::Paragraph(say!("trend-nothing")));
    }
    if !trend.warnings.is_empty() {
        blocks.push(Block::Warnings(cleaned(&trend.warnings)));
    }
    for (place, load) in trend.loads.iter().take(TREND_LOADS).enumerate() {
        let (load_title, explanation) =
            (words::clean(&load.title), words::clean(&load.explanation));
        let title = say!(
            "trend-of",
            figure = trend.figure.title(),
            load = load_title,
            explanation = explanation
        );
        blocks.push(Block::Paragraph(title));
        blocks.extend(line(trend.figure, load, place).map(Block::Chart));
        let dates = |most| dates(trend.figure, load, place, most).map(Block::Table);
        blocks.extend([brief(dates(DATES)), full(dates(usize::MAX))]);
    }
    let others = trend.loads.iter().skip(TREND_LOADS);
    let others: Vec<String> = others.map(|load| words::clean(&load.title)).collect();
    if !others.is_empty() {
        let (loads, names) = (count(others.len()), others.join("; "));
        let command = "iosonde history trend --load WORDS";
        let more = say!("trend-more-loads", loads = loads, names = names, command = command);
        blocks.push(Block::Paragraph(more));
    }
    blocks.push(Block::List(cleaned(&trend.method)));
    resolved(blocks, detail)
}

/// What a report says of a drift: what follows, what the device does now, and how much of what it
/// can do that is.
#[must_use]
pub fn drift_blocks(drift: &Drift) -> Vec<Block> {
    let now = say!(
        "drift-now",
        time = words::seconds(drift.seconds),
        target = words::clean(&drift.target),
        device = words::clean(&drift.device),
        host = words::clean(&drift.host),
        in_flight = show_number(drift.average_queue),
        busy = words::percent(Some(drift.utilisation_percent))
    );
    let measured = drift.loads.iter().filter_map(|load| {
        let most = load.capacity.as_ref()?;
        let (name, of) = (words::clean(&load.name), words::clean(&most.load));
        Some(say!("drift-most", load = name, of = of, result = words::clean(&most.id)))
    });
    let mut blocks = vec![Block::List(cleaned(&drift.findings)), Block::Paragraph(now)];
    blocks.extend(capacities(drift).map(Block::Table));
    blocks.extend([Block::List(measured.collect()), Block::Warnings(cleaned(&drift.warnings))]);
    blocks
}

/// What the device does now, next to the most that was measured.
fn capacities(drift: &Drift) -> Option<Table> {
    let row = |load: &DriftLoad| {
        let most = load.capacity.as_ref();
        let value = most.map(|c| figure_value(load.figure, c.value));
        vec![
            text(&load.name),
            text(load.figure.title()),
            text(figure_value(load.figure, load.now)),
            text(value.unwrap_or_default()),
            number(load.used_percent),
            number(load.latency_now_ns),
            number(most.and_then(|c| c.latency_ns)),
            text(most.map_or("", |c| c.started.split('T').next().unwrap_or_default())),
        ]
    };
    table(
        "capacities",
        say!("heading-now-and-at-most"),
        "",
        vec![
            column("load", say!("label-load"), Unit::Text),
            column("figure", say!("label-figure"), Unit::Text),
            column("now", say!("label-now"), Unit::Text),
            column("most", say!("label-at-most"), Unit::Text),
            column("used_percent", say!("label-used"), Unit::Percent),
            column("latency_now_ns", say!("label-latency-now"), Unit::Nanoseconds),
            column("latency_ns", say!("label-at-most"), Unit::Nanoseconds),
            column("measured", say!("label-measured"), Unit::Text),
        ],
        drift.loads.iter().map(row).collect(),
    )
}

fn caption(load: &TrendLoad) -> String {
    let (title, target) = (words::clean(&load.title), words::clean(&load.target));
    let place = match load.host.as_deref().map(words::clean) {
        Some(host) => say!("page-load-on-place", load = target, place = host),
        None => target,
    };
    let file = say!("caption-file", size = words::size(load.file_bytes));
    format!("{file} · {title} · {place}")
}

/// The figure over time, the levels between its changes next to it.
fn line(figure: Figure, load: &TrendLoad, place: usize) -> Option<Chart> {
    let points: Vec<Point> = load
        .points
        .iter()
        .filter_map(|p| {
            Some(Point { x: seconds(&p.started)?, y: p.value, interval: None, label: None })
        })
        .filter(|p| drawable(p.y))
        .collect();
    if points.len() < 2 {
        return None;
    }
    let marks = load.changes.iter().filter_map(|change| {
        let at = load.points.get(change.index)?;
        let label = format!("{} %", signed(change.change_percent));
        Some(Mark { x: seconds(&at.started)?, label })
    });
    Some(Chart {
        key: format!("trend-{}-{place}", figure.word()),
        title: say!("trend-over-time", load = words::clean(&load.title), figure = figure.title()),
        caption: caption(load),
        x: Axis { title: say!("label-date"), unit: Unit::Moment, scale: Scale::Linear },
        left: Axis { title: figure.title().to_owned(), unit: unit(figure), scale: Scale::Linear },
        right: None,
        series: vec![Series {
            name: figure.title().to_owned(),
            shape: Shape::Line,
            side: Side::Left,
            points,
        }],
        marks: marks.collect(),
    })
}

/// The newest points, at most so many.
fn dates(figure: Figure, load: &TrendLoad, place: usize, most: usize) -> Option<Table> {
    let row = |(index, p): (usize, &results::TrendPoint)| {
        let change = load.changes.iter().find(|c| c.index == index);
        vec![
            seconds(&p.started).map_or_else(|| text(&p.started), Cell::Number),
            number(Some(p.value)),
            Cell::Number(p.runs as f64),
            text(change.map(|c| format!("{} %", signed(c.change_percent))).unwrap_or_default()),
            text(&p.tool_version),
            text(p.device.as_deref().unwrap_or_default()),
            text(&p.id),
        ]
    };
    let first = load.points.len().saturating_sub(most);
    let key = format!("trend-{}-{place}-dates", figure.word());
    let title = say!("trend-by-date", load = &load.title, figure = figure.title());
    table(
        &key,
        &title,
        &caption(load),
        vec![
            column("started", say!("label-date"), Unit::Moment),
            column("value", figure.title(), unit(figure)),
            column("runs", say!("label-runs"), Unit::Count),
            column("change_percent", say!("label-change-of-level"), Unit::Text),
            column("tool_version", say!("label-version"), Unit::Text),
            column("device", say!("label-device"), Unit::Text),
            column("id", say!("label-result"), Unit::Text),
        ],
        load.points.iter().enumerate().skip(first).map(row).collect(),
    )
}

/// A moment as seconds since 1970.
fn seconds(moment: &str) -> Option<f64> {
    let parsed: jiff::Timestamp = moment.parse().ok()?;
    Some(parsed.as_second() as f64)
}
