//! Searches over many hosts, what hosts share, what waits on them, and their plans.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testing::Place;
use testing::program::{code, fails, stderr, stdout};

use super::{NULL, PROGRAM, ROOM, Running, Site, hosts, is_alive, signal, wait};

/// Names of targets in a measurement, and how many of them did something.
fn busy(measurement: &Value) -> Vec<String> {
    let targets = measurement["targets"].as_array().unwrap().iter();
    let busy = targets.filter(|target| target["total"]["ios"].as_u64().unwrap() > 0);
    busy.map(|target| target["path"].as_str().unwrap().to_owned()).collect()
}

/// Targets are made ready once on every host, every point of the search is one start of all hosts,
/// and nothing stays behind.
#[test]
fn the_knee_of_several_hosts_is_one_search() {
    let site = Site::new();
    let data = site.place.path("data");
    fs::create_dir(&data).unwrap();
    let target = format!("{}/{{host}}.test", data.display());
    let load = ["--size", "4M", "--engine", "sync", "--buffered", "--threads", "1"];
    let short = ["--from", "2", "--to", "2", "--seconds", "0.5", "--settle", "0"];
    let document = site.search("knee", "a,b", &[&[target.as_str()][..], &load, &short].concat());
    assert_eq!(document["schema"], "iosonde.knee/1");
    let points = document["measurements"].as_array().unwrap();
    assert!(!points.is_empty());
    for point in points {
        let busy = busy(point);
        assert_eq!(busy.len(), 2, "{busy:?}");
        assert!(busy[0].starts_with("a:/") && busy[1].ends_with("b.test"), "{busy:?}");
        assert_eq!(point["in_flight"], 2);
        // It has what every host measured, wholly.
        let own = point["hosts"].as_array().unwrap();
        let names: Vec<&Value> = own.iter().map(|host| &host["name"]).collect();
        assert_eq!(names, ["a", "b"]);
        let ios = own.iter().map(|host| host["measurement"]["total"]["ios"].as_u64().unwrap());
        assert_eq!(point["total"]["ios"].as_u64(), Some(ios.sum()), "{point}");
        for host in own {
            assert!(host["late_ns"].is_u64() && host["from_s"].is_f64(), "{host}");
            assert!(host["measurement"]["total"]["histogram"].is_string());
            assert!(!host["measurement"]["series"].as_array().unwrap().is_empty());
        }
    }
    // The history gives it back as it was.
    let id = document["id"].as_str().unwrap();
    assert_eq!(site.place.json(&["history", "show", id]), document);
    let method = document["method"].to_string();
    assert!(method.contains("one named moment") && method.contains("tag fleet-"), "{method}");
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0, "test files stayed");
    let audit = site.audit();
    // Once to make ready, then a point each.
    assert_eq!(audit.matches("command=prepare").count(), 2 * (1 + points.len()), "{audit}");
    assert_eq!(audit.matches("command=start").count(), 2 * points.len(), "{audit}");
    let own = site.place.list(&["--kind", "run"]);
    assert_eq!(own.len(), 2 * points.len(), "what hosts keep: {own:?}");
    // What the result carries repeats it over plain ssh, and starts no other program.
    let plan = &document["plan"];
    assert_eq!((&plan["job"], &plan["plan"]["job"]), (&json!("fleet"), &json!("knee")));
    assert!(plan.get("reach").is_none(), "{plan}");
}

#[test]
fn hosts_are_loaded_alone_and_then_together() {
    let site = Site::new();
    let args = ["--engine", "null", "/x", "--seconds", "0.5", "--settle", "0", "--rate", "1000"];
    let document = site.search("scale", "a,b,c", &args);
    let conclusion = &document["conclusion"];
    let alone = conclusion["alone"].as_array().unwrap();
    let names: Vec<&str> = alone.iter().map(|one| one["target"].as_str().unwrap()).collect();
    assert_eq!(names, ["a:/x", "b:/x", "c:/x"]);
    let sets: Vec<usize> = conclusion["together"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| set["targets"].as_array().unwrap().len())
        .collect();
    assert_eq!(sets, [2, 3]);
    let steps = conclusion["scaling"]["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["efficiency_percent"].is_number()), "{steps:?}");
    let parts: Vec<usize> =
        document["measurements"].as_array().unwrap().iter().map(|m| busy(m).len()).collect();
    assert_eq!(parts, [1, 1, 1, 1, 2, 3], "one point has the first host twice as loaded");
}

#[test]
fn a_sweep_runs_every_cell_on_all_hosts() {
    let site = Site::new();
    let lists = ["--blocks", "4K,8K", "--depths", "1,2", "--seconds", "0.3", "--settle", "0"];
    let args = [&["--engine", "null", "/x"][..], &lists].concat();
    let document = site.search("sweep", "a,b", &args);
    let cells = document["measurements"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    assert!(cells.iter().all(|cell| busy(cell).len() == 2));
}

/// The plan that `--print-plan` prints is carried out by `do`, and `again` repeats a result.
#[test]
fn plans_of_fleets_are_printed_done_and_repeated() {
    // What repeats a result finds ssh and iosonde where everybody does.
    let site = Site::with("while [ \"$1\" != iosonde ]; do shift; done; exec \"$@\"");
    let bin = site.place.path("bin");
    fs::create_dir(&bin).unwrap();
    let text =
        "#!/bin/sh\nwhile [ $1 != -- ]; do shift; done; shift; shift; exec sh -c \"exec $*\"\n";
    fs::write(bin.join("ssh"), text).unwrap();
    fs::set_permissions(bin.join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(PROGRAM, bin.join("iosonde")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let says = |args: &[&str]| {
        let output = site.place.command(args).env("PATH", &path).output().unwrap();
        assert_eq!(code(&output), 0, "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    let args = [&["fleet", "run", "--ssh", "a,b", "--seconds", "1", "--warmup", "0"][..], &NULL];
    let dry = says(&[&args.concat()[..], &["--dry-run"]].concat());
    assert!(dry.contains("2 hosts: a, b") && dry.contains("on every host: /x"), "{dry}");
    let plan = says(&[&args.concat()[..], &["--print-plan"]].concat());
    fs::write(site.place.path("plan.toml"), &plan).unwrap();
    assert!(!site.audit().contains("command=prepare"), "a host was called");
    let file = site.place.path("plan.toml");
    let done: Value =
        serde_json::from_str(&says(&["do", file.to_str().unwrap(), "--json"])).unwrap();
    assert_eq!((&done["schema"], hosts(&done).len()), (&json!("iosonde.fleet/1"), 2));
    says(&["again", done["id"].as_str().unwrap(), "--quiet"]);
    assert_eq!(site.place.list(&["--kind", "fleet"]).len(), 2);
}

/// Hosts that see one directory are found out, those that do not are not, and no mark stays.
#[test]
fn hosts_show_who_is_there_and_what_they_share() {
    let site = Site::new();
    for directory in ["shared", "own-a", "own-b"] {
        fs::create_dir(site.place.path(directory)).unwrap();
    }
    let shared = site.place.path("shared").display().to_string();
    let own = format!("{}/own-{{host}}", site.place.directory().display());
    let look = |targets: &[&str]| {
        let script = site.place.path("enter");
        let reached = ["fleet", "hosts", "--ssh", "a,b", "--agent", PROGRAM, "--ssh-command"];
        let args = [&reached[..], &[script.to_str().unwrap()], targets].concat();
        site.place.json(&args)
    };
    let found = look(&[&shared, &own]);
    assert_eq!(found["schema"], "iosonde.fleet-hosts/1");
    for host in found["hosts"].as_array().unwrap() {
        assert_eq!(host["version"], env!("CARGO_PKG_VERSION"));
        assert!(host["clock_bound_ns"].is_u64() && host["clock_ahead_ns"].is_i64(), "{host}");
        assert_eq!(host["targets"].as_array().unwrap().len(), 2);
    }
    let marks: Vec<&Value> = found["shared"].as_array().unwrap().iter().collect();
    let marked = |by: &&&Value| by["by"].as_str().unwrap().contains("mark");
    let marks: Vec<&&Value> = marks.iter().filter(marked).collect();
    assert_eq!(marks.len(), 1, "{found}");
    let (a, b) = (format!("a:{shared}"), format!("b:{shared}"));
    assert_eq!(marks[0]["targets"], json!([a, b]));
    for directory in ["shared", "own-a", "own-b"] {
        assert_eq!(fs::read_dir(site.place.path(directory)).unwrap().count(), 0, "{directory}");
    }
}

/// A coordinator that is killed leaves results on the hosts, which are fetched once.
#[test]
fn what_hosts_kept_is_fetched_later() {
    let site = Site::new();
    let args = [&NULL[..], &["--seconds", "120"]].concat();
    let mut running = Running::start(site.command("a,b", &args));
    let agents = ["a", "b"].map(|host| site.pid(host));
    signal(running.child.id(), "-KILL");
    running.child.wait().unwrap();
    wait("agents leave", 4 * ROOM, || !agents.iter().any(|pid| is_alive(*pid)));
    let fetch = || {
        let script = site.place.path("enter");
        let reached = ["fleet", "resume", "--ssh", "a,b", "--agent", PROGRAM, "--ssh-command"];
        site.place.run(&[&reached[..], &[script.to_str().unwrap(), "--json"]].concat())
    };
    let fetched = fetch();
    // The result is of a run that was interrupted.
    assert_eq!(code(&fetched), 130, "{}", stderr(&fetched));
    let document: Value = serde_json::from_str(&stdout(&fetched)).unwrap();
    let measurements = document["measurements"].as_array().unwrap();
    assert_eq!(measurements.len(), 2, "{document}");
    let ios: u64 = measurements.iter().map(|m| m["total"]["ios"].as_u64().unwrap()).sum();
    assert_eq!(document["conclusion"]["merged"]["total"]["ios"], ios);
    assert!(document["conclusion"]["window"]["seconds"].as_f64().unwrap() > 0.0);
    assert!(document["warnings"].to_string().contains("coordinator of this run went away"));
    // What each host kept in its own history is the same.
    let own = site.place.list(&["--kind", "run"]);
    assert_eq!(own.len(), 2);
    let kept = site.place.list(&["--kind", "fleet"]);
    assert_eq!((kept.len(), &kept[0]["id"]), (1, &document["id"]));
    fails(&fetch(), 2, "no result waits");
}

/// Hosts forget a result only once the coordinator has it in its history.
#[test]
fn what_cannot_be_kept_here_waits_on_the_hosts() {
    let site = Site::new();
    let history = site.place.path("own.db");
    let own = ["--history", history.to_str().unwrap(), "--json"];
    let args = [&NULL[..], &["--seconds", "2"], &own].concat();
    let running = Running::start(site.command("a,b", &args));
    for end in ["", "-wal", "-shm"] {
        fs::write(site.place.path(&format!("own.db{end}")), [b'x'; 8192]).unwrap();
    }
    let (document, code_of) = running.end();
    assert_eq!(code_of, 1, "it is said to be kept");
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(site.place.path(&format!("own.db{end}")));
    }
    let fetched = site.plain("resume", "a,b", &own).output().unwrap();
    let again: Value = serde_json::from_str(&stdout(&fetched)).unwrap();
    assert_eq!(again["measurements"], document["measurements"], "{}", stderr(&fetched));
    fails(&site.plain("resume", "a,b", &own).output().unwrap(), 2, "no result waits");
}

/// The coordinator is killed in the middle of a search. What it had measured is in its history, and
/// only the rest is measured.
#[test]
fn a_search_that_was_interrupted_keeps_its_points() {
    let site = Site::new();
    let load = ["--engine", "null", "/x", "--threads", "1", "--seconds", "1", "--settle", "0"];
    let args = [&load[..], &["--think", "1ms", "--from", "2", "--to", "8", "--json"]].concat();
    let command = site.command_of("knee", "a,b", &args);
    let mut running = Running::start_at(command, "\"number\":4,");
    let agents = ["a", "b"].map(|host| site.pid(host));
    signal(running.child.id(), "-KILL");
    running.child.wait().unwrap();
    wait("agents leave", 4 * ROOM, || !agents.iter().any(|pid| is_alive(*pid)));
    let begun = site.place.list(&["--kind", "knee"]);
    let id = begun[0]["id"].as_str().unwrap();
    let had = begun[0]["measurements"].as_u64().unwrap();
    assert!(had > 0, "{}", begun[0]);
    let before = site.audit().matches("command=start").count();
    let resume = |hosts: &'static str, id: &str| {
        site.plain("resume", hosts, &[id, "--json"]).output().unwrap()
    };
    fails(&resume("a,c", id), 2, "a search on other hosts: name a,b");
    let output = resume("a,b", id);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains(&format!("{had} measurements are there already")));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (&document["schema"], &document["status"]),
        (&json!("iosonde.knee/1"), &json!("complete"))
    );
    let points = document["measurements"].as_array().unwrap();
    let started = site.audit().matches("command=start").count() - before;
    assert_eq!(started as u64, 2 * (points.len() as u64 - had), "{}", site.audit());
    let method = document["method"].to_string();
    let words = format!("its first {had} measurements were made before, and were not repeated");
    assert!(method.contains(&words), "{method}");
    assert_eq!(document["id"], id, "one experiment, however often it goes on");
    fails(&resume("a,b", id), 2, "is complete");
}

/// While one coordinator uses a host, another is refused; afterwards it is not.
#[test]
fn a_second_coordinator_is_refused() {
    let site = Site::new();
    let mut running =
        Running::start(site.command("a", &[&NULL[..], &["--seconds", "120"]].concat()));
    let second = site.run("b", &[&NULL[..], &["--seconds", "1"]].concat());
    fails(&second, 1, "another coordinator uses this host");
    signal(running.child.id(), "-INT");
    running.child.wait().unwrap();
    let third = site.run("b", &[&NULL[..], &["--seconds", "1"]].concat());
    assert_eq!(code(&third), 0, "{}", stderr(&third));
}

#[test]
fn what_only_a_host_may_allow_is_refused_here() {
    let site = Site::new();
    let output = site.run("a", &["--target", "/dev/x", "--destroy", "/dev/x"]);
    fails(&output, 2, "--allow-destroy");
    let output = site.command_of("scale", "a,b", &["/x", "/y"]).output().unwrap();
    fails(&output, 2, "name one target");
    let adaptive = ["/x", "--blocks", "8K", "--adaptive"];
    fails(&site.command_of("sweep", "a,b", &adaptive).output().unwrap(), 2, "same length");
}

/// Eight hosts with clocks that are hours apart, each behind its own cable, start together; and
/// one whose cable is pulled is missed. The figures themselves are those of `./x bench fleet`.
#[test]
fn hosts_in_network_namespaces_start_together() {
    let place = Place::new(PROGRAM);
    let network = match testing::network::Network::open(place.directory(), None) {
        Ok(network) => network,
        Err(why) => {
            return testing::skip("fleet::hosts_in_network_namespaces_start_together", &why);
        }
    };
    let home = place.directory().display();
    let agent = format!("env HOME={home} IOSONDE_CONFIG= {PROGRAM}");
    let (hosts_of, ssh) = (network.hosts(), network.ssh());
    let reached = ["fleet", "run", "--ssh", &hosts_of, "--ssh-command", &ssh, "--agent", &agent];
    let reached = [&reached[..], &NULL, &["--warmup", "0", "--json", "--seconds"]].concat();
    let output = place.run(&[&reached[..], &["1"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["measurements"].as_array().unwrap().len(), 8);
    let skew = document["conclusion"]["start_skew_ns"].as_u64().unwrap();
    assert!(u128::from(skew) < ROOM.as_nanos(), "{skew}");
    left_alone(&place, &network);
    let mut running = Running::start(place.command(&[&reached[..], &["120"]].concat()));
    let pulled = Instant::now();
    network.cable(3, false).unwrap();
    running.until("lost the host `h3`");
    assert!(pulled.elapsed() < Duration::from_secs(3) + ROOM, "{:?}", pulled.elapsed());
    let (document, _) = running.end();
    // Its silence may be noticed here, or the end of its session by `ssh`: whichever is first.
    let why = hosts(&document)[2]["lost"].as_str().unwrap().to_owned();
    assert!(!why.is_empty(), "{document}");
}

/// The coordinator loses its network: no host hears that, and each stops by itself and keeps what
/// it measured until somebody asks.
fn left_alone(place: &Place, network: &testing::network::Network) {
    // A directory apart: these agents have the host until `sshd` notices, too.
    let home = place.path("alone");
    let (display, ssh) = (home.display(), network.ssh());
    let agent =
        format!("env HOME={display} IOSONDE_HISTORY={display}/h.db IOSONDE_CONFIG= {PROGRAM}");
    let way = ["--ssh", "h1,h2", "--ssh-command", &ssh, "--agent", &agent];
    let ends = || {
        let log = fs::read_to_string(home.join(".local/share/iosonde/agent.log"));
        log.unwrap_or_default().matches("command=end").count()
    };
    let load = [&NULL[..], &["--warmup", "0", "--seconds", "120", "--json"]].concat();
    let run = [&["fleet", "run"], &way[..], &load].concat();
    let running = Running::start(place.command(&run));
    network.own_cable(false).unwrap();
    let alone = Duration::from_secs(5) + 2 * ROOM;
    wait("the hosts stop", alone, || ends() == 2);
    drop(running.end());
    network.own_cable(true).unwrap();
    let resume = [&["fleet", "resume"], &way[..], &["--json"]].concat();
    let mut fetched = 0;
    // A session ends once its sshd has noticed, too.
    wait("the hosts give what they measured", 12 * ROOM, || {
        let document: Value =
            serde_json::from_str(&stdout(&place.run(&resume))).unwrap_or_default();
        fetched += document["measurements"].as_array().map_or(0, Vec::len);
        fetched >= 2
    });
    assert_eq!(fetched, 2, "each result is there once");
}
