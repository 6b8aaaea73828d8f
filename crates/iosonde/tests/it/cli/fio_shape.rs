//! Results in the shape of fio's JSON, drawn by a program that people draw fio's results with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::program::{command, fails, names, stderr, succeeds};
use super::python::python;

/// A sweep over depths and threads on a simulated device, in a history.
fn sweep(directory: &Path) -> String {
    let history = directory.join("h.db").to_str().unwrap().to_owned();
    let args = [
        "sweep",
        "--engine",
        "sim",
        "--sim",
        "servers=8,read_ns=\"2ms\"",
        "--history",
        &history,
        "--depths",
        "1,4,16",
        "--threads",
        "1,2,4",
        "--seconds",
        "2",
        "--warmup",
        "0",
        "--size",
        "1G",
        "--quiet",
    ];
    succeeds(&command(&args).output().unwrap());
    history
}

fn report(history: &str, output: &Path, more: &[&str]) -> Output {
    let output = output.to_str().unwrap();
    let args =
        ["report", "latest", "--format", "fio-json", "--history", history, "--output", output];
    command(&[&args[..], more].concat()).output().unwrap()
}

#[test]
fn fio_plot_draws_each_load_of_a_sweep() {
    let directory = tempfile::tempdir().unwrap();
    let history = sweep(directory.path());
    let results = directory.path().join("results");
    fs::create_dir(&results).unwrap();
    let output = report(&history, &results, &[]);
    succeeds(&output);
    assert!(stderr(&output).contains("9 files"), "{}", stderr(&output));
    let of_8k = results.join("8k");
    assert_eq!(names(&of_8k).len(), 9);
    assert!(of_8k.join("randread-iodepth-16-numjobs-4.json").exists());
    // JSON has no room for a checksum: nobody can tell whether the files were changed.
    fails(&report(&history, &results, &[]), 1, "replace it with `--overwrite`");
    // Written again, the same files are there and no others.
    succeeds(&report(&history, &results, &["--overwrite"]));
    assert_eq!(names(&of_8k).len(), 9);

    let packages = ["--no-binary", "fio-plot", "fio-plot"];
    let python = python("fio-plot", "fio_plot, matplotlib", &packages);
    let charts: [(&str, &[&str]); 4] = [
        ("depths.png", &["-l", "-d", "1", "4", "16", "-n", "1"]),
        ("threads.png", &["-N", "-d", "16", "-n", "1", "2", "4"]),
        ("histogram.png", &["-H", "-d", "4", "-n", "2"]),
        ("surface.png", &["-L", "-t", "iops", "-d", "1", "4", "16", "-n", "1", "2", "4"]),
    ];
    for (name, args) in charts {
        let picture: PathBuf = directory.path().join(name);
        let drawn = Command::new(&python)
            .args(["-m", "fio_plot", "-T", "sweep", "-r", "randread", "-i"])
            .args([&of_8k])
            .args(args)
            .arg("-o")
            .arg(&picture)
            .env("MPLBACKEND", "Agg")
            .current_dir(directory.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&drawn.stdout);
        let bytes = fs::read(&picture).unwrap_or_default();
        assert!(
            bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000,
            "{args:?}: {said}{}",
            stderr(&drawn)
        );
    }
}

#[test]
fn one_file_has_all_loads_as_jobs() {
    let directory = tempfile::tempdir().unwrap();
    let history = sweep(directory.path());
    let path = directory.path().join("all.json");
    let output = report(&history, &path, &[]);
    succeeds(&output);
    assert!(stderr(&output).contains("name a directory"), "{}", stderr(&output));
    let text = fs::read_to_string(&path).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(whole["jobs"].as_array().unwrap().len(), 9);
    fails(&report(&history, &path, &[]), 1, "it exists already");
}
