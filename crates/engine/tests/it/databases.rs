//! Whatever a real database server has made is refused, by whatever name it is reached.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use engine::{Destroy, Permissions, PrepareError, Refusal};
use testing::skip;
use workload::{Stream, Target, Workload};

/// A directory that a server's own user can use.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    directory
}

/// Servers refuse to run as root.
fn server(program: &Path, arguments: &[&str], directory: &Path) -> Command {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout == b"0\n");
    let mut command = Command::new(if is_root { Path::new("setpriv") } else { program });
    if is_root {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    }
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command
}

fn made(program: &Path, arguments: &[&str], directory: &Path) -> bool {
    let output = server(program, arguments, directory).output();
    output.is_ok_and(|output| output.status.success())
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&entry.path(), found);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
}

/// What becomes of a write to a file that `--destroy` names.
fn refusal(path: &Path) -> Option<Refusal> {
    let target = Target { path: path.to_owned(), size_bytes: None };
    let stream = Stream { write_percent: 100, ..Stream::default() };
    let destroy = vec![Destroy::new(path)];
    let permissions = Permissions { destroy, ..Permissions::default() };
    match engine::plan(&Workload::single(target, stream), &permissions) {
        Err(PrepareError::Refused(mut refusals)) => refusals.pop(),
        // The workload does not fit a file of a few bytes; it is refused in any case.
        Err(_) => None,
        Ok(plan) => panic!("{} would be written: {plan:?}", path.display()),
    }
}

#[track_caller]
fn all_are_refused(data: &Path) {
    let mut all = Vec::new();
    files(data, &mut all);
    assert!(all.len() > 50, "the server has made its files: {}", all.len());
    for path in &all {
        let refusal = refusal(path).unwrap_or_else(|| panic!("{} was planned", path.display()));
        let empty = fs::metadata(path).unwrap().len() == 0;
        let is_right = matches!(refusal, Refusal::Database { .. });
        assert!(is_right || empty, "{}: {refusal}", path.display());
    }
    // A link elsewhere, whose name says nothing.
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("a.dat");
    for path in all.iter().take(40) {
        symlink(path, &link).unwrap();
        assert!(matches!(refusal(&link), Some(Refusal::Database { .. })), "{}", path.display());
        fs::remove_file(&link).unwrap();
    }
    // What is not there yet is not a database's.
    let new = Workload::single(
        Target { path: data.to_owned(), size_bytes: Some(workload::Bytes(1 << 20)) },
        Stream::default(),
    );
    let permissions = Permissions { overfill: true, ..Permissions::default() };
    engine::plan(&new, &permissions).unwrap();
}

/// The content alone of these files tells that they are a database's, with another name in another
/// directory.
#[track_caller]
fn are_known_by_content(data: &Path, names: &[&str]) {
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("app.dat");
    for name in names {
        fs::copy(data.join(name), &copy).unwrap();
        assert!(matches!(refusal(&copy), Some(Refusal::Database { .. })), "{name}");
    }
}

/// Files of SQLite in each of its modes, and one of Berkeley DB (which is `ndbm` on Debian).
const PYTHON: &str = "
import sqlite3, shutil
c = sqlite3.connect('main', isolation_level=None)
c.execute('pragma journal_mode=wal')
c.execute('create table t(a)')
shutil.copy('main-wal', 'wal')
c.execute('pragma journal_mode=persist')
c.execute('pragma cache_size=1')
c.execute('begin')
c.execute('insert into t values(randomblob(900000))')
shutil.copy('main-journal', 'journal')
c.execute('rollback')
import dbm.ndbm
dbm.ndbm.open('berkeley', 'c').close()
";

/// An SQLite database called `app.dat` was overwritten with `--destroy`.
#[test]
fn files_of_embedded_databases_are_known_by_content() {
    let directory = directory();
    for python in ["/usr/bin/python3", "python3"] {
        let mut command = Command::new(python);
        command.args(["-c", PYTHON]).current_dir(directory.path());
        let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
    for name in ["main", "wal", "journal", "berkeley.db"] {
        if directory.path().join(name).exists() {
            are_known_by_content(directory.path(), &[name]);
        } else {
            // Not every Python comes with Berkeley DB, and some come without SQLite.
            skip("engine::databases::embedded", format!("Python makes no `{name}`"));
        }
    }
}

/// 43 of 44 files in `global/` were overwritten, and all of `pg_wal` and `pg_xact`.
#[test]
fn every_file_of_a_real_postgresql_is_refused() {
    let programs = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut programs: Vec<PathBuf> = programs.map(|v| v.path().join("bin/initdb")).collect();
    programs.sort();
    let directory = directory();
    let options = ["--no-sync", "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale", "C", "-D"];
    let Some(initdb) = programs.last().filter(|p| p.is_file()) else {
        return skip("engine::databases::postgresql", "PostgreSQL is not installed");
    };
    assert!(made(initdb, &[&options[..], &["data"]].concat(), directory.path()));
    let data = directory.path().join("data");
    all_are_refused(&data);
    let wal = fs::read_dir(data.join("pg_wal")).unwrap().flatten();
    let wal = wal.map(|e| e.path()).find(|path| path.is_file()).unwrap();
    are_known_by_content(
        &data,
        &[
            "global/1262",
            "global/pg_control",
            "global/pg_filenode.map",
            "base/1/1259",
            "base/1/2662",
            wal.strip_prefix(&data).unwrap().to_str().unwrap(),
        ],
    );
}

#[test]
fn every_file_of_a_real_mariadb_is_refused() {
    let directory = directory();
    let install = Path::new("/usr/bin/mariadb-install-db");
    if !install.is_file() {
        return skip("engine::databases::mariadb", "MariaDB is not installed");
    }
    let options = ["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"];
    let data = directory.path().join("data");
    let place = format!("--datadir={}", data.display());
    assert!(made(install, &[&options[..], &[&place]].concat(), directory.path()));
    all_are_refused(&data);
    are_known_by_content(
        &data,
        &[
            "ibdata1",
            "ib_logfile0",
            "aria_log_control",
            "aria_log.00000001",
            "mysql/db.MAI",
            "mysql/innodb_table_stats.ibd",
        ],
    );
}

#[test]
fn a_real_binary_log_is_known_by_content() {
    let directory = directory();
    let program = Path::new("/usr/sbin/mariadbd");
    if !program.is_file() {
        return skip("engine::databases::binary_log", "MariaDB is not installed");
    }
    let socket = format!("--socket={}", directory.path().join("socket").display());
    let options = ["--no-defaults", "--datadir=.", "--log-bin=changes", "--skip-networking"];
    let options = [&options[..], &["--skip-grant-tables", &socket]].concat();
    let mut server = server(program, &options, directory.path());
    let mut server = server.stderr(Stdio::null()).spawn().unwrap();
    let log = directory.path().join("changes.000001");
    while fs::metadata(&log).map_or(0, |log| log.len()) < 100 {
        assert!(server.try_wait().unwrap().is_none(), "the server makes a log");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    server.kill().unwrap();
    server.wait().unwrap();
    are_known_by_content(directory.path(), &["changes.000001"]);
}

/// A loop device over a database's file is that file; so is a loop device over that.
#[test]
fn a_loop_device_over_a_databases_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("PG_VERSION"), "17\n").unwrap();
    let file = directory.path().join("base.dat");
    fs::write(&file, vec![0; 4 << 20]).unwrap();
    let mut loops: Vec<String> = Vec::new();
    let mut over = file.display().to_string();
    for options in [&[][..], &["-o", "65536"], &[]] {
        let mut command = Command::new("losetup");
        command.args(["-f", "--show"]).args(options).arg(&over);
        let Some(output) = command.output().ok().filter(|o| o.status.success()) else { break };
        over = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        loops.push(over.clone());
    }
    let refusals: Vec<_> = loops.iter().map(|device| refusal(Path::new(device))).collect();
    for device in loops.iter().rev() {
        assert!(Command::new("losetup").args(["-d", device]).status().unwrap().success());
    }
    if loops.len() < 3 {
        return skip("engine::databases::loops", "there are no loop devices");
    }
    // Devices under others are in use by them.
    assert!(matches!(refusals[2], Some(Refusal::Database { .. })), "{refusals:?}");
    for refusal in refusals {
        assert!(matches!(refusal, Some(Refusal::Database { .. } | Refusal::InUse { .. })));
    }
}

/// A test file that was kept, and then made a disk of, had its mark still, and was filled again.
#[test]
fn a_test_file_that_holds_a_file_system_now_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("iosonde.test");
    let target = Target { path: path.clone(), size_bytes: Some(workload::Bytes(1 << 20)) };
    let workload = Workload::single(target, Stream { write_percent: 50, ..Stream::default() });
    let permissions = Permissions { keep: true, overfill: true, ..Permissions::default() };
    let workload = Workload { mode: workload::Mode::Buffered, ..workload };
    let stop = std::sync::atomic::AtomicBool::new(false);
    drop(engine::prepare(&workload, &permissions, &stop, &mut |_| ()).unwrap());
    engine::plan(&workload, &permissions).unwrap();
    let mut content = fs::read(&path).unwrap();
    content[..12].copy_from_slice(b"XFSB\0\0\x10\0\0\0\0\0");
    fs::write(&path, content).unwrap();
    let refused = engine::plan(&workload, &permissions).unwrap_err().to_string();
    assert!(refused.contains("now holds XFS"), "{refused}");
    // In its directory, another file is made.
    let mut workload = workload;
    directory.path().clone_into(&mut workload.targets[0].path);
    let plan = engine::plan(&workload, &permissions).unwrap();
    assert_eq!(plan[0].path, directory.path().join("iosonde-1.test"));
}

/// A mount, undone when dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(arguments: &[&str], at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let output = Command::new("mount").args(arguments).arg(at).output().ok()?;
        output.status.success().then(|| Self(at.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Through a bind mount of `global/`, nothing above the file is PostgreSQL's.
#[test]
fn a_databases_file_is_refused_through_a_bind_mount() {
    let directory = tempfile::tempdir().unwrap();
    let global = directory.path().join("pg/global");
    fs::create_dir_all(&global).unwrap();
    fs::write(directory.path().join("pg/PG_VERSION"), "17\n").unwrap();
    fs::write(global.join("1"), vec![7; 1 << 20]).unwrap();
    let at = directory.path().join("elsewhere");
    let Some(_mounted) = Mounted::new(&["--bind", global.to_str().unwrap()], &at) else {
        return skip("engine::databases::bind", "nothing can be mounted");
    };
    assert!(matches!(refusal(&at.join("1")), Some(Refusal::Database { .. })));
}

/// A program had a file open through an overlay. The kernel counts that as another file, and the
/// file in the upper directory was overwritten.
#[test]
fn a_file_that_is_open_through_an_overlay_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let [low, up, work] = ["low", "up", "work"].map(|name| directory.path().join(name));
    for part in [&low, &up, &work] {
        fs::create_dir(part).unwrap();
    }
    fs::write(low.join("lower"), vec![7; 1 << 20]).unwrap();
    let shown = |path: &Path| path.display().to_string();
    let layers =
        format!("lowerdir={},upperdir={},workdir={}", shown(&low), shown(&up), shown(&work));
    let merged = directory.path().join("merged");
    let options = ["-t", "overlay", "overlay", "-o", &layers];
    let Some(_mounted) = Mounted::new(&options, &merged) else {
        return skip("engine::databases::overlay", "no overlay can be mounted");
    };
    fs::write(merged.join("upper"), vec![7; 1 << 20]).unwrap();
    for (name, below) in [("upper", &up), ("lower", &low)] {
        for (open, target) in [(&merged, below), (below, &merged)] {
            let file = fs::File::open(open.join(name)).unwrap();
            let mut program = Command::new("sleep").arg("60").stdin(file).spawn().unwrap();
            let refused = refusal(&target.join(name));
            program.kill().unwrap();
            program.wait().unwrap();
            assert!(matches!(refused, Some(Refusal::InUse { .. })), "{name}: {refused:?}");
        }
    }
}
