//! The pages for those who come from IOMeter, Performance Monitor and fio: each line of their code
//! runs, in its order, in a directory of its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::iometer_places::configuration;

const PAGES: [&str; 3] = ["coming-from-iometer.md", "coming-from-perfmon.md", "coming-from-fio.md"];
/// Directories of the pages, which are one here.
const DIRECTORIES: [&str; 2] = ["/mnt/e", "/data"];

/// The files that the lines name.
pub(crate) fn files(directory: &Path) {
    fs::create_dir_all(directory.join("disk")).unwrap();
    configuration(directory, "E: \"SQL data\"", 16_384);
    let job = "[job]\nrw=randread\nbs=4k\nsize=8m\nfilename=disk/job.dat\nruntime=1\n";
    fs::write(directory.join("job.fio"), job).unwrap();
    fs::write(directory.join("array.csv"), "time,queue\n2026-11-25T00:00:00Z,1\n").unwrap();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (fixture, name) in [
        ("dialects/tests/fio/two_jobs.json", "fio.json"),
        ("dialects/tests/fio_text/v3.33.txt", "fio.txt"),
        ("monitor/tests/foreign/collector.csv", "disks.csv"),
        ("monitor/tests/foreign/sar-12.txt", "sar.txt"),
        ("monitor/tests/foreign/iostat-12.txt", "iostat.txt"),
    ] {
        fs::copy(crates.join(fixture), directory.join(name)).unwrap();
    }
}

#[test]
fn every_line_of_the_pages_runs() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut wrong = Vec::new();
    for page in PAGES {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path();
        files(directory);
        let path = directory.join("path");
        fs::create_dir(&path).unwrap();
        symlink(env!("CARGO_BIN_EXE_iosonde"), path.join("iosonde")).unwrap();
        let text = fs::read_to_string(docs.join(page)).unwrap();
        let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("    ")).collect();
        assert!(lines.len() >= 10, "{page} has {} lines of code", lines.len());
        for line in lines {
            let line = DIRECTORIES.iter().fold(line.to_owned(), |l, d| l.replace(d, "disk"));
            let known = std::env::var("PATH").unwrap_or_default();
            let output = Command::new("sh")
                .args(["-c", &line])
                .current_dir(directory)
                .env("PATH", format!("{}:{known}", path.display()))
                .env("HOME", directory)
                .env("IOSONDE_HISTORY", directory.join("history.db"))
                .stdin(Stdio::null())
                .output()
                .unwrap();
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                wrong.push(format!("{page}: `{line}`: {}: {said}", output.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
