//! iosonde and fio in turns on the same work.
//!
//! Every figure is the median over the rounds. In each round both programs run on each case, one
//! directly after the other, and the first one changes. CPU per I/O is the difference of a long and
//! a short run, so that the start of neither counts (fio's alone takes 150 ms).

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::files::{self, Cached};
use super::machine;
use super::table::{self, Limit, Row};
use super::tools::{self, Run, fio_arguments, iosonde_arguments};
use super::{Error, PeersArgs, exact, own};

const CACHED_BYTES: u64 = 256 << 20;
const DISK_BYTES: u64 = 1 << 30;
/// The short run that is subtracted.
const SHORT_SECONDS: f64 = 0.3;
/// Two medians on a disk may always differ by this much and count as equal.
const NOISE_LEAST: f64 = 0.03;

/// One kind of work for both programs.
struct Case {
    name: &'static str,
    target: PathBuf,
    /// Flags of iosonde and of fio beyond the common ones.
    flags: [&'static [&'static str]; 2],
    /// Backends of iosonde and of fio.
    engines: [&'static str; 2],
    depth: u32,
    limits: Limits,
}

/// What iosonde has to reach, as a share of fio's figure.
#[derive(Clone, Copy)]
struct Limits {
    /// None: equal within the noise of fio's own rounds.
    iops: Option<f64>,
    total_cpu: Option<f64>,
    user_cpu: Option<f64>,
}

/// What one program gave on one case, in every round.
#[derive(Default)]
struct Rounds {
    iops: Vec<f64>,
    total_us: Vec<f64>,
    user_us: Vec<f64>,
}

/// CPU time per I/O, without what starting the program takes.
pub(super) struct Cost {
    /// User and kernel time, in microseconds.
    pub total_us: f64,
    user_us: f64,
}

impl Cost {
    /// The cost of a long run, without what a short one took as well.
    pub(super) fn between(short: Run, long: Run) -> Self {
        let us_each = 1e6 / (long.ios - short.ios);
        let user_us = (long.user_s - short.user_s) * us_each;
        Self { total_us: user_us + (long.system_s - short.system_s) * us_each, user_us }
    }
}

impl Rounds {
    fn add(&mut self, short: Run, long: Run) {
        let cost = Cost::between(short, long);
        self.iops.push(long.iops);
        self.total_us.push(cost.total_us);
        self.user_us.push(cost.user_us);
    }

    /// How far the rounds are apart, as a share of their median.
    fn spread(&self) -> f64 {
        let max = self.iops.iter().copied().fold(f64::MIN, f64::max);
        let min = self.iops.iter().copied().fold(f64::MAX, f64::min);
        (max - min) / median(self.iops.clone())
    }
}

/// All figures; they are also written to the file that was asked for.
pub(super) fn run(iosonde: &Path, arguments: &PeersArgs) -> Result<Vec<Row>, Error> {
    let Some(fio) = tools::version(OsStr::new("fio")) else {
        return Err("fio is not installed; on Debian and Ubuntu: apt-get install fio".into());
    };
    let directory = match &arguments.dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    eprintln!("instructions and system calls");
    let mut rows = exact::run(iosonde)?;
    eprintln!("test files in {}", directory.path().display());
    let cached = files::make(directory.path(), "cached", CACHED_BYTES)?;
    let disk = files::make(directory.path(), "disk", DISK_BYTES)?;
    let _locked = Cached::lock(&cached)?;
    let cases = cases(&cached, &disk);
    let mut results: Vec<[Rounds; 2]> = cases.iter().map(|_| Default::default()).collect();
    for round in 1..=arguments.rounds {
        eprintln!("round {round} of {}", arguments.rounds);
        for (case, result) in cases.iter().zip(&mut results) {
            turn(case, result, iosonde, arguments.seconds, round % 2 == 0)?;
        }
    }
    for (case, [ours, peer]) in cases.iter().zip(&results) {
        rows.extend(compare(case, ours, peer));
    }
    eprintln!("what iosonde needs for itself");
    rows.push(own::engine_cpu(iosonde, &cached, arguments.rounds)?);
    rows.extend(own::memory(iosonde, &cached)?);
    rows.push(own::start(iosonde, &cached, arguments.rounds)?);
    let setting = machine::Setting {
        disk: files::file_system(directory.path()),
        fio,
        rounds: arguments.rounds,
        seconds: arguments.seconds,
    };
    let page = machine::page(iosonde, &setting, &table::markdown(&rows));
    let output = arguments.output.as_deref().unwrap_or(Path::new("docs/performance.md"));
    let apart = apart(&fs::read_to_string(output).unwrap_or_default());
    machine::write(&format!("{page}{apart}"), output)?;
    Ok(rows)
}

/// The end of the page that other benchmarks are written into, which stays.
fn apart(page: &str) -> String {
    page.find("\n# Measured apart").map_or_else(String::new, |at| page[at..].to_owned())
}

fn cases(cached: &Path, disk: &Path) -> [Case; 4] {
    let memory = Limits { iops: Some(1.5), total_cpu: Some(0.65), user_cpu: Some(0.15) };
    let uring = ["uring", "io_uring"];
    [
        Case {
            name: "page cache, depth 32",
            target: cached.to_owned(),
            flags: [&["--buffered"], &["--direct=0"]],
            engines: uring,
            depth: 32,
            limits: memory,
        },
        Case {
            name: "/dev/zero, depth 32",
            target: "/dev/zero".into(),
            flags: [&["--buffered", "--size=1G"], &["--direct=0", "--size=1G"]],
            engines: uring,
            depth: 32,
            limits: memory,
        },
        Case {
            name: "disk, O_DIRECT, depth 32",
            target: disk.to_owned(),
            flags: [&[], &["--direct=1"]],
            engines: uring,
            depth: 32,
            limits: Limits { iops: None, total_cpu: Some(0.7), user_cpu: None },
        },
        Case {
            name: "page cache, depth 1, against psync",
            target: cached.to_owned(),
            flags: [&["--buffered"], &["--direct=0"]],
            engines: ["sync", "psync"],
            depth: 1,
            limits: Limits { iops: Some(1.0), total_cpu: None, user_cpu: None },
        },
    ]
}

/// Runs both programs on one case.
fn turn(
    case: &Case,
    results: &mut [Rounds; 2],
    iosonde: &Path,
    seconds: f64,
    fio_first: bool,
) -> Result<(), Error> {
    let with = |mut arguments: Vec<String>, flags: &[&str]| {
        arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
        arguments
    };
    let run = |who: usize, seconds| {
        let (target, engine, depth) = (&case.target, case.engines[who], case.depth);
        if who == 0 {
            let common = iosonde_arguments(target, engine, depth, seconds);
            tools::iosonde(iosonde, &with(common, case.flags[0]))
        } else {
            let common = fio_arguments(target, engine, depth, seconds);
            tools::fio(&with(common, case.flags[1]))
        }
    };
    for who in if fio_first { [1, 0] } else { [0, 1] } {
        results[who].add(run(who, SHORT_SECONDS)?, run(who, seconds)?);
    }
    Ok(())
}

fn compare(case: &Case, ours: &Rounds, peer: &Rounds) -> Vec<Row> {
    let row = |what: &str, figure: fn(&Rounds) -> &Vec<f64>, scale: f64, unit, limit| {
        let of = |rounds: &Rounds| median(figure(rounds).clone()) * scale;
        Row::ratio(format!("{what} ({})", case.name), of(ours), of(peer), unit, limit)
    };
    let limits = case.limits;
    let least = limits.iops.unwrap_or_else(|| 1.0 - peer.spread().max(NOISE_LEAST));
    let mut rows = vec![row("IOPS", |r| &r.iops, 1e-3, "k", Some(Limit::Least(least)))];
    let most = |limit: Option<f64>| limit.map(Limit::Most);
    rows.push(row("CPU per I/O", |r| &r.total_us, 1.0, "µs", most(limits.total_cpu)));
    rows.push(row("user CPU per I/O", |r| &r.user_us, 1.0, "µs", most(limits.user_cpu)));
    rows
}

/// The middle of some figures; of an even number, the mean of the two in the middle.
pub(super) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    match figures.len() {
        0 => f64::NAN,
        even if even % 2 == 0 => f64::midpoint(figures[middle - 1], figures[middle]),
        _ => figures[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_short_run_takes_does_not_count() {
        let run = |ios, user_s, system_s| Run { ios, user_s, system_s, ..Run::default() };
        let cost = Cost::between(run(1e6, 0.5, 1.0), run(3e6, 0.7, 2.8));
        assert!((cost.user_us - 0.1).abs() < 1e-9);
        assert!((cost.total_us - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(median(Vec::new()).is_nan());
    }
}
