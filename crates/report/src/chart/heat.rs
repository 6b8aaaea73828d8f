//! Heat maps: one row per series of cells, one column per place on the horizontal axis. A cell has
//! its figure in words, and a colour that darkens with the logarithm of the figure.

use super::layout::{FONT, LINE, fitted, width};
use super::palette::{FAINT, INK, PAPER, RULE};
use super::{escape, px, text};
use crate::model::{Chart, Scale, Shape};

/// Colours of the lowest, the middle and the highest figure.
const STOPS: [[f64; 3]; 3] = [[255.0, 246.0, 222.0], [242.0, 142.0, 43.0], [125.0, 22.0, 32.0]];
/// From this share of the way on, words in a cell are white.
const DARK: f64 = 0.66;
/// Room between words and cells, in pixels.
const GAP: f64 = 8.0;
const ROW_MAX: f64 = 52.0;

/// A heat map in a picture.
pub(super) struct Heat {
    /// The cells and words as SVG.
    pub(super) shapes: String,
    /// The height that they take, in pixels.
    pub(super) needed: f64,
    /// Left, top, width and height of the cells.
    pub(super) plot: [f64; 4],
    /// How many columns the map has.
    pub(super) columns: usize,
}

/// Whether a chart is a heat map.
pub(crate) fn is_heat(chart: &Chart) -> bool {
    chart.series.iter().any(|s| s.shape == Shape::Cells)
}

/// Draws a heat map as SVG.
pub(super) fn heat(chart: &Chart, wide: f64, high: f64) -> Heat {
    let names: &[String] = if let Scale::Names(names) = &chart.x.scale { names } else { &[] };
    let (rows, columns) = (chart.series.len().max(1), names.len().max(1));
    let labels = chart.series.iter().map(|s| width(&s.name, FONT));
    let left = labels.fold(0.0, f64::max).min(wide / 3.0) + GAP;
    let top = 4.0;
    let row_high = ((high - 3.0 * LINE) / rows as f64).min(ROW_MAX);
    let plot = [left, top, wide - left, row_high * rows as f64];
    let column_wide = plot[2] / columns as f64;
    let range = range(chart);
    let mut shapes = String::new();
    for (r, series) in chart.series.iter().enumerate() {
        let y = top + r as f64 * row_high;
        let name = fitted(&series.name, left - GAP, FONT);
        shapes += &text(left - GAP, y + row_high / 2.0 + 4.0, "end", FAINT, &name, "");
        for (c, column) in names.iter().enumerate() {
            let found = series.points.iter().find(|p| (p.x - c as f64).abs() < 0.5);
            let place = [left + c as f64 * column_wide, y, column_wide, row_high];
            let title = format!("{}, {} {column}", series.name, chart.x.title);
            shapes += &cell(chart, place, found.map(|p| p.y), range, &title);
        }
    }
    let bottom = top + plot[3];
    for (c, name) in names.iter().enumerate() {
        let x = left + (c as f64 + 0.5) * column_wide;
        let name = fitted(name, column_wide - 4.0, FONT);
        shapes += &text(x, bottom + LINE, "middle", FAINT, &name, "");
    }
    let x = left + plot[2] / 2.0;
    shapes += &text(x, bottom + 2.0 * LINE + 2.0, "middle", FAINT, &chart.x.title, "");
    Heat { shapes, needed: bottom + 2.5 * LINE, plot, columns }
}

/// The logarithms of the lowest and the highest figure.
fn range(chart: &Chart) -> (f64, f64) {
    let figures = chart.series.iter().flat_map(|s| &s.points).map(|p| p.y);
    let logs = figures.filter(|y| y.is_finite() && *y > 0.0).map(f64::ln);
    logs.fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)))
}

fn cell(
    chart: &Chart,
    [x, y, wide, high]: [f64; 4],
    figure: Option<f64>,
    (low, highest): (f64, f64),
    title: &str,
) -> String {
    let words = figure.map(|y| shown(chart, y));
    let share = figure.filter(|y| *y > 0.0).map(|y| {
        let span = highest - low;
        if span > 0.0 { ((y.ln() - low) / span).clamp(0.0, 1.0) } else { 0.0 }
    });
    let fill = share.map_or_else(|| "none".to_owned(), colour);
    let said = words.clone().unwrap_or_else(|| "no figure".to_owned());
    let ink = match share {
        Some(share) if share >= DARK => PAPER,
        Some(_) => INK,
        None => FAINT,
    };
    let label = fitted(words.as_deref().unwrap_or("–"), wide - 4.0, FONT);
    format!(
        "<g><title>{}: {}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" \
         fill=\"{fill}\" stroke=\"{RULE}\"/>{}</g>",
        escape(title),
        escape(&said),
        px(x + 1.0),
        px(y + 1.0),
        px((wide - 2.0).max(0.0)),
        px((high - 2.0).max(0.0)),
        lettering(x + wide / 2.0, y + high / 2.0 + 4.0, ink, &label)
    )
}

/// Words on the colour of a cell, which is the same on a light page and on a dark one: a class
/// would let the style sheet change their colour.
fn lettering(x: f64, y: f64, ink: &str, words: &str) -> String {
    let (x, y, words) = (px(x), px(y), escape(words));
    format!("<text x=\"{x}\" y=\"{y}\" fill=\"{ink}\" text-anchor=\"middle\">{words}</text>")
}

fn shown(chart: &Chart, figure: f64) -> String {
    super::figure::show(chart.left.unit, figure)
}

/// The colour at a share of the way from the lowest to the highest figure.
fn colour(share: f64) -> String {
    let (from, to, part) =
        if share < 0.5 { (0, 1, share * 2.0) } else { (1, 2, share * 2.0 - 1.0) };
    let mixed = |i: usize| (STOPS[from][i] + (STOPS[to][i] - STOPS[from][i]) * part).round();
    format!("rgb({},{},{})", mixed(0), mixed(1), mixed(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_run_from_the_lowest_to_the_highest() {
        assert_eq!(colour(0.0), "rgb(255,246,222)");
        assert_eq!(colour(0.5), "rgb(242,142,43)");
        assert_eq!(colour(1.0), "rgb(125,22,32)");
    }
}
