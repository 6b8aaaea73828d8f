//! Eight hosts on one machine: a network namespace each, with a clock of its own, and an sshd.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How many hosts the network has.
pub const HOSTS: usize = 8;
/// Between the clocks of two hosts, in seconds.
pub const APART_S: u64 = 3_600;
/// How long a server may take to begin.
const STARTING: Duration = Duration::from_secs(30);

/// The namespaces, which go when this is dropped.
#[derive(Debug)]
pub struct Network {
    /// Part of all names, so that two of these do not meet.
    id: String,
    /// The network, without its last number.
    net: String,
    servers: Vec<Child>,
    directory: PathBuf,
}

/// Runs a command that is words without spaces in them.
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
    /// Makes the hosts; their keys and settings are in this directory. `proxy` is a command that
    /// takes an address and port, and is the way to the last host.
    ///
    /// # Errors
    /// This machine does not allow it, or lacks a program; a phrase.
    pub fn open(directory: &Path, proxy: Option<&str>) -> Result<Self, String> {
        let sshd = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"];
        let sshd = sshd.into_iter().find(|path| Path::new(path).exists()).ok_or("no sshd here")?;
        let id = std::process::id();
        let net = format!("10.{}.{}", 100 + id % 100, id / 100 % 250);
        let directory = directory.to_owned();
        let mut network = Self { id: format!("io{id}"), net, servers: Vec::new(), directory };
        let written = |error: io::Error| error.to_string();
        for name in ["host_key", "user_key"] {
            keygen(&network.directory.join(name))?;
        }
        let (key, keys) = ("user_key.pub", "authorized_keys");
        fs::copy(network.directory.join(key), network.directory.join(keys)).map_err(written)?;
        // Where sshd is not a service, nobody has made this.
        let _ = fs::create_dir_all("/run/sshd");
        let (bridge, net) = (network.id.clone(), network.net.clone());
        does(&format!("ip link add {bridge} type bridge"))?;
        does(&format!("ip address add {net}.254/24 dev {bridge}"))?;
        does(&format!("ip link set {bridge} up"))?;
        for host in 1..=HOSTS {
            network.host(host)?;
            network.serve(sshd, host)?;
        }
        fs::write(network.config(), network.settings(proxy)).map_err(written)?;
        for host in 1..=HOSTS {
            network.wait(host)?;
        }
        Ok(network)
    }

    fn config(&self) -> PathBuf {
        self.directory.join("ssh_config")
    }

    fn address(&self, host: usize) -> String {
        format!("{}.{host}", self.net)
    }

    fn wait(&self, host: usize) -> Result<(), String> {
        let begun = Instant::now();
        while TcpStream::connect((self.address(host), 22)).is_err() {
            if begun.elapsed() > STARTING {
                return Err(format!("no answer from the sshd of host {host}"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The hosts as `--ssh` takes them.
    #[must_use]
    pub fn hosts(&self) -> String {
        let names: Vec<String> = (1..=HOSTS).map(|host| format!("h{host}")).collect();
        names.join(",")
    }

    /// The value for `--ssh-command`.
    #[must_use]
    pub fn ssh(&self) -> String {
        format!("ssh -F {}", self.config().display())
    }

    /// Pulls the cable of a host, 1 to 8, or puts it back.
    ///
    /// # Errors
    /// It stays as it is; a phrase.
    pub fn cable(&self, host: usize, is_in: bool) -> Result<(), String> {
        does(&format!("ip link set {} {}", self.name(host), if is_in { "up" } else { "down" }))
    }

    /// Takes the network from this machine, on which all hosts depend, or gives it back.
    ///
    /// # Errors
    /// It stays as it is; a phrase.
    pub fn own_cable(&self, is_in: bool) -> Result<(), String> {
        does(&format!("ip link set {} {}", self.id, if is_in { "up" } else { "down" }))
    }

    /// A command of a host, 1 to 8, by the words that come after it.
    #[must_use]
    pub fn on(&self, host: usize) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(host)]);
        command
    }

    /// The address by which hosts reach this machine.
    #[must_use]
    pub fn own_address(&self) -> String {
        format!("{}.254", self.net)
    }

    fn name(&self, host: usize) -> String {
        format!("{}h{host}", self.id)
    }

    fn host(&self, host: usize) -> Result<(), String> {
        let (name, bridge, address) = (self.name(host), &self.id, self.address(host));
        does(&format!("ip netns add {name}"))?;
        does(&format!("ip link add {name} type veth peer name eth0 netns {name}"))?;
        does(&format!("ip link set {name} master {bridge} up"))?;
        does(&format!("ip -n {name} address add {address}/24 dev eth0"))?;
        does(&format!("ip -n {name} link set eth0 up"))?;
        does(&format!("ip -n {name} link set lo up"))
    }

    fn serve(&mut self, sshd: &str, host: usize) -> Result<(), String> {
        let (home, name) = (self.directory.display(), self.name(host));
        let settings = format!(
            "ListenAddress {}\nHostKey {home}/host_key\nAuthorizedKeysFile {home}/authorized_keys\n\
             PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             SetEnv IOSONDE_HISTORY={home}/h{host}.db\n",
            self.address(host)
        );
        let config = self.directory.join(format!("sshd_config{host}"));
        fs::write(&config, settings).map_err(|e| e.to_string())?;
        let apart = (APART_S * host as u64).to_string();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &name, "unshare", "-T", "--monotonic", &apart]);
        command.args(["--boottime", &apart, sshd, "-D", "-e", "-f"]).arg(&config);
        let server = command.stderr(Stdio::null()).stdin(Stdio::null()).spawn();
        self.servers.push(server.map_err(|e| e.to_string())?);
        Ok(())
    }

    fn settings(&self, proxy: Option<&str>) -> String {
        let home = self.directory.display();
        let mut text = String::new();
        for host in 1..=HOSTS {
            let address = self.address(host);
            let _ = writeln!(text, "Host h{host}\nHostName {address}");
            if let Some(proxy) = proxy.filter(|_| host == HOSTS) {
                let _ = writeln!(text, "ProxyCommand {proxy} {address}:22");
            }
        }
        let _ = write!(
            text,
            "Host *\nIdentityFile {home}/user_key\nIdentitiesOnly yes\nStrictHostKeyChecking no\n\
             UserKnownHostsFile /dev/null\nLogLevel ERROR\n"
        );
        text
    }
}

fn keygen(path: &Path) -> Result<(), String> {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path);
    let made = command.status().map_err(|e| e.to_string())?;
    if made.success() { Ok(()) } else { Err("ssh-keygen failed".to_owned()) }
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
