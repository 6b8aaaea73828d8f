//! Fleets of real processes for these measurements, each in its own directory.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use serde_json::Value;

use super::Error;

/// How long processes may take to begin.
const MOST: Duration = Duration::from_secs(30);

/// The most memory that this process had, in MiB.
pub(super) fn peak_mib() -> Result<f64, Error> {
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: f64 = peak.unwrap_or_default().trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}

/// Hosts that are processes of this machine, reached by a script as by `ssh`, or through a server.
pub(super) struct Place {
    /// Declared first, so that its processes end before their directory is removed.
    site: Option<SiteProcesses>,
    directory: tempfile::TempDir,
    iosonde: PathBuf,
}

/// A NATS server with its agents.
struct SiteProcesses {
    server: Child,
    port: u16,
    agents: Vec<(String, Child)>,
}

impl Drop for SiteProcesses {
    fn drop(&mut self) {
        for (_, agent) in &mut self.agents {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        // It ends its own child.
        let _ = signal(&self.server.id().to_string(), "-TERM");
        let _ = self.server.wait();
    }
}

impl Place {
    pub(super) fn new(iosonde: &Path) -> Result<Self, Error> {
        let directory = tempfile::tempdir()?;
        let script = directory.path().join("enter");
        let text = format!(
            "#!/bin/sh\nshift\nhost=$1; shift\necho $$ > {directory}/$host.pid\n\
             export IOSONDE_HISTORY={directory}/$host.db\nexec sh -c \"exec $*\"\n",
            directory = directory.path().display()
        );
        fs::write(&script, text)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        Ok(Self { site: None, directory, iosonde: iosonde.to_owned() })
    }

    /// Hosts whose agents are connected to a NATS server.
    pub(super) fn on_site(iosonde: &Path, hosts: &[&str]) -> Result<Self, Error> {
        let mut place = Self::new(iosonde)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let site = place.path().join("site");
        let mut init = place.command();
        init.args(["fleet", "init"]).arg(&site).args(["--server", &format!("127.0.0.1:{port}")]);
        for host in hosts {
            init.args(["--host", host]);
        }
        let output = init.output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        let server = place.server(port)?;
        let processes = place.site.insert(SiteProcesses { server, port, agents: Vec::new() });
        let mut agents = Vec::new();
        for host in hosts {
            let mut agent = Command::new(iosonde);
            let home = place.directory.path();
            let own = home.join(format!("{host}.db"));
            agent.env("HOME", home).env("XDG_DATA_HOME", home.join("data"));
            agent.env("IOSONDE_HISTORY", own).env("IOSONDE_CONFIG", "");
            agent
                .args(["agent", "--allow", "/x", "--join"])
                .arg(site.join(format!("{host}.creds")));
            let log = fs::File::create(home.join(format!("{host}.log")))?;
            let child = agent.stdout(Stdio::null()).stderr(log).spawn()?;
            fs::write(home.join(format!("{host}.pid")), child.id().to_string())?;
            agents.push(((*host).to_owned(), child));
        }
        processes.agents = agents;
        let home = place.path().to_owned();
        let log = |host: &&str| fs::read_to_string(home.join(format!("{host}.log")));
        let joined = |host: &&str| log(host).is_ok_and(|text| text.contains("connected to"));
        wait("the agents join", MOST, || hosts.iter().all(joined))?;
        Ok(place)
    }

    /// Starts a server and waits until it accepts connections.
    pub(super) fn server(&self, port: u16) -> Result<Child, Error> {
        let mut up = self.command();
        up.args(["fleet", "up"]).arg(self.path().join("site")).stderr(Stdio::null());
        let server = up.spawn()?;
        wait("the server starts", MOST, || TcpStream::connect(("127.0.0.1", port)).is_ok())?;
        Ok(server)
    }

    pub(super) fn stop_server(&mut self) -> Result<(), Error> {
        let site = self.site.as_mut().ok_or("there is no server")?;
        signal(&site.server.id().to_string(), "-TERM")?;
        site.server.wait()?;
        Ok(())
    }

    pub(super) fn start_server(&mut self) -> Result<(), Error> {
        let port = self.site.as_ref().ok_or("there is no server")?.port;
        let server = self.server(port)?;
        if let Some(site) = &mut self.site {
            site.server = server;
        }
        Ok(())
    }

    /// Everything that this host says takes so long, line by line.
    pub(super) fn slow_down(&self, host: &str, each: Duration) -> Result<(), Error> {
        let script = self.path().join("enter");
        let text = fs::read_to_string(&script)?;
        let (begin, end) = text.rsplit_once("exec sh").ok_or("it is another script")?;
        let slow = format!(
            "if [ $host = {host} ]; then\n  sh -c \"exec $*\" | while IFS= read -r line; do\n    \
             sleep {}; printf '%s\\n' \"$line\"\n  done\n  exit\nfi\n",
            each.as_secs_f64()
        );
        Ok(fs::write(&script, format!("{begin}{slow}exec sh{end}"))?)
    }

    /// Whether agents stay when their coordinator has gone.
    pub(super) fn agents_stay(&self) -> bool {
        self.site.is_some()
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The program with a history of its own.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.iosonde);
        let path = self.path();
        command.env("HOME", path).env("XDG_DATA_HOME", path.join("data"));
        command.env("IOSONDE_HISTORY", path.join("history.db")).env("IOSONDE_CONFIG", "");
        command
    }

    /// A command of `iosonde fleet` for these hosts.
    pub(super) fn fleet(&self, words: &[&str], hosts: &str) -> Command {
        let mut command = self.command();
        command.arg("fleet").args(words);
        if self.site.is_some() {
            command.arg("--site").arg(self.path().join("site")).args(["--hosts", hosts]);
            return command;
        }
        command.args(["--ssh", hosts]);
        command.arg("--ssh-command").arg(self.path().join("enter"));
        // Every host has a history of its own, as in life: who is frozen may hold the lock of one.
        command.arg("--agent").arg(&self.iosonde);
        command
    }

    /// The file with the history of one host.
    pub(super) fn history_of(&self, host: &str) -> PathBuf {
        self.path().join(format!("{host}.db"))
    }

    pub(super) fn pid(&self, host: &str) -> Result<String, Error> {
        let text = fs::read_to_string(self.path().join(format!("{host}.pid")))?;
        Ok(text.trim().to_owned())
    }

    /// When each agent noted the end of a run.
    pub(super) fn ends(&self) -> Vec<SystemTime> {
        self.ends_of("")
    }

    /// When the agent that is this process noted the end of a run; any process where it is empty.
    pub(super) fn ends_of(&self, pid: &str) -> Vec<SystemTime> {
        let log = self.path().join("data/iosonde/agent.log");
        let text = fs::read_to_string(log).unwrap_or_default();
        let of = if pid.is_empty() { String::new() } else { format!(" process={pid} ") };
        let is_it = |line: &&str| line.contains(" command=end ") && line.contains(&of);
        let ends = text.lines().filter(is_it);
        let moment = |line: &str| line.split(' ').next()?.parse::<Timestamp>().ok();
        ends.filter_map(moment).map(SystemTime::from).collect()
    }
}

/// Sends a signal to one process.
pub(super) fn signal(pid: &str, name: &str) -> Result<(), Error> {
    let sent = Command::new("kill").args([name, pid]).stderr(Stdio::null()).status()?;
    if sent.success() { Ok(()) } else { Err(format!("kill {name} {pid} failed").into()) }
}

/// A run that is under way: intervals arrive.
pub(super) struct Running {
    pub(super) child: Child,
    lines: BufReader<ChildStderr>,
}

impl Running {
    pub(super) fn start(mut command: Command) -> Result<Self, Error> {
        command.args(["--progress", "json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let stderr = child.stderr.take().ok_or("no stderr")?;
        let mut running = Self { child, lines: BufReader::new(stderr) };
        running.until("\"event\":\"interval\"")?;
        Ok(running)
    }

    /// Reads events until one has these words; how long that took.
    pub(super) fn until(&mut self, words: &str) -> Result<Duration, Error> {
        let (begun, mut all) = (Instant::now(), String::new());
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line)? == 0 {
                return Err(format!("no `{words}` in {all}").into());
            }
            if line.contains(words) {
                return Ok(begun.elapsed());
            }
            all.push_str(&line);
        }
    }

    /// The document; `None` if the process printed nothing.
    pub(super) fn end(self) -> Result<Option<Value>, Error> {
        Ok(self.end_saying()?.0)
    }

    /// The document, and what the process said besides intervals.
    pub(super) fn end_saying(self) -> Result<(Option<Value>, String), Error> {
        // Whoever writes to a pipe that nobody reads waits: both are read at once.
        let lines = self.lines;
        let rest = std::thread::spawn(move || {
            let said = |line: &String| {
                let words = ["notice", "error", "kept"].map(|kind| format!("\"event\":\"{kind}\""));
                !line.starts_with('{') || words.iter().any(|word| line.contains(word))
            };
            lines.lines().map_while(Result::ok).filter(said).collect::<Vec<_>>().join("; ")
        });
        let output = self.child.wait_with_output()?;
        let said = rest.join().unwrap_or_default();
        Ok((serde_json::from_slice(&output.stdout).ok(), said))
    }
}

/// Waits until a condition holds, and returns how long that took. Fails after `most`.
pub(super) fn wait(
    what: &str,
    most: Duration,
    mut is_so: impl FnMut() -> bool,
) -> Result<Duration, Error> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > most {
            return Err(format!("{what}: not after {} s", most.as_secs()).into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(begun.elapsed())
}

/// The value that this share of all is not above.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
    sorted.get((share * last as f64).ceil() as usize).copied()
}
