//! A process may be killed at any moment: what the store confirmed as kept is there.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, thread};

use history::{History, Place};

use crate::store::made::{full, new};
use crate::store::server;

/// Tells this program, started once more, that it is the process to be killed, and where it keeps.
const PLACE: &str = "IOSONDE_TEST_KEEPS_IN";

/// What is killed. It says of each measurement when it is kept.
#[test]
fn keeps_until_it_is_killed() {
    let Some(chosen) = env::var_os(PLACE) else {
        // Not a process to be killed: the tests below start it.
        return;
    };
    let history = History::open(&history::place(Some(chosen)).unwrap()).unwrap();
    let id = format!("e{}", std::process::id());
    history.begin(&new(&id, "p", "2026-11-21T12:00:00Z")).unwrap();
    let _hold = history.hold("the same").unwrap();
    for cell in 0..u32::MAX {
        let m = full(&format!("{id}-{cell}"), f64::from(cell));
        history.keep(&id, cell, &m).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nkept {id} {cell}").unwrap();
        out.flush().unwrap();
        // Some are enough: all of them are read again.
        thread::sleep(Duration::from_millis(5));
    }
}

fn keeping(place: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "store::killed::keeps_until_it_is_killed", "--nocapture"])
        .env(PLACE, place)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Lets it keep, kills it after some time, and gives what it said is kept.
fn kill(mut child: Child, after: Duration) -> Vec<(String, u32)> {
    let stdout = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let kept = lines.filter_map(|line| {
            let (id, cell) = line.strip_prefix("kept ")?.split_once(' ')?;
            Some((id.to_owned(), cell.parse().ok()?))
        });
        kept.collect::<Vec<(String, u32)>>()
    });
    thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

fn nothing_is_lost(place: &Place, chosen: &str, times: u32) {
    let mut said = Vec::new();
    for n in 0..times {
        // At moments all over the start, the making of the tables and the first measurements.
        said.extend(kill(keeping(chosen), Duration::from_millis(u64::from(20 + n * 37 % 400))));
        if n % 10 == 9 {
            let history = History::open(place).unwrap();
            assert_eq!(history.check().unwrap(), [""; 0]);
        }
    }
    // Some last ones that live long enough to keep anything on a slow machine.
    said.extend(kill(keeping(chosen), Duration::from_secs(3)));
    let history = History::open(place).unwrap();
    assert_eq!(history.check().unwrap(), [""; 0]);
    assert!(said.len() > 3, "{} measurements were kept", said.len());
    let ids: BTreeSet<&String> = said.iter().map(|(id, _)| id).collect();
    for id in ids {
        let kept = history.measurements(id).unwrap();
        for (_, cell) in said.iter().filter(|(of, _)| of == id) {
            let kept = kept.iter().find(|kept| kept.cell == *cell).unwrap();
            assert_eq!(kept.measurement, full(&format!("{id}-{cell}"), f64::from(*cell)));
        }
    }
    drop(history.hold("the same").unwrap());
}

#[test]
fn killed_at_many_moments_a_file_has_all_that_was_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    nothing_is_lost(&Place::File(path.clone()), path.to_str().unwrap(), 40);
}

#[test]
fn killed_at_many_moments_a_server_has_all_that_was_acknowledged() {
    let url = server::server().url("127.0.0.1", &server::server().database());
    nothing_is_lost(&server::place(&url), &url, 10);
}
