//! Files that iosonde made: recognised, reused, kept, removed, and never two processes on one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cli::program::{
    Running, SHORT, code, fails, foreign_file, mark, measurement, names, run, run_small, stderr,
    succeeds,
};

const NAME: &str = "iosonde.test";

/// A directory with a test file that was kept.
fn kept() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    succeeds(&run_small(dir.path(), &["--keep", "--quiet"]));
    let path = dir.path().join(NAME);
    (dir, path)
}

#[test]
fn a_kept_file_carries_its_mark_and_is_used_again() {
    let (dir, path) = kept();
    let text = mark(&path);
    assert!(
        text.starts_with("iosonde test file\nversion 1\nsize 16777216\nstate filled\nkeep yes")
    );
    let before = fs::metadata(&path).unwrap();
    assert_eq!((before.len(), before.mode() & 0o777), ((16 << 20) + 4096, 0o600));
    let first = fs::read(&path).unwrap();
    // Without `--keep`: the file was made with `--keep`, and that still holds.
    let output = run_small(dir.path(), &["--json"]);
    succeeds(&output);
    assert_eq!(measurement(&output).file_bytes, 16 << 20);
    assert!(!stderr(&output).contains("writing"), "it is full of data already");
    assert_eq!(fs::metadata(&path).unwrap().ino(), before.ino());
    assert!(fs::read(&path).unwrap() == first, "reading changes nothing");
    // By its own name, and a part of it.
    let output = run(&path, &["--json", "--size", "4M", "--write", "50"]);
    succeeds(&output);
    assert_eq!(measurement(&output).file_bytes, 4 << 20);
    let after = fs::read(&path).unwrap();
    assert!(after[4 << 20..] == first[4 << 20..], "beyond the used part nothing is written");
    // On a machine that does nothing for this program, not even one write may come to its end.
    let written = measurement(&output).write.ios > 0;
    assert!(!written || after[..4 << 20] != first[..4 << 20], "what was written is there");
    assert_eq!(mark(&path), text);
}

#[test]
fn the_whole_file_is_written_with_bytes_that_do_not_repeat() {
    let (_dir, path) = kept();
    let bytes = fs::read(path).unwrap();
    let blocks: std::collections::HashSet<&[u8]> = bytes[..16 << 20].chunks(512).collect();
    assert_eq!(blocks.len(), (16 << 20) / 512);
}

/// A kept file that had to grow was marked as not to be kept, and the run after the next removed
/// it.
#[test]
fn a_kept_file_that_is_made_larger_is_still_kept() {
    let (dir, path) = kept();
    for _ in 0..2 {
        succeeds(&run(dir.path(), &["--size", "20M", "--quiet"]));
        assert!(mark(&path).contains("size 20971520\nstate filled\nkeep yes"), "{}", mark(&path));
    }
}

/// `--keep` on a file that was to be removed left it, but marked for removal by the next run.
#[test]
fn a_file_that_is_to_be_kept_from_now_on_says_so() {
    let (dir, path) = kept();
    let mut bytes = fs::read(&path).unwrap();
    let text = mark(&path).replace("keep yes", "keep no");
    bytes.truncate(16 << 20);
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize((16 << 20) + 4096, b'\n');
    fs::write(&path, &bytes).unwrap();
    succeeds(&run_small(dir.path(), &["--keep", "--quiet"]));
    assert!(mark(&path).contains("keep yes"));
    fs::write(&path, &bytes).unwrap();
    succeeds(&run_small(dir.path(), &["--quiet"]));
    assert_eq!(names(dir.path()), [""; 0], "a leftover is removed by the run that used it");
}

/// A run that had written zeros left a file that passed for filled with random bytes, and a device
/// that knows zeros looked fast in the next one.
#[test]
fn a_file_that_was_written_with_other_bytes_is_filled_again() {
    let (dir, path) = kept();
    succeeds(&run_small(dir.path(), &["--write", "100", "--content", "zero", "--quiet"]));
    assert!(mark(&path).contains("state filling"), "{}", mark(&path));
    let output = run_small(dir.path(), &[]);
    succeeds(&output);
    assert!(stderr(&output).contains("writing"));
    assert!(mark(&path).contains("state filled"), "{}", mark(&path));
}

#[test]
fn a_file_that_only_has_the_name_is_passed_by() {
    let (dir, path) = kept();
    // One byte more, and it is no test file but somebody's.
    let mut bytes = fs::read(&path).unwrap();
    bytes.push(b'\n');
    fs::write(&path, &bytes).unwrap();
    let output = run_small(dir.path(), &["--json", "--write", "50"]);
    succeeds(&output);
    assert_eq!(measurement(&output).targets[0].path, dir.path().join("iosonde-1.test"));
    assert!(fs::read(&path).unwrap() == bytes);
    assert_eq!(names(dir.path()), [NAME]);
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn start(directory: &Path, args: &[&str]) -> Running {
    Running::start(&[&["run", directory.to_str().unwrap(), "--json"], args].concat())
}

#[test]
fn what_a_killed_fill_left_is_recognised_and_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = start(dir.path(), &["--size", "1G"]);
    running.wait_for("writing");
    running.signal("KILL");
    assert_eq!(running.end().status.code(), None);
    let path = dir.path().join(NAME);
    let length = fs::metadata(&path).unwrap().len();
    assert_eq!(length, (1 << 30) + 4096);
    let output = run_small(dir.path(), &["--json"]);
    succeeds(&output);
    assert!(stderr(&output).contains("writing"), "half a file is none");
    assert_eq!(measurement(&output).targets[0].path, path);
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn what_a_killed_run_left_is_used_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = start(dir.path(), &["--size", "16M", "--seconds", "60"]);
    running.wait_for("warming up");
    running.signal("KILL");
    running.end();
    let path = dir.path().join(NAME);
    assert!(mark(&path).contains("state filled\nkeep no"), "{}", mark(&path));
    let output = run_small(dir.path(), &["--json"]);
    succeeds(&output);
    assert!(!stderr(&output).contains("writing"));
    assert_eq!(names(dir.path()), [""; 0]);
}

/// Somebody's empty lock file had the name `iosonde.test`, too (a hard link), and was filled with
/// random bytes.
#[test]
fn an_empty_file_is_passed_by() {
    let dir = tempfile::tempdir().unwrap();
    let lock = dir.path().join("important.lock");
    fs::write(&lock, "").unwrap();
    fs::hard_link(&lock, dir.path().join(NAME)).unwrap();
    fs::write(dir.path().join("iosonde-1.test"), "").unwrap();
    let output = run_small(dir.path(), &["--json", "--write", "50"]);
    succeeds(&output);
    assert_eq!(measurement(&output).targets[0].path, dir.path().join("iosonde-2.test"));
    assert_eq!(names(dir.path()), ["important.lock", "iosonde-1.test", NAME]);
    assert_eq!(fs::metadata(&lock).unwrap().len(), 0);
}

/// A marked file that has a second name, or belongs to another user, is somebody's.
#[test]
fn a_test_file_of_others_is_passed_by() {
    let (dir, path) = kept();
    let before = fs::read(&path).unwrap();
    let second = dir.path().join("second");
    fs::hard_link(&path, &second).unwrap();
    let used = |flags: &[&str]| {
        let output = run_small(dir.path(), &[&["--json", "--write", "50"], flags].concat());
        succeeds(&output);
        measurement(&output).targets[0].path.clone()
    };
    assert_eq!(used(&[]), dir.path().join("iosonde-1.test"));
    fails(&run(&path, &["--write", "50"]), 1, "hard links");
    fs::remove_file(&second).unwrap();
    if std::os::unix::fs::chown(&path, Some(65534), None).is_ok() {
        assert_eq!(used(&[]), dir.path().join("iosonde-1.test"));
        fails(&run(&path, &["--write", "50"]), 1, "was not made by iosonde");
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    }
    assert!(fs::read(&path).unwrap() == before);
    assert_eq!(used(&[]), path, "now it is ours again");
}

#[test]
fn a_test_file_in_use_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = start(dir.path(), &["--size", "16M", "--seconds", "60"]);
    first.wait_for("warming up");
    let path = dir.path().join(NAME);
    let before = fs::read(&path).unwrap();
    let output = run_small(dir.path(), &["--json", "--write", "100"]);
    succeeds(&output);
    assert_eq!(measurement(&output).targets[0].path, dir.path().join("iosonde-1.test"));
    fails(&run_small(&path, &[]), 1, "the test file of an iosonde that is running");
    assert_eq!(names(dir.path()), [NAME]);
    assert!(fs::read(&path).unwrap() == before);
    first.signal("INT");
    assert_eq!(code(&first.end()), 130);
    assert_eq!(names(dir.path()), [""; 0]);
}

/// Between the plan and the lock others may be faster; the loser gave up, and removed the winner's
/// file.
#[test]
fn processes_that_start_together_each_find_a_file() {
    let (dir, path) = kept();
    fs::write(&path, mark(&path)).unwrap();
    fs::remove_file(&path).unwrap();
    for _ in 0..3 {
        let args = [&["--quiet", "--size", "1M"][..], &SHORT[..4]].concat();
        let all: Vec<Running> = (0..6).map(|_| start(dir.path(), &args)).collect();
        for running in all {
            let output = running.end();
            succeeds(&output);
            assert!(measurement(&output).total.ios > 0);
        }
        assert_eq!(names(dir.path()), [""; 0]);
    }
}

/// Removal went by the name alone: whatever had come to bear it was gone.
#[test]
fn a_file_that_took_the_name_meanwhile_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = start(dir.path(), &["--size", "16M", "--seconds", "60"]);
    running.wait_for("warming up");
    let path = dir.path().join(NAME);
    fs::rename(&path, dir.path().join("moved")).unwrap();
    let content = foreign_file(&path, 1000);
    running.signal("TERM");
    assert_eq!(code(&running.end()), 130);
    assert!(fs::read(&path).unwrap() == content);
}

/// The target is planned early and made late; in between, the first target is filled. What took the
/// place of the second one's test file was emptied and overwritten.
#[test]
fn what_takes_a_test_files_place_before_its_turn_is_safe() {
    let (dir, second) = kept();
    let first = tempfile::tempdir().unwrap();
    // The second target's file is too small, so that it is to be written again.
    let mut running = start(
        first.path(),
        &[&[dir.path().to_str().unwrap(), "--size", "512M"][..], &SHORT[..4]].concat(),
    );
    running.wait_for("writing");
    let moved = dir.path().join("moved");
    fs::rename(&second, &moved).unwrap();
    let content = foreign_file(&second, 1000);
    wait_until("the second target gets a file", || dir.path().join("iosonde-1.test").exists());
    running.signal("INT");
    running.end();
    assert!(fs::read(&second).unwrap() == content);
    assert_eq!(names(dir.path()), [NAME, "moved"]);
    assert_eq!(names(first.path()), [""; 0]);
}
