//! Every pattern: the table of figures, the percentiles, the spread of latency and the course over time.

use results::{Assessment, Latency, PatternResult, Statistics};
use workload::{show_ns, show_number};

use super::small::{self, Scale};
use crate::words;

pub(crate) struct Patterns {
    pub(crate) rows: Vec<Row>,
    pub(crate) percentiles: Vec<Percentiles>,
    /// Heading of the strips; none where there is no latency at all.
    pub(crate) scale: Option<String>,
    pub(crate) courses: Vec<CourseView>,
}

/// A figure as it is shown and as it is sorted by.
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) key: String,
    /// Share of the largest of all patterns, in percent, for the bar beside it.
    pub(crate) bar: u8,
}

impl Cell {
    fn new(text: String, key: f64) -> Self {
        let key = if key.is_finite() { key.to_string() } else { String::new() };
        Self { text, key, bar: 0 }
    }

    fn number(value: f64) -> Self {
        Self::new(show_number(value), value)
    }

    fn barred(value: f64, largest: f64) -> Self {
        let share = 100.0 * value / largest;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let bar = if share.is_finite() { share.clamp(0.0, 100.0).round() as u8 } else { 0 };
        Self { bar, ..Self::number(value) }
    }

    /// With half of the width of its interval behind it, in percent.
    fn within(mut self, half_width_percent: Option<f64>) -> Self {
        if let Some(percent) = half_width_percent {
            self.text.push_str(&format!(" ± {} %", show_number(percent)));
        }
        self
    }

    fn time(ns: Option<f64>) -> Self {
        Self::new(words::mean_time(ns), ns.unwrap_or(f64::NAN))
    }

    fn whole_time(ns: Option<u64>) -> Self {
        Self::time(ns.map(|ns| ns as f64))
    }
}

/// One pattern in the table of figures.
pub(crate) struct Row {
    pub(crate) operation: String,
    pub(crate) title: String,
    /// Whether its measurement did not run to its end.
    pub(crate) note: String,
    pub(crate) load: String,
    pub(crate) in_flight: Cell,
    pub(crate) split: String,
    pub(crate) iops: Cell,
    pub(crate) mib: Cell,
    pub(crate) latencies: Vec<Cell>,
    pub(crate) errors: Cell,
    pub(crate) strip: String,
}

/// The distribution of one kind of I/O of one pattern.
pub(crate) struct Percentiles {
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) kind: &'static str,
    pub(crate) ios: String,
    pub(crate) cells: Vec<String>,
}

/// The course of one pattern over its window.
pub(crate) struct CourseView {
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) svg: String,
    pub(crate) range: String,
}

impl Patterns {
    pub(crate) fn of(a: &Assessment) -> Self {
        let latencies =
            || a.patterns.iter().filter_map(|p| p.measurement.total.latency_ns.as_ref());
        let scale = Scale::of(latencies());
        let largest = |of: &dyn Fn(&Statistics) -> f64| {
            let all = a.patterns.iter().map(|p| of(&p.measurement.total));
            all.filter(|v| v.is_finite()).fold(0.0, f64::max)
        };
        let (iops, mib) = (largest(&|s| s.iops), largest(&|s| s.mib_per_s));
        Self {
            rows: a.patterns.iter().map(|p| row(p, iops, mib, scale.as_ref())).collect(),
            percentiles: a.patterns.iter().flat_map(percentiles).collect(),
            scale: scale.map(|s| s.heading()),
            courses: a.patterns.iter().filter_map(course).collect(),
        }
    }
}

fn row(p: &PatternResult, most_iops: f64, most_mib: f64, scale: Option<&Scale>) -> Row {
    let m = &p.measurement;
    let latency = m.total.latency_ns;
    let cells = vec![
        Cell::time(latency.map(|l| l.mean)),
        Cell::whole_time(latency.and_then(|l| l.p50)),
        Cell::whole_time(latency.and_then(|l| l.p95)),
        Cell::whole_time(latency.and_then(|l| l.p99)),
        Cell::whole_time(latency.and_then(|l| l.p99_9)),
        Cell::whole_time(latency.map(|l| l.max)),
    ];
    let strip = scale.zip(latency.as_ref()).map(|(s, l)| s.strip(l)).unwrap_or_default();
    let note = match m.status {
        results::Status::Complete => "",
        other => words::status(other),
    };
    let known = m.steady.as_ref().and_then(|s| s.half_width_percent);
    Row {
        operation: words::clean(&p.operation),
        title: words::clean(&p.title),
        note: note.to_owned(),
        load: words::caption(m),
        in_flight: Cell::new(words::count(m.in_flight), m.in_flight as f64),
        split: m.depth.map(|d| format!("{} × {d} =", words::count(m.threads))).unwrap_or_default(),
        iops: Cell::barred(m.total.iops, most_iops).within(known),
        mib: Cell::barred(m.total.mib_per_s, most_mib),
        latencies: cells,
        errors: Cell::new(words::count(m.total.errors), m.total.errors as f64),
        strip,
    }
}

fn percentiles(p: &PatternResult) -> Vec<Percentiles> {
    let m = &p.measurement;
    let kinds = [("read", &m.read), ("write", &m.write), ("sync", &m.sync)];
    let line = |kind: &'static str, ios: u64, latency: &Latency| {
        let mut cells = vec![show_ns(latency.min as f64), show_ns(latency.mean)];
        cells.extend(latency.percentiles().iter().map(|(_, value)| words::time(*value)));
        cells.push(show_ns(latency.max as f64));
        Percentiles {
            title: words::clean(&p.title),
            caption: words::caption(m),
            kind,
            ios: words::count(ios),
            cells,
        }
    };
    let known = kinds.into_iter().filter_map(|(kind, s)| Some((kind, s.ios, s.latency_ns?)));
    known.map(|(kind, ios, latency)| line(kind, ios, &latency)).collect()
}

fn course(p: &PatternResult) -> Option<CourseView> {
    let course = small::course(&p.measurement)?;
    let unit = if words::is_bandwidth(&p.measurement) { "MiB/s" } else { "IOPS" };
    let range = format!(
        "{}–{} {unit} in {} intervals",
        show_number(course.lowest),
        show_number(course.highest),
        course.points
    );
    Some(CourseView {
        title: words::clean(&p.title),
        caption: words::caption(&p.measurement),
        svg: course.svg,
        range,
    })
}
