//! Where `iosonde assess` writes, and what it leaves alone.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use testing::program::DISKS;

use crate::cli::program::{code, command, fails, names, stderr, succeeds};

fn assess(report: &Path, args: &[&str]) -> Output {
    let report = report.to_str().unwrap();
    let fixed = ["assess", "--pace", "quick", "--quiet", "--report", report];
    let device: &[&str] = if args.contains(&"--engine") { &[] } else { &DISKS };
    command(&[&fixed[..], device, args].concat()).output().unwrap()
}

#[test]
fn the_report_is_written_and_nothing_stays_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("r.html");
    let output = assess(&report, &[]);
    succeeds(&output);
    assert!(String::from_utf8_lossy(&output.stdout).contains("Report: "));
    assert_eq!(names(dir.path()), ["r.html"]);
    succeeds(&assess(&report, &[]));
    assert_eq!(names(dir.path()), ["r.html"], "a report that nobody changed is replaced");
    let edited = fs::read_to_string(&report).unwrap().replace("</body>", "my notes</body>");
    fs::write(&report, &edited).unwrap();
    fails(&assess(&report, &[]), 1, "changed since iosonde wrote it; name another file, such as");
    assert_eq!(fs::read_to_string(&report).unwrap(), edited);
    succeeds(&assess(&report, &["--overwrite"]));
    assert_eq!(names(dir.path()), ["r.html"]);
}

/// `--report notes.html` replaced somebody's notes.
#[test]
fn a_file_that_is_no_report_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let notes = dir.path().join("notes.html");
    fs::write(&notes, "my notes").unwrap();
    fails(&assess(&notes, &[]), 1, "iosonde did not write it");
    let link = dir.path().join("link.html");
    symlink(&notes, &link).unwrap();
    fails(&assess(&link, &[]), 1, "it is a link");
    fails(&assess(&link, &["--overwrite"]), 1, "it is a link");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "my notes");
    succeeds(&assess(Path::new("/dev/null"), &[]));
    fails(&assess(Path::new("/dev/zero"), &["--overwrite"]), 1, "character device");
    fails(&assess(&dir.path().join("none/r.html"), &[]), 1, "cannot write the report");
}

/// The journal that a crash had left was emptied by the next assessment, and then removed.
#[test]
fn the_journal_of_a_crash_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("r.partial.jsonl");
    fs::write(&journal, "measurements of yesterday\n").unwrap();
    succeeds(&assess(&dir.path().join("r.html"), &[]));
    assert_eq!(fs::read_to_string(&journal).unwrap(), "measurements of yesterday\n");
    assert_eq!(names(dir.path()), ["r.html", "r.partial.jsonl"]);
}

#[test]
fn storage_that_fails_gives_a_report_that_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("r.html");
    let output = assess(&report, &["--engine", "sim", "--sim", "fail_every = 50000"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("NOT COMPLETE: Ended by an I/O error") && text.contains("NOT JUDGED"),
        "{text}"
    );
    assert!(report.exists());
}

/// It said that 1 GiB would be written, which is the size of no assessment.
#[test]
fn a_dry_run_says_how_the_size_is_chosen_and_makes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().to_str().unwrap();
    let output = command(&["assess", target, "--pace", "quick", "--dry-run"]).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("2 times the memory of this host"), "{text}");
    assert!(text.contains("measurements in 3 min"), "{text}");
    assert!(!text.contains("1 GiB"), "{text}");
    assert!(names(dir.path()).is_empty());
}

/// What is shown is in the language, on the terminal and in the file; the result is the same.
#[test]
fn results_are_shown_in_the_language_that_was_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("r.html");
    let output = assess(&report, &["--language", "de"]);
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\nAuf einen Blick\n") && text.contains("Zufälliges Lesen"), "{text}");
    let page = fs::read_to_string(&report).unwrap();
    assert!(page.contains("<html lang=\"de\">") && page.contains(">Urteile</h2>"));
    let refused = assess(&report, &["--language", "xx"]);
    fails(&refused, 2, "[possible values: en, de, hu, es, zh]");
}
