//! `iosonde again --resume`: an experiment that was interrupted, in whatever way, goes on.

use std::fs;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use history::{History, Place};
use serde_json::Value;

use testing::program::DISKS;

use crate::cli::program::{code, command, fails, stderr, stdout, succeeds};

/// The kind of a result, and a command that makes it on a device that needs no time.
const COMMANDS: [(&str, &[&str]); 7] = [
    ("assess", &["assess", "sim", "--size", "1G", "--pace", "quick"]),
    ("knee", &["knee", "sim", "--size", "1G", "--to", "64"]),
    ("sizes", &["sizes", "sim", "--sizes", "1G,2G,4G,8G"]),
    ("scale", &["scale", "a", "b", "c", "--size", "1G"]),
    ("matrix", &["matrix", "sim", "--size", "1G", "--levels", "0,30,60"]),
    ("sweep", &["sweep", "sim", "--size", "1G", "--blocks", "4K,8K", "--depths", "1,2,4,8"]),
    ("iometer", &["iometer", "-c", "reads.icf", "--drive", "C=sim", "--seconds", "5"]),
];

/// 1,000 reads a second: fast enough to be there in time, and slow enough to be killed on the way.
const DEVICE: &str = "servers = 4, read_ns = \"4ms\", write_ns = \"8ms\"";

const CONFIGURATION: &str = include_str!("../../../../dialects/tests/it/iometer/v1.1.0.icf");

/// A directory with a history for the killed experiment and one for that which is not.
struct Resumption {
    directory: tempfile::TempDir,
    kind: &'static str,
}

impl Resumption {
    fn new(kind: &'static str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("reads.icf"), CONFIGURATION).unwrap();
        Self { directory, kind }
    }

    fn command(&self, args: &[&str], history: &str) -> std::process::Command {
        let mut command = command(args);
        command.current_dir(self.directory.path()).args(["--history", history, "--quiet"]);
        command
    }

    fn run(&self, args: &[&str], history: &str) -> Output {
        self.command(args, history).output().unwrap()
    }

    fn open(&self) -> Option<History> {
        let path = self.directory.path().join("killed.db");
        path.exists().then(|| History::open(&Place::File(path)).ok())?
    }

    /// The ids of what is kept of the unfinished experiment.
    fn kept(&self) -> Vec<String> {
        let ids = |history: History| {
            let unfinished = history.unfinished(self.kind, None).ok()?;
            assert!(unfinished.len() <= 1, "one experiment, however often it goes on");
            let kept = history.measurements(&unfinished.first()?.id).ok()?;
            Some(kept.into_iter().map(|kept| kept.measurement.id).collect())
        };
        self.open().and_then(ids).unwrap_or_default()
    }

    /// Kills a process once so many measurements are kept; whether that was before its end.
    fn kill(&self, mut child: Child, count: usize) -> bool {
        let begin = Instant::now();
        while child.try_wait().unwrap().is_none() && self.kept().len() < count {
            assert!(begin.elapsed() < Duration::from_secs(120), "no measurement in 2 minutes");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        !child.wait().unwrap().success()
    }
}

/// A result without what two results of the same experiment differ in.
fn bare(output: &Output) -> Value {
    let mut value = serde_json::from_slice(&output.stdout).unwrap();
    strip(&mut value);
    value
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["id", "started", "finished", "method", "cpu", "plan"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

/// An assessment that was killed after two hours began again, and so did all but sweeps.
#[test]
fn what_is_killed_goes_on_from_its_measurements_and_ends_as_if_it_never_was() {
    let mut killed = 0;
    for (kind, args) in COMMANDS {
        let place = Resumption::new(kind);
        let args = [args, &["--engine", "sim", "--sim", DEVICE, "--seed", "5", "--json"]].concat();
        let whole = place.run(&args, "whole.db");
        succeeds(&whole);
        let spawn = |args: &[&str]| {
            let quiet = || Stdio::null();
            place.command(args, "killed.db").stdout(quiet()).stderr(quiet()).spawn().unwrap()
        };
        let resume = ["again", "--resume", "latest", "--json"];
        if !place.kill(spawn(&args), 1) {
            continue;
        }
        let mut before = place.kept();
        assert!(!before.is_empty(), "{kind}");
        // Once more: what was resumed can be resumed.
        let is_killed = place.kill(spawn(&resume), before.len() + 1);
        let last = if is_killed {
            let now = place.kept();
            assert_eq!(now[..before.len()], before, "{kind}: what is kept stays as it is");
            before = now;
            place.run(&resume, "killed.db")
        } else {
            place.run(&["history", "show", "latest", "--json"], "killed.db")
        };
        succeeds(&last);
        assert_eq!(bare(&last), bare(&whole), "{kind}, of which {} were kept", before.len());
        let ids = stdout(&last);
        assert!(before.iter().all(|id| ids.contains(id.as_str())), "{kind}: measured again");
        assert_eq!(place.kept(), [""; 0], "{kind}: nothing is unfinished");
        killed += 1;
    }
    assert!(killed >= 4, "{killed} of them were killed on their way");
}

/// A sweep of `.` that was resumed in another directory went on with a file there: its cells were
/// those of two targets.
#[test]
fn a_sweep_is_not_resumed_on_another_target() {
    let place = Resumption::new("sweep");
    let lists = ["--size", "4M", "--blocks", "4K,8K", "--depths", "1,2,4,8"];
    let short = ["--seconds", "0.5", "--warmup", "0", "--settle", "0"];
    let args = [&["sweep", "."][..], &lists, &short].concat();
    let mut child = place.command(&args, "killed.db");
    let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(place.kill(child, 1), "it is killed on its way");
    let elsewhere = place.directory.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mut resumed = place.command(&["again", "--resume", "latest"], "../killed.db");
    let resumed = resumed.current_dir(&elsewhere).output().unwrap();
    assert_ne!(code(&resumed), 0);
    let said = String::from_utf8_lossy(&resumed.stdout);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("what is there already was measured on"), "{said}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "no file is left there");
    succeeds(&place.run(&["again", "--resume", "latest"], "killed.db"));
}

/// A dry run gave the most that an experiment could take, or a fixed phrase for a pace.
#[test]
fn a_dry_run_says_how_many_measurements_there_will_be() {
    // Sweeps and cycles count theirs.
    for (kind, args) in
        COMMANDS.into_iter().filter(|(kind, _)| !["sweep", "iometer"].contains(kind))
    {
        let place = Resumption::new(kind);
        let args = [args, &DISKS, &["--seed", "5"]].concat();
        let planned = place.run(&[&args[..], &["--dry-run"]].concat(), "killed.db");
        succeeds(&planned);
        succeeds(&place.run(&args, "killed.db"));
        let history = place.open().unwrap();
        let id = history.find("latest").unwrap().id;
        let count = history.measurements(&id).unwrap().len();
        let words = format!("about {count} measurements in ");
        assert!(stdout(&planned).contains(&words), "{kind}: {words}: {}", stdout(&planned));
    }
}

/// After a signal, the report shows what was measured and the command that continues.
#[cfg(unix)]
#[test]
fn a_signal_says_how_to_go_on() {
    use crate::cli::program::kill;

    let place = Resumption::new("knee");
    let mut command = command(&["knee", ".", "--size", "8M", "--to", "64"]);
    command.args(["--seconds", "0.5", "--warmup", "0", "--precision", "0"]);
    command.args(["--history", "killed.db"]);
    command.current_dir(place.directory.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while place.kept().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    kill("INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130);
    let said = stderr(&output);
    let (_, rest) = said.split_once("resume it with `iosonde ").unwrap_or_else(|| panic!("{said}"));
    let (line, _) = rest.split_once('`').unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    assert!(words.starts_with(&["again", "--resume"]), "{line}");
    let kept = place.kept().len();
    let planned = place.run(&[&words[..3], &["--dry-run"]].concat(), "killed.db");
    succeeds(&planned);
    let resumed = place.run(&[&words[..3], &["--json"]].concat(), "killed.db");
    succeeds(&resumed);
    let whole: Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!(whole["status"], "complete");
    let method = whole["method"].to_string();
    let words = "The experiment was interrupted and resumed: its first ";
    assert!(method.contains(words), "{kept} were kept: {method}");
}

#[test]
fn what_cannot_be_resumed_is_refused_with_the_reason() {
    let place = Resumption::new("run");
    let run = ["run", "sim", "--engine", "sim", "--size", "1G", "--seconds", "1"];
    succeeds(&place.run(&run, "killed.db"));
    let resume = ["again", "--resume", "latest"];
    fails(&place.run(&resume, "killed.db"), 1, "is complete: `iosonde again ");
    fails(&place.run(&resume, "other.db"), 1, "other.db");
}
