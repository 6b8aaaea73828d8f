//! Pictures small enough for a table cell: the spread of latencies on one common scale, and throughput over time.

use charts_rs::{Circle, Point as Pixel, Polygon, Polyline, Rect, Text};
use results::{Latency, Measurement, Point};
use workload::show_ns;

use super::chart::{FAINT, INK, LATENCY, RULE, THROUGHPUT, stroke};
use crate::words;

const WIDTH: f32 = 260.0;
const HEIGHT: f32 = 18.0;
const EDGE: f32 = 4.0;
/// Decades beyond this are noise in the document.
const DECADES: std::ops::Range<f64> = 0.0..16.0;

fn svg(width: f32, height: f32, label: &str, content: &str) -> String {
    let label = label.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    format!(
        "<svg class=\"small\" role=\"img\" aria-label=\"{label}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">{content}</svg>"
    )
}

#[expect(clippy::cast_possible_truncation, reason = "pixels need no more digits")]
fn single(value: f64) -> f32 {
    value as f32
}

/// One logarithmic scale of time for all loads, in whole decades.
pub(crate) struct Scale {
    from: f64,
    to: f64,
}

impl Scale {
    /// The decades that hold all of these latencies.
    pub(crate) fn of<'a>(latencies: impl Iterator<Item = &'a Latency>) -> Option<Self> {
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for latency in latencies {
            from = from.min((latency.min.max(1) as f64).log10());
            to = to.max((latency.max.max(1) as f64).log10());
        }
        let (from, to) = (from.floor(), to.ceil());
        if !(DECADES.contains(&from) && DECADES.start < to) {
            return None;
        }
        Some(Self { from, to: to.min(DECADES.end).max(from + 1.0) })
    }

    fn x(&self, ns: f64) -> f32 {
        let share = (ns.max(1.0).log10() - self.from) / (self.to - self.from);
        EDGE + single(share.clamp(0.0, 1.0)) * (WIDTH - 2.0 * EDGE)
    }

    fn decades(&self) -> impl Iterator<Item = f64> + use<> {
        let (from, to) = (self.from, self.to);
        (0..=16u8).map(f64::from).filter(move |d| *d >= from && *d <= to).map(|d| 10f64.powf(d))
    }

    /// The names of the decades, over a column of strips.
    pub(crate) fn heading(&self) -> String {
        let mut out = String::new();
        for ns in self.decades() {
            let x = self.x(ns);
            let anchor = match x {
                x if x < EDGE + 1.0 => "start",
                x if x > WIDTH - EDGE - 1.0 => "end",
                _ => "middle",
            };
            let text = Text {
                text: show_ns(ns),
                font_size: Some(10.0),
                font_color: Some(FAINT.into()),
                x: Some(x),
                y: Some(11.0),
                text_anchor: Some(anchor.to_owned()),
                ..Text::default()
            };
            out.push_str(&text.svg());
            out.push_str(&stroke(x, 14.0, x, HEIGHT, FAINT, None));
        }
        svg(WIDTH, HEIGHT, "scale of latency, logarithmic", &out)
    }

    /// Least to longest as a line, median to p99 as a bar, p99.9 as a tick, the mean as a dot.
    pub(crate) fn strip(&self, latency: &Latency) -> String {
        let middle = HEIGHT / 2.0;
        let mut out = String::new();
        for ns in self.decades() {
            let x = self.x(ns);
            out.push_str(&stroke(x, 0.0, x, HEIGHT, RULE, None));
        }
        let (least, longest) = (self.x(latency.min as f64), self.x(latency.max as f64));
        out.push_str(&stroke(least, middle, longest, middle, LATENCY, None));
        if let (Some(p50), Some(p99)) = (latency.p50, latency.p99) {
            let (from, to) = (self.x(p50 as f64), self.x(p99 as f64));
            let bar = Rect {
                fill: Some(charts_rs::Color::from(LATENCY).into()),
                left: from,
                top: middle - 4.0,
                width: (to - from).max(1.5),
                height: 8.0,
                ..Rect::default()
            };
            out.push_str(&bar.svg());
        }
        if let Some(p99_9) = latency.p99_9 {
            let x = self.x(p99_9 as f64);
            out.push_str(&stroke(x, middle - 5.0, x, middle + 5.0, LATENCY, None));
        }
        if latency.mean.is_finite() {
            let dot = Circle {
                fill: Some(INK.into()),
                cx: self.x(latency.mean),
                cy: middle,
                r: 2.5,
                ..Circle::default()
            };
            out.push_str(&dot.svg());
        }
        let label = format!(
            "min {}, median {}, mean {}, p99 {}, max {}",
            show_ns(latency.min as f64),
            words::time(latency.p50),
            show_ns(latency.mean),
            words::time(latency.p99),
            show_ns(latency.max as f64)
        );
        svg(WIDTH, HEIGHT, &label, &out)
    }
}

/// Throughput over time.
pub(crate) struct Course {
    pub(crate) svg: String,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    pub(crate) points: usize,
}

/// Throughput of each interval; none where there are too few to show a course.
pub(crate) fn course(m: &Measurement) -> Option<Course> {
    const W: f32 = 250.0;
    const H: f32 = 44.0;
    let of = |p: &Point| {
        if words::is_bandwidth(m) {
            p.read_mib_per_s + p.write_mib_per_s
        } else {
            p.read_iops + p.write_iops
        }
    };
    let usable = |p: &&Point| p.t.is_finite() && of(p).is_finite();
    let points: Vec<(f64, f64)> = m.series.iter().filter(usable).map(|p| (p.t, of(p))).collect();
    let (first, last) = (points.first()?.0, points.last()?.0);
    let highest = points.iter().map(|p| p.1).fold(0.0, f64::max);
    let lowest = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    if points.len() < 5 || last <= first || highest <= 0.0 {
        return None;
    }
    let pixel = |(t, y): &(f64, f64)| Pixel {
        x: 1.0 + single((t - first) / (last - first)) * (W - 2.0),
        y: H - 1.0 - single((y / highest).clamp(0.0, 1.0)) * (H - 4.0),
    };
    let line: Vec<Pixel> = points.iter().map(pixel).collect();
    let mut area = line.clone();
    area.push(Pixel { x: W - 1.0, y: H - 1.0 });
    area.push(Pixel { x: 1.0, y: H - 1.0 });
    let fill = charts_rs::Color::from((THROUGHPUT.0, THROUGHPUT.1, THROUGHPUT.2, 38));
    let area = Polygon { fill: Some(fill), points: area, ..Polygon::default() };
    let line = Polyline { color: Some(THROUGHPUT.into()), stroke_width: 1.25, points: line };
    let floor = stroke(0.0, H - 0.5, W, H - 0.5, FAINT, None);
    let content = format!("{}{}{floor}", area.svg(), line.svg());
    let label = "throughput over time, from zero";
    Some(Course { svg: svg(W, H, label, &content), lowest, highest, points: points.len() })
}
