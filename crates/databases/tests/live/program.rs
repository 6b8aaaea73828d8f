//! Programs of servers: where they are, and how they are started so that they end with the test.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use tempfile::TempDir;

/// Nobody, who may do nothing else.
const NOBODY: u32 = 65534;

/// Starts a server, waits until our end of the pipe is closed by whatever ends us, and ends it.
const SUPERVISOR: &str = r#"
trap "" HUP INT TERM
log=$1; shift
"$@" >>"$log" 2>&1 </dev/null & server=$!
cat >/dev/null
exec 2>/dev/null
kill -QUIT "$server"; sleep 0.2; kill -KILL "$server"; wait "$server"
"#;

/// A server that runs.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Where a program is.
pub(crate) fn find(name: &str, more: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let places = more.iter().cloned().chain(env::split_paths(&path));
    let usual = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    places.chain(usual).map(|directory| directory.join(name)).find(|path| path.is_file())
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A command as a user other than root: servers refuse to run as root.
pub(crate) fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={NOBODY}")).arg(format!("--regid={NOBODY}"));
    command.arg("--clear-groups").arg(program);
    command
}

/// A directory that such a command may write in.
pub(crate) fn directory() -> TempDir {
    // A socket's path is short, so not below a target directory.
    let directory = tempfile::Builder::new().prefix("iosonde-db-").tempdir_in("/var/tmp").unwrap();
    if is_root() {
        std::os::unix::fs::chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    directory
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Does a command to its end; what it wrote.
pub(crate) fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Starts a server and waits until `is_ready`.
pub(crate) fn start(server: &Command, log: &Path, is_ready: impl Fn() -> bool) -> Running {
    let mut supervisor = Command::new("sh");
    supervisor.args(["-c", SUPERVISOR, "sh"]).arg(log).arg(server.get_program());
    supervisor.args(server.get_args()).stdin(Stdio::piped()).stdout(Stdio::null());
    for (name, value) in server.get_envs() {
        supervisor.env(name, value.unwrap_or_default());
    }
    let running = Running(supervisor.spawn().unwrap());
    let begun = Instant::now();
    while !is_ready() {
        if begun.elapsed() > Duration::from_secs(90) {
            let log = fs::read_to_string(log).unwrap_or_default();
            panic!("the server does not start:\n{log}");
        }
        thread::sleep(Duration::from_millis(50));
    }
    running
}
