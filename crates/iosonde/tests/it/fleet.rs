//! Many hosts with the program itself: each is a process of its own, reached by a script that takes
//! a host and a command as ssh does, or by a real sshd.

mod jobs;
mod searches;
#[allow(dead_code, reason = "a part of it is enough here")]
#[path = "../../../history/tests/it/store/server.rs"]
mod server;
mod shared_history;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testing::Place;
use testing::program::{code, fails, stderr, stdout};

const PROGRAM: &str = env!("CARGO_BIN_EXE_iosonde");

/// Promises are of an idle machine. Where several of these run on a busy one, so much more is
/// allowed.
const ROOM: Duration = Duration::from_secs(5);

/// A fleet of processes.
struct Site {
    place: Place,
}

impl Site {
    /// Every host runs its agent as it was asked to.
    fn new() -> Self {
        Self::with("exec sh -c \"exec $*\"")
    }

    /// Every host does this with the command, which is in `$*`; the name of the host is in `$host`.
    fn with(body: &str) -> Self {
        let place = Place::new(PROGRAM);
        let script = place.path("enter");
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = -- ] && shift\nhost=$1; shift\necho $$ > \"{}/$host.pid\"\n\
             {body}\n",
            place.directory().display()
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        Self { place }
    }

    fn command(&self, hosts: &str, args: &[&str]) -> Command {
        self.command_of("run", hosts, args)
    }

    fn command_of(&self, command: &str, hosts: &str, args: &[&str]) -> Command {
        self.plain(command, hosts, &[&["--warmup", "0"], args].concat())
    }

    /// A command without flags of a load.
    fn plain(&self, command: &str, hosts: &str, args: &[&str]) -> Command {
        let script = self.place.path("enter");
        let reached = ["fleet", command, "--ssh", hosts, "--agent", PROGRAM, "--ssh-command"];
        let reached = [&reached[..], &[script.to_str().unwrap()], args].concat();
        self.place.command(&reached)
    }

    fn run(&self, hosts: &str, args: &[&str]) -> Output {
        self.command(hosts, args).output().unwrap()
    }

    /// The document of a search.
    #[track_caller]
    fn search(&self, command: &str, hosts: &str, args: &[&str]) -> Value {
        let output = self.command_of(command, hosts, args).arg("--json").output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    }

    /// The agent of a host.
    fn pid(&self, host: &str) -> u32 {
        self.place.text(&format!("{host}.pid")).trim().parse().unwrap()
    }

    fn audit(&self) -> String {
        fs::read_to_string(audit_of(&self.place)).unwrap_or_default()
    }
}

fn audit_of(place: &Place) -> PathBuf {
    place.path(".local/share/iosonde/agent.log")
}

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status().unwrap();
    assert!(sent.success(), "{name} {pid}");
}

fn is_alive(pid: u32) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.starts_with(" Z"))
}

/// Waits for this, for so long.
#[track_caller]
fn wait(what: &str, longest: Duration, mut is_so: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < longest, "{what}: not after {longest:?}");
        thread::sleep(Duration::from_millis(5));
    }
    began.elapsed()
}

/// A run that is under way: intervals arrive.
struct Running {
    child: Child,
    lines: BufReader<ChildStderr>,
}

impl Running {
    fn start(command: Command) -> Self {
        Self::start_at(command, "\"event\":\"interval\"")
    }

    /// One whose events have these words.
    fn start_at(mut command: Command, words: &str) -> Self {
        command.args(["--progress", "json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        let mut running = Self { child, lines };
        running.until(words);
        running
    }

    /// Reads events until one has these words.
    #[track_caller]
    fn until(&mut self, words: &str) -> String {
        let mut all = String::new();
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "no `{words}` in {all}");
            if line.contains(words) {
                return line;
            }
            all.push_str(&line);
        }
    }

    /// The document and the exit code.
    fn end(self) -> (Value, i32) {
        let output = self.child.wait_with_output().unwrap();
        (serde_json::from_str(&stdout(&output)).unwrap(), code(&output))
    }
}

fn hosts(document: &Value) -> &Vec<Value> {
    document["conclusion"]["hosts"].as_array().unwrap()
}

const NULL: [&str; 8] =
    ["--engine", "null", "--target", "/x", "--rate", "2000", "--interval", "100ms"];

#[test]
fn eight_hosts_are_one_experiment() {
    let site = Site::new();
    let names = "h1,h2,h3,h4,h5,h6,h7,h8";
    let output = site.run(names, &[&NULL[..], &["--seconds", "2", "--json"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["schema"], "iosonde.fleet/1");
    let measurements = document["measurements"].as_array().unwrap();
    assert_eq!((measurements.len(), hosts(&document).len()), (8, 8));
    let ios: u64 = measurements.iter().map(|m| m["total"]["ios"].as_u64().unwrap()).sum();
    let conclusion = &document["conclusion"];
    assert_eq!(conclusion["merged"]["total"]["ios"], ios);
    assert!(ios > 0 && conclusion["window"]["seconds"].as_f64().unwrap() > 0.0, "{conclusion}");
    assert!(conclusion["start_skew_ns"].is_u64() && conclusion["clock_bound_ns"].is_u64());
    for host in hosts(&document) {
        assert!(host["late_ns"].is_u64() && host["lost"].is_null(), "{host}");
        assert_eq!(host["version"], env!("CARGO_PKG_VERSION"));
    }
    // The history has the experiment, and what each host kept by itself.
    let kept = site.place.list(&["--kind", "fleet"]);
    assert_eq!((kept.len(), &kept[0]["id"]), (1, &document["id"]));
    // Its figure is what all hosts did, and not what the best one did.
    let window = &conclusion["window"];
    let all = window["read_iops"].as_f64().unwrap() + window["write_iops"].as_f64().unwrap();
    assert_eq!(kept[0]["best_iops"].as_f64(), Some(all), "{}", kept[0]);
    assert_eq!(kept[0]["best_in_flight"], 8);
    let own = format!("fleet-{}", document["id"].as_str().unwrap());
    let hosts_own = site.place.list(&["--kind", "run", "--tag", &own]);
    assert_eq!(hosts_own.len(), 8, "{hosts_own:?}");
    let id = document["id"].as_str().unwrap();
    assert_eq!(site.place.json(&["history", "show", id]), document);
    let text = site.place.says(&["history", "show", document["id"].as_str().unwrap()]);
    assert!(text.contains("8 hosts: ") && text.contains("Start skew"), "{text}");
    for name in ["r.html", "r.md", "r.csv", "r.json"] {
        let report = site.place.report(document["id"].as_str().unwrap(), name);
        assert!(!report.is_empty(), "{name}");
    }
}

#[test]
fn files_are_made_on_every_host_and_removed() {
    let site = Site::new();
    let data = site.place.path("data");
    fs::create_dir(&data).unwrap();
    let target = format!("{}/{{host}}.test", data.display());
    let small =
        ["--size", "1M", "--engine", "sync", "--rate", "200", "--write", "50", "--seconds", "1"];
    let args = [&["--target", &target, "--json"][..], &small].concat();
    let output = site.run("a,b", &args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let targets = document["targets"].as_array().unwrap();
    let names: Vec<&str> = targets.iter().map(|t| t.as_str().unwrap()).collect();
    assert!(names[0].ends_with("data/a.test") && names[1].ends_with("data/b.test"), "{names:?}");
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0, "test files stayed");
    let audit = site.audit();
    assert_eq!(audit.matches("command=prepare").count(), 2, "{audit}");
    assert_eq!(audit.matches("command=start").count(), 2, "{audit}");
    assert!(audit.contains("data/a.test"), "{audit}");
}

#[test]
fn an_agent_that_is_killed_is_noticed_and_ends_the_run() {
    let site = Site::new();
    let args = [&NULL[..], &["--seconds", "120", "--json"]].concat();
    let mut running = Running::start(site.command("a,b", &args));
    let killed = Instant::now();
    signal(site.pid("b"), "-KILL");
    running.until("lost the host `b`");
    assert!(killed.elapsed() < ROOM, "{:?}", killed.elapsed());
    let (document, code) = running.end();
    assert_eq!((code, &document["status"]), (1, &json!("failed")));
    let measured = &document["measurements"][0];
    assert!(measured["seconds"].as_f64().unwrap() < 120.0, "the other host ran to its end");
    assert!(hosts(&document)[1]["lost"].is_string());
}

#[test]
fn a_run_may_continue_without_a_host_and_keeps_what_it_did() {
    let site = Site::new();
    let args = [&NULL[..], &["--seconds", "6", "--json", "--on-loss", "continue"]].concat();
    let mut running = Running::start(site.command("a,b", &args));
    running.until("\"event\":\"interval\"");
    signal(site.pid("b"), "-KILL");
    let (document, code) = running.end();
    assert_eq!((code, &document["status"]), (1, &json!("failed")));
    assert_eq!(document["measurements"][0]["status"], "complete");
    let series = hosts(&document)[1]["series"].as_array().unwrap();
    assert!(!series.is_empty(), "its intervals are gone");
    // Totals end where the lost host did.
    let window = document["conclusion"]["window"]["seconds"].as_f64().unwrap();
    assert!(window < 6.0 && window > 0.0, "{window}");
}

/// The promise is 3 s.
#[test]
fn a_host_that_is_frozen_is_noticed() {
    let site = Site::new();
    let args = [&NULL[..], &["--seconds", "120", "--json"]].concat();
    let mut running = Running::start(site.command("a,b", &args));
    let frozen = Instant::now();
    signal(site.pid("b"), "-STOP");
    running.until("lost the host `b`");
    assert!(frozen.elapsed() < Duration::from_secs(3) + ROOM, "{:?}", frozen.elapsed());
    let (document, _) = running.end();
    assert!(hosts(&document)[1]["lost"].as_str().unwrap().contains("silent"));
}

/// The promise is 5 s. A coordinator that is frozen leaves every pipe open.
#[test]
fn agents_that_are_left_alone_stop_and_keep_their_results() {
    for gone in ["-KILL", "-STOP"] {
        let site = Site::new();
        let args = [&NULL[..], &["--seconds", "120"]].concat();
        let mut running = Running::start(site.command("a,b", &args));
        let agents = ["a", "b"].map(|host| site.pid(host));
        signal(running.child.id(), gone);
        let stopped = || site.audit().matches("command=end").count() == 2;
        wait("agents stop", Duration::from_secs(5) + 2 * ROOM, stopped);
        if gone == "-STOP" {
            signal(running.child.id(), "-KILL");
        }
        running.child.wait().unwrap();
        wait("agents leave", 4 * ROOM, || !agents.iter().any(|pid| is_alive(*pid)));
        let kept = site.place.list(&["--kind", "run"]);
        assert_eq!(kept.len(), 2, "{gone}: what the hosts measured is not kept");
        assert_eq!(kept[0]["status"], "interrupted", "{}", kept[0]);
    }
}

#[test]
fn a_target_that_a_host_does_not_allow_is_refused() {
    // As `command=` in authorized_keys: what the coordinator asks for does not count.
    let forced = format!("exec {PROGRAM} agent --stdio --allow /srv --no-history");
    let site = Site::with(&forced);
    let target = site.place.directory().to_str().unwrap().to_owned();
    let output = site.run("a,b", &["--target", &target, "--size", "1M", "--seconds", "1"]);
    fails(&output, 1, "refused: this host does not allow");
    assert!(stderr(&output).contains("Nothing was started"), "{}", stderr(&output));
    let audit = site.audit();
    assert!(audit.contains("command=refuse") && !audit.contains("command=start"), "{audit}");
}

#[test]
fn one_host_that_is_not_armed_cancels_for_all() {
    let deaf = "if [ $host = b ]; then exec sh -c \"$* | grep --line-buffered -v armed\"; fi\n\
                exec sh -c \"exec $*\"";
    let site = Site::with(deaf);
    let output = site.run("a,b", &[&NULL[..], &["--seconds", "1"]].concat());
    fails(&output, 1, "the host `b` did not answer in time (arming)");
    let audit = site.audit();
    assert!(audit.contains("command=prepare") && !audit.contains("command=start"), "{audit}");
    assert_eq!(site.place.list(&[]).len(), 0, "something was measured");
}

/// A host whose disk takes seconds to keep a result is there, and is not lost.
#[test]
fn a_host_that_waits_for_its_disk_is_not_lost() {
    let inject = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync"];
    let delay = "inject=fsync:delay_enter=4000000";
    let try_out = Command::new("strace").args(inject).args(["-e", delay, "true"]).status();
    if !try_out.is_ok_and(|status| status.success()) {
        return testing::skip("fleet::a_host_that_waits_for_its_disk_is_not_lost", "no strace");
    }
    let slow = format!(
        "[ $host = b ] && exec strace {} -e {delay} sh -c \"exec $*\"\nexec sh -c \"exec $*\"",
        inject.join(" ")
    );
    let site = Site::with(&slow);
    let args = [&NULL[..], &["--seconds", "1", "--json", "--on-loss", "continue"]].concat();
    let output = site.run("a,b", &args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["measurements"].as_array().unwrap().len(), 2);
}

/// Everything that a host says takes its time: intervals are late, and none is missing.
#[test]
fn a_slow_network_loses_no_interval() {
    let slow = "if [ $host = b ]; then sh -c \"exec $*\" | while IFS= read -r line; do\n\
                sleep 0.05; printf '%s\\n' \"$line\"; done; exit; fi\n\
                exec sh -c \"exec $*\"";
    let site = Site::with(slow);
    let args = [&NULL[..], &["--seconds", "3", "--json", "--progress", "json"]].concat();
    let output = site.run("a,b", &args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for host in hosts(&document) {
        assert!(host["missing_events"] == 0 && host["lost"].is_null(), "{host}");
    }
    let intervals = stderr(&output).matches("\"event\":\"interval\"").count();
    let measured = document["measurements"][1]["series"].as_array().unwrap().len();
    assert_eq!(intervals, measured, "an interval was not shown");
}

#[test]
fn a_host_that_cannot_be_reached_is_explained() {
    let site = Site::with("echo no route to $host >&2; exit 255");
    let output = site.run("a", &[&NULL[..], &["--seconds", "1"]].concat());
    fails(&output, 1, "no route to a");
}

/// Hosts' clocks are hours apart: each counts from another moment.
#[test]
fn clocks_that_differ_by_hours_make_no_difference() {
    let apart = "unshare -T --monotonic 7200 --boottime 7200";
    let works = Command::new("sh").args(["-c", &format!("{apart} true")]).output().unwrap();
    if !works.status.success() {
        return testing::skip("fleet::clocks_that_differ_by_hours", "no time namespaces here");
    }
    let site = Site::with(&format!(
        "[ $host = b ] && exec {apart} sh -c \"exec $*\"\nexec sh -c \"exec $*\""
    ));
    let output = site.run("a,b", &[&NULL[..], &["--seconds", "1", "--json"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let skew = document["conclusion"]["start_skew_ns"].as_u64().unwrap();
    assert!(u128::from(skew) < ROOM.as_nanos(), "{skew}");
}

/// What an agent answers to these lines.
fn answers(place: &Place, lines: &[Value]) -> Vec<Value> {
    let mut agent = place.command(&["agent", "--stdio", "--allow", "/srv"]);
    let mut agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = agent.stdin.take().unwrap();
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    let output = agent.wait_with_output().unwrap();
    assert_eq!(code(&output), 0);
    stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn another_version_is_refused_before_anything_is_touched() {
    let place = Place::new(PROGRAM);
    let prepare = |protocol: &str, plan: Value| {
        let mut message = json!({ "message": "prepare", "run": "r", "keep": false });
        (message["protocol"], message["plan"]) = (json!(protocol), plan);
        message
    };
    let ours = "iosonde.fleet-protocol/2";
    for (protocol, plan) in [
        ("iosonde.fleet-protocol/0", json!({ "job": "run" })),
        (ours, json!({ "job": "run", "of_a_later_version": 1 })),
        (ours, json!({ "job": "exec", "command": "id" })),
    ] {
        let said = answers(&place, &[prepare(protocol, plan)]);
        assert_eq!(said[0]["message"], "hello");
        let refused = said.iter().find(|m| m["message"] == "refuse").unwrap();
        assert!(refused["reason"].as_str().unwrap().contains("version"), "{refused}");
        assert!(!said.iter().any(|m| m["message"] == "ready"));
    }
    // What is not a message ends the agent.
    answers(&place, &[json!("hello")]);
}

#[test]
fn an_agent_that_cannot_note_commands_serves_nobody() {
    let place = Place::new(PROGRAM);
    let output = place.run(&["agent", "--stdio", "--audit", "/nowhere/agent.log"]);
    fails(&output, 1, "--audit");
}

/// A server of OpenSSH that lets this test in with its own key.
struct Sshd {
    child: Child,
    config: PathBuf,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn key(path: &Path) {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path);
    assert!(command.status().unwrap().success());
}

fn sshd(place: &Place) -> Result<Sshd, String> {
    let server =
        ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].into_iter().find(|p| Path::new(p).exists());
    let server = server.ok_or("no sshd here")?;
    let (host_key, user_key) = (place.path("host_key"), place.path("user_key"));
    key(&host_key);
    key(&user_key);
    fs::copy(place.path("user_key.pub"), place.path("authorized_keys")).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let directory = place.directory().display();
    let settings = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {directory}/host_key\n\
         AuthorizedKeysFile {directory}/authorized_keys\nPidFile none\nStrictModes no\n\
         UsePAM no\nPasswordAuthentication no\n"
    );
    fs::write(place.path("sshd_config"), settings).unwrap();
    // Where it is not installed as a service, nobody has made this.
    let _ = fs::create_dir_all("/run/sshd");
    let log = fs::File::create(place.path("sshd.log")).unwrap();
    let mut child = Command::new(server);
    child.args(["-D", "-e", "-f"]).arg(place.path("sshd_config")).stderr(log);
    let mut child = child.spawn().map_err(|e| e.to_string())?;
    let began = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if child.try_wait().unwrap().is_some() || began.elapsed() > 4 * ROOM {
            return Err(format!("sshd does not start here: {}", place.text("sshd.log")));
        }
        thread::sleep(Duration::from_millis(20));
    }
    let config = place.path("ssh_config");
    let known = format!(
        "Host *\nHostName 127.0.0.1\nPort {port}\nIdentityFile {directory}/user_key\n\
         IdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n\
         LogLevel ERROR\n"
    );
    fs::write(&config, known).unwrap();
    Ok(Sshd { child, config })
}

#[test]
fn hosts_are_reached_over_a_real_sshd() {
    let place = Place::new(PROGRAM);
    let server = match sshd(&place) {
        Ok(server) => server,
        Err(why) => return testing::skip("fleet::hosts_are_reached_over_a_real_sshd", &why),
    };
    // The account's own environment comes with a new session: what belongs to this test is named.
    let home = place.directory().display();
    let agent =
        format!("env HOME={home} IOSONDE_HISTORY={home}/agents.db IOSONDE_CONFIG= {PROGRAM}");
    let ssh = format!("ssh -F {}", server.config.display());
    let reached = ["fleet", "run", "--ssh", "db1,db2", "--ssh-command", &ssh, "--agent", &agent];
    let args = [&reached[..], &NULL, &["--warmup", "0", "--seconds", "1", "--json"]].concat();
    let output = place.run(&args);
    assert_eq!(code(&output), 0, "{} {}", stderr(&output), place.text("sshd.log"));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["measurements"].as_array().unwrap().len(), 2);
    // The host notes who sent what.
    let audit = fs::read_to_string(audit_of(&place)).unwrap();
    assert!(audit.contains("from=\"127.0.0.1\""), "{audit}");
}
