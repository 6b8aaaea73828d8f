//! The places of everything in a chart: the plot, its axes, and the words around it.

use super::layout::{self, FONT, LINE};
use super::ruler::{self, Ruler, Vertical};
use super::ticks::Tick;
use crate::model::{Axis, Chart, Mark, Point, Scale, Series, Shape, Side};

/// Rows of labels above the plot, at most.
const MARK_ROWS: usize = 6;
/// Lines of a name under its place, at most.
const NAME_LINES: usize = 3;

/// The slope of words that are too long to be horizontal, in radians: 55 degrees.
const STEEP: f64 = 0.96;
/// Distance of words on a slope.
const SLANTED_APART: f64 = 17.5;

/// How the words under the horizontal axis are written.
pub(crate) enum Under {
    /// Horizontal, in lines below each other.
    Upright(Vec<(f64, Vec<String>)>),
    /// On a slope, ending at their places.
    Slanted(Vec<(f64, String)>),
}

/// A vertical line with the row of its label; `None` if it has no room.
pub(crate) struct Flag<'a> {
    pub(crate) mark: &'a Mark,
    pub(crate) x: f64,
    pub(crate) label: Option<Label>,
}

/// A label above the plot, such as `alert`.
pub(crate) struct Label {
    pub(crate) text: String,
    pub(crate) x: f64,
    pub(crate) row: usize,
}

/// The places of a chart in a picture of some size.
pub(crate) struct Geometry<'a> {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The whole height of the picture.
    pub(crate) needed: f64,
    pub(crate) x: Ruler,
    pub(crate) x_ticks: Vec<f64>,
    pub(crate) under: Under,
    pub(crate) verticals: Vec<Vertical>,
    pub(crate) flags: Vec<Flag<'a>>,
}

/// The side that a series is read from: a chart without a right axis has none there.
pub(crate) fn side(chart: &Chart, series: &Series) -> usize {
    usize::from(chart.right.is_some() && series.side == Side::Right)
}

/// The axis on the right, where something is read from it.
pub(crate) fn right(chart: &Chart) -> Option<&Axis> {
    chart.right.as_ref().filter(|_| chart.series.iter().any(|s| s.side == Side::Right))
}

/// The axes of the sides of a chart.
pub(crate) fn axes(chart: &Chart) -> Vec<&Axis> {
    std::iter::once(&chart.left).chain(right(chart)).collect()
}

/// The figures of a side that an axis must hold.
///
/// An interval that is far longer than the figures would press them to the floor; it is cut at the
/// edge of the plot.
fn held(chart: &Chart, wanted: usize) -> Option<(f64, f64)> {
    let log = ruler::is_log(&axes(chart)[wanted].scale);
    let x_log = ruler::is_log(&chart.x.scale);
    let points = || {
        let of_side = chart.series.iter().filter(move |s| side(chart, s) == wanted);
        of_side.flat_map(|s| &s.points).filter(move |p| ruler::drawable(x_log, p.x))
    };
    let (low, high) = ruler::ends(log, points().map(|p| p.y))?;
    let limits = |p: &Point| p.interval.into_iter().flat_map(|(a, b)| [a, b]);
    let near = |v: &f64| {
        if log {
            *v > low / 10.0 && *v < high * 10.0
        } else {
            v.abs() <= 2.0 * high.abs().max(low.abs())
        }
    };
    ruler::ends(log, points().map(|p| p.y).chain(points().flat_map(limits).filter(near)))
}

/// The places on the horizontal axis that have figures, in order, each once.
pub(crate) fn measured(chart: &Chart) -> Vec<f64> {
    let log = ruler::is_log(&chart.x.scale);
    let points = chart.series.iter().flat_map(|s| &s.points);
    let mut xs: Vec<f64> = points.map(|p| p.x).filter(|x| ruler::drawable(log, *x)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    xs
}

/// The least distance between two places; `None` if no series has columns.
fn gap(chart: &Chart, measured: &[f64]) -> Option<f64> {
    let columns = chart.series.iter().any(|s| s.shape == Shape::Columns);
    let gaps = measured.windows(2).map(|w| w[1] - w[0]);
    columns.then(|| gaps.fold(f64::INFINITY, f64::min))
}

impl<'a> Geometry<'a> {
    /// Lays a chart out in a picture.
    pub(crate) fn new(chart: &'a Chart, width: f64, height: f64) -> Self {
        let axes = axes(chart);
        let sides: Vec<(&Axis, Option<(f64, f64)>)> =
            axes.iter().enumerate().map(|(i, axis)| (*axis, held(chart, i))).collect();
        let verticals = ruler::verticals(&sides);
        let longest = |v: &Vertical| {
            v.ticks.iter().map(|t| layout::width(&t.label, FONT)).fold(0.0, f64::max)
        };
        let left = verticals.first().map_or(0.0, longest).max(14.0) + 9.0;
        let right = verticals.get(1).map_or(14.0, |v| longest(v) + 12.0);
        let plot_width = (width - left - right).max(40.0);
        let measured = measured(chart);
        let ends = measured.first().copied().zip(measured.last().copied());
        let x = ruler::horizontal(&chart.x, ends, gap(chart, &measured));
        let about = if plot_width < 400.0 { 4 } else { 8 };
        let ticks = ruler::horizontal_ticks(&chart.x, &x, &measured, about);
        let named = matches!(chart.x.scale, Scale::Names(_));
        let (mut x_ticks, mut under) = words_under(&x, &ticks, left, plot_width, named);
        let (mut left, mut plot_width) = (left, plot_width);
        if let Under::Slanted(_) = under {
            // The first of them goes far to the left.
            let more = (plot_width * 0.14 - left).max(0.0);
            (left, plot_width) = (left + more, plot_width - more);
            (x_ticks, under) = words_under(&x, &ticks, left, plot_width, named);
        }
        let (flags, rows) = flags(chart, &x, left, plot_width);
        let top = LINE + 10.0 + rows as f64 * LINE;
        let titled = if chart.x.title.is_empty() { 0.0 } else { LINE };
        let bottom = depth_of(&under) + titled + 10.0;
        let height = (height - top - bottom).max(height * 0.5);
        let needed = top + height + bottom;
        let width = plot_width;
        Self { left, top, width, height, needed, x, x_ticks, under, verticals, flags }
    }

    /// The place of a figure on the horizontal axis.
    pub(crate) fn x(&self, value: f64) -> Option<f64> {
        self.x.share(value).map(|share| self.left + share * self.width)
    }

    /// The place of a figure on a vertical axis.
    pub(crate) fn y(&self, side: usize, value: f64) -> Option<f64> {
        let share = self.verticals.get(side)?.ruler.share(value)?;
        Some(self.top + (1.0 - share) * self.height)
    }

    /// The height from which columns rise.
    pub(crate) fn floor(&self, side: usize) -> f64 {
        let log = self.verticals.get(side).is_none_or(|v| v.ruler.log);
        let zero = if log { None } else { self.y(side, 0.0) };
        zero.unwrap_or(self.top + self.height)
    }
}

/// How far the words under an axis reach.
pub(crate) fn depth_of(under: &Under) -> f64 {
    match under {
        Under::Upright(words) => {
            let lines = words.iter().map(|(_, lines)| lines.len()).max().unwrap_or(1);
            6.0 + lines.max(1) as f64 * (LINE - 2.0)
        }
        Under::Slanted(words) => {
            let longest = words.iter().map(|(_, w)| layout::width(w, FONT)).fold(0.0, f64::max);
            12.0 + longest * STEEP.sin()
        }
    }
}

fn words_under(x: &Ruler, ticks: &[Tick], left: f64, width: f64, named: bool) -> (Vec<f64>, Under) {
    let place = |at: f64| x.share(at).map(|share| left + share * width);
    let places: Vec<(f64, &str)> =
        ticks.iter().filter_map(|t| Some((place(t.at)?, t.label.as_str()))).collect();
    let xs: Vec<f64> = places.iter().map(|(x, _)| *x).collect();
    let spans: Vec<(f64, f64)> =
        places.iter().map(|(x, word)| (*x, layout::width(word, FONT))).collect();
    let all = layout::thinned(&spans, 6.0);
    if !named || all.len() == places.len() {
        let kept = all.into_iter().map(|i| (places[i].0, vec![places[i].1.to_owned()]));
        return (xs, Under::Upright(kept.collect()));
    }
    let slot = width / places.len() as f64 - 6.0;
    let lines = |word: &str| layout::wrapped(word, slot, FONT);
    let fits = |(_, word): &(f64, &str)| {
        let lines = lines(word);
        lines.len() <= NAME_LINES && !lines.iter().any(|l| l.ends_with('…'))
    };
    if slot > 24.0 && places.iter().all(fits) {
        let under = places.iter().map(|(x, word)| (*x, lines(word)));
        return (xs, Under::Upright(under.collect()));
    }
    let steep: Vec<(f64, f64)> = places.iter().map(|(x, _)| (*x, SLANTED_APART)).collect();
    let room: f64 = if width < 400.0 { 140.0 } else { 200.0 };
    let kept = layout::thinned(&steep, 0.0).into_iter();
    let slanted = kept.map(|i| {
        // What begins far on the left must end before the edge of the picture.
        let room = room.min((places[i].0 - 4.0) / STEEP.cos());
        (places[i].0, layout::fitted(places[i].1, room, FONT))
    });
    (xs, Under::Slanted(slanted.collect()))
}

/// The marks that have a place, and the rows that their labels take.
fn flags<'a>(chart: &'a Chart, x: &Ruler, left: f64, width: f64) -> (Vec<Flag<'a>>, usize) {
    let with_place = chart.marks.iter().filter(|m| m.x >= x.from.min(x.to) && m.x <= x.to);
    let placed: Vec<(&Mark, f64)> =
        with_place.filter_map(|m| Some((m, left + x.share(m.x)? * width))).collect();
    let mut labels: Vec<Label> = placed
        .iter()
        .map(|(mark, x)| {
            let text = layout::fitted(&mark.label, width, FONT);
            let half = layout::width(&text, FONT) / 2.0;
            Label { text, x: x.min(left + width - half).max(left + half), row: 0 }
        })
        .collect();
    let span = |l: &Label| {
        let half = layout::width(&l.text, FONT) / 2.0;
        (l.x - half, l.x + half)
    };
    let spans: Vec<(f64, f64)> = labels.iter().map(span).collect();
    let rows = layout::rows(&spans, MARK_ROWS);
    let used = rows.iter().flatten().max().map_or(0, |r| r + 1);
    let flags = placed.iter().zip(labels.drain(..)).zip(&rows);
    let flags = flags.map(|(((mark, x), label), row)| {
        let label = row.map(|row| Label { row, ..label });
        Flag { mark, x: *x, label }
    });
    (flags.collect(), used)
}
