//! What iosonde needs for itself: CPU without a device, memory, and time to begin.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Error;
use super::peers::{Cost, median};
use super::table::Row;
use super::tools::{self, iosonde_arguments};

const DEPTH: u32 = 32;
/// CPU of the engine per I/O, with time stamps and histograms.
const ENGINE_NS_MAX: f64 = 100.0;
const MEMORY_MIB_MAX: f64 = 32.0;
/// Pages that a run may touch for the first time while it continues: its series, and the odd line
/// of output.
const GROWTH_KIB_MAX: f64 = 256.0;
const START_MS_MAX: f64 = 20.0;

/// CPU per I/O on the backend that does nothing.
pub(super) fn engine_cpu(iosonde: &Path, target: &Path, rounds: u32) -> Result<Row, Error> {
    let run = |seconds| tools::iosonde(iosonde, &iosonde_arguments(target, "null", DEPTH, seconds));
    let costs: Result<Vec<f64>, Error> =
        (0..rounds).map(|_| Ok(Cost::between(run(0.2)?, run(0.8)?).total_us * 1e3)).collect();
    let what = "the engine's own CPU per I/O (null backend)";
    Ok(Row::own(what, median(costs?), "ns", ENGINE_NS_MAX))
}

/// Memory of a run, and by how much it grows from its second second to its end.
pub(super) fn memory(iosonde: &Path, target: &Path) -> Result<[Row; 2], Error> {
    let mut arguments = iosonde_arguments(target, "uring", DEPTH, 6.0);
    arguments.push("--buffered".to_owned());
    let mut child = Command::new(iosonde).args(arguments).stdout(Stdio::null()).spawn()?;
    sleep(Duration::from_secs(1));
    let early = status_kib(&child, "VmRSS");
    sleep(Duration::from_secs(4));
    let (late, peak) = (status_kib(&child, "VmRSS"), status_kib(&child, "VmHWM"));
    child.wait()?;
    let gone = "iosonde ended before its memory was read";
    let (early, late, peak) = (early.ok_or(gone)?, late.ok_or(gone)?, peak.ok_or(gone)?);
    Ok([
        Row::own("peak memory (1 thread, depth 32)", peak / 1024.0, "MiB", MEMORY_MIB_MAX),
        Row::own("growth of memory over 4 s", late - early, "KiB", GROWTH_KIB_MAX),
    ])
}

fn status_kib(child: &Child, field: &str) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Everything a run takes beyond its measured window: the start to the first I/O is less than that.
pub(super) fn start(iosonde: &Path, target: &Path, rounds: u32) -> Result<Row, Error> {
    const WINDOW_SECONDS: f64 = 0.1;
    let mut arguments = iosonde_arguments(target, "uring", DEPTH, WINDOW_SECONDS);
    arguments.push("--buffered".to_owned());
    let run = |_| {
        let begin = Instant::now();
        tools::iosonde(iosonde, &arguments)?;
        Ok((begin.elapsed().as_secs_f64() - WINDOW_SECONDS) * 1e3)
    };
    let times: Result<Vec<f64>, Error> = (0..rounds * 2).map(run).collect();
    let what = "start to first I/O, and last I/O to exit, together";
    Ok(Row::own(what, median(times?), "ms", START_MS_MAX))
}
