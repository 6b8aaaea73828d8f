//! `iosonde knee` on simulated devices.

use results::{Experiment, Saturation};

use crate::cli::program::{code, command, fails, stderr};

const QUICK: [&str; 8] = ["knee", "--engine", "sim", "-q", "--seconds", "2", "--precision", "0"];

fn knee(args: &[&str]) -> std::process::Output {
    command(&[&QUICK[..], args].concat()).output().unwrap()
}

#[test]
fn the_report_names_the_saturation_point_and_what_may_be_its_cause() {
    let output = knee(&["--sim", "servers = 16, read_ns = \"1ms\""]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "file size 64 GiB",
        "✓ Operating point: 16 in flight: ",
        "95 % of the highest (N95)  ",
        // An exact rate at a round figure: nothing that was measured tells these two apart.
        "Possibly a set rate (throttle).",
        "Also possible: the storage itself.",
        "What saturates is the total",
    ] {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
}

#[test]
fn the_document_reads_back() {
    let output = knee(&["--json", "--sim", "servers = 4", "--latency-target", "1ms@p99"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found: Experiment<Saturation> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found.schema, "iosonde.knee/1");
    let again = serde_json::to_value(&found).unwrap();
    assert_eq!(again, serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap());
}

#[test]
fn an_expectation_that_is_not_met_ends_with_its_own_code() {
    let target = ["--sim", "servers = 4, read_ns = \"1ms\"", "--latency-target", "2ms@p95"];
    let met = knee(&[&target[..], &["--iops", "3900"]].concat());
    assert_eq!(code(&met), 0, "{}", stderr(&met));
    let unmet = knee(&[&target[..], &["--iops", "8000"]].concat());
    assert_eq!(code(&unmet), 4, "{}", stderr(&unmet));
    let text = String::from_utf8(unmet.stdout).unwrap();
    assert!(text.contains("not reached."), "{text}");
}

/// Where too few I/Os were measured for the percentile, the expectation was "not reached", as if
/// that had been seen.
#[test]
fn an_expectation_that_cannot_be_judged_is_said_to_be_so_and_does_not_pass() {
    let slow = ["--sim", "servers = 1, read_ns = \"50ms\"", "--latency-target", "10s@p99.9"];
    let open = knee(&[&slow[..], &["--iops", "15"]].concat());
    assert_eq!(code(&open), 4, "{}", stderr(&open));
    let text =
        String::from_utf8(open.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let said =
        "expected 15 IOPS are reached cannot be judged: too few I/Os were measured for p99.9.";
    assert!(text.contains(said), "{text}");
    let failed = knee(&[&slow[..], &["--iops", "5000"]].concat());
    assert_eq!(code(&failed), 4, "{}", stderr(&failed));
    let text = String::from_utf8(failed.stdout).unwrap();
    assert!(
        text.contains("not reached."),
        "no load gives 5 000 IOPS, whatever its latency: {text}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_the_remedy() {
    fails(&knee(&["--depth", "8"]), 2, "--from and --to");
    fails(&knee(&["--rate", "500"]), 2, "no --rate");
    fails(&knee(&["--from", "8", "--to", "4"]), 2, "--from 8 --to 4");
    fails(&knee(&["--threads", "8", "--to", "4"]), 2, "use fewer threads");
    fails(&knee(&["--link", "3GFC"]), 2, "PCIe1x1");
    fails(&knee(&["--latency-target", "5ms"]), 2, "5ms@p99");
    fails(&knee(&["--iops", "5"]), 2, "--latency-target");
    fails(&knee(&["--iops", "nan", "--latency-target", "1ms@mean"]), 2, "above 0");
}

#[test]
fn a_dry_run_touches_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let output = command(&["knee", path, "--size", "16M", "--dry-run"]).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("from 1 to 256 I/Os in flight"), "{text}");
    assert!(text.contains(" measurements in 3 min"), "{text}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_real_file_is_measured_and_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let short = ["--size", "16M", "--seconds", "0.3", "--precision", "0", "--warmup", "0"];
    let args = [&["knee", path, "-q", "--json", "--to", "4", "--buffered"], &short[..]].concat();
    let output = command(&args).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found: Experiment<Saturation> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found.conclusion.curve.len() >= 3);
    assert!(found.measurements.iter().all(|m| m.checks.tool_ceiling_iops.is_some()));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
