//! `iosonde run --repeat`, `--baseline` and `--alternate`.

use std::fs;

use results::{Experiment, Runs, Status};
use serde_json::Value;

use crate::cli::history::SIM;
use crate::cli::program::{fails, names, place, succeeds};

#[test]
fn runs_are_shown_with_their_mean_and_how_far_they_differ() {
    let place = place();
    let text = place.says(&[&["run", "--repeat", "3"], &SIM[..]].concat());
    for words in
        ["\nFigures\n", "  mean ", "  spread ", "3 runs vary by", "95 % interval of the mean"]
    {
        assert!(text.contains(words), "`{words}`: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let one = place.says(&[&["run", "--repeat", "1"], &SIM[..]].concat());
    assert!(one.contains("how well it repeats is not known"), "{one}");
}

#[test]
fn a_baseline_is_five_runs_with_a_name() {
    let place = place();
    let args = [&["run", "--baseline", "before"], &SIM[..], &["--json"]].concat();
    let runs: Experiment<Runs> = serde_json::from_str(&place.says(&args)).unwrap();
    assert_eq!((runs.measurements.len(), runs.conclusion.asked), (5, 5));
    assert_eq!(place.list(&["--tag", "before"])[0]["id"], *runs.id);
    let fewer = place.says(&[&args[..], &["--repeat", "2"]].concat());
    assert_eq!(serde_json::from_str::<Experiment<Runs>>(&fewer).unwrap().measurements.len(), 2);
    fails(&place.run(&[&args[..], &["--no-history"]].concat()), 2, "--no-history");
}

#[test]
fn two_real_targets_take_turns_on_their_own_files() {
    let place = place();
    let (a, b) = (place.directory().join("a"), place.directory().join("b"));
    for directory in [&a, &b] {
        fs::create_dir(directory).unwrap();
    }
    let targets = [a.to_str().unwrap(), b.to_str().unwrap()];
    let short = ["--size", "4M", "--seconds", "0.2", "--warmup", "0", "--write", "50"];
    let flags = ["--alternate", "--repeat", "2", "--settle", "0", "--json"];
    let output = place.run(&[&["run"], &targets[..], &short, &flags].concat());
    succeeds(&output);
    let printed: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let runs: Vec<Experiment<Runs>> =
        printed[..2].iter().map(|d| serde_json::from_value(d.clone()).unwrap()).collect();
    for (document, directory) in runs.iter().zip([&a, &b]) {
        assert_eq!((document.status, document.measurements.len()), (Status::Complete, 2));
        assert_eq!(document.targets, [fs::canonicalize(directory).unwrap()]);
        assert_eq!(names(directory), [""; 0], "the test files are gone");
    }
    assert_eq!(printed.len(), 3, "two documents and how they compare");
    assert_eq!(printed[2]["schema"], "iosonde.comparison/1");
    assert_eq!(printed[2]["a"]["results"][0]["id"], *runs[0].id);
    assert_eq!(printed[2]["b"]["results"][0]["id"], *runs[1].id);
    let mut turns: Vec<(&str, usize)> = Vec::new();
    for (side, document) in runs.iter().enumerate() {
        turns.extend(document.measurements.iter().map(|m| (m.started.as_str(), side)));
    }
    turns.sort_unstable();
    let turns: Vec<usize> = turns.into_iter().map(|(_, side)| side).collect();
    assert_eq!(turns, [0, 1, 1, 0]);
    let ids: Vec<Value> = place.list(&[]).iter().map(|entry| entry["id"].clone()).collect();
    assert_eq!(ids.len(), 2);
    assert!(runs.iter().all(|document| ids.contains(&document.id.clone().into())));
}

#[test]
fn targets_that_took_turns_are_compared() {
    let place = place();
    let targets = ["a", "b", "c"];
    let text = place.says(&[&["run"], &targets[..], &SIM, &["--alternate"]].concat());
    assert_eq!(text.matches("5 runs vary by").count(), 3, "{text}");
    assert_eq!(text.to_lowercase().matches("same").count().min(2), 2, "two comparisons: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(place.list(&[]).len(), 3);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = place();
    let run = |args: &[&str]| place.run(&[&["run"], args, &SIM[..]].concat());
    for wrong in ["0", "101", "x"] {
        fails(&run(&["--repeat", wrong]), 2, "--repeat");
    }
    fails(&run(&["a", "--alternate"]), 2, "name two or more");
    fails(&run(&["--settle", "1"]), 2, "needs `--repeat`");
    fails(&run(&["--repeat", "2", "--settle=-1"]), 2, "settle");
    let dry = place.says(&[&["run", "a", "b", "--alternate", "--dry-run"], &SIM[..]].concat());
    assert!(dry.contains("5 times on each target in turn"), "{dry}");
    assert!(!place.history().exists());
}
