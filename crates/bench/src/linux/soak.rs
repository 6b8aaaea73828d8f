//! Many processes on one history, killed at random: no lock is lost, no file damaged, no finished
//! result missing.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use history::{History, Place};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use results::Status;
use testing::locks;

use super::table::Row;
use super::{Error, tools};

/// Rounds on one history. Then the next rounds begin without a history, so that many processes make
/// it at once.
const ROUNDS_PER_HISTORY: u32 = 25;
/// One process in so many is killed, at a random moment of its first second.
const KILLED_ONE_IN: u64 = 3;
const KILLED_WITHIN_MS: u64 = 1000;
/// How often the locks are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A process that had a lock, and has the file open without one for so many looks, has lost it. One
/// that closes the file is without for less.
const LOST_LOOKS: u32 = 50;
/// A process that takes longer hangs.
const HANGS: Duration = Duration::from_secs(300);

/// What the processes do. Those that record are given a tag by which their result is found.
const RECORDERS: [&str; 3] = [
    "run . --size 16M --engine null --seconds 0.3 --warmup 0 --rate 2000 --quiet --tag",
    "sweep . --size 16M --engine null --blocks 4K,8K --depths 1,2 --seconds 0.1 --warmup 0 \
     --settle 0 --quiet --tag",
    "monitor . --interval 100ms --seconds 0.8 --quiet --name",
];
const READERS: [&str; 2] = ["history list", "history check"];
/// Another program that reads with SQLite, as `sqlite3 FILE` does.
const OUTSIDER: &str = "outsider";

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
    kills: u64,
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
    arguments: String,
    tag: Option<String>,
    killed_at: Option<Instant>,
    killed: bool,
    had_lock: bool,
    looks_without: u32,
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
        let directory = tempfile::tempdir()?;
        let history = directory.path().join("history.db");
        let rounds = ROUNDS_PER_HISTORY.min(args.rounds - round);
        let mut expected = Vec::new();
        for number in 0..rounds {
            let processes = start(iosonde, &history, (number, args.processes), &mut random)?;
            expected.extend(watch(processes, &history, &mut sum)?);
        }
        round += rounds;
        inspect(&history, &expected, &mut sum);
        eprintln!("{round} rounds: {sum:?}");
    }
    let Sum { processes, kills, results, looks, lost_locks, failed, damages, missing } = sum;
    let shown = |what: &str, count: u64| Row { limit: None, ..none(what, count) };
    Ok(vec![
        shown("processes, all of a round on one history", processes),
        shown("killed at random moments", kills),
        shown("finished results", results),
        shown("looks at the locks of a process", looks),
        none("processes that lost their lock", lost_locks),
        none("processes that failed", failed),
        none("histories that are damaged", damages),
        none("finished results that are missing", missing),
    ])
}

fn none(what: &str, count: u64) -> Row {
    Row::own(what, count as f64, "", 0.0)
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
        let kind = choose(2 * RECORDERS.len() + READERS.len() + 1);
        let recorder = RECORDERS.get(kind / 2);
        let tag = recorder.map(|_| format!("r{round}-{number}"));
        let arguments = match (recorder, &tag) {
            (Some(recorder), Some(tag)) => format!("{recorder} {tag}"),
            _ => READERS.get(kind - 2 * RECORDERS.len()).unwrap_or(&OUTSIDER).to_string(),
        };
        let mut command = if arguments == OUTSIDER {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("soak").arg("--outsider").arg(history);
            command
        } else {
            let mut command = Command::new(iosonde);
            command.args(arguments.split(' ')).env("IOSONDE_HISTORY", history);
            command
        };
        command.current_dir(history.parent().unwrap_or(history));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let killed = choose(usize::try_from(KILLED_ONE_IN)?) == 0;
        let after = Duration::from_millis(choose(usize::try_from(KILLED_WITHIN_MS)?) as u64);
        processes.push(Process {
            child: command.spawn()?,
            arguments,
            tag,
            killed_at: killed.then(|| Instant::now() + after),
            killed: false,
            had_lock: false,
            looks_without: 0,
        });
    }
    Ok(processes)
}

/// Kills those that are to be killed and looks at the locks until all have ended; the tags of
/// results that must be there.
fn watch(mut processes: Vec<Process>, history: &Path, sum: &mut Sum) -> Result<Vec<String>, Error> {
    let begun = Instant::now();
    let mut finished = Vec::new();
    while !processes.is_empty() {
        sleep(LOOK_EVERY);
        let mut running = Vec::new();
        for mut process in processes {
            if process.killed_at.is_some_and(|at| at <= Instant::now()) && !process.killed {
                process.child.kill()?;
                process.killed = true;
            }
            let Some(status) = process.child.try_wait()? else {
                look(&mut process, history, sum);
                running.push(process);
                continue;
            };
            sum.processes += 1;
            sum.kills += u64::from(process.killed && !status.success());
            if status.success() {
                finished.extend(process.tag);
            } else if !process.killed {
                sum.failed += u64::from(failed(process)?);
            }
        }
        if begun.elapsed() > HANGS {
            for process in &mut running {
                process.child.kill()?;
            }
            return Err(format!("`{}` does not end", running[0].arguments).into());
        }
        processes = running;
    }
    sum.results += finished.len() as u64;
    Ok(finished)
}

/// Whether a process that ended by itself failed. A process that only reads may start before there
/// is a history.
fn failed(process: Process) -> Result<bool, Error> {
    let said = tools::complaint(&process.child.wait_with_output()?);
    let early = process.tag.is_none() && said.contains("there is no history at");
    let failed = !early && process.arguments != OUTSIDER;
    if failed {
        eprintln!("`{}` failed: {said}", process.arguments);
    }
    Ok(failed)
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
fn inspect(history: &Path, expected: &[String], sum: &mut Sum) {
    if expected.is_empty() {
        return;
    }
    let wrong = History::open_existing(&Place::File(history.to_owned())).and_then(|history| {
        for tag in expected {
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
