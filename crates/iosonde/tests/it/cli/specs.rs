//! Access specifications by name: in `run`, `sweep` and `assess`.

use results::{Assessment, Experiment, Sweep};
use testing::program::DISKS;

use crate::cli::program::{code, command, fails, measurement, succeeds};

/// A device that needs no time.
const SIM: [&str; 6] = ["--engine", "sim", "--size", "4G", "--seconds", "1"];

#[test]
fn all_are_listed_with_their_rows() {
    let output = command(&["specs"]).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().filter(|l| l.contains("80 % read, 100 % random")).count(), 8);
    assert!(text.contains("RealLife-60%Rand-65%Read"), "{text}");
    let output = command(&["specs", "dss"]).output().unwrap();
    succeeds(&output);
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2, "source and row");
}

#[test]
fn a_run_does_what_the_name_says() {
    let run = |args: &[&str]| command(&[&["run", "--json"], &SIM[..], args].concat()).output();
    let output = run(&["--spec", "fileserver", "--depth", "4"]).unwrap();
    succeeds(&output);
    let m = measurement(&output);
    let stream = &m.workload.streams[0];
    assert_eq!((stream.name.as_str(), stream.depth), ("File Server", 4));
    assert_eq!(stream.mix.as_ref().unwrap().parts.len(), 8);
    let writes = 100.0 * m.write.ios as f64 / m.total.ios as f64;
    assert!((writes - 20.0).abs() < 2.0, "{writes} % writes");
    // One kind of I/O is a plain stream, and several names run at the same time.
    let output = run(&["--spec", "Database", "--spec", "SQL Server Log"]).unwrap();
    succeeds(&output);
    let m = measurement(&output);
    assert_eq!(m.workload.title(), "8 KiB random 67 % read / 33 % write; 64 KiB sequential write");
    assert_eq!(m.streams.len(), 2);
    let output = run(&["--spec", "DSS", "--spec", "DSS"]).unwrap();
    succeeds(&output);
}

#[test]
fn a_mix_is_told_to_be_a_shape_and_no_application() {
    let text = |spec: &str| {
        let output = command(&[&["run"], &SIM[..], &["--spec", spec]].concat()).output().unwrap();
        succeeds(&output);
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(text("Web Server").contains("It is not the"));
    assert!(!text("DSS").contains("It is not the"));
}

#[test]
fn a_name_that_nobody_knows_is_answered_with_near_ones() {
    for args in [&["run"][..], &["sweep"], &["assess"]] {
        let args = [args, &SIM[..4], &["--spec", "Web Sever"]].concat();
        fails(&command(&args).output().unwrap(), 2, "near it: `Web Server`");
    }
    let output = command(&["run", "--spec", "DSS", "--workload", "x"]).output().unwrap();
    assert_eq!(code(&output), 2);
    let clash = ["sweep", "--engine", "sim", "--spec", "DSS", "--blocks", "4K"];
    assert_eq!(code(&command(&clash).output().unwrap()), 2);
}

#[test]
fn a_sweep_has_named_loads_for_an_axis() {
    let args = ["--spec", "File Server", "--spec", "DSS", "--depths", "1,4,16", "--json"];
    let output = command(&[&["sweep"], &SIM[..], &args].concat()).output().unwrap();
    succeeds(&output);
    let found: Experiment<Sweep> = serde_json::from_slice(&output.stdout).unwrap();
    let curves = &found.conclusion.curves;
    assert_eq!(found.conclusion.cells.len(), 6);
    assert!(curves[0].title.starts_with("shape of `File Server`: a mix of 8 kinds"));
    assert_eq!(curves[1].title, "shape of `DSS`: 1 MiB random read");
    // What moved is counted, and not what a mean size would have moved.
    let cell = &found.conclusion.cells[2];
    let m = &found.measurements[cell.measurements[0]];
    assert!((cell.mib_per_s.unwrap() - m.total.mib_per_s).abs() < 1e-6);
}

#[test]
fn an_assessment_measures_them_besides() {
    let args = ["assess", "--size", "1G", "--pace", "quick", "--json"];
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.html");
    let report = ["--report", report.to_str().unwrap(), "--spec", "Web Server"];
    let output = command(&[&args[..], &DISKS, &report].concat()).output().unwrap();
    succeeds(&output);
    let found: Assessment = serde_json::from_slice(&output.stdout).unwrap();
    let pattern = found.patterns.iter().find(|p| p.name == "spec_web_server").unwrap();
    assert!(pattern.title.starts_with("shape of `Web Server`"), "{}", pattern.title);
    let mix = pattern.measurement.workload.streams[0].mix.as_ref().unwrap();
    assert_eq!(mix.parts.len(), 10);
    let ramp = found.ramps.iter().find(|r| r.name == "spec_web_server").unwrap();
    assert!(ramp.knee.is_some());
    let html = std::fs::read_to_string(directory.path().join("report.html")).unwrap();
    assert!(html.contains("It is not the application"));
}
