//! Jobs that each host does by itself, and IOMeter's managers on several hosts.

use std::fs;

use serde_json::{Value, json};
use testing::program::{code, fails, stderr, stdout};

use super::{PROGRAM, Running, Site, signal};

/// Every host has its own simulated database; one result has those of all of them, with verdicts.
#[test]
fn every_host_validates_its_own_data() {
    let site = Site::new();
    for host in ["a", "b"] {
        fs::create_dir(site.place.path(host)).unwrap();
    }
    let target = format!("{}/{{host}}", site.place.directory().display());
    let small = ["--size", "4M", "--log-size", "2M", "--seconds", "0.5", "--buffered"];
    let args = [&[target.as_str(), "--json"][..], &small].concat();
    let output = site.plain("validate", "a,b", &args).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["schema"], "iosonde.fleet-job/1");
    let found = &document["conclusion"];
    assert_eq!((&found["job"], &found["on_loss"]), (&json!("validate"), &json!("abort")));
    assert_eq!(found["verdicts"][0]["overall"], "right");
    assert_eq!(found["verdicts"][0]["hosts"], json!(["right", "right"]));
    assert!(found["start_skew_ns"].is_u64(), "{found}");
    for (host, name) in found["hosts"].as_array().unwrap().iter().zip(["a", "b"]) {
        let own = &host["document"];
        assert_eq!(own["schema"], "iosonde.validation/1");
        assert!(own["conclusion"]["work"]["pages_checked"].as_u64().unwrap() > 0);
        assert!(own["targets"][0].as_str().unwrap().ends_with(&format!("{name}/iosonde.mdx")));
    }
    assert_eq!(fs::read_dir(site.place.path("a")).unwrap().count(), 0, "files stayed");
    // It is one result of the history, and every format shows it.
    let list = site.place.list(&["--kind", "fleet"]);
    assert_eq!(list.len(), 1, "{list:?}");
    let id = list[0]["id"].as_str().unwrap();
    for (name, words) in [
        ("r.md", "All hosts together"),
        ("r.csv", "validate,b,"),
        ("r.json", "iosonde.fleet-job/1"),
        ("r.html", "b: File by file"),
    ] {
        let shown = String::from_utf8(site.place.report(id, name)).unwrap();
        assert!(shown.contains(words), "no `{words}` in {shown}");
    }
    assert!(site.place.report(id, "r.xlsx").starts_with(b"PK"));
    // What only works on one host is refused before any host is called.
    let resize = site.plain("validate", "a,b", &[&target, "--resize", "1"]).output().unwrap();
    fails(&resize, 2, "takes no `--ledger`");
}

/// A host that is lost ends the validation of the others, and nothing is right then.
#[test]
fn a_lost_host_leaves_a_validation_incomplete() {
    let site = Site::new();
    for host in ["a", "b"] {
        fs::create_dir(site.place.path(host)).unwrap();
    }
    let target = format!("{}/{{host}}", site.place.directory().display());
    let args = [&target, "--size", "4M", "--seconds", "60", "--buffered", "--json"];
    let mut running =
        Running::start_at(site.plain("validate", "a,b", &args), "\"event\":\"interval\"");
    signal(site.pid("b"), "-KILL");
    running.until("lost the host `b`");
    let (document, code) = running.end();
    assert_eq!(code, 1);
    let found = &document["conclusion"];
    assert_eq!(document["status"], "failed");
    assert_eq!(found["verdicts"][0]["overall"], "incomplete", "{found}");
    assert_eq!(found["verdicts"][0]["hosts"], json!(["interrupted", null]));
    assert!(found["hosts"][1]["lost"].is_string());
}

#[test]
fn every_host_records_its_own_counters() {
    let site = Site::new();
    let args = ["--count", "2", "--interval", "100ms", "--alert", "cpu > 0%", "--json"];
    let output = site.plain("monitor", "a,b", &args).output().unwrap();
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let found = &document["conclusion"];
    assert_eq!(found["verdicts"][0]["overall"], "came_true");
    for host in found["hosts"].as_array().unwrap() {
        assert_eq!(host["document"]["schema"], "iosonde.recording/1");
        assert!(host["document"]["conclusion"]["windows"].as_u64() >= Some(2), "{host}");
    }
    assert!(stderr(&output).contains("a: alert: `cpu > 0%` came true"), "{}", stderr(&output));
    let audit = site.audit();
    assert_eq!(audit.matches("command=start").count(), 2, "{audit}");
}

/// An assessment that is stopped has what every host measured until then.
#[test]
fn every_host_assesses_its_own_storage() {
    let site = Site::new();
    let args = ["/x", "--engine", "null", "--size", "64M", "--pace", "quick", "--json"];
    let running = Running::start_at(site.plain("assess", "a,b", &args), "\"number\":3,");
    signal(running.child.id(), "-INT");
    let (document, code) = running.end();
    assert_eq!((code, &document["status"]), (130, &json!("interrupted")));
    let found = &document["conclusion"];
    assert_eq!(found["job"], "assess");
    for host in found["hosts"].as_array().unwrap() {
        assert_eq!(host["document"]["schema"], "iosonde.assessment/1", "{host}");
    }
    assert!(!found["verdicts"].as_array().unwrap().is_empty());
}

/// Two managers of one configuration work on two hosts, and IOMeter's file has both.
#[test]
fn managers_of_iometer_work_on_their_hosts() {
    let site = Site::new();
    let place = |name: &str| site.place.path(name).to_str().unwrap().to_owned();
    fs::write(place("two.icf"), configuration()).unwrap();
    let script = place("enter");
    let mut args = vec!["iometer", "-c", "two.icf", "-r", "two.csv", "--seconds", "1"];
    args.extend(["--warmup", "0", "--engine", "null", "--drive", "E=/x", "--json"]);
    args.extend(["--ssh-command", &script, "--agent", PROGRAM]);
    let alone = [&args[..], &["--manager", "ALPHA=a"]].concat();
    fails(&site.place.run(&alone), 2, "names no host for its manager `BETA`");
    args.extend(["--manager", "ALPHA=a", "--manager", "BETA=b"]);
    let output = site.place.run(&args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["schema"], "iosonde.cycle/1");
    let csv = fs::read_to_string(place("two.csv")).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let iops = |kind: &str, name: &str| -> f64 {
        let row = rows.iter().find(|row| row[0] == kind && row[1] == name);
        row.unwrap_or_else(|| panic!("no {kind} {name} in {csv}"))[6].parse().unwrap()
    };
    let (alpha, beta) = (iops("MANAGER", "ALPHA"), iops("MANAGER", "BETA"));
    assert!(alpha > 0.0 && beta > 0.0, "{csv}");
    let all = iops("ALL", "All");
    assert!((all - alpha - beta).abs() < 0.02 * all, "{all} of {alpha} and {beta}");
    assert_eq!(rows.iter().filter(|row| row[0] == "WORKER").count(), 2, "{csv}");
    assert_eq!(rows.iter().filter(|row| row[0] == "DISK").count(), 2, "{csv}");
    let audit = site.audit();
    assert_eq!(audit.matches("command=start").count(), 2, "{audit}");
}

/// A configuration of two managers with the same load.
fn configuration() -> String {
    let manager = |number: u32, name: &str| MANAGER.replace("1,NAME", &format!("{number},{name}"));
    [BEGINNING, &manager(1, "ALPHA"), &manager(2, "BETA"), END].concat()
}

const BEGINNING: &str = "Version 1.1.0 
'TEST SETUP ====================================================================
'Run Time
'\thours      minutes    seconds
\t0          0          5
'Record Results
\tALL
'Test Type
\tNORMAL
'END test setup
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
\tOLTP,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t8192,100,100,100,0,1,8192,0
'END access specifications
'MANAGER LIST ==================================================================
";

const MANAGER: &str = "\
'Manager ID, manager name
\t1,NAME
'Manager network address
\t
'Worker
\tWorker 1
'Worker type
\tDISK
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed \
seed value
\t3,DISABLED,1,DISABLED,0
'Disk maximum size,starting sector,Data pattern
\t20480,0,0
'End default target settings for worker
'Assigned access specs
\tOLTP
'End assigned access specs
'Target assignments
'Target
\tE: \"data\"
'Target type
\tDISK
'End target
'End target assignments
'End worker
'End manager
";

const END: &str = "\
'END manager list
Version 1.1.0 
";
