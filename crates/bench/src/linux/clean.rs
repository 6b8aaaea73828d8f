//! Storage without faults: a simulated database on file systems of loop devices, killed at random
//! moments and resumed, must find nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use truth::LoopDevice;

use super::faults::table;
use super::{Error, machine, tools};

/// The heading of the part on the page.
pub(super) const HEADING: &str = "## No alarm where nothing is wrong";

/// File systems, and what makes them.
const FILE_SYSTEMS: [(&str, &[&str]); 3] = [
    ("ext4", &["mkfs.ext4", "-q", "-F"]),
    ("xfs", &["mkfs.xfs", "-q", "-f"]),
    ("btrfs", &["mkfs.btrfs", "-q", "-f"]),
];
/// Small ones of btrfs run out of room for what it notes of its changes, and become read-only.
const DEVICE_BYTES: u64 = 2 << 30;
/// How the I/O is made, by turns.
const MODES: [(&str, &[&str]); 3] = [
    ("direct, write-through", &["--hardening", "write-through"]),
    ("direct, flushes", &["--hardening", "flush"]),
    ("buffered, flushes", &["--buffered", "--hardening", "flush"]),
];
/// What the result is read from.
const SAID: [&str; 3] = ["--json", "--quiet", "--no-history"];
/// Several writers with full queues on few pages, and checkpoints all the time.
const RUN: &str =
    "--size 160M --log-size 16M --threads 4 --depth 64 --users 64 --checkpoint 0.5 --seconds 6";
/// A run is killed so often at most.
const KILLS_MAX: u64 = 4;
/// The longest time that a run is left alone before it is killed.
const ALONE_MS: u64 = 3000;

/// What came together on one file system in one mode.
#[derive(Debug, Default)]
struct Sum {
    runs: u64,
    kills: u64,
    pages: u64,
    blocks: u64,
    unsure: u64,
    alarms: u64,
}

/// Runs on each file system for this long; gives the table, and whether nothing was found.
pub(super) fn run(iosonde: &Path, time: Duration) -> Result<(String, bool), Error> {
    let (mut rows, mut holds) = (Vec::new(), true);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(now.as_secs());
    for (name, make) in FILE_SYSTEMS {
        let directory = tempfile::tempdir()?;
        let mounted = match Mounted::new(directory.path(), make) {
            Ok(mounted) => mounted,
            Err(why) => {
                eprintln!("{name} is left out: {why}");
                rows.push(vec![name.to_owned(), format!("left out: {why}")]);
                continue;
            }
        };
        let mut sums: [Sum; MODES.len()] = Default::default();
        let began = Instant::now();
        while began.elapsed() < time || sums.iter().any(|sum| sum.runs == 0) {
            for ((_, flags), sum) in MODES.iter().zip(&mut sums) {
                let ledger = directory.path().join("ledger");
                one(iosonde, (&mounted.path, &ledger), flags, &mut random, sum)?;
            }
            eprintln!("{name}, {:.0} s: {sums:?}", began.elapsed().as_secs_f64());
        }
        for ((mode, _), sum) in MODES.iter().zip(&sums) {
            holds &= sum.alarms == 0;
            let numbers = [sum.runs, sum.kills, sum.pages, sum.blocks, sum.unsure, sum.alarms];
            let words = [name.to_owned(), (*mode).to_owned()];
            rows.push(words.into_iter().chain(numbers.map(|n| n.to_string())).collect());
        }
    }
    let head = [
        "file system",
        "I/O",
        "runs",
        "kills",
        "pages checked",
        "log blocks checked",
        "pages under way at a kill",
        "alarms",
    ];
    Ok((table(&head.map(str::to_owned), &rows), holds))
}

/// The text of this part of the page.
pub(super) fn page(table: &str, time: Duration) -> String {
    machine::here(&format!(
        "The file systems are 2 GiB, on loop devices with direct I/O; each was tested for {:.0} s \
         (Linux {{KERNEL}}, {{DATE}}). Four threads with up to 64 I/Os each work on 160 MiB with a \
         checkpoint every 0.5 s (`{RUN}`). Each run is killed (SIGKILL) up to {KILLS_MAX} times, \
         after random times of at most {} s, in whatever phase it is. It is resumed (`--resume`) \
         until it finishes. Every time, it first reads everything that had been written. The table \
         counts the pages and blocks that the finished parts reported. Killed parts checked pages \
         and blocks, too, but these are not counted.\n\n{table}",
        time.as_secs_f64(),
        ALONE_MS / 1000
    ))
}

/// Runs it once, with its kills.
fn one(
    iosonde: &Path,
    (target, ledger): (&Path, &Path),
    flags: &[&str],
    random: &mut Xoshiro256PlusPlus,
    sum: &mut Sum,
) -> Result<(), Error> {
    let (target, ledger) = (target.display().to_string(), ledger.display().to_string());
    let first: Vec<&str> = ["validate", &target, "--ledger", &ledger]
        .into_iter()
        .chain(RUN.split(' '))
        .chain(flags.iter().copied())
        .chain(SAID)
        .collect();
    let rest: Vec<&str> = ["validate", "--resume", &ledger].into_iter().chain(SAID).collect();
    let mut running = start(iosonde, &first)?;
    for _ in 0..random.next_u64() % (KILLS_MAX + 1) {
        let alone = Duration::from_millis(random.next_u64() % ALONE_MS);
        std::thread::sleep(alone);
        // What has not begun leaves nothing to continue with, and what has ended is not killed.
        if !Path::new(&ledger).exists() || running.try_wait()?.is_some() {
            break;
        }
        running.kill()?;
        running.wait()?;
        sum.kills += 1;
        running = start(iosonde, &rest)?;
    }
    let output = running.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    sum.runs += 1;
    match output.status.code() {
        Some(0) => {}
        Some(3) => {
            sum.alarms += 1;
            eprintln!("{said}\n{}", String::from_utf8_lossy(&output.stderr));
            return clean(iosonde, &ledger);
        }
        _ => return Err(format!("iosonde {}: {}", first.join(" "), complaint(&output)).into()),
    }
    let result: Value = serde_json::from_str(&said)?;
    let number = |field| result.pointer(field).and_then(Value::as_u64).unwrap_or(0);
    sum.pages += number("/conclusion/work/pages_checked");
    sum.blocks += number("/conclusion/log_blocks_checked");
    sum.unsure += number("/conclusion/resumed/pages_unsure");
    Ok(())
}

fn clean(iosonde: &Path, ledger: &str) -> Result<(), Error> {
    let output = start(iosonde, &["validate", "--clean", ledger])?.wait_with_output()?;
    if output.status.success() { Ok(()) } else { Err(complaint(&output).into()) }
}

fn complaint(output: &Output) -> String {
    tools::complaint(output)
}

fn start(iosonde: &Path, arguments: &[&str]) -> Result<Child, Error> {
    let mut command = Command::new(iosonde);
    command.args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command.spawn()?)
}

/// A file system on a loop device, mounted as long as this lives.
pub(super) struct Mounted {
    pub(super) path: PathBuf,
    _device: LoopDevice,
}

impl Mounted {
    /// Made with this command in this directory.
    pub(super) fn new(directory: &Path, make: &[&str]) -> Result<Self, Error> {
        let image = directory.join("image");
        fs::File::create(&image)?.set_len(DEVICE_BYTES)?;
        let device = LoopDevice::attach(&image).map_err(|error| error.to_string())?;
        let node = device.path().display().to_string();
        let path = directory.join("mounted");
        fs::create_dir(&path)?;
        tool(make, &[&node])?;
        tool(&["mount"], &[&node, &path.display().to_string()])?;
        Ok(Self { path, _device: device })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = tool(&["umount", "--lazy"], &[&self.path.display().to_string()]);
    }
}

fn tool(command: &[&str], more: &[&str]) -> Result<(), Error> {
    let [program, arguments @ ..] = command else { return Ok(()) };
    let output = Command::new(program).args(arguments).args(more).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program}: {}", complaint(&output)).into())
}
