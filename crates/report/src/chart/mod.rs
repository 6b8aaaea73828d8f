//! Charts of the model as SVG.
//!
//! One painter draws for the page, where words around the picture are HTML and colours come from
//! the style sheet, and for a file, where everything is inside. Colours are attributes of a light
//! page in both; the style sheet's rules go before attributes. Shapes, dashes and signs tell series
//! apart where colour does not. Figures that have no place on an axis (not numbers, or nothing on a
//! logarithmic one) are gaps.

mod aloud;
pub(crate) mod figure;
mod geometry;
mod heat;
mod layout;
mod paint;
mod palette;
mod ruler;
mod ticks;

use geometry::{Geometry, Under};
use layout::{FONT, LINE};
use paint::Look;
use palette::{FAINT, INK, PAPER, RULE};

use crate::model::{Axis, Chart, Point, Scale, Shape};

pub(crate) use aloud::{aloud, axis as aloud_axis};
pub(crate) use geometry::side;
pub(crate) use heat::is_heat;
pub(crate) use paint::looks;
pub(crate) use ruler::Ruler;

/// The size of a chart that is its own file.
const FILE_WIDTH: f64 = 920.0;
const FILE_PLOT_HEIGHT: f64 = 400.0;
const MARGIN: f64 = 20.0;
const FONTS: &str =
    "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// A place in a picture, to a tenth of a pixel.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").map(str::to_owned).unwrap_or(text);
    if text == "-0" { "0".to_owned() } else { text }
}

/// A text in XML, without what XML does not take.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in crate::words::clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A chart as an SVG file: with its title, legend and caption, in the colours of a light page.
#[must_use]
pub fn svg(chart: &Chart) -> String {
    let looks = looks(chart);
    let room = FILE_WIDTH - 2.0 * MARGIN;
    let mut head = String::new();
    let mut y = MARGIN;
    for line in layout::wrapped(&chart.title, room / 1.3, FONT) {
        y += LINE;
        head += &text(MARGIN, y, "start", INK, &line, " font-size=\"15\" font-weight=\"600\"");
    }
    y += 8.0;
    let (legend, legend_height) = legend(chart, &looks, y, room);
    y += legend_height + 4.0;
    let (plot, needed) = if is_heat(chart) {
        let drawn = heat::heat(chart, room, FILE_PLOT_HEIGHT);
        (drawn.shapes, drawn.needed)
    } else {
        let geometry = Geometry::new(chart, room, FILE_PLOT_HEIGHT);
        (plot_group(chart, &geometry, &looks), geometry.needed)
    };
    let mut foot = String::new();
    let mut end = y + needed + 4.0;
    for line in layout::wrapped(&caption(chart), room, FONT) {
        end += LINE;
        foot += &text(MARGIN, end, "start", FAINT, &line, "");
    }
    end += MARGIN;
    let (width, height) = (px(FILE_WIDTH), px(end));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" font-family=\"{FONTS}\" \
         font-size=\"{}\"><rect width=\"{width}\" height=\"{height}\" \
         fill=\"{PAPER}\"/>{head}{legend}<g transform=\"translate({} {})\">{plot}</g>{foot}</svg>",
        escape(&aloud(chart)),
        px(FONT),
        px(MARGIN),
        px(y)
    )
}

/// The caption of a picture: that of the chart, and what the numbers and rings in it are.
pub(crate) fn caption(chart: &Chart) -> String {
    let labels = || chart.series.iter().flat_map(|s| &s.points).filter_map(|p| p.label);
    let numbers = labels().next().map(|_| "numbers are I/Os in flight");
    let rings = labels().any(|l| l.is_knee).then_some("a ring marks the operating point");
    let mut points = chart.series.iter().flat_map(|s| &s.points);
    let grey = points.any(Point::is_unsure).then_some("grey figures may be more than 50 % off");
    let own = Some(chart.caption.as_str()).filter(|c| !c.is_empty());
    own.into_iter().chain(numbers).chain(rings).chain(grey).collect::<Vec<_>>().join("; ")
}

/// The picture of a chart for a page, with its geometry for the script: no title, legend or
/// caption.
pub(crate) fn picture(chart: &Chart, class: &str, width: f64, height: f64) -> String {
    if is_heat(chart) {
        return heat_picture(chart, class, width, height);
    }
    let geometry = Geometry::new(chart, width, height);
    let plot = plot_group(chart, &geometry, &looks(chart));
    let end = |ruler: &Ruler| {
        format!("{} {:e} {:e}", if ruler.log { "log" } else { "linear" }, ruler.from, ruler.to)
    };
    let sides: Vec<String> = geometry.verticals.iter().map(|v| end(&v.ruler)).collect();
    format!(
        "<svg class=\"plot {class}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" \
         role=\"img\" aria-label=\"{}\" font-size=\"{}\" data-plot=\"{} {} {} {}\" data-x=\"{}\" \
         data-y=\"{}\">{plot}</svg>",
        px(width),
        px(geometry.needed),
        escape(&aloud(chart)),
        px(FONT),
        px(geometry.left),
        px(geometry.top),
        px(geometry.width),
        px(geometry.height),
        end(&geometry.x),
        sides.join("|")
    )
}

/// The same for a heat map: the script finds its columns, and no height for a figure.
fn heat_picture(chart: &Chart, class: &str, width: f64, height: f64) -> String {
    let heat = heat::heat(chart, width, height);
    format!(
        "<svg class=\"plot {class}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" \
         role=\"img\" aria-label=\"{}\" font-size=\"{}\" data-plot=\"{}\" \
         data-x=\"linear -0.5 {}\" data-y=\"linear 0 1\">{}</svg>",
        px(width),
        px(heat.needed),
        escape(&aloud(chart)),
        px(FONT),
        heat.plot.map(px).join(" "),
        heat.columns as f64 - 0.5,
        heat.shapes
    )
}

/// The class, colour and text of a word in a picture.
fn text(x: f64, y: f64, anchor: &str, colour: &str, words: &str, more: &str) -> String {
    let class = match colour {
        INK => "ink",
        FAINT => "faint",
        _ => "own",
    };
    let anchor =
        if anchor == "start" { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
    format!(
        "<text class=\"{class}\" x=\"{}\" y=\"{}\" fill=\"{colour}\"{anchor}{more}>{}</text>",
        px(x),
        px(y),
        escape(words)
    )
}

fn plot_group(chart: &Chart, place: &Geometry<'_>, looks: &[Look]) -> String {
    let mut out = axes(chart, place, looks);
    // Columns are drawn under lines, whatever the order of the legend.
    for behind in [true, false] {
        for (i, look) in looks.iter().enumerate() {
            if (chart.series[i].shape == Shape::Columns) == behind {
                out += &paint::series(chart, place, i, *look);
            }
        }
    }
    out += &paint::labels(chart, place, looks);
    out += &flags(place);
    if chart.series.iter().all(|s| s.points.is_empty()) {
        let (x, y) = (place.left + place.width / 2.0, place.top + place.height / 2.0);
        out += &text(x, y, "middle", FAINT, "no figures", "");
    }
    out
}

fn line(class: &str, from: (f64, f64), to: (f64, f64), colour: &str) -> String {
    format!(
        "<path class=\"{class}\" stroke=\"{colour}\" fill=\"none\" d=\"M{} {}L{} {}\"/>",
        px(from.0),
        px(from.1),
        px(to.0),
        px(to.1)
    )
}

fn axes(chart: &Chart, place: &Geometry<'_>, looks: &[Look]) -> String {
    let (left, right) = (place.left, place.left + place.width);
    let bottom = place.top + place.height;
    let mut out = String::new();
    for (side, vertical) in place.verticals.iter().enumerate() {
        let (x, anchor) = if side == 0 { (left - 7.0, "end") } else { (right + 7.0, "start") };
        for tick in &vertical.ticks {
            let Some(y) = place.y(side, tick.at) else { continue };
            if side == 0 {
                out += &line("grid", (left, y), (right, y), RULE);
            }
            out += &text(x, y + 4.0, anchor, FAINT, &tick.label, "");
        }
    }
    let floor = place.floor(0);
    out += &line("axis", (left, floor), (right, floor), FAINT);
    for x in &place.x_ticks {
        out += &line("axis", (*x, bottom), (*x, bottom + 4.0), FAINT);
    }
    out += &under(place, bottom);
    out += &titles(chart, place, looks);
    let word = ruler::horizontal_word(&chart.x, &place.x);
    let x_title = titled(&chart.x, word, place.width);
    let y = bottom + geometry::depth_of(&place.under) + LINE;
    out + &text(left + place.width / 2.0, y, "middle", FAINT, &x_title, "")
}

fn under(place: &Geometry<'_>, bottom: f64) -> String {
    match &place.under {
        Under::Upright(words) => {
            let lines =
                words.iter().flat_map(|(x, lines)| lines.iter().enumerate().map(move |l| (x, l)));
            let word = |(x, (i, line)): (&f64, (usize, &String))| {
                text(*x, bottom + 17.0 + i as f64 * (LINE - 2.0), "middle", FAINT, line, "")
            };
            lines.map(word).collect()
        }
        Under::Slanted(words) => {
            let word = |(x, word): &(f64, String)| {
                let y = bottom + 12.0;
                let turned = format!(" transform=\"rotate(-55 {} {})\"", px(*x + 3.0), px(y));
                text(*x + 3.0, y, "end", FAINT, word, &turned)
            };
            words.iter().map(word).collect()
        }
    }
}

/// The titles of the vertical axes: above them, in the colour of their series where all have one.
fn titles(chart: &Chart, place: &Geometry<'_>, looks: &[Look]) -> String {
    let axes = geometry::axes(chart);
    let room = (place.left + place.width) / axes.len() as f64;
    let mut out = String::new();
    for (side, axis) in axes.iter().enumerate() {
        let title = titled(axis, place.verticals[side].word, room);
        let mut kinds: Vec<usize> = chart
            .series
            .iter()
            .zip(looks)
            .filter(|(s, _)| geometry::side(chart, s) == side)
            .map(|(_, l)| l.kind % palette::KINDS)
            .collect();
        kinds.dedup();
        let (x, anchor) =
            if side == 0 { (0.0, "start") } else { (place.left + place.width + 30.0, "end") };
        let x = if side == 0 { x } else { x.max(place.left + place.width) };
        match kinds.as_slice() {
            [kind] if axes.len() > 1 => {
                let colour = palette::COLOURS[*kind];
                let word = text(x, 12.0, anchor, colour, &title, "");
                out += &format!("<g class=\"s{kind}\" color=\"{colour}\">{word}</g>");
            }
            _ => out += &text(x, 12.0, anchor, FAINT, &title, ""),
        }
    }
    out
}

/// The title of an axis with its unit, unless it says it already.
fn titled(axis: &Axis, word: &str, room: f64) -> String {
    let said = word.is_empty()
        || axis
            .title
            .split(|c: char| !c.is_alphanumeric() && c != '/')
            .any(|w| w.eq_ignore_ascii_case(word));
    let mut title = if said {
        axis.title.clone()
    } else if axis.title.is_empty() {
        word.to_owned()
    } else {
        format!("{}, {word}", axis.title)
    };
    if matches!(axis.scale, Scale::Log2 | Scale::Log10) && !title.contains("log") {
        title += " (log scale)";
    }
    if axis.unit == crate::model::Unit::Moment && !title.contains("UTC") {
        title += ", UTC";
    }
    layout::fitted(&title, room, FONT)
}

fn flags(place: &Geometry<'_>) -> String {
    let bottom = place.top + place.height;
    let rows =
        place.flags.iter().filter_map(|f| f.label.as_ref()).map(|l| l.row + 1).max().unwrap_or(0);
    let mut lines = String::new();
    let mut labels = String::new();
    for flag in &place.flags {
        let row = flag.label.as_ref().map_or(rows.saturating_sub(1), |l| l.row);
        let from = place.top - row as f64 * LINE - 4.0;
        lines += &format!(
            "<path class=\"mark\" stroke=\"{INK}\" stroke-dasharray=\"4 3\" fill=\"none\" \
             d=\"M{x} {}V{}\"><title>{}</title></path>",
            px(from),
            px(bottom),
            escape(&flag.mark.label),
            x = px(flag.x)
        );
        if let Some(label) = &flag.label {
            // The line to a label of a higher row may pass under one of a lower row.
            let halo = format!(
                " font-weight=\"600\" stroke=\"{PAPER}\" stroke-width=\"4\" \
                 stroke-linejoin=\"round\" paint-order=\"stroke\""
            );
            labels += &text(label.x, from - 3.0, "middle", INK, &label.text, &halo);
        }
    }
    lines + &labels
}

/// The sign of a series next to its name.
pub(crate) fn swatch(shape: Shape, look: Look) -> String {
    let kind = look.kind % palette::KINDS;
    let colour = palette::COLOURS[kind];
    let dashes = look.dashes.map(|d| format!(" stroke-dasharray=\"{d}\"")).unwrap_or_default();
    let stroke = format!("<path stroke-width=\"2\" d=\"M0 7H28\"{dashes}/>");
    let fill = if palette::filled(kind) { "currentColor" } else { "none" };
    let sign = format!(
        "<path stroke-width=\"1.5\" fill=\"{fill}\" d=\"{}\"/>",
        palette::sign(kind, 14.0, 7.0)
    );
    let inner = match shape {
        Shape::Line => stroke + &sign,
        Shape::Dashed => stroke,
        Shape::Dots => sign,
        Shape::Cells => String::new(),
        Shape::Columns => {
            let index = look.column.unwrap_or(0);
            let opacity = if index % 2 == 1 { " fill-opacity=\"0.3\"" } else { "" };
            let colour = if index % 2 == 1 { "currentColor" } else { PAPER };
            let class = if index % 2 == 1 { "stripe own" } else { "stripe" };
            let stripes = if index % 4 >= 2 {
                format!("<path class=\"{class}\" stroke=\"{colour}\" d=\"M8 5h12M8 9h12\"/>")
            } else {
                String::new()
            };
            format!("<path fill=\"currentColor\"{opacity} d=\"M8 1.5h12v11h-12z\"/>{stripes}")
        }
    };
    format!("<g class=\"s{kind}\" color=\"{colour}\" stroke=\"{colour}\" fill=\"none\">{inner}</g>")
}

/// The name of a series, with its side where there are two.
pub(crate) fn series_name(chart: &Chart, index: usize) -> String {
    let Some(series) = chart.series.get(index) else { return String::new() };
    match (geometry::right(chart), geometry::side(chart, series)) {
        (None, _) => series.name.clone(),
        (Some(_), 0) => format!("{} (left)", series.name),
        (Some(_), _) => format!("{} (right)", series.name),
    }
}

/// Signs and names in rows, and how high they are.
fn legend(chart: &Chart, looks: &[Look], top: f64, room: f64) -> (String, f64) {
    // Names are next to the rows of a heat map.
    if is_heat(chart) || looks.len() < 2 && geometry::right(chart).is_none() {
        return (String::new(), 0.0);
    }
    let (mut x, mut y) = (0.0, top);
    let mut out = String::new();
    for (i, look) in looks.iter().enumerate() {
        let name = layout::fitted(&series_name(chart, i), room - 34.0, FONT);
        let wide = 34.0 + layout::width(&name, FONT);
        if x > 0.0 && x + wide > room {
            (x, y) = (0.0, y + LINE + 2.0);
        }
        let at = MARGIN + x;
        out += &format!(
            "<g transform=\"translate({} {})\">{}</g>",
            px(at),
            px(y),
            swatch(chart.series[i].shape, *look)
        );
        out += &text(at + 34.0, y + 11.0, "start", INK, &name, "");
        x += wide + 22.0;
    }
    (out, y - top + LINE + 4.0)
}
