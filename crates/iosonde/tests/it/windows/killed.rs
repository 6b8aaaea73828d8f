//! The program is ended by the task manager: what it had measured is there, and it continues.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};

use testing::program::{code, stdout, succeeds};

use super::{Running, names, place};

#[test]
fn a_killed_sweep_keeps_its_cells_and_continues() {
    let (place, data) = place();
    let lists = ["--blocks", "8K,64K", "--depths", "1,4", "--threads", "1"];
    let short =
        ["--overfill", "--size", "16M", "--seconds", "0.5", "--warmup", "0", "--settle", "0"];
    let running = Running::start(&place, &[&["sweep", data.as_str()], &lists[..], &short].concat());
    running.wait_for("[4/5");
    running.kill();
    assert_eq!(names(&data), ["iosonde.test"], "nobody was there to remove it");
    assert!(place.says(&["history", "list"]).contains("unfinished"));

    let sweep = place.json(&["sweep", "--resume"]);
    assert_eq!(sweep["measurements"].as_array().unwrap().len(), 4);
    assert_eq!(names(&data), [""; 0]);
}

/// Whatever it was doing; and the next run removes the test file that nobody was there to remove.
#[test]
fn what_a_killed_command_measured_is_kept() {
    let short = ["--overfill", "--size", "16M"];
    let many = ["--seconds", "0.3", "--warmup", "0", "--repeat", "100"];
    for (command, more, words, kept) in [
        ("run", &["--overfill", "--size", "1G"][..], "writing", 0),
        ("run", &[&short[..], &many].concat()[..], "run 3 of 100", 2),
        // Its first two steps are the test file and the program's own ceiling.
        ("knee", &[&short[..], &["--seconds", "0.3", "--warmup", "0"]].concat()[..], "[5/", 2),
        ("assess", &["--overfill", "--size", "64M", "--pace", "glance"][..], "[5/", 2),
    ] {
        let (place, data) = place();
        let running = Running::start(&place, &[&[command, data.as_str()], more].concat());
        running.wait_for(words);
        running.kill();
        assert_eq!(names(&data), ["iosonde.test"], "{command}");
        let list = if place.history().exists() { place.list(&[]) } else { Vec::new() };
        let measured = |entry: &serde_json::Value| entry["measurements"].as_u64().unwrap();
        assert!(list.iter().map(measured).sum::<u64>() >= kept, "{command}: {list:?}");
        if kept > 0 {
            assert_eq!(list[0]["status"], "unfinished", "{command}");
            let shown = place.says(&["history", "show"]);
            assert!(shown.contains("did not come to its end"), "{command}: {shown}");
        }
        let again = ["run", data.as_str(), "--seconds", "0.2", "--warmup", "0"];
        succeeds(&place.run(&[&again[..], &short].concat()));
        assert_eq!(names(&data), [""; 0], "{command}");
    }
}

/// A ledger is a mapped file, which Windows removes only when nobody uses it any more.
#[test]
fn a_killed_validation_continues_and_its_ledger_goes() {
    let (place, data) = place();
    let size = [
        "--overfill",
        "--size",
        "16M",
        "--log-size",
        "8M",
        "--checkpoint",
        "0.2",
        "--seconds",
        "2",
    ];
    let args = [&["validate", data.as_str(), "--ledger", "l"], &size[..]].concat();
    let running = Running::start(&place, &args);
    running.wait_for("the load is running");
    running.kill();
    let running = Running::start(&place, &["validate", "--resume", "l"]);
    running.wait_for("ing every page");
    running.kill();
    let output = place.run(&["validate", "--resume", "l"]);
    succeeds(&output);
    let text = stdout(&output);
    assert!(text.starts_with("RIGHT: ") && text.contains("for the second time"), "{text}");
    assert_eq!(names(&data), [""; 0]);
    assert!(!names(place.directory()).contains(&"l".to_owned()), "the ledger is gone");
}

#[test]
fn a_spoiled_page_is_found() {
    let (place, data) = place();
    let size = ["--overfill", "--size", "16M", "--log-size", "8M", "--seconds", "0.5"];
    let args = [&["validate", data.as_str(), "--ledger", "l", "--keep"], &size[..]].concat();
    succeeds(&place.run(&args));
    assert_eq!(names(&data), ["iosonde.ldx", "iosonde.mdx"]);
    let pages = place.path("data").join("iosonde.mdx");
    let mut file = OpenOptions::new().write(true).open(pages).unwrap();
    file.seek(SeekFrom::Start(5 * 8192 + 512)).unwrap();
    file.write_all(&[7; 512]).unwrap();
    drop(file);
    let output = place.run(&["validate", "--resume", "l"]);
    let text = stdout(&output);
    assert_eq!(code(&output), 3, "{text}");
    assert!(text.starts_with("WRONG DATA"), "{text}");
    // Files that are to be kept go when they are named, and the ledger with the last of them.
    let files = ["iosonde.ldx", "iosonde.mdx"].map(|name| format!(r"{data}\{name}"));
    succeeds(&place.run(&["validate", "--clean", &files[0], &files[1]]));
    succeeds(&place.run(&["validate", "--clean", "l"]));
    assert_eq!(names(&data), [""; 0]);
    assert!(!names(place.directory()).contains(&"l".to_owned()));
}

/// The directory of a new file could not be flushed, which Windows does not know, and a writer that
/// had crashed was one that had failed.
#[test]
fn a_crash_loses_nothing_that_was_acknowledged() {
    let (place, data) = place();
    let size = ["--size", "8M", "--depth", "4", "--overfill", "--witness-file", "w"];
    let args = [&["validate", data.as_str(), "--durability"], &size[..]].concat();
    let killed = place.json(&[&args[..], &["--kill-after", "0.5", "--rounds", "2"]].concat());
    assert_eq!(killed["conclusion"]["ending"], "killed", "{killed:#}");
    assert_eq!(killed["conclusion"]["verdict"], "kept", "{killed:#}");
}
