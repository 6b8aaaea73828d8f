//! Counts that do not depend on the machine or its load, so that CI can hold them.
//!
//! Instructions are counted by valgrind's callgrind, system calls by strace; both slow the program
//! down and neither changes what it does. Each count is the difference of a long and a short run,
//! divided by the difference of their I/Os: what start and end cost is in both, and drops out. What
//! they cost differs a little where something else runs, so a count above its limit is taken twice
//! more, and the median is reported.

use std::io;
use std::path::Path;
use std::process::{Command, Output};

use testing::skip;

use super::Error;
use super::files::{self, Cached};
use super::peers::median;
use super::table::Row;
use super::tools::{self, complaint, ios_of, iosonde_arguments};

/// Small enough to be locked by anybody.
const FILE_BYTES: u64 = 4 << 20;
const DEPTH: u32 = 32;
const SHORT_SECONDS: f64 = 0.5;
const LONG_SECONDS: f64 = 2.5;
/// The most user instructions per I/O.
const INSTRUCTIONS_MAX: f64 = 400.0;
/// The most system calls per I/O.
const CALLS_MAX: f64 = 0.15;

/// A way of counting: gives the count and the I/Os of one run.
type Counter = fn(&Path, &[String], &Path) -> Result<(f64, f64), String>;

/// Both counts; what cannot be counted here is left out and noted as skipped.
pub(super) fn run(iosonde: &Path) -> Result<Vec<Row>, Error> {
    let directory = tempfile::tempdir()?;
    let file = files::make(directory.path(), "cached", FILE_BYTES)?;
    // Just written and this small, it stays in the cache even where it may not be locked.
    let _cached = Cached::lock(&file);
    let try_run = |engine| tools::iosonde(iosonde, &iosonde_arguments(&file, engine, DEPTH, 0.05));
    try_run("null")?;
    if let Err(reason) = try_run("uring") {
        skip("bench::exact", format!("io_uring cannot be used: {reason}"));
        return Ok(Vec::new());
    }
    let counters: [(&str, f64, Counter); 2] = [
        ("user instructions per I/O", INSTRUCTIONS_MAX, instructions),
        ("system calls per I/O", CALLS_MAX, system_calls),
    ];
    let mut rows = Vec::new();
    for (what, most, counter) in counters {
        let count = |seconds| {
            let mut arguments = iosonde_arguments(&file, "uring", DEPTH, seconds);
            arguments.push("--buffered".to_owned());
            counter(iosonde, &arguments, directory.path())
        };
        let difference = || {
            let (short, long) = (count(SHORT_SECONDS)?, count(LONG_SECONDS)?);
            Ok::<f64, String>((long.0 - short.0) / (long.1 - short.1))
        };
        let counted = difference().and_then(|first| {
            let further = if first > most { 2 } else { 0 };
            std::iter::once(Ok(first)).chain((0..further).map(|_| difference())).collect()
        });
        match counted {
            Ok(counts) => {
                let what = format!("{what} (depth {DEPTH}, page cache)");
                rows.push(Row::own(&what, median(counts), "", most));
            }
            Err(reason) => skip("bench::exact", format!("{what}: {reason}")),
        }
    }
    Ok(rows)
}

fn instructions(iosonde: &Path, arguments: &[String], _: &Path) -> Result<(f64, f64), String> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let output = output(command.arg(iosonde).args(arguments), "valgrind")?;
    let text = String::from_utf8_lossy(&output.stderr);
    // ==123== Collected : 213767968
    let collected = text.lines().find_map(|line| line.split_once("Collected :"));
    let count = collected.and_then(|(_, count)| count.trim().parse().ok());
    both(count, &output)
}

fn system_calls(
    iosonde: &Path,
    arguments: &[String],
    scratch: &Path,
) -> Result<(f64, f64), String> {
    let summary = scratch.join("strace");
    let mut command = Command::new("strace");
    command.args(["-f", "-c", "--summary-columns=name,calls", "-o"]).arg(&summary);
    let output = output(command.arg(iosonde).args(arguments), "strace")?;
    let text = std::fs::read_to_string(&summary).map_err(|e| e.to_string())?;
    let total = text.lines().find_map(|line| line.trim().strip_prefix("total "));
    both(total.and_then(|count| count.trim().parse().ok()), &output)
}

fn output(command: &mut Command, name: &str) -> Result<Output, String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(output),
        Ok(output) => Err(format!("{name} failed: {}", complaint(&output))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("{name} is not installed (package {name})"))
        }
        Err(error) => Err(format!("{name}: {error}")),
    }
}

fn both(count: Option<f64>, output: &Output) -> Result<(f64, f64), String> {
    count.zip(ios_of(output)).ok_or_else(|| format!("no count: {}", complaint(output)))
}
