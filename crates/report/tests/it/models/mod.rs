//! Models made by hand: charts of every shape and scale, tables of every unit, and anything at all.

use proptest::prelude::*;
use report::model::{
    Axis, Block, Card, Cell, Chart, Column, Fact, Judgement, Mark, Point, Report, ResultPart,
    Scale, Section, Series, Shape, Side, Table, Unit,
};
use results::Document;

pub(crate) const HOSTILE: &str = "</script><script>alert(1)</script>\" onload='x' & <b> ]]> --> \
                                  \u{1b}[31m \u{202E} \u{0} \u{FFFF}";

pub(crate) fn axis(title: &str, unit: Unit, scale: Scale) -> Axis {
    Axis { title: title.to_owned(), unit, scale }
}

pub(crate) fn points(at: &[(f64, f64)]) -> Vec<Point> {
    at.iter().map(|(x, y)| Point { x: *x, y: *y, interval: None, label: None }).collect()
}

fn with_intervals(at: &[(f64, f64)], share: f64) -> Vec<Point> {
    let around = |y: f64| Some((y * (1.0 - share), y * (1.0 + share)));
    at.iter().map(|(x, y)| Point { x: *x, y: *y, interval: around(*y), label: None }).collect()
}

pub(crate) fn line(name: &str, shape: Shape, side: Side, points: Vec<Point>) -> Series {
    Series { name: name.to_owned(), shape, side, points }
}

const CAPTION: &str =
    "File 100 GiB · 8 KiB random read · 1 thread × depth 1–32 = 1–32 in flight · direct";

/// Saturation: throughput, mean and tail over the I/Os in flight.
pub(crate) fn chart() -> Chart {
    let loads = [1.0, 2.0, 4.0, 6.0, 8.0, 16.0, 32.0];
    let iops = loads.map(|n: f64| (n, (n * 1e4).min(8e4)));
    let mean = loads.map(|n: f64| (n, (n / 8.0).max(1.0) * 1e5));
    let tail = loads.map(|n: f64| (n, (n / 8.0).max(1.1) * 1.6e5));
    Chart {
        key: "saturation-random-read-8k".to_owned(),
        title: "8 KiB random read".to_owned(),
        caption: CAPTION.to_owned(),
        x: axis("I/Os in flight", Unit::Count, Scale::Log2),
        left: axis("IOPS", Unit::Iops, Scale::Linear),
        right: Some(axis("Mean latency", Unit::Nanoseconds, Scale::Linear)),
        series: vec![
            line("IOPS", Shape::Line, Side::Left, with_intervals(&iops, 0.03)),
            line("mean latency", Shape::Line, Side::Right, points(&mean)),
            line("p99 latency", Shape::Dashed, Side::Right, points(&tail)),
        ],
        marks: vec![Mark { x: 8.0, label: "operating point: 8 in flight".to_owned() }],
    }
}

fn threads() -> Chart {
    let depths = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let series = (0..12).map(|i| {
        let most = 3e5 * f64::from(i + 1) / 12.0;
        let of = |d: f64| (d, 1.0 / (1.0 / (d * 9e3 * f64::from(i + 1)) + 1.0 / most));
        line(
            &format!("{} threads", 1 << i.min(10)),
            Shape::Line,
            Side::Left,
            points(&depths.map(of)),
        )
    });
    let mut chart = chart();
    (chart.right, chart.marks) = (None, Vec::new());
    (chart.key, chart.title) = ("threads".to_owned(), "IOPS per thread count".to_owned());
    chart.x = axis("Depth of each thread", Unit::Count, Scale::Log2);
    chart.series = series.collect();
    chart
}

fn columns(names: usize, long: bool) -> Chart {
    let name = |i: usize| {
        if long {
            format!("{} KiB sequential write, durable, {} threads", 4 << (i % 8), i)
        } else {
            format!("case {i}")
        }
    };
    let wave = |i: usize, by: f64| (i as f64, 4e4 * (1.2 + (i as f64 * by).sin()));
    let made = |by: f64| (0..names).map(|i| wave(i, by)).collect::<Vec<_>>();
    let latency: Vec<(f64, f64)> =
        (0..names).map(|i| (i as f64, 1e6 * (1.5 + (i as f64 * 0.3).cos()))).collect();
    Chart {
        key: format!("columns-{names}"),
        title: "IOPS and latency of each combination".to_owned(),
        caption: CAPTION.to_owned(),
        x: axis("Combination", Unit::Text, Scale::Names((0..names).map(name).collect())),
        left: axis("IOPS", Unit::Iops, Scale::Linear),
        right: Some(axis("Mean latency", Unit::Nanoseconds, Scale::Linear)),
        series: vec![
            line("read", Shape::Columns, Side::Left, with_intervals(&made(0.9), 0.1)),
            line("write", Shape::Columns, Side::Left, points(&made(0.7))),
            line("mixed", Shape::Columns, Side::Left, points(&made(0.5))),
            line("other", Shape::Columns, Side::Left, points(&made(0.4))),
            line("latency", Shape::Line, Side::Right, points(&latency)),
        ],
        marks: Vec::new(),
    }
}

fn over_time(count: i32) -> Chart {
    let noisy =
        |i: i32| 1e5 + f64::from(i * 7919 % 1000) * 20.0 - if i % 97 == 5 { 6e4 } else { 0.0 };
    let made: Vec<(f64, f64)> = (0..count).map(|i| (f64::from(i), noisy(i))).collect();
    let mut chart = chart();
    (chart.key, chart.title) = (format!("time-{count}"), "Throughput over time".to_owned());
    chart.x = axis("Time", Unit::Seconds, Scale::Linear);
    chart.right = None;
    chart.series = vec![
        line("IOPS", Shape::Line, Side::Left, with_intervals(&made, 0.1)),
        line("mean", Shape::Dashed, Side::Left, points(&[(0.0, 1.1e5), (f64::from(count), 1.1e5)])),
    ];
    chart.marks = vec![
        Mark { x: f64::from(count) * 0.5, label: "cache full".to_owned() },
        Mark { x: f64::from(count) * 0.52, label: "steady from here".to_owned() },
    ];
    chart
}

fn trend() -> Chart {
    let mut chart = over_time(40);
    let start = 1_763_683_200.0;
    (chart.key, chart.title) = ("trend".to_owned(), "p99 over many dates".to_owned());
    chart.x = axis("Measured", Unit::Moment, Scale::Linear);
    chart.left = axis("p99 latency", Unit::Nanoseconds, Scale::Log10);
    let made: Vec<(f64, f64)> = (0..40)
        .map(|i| {
            (
                start + f64::from(i) * 7e5,
                if i < 25 { 3e5 } else { 4e6 } * (1.0 + f64::from(i % 5) / 20.0),
            )
        })
        .collect();
    chart.series = vec![line("p99", Shape::Dots, Side::Left, with_intervals(&made, 0.2))];
    chart.marks = vec![Mark { x: start + 25.0 * 7e5, label: "change on 2026-06-12".to_owned() }];
    chart
}

fn sizes() -> Chart {
    let mut chart = chart();
    (chart.key, chart.title) =
        ("sizes".to_owned(), "IOPS over the size of the test file".to_owned());
    chart.x = axis("File size", Unit::Bytes, Scale::Log2);
    let of = |i: i32| (2f64.powi(26 + i), if i < 6 { 9e5 } else { 1.2e5 } + f64::from(i) * 1e3);
    chart.right = None;
    chart.series =
        vec![line("IOPS", Shape::Line, Side::Left, points(&(0..18).map(of).collect::<Vec<_>>()))];
    chart.marks = vec![Mark { x: 2f64.powi(32), label: "cache edge: 4 GiB".to_owned() }];
    chart
}

fn change() -> Chart {
    let mut chart = columns(6, false);
    (chart.key, chart.title) = ("change".to_owned(), "Change against the baseline".to_owned());
    chart.left = axis("Change", Unit::Percent, Scale::Linear);
    chart.right = None;
    let made = [(0.0, -12.0), (1.0, 3.0), (2.0, 22.5), (3.0, f64::NAN), (4.0, -1.0), (5.0, 7.0)];
    chart.series = vec![line("change", Shape::Columns, Side::Left, with_intervals(&made, 0.4))];
    chart
}

/// Charts of every shape, scale and unit.
pub(crate) fn gallery() -> Vec<Chart> {
    let mut empty = chart();
    (empty.key, empty.series, empty.marks) = ("empty".to_owned(), Vec::new(), Vec::new());
    let mut hostile = chart();
    (hostile.key, hostile.title, hostile.caption) =
        ("hostile".to_owned(), HOSTILE.to_owned(), HOSTILE.to_owned());
    hostile.series.iter_mut().for_each(|s| HOSTILE.clone_into(&mut s.name));
    hostile.marks = vec![Mark { x: 2.0, label: HOSTILE.to_owned() }];
    "שלום עולם 世界".clone_into(&mut hostile.x.title);
    vec![
        chart(),
        threads(),
        columns(4, true),
        columns(14, true),
        columns(576, true),
        over_time(30),
        over_time(5000),
        trend(),
        sizes(),
        change(),
        empty,
        hostile,
    ]
}

const UNITS: [Unit; 10] = [
    Unit::Text,
    Unit::Count,
    Unit::Number,
    Unit::Iops,
    Unit::MibPerS,
    Unit::Nanoseconds,
    Unit::Seconds,
    Unit::Bytes,
    Unit::Percent,
    Unit::Moment,
];

/// A table with a column of each unit.
pub(crate) fn table(rows: usize) -> Table {
    let column = |unit: &Unit| Column::new("key", format!("{unit:?}"), *unit);
    let figure = |unit: &Unit, i: usize| match unit {
        Unit::Text => Cell::Text(format!("{} KiB random read {i}", 4 << (i % 6))),
        Unit::Count => Cell::Number(i as f64),
        _ if i % 17 == 5 => Cell::Empty,
        Unit::Moment => Cell::Number(1_763_683_200.0 + i as f64 * 86_400.0),
        Unit::Nanoseconds => Cell::Number(3f64.powi(i32::try_from(i % 20).unwrap_or(0)) * 1e3),
        Unit::Bytes => Cell::Number(8192.0 * (i + 1) as f64),
        _ => Cell::Number((i * 7919 % 1000) as f64 * 1.37),
    };
    Table {
        key: "loads".to_owned(),
        title: "All loads".to_owned(),
        caption: CAPTION.to_owned(),
        columns: UNITS.iter().map(column).collect(),
        rows: (0..rows).map(|i| UNITS.iter().map(|u| figure(u, i)).collect()).collect(),
    }
}

fn card(heading: &str, judgement: Judgement, answer: &str) -> Card {
    let evidence = vec![
        "8 KiB random read on 100 GiB: 80 000 IOPS, 625 MiB/s at 8 in flight; mean latency 0.1 ms."
            .to_owned(),
        "Judged by mean latency up to 4 ms excellent.".to_owned(),
    ];
    Card {
        heading: heading.to_owned(),
        judgement,
        answer: answer.to_owned(),
        evidence,
        original: Vec::new(),
        bullet: None,
    }
}

fn section(key: &'static str, heading: &str, blocks: Vec<Block>) -> Section {
    Section { key, heading: heading.to_owned(), blocks }
}

/// A result with every kind of block.
pub(crate) fn result(document: Document, rows: usize) -> ResultPart {
    let fact = |name: &str, value: &str| Fact { name: name.to_owned(), value: value.to_owned() };
    let facts = vec![
        fact("File size", "100 GiB"),
        fact("Measured", "2026-11-20 10:12:13 UTC"),
        fact("Engine", "uring"),
    ];
    let sentences =
        vec!["The test file was wholly written first.".to_owned(), "I/O was direct.".to_owned()];
    let cards = vec![
        card("Transaction log", Judgement::Good, "suitable"),
        card("OLTP data files", Judgement::Doubtful, "suitable with a reservation"),
        card("Data warehouse", Judgement::Bad, "not suitable"),
        card("Backup", Judgement::Unknown, "not judged"),
    ];
    let small = vec![over_time(30), chart(), sizes(), columns(4, false)];
    ResultPart {
        kind: "Storage assessment".to_owned(),
        title: "/data/pg".to_owned(),
        subtitle: vec![
            "file size 100 GiB".to_owned(),
            "host db01".to_owned(),
            "Samsung PM9A3".to_owned(),
        ],
        answer: None,
        banner: Some("Interrupted before its end.".to_owned()),
        sections: vec![
            section("verdict", "Verdict", vec![Block::Cards(cards)]),
            section(
                "tested",
                "What was tested",
                vec![Block::Paragraph("A sentence.".to_owned()), Block::Facts(facts)],
            ),
            section("charts", "Charts", gallery().into_iter().map(Block::Chart).collect()),
            section("small", "Over time", vec![Block::Charts(small)]),
            section("loads", "All loads", vec![Block::Table(table(6)), Block::Table(table(rows))]),
            section("method", "Method", vec![Block::List(sentences.clone())]),
            section("warnings", "Warnings", vec![Block::Warnings(sentences)]),
            section(
                "nothing",
                "Nothing",
                vec![Block::Warnings(Vec::new()), Block::Facts(Vec::new())],
            ),
        ],
        records: table(rows),
        document,
    }
}

pub(crate) fn report(documents: Vec<Document>, rows: usize) -> Report {
    let results = documents.into_iter().map(|d| result(d, rows)).collect();
    Report { title: "Storage of db01".to_owned(), comparison: None, results }
}

fn any_figure() -> impl Strategy<Value = f64> {
    prop_oneof![
        5 => -1e7..1e7_f64,
        3 => 0.0..100.0_f64,
        2 => proptest::num::f64::ANY,
        1 => prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), Just(1e300), Just(-1e300),
            Just(1e-300)],
    ]
}

fn any_unit() -> impl Strategy<Value = Unit> {
    proptest::sample::select(UNITS.to_vec())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z0-9 ,.]{0,40}", any::<String>(), Just(HOSTILE.to_owned())]
}

fn any_axis() -> impl Strategy<Value = Axis> {
    let scale = prop_oneof![
        Just(Scale::Linear),
        Just(Scale::Log2),
        Just(Scale::Log10),
        proptest::collection::vec(any_text(), 0..40).prop_map(Scale::Names),
    ];
    (any_text(), any_unit(), scale).prop_map(|(title, unit, scale)| Axis { title, unit, scale })
}

fn any_series() -> impl Strategy<Value = Series> {
    let point = (any_figure(), any_figure(), proptest::option::of((any_figure(), any_figure())))
        .prop_map(|(x, y, interval)| Point { x, y, interval, label: None });
    let shape =
        proptest::sample::select(vec![Shape::Line, Shape::Dashed, Shape::Columns, Shape::Dots]);
    let side = proptest::sample::select(vec![Side::Left, Side::Right]);
    (any_text(), shape, side, proptest::collection::vec(point, 0..120))
        .prop_map(|(name, shape, side, points)| Series { name, shape, side, points })
}

pub(crate) fn any_chart() -> impl Strategy<Value = Chart> {
    let mark = (any_figure(), any_text()).prop_map(|(x, label)| Mark { x, label });
    let words = (any_text(), any_text(), any_text());
    let axes = (any_axis(), any_axis(), proptest::option::of(any_axis()));
    let series = proptest::collection::vec(any_series(), 0..6);
    (words, axes, series, proptest::collection::vec(mark, 0..9)).prop_map(
        |((key, title, caption), (x, left, right), series, marks)| Chart {
            key,
            title,
            caption,
            x,
            left,
            right,
            series,
            marks,
        },
    )
}

fn any_table() -> impl Strategy<Value = Table> {
    let cell = prop_oneof![
        Just(Cell::Empty),
        any_text().prop_map(Cell::Text),
        any_figure().prop_map(Cell::Number)
    ];
    let column = (any_text(), any_unit()).prop_map(|(name, unit)| Column::new("key", name, unit));
    let rows = proptest::collection::vec(proptest::collection::vec(cell, 0..6), 0..50);
    (any_text(), any_text(), proptest::collection::vec(column, 0..6), rows).prop_map(
        |(title, caption, columns, rows)| Table {
            key: "t".to_owned(),
            title,
            caption,
            columns,
            rows,
        },
    )
}

pub(crate) fn any_block() -> impl Strategy<Value = Block> {
    let texts = || proptest::collection::vec(any_text(), 0..4);
    let fact = (any_text(), any_text()).prop_map(|(name, value)| Fact { name, value });
    let judgement = proptest::sample::select(vec![
        Judgement::Good,
        Judgement::Doubtful,
        Judgement::Bad,
        Judgement::Unknown,
    ]);
    let card = (any_text(), judgement, any_text(), texts()).prop_map(
        |(heading, judgement, answer, evidence)| Card {
            heading,
            judgement,
            answer,
            evidence,
            original: Vec::new(),
            bullet: None,
        },
    );
    prop_oneof![
        any_text().prop_map(Block::Paragraph),
        texts().prop_map(Block::List),
        texts().prop_map(Block::Warnings),
        proptest::collection::vec(fact, 0..4).prop_map(Block::Facts),
        proptest::collection::vec(card, 0..4).prop_map(Block::Cards),
        any_chart().prop_map(Block::Chart),
        proptest::collection::vec(any_chart(), 0..3).prop_map(Block::Charts),
        any_table().prop_map(Block::Table),
    ]
}
