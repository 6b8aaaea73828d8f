//! The units of systemd: systemd takes them, they are closed as far as they can be, and what the
//! weekly one starts ends as it promises.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use testing::Place;

use crate::cli::program::{code, place, stdout, succeeds};

const UNITS: [&str; 4] = [
    "iosonde-agent.service",
    "iosonde-baseline@.service",
    "iosonde-baseline@.timer",
    "iosonde-serve.service",
];

fn unit(name: &str) -> String {
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd");
    fs::read_to_string(units.join(name)).unwrap()
}

/// The units as they are installed, with the program of this build, and an instance of the template
/// for `/data`; their paths.
fn installed() -> (TempDir, Vec<PathBuf>) {
    let place = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for name in UNITS {
        let text = unit(name).replace("/usr/bin/iosonde", env!("CARGO_BIN_EXE_iosonde"));
        fs::write(place.path().join(name), &text).unwrap();
        let path = place.path().join(name.replace('@', "@data"));
        fs::write(&path, text).unwrap();
        paths.push(path);
    }
    (place, paths)
}

fn analyze(args: &[&str], unit: &Path) -> Output {
    let mut command = Command::new("systemd-analyze");
    let output = command.args(args).arg(unit).env("LC_ALL", "C").output();
    output.unwrap_or_else(|e| panic!("this test needs Debian's package systemd: {e}"))
}

#[test]
fn systemd_takes_every_unit() {
    let (_place, paths) = installed();
    for path in paths {
        let output = analyze(&["verify", "--man=no"], &path);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !said.contains("iosonde"), "{}: {said}", path.display());
    }
}

/// A unit that verify takes as it takes any: one with a misspelt setting is named.
#[test]
fn systemd_names_what_is_wrong_in_a_unit() {
    let (_place, paths) = installed();
    let text = fs::read_to_string(&paths[0]).unwrap();
    fs::write(&paths[0], text.replace("ProtectSystem=", "ProtectSistem=")).unwrap();
    let output = analyze(&["verify", "--man=no"], &paths[0]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("ProtectSistem"));
}

#[test]
fn services_are_closed_as_far_as_they_can_be() {
    let (_place, paths) = installed();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "service")) {
        let output = analyze(&["security", "--offline=true", "--no-pager"], path);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = said.lines().last().unwrap_or_default();
        let is_good = ["PERFECT", "SAFE", "OK"].iter().any(|word| last.contains(word));
        assert!(last.contains("exposure level") && is_good, "{}: {said}", path.display());
    }
}

/// What a service starts and with which variables, as systemd expands them. `options` is what an
/// administrator sets with `systemctl edit`.
fn started(place: &Place, directory: &str, options: &str) -> Command {
    let text = unit("iosonde-baseline@.service");
    let set = |key: &'static str| text.lines().filter_map(move |line| line.strip_prefix(key));
    let state = place.path("state");
    let expanded =
        |word: &str| word.replace("%f", directory).replace("%S", state.to_str().unwrap());
    let mut variables: BTreeMap<String, String> = set("Environment=")
        .filter_map(|line| line.trim_matches('"').split_once('='))
        .map(|(name, value)| (name.to_owned(), expanded(value)))
        .collect();
    fs::create_dir_all(state.join("iosonde")).unwrap();
    assert!(variables.contains_key("BASELINE_OPTIONS"), "the options can be set");
    variables.insert("BASELINE_OPTIONS".to_owned(), options.to_owned());
    let line = set("ExecStart=").next().unwrap();
    let words = line.split(' ').flat_map(|word| match word.strip_prefix('$') {
        // Without braces, systemd splits the value of a variable at white space.
        Some(name) => variables[name].split_whitespace().map(str::to_owned).collect(),
        None => vec![expanded(word)],
    });
    let words: Vec<String> = words.collect();
    assert_eq!(words[0], "/usr/bin/iosonde");
    let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let mut command = place.command(&args);
    command.envs(&variables).current_dir(state.join("iosonde"));
    command
}

#[test]
fn the_weekly_service_prints_a_line_and_fails_when_the_storage_is_worse() {
    let place = place();
    let sim = place.path("sim.toml");
    fs::write(
        &sim,
        "servers = 2\nread_ns = \"8ms\"\nwrite_ns = \"8ms\"\nnoise = { run_percent = 1.0 }\n",
    )
    .unwrap();
    let options = format!("--pace quick --engine sim --size 1G --sim {}", sim.display());
    let week = || started(&place, "/data", &options).output().unwrap();

    let first = week();
    succeeds(&first);
    assert_eq!(stdout(&first), "/data: 5 results are the baseline @baseline\n");
    let second = week();
    succeeds(&second);
    let said = stdout(&second);
    assert!(
        said.contains(" its baseline of ")
            && !said.starts_with("/data: worse")
            && said.lines().count() == 1,
        "{said}"
    );

    // A baseline of better days: its plans are for a device that is half as fast by now.
    let history = place.path("state/iosonde/history.db");
    let tool = |args: &[&str]| {
        let output = place.command(args).env("IOSONDE_HISTORY", &history).output().unwrap();
        succeeds(&output);
        stdout(&output)
    };
    let exported = tool(&["history", "export", "@baseline"]);
    assert!(exported.contains("\"read_ns\":8000000"), "{exported:.600}");
    fs::remove_file(&history).unwrap();
    fs::write(
        place.path("export"),
        exported.replace("\"read_ns\":8000000", "\"read_ns\":16000000"),
    )
    .unwrap();
    tool(&["history", "import", place.path("export").to_str().unwrap()]);
    let third = week();
    assert_eq!(code(&third), 4, "{}", stdout(&third));
    let said = stdout(&third);
    assert!(said.starts_with("/data: worse than its baseline of "), "{said}");
    assert!(said.contains("IOPS -") && said.lines().count() == 1, "{said}");
    assert!(third.stderr.is_empty(), "one line in the journal");
}
