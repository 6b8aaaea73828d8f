//! How long the import of a large log takes: ten thousand runs in SQLIO's layout, through the
//! program itself.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use dialects::sqlio::{
    Access, Buffering, Figure, FileSize, HISTOGRAM_MS, Load, Order, PoolLine, Printout, Timer,
    VERSION,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::{Error, machine, tools};

/// How many runs the log has.
const RUNS: u64 = 10_000;
/// What the import may take, in seconds on the wall.
const SECONDS_MAX: f64 = 2.0;
const HEADING: &str = "## Import";

/// Flags of `import`.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Imports; the median counts
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32)
        .range(1..))]
    pub(super) times: u32,

    /// Where the log and the stores go, which are removed afterwards [default: the system's
    /// temporary directory]
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
}

/// Imports, and gives the figures as a table, and whether the limit holds.
pub(super) fn run(iosonde: &Path, args: &ImportArgs) -> Result<(String, bool), Error> {
    let directory = match &args.directory {
        Some(directory) => {
            tempfile::Builder::new().prefix("iosonde-bench-").tempdir_in(directory)?
        }
        None => tempfile::tempdir()?,
    };
    let log = directory.path().join("sqlio.txt");
    let text = log_text();
    fs::write(&log, &text)?;
    let (mut walls, mut cpus, mut store_bytes) = (Vec::new(), Vec::new(), 0);
    for number in 0..args.times {
        let store = directory.path().join(format!("history-{number}.db"));
        let arguments = ["history", "import"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("--history={}", store.display()), log.display().to_string()]);
        let arguments: Vec<String> = arguments.collect();
        let begun = Instant::now();
        let (output, user_s, system_s) = tools::timed(iosonde.as_os_str(), &arguments)?;
        walls.push(begun.elapsed().as_secs_f64());
        cpus.push(user_s + system_s);
        let said = String::from_utf8_lossy(&output.stdout);
        let count = said.rsplit(": ").next().unwrap_or_default();
        let count: String = count.chars().filter(char::is_ascii_digit).collect();
        if count != RUNS.to_string() {
            return Err(format!("not all was imported: {}", tools::complaint(&output)).into());
        }
        store_bytes = fs::metadata(&store)?.len();
        fs::remove_file(&store)?;
    }
    let (wall, cpu) = (median(&mut walls), median(&mut cpus));
    let holds = wall <= SECONDS_MAX;
    let verdict = if holds { "holds" } else { "BROKEN" };
    let mib = |bytes: u64| bytes as f64 / 1_048_576.0;
    let mut table = "| import of 10,000 runs of SQLIO | median | limit |  |\n".to_owned();
    table += "|---|---|---|---|\n";
    writeln!(table, "| seconds on the wall | {wall:.2} | ≤ {SECONDS_MAX:.1} | {verdict} |")?;
    writeln!(table, "| seconds of CPU | {cpu:.2} |  |  |")?;
    writeln!(table, "| MiB of text | {:.1} |  |  |", mib(text.len() as u64))?;
    writeln!(table, "| MiB of the store | {:.1} |  |  |", mib(store_bytes))?;
    Ok((table, holds))
}

/// Puts the table in its place on a page.
pub(super) fn write(table: &str, times: u32, output: &Path) -> Result<(), Error> {
    let text = format!(
        "Written by `./x bench import --output docs/performance.md`. A log of ten thousand runs as \
         SQLIO prints them, each with\nlatencies and histogram, is imported into a new history \
         {times} times. The time runs from the start of the program to its\nend, when everything \
         is on disk.\n\n{}",
        table.trim_end()
    );
    machine::put_apart(output, HEADING, &text)
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The log, the same each time.
fn log_text() -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..RUNS).map(|_| printout(&mut |below| random.next_u64() % below).to_text()).collect()
}

/// A run as people had them: a parameter file of one line, latencies, no file cache.
fn printout(draw: &mut dyn FnMut(u64) -> u64) -> Printout {
    let file = if draw(2) == 0 { r"E:\testfile.dat" } else { r"F:\testfile.dat" }.to_owned();
    let threads = 1 << draw(7);
    let block_kib: u32 = 8 << draw(8);
    let order = if draw(2) == 0 { Order::Random } else { Order::Sequential };
    let iops_hundredths = 10_000 + draw(9_000_000);
    let pool = PoolLine { file: file.clone(), threads, first: 0, mask: 0 };
    let load = Load { threads, writes: draw(2) == 1, seconds: 60, files: vec![file.clone()] };
    let mut histogram = [0; HISTOGRAM_MS];
    for percent in &mut histogram {
        *percent = u8::try_from(draw(8)).unwrap_or(0);
    }
    Printout {
        version: VERSION.to_owned(),
        timer: Some(Timer { processor: false, per_second: 2_539_060 }),
        parameter_file: Some("param.txt".to_owned()),
        pools: vec![pool],
        load: Some(load),
        access: Some(Access { block_kib, order }),
        outstanding: Some(1 << draw(8)),
        buffering: Buffering::Hardware,
        sizes: vec![FileSize { file, mib: 50_000, specified: true }],
        iops: Some(Figure::hundredths(iops_hundredths)),
        mib_per_s: Some(Figure::hundredths(iops_hundredths * u64::from(block_kib) / 1024)),
        latency_ms: [0, draw(40), 40 + draw(900)].map(|ms| Some(ms as f64)),
        histogram: Some(histogram),
        ..Printout::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_so_many_whole_runs() {
        let (readings, notes) = dialects::sqlio::readings(&log_text());
        assert_eq!(readings.len() as u64, RUNS);
        assert!(notes.is_empty() && readings.iter().all(|r| r.missing.is_none()));
    }
}
