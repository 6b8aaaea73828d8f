//! Ctrl-C in each phase: the program ends in order, keeps what it measured, and removes its files.
//!
//! Wine makes Ctrl-C of SIGINT. Windows itself sends it to every program of a console, the tests
//! too, so nothing here runs there.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Running, names, place};

/// The processes of Linux, as Wine shows them.
const PROCESSES: &str = r"Z:\proc";

/// Whether this is Wine; if not, the test is noted as one that could not run.
fn is_wine(test: &str) -> bool {
    let is = Path::new(PROCESSES).is_dir();
    if !is {
        testing::skip(test, "Ctrl-C to one program needs Wine");
    }
    is
}

/// Sends Ctrl-C to the program that works in this directory, whose name nobody else has.
fn interrupt(directory: &str) {
    let works_there = |process: &fs::DirEntry| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.windows(directory.len()).any(|part| part == directory.as_bytes())
    };
    let processes = fs::read_dir(PROCESSES).unwrap().flatten();
    let found: Vec<_> = processes.filter(works_there).map(|process| process.file_name()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    // Wine starts programs of Linux, and has no handle of them to wait for.
    let _ = Command::new(r"Z:\bin\kill").arg("-INT").arg(&found[0]).spawn();
}

const SHORT: [&str; 5] = ["--overfill", "--size", "16M", "--progress", "json"];

#[test]
fn half_a_test_file_is_removed() {
    if !is_wine("half_a_test_file_is_removed") {
        return;
    }
    let (place, data) = place();
    let args = ["run", &data, "--size", "1G", "--overfill", "--keep", "--json"];
    let running = Running::start(&place, &args);
    running.wait_for("writing");
    interrupt(&data);
    let (code, stdout, stderr) = running.end();
    assert_eq!((code, stdout.as_str()), (130, ""), "{stderr}");
    assert!(stderr.contains("interrupted while preparing"), "{stderr}");
    assert_eq!(names(&data), [""; 0]);
    assert!(!place.history().exists() || place.list(&[]).is_empty());
}

#[test]
fn a_run_keeps_what_it_measured() {
    if !is_wine("a_run_keeps_what_it_measured") {
        return;
    }
    for (warmup, words) in [("600", "warming_up"), ("0", r#""event":"interval""#)] {
        let (place, data) = place();
        let long = ["run", data.as_str(), "--json", "--warmup", warmup, "--seconds", "600"];
        let running = Running::start(&place, &[&long[..], &SHORT].concat());
        running.wait_for(words);
        interrupt(&data);
        let (code, stdout, stderr) = running.end();
        assert_eq!(code, 130, "{stderr}");
        let run: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(run["status"], "interrupted");
        let (seconds, ios) = (run["seconds"].as_f64().unwrap(), run["total"]["ios"].as_u64());
        assert_eq!((seconds > 0.0, ios > Some(0)), (warmup == "0", warmup == "0"), "{run:#}");
        if seconds > 0.0 {
            assert_eq!(place.json(&["history", "show", "latest"]), run);
        }
        assert_eq!(names(&data), [""; 0], "the test file is gone");
    }
}

/// Each command measures several times, and is interrupted in the third of them; the first step is
/// the test file.
#[test]
fn a_series_keeps_the_measurements_before() {
    if !is_wine("a_series_keeps_the_measurements_before") {
        return;
    }
    let brief = ["--seconds", "0.4", "--warmup", "0", "--settle", "0"];
    let lists = ["--blocks", "8K,64K", "--depths", "1,4", "--threads", "1"];
    let commands: [(&str, &[&[&str]]); 2] = [("sweep", &[&brief, &lists]), ("knee", &[&brief])];
    for (command, more) in commands {
        let (place, data) = place();
        let args = [&[command, data.as_str()], &SHORT[..], &more.concat()[..]].concat();
        let running = Running::start(&place, &args);
        running.wait_for(r#""number":4"#);
        interrupt(&data);
        let (code, stdout, stderr) = running.end();
        assert_eq!(code, 130, "{command}: {stderr}");
        assert!(stdout.contains("NOT COMPLETE: Interrupted"), "{command}: {stdout}");
        assert_eq!(names(&data), [""; 0], "{command}");
        let shown = place.json(&["history", "show", "latest"]);
        assert_eq!(shown["status"], "interrupted", "{command}");
        let list = place.list(&[]);
        assert_eq!((list.len(), &list[0]["status"]), (1, &"interrupted".into()), "{command}");
        if command == "sweep" {
            assert!(shown["measurements"].as_array().unwrap().len() >= 2, "{shown:#}");
            let sweep = place.json(&["sweep", "--resume"]);
            assert_eq!(sweep["measurements"].as_array().unwrap().len(), 4);
        }
    }
}

#[test]
fn an_assessment_reports_the_part_that_it_measured() {
    if !is_wine("an_assessment_reports_the_part_that_it_measured") {
        return;
    }
    let (place, data) = place();
    let args = ["assess", &data, "--overfill", "--size", "64M", "--pace", "glance"];
    let running = Running::start(&place, &args);
    running.wait_for("[4/");
    interrupt(&data);
    let (code, stdout, stderr) = running.end();
    assert_eq!(code, 130, "{stderr}");
    assert!(stdout.contains("NOT COMPLETE: Interrupted"), "{stdout}");
    assert!(stdout.contains("Not measured: "), "{stdout}");
    assert_eq!(names(&data), [""; 0]);
    let kept = &place.list(&[])[0];
    assert_eq!(kept["status"], "interrupted");
    assert!(kept["measurements"].as_u64() >= Some(1), "{kept:#}");
}

/// The load is ended in order; a run with a ledger continues.
#[test]
fn a_validation_ends_in_order() {
    if !is_wine("a_validation_ends_in_order") {
        return;
    }
    let (place, data) = place();
    let size = ["--overfill", "--size", "16M", "--log-size", "8M", "--seconds", "600"];
    for words in ["writing every page", "the load is running"] {
        let running = Running::start(&place, &[&["validate", data.as_str()], &size[..]].concat());
        running.wait_for(words);
        interrupt(&data);
        let (code, stdout, stderr) = running.end();
        assert_eq!(code, 130, "{words}: {stderr}");
        assert!(stdout.is_empty() || stdout.starts_with("Interrupted: "), "{words}: {stdout}");
        assert_eq!(names(&data), [""; 0], "{words}");
    }
    let newest = &place.json(&["history", "show", "latest"]);
    assert_eq!(newest["conclusion"]["verdict"], "interrupted", "{newest:#}");
}

#[test]
fn a_recording_of_counters_ends_in_order() {
    if !is_wine("a_recording_of_counters_ends_in_order") {
        return;
    }
    let (place, _) = place();
    let history = place.history();
    let history = history.to_str().unwrap();
    let args = ["monitor", "--interval", "100ms", "--seconds", "600", "--history", history];
    let running = Running::start(&place, &[&args[..], &["--progress", "json"]].concat());
    running.wait_for(r#""event":"#);
    interrupt(history);
    let (code, _, stderr) = running.end();
    assert_eq!(code, 130, "{stderr}");
    assert_eq!(place.list(&[])[0]["status"], "complete");
}
