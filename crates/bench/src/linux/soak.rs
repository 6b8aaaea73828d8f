//! Every command that measures, many at once on one history, ended at random: no lock is lost, no
//! file damaged, no finished result missing. What a command prints to go on works, nothing stays
//! that the next commands do not remove, and files of others stay as they are.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use history::{History, Place};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use results::Status;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testing::locks;

use super::table::Row;
use super::{Error, tools};

/// Rounds on one history. Then the next rounds begin without a history, so that many processes make
/// it at once.
const ROUNDS_PER_HISTORY: u32 = 25;
/// One process in so many is ended, at a random moment of its first seconds.
const ENDED_ONE_IN: usize = 3;
const ENDED_WITHIN_MS: usize = 1500;
const SIGNALS: [Signal; 3] = [Signal::KILL, Signal::INT, Signal::TERM];
/// How often the locks are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A process that had a lock, and has the file open without one for so many looks, has lost it. One
/// that closes the file is without for less.
const LOST_LOOKS: u32 = 50;
/// A process that takes longer hangs.
const HANGS: Duration = Duration::from_secs(300);

/// A command that measures. Each process has a directory of its own, with a file of somebody else.
struct Task {
    /// A command that ends before it begins.
    before: &'static str,
    /// The command. `NAME` stands for the name of the process, by which its result is found.
    line: &'static str,
    /// The command that goes on after a kill.
    next: &'static str,
    /// It takes longer, and is always ended.
    is_long: bool,
}

const fn task(line: &'static str, next: &'static str) -> Task {
    Task { before: "", line, next, is_long: false }
}

const fn long(line: &'static str, next: &'static str) -> Task {
    Task { before: "", line, next, is_long: true }
}

/// What resumes the only experiment of a history.
const AGAIN: &str = "again --resume latest --history own.db";

const TASKS: [Task; 26] = [
    task("run . --size 16M --engine null --seconds 0.3 --warmup 0 --rate 2000 --tag NAME", ""),
    task("run . --size 4M --seconds 0.3 --warmup 0 -w 50 --rate 2000 --tag NAME", ""),
    task("do plan.toml --tag NAME", ""),
    task(
        "sweep . --size 16M --engine null --blocks 4K,8K --depths 1,2 --seconds 0.1 --warmup 0 \
         --settle 0 --tag NAME",
        "",
    ),
    task(
        "sweep . --size 4M --blocks 4K,8K --depths 1,2 --seconds 0.2 --warmup 0 --settle 0 \
         --history own.db",
        "sweep --resume --history own.db",
    ),
    task(
        "sqlio batch --drive E=. --drives E --kinds R --factors random --threads 1,2 \
         --block-sizes 8 --outstanding 1,2 --seconds 0.2 --wait 0 --size 4M --history own.db",
        "",
    ),
    task("monitor . --interval 100ms --seconds 0.8 --name NAME", ""),
    task("validate . --size 8M --seconds 0.2 --tag NAME", ""),
    task("validate . --size 8M --seconds 0.2 --ledger own.ledger", "validate --resume own.ledger"),
    task("validate . --durability --size 8M --seconds 0.2", ""),
    task("replay ../t.iotrace . --tag NAME", ""),
    task("sqlio -kW -b8 -frandom -s1 -t1 -o2 -BH -LS own.dat", ""),
    task("diskspd -c4M -b8K -d1 -W0 -o2 -w50 own.dat", ""),
    task("sqliosim -dir . -size 8 -d 1", ""),
    task("iometer -c ../c.icf --drive C=. --seconds 0.2 --warmup 0", ""),
    task("run --workload job.fio --tag NAME", ""),
    Task {
        before: "run . --size 4M --engine null --seconds 0.1 --warmup 0 --quiet --tag first-NAME",
        ..task("again @first-NAME --tag NAME", "")
    },
    Task {
        before: "capture import -o own.iotrace ../t.csv",
        ..task("capture . -d 0.5 -o own.iotrace --onto-recorded", SHOW)
    },
    long("assess . --size 64M --pace glance --progress json --report own.html", ""),
    long("assess . --size 64M --pace glance --report own.html --history own.db", AGAIN),
    long("knee . --size 4M --to 4 --seconds 0.2 --warmup 0 --precision 0 --history own.db", AGAIN),
    long("sizes . --sizes 2M,4M --seconds 0.1 --warmup 0 --precision 0 --history own.db", AGAIN),
    long("scale . other --size 2M --seconds 0.1 --warmup 0 --precision 0 --history own.db", AGAIN),
    long(
        "matrix . --size 4M --seconds 0.2 --cell-seconds 0.2 --levels 0,50 --warmup 0 \
         --precision 0 --settle 0 --history own.db",
        AGAIN,
    ),
    long("iometer -c ../c.icf --drive C=. --seconds 0.2 --warmup 0 --history own.db", AGAIN),
    long("fit ../t.iotrace . -d 1 --limit read=1s@p99 --progress json", ""),
];
/// An earlier trace of the same name stays until the new one is complete.
const SHOW: &str = "capture show own.iotrace";
const READERS: [&str; 2] = ["history list", "history check"];
/// Another program that reads with SQLite, as `sqlite3 FILE` does.
const OUTSIDER: &str = "outsider";
/// Somebody else's file.
const FOREIGN: &str = "notes.txt";
/// What may stay: that file, and what the commands were to make.
const MAY_STAY: [&str; 8] =
    [FOREIGN, "own", "other", "plan.toml", "job.fio", "sqliosim", "testfile.dat", "SQLIO_Result"];
/// A command that makes a test file, and so removes what a killed one left.
const TINY: &str = "run . --size 1M --seconds 0.01 --warmup 0 --no-history --quiet";
/// What a command says after a kill that came before anything was kept, or of a trace of half a
/// second without I/O.
const TOO_EARLY: [&str; 8] = [
    "there is no result `latest`",
    "is complete: ",
    "no unfinished sweep",
    "there is no history",
    "(os error 2)",
    "nothing was promised",
    "NOTHING PROMISED",
    "has no I/O",
];

/// Flags of `soak`.
#[derive(Debug, Args)]
pub(super) struct SoakArgs {
    /// Times that all processes are started at once
    #[arg(long = "times", value_name = "N", default_value_t = 1000)]
    rounds: u32,

    /// Processes of a round
    #[arg(long, value_name = "N", default_value_t = 20)]
    processes: u32,

    /// Where the random choices start [default: the time of day]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// What this program does when it is one of the processes itself
    #[arg(long, value_name = "FILE", hide = true)]
    outsider: Option<PathBuf>,
}

/// What happened in all rounds together.
#[derive(Debug, Default)]
struct Sum {
    processes: u64,
    ended: u64,
    results: u64,
    looks: u64,
    lost_locks: u64,
    failed: u64,
    damages: u64,
    missing: u64,
}

/// A process of a round, with its task.
struct Process {
    child: Child,
    task: Option<&'static Task>,
    arguments: String,
    tag: Option<String>,
    directory: PathBuf,
    /// What it prints on stderr.
    said: PathBuf,
    ends: Option<(Instant, Signal)>,
    sent: Option<Signal>,
    had_lock: bool,
    looks_without: u32,
}

/// What a history must have: results by their tags, measurements by their ids.
#[derive(Default)]
struct Expected {
    tags: Vec<String>,
    measurements: Vec<String>,
}

/// Runs all rounds; the figures, of which most may not be other than 0.
pub(super) fn run(iosonde: &Path, args: &SoakArgs) -> Result<Vec<Row>, Error> {
    if let Some(file) = &args.outsider {
        return read_as_outsider(file).map(|()| Vec::new());
    }
    let seed = args.seed.unwrap_or_else(|| jiff::Timestamp::now().as_second().unsigned_abs());
    eprintln!("seed {seed}");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut sum = Sum::default();
    let mut round = 0;
    while round < args.rounds {
        // With a real disk under it, if that of the tests is one.
        let home = tempfile::tempdir()?;
        let history = home.path().join("history.db");
        furnish_home(iosonde, home.path())?;
        let rounds = ROUNDS_PER_HISTORY.min(args.rounds - round);
        let mut expected = Expected::default();
        for number in 0..rounds {
            let processes = start(iosonde, &history, (number, args.processes), &mut random)?;
            for (process, status) in watch(processes, &history, &mut sum)? {
                judge(iosonde, &process, status, (&mut expected, &mut sum))?;
            }
        }
        round += rounds;
        inspect(&history, &expected, &mut sum);
        eprintln!("{round} rounds: {sum:?}");
    }
    let Sum { processes, ended, results, looks, lost_locks, failed, damages, missing } = sum;
    let shown = |what: &str, count: u64| Row { limit: None, ..none(what, count) };
    Ok(vec![
        shown("processes, all of a round on one history", processes),
        shown("ended by SIGKILL, SIGINT or SIGTERM at random moments", ended),
        shown("finished results", results),
        shown("looks at the locks of a process", looks),
        none("processes that lost their lock", lost_locks),
        none("processes that failed, could not go on, or left something", failed),
        none("histories that are damaged", damages),
        none("finished results and measurements that are missing", missing),
    ])
}

fn none(what: &str, count: u64) -> Row {
    Row::own(what, count as f64, "", 0.0)
}

/// Makes what the tasks of a history read: a plan, a trace, a configuration.
fn furnish_home(iosonde: &Path, home: &Path) -> Result<(), Error> {
    let mut lines = String::new();
    for number in 0..500_u64 {
        let (at, offset) = (1 << 56 | (number * 10_000), number * 7919 % 512 * 4096);
        writeln!(lines, "{at},host,0,Read,{offset},4096,1000")?;
    }
    fs::write(home.join("t.csv"), lines)?;
    fs::write(home.join("c.icf"), include_str!("../../../iosonde/tests/it/windows/nightly.icf"))?;
    let place = (home, &*home.join("history.db"));
    shell(iosonde, "capture import -o t.iotrace t.csv", place)?;
    let plan = "run . --size 4M --seconds 0.3 --warmup 0 --print-plan >plan.toml";
    shell(iosonde, plan, place).map(drop)
}

/// Makes the directory of a process.
fn furnish(directory: &Path) -> Result<(), Error> {
    fs::create_dir_all(directory.join("other"))?;
    fs::write(directory.join(FOREIGN), FOREIGN)?;
    let job = "[job]\nrw=randrw\nbs=4k\nsize=2m\nruntime=1\ntime_based\nfilename=iosonde.test\n";
    fs::write(directory.join("job.fio"), job)?;
    fs::copy(directory.with_file_name("plan.toml"), directory.join("plan.toml"))?;
    Ok(())
}

/// Runs a command line of iosonde, as a user types it.
fn shell(
    iosonde: &Path,
    line: &str,
    (directory, history): (&Path, &Path),
) -> Result<Output, Error> {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec '{}' {line}", iosonde.display())]);
    command.env("IOSONDE_HISTORY", history);
    Ok(command.current_dir(directory).stdin(Stdio::null()).output()?)
}

fn start(
    iosonde: &Path,
    history: &Path,
    (round, count): (u32, u32),
    random: &mut Xoshiro256PlusPlus,
) -> Result<Vec<Process>, Error> {
    let mut choose = |from: usize| usize::try_from(random.next_u64() % from as u64).unwrap_or(0);
    let mut processes = Vec::new();
    for number in 0..count {
        let kind = choose(TASKS.len() + 2 * (READERS.len() + 1));
        let task = TASKS.get(kind);
        let directory = history.with_file_name(format!("r{round}-{number}"));
        furnish(&directory)?;
        let name = format!("r{round}-{number}");
        let tag = task.filter(|task| task.line.contains("NAME")).map(|_| name.clone());
        let arguments = match task {
            Some(task) => task.line.replace("NAME", &name),
            None => READERS.get((kind - TASKS.len()) / 2).unwrap_or(&OUTSIDER).to_string(),
        };
        if let Some(before) = task.map(|task| task.before).filter(|before| !before.is_empty()) {
            let output = shell(iosonde, &before.replace("NAME", &name), (&directory, history))?;
            if !output.status.success() {
                return Err(format!("`{before}`: {}", tools::complaint(&output)).into());
            }
        }
        let mut command = if arguments == OUTSIDER {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("soak").arg("--outsider").arg(history);
            command
        } else {
            let mut command = Command::new(iosonde);
            command.args(arguments.split(' ')).env("IOSONDE_HISTORY", history);
            command
        };
        let said = directory.with_extension("said");
        command.current_dir(&directory).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(&said)?);
        let is_ended = choose(ENDED_ONE_IN) == 0 || task.is_some_and(|task| task.is_long);
        let after = Duration::from_millis(choose(ENDED_WITHIN_MS) as u64);
        let signal = SIGNALS[choose(SIGNALS.len())];
        processes.push(Process {
            child: command.spawn()?,
            task,
            arguments,
            tag,
            directory,
            said,
            ends: is_ended.then(|| (Instant::now() + after, signal)),
            sent: None,
            had_lock: false,
            looks_without: 0,
        });
    }
    Ok(processes)
}

/// Ends those that are to be ended, and looks at the locks until all have ended.
fn watch(
    mut processes: Vec<Process>,
    history: &Path,
    sum: &mut Sum,
) -> Result<Vec<(Process, ExitStatus)>, Error> {
    let begun = Instant::now();
    let mut all = Vec::new();
    while !processes.is_empty() {
        sleep(LOOK_EVERY);
        let mut running = Vec::new();
        for mut process in processes {
            if let Some(status) = process.child.try_wait()? {
                all.push((process, status));
                continue;
            }
            if let Some((_, signal)) = process.ends.filter(|(at, _)| *at <= Instant::now())
                && process.sent.is_none()
            {
                kill_process(Pid::from_child(&process.child), signal)?;
                process.sent = Some(signal);
            }
            look(&mut process, history, sum);
            running.push(process);
        }
        if begun.elapsed() > HANGS {
            for process in &mut running {
                process.child.kill()?;
            }
            return Err(format!("`{}` does not end", running[0].arguments).into());
        }
        processes = running;
    }
    Ok(all)
}

/// Whether a process ended as it should, and can go on; what the history must have of it.
fn judge(
    iosonde: &Path,
    process: &Process,
    status: ExitStatus,
    (expected, sum): (&mut Expected, &mut Sum),
) -> Result<(), Error> {
    let said = fs::read_to_string(&process.said)?;
    sum.processes += 1;
    sum.ended += u64::from(process.sent.is_some() && !status.success());
    let is_as_sent = process.sent.is_some_and(|signal| {
        status.signal() == Some(signal.as_raw())
            || signal != Signal::KILL && status.code() == Some(130)
    });
    // A process that only reads may start before there is a history.
    let is_early = process.task.is_none() && said.contains("there is no history at");
    let mut wrong = None;
    if !status.success() && !is_as_sent && !is_early && process.arguments != OUTSIDER {
        wrong = Some(said.clone());
    }
    if status.success() {
        sum.results += u64::from(process.tag.is_some());
        expected.tags.extend(process.tag.clone());
    }
    // The last one may not be recorded yet.
    let mut measured = measured(&said);
    measured.pop();
    expected.measurements.append(&mut measured);
    if let (Some(task), None) = (process.task, &wrong) {
        wrong = go_on(iosonde, process, (task, &said))?;
    }
    if fs::read(process.directory.join(FOREIGN))? != FOREIGN.as_bytes() {
        wrong = Some(format!("changed {FOREIGN}"));
    }
    if let Some(wrong) = wrong {
        sum.failed += 1;
        eprintln!("`{}`, sent {:?}: {wrong}", process.arguments, process.sent);
    }
    Ok(fs::remove_dir_all(&process.directory)?)
}

/// The ids of the measurements that a process reported as events.
fn measured(said: &str) -> Vec<String> {
    let events = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let measured = events.filter(|event| event["event"] == "measured");
    measured.filter_map(|event| Some(event["measurement"]["id"].as_str()?.to_owned())).collect()
}

/// Goes on as a process printed it, or as is documented for a kill. Then removes what is left. What
/// is wrong, as a sentence.
fn go_on(
    iosonde: &Path,
    process: &Process,
    (task, said): (&Task, &str),
) -> Result<Option<String>, Error> {
    let is_killed = process.sent == Some(Signal::KILL);
    let mut printed = said.split('`').filter_map(|part| part.strip_prefix("iosonde "));
    // A check of durability that is interrupted keeps what it checks.
    let goes_on = |line: &&str| ["--resume", "--verify"].iter().any(|flag| line.contains(flag));
    let printed = printed.rfind(goes_on);
    let mut verify = said.lines().filter_map(|line| line.strip_prefix("after a crash: iosonde "));
    let next = match process.sent {
        Some(Signal::KILL) => {
            verify.next_back().or(Some(task.next)).filter(|next| !next.is_empty())
        }
        _ => printed.or(Some(task.next).filter(|next| *next == SHOW)),
    };
    let place = (&*process.directory, &*process.directory.with_file_name("history.db"));
    if let Some(next) = next {
        let output = shell(iosonde, next, place)?;
        let answer = [output.stdout, output.stderr].concat();
        let answer = String::from_utf8_lossy(&answer);
        let is_early =
            (is_killed || next == SHOW) && TOO_EARLY.iter().any(|words| answer.contains(words));
        if !output.status.success() && !is_early {
            return Ok(Some(format!("`{next}` failed: {answer}")));
        }
    }
    let may_stay = |name: &str| MAY_STAY.iter().any(|beginning| name.starts_with(beginning));
    let left = || -> Result<Vec<String>, Error> {
        let names = fs::read_dir(&process.directory)?.flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        Ok(names.filter(|name| !may_stay(name)).collect())
    };
    if left()?.is_empty() {
        return Ok(None);
    }
    if !is_killed {
        return Ok(Some(format!("left {:?}; it said: {said}", left()?)));
    }
    for next in ["validate --clean . other", TINY] {
        let output = shell(iosonde, next, place)?;
        if !output.status.success() {
            return Ok(Some(format!("`{next}`: {}", tools::complaint(&output))));
        }
    }
    let left = left()?;
    Ok((!left.is_empty()).then(|| format!("left for ever: {left:?}")))
}

fn look(process: &mut Process, history: &Path, sum: &mut Sum) {
    let id = process.child.id();
    let open = locks::is_open(id, history);
    let held = open && locks::held(id, history).is_ok_and(|count| count > 0);
    let whole = held && locks::deleted(id, history).is_empty();
    sum.looks += u64::from(held);
    let without = process.had_lock && open && !whole;
    process.had_lock |= held;
    process.looks_without = if without { process.looks_without + 1 } else { 0 };
    if process.looks_without == LOST_LOOKS {
        sum.lost_locks += 1;
        eprintln!("`{}` lost its lock", process.arguments);
    }
}

/// Whether the history is whole, and everything in it that must be.
fn inspect(history: &Path, expected: &Expected, sum: &mut Sum) {
    let wrong = History::open_existing(&Place::File(history.to_owned())).and_then(|history| {
        for tag in &expected.tags {
            let found = history.select(&format!("@{tag}"));
            let whole = found
                .as_ref()
                .is_ok_and(|found| found.len() == 1 && found[0].status == Some(Status::Complete));
            if !whole {
                sum.missing += 1;
                eprintln!("`{tag}` is missing: {found:?}");
            }
        }
        history.check()
    });
    if !matches!(&wrong, Ok(wrong) if wrong.is_empty()) {
        sum.damages += 1;
        eprintln!("{wrong:?}");
    }
    let lost = |connection: rusqlite::Connection| -> rusqlite::Result<u64> {
        let sql = "SELECT count(*) FROM measurements WHERE id = ?1";
        expected.measurements.iter().try_fold(0, |lost, id| {
            let count: i64 = connection.query_row(sql, [id], |row| row.get(0))?;
            Ok(lost + u64::from(count == 0))
        })
    };
    match rusqlite::Connection::open(history).and_then(lost) {
        Ok(lost) => sum.missing += lost,
        Err(error) => eprintln!("{error}"),
    }
    sum.results += expected.measurements.len() as u64;
}

/// Reads as another program does: opens, asks, and closes, which moves the log into the file where
/// nobody else has it open.
fn read_as_outsider(file: &Path) -> Result<(), Error> {
    let connection =
        rusqlite::Connection::open_with_flags(file, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::from_secs(30))?;
    for table in ["recording_points", "measurements", "experiments"] {
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |_| Ok(()))?;
        sleep(Duration::from_millis(20));
    }
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}
