//! What came of a trace that was replayed: next to what was recorded, and how faithful it was.

use results::{
    Experiment, Replay, ReplayMap, ReplayResult, ReplayTiming, ReplayedClass, TracePart,
};
use workload::{show_duration, show_number};

use super::capture::word;
use super::make::{
    Drawn, Named, chart, column, fact, first_large, linear, number, points, section, series, table,
    text, whole,
};
use crate::language::say;
use crate::model::{Block, Cell, Chart, Fact, Section, Shape, Side, Table, Unit};
use crate::words;

/// All sections of a report on a replay.
pub(super) fn sections(e: &Experiment<Replay>) -> Vec<Section> {
    let c = &e.conclusion;
    let mut facts = part(&c.part);
    facts.push(fact(say!("label-timing"), timing(c.timing)));
    let results = [latencies(c), faithfulness(c)].into_iter().flatten().map(Block::Table);
    let charts = c.results.iter().enumerate();
    let charts = charts.filter_map(|(index, result)| over_time(e, index, result)).collect();
    let sections = [
        section("replayed", say!("heading-what-was-replayed"), vec![Block::Facts(facts)]),
        section("result", say!("heading-replay-result"), results.collect()),
        section("time", say!("heading-over-time"), first_large(charts)),
    ];
    sections.into_iter().flatten().collect()
}

/// Facts about the part of the trace that was used.
pub(super) fn part(part: &TracePart) -> Vec<Fact> {
    let ios = words::count(part.ios);
    let (from, length) = (show_duration(part.from_seconds), show_duration(part.seconds));
    let mut facts = vec![
        fact(say!("label-trace"), words::clean(&part.trace.display().to_string())),
        fact(say!("label-part"), say!("replay-part", ios = ios, from = from, time = length)),
    ];
    let factor = |value: f64| say!("replay-times", factor = show_number(value));
    if (part.users - 1.0).abs() > 1e-9 {
        facts.push(fact(say!("label-users"), factor(part.users)));
    }
    if (part.speed - 1.0).abs() > 1e-9 {
        facts.push(fact(say!("label-speed"), factor(part.speed)));
    }
    if let Some(in_flight) = part.in_flight {
        facts.push(fact(say!("label-recorded-in-flight"), show_number(in_flight)));
    }
    facts
}

fn timing(timing: ReplayTiming) -> String {
    match timing {
        ReplayTiming::AsTimed => say!("replay-as-timed"),
        ReplayTiming::Closed => say!("replay-closed"),
        ReplayTiming::Dependent => say!("replay-dependent"),
    }
}

fn map(map: ReplayMap) -> String {
    match map {
        ReplayMap::Identity => say!("replay-identity"),
        ReplayMap::Compact => say!("replay-compact"),
        ReplayMap::Stretched => say!("replay-stretched"),
        ReplayMap::Folded => say!("replay-folded"),
    }
}

fn target(result: &ReplayResult) -> String {
    words::clean(&result.target.display().to_string())
}

fn latencies(c: &Replay) -> Option<Table> {
    let columns = vec![
        column("target", say!("label-target"), Unit::Text),
        column("kind", say!("label-kind"), Unit::Text),
        column("ios", say!("label-i-os"), Unit::Count),
        column("recorded_p50_ns", say!("label-recorded-p50"), Unit::Nanoseconds),
        column("p50_ns", "p50", Unit::Nanoseconds),
        column("recorded_p99_ns", say!("label-recorded-p99"), Unit::Nanoseconds),
        column("p99_ns", "p99", Unit::Nanoseconds),
        column("issue_p99_ns", say!("label-p99-from-issue"), Unit::Nanoseconds).full(),
        column("p99_9_ns", "p99.9", Unit::Nanoseconds).full(),
        column("max_ns", say!("label-max"), Unit::Nanoseconds),
        column("demerit", say!("label-demerit"), Unit::Number),
    ];
    let row = |result: &ReplayResult, class: &ReplayedClass| -> Vec<Cell> {
        let (recorded, due, issue) = (class.recorded_ns, class.due_ns, class.issue_ns);
        vec![
            text(target(result)),
            text(word(class.kind)),
            whole(class.ios),
            whole(recorded.map(|l| l.p50)),
            whole(due.map(|l| l.p50)),
            whole(recorded.map(|l| l.p99)),
            whole(due.map(|l| l.p99)),
            whole(issue.map(|l| l.p99)),
            whole(due.map(|l| l.p99_9)),
            whole(due.map(|l| l.max)),
            number(class.demerit),
        ]
    };
    let rows = c.results.iter().flat_map(|result| result.classes.iter().map(move |c| (result, c)));
    let rows = rows.map(|(result, class)| row(result, class)).collect();
    table("latency", say!("heading-recorded-and-replayed"), &say!("replay-demerit"), columns, rows)
}

fn faithfulness(c: &Replay) -> Option<Table> {
    let columns = vec![
        column("target", say!("label-target"), Unit::Text),
        column("engine", say!("label-engine"), Unit::Text).full(),
        column("map", say!("label-address-map"), Unit::Text),
        column("recorded_iops", say!("label-recorded-iops"), Unit::Iops),
        column("iops", "IOPS", Unit::Iops),
        column("elapsed_ratio", say!("label-elapsed-ratio"), Unit::Number),
        column("lag_p50_ns", say!("label-lag-p50"), Unit::Nanoseconds).full(),
        column("lag_p99_ns", say!("label-lag-p99"), Unit::Nanoseconds),
        column("lag_max_ns", say!("label-lag-max"), Unit::Nanoseconds).full(),
        column("backlog_ns", say!("label-backlog"), Unit::Nanoseconds),
        column("waited_ios", say!("label-waited"), Unit::Count),
        column("most_in_flight", say!("label-most-in-flight"), Unit::Count).full(),
        column("touched_bytes", say!("label-used-by-trace"), Unit::Bytes).full(),
        column("target_bytes", say!("label-size"), Unit::Bytes).full(),
    ];
    let row = |result: &ReplayResult| -> Vec<Cell> {
        vec![
            text(target(result)),
            text(words::clean(&result.backend)),
            text(map(result.map)),
            number(result.recorded_iops),
            number(result.iops),
            number(result.elapsed_ratio),
            whole(result.lag_ns.map(|lag| lag.p50)),
            whole(result.lag_ns.map(|lag| lag.p99)),
            whole(result.lag_ns.map(|lag| lag.max)),
            whole(result.backlog_ns),
            whole(result.waited_ios),
            whole(u64::from(result.most_in_flight)),
            whole(result.touched_bytes),
            whole(result.target_bytes),
        ]
    };
    let rows = c.results.iter().map(row).collect();
    table("faithful", say!("heading-faithful"), &say!("replay-faithful"), columns, rows)
}

fn over_time(e: &Experiment<Replay>, index: usize, result: &ReplayResult) -> Option<Chart> {
    let at = |point: &results::ReplayPoint| point.t + point.seconds / 2.0;
    let rates = result.points.iter().map(|p| (at(p), Some(p.ios as f64 / p.seconds)));
    let max = result.points.iter().map(|p| (at(p), p.max_ns.map(|ns| ns as f64)));
    let title = say!("replay-chart", target = target(result));
    let (key, caption) = (format!("replay-{index}"), e.conclusion.part.title());
    chart(
        &Named { key: &key, title: &title, caption: &words::clean(&caption) },
        Drawn {
            x: linear(say!("label-time"), Unit::Seconds),
            left: linear("IOPS", Unit::Iops),
            right: Some(linear(say!("label-longest-latency"), Unit::Nanoseconds)),
            series: vec![
                series("IOPS", Shape::Line, Side::Left, points(rates)),
                series(say!("label-longest-latency"), Shape::Dashed, Side::Right, points(max)),
            ],
            marks: Vec::new(),
        },
    )
}
