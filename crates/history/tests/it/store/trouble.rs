//! Every error names its remedy, and nothing is lost by it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use history::{Filter, History, HistoryError, Order, Page, Place};
use testing::skip;

use crate::store::made::{full, new, runs};
use crate::store::server::{is_root, place, server};

/// A small file system, gone when it is dropped.
struct Small(PathBuf);

impl Small {
    fn mount(directory: &Path, size: &str) -> Option<Self> {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(directory);
        let mounted = command.output().is_ok_and(|output| output.status.success());
        mounted.then(|| Self(directory.to_owned()))
    }

    fn read_only(&self) {
        let mut command = Command::new("mount");
        assert!(command.args(["-o", "remount,ro"]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn file(path: &Path) -> Place {
    Place::File(path.to_owned())
}

#[test]
fn a_full_disk_is_said_and_everything_before_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let Some(_small) = Small::mount(directory.path(), "2m") else {
        return skip(
            "history::a_full_disk_is_said_and_everything_before_is_there",
            "only root mounts",
        );
    };
    let path = directory.path().join("history.db");
    let history = History::open(&file(&path)).unwrap();
    history.begin(&new("e", "p", "2026-11-21T12:00:00Z")).unwrap();
    let kept = |cell: u32| history.keep("e", cell, &full(&format!("m{cell}"), 1.0));
    let (full_at, error) =
        (0..10_000).find_map(|cell| kept(cell).err().map(|error| (cell, error))).unwrap();
    assert!(matches!(error, HistoryError::Full { .. }), "{error:?}");
    assert!(error.to_string().contains("make room"), "{error}");
    assert!(full_at > 3);
    assert_eq!(history.measurements("e").unwrap().len(), full_at as usize);
    drop(history);
    let history = History::open(&file(&path)).unwrap();
    assert_eq!(history.measurements("e").unwrap().len(), full_at as usize);
    assert_eq!(history.check().unwrap(), [""; 0]);
    let error = history.backup(&directory.path().join("copy.db")).unwrap_err();
    assert!(matches!(error, HistoryError::Full { .. }), "{error:?}");
    assert!(!directory.path().join("copy.db").exists(), "no half copy is left");
}

/// What keeps a history from being written.
enum Closed {
    Permissions,
    Mount(#[expect(dead_code, reason = "what counts is when it is dropped")] Small),
}

/// Makes a history that may not be written; `None` if root may do everything and nothing can be
/// mounted.
fn read_only(directory: &Path) -> Option<Closed> {
    if is_root() {
        let small = Small::mount(directory, "8m")?;
        fill(directory);
        small.read_only();
        return Some(Closed::Mount(small));
    }
    fill(directory);
    fs::set_permissions(directory.join("history.db"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(directory, fs::Permissions::from_mode(0o555)).unwrap();
    Some(Closed::Permissions)
}

fn fill(directory: &Path) {
    let history = History::open(&file(&directory.join("history.db"))).unwrap();
    history.add(&runs("e", "2026-11-21T12:00:00Z", vec![full("m", 1.0)])).unwrap();
}

#[test]
fn a_history_that_cannot_be_written_is_said_to_be_so_and_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let Some(_small) = read_only(directory.path()) else {
        let name = "history::a_history_that_cannot_be_written_is_said_to_be_so_and_can_be_read";
        return skip(name, "root may write everything");
    };
    let path = directory.path().join("history.db");
    for history in [History::open(&file(&path)), History::open_existing(&file(&path))] {
        let history = history.unwrap();
        let all = history.list(&Filter::default(), Order::NEWEST, Page::ALL).unwrap();
        assert_eq!(all.total, 1);
        assert_eq!(history.document("e").unwrap().unwrap().measurements().len(), 1);
        assert_eq!(history.live_runs().unwrap(), []);
        for error in [
            history.begin(&new("f", "p", "2026-11-21T12:00:00Z")).unwrap_err(),
            history.tag("e", "t").unwrap_err(),
        ] {
            assert!(matches!(error, HistoryError::ReadOnly { .. }), "{error:?}");
            assert!(error.to_string().contains("permissions"), "{error}");
        }
        let error = history.hold("f").unwrap_err();
        assert!(matches!(error, HistoryError::Unreachable { .. }), "{error:?}");
    }
    let error = History::open(&file(&directory.path().join("new.db"))).unwrap_err();
    assert!(matches!(error, HistoryError::Unreachable { .. }), "{error:?}");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).ok();
}

#[test]
fn those_who_only_read_make_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    let error = History::open_existing(&file(&path)).unwrap_err();
    assert!(matches!(error, HistoryError::NotThere { .. }), "{error}");
    assert!(!path.exists());
    let database = server().database();
    let url = server().url("127.0.0.1", &database);
    let error = History::open_existing(&place(&url)).unwrap_err();
    assert!(matches!(error, HistoryError::NotThere { .. }), "{error}");
    let schemas = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'iosonde'";
    assert_eq!(server().psql(&database, schemas), "0");
}

#[test]
fn a_url_shows_no_password_and_says_what_is_wrong() {
    for (url, shown) in [
        ("postgres://u:secret@h/d", "postgres://u@h/d"),
        ("postgresql://u:se@cr/et@h:5/d?sslmode=disable", "postgresql://u@h:5/d?sslmode=disable"),
        ("postgres://u@h/d?password=secret&sslmode=require", "postgres://u@h/d?sslmode=require"),
    ] {
        let place = place(url);
        assert_eq!(place.to_string(), shown);
        assert!(!format!("{place:?}").contains("secret"));
    }
    for (url, what) in [
        ("postgres://h/d?sslmode=maybe", "sslmode=maybe"),
        ("postgres:///d", "no host"),
        ("postgres://u:secret@h:port/d", "port"),
        ("postgres://u:secret@h/d?colour=red", "colour"),
    ] {
        let error = history::place(Some(url.into())).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

/// Some became a file named with the password; some were printed whole.
#[test]
fn a_connection_string_of_another_form_is_refused_and_not_repeated() {
    for text in [
        "host=db user=anna password=secret",
        "postgres://anna:a?secret@db",
        "POSTGRES://anna:secret@db",
        "mysql://anna:secret@db",
        "postgresql+ssl://anna:secret@db",
        "jdbc:postgresql://db/shop?password=secret",
        "Server=db;Password=secret",
        "Driver={x};PWD=secret",
        "anna:secret@db",
        "postgres://anna%3Asecret@db",
        "mysql://db",
    ] {
        let error = history::place(Some(text.into())).unwrap_err();
        let said = format!("{error} {error:?}");
        assert!(!said.contains("secret"), "{said}");
    }
    let place = history::place(Some("/data/h.db".into())).unwrap();
    assert_eq!(place.to_string(), "/data/h.db");
}

#[test]
fn a_server_that_does_not_let_us_in_is_said_with_its_words() {
    let (server, database) = (server(), server().database());
    let wrong = server.url("127.0.0.1", &database).replace("pass%20", "other");
    let nobody = server.url("127.0.0.1", "no_such_database");
    let closed = "postgres://owner@127.0.0.1:1/d";
    for (url, what) in
        [(wrong.as_str(), "password"), (&nobody, "no_such_database"), (closed, "refused")]
    {
        let error = History::open(&place(url)).unwrap_err();
        assert!(matches!(error, HistoryError::NoConnection { .. }), "{error:?}");
        assert!(error.to_string().contains(what), "{error}");
        assert!(!error.to_string().contains("%40"), "{error}");
    }
}

#[test]
fn a_foreign_schema_or_one_of_another_version_of_a_server_is_left_alone() {
    let database = server().database();
    let place = place(&server().url("127.0.0.1", &database));
    server().psql(&database, "CREATE SCHEMA iosonde; CREATE TABLE iosonde.experiments (x int)");
    let error = History::open(&place).unwrap_err();
    assert!(matches!(error, HistoryError::Foreign { .. }), "{error}");
    server().psql(&database, "DROP TABLE iosonde.experiments");
    drop(History::open(&place).unwrap());
    server().psql(&database, "UPDATE iosonde.history_version SET version = 4711");
    let error = History::open(&place).unwrap_err();
    assert!(matches!(error, HistoryError::OtherVersion { found: 4711, .. }), "{error}");
}

#[test]
fn a_lost_connection_is_made_anew() {
    let (place, database) = server().place();
    let history = History::open(&place).unwrap();
    let document = runs("e", "2026-11-21T12:00:00Z", vec![full("m", 1.0)]);
    let cut = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = \
         '{database}' AND application_name = 'iosonde'"
    );
    assert_eq!(server().psql(&database, &cut), "1");
    history.add(&document).unwrap();
    assert_eq!(server().psql(&database, &cut), "1");
    assert_eq!(history.document("e").unwrap().unwrap(), document);
}

/// Tells this program, started once more, which server it is to connect to.
const CONNECTS_TO: &str = "IOSONDE_TEST_CONNECTS_TO";

#[test]
fn connects_where_it_is_told_to() {
    let Ok(url) = std::env::var(CONNECTS_TO) else {
        // Nothing told: the test below starts it with its own certificates.
        return;
    };
    if let Err(error) = History::open(&place(&url)) {
        panic!("{error}");
    }
}

/// What a process says that connects with these certificates; nothing where it could.
fn refusal(url: &str, trusted: &Path) -> Option<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::trouble::connects_where_it_is_told_to", "--nocapture"])
        .env(CONNECTS_TO, url)
        .env("SSL_CERT_FILE", trusted)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then_some(said)
}

#[test]
fn encryption_is_as_the_url_asks() {
    let server = server();
    let ours = server.directory.join("server.crt");
    let url =
        |host: &str, mode: &str| format!("{}?sslmode={mode}", server.url(host, &server.database()));
    let encrypted = |mode: &str| {
        let url = url("127.0.0.1", mode);
        let database = url.split(['/', '?']).nth(3).unwrap().to_owned();
        let _open = History::open(&place(&url)).unwrap();
        let sql = format!(
            "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE datname = \
             '{database}' AND application_name = 'iosonde'"
        );
        server.psql("postgres", &sql)
    };
    assert_eq!(encrypted("disable"), "f");
    assert_eq!(encrypted("prefer"), "t");
    assert_eq!(refusal(&url("localhost", "require"), &ours), None, "trusted, and of this name");
    let other_name = refusal(&url("127.0.0.1", "verify-full"), &ours).unwrap();
    assert!(other_name.contains("certificate"), "{other_name}");
    let none = server.directory.join("none.crt");
    let untrusted = refusal(&url("localhost", "require"), &none).unwrap();
    assert!(untrusted.contains("certificate"), "{untrusted}");
}
