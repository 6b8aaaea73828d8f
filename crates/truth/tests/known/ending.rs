//! Nothing is left behind, however the end comes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use truth::Truth;
use workload::{Nanoseconds, SimDevice, SimStuck};

use crate::load::{Block, open};
use crate::{SIZE, mounted};

/// Nothing here takes long; a wait longer than this hangs.
const HANGS: Duration = Duration::from_secs(30);
/// Tells the test that kills to be what is killed.
const VICTIM: &str = "IOSONDE_TRUTH_VICTIM";

/// A device whose first I/O takes an hour.
fn stuck() -> SimDevice {
    let length_ns = Nanoseconds(3_600_000_000_000);
    SimDevice { stuck: Some(SimStuck { at_io: 1, length_ns }), ..SimDevice::default() }
}

fn is_left(directory: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    mounts.contains(directory.to_str().unwrap()) || fs::symlink_metadata(directory).is_ok()
}

#[test]
fn what_is_pending_is_answered_when_the_device_goes() {
    let Some(truth) = mounted("what_is_pending_is_answered_when_the_device_goes", stuck(), &[SIZE])
    else {
        return;
    };
    let (file, directory) = (open(&truth.path(0)), truth.directory().to_owned());
    let reading = std::thread::spawn(move || file.read_at(Block::new(0).get(), 0).unwrap());
    std::thread::sleep(Duration::from_millis(50));
    drop(truth);
    assert_eq!(reading.join().unwrap(), 4096);
    assert!(!is_left(&directory));
}

#[test]
fn a_panic_leaves_nothing_mounted() {
    let Some(truth) = mounted("a_panic_leaves_nothing_mounted", SimDevice::default(), &[SIZE])
    else {
        return;
    };
    let directory = truth.directory().to_owned();
    let still_open = open(&truth.path(0));
    assert!(is_left(&directory));
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let _truth = truth;
        panic!("this test panics on purpose");
    }));
    assert!(ended.is_err() && !is_left(&directory));
    drop(still_open);
}

/// A process that waits for its own file system cannot be killed: the thread that waits keeps the
/// others' files open.
#[test]
fn a_killed_process_ends_and_leaves_nothing_mounted() {
    let name = "a_killed_process_ends_and_leaves_nothing_mounted";
    if std::env::var_os(VICTIM).is_some() {
        return wait_to_be_killed();
    }
    let Some(truth) = mounted(name, SimDevice::default(), &[]) else { return };
    drop(truth);
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("ending::{name}"), "--nocapture"])
        .env(VICTIM, "yes")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stderr.take().unwrap()).lines();
    let directory = lines
        .map_while(Result::ok)
        .find_map(|line| line.split_once("mounted at ").map(|(_, path)| PathBuf::from(path)));
    let directory = directory.unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert!(is_left(&directory));
    victim.kill().unwrap();
    let killed = Instant::now();
    while victim.try_wait().unwrap().is_none() || is_left(&directory) {
        assert!(killed.elapsed() < HANGS, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn wait_to_be_killed() {
    let truth = Truth::mount(stuck(), &[SIZE]).unwrap();
    let file = open(&truth.path(0));
    eprintln!("mounted at {}", truth.directory().display());
    let _ = file.read_at(Block::new(0).get(), 0);
}
