//! What the operating system counted in a window, as `iosonde monitor` shows it.

use counters::{DISK_FIELDS, DiskTally, Field, SYSTEM_FIELDS, Span, SystemTally, Unit};
use results::{RecordedRow, show_figure};
use workload::show_number;

use super::layout::Table;
use crate::{databases, words};

/// The columns of a device in a window.
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
/// The same where databases are next to the devices: their syncs are what flushes are to a device.
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
/// The most objects of databases in a window, besides the sum.
const OBJECTS: usize = 4;
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
    let columns: &'static [&'static str] = if rows.is_empty() { &COLUMNS } else { &BESIDE };
    let mut heading = vec!["device"];
    heading.extend(chosen(columns, &DISK_FIELDS).map(|field| field.short));
    let mut table = Table::new(1, &heading);
    let mut idle = 0_usize;
    for (name, tally) in disks {
        if tally.is_idle() && disks.len() > FEW {
            idle += 1;
            continue;
        }
        let cells = chosen(columns, &DISK_FIELDS).map(|f| cell(f.unit, f.of(tally, span)));
        table.row(std::iter::once(words::clean(name)).chain(cells).collect());
    }
    let shown = databases::busiest(rows, OBJECTS);
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

/// The figure of a database that is in the column of a device's.
fn as_sync(name: &str) -> &str {
    match name {
        "flushes_per_s" => "syncs_per_s",
        "flush_latency_ns" => "sync_latency_ns",
        name => name,
    }
}
