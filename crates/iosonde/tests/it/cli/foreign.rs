//! Results of other tools come into a history.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use super::program::{command, fails, stderr, succeeds};

/// A result of another tool among the fixtures of `dialects`.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../dialects/tests/it").join(name)
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

    fn import(&self, path: &Path) -> Output {
        self.history(&["import", path.to_str().unwrap()])
    }

    /// A file with this content.
    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    #[track_caller]
    fn says(&self, args: &[&str], words: &[&str]) -> String {
        let output = self.history(args);
        succeeds(&output);
        let text = String::from_utf8(output.stdout).unwrap();
        for words in words {
            assert!(text.contains(words), "`{words}` is not in: {text}");
        }
        text
    }
}

#[track_caller]
fn said(output: &Output, words: &str) {
    succeeds(output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(words), "`{words}` is not in: {text}");
}

#[test]
fn each_run_of_a_file_is_a_result_and_comes_once() {
    let store = Store::new();
    for (name, count) in [
        ("diskspd_results/pool_of_two_threads.txt", "1 result"),
        ("diskspd_results/latency_of_two_threads.xml", "1 result"),
        ("fio/two_jobs.json", "2 results"),
        ("fio/group.txt", "2 results"),
    ] {
        said(&store.import(&fixture(name)), &format!("{count} imported"));
        said(&store.import(&fixture(name)), &format!("0 results imported, {count} there already"));
    }
    // The same runs under another name are the same runs.
    let again = fs::read(fixture("fio/two_jobs.json")).unwrap();
    let again = store.file("again.json", &again);
    said(&store.import(&again), "0 results imported, 2 results there already");
    store.says(&["list"], &["8 KiB random", "f.dat", "f1"]);
    store.says(&["check"], &["is whole"]);
}

#[test]
fn what_is_left_out_is_said_on_stderr() {
    let store = Store::new();
    let output = store.import(&fixture("diskspd_results/second_span_interrupted.txt"));
    said(&output, "1 result imported");
    let notes = stderr(&output);
    assert!(
        notes.contains("line 92: time span 2 is left out: The test was interrupted"),
        "{notes}"
    );
    let stdin = fs::File::open(fixture("fio/interval.json")).unwrap();
    let place = store.0.path().join("h.db");
    let args = ["history", "import", "-", "--history", place.to_str().unwrap()];
    let output = command(&args).stdin(Stdio::from(stdin)).output().unwrap();
    said(&output, "stdin: 1 result imported");
    assert!(stderr(&output).contains("stdin: line 1: an intermediate result"));
}

#[test]
fn a_file_with_an_error_gives_nothing_and_names_the_place() {
    let store = Store::new();
    let text = fs::read_to_string(fixture("fio/two_jobs.json")).unwrap();
    let half = store.file("half.json", &text.as_bytes()[..text.len() / 2]);
    fails(&store.import(&half), 1, "nothing of it was imported");
    fails(&store.import(&half), 1, "half.json`, line ");
    let text = fs::read_to_string(fixture("diskspd_results/cores_of_two_kinds.txt")).unwrap();
    let bad = store.file("bad.txt", text.replace("65536 |", "6553x |").as_bytes());
    fails(&store.import(&bad), 1, "`6553x` is not a whole number");
    let nobody = store.file("nobody.txt", b"a shopping list");
    fails(&store.import(&nobody), 1, "formats that iosonde imports");
    fails(&store.history(&["list"]), 1, "there is no history");
}
