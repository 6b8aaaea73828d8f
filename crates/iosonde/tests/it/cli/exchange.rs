//! Results leave a history and come into another; tables are read by the programs they are made
//! for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::program::{code, command, fails, foreign_file, names, stderr, succeeds, tool};
use super::python::python;

/// A directory with a history of two sweeps.
struct Store {
    directory: tempfile::TempDir,
    history: String,
}

impl Store {
    fn empty() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let history = directory.path().join("h.db").to_str().unwrap().to_owned();
        Self { directory, history }
    }

    fn filled() -> Self {
        let store = Self::empty();
        let short = ["--seconds", "2", "--warmup", "0.5", "--quiet"];
        for lists in
            [["--depths", "1,4", "--writes", "0,30"], ["--depths", "2", "--blocks", "8K,64K"]]
        {
            let sweep = ["sweep", "--engine", "sim", "--history", &store.history];
            succeeds(&command(&[&sweep[..], &lists, &short].concat()).output().unwrap());
        }
        succeeds(&store.history(&["tag", "latest", "baseline"]));
        succeeds(&store.history(&["note", "latest", "after the new \"firmware\",\nat night"]));
        store
    }

    /// `iosonde history` with these arguments.
    fn history(&self, args: &[&str]) -> Output {
        let place = ["history", "--history", &self.history];
        command(&[&place[..], args].concat()).output().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Exports into a file of this name with these arguments; what the program said.
    fn export(&self, name: &str, args: &[&str]) -> Output {
        let path = self.path(name);
        self.history(&[&["export", "--output", path.to_str().unwrap()], args].concat())
    }

    fn export_text(&self, args: &[&str]) -> String {
        let output = self.history(&[&["export"], args].concat());
        succeeds(&output);
        String::from_utf8(output.stdout).unwrap()
    }

    fn import(&self, path: &Path) -> Output {
        self.history(&["import", path.to_str().unwrap()])
    }
}

#[track_caller]
fn said(output: &Output, words: &str) {
    succeeds(output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(words), "`{words}` is not in: {text}");
}

#[test]
fn what_was_exported_and_imported_is_the_same_to_the_byte() {
    let (first, second) = (Store::filled(), Store::empty());
    said(&first.export("all.jsonl", &[]), "2 results");
    said(&second.import(&first.path("all.jsonl")), "2 results imported");
    said(&second.import(&first.path("all.jsonl")), "0 results imported, 2 results there already");
    let text = fs::read_to_string(first.path("all.jsonl")).unwrap();
    assert_eq!(second.export_text(&[]), text);
    assert!(text.contains("after the new") && text.ends_with("{\"results\":2}\n"));
    let tagged = second.export_text(&["@baseline"]);
    assert_eq!(tagged, second.export_text(&["latest", "@baseline"]), "each result once");
    assert_eq!(tagged.lines().count(), 3);
    assert_eq!(second.export_text(&["--pattern", "sequential"]).lines().count(), 2);
    said(&second.history(&["check"]), "is whole");
}

#[test]
fn what_comes_on_stdin_is_imported() {
    let (first, second) = (Store::filled(), Store::empty());
    succeeds(&first.export("all.jsonl", &[]));
    let stdin = || Stdio::from(fs::File::open(first.path("all.jsonl")).unwrap());
    let import = ["history", "import", "-", "--history", &second.history];
    said(&command(&import).stdin(stdin()).output().unwrap(), "stdin: 2 results imported");
}

#[test]
fn a_result_that_was_printed_is_imported_once() {
    let store = Store::empty();
    let run = ["run", "--engine", "sim", "--json", "--seconds", "1", "--warmup", "0", "-q"];
    let elsewhere = store.path("elsewhere.db");
    let output = command(&run).env("IOSONDE_HISTORY", elsewhere).output().unwrap();
    let printed = store.path("run.json");
    fs::write(&printed, &output.stdout).unwrap();
    said(&store.import(&printed), "1 result imported");
    said(&store.import(&printed), "1 result there already");
    let text = String::from_utf8(output.stdout).unwrap();
    fs::write(&printed, text.replace("\"in_flight\": 1", "\"in_flight\": 2")).unwrap();
    fails(&store.import(&printed), 1, "with other content");
}

#[test]
fn a_file_that_is_not_whole_or_not_ours_changes_nothing() {
    let (first, second) = (Store::filled(), Store::empty());
    let text = first.export_text(&[]);
    let bad = second.path("bad");
    let refuse = |content: &[u8], words: &str| {
        fs::write(&bad, content).unwrap();
        fails(&second.import(&bad), 1, words);
    };
    let last = text.rfind("{\"results\"").unwrap();
    refuse(&text.as_bytes()[..last], "line 3: the export ends here");
    refuse(&text.as_bytes()[..last - 1000], "line 3: the export ends here");
    refuse(text.replace("export/1", "export/2").as_bytes(), "`iosonde.export/2`");
    refuse(b"Kind,Threads\n", "in none of the formats that iosonde imports");
    refuse(b"{\"name\": \"fio\"}", "not a result of iosonde");
    refuse(b"\xFF\xFE{\0", "not valid UTF-8");
    refuse(b"", "it is empty");
    fails(&second.import(&second.path("nothing")), 1, "No such file");
    fails(&second.import(second.directory.path()), 1, "it is a directory");
    assert!(!Path::new(&second.history).exists(), "nothing was imported");
    // The same where there is a history.
    fs::write(&bad, &text.as_bytes()[..last]).unwrap();
    fails(&first.import(&bad), 1, "line 3: the export ends here");
    assert_eq!(first.export_text(&[]), text);
}

/// A history of nothing stayed behind, of which nobody knew what had made it.
#[test]
fn an_import_that_fails_makes_no_history() {
    let store = Store::filled();
    succeeds(&store.export("all.jsonl", &[]));
    let whole = fs::read_to_string(store.path("all.jsonl")).unwrap();
    let cut: String = whole.split_inclusive('\n').take(2).collect();
    for text in [cut.as_str(), &whole[..whole.len() / 2], "nothing of anybody", "sqlio v1.5.SG\n"] {
        fs::write(store.path("cut"), text).unwrap();
        let (history, file) = (store.path("fresh.db"), store.path("cut"));
        let output = command(&["history", "import", file.to_str().unwrap(), "--history"])
            .arg(&history)
            .output()
            .unwrap();
        assert!(code(&output) == 1 || text.starts_with("sqlio"), "{}", stderr(&output));
        let left = names(store.directory.path());
        assert!(!left.iter().any(|name| name.starts_with("fresh")), "{left:?}");
    }
}

#[test]
fn an_export_goes_over_no_file_of_others() {
    let store = Store::filled();
    let theirs = store.path("theirs.csv");
    let bytes = foreign_file(&theirs, 1000);
    fails(&store.export("theirs.csv", &["--format", "csv"]), 1, "theirs-2.csv");
    assert_eq!(fs::read(&theirs).unwrap(), bytes);
    fails(&store.export("h.db", &[]), 1, "name another");
    fails(&store.export("h.db", &["--overwrite"]), 1, "SQLite database");
    fails(&store.export(".", &[]), 1, "directory");
    fails(&store.export("no/such/directory", &[]), 1, "No such file");
    for format in [&["--format", "csv"][..], &["--format", "csv", "--columns", "sqlio"], &[]] {
        let name = format!("ours{}", format.len());
        succeeds(&store.export(&name, format));
        let before = fs::read(store.path(&name)).unwrap();
        fails(&store.export(&name, format), 1, "`--overwrite`");
        assert_eq!(fs::read(store.path(&name)).unwrap(), before);
        said(&store.export(&name, &[format, &["--overwrite"]].concat()), "2 results");
    }
    fails(&store.export("new", &["nobody"]), 1, "nobody");
    let left = names(store.directory.path());
    let parts: Vec<&String> = left.iter().filter(|n| n.contains("part") || *n == "new").collect();
    assert!(parts.is_empty(), "{left:?}");
}

#[test]
fn the_ending_of_an_export_says_what_it_is() {
    let store = Store::filled();
    for (name, begin) in [("a.csv", "measurement_id,"), ("a.parquet", "PAR1"), ("a.jsonl", "{")] {
        succeeds(&store.export(name, &[]));
        assert!(fs::read(store.path(name)).unwrap().starts_with(begin.as_bytes()), "{name}");
    }
    succeeds(&store.export("b.csv", &["--format", "jsonl"]));
    assert!(fs::read(store.path("b.csv")).unwrap().starts_with(b"{"), "what is said wins");
    succeeds(&store.export("series.csv", &["--series"]));
}

#[test]
fn what_does_not_fit_together_is_wrong_usage() {
    let store = Store::filled();
    fails(&store.history(&["export", "--format", "parquet"]), 2, "--output");
    fails(&store.history(&["export", "--series"]), 2, "for tables");
    fails(&store.history(&["export", "latest", "--kind", "run"]), 2, "not both");
    fails(&store.history(&["import"]), 2, "FILE");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let store = Store::filled();
    let script = "\"$0\" history export --history \"$1\" | head -c 10";
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", script, env!("CARGO_BIN_EXE_iosonde"), &store.history])
        .output()
        .unwrap();
    succeeds(&output);
    assert_eq!((output.stdout.len(), stderr(&output)), (10, String::new()));
}

#[test]
fn tables_have_their_columns() {
    let store = Store::filled();
    let sqlio = store.export_text(&["--format", "csv", "--columns", "sqlio"]);
    let mut lines = sqlio.lines();
    let head = "Kind,Threads,Seconds,Drive,Stripe,Outstanding,Size,IOs,MBs,Latency_min,\
                Latency_avg,Latency_max";
    assert_eq!(lines.next(), Some(head));
    let kinds: Vec<&str> = lines.map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(kinds.len(), 6);
    assert_eq!(kinds.iter().filter(|kind| **kind == "W30").count(), 2);
    let blocks = store.export_text(&["--format", "csv", "--block", "64K"]);
    assert_eq!(blocks.lines().count(), 2, "only the measurements that fit: {blocks}");
}

#[test]
fn a_backup_is_a_history_and_goes_over_nothing() {
    let store = Store::filled();
    let copy = store.path("copy.db");
    let backup = || store.history(&["backup", copy.to_str().unwrap()]);
    said(&backup(), "was copied");
    let bytes = fs::read(&copy).unwrap();
    assert_eq!(code(&backup()), 1);
    assert_eq!(fs::read(&copy).unwrap(), bytes);
    let place = ["history", "export", "--history", copy.to_str().unwrap()];
    let output = command(&place).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), store.export_text(&[]));
}

#[test]
fn a_check_says_what_is_missing() {
    let store = Store::filled();
    let history = rusqlite::Connection::open(&store.history).unwrap();
    let sql = "DELETE FROM measurement_documents WHERE measurement = (SELECT min(number) FROM \
               measurements)";
    assert_eq!(history.execute(sql, []).unwrap(), 1);
    drop(history);
    let output = store.history(&["check"]);
    assert_eq!(code(&output), 1);
    assert!(!output.stdout.is_empty(), "it names what is wrong");
    assert!(stderr(&output).contains("backup"), "{}", stderr(&output));
}

#[test]
fn duckdb_and_pandas_read_in_parquet_what_the_csv_says() {
    let store = Store::filled();
    let mut script =
        vec![concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/exchange.py").to_owned()];
    let tables: [&[&str]; 3] = [&[], &["--columns", "sqlio"], &["--series"]];
    for (number, table) in tables.iter().enumerate() {
        for format in ["parquet", "csv"] {
            let name = format!("{number}.{format}");
            succeeds(&store.export(&name, &[&["--format", format], *table].concat()));
            script.push(store.path(&name).to_str().unwrap().to_owned());
        }
    }
    let args: Vec<&str> = script.iter().map(String::as_str).collect();
    let python = python("tables", "duckdb, pandas, pyarrow", &["duckdb", "pandas", "pyarrow"]);
    let rows = tool(python.to_str().unwrap(), &args).unwrap();
    let rows: Vec<u64> = rows.split(' ').map(|n| n.parse().unwrap()).collect();
    assert!(matches!(*rows, [6, 6, points] if points > 6), "{rows:?}");
}
