//! The job for Kubernetes: its schema takes it, and the program takes what it starts.

use std::fs;
use std::path::Path;

use testing::Place;

use super::program::tool;
use super::python::python;
use crate::program::{place, stdout, succeeds};

/// The release of `kubernetes-validate`, which brings the schemas of the Kubernetes of that number.
const VALIDATE: &str = "kubernetes-validate==1.37.0";

fn job() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/kubernetes/assess.yaml")
}

/// Whether the schemas of Kubernetes take a file, and what they say about it.
fn validated(path: &Path) -> Result<String, String> {
    let python = python("kubernetes", "kubernetes_validate", &[VALIDATE]);
    let args = ["-m", "kubernetes_validate", "--strict", path.to_str().unwrap()];
    tool(python.to_str().unwrap(), &args)
}

#[test]
fn the_job_is_what_kubernetes_takes() {
    validated(&job()).unwrap();
    // A misspelt field, or a value of another type, is not.
    let place = place();
    let text = fs::read_to_string(job()).unwrap();
    for (right, wrong) in
        [("backoffLimit: 0", "backoffLimit: none"), ("restartPolicy:", "restartPolitics:")]
    {
        assert!(text.contains(right));
        fs::write(place.path("wrong.yaml"), text.replace(right, wrong)).unwrap();
        assert!(validated(&place.path("wrong.yaml")).is_err(), "{wrong}");
    }
}

/// The arguments of the container, as the program would be given them.
fn arguments(place: &Place) -> Vec<String> {
    let text = fs::read_to_string(job()).unwrap();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("args: [")).unwrap();
    let words = line.strip_suffix(']').unwrap().split(", ").map(str::to_owned);
    let at = |word: String| word.replace("/tmp/", &format!("{}/", place.directory().display()));
    words.map(at).collect()
}

#[test]
fn what_the_job_starts_prints_the_summary() {
    let place = place();
    let args = arguments(&place);
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.extend(["--engine", "sim"]);
    let output = place.run(&args);
    succeeds(&output);
    assert!(stdout(&output).contains("/data"), "{}", stdout(&output));
    assert!(place.path("report.html").exists());
}
