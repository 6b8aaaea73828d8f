//! A printed run as a measurement, with what its figures can and cannot mean.

use std::collections::HashMap;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use results::{Latency, Origin, Statistics, Status};
use workload::{
    Block, Buffers, Bytes, Content, Mode, Pattern, Pool, PoolShare, Stream, Target, Workload,
};

use super::job::COUNTS_PER_SECOND;
use super::printout::{Access, BufferKind, Buffering, Figure, Load, Order, Printout};
use super::read::{Reading, readings};
use crate::foreign::{ForeignRuns, OWN, Run};
use crate::identities::{Printed, PrintedFigures, PrintedRun};

/// SQLIO cuts off the fraction of a millisecond of each I/O, and that of their mean again. The mean
/// of the cut parts is around a millisecond. By Little's law it was never above 1.55 ms in the runs
/// for which both are known.
const MEAN_SHORT_BY_NS: u64 = 1_500_000;
const NS_PER_MS: f64 = 1e6;

/// All runs of a text as measurements. `file` is the name of the file, `read` the moment (UTC, RFC
/// 3339) to use as the start of runs whose start is not known.
#[must_use]
pub fn read(text: &str, file: &str, read: &str) -> ForeignRuns {
    let (readings, mut notes) = readings(text);
    let mut measurements: Vec<results::Measurement> = Vec::with_capacity(readings.len());
    let mut names: HashMap<String, u32> = HashMap::new();
    for reading in readings {
        let line = reading.line;
        if reading.printout.iops.is_none() {
            notes.push(format!(
                "line {line}: the run has no figures: it did not end, or the text does before it; \
                 left out"
            ));
            continue;
        }
        if let Some(missing) = reading.missing {
            notes.push(format!("line {line}: the run is incomplete, {missing} is missing"));
        }
        let done = reading.printout.load.as_ref().zip(reading.printout.access);
        if done.is_none() {
            notes.push(format!("line {line}: {UNKNOWN_LOAD}"));
        }
        let run = run(&reading, done, file);
        let mut measurement = run.measurement(&reading.text, read);
        if let (None, Some(load)) = (done, &reading.printout.load) {
            measurement.threads = load.threads.into();
        }
        measurement.cpu.host_percent = host_percent(&reading.printout);
        let seen = names.entry(measurement.id.clone()).or_default();
        *seen += 1;
        if *seen > 1 {
            measurement.id = format!("{}-{seen}", measurement.id);
        }
        measurements.push(measurement);
    }
    follow_each_other(&mut measurements);
    ForeignRuns { measurements, notes }
}

/// The head of a log tells one start for all of its runs: each begins when the one before has
/// ended.
fn follow_each_other(measurements: &mut [results::Measurement]) {
    let mut begun: Option<(String, SignedDuration)> = None;
    for m in measurements {
        let head = m.started.clone();
        let passed = match &begun {
            Some((start, passed)) if *start == head => *passed,
            _ => SignedDuration::ZERO,
        };
        let is_dated = m.checks.warnings.iter().any(|w| w.starts_with("the log began"));
        let start = head.parse::<Timestamp>().ok().filter(|_| is_dated);
        if let Some(start) = start.and_then(|start| start.checked_add(passed).ok()) {
            m.started = start.to_string();
        }
        let length = SignedDuration::try_from_secs_f64(m.seconds.max(1.0)).unwrap_or_default();
        begun = Some((head, passed.checked_add(length).unwrap_or(passed)));
    }
}

/// The warning on figures whose load is not known.
const UNKNOWN_LOAD: &str = "nobody knows which load these figures are of: the text has neither \
                            SQLIO's lines about it nor the call right above them. Nothing is \
                            compared with them";

/// A run as a measurement; `done` is its load, if the text says it.
fn run(reading: &Reading, done: Option<(&Load, Access)>, file: &str) -> Run {
    let printout = &reading.printout;
    let total = statistics(printout, done);
    let (started, mut warnings) = start(reading);
    match done {
        Some((load, _)) => warnings.extend(doubts(load)),
        None => warnings.push(UNKNOWN_LOAD.to_owned()),
    }
    warnings.extend(times_doubts(printout));
    if let Some(missing) = reading.missing {
        warnings.push(format!("the text is incomplete: {missing} is missing"));
    }
    let mean_is_cut = total.latency_ns.is_some();
    let workload = match done {
        Some((load, access)) => workload(printout, load, access),
        None => unknown(printout),
    };
    // Of an unknown load nobody knows the direction either.
    let part = |wanted: bool| match done {
        Some((load, _)) if load.writes == wanted => total.clone(),
        _ => Statistics::default(),
    };
    let version = Some(printout.version.clone()).filter(|version| !version.is_empty());
    // No Windows counts so fast.
    let is_own = printout.timer.is_some_and(|timer| timer.per_second == COUNTS_PER_SECOND);
    let version = if is_own { Some(OWN.to_owned()) } else { version };
    Run {
        origin: Origin {
            tool: "SQLIO".to_owned(),
            tool_version: version,
            file: Some(file.to_owned()),
            command_line: reading.command_line.clone(),
            latency_mean_short_by_ns: mean_is_cut.then_some(MEAN_SHORT_BY_NS),
            histogram_percent: printout.histogram.map(|h| h.to_vec()),
        },
        started,
        status: if reading.missing.is_some() { Status::Interrupted } else { Status::Complete },
        target_bytes: workload.targets.iter().map(|t| t.size_bytes.map_or(0, |s| s.0)).collect(),
        workload,
        host: reading.host.clone(),
        seconds: printout.load.as_ref().map_or(0.0, |load| load.seconds as f64),
        read: part(false),
        write: part(true),
        total,
        printed: printed(printout),
        warnings,
    }
}

/// SQLIO prints rates of all I/Os, and the length that was asked for.
fn printed(printout: &Printout) -> PrintedRun {
    let figure = |f: Figure| Printed::decimals(f.value, f.decimals);
    let (iops, mib_per_s) = (printout.iops.map(figure), printout.mib_per_s.map(figure));
    let total = PrintedFigures { iops, mib_per_s, ..PrintedFigures::default() };
    PrintedRun { total, ..PrintedRun::default() }
}

/// SQLIO prints rates; counts follow from them and from the length that was asked for.
fn statistics(printout: &Printout, done: Option<(&Load, Access)>) -> Statistics {
    let (block, seconds) =
        done.map_or((0, 0), |(load, access)| (u64::from(access.block_kib) << 10, load.seconds));
    let rate = printout.iops.map_or(0.0, |f| f.value);
    let by_block = rate * block as f64 / 1_048_576.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let ios = (rate * seconds as f64).round() as u64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let ns = |ms: f64| (ms * NS_PER_MS).round() as u64;
    let [min, mean, max] = printout.latency_ms;
    let latency_ns = mean.map(|mean| Latency {
        min: min.map(ns),
        mean: mean * NS_PER_MS,
        max: max.map(ns),
        ..Latency::default()
    });
    Statistics {
        ios,
        bytes: ios.saturating_mul(block),
        iops: rate,
        mib_per_s: printout.mib_per_s.map_or(by_block, |f| f.value),
        latency_ns,
        ..Statistics::default()
    }
}

/// The start, where the head of a log tells it and means one day only.
fn start(reading: &Reading) -> (String, Vec<String>) {
    let Some(date) = &reading.date else { return (String::new(), Vec::new()) };
    match super::dates::read(date) {
        Some(started) => {
            let text = format!(
                "the log began `{date}` by its machine's clock, whose time zone it does not tell; \
                 it is taken as UTC"
            );
            (started, vec![text])
        }
        None => (
            String::new(),
            vec![format!(
                "the log began `{date}`, which does not tell for certain which day that was"
            )],
        ),
    }
}

/// Every reason to doubt a figure.
fn doubts(load: &Load) -> Vec<String> {
    let mut doubts = Vec::new();
    if load.writes {
        doubts.push(
            "SQLIO writes only zeros, which storage that compresses or spares zeros does not store"
                .to_owned(),
        );
    } else {
        doubts.push(
            "a file that SQLIO made holds only zeros, which some storage does not read from the \
             medium"
                .to_owned(),
        );
    }
    doubts
}

/// Every reason to doubt a latency.
fn times_doubts(printout: &Printout) -> Vec<String> {
    let mut doubts = Vec::new();
    if let [_, Some(mean), _] = printout.latency_ms {
        let most = mean + MEAN_SHORT_BY_NS as f64 / NS_PER_MS;
        doubts.push(format!(
            "SQLIO cuts off fractions of milliseconds: a mean of {mean} ms is really {mean} to \
             {most} ms"
        ));
    }
    if let Some((BufferKind::Copied, pieces)) = printout.buffers {
        doubts.push(format!(
            "copying to or from {pieces} buffers (`-mC{pieces}`) is part of each latency"
        ));
    }
    if let [Some(min), Some(mean), Some(max)] = printout.initiation_us {
        doubts.push(format!(
            "starting an I/O took {min} to {max} µs, {mean} µs on average, which is part of no \
             figure here"
        ));
    }
    doubts
}

/// The use of all CPUs together.
fn host_percent(printout: &Printout) -> Option<f64> {
    let cpu = printout.cpu.as_ref()?;
    let all = cpu.columns.iter().position(|c| c.eq_ignore_ascii_case("all")).unwrap_or(0);
    let (_, row) = cpu.rows.iter().find(|(name, _)| name == "ProcessorTime(%)")?;
    row.get(all).copied()
}

/// The files, as far as the run tells them.
fn targets(printout: &Printout) -> Vec<Target> {
    let files: Vec<&str> = if printout.pools.is_empty() {
        printout.load.iter().flat_map(|load| load.files.iter().map(String::as_str)).collect()
    } else {
        printout.pools.iter().map(|p| p.file.as_str()).collect()
    };
    let target =
        |file: &&str| Target { path: PathBuf::from(file), size_bytes: size_of(printout, file) };
    files.iter().map(target).collect()
}

/// The known parts of a run whose load the text does not say.
fn unknown(printout: &Printout) -> Workload {
    Workload {
        targets: targets(printout),
        streams: Vec::new(),
        seconds: printout.load.as_ref().map_or(0.0, |load| load.seconds as f64),
        warmup_seconds: 0.0,
        ..Workload::default()
    }
}

fn workload(printout: &Printout, load: &Load, access: Access) -> Workload {
    let targets = targets(printout);
    let stream = stream(printout, load, access);
    let streams = match printout.pools.as_slice() {
        [] | [_] => vec![Stream { pool: share(&targets, printout), ..stream }],
        pools => pools
            .iter()
            .enumerate()
            .map(|(index, pool)| Stream {
                name: format!("file {}", index + 1),
                targets: vec![index],
                threads: pool.threads,
                ..stream.clone()
            })
            .collect(),
    };
    let mode = match printout.buffering {
        Buffering::None | Buffering::Hardware => Mode::Direct,
        Buffering::All | Buffering::Software => Mode::Buffered,
    };
    Workload {
        targets,
        streams,
        seconds: load.seconds as f64,
        warmup_seconds: 0.0,
        mode,
        ..Workload::default()
    }
}

/// A thread goes round all files, with its depth on each.
fn share(targets: &[Target], printout: &Printout) -> Option<Pool> {
    let share = if printout.outstanding.is_some() { PoolShare::Each } else { PoolShare::InTurn };
    (targets.len() > 1).then_some(Pool { share })
}

fn stream(printout: &Printout, load: &Load, access: Access) -> Stream {
    let pattern = match access.order {
        Order::Random => Pattern::Random,
        Order::Sequential => Pattern::SequentialShared,
        Order::Striped { stripe_kib, run_ios } => Pattern::Matrix {
            columns: u32::try_from(stripe_kib / u64::from(access.block_kib.max(1)))
                .unwrap_or(u32::MAX),
            rows: run_ios,
            same_column: false,
        },
    };
    let buffers = match printout.buffers {
        Some((BufferKind::Scattered, pieces)) => Buffers::Scattered { pieces },
        None | Some((BufferKind::Copied, _)) => Buffers::Single,
    };
    let through = matches!(printout.buffering, Buffering::None | Buffering::Software);
    Stream {
        threads: load.threads,
        depth: printout.outstanding.unwrap_or(1).max(1),
        blocks: vec![Block { bytes: Bytes(u64::from(access.block_kib) << 10), weight: 1 }],
        pattern,
        buffers,
        write_percent: if load.writes { 100 } else { 0 },
        durable: load.writes && through,
        content: if load.writes { Content::Zero } else { Content::Random },
        ..Stream::default()
    }
}

/// The size of a file in bytes, as far as the run tells it.
fn size_of(printout: &Printout, file: &str) -> Option<Bytes> {
    let grown = printout.expansions.iter().find(|e| e.file == file).map(|e| e.needed_bytes);
    let said =
        printout.sizes.iter().find(|s| s.file == file).map(|s| s.mib.saturating_mul(1 << 20));
    said.or(grown).map(Bytes)
}
