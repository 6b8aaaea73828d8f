//! A chart in words, for people who do not see it.

use super::figure;
use super::ruler;
use crate::model::{Axis, Chart, Point, Scale, Series};

/// For series with more points, only the ends and extremes are read out.
const POINTS_MAX: usize = 10;
const SERIES_MAX: usize = 12;
const MARKS_MAX: usize = 6;

/// What the chart shows: axes, figures of each series, marks.
pub(crate) fn aloud(chart: &Chart) -> String {
    let mut sentences =
        vec![format!("Chart: {}", chart.title), format!("Horizontal: {}", chart.x.title)];
    for series in chart.series.iter().take(SERIES_MAX) {
        sentences.push(told(chart, series));
    }
    if let Some(more) = chart.series.len().checked_sub(SERIES_MAX).filter(|n| *n > 0) {
        sentences.push(format!("{more} more series"));
    }
    for mark in chart.marks.iter().take(MARKS_MAX) {
        sentences.push(format!("Mark at {}: {}", place(&chart.x, mark.x), mark.label));
    }
    let ended = |s: String| if s.ends_with('.') { s } else { s + "." };
    sentences.into_iter().map(ended).collect::<Vec<_>>().join(" ")
}

/// A place on the horizontal axis in words.
pub(crate) fn place(axis: &Axis, x: f64) -> String {
    match &axis.scale {
        Scale::Names(names) => {
            let found = names.iter().enumerate().find(|(i, _)| (*i as f64 - x).abs() < 0.5);
            found.map_or_else(|| figure::number(x), |(_, name)| name.clone())
        }
        _ => figure::cell(axis.unit, x),
    }
}

fn told(chart: &Chart, series: &Series) -> String {
    let axis = self::axis(chart, series);
    let log = (ruler::is_log(&chart.x.scale), ruler::is_log(&axis.scale));
    let seen = |p: &&Point| ruler::drawable(log.0, p.x) && ruler::drawable(log.1, p.y);
    let points: Vec<&Point> = series.points.iter().filter(seen).collect();
    let load = |p: &Point| p.label.map(|l| format!(" with {} in flight", l.in_flight));
    let said = |p: &&Point| {
        let figure = figure::show(axis.unit, p.y);
        format!("{figure} at {}{}", place(&chart.x, p.x), load(p).unwrap_or_default())
    };
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return format!("{}: no figures", series.name);
    };
    if points.len() <= POINTS_MAX {
        let all: Vec<String> = points.iter().map(said).collect();
        return format!("{}: {}", series.name, all.join(", "));
    }
    let by = |a: &&&Point, b: &&&Point| a.y.total_cmp(&b.y);
    let lowest = points.iter().min_by(by).unwrap_or(first);
    let highest = points.iter().max_by(by).unwrap_or(last);
    format!(
        "{}: {} points from {} to {}, lowest {}, highest {}",
        series.name,
        points.len(),
        said(first),
        said(last),
        said(lowest),
        said(highest)
    )
}

/// The axis that a series is read from.
pub(crate) fn axis<'a>(chart: &'a Chart, series: &Series) -> &'a Axis {
    match &chart.right {
        Some(right) if super::side(chart, series) == 1 => right,
        _ => &chart.left,
    }
}
