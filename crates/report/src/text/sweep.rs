//! What `iosonde sweep` says at its end: the best of each load, then every cell, as text and as
//! CSV.

use results::{Experiment, Source, Status, Sweep, SweptCell, SweptCurve, csv_field};
use workload::{Target, show_duration, show_number};

use super::layout::{Table, WIDTH, shorten, shorten_path, wrap};
use crate::words;

/// The first line of every CSV of a sweep; a file without it is somebody else's.
pub const CSV_HEAD: &str = "Kind,Threads,Seconds,Drive,Stripe,Outstanding,Size,IOs,MBs,\
                            Latency_min,Latency_avg,Latency_max,file_bytes,write_percent,\
                            block_bytes,in_flight,latency_p99_ns,error_percent,source,operation";

/// Columns for a load; with more, the tables are wider than a screen.
const LOAD: usize = 42;
/// Longer names of targets stand in the head, and the tables have their numbers.
const PLACE: usize = 16;

/// The outcome of a sweep for a terminal.
#[must_use]
pub fn sweep(e: &Experiment<Sweep>) -> String {
    let mut out = head(e);
    out.push_str(&best(e));
    out.push_str(&cells(e));
    out.push_str(&left_out(e));
    out.push_str(&notes(e));
    out
}

fn head(e: &Experiment<Sweep>) -> String {
    let sweep = &e.conclusion;
    let names: Vec<String> = e.targets.iter().map(|t| words::path(t)).collect();
    let target = match names.as_slice() {
        [one] => format!("{one}, file size {}", words::size(e.file_bytes)),
        many => format!("{} targets, file size {} in all", many.len(), words::size(e.file_bytes)),
    };
    let mut out = format!("{target}\n");
    let mut line = |label: &str, text: &str| {
        out.push_str(&wrap(&format!("  {label:<10} "), text, WIDTH));
    };
    line("sweep", &words::clean(&sweep.plan.title));
    if named_by_number(e) {
        for (number, target) in sweep.plan.targets.iter().enumerate() {
            let path = shorten_path(&words::path(&target.path), WIDTH - 14);
            line(&format!("target {}", number + 1), &path);
        }
    }
    for storage in &e.environment.storage {
        line("storage", &words::storage(storage));
    }
    if let Some(host) = &e.environment.host {
        line("host", &format!("{}, {}", words::clean(&host.hostname), words::moment(&e.started)));
    }
    let counts = words::cells(sweep);
    let took = show_duration(sweep.device_seconds);
    line("cells", &format!("{counts}; {took} of the storage's time"));
    match e.status {
        Status::Complete => {}
        Status::Interrupted => line("STATUS", "INTERRUPTED: the rest is missing."),
        Status::Failed => line("STATUS", "FAILED: the rest is missing; the warnings say why."),
    }
    out
}

/// The targets of a curve or cell in words, where there are several groups.
fn place(e: &Experiment<Sweep>, targets: &[usize]) -> Option<String> {
    let plan = &e.conclusion.plan;
    if plan.groups().len() < 2 {
        return None;
    }
    if named_by_number(e) {
        let numbers: Vec<String> = targets.iter().map(|t| (t + 1).to_string()).collect();
        return Some(format!("target {}", numbers.join(" + ")));
    }
    let names = targets.iter().filter_map(|t| plan.targets.get(*t));
    Some(names.map(|t| words::path(&t.path)).collect::<Vec<_>>().join(" + "))
}

/// Whether targets are measured apart and have names that no table has room for.
fn named_by_number(e: &Experiment<Sweep>) -> bool {
    let plan = &e.conclusion.plan;
    let long = |t: &Target| words::path(&t.path).chars().count() > PLACE;
    plan.groups().len() > 1 && plan.targets.iter().any(long)
}

fn load(e: &Experiment<Sweep>, targets: &[usize], title: &str) -> String {
    match place(e, targets) {
        Some(place) => format!("{place}: {}", words::clean(title)),
        None => words::clean(title),
    }
}

/// Sequential loads are judged by MiB/s, random ones by IOPS; latency is always beside it.
fn throughput(sequential: bool, iops: f64, mib_per_s: f64) -> String {
    if sequential {
        format!("{} MiB/s", show_number(mib_per_s))
    } else {
        format!("{} IOPS", show_number(iops))
    }
}

/// The best of each load that has several cells.
fn best(e: &Experiment<Sweep>) -> String {
    let sweep = &e.conclusion;
    let curves: Vec<&SweptCurve> = sweep.curves.iter().filter(|c| c.cells.len() > 1).collect();
    if curves.is_empty() {
        return String::new();
    }
    let heads = ["best of each load", "", "±", "95 % of it at", "mean latency there", ""];
    let mut table = Table::new(1, &heads);
    for curve in curves {
        let first = curve.cells.first().and_then(|n| cell(sweep, *n));
        let sequential = first.is_some_and(|c| c.cell.is_sequential());
        let in_flight = curve.operating_in_flight;
        let source = if curve.source == Source::Inferred { "inferred" } else { "" };
        table.row(vec![
            shorten(&load(e, &curve.targets, &curve.title), LOAD),
            throughput(sequential, curve.best_iops, curve.best_mib_per_s),
            words::percent(curve.error_percent),
            in_flight.map_or_else(|| "–".to_owned(), |n| format!("{} in flight", show_number(n))),
            words::mean_time(curve.operating_latency_ns),
            source.to_owned(),
        ]);
    }
    format!("\n{}", table.show())
}

fn cell(sweep: &Sweep, number: u32) -> Option<&SweptCell> {
    sweep.cells.get(usize::try_from(number).ok()?)
}

/// Every cell that has figures, under its load.
fn cells(e: &Experiment<Sweep>) -> String {
    let heads = ["", "threads", "depth", "in flight", "IOPS", "MiB/s", "mean", "p99", "±", ""];
    let mut table = Table::new(1, &heads);
    let mut before = String::new();
    for cell in e.conclusion.cells.iter().filter(|c| c.iops.is_some()) {
        let mut title = load(e, &cell.cell.targets, &cell.cell.load_title());
        if let Some(operation) = &cell.cell.operation {
            title = format!("{title} (shape of: {})", words::clean(operation));
        }
        let shown = if title == before { String::new() } else { shorten(&title, LOAD) };
        before = title;
        let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), show_number);
        let source = if cell.source == Source::Inferred { "inferred" } else { "" };
        table.row(vec![
            shown,
            cell.cell.threads.to_string(),
            cell.cell.depth.to_string(),
            words::count(cell.in_flight),
            figure(cell.iops),
            figure(cell.mib_per_s),
            words::mean_time(cell.latency_ns),
            words::time(cell.p99_ns),
            words::percent(cell.error_percent),
            source.to_owned(),
        ]);
    }
    format!("\n{}", table.show())
}

fn left_out(e: &Experiment<Sweep>) -> String {
    let mut reasons: Vec<(String, u64)> = Vec::new();
    for cell in e.conclusion.cells.iter().filter(|c| c.source == Source::LeftOut) {
        let reason = words::clean(cell.reason.as_deref().unwrap_or_default());
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let line = |(reason, count): &(String, u64)| {
        let cells = words::plural(*count, "cell is", "cells are");
        wrap("  ", &format!("{cells} impossible here: {reason}"), WIDTH)
    };
    let lines: String = reasons.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn notes(e: &Experiment<Sweep>) -> String {
    let lines = |mark: &str, texts: &[String]| -> String {
        texts.iter().map(|t| wrap(mark, &words::clean(t), WIDTH)).collect()
    };
    let mut method = lines("  ", &e.method);
    if e.measurements.iter().any(words::is_shape) {
        method.push_str(&wrap("  ", words::SHAPE, WIDTH));
    }
    let warnings = lines("! ", &e.warnings);
    let warnings = if warnings.is_empty() { "No warnings.\n".to_owned() } else { warnings };
    format!("\nHow it was measured\n{method}\n{warnings}")
}

/// Every cell as a line of CSV: first the columns that scripts around SQLIO use, under their names,
/// then ours.
///
/// Times are milliseconds in the columns of the first kind and nanoseconds in ours. A figure that
/// is not there is empty.
#[must_use]
pub fn sweep_csv(e: &Experiment<Sweep>) -> String {
    let mut out = format!("{CSV_HEAD}\n");
    for cell in &e.conclusion.cells {
        out.push_str(&csv_line(e, cell));
        out.push('\n');
    }
    out
}

fn csv_line(e: &Experiment<Sweep>, cell: &SweptCell) -> String {
    let measured = || cell.measurements.iter().filter_map(|m| e.measurements.get(*m));
    let latencies = || measured().filter_map(|m| m.total.latency_ns);
    let ms = |ns: Option<f64>| ns.map_or_else(String::new, |ns| (ns / 1e6).to_string());
    let figure = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
    let whole = |value: Option<u64>| value.map_or_else(String::new, |v| v.to_string());
    let plan = &e.conclusion.plan;
    let paths = cell.cell.targets.iter().filter_map(|t| plan.targets.get(*t));
    let drive: Vec<String> = paths.map(|t| t.path.display().to_string()).collect();
    let kind = match cell.cell.write_percent {
        0 => "R".to_owned(),
        100 => "W".to_owned(),
        percent => format!("W{percent}"),
    };
    let order = cell.cell.stream().pattern_kind();
    let stripe = if order.is_sequential() { "sequential" } else { order.word() };
    let source = match cell.source {
        Source::Measured => "measured",
        Source::Inferred => "inferred",
        Source::LeftOut => "left_out",
        Source::Missing => "missing",
    };
    let seconds = measured().map(|m| m.seconds).sum::<f64>();
    let columns = [
        kind,
        cell.cell.threads.to_string(),
        if seconds > 0.0 { seconds.to_string() } else { String::new() },
        csv_field(&drive.join("+")),
        stripe.to_owned(),
        cell.cell.depth.to_string(),
        (cell.cell.block_bytes.0 as f64 / 1024.0).to_string(),
        figure(cell.iops),
        figure(cell.mib_per_s),
        ms(latencies().map(|l| l.min as f64).reduce(f64::min)),
        ms(cell.latency_ns),
        ms(latencies().map(|l| l.max as f64).reduce(f64::max)),
        whole(measured().next().map(|m| m.file_bytes)),
        cell.cell.write_percent.to_string(),
        cell.cell.block_bytes.0.to_string(),
        cell.in_flight.to_string(),
        whole(cell.p99_ns),
        figure(cell.error_percent),
        source.to_owned(),
        csv_field(cell.cell.operation.as_deref().unwrap_or_default()),
    ];
    columns.join(",")
}
