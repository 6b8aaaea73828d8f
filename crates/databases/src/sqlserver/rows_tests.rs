//! Two samples as SQL Server gives them, written by hand after its documentation, and what follows.

use super::*;
use crate::sample::DatabaseSample;
use crate::window::{Clock, DatabaseRow, DatabaseWindow};

const RECORDED: &str = include_str!("../recorded/sqlserver.json");

fn answers() -> Vec<Record> {
    serde_json::from_str(RECORDED).unwrap()
}

fn window(answers: &[Record]) -> DatabaseWindow {
    let sample = |answer: &Record, at_ns| {
        let answer = interpret(answer);
        DatabaseSample {
            at_ns,
            database_at_ns: answer.database_at_ns,
            instance: answer.instance,
            uptime_s: answer.uptime_s,
            reconnections: 0,
            objects: answer.objects,
            counters: answer.counters,
            notes: answer.notes,
        }
    };
    DatabaseWindow::between(&sample(&answers[0], 0), &sample(&answers[1], 30_030_000_000))
}

fn row<'a>(window: &'a DatabaseWindow, object: &str) -> &'a DatabaseRow {
    window.rows.iter().find(|row| row.object == object).unwrap()
}

#[test]
fn each_file_has_a_row_by_the_servers_own_clock() {
    let window = window(&answers());
    assert_eq!((window.seconds, window.clock), (30.0, Clock::Database));
    let data = row(&window, "orders/orders.mdf");
    assert_eq!((data.reads, data.read_bytes), (Some(15_763), Some(129_130_496)));
    // 126104 ms for 15763 reads: 8 ms; 457620 ms for 15780 writes: 29 ms.
    assert_eq!((data.read_latency_ns, data.write_latency_ns), (Some(8e6), Some(29e6)));
    assert_eq!(data.writes_per_s(), Some(526.0));
    let log = row(&window, "orders/orders.ldf (log)");
    assert_eq!((log.writes, log.written_bytes), (Some(9000), Some(36_864_000)));
    assert_eq!(
        (log.write_latency_ns, log.reads, log.read_latency_ns),
        (Some(1.1e6), Some(0), None)
    );
    assert_eq!((log.syncs, log.sync_latency_ns), (None, None), "SQL Server writes through");
    let idle = row(&window, "tempdb/tempdb.mdf");
    assert!(idle.is_idle() && idle.write_latency_ns.is_none());
    assert_eq!(window.counter("log_flushes"), Some(9000));
    assert_eq!(window.counter("log_bytes"), Some(36_000_000));
    assert_eq!(window.counter("checkpoint_pages"), Some(1500));
    assert_eq!(window.counter("queued_read_ns"), Some(500_000_000));
}

#[test]
fn files_without_names_are_told_by_number() {
    let answers = answers();
    let window = window(&answers);
    let nameless = row(&window, "database 9/file 1");
    assert_eq!((nameless.reads, nameless.read_latency_ns), (Some(12), Some(2e6)));
    assert!(interpret(&answers[1]).notes[0].contains("VIEW ANY DEFINITION"));
    assert!(interpret(&answers[0]).notes.is_empty());
}

#[test]
fn a_clock_of_32_bits_that_starts_again_is_replaced_by_ours() {
    let mut answers = answers();
    for row in answers[1]["files"].as_array_mut().unwrap() {
        row["sample_ms"] = 12_000.into();
    }
    let window = window(&answers);
    assert_eq!((window.seconds, window.clock), (30.03, Clock::Ours));
}

#[test]
fn a_new_start_gives_no_figures() {
    let mut answers = answers();
    answers[1].insert("started".to_owned(), "2026-11-22T02:00:00.000".into());
    let window = window(&answers);
    assert!(window.other_instance && window.rows.is_empty());
}

#[test]
fn in_azure_sql_database_only_the_own_files_are_asked_for() {
    let azure = counters(Some(5));
    assert!(azure.contains("sys.database_files") && !azure.contains("master_files"));
    let usual = counters(Some(3));
    assert!(
        usual.contains("dm_io_virtual_file_stats(NULL, NULL)") && usual.contains("master_files")
    );
    assert_eq!(counters(None), usual);
}
