//! Saturation: throughput and latency against the I/Os in flight, one line per number of threads.

use std::collections::BTreeMap;

use results::Measurement;

use super::make::{self, Drawn, Named, linear, log2, log10, mark, point, points, series};
use crate::language::{count, say};
use crate::model::{Axis, Chart, Mark, Point, PointLabel, Series, Shape, Side, Unit};
use crate::words;

/// Lines of one chart that can still be told apart.
const LINES: usize = 8;

/// A load with its points and its knee.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load {
    pub(super) threads: u64,
    pub(super) depth: Option<u32>,
    pub(super) in_flight: u64,
    pub(super) achieved: Option<f64>,
    pub(super) iops: f64,
    pub(super) mib_per_s: f64,
    pub(super) half_width_percent: Option<f64>,
    pub(super) mean_ns: Option<f64>,
    pub(super) p99_ns: Option<f64>,
    pub(super) device: Option<f64>,
}

impl Load {
    pub(super) fn of(m: &Measurement) -> Self {
        Self {
            threads: m.threads,
            depth: m.depth,
            in_flight: m.in_flight,
            achieved: Some(m.achieved_in_flight),
            iops: m.total.iops,
            mib_per_s: m.total.mib_per_s,
            half_width_percent: m.steady.as_ref().and_then(|s| s.half_width_percent),
            mean_ns: words::mean_of(&m.total),
            p99_ns: m.total.latency_ns.and_then(|l| l.p99).map(|p| p as f64),
            device: m.kernel.as_ref().map(|k| k.average_queue),
        }
    }

    fn throughput(&self, bandwidth: bool) -> f64 {
        if bandwidth { self.mib_per_s } else { self.iops }
    }
}

/// A load at rising depth, ready to be drawn.
pub(super) struct Curve<'a> {
    pub(super) title: &'a str,
    pub(super) caption: &'a str,
    pub(super) loads: Vec<Load>,
    /// Whether throughput is drawn in MiB/s instead of IOPS.
    pub(super) bandwidth: bool,
    pub(super) marks: Vec<Mark>,
    /// A throughput that the load cannot exceed, in the unit of the chart: of a link, for example.
    pub(super) ceiling: Option<(String, f64)>,
}

impl Curve<'_> {
    fn chart(&self, kind: &str, title: &str, drawn: Drawn) -> Option<Chart> {
        let key = format!("{kind}-{}", self.title);
        make::chart(&Named { key: &key, title, caption: self.caption }, drawn)
    }

    /// The best load of each number in flight, in rising order.
    fn best(&self) -> Vec<Load> {
        let mut best: BTreeMap<u64, Load> = BTreeMap::new();
        for load in &self.loads {
            let entry = best.entry(load.in_flight).or_insert(*load);
            if load.throughput(self.bandwidth) > entry.throughput(self.bandwidth) {
                *entry = *load;
            }
        }
        best.into_values().collect()
    }

    /// Throughput and latency against all I/Os in flight; `kind` is what the chart is called.
    pub(super) fn whole(&self, kind: &str) -> Option<Chart> {
        let best = self.best();
        let throughput: Vec<Point> = best
            .iter()
            .map(|l| {
                let y = l.throughput(self.bandwidth);
                point(l.in_flight as f64, y, l.half_width_percent)
            })
            .collect();
        let latency = points(best.iter().map(|l| (l.in_flight as f64, l.mean_ns)));
        let name = if self.bandwidth { "MiB/s" } else { "IOPS" };
        let mut lines = vec![
            series(name, Shape::Line, Side::Left, throughput),
            series(say!("chart-mean-latency"), Shape::Line, Side::Right, latency),
        ];
        let tail = points(best.iter().map(|l| (l.in_flight as f64, l.p99_ns)));
        lines.push(series("p99", Shape::Dashed, Side::Right, tail));
        lines.extend(self.level(&best));
        let title = match kind {
            "bandwidth" => say!("chart-bandwidth", load = self.title),
            _ => say!("chart-saturation", load = self.title),
        };
        self.chart(
            kind,
            &title,
            Drawn {
                x: in_flight(),
                left: make::throughput(self.bandwidth),
                right: Some(log10(say!("label-latency"), Unit::Nanoseconds)),
                series: lines,
                marks: self.marks.clone(),
            },
        )
    }

    /// The curve of throughput against latency: each point says its depth, the operating point is
    /// ringed.
    fn against_latency(&self) -> Series {
        let operating_point = say!("chart-operating-point");
        let knee = self.marks.iter().find(|m| m.label == operating_point).map(|m| m.x);
        let of = |l: Load| {
            let y = l.throughput(self.bandwidth);
            let is_knee = knee.is_some_and(|x| (x - l.in_flight as f64).abs() < 0.5);
            let label = Some(PointLabel { in_flight: l.in_flight, is_knee });
            Some(Point { label, ..point(l.mean_ns?, y, l.half_width_percent) })
        };
        let points = self.best().into_iter().filter_map(of).collect();
        series(self.title, Shape::Line, Side::Left, points)
    }

    /// The curve of throughput against the I/Os in flight.
    pub(super) fn throughput_line(&self) -> Series {
        let of = |l: &Load| {
            point(l.in_flight as f64, l.throughput(self.bandwidth), l.half_width_percent)
        };
        series(self.title, Shape::Line, Side::Left, self.best().iter().map(of).collect())
    }

    /// The ceiling as a line over all loads.
    fn level(&self, loads: &[Load]) -> Option<Series> {
        let (name, y) = self.ceiling.as_ref()?;
        let ends = [loads.first()?, loads.last()?];
        let points = points(ends.map(|l| (l.in_flight as f64, Some(*y))));
        Some(series(name, Shape::Dashed, Side::Left, points))
    }

    /// I/Os in flight as asked, as they were, and at the device.
    pub(super) fn queue(&self) -> Option<Chart> {
        let best = self.best();
        let line = |name: String, shape: Shape, of: &dyn Fn(&Load) -> Option<f64>| {
            let points = points(best.iter().map(|l| (l.in_flight as f64, of(l))));
            series(name, shape, Side::Left, points)
        };
        let title = say!("chart-depth-achieved", load = self.title);
        self.chart(
            "queue",
            &title,
            Drawn {
                x: in_flight(),
                left: linear(say!("label-in-flight-on-average"), Unit::Number),
                right: None,
                series: vec![
                    line(say!("chart-achieved"), Shape::Line, &|l| l.achieved),
                    line(say!("chart-at-the-device"), Shape::Line, &|l| l.device),
                    line(say!("chart-asked"), Shape::Dashed, &|l| Some(l.in_flight as f64)),
                ],
                marks: self.marks.clone(),
            },
        )
    }

    /// The loads by their number of threads, where there are several numbers with several depths
    /// each.
    fn by_threads(&self) -> Option<Vec<(u64, Vec<Load>)>> {
        let mut groups: BTreeMap<u64, Vec<Load>> = BTreeMap::new();
        for load in self.loads.iter().filter(|l| l.depth.is_some()) {
            groups.entry(load.threads).or_default().push(*load);
        }
        let several = groups.values().filter(|g| g.len() > 1).count();
        let groups: Vec<_> = groups.into_iter().collect();
        (groups.len() > 1 && several > 1).then(|| thinned(groups))
    }

    fn lines(&self, x: &dyn Fn(&Load) -> f64, y: &dyn Fn(&Load) -> Option<f64>) -> Vec<Series> {
        let groups = self.by_threads().unwrap_or_default();
        let line = |(threads, loads): &(u64, Vec<Load>)| {
            let name =
                say!("caption-threads", threads = words::count(*threads), most = count(*threads));
            let points = points(loads.iter().map(|l| (x(l), y(l))));
            series(&name, Shape::Line, Side::Left, points)
        };
        groups.iter().map(line).collect()
    }

    /// Throughput and latency against the depth of each thread, one line per number of threads.
    pub(super) fn of_threads(&self) -> Vec<Chart> {
        let depth = |l: &Load| l.depth.map_or(f64::NAN, f64::from);
        let throughput = |l: &Load| Some(l.throughput(self.bandwidth));
        let latency = |l: &Load| l.mean_ns;
        let x = || log2(say!("label-outstanding-i-os-of-each-thread"), Unit::Count);
        let drawn = |left: Axis, series: Vec<Series>| Drawn {
            x: x(),
            left,
            right: None,
            series,
            marks: Vec::new(),
        };
        let title = say!("chart-throughput-of-threads", load = self.title);
        let first = drawn(make::throughput(self.bandwidth), self.lines(&depth, &throughput));
        let second_title = say!("chart-latency-of-threads", load = self.title);
        let second = drawn(
            log10(say!("label-mean-latency"), Unit::Nanoseconds),
            self.lines(&depth, &latency),
        );
        let charts = [
            self.chart("threads-throughput", &title, first),
            self.chart("threads-latency", &second_title, second),
        ];
        charts.into_iter().flatten().collect()
    }

    /// Throughput against all I/Os in flight, one line per number of threads, which shows whether
    /// they are on one curve.
    pub(super) fn of_total(&self) -> Option<Chart> {
        let x = |l: &Load| l.in_flight as f64;
        let title = say!("chart-throughput-in-flight", load = self.title);
        self.chart(
            "total",
            &title,
            Drawn {
                x: in_flight(),
                left: make::throughput(self.bandwidth),
                right: None,
                series: self.lines(&x, &|l| Some(l.throughput(self.bandwidth))),
                marks: self.marks.clone(),
            },
        )
    }
}

fn in_flight() -> Axis {
    log2(say!("label-i-os-in-flight"), Unit::Count)
}

/// As many groups as lines can be told apart, the first and the last among them.
fn thinned<T>(groups: Vec<T>) -> Vec<T> {
    let count = groups.len();
    if count <= LINES {
        return groups;
    }
    let kept: Vec<usize> = (0..LINES).map(|i| i * (count - 1) / (LINES - 1)).collect();
    groups.into_iter().enumerate().filter(|(i, _)| kept.contains(i)).map(|(_, g)| g).collect()
}

/// Throughput against mean latency, one curve per load: one chart for loads in IOPS, one for loads
/// in MiB/s.
pub(super) fn against_latency(curves: &[Curve<'_>], caption: &str) -> Vec<Chart> {
    let of_unit = |bandwidth: bool| {
        let of_unit = curves.iter().filter(|c| c.bandwidth == bandwidth);
        let lines: Vec<Series> = of_unit.map(Curve::against_latency).collect();
        let (title, key) = if bandwidth {
            (say!("chart-throughput-latency-mib"), "throughput-latency-mib-per-s")
        } else {
            (say!("chart-throughput-latency"), "throughput-latency")
        };
        let drawn = Drawn {
            x: log10(say!("label-mean-latency"), Unit::Nanoseconds),
            left: make::throughput(bandwidth),
            right: None,
            series: lines,
            marks: Vec::new(),
        };
        make::chart(&Named { key, title: &title, caption }, drawn)
    };
    [false, true].into_iter().filter_map(of_unit).collect()
}

/// Vertical lines at a saturation point.
pub(super) fn marks(knee: Option<&results::knee::Knee>) -> Vec<Mark> {
    let Some(knee) = knee else { return Vec::new() };
    let mut marks = vec![mark(knee.operating_point.in_flight, say!("chart-operating-point"))];
    if let Some(little) = knee.little_knee {
        marks.push(mark(little, "N*"));
    }
    marks
}
