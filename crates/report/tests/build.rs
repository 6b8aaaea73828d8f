//! What a report says of documents of every kind.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod documents;
mod sample;

use std::collections::HashSet;

use report::model::{Block, Cell, Chart, Report, ResultPart, Scale, Side, Table};
use results::Document;

fn charts(part: &ResultPart) -> Vec<&Chart> {
    let blocks = part.sections.iter().flat_map(|s| &s.blocks);
    let charts = blocks.flat_map(|b| match b {
        Block::Chart(chart) => std::slice::from_ref(chart),
        Block::Charts(charts) => charts.as_slice(),
        _ => &[],
    });
    charts.collect()
}

fn tables(part: &ResultPart) -> Vec<&Table> {
    let blocks = part.sections.iter().flat_map(|s| &s.blocks);
    blocks.filter_map(|b| if let Block::Table(table) = b { Some(table) } else { None }).collect()
}

/// What every format relies on.
#[track_caller]
fn is_sound(report: &Report) {
    for part in &report.results {
        let mut keys = HashSet::new();
        assert!(part.sections.iter().all(|s| keys.insert(s.key) && !s.blocks.is_empty()));
        let mut keys = HashSet::new();
        for table in tables(part) {
            assert!(keys.insert(&table.key), "{} twice", table.key);
            assert!(table.rows.iter().all(|r| r.len() == table.columns.len()), "{}", table.key);
            let finite = |c: &Cell| !matches!(c, Cell::Number(n) if !n.is_finite());
            assert!(table.rows.iter().flatten().all(finite), "{}", table.key);
        }
        for chart in charts(part) {
            assert!(keys.insert(&chart.key), "{} twice", chart.key);
            is_drawable(chart);
        }
    }
}

#[track_caller]
fn is_drawable(chart: &Chart) {
    assert!(chart.series.iter().any(|s| s.points.len() > 1), "{} has one point", chart.key);
    for series in &chart.series {
        let points = &series.points;
        assert!(points.iter().all(|p| p.x.is_finite() && p.y.is_finite()), "{}", chart.key);
        assert!(points.windows(2).all(|w| w[0].x <= w[1].x), "{}", chart.key);
        assert!(series.side == Side::Left || chart.right.is_some(), "{}", chart.key);
        match &chart.x.scale {
            Scale::Names(names) => {
                assert!(
                    points.iter().all(|p| p.x >= 0.0 && p.x < names.len() as f64),
                    "{}",
                    chart.key
                );
            }
            Scale::Log2 | Scale::Log10 => {
                assert!(points.iter().all(|p| p.x > 0.0), "{}", chart.key);
            }
            Scale::Linear => {}
        }
    }
}

#[test]
fn a_document_of_every_kind_becomes_a_sound_report() {
    let documents = documents::all();
    let report = report::build(&documents);
    is_sound(&report);
    assert_eq!(report.results.len(), documents.len());
    for (part, document) in report.results.iter().zip(&documents) {
        let keys: Vec<&str> = part.sections.iter().map(|s| s.key).collect();
        assert_eq!(keys.first(), Some(&"verdict"), "{}", part.kind);
        assert_eq!(keys.get(1), Some(&"tested"), "{}", part.kind);
        let end = &keys[keys.len() - 3..];
        assert_eq!(end, ["environment", "method", "warnings"], "{}", part.kind);
        assert!(keys.contains(&"loads") && keys.contains(&"agreement"), "{}", part.kind);
        assert_eq!(part.document.id(), document.id());
        assert!(!charts(part).is_empty(), "{}", part.kind);
    }
}

#[test]
fn every_caption_has_the_file_size_the_load_and_what_is_in_flight() {
    for part in &report::build(&documents::all()).results {
        let captions = charts(part).into_iter().map(|c| (&c.key, &c.caption));
        let captions = captions.chain(tables(part).into_iter().map(|t| (&t.key, &t.caption)));
        for (key, caption) in captions {
            assert!(caption.starts_with("File "), "{key}: {caption}");
            assert!(caption.contains("iB"), "{key}: {caption}");
            assert!(caption.contains("in flight"), "{key}: {caption}");
            let load = ["random", "sequential"].iter().any(|w| caption.contains(w));
            assert!(load, "{key}: {caption}");
        }
    }
}

fn keys_of(document: Document) -> Vec<String> {
    let report = report::build(&[document]);
    charts(&report.results[0]).iter().map(|c| c.key.clone()).collect()
}

#[track_caller]
fn has(keys: &[String], wanted: &[&str]) {
    for key in wanted {
        assert!(keys.iter().any(|k| k == key), "no {key} in {keys:?}");
    }
}

#[test]
fn the_charts_of_the_founding_documents_are_there() {
    let knee = keys_of(documents::knee());
    has(
        &knee,
        &["saturation-8k-random-read", "saturation-8k-random-read-2", "queue-8k-random-read"],
    );
    let sizes = keys_of(documents::sizes());
    has(&sizes, &["sizes", "cache-share"]);
    let scale = keys_of(documents::scale());
    has(&scale, &["scaling", "alone-and-together"]);
    let sweep = keys_of(documents::sweep());
    let cases = ["cases-iops", "cases-mib-per-s", "cases-latency"];
    has(&sweep, &cases);
    has(&sweep, &["threads-throughput-8k-random-read", "threads-latency-64k-sequential-write"]);
    has(&sweep, &["total-8k-random-write", "combinations-8k-random-read"]);
    let assessment = Document::Assessment(Box::new(sample::assessment_with_findings()));
    let assessment = keys_of(assessment);
    has(&assessment, &cases);
    has(&assessment, &["percentiles", "agreement", "saturation-8k-random-read"]);
    let measurement = keys_of(documents::measurement());
    let title = "8k-random-70-read-30-write";
    has(&measurement, &["percentiles", &format!("histogram-{title}"), &format!("time-{title}")]);
}
