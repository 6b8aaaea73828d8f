//! A fleet over a real nats-server with the program itself: each agent is a process that connects
//! to the server.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use testing::Place;
use testing::program::{code, fails, stderr, stdout, succeeds};

use crate::managers;

const PROGRAM: &str = env!("CARGO_BIN_EXE_iosonde");

/// Promises are of an idle machine. Where several of these run on a busy one, so much more is
/// allowed.
const ROOM: Duration = Duration::from_secs(20);

const NULL: [&str; 8] =
    ["--engine", "null", "--target", "/x", "--rate", "2000", "--interval", "100ms"];

/// A process that ends with the test.
struct Process(Child);

impl Process {
    fn id(&self) -> u32 {
        self.0.id()
    }

    fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.id().to_string()]).status().unwrap();
        assert!(sent.success(), "{name} {}", self.id());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A server ends its child when it is asked to.
        if self.is_running() {
            self.signal("-TERM");
        }
        let began = Instant::now();
        while self.is_running() && began.elapsed() < ROOM {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for this.
#[track_caller]
fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < 2 * ROOM, "{what}: not after {:?}", 2 * ROOM);
        thread::sleep(Duration::from_millis(5));
    }
}

/// A fleet of two, its server and its agents.
struct Site {
    place: Place,
    port: u16,
    server: Option<Process>,
    agents: Vec<Process>,
}

impl Site {
    /// Without a nats-server, the test is skipped.
    fn new(test: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
        if !places.any(|place| place.join("nats-server").is_file()) {
            testing::skip(&format!("fleet_nats::{test}"), "no nats-server here");
            return None;
        }
        let place = Place::new(PROGRAM);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = format!("127.0.0.1:{port}");
        let args = ["fleet", "init", "site", "--host", "db1", "--host", "db2", "--server", &server];
        let said = place.says(&args);
        assert!(said.contains("iosonde fleet up site"), "{said}");
        let mut site = Self { place, port, server: None, agents: Vec::new() };
        site.start_server();
        site.agents = ["db1", "db2"].map(|host| site.agent(host, &["--allow", "/srv"])).into();
        Some(site)
    }

    fn log(&self, name: &str) -> String {
        fs::read_to_string(self.place.path(&format!("{name}.log"))).unwrap_or_default()
    }

    fn spawn(&self, name: &str, args: &[&str]) -> Process {
        let log = fs::File::create(self.place.path(&format!("{name}.log"))).unwrap();
        let mut command = self.place.command(args);
        command.stdout(log.try_clone().unwrap()).stderr(log);
        Process(command.spawn().unwrap())
    }

    fn start_server(&mut self) {
        self.server = Some(self.spawn("server", &["fleet", "up", "site"]));
        wait("the server starts", || TcpStream::connect(("127.0.0.1", self.port)).is_ok());
    }

    fn agent(&self, host: &str, args: &[&str]) -> Process {
        let file = format!("site/{host}.creds");
        let agent = self.spawn(host, &[&["agent", "--join", &file], args].concat());
        wait("the agent connects", || self.log(host).contains("connected to 127.0.0.1"));
        agent
    }

    fn command(&self, args: &[&str]) -> Command {
        let fleet = ["fleet", "run", "--site", "site", "--warmup", "0", "--json"];
        self.place.command(&[&fleet[..], args].concat())
    }

    fn audit(&self) -> String {
        let file = self.place.path(".local/share/iosonde/agent.log");
        fs::read_to_string(file).unwrap_or_default()
    }
}

/// A run that is under way: intervals arrive.
struct Running {
    process: Process,
    lines: BufReader<ChildStderr>,
    /// Everything that was said.
    said: String,
}

impl Running {
    fn start(mut command: Command) -> Self {
        command.args(["--progress", "json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        let mut running = Self { process: Process(child), lines, said: String::new() };
        running.until("\"event\":\"interval\"");
        running
    }

    /// Reads events until one has these words.
    #[track_caller]
    fn until(&mut self, words: &str) {
        loop {
            let begin = self.said.len();
            let read = self.lines.read_line(&mut self.said).unwrap();
            assert!(read > 0, "no `{words}` in {}", self.said);
            if self.said[begin..].contains(words) {
                return;
            }
        }
    }

    /// The document, the exit code, and everything that was said.
    fn end(mut self) -> (Value, i32, String) {
        let mut stdout = self.process.0.stdout.take().unwrap();
        let document = thread::spawn(move || serde_json::from_reader(&mut stdout).unwrap());
        self.lines.read_to_string(&mut self.said).unwrap();
        let code = self.process.0.wait().unwrap().code().unwrap();
        (document.join().unwrap(), code, self.said)
    }
}

fn hosts(document: &Value) -> &Vec<Value> {
    document["conclusion"]["hosts"].as_array().unwrap()
}

/// What a process shows to every user of its host.
fn shown(pid: u32) -> String {
    let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    String::from_utf8_lossy(&[read("cmdline"), read("environ")].concat()).into_owned()
}

/// The lines of a site's keys.
fn secrets(site: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(site).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let keys = text.split("BEGIN PRIVATE KEY-----").skip(1);
        let keys = keys.filter_map(|rest| rest.split("-----END").next());
        lines.extend(keys.flat_map(str::lines).filter(|l| l.len() > 20).map(str::to_owned));
    }
    lines
}

#[test]
fn two_hosts_are_one_experiment_and_nothing_secret_is_seen() {
    let name = "two_hosts_are_one_experiment_and_nothing_secret_is_seen";
    let Some(site) = Site::new(name) else { return };
    let mut running = Running::start(site.command(&[&NULL[..], &["--seconds", "2"]].concat()));
    running.until("\"event\":\"interval\"");
    let server = site.server.as_ref().unwrap();
    let pids: Vec<u32> = [server.id(), running.process.id()]
        .into_iter()
        .chain(site.agents.iter().map(Process::id))
        .collect();
    let seen: Vec<String> = pids.into_iter().chain(children(server.id())).map(shown).collect();
    assert_eq!(seen.len(), 5, "the server's own process is missing");
    let (document, code, _) = running.end();
    assert_eq!(code, 0, "{document}");
    assert_eq!(document["conclusion"]["transport"], "nats", "{}", document["conclusion"]);
    assert_eq!(hosts(&document).len(), 2);
    for host in hosts(&document) {
        assert!(host["late_ns"].is_u64() && host["lost"].is_null(), "{host}");
    }
    assert_eq!(site.place.list(&["--kind", "fleet"]).len(), 1);
    let secrets = secrets(&site.place.path("site"));
    assert!(secrets.len() >= 10, "{}", secrets.len());
    let audit = site.audit();
    assert!(audit.contains("from=\"nats\"") && audit.contains("command=start"), "{audit}");
    let history = String::from_utf8_lossy(&fs::read(site.place.history()).unwrap()).into_owned();
    let logs = ["server", "db1", "db2"].map(|name| site.log(name)).concat();
    for text in seen.iter().chain([&document.to_string(), &audit, &history, &logs]) {
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "a key is in {text}");
    }
    // The agents serve the next coordinator, of one host this time.
    let again = site.command(&[&NULL[..], &["--hosts", "db2", "--seconds", "1"]].concat());
    let output = { again }.output().unwrap();
    succeeds(&output);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(hosts(&document)[0]["name"], "db2");
}

fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let found: Vec<u32> = text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    if !found.is_empty() {
        return found;
    }
    // A kernel may leave out that file.
    let output = Command::new("ps").args(["-o", "pid=", "--ppid", &pid.to_string()]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The server is killed in the middle of a run, and started again.
#[test]
fn a_server_that_is_restarted_costs_no_interval() {
    let Some(mut site) = Site::new("a_server_that_is_restarted_costs_no_interval") else { return };
    let mut tries = 0;
    let (document, code, said) = loop {
        let mut running = Running::start(site.command(&[&NULL[..], &["--seconds", "6"]].concat()));
        let server = site.server.take().unwrap();
        let child = children(server.id())[0];
        let gone = Instant::now();
        assert!(
            Command::new("kill").args(["-KILL", &child.to_string()]).status().unwrap().success()
        );
        wait("the server is gone", || TcpStream::connect(("127.0.0.1", site.port)).is_err());
        drop(server);
        site.start_server();
        // A busy machine may start it too late: agents stop after 5 s without a coordinator.
        let in_time = gone.elapsed() < Duration::from_secs(3);
        tries += 1;
        assert!(in_time || tries < 5, "the server took {:?} to start again", gone.elapsed());
        running.until("\"event\":\"interval\"");
        let ended = running.end();
        if in_time {
            break ended;
        }
    };
    assert_eq!(code, 0, "{} {}", document["conclusion"], site.log("db1"));
    for host in hosts(&document) {
        assert!(host["lost"].is_null() && host["missing_events"] == 0, "{host}");
    }
    // Each interval was shown once, as a sum over the hosts; one that came late may lack a host.
    let ios = |point: &Value| {
        let of = |name: &str| point[name].as_f64().unwrap_or(0.0);
        (of("read_iops") + of("write_iops")) * of("seconds")
    };
    let events = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let points: Vec<f64> =
        events.filter(|e| e["event"] == "interval").map(|e| ios(&e["point"])).collect();
    let measured = document["measurements"].as_array().unwrap().iter();
    let series = measured.map(|m| m["series"].as_array().unwrap());
    let counted: Vec<f64> = series.flat_map(|series| series.iter().map(ios)).collect();
    assert_eq!(2 * points.len(), counted.len(), "intervals are missing, or double");
    let (shown, counted): (f64, f64) = (points.iter().sum(), counted.iter().sum());
    assert!(shown > 0.0 && shown < counted + 0.5, "{shown} of {counted}");
    // An agent says so when it waits for the next coordinator, maybe after this run has ended.
    wait("the agent says it", || site.log("db1").contains("lost the connection"));
}

/// The promise is 5 s. A coordinator that is frozen keeps its connection.
#[test]
fn agents_that_are_left_alone_stop_keep_their_results_and_serve_the_next() {
    let name = "agents_that_are_left_alone_stop_keep_their_results_and_serve_the_next";
    let Some(site) = Site::new(name) else { return };
    let ends = || site.audit().matches("command=end").count();
    for gone in ["-KILL", "-STOP"] {
        let interrupted = || {
            let exists = site.place.history().exists();
            let runs = if exists { site.place.list(&["--kind", "run"]) } else { Vec::new() };
            runs.iter().filter(|run| run["status"] == "interrupted").count()
        };
        let (before, kept) = (ends(), interrupted());
        let running = Running::start(site.command(&[&NULL[..], &["--seconds", "120"]].concat()));
        running.process.signal(gone);
        wait("agents stop", || ends() == before + 2);
        wait("what the hosts measured is kept", || interrupted() == kept + 2);
        running.process.signal("-KILL");
        // Its place is free once it was silent for 10 s; the next is told so and waits.
        let next = [&NULL[..], &["--seconds", "0.2", "--no-history"]].concat();
        let output = site.command(&next).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
}

#[test]
fn a_second_coordinator_is_refused_while_a_run_is_armed() {
    let name = "a_second_coordinator_is_refused_while_a_run_is_armed";
    let Some(site) = Site::new(name) else { return };
    let running = Running::start(site.command(&[&NULL[..], &["--seconds", "4"]].concat()));
    let second = site.command(&[&NULL[..], &["--seconds", "1"]].concat()).output().unwrap();
    fails(&second, 1, "another coordinator");
    let (document, code, _) = running.end();
    assert_eq!((code, &document["measurements"][0]["status"]), (0, &"complete".into()));
}

#[test]
fn a_host_decides_what_is_touched() {
    let Some(site) = Site::new("a_host_decides_what_is_touched") else { return };
    let target = site.place.directory().to_str().unwrap().to_owned();
    let args = ["--target", &target, "--size", "1M", "--seconds", "1"];
    let output = site.command(&args).output().unwrap();
    fails(&output, 1, "refused: this host does not allow");
    assert!(site.audit().contains("command=refuse"), "{}", site.audit());
}

#[test]
fn an_agent_that_is_killed_is_noticed() {
    let Some(mut site) = Site::new("an_agent_that_is_killed_is_noticed") else { return };
    let mut running = Running::start(site.command(&[&NULL[..], &["--seconds", "120"]].concat()));
    site.agents[1].signal("-KILL");
    // Not by its silence, which takes seconds: the server says so.
    running.until("lost the host `db2`: its agent ended");
    let (document, code, _) = running.end();
    assert_eq!((code, &document["status"]), (1, &"failed".into()));
    // Started again by whatever starts it, it serves the next run.
    site.agents[1] = site.agent("db2", &["--allow", "/srv"]);
    succeeds(&site.command(&[&NULL[..], &["--seconds", "0.2"]].concat()).output().unwrap());
}

#[test]
fn a_host_that_is_revoked_ends_its_agent() {
    let Some(mut site) = Site::new("a_host_that_is_revoked_ends_its_agent") else { return };
    let said = site.place.says(&["fleet", "revoke", "site", "db2"]);
    assert!(said.contains("removed `db2`"), "{said}");
    wait("its agent ends", || !site.agents[1].is_running());
    assert!(site.log("db2").contains("no longer lets this host in"), "{}", site.log("db2"));
    assert!(site.agents[0].is_running());
    let output = site.command(&[&NULL[..], &["--hosts", "db1,db2"]].concat()).output().unwrap();
    fails(&output, 2, "has no host `db2`; it has db1");
    fails(&site.place.run(&["fleet", "revoke", "site", "db2"]), 2, "has no host `db2`");
    succeeds(&site.command(&[&NULL[..], &["--seconds", "0.2"]].concat()).output().unwrap());
}

/// IOMeter's managers are two agents of a server, and its one file has both.
#[test]
fn managers_of_iometer_work_over_a_server() {
    let Some(site) = Site::new("managers_of_iometer_work_over_a_server") else { return };
    let mut args = managers::command(&site.place);
    args.extend(["--site", "site", "--manager", "ALPHA=db1", "--manager", "BETA=db2"]);
    let output = site.place.run(&args);
    assert_eq!(code(&output), 0, "{} {}", stderr(&output), site.log("db1"));
    managers::check(&site.place);
    let audit = site.audit();
    assert_eq!(audit.matches("command=start").count(), 2 + 1, "{audit}");
    assert!(audit.contains("from=\"nats\""), "{audit}");
}

/// A host keeps its name, and both its files let it in.
#[test]
fn a_certificate_is_renewed_while_the_old_one_works() {
    let name = "a_certificate_is_renewed_while_the_old_one_works";
    let Some(mut site) = Site::new(name) else { return };
    let file = site.place.path("site/db2.creds");
    let before = fs::read(&file).unwrap();
    let said = site.place.says(&["fleet", "init", "site", "--renew"]);
    assert!(said.contains("no certificate ends within 30 days"), "{said}");
    let said = site.place.says(&["fleet", "init", "site", "--renew", "--host", "db2"]);
    assert!(said.contains("scp site/db2.creds db2:") && !said.contains("db1"), "{said}");
    let after = fs::read(&file).unwrap();
    assert!(before != after, "it is the same file");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // The agent that runs with the old one is not disturbed; one with the new one works, too.
    let run = [&NULL[..], &["--seconds", "0.2"]].concat();
    for file in [None, Some(&after), Some(&before)] {
        if let Some(text) = file {
            fs::write(site.place.path("site/db2.creds"), text).unwrap();
            drop(site.agents.pop());
            site.agents.push(site.agent("db2", &["--allow", "/srv"]));
        }
        let output = site.command(&run).output().unwrap();
        assert_eq!(code(&output), 0, "{} {}", stderr(&output), site.log("db2"));
    }
    // Both are worth nothing once the host is removed.
    site.place.says(&["fleet", "revoke", "site", "db2"]);
    wait("its agent ends", || !site.agents[1].is_running());
    fs::write(site.place.path("new.creds"), &after).unwrap();
    fs::set_permissions(site.place.path("new.creds"), fs::Permissions::from_mode(0o600)).unwrap();
    fails(&site.place.run(&["agent", "--join", "new.creds"]), 1, "do not fit");
}

#[test]
fn what_is_missing_is_named() {
    let place = Place::new(PROGRAM);
    fails(&place.run(&["fleet", "up", "nowhere"]), 1, "iosonde fleet init nowhere");
    let run = ["fleet", "run", "--site", "nowhere", "--target", "/x"];
    fails(&place.run(&run), 1, "not the directory of a fleet");
    fails(&place.run(&["agent", "--join", "no.creds"]), 1, "cannot read `no.creds`");
    fs::write(place.path("other"), "x = 1").unwrap();
    fs::set_permissions(place.path("other"), fs::Permissions::from_mode(0o600)).unwrap();
    fails(&place.run(&["agent", "--join", "other"]), 1, "`other`: ");
    fails(&place.run(&["agent"]), 2, "--stdio");
    let both = ["fleet", "run", "--site", "s", "--ssh", "a", "--target", "/x"];
    fails(&place.run(&both), 2, "cannot be used with");
    // Twice in the same directory.
    place.says(&["fleet", "init", "site", "--server", "ctl.example.com"]);
    fails(&place.run(&["fleet", "init", "site"]), 1, "is there already");
    let said = place.says(&["fleet", "init", "site", "--host", "db1"]);
    assert!(said.contains("scp site/db1.creds db1:"), "{said}");
}
