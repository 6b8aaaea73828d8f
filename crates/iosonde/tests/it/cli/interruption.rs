//! Signals in every phase, and processes that are stopped.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use results::Status;

use crate::cli::program::{
    Running, code, command, fails, kill, mark, measurement, names, run, stderr, succeeds,
};

#[test]
fn a_signal_during_the_fill_ends_it_and_removes_the_file() {
    for (signal, keep) in [("INT", &[][..]), ("TERM", &["--keep"])] {
        let dir = tempfile::tempdir().unwrap();
        let args = ["run", dir.path().to_str().unwrap(), "--size", "1G", "--json"];
        let mut running = Running::start(&[&args[..], keep].concat());
        running.wait_for("writing");
        running.signal(signal);
        fails(&running.end(), 130, "interrupted while preparing");
        assert_eq!(names(dir.path()), [""; 0], "half a file is of no use, kept or not");
    }
}

#[test]
fn a_signal_during_the_warm_up_gives_an_empty_result() {
    for format in [&["--json"][..], &[]] {
        let dir = tempfile::tempdir().unwrap();
        let args = ["run", dir.path().to_str().unwrap(), "--size", "16M", "--warmup", "60"];
        let mut running = Running::start(&[&args[..], format].concat());
        running.wait_for("warming up");
        running.signal("TERM");
        let output = running.end();
        assert_eq!(code(&output), 130, "{}", stderr(&output));
        if format.is_empty() {
            assert!(!output.stdout.is_empty());
        } else {
            let m = measurement(&output);
            assert_eq!((m.status, m.seconds, m.total.ios), (Status::Interrupted, 0.0, 0));
        }
        assert_eq!(names(dir.path()), [""; 0]);
    }
}

#[test]
fn a_signal_during_the_window_gives_what_was_measured() {
    for signal in ["INT", "TERM"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        let args = ["run", path, "--size", "16M", "--warmup", "0.05", "--seconds", "600"];
        let mut running = Running::start(&[&args[..], &["--json", "--depth", "4"]].concat());
        running.wait_for("warming up");
        std::thread::sleep(Duration::from_millis(600));
        running.signal(signal);
        let output = running.end();
        assert_eq!(code(&output), 130, "{}", stderr(&output));
        let m = measurement(&output);
        assert_eq!((m.status, m.stalls.unfinished), (Status::Interrupted, 0));
        assert!(m.seconds > 0.0 && m.seconds < 60.0 && m.total.ios > 0, "{}", m.seconds);
        let rate = m.total.ios as f64 / m.seconds;
        assert!((m.total.iops / rate - 1.0).abs() < 1e-6);
        assert_eq!(names(dir.path()), [""; 0]);
    }
}

/// The program hangs because nobody takes its result: the first signal changes nothing, the second
/// ends it.
#[test]
fn a_second_signal_ends_the_program_at_once() {
    let args = ["run", "--engine", "sim", "--seconds", "100", "--interval", "10ms", "--json"];
    let mut child = command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    kill("INT", child.id());
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(child.try_wait().unwrap(), None, "the first one lets it end in order");
    kill("TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// fio stopped for a second at 1000 IOPS reported a maximum of 143 us. I/Os that were due while the
/// process stood still waited; that is in their latency.
#[test]
fn a_second_in_which_the_process_stands_still_is_in_the_latency() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let args = ["run", path, "--size", "16M", "--warmup", "0.1", "--seconds", "5"];
    let mut running = Running::start(&[&args[..], &["--rate", "200", "--json"]].concat());
    running.wait_for("warming up");
    // On a machine under load it takes its time before it measures.
    std::thread::sleep(Duration::from_millis(1500));
    running.signal("STOP");
    std::thread::sleep(Duration::from_secs(1));
    running.signal("CONT");
    let output = running.end();
    succeeds(&output);
    let m = measurement(&output);
    let (latency, delay) = (m.read.latency_ns.unwrap(), m.read.delay_ns.unwrap());
    assert!(latency.max >= Some(900_000_000), "max {:?}", latency.max);
    assert!(
        delay.max >= Some(900_000_000),
        "the storage was not slow, the I/Os were late: {:?}",
        delay.max
    );
    // A fifth of all I/Os were due in that second; half of them waited for more than half of it.
    assert!(latency.p90.unwrap() >= 300_000_000, "p90 {:?}", latency.p90);
}

/// A limit of the shell killed the program and left a file without a mark.
#[test]
fn a_limit_of_file_sizes_is_an_error_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_iosonde");
    let script = format!("ulimit -f 4096; exec {program} run . --size 16M --json --no-history");
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", &script]).current_dir(dir.path()).output().unwrap();
    fails(&output, 1, "ulimit -f");
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_foreign_file_stays_when_its_fill_is_interrupted() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    fs::File::create(&data).unwrap().set_len(1 << 30).unwrap();
    let name = data.to_str().unwrap();
    let mut running = Running::start(&["run", name, "--write", "50", "--destroy", name]);
    running.wait_for("writing");
    running.signal("INT");
    assert_eq!(code(&running.end()), 130);
    assert_eq!(fs::metadata(&data).unwrap().len(), 1 << 30);
}

#[test]
fn an_interrupted_run_keeps_a_kept_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let args = ["run", path, "--size", "16M", "--seconds", "60", "--keep"];
    let mut running = Running::start(&args);
    running.wait_for("warming up");
    running.signal("INT");
    assert_eq!(code(&running.end()), 130);
    assert!(mark(&dir.path().join("iosonde.test")).contains("state filled\nkeep yes"));
    succeeds(&run(dir.path(), &["--quiet"]));
}

/// A connection that dropped left the test file behind, unless `nohup` had said that the run should
/// go on.
#[test]
fn a_dropped_connection_ends_the_run_in_order_unless_it_is_to_be_ignored() {
    let run = |disposition: &str, seconds: &str| {
        let mut command = Command::new("env");
        command.args([disposition, env!("CARGO_BIN_EXE_iosonde"), "run", "--engine", "null"]).args(
            ["--think", "1ms", "--warmup", "0.1", "--seconds", seconds, "--json", "--no-history"],
        );
        let mut running = Running::of(command);
        running.wait_for("warming up");
        std::thread::sleep(Duration::from_millis(900));
        running.signal("HUP");
        let output = running.end();
        (code(&output), measurement(&output).status)
    };
    assert_eq!(run("--default-signal=HUP", "600"), (130, Status::Interrupted));
    assert_eq!(run("--ignore-signal=HUP", "4"), (0, Status::Complete));
}
