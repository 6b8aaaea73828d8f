//! Two samples of servers of several versions, with pgbench in between, and what follows by hand.

use super::*;
use crate::sample::DatabaseSample;
use crate::window::{DatabaseRow, DatabaseWindow};

const V14: &str = include_str!("../recorded/postgres14.json");
const V16: &str = include_str!("../recorded/postgres16.json");
const V17: &str = include_str!("../recorded/postgres17.json");
const V18: &str = include_str!("../recorded/postgres18.json");

fn answers(json: &str) -> Vec<Record> {
    serde_json::from_str(json).unwrap()
}

fn sample(answer: &Record, at_ns: u64) -> DatabaseSample {
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
}

fn between(answers: &[Record]) -> DatabaseWindow {
    DatabaseWindow::between(&sample(&answers[0], 0), &sample(&answers[1], 1_300_000_000))
}

fn window(json: &str) -> DatabaseWindow {
    between(&answers(json))
}

fn row<'a>(window: &'a DatabaseWindow, object: &str) -> &'a DatabaseRow {
    window.rows.iter().find(|row| row.object == object).unwrap()
}

fn near(value: Option<f64>, expected: f64) {
    let value = value.unwrap();
    assert!((value - expected).abs() < 0.1, "{value} is not {expected}");
}

#[test]
fn version_18_counts_bytes_and_the_wal_in_pg_stat_io() {
    let window = window(V18);
    assert!((window.seconds - 1.354_766).abs() < 1e-9);
    let normal = row(&window, "client backend/relation/normal");
    assert_eq!((normal.reads, normal.read_bytes), (Some(809), Some(6_627_328)));
    near(normal.read_latency_ns, 909_804.7);
    // Six extensions, no writes.
    assert_eq!((normal.writes, normal.written_bytes), (Some(6), Some(65_536)));
    near(normal.write_latency_ns, 24_000.0);
    assert_eq!((normal.syncs, normal.sync_latency_ns), (Some(0), None));
    let wal = row(&window, "client backend/wal/normal");
    assert_eq!((wal.writes, wal.written_bytes), (Some(615), Some(15_597_568)));
    assert_eq!((wal.reads, wal.read_latency_ns, wal.syncs), (Some(0), None, Some(596)));
    near(wal.sync_latency_ns, 999_889.3);
    let checkpointer = row(&window, "checkpointer/relation/normal");
    assert_eq!((checkpointer.reads, checkpointer.writes), (None, Some(1330)));
    assert!(window.rows.iter().all(|row| row.object != "wal"));
    for (name, amount) in [
        ("wal_bytes", 10_719_843),
        ("checkpoints_requested", 1),
        ("checkpoints_timed", 0),
        ("checkpoint_buffers_written", 1330),
        ("checkpoint_write_ns", 58_000_000),
        ("buffer_hits", 17_278),
        ("transactions_committed", 612),
    ] {
        assert_eq!(window.counter(name), Some(amount), "{name}");
    }
}

#[test]
fn version_17_counts_operations_of_one_size_and_the_wal_in_a_view_of_its_own() {
    let window = window(V17);
    let normal = row(&window, "client backend/relation/normal");
    assert_eq!((normal.reads, normal.read_bytes), (Some(1211), Some(1211 * 8192)));
    near(normal.read_latency_ns, 369_724.2);
    assert_eq!((normal.writes, normal.written_bytes), (Some(48 + 10), Some(58 * 8192)));
    let wal = row(&window, "wal");
    assert_eq!((wal.writes, wal.syncs, wal.written_bytes), (Some(910), Some(883), None));
    near(wal.sync_latency_ns, 580_267.3);
    assert_eq!(window.counter("checkpoint_buffers_written"), Some(1567));
    let idle = row(&window, "client backend/relation/bulkread");
    assert!(idle.is_idle() && idle.read_latency_ns.is_none());
}

#[test]
fn version_16_has_checkpoints_in_the_background_writers_view() {
    let answers = answers(V16);
    let window = between(&answers);
    let column = |which: usize| {
        count(record::row(&answers[which], "bgwriter").unwrap(), "buffers_checkpoint").unwrap()
    };
    assert_eq!(window.counter("checkpoint_buffers_written"), Some(column(1) - column(0)));
    assert!(row(&window, "checkpointer/relation/normal").writes.unwrap() > 0);
    assert!(row(&window, "wal").syncs.unwrap() > 0);
}

#[test]
fn version_14_knows_reads_of_databases_and_writes_of_processes() {
    let window = window(V14);
    let database = row(&window, "database postgres");
    assert_eq!((database.reads, database.read_bytes), (Some(343), Some(343 * 8192)));
    near(database.read_latency_ns, 393_177.8);
    assert_eq!((database.writes, database.syncs), (None, None));
    let checkpointer = row(&window, "checkpointer");
    assert_eq!((checkpointer.reads, checkpointer.writes), (None, Some(973)));
    assert_eq!(checkpointer.write_latency_ns, None, "its times are those of phases");
    assert_eq!(row(&window, "backends").writes, Some(12));
    near(row(&window, "wal").sync_latency_ns, 1_821_573.5);
    assert_eq!(window.counter("wal_bytes"), Some(7_746_222));
}

#[test]
fn older_versions_tell_the_wal_by_its_position() {
    let mut answers = answers(V14);
    for (answer, position) in answers.iter_mut().zip([1_000_000_000_u64, 1_000_500_000]) {
        answer.remove("wal");
        answer.remove("track_wal_io_timing");
        answer.insert("wal_position".to_owned(), position.into());
    }
    let window = between(&answers);
    assert_eq!(window.counter("wal_bytes"), Some(500_000));
    assert!(window.rows.iter().all(|row| row.object != "wal"));
    let notes = sample(&answers[0], 0).notes;
    assert!(notes.iter().all(|note| !note.contains("track_wal")), "{notes:?}");
}

#[test]
fn times_that_are_not_counted_are_none_and_the_setting_is_named() {
    let mut answers = answers(V18);
    for answer in &mut answers {
        answer.insert("track_io_timing".to_owned(), "off".into());
    }
    let window = between(&answers);
    let normal = row(&window, "client backend/relation/normal");
    assert_eq!(
        (normal.reads, normal.read_latency_ns, normal.write_latency_ns),
        (Some(809), None, None)
    );
    assert!(row(&window, "client backend/wal/normal").sync_latency_ns.is_some());
    let notes = sample(&answers[1], 0).notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("track_io_timing is off"), "{notes:?}");
}

#[test]
fn a_reset_of_the_statistics_gives_no_figures() {
    let mut answers = answers(V18);
    let io = answers[1].get_mut("io").unwrap().as_array_mut().unwrap();
    for row in io {
        row["stats_reset"] = "2026-11-22T02:00:00+00:00".into();
        row["reads"] = 1.into();
    }
    let window = between(&answers);
    assert_eq!(window.rows, []);
    assert!(window.anew.contains(&"client backend/relation/normal".to_owned()));
    assert!(window.anew.contains(&"buffer_hits".to_owned()));
    assert_eq!(window.counter("wal_bytes"), Some(10_719_843), "that view was not reset");
}

#[test]
fn another_server_and_a_new_start_give_no_figures() {
    for (what, value) in [("server", "192.0.2.8:5432"), ("started", "2026-11-22T03:00:00+00:00")] {
        let mut answers = answers(V18);
        answers[1].insert(what.to_owned(), value.into());
        let window = between(&answers);
        assert!(
            window.other_instance && window.rows.is_empty() && window.counters.is_empty(),
            "{what}"
        );
    }
}

#[test]
fn a_standby_says_what_it_is() {
    let mut answers = answers(V18);
    answers[0].insert("in_recovery".to_owned(), true.into());
    assert!(sample(&answers[0], 0).notes[0].contains("standby"));
    assert!(!between(&answers).other_instance, "a promoted standby goes on counting");
}

/// Any value instead of any other.
fn mutated(value: &mut serde_json::Value, at: &mut usize, with: &serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => map.values_mut().for_each(|v| mutated(v, at, with)),
        serde_json::Value::Array(list) => list.iter_mut().for_each(|v| mutated(v, at, with)),
        leaf => {
            if *at == 0 {
                *leaf = with.clone();
            }
            *at = at.wrapping_sub(1);
        }
    }
}

proptest::proptest! {
    /// No answer of a server causes a panic, and no latency is 0 or below.
    #[test]
    fn no_answer_panics(
        at in 0_usize..200,
        which in 0_usize..2,
        version in 0_usize..4,
        value in proptest::prop_oneof![
            proptest::strategy::Just(serde_json::Value::Null),
            proptest::strategy::Just(serde_json::json!(-1)),
            proptest::strategy::Just(serde_json::json!(u64::MAX)),
            proptest::strategy::Just(serde_json::json!(1e300)),
            proptest::strategy::Just(serde_json::json!("x")),
            proptest::strategy::Just(serde_json::json!([])),
        ],
    ) {
        let json = [V14, V16, V17, V18][version];
        let mut answers: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
        mutated(&mut answers[which], &mut { at }, &value);
        let answers: Vec<Record> = answers.into_iter().map(|a| a.as_object().unwrap().clone())
            .collect();
        let window = between(&answers);
        for row in &window.rows {
            for latency in [row.read_latency_ns, row.write_latency_ns, row.sync_latency_ns]
                .into_iter().flatten() {
                proptest::prop_assert!(latency > 0.0 && latency.is_finite());
            }
        }
        let _ = DatabaseRow::total(&window.rows);
    }
}
