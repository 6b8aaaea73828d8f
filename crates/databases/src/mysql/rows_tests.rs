//! Two samples as MySQL 8 would give them, and what follows by hand; MariaDB is asked in the tests
//! next to this crate.

use super::*;
use crate::sample::{DatabaseSample, Kind};
use crate::window::{DatabaseRow, DatabaseWindow};

const V8: &str = include_str!("../recorded/mysql8.json");

fn answers() -> Vec<Record> {
    serde_json::from_str(V8).unwrap()
}

fn facts(version: &str) -> ServerFacts {
    ServerFacts {
        kind: Kind::MySql,
        version: version.to_owned(),
        data_directory: Some("/var/lib/mysql/".to_owned()),
    }
}

fn sample(answer: &Record, version: &str, at_ns: u64) -> DatabaseSample {
    let answer = interpret(answer, &facts(version));
    DatabaseSample {
        at_ns,
        database_at_ns: answer.database_at_ns,
        instance: "db:3306".to_owned(),
        uptime_s: answer.uptime_s,
        reconnections: 0,
        objects: answer.objects,
        counters: answer.counters,
        notes: answer.notes,
    }
}

fn window(answers: &[Record], version: &str) -> DatabaseWindow {
    let (a, b) = (&answers[0], &answers[1]);
    DatabaseWindow::between(&sample(a, version, 0), &sample(b, version, 10_020_000_000))
}

fn row<'a>(window: &'a DatabaseWindow, object: &str) -> &'a DatabaseRow {
    window.rows.iter().find(|row| row.object == object).unwrap()
}

#[test]
fn each_file_has_a_row_and_picoseconds_become_nanoseconds() {
    let window = window(&answers(), "8.0.43");
    assert!((window.seconds - 10.0).abs() < 1e-9, "by the server's clock");
    let table = row(&window, "sbtest/sbtest1.ibd");
    assert_eq!((table.reads, table.read_bytes), (Some(5000), Some(81_920_000)));
    assert_eq!((table.writes, table.written_bytes), (Some(6500), Some(106_496_000)));
    // 1.5e12 ps for 5000 reads, 2.6e11 ps for 6500 writes.
    assert_eq!((table.read_latency_ns, table.write_latency_ns), (Some(300_000.0), Some(40_000.0)));
    assert_eq!((table.syncs, table.sync_latency_ns), (None, None));
    let log = row(&window, "#innodb_redo/#ib_redo12");
    assert_eq!((log.reads, log.read_latency_ns, log.writes), (Some(0), None, Some(2100)));
    assert_eq!(row(&window, "binlog.000003").write_latency_ns, Some(10_000.0));
    assert_eq!(row(&window, "sbtest/new.ibd").writes, Some(7), "it came into being meanwhile");
    assert_eq!(row(&window, "innodb (syncs of all its files)").syncs, Some(2500));
    assert_eq!(DatabaseRow::total(&window.rows).unwrap().syncs, Some(2500));
}

#[test]
fn the_log_has_counters_of_its_own() {
    let window = window(&answers(), "8.0.43");
    assert_eq!(window.counter("redo_log_bytes"), Some(30_000_000));
    assert_eq!(window.counter("redo_log_syncs"), Some(2000));
    // As many as the log's syncs, and 2.4e12 ps: 1.2 ms each.
    assert_eq!(window.counter("redo_log_other_operations"), Some(2000));
    assert_eq!(window.counter("redo_log_other_ns"), Some(2_400_000_000));
    assert_eq!(window.counter("commit_statements"), Some(2000));
}

#[test]
fn without_the_performance_schema_the_status_is_what_there_is() {
    let mut answers = answers();
    for answer in &mut answers {
        answer.remove("files");
    }
    let window = window(&answers, "8.0.43");
    assert_eq!(window.rows.len(), 1, "MySQL's data have the log in them: {:?}", window.rows);
    let all = row(&window, "innodb (all its files)");
    assert_eq!((all.reads, all.writes, all.syncs), (Some(5000), Some(9000), Some(2500)));
    assert_eq!((all.read_bytes, all.read_latency_ns), (Some(81_920_000), None));
    assert_eq!(window.counter("file_other_operations"), None);
}

#[test]
fn the_log_of_mariadb_is_a_row_of_the_status() {
    let mut answers = answers();
    for answer in &mut answers {
        let files = answer.get_mut("files").unwrap().as_array_mut().unwrap();
        files.retain(|row| row["event"] != LOG_EVENT);
        let status = answer.get_mut("status").unwrap().as_array_mut().unwrap();
        status.retain(|row| row["Variable_name"] != "Innodb_os_log_fsyncs");
    }
    let log = |version| {
        let window = window(&answers, version);
        window.rows.into_iter().find(|row| row.object == "innodb (redo log)")
    };
    let row = log("10.11.19-MariaDB").unwrap();
    assert_eq!((row.writes, row.written_bytes), (Some(2100), Some(30_000_000)));
    assert_eq!(log("8.0.43"), None);
}

#[test]
fn sums_of_picoseconds_start_again() {
    let mut answers = answers();
    for (answer, value) in answers.iter_mut().zip([u64::MAX - 999_999, 1_499_000_000_000]) {
        answer["files"][0]["read_ps"] = value.to_string().into();
    }
    let window = window(&answers, "8.0.43");
    let latency = row(&window, "sbtest/sbtest1.ibd").read_latency_ns.unwrap();
    assert!((latency - 1_499_001_000_000.0 / 1e3 / 5000.0).abs() < 1e-6, "{latency}");
}

#[test]
fn a_new_start_and_a_truncated_table_give_no_figures() {
    let mut restarted = answers();
    restarted[1]["status"][0]["Value"] = "4".into();
    assert!(window(&restarted, "8.0.43").other_instance);
    let mut truncated = answers();
    truncated[1]["files"][0]["reads"] = "12".into();
    let window = window(&truncated, "8.0.43");
    assert_eq!(window.anew, ["sbtest/sbtest1.ibd"]);
}

#[test]
fn what_is_not_counted_is_named() {
    let instruments: Vec<Record> = serde_json::from_str(
        r#"[{"name": "wait/io/file/innodb/innodb_log_file", "enabled": "NO", "timed": "NO"},
            {"name": "wait/io/file/sql/binlog", "enabled": "YES", "timed": "NO"}]"#,
    )
    .unwrap();
    let notes = instrument_notes(&instruments);
    assert_eq!(notes.len(), 2);
    assert!(
        notes[0].starts_with("not counted: wait/io/file/innodb/innodb_log_file; UPDATE"),
        "{notes:?}"
    );
    assert!(notes[1].starts_with("not timed: wait/io/file/sql/binlog; UPDATE"), "{notes:?}");
    assert_eq!(instrument_notes(&[]), [""; 0]);
}

#[test]
fn the_questions_ask_for_what_is_read() {
    assert!(files_question(FileDetail::Files).unwrap().contains("file_summary_by_instance"));
    assert!(files_question(FileDetail::KindsOfFiles).unwrap().contains("EVENT_NAME AS `name`"));
    assert_eq!(files_question(FileDetail::StatusOnly), None);
    assert!(
        status_question().contains("'Innodb_data_fsyncs'")
            && status_question().contains("'Uptime'")
    );
}
