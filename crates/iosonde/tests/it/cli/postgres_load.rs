//! A real PostgreSQL under load.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::cli::server::{Running, done, find, free_port, start, unprivileged};

/// The programs of the newest PostgreSQL.
pub(crate) fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<PathBuf> = versions.flatten().map(|v| v.path().join("bin")).collect();
    found.retain(|directory| directory.join("postgres").is_file());
    found.sort();
    found.pop()
}

/// A server that trusts everybody, and the load on it. Both end with this value.
pub(crate) struct LoadedPostgres {
    /// Where its files are.
    pub(crate) data: PathBuf,
    /// With a password, which is there to be found where it must not be.
    pub(crate) url: String,
    load: Child,
    _server: Running,
}

impl LoadedPostgres {
    pub(crate) const PASSWORD: &str = "Zq9xK";

    /// Makes a cluster within a place, and puts load on it.
    pub(crate) fn start(programs: &Path, place: &Path, settings: &[&str]) -> Self {
        let data = place.join("data");
        let made = ["--no-sync", "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale", "C", "-D"];
        done(unprivileged(&programs.join("initdb")).args(made).arg(&data).current_dir(place));
        let port = free_port().to_string();
        let mut server = unprivileged(&programs.join("postgres"));
        server.arg("-D").arg(&data).arg("-k").arg(place).args(["-p", &port]);
        for setting in ["listen_addresses=127.0.0.1", "shared_buffers=1MB"].iter().chain(settings) {
            server.args(["-c", setting]);
        }
        let client = |name: &str| {
            let mut client = Command::new(find(name, &[programs.to_path_buf()]).unwrap());
            client.args(["-h", "127.0.0.1", "-U", "owner", "-p", &port, "postgres"]);
            client.stdout(Stdio::null()).stderr(Stdio::null());
            client
        };
        let ready = || client("psql").args(["-c", "SELECT 1"]).status().unwrap().success();
        let running = start(&server, &place.join("log"), ready);
        assert!(client("pgbench").args(["-i", "-q"]).status().unwrap().success());
        let load = client("pgbench").args(["-n", "-T", "120"]).spawn().unwrap();
        let url = format!("postgres://owner:{}@127.0.0.1:{port}/postgres", Self::PASSWORD);
        Self { data, url, load, _server: running }
    }

    /// Ends the load; the server stays.
    pub(crate) fn end_load(&mut self) {
        let _ = self.load.kill();
        let _ = self.load.wait();
    }
}

impl Drop for LoadedPostgres {
    fn drop(&mut self) {
        self.end_load();
    }
}
