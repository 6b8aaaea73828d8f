//! Each ramp with its chart, its knee and all of its points.

use analysis::cause::Likely;
use analysis::knee::Interval;
use results::{Assessment, Measurement, Ramp};
use workload::{show_ns, show_number};

use super::{Fact, chart};
use crate::{ReportError, ramp, words};

pub(crate) struct RampView {
    pub(crate) title: String,
    pub(crate) caption: String,
    /// The picture; none where there are too few points.
    pub(crate) svg: Option<String>,
    pub(crate) explanation: String,
    pub(crate) rule: String,
    /// What speaks for and against each possible limit.
    pub(crate) limits: Vec<String>,
    pub(crate) knee: Vec<Fact>,
    pub(crate) points: Vec<PointView>,
}

/// One load of a ramp.
pub(crate) struct PointView {
    /// `operating point`, `peak`, or nothing.
    pub(crate) mark: &'static str,
    pub(crate) in_flight: String,
    pub(crate) threads: String,
    pub(crate) depth: String,
    pub(crate) achieved: String,
    pub(crate) iops: String,
    pub(crate) mib: String,
    pub(crate) latencies: Vec<String>,
    pub(crate) errors: String,
}

pub(crate) fn views(a: &Assessment) -> Result<Vec<RampView>, ReportError> {
    a.ramps.iter().map(view).collect()
}

fn view(one: &Ramp) -> Result<RampView, ReportError> {
    let explanation = match &one.knee {
        Some(knee) => words::clean(&knee.explanation),
        None => "No saturation point is given: too few loads were measured.".to_owned(),
    };
    Ok(RampView {
        title: words::clean(&one.title),
        caption: caption(one),
        svg: chart::saturation(one)?,
        explanation,
        rule: one.knee.as_ref().map(|k| words::clean(&k.rule)).unwrap_or_default(),
        limits: one.causes.iter().map(reasons).collect(),
        knee: facts(one),
        points: one.points.iter().map(|m| point(one, m)).collect(),
    })
}

/// A possible limit with all that was observed of it.
fn reasons(likely: &Likely) -> String {
    let mut text = format!("{}: {}", likely.cause.title(), words::clean(&likely.sentence));
    for (lead, observations) in [("For it: ", &likely.evidence), ("Against it: ", &likely.against)]
    {
        if !observations.is_empty() {
            text.push_str(&format!(" {lead}{}.", words::clean(&observations.join("; "))));
        }
    }
    text
}

/// File size, block, pattern, threads and the range of depths.
fn caption(one: &Ramp) -> String {
    let (Some(first), Some(last)) = (one.points.first(), one.points.last()) else {
        return "Nothing was measured.".to_owned();
    };
    let range = |of: &dyn Fn(&Measurement) -> Option<u64>, name: &str, names: &str| {
        let values = one.points.iter().filter_map(of);
        let (low, high) = (values.clone().min(), values.max());
        match (low, high) {
            (Some(low), Some(high)) if low == high => words::plural(low, name, names),
            (Some(low), Some(high)) => {
                format!("{}–{} {names}", words::count(low), words::count(high))
            }
            _ => format!("differing {names}"),
        }
    };
    let threads = range(&|m| Some(m.threads), "thread", "threads");
    let depths = range(&|m| m.depth.map(u64::from), "I/O each", "I/Os each");
    let cache = match first.workload.mode {
        workload::Mode::Direct => "direct (no OS cache)",
        workload::Mode::Buffered => "buffered (through the OS cache)",
    };
    format!(
        "File size {}; {}; {threads} × {depths} = {}–{} in flight; {cache}; {} measured at each load.",
        words::size(first.file_bytes),
        first.workload.title(),
        words::count(first.in_flight),
        words::count(last.in_flight),
        lengths(&one.points),
    )
}

/// `10 s`, or `5–12.5 s` where measurements ended when their mean was known.
fn lengths(points: &[Measurement]) -> String {
    let seconds = || points.iter().map(|m| m.seconds);
    let (shortest, longest) =
        (seconds().fold(f64::INFINITY, f64::min), seconds().fold(0.0, f64::max));
    let (low, high) = (show_number(shortest), words::seconds(longest));
    if low == show_number(longest) { high } else { format!("{low}–{high}") }
}

/// A figure with its interval behind it.
fn with_interval(value: f64, interval: Option<Interval>) -> String {
    let value = show_number(value);
    interval.map_or(value.clone(), |i| {
        format!("{value} ({}–{})", show_number(i.low), show_number(i.high))
    })
}

fn facts(one: &Ramp) -> Vec<Fact> {
    let Some(knee) = &one.knee else { return Vec::new() };
    let unit = ramp::unit(one);
    let peak = ramp::named(one, &knee.peak).map(|m| {
        let value = show_number(ramp::throughput(one, m));
        format!("{value} {unit} at {} in flight", show_number(knee.peak.in_flight))
    });
    let little = knee
        .little_knee
        .map(|n| format!("{} in flight", with_interval(n, knee.little_knee_interval)));
    let operating = with_interval(knee.operating_load, knee.operating_load_interval);
    let fit = knee.fit_error_percent.map(|e| words::percent(Some(e)));
    let none = || words::NONE.to_owned();
    vec![
        Fact::new("Operating point", ramp::operating_point(one, knee)),
        Fact::new("95 % of the highest (N95)", format!("{operating} in flight")),
        Fact::new("Highest throughput", peak.unwrap_or_else(none)),
        Fact::new("Curve", ramp::ending(knee)),
        Fact::new("What limits", ramp::limit(one).unwrap_or_else(none)),
        Fact::new("Unloaded latency", show_ns(knee.unloaded_latency_ns)),
        Fact::new("Little knee N*", little.unwrap_or_else(none)),
        Fact::new("Distance of points from the fit", fit.unwrap_or_else(none)),
    ]
}

fn mark(one: &Ramp, m: &Measurement) -> &'static str {
    let Some(knee) = &one.knee else { return "" };
    let is = |point| ramp::named(one, point).is_some_and(|p| std::ptr::eq(p, m));
    if is(&knee.operating_point) {
        "operating point"
    } else if is(&knee.peak) {
        "peak"
    } else {
        ""
    }
}

fn point(one: &Ramp, m: &Measurement) -> PointView {
    let latency = m.total.latency_ns;
    let latencies = vec![
        words::mean_time(latency.map(|l| l.mean)),
        words::time(latency.and_then(|l| l.p50)),
        words::time(latency.and_then(|l| l.p95)),
        words::time(latency.and_then(|l| l.p99)),
        words::time(latency.and_then(|l| l.p99_9)),
        words::time(latency.map(|l| l.max)),
    ];
    PointView {
        mark: mark(one, m),
        in_flight: words::count(m.in_flight),
        threads: words::count(m.threads),
        depth: m.depth.map_or_else(|| words::NONE.to_owned(), |d| words::count(d.into())),
        achieved: show_number(m.achieved_in_flight),
        iops: show_number(m.total.iops),
        mib: show_number(m.total.mib_per_s),
        latencies,
        errors: words::count(m.total.errors),
    }
}
