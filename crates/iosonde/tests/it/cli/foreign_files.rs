//! Files that iosonde did not make.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::cli::program::{fails, foreign_file, measurement, run, run_small, succeeds};

const WRITES: [&str; 3] = ["--json", "--write", "50"];

#[track_caller]
fn refuses_writes(path: &Path, args: &[&str], words: &str) {
    let before = fs::read(path).unwrap();
    fails(&run(path, &[&WRITES, args].concat()), 1, words);
    assert!(fs::read(path).unwrap() == before, "{} is another", path.display());
}

#[test]
fn a_foreign_file_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    foreign_file(&data, 1 << 20);
    refuses_writes(&data, &[], "was not made by iosonde");
    refuses_writes(&data, &["--size", "512K"], "was not made by iosonde");
    refuses_writes(&data, &["--keep", "--overfill"], "was not made by iosonde");
}

#[test]
fn a_foreign_file_is_read_and_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data.mdf");
    let content = foreign_file(&data, 1 << 20);
    let output = run(&data, &["--json"]);
    succeeds(&output);
    let m = measurement(&output);
    assert_eq!((m.file_bytes, m.write.ios), (1 << 20, 0));
    assert!(m.read.ios > 0);
    let warned = m.checks.warnings.iter().any(|w| w.contains("was not filled by iosonde"));
    assert!(warned, "{:?}", m.checks.warnings);
    assert!(fs::read(&data).unwrap() == content);
}

#[test]
fn destroy_overwrites_exactly_what_it_names() {
    let dir = tempfile::tempdir().unwrap();
    let (data, neighbour) = (dir.path().join("data"), dir.path().join("neighbour"));
    let content = foreign_file(&data, (1 << 20) + 100);
    foreign_file(&neighbour, 1 << 20);
    let name = data.to_str().unwrap();
    let output = run(&data, &[&WRITES[..], &["--destroy", name, "--size", "512K"]].concat());
    succeeds(&output);
    let after = fs::read(&data).unwrap();
    assert_eq!(after.len(), content.len());
    assert!(after[..512 << 10] != content[..512 << 10], "the used part is overwritten");
    assert!(after[512 << 10..] == content[512 << 10..], "the rest is not");
    assert!(fs::read(&neighbour).unwrap() == content[..1 << 20]);
}

#[test]
fn a_databases_file_is_never_written() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.mdf", "b.LDF", "c.ibd", "ibdata1", "undo_003", "d.sqlite"] {
        let data = dir.path().join(name);
        foreign_file(&data, 1 << 20);
        refuses_writes(&data, &["--destroy", data.to_str().unwrap()], "belongs to a database");
    }
    let new = dir.path().join("new.mdf");
    fails(&run_small(&new, &["--destroy", new.to_str().unwrap()]), 1, "belongs to a database");
    assert!(!new.exists());
}

/// An SQLite file was overwritten because it was named `app.dat`, and so were files of PostgreSQL
/// in directories below the one with `PG_VERSION`.
#[test]
fn a_databases_file_is_known_by_its_content_and_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("app.dat");
    let content = [b"SQLite format 3\0".to_vec(), vec![7; 1 << 20]].concat();
    fs::write(&data, content).unwrap();
    let place = dir.path().join("pg/global/deep");
    fs::create_dir_all(&place).unwrap();
    fs::write(dir.path().join("pg/PG_VERSION"), "17\n").unwrap();
    let below = place.join("1262");
    foreign_file(&below, 1 << 20);
    let link = dir.path().join("link.dat");
    symlink(&below, &link).unwrap();
    for path in [&data, &below, &link] {
        refuses_writes(path, &["--destroy", path.to_str().unwrap()], "belongs to a database");
    }
    let output = run_small(&place, &["--write", "50"]);
    succeeds(&output);
}

/// PostgreSQL's files have bare numbers for names.
#[test]
fn a_file_of_postgresql_is_never_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("PG_VERSION"), "17\n").unwrap();
    let data = dir.path().join("16385");
    foreign_file(&data, 1 << 20);
    refuses_writes(&data, &["--destroy", data.to_str().unwrap()], "belongs to a database");
}

#[test]
fn a_link_to_a_foreign_file_is_that_file() {
    let dir = tempfile::tempdir().unwrap();
    let (data, database) = (dir.path().join("data"), dir.path().join("sales.mdf"));
    foreign_file(&data, 1 << 20);
    foreign_file(&database, 1 << 20);
    let (to_data, to_database) = (dir.path().join("one"), dir.path().join("two"));
    symlink(&data, &to_data).unwrap();
    symlink(&database, &to_database).unwrap();
    refuses_writes(&to_data, &[], "was not made by iosonde");
    let name = to_database.to_str().unwrap();
    refuses_writes(&to_database, &["--destroy", name], "belongs to a database");
    let nowhere = dir.path().join("nowhere");
    symlink(dir.path().join("gone"), &nowhere).unwrap();
    fails(&run_small(&nowhere, &[]), 1, "does not exist");
}

/// A second name of a database's file has any extension one likes.
#[test]
fn a_file_with_several_names_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let (database, other) = (dir.path().join("sales.mdf"), dir.path().join("scratch"));
    foreign_file(&database, 1 << 20);
    fs::hard_link(&database, &other).unwrap();
    refuses_writes(&other, &["--destroy", other.to_str().unwrap()], "hard links");
}

/// A database or a virtual machine that runs on the file would not survive, whatever the file is
/// called.
#[test]
fn a_file_that_a_program_has_open_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    foreign_file(&data, 1 << 20);
    let open = File::open(&data).unwrap();
    let destroy = ["--destroy", data.to_str().unwrap()];
    refuses_writes(&data, &destroy, "open elsewhere");
    drop(open);
    succeeds(&run(&data, &[&WRITES[..], &destroy].concat()));
}

/// fio read a file of holes at 206 000 IOPS without a word; the disk did 57 000.
#[test]
fn reading_holes_is_warned_of() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("sparse");
    File::create(&data).unwrap().set_len(1 << 20).unwrap();
    let output = run(&data, &["--json"]);
    succeeds(&output);
    let warnings = measurement(&output).checks.warnings;
    let warned = warnings.iter().any(|w| w.contains("100.0 %") && w.contains("holes"));
    assert!(warned, "{warnings:?}");
}

#[test]
fn a_file_that_is_too_small_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    foreign_file(&data, 1 << 20);
    fails(&run(&data, &["--size", "2M"]), 1, "less than the 2 MiB asked for");
    fs::write(&data, "").unwrap();
    fails(&run(&data, &[]), 2, "has only 0");
}

#[test]
fn pipes_and_sockets_are_no_targets() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    fails(&run_small(&socket, &[]), 1, "a socket");
    let pipe = dir.path().join("pipe");
    if crate::cli::program::tool("mkfifo", &[pipe.to_str().unwrap()]).is_ok() {
        fails(&run_small(&pipe, &[]), 1, "a pipe");
    }
}
