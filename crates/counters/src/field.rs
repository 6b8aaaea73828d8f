//! The figures that are shown of a window, in one table: their names, what Performance Monitor
//! calls them, their units and formulas. Texts, CSV, JSON, OpenMetrics, reports and alerts all read
//! it.
//!
//! Notation in the formulas: D is what a counter advanced by, dt the length of the window in
//! seconds.

use crate::tally::{DiskTally, SystemTally};
use crate::unreported::Amount;

/// The window that amounts are of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Length of the window in seconds.
    pub seconds: f64,
    /// Readings in it of what has a value at each moment, such as the queue; 1 for a window between
    /// two samples.
    pub readings: u32,
}

/// What the values of a figure are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Events, per second.
    PerSecond,
    /// An amount of bytes.
    Bytes,
    /// Bytes, per second.
    BytesPerSecond,
    /// A time in nanoseconds.
    Nanoseconds,
    /// A number without a unit.
    Number,
    /// A share in percent.
    Percent,
}

/// A figure of amounts of one kind.
#[derive(Debug)]
pub struct Field<T> {
    /// Its name in JSON, CSV and alerts, the unit last: `read_latency_ns`.
    pub name: &'static str,
    /// Its heading in a narrow table: `r lat`.
    pub short: &'static str,
    /// Its heading where there is room: `Read latency`.
    pub title: &'static str,
    /// What Performance Monitor calls it; absent if it has no such counter.
    pub perfmon: Option<&'static str>,
    /// What its values are counted in.
    pub unit: Unit,
    /// The formula it is computed by.
    pub formula: &'static str,
    of: fn(&T, Span) -> Option<f64>,
}

impl<T> Field<T> {
    /// The figure; `None` if there is nothing to say, as of the latency of no I/O, which is never
    /// 0.
    #[must_use]
    pub fn of(&self, amounts: &T, span: Span) -> Option<f64> {
        (self.of)(amounts, span).filter(|figure| figure.is_finite())
    }

    /// Its name without the unit: `read_latency`.
    #[must_use]
    pub fn bare_name(&self) -> &'static str {
        let suffix = match self.unit {
            Unit::Nanoseconds => "_ns",
            Unit::Bytes => "_bytes",
            Unit::PerSecond => "_per_s",
            Unit::BytesPerSecond => "_bytes_per_s",
            Unit::Percent => "_percent",
            Unit::Number => "",
        };
        self.name.strip_suffix(suffix).unwrap_or(self.name)
    }
}

fn rate_of(disk: &DiskTally, amount: Amount, span: Span) -> Option<f64> {
    rate(disk.reported(amount)?, span)
}

fn rate(amount: u64, span: Span) -> Option<f64> {
    (span.seconds > 0.0).then(|| amount as f64 / span.seconds)
}

fn each(amount: u64, events: u64) -> Option<f64> {
    (events > 0).then(|| amount as f64 / events as f64)
}

/// `None` if the time is below what the counter resolves, so never 0.
fn latency(ns: u64, events: u64) -> Option<f64> {
    each(ns, events).filter(|ns| *ns > 0.0)
}

/// The same of a time in milliseconds.
fn latency_ms(ms: u64, events: u64) -> Option<f64> {
    each(ms, events).filter(|ms| *ms > 0.0).map(|ms| ms * 1e6)
}

fn latency_of(disk: &DiskTally, time: Amount, events: Amount) -> Option<f64> {
    latency(disk.reported(time)?, disk.reported(events)?)
}

fn each_of(disk: &DiskTally, amount: Amount, events: Amount) -> Option<f64> {
    each(disk.reported(amount)?, disk.reported(events)?)
}

fn busy(disk: &DiskTally, span: Span) -> Option<f64> {
    // The counter and the clock are not read in the same instant; 100.2 would only confuse.
    rate_of(disk, Amount::Busy, span).map(|ms| (ms / 10.0).min(100.0))
}

fn reading(sum: u64, span: Span) -> Option<f64> {
    (span.readings > 0).then(|| sum as f64 / f64::from(span.readings))
}

fn held_up(us: Option<u64>, span: Span) -> Option<f64> {
    rate(us?, span).map(|us| (us / 1e4).min(100.0))
}

macro_rules! field {
    ($name:literal, $short:literal, $title:literal, $perfmon:expr, $unit:ident, $formula:literal,
        $of:expr) => {
        Field {
            name: $name,
            short: $short,
            title: $title,
            perfmon: $perfmon,
            unit: Unit::$unit,
            formula: $formula,
            of: $of,
        }
    };
}

/// The figures of a block device. The first six are those that every baseline needs.
#[rustfmt::skip]
pub static DISK_FIELDS: [Field<DiskTally>; 23] = [
    field!("reads_per_s", "r/s", "Reads", Some("Disk Reads/sec"), PerSecond,
        "D reads / dt", |d, s| rate_of(d, Amount::Reads, s)),
    field!("writes_per_s", "w/s", "Writes", Some("Disk Writes/sec"), PerSecond,
        "D writes / dt", |d, s| rate_of(d, Amount::Writes, s)),
    field!("read_latency_ns", "r lat", "Read latency", Some("Avg. Disk sec/Read"), Nanoseconds,
        "D read time / D reads; nothing where nothing was \
            read", |d, _| latency_of(d, Amount::ReadTime, Amount::Reads)),
    field!("write_latency_ns", "w lat", "Write latency", Some("Avg. Disk sec/Write"), Nanoseconds,
        "D write time / D writes; nothing where nothing was \
            written", |d, _| latency_of(d, Amount::WriteTime, Amount::Writes)),
    field!("read_size_bytes", "r size", "Read size", Some("Avg. Disk Bytes/Read"), Bytes,
        "D bytes read / D reads", |d, _| each_of(d, Amount::ReadBytes, Amount::Reads)),
    field!("write_size_bytes", "w size", "Write size", Some("Avg. Disk Bytes/Write"), Bytes,
        "D bytes written / D writes", |d, _| each_of(d, Amount::WrittenBytes, Amount::Writes)),
    field!("read_bytes_per_s", "rMiB/s", "Read \
        throughput", Some("Disk Read Bytes/sec"), BytesPerSecond,
        "D bytes read / dt", |d, s| rate_of(d, Amount::ReadBytes, s)),
    field!("write_bytes_per_s", "wMiB/s", "Write \
        throughput", Some("Disk Write Bytes/sec"), BytesPerSecond,
        "D bytes written / dt", |d, s| rate_of(d, Amount::WrittenBytes, s)),
    field!("average_queue", "queue", "Average queue", Some("Avg. Disk Queue Length"), Number,
        "D time of all I/Os in flight / dt",
        |d, s| rate_of(d, Amount::Queue, s).map(|ms| ms / 1e3)),
    field!("current_queue", "now", "Current queue", Some("Current Disk Queue Length"), Number,
        "I/Os in flight at the end of the window; the mean of \
            several", |d, s| reading(d.reported(Amount::InFlight)?, s)),
    field!("idle_percent", "idle", "Idle", Some("% Idle Time"), Percent,
        "100 - busy", |d, s| busy(d, s).map(|percent| 100.0 - percent)),
    field!("busy_percent", "busy", "Busy", None, Percent,
        "100 x D time with an I/O in flight / dt, at most 100", busy),
    field!("splits_per_s", "split/s", "Splits", Some("Split IO/Sec"), PerSecond,
        "(D I/Os and merges of the devices below - D I/Os) / dt; device mapper \
            only", |d, s| rate(d.splits?, s)),
    field!("read_merges_per_s", "rmrg/s", "Read merges", None, PerSecond,
        "D reads joined / dt", |d, s| rate_of(d, Amount::ReadMerges, s)),
    field!("write_merges_per_s", "wmrg/s", "Write merges", None, PerSecond,
        "D writes joined / dt", |d, s| rate_of(d, Amount::WriteMerges, s)),
    field!("flushes_per_s", "f/s", "Flushes", None, PerSecond,
        "D flushes / dt", |d, s| rate(d.flushes?, s)),
    field!("flush_latency_ns", "f lat", "Flush latency", None, Nanoseconds,
        "D flush time / D flushes", |d, _| latency_ms(d.flush_ms, d.flushes?)),
    field!("discards_per_s", "d/s", "Discards", None, PerSecond,
        "D discards / dt", |d, s| rate(d.discards?, s)),
    field!("discard_bytes_per_s", "dMiB/s", "Discard throughput", None, BytesPerSecond,
        "D bytes discarded / dt", |d, s| d.discards.and_then(|_| rate(d.discarded_bytes, s))),
    field!("discard_latency_ns", "d lat", "Discard latency", None, Nanoseconds,
        "D discard time / D discards", |d, _| latency_ms(d.discard_ms, d.discards?)),
    field!("transfers_per_s", "io/s", "Transfers", Some("Disk Transfers/sec"), PerSecond,
        "(D reads + D writes) / dt", |d, s| rate(d.all_transfers()?, s)),
    field!("transfer_latency_ns", "lat", "Latency", Some("Avg. Disk sec/Transfer"), Nanoseconds,
        "(D read time + D write time) / (D reads + D writes)",
        |d, _| latency(d.all_time_ns()?, d.all_transfers()?)),
    field!("bytes_per_s", "MiB/s", "Throughput", Some("Disk Bytes/sec"), BytesPerSecond,
        "(D bytes read + D bytes written) / \
            dt", |d, s| rate(d.all_bytes()?, s)),
];

/// The figures of the host as a whole, in the order of tables.
#[rustfmt::skip]
pub static SYSTEM_FIELDS: [Field<SystemTally>; 12] = [
    field!("cpu_percent", "cpu", "CPU", Some("% Processor Time"), Percent,
        "100 x D busy ticks / D ticks of all processors; steal \
            counts", |t, _| t.cpu.percent(t.cpu.busy_ticks)),
    field!("iowait_percent", "iowait", "CPU waiting for I/O", None, Percent,
        "100 x D iowait ticks / D ticks", |t, _| t.cpu.percent(t.cpu.iowait_ticks?)),
    field!("steal_percent", "steal", "CPU given to other guests", None, Percent,
        "100 x D steal ticks / D ticks", |t, _| t.cpu.percent(t.cpu.steal_ticks?)),
    field!("io_some_percent", "io some", "Something waits for I/O", None, Percent,
        "100 x D stalled time / dt (PSI io some)", |t, s| held_up(t.pressure.io_some_us, s)),
    field!("io_full_percent", "io full", "Everything waits for I/O", None, Percent,
        "100 x D stalled time / dt (PSI io full)", |t, s| held_up(t.pressure.io_full_us, s)),
    field!("memory_some_percent", "mem some", "Something waits for memory", None, Percent,
        "100 x D stalled time / dt (PSI memory \
            some)", |t, s| held_up(t.pressure.memory_some_us, s)),
    field!("memory_full_percent", "mem full", "Everything waits for memory", None, Percent,
        "100 x D stalled time / dt (PSI memory \
            full)", |t, s| held_up(t.pressure.memory_full_us, s)),
    field!("cpu_some_percent", "cpu some", "Something waits for a CPU", None, Percent,
        "100 x D stalled time / dt (PSI cpu some)", |t, s| held_up(t.pressure.cpu_some_us, s)),
    field!("dirty_bytes", "dirty", "Dirty page cache", None, Bytes,
        "at the end of the window; the mean of several", |t, s| reading(t.cache.dirty_bytes?, s)),
    field!("write_back_bytes", "wback", "Page cache being written", None, Bytes,
        "at the end of the window; the mean of \
            several", |t, s| reading(t.cache.write_back_bytes?, s)),
    field!("dirtied_bytes_per_s", "dirtied", "Changed in the page cache", None, BytesPerSecond,
        "D pages x page size / dt", |t, s| rate(t.cache.dirtied_bytes?, s)),
    field!("written_back_bytes_per_s", "written", "Written by the page cache", None, BytesPerSecond,
        "D pages x page size / dt", |t, s| rate(t.cache.written_back_bytes?, s)),
];

/// The field of a device by its name, with or without its unit, or by the name that Performance
/// Monitor has for it.
#[must_use]
pub fn disk_field(name: &str) -> Option<&'static Field<DiskTally>> {
    named(&DISK_FIELDS, name)
}

/// The figure of the host with this name, if there is one.
#[must_use]
pub fn system_field(name: &str) -> Option<&'static Field<SystemTally>> {
    named(&SYSTEM_FIELDS, name)
}

fn named<'a, T>(fields: &'a [Field<T>], name: &str) -> Option<&'a Field<T>> {
    let known = |field: &&Field<T>| {
        let perfmon = field.perfmon.is_some_and(|perfmon| perfmon.eq_ignore_ascii_case(name));
        field.name == name || field.bare_name() == name || perfmon
    };
    // A whole name comes before one without its unit.
    fields.iter().find(|field| field.name == name).or_else(|| fields.iter().find(known))
}
