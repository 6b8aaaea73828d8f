//! The program without the parts that a build may leave out: it names what it lacks and where that
//! is, before it measures or replaces anything. `./x check` runs these with
//! `--no-default-features`; with a complete program there is nothing to refuse.
#![cfg(all(
    target_os = "linux",
    not(any(
        feature = "databases",
        feature = "parquet",
        feature = "png",
        feature = "serve",
        feature = "xlsx"
    ))
))]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;

use testing::Place;
use testing::program::{fails, succeeds};

/// Where a complete program is.
const REMEDY: &str = "Use a package, or the program that `./x build` makes";

fn place() -> Place {
    let place = Place::new(env!("CARGO_BIN_EXE_iosonde"));
    place.says(&["run", "--engine", "sim", "-d", "1", "--quiet"]);
    place
}

#[track_caller]
fn refuses(place: &Place, args: &[&str], what: &str) {
    let output = place.run(args);
    fails(&output, 1, &format!("this build of iosonde {what}"));
    fails(&output, 1, REMEDY);
}

#[test]
fn files_that_cannot_be_written_are_named_and_those_there_are_kept() {
    let place = place();
    for (name, args, what) in [
        ("r.xlsx", &["report", "latest", "-o", "r.xlsx"][..], "cannot write XLSX"),
        ("t.parquet", &["history", "export", "-o", "t.parquet"], "cannot write Parquet"),
    ] {
        refuses(&place, args, what);
        assert!(!place.path(name).exists(), "{name} is left behind");
        fs::write(place.path(name), "mine").unwrap();
        assert_ne!(place.run(args).status.code(), Some(0), "{name}");
        assert_eq!(place.text(name), "mine");
    }
}

#[test]
fn a_picture_that_cannot_be_made_names_the_drawing_that_can() {
    let place = place();
    let args = ["report", "latest", "--charts", "charts"];
    refuses(&place, &args, "cannot write PNG; the SVG of a chart holds the same");
}

#[test]
fn databases_and_browsers_are_refused_before_anything_is_measured() {
    let place = place();
    let run = ["run", ".", "-d", "1", "-s", "1M", "--history", "postgres://me@db/x"];
    refuses(&place, &run, "cannot keep a history in PostgreSQL");
    assert!(!place.path("iosonde.test").exists());
    let database = ["monitor", "--all", "-d", "1", "--database", "postgres://me@db/x"];
    refuses(&place, &database, "cannot connect to databases");
    refuses(&place, &["serve"], "has no web server");
    let listen = ["monitor", "--all", "-d", "1", "--listen", "127.0.0.1:0"];
    refuses(&place, &listen, "has no web server");
}

#[test]
fn what_a_first_measurement_needs_is_there() {
    let place = place();
    succeeds(&place.run(&["report", "latest", "-o", "r.html"]));
    succeeds(&place.run(&["history", "export", "-o", "t.csv"]));
}
