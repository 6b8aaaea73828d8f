//! The same load on parts of one file that differ in size.

use results::edge::{Edge, Outcome};
use results::{Document, Experiment, Measurement, SizeResult, Sizes};
use workload::show_ns;

use super::caption::Caption;
use super::make::{
    Drawn, Named, chart, column, fact, first_large, full, full_section, linear, log2, log10, mark,
    number, point, points, section, series, table, whole,
};
use super::{agreement, latency, loads, tested, time};
use crate::language::say;
use crate::model::{
    Block, Card, Cell, Chart, Judgement, Mark, Point, Section, Shape, Side, Table, Unit,
};
use crate::words;

/// Answer, charts and tables of a sweep over file sizes.
pub(super) fn sections(e: &Experiment<Sizes>) -> Vec<Section> {
    let named: Vec<(String, &Measurement)> =
        e.measurements.iter().map(|m| (words::size(m.used_bytes()), m)).collect();
    let document = Document::Sizes(Box::new(e.clone()));
    let mut tables: Vec<Block> = curve(e).map(Block::Table).into_iter().collect();
    tables.extend(loads::shown(&document).map(|table| full([Block::Table(table)])));
    let largest = fact(say!("label-largest-size"), words::clean(&e.conclusion.largest_reason));
    let drawn = first_large(charts(e));
    let sections = [
        section("verdict", say!("heading-the-cache"), answer(e)),
        tested::of_experiment(e, vec![largest]),
        section("sizes", say!("heading-size-by-size"), drawn),
        full_section(latency::of(&named, false)),
        time::of(named.iter().map(|(name, m)| (name.clone(), *m))),
        section("loads", say!("heading-every-size"), tables),
        agreement::of(&named),
    ];
    sections.into_iter().flatten().collect()
}

fn answer(e: &Experiment<Sizes>) -> Vec<Block> {
    let Some(edge) = &e.conclusion.edge else {
        return vec![Block::Paragraph(say!("sizes-nothing"))];
    };
    let (judgement, answer) = match edge.outcome {
        Outcome::Found => (Judgement::Good, cache(edge)),
        Outcome::Between => (Judgement::Doubtful, cache(edge)),
        Outcome::AllFits => (Judgement::Doubtful, say!("sizes-larger")),
        Outcome::NoneSeen => (Judgement::Good, say!("sizes-none-seen")),
        Outcome::Flat => (Judgement::Unknown, say!("sizes-none-or-larger")),
        Outcome::Unclear => (Judgement::Unknown, say!("sizes-not-clear")),
    };
    let card = Card {
        heading: say!("label-cache-below-the-operating-system"),
        judgement,
        answer,
        evidence: vec![words::clean(&edge.explanation)],
        original: Vec::new(),
        bullet: None,
    };
    let mut facts = Vec::new();
    if let Some(hit) = edge.hit_latency_ns {
        facts.push(fact(say!("label-mean-latency-of-a-hit"), show_ns(hit)));
    }
    if let Some(miss) = edge.miss_latency_ns {
        facts.push(fact(say!("label-mean-latency-of-a-miss"), show_ns(miss)));
    }
    for fair in &edge.fair_sizes {
        let text = say!(
            "sizes-fair",
            size = words::size(fair.file_bytes),
            hits = words::percent(Some(fair.hit_percent)),
            error = words::percent(Some(fair.latency_error_percent))
        );
        facts.push(fact(say!("sizes-times-the-cache", times = fair.times.to_string()), text));
    }
    let mut blocks = vec![Block::Cards(vec![card])];
    if !facts.is_empty() {
        blocks.push(Block::Facts(facts));
    }
    blocks
}

fn cache(edge: &Edge) -> String {
    edge.cache.map_or_else(
        || say!("sizes-cache-not-known"),
        |c| {
            let (low, high) = (words::size(c.low_bytes), words::size(c.high_bytes));
            format!("{} ({low}–{high})", words::size(c.bytes))
        },
    )
}

/// The caption of all sizes; of a document without measurements, what is known.
fn caption(e: &Experiment<Sizes>) -> String {
    if e.measurements.is_empty() {
        return Caption::default()
            .load(e.file_bytes, &say!("caption-load-not-known"), 0, None, 0)
            .text();
    }
    Caption::of(&e.measurements).text()
}

fn edge_mark(e: &Experiment<Sizes>) -> Vec<Mark> {
    let cache = e.conclusion.edge.as_ref().and_then(|edge| edge.cache);
    cache.map(|c| mark(c.bytes as f64, say!("sizes-mark"))).into_iter().collect()
}

/// Throughput by the size of the file.
pub(super) fn throughput(e: &Experiment<Sizes>) -> Vec<Point> {
    let large = e.measurements.first().is_some_and(words::is_bandwidth);
    let figure = |r: &SizeResult| if large { r.mib_per_s } else { r.iops };
    let of = |r: &SizeResult| point(r.file_bytes as f64, figure(r), r.half_width_percent);
    e.conclusion.curve.iter().map(of).collect()
}

fn charts(e: &Experiment<Sizes>) -> Vec<Chart> {
    let caption = caption(e);
    let results = &e.conclusion.curve;
    let x = || log2(say!("label-file-size"), Unit::Bytes);
    let large = e.measurements.first().is_some_and(words::is_bandwidth);
    let throughput = throughput(e);
    let latency = points(results.iter().map(|r| (r.file_bytes as f64, r.mean_latency_ns)));
    let unit = if large { "MiB/s" } else { "IOPS" };
    let title = say!("sizes-chart", unit = unit);
    let first = chart(
        &Named { key: "sizes", title: &title, caption: &caption },
        Drawn {
            x: x(),
            left: super::make::throughput(large),
            right: Some(log10(say!("label-mean-latency"), Unit::Nanoseconds)),
            series: vec![
                series(unit, Shape::Line, Side::Left, throughput),
                series(say!("chart-mean-latency"), Shape::Line, Side::Right, latency),
            ],
            marks: edge_mark(e),
        },
    );
    let shares = e.conclusion.edge.iter().flat_map(|edge| &edge.shares);
    let fast = shares.clone().map(|s| (s.file_bytes as f64, Some(s.fast_percent)));
    let expected = shares.map(|s| (s.file_bytes as f64, s.expected_percent));
    let title = say!("sizes-chart-of-cache");
    let second = chart(
        &Named { key: "cache-share", title: &title, caption: &caption },
        Drawn {
            x: x(),
            left: linear(say!("label-share-of-i-os"), Unit::Percent),
            right: None,
            series: vec![
                series(say!("sizes-measured"), Shape::Line, Side::Left, points(fast)),
                series(say!("sizes-expected"), Shape::Dashed, Side::Left, points(expected)),
            ],
            marks: edge_mark(e),
        },
    );
    [first, second].into_iter().flatten().collect()
}

fn curve(e: &Experiment<Sizes>) -> Option<Table> {
    let columns = vec![
        column("file_bytes", say!("label-file-size"), Unit::Bytes),
        column("iops", "IOPS", Unit::Iops),
        column("half_width_percent", "±", Unit::Percent),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p50_ns", "p50", Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("fast_percent", say!("label-fast"), Unit::Percent),
        column("expected_percent", say!("label-cache-file"), Unit::Percent),
        column("warmed_bytes", say!("label-read-before"), Unit::Bytes).full(),
    ];
    let shares = |bytes: u64| {
        let mut all = e.conclusion.edge.iter().flat_map(|edge| &edge.shares);
        all.find(|s| s.file_bytes == bytes)
    };
    let row = |r: &SizeResult| -> Vec<Cell> {
        let share = shares(r.file_bytes);
        vec![
            whole(r.file_bytes),
            number(r.iops),
            number(r.half_width_percent),
            number(r.mib_per_s),
            number(r.mean_latency_ns),
            whole(r.p50_latency_ns),
            whole(r.p99_latency_ns),
            number(share.map(|s| s.fast_percent)),
            number(share.and_then(|s| s.expected_percent)),
            whole(r.warmed.map(|w| w.bytes)),
        ]
    };
    let rows = e.conclusion.curve.iter().map(row).collect();
    table("sizes", say!("heading-every-size"), &caption(e), columns, rows)
}
