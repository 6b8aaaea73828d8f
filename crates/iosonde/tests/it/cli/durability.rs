//! `iosonde validate --durability`: processes that are killed, on a real disk; what is found is a
//! result like every other.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use results::{Durability, DurabilityVerdict, Experiment, Loss, Status, WriterEnd};
use serde_json::Value;

use crate::cli::program::{Running, code, command, fails, kill, names, stderr, succeeds, tool};

/// A directory to write to, and a witness's file and a history beside it.
struct Place {
    directory: tempfile::TempDir,
    witness: PathBuf,
    history: PathBuf,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (witness, history) =
            (directory.path().join("witness.txt"), directory.path().join("h.db"));
        fs::create_dir(directory.path().join("data")).unwrap();
        Self { directory, witness, history }
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn arguments<'a>(data: &'a str, witness: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let mut args = vec!["validate", data, "--durability", "--witness-file", witness];
        for usual in [["--size", "8M"], ["--depth", "4"]] {
            if !more.contains(&usual[0]) {
                args.extend(usual);
            }
        }
        [&args, more].concat()
    }

    fn run(&self, more: &[&str]) -> Output {
        let (data, witness) = (self.data(), self.witness.clone());
        let args = Self::arguments(data.to_str().unwrap(), witness.to_str().unwrap(), more);
        command(&args).output().unwrap()
    }

    fn start(&self, more: &[&str]) -> Running {
        let (data, witness) = (self.data(), self.witness.clone());
        Running::start(&Self::arguments(data.to_str().unwrap(), witness.to_str().unwrap(), more))
    }

    fn verify(&self, more: &[&str]) -> Output {
        let witness = self.witness.to_str().unwrap();
        command(&[&["validate", "--verify", witness], more].concat()).output().unwrap()
    }

    /// What another command says of this place's history.
    fn says(&self, args: &[&str]) -> String {
        let history = self.history.to_str().unwrap();
        let output = command(&[args, &["--history", history]].concat()).output().unwrap();
        succeeds(&output);
        String::from_utf8(output.stdout).unwrap()
    }

    fn latest(&self) -> Value {
        serde_json::from_str(&self.says(&["history", "show", "latest", "--json"])).unwrap()
    }

    /// The report of the latest result, by the name of its file.
    fn reported(&self, name: &str, more: &[&str]) -> Vec<u8> {
        let path = self.directory.path().join(name);
        self.says(&[&["report", "latest", "-o", path.to_str().unwrap()], more].concat());
        fs::read(path).unwrap()
    }
}

/// Waits until a witness has kept so many marks.
pub(crate) fn wait_for_marks(witness: &Path, marks: u64) {
    wait_for_state(witness, |state| state.sequence >= marks);
}

fn wait_for_state(witness: &Path, is_enough: impl Fn(&integrity::durability::State) -> bool) {
    let start = Instant::now();
    loop {
        let state =
            fs::read(witness).ok().and_then(|b| integrity::durability::parse_state("w", &b).ok());
        if state.is_some_and(|(_, state)| is_enough(&state)) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "the witness hears nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The number of the process that writes for this one.
pub(crate) fn writer_of(process: u32) -> u32 {
    child_of(process, "--write-durably")
}

/// The number of the child of a process that has this argument.
fn child_of(process: u32, argument: &str) -> u32 {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap();
    let is = |id: &&str| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(argument)
    };
    children.split_whitespace().find(is).unwrap().parse().unwrap()
}

pub(crate) fn report(output: &Output) -> Experiment<Durability> {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(output)))
}

#[test]
fn a_writer_that_is_killed_again_and_again_loses_nothing() {
    for (sync, order) in [
        ("fdatasync", "page"),
        ("fsync", "log-then-page"),
        ("o-dsync", "log-then-page"),
        ("fua", "page"),
    ] {
        let place = Place::new();
        let rounds = ["--kill-after", "0.5", "--rounds", "3", "--json"];
        let output = place.run(&[&rounds[..], &["--sync", sync, "--order", order]].concat());
        succeeds(&output);
        let report = report(&output);
        let found = &report.conclusion;
        assert_eq!(found.verdict, DurabilityVerdict::Kept, "{sync} {order}");
        assert!(found.promised_operations > 0 && found.losses.is_empty(), "{found:?}");
        assert!(found.seconds > 0.75, "it went on where it was: {}", found.seconds);
        assert_eq!((found.rounds, found.ending), (Some(3), WriterEnd::Killed));
        assert_eq!(found.log.is_some(), order == "log-then-page");
        assert!(report.warnings[0].contains("caches that lose power"), "{report:?}");
        assert!(stderr(&output).contains("round 3 of 3"), "{}", stderr(&output));
        assert_eq!(names(&place.data()), [""; 0], "files are removed");
    }
}

/// The promises were read before the writer had ended, and the pages after that: what it had
/// written meanwhile was called LOST. So it was when the command was killed as its writer started,
/// which then wrote until its time was over.
#[test]
fn a_check_waits_for_the_writer_before_it_reads_the_promises() {
    let place = Place::new();
    let running = place.start(&["--seconds", "1", "--keep"]);
    wait_for_marks(&place.witness, 3);
    let output = place.verify(&["--json"]);
    succeeds(&output);
    assert_eq!(report(&output).conclusion.verdict, DurabilityVerdict::Kept);
    succeeds(&running.end());
}

/// The witness's file stayed after the check, without the files that it was about.
#[test]
fn a_check_after_a_kill_leaves_nothing() {
    let place = Place::new();
    let data = place.data();
    let mut started = command(&["validate", ".", "--durability", "--size", "8M"]);
    let mut started = started.current_dir(&data).spawn().unwrap();
    let named = |beginning: &str| names(&data).into_iter().find(|n| n.starts_with(beginning));
    while named("iosonde-witness").is_none() {
        assert!(started.try_wait().unwrap().is_none(), "it makes a witness's file");
        std::thread::sleep(Duration::from_millis(5));
    }
    let witness = data.join(named("iosonde-witness").unwrap());
    wait_for_marks(&witness, 1);
    started.kill().unwrap();
    started.wait().unwrap();
    succeeds(&command(&["validate", "--verify", witness.to_str().unwrap()]).output().unwrap());
    assert_eq!(names(&data), [""; 0]);
}

#[test]
fn a_signal_ends_it_in_order_and_it_is_checked() {
    let place = Place::new();
    let mut running = place.start(&["--seconds", "600"]);
    running.wait_for("writing\n");
    wait_for_marks(&place.witness, 3);
    running.signal("INT");
    let output = running.end();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("KEPT: ") && text.contains("no crash came"), "{text}");
    assert_eq!(names(&place.data()), [""; 0]);
}

/// Ctrl-C as the writer started was an error about a witness's file that could not be read, and
/// left files.
#[test]
fn a_signal_as_the_writer_starts_ends_it_in_order() {
    let place = Place::new();
    let mut running = place.start(&["--seconds", "600"]);
    running.wait_for("until it crashes");
    running.signal("INT");
    let output = running.end();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert_eq!(names(&place.data()), [""; 0]);
}

/// A witness's file that the user named as iosonde would have was removed.
#[test]
fn a_witness_file_that_the_user_named_stays() {
    let place = Place::new();
    for (seed, is_named) in [("5", true), ("6", false)] {
        let file = format!("iosonde-witness-0000000{seed}.txt");
        let args = ["validate", ".", "--durability", "--size", "8M", "--depth", "4"];
        let more = ["--kill-after", "0.1", "--seed", seed];
        let named = ["--witness-file", &file];
        let args = [&args[..], &more, if is_named { &named } else { &[] }].concat();
        succeeds(&command(&args).current_dir(place.data()).output().unwrap());
        assert_eq!(place.data().join(file).exists(), is_named);
    }
}

/// The machine is gone, as far as the program can tell; what is found later is distinguished.
#[test]
fn what_a_crash_has_left_is_checked_later() {
    for spoiled in [false, true] {
        let place = Place::new();
        let mut running = place.start(&["--seconds", "600", "--order", "log-then-page"]);
        running.wait_for("writing\n");
        // Pages are promised from the first checkpoint on, and not at a certain number of marks:
        // where flushes are slow, each mark holds one promise of the log, and twenty of them came
        // before it.
        wait_for_state(&place.witness, |state| state.threads.iter().any(|t| t.data > 0));
        // Both at once: a writer whose parent is gone ends in order, and there was nobody left to
        // kill.
        let (writer, parent) = (writer_of(running.id()).to_string(), running.id().to_string());
        tool("sh", &["-c", "kill -KILL $0 $1", &writer, &parent]).unwrap();
        drop(running.end());
        let files = names(&place.data());
        assert_eq!(files.len(), 2, "{files:?}");
        if spoiled {
            let data = files.iter().find(|name| !name.contains("-log")).unwrap();
            let mut file = OpenOptions::new().write(true).open(place.data().join(data)).unwrap();
            file.seek(SeekFrom::Start(0)).unwrap();
            file.write_all(&vec![0; 8 << 20]).unwrap();
            file.sync_all().unwrap();
            drop(file);
            let output = place.verify(&["--history", place.history.to_str().unwrap()]);
            assert_eq!(code(&output), 3, "{}", stderr(&output));
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.starts_with("LOST: ") && text.contains("zeroed"), "{text}");
            assert_eq!(names(&place.data()), files, "evidence stays");
            assert_lost_is_kept(&place, &text);
        } else {
            // Files that were moved are named; they stay when that is wanted.
            let moved = place.directory.path().join("moved");
            fs::rename(place.data(), &moved).unwrap();
            let moved = moved.to_str().unwrap();
            let output = place.verify(&[moved, moved, "--keep", "--json"]);
            succeeds(&output);
            let report = report(&output);
            assert_eq!(report.conclusion.verdict, DurabilityVerdict::Kept);
            let of_ending = report.warnings.iter().filter(|w| w.starts_with("The writer "));
            assert!(of_ending.count() == 0 && report.targets[0].starts_with(moved));
            assert_eq!(names(Path::new(moved)), files);
            succeeds(&place.verify(&[moved, moved]));
            assert_eq!(names(Path::new(moved)), [""; 0]);
            fails(&place.verify(&[]), 1, "everything that was promised in it is lost");
        }
    }
}

/// What was lost is in the history, and in reports from it.
fn assert_lost_is_kept(place: &Place, text: &str) {
    let kept: Experiment<Durability> = serde_json::from_value(place.latest()).unwrap();
    let found = &kept.conclusion;
    assert_eq!((found.verdict, found.ending), (DurabilityVerdict::Lost, WriterEnd::Unseen));
    assert_eq!(kept.status, Status::Complete);
    assert!(found.count(Loss::Zeroed) > 0 && !found.findings.is_empty(), "{found:?}");
    assert!(place.says(&["history", "list"]).contains("LOST"));
    assert!(place.says(&["history", "show"]).ends_with(text), "it is shown as it was");
    let page = String::from_utf8(place.reported("r.html", &[])).unwrap();
    for words in ["LOST: ", "What was promised and is not there", "zeroed", "Place by place"] {
        assert!(page.contains(words), "no {words}");
    }
}

/// The check of a crash was the only result that was not kept and could not be reported.
#[test]
fn a_check_is_a_result_like_others() {
    let place = Place::new();
    let history = ["--history", place.history.to_str().unwrap(), "--tag", "crash"];
    let killed = ["--kill-after", "0.3", "--order", "log-then-page", "--keep", "--json"];
    let output = place.run(&[&killed[..], &history].concat());
    succeeds(&output);
    assert!(stderr(&output).contains("kept as "), "{}", stderr(&output));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(place.latest(), printed);
    assert_eq!(printed["environment"]["storage"].as_array().unwrap().len(), 2);
    let list = place.says(&["history", "list", "--tag", "crash"]);
    assert!(list.contains("validate") && list.contains("kept"), "{list}");
    let show = place.says(&["history", "show"]);
    assert!(show.contains("\nKEPT: all "), "{show}");
    let page = String::from_utf8(place.reported("r.html", &[])).unwrap();
    assert!(page.contains("Does what was acknowledged as durable survive a crash?"));
    let markdown = String::from_utf8(place.reported("r.md", &[])).unwrap();
    assert!(markdown.contains("KEPT: all ") && markdown.contains("log records"), "{markdown}");
    assert!(place.reported("r.xlsx", &[]).starts_with(b"PK"));
    let table = String::from_utf8(place.reported("r.csv", &[])).unwrap();
    assert!(table.contains(",kept,") && table.lines().count() == 2, "{table}");
    let hidden = String::from_utf8(place.reported("hidden.html", &["--redact"])).unwrap();
    assert!(!hidden.contains(place.data().to_str().unwrap()) && hidden.contains("KEPT: all "));

    // Each further check adds a result, all of the same run.
    for _ in 0..2 {
        succeeds(&place.verify(&[&history[..], &["--keep"]].concat()));
        let again = place.latest();
        assert_ne!(again["id"], printed["id"]);
        assert_eq!(again["conclusion"]["run_id"], printed["conclusion"]["run_id"]);
    }
    let list = place.says(&["history", "list", "--tag", "crash", "--json"]);
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["results"].as_array().map(Vec::len), Some(3), "{list}");
    succeeds(&place.verify(&["--no-history"]));

    // They go to another history, and are no side of a comparison.
    let lines = place.directory.path().join("all.jsonl");
    place.says(&["history", "export", "-o", lines.to_str().unwrap()]);
    let other = Place::new();
    other.says(&["history", "import", lines.to_str().unwrap()]);
    assert_eq!(other.latest(), place.latest());
    let args = [&["history", "compare", "latest", "latest"], &history[..2]].concat();
    fails(&command(&args).output().unwrap(), 1, "is a check after a crash");
}

/// A writer that could not continue was reported as killed.
#[test]
fn a_writer_without_its_witness_is_not_told_of_as_killed() {
    let place = Place::new();
    let history = ["--history", place.history.to_str().unwrap()];
    let mut running = place.start(&[&["--seconds", "600"], &history[..]].concat());
    running.wait_for("writing\n");
    wait_for_marks(&place.witness, 3);
    kill("KILL", child_of(running.id(), "--serve-witness"));
    let output = running.end();
    succeeds(&output);
    let kept: Experiment<Durability> = serde_json::from_value(place.latest()).unwrap();
    assert_eq!((kept.conclusion.ending, kept.status), (WriterEnd::Failed, Status::Failed));
    assert!(kept.warnings[0].starts_with("The writer could not continue"), "{:?}", kept.warnings);
}

/// A program called ssh stands for another host.
#[test]
fn another_host_can_be_the_witness() {
    let place = Place::new();
    let bin = place.directory.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let ssh = "#!/bin/sh\n\
        [ \"$1 $2 $3 $4\" = \"-o BatchMode=yes -- far\" ] || exit 255\n\
        exec sh -c \"$5\"\n";
    fs::write(bin.join("ssh"), ssh).unwrap();
    fs::set_permissions(bin.join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_iosonde"), bin.join("iosonde")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let (data, file) = (place.data(), place.directory.path().join("it's far"));
    let there = format!("far:{}", file.display());
    let args = ["validate", data.to_str().unwrap(), "--durability", "--size", "8M", "--depth", "4"];
    let more = ["--witness", &there, "--kill-after", "0.3", "--keep", "--json"];
    let run = |args: &[&str]| command(args).env("PATH", &path).output().unwrap();
    let output = run(&[&args[..], &more].concat());
    succeeds(&output);
    assert!(report(&output).conclusion.promised_operations > 0);
    let output = run(&["validate", "--verify", &there, "--json"]);
    succeeds(&output);
    assert_eq!(report(&output).conclusion.verdict, DurabilityVerdict::Kept);
    assert!(file.exists(), "it is the other host's");
    let nobody = ["--witness", "nobody", "--kill-after", "0.3"];
    fails(&run(&[&args[..], &nobody].concat()), 1, "");
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let place = Place::new();
    let refused = |more: &[&str], code, words: &str| {
        fails(&place.run(more), code, words);
        assert_eq!(names(&place.data()), [""; 0]);
        assert!(!place.witness.exists());
    };
    refused(&["--depth", "2000"], 2, "1 to 1024");
    refused(&["--size", "1M", "--depth", "64"], 2, "use a larger --size");
    refused(&["--log-size", "1M"], 2, "no log");
    refused(&["--order", "log-then-page", "--log-size", "1M"], 2, "larger --log-size");
    refused(&["--page", "1000"], 2, "multiple of 512");
    refused(&["--kill-after=-1"], 2, "31 days");
    refused(&["--rounds", "2"], 2, "--kill-after");
    refused(&["--witness", "host"], 2, "cannot be used with");
    refused(&["--engine", "sim"], 2, "keep no data");
    refused(&["--live"], 2, "no screen");
    let data = place.data();
    let data = data.to_str().unwrap();
    fails(&command(&["validate", data, "--sync", "fua"]).output().unwrap(), 2, "--durability");
    fs::write(&place.witness, "somebody's data").unwrap();
    fails(&place.run(&["--kill-after", "1"]), 1, "not a file of a witness");
}
