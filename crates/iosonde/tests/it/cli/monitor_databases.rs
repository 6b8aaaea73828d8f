//! A database beside the device: `iosonde monitor --database URL` with a real PostgreSQL under
//! load.

use std::path::Path;

use serde_json::Value;

use testing::skip;

use crate::cli::postgres_load::{LoadedPostgres, programs};
use crate::cli::program::{code, command, stderr};
use crate::cli::server::{directory, free_port};

fn lines(text: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Whether there is a block device to be watched under a path.
fn is_on_a_device(path: &Path) -> bool {
    let path = path.to_str().unwrap();
    let once = ["monitor", path, "--count", "1", "--interval", "100ms", "--no-history"];
    !stderr(&command(&once).output().unwrap()).contains("is not on a block device")
}

/// Its figures are beside those of its device.
fn check_document(json: &[u8], url: &str) {
    let document: Value = serde_json::from_slice(json).unwrap();
    let rows = document["conclusion"]["totals"]["rows"].as_array().unwrap();
    let total = rows.iter().find(|row| row["object"] == "total").unwrap();
    assert_eq!(total["source"], url);
    assert!(total["reads"].as_u64().unwrap() > 0, "{total}");
    assert!(total["counters"]["transactions_committed"].as_f64().unwrap() > 0.0, "{total}");
    assert!(rows.len() > 2, "objects, too");
    let disks = document["conclusion"]["totals"]["disks"].as_object().unwrap();
    assert!(!disks.is_empty());
    let notes = document["warnings"].to_string();
    assert!(notes.contains("track_wal_io_timing is off"), "{notes}");
}

/// The history and these texts hold the URL of the database without its password.
fn check_password(place: &Path, url: &str, texts: &[&[u8]]) {
    let kept = std::fs::read_dir(place).unwrap().flatten().map(|entry| entry.path());
    let kept = kept.filter(|path| path.to_string_lossy().contains("history.db"));
    let kept: Vec<u8> = kept.flat_map(|path| std::fs::read(path).unwrap()).collect();
    for text in texts.iter().copied().chain([kept.as_slice()]) {
        let has = |words: &str| text.windows(words.len()).any(|part| part == words.as_bytes());
        assert!(has(url) && !has("Zq9xK"), "{:.300}", String::from_utf8_lossy(text));
    }
}

#[test]
fn a_postgresql_under_load_is_shown_beside_its_device() {
    let Some(programs) = programs() else {
        let test = "iosonde::a_postgresql_under_load_is_shown_beside_its_device";
        return skip(test, "PostgreSQL is not installed");
    };
    let place = directory();
    if !is_on_a_device(place.path()) {
        let test = "iosonde::a_postgresql_under_load_is_shown_beside_its_device";
        return skip(test, "temporary files are on no block device");
    }
    let mut server = LoadedPostgres::start(&programs, place.path(), &["track_io_timing=on"]);
    let history = place.path().join("history.db");
    let url = server.url.replace(":Zq9xK@", "@");
    let monitor = |arguments: &[&str]| {
        let fixed = [
            "monitor",
            server.data.to_str().unwrap(),
            "--interval",
            "500ms",
            "--database",
            &server.url,
        ];
        let history = ["--history", history.to_str().unwrap()];
        let output = command(&[&fixed[..], arguments, &history].concat()).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        output
    };
    let json = monitor(&["--count", "6", "--json"]).stdout;
    let text = monitor(&["--count", "2", "--no-history"]);
    let table = monitor(&["--count", "2", "--csv", "--no-history"]);
    let events = lines(&monitor(&["--count", "2", "--json-lines", "--no-history"]).stdout);
    let told = monitor(&["--count", "2", "--json", "--progress", "json", "--no-history"]);
    server.end_load();

    check_document(&json, &url);
    let shown = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(shown.contains("postgres: total"), "{shown}");
    assert!(shown.contains("The database read"), "{shown}");
    let rows = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(rows.lines().any(|row| row.contains(&format!("{url} total"))), "{rows}");
    let windows = events.iter().filter(|event| event["event"] == "window");
    let beside = |window: &Value| window["rows"].as_array().is_some_and(|rows| !rows.is_empty());
    assert!(windows.clone().count() >= 2 && windows.clone().any(beside), "{events:?}");

    check_password(place.path(), &url, &[&json, &told.stdout, &told.stderr]);

    // What was kept can be reported.
    let report = place.path().join("report.html");
    let arguments = ["report", "latest", "-o", report.to_str().unwrap(), "--history"];
    let output =
        command(&[&arguments[..], &[history.to_str().unwrap()]].concat()).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let html = std::fs::read_to_string(&report).unwrap();
    assert!(html.contains("Databases next to devices") && html.contains("postgres: total"));
}

#[test]
fn a_database_that_cannot_be_watched_is_an_error_without_its_password() {
    let closed = free_port();
    for (url, expected) in [
        (format!("postgres://anna:Zq9xK@127.0.0.1:{closed}/x"), 1),
        (format!("mysql://anna:Zq9xK@127.0.0.1:{closed}"), 1),
        (format!("sqlserver://anna:Zq9xK@127.0.0.1:{closed}"), 1),
        ("oracle://anna:Zq9xK@db".to_owned(), 2),
        ("mysql://anna:Zq9xK@db:port".to_owned(), 2),
    ] {
        let output = command(&["monitor", "--database", &url, "--count", "1"]).output().unwrap();
        let said = stderr(&output);
        assert_eq!(code(&output), expected, "{url}: {said}");
        assert!(!said.contains("Zq9xK") && output.stdout.is_empty(), "{said}");
    }
}
