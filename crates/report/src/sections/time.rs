//! Throughput and latency over time.

use results::{Measurement, Point};

use super::make::{
    Drawn, Named, beside, chart, linear, log10, mark, points, section, series, throughput,
};
use crate::language::say;
use crate::model::{Chart, Section, Series, Shape, Side, Unit};
use crate::words;

/// Points of a line; more are joined.
const POINTS: usize = 400;
/// With fewer intervals there is no chart.
const LEAST: usize = 5;

#[derive(Debug, Clone, Copy, Default)]
struct Joined {
    t: f64,
    read: f64,
    write: f64,
    mean_ns: Option<f64>,
    max_ns: Option<f64>,
}

/// The course of each of these loads.
pub(super) fn of<'a>(
    loads: impl IntoIterator<Item = (String, &'a Measurement)>,
) -> Option<Section> {
    let charts: Vec<Chart> = loads.into_iter().filter_map(|(name, m)| course(&name, m)).collect();
    section("time", say!("heading-over-time"), beside(charts).into_iter().collect())
}

fn join(points: &[Point], bandwidth: bool) -> Joined {
    let seconds: f64 = points.iter().map(|p| p.seconds).sum();
    let over = |of: &dyn Fn(&Point) -> f64| {
        points.iter().map(|p| of(p) * p.seconds).sum::<f64>() / seconds
    };
    let (mut time, mut ios) = (0.0, 0.0);
    for point in points {
        let parts =
            [(point.read_iops, point.read_mean_ns), (point.write_iops, point.write_mean_ns)];
        for (iops, mean) in parts {
            if let Some(mean) = mean {
                time += iops * point.seconds * mean;
                ios += iops * point.seconds;
            }
        }
    }
    Joined {
        t: points.last().map_or(0.0, |p| p.t),
        read: over(&|p| if bandwidth { p.read_mib_per_s } else { p.read_iops }),
        write: over(&|p| if bandwidth { p.write_mib_per_s } else { p.write_iops }),
        mean_ns: (ios > 0.0).then(|| time / ios),
        max_ns: points.iter().filter_map(|p| p.max_ns).max().map(|ns| ns as f64),
    }
}

fn joined(points: &[Point], bandwidth: bool) -> Vec<Joined> {
    let size = points.len().div_ceil(POINTS).max(1);
    points.chunks(size).map(|c| join(c, bandwidth)).collect()
}

/// A chart of one load; `None` if there are too few intervals to show a course.
pub(super) fn course(name: &str, m: &Measurement) -> Option<Chart> {
    if m.series.len() < LEAST {
        return None;
    }
    let bandwidth = words::is_bandwidth(m);
    let series = joined(&m.series, bandwidth);
    let before = joined(&m.warmup_series, bandwidth);
    let unit = if bandwidth { "MiB/s" } else { "IOPS" };
    let mixed = series.iter().any(|p| p.read > 0.0) && series.iter().any(|p| p.write > 0.0);
    let mut lines: Vec<Series> = Vec::new();
    let mut line =
        |name: &str, shape, side, of: &dyn Fn(&Joined) -> Option<f64>, all: &[Joined]| {
            lines.push(self::series(name, shape, side, points(all.iter().map(|p| (p.t, of(p))))));
        };
    let total = |p: &Joined| Some(p.read + p.write);
    line(unit, Shape::Line, Side::Left, &total, &series);
    if mixed {
        line(&say!("caption-reads"), Shape::Dashed, Side::Left, &|p| Some(p.read), &series);
        line(&say!("caption-writes"), Shape::Dashed, Side::Left, &|p| Some(p.write), &series);
    }
    line(&say!("chart-warm-up"), Shape::Dashed, Side::Left, &total, &before);
    line(&say!("chart-mean-latency"), Shape::Line, Side::Right, &|p| p.mean_ns, &series);
    let mut marks = Vec::new();
    if let Some(phases) = &m.phases {
        let start = before.first().map_or(0.0, |p| p.t);
        marks.push(mark(start.min(0.0) + phases.at_s, say!("chart-falls")));
    }
    let caption = words::caption(m);
    let title = say!("chart-over-time", load = name);
    let key = format!("time-{name}");
    chart(
        &Named { key: &key, title: &title, caption: &caption },
        Drawn {
            x: linear(say!("label-time-in-the-window"), Unit::Seconds),
            left: throughput(bandwidth),
            right: Some(log10(say!("label-mean-latency"), Unit::Nanoseconds)),
            series: lines,
            marks,
        },
    )
}

/// Mean and longest latency of each interval.
pub(super) fn latencies(name: &str, m: &Measurement) -> Option<Chart> {
    if m.series.len() < LEAST {
        return None;
    }
    let all = joined(&m.series, false);
    let line = |name: &str, shape, of: &dyn Fn(&Joined) -> Option<f64>| {
        series(name, shape, Side::Left, points(all.iter().map(|p| (p.t, of(p)))))
    };
    let caption = words::caption(m);
    let title = say!("chart-latency-over-time", load = name);
    let key = format!("time-latency-{name}");
    chart(
        &Named { key: &key, title: &title, caption: &caption },
        Drawn {
            x: linear(say!("label-time-in-the-window"), Unit::Seconds),
            left: log10(say!("label-latency"), Unit::Nanoseconds),
            right: None,
            series: vec![
                line(&say!("chart-mean"), Shape::Line, &|p| p.mean_ns),
                line(&say!("chart-longest"), Shape::Dots, &|p| p.max_ns),
            ],
            marks: Vec::new(),
        },
    )
}
