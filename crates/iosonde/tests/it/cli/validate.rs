//! `iosonde validate`: what it says of storage that is right, of storage that is not, and that it
//! leaves nothing behind.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Output;

use crate::cli::program::{Running, code, command, fails, names, stderr, succeeds};

fn arguments<'a>(directory: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let directory = directory.to_str().unwrap();
    [&["validate", directory, "--size", "16M", "--log-size", "8M"][..], more].concat()
}

/// What a run that succeeds says.
fn text_of(output: &Output) -> String {
    succeeds(output);
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn storage_that_is_right_is_called_so() {
    for hardening in ["write-through", "flush"] {
        let dir = tempfile::tempdir().unwrap();
        let args = arguments(dir.path(), &["--seconds", "1", "--hardening", hardening]);
        let output = command(&args).output().unwrap();
        let text = text_of(&output);
        assert!(text.starts_with("RIGHT: "), "{text}");
        assert!(text.contains("iosonde.mdx (data, 16 MiB)"), "{text}");
        assert!(text.contains("iosonde.ldx (log, 8 MiB)"), "{text}");
        assert_eq!(text.contains("flushes"), hardening == "flush", "{text}");
        assert_eq!(names(dir.path()), [""; 0], "files are removed");
    }
}

/// Somebody else writes into the file meanwhile: the page has foreign data, and the run ends with 3.
/// The files were removed behind that, and with them what a vendor asks for.
#[test]
fn wrong_data_ends_it_with_a_report_and_exit_code_3() {
    for go_on in [&[][..], &["--continue", "--seconds", "2"]] {
        let (dir, plans) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        // Nobody changes a page: what is spoiled stays so, and no write meets the one that spoils
        // it. That one goes through the page cache, which writes all around the byte as it had read
        // it: over a newer version, which is a torn page, rightly.
        let plan = plans.path().join("plan.toml");
        fs::write(&plan, "[random]\nupdate_percent = 0\n\n[bulk]\nusers = 0\n").unwrap();
        let plan = plan.to_str().unwrap();
        let quiet = ["--config", plan, "--rereads", "8", "--seconds", "600"];
        let quiet = if go_on.is_empty() { &quiet[..] } else { &quiet[..4] };
        let mut running = Running::start(&arguments(dir.path(), &[quiet, go_on].concat()));
        running.wait_for("the load is running");
        let mut file = OpenOptions::new().write(true).open(dir.path().join("iosonde.mdx")).unwrap();
        // A byte of every page.
        for page in 0..2048 {
            file.seek(SeekFrom::Start(page * 8192 + 700)).unwrap();
            file.write_all(b"X").unwrap();
        }
        drop(file);
        let output = running.end();
        let said = stderr(&output);
        assert_eq!(code(&output), 3, "{said}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("WRONG DATA: "), "{text}");
        assert!(
            text.contains("bit error in `") && text.contains("still so after 8 more reads"),
            "{text}"
        );
        // Each of thousands was read again as patiently as the first, and the run did not end.
        // Where the first one ends it, what another thread looks into meanwhile says that its reads
        // were cut short.
        let hasty = text.lines().any(|line| line.ends_with("; still so after 2 more reads"));
        assert_eq!(hasty, !go_on.is_empty(), "{text}");
        // Thousands of lines stood between the verdict and the end.
        assert!(text.lines().last().is_some_and(|line| line.starts_with("WRONG DATA: ")), "{text}");
        assert_eq!(said.contains("more than 20 pages"), !go_on.is_empty(), "{said}");
        assert!(said.matches("error: WRONG DATA: bit error").count() <= 20, "{said}");
        assert!(text.contains("0x002b0 exp ") && text.contains("0x002b0 rec "), "{text}");
        assert!(said.contains("--clean DIRECTORY"), "{said}");
        assert_eq!(names(dir.path()), ["iosonde.ldx", "iosonde.mdx"]);
        let clean = ["validate", "--clean", dir.path().to_str().unwrap()];
        succeeds(&command(&clean).output().unwrap());
        assert_eq!(names(dir.path()), [""; 0]);
    }
}

#[test]
fn a_signal_ends_it_and_removes_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = Running::start(&arguments(dir.path(), &["--seconds", "600"]));
    running.wait_for("the load is running");
    running.signal("INT");
    let output = running.end();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("Interrupted: "));
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn what_cannot_be_checked_is_refused_before_anything_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |more: &[&str], code, text: &str| {
        fails(&command(&arguments(dir.path(), more)).output().unwrap(), code, text);
        assert_eq!(names(dir.path()), [""; 0]);
    };
    refused(&["--engine", "null"], 2, "keep no data");
    refused(&["--engine", "sync"], 2, "one I/O at a time");
    refused(&["--rereads", "0"], 2, "from 1 to 1000");
    refused(&["--config", "/dev/zero"], 2, "it is a device");
    refused(&["--destroy", "/nowhere"], 2, "names no target");
    let log = ["validate", "--log", dir.path().to_str().unwrap()];
    fails(&command(&log).output().unwrap(), 2, "name a directory");
    refused(&["--page", "1000"], 2, "--page is 1000: a page is a multiple of 512");
    refused(&["--depth", "2"], 2, "at least 4");
    refused(&["--seconds=-1"], 2, "31 days");
    let database = dir.path().join("master.mdf");
    let args = ["validate", database.to_str().unwrap(), "--log", dir.path().to_str().unwrap()];
    fails(&command(&args).output().unwrap(), 1, "database");
    assert_eq!(names(dir.path()), [""; 0]);
}

/// After a mistyped TARGET the message asked for the log, and errors named fields of the plan that
/// the user had not typed.
#[test]
fn a_refusal_names_what_was_typed() {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().to_str().unwrap();
    let refused = |args: &[&str], text: &str| {
        fails(&command(&[&["validate"], args].concat()).output().unwrap(), 2, text);
        assert_eq!(names(dir.path()), [""; 0]);
    };
    let (lost, new) = (dir.path().join("no/x"), dir.path().join("new"));
    let (lost, new) = (lost.to_str().unwrap(), new.to_str().unwrap());
    refused(&[lost], &format!("TARGET `{lost}` does not exist, and neither does the directory"));
    refused(&[name, "--log", lost], &format!("--log `{lost}` does not exist"));
    refused(&[new], &format!("TARGET `{new}` does not exist. If you mean a directory"));
    refused(&[name, "--size", "0"], "--size is 0 B: it must be at least 4096 bytes");
    let small = [name, "--log-size", "100K", "--threads", "4"];
    refused(&small, "--log-size is 100 KiB: the log needs 4 MiB for 4 threads");
    refused(&[name, "--threads", "5000"], "--threads is 5000: it must be 1 to 2048");
    refused(&[name, "--depth", "1000000"], "--depth is 1000000: it must be 1 to 65536");
    refused(&[name, "--for", "postgres", "--page", "64K"], "--page is 65536: a record has");
    let random = |more: &[&'static str], text: &str| {
        refused(&[&[name, "--workload", "random"], more].concat(), text);
    };
    random(&["--block", "64M"], "--block is 64 MiB: it must be 1 to 4096 pages of 8 KiB");
    random(&["--threads", "99", "--depth", "1000"], "--threads times --depth is 99000");
}

/// Ended at once by a second signal, it said nothing of the files that stayed.
#[test]
fn a_second_signal_names_what_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = Running::start(&arguments(dir.path(), &["--seconds", "600"]));
    running.wait_for("the load is running");
    // Both are there when it goes on, and whichever comes second ends it.
    for signal in ["STOP", "INT", "TERM", "CONT"] {
        running.signal(signal);
    }
    let output = running.end();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    let data = dir.path().join("iosonde.mdx");
    let said = stderr(&output);
    let words = format!("ended at once, which keeps `{}`, `", data.display());
    assert!(said.contains(&words) && said.contains("validate --clean /"), "{said}");
    let left = names(dir.path());
    assert_eq!(left, ["iosonde.ldx", "iosonde.mdx"]);
}

/// `timeout` sends its signal twice, to the program and to its group. The second one ended the
/// program at once, and files and locks stayed.
#[test]
fn timeout_ends_it_in_order() {
    let dir = tempfile::tempdir().unwrap();
    for signal in ["INT", "TERM"] {
        let program = command(&[] as &[&str]);
        let mut timed = std::process::Command::new("timeout");
        timed.args(["-s", signal, "2"]).arg(program.get_program());
        timed.args(arguments(dir.path(), &["--seconds", "600"]));
        for (name, value) in program.get_envs() {
            timed.env(name, value.unwrap_or_default());
        }
        let output = timed.output().unwrap();
        assert_eq!(code(&output), 124, "{}", stderr(&output));
        assert!(!stderr(&output).contains("ended at once"), "{}", stderr(&output));
        assert_eq!(names(dir.path()), [""; 0]);
    }
}

/// `--destroy` could name no log: it was compared with the TARGETs alone.
#[test]
fn a_foreign_log_is_overwritten_where_that_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("old");
    fs::write(&log, vec![7; 16 << 20]).unwrap();
    let log = log.to_str().unwrap();
    let args = ["--log", log, "--destroy", log, "--seconds", "0.5"];
    let output = command(&arguments(dir.path(), &args)).output().unwrap();
    assert!(text_of(&output).starts_with("RIGHT: "));
    assert_ne!(fs::read(log).unwrap()[..4096], [7; 4096]);
    assert_eq!(names(dir.path()), ["old"]);
}

/// A file of somebody else is neither taken for data nor for the log.
#[test]
fn foreign_files_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let foreign = dir.path().join("iosonde.ldx");
    fs::write(&foreign, vec![7; 16 << 20]).unwrap();
    let output = command(&arguments(dir.path(), &["--seconds", "1"])).output().unwrap();
    fails(&output, 1, "--destroy");
    assert_eq!(fs::read(&foreign).unwrap(), vec![7; 16 << 20]);
    assert_eq!(names(dir.path()), ["iosonde.ldx"]);
}

#[test]
fn a_dry_run_says_what_it_needs() {
    let dir = tempfile::tempdir().unwrap();
    let text = text_of(&command(&arguments(dir.path(), &["--dry-run"])).output().unwrap());
    assert!(text.contains("2048 pages of 8 KiB") && text.contains("16 KiB of memory"), "{text}");
    assert_eq!(names(dir.path()), [""; 0]);
}

/// Nothing but checked reads and writes: no log, and every queue is full.
#[test]
fn verified_reads_and_writes_need_no_database() {
    for (workload, block) in [("random", "8K"), ("sequential", "64K")] {
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().to_str().unwrap();
        let more = ["--size", "16M", "--seconds", "1", "--write", "30", "--block", block];
        let args = [&["validate", name, "--workload", workload][..], &more].concat();
        let text = text_of(&command(&args).output().unwrap());
        assert!(text.starts_with("RIGHT: ") && !text.contains("commits"), "{text}");
        assert!(text.contains("iosonde.mdx (data, 16 MiB)") && !text.contains(".ldx"), "{text}");
        assert_eq!(names(dir.path()), [""; 0]);
        let text = text_of(&command(&[&args[..], &["--dry-run"]].concat()).output().unwrap());
        assert!(text.contains("64 I/Os of") && text.contains("30 % of them writes"), "{text}");
    }
    let dir = tempfile::tempdir().unwrap();
    let refused = |more: &[&str], text: &str| {
        fails(&command(&arguments(dir.path(), more)).output().unwrap(), 2, text);
    };
    refused(&["--write", "30"], "--write means nothing for `--workload database`");
    refused(&["--workload", "random"], "--log-size means nothing");
    let name = dir.path().to_str().unwrap();
    let random = |more: &[&str]| {
        let args = [&["validate", name, "--workload", "random"][..], more].concat();
        command(&args).output().unwrap()
    };
    fails(&random(&["--users", "3", "--update", "1"]), 2, "--users, --update mean nothing");
    fails(&random(&["--block", "12K"]), 2, "whole pages of 8 KiB");
    fails(&random(&["--write", "101"]), 2, "--write is 101");
    assert_eq!(names(dir.path()), [""; 0]);
}

/// Each engine has its own files, flushes and cache; what is typed wins.
#[test]
fn engines_are_imitated() {
    for (engine, page, flushes, buffered) in [
        ("sqlserver", "8 KiB", false, false),
        ("postgres", "8 KiB", true, true),
        ("mysql", "16 KiB", true, false),
        ("sqlite", "4 KiB", true, true),
        ("rocksdb", "4 KiB", true, true),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let args = arguments(dir.path(), &["--for", engine, "--seconds", "0.4"]);
        let output = command(&args).output().unwrap();
        let text = text_of(&output);
        assert!(text.starts_with("RIGHT: "), "{engine}: {text}");
        assert!(stderr(&output).contains(&format!("pages of {page}")), "{}", stderr(&output));
        assert_eq!(text.contains("flushes"), flushes, "{engine}: {text}");
        assert_eq!(text.contains("cache of the operating system"), buffered, "{engine}: {text}");
        assert_eq!(text.contains("iosonde.dbx (doublewrite"), engine == "mysql", "{text}");
        assert_eq!(names(dir.path()), [""; 0]);
    }
    let dir = tempfile::tempdir().unwrap();
    let typed = ["--for", "postgres", "--direct", "--page", "16K", "--hardening", "write-through"];
    let args = arguments(dir.path(), &[&typed[..], &["--dry-run"]].concat());
    let text = text_of(&command(&args).output().unwrap());
    for line in ["page_bytes = 16384", "hardening = \"write_through\"", "page_images = true"] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn files_have_holes_and_change_their_size() {
    for more in [
        &["--sparse"][..],
        &["--sparse", "--buffered"],
        &["--resize", "0.05"],
        &["--resize", "0.05", "--stamp", "--hardening", "flush"],
        &["--resize", "0.05", "--sparse", "--workload", "random"],
    ] {
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().to_str().unwrap();
        let usual = ["validate", name, "--size", "16M", "--seconds", "0.8", "--checkpoint", "0.2"];
        let output = command(&[&usual[..], more].concat()).output().unwrap();
        let text = text_of(&output);
        assert!(text.starts_with("RIGHT: "), "{more:?}: {text}");
        assert_eq!(text.contains("became shorter"), more[0] == "--resize", "{more:?}: {text}");
        assert_eq!(names(dir.path()), [""; 0]);
    }
    let dir = tempfile::tempdir().unwrap();
    let foreign = dir.path().join("mine");
    fs::write(&foreign, vec![7; 16 << 20]).unwrap();
    let foreign = foreign.to_str().unwrap();
    let log = dir.path().to_str().unwrap();
    for more in [&["--sparse"][..], &["--resize", "1"]] {
        let usual = ["validate", foreign, "--destroy", foreign, "--log", log];
        let output = command(&[&usual[..], more].concat()).output().unwrap();
        fails(&output, 2, "only a test file of iosonde can have holes or change its size");
    }
    fails(&command(&arguments(dir.path(), &["--stamp"])).output().unwrap(), 2, "--resize");
    fails(&command(&arguments(dir.path(), &["--resize", "0"])).output().unwrap(), 2, "0.01 s");
    assert_eq!(fs::read(foreign).unwrap(), vec![7; 16 << 20]);
    assert_eq!(names(dir.path()), ["mine"]);
}

/// A file that changed its size is kept as what it is: known, and not taken for a whole one.
#[test]
fn a_file_that_changed_its_size_keeps_its_mark() {
    let dir = tempfile::tempdir().unwrap();
    let more = ["--resize", "0.05", "--checkpoint", "0.2", "--seconds", "1", "--keep"];
    let text = text_of(&command(&arguments(dir.path(), &more)).output().unwrap());
    assert!(text.starts_with("RIGHT: "), "{text}");
    let bytes = fs::read(dir.path().join("iosonde.mdx")).unwrap();
    let mark = String::from_utf8_lossy(&bytes[bytes.len() - 4096..]);
    let size = format!("size {}\nstate filling\nkeep yes\n", bytes.len() - 4096);
    assert!(mark.starts_with("iosonde test file\n") && mark.contains(&size), "{mark}");
    let again = arguments(dir.path(), &["--seconds", "0.2"]);
    assert!(text_of(&command(&again).output().unwrap()).starts_with("RIGHT: "));
}
