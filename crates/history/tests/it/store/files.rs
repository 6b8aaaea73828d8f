//! A file is a history, or is left alone.

use std::fs;
use std::path::{Path, PathBuf};

use history::{History, HistoryError, Place as Where};
use results::Status;

use crate::store::made::{measurement, new};

struct Place {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

fn open(path: &Path) -> Result<History, HistoryError> {
    History::open(&Where::File(path.to_owned()))
}

fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    Place { _directory: directory, path }
}

/// The bytes of everything in the file's directory.
fn bytes_beside(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn what_is_kept_is_read_back_unchanged_after_the_store_was_closed() {
    let at = place();
    let history = open(&at.path).unwrap();
    history.begin(&new("e", "p", "1")).unwrap();
    history.keep("e", 2, &measurement("m2")).unwrap();
    history.keep("e", 0, &measurement("m0")).unwrap();
    drop(history);
    let history = open(&at.path).unwrap();
    let kept = history.measurements("e").unwrap();
    let cells: Vec<u32> = kept.iter().map(|k| k.cell).collect();
    assert_eq!(cells, [0, 2]);
    assert_eq!(kept[1].measurement, measurement("m2"));
    let experiment = history.experiment("e").unwrap().unwrap();
    assert_eq!((experiment.plan.as_str(), experiment.cells), ("{\"cells\":3}", 2));
    assert_eq!(history.experiment("other").unwrap(), None);
}

#[test]
fn an_experiment_is_unfinished_until_it_is_complete() {
    let at = place();
    let history = open(&at.path).unwrap();
    history.begin(&new("old", "p", "2026-11-20T00:00:00Z")).unwrap();
    history.begin(&new("young", "p", "2026-11-21T00:00:00Z")).unwrap();
    history.begin(&new("another", "q", "2026-11-22T00:00:00Z")).unwrap();
    let ids = |plan| -> Vec<String> {
        history.unfinished("sweep", plan).unwrap().into_iter().map(|e| e.id).collect()
    };
    assert_eq!(ids(None), ["another", "young", "old"]);
    history.end("young", Status::Interrupted, "2026-11-21T01:00:00Z").unwrap();
    assert_eq!(ids(Some("p")), ["young", "old"], "an interrupted one can go on");
    let young = history.experiment("young").unwrap().unwrap();
    assert_eq!(young.status, Some(Status::Interrupted));
    history.go_on("young").unwrap();
    let young = history.experiment("young").unwrap().unwrap();
    assert_eq!((young.status, young.finished), (None, None));
    history.end("young", Status::Complete, "2026-11-21T02:00:00Z").unwrap();
    assert_eq!(ids(Some("p")), ["old"]);
    assert!(history.unfinished("knee", None).unwrap().is_empty());
}

#[test]
fn a_cell_is_kept_once() {
    let at = place();
    let history = open(&at.path).unwrap();
    history.begin(&new("e", "p", "1")).unwrap();
    history.keep("e", 5, &measurement("m")).unwrap();
    let error = history.keep("e", 5, &measurement("n")).unwrap_err();
    assert!(matches!(error, HistoryError::KeptTwice { cell: 5, .. }), "{error}");
    assert_eq!(history.measurements("e").unwrap()[0].measurement.id, "m");
    let error = history.keep("no such experiment", 0, &measurement("o")).unwrap_err();
    assert!(matches!(error, HistoryError::NotFound { .. }), "{error}");
}

#[test]
fn several_writers_make_one_store_together_and_lose_nothing() {
    let at = place();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = &at.path;
            scope.spawn(move || {
                let history = open(path).unwrap();
                let id = format!("e{writer}");
                history.begin(&new(&id, "p", "1")).unwrap();
                for cell in 0..20 {
                    history.keep(&id, cell, &measurement(&format!("{id}-{cell}"))).unwrap();
                }
            });
        }
    });
    let history = open(&at.path).unwrap();
    for writer in 0..8 {
        assert_eq!(history.measurements(&format!("e{writer}")).unwrap().len(), 20);
    }
}

/// The tables of a history were made in an empty file that another program had put in its place.
#[test]
fn an_empty_file_does_not_become_a_history() {
    let at = place();
    fs::write(&at.path, b"").unwrap();
    assert!(matches!(open(&at.path), Err(HistoryError::Foreign { .. })));
    assert_eq!(fs::read(&at.path).unwrap(), b"");
}

#[test]
fn what_is_no_history_is_refused_and_stays_as_it_is() {
    let text = place();
    fs::write(&text.path, "not a database").unwrap();
    let foreign = place();
    let sqlite = rusqlite::Connection::open(&foreign.path).unwrap();
    sqlite
        .execute_batch("CREATE TABLE birds (name TEXT); INSERT INTO birds VALUES ('tit');")
        .unwrap();
    drop(sqlite);
    for at in [text, foreign] {
        let before = bytes_beside(&at.path);
        let error = open(&at.path).unwrap_err();
        assert!(matches!(error, HistoryError::Foreign { .. }), "{error}");
        assert!(error.to_string().contains("--history"), "{error}");
        assert_eq!(bytes_beside(&at.path), before);
    }
    let directory = tempfile::tempdir().unwrap();
    let error = open(directory.path()).unwrap_err();
    assert!(matches!(error, HistoryError::Unreachable { .. }), "{error}");
    let error = open(&directory.path().join("no/such/directory.db")).unwrap_err();
    assert!(matches!(error, HistoryError::Unreachable { .. }), "{error}");
}

#[test]
fn a_history_of_another_version_is_refused_and_stays_as_it_is() {
    for found in [2, 4711] {
        let at = place();
        drop(open(&at.path).unwrap());
        let sqlite = rusqlite::Connection::open(&at.path).unwrap();
        let sql = format!("PRAGMA user_version = {found}; CREATE TABLE later (x);");
        sqlite.execute_batch(&sql).unwrap();
        drop(sqlite);
        let before = bytes_beside(&at.path);
        let error = open(&at.path).unwrap_err();
        assert!(matches!(error, HistoryError::OtherVersion { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains(&format!("version {found}")) && error.contains("export"), "{error}");
        assert_eq!(bytes_beside(&at.path), before);
    }
}

#[test]
fn damage_is_said_and_not_overwritten() {
    let at = place();
    let history = open(&at.path).unwrap();
    history.begin(&new("e", "p", "1")).unwrap();
    for cell in 0..40 {
        history.keep("e", cell, &measurement(&format!("m{cell}"))).unwrap();
    }
    drop(history);
    let whole = fs::read(&at.path).unwrap();
    let scribbled: Vec<u8> =
        whole.iter().enumerate().map(|(i, b)| if i >= 4096 { 0xA5 } else { *b }).collect();
    for damaged in [whole[..whole.len() / 2].to_vec(), scribbled] {
        fs::write(&at.path, &damaged).unwrap();
        let read = open(&at.path).and_then(|h| h.measurements("e"));
        let error = read.unwrap_err();
        assert!(matches!(error, HistoryError::Damaged { .. }), "{error}");
        assert_eq!(fs::read(&at.path).unwrap(), damaged);
    }
}

#[test]
fn a_store_that_lost_its_writer_in_the_middle_has_all_that_was_kept() {
    let at = place();
    let history = open(&at.path).unwrap();
    history.begin(&new("e", "p", "1")).unwrap();
    history.keep("e", 0, &measurement("m0")).unwrap();
    // What a process that was killed leaves behind: nothing was closed, the log is not yet in the
    // file.
    let copy = place();
    for (path, bytes) in bytes_beside(&at.path) {
        fs::write(copy.path.with_file_name(path.file_name().unwrap()), bytes).unwrap();
    }
    let history = open(&copy.path).unwrap();
    assert_eq!(history.measurements("e").unwrap().len(), 1);
}

/// `--history LINK` made a history at the other end of the link, and one in an empty file that had
/// another name, too.
#[cfg(unix)]
#[test]
fn no_history_is_made_through_a_link_or_in_a_file_with_another_name() {
    let place = place();
    let theirs = place.path.with_file_name("theirs");
    std::os::unix::fs::symlink(&theirs, &place.path).unwrap();
    assert!(open(&place.path).is_err() && !theirs.exists());
    fs::remove_file(&place.path).unwrap();
    fs::write(&theirs, "").unwrap();
    fs::hard_link(&theirs, &place.path).unwrap();
    assert!(open(&place.path).is_err());
    assert_eq!(fs::read(&theirs).unwrap(), b"");
    fs::remove_file(&place.path).unwrap();
    open(&place.path).unwrap();
}
