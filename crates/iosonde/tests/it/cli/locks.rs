//! Every command that has a history open keeps its lock on it, so that no other program takes it
//! for unused.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use testing::locks;

use crate::cli::program::{Running, command, stderr};

/// What is looked at how often. A process that has the file open and no lock for so many looks in a
/// row has lost it; while it opens or closes the file, that lasts for less.
const EVERY: Duration = Duration::from_millis(20);
const LOST: u32 = 15;
/// Looks at each command: events for those who watch are written after two seconds, by a further
/// connection.
const LOOKS: u32 = 150;

/// Runs a command with a history of its own, and says where it had the history open without a lock.
#[track_caller]
fn keeps_its_lock(directory: &Path, args: &[&str]) {
    let history = directory.join("history.db");
    let mut command = command(args);
    command.current_dir(directory).env("IOSONDE_HISTORY", &history);
    let running = Running::of(command);
    let process = running.id();
    let (mut seen, mut without) = (0, 0);
    for _ in 0..LOOKS {
        sleep(EVERY);
        let open = locks::is_open(process, &history);
        let held = open && locks::held(process, &history).unwrap() > 0;
        (seen, without) = (seen + u32::from(held), if open && !held { without + 1 } else { 0 });
        if without >= LOST {
            break;
        }
        assert_eq!(locks::deleted(process, &history), [""; 0], "{args:?}");
    }
    running.signal("INT");
    let output = running.end();
    assert!(without < LOST, "it has the history open and no lock on it: {args:?}");
    assert!(seen > LOST, "it never had the history open: {args:?}: {}", stderr(&output));
}

/// `iosonde monitor --history H` had no lock on H as soon as its second connection was open.
#[test]
fn every_command_that_records_keeps_its_lock() {
    let commands = [
        "run . --size 16M --engine null --seconds 20 --warmup 0 --think 1ms",
        "knee . --size 16M --engine null --think 1ms",
        "sweep . --size 16M --engine null --preset atto",
        "sizes . --engine null --think 1ms",
        "scale . b --size 16M --engine null --think 1ms",
        "assess . --size 64M --engine null --pace quick",
        "validate . --size 16M --log-size 8M --seconds 20 --users 1",
        "monitor . --interval 100ms",
        "sqlio -kR -s20 -frandom -b8 t.dat --size 16M",
        "diskspd -d20 -W0 -g100 -c16M t.dat",
        "sqliosim -d 20 -dir . -size 16",
    ];
    std::thread::scope(|scope| {
        for line in commands {
            scope.spawn(move || {
                let directory = tempfile::tempdir().unwrap();
                fs::create_dir(directory.path().join("b")).unwrap();
                keeps_its_lock(directory.path(), &line.split(' ').collect::<Vec<_>>());
            });
        }
    });
}
