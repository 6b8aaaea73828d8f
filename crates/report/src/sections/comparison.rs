//! Comparisons as pieces of a report, for every format.

use results::change::Change;
use results::{
    ComparedFigure, ComparedLoad, Comparison, Figure, FigureUnit, Side as ComparedSide,
    SideDifference, SideResult,
};
use workload::{show_ns, show_number};

use super::make::{brief, cleaned, column, fact, full, number, table, text};
use crate::language::{count, say};
use crate::model::{
    Axis, Block, Card, Cell, Chart, Detail, Judgement, Point, Scale, Series, Shape, Side, Table,
    Unit, resolved,
};
use crate::words;

/// The height of a bar, and the interval at its end.
type Bar = (f64, Option<(f64, f64)>);

/// Loads that are shown on a terminal with every figure; of more, those that decide.
const IN_FULL: usize = 3;
/// Results of a side that are listed.
const RESULTS: usize = 6;
/// Loads that one chart has room for.
const CHART_LOADS: usize = 24;

/// What a report says of a comparison: the verdict, the sides, what differs, charts, figures,
/// method, warnings.
#[must_use]
pub fn comparison_blocks(c: &Comparison, detail: Detail) -> Vec<Block> {
    let mut blocks = vec![Block::Cards(vec![card(c)])];
    blocks.push(Block::Facts(vec![
        fact(say!("label-a-compared-against"), side(&c.a)),
        fact(say!("label-b-judged"), side(&c.b)),
        fact(say!("label-no-change-is-within"), words::percent(Some(c.band_percent))),
    ]));
    blocks.push(brief(results_of(c).map(Block::Table)));
    blocks.push(Block::Warnings(cleaned(&c.warnings)));
    blocks.extend([setup(c), differences(c)].into_iter().flatten().map(Block::Table));
    let charts: Vec<Chart> =
        [Figure::SaturatedIops, Figure::Iops, Figure::MibPerS, Figure::MeanNs, Figure::P99Ns]
            .into_iter()
            .filter_map(|figure| columns_of(c, figure))
            .collect();
    if !charts.is_empty() {
        blocks.push(Block::Charts(charts));
    }
    let is_few = c.loads.len() <= IN_FULL;
    let deciding = if is_few { figures(c, |_| true) } else { figures(c, |f| f.decides) };
    blocks.push(brief(deciding.map(Block::Table)));
    blocks.push(full(figures(c, |_| true).map(Block::Table)));
    for (letter, loads) in [("A", &c.only_a), ("B", &c.only_b)] {
        if !loads.is_empty() {
            blocks.push(Block::Paragraph(say!("comparison-only", side = letter)));
            blocks.push(Block::List(cleaned(loads)));
        }
    }
    blocks.push(Block::List(cleaned(&c.method)));
    resolved(blocks, detail)
}

fn card(c: &Comparison) -> Card {
    let judgement = match c.verdict {
        Change::Better | Change::Same => Judgement::Good,
        Change::Worse => Judgement::Bad,
        Change::CannotTell => Judgement::Unknown,
    };
    let answer = if c.withheld { say!("comparison-withheld") } else { verdict_word(c.verdict) };
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
    evidence.extend(untold(&c.loads));
    Card {
        heading: say!("label-b-against-a"),
        judgement,
        answer,
        evidence,
        original: Vec::new(),
        bullet: None,
    }
}

/// Why it cannot be told, of the first load of which it cannot: mostly the same goes for all.
pub(super) fn untold(loads: &[ComparedLoad]) -> Option<String> {
    loads.iter().find_map(|load| {
        let figure = load.figures.iter().find(|figure| {
            let verdict = figure.compared.as_ref().map(|c| c.verdict);
            figure.decides && verdict == Some(Change::CannotTell)
        })?;
        let why = words::clean(&figure.compared.as_ref()?.explanation);
        Some(format!("{}: {}: {why}", words::clean(&load.title), figure.figure.title()))
    })
}

fn side(side: &ComparedSide) -> String {
    let results = count(side.results.len());
    let name = words::clean(&side.name);
    let mut parts = vec![say!("comparison-side", name = name, results = results)];
    let dates = (side.results.first(), side.results.last());
    if let (Some(first), Some(last)) = dates {
        let (first, last) = (words::moment(&first.started), words::moment(&last.started));
        let between = say!("list-to");
        parts.push(if first == last { first } else { [first, last].join(&between) });
    }
    let places = [&side.targets, &side.hosts, &side.devices];
    let known = places.iter().filter(|names| !names.is_empty());
    parts.extend(known.map(|names| words::clean(&names.join(", "))));
    parts.join("; ")
}

/// The first results of each side, which a page of a browser has next to its form.
fn results_of(c: &Comparison) -> Option<Table> {
    let rows = |name: &'static str, side: &ComparedSide| {
        let row = move |r: &SideResult| {
            let cells = [name, &words::moment(&r.started), &r.kind, &r.title, &r.id].map(text);
            cells.to_vec()
        };
        side.results.iter().take(RESULTS).map(row).collect::<Vec<_>>()
    };
    let all = c.a.results.len().max(c.b.results.len());
    let caption = if all > RESULTS {
        say!("comparison-first", results = count(RESULTS))
    } else {
        String::new()
    };
    table(
        "results",
        say!("heading-results"),
        &caption,
        vec![
            column("side", say!("label-side"), Unit::Text),
            column("started", say!("label-begun"), Unit::Text),
            column("kind", say!("label-kind"), Unit::Text),
            column("title", say!("label-load"), Unit::Text),
            column("id", say!("label-result"), Unit::Text),
        ],
        [rows("A", &c.a), rows("B", &c.b)].concat(),
    )
}

/// Whether a difference is one of how the machine and its storage are set up, not of the tool or
/// the place.
fn is_setup(difference: &SideDifference) -> bool {
    !["version of iosonde", "tool", "host", "target"].contains(&difference.difference.name.as_str())
}

/// What changed in the set-up between the sides.
fn setup(c: &Comparison) -> Option<Table> {
    let changed = c.differences.iter().filter(|d| is_setup(d));
    let rows: Vec<Vec<Cell>> = changed
        .map(|d| [&d.difference.name, &d.difference.a, &d.difference.b].map(text).to_vec())
        .collect();
    table(
        "setup",
        say!("heading-what-changed-in-the-set-up"),
        "",
        vec![
            column("setting", say!("label-setting"), Unit::Text),
            column("a", say!("label-a"), Unit::Text),
            column("b", say!("label-b"), Unit::Text),
        ],
        rows,
    )
}

fn differences(c: &Comparison) -> Option<Table> {
    let others = c.differences.iter().filter(|d| !is_setup(d));
    let of_sides = others.map(|d| ("", &d.difference, d.unlike));
    let of_loads = c.loads.iter().flat_map(|load| {
        load.unlike.iter().map(move |difference| (load.title.as_str(), difference, true))
    });
    let row = |(load, difference, unlike): (&str, &results::Difference, bool)| {
        let what = if unlike { say!("comparison-withholds") } else { String::new() };
        [load, &difference.name, &difference.a, &difference.b, &what].map(text).to_vec()
    };
    let rows: Vec<Vec<Cell>> = of_sides.chain(of_loads).map(row).collect();
    table(
        "differences",
        say!("heading-what-differs"),
        "",
        vec![
            column("load", say!("label-load"), Unit::Text),
            column("condition", say!("label-condition"), Unit::Text),
            column("a", say!("label-a"), Unit::Text),
            column("b", say!("label-b"), Unit::Text),
            column("consequence", say!("label-consequence"), Unit::Text),
        ],
        rows,
    )
}

/// Columns for the loads of both sides, side by side.
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
    let series = |name: &str, of: fn(&ComparedFigure) -> Bar| Series {
        name: name.to_owned(),
        shape: Shape::Columns,
        side: Side::Left,
        points: found
            .iter()
            .enumerate()
            .map(|(at, (_, f))| {
                let (y, interval) = of(f);
                Point { x: at as f64, y, interval, label: None }
            })
            .collect(),
    };
    let (a, b) = (words::clean(&c.a.name), words::clean(&c.b.name));
    let mut captions: Vec<String> = c.loads.iter().map(|l| words::clean(&l.caption)).collect();
    captions.dedup();
    if found.iter().any(|(_, f)| by_change(f).is_some()) {
        captions.push(say!("comparison-bar"));
    }
    Some(Chart {
        key: format!("comparison-{}", figure.word()),
        title: say!("comparison-both-sides", figure = figure.title()),
        caption: captions.join("; "),
        x: load_axis(found.iter().map(|(title, _)| title.as_str()).collect()),
        left: Axis { title: figure.title().to_owned(), unit: unit(figure), scale: Scale::Linear },
        right: None,
        series: vec![
            series(&format!("A: {a}"), |f| (f.a.mean, None)),
            series(&format!("B: {b}"), |f| (f.b.mean, by_change(f))),
        ],
        marks: Vec::new(),
    })
}

/// Between which figures B is, as far from A as the interval of the change says.
fn by_change(figure: &ComparedFigure) -> Option<(f64, f64)> {
    let (low, high) = figure.compared.as_ref()?.interval_percent?;
    let at = |percent: f64| (figure.a.mean * (1.0 + percent / 100.0)).max(0.0);
    let interval = (at(low), at(high));
    (interval.0.is_finite() && interval.1.is_finite()).then_some(interval)
}

/// An axis of loads. There is room for a few letters under columns: the common part of all loads is
/// in the title, and threads and depth, in which they differ most, are short.
fn load_axis(titles: Vec<&str>) -> Axis {
    let parts: Vec<(&str, &str)> =
        titles.iter().map(|title| title.rsplit_once(", ").unwrap_or((title, ""))).collect();
    let common = parts.first().map_or("", |(load, _)| load);
    let alike = parts.iter().all(|(load, rest)| *load == common && !rest.is_empty());
    let short =
        |text: &str| text.replace(" threads × depth ", " × ").replace(" thread × depth ", " × ");
    let (title, names) = if alike {
        let has_depth = parts.iter().all(|(_, rest)| rest.contains(" × depth "));
        let load = common.to_owned();
        let title = if has_depth { say!("comparison-axis-of", load = load) } else { load };
        (title, parts.iter().map(|(_, rest)| short(rest)).collect())
    } else {
        (say!("comparison-axis"), titles.into_iter().map(short).collect())
    };
    Axis { title, unit: Unit::Text, scale: Scale::Names(names) }
}

/// Every figure of every load. Their units differ from row to row, so both sides are words.
fn figures(c: &Comparison, is_shown: fn(&ComparedFigure) -> bool) -> Option<Table> {
    let row = |load: &str, f: &ComparedFigure| {
        let compared = f.compared.as_ref();
        let change = compared.map(|c| format!("{} %", signed(c.change_percent)));
        let interval = compared.and_then(|c| c.interval_percent);
        let interval = interval
            .map(|(low, high)| say!("comparison-interval", low = signed(low), high = signed(high)));
        vec![
            text(load),
            text(name(f)),
            text(figure_value(f.figure, f.a.mean)),
            number(f.a.cv_percent),
            Cell::Number(f.a.runs as f64),
            text(figure_value(f.figure, f.b.mean)),
            number(f.b.cv_percent),
            Cell::Number(f.b.runs as f64),
            text(change.unwrap_or_default()),
            text(interval.unwrap_or_default()),
            text(compared.map_or_else(|| say!("comparison-withheld"), |c| verdict_word(c.verdict))),
        ]
    };
    let of_load = |load: &ComparedLoad| {
        let shown = load.figures.iter().filter(|figure| is_shown(figure));
        shown.map(|figure| row(&load.title, figure)).collect::<Vec<_>>()
    };
    let rows = c.loads.iter().flat_map(of_load);
    let caption = say!("comparison-caption");
    table(
        "figures",
        say!("heading-figures"),
        &caption,
        vec![
            column("load", say!("label-load"), Unit::Text),
            column("figure", say!("label-figure"), Unit::Text),
            column("a", say!("label-a"), Unit::Text),
            column("a_cv_percent", say!("label-spread-of-a"), Unit::Percent),
            column("a_runs", say!("label-runs-of-a"), Unit::Count),
            column("b", say!("label-b"), Unit::Text),
            column("b_cv_percent", say!("label-spread-of-b"), Unit::Percent),
            column("b_runs", say!("label-runs-of-b"), Unit::Count),
            column("change_percent", say!("label-change"), Unit::Text),
            column("change_interval_percent", say!("label-90-percent-interval"), Unit::Text),
            column("verdict", say!("label-verdict"), Unit::Text),
        ],
        rows.collect(),
    )
}

/// With the number of I/Os above a percentile where they are few.
fn name(figure: &ComparedFigure) -> String {
    match figure.tail_ios {
        Some(tail) if tail < 100 => format!("~{} ({tail} I/Os)", figure.figure.word()),
        _ => figure.figure.title().to_owned(),
    }
}

/// A figure with its unit, for a table.
pub(super) fn figure_value(figure: Figure, value: f64) -> String {
    match figure.unit() {
        FigureUnit::Nanoseconds => show_ns(value),
        FigureUnit::Microseconds => format!("{} µs", show_number(value)),
        FigureUnit::Iops | FigureUnit::MibPerS => show_number(value),
    }
}

/// A change with its sign, one decimal below ten.
pub(super) fn signed(percent: f64) -> String {
    if !percent.is_finite() {
        return words::NONE.to_owned();
    }
    let size = percent.abs();
    let text = if size >= 99.95 {
        show_number(size)
    } else if size >= 9.95 {
        format!("{size:.0}")
    } else {
        format!("{size:.1}")
    };
    match text.as_str() {
        "0.0" => "0".to_owned(),
        _ if percent < 0.0 => format!("-{text}"),
        _ => format!("+{text}"),
    }
}

/// The word for a verdict, in the report's language.
fn verdict_word(change: Change) -> String {
    match change {
        Change::Better => say!("comparison-better"),
        Change::Same => say!("comparison-same"),
        Change::Worse => say!("comparison-worse"),
        Change::CannotTell => say!("comparison-cannot-tell"),
    }
}

pub(super) fn unit(figure: Figure) -> Unit {
    match figure.unit() {
        FigureUnit::Iops => Unit::Iops,
        FigureUnit::MibPerS => Unit::MibPerS,
        FigureUnit::Nanoseconds => Unit::Nanoseconds,
        FigureUnit::Microseconds => Unit::Number,
    }
}

pub(super) fn drawable(value: f64) -> bool {
    value.is_finite() && value > 0.0 && value < 1e18
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
