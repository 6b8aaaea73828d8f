//! What watching costs: `monitor`'s own loop on made-up trees of /proc and /sys with two hundred
//! disks that are all busy.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use counters::{BlockDevice, CountersError, SystemSample, SystemSampler, block_devices};
use monitor::{Clock, End, Event, Monitor, Series, Source, Watched, lines};

use super::Error;

const DISKS: usize = 200;
const PARTITIONS: usize = 2;
const CORES: usize = 64;
const WINDOWS: u64 = 60;
/// What a second of watching may cost, in percent of a core.
const PERCENT_MAX: f64 = 1.0;
const HEADING: &str = "## Watching";

/// A system at several moments, a tree for each: counters are read, taken apart and compared as on
/// a real one.
struct RecordedSource {
    trees: Vec<PathBuf>,
    next: usize,
}

impl Source for RecordedSource {
    fn sample(&mut self) -> Result<SystemSample, CountersError> {
        let tree = self.trees.get(self.next).or(self.trees.last());
        let at_ns = 1_000_000_000 * self.next as u64;
        self.next += 1;
        // Opened anew each time, which costs more than a system whose files stay open.
        let mut sampler = SystemSampler::with_root(tree.map_or(Path::new("/"), PathBuf::as_path))?;
        Ok(SystemSample { at_ns, ..sampler.sample()? })
    }

    fn devices(&mut self) -> Vec<BlockDevice> {
        self.trees.first().map(|tree| block_devices(tree)).unwrap_or_default()
    }
}

/// A clock on which time passes at once.
struct AtOnce(std::cell::Cell<Duration>);

impl Clock for AtOnce {
    fn now(&self) -> Duration {
        self.0.get()
    }

    fn unix(&self) -> Duration {
        Duration::from_secs(1_800_000_000) + self.0.get()
    }

    fn wait_until(&self, at: Duration, _stop: &dyn Fn() -> bool) {
        self.0.set(at);
    }
}

/// A name as the kernel gives it: sda … sdz, sdaa …
fn name(number: usize) -> String {
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap_or(0));
    match number / 26 {
        0 => format!("sd{}", letter(number)),
        more => format!("sd{}{}", letter(more - 1), letter(number)),
    }
}

fn make(root: &Path, moment: u64) -> Result<(), Error> {
    let proc = root.join("proc");
    fs::create_dir_all(proc.join("pressure"))?;
    let mut disks = String::new();
    for number in 0..DISKS {
        let disk = name(number);
        let line = |out: &mut String, minor: usize, name: &str| {
            let n = 1_000 * moment + number as u64;
            writeln!(
                out,
                "   8 {minor:7} {name} {} 12 {} {} {} 34 {} {} 3 {} {} 0 0 0 0 {} {}",
                n * 3,
                n * 48,
                n * 2,
                n * 5,
                n * 80,
                n * 9,
                n / 2,
                n * 11,
                n / 10,
                n / 8
            )
        };
        line(&mut disks, number * 16, &disk)?;
        for part in 1..=PARTITIONS {
            line(&mut disks, number * 16 + part, &format!("{disk}{part}"))?;
        }
    }
    fs::write(proc.join("diskstats"), disks)?;
    let mut stat = String::new();
    for core in std::iter::once(String::new()).chain((0..CORES).map(|core| core.to_string())) {
        let t = 100 * moment;
        writeln!(stat, "cpu{core} {t} 0 {} {} {} 0 3 0 0 0", t / 2, t * 3, t / 9)?;
    }
    fs::write(proc.join("stat"), stat)?;
    for what in ["io", "memory", "cpu"] {
        let text = format!("some avg10=0.00 total={moment}\nfull avg10=0.00 total={moment}\n");
        fs::write(proc.join("pressure").join(what), text)?;
    }
    fs::write(proc.join("meminfo"), "MemTotal: 9 kB\nDirty: 8 kB\nWriteback: 7 kB\n")?;
    fs::write(proc.join("vmstat"), format!("nr_dirtied {moment}\nnr_written {moment}\n"))?;
    Ok(())
}

/// The devices, which are asked for once.
fn make_devices(root: &Path) -> Result<(), Error> {
    for number in 0..DISKS {
        let disk = root.join("sys/class/block").join(name(number));
        fs::create_dir_all(&disk)?;
        fs::write(disk.join("size"), "1000000\n")?;
    }
    Ok(())
}

/// CPU time of this thread in seconds.
fn cpu_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Watches, and gives CPU seconds per window.
fn watch(trees: &[PathBuf], hear: &mut dyn FnMut(&Event)) -> Result<f64, Error> {
    let clock = AtOnce(std::cell::Cell::new(Duration::ZERO));
    let source = RecordedSource { trees: trees.to_vec(), next: 0 };
    let monitor = Monitor::new(source, &clock, Duration::from_secs(1), Watched::Real)?;
    let mut monitor = monitor.until(End { after: None, windows: Some(WINDOWS) });
    monitor.begin(hear)?;
    let begun = cpu_s();
    monitor.run(&|| false, hear)?;
    Ok((cpu_s() - begun) / WINDOWS as f64)
}

/// Watches, and gives the figures as a table, and whether the limit holds.
pub(super) fn run() -> Result<(String, bool), Error> {
    let directory = tempfile::tempdir()?;
    let mut trees = Vec::new();
    for moment in 0..WINDOWS + 2 {
        let tree = directory.path().join(moment.to_string());
        make(&tree, moment + 1)?;
        trees.push(tree);
    }
    make_devices(trees.first().map_or(Path::new("/"), PathBuf::as_path))?;
    let mut series = Series::default();
    let mut devices = 0;
    let recorded = watch(&trees, &mut |event| {
        if let Event::Window(observation) = event {
            devices = observation.point().disks.len();
            series.push(observation.point());
        }
    })?;
    if devices != DISKS {
        return Err(format!("{devices} of {DISKS} devices were seen").into());
    }
    let mut bytes = 0;
    let shown = watch(&trees, &mut |event| bytes += lines::line(event).len())?;
    let holds = 100.0 * recorded <= PERCENT_MAX;
    let verdict = if holds { "holds" } else { "BROKEN" };
    let mut table = format!(
        "| a second of {DISKS} busy disks ({} lines), {CORES} processors | CPU | of a core | \
         limit |  |\n",
        DISKS * (PARTITIONS + 1)
    );
    table += "|---|---|---|---|---|\n";
    writeln!(
        table,
        "| sampled, compared, recorded | {:.2} ms | {:.2} % | ≤ {PERCENT_MAX} % | {verdict} |",
        1e3 * recorded,
        100.0 * recorded
    )?;
    writeln!(
        table,
        "| sampled, compared, as JSON lines ({:.0} KiB) | {:.2} ms | {:.2} % |  |  |",
        bytes as f64 / 1024.0 / WINDOWS as f64,
        1e3 * shown,
        100.0 * shown
    )?;
    Ok((table, holds))
}

/// Writes the section into the page, in the place of the one that is there.
pub(super) fn write(table: &str, output: &Path) -> Result<(), Error> {
    let page = fs::read_to_string(output)?;
    let optimised = if cfg!(debug_assertions) { " (a build without optimisation)" } else { "" };
    let section = format!(
        "{HEADING}\n\n{table}\nWritten by `./x bench monitor --output \
         docs/performance.md`{optimised}. The figures are the CPU time of the watching thread, \
         on\nmade-up trees of `/proc` and `/sys` that change from sample to sample. They include \
         opening the files.\n"
    );
    let (before, rest) = match page.split_once(HEADING) {
        Some((before, rest)) => (before.trim_end().to_owned(), rest),
        None => (page.trim_end().to_owned(), ""),
    };
    let after = rest.find("\n## ").and_then(|at| rest.get(at..)).unwrap_or_default();
    fs::write(output, format!("{before}\n\n{section}{after}"))?;
    Ok(())
}
