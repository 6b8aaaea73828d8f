//! `iosonde sqlio batch`: the matrices of the articles, as sweeps with SQLIO's text.

use std::fs;
use std::path::Path;
use std::process::Output;

use dialects::sqlio::readings;

use crate::cli::program::{Running, code, command, fails, names, stderr, stdout, succeeds};

/// A device of 800 I/Os a second, whose runs take little time.
const SLOW: [&str; 4] =
    ["--engine", "sim", "--sim", "servers = 8, read_ns = \"10ms\", write_ns = \"10ms\""];

fn batch(dir: &Path, args: &[&str]) -> Output {
    let mut command = command(&[&["sqlio", "batch"], args].concat());
    command.current_dir(dir).env("IOSONDE_HISTORY", dir.join("history.db")).output().unwrap()
}

/// The matrix of a baseline in a Hungarian article.
const BASELINE: [&str; 14] = [
    "--drives",
    "E",
    "--threads",
    "2,4,8,16,32,64",
    "--outstanding",
    "1,2,4,8,16,32,64,128",
    "--block-sizes",
    "64",
    "--seconds",
    "60",
    "--wait",
    "0",
    "--size",
    "20G",
];

#[test]
fn without_lists_it_is_the_matrix_of_the_script() {
    let dir = tempfile::tempdir().unwrap();
    let places: Vec<String> = ["G", "H", "I", "J"].map(|d| format!("--drive={d}=.")).to_vec();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    fails(&batch(dir.path(), &["--dry-run"]), 2, "--drive G=/a/directory");
    let one =
        batch(dir.path(), &["--dry-run", "--drives", "G", "--drive", "G=.", "--seconds", "300"]);
    succeeds(&one);
    // 576 tests of five minutes and a minute between them.
    assert!(stdout(&one).contains("576 cells: 2 d measured"), "{}", stdout(&one));
    assert!(stdout(&one).contains("ends "), "{}", stdout(&one));
    // A name without an extension, which a call makes, too.
    let bare = ["--dry-run", "--drives", "G", "--drive", "G=.", "--file", "test"];
    succeeds(&batch(dir.path(), &bare));
    // Four names for one file: a target is named once.
    fails(&batch(dir.path(), &[&["--dry-run"], &places[..]].concat()), 2, "named once");
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn the_192_cases_of_a_baseline_run_and_leave_a_dated_file() {
    let dir = tempfile::tempdir().unwrap();
    let planned = batch(dir.path(), &[&BASELINE[..], &SLOW, &["--dry-run"]].concat());
    succeeds(&planned);
    assert!(stdout(&planned).contains("192 cells: 3 h 12 min measured"), "{}", stdout(&planned));
    let rehearsed = BASELINE.map(|word| if word == "60" { "6" } else { word });
    let output = batch(dir.path(), &[&rehearsed[..], &SLOW, &["--csv", "cells.csv"]].concat());
    succeeds(&output);
    let found = names(dir.path());
    let dated = found.iter().find(|n| n.starts_with("SQLIO_Result.2")).unwrap();
    assert_eq!(dated.len(), "SQLIO_Result.2010-12-24.txt".len());
    let text = fs::read_to_string(dir.path().join(dated)).unwrap();
    let (runs, notes) = readings(&text);
    assert_eq!((runs.len(), notes.len()), (192, 0));
    for run in &runs {
        assert_eq!((run.missing, run.printout.sizes[0].mib), (None, 20 << 10));
        let threads = u64::from(run.printout.load.as_ref().unwrap().threads);
        let depth = u64::from(run.printout.outstanding.unwrap());
        let mean = run.printout.latency_ms[1].unwrap();
        // Little's law.
        let most = (threads * depth) as f64 * 1000.0 / 800.0;
        assert!(mean <= most.max(10.0), "{threads} x {depth}: {mean} ms");
    }
    assert!(runs[0].printout.load.as_ref().unwrap().writes, "so that there is something to read");
    assert_eq!(fs::read_to_string(dir.path().join("cells.csv")).unwrap().lines().count(), 193);
}

#[test]
fn an_interrupted_batch_goes_on_and_has_every_test_once() {
    let dir = tempfile::tempdir().unwrap();
    let lists = [
        "--drives",
        "E",
        "--drive",
        "E=.",
        "--threads",
        "1",
        "--outstanding",
        "1,2,4",
        "--block-sizes",
        "8",
    ];
    let short = ["--seconds", "0.4", "--wait", "0", "--size", "8M", "--result", "r.txt"];
    let mut begun = command(&[&["sqlio", "batch"], &lists[..], &short].concat());
    begun.current_dir(dir.path()).env("IOSONDE_HISTORY", dir.path().join("history.db"));
    let mut running = Running::of(begun);
    running.wait_for("[4/13");
    running.signal("INT");
    let output = running.end();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    // `iosonde sqlio batch --resume, with the same flags` was printed, which nobody can run.
    let said = stderr(&output);
    let (_, line) = said.split_once("resume it with `iosonde ").unwrap();
    let line: Vec<&str> = line.split_once('`').unwrap().0.split(' ').skip(2).collect();
    let count = || readings(&fs::read_to_string(dir.path().join("r.txt")).unwrap()).0.len();
    assert_eq!(count(), 2);
    // A process that was killed between a test and its text left 11 of 12 texts.
    let text = fs::read_to_string(dir.path().join("r.txt")).unwrap();
    let second = text.match_indices("sqlio v1.5").nth(1).unwrap().0;
    fs::write(dir.path().join("r.txt"), &text[..second]).unwrap();
    assert_eq!(count(), 1);
    succeeds(&batch(dir.path(), &line));
    assert_eq!(count(), 12);
    assert!(names(dir.path()).contains(&"testfile.dat".to_owned()), "as SQLIO leaves it");
}

/// The preset's threads each read from another place, where those of SQLIO share one position: a
/// different load, which could not be compared.
#[test]
fn the_preset_of_a_script_measures_what_the_script_does() {
    let dir = tempfile::tempdir().unwrap();
    let plan = |args: &[&str]| {
        let output = command(args).current_dir(dir.path()).output().unwrap();
        succeeds(&output);
        let mut matrix = stdout(&output).parse::<toml::Table>().unwrap()["matrix"][0].clone();
        // The script writes first.
        matrix.as_table_mut().unwrap().remove("writes");
        matrix
    };
    let scripts =
        plan(&[&["sqlio", "batch", "--print-plan", "--drive", "E=."], &BASELINE[..]].concat());
    assert_eq!(scripts, plan(&["sweep", "--print-plan", "--preset", "baseline-192"]));
}

#[test]
fn an_adaptive_batch_measures_less() {
    let dir = tempfile::tempdir().unwrap();
    let args = [
        &BASELINE[..8],
        &["--seconds", "60", "--wait", "0", "--adaptive", "--result", "r.txt"],
        &SLOW,
    ]
    .concat();
    succeeds(&batch(dir.path(), &args));
    let (runs, _) = readings(&fs::read_to_string(dir.path().join("r.txt")).unwrap());
    assert!((1..192).contains(&runs.len()), "{}", runs.len());
}

#[test]
fn results_go_behind_results_and_over_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let args = [
        "--drives",
        "E",
        "--threads",
        "1",
        "--outstanding",
        "1",
        "--block-sizes",
        "8",
        "--kinds",
        "R",
        "--seconds",
        "1",
    ];
    let args =
        [&args[..], &["--factors", "random", "--result", "r.txt", "--size", "1G"], &SLOW].concat();
    fs::write(dir.path().join("r.txt"), "Dear John").unwrap();
    fails(&batch(dir.path(), &args), 1, "not an output of SQLIO");
    fs::remove_file(dir.path().join("r.txt")).unwrap();
    for count in 1..3 {
        succeeds(&batch(dir.path(), &args));
        let (runs, _) = readings(&fs::read_to_string(dir.path().join("r.txt")).unwrap());
        assert_eq!(runs.len(), count);
    }
    fails(&batch(dir.path(), &["stray"]), 2, "`stray` is not a flag");
}

#[test]
fn a_file_without_an_extension_is_made_as_a_call_makes_it() {
    let dir = tempfile::tempdir().unwrap();
    let lists = ["--drives", "E", "--drive", "E=.", "--threads", "1", "--outstanding", "1"];
    let one = ["--block-sizes", "8", "--kinds", "W", "--factors", "random", "--wait", "0"];
    let short = ["--seconds", "0.2", "--file", "test", "--result", "r.txt", "--no-history"];
    let args = [&lists[..], &one, &short].concat();
    fails(&batch(dir.path(), &[&args[..], &["--size", "900T"]].concat()), 1, "test");
    assert!(!names(dir.path()).contains(&"test".to_owned()), "nothing is left of it");
    succeeds(&batch(dir.path(), &[&args[..], &["--size", "8M"]].concat()));
    assert_eq!(names(dir.path()), ["r.txt", "test"]);
    let (runs, _) = readings(&fs::read_to_string(dir.path().join("r.txt")).unwrap());
    assert_eq!(runs.len(), 1);
}
