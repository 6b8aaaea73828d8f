//! Every command on eight hosts, each in a network namespace, which share one file system on a loop
//! device: over sshd, and over a NATS server.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testing::network::{HOSTS, Network};

use super::places::{Place, Running, signal, wait};
use super::{Error, Way, namespaces};
use crate::linux::clean::Mounted;

/// The longest time in which a process has to begin or end.
const MOST: Duration = Duration::from_secs(60);
/// A short load on the shared file system.
const LOAD: [&str; 6] = ["--size", "16M", "--warmup", "0", "--seconds", "0.5"];

/// The hosts, the way to them, and what they share.
pub(super) struct Fleet<'a> {
    pub(super) iosonde: &'a Path,
    pub(super) place: &'a Place,
    pub(super) network: &'a Network,
    /// The directory that all hosts share.
    pub(super) shared: String,
    /// The server and its agents; `None` if hosts are reached by ssh.
    pub(super) site: Option<Site>,
}

/// A server, and the agents that are connected to it.
pub(super) struct Site {
    server: Child,
    port: u16,
    pub(super) agents: Vec<Child>,
}

impl Drop for Site {
    fn drop(&mut self) {
        for process in self.agents.iter_mut().chain([&mut self.server]) {
            let _ = signal(&process.id().to_string(), "-TERM");
            let _ = process.wait();
        }
    }
}

/// What was found of one command, and whether it is right.
type Found = Result<(String, bool), Error>;

/// The table, and whether every command did its work on every host. Without namespaces, why not.
pub(super) fn run(iosonde: &Path, way: Way) -> Result<(String, bool), Error> {
    let mut text = format!(
        "Every command on {HOSTS} hosts in namespaces, on one ext4 on a loop device\n\n\
         | command | over | took | found |\n|---|---|--:|---|\n"
    );
    let mut holds = true;
    let ways = if way == Way::Nats { &["NATS"][..] } else { &["sshd", "NATS"] };
    for over in ways.iter().copied() {
        let place = Place::new(iosonde)?;
        // Before the namespaces, which take over what is mounted.
        let mounted = match Mounted::new(place.path(), &["mkfs.ext4", "-q"]) {
            Ok(mounted) => mounted,
            Err(why) => return Ok((format!("commands: skipped, because {why}\n"), true)),
        };
        let network = match Network::open(place.path(), None) {
            Ok(network) => network,
            Err(why) => return Ok((format!("commands: skipped, because {why}\n"), true)),
        };
        let shared = mounted.path.display().to_string();
        let mut fleet = Fleet { iosonde, place: &place, network: &network, shared, site: None };
        if over == "NATS" {
            fleet.site = Some(fleet.open_site()?);
        }
        for (name, command) in COMMANDS {
            if *name == "revoke" && fleet.site.is_none() {
                continue;
            }
            let begun = Instant::now();
            let (found, is_right) =
                command(&fleet).map_err(|error| format!("{name} over {over}: {error}"))?;
            holds &= is_right;
            let (took_s, wrong) =
                (begun.elapsed().as_secs_f64(), if is_right { "" } else { "**wrong:** " });
            let _ = writeln!(text, "| {name} | {over} | {took_s:.0} s | {wrong}{found} |");
            eprintln!("{name} over {over}, {took_s:.0} s: {found}");
        }
    }
    Ok((text, holds))
}

/// Does a command and looks at what comes of it.
type Try = fn(&Fleet<'_>) -> Found;

/// The commands to try; `revoke` is last, because it throws hosts out.
const COMMANDS: &[(&str, Try)] = &[
    ("hosts", hosts),
    ("run", |fleet| fleet.measured(&["run", "--target", &fleet.own_file()], &LOAD)),
    ("knee", |fleet| fleet.searched(&["knee", &fleet.own_file()], &[])),
    ("scale", |fleet| fleet.searched(&["scale", &fleet.own_file()], &[])),
    ("sweep", |fleet| {
        let file = fleet.own_file();
        fleet
            .searched(&["sweep", &file, "--blocks", "4K,8K", "--depths", "1", "--writes", "0"], &[])
    }),
    ("assess", |fleet| fleet.each("assess", &["--size", "64M", "--pace", "glance"])),
    ("assess --together", assess_together),
    ("validate", |fleet| fleet.each("validate", &["--size", "64M", "--seconds", "2"])),
    ("monitor", monitor),
    ("iometer --manager", managers),
    ("resume", resume),
    ("revoke", revoke),
];

impl Fleet<'_> {
    /// A file of each host on what they share.
    pub(super) fn own_file(&self) -> String {
        format!("{}/{{host}}.test", self.shared)
    }

    pub(super) fn command(&self, words: &[&str]) -> Command {
        let Some(_) = &self.site else {
            return namespaces::command(
                (self.network, self.place, self.iosonde),
                words,
                &self.network.hosts(),
            );
        };
        let mut command = self.place.command();
        command.arg("fleet").args(words).arg("--site").arg(self.place.path().join("site"));
        command
    }

    /// A server on this machine, and an agent in each namespace.
    pub(super) fn open_site(&self) -> Result<Site, Error> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let site = self.place.path().join("site");
        let mut init = self.place.command();
        let address = format!("{}:{port}", self.network.own_address());
        init.args(["fleet", "init"]).arg(&site).args(["--server", &address]);
        for host in 1..=HOSTS {
            init.args(["--host", &format!("h{host}")]);
        }
        let output = init.output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        let mut site = Site { server: self.place.server(port)?, port, agents: Vec::new() };
        for host in 1..=HOSTS {
            site.agents.push(self.agent(host)?);
        }
        (1..=HOSTS).try_for_each(|host| self.wait_for(host))?;
        Ok(site)
    }

    /// Waits until an agent that was started is there.
    pub(super) fn wait_for(&self, host: usize) -> Result<(), Error> {
        let log = self.place.path().join(format!("h{host}.log"));
        let joined = || fs::read_to_string(&log).is_ok_and(|text| text.contains("connected to"));
        wait("the agent joins", MOST, joined).map(drop)
    }

    /// The server ends, and another takes its place.
    pub(super) fn restart_server(&mut self) -> Result<(), Error> {
        let site = self.site.as_mut().ok_or("there is no server")?;
        signal(&site.server.id().to_string(), "-TERM")?;
        site.server.wait()?;
        site.server = self.place.server(site.port)?;
        Ok(())
    }

    pub(super) fn agent(&self, host: usize) -> Result<Child, Error> {
        let home = self.place.path();
        let mut agent = self.network.on(host);
        agent.arg(self.iosonde).args(["agent", "--allow", &self.shared, "--join"]);
        agent.arg(home.join(format!("site/h{host}.creds")));
        agent.env("HOME", home).env("XDG_DATA_HOME", home.join("data"));
        agent.env("IOSONDE_HISTORY", home.join(format!("h{host}.db"))).env("IOSONDE_CONFIG", "");
        let log = File::create(home.join(format!("h{host}.log")))?;
        Ok(agent.stdout(Stdio::null()).stderr(log).spawn()?)
    }

    pub(super) fn document(&self, words: &[&str], more: &[&str]) -> Result<Value, Error> {
        let output = self.command(words).args(more).args(["--json"]).output()?;
        serde_json::from_slice(&output.stdout)
            .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned().into())
    }

    /// One load: every host has its measurement.
    fn measured(&self, words: &[&str], more: &[&str]) -> Found {
        let document = self.document(words, more)?;
        let hosts = list(&document, "/measurements").len();
        Ok((format!("{hosts} measurements"), hosts == HOSTS && is_complete(&document)))
    }

    /// A search: every point has what each of its hosts measured.
    fn searched(&self, words: &[&str], more: &[&str]) -> Found {
        let document = self.document(words, &[&LOAD, &["--settle", "0"][..], more].concat())?;
        let points = list(&document, "/measurements");
        let most = points.iter().map(|point| list(point, "/hosts").len()).max().unwrap_or(0);
        let is_right = is_complete(&document) && most == HOSTS;
        Ok((format!("{} points, of {most} hosts at most", points.len()), is_right))
    }

    /// A job that each host does by itself: every host has its whole result.
    fn each(&self, job: &str, more: &[&str]) -> Found {
        // Each in a directory of its own.
        for host in 1..=HOSTS {
            fs::create_dir_all(format!("{}/h{host}", self.shared))?;
        }
        let target = format!("{}/{{host}}", self.shared);
        let document = self.document(&[job, &target], more)?;
        let of = |host: &&Value| host["document"]["status"] == "complete";
        let whole = list(&document, "/conclusion/hosts").iter().filter(of).count();
        let overall =
            |verdict: &Value| format!("{} {}", text(verdict, "subject"), text(verdict, "overall"));
        let verdicts: Vec<String> =
            list(&document, "/conclusion/verdicts").iter().map(overall).collect();
        let found = [vec![format!("{whole} results")], verdicts, lost(&document)].concat();
        let found = found.join(", ");
        Ok((found, whole == HOSTS && is_complete(&document)))
    }
}

pub(super) fn list<'v>(value: &'v Value, at: &str) -> &'v [Value] {
    value.pointer(at).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// Why hosts have no result, or none that is complete.
fn lost(document: &Value) -> Vec<String> {
    let why = |host: &Value| {
        let (own, name) = (&host["document"], text(host, "name"));
        match (host["lost"].as_str(), text(own, "status")) {
            (Some(reason), _) => Some(format!("{name}: {reason}")),
            (None, "complete") => None,
            (None, status) => Some(format!("{name}: {status}, {}", own["warnings"])),
        }
    };
    list(document, "/conclusion/hosts").iter().filter_map(why).collect()
}

fn is_complete(document: &Value) -> bool {
    document["status"] == "complete"
}

/// All see that the directory is one.
fn hosts(fleet: &Fleet<'_>) -> Found {
    let document = fleet.document(&["hosts", &fleet.shared], &[])?;
    let (hosts, shared) = (list(&document, "/hosts").len(), list(&document, "/shared"));
    Ok((format!("{hosts} hosts, {} shared", shared.len()), hosts == HOSTS && !shared.is_empty()))
}

fn assess_together(fleet: &Fleet<'_>) -> Found {
    let words = ["assess", &fleet.own_file(), "--together", "--pace", "glance", "--size", "64M"];
    let document = fleet.document(&words, &[])?;
    let patterns = list(&document, "/patterns");
    let of = |pattern: &&Value| list(pattern, "/measurement/hosts").len() == HOSTS;
    let of_all = patterns.iter().filter(of).count();
    let is_right = of_all == patterns.len() && of_all > 0 && is_complete(&document);
    Ok((format!("one result, {of_all} loads of all hosts"), is_right))
}

fn monitor(fleet: &Fleet<'_>) -> Found {
    let document = fleet.document(&["monitor", &fleet.shared], &["--seconds", "2"])?;
    let of = |host: &&Value| host["document"]["status"] == "complete";
    let whole = list(&document, "/conclusion/hosts").iter().filter(of).count();
    let found = [vec![format!("{whole} recordings")], lost(&document)].concat().join(", ");
    Ok((found, whole == HOSTS && is_complete(&document)))
}

/// Two managers of a configuration, on two of the hosts.
fn managers(fleet: &Fleet<'_>) -> Found {
    let home = fleet.place.path();
    let drives = ["E", "F", "G"];
    let places = drives.map(|drive| format!("{drive}: \"data\""));
    let (config, rows) = (home.join("two.icf"), home.join("two.csv"));
    fs::write(&config, testing::two_managers("NORMAL", 20480, &places))?;
    let mut command = match &fleet.site {
        Some(_) => fleet.place.command(),
        None => Command::new(fleet.iosonde),
    };
    let reach = fleet.command(&[]);
    // What comes after `fleet` and the hosts is the way to them.
    let reach: Vec<_> = reach.get_args().skip(if fleet.site.is_some() { 1 } else { 3 }).collect();
    for (name, value) in fleet.place.command().get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.arg("iometer").arg("-c").arg(&config).arg("-r").arg(&rows).args(reach);
    command.args(["--seconds", "1", "--warmup", "0", "--json"]);
    command.args(["--manager", "ALPHA=h1", "--manager", "BETA=h2"]);
    for drive in drives {
        command.args(["--drive", &format!("{drive}={}/{{host}}.{drive}", fleet.shared)]);
        for host in ["h1", "h2"] {
            fs::create_dir_all(format!("{}/{host}.{drive}", fleet.shared))?;
        }
    }
    let output = command.output()?;
    let document: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let rows = fs::read_to_string(rows)?;
    let managers = rows.lines().filter(|line| line.starts_with("MANAGER,")).count();
    Ok((format!("{managers} rows of managers"), managers == 3 && is_complete(&document)))
}

/// What hosts kept when their coordinator was killed is fetched, and once.
fn resume(fleet: &Fleet<'_>) -> Found {
    let mut command = fleet.command(&["run"]);
    command.args(["--engine", "null", "--target", "/x", "--rate", "200", "--warmup", "0"]);
    command.args(["--interval", "100ms", "--seconds", "60", "--json"]);
    let before = fleet.place.ends().len();
    let running = Running::start(command)?;
    signal(&running.child.id().to_string(), "-KILL")?;
    wait("every host stops", MOST, || fleet.place.ends().len() == before + HOSTS)?;
    running.end()?;
    let (begun, mut fetched) = (Instant::now(), 0);
    // A host is free once it has missed its coordinator.
    while fetched < HOSTS && begun.elapsed() < MOST {
        let document = fleet.document(&["resume"], &[]).unwrap_or_default();
        fetched += list(&document, "/measurements").len();
        std::thread::sleep(Duration::from_millis(500));
    }
    let again = fleet.document(&["resume"], &[]).is_ok();
    Ok((format!("{fetched} measurements, fetched once: {}", !again), fetched == HOSTS && !again))
}

/// A host that is thrown out is missed, and the others go on.
fn revoke(fleet: &Fleet<'_>) -> Found {
    let site = fleet.place.path().join("site");
    let output = fleet.place.command().args(["fleet", "revoke"]).arg(site).arg("h8").output()?;
    let named = (1..HOSTS).map(|host| format!("h{host}")).collect::<Vec<_>>().join(",");
    let words = ["run", "--hosts", &named, "--target", &fleet.own_file()];
    let document = fleet.document(&words, &LOAD)?;
    let left = list(&document, "/measurements").len();
    let refused = fleet.document(&["run", "--hosts", "h8", "--target", "/x"], &LOAD).is_err();
    let is_right = output.status.success() && left == HOSTS - 1 && refused;
    Ok((format!("{left} hosts are left, and h8 is refused: {refused}"), is_right))
}
