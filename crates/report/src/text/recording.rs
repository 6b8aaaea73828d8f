//! What the operating system counted: a window as `iosonde monitor` shows it, and the end of a
//! recording.

use counters::{DISK_FIELDS, DiskTally, Field, SYSTEM_FIELDS, Span, SystemTally, Unit};
use results::{AlertTime, Experiment, FoundBy, RecordedRow, Recording, Status, show_figure};
use workload::{Bytes, show_duration, show_number};

use super::experiment::foot;
use super::layout::{Table, WIDTH, shorten, wrap};
use crate::{agreement, databases, words};

/// The columns of a device.
const COLUMNS: [&str; 10] = [
    "reads_per_s",
    "writes_per_s",
    "read_bytes_per_s",
    "write_bytes_per_s",
    "read_latency_ns",
    "write_latency_ns",
    "read_size_bytes",
    "write_size_bytes",
    "average_queue",
    "busy_percent",
];
/// The same where databases are beside the devices: their syncs are what flushes are to a device.
const BESIDE: [&str; 10] = [
    "reads_per_s",
    "writes_per_s",
    "read_bytes_per_s",
    "write_bytes_per_s",
    "read_latency_ns",
    "write_latency_ns",
    "flushes_per_s",
    "flush_latency_ns",
    "average_queue",
    "busy_percent",
];
/// Objects of databases in a window, besides the sum.
const OBJECTS: usize = 4;
/// The same at the end.
const OBJECTS_AT_THE_END: usize = 12;
/// The figures of the host in a line.
const HOST: [&str; 6] = [
    "cpu_percent",
    "iowait_percent",
    "steal_percent",
    "io_some_percent",
    "dirty_bytes",
    "write_back_bytes",
];
/// Idle devices are left out where there are more than this.
const FEW: usize = 8;
/// Times of an alert that are named.
const TIMES: usize = 5;

fn chosen<T>(
    names: &'static [&'static str],
    fields: &'static [Field<T>],
) -> impl Iterator<Item = &'static Field<T>> {
    names.iter().filter_map(|name| fields.iter().find(|field| field.name == *name))
}

/// A figure in a column whose heading says the unit; a dash where there is nothing to say.
fn cell(unit: Unit, figure: Option<f64>) -> String {
    match (unit, figure) {
        (_, None) => "-".to_owned(),
        (Unit::PerSecond | Unit::Number, Some(figure)) => show_number(figure),
        (Unit::BytesPerSecond, Some(figure)) => show_number(figure / 1_048_576.0),
        (Unit::Percent, Some(figure)) => format!("{figure:.0}%"),
        (unit, Some(figure)) => show_figure(unit, figure).replace(' ', ""),
    }
}

/// The host's figures, in a line.
#[must_use]
pub fn host_line(system: &SystemTally, span: Span) -> String {
    let figure = |field: &Field<SystemTally>| {
        let figure = field.of(system, span)?;
        Some(format!("{} {}", field.short, show_figure(field.unit, figure)))
    };
    chosen(&HOST, &SYSTEM_FIELDS).filter_map(figure).collect::<Vec<_>>().join("  ")
}

/// The figures of devices and of what others counted, in a table.
#[must_use]
pub fn devices(disks: &[(String, DiskTally)], span: Span, rows: &[RecordedRow]) -> String {
    let spans = disks.iter().map(|(name, tally)| (name.as_str(), tally, span));
    device_table(&spans.collect::<Vec<_>>(), rows, OBJECTS)
}

fn device_table(disks: &[(&str, &DiskTally, Span)], rows: &[RecordedRow], most: usize) -> String {
    let columns: &'static [&'static str] = if rows.is_empty() { &COLUMNS } else { &BESIDE };
    let mut heading = vec!["device"];
    heading.extend(chosen(columns, &DISK_FIELDS).map(|field| field.short));
    let mut table = Table::new(1, &heading);
    let mut idle = 0_usize;
    for (name, tally, span) in disks {
        if tally.is_idle() && disks.len() > FEW {
            idle += 1;
            continue;
        }
        let cells = chosen(columns, &DISK_FIELDS).map(|f| cell(f.unit, f.of(tally, *span)));
        table.row(std::iter::once(words::clean(name)).chain(cells).collect());
    }
    let shown = databases::busiest(rows, most);
    for row in &shown {
        let known = row.figures();
        let figure = |name: &str| known.iter().find(|(n, _)| *n == name).and_then(|(_, f)| *f);
        let cells = chosen(columns, &DISK_FIELDS).map(|f| cell(f.unit, figure(as_sync(f.name))));
        table.row(std::iter::once(databases::label(row, rows)).chain(cells).collect());
    }
    let mut out = table.show();
    if idle > 0 {
        out.push_str(&format!("  {idle} idle devices are not shown\n"));
    }
    out
}

/// The figure of a database that stands in the column of a device's.
fn as_sync(name: &str) -> &str {
    match name {
        "flushes_per_s" => "syncs_per_s",
        "flush_latency_ns" => "sync_latency_ns",
        name => name,
    }
}

/// What the difference between databases and devices means, and what else the databases counted.
fn beside(r: &Recording) -> String {
    let mut out = String::new();
    for text in databases::meaning(r) {
        out.push_str(&wrap("  ", &text, WIDTH));
    }
    for row in databases::totals(&r.totals.rows) {
        let counter = |(name, amount): (&String, &f64)| {
            let shown = match name.rsplit('_').next() {
                Some("bytes") => show_figure(Unit::Bytes, *amount),
                Some("ns") => show_figure(Unit::Nanoseconds, *amount),
                _ => show_number(*amount),
            };
            (*amount > 0.0).then(|| format!("{} {shown}", words::clean(name)))
        };
        let counters: Vec<String> = row.counters.iter().filter_map(counter).collect();
        if !counters.is_empty() {
            let text = format!("{}: {}", words::clean(&row.source), counters.join(", "));
            out.push_str(&wrap("  ", &text, WIDTH));
        }
    }
    out
}

/// `dm-0 (LVM volume vg-data, 10 GiB)`.
#[must_use]
pub fn layer(name: &str, devices: &[counters::BlockDevice]) -> String {
    let Some(device) = devices.iter().find(|device| device.name == name) else {
        return words::clean(name);
    };
    let label = device.label.as_deref().map(words::clean).unwrap_or_default();
    let what = format!("{} {label}", device.kind.title());
    format!("{} ({}, {})", words::clean(name), shorten(what.trim(), 48), Bytes(device.size_bytes))
}

/// All of a recording.
#[must_use]
pub fn recording(e: &Experiment<Recording>) -> String {
    let r = &e.conclusion;
    let mut out = head(e);
    let span = Span { seconds: r.seconds, readings: u32::try_from(r.windows).unwrap_or(u32::MAX) };
    let line = host_line(&r.totals.system, span);
    if !line.is_empty() {
        out.push_str(&format!("  {line}\n"));
    }
    let disks = r.devices.iter().filter_map(|device| {
        let (name, total) = r.totals.disks.get_key_value(&device.name)?;
        Some((name.as_str(), &total.tally, Span { seconds: total.seconds, ..span }))
    });
    let disks: Vec<_> = disks.collect();
    out.push_str(&device_table(&disks, &r.totals.rows, OBJECTS_AT_THE_END));
    out.push_str(&beside(r));
    out.push_str(&runs(e));
    out.push_str(&alerts(r));
    out.push_str(&foot(e));
    out
}

fn head(e: &Experiment<Recording>) -> String {
    let r = &e.conclusion;
    let mut out = format!("{}\n", words::clean(&r.title()));
    let mut line = |label: &str, text: &str| {
        out.push_str(&wrap(&format!("  {label:<10} "), text, WIDTH));
    };
    if !e.targets.is_empty() {
        let names: Vec<String> = e.targets.iter().map(|t| words::path(t)).collect();
        line("target", &names.join(", "));
    }
    let mut storage: Vec<String> = e.environment.storage.iter().map(words::storage).collect();
    storage.dedup();
    if !storage.is_empty() {
        line("storage", &storage.join("; "));
    }
    if let Some(command) = &r.command {
        let words: Vec<String> = command.line.iter().map(|word| words::clean(word)).collect();
        let ended = match (command.exit_code, command.signal) {
            (Some(0), _) => String::new(),
            (Some(code), _) => format!(" (exit code {code})"),
            (None, Some(signal)) => format!(" (ended by signal {signal})"),
            (None, None) => " (did not end)".to_owned(),
        };
        line("during", &format!("{}{ended}", words.join(" ")));
    }
    line(
        "recorded",
        &format!(
            "{} in {} from {}",
            show_duration(r.seconds),
            words::plural(r.windows, "window", "windows"),
            words::moment(&e.started)
        ),
    );
    match e.status {
        Status::Complete => {}
        Status::Interrupted => line("STATUS", "INTERRUPTED: this is what was recorded until then."),
        Status::Failed => line("STATUS", "FAILED: this is what was recorded until then."),
    }
    out
}

/// What tools measured meanwhile, beside what was counted.
fn runs(e: &Experiment<Recording>) -> String {
    let mut out = String::new();
    for run in &e.conclusion.runs {
        let Some(m) = e.measurements.get(run.measurement) else { continue };
        let tool = words::tool(m).unwrap_or_else(|| "iosonde".to_owned());
        let found = match run.found {
            FoundBy::Time => "by its time",
            FoundBy::Activity => "by what the device did",
        };
        let device = m.kernel.as_ref().map_or_else(String::new, |k| words::clean(&k.device));
        out.push_str(&format!(
            "\n\
                {tool}: {}\n\
                \x20 from {:.1} s to {:.1} s of the recording (found {found}), on {device}\n",
            words::clean(&m.workload.title()),
            run.from_s,
            run.to_s,
        ));
        let Some(agreement) = m.kernel.as_ref().and_then(|k| k.agreement.as_ref()) else {
            let text = "not compared: this I/O need not arrive at the device as it was issued";
            out.push_str(&wrap("  ", text, WIDTH));
            continue;
        };
        out.push_str(&wrap("  ", &words::clean(&agreement.explanation), WIDTH));
        let mut table = Table::new(1, &["", "tool", "system", "difference", "allowed", ""]);
        for row in &agreement.rows {
            let line = agreement::line(row);
            let mark = if line.beyond { "!" } else { "" };
            let cells = [line.tool, line.kernel, line.difference, line.allowed, mark.to_owned()];
            table.row(std::iter::once(line.figure.to_owned()).chain(cells).collect());
        }
        out.push_str(&table.show());
    }
    out
}

fn alerts(r: &Recording) -> String {
    let mut out = String::new();
    for alert in &r.alerts {
        if out.is_empty() {
            out.push_str("\nAlerts\n");
        }
        let count = match alert.times.len() {
            0 => "never".to_owned(),
            1 => "once".to_owned(),
            many => format!("{many} times"),
        };
        let text = format!("{}: {count}", words::clean(&alert.condition));
        out.push_str(&wrap("  - ", &text, WIDTH));
        for time in alert.times.iter().take(TIMES) {
            out.push_str(&wrap("      ", &alert_time(&alert.condition, time), WIDTH));
        }
        if alert.times.len() > TIMES {
            out.push_str(&format!("      and {} more\n", alert.times.len() - TIMES));
        }
    }
    out
}

/// When a condition held, and how bad it was.
pub(crate) fn alert_time(condition: &str, time: &AlertTime) -> String {
    let device = time.device.as_deref().map(words::clean);
    let device = device.map_or_else(String::new, |device| format!("{device}: "));
    let until = time.to_s.map_or_else(|| "the end".to_owned(), |to| format!("{to:.1} s"));
    let worst = show_figure(unit_of(condition), time.worst);
    format!("{device}from {:.1} s to {until}, at worst {worst}", time.from_s)
}

/// In what the figure of a condition is.
pub(crate) fn unit_of(condition: &str) -> Unit {
    let left = condition.split(['>', '<']).next().unwrap_or_default();
    let names = left.split([':', '.', ' ']).rev().filter(|word| !word.is_empty());
    let whole = std::iter::once(left.trim());
    let field = |name: &str| {
        let disk = counters::disk_field(name).map(|field| field.unit);
        disk.or_else(|| counters::system_field(name).map(|field| field.unit))
    };
    whole.chain(names).find_map(field).unwrap_or(Unit::Number)
}
