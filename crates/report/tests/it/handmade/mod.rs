//! Reports made by hand: every kind of block, shape, scale and unit, and figures that no storage
//! gives.

use report::model::{
    Axis, Block, Card, Cell, Chart, Column, Fact, Judgement, Mark, Point, Report, ResultPart,
    Scale, Section, Series, Shape, Side, Table, Unit,
};
use results::Document;

use crate::sample;

pub(crate) const UNITS: [Unit; 10] = [
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

pub(crate) fn axis(title: &str, unit: Unit, scale: Scale) -> Axis {
    Axis { title: title.to_owned(), unit, scale }
}

pub(crate) fn series(name: &str, shape: Shape, side: Side, points: &[(f64, f64)]) -> Series {
    let points = points.iter().map(|&(x, y)| Point { x, y, interval: None, label: None }).collect();
    Series { name: name.to_owned(), shape, side, points }
}

pub(crate) fn chart(
    key: &str,
    x: Axis,
    left: Axis,
    right: Option<Axis>,
    series: Vec<Series>,
) -> Chart {
    Chart {
        key: key.to_owned(),
        title: format!("Chart {key}"),
        caption: "File 64 GiB · 8 KiB random read · 1 thread × depth 32 = 32 in flight · direct"
            .to_owned(),
        x,
        left,
        right,
        series,
        marks: Vec::new(),
    }
}

/// MiB/s and latency against outstanding I/Os, with the knee.
pub(crate) fn saturation() -> Chart {
    let depths: Vec<f64> = (0..9).map(|n| f64::from(1 << n)).collect();
    let iops = |d: f64| 90_000.0 * d / (d + 12.0);
    let of = |f: &dyn Fn(f64) -> f64| depths.iter().map(|d| (*d, f(*d))).collect::<Vec<_>>();
    let mut with_interval = series("IOPS", Shape::Line, Side::Left, &of(&iops));
    for point in &mut with_interval.points {
        point.interval = Some((point.y * 0.93, point.y * 1.05));
    }
    let latency = of(&|d| d / iops(d) * 1e9);
    let ideal = of(&|d| 7_500.0 * d).into_iter().take(5).collect::<Vec<_>>();
    let mut chart = chart(
        "saturation-random-read-8k",
        axis("I/Os in flight", Unit::Count, Scale::Log2),
        axis("IOPS", Unit::Iops, Scale::Linear),
        Some(axis("Mean latency", Unit::Nanoseconds, Scale::Linear)),
        vec![
            with_interval,
            series("without queueing", Shape::Dashed, Side::Left, &ideal),
            series("latency", Shape::Line, Side::Right, &latency),
        ],
    );
    chart.marks = vec![
        Mark { x: 16.0, label: "knee".to_owned() },
        Mark { x: 19.0, label: "where latency doubles".to_owned() },
    ];
    chart
}

/// Columns of four cases with a line of latency over them.
pub(crate) fn columns() -> Chart {
    let names = ["random read", "random write", "sequential read", "sequential write"];
    let names = names.map(str::to_owned).to_vec();
    let mut chart = chart(
        "cases",
        axis("Case", Unit::Text, Scale::Names(names)),
        axis("Throughput", Unit::Iops, Scale::Linear),
        Some(axis("Latency p99", Unit::Nanoseconds, Scale::Log10)),
        vec![
            series(
                "8 KiB",
                Shape::Columns,
                Side::Left,
                &[(0.0, 81_000.0), (1.0, 42_000.0), (2.0, 96_500.0), (3.0, 55_000.0)],
            ),
            series("64 KiB", Shape::Columns, Side::Left, &[(0.0, 31_000.0), (2.0, 36_500.0)]),
            series(
                "latency",
                Shape::Line,
                Side::Right,
                &[(0.0, 410e3), (1.0, 1.9e6), (2.0, 120e3), (3.0, 40e6)],
            ),
        ],
    );
    chart.marks = vec![Mark { x: 1.0, label: "slowest".to_owned() }];
    chart
}

/// A chart for each of the other scales and units.
pub(crate) fn others() -> Vec<Chart> {
    let histogram: Vec<(f64, f64)> =
        (0..14).map(|n| (1e4 * 2_f64.powi(n), f64::from((14 - n) * n * n))).collect();
    let sizes: Vec<(f64, f64)> =
        (0..10).map(|n| (f64::from(1 << n) * 268_435_456.0, 9e5 / f64::from(1 << n))).collect();
    let time: Vec<(f64, f64)> =
        (0..300).map(|n| (f64::from(n), 40_000.0 + f64::from((n * 7919) % 900))).collect();
    let trend: Vec<(f64, f64)> =
        (0..12).map(|n| (1.76e9 + f64::from(n) * 2.6e6, 50.0 + f64::from(n % 5))).collect();
    let percentiles = [(50.0, 1.1e5), (90.0, 2.3e5), (99.0, 9e5), (99.9, 1.4e7)];
    let mut edge = chart(
        "size-sweep",
        axis("File size", Unit::Bytes, Scale::Log2),
        axis("IOPS", Unit::Iops, Scale::Log10),
        None,
        vec![series("random read", Shape::Line, Side::Left, &sizes)],
    );
    edge.marks = vec![Mark { x: 16.0 * 1_073_741_824.0, label: "cache edge".to_owned() }];
    vec![
        edge,
        chart(
            "histogram",
            axis("Latency", Unit::Nanoseconds, Scale::Log10),
            axis("I/Os", Unit::Count, Scale::Linear),
            None,
            vec![series("I/Os", Shape::Columns, Side::Left, &histogram)],
        ),
        chart(
            "over-time",
            axis("Time", Unit::Seconds, Scale::Linear),
            axis("IOPS", Unit::Iops, Scale::Linear),
            None,
            vec![series("IOPS", Shape::Line, Side::Left, &time)],
        ),
        chart(
            "trend",
            axis("Date", Unit::Moment, Scale::Linear),
            axis("Of the capacity", Unit::Percent, Scale::Linear),
            None,
            vec![
                series("share", Shape::Dots, Side::Left, &trend),
                series("level", Shape::Dashed, Side::Left, &[trend[0], trend[11]]),
            ],
        ),
        chart(
            "percentiles",
            axis("Percentile", Unit::Number, Scale::Linear),
            axis("Latency", Unit::Nanoseconds, Scale::Log10),
            None,
            vec![series("read", Shape::Line, Side::Left, &percentiles)],
        ),
    ]
}

/// A table with a column of each unit, and cells that are empty, words, or no numbers.
pub(crate) fn table(key: &str, rows: usize) -> Table {
    let columns =
        UNITS.iter().map(|unit| Column::new("some_key", format!("{unit:?}"), *unit)).collect();
    let row = |n: usize| {
        let n = n as f64;
        let figures =
            [n, 0.5 + n, 81_234.5, 312.25, 412_345.0 + n, 30.0, 8192.0, 42.5, 1.764e9 + n];
        let mut cells = vec![Cell::Text(format!("=1+{n}"))];
        cells.extend(figures.map(Cell::Number));
        cells
    };
    let mut rows: Vec<Vec<Cell>> = (0..rows).map(row).collect();
    if let Some(row) = rows.get_mut(1) {
        *row =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e-320].map(Cell::Number).to_vec();
        row.push(Cell::Empty);
        row.push(Cell::Text("none".to_owned()));
    }
    Table {
        key: key.to_owned(),
        title: "All loads".to_owned(),
        caption: "File 64 GiB, direct".to_owned(),
        columns,
        rows,
    }
}

fn section(key: &'static str, heading: &'static str, blocks: Vec<Block>) -> Section {
    Section { key, heading: heading.to_owned(), blocks }
}

/// A result with every kind of block.
pub(crate) fn part(title: &str) -> ResultPart {
    let card = |heading: &str, judgement, answer: &str| Card {
        heading: heading.to_owned(),
        judgement,
        answer: answer.to_owned(),
        evidence: vec!["p99 of 1.2 ms is below the limit of 5 ms.".to_owned()],
        original: Vec::new(),
        bullet: None,
    };
    ResultPart {
        kind: "Storage assessment".to_owned(),
        title: title.to_owned(),
        subtitle: vec!["File 64 GiB".to_owned(), "2026-11-20 10:12:13 UTC".to_owned()],
        answer: None,
        banner: Some("Interrupted after 3 of 8 measurements.".to_owned()),
        sections: vec![
            section(
                "verdict",
                "Verdict",
                vec![Block::Cards(vec![
                    card("Transaction log", Judgement::Good, "suitable"),
                    card("Data files", Judgement::Doubtful, "with a reservation"),
                    card("tempdb", Judgement::Bad, "not suitable"),
                    card("Backups", Judgement::Unknown, "cannot tell"),
                ])],
            ),
            section(
                "tested",
                "What was tested",
                vec![
                    Block::Facts(vec![Fact {
                        name: "Target".to_owned(),
                        value: "=cmd|' /C calc'!A0".to_owned(),
                    }]),
                    Block::Paragraph("A sentence. ".repeat(40)),
                    Block::List(vec!["one".to_owned(), "two".to_owned()]),
                ],
            ),
            section(
                "saturation",
                "Saturation",
                vec![Block::Chart(saturation()), Block::Chart(columns())],
            ),
            section(
                "more",
                "More",
                vec![Block::Charts(others()), Block::Table(table("loads", 20))],
            ),
            section(
                "warnings",
                "Warnings",
                vec![Block::Warnings(vec!["The device was not idle before.".to_owned()])],
            ),
        ],
        records: table("records", 1),
        document: Document::Assessment(Box::new(sample::assessment())),
    }
}

/// A report of so many results, all alike.
pub(crate) fn report(results: usize) -> Report {
    let results = (0..results).map(|n| part(&format!("/data{n}"))).collect();
    Report { title: "Storage of db01".to_owned(), comparison: None, results }
}
