//! `iosonde sqliosim`: old command lines do what they did, say what they said, and touch nothing of
//! anybody else.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};

use crate::cli::program::{Running, code, command, fails, names, stderr, succeeds};

#[test]
fn a_test_leaves_its_files_a_summary_of_each_a_log_and_its_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let (data, log, saved) =
        (dir.path().join("data"), dir.path().join("x.xml"), dir.path().join("x.ini"));
    fs::create_dir(&data).unwrap();
    let (data, log_name) = (data.to_str().unwrap(), log.to_str().unwrap());
    let saved = saved.to_str().unwrap();
    let args =
        ["sqliosim", "-dir", data, "-size", "16", "-d", "1", "-log", log_name, "-save", saved];
    let output = command(&args).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("RIGHT: "), "{text}");
    for name in ["mdx", "ldx"] {
        let line = format!("********** Final Summary for file {data}/sqliosim.{name} **********");
        assert!(text.contains(&line), "{text}");
    }
    assert!(text.contains("Target IO Duration (ms) = 100, Running Average IO Duration (ms) = "));
    assert!(text.contains(", Scatter Reads = ") && text.contains(" writes: mean = "), "{text}");
    assert_eq!(names(data.as_ref()), ["sqliosim.ldx", "sqliosim.mdx"], "they stay");
    let entries = fs::read_to_string(&log).unwrap();
    assert!(entries.starts_with("<ENTRY TYPE='INFO' TIME='"), "{entries}");
    assert!(entries.contains("the load is running") && entries.contains("Final Summary"));

    // What was saved is a configuration that means the same.
    let again = command(&["sqliosim", "-cfg", saved, "--dry-run"]).output().unwrap();
    succeeds(&again);
    let text = String::from_utf8(again.stdout).unwrap();
    assert!(text.contains("1 cycle of 1 s") && text.contains("sqliosim.mdx"), "{text}");
    // Its log is written over, as SQLIOSim does; anything else is not.
    fs::write(&log, "somebody's").unwrap();
    let refused = command(&["sqliosim", "-cfg", saved, "-log", log_name]).output().unwrap();
    fails(&refused, 1, "not a log of SQLIOSim");
    assert_eq!(fs::read_to_string(&log).unwrap(), "somebody's");
}

#[test]
fn wrong_data_ends_it_with_exit_code_3() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("quiet.ini");
    let data = dir.path().join("a.mdx");
    // Only audits, so that what is spoiled stays so.
    let text = format!(
        "[CONFIG]\r\nTestCycleDuration=600\r\nDeleteFilesAtShutdown=TRUE\r\n[File1]\r\nFileName={}\r\nInitialSize=8\r\n\
         [RandomUser]\r\nUserCount=0\r\n[BulkUpdateUser]\r\nUserCount=0\r\n",
        data.display()
    );
    fs::write(&config, text).unwrap();
    let mut running = Running::start(&["sqliosim", "-cfg", config.to_str().unwrap()]);
    running.wait_for("the load is running");
    let mut file = OpenOptions::new().write(true).open(&data).unwrap();
    for page in 0..1024 {
        file.seek(SeekFrom::Start(page * 8192 + 700)).unwrap();
        file.write_all(b"X").unwrap();
    }
    drop(file);
    let output = running.end();
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("WRONG DATA: ") && text.contains("Final Summary"), "{text}");
    assert_eq!(names(dir.path()), ["quiet.ini"], "files are removed where that is wanted");
}

#[test]
fn configurations_are_found_by_name_and_through_drives() {
    let dir = tempfile::tempdir().unwrap();
    let drive = format!("F={}", dir.path().display());
    let args = ["sqliosim", "-cfg", "hwcache", "--drive", &drive, "--dry-run"];
    let output = command(&args).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("sqliosim.mdx") && text.contains("0 audit, 0 read-ahead"), "{text}");
    assert_eq!(names(dir.path()), [""; 0]);
    fails(
        &command(&["sqliosim", "-cfg", "hwcache", "--dry-run"]).output().unwrap(),
        2,
        "--drive f=",
    );
    let unknown = command(&["sqliosim", "-cfg", "nowhere.ini"]).output().unwrap();
    fails(&unknown, 2, "built in are default, hwcache");
}

#[test]
fn what_is_wrong_is_told_with_its_place_before_anything_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("bad.ini");
    fs::write(&config, "[CONFIG]\nCacheHitRatio=20000\n").unwrap();
    let config = config.to_str().unwrap();
    let place = dir.path().to_str().unwrap();
    let run = |args: &[&str]| command(&[&["sqliosim"][..], args].concat()).output().unwrap();
    fails(&run(&["-cfg", config, "-dir", place]), 2, "line 2, column 15");
    fails(&run(&["-dir", place, "-size", "0"]), 2, "whole number from 1");
    fails(&run(&["-x"]), 2, "no option `-x`");
    fails(&run(&[]), 2, "-dir");
    fails(&run(&["-dir", place, "--engine", "null"]), 2, "keep no data");
    assert_eq!(names(dir.path()), ["bad.ini"]);

    // Somebody's file of that name stays what it is.
    let foreign = dir.path().join("sqliosim.mdx");
    fs::write(&foreign, "somebody's").unwrap();
    let output = run(&["-dir", place, "-size", "16", "-d", "1"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "somebody's");
    assert_eq!(names(dir.path()), ["bad.ini", "sqliosim.mdx"]);

    let usage = run(&["-?"]);
    succeeds(&usage);
    assert!(String::from_utf8(usage.stdout).unwrap().contains("-dir DIR"));
}

/// Files that grow and shrink, one with holes, and zeros over what is new.
#[test]
fn sizes_change_and_holes_stay_as_the_configuration_says() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("sizes.ini");
    let place = dir.path().display();
    let text = format!(
        "[CONFIG]\r\nTestCycleDuration=4\r\nDeleteFilesAtShutdown=TRUE\r\nStampFiles=TRUE\r\n\
         [File1]\r\nFileName={place}/a.mdx\r\nInitialSize=8\r\nMaxSize=16\r\nIncrement=1\r\nShrinkable=TRUE\r\n\
         [File2]\r\nFileName={place}/a.ldx\r\nInitialSize=2\r\nLogFile=TRUE\r\n\
         [File3]\r\nFileName={place}/b.mdx\r\nInitialSize=8\r\nSparse=TRUE\r\n\
         [RandomUser]\r\nUserCount=0\r\n\
         [ShrinkUser]\r\nMinShrinkInterval=1\r\nMaxShrinkInterval=1\r\nMaxExtends=4\r\n"
    );
    fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let output = command(&["sqliosim", "-cfg", config]).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.starts_with("RIGHT: ") && text.contains("Files became shorter"), "{text}");
    let sparse = |name: &str| {
        let from = text.find(&format!("Final Summary for file {place}/{name}")).unwrap();
        text[from..].lines().nth(1).unwrap().contains("Sparse = Yes")
    };
    assert!(!sparse("a.mdx") && sparse("b.mdx"), "{text}");
    assert!(!stderr(&output).contains("note: "), "{}", stderr(&output));
    assert_eq!(names(dir.path()), ["sizes.ini"]);
}
