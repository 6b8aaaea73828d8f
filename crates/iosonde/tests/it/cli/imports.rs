//! What people bring from other tools comes into a history, or is refused in one sentence.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use results::{Document, Experiment, Recording};

use crate::cli::program::{command, fails, stderr, succeeds};

/// A fixture of another crate.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

struct Store(tempfile::TempDir);

impl Store {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn history(&self, args: &[&str]) -> Output {
        let place = self.0.path().join("h.db");
        let place = ["history", "--history", place.to_str().unwrap()];
        command(&[&place[..], args].concat()).output().unwrap()
    }

    fn import(&self, path: &Path, args: &[&str]) -> Output {
        self.history(&[&["import", path.to_str().unwrap()], args].concat())
    }

    /// The only recording of the history.
    fn recording(&self) -> Experiment<Recording> {
        let output = self.history(&["show", "latest", "--json"]);
        succeeds(&output);
        match Document::parse(&String::from_utf8(output.stdout).unwrap()).unwrap() {
            Document::Recording(recording) => *recording,
            other => panic!("{other:?}"),
        }
    }
}

#[track_caller]
fn says(output: &Output, words: &[&str]) {
    succeeds(output);
    let text = String::from_utf8_lossy(&output.stdout);
    for words in words {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
}

#[test]
fn recordings_of_other_tools_are_shown_as_those_of_the_monitor() {
    for (name, words) in [
        ("monitor/tests/it/foreign/iostat-12.txt", &["sda", "nvme0n1", "1.25 ms"][..]),
        ("monitor/tests/it/foreign/sar-12.txt", &["sda", "Disk Transfers/sec"]),
        ("monitor/tests/it/foreign/typeperf.csv", &["0 C:", "625 µs"]),
        ("monitor/tests/it/foreign/collector.csv", &["D:", "1.33 ms", "collector.csv"]),
        ("dialects/tests/it/sqliosim/log.xml", &["F:\\\\sqliosim.mdx", "SQLIOSim logged 1 error"]),
    ] {
        let store = Store::new();
        let path = fixture(name);
        says(&store.import(&path, &[]), &["1 result imported"]);
        says(&store.import(&path, &[]), &["1 result there already"]);
        let recording = store.recording();
        assert!(!recording.conclusion.points.is_empty());
        let report = store.0.path().join("r.md");
        let place = store.0.path().join("h.db");
        let args = ["report", "latest", "--output", report.to_str().unwrap(), "--history"];
        let output = command(&[&args[..], &[place.to_str().unwrap()]].concat()).output().unwrap();
        succeeds(&output);
        let text = fs::read_to_string(report).unwrap();
        for words in words {
            assert!(text.contains(words), "{name}: `{words}` is not in: {text}");
        }
    }
}

#[test]
fn reports_without_times_ask_for_their_interval() {
    let store = Store::new();
    let path = fixture("monitor/tests/it/foreign/iostat-9.txt");
    fails(&store.import(&path, &[]), 1, "`--interval 5`");
    fails(&store.import(&path, &["--interval", "0"]), 2, "seconds between two reports");
    says(&store.import(&path, &["--interval", "10"]), &["1 result imported"]);
    assert_eq!(store.recording().conclusion.seconds, 10.0);
}

/// The error called the recording of another tool an export of iosonde.
#[test]
fn a_recording_is_not_a_sweep() {
    let store = Store::new();
    let path = fixture("monitor/tests/it/foreign/typeperf.csv");
    fails(
        &store.import(&path, &["--as-sweep"]),
        1,
        "a recording of counters, which is not a sweep",
    );
}

/// Of several results in a file, nobody saw which they were: `latest` is one of them.
#[test]
fn what_fio_printed_is_a_result() {
    let store = Store::new();
    says(
        &store.import(&fixture("dialects/tests/it/fio_text/v3.33.txt"), &[]),
        &["2 results imported", "IOPS, 8 KiB random 70 % read", "IOPS, 16 KiB sequential write"],
    );
    says(&store.history(&["list"]), &["8 KiB random 70 % read"]);
    let output = store.history(&["show", "latest"]);
    says(&output, &["fio", "whether the I/O was direct"]);
}

#[test]
fn a_file_of_nobody_is_refused_with_the_formats_that_there_are() {
    let store = Store::new();
    let path = store.0.path().join("notes.txt");
    fs::write(&path, "Buy a faster disk.\n").unwrap();
    let output = store.import(&path, &[]);
    fails(&output, 1, "in none of the formats that iosonde imports");
    for known in ["fio", "DiskSpd", "IOMeter", "SQLIO", "PDH-CSV", "iostat", "sar -d", "--json"] {
        assert!(stderr(&output).contains(known), "`{known}` is not in: {}", stderr(&output));
    }
    // A table of a script, whose first cell is a JSON text: its second was "document 2", not whole.
    fs::write(&path, "\"Kind\",\"Threads\"\n\"W\",\"2\"\n").unwrap();
    fails(&store.import(&path, &[]), 1, "in none of the formats that iosonde imports");
    // What looks like JSON is said to be broken, and the list follows.
    fs::write(&path, "{\"a\": 1").unwrap();
    fails(&store.import(&path, &[]), 1, "not complete JSON");
    fails(&store.import(&path, &[]), 1, "PDH-CSV");
    let german = fixture("monitor/tests/it/foreign/german.csv");
    assert_eq!(store.import(&german, &[]).status.code(), Some(0), "German names are read");
}

/// A stand-in for fio prints what fio does; the program's name is what decides the advice.
fn fake_fio(dir: &Path, says: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let text = dir.join("out.txt");
    fs::write(&text, says).unwrap();
    let path = dir.join("fio");
    fs::write(&path, format!("#!/bin/sh\ncat {}\n", text.display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn fio_beside_a_recording_is_understood_or_told_how_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let run = |says: &str| {
        let fio = fake_fio(dir.path(), says);
        command(&["monitor", "--no-history", "--", &fio]).output().unwrap()
    };
    let terse = run("3;fio-3.33;t;0;0;4096\n");
    succeeds(&terse);
    assert!(stderr(&terse).contains("`--output-format=json`"), "{}", stderr(&terse));
    let text = include_str!("../../../../dialects/tests/it/fio_text/v3.33.txt");
    let usual = run(text);
    succeeds(&usual);
    assert!(!stderr(&usual).contains("neither its usual text"), "{}", stderr(&usual));
}
