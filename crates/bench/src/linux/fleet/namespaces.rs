//! Eight hosts on one machine: a network namespace each, with a clock of its own, reached through
//! an sshd of its own. One is behind a slow network.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Error;
use super::places::{Place, Running, quantile, wait};

const HOSTS: usize = 8;
/// What the last host's network takes one way.
const DELAY: Duration = Duration::from_millis(15);
/// Between the clocks of two hosts.
const APART_S: u64 = 3_600;
/// p99 of the start skew.
const SKEW_MS: f64 = 10.0;
/// A cable that is pulled.
const CABLES: usize = 3;
const CABLE_S: f64 = 3.0;

/// The table, and whether the skew is as promised. Without namespaces, why not.
pub(super) fn run(iosonde: &Path, starts: u32) -> Result<(String, bool), Error> {
    let place = Place::new(iosonde)?;
    let network = match Network::open(&place, iosonde) {
        Ok(network) => network,
        Err(why) => return Ok((format!("namespaces: skipped, because {why}\n"), true)),
    };
    let (mut skews_ms, mut bounds_ms) = (Vec::new(), Vec::new());
    for _ in 0..starts {
        let mut command = network.fleet(&place);
        command.args(["--seconds", "0.5", "--json", "--quiet"]);
        let output = command.output()?;
        let document: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
        let ms = |figure: &str| document["conclusion"][figure].as_f64().map(|ns| ns / 1e6);
        skews_ms.extend(ms("start_skew_ns"));
        bounds_ms.extend(ms("clock_bound_ns"));
    }
    let mut cables = Vec::new();
    for _ in 0..CABLES {
        cables.push(network.pull(&place)?);
    }
    for times in [&mut skews_ms, &mut bounds_ms, &mut cables] {
        times.sort_by(f64::total_cmp);
    }
    let of = |all: &[f64], share| quantile(all, share).unwrap_or(f64::INFINITY);
    let mut text = format!(
        "{HOSTS} hosts in namespaces, clocks {APART_S} s apart from one to the next, the last \
         host behind {} ms each way, over sshd; {starts} starts\n\n\
         | what | promise | p50 | p99 | worst |\n|---|--:|--:|--:|--:|\n",
        DELAY.as_millis()
    );
    let rows = [("start skew", Some(SKEW_MS), &skews_ms), ("clocks known to", None, &bounds_ms)];
    for (what, promise, all) in rows {
        let promise = promise.map_or_else(String::new, |ms| format!("{ms} ms"));
        let (p50, p99, worst) = (of(all, 0.5), of(all, 0.99), of(all, 1.0));
        let _ =
            writeln!(text, "| {what} | {promise} | {p50:.2} ms | {p99:.2} ms | {worst:.2} ms |");
    }
    let _ = writeln!(
        text,
        "| a link goes down: seen after | {CABLE_S} s | {:.2} s | | {:.2} s |",
        of(&cables, 0.5),
        of(&cables, 1.0)
    );
    Ok((text, of(&skews_ms, 0.99) <= SKEW_MS && of(&cables, 1.0) <= CABLE_S))
}

/// The namespaces, which go when this is dropped.
struct Network {
    /// Part of all names, so that two of these do not meet.
    id: String,
    servers: Vec<Child>,
    config: PathBuf,
    agent: String,
}

fn does(words: &str) -> Result<(), String> {
    let mut parts = words.split(' ');
    let mut command = Command::new(parts.next().unwrap_or_default());
    let output = command.args(parts).output().map_err(|e| format!("`{words}`: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("`{words}`: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

impl Network {
    fn open(place: &Place, iosonde: &Path) -> Result<Self, String> {
        let sshd = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"];
        let sshd = sshd.into_iter().find(|path| Path::new(path).exists()).ok_or("no sshd here")?;
        let home = place.path().display();
        let agent = format!(
            "env HOME={home} XDG_DATA_HOME={home}/data IOSONDE_HISTORY={home}/hosts.db \
             IOSONDE_CONFIG= {}",
            iosonde.display()
        );
        let id = format!("io{}", std::process::id());
        let config = place.path().join("ssh_config");
        let mut network = Self { id, servers: Vec::new(), config, agent };
        let written = |e: io::Error| e.to_string();
        for name in ["host_key", "user_key"] {
            keygen(&place.path().join(name))?;
        }
        fs::copy(place.path().join("user_key.pub"), place.path().join("authorized_keys"))
            .map_err(written)?;
        let _ = fs::create_dir_all("/run/sshd");
        let bridge = network.id.clone();
        does(&format!("ip link add {bridge} type bridge"))?;
        does(&format!("ip address add 10.213.77.254/24 dev {bridge}"))?;
        does(&format!("ip link set {bridge} up"))?;
        for host in 1..=HOSTS {
            network.host(host)?;
            network.serve(sshd, place, host)?;
        }
        fs::write(&network.config, network.ssh_config(place)).map_err(written)?;
        for host in 1..=HOSTS {
            let is_up = || TcpStream::connect((address(host), 22)).is_ok();
            let what = format!("sshd in {}", network.name(host));
            wait(&what, Duration::from_secs(20), is_up).map_err(|e| e.to_string())?;
        }
        Ok(network)
    }

    fn name(&self, host: usize) -> String {
        format!("{}h{host}", self.id)
    }

    fn host(&self, host: usize) -> Result<(), String> {
        let (name, bridge, address) = (self.name(host), &self.id, address(host));
        does(&format!("ip netns add {name}"))?;
        does(&format!("ip link add {name} type veth peer name eth0 netns {name}"))?;
        does(&format!("ip link set {name} master {bridge} up"))?;
        does(&format!("ip -n {name} address add {address}/24 dev eth0"))?;
        does(&format!("ip -n {name} link set eth0 up"))?;
        does(&format!("ip -n {name} link set lo up"))
    }

    fn serve(&mut self, sshd: &str, place: &Place, host: usize) -> Result<(), String> {
        let (home, name) = (place.path().display(), self.name(host));
        let settings = format!(
            "ListenAddress {}\nHostKey {home}/host_key\nAuthorizedKeysFile {home}/authorized_keys\n\
             PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n",
            address(host)
        );
        let config = place.path().join(format!("sshd_config{host}"));
        fs::write(&config, settings).map_err(|e| e.to_string())?;
        let apart = (APART_S * host as u64).to_string();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &name, "unshare", "-T", "--monotonic", &apart]);
        command.args(["--boottime", &apart, sshd, "-D", "-e", "-f"]).arg(&config);
        let server = command.stderr(Stdio::null()).stdin(Stdio::null()).spawn();
        self.servers.push(server.map_err(|e| e.to_string())?);
        Ok(())
    }

    fn ssh_config(&self, place: &Place) -> String {
        let home = place.path().display();
        let mut text = String::new();
        for host in 1..=HOSTS {
            let _ = writeln!(text, "Host h{host}\nHostName {}", address(host));
            if let (true, Ok(this)) = (host == HOSTS, std::env::current_exe()) {
                let (this, address) = (this.display(), address(host));
                let _ = writeln!(text, "ProxyCommand {this} fleet --delay {address}:22");
            }
        }
        let _ = write!(
            text,
            "Host *\nIdentityFile {home}/user_key\nIdentitiesOnly yes\nStrictHostKeyChecking no\n\
             UserKnownHostsFile /dev/null\nLogLevel ERROR\n"
        );
        text
    }

    fn fleet(&self, place: &Place) -> Command {
        let hosts: Vec<String> = (1..=HOSTS).map(|host| format!("h{host}")).collect();
        let mut command = place.command();
        command.args(["fleet", "run", "--ssh", &hosts.join(","), "--agent", &self.agent]);
        command.arg("--ssh-command").arg(format!("ssh -F {}", self.config.display()));
        command.args(["--engine", "null", "--target", "/x", "--rate", "200", "--warmup", "0"]);
        command
    }

    /// Pulls the cable of a host while it runs; how long until that is seen, in seconds.
    fn pull(&self, place: &Place) -> Result<f64, Error> {
        let mut command = self.fleet(place);
        command.args(["--interval", "100ms", "--seconds", "60", "--json"]);
        let mut running = Running::start(command)?;
        let link = self.name(3);
        let begun = Instant::now();
        does(&format!("ip link set {link} down"))?;
        running.until("lost the host `h3`")?;
        let seen_s = begun.elapsed().as_secs_f64();
        running.end()?;
        does(&format!("ip link set {link} up"))?;
        Ok(seen_s)
    }
}

fn keygen(path: &Path) -> Result<(), String> {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path);
    let made = command.status().map_err(|e| e.to_string())?;
    if made.success() { Ok(()) } else { Err("ssh-keygen failed".to_owned()) }
}

fn address(host: usize) -> String {
    format!("10.213.77.{host}")
}

impl Drop for Network {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
        for host in 1..=HOSTS {
            let name = self.name(host);
            // Sessions that are still there are ended with their namespace's last process.
            if let Ok(output) = Command::new("ip").args(["netns", "pids", &name]).output() {
                for pid in String::from_utf8_lossy(&output.stdout).split_whitespace() {
                    let _ = Command::new("kill").args(["-KILL", pid]).status();
                }
            }
            let _ = does(&format!("ip netns delete {name}"));
            let _ = does(&format!("ip link delete {name}"));
        }
        let _ = does(&format!("ip link delete {}", self.id));
    }
}

/// Is a slow network: stdin goes to this address and what comes back to stdout, each late.
pub(super) fn delay(address: &str) -> Result<(), Error> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let there = stream.try_clone()?;
    thread::spawn(move || {
        let _ = late(io::stdin(), there);
        // What waits for an end gets one.
        std::process::exit(0);
    });
    Ok(late(stream, io::stdout())?)
}

fn late(mut from: impl Read, mut to: impl Write + Send + 'static) -> io::Result<()> {
    let (sender, pieces) = channel::<(Instant, Vec<u8>)>();
    let writer = thread::spawn(move || {
        for (when, piece) in pieces {
            thread::sleep(when.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).and_then(|()| to.flush()).is_err() {
                return;
            }
        }
    });
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = from.read(&mut buffer)?;
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else { break };
        if sender.send((Instant::now() + DELAY, piece.to_vec())).is_err() {
            break;
        }
    }
    drop(sender);
    let _ = writer.join();
    Ok(())
}
