//! A fleet with a real nats-server, which ends with the test.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nats::{NatsError, Site, SiteRequest};
use tempfile::TempDir;

/// Promises are of an idle machine; so much more is allowed on a busy one.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// A fleet and its server.
pub(crate) struct Fleet {
    directory: TempDir,
    port: u16,
    server: Option<Server>,
}

pub(crate) struct Server {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), NatsError>>,
}

impl Server {
    pub(crate) fn stop(self) -> Result<(), NatsError> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

pub(crate) fn request(directory: &Path, hosts: &[&str], servers: &[&str]) -> SiteRequest {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (directory, hosts, servers) = (directory.to_owned(), owned(hosts), owned(servers));
    SiteRequest { directory, hosts, servers, days: 30 }
}

/// Waits until this is so.
#[track_caller]
pub(crate) fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LONG, "{what}: not after {LONG:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether there is a nats-server here; without, the test is skipped.
pub(crate) fn is_possible(test: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = places.into_iter().any(|place| place.join("nats-server").is_file());
    if !found {
        testing::skip(&format!("nats::{test}"), "no nats-server here");
    }
    found
}

impl Fleet {
    /// A fleet of these hosts, with its server.
    pub(crate) fn new(hosts: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = format!("127.0.0.1:{port}");
        Site::init(&request(&directory.path().join("site"), hosts, &[&at])).unwrap();
        let mut fleet = Self { directory, port, server: None };
        fleet.start();
        fleet
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("site")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn start(&mut self) {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, path) = (Arc::clone(&stop), self.path());
        let thread = thread::spawn(move || nats::up(&path, &stopped, &mut |_| {}));
        let port = self.port;
        wait("the server starts", || {
            assert!(!thread.is_finished(), "the server did not start");
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        self.server = Some(Server { stop, thread });
    }

    /// Sends a signal to the server's process, which works in the directory of the site.
    #[cfg(target_os = "linux")]
    pub(crate) fn signal(&self, name: &str) {
        let site = std::fs::canonicalize(self.path()).unwrap();
        let mut all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_it = |process: &PathBuf| {
            std::fs::read_link(process.join("cwd")).is_ok_and(|directory| directory == site)
        };
        let process = all.find(is_it).unwrap();
        let status =
            std::process::Command::new("kill").arg(name).arg(process.file_name().unwrap()).status();
        assert!(status.unwrap().success());
    }

    /// Kills the server: it has no time for anything.
    pub(crate) fn kill(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop().unwrap();
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.kill();
    }
}
