//! Attacks on other people's data: every command that writes, on every kind of file that is not
//! its own. Nothing foreign may change.

mod commands;
mod inputs;
mod watch;
mod ways;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::fs::{CWD, RenameFlags};
use rustix::process::{Pid, Signal};

use self::commands::Attacked;
use self::inputs::Inputs;
use self::watch::Watch;
use self::ways::{Scene, WAYS, Way};
use super::faults::table;
use super::{Error, PeersArgs, machine};

const HEADING: &str = "## Tried by force";
/// A command that takes longer is interrupted, as by Ctrl-C.
const ALONE: Duration = Duration::from_secs(3);
/// One that does not end then either hangs.
const HANGS: Duration = Duration::from_secs(30);
/// Pauses between two swaps.
const PAUSES_US: [u64; 5] = [0, 0, 50, 300, 1000];
/// The latest moment at which a file appears.
const APPEARS_MS: u64 = 400;
/// Fewer attempts are not written to the page.
const PAGE_LEAST: usize = 1000;

/// Flags of `force`.
#[derive(Debug, Args)]
pub(super) struct ForceArgs {
    /// How many of the attempts, chosen at random; with more than there are, some are repeated with
    /// other moments and contents [default: each once]
    #[arg(long, value_name = "N")]
    attempts: Option<usize>,

    /// Where the random choices start
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Only attacks or commands with this in their text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// How a command ended.
#[derive(Debug)]
struct Ended {
    status: ExitStatus,
    interrupted: bool,
    hung: bool,
    said: String,
}

impl Ended {
    /// Whether it did its work, with whatever file.
    fn went_on(&self) -> bool {
        self.status.success() || self.interrupted
    }
}

/// One attempt: a way, a command, and whether the permit is given.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    way: usize,
    command: usize,
    permit: bool,
    seed: u64,
}

/// What came of all attempts of one way.
#[derive(Debug, Default)]
struct Sum {
    attempts: u64,
    refused: u64,
    went_on: u64,
    harmed: u64,
}

/// What all attempts share.
struct Run {
    iosonde: PathBuf,
}

/// Makes all attempts; gives the table, and whether nothing foreign changed.
pub(super) fn run(
    iosonde: &Path,
    args: &ForceArgs,
    peers: &PeersArgs,
) -> Result<(String, bool), Error> {
    if !rustix::process::geteuid().is_root() {
        return Err("devices, mounts and files of other users need root".into());
    }
    let directory = match &peers.dir {
        Some(directory) => tempfile::tempdir_in(directory)?,
        None => tempfile::tempdir()?,
    };
    let run = Run { iosonde: iosonde.canonicalize()? };
    let commands = commands::all();
    let inputs = Inputs::new(&run, directory.path(), &commands)?;
    let attempts = attempts(args, &commands, &inputs);
    let sums = all(&run, directory.path(), (&commands, &inputs), &attempts)?;
    let (mut rows, mut total) = (Vec::new(), Sum::default());
    for ((_, name, ..), sum) in WAYS.iter().zip(&sums).filter(|(_, sum)| sum.attempts > 0) {
        rows.push(row(name, sum));
        total.attempts += sum.attempts;
        total.refused += sum.refused;
        total.went_on += sum.went_on;
        total.harmed += sum.harmed;
    }
    rows.push(row("all", &total));
    let head = ["what has the name", "attempts", "refused", "used another file", "harmed"];
    let table = table(&head.map(str::to_owned), &rows);
    if peers.output.is_some() || args.only.is_none() && attempts.len() >= PAGE_LEAST {
        let output = peers.output.as_deref().unwrap_or(Path::new("docs/destroy.md"));
        machine::put_apart(output, HEADING, &page(&table, commands.len(), args.seed))?;
    }
    Ok((table, total.harmed == 0))
}

fn row(name: &str, sum: &Sum) -> Vec<String> {
    let numbers = [sum.attempts, sum.refused, sum.went_on, sum.harmed];
    std::iter::once(name.to_owned()).chain(numbers.map(|n| n.to_string())).collect()
}

/// The text of the page.
fn page(table: &str, commands: usize, seed: u64) -> String {
    let text = include_str!("force.md")
        .replace("{COMMANDS}", &commands.to_string())
        .replace("{SEED}", &seed.to_string())
        .replace("{TABLE}", table);
    machine::here(&text)
}

/// Every way with every command that it concerns, in a random order.
fn attempts(args: &ForceArgs, commands: &[Attacked], inputs: &Inputs) -> Vec<Attempt> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(args.seed);
    let mut found = Vec::new();
    for (way, (kind, name, without, with)) in WAYS.iter().enumerate() {
        for (number, command) in commands.iter().enumerate() {
            let wanted = |text: &String| name.contains(text) || command.words.contains(text);
            let needs_own = matches!(kind, Way::Edited | Way::SwappedLink | Way::SwappedFile);
            let lacks_own = needs_own && inputs.own[number].is_none();
            if !args.only.as_ref().is_none_or(wanted) || lacks_own {
                continue;
            }
            for (permit, on) in [(false, without), (true, with)] {
                if on.contains(&command.writes) && (!permit || command.has_permit()) {
                    found.push(Attempt { way, command: number, permit, seed: 0 });
                }
            }
        }
    }
    let count = args.attempts.unwrap_or(found.len()).min(1_000_000);
    for at in (1..found.len()).rev() {
        let other = usize::try_from(random.next_u64() % (at as u64 + 1)).unwrap_or(0);
        found.swap(at, other);
    }
    let chosen = found.iter().cycle().take(count);
    chosen.map(|attempt| Attempt { seed: random.next_u64(), ..*attempt }).collect()
}

/// Makes the attempts, as many at once as there are processors.
fn all(
    run: &Run,
    directory: &Path,
    (commands, inputs): (&[Attacked], &Inputs),
    attempts: &[Attempt],
) -> Result<Vec<Sum>, Error> {
    let sums = Mutex::new(WAYS.iter().map(|_| Sum::default()).collect::<Vec<_>>());
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let work = || {
        while let Some((number, attempt)) = next_of(&next, attempts) {
            let root = directory.join(number.to_string());
            let command = &commands[attempt.command];
            let (ended, differences, line) = match one(run, &root, command, inputs, *attempt) {
                Ok(outcome) => outcome,
                Err(error) => {
                    let text = format!("{}: {}: {error}", WAYS[attempt.way].1, command.words);
                    failed.lock().map(|mut failed| *failed = Some(text)).unwrap_or_default();
                    next.store(attempts.len(), Ordering::Relaxed);
                    return;
                }
            };
            let Ok(mut sums) = sums.lock() else { return };
            let sum = &mut sums[attempt.way];
            sum.attempts += 1;
            if ended.went_on() {
                sum.went_on += 1;
            } else {
                sum.refused += 1;
            }
            if !differences.is_empty() || ended.hung {
                sum.harmed += 1;
                let (name, hung) =
                    (WAYS[attempt.way].1, if ended.hung { "it hangs; " } else { "" });
                eprintln!("HARM: {name}\n  iosonde {line}\n  {hung}{}", differences.join("; "));
                eprintln!("  {}: {}", ended.status, ended.said.trim());
            }
            if (number + 1).is_multiple_of(100) {
                eprintln!("{} of {} attempts", number + 1, attempts.len());
            }
        }
    };
    thread::scope(|scope| {
        let count = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        for _ in 0..count {
            scope.spawn(work);
        }
    });
    if let Some(text) = failed.into_inner().map_err(|_| "an attempt ended badly")? {
        return Err(text.into());
    }
    sums.into_inner().map_err(|_| "an attempt ended badly".into())
}

fn next_of<'a>(next: &AtomicUsize, attempts: &'a [Attempt]) -> Option<(usize, &'a Attempt)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    Some((number, attempts.get(number)?))
}

/// Makes one attempt: how the command ended, what of foreign files differs, and the command.
fn one(
    run: &Run,
    root: &Path,
    command: &Attacked,
    inputs: &Inputs,
    attempt: Attempt,
) -> Result<(Ended, Vec<String>, String), Error> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(attempt.seed);
    let (way, ..) = WAYS[attempt.way];
    let mut scene = Scene::new(root, &inputs.file(command))?;
    let choice = usize::try_from(random.next_u64() % 1000)?;
    let own = inputs.own[attempt.command].as_deref();
    scene.set(way, command.writes, own, choice)?;
    let before = Watch::of(root, &scene.ours)?;
    let permit = attempt.permit.then_some(scene.word);
    let stop = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        if let Some(names) = &scene.swapped {
            let (stop, number) = (&stop, random.next_u64());
            scope.spawn(move || swap(names, way == Way::Appears, number, stop));
        }
        let ended = run.attack(command, inputs, &scene.path, permit);
        stop.store(true, Ordering::Relaxed);
        ended
    })?;
    let theirs = root.join("theirs");
    // A directory that the user names may be a link, and gets new files then.
    let closed = (way != Way::SwappedDirectory).then_some(&*theirs);
    let swapped = scene.swapped.as_ref().map_or(&[][..], |names| names);
    let differences = before.differences(&Watch::of(root, &[])?, swapped, closed);
    let line = command.line(&scene.path, &inputs.directory, permit).join(" ");
    scene.clear()?;
    Ok((ended, differences, line))
}

/// Swaps the files of two names until told to stop, or gives the first name to the second's file
/// once.
fn swap([one, other]: &[PathBuf; 2], is_single: bool, number: u64, stop: &AtomicBool) {
    if is_single {
        thread::sleep(Duration::from_millis(number % APPEARS_MS));
        let _ = fs::rename(other, one);
        return;
    }
    let pause = PAUSES_US[usize::try_from(number).unwrap_or(0) % PAUSES_US.len()];
    while !stop.load(Ordering::Relaxed) {
        let _ = rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
        thread::sleep(Duration::from_micros(pause));
    }
}

impl Run {
    /// Runs a command on its file.
    fn attack(
        &self,
        attacked: &Attacked,
        inputs: &Inputs,
        file: &Path,
        permit: Option<&str>,
    ) -> Result<Ended, Error> {
        let here = file.parent().unwrap_or(file);
        let root = here.parent().unwrap_or(here);
        if attacked.continues {
            fs::copy(inputs.directory.join("unfinished.db"), here.join("h.db"))?;
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(&self.iosonde);
        command.args(attacked.line(file, &inputs.directory, permit)).current_dir(here);
        command.env("PATH", format!("{}:{path}", inputs.directory.display()));
        command.env("DIRECTORY", here).env("FILE", file).env("HOME", root.join("home"));
        command.env("IOSONDE_HISTORY", root.join("history.db")).env("IOSONDE_CONFIG", "");
        end_of(&mut command, &root.join("said"), ALONE)
    }
}

/// Waits for the end of a command, which is interrupted after this time.
fn end_of(command: &mut Command, said: &Path, alone: Duration) -> Result<Ended, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(said)?);
    let mut child = command.spawn()?;
    let begun = Instant::now();
    let (mut interrupted, mut hung) = (false, false);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > alone && !interrupted {
            interrupted = true;
            rustix::process::kill_process(Pid::from_child(&child), Signal::INT)?;
        }
        if begun.elapsed() > HANGS {
            hung = true;
            child.kill()?;
        }
        thread::sleep(Duration::from_millis(2));
    };
    Ok(Ended { status, interrupted, hung, said: fs::read_to_string(said)? })
}
