//! What files of other tools say, and what is written for other tools: a change of the house that
//! is none of a format changes nothing here.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::assert_printed;
use crate::cli::program::{command, stderr, stdout};

/// Where the files are that the tests of formats read.
const PLACES: [&str; 7] = [
    "dialects/tests/it/diskspd_results",
    "dialects/tests/it/fio",
    "dialects/tests/it/fio_text",
    "dialects/tests/it/iometer",
    "dialects/tests/it/sqlio",
    "dialects/tests/it/sqliosim",
    "monitor/tests/it/foreign",
];
/// What a result says of itself in a list of the history. Where a text has no date, it begins when
/// the file was written.
const SAID: [&str; 11] = [
    "kind",
    "status",
    "title",
    "targets",
    "file_bytes",
    "tool_version",
    "measurements",
    "best_iops",
    "best_mib_per_s",
    "best_mean_ns",
    "best_p99_ns",
];

fn files() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    for place in PLACES {
        let entries = crates.join(place).read_dir().unwrap();
        let mut here: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        // What a text says is beside it, for the tests of its format.
        here.retain(|path| {
            let is_json = path.extension().is_some_and(|kind| kind == "json");
            !is_json || !path.with_extension("txt").exists()
        });
        here.sort();
        all.append(&mut here);
    }
    all
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// What was said, without the directories of this machine.
fn steady(text: &str, path: &Path) -> String {
    text.replace(path.to_str().unwrap(), &name(path))
}

#[test]
fn files_of_other_tools_are_imported_as_they_were() {
    let place = tempfile::tempdir().unwrap();
    let mut found = String::new();
    for (number, path) in files().iter().enumerate() {
        let history = place.path().join(format!("{number}.db"));
        let with = ["--history", history.to_str().unwrap()];
        let file = path.to_str().unwrap();
        let flags = ["history", "import", "--interval", "5", file];
        let output = command(&[&flags[..], &with].concat()).output().unwrap();
        let text = format!("{}{}", stdout(&output), stderr(&output));
        let _ = writeln!(found, "{}", steady(text.trim_end(), path));
        if !output.status.success() {
            continue;
        }
        let list = [&["history", "list", "--json"][..], &with].concat();
        let list = command(&list).output().unwrap();
        let list: Value = serde_json::from_slice(&list.stdout).unwrap();
        for result in list["results"].as_array().unwrap() {
            let said = SAID.iter().map(|key| format!("{key} {}", result[key]));
            let _ = writeln!(found, "  {}", said.collect::<Vec<_>>().join(", "));
        }
    }
    assert_printed("imports.txt", &found);
}

/// A job file of fio as people write them.
const JOBS: &str = "\
[global]
filename=/data/a.fio
size=1g
direct=1
ioengine=libaio
time_based
runtime=60

[oltp]
rw=randrw
rwmixread=70
bs=8k
iodepth=16
numjobs=4

[log]
rw=write
bs=4k
fdatasync=1
rate_iops=200
";

#[test]
fn workloads_are_converted_as_they_were() {
    let place = tempfile::tempdir().unwrap();
    let jobs = place.path().join("jobs.fio");
    std::fs::write(&jobs, JOBS).unwrap();
    let mut written = String::new();
    let is_icf = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "icf");
    for path in files().into_iter().filter(is_icf).chain([jobs]) {
        for to in ["toml", "icf", "diskspd", "fio"] {
            let file = path.to_str().unwrap();
            let output = command(&["workload", "convert", file, "--to", to]).output().unwrap();
            let text = format!("{}{}", stdout(&output), stderr(&output));
            let _ = writeln!(written, "# {} to {to}\n{}", name(&path), steady(&text, &path));
        }
    }
    assert_printed("conversions.txt", &written);
}
