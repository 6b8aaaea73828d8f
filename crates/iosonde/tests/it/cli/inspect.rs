//! `iosonde inspect` on the system that the tests run on.

use inspect::{Inspection, TargetKind};

use crate::cli::program::{code, command, fails, succeeds};

#[test]
fn a_file_is_shown_with_all_that_is_under_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("data");
    std::fs::write(&file, vec![7; 100_000]).unwrap();
    let path = file.to_str().unwrap();
    let output = command(&["inspect", path]).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(path) && text.contains("memory"), "{text}");

    let output =
        command(&["inspect", "--json", path, directory.path().to_str().unwrap()]).output().unwrap();
    succeeds(&output);
    let inspection: Inspection = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(inspection.schema, "iosonde.inspection/1");
    assert_eq!(inspection.targets.len(), 2);
    assert_eq!(inspection.targets[0].storage.kind, TargetKind::File);
    assert!(inspection.host.cpus > 0 && inspection.host.settings.is_some());
    // Two targets in one file system share its disks, wherever there are any.
    let shared = inspection.findings.iter().any(|f| f.code == "shared-devices");
    assert_eq!(shared, !inspection.targets[0].storage.devices.is_empty());
    for finding in &inspection.findings {
        assert!(finding.why.is_some() && finding.source.is_some(), "{finding:?}");
    }
}

#[test]
fn without_targets_everything_is_inspected() {
    let output = command(&["inspect"]).output().unwrap();
    succeeds(&output);
    assert!(String::from_utf8(output.stdout).unwrap().contains("kernel"));
}

/// A file system in memory is a serious finding, so /dev/shm decides where there is one.
#[test]
fn findings_fail_only_where_that_is_asked_for() {
    if !std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default().contains(" /dev/shm ") {
        return;
    }
    let run = |args: &[&str]| {
        code(&command(&[&["inspect", "/dev/shm"], args].concat()).output().unwrap())
    };
    assert_eq!(run(&[]), 0);
    for severity in ["info", "warning", "serious"] {
        assert_eq!(run(&["--fail-on", severity]), 4, "{severity}");
    }
}

#[test]
fn a_redacted_copy_has_no_host_and_no_path() {
    let directory = tempfile::Builder::new().prefix("payroll-of-acme").tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let output = command(&["inspect", "--redact", "--json", path]).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("payroll-of-acme"), "{text}");
    serde_json::from_str::<Inspection>(&text).unwrap();
}

#[test]
fn what_cannot_be_inspected_is_told() {
    fails(
        &command(&["inspect", "/no/such/thing"]).output().unwrap(),
        1,
        "/no/such/thing does not exist",
    );
    fails(&command(&["inspect", "--depth", "0", "/"]).output().unwrap(), 2, "0");
}
