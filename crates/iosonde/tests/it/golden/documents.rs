//! Every document is read without loss, and shown and exported in every format.

use std::collections::BTreeSet;
use std::fs;

use results::{Comparison, Document, Drift, Trend};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::golden::changes::{REPORTS, TEXTS, assert_known};
use crate::golden::files::{documents, kept, later, place, printed};
use crate::golden::{figures, tables};

/// What is written of a document that was read.
fn again(document: &Value) -> Value {
    fn of<T: Serialize + DeserializeOwned>(document: &Value) -> Value {
        let read: T = serde_json::from_value(document.clone()).unwrap();
        serde_json::to_value(read).unwrap()
    }
    match document["schema"].as_str().unwrap() {
        results::COMPARISON_SCHEMA => of::<Comparison>(document),
        results::TREND_SCHEMA => of::<Trend>(document),
        results::DRIFT_SCHEMA => of::<Drift>(document),
        inspect::INSPECTION_SCHEMA => of::<inspect::Inspection>(document),
        _ => serde_json::to_value(Document::from_value(document.clone()).unwrap()).unwrap(),
    }
}

/// Where two values differ.
/// Figures that were 0 where they were not known.
const UNKNOWN: [&str; 4] = ["cpus", "memory_bytes", "memory_available_bytes", "file_bytes"];

/// Whether a figure that another tool does not report was 0, and is absent now.
pub(crate) fn is_absent_now(key: &str, old: &Value, new: &serde_json::Map<String, Value>) -> bool {
    UNKNOWN.contains(&key) && old.as_u64() == Some(0) && !new.contains_key(key)
}

fn differences(path: &str, a: &Value, b: &Value, found: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                if a.get(key).is_some_and(|old| is_absent_now(key, old, b)) {
                    continue;
                }
                let value = |of: &serde_json::Map<String, Value>| of.get(key).cloned();
                match (value(a), value(b)) {
                    (Some(a), Some(b)) => differences(&format!("{path}/{key}"), &a, &b, found),
                    (a, b) => found.push(format!("{path}/{key}: {a:?} -> {b:?}")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (number, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}/{number}"), a, b, found);
            }
        }
        _ if a == b => (),
        _ => found.push(format!("{path}: {a} -> {b}")),
    }
}

/// Asserts that a document is what it was.
#[track_caller]
pub(crate) fn assert_same(name: &str, old: &Value, new: &Value) {
    let mut found = Vec::new();
    differences(name, old, new, &mut found);
    assert!(
        found.is_empty(),
        "{} differences, first {:#?}",
        found.len(),
        &found[..found.len().min(9)]
    );
}

/// Parts that documents have had since the golden history was written.
#[test]
fn later_documents_are_read_without_loss_and_shown() {
    let later = later();
    let baseline = later.iter().find(|(name, _)| name == "assessment-long").unwrap();
    assert!(baseline.1["mixed"]["matrix"]["cells"].as_array().unwrap().len() == 24);
    assert_eq!(baseline.1["beside"].as_array().unwrap().len(), 4);
    let place = place();
    for (name, document) in &later {
        assert_same(name, document, &again(document));
        let file = place.path(&format!("{name}.json"));
        fs::write(&file, document.to_string()).unwrap();
        for format in ["html", "md", "csv", "xlsx"] {
            let shown = place.report(file.to_str().unwrap(), &format!("{name}.{format}"));
            assert!(shown.len() > 1000, "{name}.{format}");
        }
    }
}

#[test]
fn there_is_a_document_of_every_kind() {
    let documents = documents();
    let schemas: BTreeSet<&str> =
        documents.iter().map(|(_, document)| document["schema"].as_str().unwrap()).collect();
    // Kinds that are newer than the golden files are not among them.
    let old = [
        "measurement",
        "runs",
        "assessment",
        "knee",
        "sweep",
        "sizes",
        "scale",
        "cycle",
        "recording",
    ];
    let others = ["validation", "durability", "comparison", "trend", "drift", "inspection"];
    let all = old.iter().chain(&others).map(|kind| format!("iosonde.{kind}/1"));
    assert_eq!(schemas, all.collect::<Vec<_>>().iter().map(String::as_str).collect());
}

#[test]
fn every_document_is_read_without_loss() {
    let mut found = Vec::new();
    for (name, document) in documents() {
        differences(&name, &document, &again(&document), &mut found);
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Imported into a new history, a document is the same, and its text has the same figures.
#[test]
fn every_document_is_imported_and_shown() {
    let place = place();
    let kept = kept();
    let documents: Vec<_> =
        documents().into_iter().filter(|(name, _)| kept.contains(name)).collect();
    let file = |name: &str| format!("{name}.json");
    for (name, document) in &documents {
        fs::write(place.path(&file(name)), document.to_string()).unwrap();
    }
    let files: Vec<String> = documents.iter().map(|(name, _)| file(name)).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    place.says(&[&["history", "import"], files.as_slice()].concat());
    let mut found = Vec::new();
    for (name, document) in &documents {
        let id = document["id"].as_str().unwrap();
        assert_same(name, document, &place.json(&["history", "show", id]));
        let text = place.says(&["history", "show", id]);
        found.extend(figures::differences(name, &printed(&format!("{name}.txt")), &text));
    }
    assert_known(found, TEXTS);
}

#[test]
fn every_document_is_reported_in_every_format() {
    let place = place();
    let kept = kept();
    let mut found = Vec::new();
    for (name, document) in documents().into_iter().filter(|(name, _)| kept.contains(name)) {
        let file = format!("{name}.json");
        fs::write(place.path(&file), document.to_string()).unwrap();
        let report = |extension: &str| place.report(&file, &format!("{name}.report.{extension}"));
        assert!(report("html").starts_with(b"<!DOCTYPE html>"), "{name}");
        assert!(report("xlsx").starts_with(b"PK"), "{name}");
        let again: Value = serde_json::from_slice(&report("json")).unwrap();
        assert_same(&name, &document, &again);
        let text = |extension: &str| String::from_utf8(report(extension)).unwrap();
        let old = |extension: &str| printed(&format!("{name}.{extension}"));
        let (csv, markdown) = (format!("{name}.csv"), format!("{name}.md"));
        found.extend(tables::differences(&csv, &old("csv"), &text("csv")));
        found.extend(figures::differences(&markdown, &old("md"), &text("md")));
    }
    assert_known(found, REPORTS);
}
