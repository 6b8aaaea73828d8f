//! Series as shapes.

use super::geometry::{self, Geometry};
use super::palette::{self, COLOURS, KINDS};
use super::px;
use crate::model::{Chart, Point, Series, Shape};

/// Lines whose dots would have less room have none.
const DOT_ROOM: f64 = 9.0;
/// More intervals are a band instead of whiskers.
const DOTS_MAX: usize = 80;
/// The widest column of a chart, in pixels.
const COLUMN_MAX: f64 = 56.0;

/// The colour of uncertain figures, on a light page.
const UNSURE: &str = "#9aa0a8";

/// How a series is drawn, so that readers can tell it from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Which of the colours and signs it has.
    pub(crate) kind: usize,
    /// Its dashes; `None` for an unbroken line.
    pub(crate) dashes: Option<&'static str>,
    /// Which of the series with columns it is; `None` if it has none.
    pub(crate) column: Option<usize>,
}

/// The look of each series: a dashed line has the colour of the line that it accompanies.
pub(crate) fn looks(chart: &Chart) -> Vec<Look> {
    let (mut own, mut columns) = (0, 0);
    // For each side the last line that is not dashed, and how many have accompanied it.
    let mut leaders: [Option<(usize, usize)>; 2] = [None, None];
    let look = |series: &Series| {
        let leader = &mut leaders[geometry::side(chart, series)];
        let follows = series.shape == Shape::Dashed;
        if let (true, Some((kind, followers))) = (follows, leader.as_mut()) {
            *followers += 1;
            let dashes = palette::DASHES[(*followers - 1) % palette::DASHES.len()];
            return Look { kind: *kind, dashes: Some(dashes), column: None };
        }
        let kind = own;
        own += 1;
        if !follows {
            *leader = Some((kind, 0));
        }
        let dash = (kind / KINDS).checked_sub(usize::from(!follows));
        let dashes = dash.map(|n| palette::DASHES[n % palette::DASHES.len()]);
        let column = (series.shape == Shape::Columns).then_some(columns);
        columns += usize::from(column.is_some());
        Look { kind, dashes, column }
    };
    chart.series.iter().map(look).collect()
}

/// A point, and its place in the picture.
#[derive(Clone, Copy)]
struct Spot {
    x: f64,
    y: f64,
    /// Whether its figure is hardly known: it is grey.
    unsure: bool,
    interval: Option<Interval>,
}

/// An interval with its places, and which of its ends are beyond the edge of the chart.
#[derive(Clone, Copy)]
struct Interval {
    low: f64,
    high: f64,
    low_leaves: bool,
    high_leaves: bool,
}

fn spot(place: &Geometry<'_>, side: usize, point: &Point) -> Option<Spot> {
    let (x, y) = (place.x(point.x)?, place.y(side, point.y)?);
    let interval = point.interval.and_then(|ends| interval(place, side, ends));
    Some(Spot { x, y, unsure: point.is_unsure(), interval })
}

/// An interval cut at the edges of the chart. On a logarithmic axis one that reaches down to zero
/// leaves the chart below.
fn interval(place: &Geometry<'_>, side: usize, (low, high): (f64, f64)) -> Option<Interval> {
    let ruler = &place.verticals.get(side)?.ruler;
    let low_leaves = low < ruler.from;
    let low = if low_leaves { ruler.from } else { low };
    let (low, top) = (place.y(side, low)?, place.y(side, high)?);
    Some(Interval { low, high: top, low_leaves, high_leaves: high > ruler.to })
}

/// Runs of points without a gap between them.
fn runs(place: &Geometry<'_>, side: usize, points: &[Point]) -> Vec<Vec<Spot>> {
    let mut runs: Vec<Vec<Spot>> = vec![Vec::new()];
    for point in points {
        match (spot(place, side, point), runs.last_mut()) {
            (Some(spot), Some(run)) => run.push(spot),
            (None, Some(run)) if !run.is_empty() => runs.push(Vec::new()),
            _ => {}
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// Of points that are closer together than can be seen, the first, lowest, highest and last of each
/// pixel.
fn thinned(run: &[Spot]) -> Vec<&Spot> {
    if run.len() <= DOTS_MAX {
        return run.iter().collect();
    }
    let mut kept: Vec<&Spot> = Vec::new();
    for pixel in run.chunk_by(|a, b| a.x.floor().total_cmp(&b.x.floor()).is_eq()) {
        if pixel.len() <= 4 {
            kept.extend(pixel);
            continue;
        }
        let extreme = |largest: bool| {
            let by = |a: &(usize, &Spot), b: &(usize, &Spot)| a.1.y.total_cmp(&b.1.y);
            let all = pixel.iter().enumerate();
            if largest { all.max_by(by) } else { all.min_by(by) }.map_or(0, |(i, _)| i)
        };
        let mut at = [0, extreme(false), extreme(true), pixel.len() - 1];
        at.sort_unstable();
        kept.extend(
            at.iter()
                .enumerate()
                .filter(|(i, a)| *i == 0 || at[i - 1] != **a)
                .map(|(_, a)| &pixel[*a]),
        );
    }
    kept
}

/// A series as a group of shapes.
pub(crate) fn series(chart: &Chart, place: &Geometry<'_>, index: usize, look: Look) -> String {
    let Some(series) = chart.series.get(index) else { return String::new() };
    let side = geometry::side(chart, series);
    let colour = COLOURS[look.kind % KINDS];
    let inner = if series.shape == Shape::Columns {
        columns(chart, place, series, look)
    } else {
        marks_and_lines(place, side, series, look)
    };
    format!(
        "<g class=\"series s{}\" data-series=\"{index}\" color=\"{colour}\" stroke=\"{colour}\" \
         fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\">{inner}</g>",
        look.kind % KINDS
    )
}

fn marks_and_lines(place: &Geometry<'_>, side: usize, series: &Series, look: Look) -> String {
    let runs = runs(place, side, &series.points);
    let count: usize = runs.iter().map(Vec::len).sum();
    let mut out = intervals(&runs, count);
    if series.shape != Shape::Dots {
        let mut path = String::new();
        for run in &runs {
            for (i, spot) in thinned(run).into_iter().enumerate() {
                path += &format!("{}{} {}", if i == 0 { 'M' } else { 'L' }, px(spot.x), px(spot.y));
            }
        }
        let dashes = look.dashes.map(|d| format!(" stroke-dasharray=\"{d}\"")).unwrap_or_default();
        if !path.is_empty() {
            out += &format!("<path class=\"line\" d=\"{path}\"{dashes}/>");
        }
    }
    let alone = runs.iter().all(|run| run.len() == 1);
    let dotted = match series.shape {
        Shape::Dots => true,
        Shape::Line => count as f64 * DOT_ROOM <= place.width || alone,
        _ => alone,
    };
    if dotted {
        out += &signs(&runs, look.kind);
    }
    out
}

fn signs(runs: &[Vec<Spot>], kind: usize) -> String {
    let path = |unsure: bool| -> String {
        let spots = runs.iter().flat_map(|run| thinned(run)).filter(|s| s.unsure == unsure);
        spots.map(|s| palette::sign(kind, s.x, s.y)).collect()
    };
    let mut out = String::new();
    let (known, unsure) = (path(false), path(true));
    if !known.is_empty() {
        let fill = if palette::filled(kind) { "currentColor" } else { "none" };
        out +=
            &format!("<path class=\"sign\" stroke-width=\"1.5\" fill=\"{fill}\" d=\"{known}\"/>");
    }
    if !unsure.is_empty() {
        out += &format!(
            "<path class=\"sign unsure\" stroke-width=\"1.5\" stroke=\"{UNSURE}\" \
             fill=\"{PAPER}\" d=\"{unsure}\"/>",
            PAPER = palette::PAPER
        );
    }
    out
}

fn intervals(runs: &[Vec<Spot>], count: usize) -> String {
    if count > DOTS_MAX {
        return runs.iter().map(|run| band(run)).collect();
    }
    let mut path = String::new();
    for spot in runs.iter().flatten() {
        let Some(ends) = spot.interval else { continue };
        let (x, low, high) = (px(spot.x), px(ends.low), px(ends.high));
        // An arrow head instead of a bar: the interval is longer than the part that is drawn.
        let above = if ends.high_leaves { "m-4 7l4 -7l4 7" } else { "m-4 0h8" };
        let below = if ends.low_leaves { "m-4 -7l4 7l4 -7" } else { "m-4 0h8" };
        path += &format!("M{x} {low}V{high}{above}M{x} {low}{below}");
    }
    if path.is_empty() {
        return path;
    }
    format!("<path class=\"whisker\" stroke-width=\"1.2\" d=\"{path}\"/>")
}

/// The room between the ends of intervals.
fn band(run: &[Spot]) -> String {
    let spots = thinned(run);
    let ends: Vec<(f64, f64, f64)> =
        spots.iter().filter_map(|s| s.interval.map(|i| (s.x, i.low, i.high))).collect();
    if ends.len() < 2 {
        return String::new();
    }
    let upper = ends.iter().map(|(x, _, high)| format!("{} {}", px(*x), px(*high)));
    let lower = ends.iter().rev().map(|(x, low, _)| format!("{} {}", px(*x), px(*low)));
    let places: Vec<String> = upper.chain(lower).collect();
    format!(
        "<path class=\"band\" stroke=\"none\" fill=\"currentColor\" fill-opacity=\"0.18\" \
         d=\"M{}z\"/>",
        places.join("L")
    )
}

/// How wide each column is, and how far from its place it begins.
fn column_room(chart: &Chart, place: &Geometry<'_>, index: usize) -> (f64, f64) {
    let beside = chart.series.iter().filter(|s| s.shape == Shape::Columns).count().max(1) as f64;
    let places: Vec<f64> =
        geometry::measured(chart).into_iter().filter_map(|x| place.x(x)).collect();
    let gap = places.windows(2).map(|w| w[1] - w[0]).fold(place.width / 2.0, f64::min);
    let each = (gap * 0.78 / beside).clamp(0.6, COLUMN_MAX);
    (each, (index as f64 - beside / 2.0) * each)
}

fn columns(chart: &Chart, place: &Geometry<'_>, series: &Series, look: Look) -> String {
    let side = geometry::side(chart, series);
    let index = look.column.unwrap_or(0);
    let (wide, from) = column_room(chart, place, index);
    let inset = if wide > 4.0 { 0.75 } else { 0.0 };
    let floor = place.floor(side);
    let spots: Vec<Spot> = series.points.iter().filter_map(|p| spot(place, side, p)).collect();
    let (mut path, mut grey) = (String::new(), String::new());
    let mut stripes = String::new();
    for spot in &spots {
        let (x, width) = (spot.x + from + inset, wide - 2.0 * inset);
        let column =
            format!("M{} {}V{}h{}V{}z", px(x), px(floor), px(spot.y), px(width), px(floor));
        if spot.unsure {
            grey += &column;
            continue;
        }
        path += &column;
        if index % 4 >= 2 && wide > 5.0 {
            stripes += &hatch(x, width, floor, spot.y);
        }
    }
    // Full, hollow, striped and striped hollow columns are distinguished without colour.
    let opacity = if index % 2 == 1 { " fill-opacity=\"0.3\"" } else { "" };
    let mut out = String::new();
    if !path.is_empty() {
        out += &format!(
            "<path class=\"column\" fill=\"currentColor\"{opacity} stroke-width=\"1\" \
             d=\"{path}\"/>"
        );
    }
    if !grey.is_empty() {
        out += &format!(
            "<path class=\"column unsure\" stroke=\"{UNSURE}\" fill=\"none\" stroke-width=\"1\" \
             stroke-dasharray=\"3 2\" d=\"{grey}\"/>"
        );
    }
    if !stripes.is_empty() {
        let class = if index % 2 == 1 { "stripe own" } else { "stripe" };
        let colour = if index % 2 == 1 { "currentColor" } else { palette::PAPER };
        out += &format!(
            "<path class=\"{class}\" stroke=\"{colour}\" stroke-width=\"1\" d=\"{stripes}\"/>"
        );
    }
    let middle = |s: &Spot| Spot { x: s.x + from + wide / 2.0, ..*s };
    let runs = vec![spots.iter().map(middle).collect::<Vec<_>>()];
    if spots.len() <= DOTS_MAX {
        out += &intervals(&runs, spots.len())
            .replace("class=\"whisker\"", "class=\"whisker over\" stroke=\"#1a1d21\"");
    }
    out
}

fn hatch(x: f64, width: f64, floor: f64, top: f64) -> String {
    let (low, high) = (floor.min(top), floor.max(top));
    let lines = (1..200).map(|i| low + f64::from(i) * 5.0).take_while(|y| *y < high);
    lines.fold(String::new(), |path, y| path + &format!("M{} {}h{}", px(x), px(y), px(width)))
}

/// Room that the number of a point takes.
const LABEL: (f64, f64) = (26.0, 13.0);

/// The numbers next to points, as far as there is room for them, and rings around operating points,
/// which come first.
pub(crate) fn labels(chart: &Chart, place: &Geometry<'_>, looks: &[Look]) -> String {
    let mut all = Vec::new();
    for (series, look) in chart.series.iter().zip(looks) {
        let side = geometry::side(chart, series);
        for point in &series.points {
            if let (Some(label), Some(spot)) = (point.label, spot(place, side, point)) {
                all.push((label, spot, look.kind % KINDS));
            }
        }
    }
    all.sort_by_key(|(label, ..)| !label.is_knee);
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut out = String::new();
    for (label, spot, kind) in all {
        let (x, y) = (spot.x, spot.y);
        let mut inner = String::new();
        if label.is_knee {
            inner += &format!(
                "<circle class=\"knee\" stroke=\"currentColor\" stroke-width=\"2\" fill=\"none\" \
                 cx=\"{}\" cy=\"{}\" r=\"8\"/>",
                px(x),
                px(y)
            );
        }
        if taken.iter().all(|(a, b)| (a - x).abs() > LABEL.0 || (b - y).abs() > LABEL.1) {
            taken.push((x, y));
            let away = if label.is_knee { 12.0 } else { 7.0 };
            let weight = if label.is_knee { "700" } else { "400" };
            let end = x + away + LABEL.0 > place.left + place.width;
            let (at, anchor) = if end { (x - away, "end") } else { (x + away, "start") };
            inner += &format!(
                "<text class=\"own\" x=\"{}\" y=\"{}\" fill=\"currentColor\" stroke=\"none\" \
                 text-anchor=\"{anchor}\" font-weight=\"{weight}\">{}</text>",
                px(at),
                px(y + 13.0),
                label.in_flight
            );
        }
        let colour = COLOURS[kind];
        out += &format!("<g class=\"s{kind}\" color=\"{colour}\">{inner}</g>");
    }
    out
}
