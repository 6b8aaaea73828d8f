//! Measurements on files of a directory, and their reports.

use serde_json::Value;

use super::{names, place};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

#[test]
fn a_run_measures_is_kept_and_leaves_no_file() {
    let (place, data) = place();
    for (depth, engine) in [("1", "sync"), ("8", "iocp")] {
        let short =
            ["--overfill", "--size", "16M", "--seconds", "0.3", "--warmup", "0", "--write", "30"];
        let run = place.json(&[&["run", &data, "--depth", depth], &short[..]].concat());
        assert_eq!((&run["status"], &run["engine"]["name"]), (&"complete".into(), &engine.into()));
        let os = run["environment"]["host"]["os"].as_str().unwrap();
        assert!(os.contains("Windows"), "{os}");
        let file_system = &run["environment"]["storage"][0]["file_system"];
        assert!(number(&file_system["block_bytes"]) >= 512.0, "{file_system}");
        assert!(number(&run["total"]["ios"]) > 0.0 && run["total"]["errors"] == 0, "{run:#}");
        assert_eq!(place.json(&["history", "show", "latest"]), run);
    }
    assert_eq!(place.list(&[]).len(), 2);
    assert_eq!(names(&data), [""; 0], "the test file is gone");
}

/// Every command of the program prints paths with `\`, which must come through JSON and HTML.
#[test]
fn an_assessment_ends_in_a_report() {
    let (place, data) = place();
    let small = ["--pace", "glance", "--size", "64M", "--overfill", "--report", "r.html"];
    let assessment = place.json(&[&["assess", data.as_str()], &small[..]].concat());
    assert_eq!(assessment["patterns"].as_array().unwrap().len(), 6);
    let html = place.text("r.html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("</html>"));
    assert!(html.contains("<svg") && html.contains(&data), "charts, and the directory");
    assert!(html.contains("iocp"), "the engine");
    assert_eq!(names(&data), [""; 0]);
    let again = String::from_utf8(place.report("latest", "again.html")).unwrap();
    assert!(again.contains(&data) && again.contains("<svg"));
}

#[test]
fn two_runs_are_compared() {
    let (place, data) = place();
    let short = ["--overfill", "--size", "16M", "--seconds", "0.3", "--warmup", "0"];
    for tag in ["before", "after"] {
        place.json(&[&["run", data.as_str(), "--tag", tag], &short[..]].concat());
    }
    let compared = place.json(&["history", "compare", "@before", "@after"]);
    assert_eq!(compared["differences"], serde_json::json!([]), "{compared:#}");
    // One run of each says nothing for sure, whatever the storage does.
    assert_eq!(compared["verdict"], "cannot_tell", "{compared:#}");
    assert_eq!(compared["loads"].as_array().unwrap().len(), 1, "{compared:#}");
}

#[test]
fn a_knee_is_looked_for() {
    let (place, data) = place();
    let short = ["--overfill", "--size", "16M", "--seconds", "0.2", "--settle", "0", "--to", "8"];
    let knee = place.json(&[&["knee", data.as_str()], &short[..]].concat());
    assert!(knee["measurements"].as_array().unwrap().len() >= 4, "{knee:#}");
    assert_eq!(names(&data), [""; 0]);
}
