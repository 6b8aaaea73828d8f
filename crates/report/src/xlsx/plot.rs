//! A chart as rows of figures that can be drawn: values that are not numbers are gone, and each row
//! has one place on the horizontal axis and a figure of each series, in the units that are shown.

use super::axes::Bounds;
use super::units::Shown;
use crate::model::{Axis, Chart, Point, Scale, Series, Shape, Side, Unit};
use crate::words;

/// Most points of a series: what Excel draws well, and more than a screen has columns.
const POINTS: usize = 32_000;

/// Most series that a chart of Excel can have, less some for the marks.
const SERIES: usize = 240;

/// Points of all series of a chart for which rows are written, at most.
const ROWS: usize = 500_000;

/// Figures beyond this are not storage's, and no axis of Excel's either.
const FAR: f64 = 1e100;

/// The data of a chart, as Excel draws it.
#[derive(Debug)]
pub(crate) struct Plot<'a> {
    pub(crate) chart: &'a Chart,
    /// Where each row is on the horizontal axis.
    pub(crate) places: Vec<Place>,
    pub(crate) lines: Vec<Line<'a>>,
    /// Where a vertical line goes and what it is called.
    pub(crate) marks: Vec<(At, &'a str)>,
    /// Whether the horizontal axis is a row of names and not of figures.
    pub(crate) named: bool,
    pub(crate) x: Ruler,
    pub(crate) left: Ruler,
    pub(crate) right: Option<Ruler>,
    /// Notes on what was left out.
    pub(crate) notes: Vec<String>,
}

/// The unit and format of an axis.
#[derive(Debug)]
pub(crate) struct Ruler {
    pub(crate) title: String,
    pub(crate) shown: Shown,
    pub(crate) bounds: Bounds,
}

/// The place of a vertical line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum At {
    /// At the name in this row.
    Row(usize),
    /// At this figure of the horizontal axis.
    X(f64),
}

/// A place on the horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Place {
    Name(String),
    Number(f64),
}

/// A series: a figure, or none, for each row.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) series: &'a Series,
    pub(crate) right: bool,
    pub(crate) figures: Vec<Option<Figure>>,
    /// Whether any figure has an interval.
    pub(crate) spread: bool,
}

/// A figure, and how far below and above it the true one may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure {
    pub(crate) y: f64,
    pub(crate) below_above: Option<(f64, f64)>,
    /// Whether the interval of the figure is so wide that it is hardly known.
    pub(crate) unsure: bool,
}

/// The chart as rows; `None` if nothing of it can be drawn.
pub(crate) fn of(chart: &Chart) -> Option<Plot<'_>> {
    let mut notes = Vec::new();
    let drawn = chart.series.iter().take(SERIES).collect::<Vec<_>>();
    if chart.series.len() > SERIES {
        notes.push(format!("{} series are left out", chart.series.len() - SERIES));
    }
    // A chart without anything on the left is read from one axis, whichever that is called.
    let all_right = drawn.iter().all(|s| s.side == Side::Right) && chart.right.is_some();
    let right_axis = chart.right.as_ref().filter(|_| !all_right);
    let left_axis =
        if all_right { chart.right.as_ref().unwrap_or(&chart.left) } else { &chart.left };
    let on_right = |series: &Series| series.side == Side::Right && right_axis.is_some();

    let mut points: Vec<(&Series, Vec<Point>)> = Vec::new();
    let mut lost = 0;
    for series in drawn {
        let axis = if on_right(series) { right_axis.unwrap_or(left_axis) } else { left_axis };
        let good = |p: &&Point| fits(&chart.x, p.x) && fits_figure(axis, p.y);
        let kept: Vec<Point> = series.points.iter().filter(good).copied().collect();
        lost += series.points.len() - kept.len();
        points.push((series, kept));
    }
    if lost > 0 {
        notes.push(format!("{lost} points have no place on the axes"));
    }
    points.retain(|(_, points)| !points.is_empty());
    thin(&mut points, &mut notes);
    if points.is_empty() {
        return None;
    }

    let named = matches!(chart.x.scale, Scale::Names(_))
        || points.iter().any(|(s, _)| s.shape == Shape::Columns);
    let keys = keys(&points, named);
    let mut x = x_axis(chart, &keys);
    if named && !x.shown.is_moment() {
        // Its names have their units with them.
        x.title.clone_from(&chart.x.title);
    }
    let figures_of = |right: bool| {
        let on_side = points.iter().filter(move |(s, _)| on_right(s) == right);
        on_side.flat_map(|(_, points)| points.iter().flat_map(reach)).collect::<Vec<f64>>()
    };
    let left = axis(left_axis, &figures_of(false), true);
    let right = right_axis
        .filter(|_| points.iter().any(|(s, _)| on_right(s)))
        .map(|right| axis(right, &figures_of(true), true));
    let mut lines: Vec<Line<'_>> = points
        .iter()
        .map(|(series, points)| {
            let right_side = right.as_ref().filter(|_| on_right(series));
            line(series, points, &keys, named, right_side.unwrap_or(&left), right_side.is_some())
        })
        .collect();
    // Excel puts series that are read from the right after the others, also in the legend.
    lines.sort_by_key(|line| line.right);
    let marks = marks(chart, &keys, named, &x);
    let places = keys.iter().map(|key| place(chart, key.0, named, &x)).collect();
    Some(Plot { chart, places, lines, marks, named, x, left, right, notes })
}

/// Whether a point has a place on the horizontal axis.
fn fits(axis: &Axis, x: f64) -> bool {
    match &axis.scale {
        Scale::Names(names) => x >= 0.0 && x.fract() == 0.0 && x < names.len().min(POINTS) as f64,
        Scale::Log2 | Scale::Log10 => x > 0.0 && x < FAR,
        Scale::Linear => x.abs() < FAR,
    }
}

/// Whether a figure can be drawn on a vertical axis.
fn fits_figure(axis: &Axis, y: f64) -> bool {
    match axis.scale {
        Scale::Log2 | Scale::Log10 => y > 1.0 / FAR && y < FAR,
        _ => y.abs() < FAR,
    }
}

/// The figures that the axis of a point must reach.
fn reach(point: &Point) -> impl Iterator<Item = f64> + use<> {
    let (low, high) = interval(point).unwrap_or((point.y, point.y));
    [point.y, low, high].into_iter()
}

/// The interval of a point, where it is one.
fn interval(point: &Point) -> Option<(f64, f64)> {
    let (low, high) = point.interval?;
    let sound = low.abs() < FAR && high.abs() < FAR && low <= point.y && point.y <= high;
    sound.then_some((low, high))
}

/// Takes every n-th point of series that have more than can be drawn.
fn thin(points: &mut [(&Series, Vec<Point>)], notes: &mut Vec<String>) {
    let limit = POINTS.min(ROWS / points.len().max(1)).max(1);
    for (series, points) in points {
        let every = points.len().div_ceil(limit);
        if every > 1 {
            notes.push(format!("{}: one point in {every} is drawn", words::clean(&series.name)));
            *points = points.iter().step_by(every).copied().collect();
        }
    }
}

/// The rows: each place, in rising order, and how many rows before it have the same place. Names
/// have one row each.
fn keys(points: &[(&Series, Vec<Point>)], named: bool) -> Vec<(f64, usize)> {
    let mut keys: Vec<(f64, usize)> = Vec::new();
    for (_, points) in points {
        keys.extend(numbered(points, named).into_iter().map(|(key, _)| key));
    }
    keys.sort_by(compare);
    keys.dedup_by(|a, b| compare(a, b).is_eq());
    keys
}

/// The points of a series with their rows.
fn numbered(points: &[Point], named: bool) -> Vec<((f64, usize), Point)> {
    let mut sorted: Vec<Point> = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut rows: Vec<((f64, usize), Point)> = Vec::new();
    for point in sorted {
        let before = match rows.last() {
            Some(((x, n), _)) if !named && x.total_cmp(&point.x).is_eq() => n + 1,
            _ => 0,
        };
        rows.push(((point.x, before), point));
    }
    rows
}

fn compare(a: &(f64, usize), b: &(f64, usize)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

fn line<'a>(
    series: &'a Series,
    points: &[Point],
    keys: &[(f64, usize)],
    named: bool,
    axis: &Ruler,
    right: bool,
) -> Line<'a> {
    let mut figures = vec![None; keys.len()];
    let shown = |value: f64| axis.shown.convert(value);
    for (key, point) in numbered(points, named) {
        let Ok(at) = keys.binary_search_by(|other| compare(other, &key)) else { continue };
        let below_above = interval(&point).and_then(|(low, high)| {
            Some((shown(point.y)? - shown(low)?, shown(high)? - shown(point.y)?))
        });
        if let Some(cell) = figures.get_mut(at) {
            let unsure = point.is_unsure();
            *cell = shown(point.y).map(|y| Figure { y, below_above, unsure });
        }
    }
    let spread = figures.iter().flatten().any(|f| f.below_above.is_some());
    Line { series, right, figures, spread }
}

/// The horizontal axis, by its figures or names.
fn x_axis(chart: &Chart, keys: &[(f64, usize)]) -> Ruler {
    let places: Vec<f64> = keys.iter().map(|key| key.0).collect();
    axis(&chart.x, &places, false)
}

/// An axis that reaches all its figures.
fn axis(axis: &Axis, figures: &[f64], vertical: bool) -> Ruler {
    let shown = Shown::of(axis.unit, figures.iter().copied());
    let converted: Vec<f64> = figures.iter().filter_map(|f| shown.convert(*f)).collect();
    let bounds = Bounds::of(&axis.scale, &converted, vertical, shown.is_moment());
    Ruler { title: shown.heading(&axis.title), shown, bounds }
}

/// The label of a place on the axis.
fn place(chart: &Chart, x: f64, named: bool, axis: &Ruler) -> Place {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`fits` lets whole ones by"
    )]
    if let Scale::Names(names) = &chart.x.scale {
        return Place::Name(names.get(x as usize).cloned().unwrap_or_default());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size saturates")]
    match chart.x.unit {
        _ if !named => Place::Number(axis.shown.convert(x).unwrap_or_default()),
        Unit::Moment => Place::Number(axis.shown.convert(x).unwrap_or_default()),
        Unit::Bytes => Place::Name(words::size(x as u64)),
        Unit::Nanoseconds => Place::Name(words::mean_time(Some(x))),
        Unit::Percent => Place::Name(words::percent(Some(x))),
        _ => Place::Name(workload::show_number(x)),
    }
}

impl Plot<'_> {
    /// The vertical axis of the marks' lines: the last, so that they come last in the legend too.
    pub(crate) fn last_ruler(&self) -> &Ruler {
        self.right.as_ref().unwrap_or(&self.left)
    }
}

/// The marks that have a place: on an axis of figures between its ends, on one of names at the
/// nearest row.
fn marks<'a>(
    chart: &'a Chart,
    keys: &[(f64, usize)],
    named: bool,
    axis: &Ruler,
) -> Vec<(At, &'a str)> {
    let mut marks = Vec::new();
    for mark in chart.marks.iter().take(10).filter(|m| fits(&chart.x, m.x)) {
        let at = if named {
            let distance = |key: &(f64, usize)| (key.0 - mark.x).abs();
            let nearest =
                keys.iter().enumerate().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
            nearest.map(|(row, _)| At::Row(row))
        } else {
            let inside = |x: &f64| axis.bounds.min <= *x && *x <= axis.bounds.max;
            axis.shown.convert(mark.x).filter(inside).map(At::X)
        };
        marks.extend(at.map(|at| (at, mark.label.as_str())));
    }
    marks
}
