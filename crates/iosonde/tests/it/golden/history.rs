//! The history that holds them is opened, listed, exported and compared.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::golden::changes::{IMPORTED, TEXTS, assert_known};
use crate::golden::documents::{assert_same, is_absent_now};
use crate::golden::files::{documents, golden_place, kept, place, printed};
use crate::golden::{figures, tables};

/// Sentences about the method that are worded anew, as they were and as they are.
const REWORDED: [(&str, &str); 4] = [
    (
        "8 KiB random 70 % read / 30 % write, counting bytes; 8 KiB random 70 % read / 30 % write, \
         counting bytes",
        "8 KiB random 70 % read / 30 % write, counting bytes",
    ),
    (
        "Measurements are compared where file size, block sizes, pattern, depth, threads, cache, \
         durability, data, rate and place in the file are the same; the runs of one side are all \
         of its measurements of the same conditions.",
        "Two measurements are comparable if file size, block sizes, pattern, depth, threads, \
         cache, durability, data, rate and place in the file are the same. The runs of one side \
         are all of its measurements under the same conditions.",
    ),
    (
        "A series holds one load on one target of one host, with one value for each result: the \
         geometric mean of its runs.",
        "A series holds one load on one target of one host, with one value per result: the \
         geometric mean of its runs.",
    ),
    (
        "Changes of level are found by e-divisive means with a t-test in series of 8 results or \
         more; a level has at least three, and a change at least 1 %.",
        "Changes of level are found by e-divisive means with a t-test in series of 8 results or \
         more. A level has at least three, and a change at least 1 %.",
    ),
];

/// Asserts that all that was said of something is said now. There may be more.
#[track_caller]
fn assert_holds(path: &str, old: &Value, new: &Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, old) in old {
                if is_absent_now(key, old, new) {
                    continue;
                }
                let path = format!("{path}/{key}");
                assert_holds(&path, old, new.get(key).unwrap_or_else(|| panic!("no {path}")));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            assert_eq!(old.len(), new.len(), "{path}");
            for (number, (old, new)) in old.iter().zip(new).enumerate() {
                assert_holds(&format!("{path}/{number}"), old, new);
            }
        }
        (Value::String(old), Value::String(new)) => {
            // What is concluded anew says "instead of" where it said "in place of".
            let reworded =
                old.replace("in place of", "instead of").replace("pages behind a", "pages after a");
            let is_said = REWORDED.contains(&(old.as_str(), new.as_str()));
            assert!(new == old || *new == reworded || is_said, "{path}: `{old}`, now `{new}`");
        }
        _ => assert_eq!(old, new, "{path}"),
    }
}

/// The lines of an export by the ids of results; what it says of itself has none.
fn lines(text: &str) -> BTreeMap<String, Value> {
    let values = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    values.map(|value| (value["id"].as_str().unwrap_or_default().to_owned(), value)).collect()
}

#[test]
fn the_history_is_whole_and_holds_the_documents() {
    let place = golden_place();
    place.says(&["history", "check"]);
    let kept = kept();
    let mut found = Vec::new();
    for (name, document) in documents().into_iter().filter(|(name, _)| kept.contains(name)) {
        let tag = format!("@{name}");
        assert_same(&name, &document, &place.json(&["history", "show", &tag]));
        let text = place.says(&["history", "show", &tag]);
        found.extend(figures::differences(&name, &printed(&format!("{name}.txt")), &text));
    }
    assert_known(found, TEXTS);
}

#[test]
fn the_history_is_listed_as_before() {
    let place = golden_place();
    let new: Value = place.json(&["history", "list"]);
    assert_holds("list", &serde_json::from_str(&printed("list.json")).unwrap(), &new);
    let text = place.says(&["history", "list"]);
    assert_eq!(figures::differences("list", &printed("list.txt"), &text), [""; 0]);
}

#[test]
fn the_history_is_exported_as_before() {
    let place = golden_place();
    for (name, flags) in [
        ("export.csv", &["--format", "csv"][..]),
        ("export-sqlio.csv", &["--format", "csv", "--columns", "sqlio"]),
        ("series.csv", &["--format", "csv", "--series"]),
    ] {
        let new = place.says(&[&["history", "export"], flags].concat());
        let mut found = tables::differences(name, &printed(name), &new);
        // The size that another tool does not report was 0.
        found.retain(|difference| !difference.ends_with(" file_bytes: 0 -> "));
        assert_eq!(found, [""; 0]);
    }
    let (old, new) = (lines(&printed("export.jsonl")), lines(&place.says(&["history", "export"])));
    assert_eq!(old.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>());
    for (id, old) in &old {
        assert_holds(id, old, &new[id]);
        if !id.is_empty() && !old["document"].is_null() {
            assert_same(id, &old["document"], &new[id]["document"]);
        }
    }
    place.says(&["history", "export", "-o", "export.parquet"]);
}

/// The verdict, and every figure with its interval, of results that were measured before.
#[test]
fn results_are_compared_as_before() {
    let place = golden_place();
    let old: BTreeMap<String, Value> = documents().into_iter().collect();
    for (name, command) in [
        ("comparison", &["compare", "@runs", "@runs-slow"][..]),
        ("trend", &["trend", "sim", "--load", "8 KiB 30 % write"]),
    ] {
        let command = [&["history"], command].concat();
        let mut new = place.json(&command);
        // It names the program that compares, not the one that measured.
        assert_eq!(new["tool_version"], env!("CARGO_PKG_VERSION"));
        new["tool_version"] = old[name]["tool_version"].clone();
        assert_holds(name, &old[name], &new);
        let text = place.says(&command);
        let printed = printed(&format!("{name}.txt"));
        assert_eq!(figures::differences(name, &printed, &text), [""; 0]);
    }
}

/// An export of an earlier version comes into a new history whole, and out of it the same.
#[test]
fn an_export_is_imported_as_before() {
    let place = place();
    let export = printed("export.jsonl");
    std::fs::write(place.path("export.jsonl"), &export).unwrap();
    place.says(&["history", "import", "export.jsonl"]);
    let (old, new) = (lines(&export), lines(&place.says(&["history", "export"])));
    for (id, old) in &old {
        assert_holds(id, old, &new[id]);
    }
    let new = place.says(&["history", "export", "--format", "csv"]);
    assert_known(tables::differences("export.csv", &printed("export.csv"), &new), IMPORTED);
}
