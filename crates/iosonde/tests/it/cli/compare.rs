//! `iosonde history compare`, `trend` and `drift`, over a history of simulated runs.

use std::path::PathBuf;
use std::process::Output;

use results::change::Change;
use results::{Comparison, Trend};
use tempfile::TempDir;

use crate::cli::program::{code, command, fails, succeeds};

/// A history of its own.
struct Store {
    _directory: TempDir,
    path: PathBuf,
}

impl Store {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("h.db");
        Self { _directory: directory, path }
    }

    fn iosonde(&self, args: &[&str]) -> Output {
        let history = ["--history", self.path.to_str().unwrap()];
        command(&[args, &history].concat()).output().unwrap()
    }

    /// Some simulated runs, recorded as one result.
    fn measured(&self, read_us: u32, runs: u32, seed: u32, more: &[&str]) {
        let noise = "noise = { run_percent = 1.0 }";
        let sim = format!("servers = 8, read_ns = \"{read_us}us\", {noise}");
        let (runs, seed) = (runs.to_string(), seed.to_string());
        let repeat = ["--repeat", &runs, "--seed", &seed, "--seconds", "1", "--warmup", "0"];
        let run = ["run", "--engine", "sim", "--sim", &sim, "--quiet"];
        let deep: &[&str] = if more.contains(&"--depth") { &[] } else { &["--depth", "8"] };
        succeeds(&self.iosonde(&[&run[..], &repeat, deep, more].concat()));
    }

    fn compared(&self, args: &[&str]) -> Comparison {
        let compare = [&["history", "compare"], args, &["--json"]].concat();
        let output = self.iosonde(&compare);
        succeeds(&output);
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

#[test]
fn a_slower_device_is_worse_and_fails_a_pipeline() {
    let store = Store::new();
    store.measured(100, 5, 1, &["--tag", "base"]);
    store.measured(100, 5, 2, &["--tag", "again"]);
    store.measured(130, 5, 3, &["--tag", "slow"]);
    assert_eq!(store.compared(&["@base", "@again"]).verdict, Change::Same);
    let worse = store.compared(&["@base", "@slow"]);
    assert_eq!(worse.verdict, Change::Worse);
    assert_eq!(worse.loads[0].runs_a.len(), 5);
    assert_eq!(store.compared(&["latest", "@base"]).verdict, Change::Better);
    let fail = |sides: [&str; 2]| {
        let output =
            store.iosonde(&["history", "compare", sides[0], sides[1], "--fail-on", "worse"]);
        (code(&output), String::from_utf8(output.stdout).unwrap())
    };
    let (exit, text) = fail(["@base", "@slow"]);
    assert_eq!(exit, 4);
    assert!(text.starts_with("Verdict: B is worse than A: IOPS: worse"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(fail(["@base", "@again"]).0, 0);
    assert_eq!(fail(["@slow", "@base"]).0, 0);
}

#[test]
fn a_baseline_is_every_older_result_of_its_tag() {
    let store = Store::new();
    store.measured(100, 3, 1, &["--tag", "base"]);
    store.measured(100, 3, 2, &["--tag", "base"]);
    store.measured(100, 3, 3, &[]);
    let found = store.compared(&["latest", "--baseline", "base"]);
    assert_eq!((found.a.name.as_str(), found.a.results.len()), ("@base", 2));
    assert_eq!((found.b.results.len(), found.loads[0].runs_a.len()), (1, 6));
    assert_eq!(found.verdict, Change::Same);
    // What is judged belongs to no baseline of its own, however it is tagged.
    store.measured(100, 3, 4, &["--tag", "base"]);
    assert_eq!(store.compared(&["latest", "--baseline", "@base"]).a.results.len(), 2);
    let missing = store.iosonde(&["history", "compare", "latest", "--baseline", "nothing"]);
    fails(&missing, 1, "no result has the tag `nothing`");
}

#[test]
fn single_runs_and_unlike_ones_get_no_verdict() {
    let store = Store::new();
    store.measured(100, 1, 1, &["--tag", "one"]);
    store.measured(400, 1, 2, &["--tag", "other"]);
    store.measured(100, 1, 3, &["--tag", "deep", "--depth", "16"]);
    let single = store.compared(&["@one", "@other"]);
    assert_eq!((single.verdict, single.withheld), (Change::CannotTell, false));
    let unlike = store.compared(&["@one", "@deep"]);
    assert!(unlike.withheld, "{}", unlike.explanation);
    assert_eq!(unlike.loads[0].unlike[0].name, "depth");
    let text = store.iosonde(&["history", "compare", "@one", "@deep", "--fail-on", "worse"]);
    succeeds(&text);
    let text = String::from_utf8(text.stdout).unwrap();
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("depth 8 16 withholds the verdict"), "{text}");
    assert!(!store.compared(&["@one", "@deep", "--anyway"]).withheld);
    // Once repeated runs have shown how far runs differ here, a change far beyond that is one.
    store.measured(100, 5, 4, &[]);
    assert_eq!(store.compared(&["@one", "@other"]).verdict, Change::Worse);
}

/// Each measurement of a result that did not come to its end counted as a result.
#[test]
fn a_result_without_an_end_is_one_result() {
    let store = Store::new();
    store.measured(100, 3, 1, &["--tag", "whole"]);
    store.measured(100, 2, 2, &["--tag", "begun"]);
    let sqlite = rusqlite::Connection::open(&store.path).unwrap();
    let begun = "(SELECT experiment FROM tags WHERE tag = 'begun')";
    let change = format!(
        "UPDATE documents SET document = NULL WHERE experiment = {begun}; UPDATE experiments SET \
         status = NULL, finished = NULL WHERE number = {begun}"
    );
    sqlite.execute_batch(&change).unwrap();
    let found = store.compared(&["@whole", "@begun"]);
    assert_eq!((found.a.results.len(), found.b.results.len()), (1, 1));
    assert_eq!(found.loads.len(), 1, "its measurements are compared");
    assert_eq!(found.b.results[0].kind, "run");
}

#[test]
fn what_is_asked_in_a_wrong_way_is_refused() {
    let store = Store::new();
    let compare = |args: &[&str]| store.iosonde(&[&["history", "compare"], args].concat());
    fails(&compare(&["a", "b"]), 1, "no history");
    store.measured(100, 1, 1, &[]);
    fails(&compare(&["latest", "nothing"]), 1, "nothing");
    fails(&compare(&["latest"]), 2, "required");
    fails(&compare(&["latest", "latest", "--baseline", "x"]), 2, "cannot be used");
    fails(&compare(&["latest", "latest", "--band", "90%"]), 2, "0.1 to 50");
    fails(&store.iosonde(&["history", "drift", "/", "--seconds", "0"]), 2, "--seconds");
}

#[test]
fn a_trend_shows_when_the_level_changed() {
    let store = Store::new();
    for seed in 0..5 {
        store.measured(100, 1, seed, &[]);
    }
    for seed in 5..9 {
        store.measured(150, 1, seed, &[]);
    }
    store.measured(100, 1, 9, &["--depth", "1"]);
    let output = store.iosonde(&["history", "trend", "--load", "8 kib depth 8", "--json"]);
    succeeds(&output);
    let trend: Trend = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(trend.loads.len(), 1);
    let load = &trend.loads[0];
    assert_eq!(load.points.len(), 9);
    assert_eq!(load.changes.iter().map(|c| c.index).collect::<Vec<_>>(), [5]);
    let by_id = ["history", "trend", "--load", &load.conditions_id, "--figure", "p99"];
    let output = store.iosonde(&by_id);
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("  p99 latency of 8 KiB random read, 1 thread × depth 8"), "{text}");
    assert!(text.contains('█'), "{text}");
    let nothing = store.iosonde(&["history", "trend", "/elsewhere"]);
    succeeds(&nothing);
    assert!(String::from_utf8(nothing.stdout).unwrap().starts_with("  Nothing"));
}

/// hyperfine's habit: several results, and how many times as fast the fastest is.
#[test]
fn several_results_are_ranked() {
    let store = Store::new();
    store.measured(100, 5, 1, &["--tag", "fast"]);
    store.measured(180, 5, 2, &["--tag", "slow"]);
    store.measured(125, 5, 3, &["--tag", "middle"]);
    let output = store.iosonde(&["history", "compare", "@slow", "@fast", "@middle"]);
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no `{words}` in {text}"));
    assert!(at("\n  @fast") < at("\n  @middle") && at("\n  @middle") < at("\n  @slow"));
    assert!(text.contains("@fast is 1.80 ± 0.0") && text.contains("times as fast as @slow"));
    assert!(text.contains("@fast is 1.25 ± 0.0") && text.contains("times as fast as @middle"));
    let output = store.iosonde(&["history", "compare", "@slow", "@fast", "@middle", "--json"]);
    let all: Vec<Comparison> = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> = all.iter().map(|comparison| comparison.a.name.as_str()).collect();
    assert_eq!(names, ["@middle", "@slow"]);
    assert!(all.iter().all(|comparison| comparison.b.name == "@fast"));
}

/// A refusal did not say how to compare all the same.
#[test]
fn the_refusal_of_unlike_results_names_the_way_out() {
    let store = Store::new();
    store.measured(100, 3, 1, &["--tag", "small"]);
    store.measured(100, 3, 2, &["--tag", "large", "--size", "128G"]);
    let output = store.iosonde(&["history", "compare", "@small", "@large"]);
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("no verdict: the sides are not alike: file size"), "{text}");
    assert!(text.contains("`--anyway`"), "{text}");
    let output = store.iosonde(&["history", "compare", "@small", "@large", "--anyway"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("`--anyway`"), "{text}");
}
