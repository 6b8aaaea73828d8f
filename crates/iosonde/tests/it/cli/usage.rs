//! What is asked for in a wrong way is refused before anything is touched.

use std::fs;

use crate::cli::program::{command, fails, foreign_file, names, run, run_small, succeeds, tool};

#[test]
fn a_wrong_flag_is_wrong_usage() {
    for args in [&["run", "--no-such-flag"][..], &["no-such-command"], &["run", "--size", "4Q"]] {
        let output = command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn all_violations_are_told_at_once() {
    let wrong = ["--depth", "0", "--threads", "0", "--write", "101", "--interval", "100us"];
    let output = command(&[&["run", "--engine", "sim"], &wrong[..]].concat()).output().unwrap();
    for field in ["--depth", "--threads", "--write", "--interval"] {
        fails(&output, 2, field);
    }
}

#[test]
fn a_block_that_does_not_fit_the_disk_is_wrong_usage() {
    let dir = tempfile::tempdir().unwrap();
    fails(&run_small(dir.path(), &["--block", "64M"]), 2, "--block");
    fails(&run_small(dir.path(), &["--offset", "16M"]), 2, "--offset");
    // What is aligned shows when the target is open.
    fails(&run_small(dir.path(), &["--block", "100"]), 2, "multiples of");
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_missing_directory_is_told_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("no/such");
    fails(&run_small(&missing, &[]), 1, "create the directory or name another");
    let second = missing.join("second");
    let output = run_small(&missing, &[second.to_str().unwrap()]);
    fails(&output, 1, "no/such`");
    fails(&output, 1, "no/such/second`");
}

#[test]
fn destroy_must_name_a_target() {
    let dir = tempfile::tempdir().unwrap();
    let (data, other) = (dir.path().join("data"), dir.path().join("other"));
    let content = foreign_file(&data, 1 << 20);
    foreign_file(&other, 1 << 20);
    let output = run(&data, &["--write", "50", "--destroy", other.to_str().unwrap()]);
    fails(&output, 2, "names no target");
    assert!(fs::read(&data).unwrap() == content);
}

#[test]
fn a_dry_run_touches_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let output = run_small(dir.path(), &["--dry-run", "--write", "50"]);
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("make a test file"), "{text}");
    assert_eq!(names(dir.path()), [""; 0]);
}

/// The run refused a FIFO as its history or report, and the dry run did not.
#[test]
fn a_dry_run_refuses_outputs_that_the_run_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("f.html");
    tool("mkfifo", &[fifo.to_str().unwrap()]).unwrap();
    let (path, fifo) = (dir.path().to_str().unwrap(), fifo.to_str().unwrap());
    for (line, words) in [
        ("run . --size 4M --history F", "a named pipe"),
        ("assess . --size 64M --history F", "a named pipe"),
        ("validate . --size 8M --history F", "a named pipe"),
        ("validate . --durability --size 8M --history F", "a named pipe"),
        ("knee . --size 4M --history F", "a named pipe"),
        ("diskspd -c4M -d1 --history F x.dat", "a named pipe"),
        ("sqlio -kW -s1 --history F x.dat", "a named pipe"),
        ("sqliosim -dir . -size 8 -d 1 --history F", "a named pipe"),
        ("assess . --size 64M --no-history --report F", "it is a FIFO"),
        ("sweep . --size 4M --depths 1 --no-history --csv F", "it is a FIFO"),
    ] {
        let words_of_line = line.split(' ').map(|word| if word == "F" { fifo } else { word });
        let args: Vec<&str> = words_of_line.chain(["--dry-run"]).collect();
        fails(&command(&args).current_dir(path).output().unwrap(), 1, words);
    }
    assert_eq!(names(dir.path()), ["f.html"]);
}

/// A disk's name that was mistyped became a file of a gigabyte in memory, and memory was measured.
#[test]
fn no_test_file_is_made_among_the_devices() {
    let typo = std::path::Path::new("/dev/iosonde-no-such-disk");
    fails(&run_small(typo, &[]), 1, "a device that does not exist");
    assert!(!typo.exists());
    fails(&run_small(std::path::Path::new("/dev/tty"), &[]), 1, "a character device");
}

/// A directory's name that was mistyped became a test file in the directory above, on another disk
/// than was meant.
#[test]
fn a_missing_directory_is_not_taken_for_a_file_to_be_made() {
    let dir = tempfile::tempdir().unwrap();
    fails(&run_small(&dir.path().join("dta"), &[]), 1, "create the directory");
    assert_eq!(names(dir.path()), [""; 0]);
    succeeds(&run_small(&dir.path().join("dta.test"), &[]));
}

/// The list that begins with `Exit codes:`, on one line.
fn exit_codes(text: &str) -> String {
    let at = text.find("Exit codes:").unwrap();
    let paragraph = text[at..].split("\n\n").next().unwrap().trim_end_matches("\n```");
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Exit code 3, wrong data, is what `validate` is for; neither `--help` nor the README knew it.
#[test]
fn help_and_readme_list_the_same_exit_codes() {
    let output = command(&["--help"]).output().unwrap();
    succeeds(&output);
    let help = exit_codes(&String::from_utf8(output.stdout).unwrap());
    let readme =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    assert_eq!(exit_codes(&readme), help);
    let formats =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md")).unwrap();
    for number in ["0", "1", "2", "3", "4", "130"] {
        let row = formats.lines().find_map(|l| l.strip_prefix(&format!("| {number} | ")));
        let meaning = row.unwrap().trim_end_matches(" |");
        assert!(help.contains(&format!("{number} {meaning}")), "docs/formats.md: {meaning}");
    }
    for code in
        [": 0 done 1 ", " 2 wrong usage 3 the storage returned wrong data 4 ", " 130 interrupted"]
    {
        assert!(help.contains(code), "`{code}` is not in: {help}");
    }
}
