//! A figure that may be more than 50 % off looks like one in every format, and in charts.

use std::io::{Cursor, Read};

use report::model::{Block, Cell, Judgement, Point};
use report::{charts, html, markdown, sections, text, xlsx};
use results::steady::Steady;
use results::{Document, Measurement};
use workload::Pattern;
use zip::ZipArchive;

use crate::sample;

/// A measurement that is known so well.
fn known(half_width_percent: f64) -> Measurement {
    let load = sample::Load {
        block: 8192,
        pattern: Pattern::Random,
        write: 0,
        durable: false,
        threads: 1,
        depth: 8,
        alone_ns: 1e5,
        most_iops: 90_000.0,
    };
    let mut m = sample::measurement(&load);
    m.steady = Some(Steady {
        mean: m.total.iops,
        half_width_percent: Some(half_width_percent),
        settled: true,
        cut_s: 0.0,
        drift_percent: 0.0,
        seconds: 30.0,
        precision_percent: 1.0,
        explanation: String::new(),
    });
    m.checks.warnings.clear();
    m
}

fn document(half_width_percent: f64) -> Document {
    Document::Measurement(Box::new(known(half_width_percent)))
}

fn unsure_cells(document: &Document) -> usize {
    let report = report::build(std::slice::from_ref(document));
    let blocks = report.results[0].sections.iter().flat_map(|section| &section.blocks);
    let tables = blocks.filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    tables.flat_map(|t| t.rows.iter().flatten()).filter(|c| matches!(c, Cell::Unsure(_))).count()
}

/// The part of a workbook with this name.
fn part(bytes: Vec<u8>, name: &str) -> String {
    let mut text = String::new();
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn every_format_marks_it() {
    let (sure, unsure) = (document(50.0), document(51.0));
    assert_eq!(unsure_cells(&sure), 0);
    assert!(unsure_cells(&unsure) >= 6, "IOPS, MiB/s and latencies in the tables");
    let [sure, unsure] = [&sure, &unsure].map(|document| {
        let report = report::build(std::slice::from_ref(document));
        let texts =
            [html::page(&report).unwrap(), markdown::text(&report), text::document(document)];
        (texts, part(xlsx::workbook(&report).unwrap(), "xl/styles.xml"))
    });
    let marks = ["<span class=\"unsure\">", "?*", "? "];
    for ((sure, unsure), mark) in sure.0.iter().zip(&unsure.0).zip(marks) {
        assert!(unsure.contains(mark), "{mark} in {unsure}");
        assert!(unsure.contains("more than 50 % off. Nothing is judged by"), "{mark}");
        assert!(!sure.contains("more than 50 % off. Nothing"), "{mark}");
    }
    let grey = "FF8C8C8C";
    assert!(unsure.1.contains("<i/>") && unsure.1.contains(grey), "{}", unsure.1);
}

#[test]
fn a_measurement_that_is_not_known_is_not_called_good() {
    let judgement = |half| {
        let part = sections::part(&document(half), report::model::Detail::Full);
        let blocks = part.sections.iter().flat_map(|s| &s.blocks);
        let mut cards = blocks.filter_map(|block| match block {
            Block::Cards(cards) => cards.first().map(|card| card.judgement),
            _ => None,
        });
        cards.next().unwrap()
    };
    assert_eq!(judgement(1.0), Judgement::Good);
    assert_eq!(judgement(51.0), Judgement::Unknown);
}

#[test]
fn a_chart_draws_it_grey() {
    let mut assessment = sample::assessment();
    let steady = known(80.0).steady;
    assessment.ramps[0].points[2].steady.clone_from(&steady);
    assessment.patterns[0].measurement.steady = steady;
    let part =
        sections::part(&Document::Assessment(Box::new(assessment)), report::model::Detail::Full);
    let drawn: Vec<_> = charts(&part)
        .filter(|c| c.series.iter().flat_map(|s| &s.points).any(Point::is_unsure))
        .collect();
    assert!(drawn.len() >= 3, "the curve, and columns of patterns: {}", drawn.len());
    for chart in drawn {
        let svg = report::chart::svg(chart);
        assert!(svg.contains(" unsure\""), "{}", chart.title);
        assert!(svg.contains("grey figures may be more than 50 % off"), "{}", chart.title);
    }
}
