//! MariaDB with rows put in and read, with its performance schema and without.

use std::path::PathBuf;
use std::process::Command;

use databases::{DatabaseRow, DatabaseUrl, DatabaseWindow, Watched};
use tempfile::TempDir;

use testing::skip;

use crate::program::{Running, directory, done, find, free_port, start, unprivileged};

struct Server {
    directory: TempDir,
    port: u16,
    program: PathBuf,
    client: PathBuf,
    running: Option<Running>,
}

impl Server {
    /// `None` if MariaDB is not installed.
    fn new() -> Option<Self> {
        let program = find("mariadbd", &[])?;
        let install = find("mariadb-install-db", &[])?;
        let client = find("mariadb", &[])?;
        let directory = directory();
        done(
            unprivileged(&install)
                .arg("--no-defaults")
                .arg(format!("--datadir={}", directory.path().join("data").display()))
                .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
                .current_dir(&directory),
        );
        Some(Self { directory, port: free_port(), program, client, running: None })
    }

    fn start(&mut self, settings: &[&str]) {
        self.running = None;
        let mut command = unprivileged(&self.program);
        command.arg("--no-defaults").args(settings);
        for (name, place) in [("datadir", "data"), ("socket", "s"), ("pid-file", "pid")] {
            command.arg(format!("--{name}={}", self.directory.path().join(place).display()));
        }
        command.arg(format!("--port={}", self.port)).arg("--bind-address=127.0.0.1");
        let log = self.directory.path().join("log");
        let ready = || self.client().args(["-e", "SELECT 1"]).output().unwrap().status.success();
        let running = start(&command, &log, ready);
        self.running = Some(running);
    }

    fn client(&self) -> Command {
        let mut command = Command::new(&self.client);
        command
            .args(["--no-defaults", "-uroot", "-N"])
            .arg("-S")
            .arg(self.directory.path().join("s"));
        command
    }

    fn sql(&self, sql: &str) -> String {
        done(self.client().args(["-e", sql]))
    }

    fn url(&self, login: &str) -> DatabaseUrl {
        DatabaseUrl::parse(&format!("mariadb://{login}@127.0.0.1:{}", self.port)).unwrap()
    }
}

const LOGIN: &str = "watcher:s%3Fcr%40t";

#[test]
fn mariadb_tells_each_file_and_what_innodb_counts() {
    let Some(mut server) = Server::new() else {
        let test = "databases::mariadb_tells_each_file_and_what_innodb_counts";
        return skip(test, "mariadb-server is not installed");
    };
    server.start(&["--performance-schema=ON", "--innodb-buffer-pool-size=8M"]);
    server.sql("CREATE USER watcher@'127.0.0.1' IDENTIFIED BY 's?cr@t'");
    server.sql("GRANT SELECT ON performance_schema.* TO watcher@'127.0.0.1'");
    server
        .sql("CREATE DATABASE shop; CREATE TABLE shop.orders (n INT PRIMARY KEY, v VARCHAR(200))");
    each_file(&server);
    a_lost_connection(&server);
    fewer_rights(&server);
    server.start(&["--performance-schema=OFF"]);
    the_status_alone(&server);
}

fn each_file(server: &Server) {
    let mut watched = Watched::connect(&server.url(LOGIN)).unwrap();
    assert!(watched.facts().version.contains("MariaDB"));
    let before = watched.sample().unwrap();
    let rows = "USE shop; INSERT INTO shop.orders SELECT seq, repeat('x', 150) FROM \
                seq_1_to_20000; FLUSH TABLES";
    server.sql(rows);
    for n in 1..=20 {
        server.sql(&format!("INSERT INTO shop.orders VALUES ({}, 'y')", 100_000 + n));
    }
    server.sql("FLUSH TABLES shop.orders FOR EXPORT; UNLOCK TABLES");
    let after = watched.sample().unwrap();
    let window = DatabaseWindow::between(&before, &after);
    assert!(!window.other_instance && window.anew.is_empty(), "{:?}", window.anew);
    let table = window.rows.iter().find(|row| row.object == "shop/orders.ibd").unwrap();
    assert!(table.writes.unwrap() > 0, "{table:?}");
    assert!(table.written_bytes.unwrap() >= table.writes.unwrap() * 512);
    assert!(table.write_latency_ns.unwrap() > 0.0 && table.syncs.is_none());
    let log = window.rows.iter().find(|row| row.object == "innodb (redo log)").unwrap();
    assert!(log.writes.unwrap() >= 20, "each commit is written: {log:?}");
    let total = DatabaseRow::total(&window.rows).unwrap();
    assert!(total.syncs.unwrap() >= 20, "each commit is synced: {total:?}");
    assert!(window.counter("redo_log_bytes").unwrap() > 1_000_000);
    assert!(window.counter("file_other_operations").is_some());
    assert!(after.notes.is_empty(), "{:?}", after.notes);
}

fn a_lost_connection(server: &Server) {
    let mut watched = Watched::connect(&server.url(LOGIN)).unwrap();
    let before = watched.sample().unwrap();
    let id = server.sql(
        "SELECT id FROM information_schema.processlist WHERE user = 'watcher' ORDER BY id DESC \
         LIMIT 1",
    );
    server.sql(&format!("KILL {id}"));
    let window = DatabaseWindow::between(&before, &watched.sample().unwrap());
    assert!(window.reconnected && !window.other_instance && !window.rows.is_empty());
}

fn fewer_rights(server: &Server) {
    server.sql("CREATE USER plain@'127.0.0.1' IDENTIFIED BY 'x'");
    let mut watched = Watched::connect(&server.url("plain:x")).unwrap();
    let sample = watched.sample().unwrap();
    let notes = sample.notes.join("\n");
    assert!(notes.contains("GRANT SELECT ON performance_schema.*"), "{notes}");
    assert!(sample.objects.iter().any(|object| object.object == "innodb (all its files)"));
    // What is counted can be switched off, and is named then.
    let all = "UPDATE performance_schema.setup_instruments SET";
    server
        .sql(&format!("{all} ENABLED = 'NO' WHERE NAME = 'wait/io/file/innodb/innodb_data_file'"));
    let mut watched = Watched::connect(&server.url(LOGIN)).unwrap();
    let notes = watched.sample().unwrap().notes.join("\n");
    assert!(notes.contains("not counted: wait/io/file/innodb/innodb_data_file"), "{notes}");
    server.sql(&format!("{all} ENABLED = 'YES' WHERE NAME LIKE 'wait/io/file/%'"));
    let error = Watched::connect(&server.url("watcher:wrong")).unwrap_err().to_string();
    assert!(error.contains("cannot reach the MySQL") && !error.contains("wrong"), "{error}");
}

fn the_status_alone(server: &Server) {
    let mut watched = Watched::connect(&server.url(LOGIN)).unwrap();
    let before = watched.sample().unwrap();
    assert!(before.notes[0].contains("performance_schema is off"), "{:?}", before.notes);
    server.sql("INSERT INTO shop.orders VALUES (200000, 'z')");
    let window = DatabaseWindow::between(&before, &watched.sample().unwrap());
    let log = window.rows.iter().find(|row| row.object == "innodb (redo log)").unwrap();
    assert!(log.writes.unwrap() > 0 && log.write_latency_ns.is_none());
}
