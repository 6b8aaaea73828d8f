//! Comparisons and trends as pieces of a report, for every format.

use results::change::Change;
use results::{
    ComparedFigure, Comparison, Figure, FigureUnit, Side as ComparedSide, SideDifference, Trend,
    TrendLoad,
};

use crate::model::{
    Axis, Block, Card, Cell, Chart, Column, Fact, Judgement, Mark, Point, Scale, Series, Shape,
    Side, Table, Unit,
};
use crate::text::{figure_value, verdict_word};
use crate::words;

/// Loads that one chart has room for.
const CHART_LOADS: usize = 24;
/// Loads of a trend that are drawn.
const TREND_LOADS: usize = 24;

/// What a report says of a comparison: the verdict, the sides, what differs, charts, figures,
/// method, warnings.
#[must_use]
pub fn comparison_blocks(c: &Comparison) -> Vec<Block> {
    let mut blocks = vec![Block::Cards(vec![card(c)])];
    blocks.push(Block::Facts(vec![
        Fact { name: "A, compared against".to_owned(), value: side(&c.a) },
        Fact { name: "B, judged".to_owned(), value: side(&c.b) },
        Fact {
            name: "No change is within".to_owned(),
            value: words::percent(Some(c.band_percent)),
        },
    ]));
    if !c.warnings.is_empty() {
        blocks.push(Block::Warnings(cleaned(&c.warnings)));
    }
    blocks.extend(setup(c));
    blocks.extend(differences(c));
    let charts: Vec<Chart> =
        [Figure::SaturatedIops, Figure::Iops, Figure::MibPerS, Figure::MeanNs, Figure::P99Ns]
            .into_iter()
            .filter_map(|figure| columns_of(c, figure))
            .collect();
    if !charts.is_empty() {
        blocks.push(Block::Charts(charts));
    }
    if !c.loads.is_empty() {
        blocks.push(Block::Table(figures(c)));
    }
    for (letter, loads) in [("A", &c.only_a), ("B", &c.only_b)] {
        if !loads.is_empty() {
            blocks.push(Block::Paragraph(format!("Only {letter} has:")));
            blocks.push(Block::List(cleaned(loads)));
        }
    }
    blocks.push(Block::List(cleaned(&c.method)));
    blocks
}

fn card(c: &Comparison) -> Card {
    let judgement = match c.verdict {
        Change::Better | Change::Same => Judgement::Good,
        Change::Worse => Judgement::Bad,
        Change::CannotTell => Judgement::Unknown,
    };
    let answer = if c.withheld { "withheld" } else { verdict_word(c.verdict) };
    let mut evidence = vec![words::clean(&c.explanation)];
    let deciding = c.loads.iter().flat_map(|l| l.figures.iter().map(move |f| (l, f)));
    let changed = deciding.filter(|(_, f)| {
        let verdict = f.compared.as_ref().map(|c| c.verdict);
        f.decides && matches!(verdict, Some(Change::Better | Change::Worse))
    });
    evidence.extend(changed.take(8).filter_map(|(load, figure)| {
        let compared = figure.compared.as_ref()?;
        Some(format!(
            "{}: {} {}",
            words::clean(&load.title),
            figure.figure.title(),
            words::clean(&compared.explanation)
        ))
    }));
    Card { heading: "B against A".to_owned(), judgement, answer: answer.to_owned(), evidence }
}

fn side(side: &ComparedSide) -> String {
    let count = words::plural(side.results.len() as u64, "result", "results");
    let mut parts = vec![format!("{} ({count})", words::clean(&side.name))];
    let dates = (side.results.first(), side.results.last());
    if let (Some(first), Some(last)) = dates {
        let (first, last) = (words::moment(&first.started), words::moment(&last.started));
        parts.push(if first == last { first } else { format!("{first} to {last}") });
    }
    let places = [&side.targets, &side.hosts, &side.devices];
    let known = places.iter().filter(|names| !names.is_empty());
    parts.extend(known.map(|names| words::clean(&names.join(", "))));
    parts.join("; ")
}

/// Whether a difference is one of how the machine and its storage are set up, and not of what was
/// measured with or where.
pub(crate) fn is_setup(difference: &SideDifference) -> bool {
    !["version of iosonde", "tool", "host", "target"].contains(&difference.difference.name.as_str())
}

/// What changed in the set-up between the sides.
fn setup(c: &Comparison) -> Option<Block> {
    let changed = c.differences.iter().filter(|d| is_setup(d));
    let rows: Vec<Vec<Cell>> = changed
        .map(|d| [&d.difference.name, &d.difference.a, &d.difference.b].map(|t| text(t)).to_vec())
        .collect();
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            key: "setup".to_owned(),
            title: "What changed in the set-up".to_owned(),
            caption: String::new(),
            columns: vec![
                column("setting", "Setting", Unit::Text),
                column("a", "A", Unit::Text),
                column("b", "B", Unit::Text),
            ],
            rows,
        })
    })
}

fn differences(c: &Comparison) -> Option<Block> {
    let others = c.differences.iter().filter(|d| !is_setup(d));
    let of_sides = others.map(|d| ("", &d.difference, d.unlike));
    let of_loads = c.loads.iter().flat_map(|load| {
        load.unlike.iter().map(move |difference| (load.title.as_str(), difference, true))
    });
    let row = |(load, difference, unlike): (&str, &results::Difference, bool)| {
        let what = if unlike { "withholds the verdict" } else { "" };
        [load, &difference.name, &difference.a, &difference.b, what].map(text).to_vec()
    };
    let rows: Vec<Vec<Cell>> = of_sides.chain(of_loads).map(row).collect();
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            key: "differences".to_owned(),
            title: "What differs".to_owned(),
            caption: String::new(),
            columns: vec![
                column("load", "Load", Unit::Text),
                column("condition", "Condition", Unit::Text),
                column("a", "A", Unit::Text),
                column("b", "B", Unit::Text),
                column("consequence", "Consequence", Unit::Text),
            ],
            rows,
        })
    })
}

/// The loads side by side.
fn columns_of(c: &Comparison, figure: Figure) -> Option<Chart> {
    let found: Vec<(String, &ComparedFigure)> = c
        .loads
        .iter()
        .filter_map(|load| {
            let compared = load.figures.iter().find(|f| f.figure == figure)?;
            Some((words::clean(&load.title), compared))
        })
        .filter(|(_, f)| drawable(f.a.mean) && drawable(f.b.mean))
        .take(CHART_LOADS)
        .collect();
    if found.is_empty() {
        return None;
    }
    let series = |name: &str, of: fn(&ComparedFigure) -> f64| Series {
        name: name.to_owned(),
        shape: Shape::Columns,
        side: Side::Left,
        points: found
            .iter()
            .enumerate()
            .map(|(at, (_, f))| Point { x: at as f64, y: of(f), interval: None })
            .collect(),
    };
    let (a, b) = (words::clean(&c.a.name), words::clean(&c.b.name));
    let mut captions: Vec<String> = c.loads.iter().map(|l| words::clean(&l.caption)).collect();
    captions.dedup();
    Some(Chart {
        key: format!("comparison-{}", figure.word()),
        title: format!("{} on both sides", figure.title()),
        caption: captions.join("; "),
        x: load_axis(found.iter().map(|(title, _)| title.as_str()).collect()),
        left: Axis { title: figure.title().to_owned(), unit: unit(figure), scale: Scale::Linear },
        right: None,
        series: vec![
            series(&format!("A: {a}"), |f| f.a.mean),
            series(&format!("B: {b}"), |f| f.b.mean),
        ],
        marks: Vec::new(),
    })
}

/// An axis of loads. Under columns there is room for a few letters: what all loads have in common
/// is said once, and threads and depth, in which they differ most, stay short.
fn load_axis(titles: Vec<&str>) -> Axis {
    let parts: Vec<(&str, &str)> =
        titles.iter().map(|title| title.rsplit_once(", ").unwrap_or((title, ""))).collect();
    let common = parts.first().map_or("", |(load, _)| load);
    let alike = parts.iter().all(|(load, rest)| *load == common && !rest.is_empty());
    let short =
        |text: &str| text.replace(" threads × depth ", " × ").replace(" thread × depth ", " × ");
    let (title, names) = if alike {
        let of = if parts.iter().all(|(_, rest)| rest.contains(" × depth ")) {
            ", threads × depth"
        } else {
            ""
        };
        (format!("{common}{of}"), parts.iter().map(|(_, rest)| short(rest)).collect())
    } else {
        ("Load, threads × depth".to_owned(), titles.into_iter().map(short).collect())
    };
    Axis { title, unit: Unit::Text, scale: Scale::Names(names) }
}

/// Every figure of every load. Their units differ from row to row, so both sides are words.
fn figures(c: &Comparison) -> Table {
    let row = |load: &str, f: &ComparedFigure| {
        let compared = f.compared.as_ref();
        let interval = compared.and_then(|c| c.interval_percent);
        vec![
            text(load),
            text(f.figure.title()),
            text(&figure_value(f.figure, f.a.mean)),
            number(f.a.cv_percent),
            Cell::Number(f.a.runs as f64),
            text(&figure_value(f.figure, f.b.mean)),
            number(f.b.cv_percent),
            Cell::Number(f.b.runs as f64),
            number(compared.map(|c| c.change_percent)),
            number(interval.map(|(low, _)| low)),
            number(interval.map(|(_, high)| high)),
            text(compared.map_or("withheld", |c| verdict_word(c.verdict))),
        ]
    };
    let rows = c.loads.iter().flat_map(|load| load.figures.iter().map(|f| row(&load.title, f)));
    Table {
        key: "figures".to_owned(),
        title: "Figures".to_owned(),
        caption: "Mean of the runs of each side, how far they lie apart, and the 90 % interval of \
                  the change from A to B."
            .to_owned(),
        columns: vec![
            column("load", "Load", Unit::Text),
            column("figure", "Figure", Unit::Text),
            column("a", "A", Unit::Text),
            column("a_cv_percent", "Spread of A", Unit::Percent),
            column("a_runs", "Runs of A", Unit::Count),
            column("b", "B", Unit::Text),
            column("b_cv_percent", "Spread of B", Unit::Percent),
            column("b_runs", "Runs of B", Unit::Count),
            column("change_percent", "Change", Unit::Percent),
            column("change_low_percent", "From", Unit::Percent),
            column("change_high_percent", "To", Unit::Percent),
            column("verdict", "Verdict", Unit::Text),
        ],
        rows: rows.collect(),
    }
}

/// What a report says of a trend: a chart and a table for each load, method, warnings.
#[must_use]
pub fn trend_blocks(trend: &Trend) -> Vec<Block> {
    let mut blocks = Vec::new();
    if trend.loads.is_empty() {
        blocks.push(Block::Paragraph("Nothing in the history has this figure.".to_owned()));
    }
    if !trend.warnings.is_empty() {
        blocks.push(Block::Warnings(cleaned(&trend.warnings)));
    }
    for (place, load) in trend.loads.iter().take(TREND_LOADS).enumerate() {
        let title = format!("{}: {}", words::clean(&load.title), words::clean(&load.explanation));
        blocks.push(Block::Paragraph(title));
        blocks.extend(line(trend.figure, load, place).map(Block::Chart));
        blocks.push(Block::Table(dates(trend.figure, load, place)));
    }
    if trend.loads.len() > TREND_LOADS {
        let more = (trend.loads.len() - TREND_LOADS) as u64;
        blocks
            .push(Block::Paragraph(format!("{} not shown", words::plural(more, "load", "loads"))));
    }
    blocks.push(Block::List(cleaned(&trend.method)));
    blocks
}

fn caption(load: &TrendLoad) -> String {
    let host = load.host.as_deref().map_or(String::new(), |h| format!(" on {}", words::clean(h)));
    let (title, target) = (words::clean(&load.title), words::clean(&load.target));
    format!("File {} · {title} · {target}{host}", words::size(load.file_bytes))
}

/// The figure over time, the levels between its changes beside it.
fn line(figure: Figure, load: &TrendLoad, place: usize) -> Option<Chart> {
    let points: Vec<Point> = load
        .points
        .iter()
        .filter_map(|p| Some(Point { x: seconds(&p.started)?, y: p.value, interval: None }))
        .filter(|p| drawable(p.y))
        .collect();
    if points.len() < 2 {
        return None;
    }
    let marks = load.changes.iter().filter_map(|change| {
        let at = load.points.get(change.index)?;
        let label = format!("{} %", crate::text::signed(change.change_percent));
        Some(Mark { x: seconds(&at.started)?, label })
    });
    Some(Chart {
        key: format!("trend-{}-{place}", figure.word()),
        title: format!("{}: {} over time", words::clean(&load.title), figure.title()),
        caption: caption(load),
        x: Axis { title: "Date".to_owned(), unit: Unit::Moment, scale: Scale::Linear },
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

fn dates(figure: Figure, load: &TrendLoad, place: usize) -> Table {
    let row = |(index, p): (usize, &results::TrendPoint)| {
        let change = load.changes.iter().find(|c| c.index == index);
        vec![
            seconds(&p.started).map_or_else(|| text(&p.started), Cell::Number),
            number(Some(p.value)),
            Cell::Number(p.runs as f64),
            number(change.map(|c| c.change_percent)),
            text(&p.tool_version),
            text(p.device.as_deref().unwrap_or_default()),
            text(&p.id),
        ]
    };
    Table {
        key: format!("trend-{}-{place}-dates", figure.word()),
        title: format!("{}: {} by date", words::clean(&load.title), figure.title()),
        caption: caption(load),
        columns: vec![
            column("started", "Date", Unit::Moment),
            column("value", figure.title(), unit(figure)),
            column("runs", "Runs", Unit::Count),
            column("change_percent", "Change of level", Unit::Percent),
            column("tool_version", "Version", Unit::Text),
            column("device", "Device", Unit::Text),
            column("id", "Result", Unit::Text),
        ],
        rows: load.points.iter().enumerate().map(row).collect(),
    }
}

fn unit(figure: Figure) -> Unit {
    match figure.unit() {
        FigureUnit::Iops => Unit::Iops,
        FigureUnit::MibPerS => Unit::MibPerS,
        FigureUnit::Nanoseconds => Unit::Nanoseconds,
        FigureUnit::Microseconds => Unit::Number,
    }
}

/// A moment as seconds since 1970.
fn seconds(moment: &str) -> Option<f64> {
    let parsed: jiff::Timestamp = moment.parse().ok()?;
    Some(parsed.as_second() as f64)
}

fn drawable(value: f64) -> bool {
    value.is_finite() && value > 0.0 && value < 1e18
}

fn cleaned(texts: &[String]) -> Vec<String> {
    texts.iter().map(|t| words::clean(t)).collect()
}

fn text(text: &str) -> Cell {
    if text.is_empty() { Cell::Empty } else { Cell::Text(words::clean(text)) }
}

fn number(value: Option<f64>) -> Cell {
    value.filter(|v| v.is_finite()).map_or(Cell::Empty, Cell::Number)
}

fn column(key: &'static str, name: &str, unit: Unit) -> Column {
    Column { name: name.to_owned(), key, unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_loads_is_what_stands_under_their_columns() {
        let names = |titles: &[&str]| match load_axis(titles.to_vec()) {
            Axis { title, scale: Scale::Names(names), .. } => (title, names),
            other => panic!("{other:?}"),
        };
        let (title, loads) = names(&[
            "8 KiB random read, 1 thread × depth 8",
            "8 KiB random read, 4 threads × depth 32",
        ]);
        assert_eq!(title, "8 KiB random read, threads × depth");
        assert_eq!(loads, ["1 × 8", "4 × 32"]);
        let (_, loads) = names(&["8 KiB random read, 1 thread × depth 8", "a mix"]);
        assert_eq!(loads, ["8 KiB random read, 1 × 8", "a mix"]);
    }
}
