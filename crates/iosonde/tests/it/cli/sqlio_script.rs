//! What a batch file of SQLIO calls may write over, and how its failures are reported.

use std::fs;
use std::path::Path;
use std::process::Output;

use dialects::sqlio::readings;

use crate::cli::program::{
    Running, code, command, fails, foreign_file, names, stderr, stdout, succeeds,
};

/// A device of a hundred random I/Os a second, whose runs take no time.
const SLOW: [&str; 4] =
    ["--engine", "sim", "--sim", "servers = 1, read_ns = \"10ms\", write_ns = \"10ms\""];

/// Runs a text as a batch file.
fn script(dir: &Path, text: &str, args: &[&str]) -> Output {
    fs::write(dir.join("t.bat"), text).unwrap();
    let args = [&["sqlio", "script", "t.bat"], args, &SLOW].concat();
    command(&args).current_dir(dir).output().unwrap()
}

/// How many runs there are in a file.
fn runs(path: &Path) -> usize {
    readings(&fs::read_to_string(path).unwrap()).0.len()
}

/// A log with two runs.
const LOG: &str = "@echo off\necho ComputerName: %COMPUTERNAME% > log.txt\nsqlio -frandom -b8 >> \
    ./log.txt\n\
    sqlio -frandom -b8 >> log.txt\necho the end\n";

#[test]
fn results_of_before_are_replaced_only_where_that_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log.txt");
    let output = script(dir.path(), LOG, &[]);
    succeeds(&output);
    assert_eq!((stdout(&output).as_str(), runs(&log)), ("the end\n", 2));
    let first = fs::read_to_string(&log).unwrap();
    assert!(first.starts_with("ComputerName: ") && !first.contains('%'), "{first}");
    fails(
        &script(dir.path(), LOG, &[]),
        2,
        "line 2, column 1: cannot write `log.txt`: `log.txt` holds earlier results",
    );
    assert_eq!(fs::read_to_string(&log).unwrap(), first);
    fails(&script(dir.path(), "sqlio -frandom > log.txt\n", &[]), 2, "--overwrite");
    let behind = "echo more >> log.txt\necho none > log.txt\n";
    fails(&script(dir.path(), behind, &[]), 2, "line 2, column 1: cannot write");
    assert_eq!(fs::read_to_string(&log).unwrap(), first);
    succeeds(&script(dir.path(), "sqlio -frandom -b8 >> log.txt\n", &[]));
    assert_eq!(runs(&log), 3, "behind what is there");
    succeeds(&script(dir.path(), LOG, &["--overwrite"]));
    assert_eq!(runs(&log), 2);
}

#[test]
fn what_the_script_wrote_itself_it_replaces() {
    let dir = tempfile::tempdir().unwrap();
    let text = "sqlio -frandom > r.txt\necho once > ./r.txt\nsqlio -frandom -b8 > r.txt\n";
    succeeds(&script(dir.path(), text, &[]));
    assert_eq!(runs(&dir.path().join("r.txt")), 1);
    assert_eq!(names(dir.path()), ["r.txt", "t.bat"]);
}

#[test]
fn what_is_no_output_of_sqlio_is_never_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let letter = dir.path().join("letter.txt");
    fs::write(&letter, "Dear John").unwrap();
    fails(&script(dir.path(), "echo a > letter.txt\n", &[]), 2, "not an output of SQLIO");
    for args in [&[][..], &["--overwrite"]] {
        let text = "echo a >> letter.txt\n";
        fails(&script(dir.path(), text, args), 2, "not an output of SQLIO");
    }
    assert_eq!(fs::read_to_string(&letter).unwrap(), "Dear John");
    fails(&script(dir.path(), "echo a > .\n", &[]), 2, "directory");
}

#[test]
fn a_file_that_appears_while_the_script_runs_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("t.bat"),
        "echo begun > b.txt\ntimeout 3\nsqlio -frandom -s1 > r.txt\necho e > e.txt\n",
    )
    .unwrap();
    let mut begun = command(&["sqlio", "script", "t.bat", "--engine", "null"]);
    begun.current_dir(dir.path());
    let running = Running::of(begun);
    while !dir.path().join("b.txt").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let results = "sqlio v1.5.SG\nten years old\n";
    fs::write(dir.path().join("r.txt"), results).unwrap();
    let output = running.end();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("line 3: cannot write `r.txt`: `r.txt` holds earlier results")
    );
    assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), results);
    assert!(dir.path().join("e.txt").exists(), "the next step is done all the same");
}

#[test]
fn a_rehearsal_of_a_script_leaves_the_directory_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.bat"), "sqlio -frandom > r.txt\n").unwrap();
    let before = fs::metadata(dir.path()).unwrap().modified().unwrap();
    let mut dry = command(&["sqlio", "script", "t.bat", "--engine", "null", "--dry-run"]);
    succeeds(&dry.current_dir(dir.path()).output().unwrap());
    assert_eq!(fs::metadata(dir.path()).unwrap().modified().unwrap(), before);
}

#[test]
fn a_file_without_an_end_is_not_read_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| command(args).current_dir(dir.path()).output().unwrap();
    fails(&run(&["sqlio", "-F/dev/zero"]), 2, "`/dev/zero`: it is a device");
    fails(&run(&["sqlio", "script", "/dev/zero"]), 1, "`/dev/zero`: it is a device");
    fails(&run(&["sqlio", "parse", "/dev/zero"]), 1, "`/dev/zero`: it is a device");
}

#[test]
fn what_failed_is_said_even_to_who_wants_no_messages() {
    let dir = tempfile::tempdir().unwrap();
    foreign_file(&dir.path().join("data.dat"), 1 << 20);
    fs::write(dir.path().join("t.bat"), "sqlio -kW -frandom -b8 data.dat\n").unwrap();
    let mut quiet = command(&["sqlio", "script", "t.bat", "--quiet", "--seconds", "0.1"]);
    let output = quiet.current_dir(dir.path()).output().unwrap();
    fails(&output, 1, "error: line 1: ");
    assert!(stderr(&output).lines().all(|line| line.starts_with("error: ")), "{}", stderr(&output));
}

#[test]
fn what_a_file_says_is_no_command_to_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let clear = "\u{1b}[2J\u{1b}]0;title\u{7}";
    let output = script(dir.path(), &format!("sqlio -frandom 2> {clear}e.txt\n"), &[]);
    succeeds(&output);
    assert!(stderr(&output).contains("[2J") && !stderr(&output).contains('\u{1b}'));
    let text = format!("{clear} x\nsqlio -frandom -b%{clear}%\n");
    let wrong = script(dir.path(), &text, &[]);
    fails(&wrong, 2, "line 2, column 1: `%\u{fffd}[2J");
    let skipped = script(dir.path(), &format!("{clear} x\nsqlio -frandom\n"), &[]);
    assert!(stderr(&skipped).contains("line 1, column 1: `\u{fffd}[2J"), "{}", stderr(&skipped));
    for output in [wrong, skipped] {
        assert!(!stderr(&output).contains(['\u{1b}', '\u{7}']));
    }
    fs::write(dir.path().join("p.txt"), format!("x.dat {clear}\n")).unwrap();
    let mut call = command(&["sqlio", "-Fp.txt"]);
    let wrong = call.current_dir(dir.path()).output().unwrap();
    fails(&wrong, 2, "`p.txt`, line 1, column ");
    assert!(!stderr(&wrong).contains('\u{1b}'), "{}", stderr(&wrong));
}
