//! A configuration of IOMeter whose two managers work on two hosts, and what comes out.

use std::fs;

use testing::Place;

/// The command, for a configuration that this makes.
pub(crate) fn command(place: &Place) -> Vec<&'static str> {
    let places = ["E", "F", "G"].map(|drive| format!("{drive}: \"data\""));
    fs::write(place.path("two.icf"), testing::two_managers("NORMAL", 20480, &places)).unwrap();
    let mut args = vec!["iometer", "-c", "two.icf", "-r", "two.csv", "--seconds", "1"];
    args.extend(["--warmup", "0", "--engine", "null", "--json"]);
    args.extend(["--drive", "E=/x", "--drive", "F=/y", "--drive", "G=/z"]);
    args
}

/// IOMeter's one file has every manager, worker and disk, and their sum.
#[track_caller]
pub(crate) fn check(place: &Place) {
    let csv = fs::read_to_string(place.path("two.csv")).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let iops = |kind: &str, name: &str| -> f64 {
        let row = rows.iter().find(|row| row[0] == kind && row[1] == name);
        row.unwrap_or_else(|| panic!("no {kind} {name} in {csv}"))[6].parse().unwrap()
    };
    let (alpha, beta) = (iops("MANAGER", "ALPHA"), iops("MANAGER", "BETA"));
    assert!(alpha > 0.0 && beta > 0.0, "{csv}");
    let all = iops("ALL", "All");
    assert!((all - alpha - beta).abs() < 0.02 * all, "{all} of {alpha} and {beta}");
    let count = |kind: &str| rows.iter().filter(|row| row[0] == kind).count();
    // The second run is that of one worker alone.
    assert_eq!((count("WORKER"), count("DISK")), (3 + 1, 5 + 2), "{csv}");
}
