//! `iosonde capture --names --database URL` with a real PostgreSQL under load: its files are told
//! apart, its counters are in the trace, and its password is nowhere.

use std::path::Path;

use serde_json::Value;
use testing::skip;

use crate::cli::postgres_load::{LoadedPostgres, programs};
use crate::cli::program::{code, command, stderr};
use crate::cli::server::{directory, free_port};

const TEST: &str = "iosonde::a_postgresql_is_captured_with_its_files_and_its_counters";

/// The whole document of a trace.
fn shown(trace: &Path) -> Value {
    let trace = trace.to_str().unwrap();
    let output = command(&["capture", "show", trace, "--json", "--no-history"]).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_postgresql_is_captured_with_its_files_and_its_counters() {
    let Some(programs) = programs() else { return skip(TEST, "PostgreSQL is not installed") };
    let place = directory();
    let mut server = LoadedPostgres::start(&programs, place.path(), &[]);
    let trace = place.path().join("t.iotrace");
    let capture = command(&[
        "capture",
        server.data.to_str().unwrap(),
        "--seconds",
        "3",
        "--names",
        "--database",
        &server.url,
        "--onto-recorded",
        "-o",
        trace.to_str().unwrap(),
    ]);
    let output = { capture }.output().unwrap();
    server.end_load();
    if code(&output) != 0 {
        // No rights, no disk: everything else is an error of the program.
        let why = stderr(&output);
        let lacks = ["root", "is not on a block device", "no disk under", "tracefs"];
        assert!(lacks.iter().any(|word| why.contains(word)), "{why}");
        return skip(TEST, why.lines().next().unwrap_or_default());
    }
    let document = shown(&trace);
    check_database(&document);
    if String::from_utf8_lossy(&output.stdout).contains("files are not told apart") {
        return skip(TEST, "the file system does not tell places");
    }
    check_files(&document, &server.data);
    let copy = place.path().join("copy.iotrace");
    let arguments = ["capture", "anonymise", trace.to_str().unwrap(), "-o", copy.to_str().unwrap()];
    assert_eq!(code(&command(&arguments).output().unwrap()), 0);
    let anonymous = shown(&copy)["conclusion"].to_string();
    assert!(!anonymous.contains("pg_wal") && !anonymous.contains("PostgreSQL"), "{anonymous}");

    let said = [&output.stdout[..], &output.stderr, document.to_string().as_bytes()].concat();
    for text in [std::fs::read(&trace).unwrap(), said] {
        let password = LoadedPostgres::PASSWORD.as_bytes();
        assert!(!text.windows(password.len()).any(|part| part == password));
    }
}

fn check_database(document: &Value) {
    let database = &document["conclusion"]["databases"][0];
    assert!(database["product"].as_str().unwrap().starts_with("PostgreSQL "), "{database}");
    assert!(database["seconds"].as_f64().unwrap() >= 3.0, "{database}");
    assert!(database["counters"]["transactions_committed"].as_u64().unwrap() > 0, "{database}");
    assert!(database["counters"]["wal_bytes"].as_u64().unwrap() > 0, "{database}");
}

/// Every commit writes to the log, and its file is under the data directory.
fn check_files(document: &Value, data: &Path) {
    let files = &document["conclusion"]["files"];
    let log = files["classes"].as_array().unwrap().iter().find(|c| c["class"] == "log").unwrap();
    assert!(log["writes"].as_u64().unwrap() > 0 && log["files"].as_u64().unwrap() > 0, "{files}");
    let busiest = files["files"].as_array().unwrap();
    let log = busiest.iter().find(|file| file["class"] == "log").unwrap();
    let directory = data.canonicalize().unwrap().join("pg_wal");
    assert!(log["name"].as_str().unwrap().starts_with(directory.to_str().unwrap()), "{log}");
    let writes = &document["conclusion"]["writes"][0];
    assert_eq!(writes["purpose"], "log", "the writes are told apart by their files");
}

#[test]
fn what_cannot_be_kept_is_refused_before_recording() {
    let place = directory();
    let trace = place.path().join("t.iotrace");
    let refused = |arguments: &[&str], expected: &str| {
        let fixed = ["capture", "--onto-recorded", "-o", trace.to_str().unwrap()];
        let output = command(&[&fixed[..], arguments].concat()).output().unwrap();
        let said = stderr(&output);
        assert!(code(&output) != 0 && said.contains(expected), "{said}");
        assert!(!said.contains("Zq9xK") && !trace.exists(), "{said}");
        code(&output)
    };
    // Only names of files can be kept, and a process has none.
    assert_eq!(refused(&["--pid", "1", "--names"], "`--names` keeps the names"), 2);
    let port = free_port();
    let closed = format!("postgres://anna:Zq9xK@127.0.0.1:{port}/x");
    assert_eq!(refused(&["--pid", "1", "--database", &closed], "127.0.0.1"), 1);
    assert_eq!(refused(&["--pid", "1", "--database", "oracle://anna:Zq9xK@db"], "postgres://"), 2);
}
