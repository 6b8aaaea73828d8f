//! A history that cannot be used is said before anything is measured; one that fails later costs no
//! result.

use std::fs;

use serde_json::Value;

use crate::cli::history::SIM;
use testing::{Place, skip};

use crate::cli::program::{Mount, Running, code, fails, names, place, stderr, succeeds};

#[test]
fn what_is_no_history_is_refused_and_left_as_it_is() {
    let place = place();
    let sqlite = place.directory().join("mail.db");
    let connection = rusqlite::Connection::open(&sqlite).unwrap();
    connection
        .execute_batch("CREATE TABLE mail (text TEXT); INSERT INTO mail VALUES ('x')")
        .unwrap();
    drop(connection);
    let text = place.directory().join("notes.txt");
    fs::write(&text, "somebody's notes").unwrap();
    let directory = place.directory().join("directory");
    fs::create_dir(&directory).unwrap();
    let below = text.join("history.db");
    let before: Vec<Vec<u8>> = [&sqlite, &text].map(|path| fs::read(path).unwrap()).to_vec();
    for (path, words) in [
        (&sqlite, "not a history of iosonde"),
        (&text, "not a history of iosonde"),
        (&directory, "--history"),
        (&below, "--history"),
    ] {
        let history = ["--history", path.to_str().unwrap()];
        for args in [&["run"][..], &["knee"], &["sizes"], &["sweep", "--blocks", "8K"]] {
            let output = place.run(&[args, &SIM[..], &history].concat());
            fails(&output, 1, words);
        }
        let report = place.directory().join("r.html");
        let assess = ["assess", "--engine", "sim", "--report", report.to_str().unwrap()];
        fails(&place.run(&[&assess[..], &history].concat()), 1, words);
        assert!(!report.exists(), "nothing was begun");
        fails(&place.run(&[&["history", "list"], &history[..]].concat()), 1, "");
    }
    let after: Vec<Vec<u8>> = [&sqlite, &text].map(|path| fs::read(path).unwrap()).to_vec();
    assert!(before == after);
    assert_eq!(names(place.directory()), ["directory", "mail.db", "notes.txt"]);
}

#[test]
fn a_damaged_history_is_refused_before_anything_is_measured() {
    let place = place();
    succeeds(&place.run(&[&["run", "--repeat", "3", "--quiet"], &SIM[..]].concat()));
    let mut bytes = fs::read(place.history()).unwrap();
    for page in bytes.chunks_mut(4096).skip(1) {
        page.fill(0xA5);
    }
    fs::write(place.history(), &bytes).unwrap();
    let output = place.run(&[&["run"], &SIM[..]].concat());
    fails(&output, 1, "damaged");
    assert!(fs::read(place.history()).unwrap() == bytes);
}

#[test]
fn reading_makes_no_history() {
    let place = place();
    for args in [&["list"][..], &["show"], &["tag", "latest", "a"], &["delete", "latest", "--yes"]]
    {
        fails(&place.run(&[&["history"], args].concat()), 1, "history.db");
    }
    assert_eq!(names(place.directory()), [""; 0]);
}

/// A small file system in memory for a history.
fn small(place: &Place, test: &str) -> Option<Mount> {
    let directory = place.directory().join("small");
    let mount = Mount::new(&directory, &["-t", "tmpfs", "-o", "size=4M", "tmpfs"]);
    mount.inspect_err(|reason| skip(&format!("iosonde::cli::{test}"), reason)).ok()
}

/// The disk of the history gets full while a measurement of hours is under way.
#[test]
fn a_history_without_room_costs_no_result() {
    let place = place();
    let Some(mount) = small(&place, "a_history_without_room_costs_no_result") else { return };
    let history = mount.path.join("history.db");
    let args = ["run", "--engine", "null", "--repeat", "4", "--seconds", "0.5", "--warmup", "0"];
    let flags = ["--json", "--think", "1ms", "--history", history.to_str().unwrap()];
    let mut running = Running::of(place.command(&[&args[..], &flags].concat()));
    running.wait_for("run 2 of 4");
    // The first is kept when the second begins.
    while fs::write(mount.path.join("full"), vec![1; 8 << 20]).is_ok() {}
    let output = running.end();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["measurements"].as_array().unwrap().len(), 4, "the result is whole");
    let said = stderr(&output);
    assert_eq!(said.matches("warning: ").count(), 1, "said once: {said}");
    assert!(said.contains("1 of its 4 measurements are recorded"), "{said}");
    fs::remove_file(mount.path.join("full")).unwrap();
    let show = place.json(&["history", "show", "--history", history.to_str().unwrap()]);
    assert_eq!(show[0], document["measurements"][0], "what was kept is there");
}

/// The disk of the history gets full while what is to survive a crash is written: the verdict is
/// shown all the same.
#[test]
fn a_history_without_room_costs_no_verdict() {
    let place = place();
    let Some(mount) = small(&place, "a_history_without_room_costs_no_verdict") else { return };
    let history = mount.path.join("history.db");
    let data = tempfile::tempdir().unwrap();
    let (path, witness) = (data.path().to_str().unwrap(), data.path().join("witness.txt"));
    let args = ["validate", path, "--durability", "--size", "8M", "--kill-after", "1.5"];
    let flags = ["--witness-file", witness.to_str().unwrap(), "--history"];
    let all = [&args[..], &flags, &[history.to_str().unwrap()]].concat();
    let mut running = Running::of(place.command(&all));
    running.wait_for("writing\n");
    while fs::write(mount.path.join("full"), vec![1; 8 << 20]).is_ok() {}
    let output = running.end();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(String::from_utf8(output.stdout.clone()).unwrap().starts_with("KEPT: all "));
    assert!(stderr(&output).contains("it is not recorded in"), "{}", stderr(&output));
}

/// Room came back before the end: nothing is missing, and it is no failure.
#[test]
fn what_could_not_be_kept_for_a_while_is_kept_at_the_end() {
    let place = place();
    let test = "what_could_not_be_kept_for_a_while_is_kept_at_the_end";
    let Some(mount) = small(&place, test) else { return };
    let history = mount.path.join("history.db");
    let args = ["run", "--engine", "null", "--repeat", "4", "--seconds", "0.5", "--warmup", "0"];
    let flags = ["--json", "--think", "1ms", "--history", history.to_str().unwrap()];
    let mut running = Running::of(place.command(&[&args[..], &flags].concat()));
    running.wait_for("run 2 of 4");
    while fs::write(mount.path.join("full"), vec![1; 8 << 20]).is_ok() {}
    running.wait_for("warning: ");
    fs::remove_file(mount.path.join("full")).unwrap();
    let output = running.end();
    succeeds(&output);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let show = place.json(&["history", "show", "--history", history.to_str().unwrap()]);
    assert_eq!(show, document);
}

/// Somebody resumed a sweep in one window while it was running in another: cells were measured
/// twice at once.
#[test]
fn a_sweep_is_resumed_by_one_process_at_a_time() {
    let place = place();
    let lists = ["--engine", "null", "--blocks", "4K,8K,16K,32K", "--depths", "1,2,4,8,16"];
    let flags = ["--seconds", "0.2", "--warmup", "0"];
    let sweep = [&["sweep"], &lists[..], &flags].concat();
    let mut running = Running::of(place.command(&sweep));
    running.wait_for("[4/21");
    let id = place.list(&[]).remove(0)["id"].as_str().unwrap().to_owned();
    fails(&place.run(&["sweep", "--resume"]), 1, &id);
    running.signal("KILL");
    let output = running.end();
    assert_eq!(output.status.code(), None, "killed: {}", stderr(&output));
    // The process that held it is dead.
    let mut running = Running::of(place.command(&["sweep", "--resume"]));
    running.wait_for("[6/21");
    fails(&place.run(&["sweep", "--resume"]), 1, "is being worked on");
    running.signal("INT");
    assert_eq!(code(&running.end()), 130);
    let output = place.run(&["sweep", "--resume", "--json"]);
    succeeds(&output);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["id"], &document["status"]), (&id.into(), &"complete".into()));
    assert_eq!(document["measurements"].as_array().unwrap().len(), 20);
    assert_eq!(place.list(&[]).len(), 1);
}
