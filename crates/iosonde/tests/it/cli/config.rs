//! Settings in files and variables: each takes effect, the nearer one wins, and `iosonde config`
//! says where each comes from.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use testing::Place;

use crate::cli::program::{fails, place, succeeds};

/// The program with these settings as its only file.
fn command(place: &Place, settings: &str, args: &[&str]) -> Command {
    let path = place.path("settings.toml");
    fs::write(&path, settings).unwrap();
    let mut command = place.command(args);
    command.env("IOSONDE_CONFIG", path);
    command
}

fn with(place: &Place, settings: &str, args: &[&str]) -> Output {
    command(place, settings, args).output().unwrap()
}

fn json(output: &Output) -> Value {
    succeeds(output);
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_size_of_new_test_files_can_be_set_and_a_flag_wins() {
    let place = place();
    let run = ["run", ".", "-d", "0.1", "--warmup", "0", "--json"];
    let bytes = |output: &Output| json(output)["file_bytes"].as_u64();
    let set = "size = \"8 MiB\"";
    assert_eq!(bytes(&with(&place, set, &run)), Some(8 << 20));
    assert_eq!(bytes(&with(&place, set, &[&run[..], &["-s", "4M"]].concat())), Some(4 << 20));
    let mut variable = command(&place, set, &run);
    assert_eq!(bytes(&variable.env("IOSONDE_SIZE", "2M").output().unwrap()), Some(2 << 20));
    // A file that is there has the size that it has.
    fs::write(place.path("mine.bin"), vec![1; 1 << 20]).unwrap();
    let read = ["run", "mine.bin", "-d", "0.1", "--warmup", "0", "--json"];
    assert_eq!(bytes(&with(&place, set, &read)), Some(1 << 20));
}

#[test]
fn the_language_of_reports_can_be_set_and_a_flag_wins() {
    let place = place();
    place.says(&["run", "--engine", "sim", "-d", "1"]);
    let report = ["report", "latest", "-o", "-", "--format", "markdown"];
    let text = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();
    let german = text(&with(&place, "language = \"de\"", &report));
    assert!(german.contains("Dateigröße"), "{german}");
    let english = with(&place, "language = \"de\"", &[&report[..], &["--language", "en"]].concat());
    assert!(!text(&english).contains("Dateigröße"));
}

#[test]
fn the_history_can_be_set_in_a_file() {
    let place = place();
    let path = place.path("own.db");
    let set = format!("history = {:?}", path.to_str().unwrap());
    let mut run = command(&place, &set, &["run", "--engine", "sim", "-d", "1"]);
    succeeds(&run.env_remove("IOSONDE_HISTORY").output().unwrap());
    assert!(path.exists());
    // The variable that the other tests set is nearer than the file.
    let list = with(&place, &set, &["history", "list", "--json"]);
    assert!(!String::from_utf8(list.stdout).unwrap().contains("sim:"), "the file won");
}

#[test]
fn limits_of_the_roles_can_be_set_in_a_file() {
    let place = place();
    let limits = place.path("limits.toml");
    fs::write(&limits, "nonsense = 1").unwrap();
    let set = format!("limits = {:?}", limits.to_str().unwrap());
    let output = with(&place, &set, &["assess", "--engine", "sim", "--pace", "glance"]);
    fails(&output, 2, "limits.toml");
}

#[test]
fn what_is_in_force_is_shown_with_its_place() {
    let place = place();
    let set = "\nsize = \"8 MiB\"\n";
    let found = json(&with(&place, set, &["config", "--json"]));
    let row = |key: &str| {
        let mut rows = found["settings"].as_array().unwrap().iter();
        rows.find(|row| row["key"] == key).unwrap().clone()
    };
    assert_eq!(row("size")["value"], "8 MiB");
    assert!(row("size")["source"].as_str().unwrap().ends_with("settings.toml, line 2"));
    assert_eq!(row("history")["source"], "the variable IOSONDE_HISTORY");
    assert_eq!(row("language")["value"], Value::Null);
    let text = with(&place, set, &["config"]);
    succeeds(&text);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("8 MiB") && text.contains("line 2"), "{text}");
    let password = "history = \"postgres://me:secret@db/x\"";
    let mut shown = command(&place, password, &["config"]);
    let shown = shown.env_remove("IOSONDE_HISTORY").output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(!shown.contains("secret") && shown.contains("db/x"), "{shown}");
}

/// Who has to mend the settings needs help, and no measurement begins with half of them.
#[test]
fn wrong_settings_end_every_command_but_help() {
    let place = place();
    let set = "sise = \"8 MiB\"";
    for args in [&["run", "--engine", "sim"][..], &["history", "list"], &["config"]] {
        let output = with(&place, set, args);
        fails(&output, 2, "settings.toml`, line 1: unknown field `sise`");
    }
    succeeds(&with(&place, set, &["help", "config"]));
    succeeds(&with(&place, set, &["config", "--help"]));
    succeeds(&with(&place, set, &["man", "config"]));
}
