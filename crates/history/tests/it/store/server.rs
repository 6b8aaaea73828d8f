//! A PostgreSQL server of our own: one for all tests of a run, with a database for each of them.
//!
//! cargo-nextest starts a process per test; the first that needs the server starts it for all.
//! Starting one for each test was rejected: `initdb` takes longer than most of these tests.

use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use history::Place;

/// The owner of the databases, and a password that a URL has to escape.
const PASSWORD: &str = "pass @/:word";
const PASSWORD_IN_URL: &str = "pass%20%40%2F%3Aword";

/// Starts the server, waits until the process that runs the tests has ended, and removes its
/// directory.
const SUPERVISOR: &str = r#"
trap "" HUP INT TERM # what ends the tests is not to end this before its work is done
directory=$1; runner=$2; shift 2
{
    "$@" >"$directory/log" 2>&1 </dev/null & server=$!
    while kill -0 "$runner" && kill -0 "$server"; do sleep 0.2; done
    kill -QUIT "$server"; wait "$server"
    rm -rf "$directory"
} &
"#;

pub(crate) struct Server {
    pub(crate) directory: PathBuf,
    pub(crate) port: u16,
}

/// Where Debian has the programs of the server; else where they are found.
fn program(name: &str) -> PathBuf {
    let mut places: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|v| v.path().join("bin").join(name)).collect())
        .unwrap_or_default();
    places.sort();
    let path = env::var_os("PATH").unwrap_or_default();
    places.extend(env::split_paths(&path).map(|directory| directory.join(name)));
    let found = places.into_iter().rev().find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!("`{name}` is missing: install the package postgresql, or run `./x test`")
    })
}

/// A command as a user other than root: the server refuses to run as root.
fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    command
}

pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts the server in this new directory, for the tests that the process `runner` runs.
fn start(directory: PathBuf, runner: u32) -> Server {
    if is_root() {
        std::os::unix::fs::chown(&directory, Some(65534), Some(65534)).unwrap();
    }
    let password = directory.join("password");
    fs::write(&password, PASSWORD).unwrap();
    let data = directory.join("data");
    let made = unprivileged(&program("initdb"))
        .args([
            "--no-sync",
            "-U",
            "owner",
            "-A",
            "scram-sha-256",
            "-E",
            "UTF8",
            "--locale",
            "C.UTF-8",
        ])
        .arg("--pwfile")
        .arg(&password)
        .arg("-D")
        .arg(&data)
        .current_dir(&directory)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    testing::certificate(&directory);
    if is_root() {
        let key = directory.join("server.key");
        std::os::unix::fs::chown(key, Some(65534), Some(65534)).unwrap();
    }
    let port = free_port();
    let mut server = unprivileged(&program("postgres"));
    server.arg("-D").arg(&data).arg("-k").arg(&directory).args(["-p", &port.to_string()]);
    // A server that is thrown away needs no disk.
    for setting in ["fsync=off", "listen_addresses=127.0.0.1", "ssl=on", "max_connections=60"] {
        server.args(["-c", setting]);
    }
    for (setting, file) in [("ssl_cert_file", "server.crt"), ("ssl_key_file", "server.key")] {
        server.arg("-c").arg(format!("{setting}={}", directory.join(file).display()));
    }
    let mut supervisor = Command::new("sh");
    supervisor.args(["-c", SUPERVISOR, "sh"]).arg(&directory).arg(runner.to_string());
    supervisor.arg(server.get_program()).args(server.get_args()).process_group(0);
    // It outlives the test that starts it, which must not leave open streams.
    supervisor.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(supervisor.status().unwrap().success());
    wait(&directory, port);
    Server { directory, port }
}

/// The server of the run with this name: starts it, or waits until another process has.
fn start_once(run: &str) -> Server {
    let directory = Path::new("/tmp").join(format!("iosonde-pg-{run}"));
    let ready = directory.join("port");
    if fs::create_dir(&directory).is_ok() {
        let server = start(directory, std::os::unix::process::parent_id());
        let unfinished = ready.with_extension("new");
        fs::write(&unfinished, server.port.to_string()).unwrap();
        fs::rename(unfinished, ready).unwrap();
        return server;
    }
    let begun = Instant::now();
    loop {
        if let Ok(port) = fs::read_to_string(&ready) {
            return Server { directory, port: port.parse().unwrap() };
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "no server in {}", directory.display());
        thread::sleep(Duration::from_millis(50));
    }
}

fn wait(directory: &Path, port: u16) {
    let begun = Instant::now();
    let ready = || {
        Command::new(program("pg_isready"))
            .args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()])
            .status()
    };
    while !ready().unwrap().success() {
        if begun.elapsed() > Duration::from_secs(60) {
            let log = fs::read_to_string(directory.join("log")).unwrap_or_default();
            panic!("the server does not start:\n{log}");
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// The server, started when it is first needed.
pub(crate) fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        if let Ok(run) = env::var("NEXTEST_RUN_ID") {
            return start_once(&run);
        }
        let directory = tempfile::Builder::new().prefix("iosonde-pg-").tempdir_in("/tmp");
        start(directory.unwrap().keep(), std::process::id())
    })
}

impl Server {
    /// The URL of a database.
    pub(crate) fn url(&self, host: &str, database: &str) -> String {
        format!("postgres://owner:{PASSWORD_IN_URL}@{host}:{}/{database}", self.port)
    }

    /// Asks psql, as any other program would.
    pub(crate) fn psql(&self, database: &str, sql: &str) -> String {
        let mut child = Command::new(program("psql"))
            .args([
                "-X",
                "-q",
                "-A",
                "-t",
                "-v",
                "ON_ERROR_STOP=1",
                "-h",
                "127.0.0.1",
                "-U",
                "owner",
            ])
            .args(["-p", &self.port.to_string(), "-d", database])
            .env("PGPASSWORD", PASSWORD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// A new database.
    pub(crate) fn database(&self) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("test{}_{number}", std::process::id());
        self.psql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// A new database as a place.
    pub(crate) fn place(&self) -> (Place, String) {
        let database = self.database();
        (place(&self.url("127.0.0.1", &database)), database)
    }
}

/// The place that a URL is.
pub(crate) fn place(url: &str) -> Place {
    history::place(Some(url.into())).unwrap()
}
