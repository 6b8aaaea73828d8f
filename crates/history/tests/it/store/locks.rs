//! The locks by which SQLite protects a history stay, whatever else its process does.

use std::fs;
use std::os::unix::fs::symlink;

use history::{History, Place};
use testing::locks;

use crate::store::made::new;

/// A process that closes a file drops every lock that it has on it. Each further connection of a
/// process read the header of the file first, so a recorder with a second connection had no lock:
/// another program took the history for unused, removed the log that the recorder wrote to, and
/// what was recorded afterwards was lost or damaged the file.
#[test]
fn a_further_connection_takes_no_lock_from_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    let place = Place::File(path.clone());
    let locked = |count| locks::settle_at(std::process::id(), &path, count);
    let recorder = History::open(&place).unwrap();
    recorder.begin(&new("a", "p", "2026-11-23T12:00:00Z")).unwrap();
    assert!(locked(1), "of the recorder");
    assert!(history::is_open(&path));

    let reader = History::open_existing(&place).unwrap();
    assert!(locked(1), "after another connection was opened");
    // The second connection of the recorder itself.
    recorder.live_beat("a").unwrap();
    assert!(locked(1), "after the one for what is live was opened");
    let link = directory.path().join("link.db");
    symlink(&path, &link).unwrap();
    drop(History::open(&Place::File(link)).unwrap());
    assert!(locked(1), "after it was opened and closed by another name");
    recorder.backup(&directory.path().join("copy.db")).unwrap();
    assert!(locked(1), "after a copy");
    assert_eq!(recorder.check().unwrap(), [""; 0]);
    drop(reader);
    assert!(locked(1), "after the other connection was closed");

    drop(recorder);
    assert!(locked(0), "of nobody");
    assert!(!history::is_open(&path));
    // Nobody has it open: what is there now is looked at before SQLite is.
    fs::write(&path, "something else").unwrap();
    assert!(History::open(&place).unwrap_err().to_string().contains("was left as it is"));
}
