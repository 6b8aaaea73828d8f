//! Jobs that each host does by itself, and IOMeter's managers on several hosts.

use std::fs;

use serde_json::{Value, json};
use testing::program::{code, fails, stderr, stdout};

use super::{PROGRAM, ROOM, Running, Site, hosts, is_alive, signal, wait};
use crate::managers;

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

/// Each load is on all hosts at once, and there is one verdict for each role: of the sum of all
/// hosts, and of a histogram with the I/Os of all.
#[test]
fn all_hosts_together_are_assessed_as_one() {
    let site = Site::new();
    let args = ["/x", "--engine", "null", "--pace", "quick", "--together", "--json"];
    let refused = site.plain("assess", "a,b", &args).output().unwrap();
    assert_eq!(code(&refused), 2, "{}", stderr(&refused));
    assert!(stderr(&refused).contains("`--size`"), "{}", stderr(&refused));
    let args = [&args[..], &["--size", "64M", "--need", "oltp=1000"]].concat();
    // The third point of a ramp: a depth that has been measured is not asked for again.
    let running = Running::start_at(site.plain("assess", "a,b", &args), "random read, depth 4");
    signal(running.child.id(), "-INT");
    let (document, code) = running.end();
    assert_eq!((code, &document["status"]), (130, &json!("interrupted")));
    assert_eq!(document["schema"], "iosonde.assessment/1");
    let hosts = json!([{ "name": "a", "target": "/x" }, { "name": "b", "target": "/x" }]);
    assert_eq!((&document["target"], &document["hosts"]), (&json!("/x"), &hosts));
    assert!(!document["verdicts"].as_array().unwrap().is_empty());
    let points = document["ramps"][0]["points"].as_array().unwrap();
    assert!(points.len() >= 2, "{document}");
    for (point, depth) in points.iter().zip([1, 2]) {
        assert_eq!((&point["depth"], &point["in_flight"]), (&json!(depth), &json!(2 * depth)));
    }
    let ios = |m: &Value| m["total"]["ios"].as_u64().unwrap();
    for point in points {
        let own: Vec<u64> = hosts_of(point).iter().map(|host| ios(&host["measurement"])).collect();
        assert_eq!((own.len(), own.iter().sum::<u64>()), (2, ios(point)));
    }
}

fn hosts_of(point: &Value) -> &Vec<Value> {
    point["hosts"].as_array().unwrap()
}

/// Two managers of one configuration work on two hosts, and IOMeter's file has both.
#[test]
fn managers_of_iometer_work_on_their_hosts() {
    let site = Site::new();
    let script = site.place.path("enter").to_str().unwrap().to_owned();
    let mut args = managers::command(&site.place);
    args.extend(["--ssh-command", &script, "--agent", PROGRAM]);
    let alone = [&args[..], &["--manager", "ALPHA=a"]].concat();
    fails(&site.place.run(&alone), 2, "names no host for its manager `BETA`");
    args.extend(["--manager", "ALPHA=a", "--manager", "BETA=b"]);
    let output = site.place.run(&args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["schema"], "iosonde.cycle/1");
    managers::check(&site.place);
    let audit = site.audit();
    // Both hosts, and then ALPHA's alone.
    assert_eq!(audit.matches("command=start").count(), 2 + 1, "{audit}");
}

/// Plans of such jobs are printed and done. A coordinator that is killed leaves on its hosts what
/// they found until then, which is fetched once.
#[test]
fn jobs_are_done_from_plans_and_fetched_after_a_loss() {
    let site = Site::new();
    for host in ["a", "b"] {
        fs::create_dir(site.place.path(host)).unwrap();
    }
    let target = format!("{}/{{host}}", site.place.directory().display());
    let validate = [&target, "--size", "4M", "--log-size", "2M", "--seconds", "60", "--buffered"];
    let assess = ["/x", "--engine", "null", "--size", "64M", "--pace", "quick"];
    for (job, args, under_way, schema) in [
        ("validate", &validate[..], "\"event\":\"interval\"", "iosonde.validation/1"),
        ("monitor", &["--interval", "100ms"], "have begun", "iosonde.recording/1"),
        ("assess", &assess, "\"number\":3,", "iosonde.assessment/1"),
    ] {
        let printed = site.plain(job, "a,b", &[args, &["--print-plan"]].concat()).output().unwrap();
        assert_eq!(code(&printed), 0, "{}", stderr(&printed));
        fs::write(site.place.path("plan.toml"), stdout(&printed)).unwrap();
        let done = site.place.command(&["do", "plan.toml", "--json", "--allow-command"]);
        let mut running = Running::start_at(done, under_way);
        let agents = ["a", "b"].map(|host| site.pid(host));
        signal(running.child.id(), "-KILL");
        running.child.wait().unwrap();
        wait("agents leave", 4 * ROOM, || !agents.iter().any(|pid| is_alive(*pid)));
        let fetch = || site.plain("resume", "a,b", &["--json"]).output().unwrap();
        let fetched = fetch();
        let document: Value = serde_json::from_str(&stdout(&fetched))
            .unwrap_or_else(|_| panic!("{job}: {}", stderr(&fetched)));
        assert_eq!(document["schema"], "iosonde.fleet-job/1");
        assert_eq!(document["conclusion"]["job"], job);
        let found = hosts(&document);
        assert_eq!(found.len(), 2);
        for host in found {
            assert_eq!(host["document"]["schema"], schema, "{job}: {host}");
        }
        assert!(document["warnings"].to_string().contains("coordinator of this run went away"));
        fails(&fetch(), 2, "no result waits");
    }
}
