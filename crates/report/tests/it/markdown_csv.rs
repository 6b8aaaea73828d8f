//! A report as Markdown, and its loads as CSV.

use report::model::{Block, Cell, Column, Fact, Report, ResultPart, Section, Table, Unit};
use results::{Document, Measurement};

use crate::documents;

const HEAD: &str = "cell,load,threads,depth,in_flight,achieved_in_flight,iops,half_width_percent,\
                    mib_per_s,latency_min_ns,latency_mean_ns,latency_p50_ns,latency_p90_ns,\
                    latency_p95_ns,latency_p99_ns,latency_p99_9_ns,latency_max_ns,errors,status,\
                    ios,seconds,pattern,write_percent,block_bytes,file_bytes,direct,durable,\
                    target,device,host,engine,started,kind,tool_version,measurement_id,\
                    experiment_id,used_bytes,conditions_id,slowest_second_iops,of_host";

#[test]
fn the_csv_has_one_header_and_a_line_for_each_measurement_of_all_results() {
    let documents = documents::all();
    let csv = report::csv::text(&report::build(&documents));
    let mut lines = csv.split("\r\n");
    assert_eq!(
        lines.next(),
        Some(HEAD),
        "scripts rely on it: columns may be added at the end only"
    );
    let measurements: usize = documents.iter().map(|d| d.measurements().len()).sum();
    assert_eq!(lines.filter(|l| !l.is_empty()).count(), measurements);
}

#[test]
fn the_figures_of_the_csv_are_those_of_the_document() {
    let m = documents::measured();
    let csv = report::csv::text(&report::build(&[Document::Measurement(Box::new(m.clone()))]));
    let line =
        csv.split("\r\n").nth(1).unwrap().replace("\"8 KiB random, 70 % read, 30 % write\"", "x");
    let fields: Vec<&str> = line.split(',').collect();
    let at = |name: &str| fields[HEAD.split(',').position(|h| h == name).unwrap()];
    assert_eq!(at("iops").parse::<f64>().unwrap().to_bits(), m.total.iops.to_bits());
    let p99 = m.total.latency_ns.unwrap().p99.unwrap();
    assert_eq!(at("latency_p99_ns"), p99.to_string());
    assert_eq!((at("threads"), at("depth"), at("in_flight")), ("2", "4", "8"));
    assert_eq!((at("block_bytes"), at("write_percent")), ("8192", "30"));
    assert_eq!(at("file_bytes"), (1u64 << 30).to_string());
    let (started, said) = (at("started").parse::<jiff::Timestamp>(), m.started.parse());
    assert_eq!(started.unwrap().as_second(), said.map(jiff::Timestamp::as_second).unwrap());
    assert_eq!(at("conditions_id"), results::Conditions::of(&m).id());
}

#[test]
fn a_path_that_a_spreadsheet_takes_for_a_formula_is_text() {
    let mut m: Measurement = documents::measured();
    m.workload.targets[0].path = "=HYPERLINK(\"x\",\"y\")".into();
    let csv = report::csv::text(&report::build(&[Document::Measurement(Box::new(m))]));
    assert!(csv.contains(r#""'=HYPERLINK(""x"",""y"")""#), "{csv}");
}

#[test]
fn markdown_has_every_section_and_every_table() {
    let report = report::build(&documents::all());
    let text = report::markdown::text(&report);
    for part in &report.results {
        assert!(text.contains(&format!("\n## {}: ", part.kind)));
        for section in &part.sections {
            let only_charts =
                section.blocks.iter().all(|b| matches!(b, Block::Chart(_) | Block::Charts(_)));
            let heading = format!("\n### {}\n", section.heading);
            assert!(only_charts || text.contains(&heading), "{heading}");
        }
    }
    assert!(!text.contains("!["), "no pictures were asked for");
    for line in text.lines().filter(|l| l.starts_with('|')) {
        assert!(line.ends_with('|'), "{line}");
    }
}

#[test]
fn markdown_names_the_pictures_that_there_are() {
    let report = report::build(&[documents::sizes()]);
    let text = report::markdown::text_with(&report, &|place, chart| {
        (chart.key == "sizes").then(|| format!("charts/{place}-{}.svg", chart.key))
    });
    assert_eq!(text.matches("![").count(), 1);
    assert!(text.contains("(<charts/0-sizes.svg>)"), "{text}");
}

/// A report of one section with one table.
fn hostile(text: &str) -> Report {
    let table = Table {
        key: "t".to_owned(),
        title: text.to_owned(),
        caption: text.to_owned(),
        columns: vec![Column::new("k", text, Unit::Text)],
        rows: vec![vec![Cell::Text(text.to_owned())]],
    };
    let facts = vec![Fact { name: text.to_owned(), value: text.to_owned() }];
    let part = ResultPart {
        kind: "Measurement".to_owned(),
        title: text.to_owned(),
        subtitle: vec![text.to_owned()],
        answer: None,
        banner: Some(text.to_owned()),
        sections: vec![Section {
            key: "verdict",
            heading: "Result".to_owned(),
            blocks: vec![
                Block::Paragraph(text.to_owned()),
                Block::Warnings(vec![text.to_owned()]),
                Block::Facts(facts),
                Block::Table(table.clone()),
            ],
        }],
        records: table,
        document: documents::measurement(),
    };
    Report { title: text.to_owned(), comparison: None, results: vec![part] }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]

    #[test]
    fn no_text_becomes_markup(text in "[ -~\u{0}-\u{1f}é|<]{0,40}") {
        let shown = report::markdown::text(&hostile(&text));
        proptest::prop_assert_eq!(shown.matches('<').count(), 1, "{}", shown);
        let rows = shown.lines().filter(|l| l.starts_with("| ")).count();
        proptest::prop_assert_eq!(rows, 3, "{}", shown);
    }
}
