//! `iosonde scale` on a simulated device.

use std::process::Output;

use results::{Experiment, Scale};

use crate::cli::program::{command, fails, names, succeeds};

fn simulated(targets: &[&str], more: &[&str]) -> Output {
    let sim = ["--engine", "sim", "--sim", r#"servers = 8, read_ns = "4ms""#, "--quiet"];
    let quick = ["--size", "1G", "--seconds", "5", "--at-least", "3"];
    command(&[&["scale"], targets, &sim[..], &quick[..], more].concat()).output().unwrap()
}

#[test]
fn volumes_on_the_same_spindles_are_said_to_share_them() {
    let output = simulated(&["a", "b"], &[]);
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    for words in
        ["8 KiB random read on a, b, file size 2 GiB", "a and b together give what one", "50 %"]
    {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
}

#[test]
fn the_document_has_every_step_and_every_measurement() {
    let output = simulated(&["a", "b", "c"], &["--json", "--pairs"]);
    succeeds(&output);
    let experiment: Experiment<Scale> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(experiment.schema, "iosonde.scale/1");
    assert_eq!(experiment.conclusion.alone.len(), 3);
    assert_eq!(experiment.conclusion.together.len(), 4);
    assert_eq!(experiment.measurements.len(), 8);
    assert_eq!(experiment.conclusion.scaling.unwrap().steps.len(), 2);
}

#[test]
fn a_dry_run_names_every_target_and_touches_none() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let paths = [one.path().to_str().unwrap(), two.path().to_str().unwrap()];
    let output =
        command(&["scale", paths[0], paths[1], "--size", "8M", "--dry-run"]).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(paths.iter().all(|p| text.contains(p)), "{text}");
    assert!(text.contains("about 4 measurements in 1 min"), "{text}");
    assert!(names(one.path()).is_empty() && names(two.path()).is_empty());
}

#[test]
fn one_target_has_nothing_to_be_compared_with() {
    fails(&simulated(&["a"], &[]), 2, "name two or more");
    // A dry run had promised that it could be done.
    fails(&simulated(&["a"], &["--dry-run"]), 2, "name two or more");
}
