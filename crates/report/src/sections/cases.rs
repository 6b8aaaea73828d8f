//! One figure per load: IOPS, MiB/s and latency per case, as columns.

use results::Measurement;

use super::caption::Caption;
use super::make::{Drawn, Named, chart, linear, log10, names, point, points, series};
use crate::language::say;
use crate::model::{Chart, Shape, Side, Unit};
use crate::words;

/// Columns of one chart that can still be read.
const COLUMNS: usize = 40;

/// A load with one set of figures.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) iops: f64,
    pub(super) mib_per_s: f64,
    pub(super) half_width_percent: Option<f64>,
    pub(super) mean_ns: Option<f64>,
    pub(super) p99_ns: Option<f64>,
}

impl Case {
    pub(super) fn of(name: &str, m: &Measurement) -> Self {
        Self {
            name: words::clean(name),
            iops: m.total.iops,
            mib_per_s: m.total.mib_per_s,
            half_width_percent: m.steady.as_ref().and_then(|s| s.half_width_percent),
            mean_ns: words::mean_of(&m.total),
            p99_ns: m.total.latency_ns.and_then(|l| l.p99).map(|p| p as f64),
        }
    }
}

/// IOPS, MiB/s and latency of each case; `mean` says of what load the latency is.
pub(super) fn charts(cases: &[Case], caption: &Caption, mean: &str) -> Vec<Chart> {
    let caption = caption.text();
    let cases = cases.get(..COLUMNS).unwrap_or(cases);
    let x = || names("", cases.iter().map(|c| c.name.clone()).collect());
    let columns = |name: &str, of: &dyn Fn(&Case) -> f64| {
        let points = cases.iter().enumerate();
        let points = points.map(|(i, c)| point(i as f64, of(c), c.half_width_percent));
        series(name, Shape::Columns, Side::Left, points.collect())
    };
    let draw = |key, title: String, axis: String, unit, series| {
        let named = Named { key, title: &title, caption: &caption };
        let is_latency = unit == Unit::Nanoseconds;
        let left = if is_latency { log10(axis, unit) } else { linear(axis, unit) };
        chart(&named, Drawn { x: x(), left, right: None, series, marks: Vec::new() })
    };
    let iops = columns("IOPS", &|c| c.iops);
    let mib = columns("MiB/s", &|c| c.mib_per_s);
    // A logarithmic axis has no zero from which columns could begin.
    let dots = |name: &str, of: &dyn Fn(&Case) -> Option<f64>| {
        let points = points(cases.iter().enumerate().map(|(i, c)| (i as f64, of(c))));
        series(name, Shape::Dots, Side::Left, points)
    };
    let (latency, tail) = (dots(mean, &|c| c.mean_ns), dots("p99", &|c| c.p99_ns));
    let charts = [
        draw("cases-iops", say!("chart-iops-per-case"), "IOPS".to_owned(), Unit::Iops, vec![iops]),
        draw(
            "cases-mib-per-s",
            say!("chart-mib-per-case"),
            "MiB/s".to_owned(),
            Unit::MibPerS,
            vec![mib],
        ),
        draw(
            "cases-latency",
            say!("chart-latency-per-case"),
            say!("label-latency"),
            Unit::Nanoseconds,
            vec![latency, tail],
        ),
    ];
    charts.into_iter().flatten().collect()
}

/// IOPS as columns and mean latency as a line over them, for every combination.
pub(super) fn combinations(named: &Named<'_>, cases: &[Case], bandwidth: bool) -> Option<Chart> {
    let cases = cases.get(..COLUMNS).unwrap_or(cases);
    let figure = |c: &Case| if bandwidth { c.mib_per_s } else { c.iops };
    let columns = cases
        .iter()
        .enumerate()
        .map(|(i, c)| point(i as f64, figure(c), c.half_width_percent))
        .collect();
    let line = points(cases.iter().enumerate().map(|(i, c)| (i as f64, c.mean_ns)));
    let name = if bandwidth { "MiB/s" } else { "IOPS" };
    chart(
        named,
        Drawn {
            x: names(say!("label-threads-depth"), cases.iter().map(|c| c.name.clone()).collect()),
            left: super::make::throughput(bandwidth),
            right: Some(log10(say!("label-mean-latency"), Unit::Nanoseconds)),
            series: vec![
                series(name, Shape::Columns, Side::Left, columns),
                series(say!("chart-mean-latency"), Shape::Line, Side::Right, line),
            ],
            marks: Vec::new(),
        },
    )
}
