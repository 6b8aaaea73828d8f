//! The same load of each result on one chart.

use results::{Conditions, Document, Measurement, Status};

use super::super::caption;
use super::super::make::{
    self, Drawn, beside, chart, log2, log10, names, plausible, point, series, throughput,
};
use super::super::saturation::{self, Curve, Load};
use super::super::{scale, sizes};
use super::Named;
use crate::language::say;
use crate::model::{Block, Chart, Point, Series, Shape, Side, Unit};
use crate::words;

/// Loads that have charts of their own; the tables have all.
const LOADS: usize = 6;
/// Loads at a single depth that a chart has room for.
const COLUMNS: usize = 24;

/// A load of one side, at every depth at which it was measured.
struct OneLoad<'a> {
    /// What must be alike for it to be drawn with others.
    key: String,
    measurements: Vec<&'a Measurement>,
    /// I/Os in flight at the operating point, where it is known.
    operating: Option<f64>,
}

/// A load with what each side has of it; `None` if a side has not measured it.
struct Shared<'a> {
    title: String,
    of_sides: Vec<(&'a Named<'a>, &'a OneLoad<'a>)>,
}

impl OneLoad<'_> {
    fn has_curve(&self) -> bool {
        let mut depths = self.measurements.iter().map(|m| m.in_flight);
        let first = depths.next();
        depths.any(|depth| Some(depth) != first)
    }

    fn is_bandwidth(&self) -> bool {
        self.measurements.first().is_some_and(|m| words::is_bandwidth(m))
    }
}

/// Charts of the sides, a few per load.
pub(super) fn blocks(sides: &[&Named<'_>]) -> Vec<Block> {
    let loads: Vec<(&Named<'_>, Vec<OneLoad<'_>>)> =
        sides.iter().map(|side| (*side, loads_of(&side.side.documents))).collect();
    let shared = shared(&loads);
    let curves = shared.iter().filter(|load| load.of_sides.iter().any(|(_, l)| l.has_curve()));
    let single: Vec<&Shared<'_>> =
        shared.iter().filter(|load| load.of_sides.iter().all(|(_, l)| !l.has_curve())).collect();
    let mut blocks: Vec<Block> =
        curves.take(LOADS).filter_map(|load| beside(curve_charts(load))).collect();
    // The loads of these are distinguished by the size of the file, or the number of targets.
    let special = [sizes(sides), scale(sides)].into_iter().flatten().collect();
    match beside(special) {
        Some(charts) => blocks.push(charts),
        None => blocks.extend(beside(single_charts(&single, sides))),
    }
    blocks
}

/// The loads of a side, in the order in which they were measured. Loads that were offered at a rate
/// have their latency in the tables.
fn loads_of<'a>(documents: &[&'a Document]) -> Vec<OneLoad<'a>> {
    let mut loads: Vec<OneLoad<'a>> = Vec::new();
    for document in documents {
        let operating = operating(document);
        for (place, m) in document.measurements().into_iter().enumerate() {
            if is_probe(document, place) {
                continue;
            }
            let is_whole = m.status == Status::Complete && m.total.ios > 0;
            if !is_whole || m.workload.streams.iter().any(|s| s.rate.is_some()) {
                continue;
            }
            let key = key(m);
            let at = operating.iter().find(|(of, _)| *of == key).map(|(_, at)| *at);
            match loads.iter_mut().find(|load| load.key == key) {
                Some(load) => load.measurements.push(m),
                None => loads.push(OneLoad { key, measurements: vec![m], operating: at }),
            }
        }
    }
    loads
}

/// Whether a measurement of a search is next to its curve, to find a cause.
fn is_probe(document: &Document, place: usize) -> bool {
    match document {
        Document::Knee(d) => d.conclusion.curve.iter().all(|load| load.measurement != place),
        _ => false,
    }
}

/// What must be alike, whatever the depth.
fn key(m: &Measurement) -> String {
    let mut conditions = Conditions::of(m);
    for stream in &mut conditions.streams {
        (stream.threads, stream.depth) = (0, 0);
    }
    format!("{} {}", conditions.id(), m.engine.name)
}

/// The operating points of a result, by the keys of their loads.
fn operating(document: &Document) -> Vec<(String, f64)> {
    let of = |knee: Option<&results::knee::Knee>, first: Option<&Measurement>| {
        Some((key(first?), knee?.operating_point.in_flight))
    };
    match document {
        Document::Knee(d) => {
            let c = &d.conclusion;
            let first = c.curve.first().and_then(|load| d.measurements.get(load.measurement));
            of(c.knee.as_ref(), first).into_iter().collect()
        }
        Document::Assessment(d) => {
            d.ramps.iter().filter_map(|r| of(r.knee.as_ref(), r.points.first())).collect()
        }
        _ => Vec::new(),
    }
}

/// The loads that two sides or more have.
fn shared<'a>(loads: &'a [(&'a Named<'a>, Vec<OneLoad<'a>>)]) -> Vec<Shared<'a>> {
    let mut shared: Vec<Shared<'a>> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for load in loads.iter().flat_map(|(_, all)| all) {
        if seen.contains(&load.key.as_str()) {
            continue;
        }
        seen.push(&load.key);
        let of_side = |(side, all): &'a (&'a Named<'a>, Vec<OneLoad<'a>>)| {
            Some((*side, all.iter().find(|other| other.key == load.key)?))
        };
        let of_sides: Vec<_> = loads.iter().filter_map(of_side).collect();
        let title = load.measurements.first().map(|m| words::clean(&m.workload.title()));
        if of_sides.len() > 1 {
            shared.push(Shared { title: title.unwrap_or_default(), of_sides });
        }
    }
    shared
}

/// Throughput against latency, and throughput against the I/Os in flight.
fn curve_charts(load: &Shared<'_>) -> Vec<Chart> {
    let bandwidth = load.of_sides.iter().any(|(_, one)| one.is_bandwidth());
    let caption =
        caption::of(load.of_sides.iter().flat_map(|(_, one)| one.measurements.iter().copied()));
    let titles: Vec<String> = load.of_sides.iter().map(|(side, _)| side.title()).collect();
    let curve = |(title, (_, one)): (&'_ String, &(&Named<'_>, &OneLoad<'_>))| {
        let marks = one.operating.map(|at| make::mark(at, say!("chart-operating-point")));
        (title.clone(), one.measurements.iter().map(|m| Load::of(m)).collect::<Vec<_>>(), marks)
    };
    let parts: Vec<_> = titles.iter().zip(&load.of_sides).map(curve).collect();
    let curves: Vec<Curve<'_>> = parts
        .iter()
        .map(|(title, loads, mark)| Curve {
            title,
            caption: "",
            loads: loads.clone(),
            bandwidth,
            marks: mark.iter().cloned().collect(),
            ceiling: None,
        })
        .collect();
    let mut charts = saturation::against_latency(&curves, &caption);
    for chart in &mut charts {
        chart.title = say!("overlay-against-latency", load = &load.title);
        chart.key = make::key(&format!("compared-latency-{}", load.title));
    }
    let lines: Vec<Series> = curves.iter().map(Curve::throughput_line).collect();
    let named = make::Named {
        key: &format!("compared-saturation-{}", load.title),
        title: &say!("chart-saturation", load = &load.title),
        caption: &caption,
    };
    let drawn = Drawn {
        x: log2(say!("label-i-os-in-flight"), Unit::Count),
        left: throughput(bandwidth),
        right: None,
        series: lines,
        marks: Vec::new(),
    };
    charts.extend(chart(&named, drawn));
    charts
}

/// How to take a figure from a measurement.
type Figure = fn(&Measurement) -> Option<f64>;

/// Loads that were measured at one depth, as columns next to each other.
fn single_charts(loads: &[&Shared<'_>], sides: &[&Named<'_>]) -> Vec<Chart> {
    let loads = loads.get(..COLUMNS).unwrap_or(loads);
    let (large, small): (Vec<&Shared<'_>>, Vec<&Shared<'_>>) =
        loads.iter().partition(|load| load.of_sides.iter().any(|(_, one)| one.is_bandwidth()));
    let charts = [
        columns(&small, sides, ("iops", "IOPS", Unit::Iops), |m| Some(m.total.iops)),
        columns(&large, sides, ("mib-per-s", "MiB/s", Unit::MibPerS), |m| Some(m.total.mib_per_s)),
        columns(loads, sides, ("p99", &say!("overlay-p99"), Unit::Nanoseconds), |m| {
            Some(m.total.latency_ns?.p99? as f64)
        }),
    ];
    charts.into_iter().flatten().collect()
}

fn columns(
    loads: &[&Shared<'_>],
    sides: &[&Named<'_>],
    (key, name, unit): (&str, &str, Unit),
    of: Figure,
) -> Option<Chart> {
    let is_latency = unit == Unit::Nanoseconds;
    // A logarithmic axis has no zero from which columns could begin.
    let shape = if is_latency { Shape::Dots } else { Shape::Columns };
    let of_side = |side: &&Named<'_>| {
        let place = |(place, load): (usize, &&Shared<'_>)| {
            let (_, one) = load.of_sides.iter().find(|(other, _)| other.letter == side.letter)?;
            mean(&one.measurements, of, !is_latency).map(|p| Point { x: place as f64, ..p })
        };
        let points = loads.iter().enumerate().filter_map(place).collect();
        series(side.title(), shape, Side::Left, points)
    };
    let lines: Vec<Series> = sides.iter().map(of_side).collect();
    let titles = loads.iter().map(|load| load.title.clone()).collect();
    let all = loads.iter().flat_map(|l| &l.of_sides).flat_map(|(_, one)| &one.measurements);
    let caption = caption::of(all.copied());
    let left = if is_latency { log10(name, unit) } else { make::linear(name, unit) };
    let named = make::Named {
        key: &format!("compared-{key}"),
        title: &say!("overlay-of-each", figure = name),
        caption: &caption,
    };
    let drawn = Drawn { x: names("", titles), left, right: None, series: lines, marks: Vec::new() };
    make::chart_of(&named, drawn, 1)
}

/// The mean of the runs, from the lowest to the highest of them; of one run, its own interval.
fn mean(runs: &[&Measurement], of: Figure, has_interval: bool) -> Option<Point> {
    let values: Vec<f64> =
        runs.iter().filter_map(|m| of(m)).filter(|v| plausible(*v) && *v > 0.0).collect();
    let (first, count) = (values.first()?, values.len() as f64);
    let mean = values.iter().sum::<f64>() / count;
    let lowest = values.iter().copied().fold(*first, f64::min);
    let highest = values.iter().copied().fold(*first, f64::max);
    Some(match runs {
        [one] => point(0.0, mean, one.half_width_percent().filter(|_| has_interval)),
        _ => Point { interval: Some((lowest, highest)), ..point(0.0, mean, None) },
    })
}

/// Throughput against the size of the file.
fn sizes(sides: &[&Named<'_>]) -> Option<Chart> {
    let of_side = |side: &&Named<'_>| {
        let of = |d: &&Document| match d {
            Document::Sizes(e) => Some(sizes::throughput(e)),
            _ => None,
        };
        let points = side.side.documents.iter().filter_map(of).flatten().collect();
        series(side.title(), Shape::Line, Side::Left, points)
    };
    let first = sides.first()?.side.documents.iter().find_map(|d| match d {
        Document::Sizes(e) => Some(e),
        _ => None,
    })?;
    let bandwidth = first.measurements.first().is_some_and(words::is_bandwidth);
    let named = make::Named {
        key: "compared-sizes",
        title: &say!("overlay-against-size"),
        caption: &caption::of(&first.measurements),
    };
    let drawn = Drawn {
        x: log2(say!("label-file-size"), Unit::Bytes),
        left: throughput(bandwidth),
        right: None,
        series: sides.iter().map(of_side).collect(),
        marks: Vec::new(),
    };
    chart(&named, drawn)
}

/// Throughput against the number of targets.
fn scale(sides: &[&Named<'_>]) -> Option<Chart> {
    let of_side = |side: &&Named<'_>| {
        let of = |d: &&Document| match d {
            Document::Scale(e) => Some(scale::together_points(&e.conclusion)),
            _ => None,
        };
        let points = side.side.documents.iter().filter_map(of).flatten().collect();
        series(side.title(), Shape::Line, Side::Left, points)
    };
    let first = sides.first()?.side.documents.iter().find_map(|d| match d {
        Document::Scale(e) => Some(e),
        _ => None,
    })?;
    let named = make::Named {
        key: "compared-scaling",
        title: &say!("overlay-together"),
        caption: &caption::of(&first.measurements),
    };
    let drawn = Drawn {
        x: make::linear(say!("label-targets"), Unit::Count),
        left: throughput(scale::is_mib(&first.conclusion)),
        right: None,
        series: sides.iter().map(of_side).collect(),
        marks: Vec::new(),
    };
    chart(&named, drawn)
}
