//! Every document is read without loss, and what is shown, exported and reported of it stays.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use results::{Comparison, Document, Drift, Trend};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use testing::Place;

use crate::golden::{assert_printed, directory};

/// Every golden document with its name.
fn documents() -> Vec<(String, Value)> {
    let entries = fs::read_dir(directory().join("documents")).unwrap();
    let mut documents: Vec<(String, Value)> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let mut bytes = fs::read(&path).unwrap();
            if path.extension().is_some_and(|e| e == "gz") {
                let packed = std::mem::take(&mut bytes);
                GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
            }
            let name = path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap();
            (name.to_owned(), serde_json::from_slice(&bytes).unwrap())
        })
        .collect();
    documents.sort_by(|a, b| a.0.cmp(&b.0));
    documents
}

/// Those that a history holds. Comparisons, trends and the like are kept nowhere.
fn kept() -> Vec<(String, Value)> {
    let is_kept = |d: &Value| results::KINDS.iter().any(|kind| d["schema"] == kind.schema);
    documents().into_iter().filter(|(_, document)| is_kept(document)).collect()
}

fn place() -> Place {
    Place::new(env!("CARGO_BIN_EXE_iosonde"))
}

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

/// Asserts that a document is as it was; the lines that differ first are enough.
#[track_caller]
fn assert_same(name: &str, old: &Value, new: &Value) {
    let lines = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    let (a, b) = (lines(old), lines(new));
    let differs = a.lines().zip(b.lines()).enumerate().find(|(_, (a, b))| a != b);
    assert!(old == new, "{name}, first {differs:?}");
}

#[test]
fn there_is_a_document_of_every_kind() {
    let documents = documents();
    let schemas: BTreeSet<&str> =
        documents.iter().map(|(_, document)| document["schema"].as_str().unwrap()).collect();
    let all = "assessment comparison cycle drift durability inspection knee measurement recording \
               runs scale sizes sweep trend validation";
    let all = all.split(' ').map(|kind| format!("iosonde.{kind}/1"));
    assert_eq!(schemas, all.collect::<Vec<_>>().iter().map(String::as_str).collect());
    let long = &documents.iter().find(|(name, _)| name == "assessment-long").unwrap().1;
    assert_eq!(long["mixed"]["matrix"]["cells"].as_array().unwrap().len(), 24);
    assert_eq!(long["beside"].as_array().unwrap().len(), 4);
}

#[test]
fn every_document_is_read_without_loss() {
    for (name, document) in documents() {
        assert_same(&name, &document, &again(&document));
    }
}

/// Imported into a new history, a document is the same, and so is what is shown of it.
#[test]
fn every_document_is_imported_shown_and_exported() {
    let place = place();
    let documents = kept();
    let files: Vec<String> = documents.iter().map(|(name, _)| format!("{name}.json")).collect();
    for (file, (_, document)) in files.iter().zip(&documents) {
        fs::write(place.path(file), document.to_string()).unwrap();
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    place.says(&[&["history", "import"], files.as_slice()].concat());
    for (name, document) in &documents {
        let id = document["id"].as_str().unwrap();
        assert_same(name, document, &place.json(&["history", "show", id]));
        let text = place.says(&["history", "show", id]);
        assert_printed(&format!("printed/{name}.txt"), &text);
    }
    assert_printed("printed/list.txt", &place.says(&["history", "list"]));
    let csv = ["history", "export", "--format", "csv"];
    assert_printed("printed/export.csv", &place.says(&csv));
    let sqlio = place.says(&[&csv[..], &["--columns", "sqlio"]].concat());
    assert_printed("printed/export-sqlio.csv", &sqlio);
}

#[test]
fn every_document_is_reported_in_every_format() {
    let place = place();
    for (name, document) in kept() {
        let file = format!("{name}.json");
        fs::write(place.path(&file), document.to_string()).unwrap();
        let report = |extension: &str| place.report(&file, &format!("{name}.report.{extension}"));
        assert!(report("html").starts_with(b"<!DOCTYPE html>"), "{name}");
        assert!(report("xlsx").starts_with(b"PK"), "{name}");
        assert_same(&name, &document, &serde_json::from_slice(&report("json")).unwrap());
        for extension in ["csv", "md"] {
            let text = String::from_utf8(report(extension)).unwrap();
            assert_printed(&format!("printed/{name}.{extension}"), &text);
        }
    }
}
