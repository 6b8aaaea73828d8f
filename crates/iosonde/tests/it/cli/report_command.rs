//! `iosonde report`: results as one file, in every format, and nobody's file lost.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use results::Document;

use crate::cli::program::{command, fails, names, stderr, succeeds};

/// A result of `iosonde knee` on a simulated device, kept as a file.
fn knee(dir: &Path) -> PathBuf {
    let args = [
        "knee",
        "/srv/acme-corp/erp-data",
        "--engine",
        "sim",
        "--size",
        "1G",
        "--seconds",
        "1",
        "--at-least",
        "0.2",
        "--precision",
        "20",
        "--warmup",
        "0",
        "--json",
        "--quiet",
    ];
    kept(dir, "knee.json", &args)
}

fn run(dir: &Path) -> PathBuf {
    let args = [
        "run",
        "--engine",
        "sim",
        "--size",
        "1G",
        "--seconds",
        "6",
        "--depth",
        "4",
        "--write",
        "30",
        "--json",
        "--quiet",
    ];
    kept(dir, "run.json", &args)
}

fn kept(dir: &Path, name: &str, args: &[&str]) -> PathBuf {
    let output = command(args).env("IOSONDE_HISTORY", dir.join("history.db")).output().unwrap();
    succeeds(&output);
    let path = dir.join(name);
    fs::write(&path, &output.stdout).unwrap();
    path
}

/// `iosonde report` in a directory, with a history that is not the user's.
fn report(dir: &Path, args: &[&str]) -> Output {
    let mut command = command(&[&["report"], args].concat());
    command.current_dir(dir).env("IOSONDE_HISTORY", dir.join("history.db")).output().unwrap()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn every_format_is_written_and_may_be_written_anew() {
    let dir = tempfile::tempdir().unwrap();
    knee(dir.path());
    run(dir.path());
    for name in ["r.html", "r.xlsx", "r.csv", "r.md"] {
        // A table has no room for a checksum that shows it unchanged.
        let again = if name == "r.csv" { &["--overwrite"][..] } else { &[] };
        for more in [&[][..], again] {
            let args = [&["knee.json", "run.json", "-o", name][..], more].concat();
            let output = report(dir.path(), &args);
            succeeds(&output);
            assert!(output.stdout.is_empty());
            assert!(stderr(&output).contains(name), "{}", stderr(&output));
        }
    }
    let page = text(&dir.path().join("r.html"));
    assert!(page.contains("2 results of iosonde") && page.contains("</html>"));
    let lines = text(&dir.path().join("r.csv")).lines().count();
    assert!(lines > 5, "{lines} lines");
    assert!(text(&dir.path().join("r.md")).contains("## Saturation: 8 KiB random read"));
    let left = names(dir.path()).into_iter().filter(|n| n.contains("part")).count();
    assert_eq!(left, 0, "nothing stays beside the reports");
}

#[test]
fn without_an_output_it_is_a_page_with_the_date_in_its_name() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    succeeds(&report(dir.path(), &["run.json", "--title", "Before the move"]));
    let all = names(dir.path());
    let named = all.iter().find(|n| n.starts_with("iosonde-report-2")).unwrap();
    assert!(Path::new(named).extension().is_some_and(|e| e == "html"), "{named}");
    assert!(text(&dir.path().join(named)).contains("Before the move"));
}

#[test]
fn what_json_printed_comes_back_whole_from_stdin_to_stdout() {
    let dir = tempfile::tempdir().unwrap();
    let original = text(&knee(dir.path()));
    let mut child = command(&["report", "-", "-", "--format", "json", "-o", "-"]);
    child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(original.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    fails(&output, 1, "`-` holds no result");
    let output = report(dir.path(), &["knee.json", "knee.json", "--format", "json", "-o", "-"]);
    succeeds(&output);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(Document::parse(&printed).unwrap(), Document::parse(&original).unwrap());
}

#[test]
fn a_file_of_somebody_else_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let result = run(dir.path());
    let before = text(&result);
    for name in ["notes.html", "notes.xlsx", "notes.csv", "notes.md", "notes.json"] {
        let notes = dir.path().join(name);
        fs::write(&notes, "my notes").unwrap();
        fails(&report(dir.path(), &["run.json", "-o", name]), 1, "notes-2.");
        assert_eq!(text(&notes), "my notes");
    }
    fails(&report(dir.path(), &["run.json", "-o", "run.json"]), 1, "it exists already");
    assert_eq!(text(&result), before, "a result is never replaced by a report of it");
    fails(&report(dir.path(), &["run.json", "-o", "none/r.html"]), 1, "cannot write the report");
    fails(&report(dir.path(), &["run.json", "-o", "."]), 2, "in which format");
    fails(&report(dir.path(), &["run.json", "-o", "r.docx"]), 2, "end it in .html");
    fs::create_dir(dir.path().join("d.html")).unwrap();
    fails(&report(dir.path(), &["run.json", "-o", "d.html"]), 1, "it is a directory");
}

#[test]
fn what_is_no_result_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let result = text(&run(dir.path()));
    let write = |name: &str, content: &[u8]| fs::write(dir.path().join(name), content).unwrap();
    write("short.json", &result.as_bytes()[..result.len() / 2]);
    write("other.json", br#"{"schema":"somebody.else/1"}"#);
    write("newer.json", br#"{"schema":"iosonde.measurement/9"}"#);
    write("empty.json", b"");
    write("bytes.json", &[0xff, 0xfe, 0]);
    for (name, why) in [
        ("short.json", "is not complete JSON"),
        ("other.json", "not a result of iosonde"),
        ("newer.json", "not known to this version"),
        ("empty.json", "holds no result"),
        ("bytes.json", "it is not text"),
        ("none.json", "there is no file"),
        ("../none", "there is no file"),
    ] {
        let output = report(dir.path(), &[name, "-o", "r.html"]);
        fails(&output, 1, why);
        assert!(stderr(&output).contains(name), "{}", stderr(&output));
        assert!(!dir.path().join("r.html").exists(), "{name}");
    }
}

#[test]
fn the_vendors_copy_names_nobody_in_any_format() {
    let dir = tempfile::tempdir().unwrap();
    knee(dir.path());
    for name in ["r.html", "r.csv", "r.md", "r.json"] {
        succeeds(&report(dir.path(), &["knee.json", "--redact", "-o", name]));
        let text = text(&dir.path().join(name));
        // The packed document is base64, in which `erp` stood by chance; it has no dash.
        assert!(!text.contains("acme-") && !text.contains("erp-"), "{name}");
        assert!(name == "r.html" || text.contains("target-1"), "{name}");
    }
}

#[test]
fn charts_become_files_and_markdown_shows_them() {
    let dir = tempfile::tempdir().unwrap();
    knee(dir.path());
    let args = ["knee.json", "-o", "r.md", "--charts", "pictures/knee"];
    succeeds(&report(dir.path(), &args));
    let charts = names(&dir.path().join("pictures/knee"));
    for name in ["iosonde-charts.json", "saturation-8k-random-read.svg", "percentiles.png"] {
        assert!(charts.iter().any(|c| c == name), "no {name} in {charts:?}");
    }
    let shown = text(&dir.path().join("r.md"));
    assert!(shown.contains("(<pictures/knee/saturation-8k-random-read.svg>)"), "{shown}");
    succeeds(&report(dir.path(), &args));
    let own = dir.path().join("pictures/percentiles.svg");
    fs::write(&own, "my picture").unwrap();
    let args = ["knee.json", "-o", "s.md", "--charts", "pictures"];
    fails(&report(dir.path(), &args), 1, "percentiles-2.svg");
    assert_eq!(text(&own), "my picture");
    assert!(!dir.path().join("s.md").exists());
}

/// Results of the history by the unique beginning of an id, by `latest`, and what is not there.
#[test]
fn results_come_from_the_history() {
    let dir = tempfile::tempdir().unwrap();
    let store =
        history::History::open(&history::Place::File(dir.path().join("history.db"))).unwrap();
    let document = Document::parse(&text(&knee(&dir.path().join(".")))).unwrap();
    store.add(&document).unwrap();
    store.tag(document.id(), "before").unwrap();
    let beginning = &document.id()[..document.id().len() - 1];
    for selector in [document.id(), beginning, "latest", "@before"] {
        let output = report(dir.path(), &[selector, "--format", "json", "-o", "-"]);
        succeeds(&output);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(Document::parse(&printed).unwrap().id(), document.id(), "{selector}");
    }
    fails(&report(dir.path(), &["nothing", "-o", "r.html"]), 1, "nothing");
}

#[test]
fn without_a_history_that_is_said() {
    let dir = tempfile::tempdir().unwrap();
    fails(&report(dir.path(), &["latest", "-o", "r.html"]), 1, "history");
    assert!(names(dir.path()).is_empty(), "asking makes no history");
}

/// A report of two results was two reports one after the other.
#[test]
fn a_report_of_two_results_begins_with_both_on_one_chart() {
    let dir = tempfile::tempdir().unwrap();
    let first = knee(dir.path());
    let text = fs::read_to_string(&first).unwrap();
    let mut later: serde_json::Value = serde_json::from_str(&text).unwrap();
    later["id"] = "another".into();
    later["started"] = "2027-02-03T04:05:06Z".into();
    let second = dir.path().join("later.json");
    fs::write(&second, later.to_string()).unwrap();
    let page = dir.path().join("both.html");
    let files = [first, second, page].map(|path| path.to_str().unwrap().to_owned());
    let [a, b, page] = files.each_ref().map(String::as_str);
    succeeds(&command(&["report", a, b, "--output", page]).output().unwrap());
    let html = fs::read_to_string(page).unwrap();
    assert!(html.contains("<section id=\"comparison\">"), "the comparison");
    assert!(html.contains("<span>B: 2027-02-03</span>"), "a legend by date");
    // Of one result there is nothing to compare.
    let alone = dir.path().join("alone.html");
    succeeds(&command(&["report", a, "--output", alone.to_str().unwrap()]).output().unwrap());
    assert!(!fs::read_to_string(alone).unwrap().contains("id=\"comparison\""));
    let charts = dir.path().join("charts");
    let markdown = dir.path().join("both.md");
    let args = ["report", a, b, "--output", markdown.to_str().unwrap(), "--charts"];
    succeeds(&command(&[&args[..], &[charts.to_str().unwrap()]].concat()).output().unwrap());
    let text = fs::read_to_string(markdown).unwrap();
    let picture = "compared-saturation-8k-random-read.svg";
    assert!(text.contains(&format!("(<charts/{picture}>)")) && charts.join(picture).is_file());
}
