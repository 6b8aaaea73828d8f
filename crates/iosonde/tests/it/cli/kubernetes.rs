//! The job for Kubernetes: its schema takes it, and the program takes what it starts.

use std::fs;
use std::path::{Path, PathBuf};

use testing::Place;
use testing::program::DISKS;

use super::program::tool;
use super::python::python;
use crate::cli::program::{fails, place, stdout, succeeds};

/// The release of `kubernetes-validate`, which brings the schemas of the Kubernetes of that number.
const VALIDATE: &str = "kubernetes-validate==1.37.0";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/kubernetes").join(name)
}

fn job() -> PathBuf {
    file("assess.yaml")
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

#[test]
fn the_fleet_is_what_kubernetes_takes() {
    validated(&file("fleet.yaml")).unwrap();
    let place = place();
    let text = fs::read_to_string(file("fleet.yaml")).unwrap();
    for (right, wrong) in [
        ("completions: 3", "completions: three"),
        ("subPathExpr:", "subPathExpression:"),
        ("replicas: 1", "replicas: one"),
    ] {
        assert!(text.contains(right));
        fs::write(place.path("wrong.yaml"), text.replace(right, wrong)).unwrap();
        assert!(validated(&place.path("wrong.yaml")).is_err(), "{wrong}");
    }
}

/// What the comment tells people to type makes the files that the manifest names.
#[test]
#[cfg(feature = "nats")]
fn the_fleet_has_the_files_that_its_pods_need() {
    let place = place();
    let text = fs::read_to_string(file("fleet.yaml")).unwrap();
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#   ")).collect();
    let init = lines.iter().find_map(|line| line.strip_prefix("iosonde ")).unwrap();
    succeeds(&place.run(&init.split(' ').collect::<Vec<_>>()));
    let named: Vec<&str> = lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .filter_map(|word| word.strip_prefix("--from-file="))
        .collect();
    assert_eq!(named.len(), 7, "{named:?}");
    assert!(!named.iter().any(|name| name.contains("ca.key")), "the authority's key is given away");
    for name in &named {
        assert!(place.path(name).is_file(), "{name}");
    }
    // The server finds all that its configuration names next to it.
    let configuration = place.text("site/server.conf");
    let files = configuration.lines().filter_map(|line| line.trim().split_once("_file: "));
    let files: Vec<&str> = files.map(|(_, name)| name.trim_matches('"')).collect();
    assert_eq!(files, ["server.crt", "server.key", "ca.crt"]);
    for name in files {
        assert!(named.contains(&format!("site/{name}").as_str()), "{name}");
    }
}

/// The arguments of an agent are flags of the program; without its file, it says so.
#[test]
#[cfg(feature = "nats")]
fn what_a_pod_starts_is_an_agent() {
    let place = place();
    let text = fs::read_to_string(file("fleet.yaml")).unwrap();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("args: [agent, ")).unwrap();
    let args = line.strip_suffix(']').unwrap().split(", ");
    let args: Vec<&str> = std::iter::once("agent").chain(args).collect();
    fails(&place.run(&args), 1, "cannot read `/credentials`");
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
    args.extend(DISKS);
    let output = place.run(&args);
    succeeds(&output);
    assert!(stdout(&output).contains("/data"), "{}", stdout(&output));
    assert!(place.path("report.html").exists());
}
