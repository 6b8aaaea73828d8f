//! The published schemas are those of the code, and what the program prints keeps them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use testing::program::program;

fn iosonde(args: &[&str]) -> Output {
    let history = Path::new(env!("CARGO_TARGET_TMPDIR")).join("history-of-schema-tests.db");
    program(env!("CARGO_BIN_EXE_iosonde"), &history).args(args).output().unwrap()
}

fn published(document: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("docs/schema").join(format!("{document}.json"))
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

fn assert_keeps(document: &str, instance: &Value) {
    let validator = jsonschema::validator_for(&read(&published(document))).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(instance).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{document}: {errors:#?}");
}

/// Run with `IOSONDE_UPDATE=1` to write the schemas anew after a change of the documents.
#[test]
fn the_published_schemas_are_those_of_the_code() {
    for document in [
        "measurement",
        "runs",
        "assessment",
        "knee",
        "sweep",
        "sizes",
        "scale",
        "cycle",
        "recording",
        "validation",
        "durability",
        "comparison",
        "trend",
        "drift",
        "inspection",
    ] {
        let printed = iosonde(&["schema", document]);
        assert!(printed.status.success());
        let path = published(document);
        if std::env::var_os("IOSONDE_UPDATE").is_some() {
            std::fs::write(&path, &printed.stdout).unwrap();
        }
        let current: Value = serde_json::from_slice(&printed.stdout).unwrap();
        assert_eq!(current, read(&path), "docs/schema/{document}.json is stale");
    }
}

#[test]
fn measurements_keep_their_schema() {
    let sim = ["--sim", "servers = 4, fail_every = 1000", "--on-error", "continue"];
    let closed =
        ["run", "--engine", "sim", "--json", "--depth", "8", "--write", "30", "--sync-every", "10"];
    let open = ["run", "--engine", "sim", "--json", "--depth", "8", "--rate", "5000"];
    let short = ["--seconds", "2", "--warmup", "0", "--quiet"];
    for run in [&closed[..], &open[..]] {
        let output = iosonde(&[run, &sim[..], &short[..]].concat());
        assert_eq!(output.status.code(), Some(1), "some I/Os failed");
        assert_keeps("measurement", &serde_json::from_slice(&output.stdout).unwrap());
    }
    let null = ["run", "--engine", "null", "--json", "--seconds", "0.1", "--warmup", "0"];
    for (repeat, document) in [(&[][..], "measurement"), (&["--repeat", "2"], "runs")] {
        let output = iosonde(&[&null[..], repeat].concat());
        assert_eq!(output.status.code(), Some(0));
        assert_keeps(document, &serde_json::from_slice(&output.stdout).unwrap());
    }
}

#[test]
fn inspections_keep_their_schema() {
    for target in [&["inspect", "--json"][..], &["inspect", "--json", "."]] {
        let output = iosonde(target);
        assert_eq!(output.status.code(), Some(0));
        assert_keeps("inspection", &serde_json::from_slice(&output.stdout).unwrap());
    }
}

#[test]
fn assessments_keep_their_schema() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("r.html");
    let report = report.to_str().unwrap();
    let args =
        ["assess", "--engine", "sim", "--pace", "quick", "--json", "--quiet", "--report", report];
    let output = iosonde(&args);
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("assessment", &serde_json::from_slice(&output.stdout).unwrap());
    assert!(std::fs::read_to_string(report).unwrap().starts_with("<!DOCTYPE html>"));
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 1, "the journal is gone when the report is there");
}

#[test]
fn sweeps_keep_their_schema() {
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join("h.db");
    let history = history.to_str().unwrap();
    let lists = ["--depths", "1,8,16", "--writes", "0,100", "--blocks", "8K,64K"];
    let short = ["--seconds", "0.1", "--warmup", "0", "--json", "--quiet", "--history", history];
    let output = iosonde(&[&["sweep", "--engine", "sim"], &lists[..], &short[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("sweep", &serde_json::from_slice(&output.stdout).unwrap());
}

#[test]
fn knees_keep_their_schema() {
    let sim = ["--sim", "servers = 4", "--latency-target", "1ms@p99", "--link", "PCIe3x4"];
    let short = ["--seconds", "1", "--precision", "0", "--quiet"];
    let output = iosonde(&[&["knee", "--engine", "sim", "--json"], &sim[..], &short[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("knee", &serde_json::from_slice(&output.stdout).unwrap());
}

#[test]
fn validations_keep_their_schema() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap();
    let small = ["--size", "8M", "--log-size", "8M", "--seconds", "0.5", "--json", "--quiet"];
    let output = iosonde(&[&["validate", place, "--no-history"], &small[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_keeps("validation", &document);
    assert_eq!(document["conclusion"]["verdict"], "right");
}

#[test]
fn checks_behind_a_crash_keep_their_schema() {
    let directory = tempfile::tempdir().unwrap();
    let (place, witness) = (directory.path().to_str().unwrap(), directory.path().join("w"));
    let small = ["--size", "8M", "--depth", "4", "--kill-after", "0.3", "--json", "--quiet"];
    let witness = ["--witness-file", witness.to_str().unwrap(), "--no-history"];
    let durability = ["validate", place, "--durability", "--order", "log-then-page"];
    let output = iosonde(&[&durability[..], &small, &witness].concat());
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_keeps("durability", &document);
    assert_eq!(document["conclusion"]["verdict"], "kept");
}

#[test]
fn a_measurement_reads_back_as_it_was_written() {
    let output =
        iosonde(&["run", "--engine", "sim", "--json", "--seconds", "1", "--warmup", "0", "-q"]);
    let read: results::Measurement = serde_json::from_slice(&output.stdout).unwrap();
    let again = serde_json::to_value(&read).unwrap();
    assert_eq!(again, serde_json::from_slice::<Value>(&output.stdout).unwrap());
}

#[test]
fn experiments_over_sizes_and_targets_keep_their_schemas() {
    let sim = ["--engine", "sim", "--json", "--quiet", "--seconds", "4", "--at-least", "2"];
    let cache = ["--sim", r#"cache = { size_bytes = "1G", hit_ns = "10us" }"#];
    let output = iosonde(&[&["sizes", "--sizes", "512M,2G,4G"], &sim[..], &cache[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("sizes", &serde_json::from_slice(&output.stdout).unwrap());
    let output =
        iosonde(&[&["scale", "a", "b", "--size", "1G", "--depth", "4"], &sim[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("scale", &serde_json::from_slice(&output.stdout).unwrap());
}

#[test]
fn configurations_of_iometer_keep_their_schema() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("t.icf");
    let text = include_str!("../../dialects/tests/iometer/v1.1.0.icf");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let sim = ["--engine", "sim", "--seconds", "1", "--json", "--quiet", "--no-history"];
    let output = iosonde(&[&["iometer", "-c", file], &sim[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("cycle", &serde_json::from_slice(&output.stdout).unwrap());
}
