//! A sweep is kept cell by cell, and goes on after whatever ended it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use history::{Experiment as Kept, History};
use results::{Cpu, Experiment, Measurement, Source, Status, Sweep};

use crate::cli::program::{Running, code, command, fails, names, stderr, succeeds};

/// A place for a history and test files.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn history(&self) -> PathBuf {
        self.path().join("my history.db")
    }

    /// `iosonde sweep` with this history.
    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = command(&[&["sweep"], args].concat());
        command.env("IOSONDE_HISTORY", self.history());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn open(&self) -> History {
        History::open(&history::Place::File(self.history())).unwrap()
    }
}

#[track_caller]
fn document(output: &Output) -> Experiment<Sweep> {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(output)))
}

/// 400 cells of a device that needs no time.
const MANY: [&str; 17] = [
    "--engine",
    "sim",
    "--blocks",
    "4K,8K,16K,64K,256K",
    "--writes",
    "0,50,70,100",
    "--patterns",
    "random,sequential",
    "--threads",
    "1,2",
    "--depths",
    "1,2,4,8,16",
    "--seconds",
    "0.05",
    "--warmup",
    "0",
    "--shuffle",
];

/// What must be the same whenever and however often a cell is measured.
fn timeless(mut m: Measurement) -> Measurement {
    (m.id, m.started, m.cpu) = (String::new(), String::new(), Cpu::default());
    m
}

fn all_kept(history: &History, experiment: &Kept) -> Vec<(u32, Measurement)> {
    let kept = history.measurements(&experiment.id).unwrap();
    kept.into_iter().map(|k| (k.cell, k.measurement)).collect()
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// Waits until this many cells are kept, or the program has ended.
fn wait_for_cells(place: &Place, cells: u32, child: &mut Child) {
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        // It may not be there yet, and a busy machine may keep it locked for longer than we wait.
        let at = history::Place::File(place.history());
        let opened = place.history().exists().then(|| History::open(&at));
        let seen = opened.and_then(Result::ok).and_then(|open| open.unfinished("sweep", None).ok());
        let seen = seen.and_then(|all| all.first().map(|sweep| sweep.cells));
        if seen.unwrap_or(0) >= cells {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no cell in a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn killed_at_fifty_moments_a_sweep_loses_no_cell_and_ends_as_if_it_never_was() {
    let whole = Place::new();
    succeeds(&whole.run(&[&MANY[..], &["--quiet"]].concat()));
    let killed = Place::new();
    let mut dice = Dice(2026);
    let mut before: Vec<(u32, Measurement)> = Vec::new();
    for kill in 0..50 {
        let begun = !before.is_empty();
        let resume: &[&str] = if begun { &["--resume"] } else { &[] };
        // What is resumed is the newest sweep, or that of the same plan.
        let plan: &[&str] = if begun && kill % 2 == 0 { &[] } else { &MANY };
        let mut child = killed
            .command(&[plan, resume, &["--quiet"]].concat())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let cells = u32::try_from(before.len()).unwrap() + u32::try_from(dice.below(4)).unwrap();
        wait_for_cells(&killed, cells.max(1), &mut child);
        std::thread::sleep(Duration::from_micros(dice.below(12_000)));
        assert_eq!(child.try_wait().unwrap(), None, "it is killed before its end ({kill})");
        child.kill().unwrap();
        child.wait().unwrap();
        let history = killed.open();
        let unfinished = history.unfinished("sweep", None).unwrap();
        assert_eq!(unfinished.len(), 1, "one sweep, however often it goes on");
        let now = all_kept(&history, &unfinished[0]);
        for (cell, measurement) in &before {
            assert!(now.contains(&(*cell, measurement.clone())), "cell {cell} is as it was");
        }
        before = now;
    }
    let output = killed.run(&["--resume", "--json", "--quiet"]);
    succeeds(&output);
    assert!(killed.open().unfinished("sweep", None).unwrap().is_empty());
    let (of_killed, of_whole) = (the_only(&killed), the_only(&whole));
    assert_eq!((&of_killed.plan, of_killed.cells), (&of_whole.plan, 400));
    assert_eq!(of_killed.plan_id, of_whole.plan_id);
    let of = |place: &Place, experiment| -> Vec<_> {
        let all = all_kept(&place.open(), experiment);
        all.into_iter().map(|(cell, m)| (cell, timeless(m))).collect()
    };
    for (killed, whole) in of(&killed, &of_killed).iter().zip(of(&whole, &of_whole)) {
        assert!(*killed == whole, "cell {} differs:\n{:?}\n{:?}", whole.0, killed.1, whole.1);
    }
    let document = document(&output);
    assert_eq!(document.id, of_killed.id);
    assert!(document.conclusion.cells.iter().all(|c| c.source == Source::Measured));
}

/// The only sweep of a history.
fn the_only(place: &Place) -> Kept {
    let sqlite = rusqlite::Connection::open(place.history()).unwrap();
    let id: String = sqlite.query_row("SELECT id FROM experiments", [], |row| row.get(0)).unwrap();
    place.open().experiment(&id).unwrap().unwrap()
}

#[test]
fn an_interrupted_sweep_goes_on_with_a_test_file_of_the_same_size() {
    let place = Place::new();
    let dir = place.path().join("data");
    fs::create_dir(&dir).unwrap();
    let target = dir.to_str().unwrap();
    let history = place.history();
    let history = ["--history", history.to_str().unwrap()];
    let lists = ["--size", "16M", "--blocks", "8K,32M", "--depths", "1,2,4", "--writes", "0,100"];
    let short = ["--seconds", "0.4", "--warmup", "0", "--settle", "0"];
    let mut running =
        Running::start(&[&["sweep", target], &lists[..], &short[..], &history[..]].concat());
    running.wait_for("[4/13");
    running.signal("INT");
    let output = running.end();
    assert_eq!(code(&output), 130);
    // A path with a space was printed without quotes.
    let kept = place.open().unfinished("sweep", None).unwrap().remove(0);
    let resumption = format!("`iosonde again --resume {} --history '{}'`", kept.id, history[1]);
    assert!(stderr(&output).contains(&resumption), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("NOT COMPLETE: Interrupted"));
    assert_eq!(names(&dir), [""; 0], "the test file is gone");
    assert_eq!((kept.status, kept.cells), (Some(Status::Interrupted), 2));
    let first: Vec<String> =
        all_kept(&place.open(), &kept).into_iter().map(|(_, m)| m.id).collect();

    let output = place.run(&["--resume", "--json", "--quiet"]);
    succeeds(&output);
    let document = document(&output);
    assert_eq!(document.file_bytes, 16 << 20);
    let ids: Vec<&String> = document.measurements.iter().map(|m| &m.id).collect();
    assert_eq!((ids.len(), ids[0], ids[1]), (6, &first[0], &first[1]), "none is repeated");
    let left_out = |c: &&results::SweptCell| c.source == Source::LeftOut;
    let cells = &document.conclusion.cells;
    assert_eq!(cells.iter().filter(left_out).count(), 6, "32 MiB do not fit into 16");
    assert!(cells[3].reason.as_ref().unwrap().contains("16 MiB"), "{:?}", cells[3].reason);
    let said = document.method.iter().any(|m| m.contains("its first 2 measurements"));
    assert!(said, "{:?}", document.method);
    assert_eq!(names(&dir), [""; 0]);
}

#[test]
fn what_cannot_be_swept_is_refused_before_anything_is_touched() {
    let place = Place::new();
    fails(&place.run(&["--engine", "sim"]), 2, "--preset NAME");
    fails(&place.run(&["--engine", "sim", "--preset", "x"]), 2, "grove-rasmussen");
    fails(&place.run(&["--preset", "atto"]), 2, "targets is empty");
    fails(&place.run(&["--engine", "sim", "--depths", "0"]), 2, "--depths is 0");
    fails(&place.run(&["--engine", "sim", "--blocks", "0"]), 2, "--blocks is 0 B");
    fails(&place.run(&["/no/such/place", "--blocks", "8K"]), 1, "does not exist");
    let dry = place.run(&["--engine", "sim", "--preset", "baseline-192", "--dry-run"]);
    succeeds(&dry);
    let text = String::from_utf8(dry.stdout).unwrap();
    assert!(text.contains("192 cells: 3 h 12 min measured"), "{text}");
    fs::write(place.history(), "somebody's notes").unwrap();
    let output = place.run(&["--engine", "sim", "--blocks", "8K"]);
    fails(&output, 1, "is not a history of iosonde");
    assert_eq!(fs::read_to_string(place.history()).unwrap(), "somebody's notes");
    assert_eq!(names(place.path()), ["my history.db"]);
}

#[test]
fn there_is_nothing_to_resume_where_nothing_was_interrupted() {
    let place = Place::new();
    let sim = ["--engine", "sim", "--blocks", "8K", "--seconds", "0.1", "--quiet"];
    fails(&place.run(&["--resume"]), 2, "no unfinished sweep");
    succeeds(&place.run(&sim));
    let output = place.run(&[&sim[..], &["--resume"]].concat());
    fails(&output, 2, "no unfinished sweep of this plan");
}

#[test]
fn a_plan_that_is_printed_is_the_plan_that_is_read() {
    let place = Place::new();
    let printed = place.run(&["/data", "--preset", "postgres", "--settle", "0", "--print-plan"]);
    succeeds(&printed);
    let file = place.path().join("plan.toml");
    fs::write(&file, &printed.stdout).unwrap();
    let read = place.run(&["--plan", file.to_str().unwrap(), "--print-plan"]);
    assert_eq!(read.stdout, printed.stdout);
}

#[test]
fn the_table_has_the_columns_that_scripts_know() {
    let place = Place::new();
    let csv = place.path().join("cells.csv");
    let lists = ["--engine", "sim", "--blocks", "8K", "--depths", "1,16", "--seconds", "0.1"];
    let csv_flag = ["--csv", csv.to_str().unwrap(), "--warmup", "0", "--quiet"];
    succeeds(&place.run(&[&lists[..], &csv_flag].concat()));
    let text = fs::read_to_string(&csv).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split(',').collect()).collect();
    let columns = "Kind,Threads,Seconds,Drive,Stripe,Outstanding,Size,IOs,MBs,Latency_min,\
                   Latency_avg,Latency_max";
    assert!(text.starts_with(columns));
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|l| l.len() == lines[0].len()));
    assert_eq!(lines[2][..7], ["R", "1", "0.1", "sim", "random", "16", "8"]);
    // Eight servers of 100 µs, sixteen in flight: each waits for one before it.
    let latency: f64 = lines[2][10].parse().unwrap();
    assert!((latency - 0.2).abs() < 0.004, "{latency} ms");
}

#[test]
fn an_adaptive_sweep_says_what_it_measured_and_what_it_inferred() {
    let place = Place::new();
    let sim = "read_ns='2ms', write_ns='2ms', bytes_per_s='200M'";
    let depths = "1,2,3,4,6,8,12,16,24,32,48,64";
    let lists = ["--blocks", "4K,64K,256K,1M", "--depths", depths, "--seconds", "20"];
    let flags = ["--engine", "sim", "--sim", sim, "--adaptive", "--quiet", "--warmup", "0"];
    let output = place.run(&[&flags[..], &lists[..], &["--json"]].concat());
    succeeds(&output);
    let document = document(&output);
    let cells = &document.conclusion.cells;
    let of = |source| cells.iter().filter(|c| c.source == source).count();
    assert_eq!(of(Source::Measured) + of(Source::Inferred), 48);
    assert!(of(Source::Inferred) >= 8, "{}", of(Source::Inferred));
    // Nine cells are measured twice.
    assert_eq!(of(Source::Measured) + 9, document.measurements.len());
    assert_eq!(document.conclusion.checks[0].cells.len(), 9);
    // Eight servers of 2 ms and 64 KiB / 200 MiB/s.
    let inferred = document.conclusion.curves.iter().find(|c| c.title.starts_with("64 KiB"));
    let truth = 8.0 / (2e-3 + 65536.0 / (200.0 * 1_048_576.0));
    let error = inferred.unwrap().best_iops / truth - 1.0;
    assert!(error.abs() < 0.02, "{error}");
    let text = place.run(&[&flags[..], &lists[..]].concat());
    assert!(String::from_utf8_lossy(&text.stdout).contains("inferred"));
}

#[test]
fn a_dry_run_of_a_resumption_leaves_the_history_as_it_is() {
    let place = Place::new();
    // Said before: the history was made, or the sweep in it was noted as going on.
    fails(&place.run(&["--resume", "--dry-run"]), 2, "no unfinished sweep");
    assert!(!place.history().exists(), "nothing to continue with, nothing made");
    let mut child = place.command(&[&MANY[..], &["--quiet"]].concat()).spawn().unwrap();
    wait_for_cells(&place, 1, &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let unfinished = place.open().unfinished("sweep", None).unwrap();
    place.open().end(&unfinished[0].id, Status::Interrupted, "2026-01-01T00:00:00Z").unwrap();
    let before = place.open().unfinished("sweep", None).unwrap();
    succeeds(&place.run(&["--resume", "--dry-run"]));
    assert_eq!(place.open().unfinished("sweep", None).unwrap(), before);
}

#[test]
fn a_resumption_without_a_plan_takes_no_flag_that_it_would_leave_aside() {
    let place = Place::new();
    for flag in [&["--settle", "5"][..], &["--adaptive"], &["--size", "1G"], &["/tmp"]] {
        let name = if flag[0] == "/tmp" { "TARGET" } else { flag[0] };
        let words = format!("Leave out {name}, or repeat");
        fails(&place.run(&[&["--resume"], flag].concat()), 2, &words);
    }
}

#[test]
fn a_table_that_cannot_be_written_is_said_before_anything_is_measured() {
    let place = Place::new();
    let csv = place.path().join("nowhere/cells.csv");
    let args = ["--engine", "sim", "--blocks", "8K", "--csv", csv.to_str().unwrap()];
    fails(&place.run(&args), 1, "nothing was measured");
    assert!(place.open().unfinished("sweep", None).unwrap().is_empty());
}

#[test]
fn progress_says_how_long_the_whole_sweep_takes_and_when_it_pauses() {
    let place = Place::new();
    let target = place.path().to_str().unwrap();
    let args = [target, "--size", "1M", "--buffered", "--blocks", "4K,8K", "--seconds", "0.1"];
    let output = place.run(&[&args[..], &["--warmup", "0", "--settle", "0.1"]].concat());
    succeeds(&output);
    let text = stderr(&output);
    let title = "8 KiB random read, 1 thread x depth 1";
    let step = "\n[3/3, about 10 s to go]";
    assert!(text.contains(&format!("{step} pause of at most 0.1 s, then {title}\n")), "{text}");
    assert!(text.contains(&format!("{step} {title}\n")), "{text}");
}

/// A sweep that was killed between its entry in the history and its first cell, as that entry.
fn begun_without_a_cell(place: &Place) -> Kept {
    let sim = ["--engine", "sim", "--blocks", "8K", "--depths", "1,2", "--seconds", "0.1"];
    succeeds(&place.run(&[&sim[..], &["--quiet"]].concat()));
    let sqlite = rusqlite::Connection::open(place.history()).unwrap();
    let undo = "DELETE FROM measurements; UPDATE experiments SET status = 'interrupted', finished \
                = 'then', measurements = 0";
    sqlite.execute_batch(undo).unwrap();
    place.open().unfinished("sweep", None).unwrap().remove(0)
}

/// It noted itself a second time under the same name, and failed whenever it was resumed.
#[test]
fn a_sweep_that_was_killed_before_its_first_cell_goes_on() {
    let place = Place::new();
    let begun = begun_without_a_cell(&place);
    assert_eq!(begun.cells, 0);
    succeeds(&place.run(&["--resume", "--quiet"]));
    let ended = the_only(&place);
    assert_eq!((ended.id, ended.cells, ended.status), (begun.id, 2, Some(Status::Complete)));
}

/// The table was not written where the history could not note the end of the sweep, as on a full
/// disk.
#[test]
fn a_history_that_fails_at_the_end_does_not_cost_the_table() {
    let place = Place::new();
    let sim = ["--engine", "sim", "--blocks", "8K", "--seconds", "0.1", "--quiet"];
    succeeds(&place.run(&sim));
    let sqlite = rusqlite::Connection::open(place.history()).unwrap();
    let full = "CREATE TRIGGER full BEFORE UPDATE OF status ON experiments BEGIN SELECT \
                RAISE(ABORT, 'full'); END";
    sqlite.execute_batch(full).unwrap();
    let csv = place.path().join("cells.csv");
    let output = place.run(&[&sim[..], &["--csv", csv.to_str().unwrap()]].concat());
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("full"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 2);
}

/// `--csv notes.txt` replaced somebody's notes, and `notes.txt.part` with them.
#[test]
fn a_csv_goes_over_no_file_of_others() {
    let place = Place::new();
    let sim = ["--engine", "sim", "--blocks", "8K", "--seconds", "1", "--quiet"];
    let csv = place.path().join("notes.txt");
    let args = [&sim[..], &["--csv", csv.to_str().unwrap()]].concat();
    fs::write(&csv, "mine").unwrap();
    fails(&place.run(&args), 1, "notes-2.txt");
    assert_eq!(fs::read_to_string(&csv).unwrap(), "mine");
    fs::remove_file(&csv).unwrap();
    let part = place.path().join("notes.part");
    fs::write(&part, "mine too").unwrap();
    succeeds(&place.run(&args));
    fails(&place.run(&args), 1, "it exists already");
    succeeds(&place.run(&[&args[..], &["--overwrite"]].concat()));
    assert!(fs::read_to_string(&csv).unwrap().starts_with("Kind,"));
    assert_eq!(fs::read_to_string(&part).unwrap(), "mine too");
}

/// The tables of a sweep over two targets were as wide as the targets' names were long.
#[test]
fn targets_with_long_names_leave_the_tables_as_wide_as_a_screen() {
    let place = Place::new();
    let [a, b] =
        ["one", "other"].map(|name| format!("/srv/data/postgresql/16/main/{name}/tablespace"));
    let lists = ["--blocks", "8K,64K", "--depths", "1,8", "--seconds", "1", "--warmup", "0"];
    let output = place.run(&[&[a.as_str(), &b, "--engine", "sim"], &lists[..]].concat());
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let cells = text.lines().filter(|line| line.contains("other/tablespace  ")).count();
    assert!(text.contains(&a) && text.contains(&b) && cells == 4 + 2, "{text}");
}
