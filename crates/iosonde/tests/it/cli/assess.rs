//! `iosonde assess`: its summary, and what is measured beside something else.

use results::{Assessment, Document, Experiment, ReadWriteMatrix};
use serde_json::Value;

use crate::cli::program::{command, succeeds};

/// Two disks, slow enough that an hour of them is simulated in seconds.
const SIM: [&str; 8] = [
    "--engine",
    "sim",
    "--sim",
    r#"servers = 2, read_ns = "8ms", write_ns = "8ms", durable_ns = "1ms""#,
    "--size",
    "1G",
    "--seed",
    "1",
];
const TARGET: &str = "/srv/postgresql/18/production-cluster-eu-central-1/base";

fn output(args: &[&str]) -> String {
    let output = command(args).output().unwrap();
    succeeds(&output);
    String::from_utf8(output.stdout).unwrap()
}

/// Lines were up to 100 columns wide, and 43 of them did not fit a screen.
#[test]
fn the_summary_fits_80_columns_and_40_lines_at_every_pace() {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("iosonde-2026-11-25-023601.html");
    let report = report.to_str().unwrap();
    for (pace, more) in [
        ("glance", &[][..]),
        ("quick", &[]),
        ("quick", &["--need", "medium", "--class", "hdd", "--for", "sqlite"]),
        ("normal", &["--class", "sata", "--for", "mysql"]),
        ("normal", &["--need", "large", "--class", "cloud", "--for", "oracle"]),
        ("long", &["--need", "small", "--class", "hdd"]),
        ("long", &["--for", "rocksdb"]),
    ] {
        let args =
            ["assess", TARGET, "--pace", pace, "--report", report, "--quiet", "--no-history"];
        let output = command(&[&args[..], &SIM, more].concat()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let _ = std::fs::remove_file(report);
        assert!(text.contains("At a glance") && text.contains("Report: "), "{text}");
        // A path is one word: it alone may be as long as it is.
        let is_path = |line: &str| line.trim_start().starts_with(['/', 'R']) && line.contains('/');
        for line in text.lines().filter(|line| !is_path(line)) {
            assert!(line.chars().count() <= 80, "{pace} {more:?}: {line}\n{text}");
        }
        let lines = text.lines().count();
        assert!(lines <= 40, "{pace} {more:?}: {lines} lines\n{text}");
    }
}

#[test]
fn a_database_without_limits_of_its_own_says_whose_are_used() {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("r.html");
    let report = report.to_str().unwrap();
    for (database, words) in [
        ("postgres", "PostgreSQL publishes no limits; the documents' limits are used."),
        ("mysql", "MySQL (InnoDB) publishes no limits; the documents' limits are used."),
        ("rocksdb", "RocksDB publishes no limits; the documents' limits are used."),
        ("sqlite", "SQLite publishes no limits; the documents' limits are used."),
        ("oracle", "Transaction log, Data warehouse (DSS) data files: Oracle Database"),
        ("sqlserver", ""),
    ] {
        let args = ["assess", "--pace", "quick", "--report", report, "--quiet", "--for", database];
        let text = output(&[&args[..], &SIM, &["--no-history"]].concat());
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        std::fs::remove_file(report).unwrap();
        assert!(joined.contains(words), "{text}");
        assert_eq!(joined.contains("publishes no limits"), !words.is_empty(), "{text}");
    }
}

/// A baseline: its plan, what a dry run says of it, the result in every format, and the same again.
#[test]
fn a_baseline_with_reads_beside_writes_is_planned_shown_and_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (plan, result, html) = (path("plan.toml"), path("result.json"), path("r.html"));
    let long = [&["assess", "sim", "--pace", "long", "--report", &html], &SIM[..]].concat();
    std::fs::write(&plan, output(&[&long[..], &["--print-plan"]].concat())).unwrap();
    let dry = output(&["do", &plan, "--dry-run"]);
    for words in [
        "measurements in 1 h",
        "also writes the log alongside a checkpoint (8 KiB random write, 64 in flight)",
        "also offers OLTP alongside a backup (1 MiB sequential read, 4 in flight)",
        "offers 24 combinations of read and write rates for 20 s each",
    ] {
        assert!(dry.contains(words), "`{words}` is not in: {dry}");
    }
    let history = path("history.db");
    let kept = ["--json", "--quiet", "--history", &history];
    let first = output(&[&["do", &plan], &kept[..]].concat());
    std::fs::write(&result, &first).unwrap();
    let found: Assessment = serde_json::from_str(&first).unwrap();
    assert_eq!(found.mixed.as_ref().unwrap().matrix.cells.len(), 24);
    assert_eq!(found.beside.len(), 4, "three writes of the log, and OLTP");
    // The history gives back what was kept, measurement by measurement.
    let shown = output(&["history", "show", "latest", "--json", "--history", &history]);
    let shown = Document::from_value(serde_json::from_str(&shown).unwrap()).unwrap();
    assert_eq!(shown, Document::Assessment(Box::new(found.clone())));
    for format in ["html", "md", "csv", "xlsx"] {
        let file = path(&format!("out.{format}"));
        output(&["report", &result, "-o", &file]);
        let bytes = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        match format {
            "csv" => {
                let rows = text.lines().count();
                assert_eq!(
                    rows,
                    1 + Document::Assessment(Box::new(found.clone())).measurements().len()
                );
            }
            "xlsx" => assert!(bytes.starts_with(b"PK")),
            _ => {
                // Markdown has no pictures here, and so no heat map of its own for p50.
                let p50 = if format == "md" { "Read p50" } else { "p50 of reads" };
                for words in ["Loads alongside each other", "p99 of reads", p50, "skipped"] {
                    assert!(text.contains(words), "{format}: {words}");
                }
            }
        }
    }
    let again = output(&[&["again", "latest"], &kept[..]].concat());
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["schema"], "iosonde.comparison/1", "{again}");
}

#[test]
fn a_matrix_is_repeated_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let history = dir.path().join("history.db");
    let kept = ["--json", "--quiet", "--history", history.to_str().unwrap()];
    let short = ["--seconds", "4", "--cell-seconds", "4", "--levels", "40,80"];
    let first = output(&[&["matrix", "sim"], &SIM[..], &short, &kept].concat());
    let first: Experiment<ReadWriteMatrix> = serde_json::from_str(&first).unwrap();
    assert!(!first.conclusion.cells.is_empty());
    let again = output(&[&["again", "latest"], &kept[..]].concat());
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["schema"], "iosonde.comparison/1", "{again}");
    assert_eq!(again["loads"].as_array().unwrap().len(), first.measurements.len(), "{again}");
    let differences = again["differences"].as_array().unwrap();
    assert!(differences.iter().all(|d| d["unlike"] == false), "{differences:?}");
    let list = output(&["history", "list", "--kind", "matrix", "--json", "--history", kept[3]]);
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["results"].as_array().unwrap().len(), 2);
}
