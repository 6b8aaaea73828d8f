//! PostgreSQL under pgbench: each version that is installed, and those whose programs are in a
//! directory of `IOSONDE_TEST_POSTGRES` (several are separated as in PATH).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use databases::{Clock, DatabaseRow, DatabaseSample, DatabaseUrl, DatabaseWindow, Watched};
use tempfile::TempDir;

use testing::skip;

use crate::program::{Running, directory, done, find, free_port, start, unprivileged};

struct Server {
    directory: TempDir,
    port: u16,
    programs: PathBuf,
    running: Option<Running>,
}

/// The directories with the programs of servers.
fn installed() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin")).collect())
        .unwrap_or_default();
    found.extend(env::split_paths(&env::var_os("IOSONDE_TEST_POSTGRES").unwrap_or_default()));
    if found.is_empty() {
        found.extend(find("initdb", &[]).and_then(|path| path.parent().map(Path::to_owned)));
    }
    found.retain(|directory| directory.join("postgres").is_file());
    found
}

impl Server {
    fn new(programs: &Path) -> Self {
        let directory = directory();
        done(
            unprivileged(&programs.join("initdb"))
                .args(["--no-sync", "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale", "C"])
                .arg("-D")
                .arg(directory.path().join("data"))
                .current_dir(&directory),
        );
        let mut server =
            Self { directory, port: free_port(), programs: programs.to_owned(), running: None };
        server.start();
        server
    }

    fn start(&mut self) {
        let mut command = unprivileged(&self.programs.join("postgres"));
        command.arg("-D").arg(self.directory.path().join("data"));
        command.arg("-k").arg(self.directory.path()).args(["-p", &self.port.to_string()]);
        // Few buffers, so that there is I/O.
        for setting in ["listen_addresses=127.0.0.1", "shared_buffers=1MB", "track_io_timing=on"] {
            command.args(["-c", setting]);
        }
        let log = self.directory.path().join("log");
        let ready =
            || self.client("psql").args(["-c", "SELECT 1"]).output().unwrap().status.success();
        let running = start(&command, &log, ready);
        self.running = Some(running);
    }

    fn client(&self, name: &str) -> Command {
        let here = find(name, std::slice::from_ref(&self.programs)).or_else(|| {
            // pgbench is next to the server in Debian's packages, and not on PATH.
            installed()
                .into_iter()
                .map(|directory| directory.join(name))
                .find(|path| path.is_file())
        });
        let mut command = Command::new(here.unwrap());
        command.args(["-h", "127.0.0.1", "-U", "owner", "-p", &self.port.to_string(), "postgres"]);
        command
    }

    fn sql(&self, sql: &str) -> String {
        done(self.client("psql").args(["-XAtqc", sql]))
    }

    fn bench(&self, arguments: &[&str]) {
        done(self.client("pgbench").args(arguments));
    }

    fn url(&self, user: &str) -> DatabaseUrl {
        let url = format!("postgres://{user}@127.0.0.1:{}/postgres", self.port);
        DatabaseUrl::parse(&url).unwrap()
    }

    fn watched(&self) -> Watched {
        Watched::connect(&self.url("owner")).unwrap()
    }

    fn version(&self) -> u32 {
        self.sql("SHOW server_version_num").parse().unwrap()
    }
}

/// Counters of what others did come a little later: each process sends its own once in a while.
fn sample_after(
    watched: &mut Watched,
    is_there: impl Fn(&DatabaseSample) -> bool,
) -> DatabaseSample {
    for _ in 0..100 {
        let sample = watched.sample().unwrap();
        if is_there(&sample) {
            return sample;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("what was done does not appear in the counters")
}

fn counter(sample: &DatabaseSample, name: &str) -> u64 {
    sample.counters.iter().find(|counter| counter.name == name).map_or(0, |counter| counter.value)
}

#[test]
fn each_version_tells_what_pgbench_did() {
    let found = installed();
    if found.is_empty() {
        skip("databases::each_version_tells_what_pgbench_did", "PostgreSQL is not installed");
    }
    for programs in found {
        let mut server = Server::new(&programs);
        what_pgbench_did(&server);
        trouble(&mut server);
        rights(&server);
    }
}

fn what_pgbench_did(server: &Server) {
    let version = server.version();
    server.bench(&["-i", "-q", "-s", "1"]);
    let mut watched = server.watched();
    let before = watched.sample().unwrap();
    server.bench(&["-n", "-c", "2", "-t", "200"]);
    server.sql("CHECKPOINT");
    let done = counter(&before, "transactions_committed") + 400;
    let checkpoints = counter(&before, "checkpoints_requested");
    let after = sample_after(&mut watched, |sample| {
        counter(sample, "transactions_committed") >= done
            && counter(sample, "checkpoints_requested") > checkpoints
    });
    let window = DatabaseWindow::between(&before, &after);
    assert_eq!((window.clock, window.other_instance), (Clock::Database, false));
    assert!(window.seconds > 0.0 && window.anew.is_empty() && window.gone.is_empty());
    let total = DatabaseRow::total(&window.rows).unwrap();
    assert!(total.reads.unwrap() > 100 && total.writes.unwrap() > 10, "{version}: {total:?}");
    assert_eq!(total.read_bytes.unwrap() % 8192, 0);
    assert!(total.read_latency_ns.unwrap() > 0.0);
    assert!(window.counter("wal_bytes").unwrap() > 100_000, "{version}");
    assert!(window.counter("checkpoint_buffers_written").unwrap() > 0);
    if version >= 160_000 {
        let row = |name: &str| window.rows.iter().find(|row| row.object == name).unwrap();
        assert!(row("client backend/relation/normal").reads.unwrap() > 100);
        assert!(row("checkpointer/relation/normal").syncs.unwrap() > 0);
    } else {
        assert!(after.notes.iter().any(|note| note.contains("no pg_stat_io")), "{:?}", after.notes);
        let read: u64 = server.sql("SELECT sum(blks_read) FROM pg_stat_database").parse().unwrap();
        assert!(total.reads.unwrap() <= read);
    }
    if version >= 140_000 {
        let wal: Vec<&DatabaseRow> = window
            .rows
            .iter()
            .filter(|row| row.object == "wal" || row.object.contains("/wal/"))
            .collect();
        let syncs: u64 = wal.iter().filter_map(|row| row.syncs).sum();
        assert!(syncs >= 100, "{version}: group commit of two at most halves them: {wal:?}");
        assert!(wal.iter().all(|row| row.sync_latency_ns.is_none()), "track_wal_io_timing is off");
        assert!(after.notes.iter().any(|note| note.starts_with("track_wal_io_timing")));
    }
    let said = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'iosonde'";
    assert_eq!(server.sql(said), "1");
    assert!(watched.facts().data_directory.as_deref().unwrap().ends_with("/data"));
}

/// Connections that end, statistics that are reset, a server that is started anew.
fn trouble(server: &mut Server) {
    let mut watched = server.watched();
    let before = watched.sample().unwrap();
    server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'iosonde'",
    );
    let after = watched.sample().unwrap();
    let window = DatabaseWindow::between(&before, &after);
    assert!(window.reconnected && !window.other_instance && !window.rows.is_empty());

    server.sql("SELECT pg_stat_reset_shared('bgwriter')");
    let stamp = |sample: &DatabaseSample| {
        sample.counters.iter().find(|c| c.name == "buffers_allocated").unwrap().since.clone()
    };
    let reset = sample_after(&mut watched, |sample| stamp(sample) != stamp(&after));
    let window = DatabaseWindow::between(&after, &reset);
    assert!(window.anew.contains(&"buffers_allocated".to_owned()), "{:?}", window.anew);

    server.running = None;
    let error = watched.sample().unwrap_err();
    assert!(
        error.may_pass() && error.to_string().contains("cannot reach the PostgreSQL"),
        "{error}"
    );
    server.start();
    let again = watched.sample().unwrap();
    let window = DatabaseWindow::between(&reset, &again);
    assert!(window.other_instance && window.rows.is_empty());
}

/// A user without the rights gets a message that names what is missing.
fn rights(server: &Server) {
    server.sql("CREATE ROLE plain LOGIN");
    server.sql("ALTER ROLE plain SET track_io_timing = off");
    server.sql("REVOKE SELECT ON pg_catalog.pg_stat_bgwriter FROM PUBLIC");
    let mut watched = Watched::connect(&server.url("plain")).unwrap();
    let sample = watched.sample().unwrap();
    let noted = |sample: &DatabaseSample, part: &str| sample.notes.iter().any(|n| n.contains(part));
    assert!(noted(&sample, "may not read pg_stat_bgwriter"), "{:?}", sample.notes);
    assert!(noted(&sample, "track_io_timing is off"), "{:?}", sample.notes);
    assert_eq!(watched.facts().data_directory, None);
    server.bench(&["-n", "-t", "50"]);
    let later = watched.sample().unwrap();
    let window = DatabaseWindow::between(&sample, &later);
    let untimed =
        |row: &DatabaseRow| row.read_latency_ns.is_none() && row.write_latency_ns.is_none();
    assert!(window.rows.iter().all(untimed));

    server.sql("GRANT pg_monitor TO plain");
    server.sql("GRANT SELECT ON pg_catalog.pg_stat_bgwriter TO PUBLIC");
    let mut watched = Watched::connect(&server.url("plain")).unwrap();
    assert!(watched.facts().data_directory.is_some());
    assert!(!noted(&watched.sample().unwrap(), "may not"));
}
