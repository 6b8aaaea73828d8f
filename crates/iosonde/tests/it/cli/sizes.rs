//! `iosonde sizes`, on a simulated device and on a real file.

use std::path::Path;
use std::process::Output;

use results::edge::Outcome;
use results::{Experiment, Sizes};

use crate::cli::program::{code, command, fails, names, stderr, succeeds};

const CACHE: &str =
    r#"read_ns = "4ms", cache = { kind = "lru", size_bytes = "700M", hit_ns = "200us" }"#;
const QUICK: [&str; 6] = ["--seconds", "5", "--at-least", "3", "--sizes", "512M,1G,4G"];

fn simulated(more: &[&str]) -> Output {
    let sim = ["sizes", "--engine", "sim", "--sim", CACHE, "--quiet"];
    command(&[&sim[..], &QUICK[..], more].concat()).output().unwrap()
}

#[test]
fn the_text_gives_the_curve_the_cache_and_where_the_rule_is() {
    let output = simulated(&[]);
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    for words in ["sim, file size 4 GiB", "512 MiB", "A cache of about 7", "20 times the cache"] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    assert!(text.contains("The rule that was applied is in the full report"), "{text}");
    assert!(!text.contains("C ="), "a terminal has no room for it: {text}");
}

#[test]
fn the_document_holds_the_conclusion_and_every_measurement() {
    let output = simulated(&["--json"]);
    succeeds(&output);
    let experiment: Experiment<Sizes> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(experiment.schema, "iosonde.sizes/1");
    assert_eq!(experiment.measurements.len(), 3);
    let edge = experiment.conclusion.edge.unwrap();
    assert_eq!(edge.outcome, Outcome::Found);
    let cache = edge.cache.unwrap().bytes as f64 / f64::from(700 << 20);
    assert!((cache - 1.0).abs() < 0.1, "{cache} of the true size");
}

#[test]
fn a_real_file_is_made_once_and_removed() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().to_str().unwrap();
    let args = ["sizes", target, "--sizes", "8M,16M", "--seconds", "0.2", "--precision", "0"];
    let output = command(&[&args[..], &["--warmup", "0", "--buffered"]].concat()).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.contains("file size 16 MiB"), "{text}");
    assert!(text.contains("all of it was read once in order"), "{text}");
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn a_dry_run_touches_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().to_str().unwrap();
    let output = command(&["sizes", target, "--sizes", "8M,16M", "--dry-run"]).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("make a test file") && text.contains("16 MiB"), "{text}");
    assert!(text.contains("about 2 measurements in "), "{text}");
    assert!(text.contains(" and at most 4 min of reading before them"), "{text}");
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_done() {
    fails(&simulated(&["--span", "1G"]), 2, "name the sizes with `--sizes`");
    fails(&simulated(&["--fill-seconds", "1e9"]), 2, "--fill-seconds is 1000000000");
    fails(&simulated(&["--size", "600M"]), 2, "two sizes at least must fit");
    let none = command(&["sizes", "--quiet"]).output().unwrap();
    fails(&none, 2, "name a directory");
    let two = command(&["sizes", "/nowhere/a", "/nowhere/b", "--quiet"]).output().unwrap();
    assert_eq!(code(&two), 2, "{}", stderr(&two));
    assert!(!Path::new("/nowhere").exists());
}
