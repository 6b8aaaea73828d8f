//! A history of an older version becomes one of today, and nothing of it is lost.

use std::path::Path;

use history::{History, HistoryError, NewExperiment, Place};
use results::{Measurement, Status};

use crate::store::made::{full, measurement, runs};

/// Fills the tables of an older version.
type Fill = fn(&rusqlite::Connection);
/// The tables of each older version, and what filled them then.
const OLDER: [(u32, &str, Fill); 3] = [
    (1, include_str!("v1.sql"), fill_1),
    (2, include_str!("v2.sql"), fill_2),
    (3, concat!(include_str!("v2.sql"), include_str!("v3.sql")), fill_2),
];

const APPLICATION_ID: u32 = 0x696F_7364;

type Expected = (&'static str, Option<Status>, Vec<(u32, Measurement)>);

/// What every older history has: a sweep that was interrupted, one that is complete, and one
/// without any cell.
fn expected() -> Vec<Expected> {
    vec![
        ("a", Some(Status::Interrupted), vec![(0, full("m0", 0.1 + 0.2)), (5, measurement("m5"))]),
        ("b", Some(Status::Complete), vec![(1, full("m1", 1e300))]),
        ("c", None, vec![]),
    ]
}

fn fill_1(sqlite: &rusqlite::Connection) {
    for (id, status, cells) in expected() {
        let status = status.map(|s| serde_json::to_value(s).unwrap().as_str().unwrap().to_owned());
        let finished = status.is_some().then_some("2026-11-21T13:00:00Z");
        let sql = "INSERT INTO experiments VALUES (?1, 'iosonde.sweep/1', 'sweep', 'a title', \
                   '2026-11-21', ?2, ?3, 'plan', '{}')";
        sqlite.execute(sql, rusqlite::params![id, finished, status]).unwrap();
        for (cell, m) in cells {
            let text = serde_json::to_string(&m).unwrap();
            let sql = "INSERT INTO measurements VALUES (?1, ?2, ?3, ?4, ?5)";
            let values = rusqlite::params![format!("{id}{}", m.id), id, cell, m.started, text];
            sqlite.execute(sql, values).unwrap();
        }
    }
}

/// Rows of version 2 are those of today, in the tables that it had.
fn fill_2(sqlite: &rusqlite::Connection) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("today.db");
    let history = History::open(&Place::File(path.clone())).unwrap();
    for (id, status, cells) in expected() {
        let (schema, kind, title) = ("iosonde.sweep/1", "sweep", "a title");
        let started = "2026-11-21";
        let new = NewExperiment { id, schema, kind, title, started, plan_id: "plan", plan: "{}" };
        history.begin(&new).unwrap();
        for (cell, m) in cells {
            history.keep(id, cell, &m).unwrap();
        }
        if let Some(status) = status {
            history.end(id, status, "2026-11-21T13:00:00Z").unwrap();
        }
    }
    drop(history);
    sqlite.execute("ATTACH ?1 AS today", [path.to_str().unwrap()]).unwrap();
    let tables = "SELECT name FROM main.sqlite_schema WHERE type = 'table'";
    let tables: Vec<String> = {
        let mut statement = sqlite.prepare(tables).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    sqlite.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    for table in tables {
        let sql =
            format!("SELECT group_concat(name, ', ') FROM pragma_table_info('{table}', 'main')");
        let columns: String = sqlite.query_row(&sql, [], |row| row.get(0)).unwrap();
        let sql =
            format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM today.{table}");
        sqlite.execute(&sql, []).unwrap();
    }
    sqlite.execute_batch("DETACH today").unwrap();
}

fn make(path: &Path, version: u32, tables: &str, fill: Fill) {
    let sqlite = rusqlite::Connection::open(path).unwrap();
    sqlite.execute_batch(tables).unwrap();
    let header =
        format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version};");
    sqlite.execute_batch(&header).unwrap();
    sqlite.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    fill(&sqlite);
}

fn version(path: &Path) -> u32 {
    let sqlite = rusqlite::Connection::open(path).unwrap();
    sqlite.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn every_older_version_becomes_one_of_today_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let today = directory.path().join("today.db");
    drop(History::open(&Place::File(today.clone())).unwrap());
    let today = version(&today);
    let known: Vec<u32> = OLDER.iter().map(|(version, ..)| *version).collect();
    assert_eq!(known, (1..today).collect::<Vec<_>>(), "every older version is tested");
    for (number, tables, fill) in OLDER {
        let path = directory.path().join(format!("{number}.db"));
        make(&path, number, tables, fill);
        let history = History::open_existing(&Place::File(path.clone())).unwrap();
        for (id, status, cells) in expected() {
            let experiment = history.experiment(id).unwrap().unwrap();
            assert_eq!((experiment.status, experiment.cells as usize), (status, cells.len()));
            assert_eq!((experiment.plan.as_str(), experiment.title.as_str()), ("{}", "a title"));
            let kept = history.measurements(id).unwrap();
            let kept: Vec<_> = kept.into_iter().map(|k| (k.cell, k.measurement)).collect();
            assert_eq!(kept, cells);
        }
        let entry = history.find("a").unwrap();
        assert_eq!((entry.host.as_deref(), entry.best_iops), (Some("db1"), Some(0.1 + 0.2)));
        assert_eq!(history.check().unwrap(), [""; 0]);
        history.add(&runs("new", "2026-11-21T12:00:00Z", vec![full("x", 1.0)])).unwrap();
        assert_eq!(version(&path), today);
        let sqlite = rusqlite::Connection::open(&path).unwrap();
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name LIKE '%\\_1' \
                   ESCAPE '\\'";
        let left: u32 = sqlite.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "nothing of the old tables is left");
    }
}

#[test]
fn what_cannot_be_taken_over_stays_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1.db");
    make(&path, 1, include_str!("v1.sql"), fill_1);
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    sqlite.execute_batch("UPDATE measurements SET document = '{' WHERE cell = 5").unwrap();
    drop(sqlite);
    let error = History::open(&Place::File(path.clone())).unwrap_err();
    assert!(matches!(error, HistoryError::Document { .. }), "{error}");
    assert_eq!(version(&path), 1);
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    let count: u32 =
        sqlite.query_row("SELECT count(*) FROM measurements", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 3);
}

#[test]
fn several_processes_that_bring_it_up_to_date_at_once_do_it_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1.db");
    make(&path, 1, include_str!("v1.sql"), fill_1);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let history = History::open(&Place::File(path.clone())).unwrap();
                assert_eq!(history.measurements("a").unwrap().len(), 2);
            });
        }
    });
}
