//! `iosonde validate` that is killed: its ledger allows to resume it, or the files that it left are
//! removed, and no others.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use crate::cli::program::{Running, code, command, fails, foreign_file, names, stderr, succeeds};

/// The arguments of a run with a ledger.
fn kept<'a>(directory: &'a Path, ledger: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let directory = directory.to_str().unwrap();
    let fixed = ["validate", directory, "--size", "16M", "--log-size", "8M", "--ledger", ledger];
    [&fixed[..], more].concat()
}

fn killed(args: &[&str], words: &str, after: Duration) {
    let mut running = Running::start(args);
    running.wait_for(words);
    std::thread::sleep(after);
    running.signal("KILL");
    drop(running.end());
}

#[test]
fn a_killed_run_goes_on_wherever_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    let ledger = dir.path().join("run.ledger");
    let ledger = ledger.to_str().unwrap();
    let args = kept(&data, ledger, &["--seconds", "3", "--checkpoint", "0.2"]);
    killed(&args, "writing every page", Duration::ZERO);
    let resume = ["validate", "--resume", ledger];
    for milliseconds in [0, 150, 300, 500, 800] {
        killed(&resume, "ing every page", Duration::from_millis(milliseconds));
        assert_eq!(names(&data), ["iosonde.ldx", "iosonde.mdx"]);
    }
    let output = command(&resume).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("RIGHT: "), "{text}");
    assert!(text.contains("6th time"), "{text}");
    assert_eq!((names(&data), names(dir.path())), (vec![], vec!["data".to_owned()]));
}

#[test]
fn what_was_spoiled_between_is_found_and_a_kept_run_can_be_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = dir.path().join("run.ledger");
    let ledger = ledger.to_str().unwrap();
    let output =
        command(&kept(dir.path(), ledger, &["--seconds", "0.5", "--keep"])).output().unwrap();
    succeeds(&output);
    assert!(stderr(&output).contains("--resume"), "{}", stderr(&output));
    let resume = ["validate", "--resume", ledger, "--quiet"];
    succeeds(&command(&resume).output().unwrap());
    let mut file = OpenOptions::new().write(true).open(dir.path().join("iosonde.mdx")).unwrap();
    file.seek(SeekFrom::Start(77 * 8192 + 700)).unwrap();
    file.write_all(b"XYZ").unwrap();
    drop(file);
    let output = command(&resume).output().unwrap();
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("page 77 at"), "{text}");
}

/// A ledger that could not be made was refused when the files had been made and filled, which may
/// take hours.
#[test]
fn a_ledger_that_cannot_be_is_refused_before_anything_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |ledger: &Path, more: &[&str], code, text: &str| {
        let output = command(&kept(dir.path(), ledger.to_str().unwrap(), more)).output().unwrap();
        fails(&output, code, text);
        assert!(!stderr(&output).contains("writing"), "{}", stderr(&output));
        assert_eq!(names(dir.path()), [""; 0]);
    };
    refused(Path::new("/proc/run.ledger"), &[], 1, "such as in `/dev/shm`");
    for file in ["iosonde.mdx", "iosonde.ldx"] {
        refused(&dir.path().join(file), &[], 2, "is one of the test files of this run");
    }
    let around = dir.path().join("..").join(dir.path().file_name().unwrap()).join("iosonde.mdx");
    refused(&around, &[], 2, "is one of the test files of this run");
    let ledger = dir.path().join("run.ledger");
    refused(&ledger, &["--resize", "1"], 2, "`--ledger` and `--resize` exclude each other");
}

#[test]
fn another_run_is_not_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = dir.path().join("run.ledger");
    let name = ledger.to_str().unwrap();
    let args = kept(dir.path(), name, &["--seconds", "60"]);
    let resume = ["validate", "--resume", name];
    fails(&command(&resume).output().unwrap(), 1, "cannot be opened");
    let mut running = Running::start(&args);
    running.wait_for("the load is running");
    fails(&command(&resume).output().unwrap(), 1, "in use by a run that has not ended");
    fails(&command(&["validate", "--clean", name]).output().unwrap(), 1, "in use");
    running.signal("KILL");
    drop(running.end());
    fails(&command(&args).output().unwrap(), 1, "exists; if it is a ledger");
    // The message showed the program's internal name of the flag.
    let more = [&resume[..], &["--continue"]].concat();
    fails(&command(&more).output().unwrap(), 2, "leave out `--continue`");
    let more = [&resume[..], &["--size", "8M"]].concat();
    fails(&command(&more).output().unwrap(), 2, "leave out `--size`");
    let data = dir.path().join("iosonde.mdx");
    let copy = dir.path().join("copy");
    fs::copy(&data, &copy).unwrap();
    fs::rename(&copy, &data).unwrap();
    fails(&command(&resume).output().unwrap(), 1, "another run: a file was");
    OpenOptions::new().write(true).open(&data).unwrap().set_len(8 << 20).unwrap();
    assert_eq!(code(&command(&resume).output().unwrap()), 1);
    fs::remove_file(&data).unwrap();
    assert_eq!(code(&command(&resume).output().unwrap()), 1);
    fs::write(&ledger, "something else").unwrap();
    fails(&command(&resume).output().unwrap(), 1, "is not a ledger");
}

/// The files of a killed run were used by another, which keeps their names, sizes and inodes.
/// Resuming the first blamed the storage, after it had read every block of the log again for a
/// second each.
#[test]
fn a_ledger_of_a_run_before_is_refused_and_names_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    let [first, second] = ["first", "second"].map(|name| dir.path().join(name));
    for ledger in [&first, &second] {
        let args =
            kept(&data, ledger.to_str().unwrap(), &["--seconds", "1", "--checkpoint", "0.2"]);
        killed(&args, "the load is running", Duration::from_millis(300));
    }
    let output = command(&["validate", "--resume", first.to_str().unwrap()]).output().unwrap();
    fails(&output, 1, "and the files do not belong together");
    let said = stderr(&output);
    for word in ["iosonde.mdx", "first", "--clean"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(names(&data), ["iosonde.ldx", "iosonde.mdx"], "they stay");
    succeeds(&command(&["validate", "--resume", second.to_str().unwrap()]).output().unwrap());
}

#[test]
fn what_a_killed_run_left_is_removed_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let (data, ledger) = (dir.path().join("data"), dir.path().join("run.ledger"));
    fs::create_dir(&data).unwrap();
    let foreign = foreign_file(&data.join("somebody.dat"), 100_000);
    let (name, directory) = (ledger.to_str().unwrap(), data.to_str().unwrap());
    let left = ["iosonde.ldx", "iosonde.mdx", "somebody.dat"];
    killed(&kept(&data, name, &["--seconds", "60"]), "the load is running", Duration::ZERO);
    assert_eq!(names(&data), left);
    let clean = ["validate", "--clean", name];
    let dry = command(&[&clean[..], &["--dry-run"]].concat()).output().unwrap();
    succeeds(&dry);
    assert_eq!((names(&data).len(), ledger.exists()), (3, true));
    succeeds(&command(&clean).output().unwrap());
    assert_eq!((names(&data), ledger.exists()), (vec!["somebody.dat".to_owned()], false));
    // The same by the directory, without a ledger.
    let args = ["validate", directory, "--size", "16M", "--log-size", "8M", "--seconds", "60"];
    killed(&args, "the load is running", Duration::ZERO);
    let clean = ["validate", "--clean", directory];
    succeeds(&command(&clean).output().unwrap());
    assert_eq!(names(&data), ["somebody.dat"]);
    let output = command(&clean).output().unwrap();
    assert_eq!(output.stdout, b"nothing is left\n");
    let named = data.join("somebody.dat");
    let clean = ["validate", "--clean", named.to_str().unwrap()];
    fails(&command(&clean).output().unwrap(), 1, "was not made by iosonde");
    assert_eq!(fs::read(&named).unwrap(), foreign);
}
