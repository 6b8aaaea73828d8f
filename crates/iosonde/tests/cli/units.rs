//! The units of systemd: right by systemd's own judgement, and doing what they say when their
//! commands are run by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testing::{Place, skip};

use crate::program::{place, succeeds};

fn units() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd")
}

fn unit(name: &str) -> String {
    fs::read_to_string(units().join(name)).unwrap()
}

/// The units in a directory, with this program and a directory that is there.
fn installed(place: &Place) -> PathBuf {
    let directory = place.path("units");
    fs::create_dir(&directory).unwrap();
    let program = env!("CARGO_BIN_EXE_iosonde");
    for (from, to) in [
        ("iosonde-baseline@.service", "iosonde-baseline@tmp.service"),
        ("iosonde-baseline@.timer", "iosonde-baseline@tmp.timer"),
        ("iosonde-serve.service", "iosonde-serve.service"),
    ] {
        fs::write(directory.join(to), unit(from).replace("/usr/bin/iosonde", program)).unwrap();
    }
    directory
}

fn analyze(args: &[&str]) -> Option<Output> {
    Command::new("systemd-analyze").args(args).output().ok()
}

#[test]
fn systemd_finds_nothing_wrong_with_the_units_and_thinks_them_safe() {
    let place = place();
    let directory = installed(&place);
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let all =
        ["iosonde-baseline@tmp.service", "iosonde-baseline@tmp.timer", "iosonde-serve.service"];
    let paths = all.map(path);
    let [baseline, timer, serve] = [&paths[0], &paths[1], &paths[2]];
    let Some(output) = analyze(&["verify", "--man=no", baseline, timer, serve]) else {
        return skip(
            "iosonde::cli::systemd_finds_nothing_wrong_with_the_units_and_thinks_them_safe",
            "systemd-analyze is not installed",
        );
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("Unknown"), "{said}");
    // 50 is the end of "OK", in tenths; both are far below.
    for unit in [baseline, serve] {
        let output = analyze(&["security", "--offline=true", "--threshold=30", unit]).unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{unit}: {said}");
    }
}

/// The commands of the service, as systemd would run them, for a simulated device.
fn commands(sim: &str) -> Vec<Vec<String>> {
    let text = unit("iosonde-baseline@.service");
    let lines = text.lines().filter_map(|line| line.strip_prefix("ExecStart="));
    let prepared = lines.map(|line| {
        let program = env!("CARGO_BIN_EXE_iosonde");
        let sim = format!("--engine sim --sim '{sim}' --pace quick");
        assert!(line.contains("%f") || line.contains("--baseline"), "{line}");
        let line = line.replace("/usr/bin/iosonde", program).replace("%f", "sim:data");
        vec!["-c".to_owned(), line.replace("--pace normal", &sim.replace('\'', "\""))]
    });
    prepared.collect()
}

/// Runs the service once; gives the output of its last command.
fn service(place: &Place, id: &str, sim: &str) -> Output {
    let run = |words: &Vec<String>| {
        // The words of the unit are quoted as a shell's are.
        let mut command = Command::new("/bin/sh");
        command.args(words).current_dir(place.directory()).env("INVOCATION_ID", id);
        command.env("HOME", place.directory()).env("XDG_DATA_HOME", place.directory());
        command.env("IOSONDE_CONFIG", "").env("TZ", "UTC").env_remove("IOSONDE_HISTORY");
        command.output().unwrap()
    };
    let commands = commands(sim);
    let (last, first) = commands.split_last().unwrap();
    for command in first {
        let output = run(command);
        succeeds(&output);
        assert!(output.stdout.is_empty(), "the journal has one line");
    }
    run(last)
}

#[test]
fn the_weekly_service_begins_a_baseline_and_fails_when_it_is_worse() {
    let place = place();
    let fast = "servers = 8, read_ns = 100000, write_ns = 100000, sync_ns = 100000";
    let slow = "servers = 8, read_ns = 300000, write_ns = 300000, sync_ns = 300000";
    let line = |output: &Output| {
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        text
    };
    let first = service(&place, "0a", fast);
    succeeds(&first);
    assert!(line(&first).contains("it is the baseline"), "{}", line(&first));
    let same = service(&place, "0b", fast);
    succeeds(&same);
    assert!(!line(&same).contains("B is worse"), "{}", line(&same));
    let worse = service(&place, "0c", slow);
    assert_eq!(worse.status.code(), Some(4), "{}", line(&worse));
    assert!(line(&worse).contains("B is worse"), "{}", line(&worse));
    assert!(place.path("iosonde/history.db").exists(), "the history of the service");
}
