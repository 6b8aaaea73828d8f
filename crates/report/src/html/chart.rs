//! The saturation chart: throughput and latency against the I/Os in flight, with the operating point marked.
//!
//! Drawn with `charts-rs`: it gives the two value axes with round numbers, the grid, the lines and their marks, and its
//! only dependencies beside serde are a font metric reader and a pointer swap. Two things it cannot do are laid over its
//! picture here, made of its own shapes: a logarithmic x axis whose ticks are the measured loads (its continuous axis
//! is linear, so the lines are drawn over log2 of the load and the ticks are ours), and a vertical mark at a load (its
//! marks are horizontal, or balloons). The place of the plot is fixed by the margins, so that both agree.
//!
//! Colours are those of a light page, written as attributes; the style sheet of the report replaces them on a dark one.

use analysis::knee::Reached;
use charts_rs::{Box as Edges, Color, LineChart, Rect, Series, Symbol, Text, YAxisConfig};
use results::{Measurement, Ramp};
use workload::{show_ns, show_number};

use super::spot::{self, Course, Plot};
use crate::{ReportError, ramp, words};

pub(crate) const THROUGHPUT: (u8, u8, u8) = (0x1B, 0x5E, 0xA8);
pub(crate) const LATENCY: (u8, u8, u8) = (0xB4, 0x50, 0x0F);
pub(crate) const INK: (u8, u8, u8) = (0x1A, 0x1D, 0x21);
pub(crate) const FAINT: (u8, u8, u8) = (0x5B, 0x64, 0x6E);
pub(crate) const RULE: (u8, u8, u8) = (0xDD, 0xE1, 0xE6);

const WIDTH: f32 = 760.0;
const HEIGHT: f32 = 340.0;
const LEFT: f32 = 74.0;
const RIGHT: f32 = 74.0;
const TOP: f32 = 34.0;
const BOTTOM: f32 = 46.0;
const FONT: f32 = 12.0;
/// Parts into which the grid cuts both axes.
const SPLITS: usize = 5;
/// Room between the first and last load and the edge of the plot, in doublings.
const PAD: f64 = 0.3;
/// A tail this many times the mean would press the mean to the floor of the chart; it stays in the table.
const TAIL_SHOWN: f64 = 8.0;

/// A measured load with figures that can be drawn.
struct Place<'a> {
    measured: &'a Measurement,
    log2: f64,
    throughput: f64,
    mean_ns: f64,
    p99_ns: Option<u64>,
}

fn places(ramp: &Ramp) -> Vec<Place<'_>> {
    let mut places: Vec<Place<'_>> = ramp.points.iter().filter_map(|m| place(ramp, m)).collect();
    places.sort_by(|a, b| a.log2.total_cmp(&b.log2));
    places
}

fn place<'a>(ramp: &Ramp, m: &'a Measurement) -> Option<Place<'a>> {
    let latency = m.total.latency_ns?;
    let throughput = ramp::throughput(ramp, m);
    // Single precision holds what is drawn; beyond it there is nothing to draw.
    let drawable = |v: f64| v > 0.0 && v < 1e30;
    (m.in_flight > 0 && drawable(throughput) && drawable(latency.mean)).then(|| Place {
        measured: m,
        log2: (m.in_flight as f64).log2(),
        throughput,
        mean_ns: latency.mean,
        p99_ns: latency.p99,
    })
}

/// A unit of time that gives a largest value short numbers on an axis.
fn time_unit(largest_ns: f64) -> (f64, &'static str) {
    match largest_ns {
        n if n < 3e6 => (1e3, "µs"),
        n if n < 3e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// The end of an axis from zero that holds a value and gives round numbers at every line of the grid.
fn round_top(largest: f64) -> f64 {
    let step = largest / SPLITS as f64;
    let power = 10f64.powf(step.log10().floor());
    let steps = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let round = steps.into_iter().map(|s| s * power).find(|s| *s >= step * 0.999);
    round.unwrap_or(step) * SPLITS as f64
}

#[expect(clippy::cast_possible_truncation, reason = "a chart needs no more digits")]
fn single(value: f64) -> f32 {
    value as f32
}

/// The chart of a ramp as SVG; none where fewer than two loads can be drawn.
pub(crate) fn saturation(ramp: &Ramp) -> Result<Option<String>, ReportError> {
    let places = places(ramp);
    if places.len() < 2 {
        return Ok(None);
    }
    let chart = Chart::new(ramp, &places);
    let failed = |e: charts_rs::Error| ReportError::Chart {
        chart: words::clean(&ramp.title),
        reason: e.to_string(),
    };
    let svg = chart.lines(&places).svg().map_err(failed)?;
    let overlay = chart.overlay(ramp, &places);
    let label = charts_label(ramp, &places);
    let svg = svg.replacen(
        "<svg ",
        &format!("<svg class=\"chart\" role=\"img\" aria-label=\"{label}\" "),
        1,
    );
    Ok(Some(svg.replace("</svg>", &format!("{overlay}</svg>"))))
}

/// What somebody who does not see the chart needs to know of it.
fn charts_label(ramp: &Ramp, places: &[Place<'_>]) -> String {
    let last = places.last().map_or(0, |p| p.measured.in_flight);
    let knee = ramp.knee.as_ref().map(|k| ramp::operating_point(ramp, k)).unwrap_or_default();
    let text = format!(
        "{} and latency of {} up to {last} in flight. Operating point: {knee}. The figures are in the table below.",
        ramp::unit(ramp),
        words::clean(&ramp.title)
    );
    escape(&text)
}

/// Text for an attribute.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

struct Chart {
    unit: &'static str,
    time_divisor: f64,
    time_unit: &'static str,
    tail: bool,
    /// The loads at both ends.
    first: f64,
    last: f64,
    /// The largest throughput and latency, in the units of their axes.
    most: f64,
    longest: f64,
}

impl Chart {
    fn new(ramp: &Ramp, places: &[Place<'_>]) -> Self {
        let mean_max = places.iter().map(|p| p.mean_ns).fold(0.0, f64::max);
        let tails = places.iter().filter_map(|p| p.p99_ns).count();
        let tail_max = places.iter().filter_map(|p| p.p99_ns).max().unwrap_or(0) as f64;
        let tail = tails >= 2 && tail_max <= TAIL_SHOWN * mean_max;
        let largest = if tail { tail_max.max(mean_max) } else { mean_max };
        let (time_divisor, time_unit) = time_unit(largest);
        let first = places.first().map_or(0.0, |p| p.log2);
        let last = places.last().map_or(0.0, |p| p.log2);
        let most = places.iter().map(|p| p.throughput).fold(0.0, f64::max);
        let longest = largest / time_divisor;
        let unit = ramp::unit(ramp);
        Self { unit, time_divisor, time_unit, tail, first, last, most, longest }
    }

    /// Where a load lies, in pixels.
    fn x(&self, log2: f64) -> f32 {
        let share = (log2 - self.first + PAD) / (self.last - self.first + 2.0 * PAD);
        LEFT + single(share.clamp(0.0, 1.0)) * (WIDTH - LEFT - RIGHT)
    }

    fn lines(&self, places: &[Place<'_>]) -> LineChart {
        let xs: Vec<f64> = places.iter().map(|p| p.log2).collect();
        let line = |name: String, values: Vec<Option<f32>>, axis: usize| Series {
            name,
            data: values,
            x_values: Some(xs.clone()),
            y_axis_index: axis,
            index: Some(axis),
            ..Series::default()
        };
        let time = |ns: f64| Some(single(ns / self.time_divisor));
        let throughput = places.iter().map(|p| Some(single(p.throughput))).collect();
        let mean = places.iter().map(|p| time(p.mean_ns)).collect();
        let mut series = vec![
            line(self.unit.to_owned(), throughput, 0),
            line("mean latency".to_owned(), mean, 1),
        ];
        if self.tail {
            let tails = places.iter().map(|p| p.p99_ns.and_then(|n| time(n as f64))).collect();
            let mut tail = line("p99 latency".to_owned(), tails, 1);
            tail.stroke_dash_array = Some("4,3".to_owned());
            tail.symbol = Some(Symbol::None);
            series.push(tail);
        }
        let mut chart = LineChart::new_with_theme(series, Vec::new(), charts_rs::THEME_LIGHT);
        self.style(&mut chart);
        chart
    }

    fn style(&self, chart: &mut LineChart) {
        (chart.width, chart.height) = (WIDTH, HEIGHT);
        chart.margin = Edges { left: 4.0, top: TOP, right: 4.0, bottom: BOTTOM };
        chart.background_color = Color::transparent();
        "system-ui, sans-serif".clone_into(&mut chart.font_family);
        chart.series.colors = vec![THROUGHPUT.into(), LATENCY.into()];
        chart.series.stroke_width = 2.0;
        chart.series.symbol = Some(Symbol::Circle(3.0, None));
        chart.legend.show = Some(false);
        chart.grid.stroke_color = RULE.into();
        chart.grid.left = Some(LEFT);
        chart.grid.right = Some(RIGHT);
        chart.x_axis.hidden = true;
        chart.x_axis.min = Some(self.first - PAD);
        chart.x_axis.max = Some(self.last + PAD);
        let axis = |title: String, color: (u8, u8, u8), largest: f64| {
            let mut axis = chart.y_axis_configs.first().cloned().unwrap_or_default();
            axis.title = Some(title);
            axis.font.size = FONT;
            axis.font.color = color.into();
            axis.stroke_color = Color::transparent();
            axis.split_number = SPLITS;
            axis.min = Some(0.0);
            axis.max = Some(single(round_top(largest)));
            axis
        };
        let both: Vec<YAxisConfig> = vec![
            axis(self.unit.to_owned(), THROUGHPUT, self.most),
            axis(format!("latency, {}", self.time_unit), LATENCY, self.longest),
        ];
        chart.y_axis_configs = both;
    }

    /// The x axis, the marks of the knee, and a strip over each load that tells its figures.
    fn overlay(&self, ramp: &Ramp, places: &[Place<'_>]) -> String {
        let floor = HEIGHT - BOTTOM;
        let mut out = stroke(LEFT, floor, WIDTH - RIGHT, floor, FAINT, None);
        out.push_str(&label(
            "I/Os in flight (threads × depth), log scale",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0,
            FAINT,
            "middle",
        ));
        let mut free = 0.0;
        for place in places {
            let x = self.x(place.log2);
            out.push_str(&stroke(x, floor, x, floor + 4.0, FAINT, None));
            if x >= free {
                let text = words::count(place.measured.in_flight);
                out.push_str(&label(&text, x, floor + 17.0, FAINT, "middle"));
                free = x + 14.0 + 7.0 * single(text.chars().count() as f64);
            }
        }
        out.push_str(&self.legend());
        out.push_str(&self.knee(ramp, places, floor));
        for place in places {
            out.push_str(&self.strip(ramp, place, floor));
        }
        out
    }

    /// The lines in pixels.
    fn courses(&self, places: &[Place<'_>]) -> Vec<Course> {
        let floor = HEIGHT - BOTTOM;
        let up = |share: f64| floor - single(share.clamp(0.0, 1.0)) * (floor - TOP);
        let (most, longest) = (round_top(self.most), round_top(self.longest));
        let time = |ns: f64| up(ns / self.time_divisor / longest);
        let line = |of: &dyn Fn(&Place<'_>) -> f32| {
            places.iter().map(|p| (self.x(p.log2), of(p))).collect::<Course>()
        };
        let mut lines = vec![line(&|p| up(p.throughput / most)), line(&|p| time(p.mean_ns))];
        if self.tail {
            lines.push(line(&|p| time(p.p99_ns.unwrap_or(0) as f64)));
        }
        lines
    }

    fn legend(&self) -> String {
        let throughput = format!("{} (left)", self.unit);
        let mut entries =
            vec![(throughput.as_str(), THROUGHPUT, None), ("mean latency (right)", LATENCY, None)];
        if self.tail {
            entries.push(("p99 latency (right)", LATENCY, Some("4,3")));
        }
        let mut x = LEFT;
        let mut out = String::new();
        for (name, color, dash) in entries {
            out.push_str(
                &stroke(x, 12.0, x + 22.0, 12.0, color, dash)
                    .replace("<line ", "<line class=\"key\" "),
            );
            out.push_str(&label(name, x + 28.0, 16.0, INK, "start"));
            x += 44.0 + 7.6 * single(name.len() as f64);
        }
        out
    }

    fn knee(&self, ramp: &Ramp, places: &[Place<'_>], floor: f32) -> String {
        let Some(knee) = &ramp.knee else { return String::new() };
        let load = knee.operating_point.in_flight;
        let measured = self.first - PAD..=self.last + PAD;
        if !measured.contains(&load.log2()) {
            return String::new();
        }
        let x = self.x(load.log2());
        let mut out = stroke(x, TOP, x, floor, INK, Some("5,3"));
        let name = match knee.reached {
            Reached::NotReached => "limit not reached",
            Reached::Saturated | Reached::Retrograde => "operating point",
        };
        let figures = ramp::operating_point(ramp, knee);
        let longest = figures.chars().count().max(name.chars().count());
        let plot = Plot { left: LEFT, right: WIDTH - RIGHT, top: TOP, bottom: floor };
        let spot = spot::beside(x, 7.6 * single(longest as f64), plot, &self.courses(places));
        out.push_str(&heading(name, spot.x, spot.y, spot.anchor));
        out.push_str(&heading(&figures, spot.x, spot.y + 16.0, spot.anchor));
        if let Some(little) = knee.little_knee.filter(|n| measured.contains(&n.log2())) {
            let at = self.x(little.log2());
            out.push_str(&stroke(at, TOP, at, floor, FAINT, Some("1,3")));
            let text = format!("N* {}", show_number(little));
            out.push_str(&label(&text, at - 5.0, TOP + 11.0, FAINT, "end"));
        }
        out
    }

    /// An invisible strip over a load whose title the browser shows.
    fn strip(&self, ramp: &Ramp, place: &Place<'_>, floor: f32) -> String {
        let m = place.measured;
        let title = format!(
            "{}: {} {}, mean {}, p99 {}",
            words::in_flight(m),
            show_number(ramp::throughput(ramp, m)),
            self.unit,
            show_ns(place.mean_ns),
            words::time(place.p99_ns)
        );
        let x = self.x(place.log2);
        Rect {
            fill: Some(Color::transparent().into()),
            left: x - 9.0,
            top: TOP,
            width: 18.0,
            height: floor - TOP,
            class: Some("strip".to_owned()),
            title: Some(title),
            ..Rect::default()
        }
        .svg()
    }
}

pub(crate) fn stroke(
    x1: f32,
    y1: f32,
    x2: f32,
    y2: f32,
    color: (u8, u8, u8),
    dash: Option<&str>,
) -> String {
    charts_rs::Line {
        color: Some(color.into()),
        stroke_width: 1.0,
        left: x1,
        top: y1,
        right: x2,
        bottom: y2,
        stroke_dash_array: dash.map(str::to_owned),
    }
    .svg()
}

fn text(words: &str, x: f32, y: f32, color: (u8, u8, u8), anchor: &str) -> Text {
    Text {
        text: words.to_owned(),
        font_family: Some("system-ui, sans-serif".to_owned()),
        font_size: Some(FONT),
        font_color: Some(color.into()),
        x: Some(x),
        y: Some(y),
        text_anchor: Some(anchor.to_owned()),
        ..Text::default()
    }
}

fn label(words: &str, x: f32, y: f32, color: (u8, u8, u8), anchor: &str) -> String {
    text(words, x, y, color, anchor).svg()
}

/// A label that stays readable over lines.
fn heading(words: &str, x: f32, y: f32, anchor: &str) -> String {
    let mut text = text(words, x, y, INK, anchor);
    text.class = Some("mark".to_owned());
    text.svg()
}
