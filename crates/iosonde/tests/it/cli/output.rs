//! What is on stdout, and what becomes of it.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use results::{ErrorKind, Status};

use crate::cli::program::{
    code, command, fails, measurement, names, run, run_small, stderr, succeeds,
};

#[test]
fn json_is_all_that_is_on_stdout_and_the_test_file_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let output = run_small(dir.path(), &["--json", "--write", "30"]);
    succeeds(&output);
    let m = measurement(&output);
    assert_eq!((m.status, m.file_bytes), (Status::Complete, 16 << 20));
    assert!(m.read.ios > 0 && m.write.ios > 0);
    assert_eq!(m.targets[0].path, dir.path().join("iosonde.test"));
    assert!(stderr(&output).contains("100 %"), "the progress of the fill is on stderr");
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn every_engine_works_on_a_file() {
    let dir = tempfile::tempdir().unwrap();
    for (engine, depth) in [("sync", "1"), ("aio", "4"), ("uring", "4"), ("auto", "4")] {
        for extra in [&["--durable"][..], &["--sync-every", "3"], &["--wait", "spin"]] {
            let args = ["--json", "--engine", engine, "--depth", depth, "--write", "50"];
            let output = run_small(dir.path(), &[&args[..], &["--threads", "2"], extra].concat());
            if stderr(&output).contains("does not work here") {
                testing::skip("iosonde::cli::every_engine_works_on_a_file", engine);
                continue;
            }
            succeeds(&output);
            let m = measurement(&output);
            assert!(m.read.ios > 0 && m.write.ios > 0, "{engine} {extra:?}");
            assert_eq!(m.errors, []);
            assert_eq!(m.sync.ios > 0, extra[0] == "--sync-every");
        }
    }
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn text_names_the_size_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let output = run_small(dir.path(), &["--quiet"]);
    succeeds(&output);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.contains("16 MiB") && text.contains("IOPS"), "{text}");
    assert_eq!(stderr(&output), "");
}

/// fio wrote its error lines in front of the `{`, so that no program could read what a failing disk
/// had done.
#[test]
fn a_failing_disk_leaves_json_pure() {
    let full = Path::new("/dev/full");
    let args = ["--json", "--buffered", "--write", "100", "--destroy", "/dev/full", "--size", "1M"];
    for (engine, depth) in [("sync", "1"), ("auto", "4")] {
        for on_error in ["stop", "continue"] {
            let more = ["--engine", engine, "--depth", depth, "--on-error", on_error];
            let output = run(full, &[&args[..], &more].concat());
            assert_eq!(code(&output), 1, "{}", stderr(&output));
            let m = measurement(&output);
            assert_eq!((m.errors[0].kind, m.total.ios), (ErrorKind::NoSpace, 0));
            assert_eq!(
                (m.errors[0].operation.as_str(), &m.errors[0].path),
                ("write", &full.into())
            );
            let status = if on_error == "stop" { Status::Failed } else { Status::Complete };
            assert_eq!(m.status, status);
        }
    }
    let output = run(full, &args[1..]);
    assert_eq!(code(&output), 1);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("No space left"), "{text}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut command = command(&["run", "--engine", "sim", "--json", "--interval", "10ms"]);
    command.stderr(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn a_full_stdout_is_a_failure_and_the_test_file_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let path = dir.path().to_str().unwrap();
    let args = ["run", path, "--size", "1M", "--seconds", "0.1", "--warmup", "0", "--quiet"];
    for format in [&["--json"][..], &[]] {
        let mut command = command(&[&args[..], format].concat());
        fails(&command.stdout(full()).output().unwrap(), 1, "cannot write to stdout");
    }
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_simulated_result_is_complete_json() {
    let device = "read_ns = 1000000, servers = 8";
    let args = ["run", "--engine", "sim", "--sim", device, "--depth", "4", "--json"];
    let output = command(&args).output().unwrap();
    succeeds(&output);
    let m = measurement(&output);
    assert_eq!((m.total.ios, m.read.iops.round()), (30 * 4000, 4000.0));
    let nothing = ["run", "--engine", "null", "--seconds", "0.1", "--warmup", "0", "--json"];
    let output = command(&nothing).output().unwrap();
    succeeds(&output);
    assert!(measurement(&output).total.ios > 0);
}

#[test]
fn a_workload_that_was_printed_is_a_workload() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["run", "--engine", "sim", "--depth", "3", "--write", "20", "--seconds", "2"];
    let output = command(&[&args[..], &["--print-workload"]].concat()).output().unwrap();
    succeeds(&output);
    let path = dir.path().join("workload.toml");
    fs::write(&path, &output.stdout).unwrap();
    let again = command(&["run", "--workload", path.to_str().unwrap(), "--json"]);
    let from_file = measurement(&{ again }.output().unwrap());
    let from_flags = measurement(&command(&[&args[..], &["--json"]].concat()).output().unwrap());
    assert!(from_file.workload == from_flags.workload);
    assert!(from_file.total == from_flags.total);
}

#[test]
fn a_schema_is_json() {
    for document in ["measurement", "assessment"] {
        let mut child = command(&["schema", document]).stdout(Stdio::piped()).spawn().unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success());
        let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(schema["properties"]["schema"].is_object());
    }
}
