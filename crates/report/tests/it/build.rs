//! What a report says of documents of every kind.

use std::collections::HashSet;
use std::sync::OnceLock;

use proptest::prelude::*;
use report::model::{Block, Cell, Chart, Report, ResultPart, Scale, Side, Table};
use results::Document;
use serde_json::{Value, json};
use workload::sweep::Matrix;
use workload::{Bytes, Pattern};

use crate::documents;
use crate::sample;

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
        let is_assessment = matches!(document, Document::Assessment(_));
        let start: &[&str] = if is_assessment { &["glance"] } else { &[] };
        assert_eq!(keys, [start, &["verdict", "tested"], &keys[start.len() + 2..]].concat());
        let end = &keys[keys.len() - 4..];
        assert_eq!(end, ["environment", "method", "warnings", "glossary"], "{}", part.kind);
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

/// That a device may lie stood in the HTML report only; that credits may last longer than a
/// measurement, nowhere.
#[test]
fn doubts_and_what_was_not_seen_are_in_every_output() {
    let found = sample::assessment_in_doubt();
    let json = serde_json::to_string(&found).unwrap();
    let html = report::html::page(&report::build(&[Document::Assessment(Box::new(found.clone()))]))
        .unwrap();
    let report = report::build(&[Document::Assessment(Box::new(found))]);
    let outputs = [json, html, report::markdown::text(&report)];
    for said in [
        "Not believed: a durable write took 0.02 ms",
        "had two levels: 90 000 IOPS, and later 500 IOPS.",
        "Measured for 30 s per load: burst credits that last longer",
    ] {
        for (place, output) in outputs.iter().enumerate() {
            assert!(output.contains(said), "`{said}` is missing in output {place}");
        }
    }
}

#[test]
fn the_charts_of_the_founding_documents_are_there() {
    let knee = keys_of(documents::knee());
    has(&knee, &["saturation-8k-random-read", "bandwidth-8k-random-read", "queue-8k-random-read"]);
    has(&knee, &["throughput-latency"]);
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
    has(&assessment, &["throughput-latency"]);
    has(&assessment, &["percentiles", "agreement", "saturation-8k-random-read"]);
    let measurement = keys_of(documents::measurement());
    let title = "8k-random-70-read-30-write";
    has(&measurement, &["percentiles", &format!("histogram-{title}"), &format!("time-{title}")]);
}

#[test]
fn what_was_never_measured_is_said_and_drawn_nowhere() {
    let empty = Document::Assessment(Box::new(sample::empty()));
    let report = report::build(&[empty]);
    is_sound(&report);
    assert!(charts(&report.results[0]).is_empty());
    assert!(report.results[0].banner.as_ref().unwrap().contains("Interrupted"));
    assert_eq!(report::build(&[]).title, "No results");
}

#[test]
fn figures_that_are_no_numbers_are_left_out() {
    let mut m = documents::measured();
    m.total.iops = f64::NAN;
    m.total.mib_per_s = f64::INFINITY;
    m.seconds = f64::NAN;
    m.series.iter_mut().step_by(2).for_each(|p| p.read_iops = f64::NAN);
    is_sound(&report::build(&[Document::Measurement(Box::new(m))]));
}

#[test]
fn hundreds_of_cells_make_a_few_dozen_charts() {
    let matrix = Matrix {
        writes: vec![0, 100],
        patterns: vec![Pattern::Random, Pattern::Sequential],
        blocks: [2, 4, 8, 64].map(|k| Bytes(k << 10)).to_vec(),
        threads: vec![1, 2, 4, 8, 16, 32],
        depths: vec![1, 2, 4, 8, 16, 32],
        seconds: 0.2,
        warmup_seconds: 0.0,
        ..Matrix::default()
    };
    let report = report::build(&[documents::swept(matrix, false)]);
    is_sound(&report);
    let charts = charts(&report.results[0]);
    assert!((20..=45).contains(&charts.len()), "{} charts", charts.len());
    let cells = tables(&report.results[0]).into_iter().find(|t| t.key == "cells").unwrap();
    assert_eq!(cells.rows.len(), 576);
}

/// Puts something absurd in a place of a document that the seed chooses.
fn disturb(value: &mut Value, seed: &mut u64) {
    let mut next = |below: usize| {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) as usize % below.max(1)
    };
    match value {
        Value::Number(_) => {
            let absurd =
                [json!(0), json!(1e300), json!(-7.5), json!(u64::MAX), json!(1), json!(1e-300)];
            *value = absurd[next(absurd.len())].clone();
        }
        Value::String(text) => {
            let absurd = ["", "\u{202E}<b>\n|", "9999-99-99T99:99:99Z", "AAAA", "read", "\u{7}"];
            absurd[next(absurd.len())].clone_into(text);
        }
        Value::Array(values) if !values.is_empty() && next(4) > 0 => {
            let place = next(values.len());
            disturb(&mut values[place], seed);
        }
        Value::Array(values) => match next(3) {
            0 => values.clear(),
            1 => values.truncate(1),
            _ => values.extend(values.first().cloned()),
        },
        Value::Object(fields) => {
            let place = next(fields.len());
            if let Some(field) = fields.values_mut().nth(place) {
                disturb(field, seed);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn samples() -> &'static [Value] {
    static SAMPLES: OnceLock<Vec<Value>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let mut all = documents::all();
        all.push(Document::Assessment(Box::new(sample::assessment_with_findings())));
        all.iter().map(|d| serde_json::to_value(d).unwrap()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn absurd_documents_make_sound_reports(which in 0usize..8, seed in any::<u64>()) {
        let mut value = samples()[which].clone();
        let mut seed = seed;
        let mut document = Document::from_value(value.clone()).unwrap();
        for _ in 0..8 {
            let mut changed = value.clone();
            disturb(&mut changed, &mut seed);
            if let Ok(read) = Document::from_value(changed.clone()) {
                (value, document) = (changed, read);
            }
        }
        let report = report::build(&[document]);
        is_sound(&report);
        prop_assert!(!report::markdown::text(&report).is_empty());
        prop_assert!(!report::csv::text(&report).is_empty());
    }
}

#[test]
fn a_reason_to_doubt_stands_once_on_the_card() {
    let mut measured = sample::mixed();
    let why = measured.kernel.as_ref().unwrap().agreement.as_ref().unwrap().explanation.clone();
    measured.checks.warnings = vec!["4 s are too short".to_owned(), why.clone()];
    let report = report::build(&[Document::Measurement(Box::new(measured))]);
    let blocks = report.results[0].sections.iter().flat_map(|s| &s.blocks);
    let cards = blocks.filter_map(|b| if let Block::Cards(c) = b { Some(c) } else { None });
    let card = &cards.collect::<Vec<_>>()[0][0];
    assert_eq!(card.answer, "2 reasons to doubt");
    assert_eq!(card.evidence.iter().filter(|e| **e == why).count(), 1, "{:?}", card.evidence);
}
