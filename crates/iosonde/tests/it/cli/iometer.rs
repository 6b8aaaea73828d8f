//! IOMeter's configurations, run by `iosonde iometer`.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use dialects::iometer::result::{Column, End, ResultFile, ResultRow, RowKind, import, read};
use results::{Cycle, Experiment, Measurement, Status};

use crate::cli::program::{
    Running, code, command, fails, foreign_file, mark, names, stderr, succeeds,
};

/// A device of a thousand random I/Os a second in each of four servers, whose runs take no time.
const SIM: [&str; 4] =
    ["--engine", "sim", "--sim", "servers = 4, read_ns = \"1ms\", write_ns = \"1ms\""];

/// The configuration in a file, with targets below its directory, of so many sectors each.
fn file(dir: &Path, test_type: &str, sectors: u64) -> String {
    let target = |name: &str| format!("{} [ext4]", dir.join(name).display());
    let text = testing::two_managers(test_type, sectors, &["a", "b", "c"].map(target));
    let path = dir.join("t.icf");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn iometer(args: &[&str]) -> Output {
    command(&[&["iometer"], args].concat()).output().unwrap()
}

fn cycle(output: &Output) -> Experiment<Cycle> {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn shape(experiment: &Experiment<Cycle>) -> Vec<Shape> {
    let runs = experiment.conclusion.runs.iter();
    runs.map(|r| (r.workers, r.targets, r.outstanding.unwrap(), r.in_flight)).collect()
}

/// Workers, targets of all of them, outstanding I/Os on each, and in flight.
type Shape = (u64, u64, u32, u64);

/// The runs of each test type. The second access specification is that of the first worker alone.
const RUNS: [(&str, &[Shape]); 8] = [
    ("NORMAL", &[(3, 5, 3, 15), (1, 2, 3, 6)]),
    ("CYCLE_TARGETS", &[(3, 3, 3, 9), (3, 5, 3, 15), (1, 1, 3, 3), (1, 2, 3, 6)]),
    ("CYCLE_WORKERS", &[(2, 3, 3, 9), (3, 5, 3, 15), (1, 2, 3, 6)]),
    (
        "INCREMENT_TARGETS_PARALLEL",
        &[(2, 2, 3, 6), (2, 3, 3, 9), (3, 4, 3, 12), (3, 5, 3, 15), (1, 1, 3, 3), (1, 2, 3, 6)],
    ),
    (
        "INCREMENT_TARGETS_SERIAL",
        &[
            (1, 1, 3, 3),
            (1, 2, 3, 6),
            (2, 3, 3, 9),
            (2, 4, 3, 12),
            (3, 5, 3, 15),
            (1, 1, 3, 3),
            (1, 2, 3, 6),
        ],
    ),
    (
        "CYCLE_WORKERS_AND_TARGETS",
        &[(2, 2, 3, 6), (2, 3, 3, 9), (3, 3, 3, 9), (3, 5, 3, 15), (1, 1, 3, 3), (1, 2, 3, 6)],
    ),
    (
        "CYCLE_OUTSTANDING_IOS",
        &[(3, 5, 1, 5), (3, 5, 2, 10), (3, 5, 4, 20), (1, 2, 1, 2), (1, 2, 2, 4), (1, 2, 4, 8)],
    ),
    (
        "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
        &[
            (3, 3, 1, 3),
            (3, 3, 2, 6),
            (3, 3, 4, 12),
            (3, 5, 1, 5),
            (3, 5, 2, 10),
            (3, 5, 4, 20),
            (1, 1, 1, 1),
            (1, 1, 2, 2),
            (1, 1, 4, 4),
            (1, 2, 1, 2),
            (1, 2, 2, 4),
            (1, 2, 4, 8),
        ],
    ),
];

#[test]
fn every_test_type_runs_in_its_order() {
    let dir = tempfile::tempdir().unwrap();
    for (test_type, expected) in RUNS {
        let path = file(dir.path(), test_type, 32_768);
        let output = iometer(&[&["-c", &path, "--json", "--seconds", "2"], &SIM[..]].concat());
        succeeds(&output);
        let found = cycle(&output);
        assert_eq!(shape(&found), expected, "{test_type}");
        assert_eq!(found.conclusion.test_type, test_type);
        assert_eq!((found.status, found.measurements.len()), (Status::Complete, expected.len()));
        for (run, m) in found.conclusion.runs.iter().zip(&found.measurements) {
            assert_eq!(run.in_flight, m.in_flight);
            assert!((m.achieved_in_flight - run.in_flight as f64).abs() < 0.1, "{m:?}");
        }
        assert!(stderr(&output).contains("2 managers (ALPHA, BETA)"), "{}", stderr(&output));
    }
    assert_eq!(names(dir.path()), ["t.icf"]);
}

/// The directories that targets are in.
fn make_places(dir: &Path) {
    for name in ["a", "b", "c"] {
        fs::create_dir(dir.join(name)).unwrap();
    }
}

#[track_caller]
fn places_are_empty(dir: &Path) {
    for name in ["a", "b", "c"] {
        assert_eq!(names(&dir.join(name)), [""; 0]);
    }
}

/// Every row of every run of a session.
fn rows(file: &ResultFile) -> impl Iterator<Item = &ResultRow> {
    file.sessions.iter().flat_map(|s| &s.runs).flat_map(|r| &r.rows)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()) + 1e-6
}

#[test]
fn the_result_file_is_read_back_with_the_same_figures() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "CYCLE_OUTSTANDING_IOS", 32_768);
    let csv = dir.path().join("r.csv");
    let args = ["-c", &path, "-r", csv.to_str().unwrap(), "--json", "--quiet"];
    let output = iometer(&[&args[..], &SIM[..]].concat());
    succeeds(&output);
    let experiment = cycle(&output);
    let text = fs::read_to_string(&csv).unwrap();
    assert!(text.starts_with("'Test Type,Test Description\n6,nightly, array A\n'Version\n1.1.0\n"));
    assert!(text.ends_with("'End Test\n"), "{text}");
    assert_eq!(
        text.matches("'Access specifications\n").count(),
        2,
        "where they change, not each time"
    );
    let header = text.lines().find(|l| l.starts_with("'Target Type,")).unwrap();
    assert_eq!(header.split(',').count(), 80);
    for line in text.lines().filter(|l| !l.starts_with('\'')) {
        let kind = line.split(',').next().unwrap();
        if ["ALL", "MANAGER", "WORKER", "DISK"].contains(&kind) {
            assert_eq!(line.split(',').count(), 80, "{line}");
        }
    }
    let (file, notes) = read(&text);
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!((file.sessions.len(), file.sessions[0].end), (1, End::Whole));
    let kinds: Vec<RowKind> = file.sessions[0].runs[0].rows.iter().map(|r| r.kind).collect();
    assert_eq!(
        kinds,
        [
            RowKind::All,
            RowKind::Manager,
            RowKind::Worker,
            RowKind::Disk,
            RowKind::Disk,
            RowKind::Worker,
            RowKind::Disk,
            RowKind::Disk,
            RowKind::Manager,
            RowKind::Worker,
            RowKind::Disk
        ],
        "a simulated device has no processors"
    );
    for row in rows(&file) {
        let bins: u64 = Column::BINS.iter().filter_map(|bin| row.count(*bin)).sum();
        let ios = row.count(Column::Reads).unwrap() + row.count(Column::Writes).unwrap();
        assert!(ios > 0 && bins == ios, "{row:?}");
        if row.kind != RowKind::All {
            let ticks = row.figure(Column::TicksPerS).unwrap();
            let raw = row.figure(Column::RawRead).unwrap() + row.figure(Column::RawWrite).unwrap();
            let mean_ms = raw / ios as f64 / ticks * 1000.0;
            assert!((mean_ms - row.figure(Column::MeanMs).unwrap()).abs() < 1e-5, "{row:?}");
        }
    }
    let read_back = import(&text, "r.csv", "2026-01-01T00:00:00Z").measurements;
    assert_eq!(read_back.len(), experiment.measurements.len());
    for (ours, theirs) in experiment.measurements.iter().zip(&read_back) {
        same(ours, theirs);
    }
}

/// Figures that both have are the same, on the whole and of each worker on each target.
fn same(ours: &Measurement, theirs: &Measurement) {
    let pairs =
        [(&ours.total, &theirs.total), (&ours.read, &theirs.read), (&ours.write, &theirs.write)];
    let threads = ours.threads_detail.iter().zip(&theirs.threads_detail);
    for (a, b) in pairs.into_iter().chain(threads.map(|(a, b)| (&a.total, &b.total))) {
        assert_eq!((a.ios, a.bytes, a.errors), (b.ios, b.bytes, b.errors));
        assert!(near(a.iops, b.iops) && near(a.mib_per_s, b.mib_per_s), "{a:?} {b:?}");
        let mean = |s: &results::Statistics| s.latency_ns.map_or(0.0, |l| l.mean);
        assert!((mean(a) - mean(b)).abs() < 1.0, "six digits of milliseconds");
        assert_eq!(a.latency_ns.map(|l| l.max), b.latency_ns.map(|l| l.max));
    }
    assert_eq!(ours.in_flight, theirs.in_flight);
    let mixes =
        |m: &Measurement| m.workload.streams.iter().map(|s| s.mix.clone()).collect::<Vec<_>>();
    assert_eq!(mixes(ours), mixes(theirs));
}

/// IOMeter's own last bin stays empty: what takes longest is missing from it.
#[test]
fn what_takes_ten_seconds_is_in_the_last_bin() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "NORMAL", 32_768);
    let csv = dir.path().join("r.csv");
    let slow = ["--engine", "sim", "--sim", "servers = 64, read_ns = \"11s\", write_ns = \"11s\""];
    let args = ["-c", &path, "-r", csv.to_str().unwrap(), "--seconds", "60", "--quiet"];
    iometer(&[&args[..], &slow[..]].concat());
    let (file, _) = read(&fs::read_to_string(&csv).unwrap());
    let all = rows(&file).next().unwrap();
    let ios = all.count(Column::Reads).unwrap() + all.count(Column::Writes).unwrap();
    assert!(ios > 0);
    assert_eq!(all.count(Column::Above10S), Some(ios));
}

#[test]
fn results_go_behind_those_that_are_there_and_over_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "NORMAL", 32_768);
    let csv = dir.path().join("r.csv");
    let args = ["-c", &path, "-r", csv.to_str().unwrap(), "--seconds", "1", "--quiet"];
    let args = [&args[..], &SIM[..]].concat();
    succeeds(&iometer(&args));
    let first = fs::read_to_string(&csv).unwrap();
    // Somebody's session was cut off in the middle of a line.
    fs::write(&csv, format!("{first}'Test Type,Test Descr")).unwrap();
    succeeds(&iometer(&args));
    let both = fs::read_to_string(&csv).unwrap();
    assert!(both.starts_with(&first));
    assert_eq!(import(&both, "r.csv", "").measurements.len(), 4);
    let other = dir.path().join("notes.txt");
    fs::write(&other, "mine\n").unwrap();
    let args = ["-c", &path, "-r", other.to_str().unwrap(), "--seconds", "1"];
    fails(&iometer(&[&args[..], &SIM[..]].concat()), 1, "not a result file of IOMeter");
    fails(&iometer(&[&["-c", &path, "-r", &path], &SIM[..]].concat()), 1, "not a result file");
    assert_eq!(fs::read_to_string(&other).unwrap(), "mine\n");
}

#[test]
fn the_file_says_which_rows_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "NORMAL", 32_768);
    let text = fs::read_to_string(&path).unwrap();
    for (record, kinds) in [("NO_TARGETS", "AMWWMW"), ("NO_WORKERS", "AMM"), ("NO_MANAGERS", "A")] {
        let csv = dir.path().join(format!("{record}.csv"));
        fs::write(&path, text.replace("\tALL\n", &format!("\t{record}\n"))).unwrap();
        let args = ["-c", &path, "-r", csv.to_str().unwrap(), "--seconds", "1", "--quiet"];
        succeeds(&iometer(&[&args[..], &SIM[..]].concat()));
        let (file, _) = read(&fs::read_to_string(&csv).unwrap());
        let letters: String = file.sessions[0].runs[0]
            .rows
            .iter()
            .map(|row| match row.kind {
                RowKind::All => 'A',
                RowKind::Manager => 'M',
                RowKind::Worker => 'W',
                _ => '?',
            })
            .collect();
        assert_eq!(letters, kinds);
    }
    fs::write(&path, text.replace("\tALL\n", "\tNONE\n")).unwrap();
    let csv = dir.path().join("none.csv");
    let args = ["-c", &path, "-r", csv.to_str().unwrap(), "--seconds", "1"];
    let output = iometer(&[&args[..], &SIM[..]].concat());
    succeeds(&output);
    assert!(stderr(&output).contains("is not written"), "{}", stderr(&output));
    assert!(!csv.exists());
}

#[test]
fn a_dry_run_shows_every_run_and_touches_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "CYCLE_OUTSTANDING_IOS", 32_768);
    make_places(dir.path());
    let csv = dir.path().join("r.csv");
    let output = iometer(&["-c", &path, "-r", csv.to_str().unwrap(), "--dry-run"]);
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("make a test file and write all of it"), "{text}");
    assert!(text.contains("6 runs, at most 20 I/Os in flight"), "{text}");
    assert!(text.contains("2 min 12 s in all"), "{text}");
    assert!(text.contains("begun now, it ends 20"), "{text}");
    assert!(text.contains("2 managers (ALPHA, BETA)"), "{text}");
    let last = text.lines().rfind(|l| l.contains("Backup")).unwrap();
    let cells: Vec<&str> = last.split_whitespace().collect();
    assert_eq!(cells, ["6", "Backup", "1", "2", "4", "8", "20", "s"]);
    assert_eq!(names(dir.path()), ["a", "b", "c", "t.icf"]);
    assert_eq!(names(&dir.path().join("a")), [""; 0]);
}

#[test]
fn real_files_are_made_used_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "CYCLE_TARGETS", 4096);
    make_places(dir.path());
    let csv = dir.path().join("r.csv");
    let args = ["-c", &path, "-r", csv.to_str().unwrap(), "--seconds", "0.3", "--warmup", "0"];
    let output = iometer(&[&args[..], &["--json"]].concat());
    succeeds(&output);
    let found = cycle(&output);
    assert_eq!(found.measurements.len(), 4);
    assert!(found.measurements.iter().all(|m| m.total.ios > 0 && m.errors.is_empty()));
    let (read_back, notes) = read(&fs::read_to_string(&csv).unwrap());
    assert!(notes.is_empty(), "{notes:?}");
    assert!(rows(&read_back).any(|r| r.kind == RowKind::Processor));
    places_are_empty(dir.path());
    succeeds(&iometer(&[&args[..], &["--keep", "--quiet"]].concat()));
    assert!(mark(&dir.path().join("c/iobw.tst")).contains("iosonde"));
    // What somebody else made is written to only if that is said.
    foreign_file(&dir.path().join("a/iobw.tst"), 1 << 20);
    fails(&iometer(&args), 1, "--destroy");
}

#[test]
fn disks_that_are_to_be_filled_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "NORMAL", 0);
    make_places(dir.path());
    let output = iometer(&["-c", &path, "--dry-run"]);
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("c/iobw.tst (1 GiB)"), "{text}");
    assert!(text.contains("which IOMeter fills"), "{text}");
    let output = iometer(&["-c", &path, "--dry-run", "--size", "16M"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("c/iobw.tst (16 MiB)") && !text.contains("fills"), "{text}");
}

#[test]
fn a_signal_ends_a_run_that_nothing_else_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "NORMAL", 4096);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\t0          0          20\n", "\t0 0 0\n")).unwrap();
    make_places(dir.path());
    let csv = dir.path().join("r.csv");
    let args = ["iometer", "-c", &path, "-r", csv.to_str().unwrap(), "--warmup", "0.05", "--json"];
    let mut running = Running::start(&args);
    running.wait_for("[2/3]");
    std::thread::sleep(Duration::from_millis(900));
    running.signal("INT");
    let output = running.end();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    let found = cycle(&output);
    assert_eq!((found.status, found.measurements.len()), (Status::Interrupted, 1));
    assert!(found.measurements[0].total.ios > 0);
    assert!(fs::read_to_string(&csv).unwrap().ends_with("Aborted test\n"));
    places_are_empty(dir.path());
    fails(&iometer(&[&["-c", &path], &SIM[..]].concat()), 2, "--seconds");
}

#[test]
fn a_cycle_is_one_result_of_the_history() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "CYCLE_OUTSTANDING_IOS", 32_768);
    let history = dir.path().join("h.db");
    let place = ["--history", history.to_str().unwrap()];
    let tag = ["--tag", "cycle"];
    let args = ["-c", &path, "--seconds", "1"];
    let output = iometer(&[&args[..], &SIM[..], &place, &tag].concat());
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    for words in
        ["nightly, array A on ", "Configuration        t.icf\n", "Runs                 6 of 6\n"]
    {
        assert!(text.contains(words), "`{words}` is not in {text}");
    }
    let list = command(&[&["history", "list", "--kind", "iometer"], &place[..]].concat()).output();
    let list = String::from_utf8(list.unwrap().stdout).unwrap();
    assert!(list.contains("iometer") && list.contains("nightly, ar"), "{list}");
    let show = command(&[&["history", "show", "@cycle"], &place[..]].concat()).output().unwrap();
    succeeds(&show);
    let shown = String::from_utf8(show.stdout).unwrap();
    assert!(shown.ends_with(&text), "{shown}");
    let html = dir.path().join("r.html");
    let out = ["report", "@cycle", "--output", html.to_str().unwrap()];
    succeeds(&command(&[&out[..], &place[..]].concat()).output().unwrap());
    assert!(fs::read_to_string(html).unwrap().contains("IOPS over the I/Os in flight"));
}

/// What the runs of a cycle counted, run by run.
fn figures(experiment: &Experiment<Cycle>) -> Vec<(u64, u64)> {
    experiment.measurements.iter().map(|m| (m.total.ios, m.total.bytes)).collect()
}

#[test]
fn a_cycle_is_a_plan_that_another_directory_runs_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "CYCLE_OUTSTANDING_IOS", 32_768);
    let csv = dir.path().join("r.csv");
    let args = ["-c", &path, "-r", csv.to_str().unwrap(), "--seconds", "1"];
    let args = [&args[..], &SIM[..]].concat();
    let printed = iometer(&[&args[..], &["--print-plan"]].concat());
    succeeds(&printed);
    assert!(!csv.exists(), "a plan is printed and nothing is done");
    let plan = dir.path().join("plan.toml");
    fs::write(&plan, &printed.stdout).unwrap();
    fs::remove_file(&path).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let args = [&["do", plan.to_str().unwrap()], words].concat();
        command(&args).current_dir(elsewhere.path()).output().unwrap()
    };
    let dry = run(&["--dry-run"]);
    succeeds(&dry);
    let text = String::from_utf8(dry.stdout).unwrap();
    assert!(text.contains("6 runs, at most 20 I/Os in flight"), "{text}");
    assert!(!csv.exists(), "a rehearsal touches nothing");
    let by_plan = run(&["--json", "--no-history"]);
    succeeds(&by_plan);
    assert!(stderr(&by_plan).contains("IOMeter's results are in"), "{}", stderr(&by_plan));
    let written = fs::read_to_string(&csv).unwrap();
    assert_eq!(import(&written, "r.csv", "").measurements.len(), 6);
    let path = file(dir.path(), "CYCLE_OUTSTANDING_IOS", 32_768);
    let by_command =
        iometer(&[&["-c", &path, "--seconds", "1", "--json", "--no-history"], &SIM[..]].concat());
    succeeds(&by_command);
    assert_eq!(figures(&cycle(&by_plan)), figures(&cycle(&by_command)));
    // Without a place for IOMeter's file, none is written.
    let lines = String::from_utf8(printed.stdout).unwrap();
    let lines: String = lines
        .lines()
        .filter(|l| !l.starts_with("results = "))
        .map(|l| l.to_owned() + "\n")
        .collect();
    fs::write(&plan, lines).unwrap();
    fs::remove_file(&csv).unwrap();
    succeeds(&run(&["--quiet", "--no-history"]));
    assert!(!csv.exists() && names(elsewhere.path()).is_empty());
}

#[test]
fn a_cycle_is_repeated_on_its_targets_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "NORMAL", 4096);
    make_places(dir.path());
    let mut text = fs::read_to_string(&path).unwrap();
    for (name, drive) in [("a", "E"), ("b", "F"), ("c", "G")] {
        let place = format!("{} [ext4]", dir.path().join(name).display());
        text = text.replace(&place, &format!("{drive}: \"data\""));
    }
    fs::write(&path, text).unwrap();
    let drives = ["--drive", "E=a", "--drive", "F=b", "--drive", "G=c"];
    let history = dir.path().join("h.db");
    let place = ["--history", history.to_str().unwrap()];
    let csv = dir.path().join("r.csv");
    let args = ["iometer", "-c", &path, "-r", csv.to_str().unwrap(), "--seconds", "0.3"];
    let args = [&args[..], &["--warmup", "0", "--quiet"], &drives, &place].concat();
    succeeds(&command(&args).current_dir(dir.path()).output().unwrap());
    let before = fs::read_to_string(&csv).unwrap();
    // The configuration may be gone; the plan is in the history.
    fs::remove_file(&path).unwrap();
    let again = [&["again", "latest", "--quiet"], &place[..]].concat();
    let output = command(&again).current_dir("/").output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.starts_with("nightly, array A on "), "{text}");
    assert!(words.contains("Configuration t.icf Test type NORMAL Runs 2 of 2"), "{text}");
    assert!(text.contains("OLTP; mixed"), "{text}");
    assert_eq!(fs::read_to_string(&csv).unwrap(), before, "a repetition writes no result file");
    places_are_empty(dir.path());
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    fails(&iometer(&[]), 2, "-c FILE.icf");
    fails(&iometer(&["-c", "/nowhere.icf"]), 2, "/nowhere.icf");
    let path = file(dir.path(), "NORMAL", 32_768);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("8192,90,67", "8K,90,67")).unwrap();
    let output = iometer(&[&["-c", &path, "--seconds", "1"], &SIM[..]].concat());
    succeeds(&output);
    let said = stderr(&output);
    let number = text.lines().position(|l| l.contains("8192,90")).unwrap() + 1;
    assert!(said.contains(&format!("line {number}: `8K` is not a whole number")), "{said}");
    fs::write(&path, text.replace(dir.path().to_str().unwrap(), "E:")).unwrap();
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("E:/a [ext4]", "E: \"data\""))
        .unwrap();
    fails(&iometer(&["-c", &path]), 2, "--drive E=/a/directory");
    let specs = text.split("'MANAGER LIST").next().unwrap();
    fs::write(&path, specs).unwrap();
    fails(&iometer(&["-c", &path]), 2, "nothing to run");
    fs::write(&path, "hello\n").unwrap();
    fails(&iometer(&["-c", &path]), 2, "no part of an IOMeter configuration");
}
