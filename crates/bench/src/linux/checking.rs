//! What checking costs: verified I/O compared with the same I/O unchecked, and with fio's
//! verification.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::faults::table;
use super::tools::{self, Run};
use super::{Error, PeersArgs, files, machine};

/// The heading of the part on the page.
pub(super) const HEADING: &str = "## What checking costs";
/// Verified I/O reaches at least this share of the unverified IOPS.
const IOPS_LEAST: f64 = 0.9;
/// Our user CPU per verified I/O is at most this share of fio's.
const CPU_MOST: f64 = 0.5;
/// The short run that is subtracted, so that neither the start nor the first writing of all pages
/// counts.
const SHORT_SECONDS: f64 = 1.0;
/// The kernel looks some hundred times a second what a program does, so user CPU is known well only
/// of long runs.
const SECONDS_LEAST: f64 = 10.0;
const SIZE: &str = "512M";
const DEPTH: u32 = 32;
/// Shares of writes to measure, in percent.
const MIXES: [u32; 4] = [0, 30, 50, 100];

/// The figures of one program: I/Os a second in each turn, and the user CPU of all turns.
#[derive(Debug, Default)]
struct Figures {
    iops: Vec<f64>,
    ios: f64,
    user_s: f64,
}

impl Figures {
    fn add(&mut self, short: Run, long: Run, seconds: f64) {
        let ios = (long.ios - short.ios).max(1.0);
        self.iops.push(ios / seconds);
        self.ios += ios;
        self.user_s += long.user_s - short.user_s;
    }

    /// Microseconds of user CPU per I/O over all turns, if there was I/O. A single turn has only a
    /// few hundred samples, too few for a figure.
    fn user_us(&self) -> Option<f64> {
        (self.ios > 0.0).then(|| self.user_s * 1e6 / self.ios)
    }
}

const HEAD: [&str; 8] = [
    "writes",
    "verified IOPS",
    "unverified IOPS",
    "ratio",
    "user CPU for an I/O, verified",
    "unverified",
    "fio, verify=crc32c",
    "ratio to fio",
];

/// Compares in turns; gives what the page says, and whether the limits hold.
pub(super) fn run(iosonde: &Path, arguments: &PeersArgs) -> Result<(String, bool), Error> {
    let directory = match &arguments.dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let disk = files::file_system(directory.path());
    let fio = tools::version(OsStr::new("fio"));
    let seconds = arguments.seconds.max(SECONDS_LEAST);
    let (mut rows, mut holds) = (Vec::new(), true);
    for write in MIXES {
        let [mut checked, mut plain, mut peer]: [Figures; 3] = Default::default();
        for round in 1..=arguments.rounds {
            eprintln!("{write} % writes, round {round} of {}", arguments.rounds);
            let pair = |one: &dyn Fn(f64) -> Result<Run, Error>| {
                Ok::<_, Error>((one(SHORT_SECONDS)?, one(SHORT_SECONDS + seconds)?))
            };
            let mut ours = || {
                let (short, long) = pair(&|time| verified(iosonde, directory.path(), write, time))?;
                checked.add(short, long, seconds);
                Ok::<_, Error>(())
            };
            let mut unlooked = || {
                let (short, long) =
                    pair(&|time| unverified(iosonde, directory.path(), write, time))?;
                plain.add(short, long, seconds);
                Ok::<_, Error>(())
            };
            if round % 2 == 0 {
                ours()?;
                unlooked()?;
            } else {
                unlooked()?;
                ours()?;
            }
            let mix = |time| fio.as_ref().and_then(|_| mix_of_fio(write, time));
            if let (Some(short), Some(long)) = (mix(SHORT_SECONDS), mix(SHORT_SECONDS + seconds)) {
                let run = |mix: &str| of_fio(directory.path(), mix);
                peer.add(run(&short)?, run(&long)?, seconds);
            }
        }
        let row = compared(write, &checked, &plain, &peer);
        holds &= row.1;
        rows.push(row.0);
    }
    let text = format!(
        "Random I/O of 8 KiB with {DEPTH} in flight, direct, on {SIZE} of {disk}, on {{CPUS}} CPUs \
         ({{CPU}}), {{DATE}}. *Verified* is `iosonde validate --workload random`, which generates \
         every page that it writes and checks every page that it reads. *Unverified* is the same \
         load with `iosonde run`. {} runs it with `--verify=crc32c`: every block gets a header and \
         a checksum when it is written, and is checked when it is read. In a job that reads and \
         writes (`--rw=randrw`), fio checks no reads: it reads a file of zeros without complaint. \
         So the row for 50 % uses `--rw=randwrite --verify_backlog=32`, which checks what it reads \
         back. Other mixes have no figure for fio. The programs take turns, {} times for {seconds} \
         s. IOPS are medians; each ratio is the median of the ratios of the turns. User CPU, which \
         the kernel samples, is the total of all turns. A run of {SHORT_SECONDS} s is subtracted \
         from each run, so neither the start nor the first writing counts. The goal in each row is \
         at least {IOPS_LEAST} of the IOPS and at most {CPU_MOST} of fio's user CPU.\n\n{}",
        fio.as_deref().unwrap_or("fio (not installed)"),
        arguments.rounds,
        table(&HEAD.map(str::to_owned), &rows)
    );
    Ok((machine::here(&text), holds))
}

/// A row, and whether its limits hold.
///
/// Ratios of IOPS are medians of those of each turn: what a turn's programs have in common, as a
/// neighbour on the machine, is in none of them.
fn compared(write: u32, checked: &Figures, plain: &Figures, peer: &Figures) -> (Vec<String>, bool) {
    let ratio = median_ratio(&checked.iops, &plain.iops);
    let to_fio = checked.user_us().zip(peer.user_us()).map(|(ours, theirs)| ours / theirs);
    let holds = ratio.is_some_and(|ratio| ratio >= IOPS_LEAST)
        && to_fio.is_none_or(|ratio| ratio <= CPU_MOST);
    let shown = |value: Option<f64>, places: usize, unit: &str| {
        value.map_or_else(String::new, |value| format!("{value:.places$}{unit}"))
    };
    let cells = [
        format!("{write} %"),
        shown(median(&checked.iops), 0, ""),
        shown(median(&plain.iops), 0, ""),
        shown(ratio, 2, ""),
        shown(checked.user_us(), 2, " µs"),
        shown(plain.user_us(), 2, " µs"),
        shown(peer.user_us(), 2, " µs"),
        shown(to_fio, 2, ""),
    ];
    (cells.to_vec(), holds)
}

fn median_ratio(values: &[f64], others: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> = values.iter().zip(others).map(|(value, other)| value / other).collect();
    median(&ratios)
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

fn verified(iosonde: &Path, directory: &Path, write: u32, seconds: f64) -> Result<Run, Error> {
    let fixed = "--workload random --page 8K --threads 1 --hardening flush --checkpoint 86400 \
                 --json --quiet --no-history";
    let mut arguments = vec!["validate".to_owned(), directory.display().to_string()];
    arguments.extend(fixed.split(' ').map(str::to_owned));
    arguments.extend([format!("--size={SIZE}"), format!("--depth={DEPTH}")]);
    arguments.extend([format!("--write={write}"), format!("--seconds={seconds}")]);
    let (output, user_s, system_s) = tools::timed(iosonde.as_os_str(), &arguments)?;
    let result: Value = serde_json::from_slice(&output.stdout)?;
    let files = result.pointer("/conclusion/files").and_then(Value::as_array);
    let number =
        |file: &Value, field: &str| file.pointer(field).and_then(Value::as_f64).unwrap_or(0.0);
    let of_file = |file: &Value| {
        ["/read/single", "/read/several", "/write/single", "/write/several"]
            .map(|field| number(file, field))
            .iter()
            .sum::<f64>()
    };
    let ios = files.into_iter().flatten().map(of_file).sum();
    Ok(Run { ios, iops: 0.0, user_s, system_s })
}

fn unverified(iosonde: &Path, directory: &Path, write: u32, seconds: f64) -> Result<Run, Error> {
    let fixed = "--pattern random --block 8K --threads 1 --warmup 0 --json --quiet --no-history";
    let mut arguments = vec!["run".to_owned(), directory.display().to_string()];
    arguments.extend(fixed.split(' ').map(str::to_owned));
    arguments.extend([format!("--size={SIZE}"), format!("--depth={DEPTH}")]);
    arguments.extend([format!("--write={write}"), format!("--seconds={seconds}")]);
    tools::iosonde(iosonde, &arguments)
}

/// How fio makes a share of writes and checks what it reads, if it does, for a time.
///
/// Reads that are checked end with the file, whatever time is asked for, so they are one job per
/// second: so long one takes about.
fn mix_of_fio(write: u32, seconds: f64) -> Option<String> {
    let timed =
        |how: &str| format!("--name=all {how} --time_based --runtime={:.0}ms", seconds * 1e3);
    let pass = |number| format!("--name=pass{number} --rw=randread --stonewall ");
    match write {
        0 => Some((0..Duration::from_secs_f64(seconds).as_secs()).map(pass).collect()),
        50 => Some(timed("--rw=randwrite --verify_backlog=32")),
        100 => Some(timed("--rw=randwrite --do_verify=0")),
        _ => None,
    }
}

fn of_fio(directory: &Path, mix: &str) -> Result<Run, Error> {
    let file = directory.join("fio.dat");
    let common = format!(
        "--filename={} --size={SIZE} --bs=8k --direct=1 --ioengine=io_uring --iodepth={DEPTH} \
         --verify=crc32c --verify_state_save=0 --output-format=json --norandommap --randrepeat=0",
        file.display()
    );
    if !file.exists() {
        let whole = format!("{common} --name=all --rw=write --do_verify=0");
        tools::timed(OsStr::new("fio"), &split(&whole))?;
    }
    let (output, user_s, system_s) =
        tools::timed(OsStr::new("fio"), &split(&format!("{common} {mix}")))?;
    let start = output.stdout.iter().position(|b| *b == b'{').unwrap_or(0);
    let result: Value = serde_json::from_slice(output.stdout.get(start..).unwrap_or_default())?;
    let jobs = result.pointer("/jobs").and_then(Value::as_array);
    let of_job = |job: &Value| {
        let number = |field: &str| job.pointer(field).and_then(Value::as_f64).unwrap_or(0.0);
        number("/read/total_ios") + number("/write/total_ios")
    };
    Ok(Run { ios: jobs.into_iter().flatten().map(of_job).sum(), iops: 0.0, user_s, system_s })
}

fn split(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
