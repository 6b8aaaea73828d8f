//! Others can watch what is being measured, and watching costs the measurement nothing.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use history::{History, LiveRun, Place as At};
use serde_json::Value;
use testing::Place;

use crate::cli::history::SIM;
use crate::cli::program::{Running, code, place, succeeds};

/// The run that is in progress, when there is one.
fn wait_for_live(place: &Place) -> (History, LiveRun) {
    let begin = Instant::now();
    loop {
        if let Ok(history) = History::open_existing(&At::File(place.history()))
            && let Some(run) = history.live_runs().unwrap().pop()
        {
            return (history, run);
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing to watch in a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn events(history: &History, id: &str) -> Vec<Value> {
    let events = history.live_events(id, 0).unwrap();
    events.iter().map(|event| serde_json::from_str(&event.event).unwrap()).collect()
}

#[test]
fn a_run_is_seen_while_it_goes_on_and_found_under_its_name_afterwards() {
    let place = place();
    let args = ["run", "a", "--engine", "null", "--warmup", "0", "--seconds", "600"];
    let paced = ["--think", "1ms", "--interval", "50ms"];
    let mut running = Running::of(place.command(&[&args[..], &paced].concat()));
    let (history, run) = wait_for_live(&place);
    assert_eq!((run.kind.as_str(), run.targets.as_str()), ("run", "a"));
    assert_eq!(run.title, "8 KiB random read");
    let points = |all: &[Value]| all.iter().filter(|e| e["event"] == "interval").count();
    while points(&events(&history, &run.id)) < 3 {
        std::thread::sleep(Duration::from_millis(50));
    }
    running.signal("INT");
    running.wait_for("kept as");
    assert_eq!(code(&running.end()), 130);
    let seen = events(&history, &run.id);
    let point = seen.iter().find(|e| e["event"] == "interval").unwrap();
    assert!(point["point"]["read_iops"].as_f64().unwrap() > 0.0, "{point}");
    assert!(point["seconds_left"].as_f64().unwrap() > 500.0);
    let ended = history.live_run(&run.id).unwrap().unwrap();
    assert!(ended.ended && !ended.lost());
    assert!(history.live_runs().unwrap().is_empty());
    let shown = place.json(&["history", "show", &run.id]);
    assert_eq!((&shown["id"], &shown["status"]), (&run.id.into(), &"interrupted".into()));
    // Points come twenty times a second; the events hold five of them.
    let times: Vec<f64> = seen.iter().filter_map(|e| e["point"]["t"].as_f64()).collect();
    let lasted = shown["seconds"].as_f64().unwrap();
    assert!((times.len() as f64) < 6.0 * lasted + 2.0, "{} in {lasted} s", times.len());
}

#[test]
fn an_experiment_says_what_it_does() {
    let place = place();
    let short = ["--precision", "0", "--seconds", "0.7", "--warmup", "0", "--think", "1ms"];
    let args = [&["knee", "--engine", "null", "--from", "1", "--to", "32"], &short[..]].concat();
    let running = Running::of(place.command(&args));
    let (history, run) = wait_for_live(&place);
    succeeds(&running.end());
    let seen = events(&history, &run.id);
    let kinds: BTreeSet<&str> = seen.iter().filter_map(|e| e["event"].as_str()).collect();
    for kind in ["step", "window_began", "window_ended", "measured"] {
        assert!(kinds.contains(kind), "{kinds:?}");
    }
    let document = place.json(&["history", "show", &run.id]);
    let measured: Vec<&Value> = seen.iter().filter(|e| e["event"] == "measured").collect();
    let measurements = document["measurements"].as_array().unwrap();
    // The end waits no longer than a second for what is still to be told.
    assert!(!measured.is_empty() && measured.len() <= measurements.len());
    for (event, measurement) in measured.iter().zip(measurements) {
        assert_eq!(event["id"], measurement["id"]);
        assert_eq!(event["iops"], measurement["total"]["iops"]);
    }
}

/// Its events are its own on stderr; those who watch see those of every run.
#[test]
fn a_validation_is_seen_as_steps_and_intervals() {
    let place = place();
    let data = tempfile::tempdir().unwrap();
    let target = data.path().to_str().unwrap();
    let args = ["validate", target, "--size", "16M", "--log-size", "8M", "--seconds", "600"];
    let running = Running::of(place.command(&args));
    let (history, run) = wait_for_live(&place);
    assert_eq!((run.kind.as_str(), run.title.as_str()), ("validate", "simulated database"));
    let of_work = |e: &&Value| e["event"] == "interval" && e["point"]["t"].as_f64() > Some(1.5);
    while !events(&history, &run.id).iter().any(|e| of_work(&e)) {
        std::thread::sleep(Duration::from_millis(50));
    }
    running.signal("INT");
    assert_eq!(code(&running.end()), 130);
    let seen = events(&history, &run.id);
    let kinds: BTreeSet<&str> = seen.iter().filter_map(|e| e["event"].as_str()).collect();
    for kind in ["step", "window_began", "interval"] {
        assert!(kinds.contains(kind), "{kinds:?}");
    }
    for kind in ["phase_began", "glance", "notice"] {
        assert!(!kinds.contains(kind), "{kinds:?}");
    }
    let work = seen.iter().find(|e| e["event"] == "step" && e["number"] == 2).unwrap();
    assert_eq!((&work["title"], &work["of"]), (&"the load is running".into(), &4.into()));
    assert_eq!(place.json(&["history", "show", &run.id])["status"], "interrupted");
}

#[test]
fn what_is_short_simulated_or_unrecorded_is_not_watched() {
    let place = place();
    let null = ["run", "--engine", "null", "--think", "1ms", "--warmup", "0", "--seconds"];
    succeeds(&place.run(&[&null[..], &["0.5"]].concat()));
    succeeds(&place.run(&[&["run"], &SIM[..]].concat()));
    succeeds(&place.run(&[&null[..], &["2.5", "--no-history"]].concat()));
    let sqlite = rusqlite::Connection::open(place.history()).unwrap();
    let count = |table: &str| -> u32 {
        let sql = format!("SELECT count(*) FROM {table}");
        sqlite.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((count("live_runs"), count("live_events")), (0, 0));
}

/// Somebody held the history for seconds: the measurement must not notice.
#[test]
fn a_history_that_cannot_be_told_anything_holds_nothing_up() {
    let place = place();
    let args = ["run", "--engine", "null", "--warmup", "0", "--seconds", "5", "--json"];
    let running = Running::of(place.command(&[&args[..], &["--think", "1ms"]].concat()));
    wait_for_live(&place);
    let sqlite = rusqlite::Connection::open(place.history()).unwrap();
    sqlite.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Longer than the rest of the window. The result then waits to be recorded, which is allowed to
    // take a while.
    std::thread::sleep(Duration::from_secs(5));
    sqlite.execute_batch("ROLLBACK").unwrap();
    let output = running.end();
    succeeds(&output);
    let m: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(m["status"], "complete");
    let points = m["series"].as_array().unwrap().len();
    assert_eq!(points, 5, "a point each second, whoever else has to wait");
}
