//! The tables that are exported: every measurement with the columns of [`Load`], the same with the columns of SQLIO's
//! tools, and the points of the series.

use std::borrow::Cow;

use results::{Measurement, Point, Status};
use workload::PatternKind;

use super::columns::{Column, Field, Shown, Type, columns};
use crate::Load;
use crate::record::status_name;

/// A point of a measurement's series.
#[derive(Debug, Clone)]
pub(crate) struct SeriesRow {
    measurement_id: String,
    experiment_id: String,
    cell: u32,
    part: &'static str,
    t: f64,
    seconds: f64,
    read_iops: f64,
    write_iops: f64,
    read_mib_per_s: f64,
    write_mib_per_s: f64,
    read_mean_ns: Option<f64>,
    write_mean_ns: Option<f64>,
    read_p99_ns: Option<u64>,
    write_p99_ns: Option<u64>,
    max_ns: Option<u64>,
    errors: u64,
}

impl SeriesRow {
    /// The points of a measurement: those of the beginning that was left out, then those of the window.
    pub(crate) fn all<'a>(
        measurement: &'a Measurement,
        experiment_id: &'a str,
        cell: u32,
    ) -> impl Iterator<Item = Self> + 'a {
        let row = move |part: &'static str, p: &Point| Self {
            measurement_id: measurement.id.clone(),
            experiment_id: experiment_id.to_owned(),
            cell,
            part,
            t: p.t,
            seconds: p.seconds,
            read_iops: p.read_iops,
            write_iops: p.write_iops,
            read_mib_per_s: p.read_mib_per_s,
            write_mib_per_s: p.write_mib_per_s,
            read_mean_ns: p.read_mean_ns,
            write_mean_ns: p.write_mean_ns,
            read_p99_ns: p.read_p99_ns,
            write_p99_ns: p.write_p99_ns,
            max_ns: p.max_ns,
            errors: p.errors,
        };
        let warmup = measurement.warmup_series.iter().map(move |p| row("warmup", p));
        warmup.chain(measurement.series.iter().map(move |p| row("window", p)))
    }
}

impl Shown for Status {
    const TYPE: Type = Type::Text;
    fn shown(&self) -> Field<'_> {
        Field::Text(Cow::Borrowed(status_name(*self)))
    }
}

/// Every measurement.
pub(crate) const LOADS: &[Column<Load>] = columns!(Load;
    measurement_id, experiment_id, kind, cell, started(moment), status, tool_version, host, target, device, engine, load,
    conditions_id, pattern, write_percent, block_bytes, threads, depth, in_flight, achieved_in_flight, file_bytes, direct,
    durable, seconds, ios, bytes, iops, mib_per_s, read_iops, write_iops, latency_min_ns, latency_mean_ns,
    latency_stddev_ns, latency_p50_ns, latency_p90_ns, latency_p95_ns, latency_p99_ns, latency_p99_9_ns,
    latency_p99_99_ns, latency_p99_999_ns, latency_max_ns, read_latency_mean_ns, write_latency_mean_ns, errors,
    cpu_us_per_io,
);

/// Milliseconds, as SQLIO gives latencies.
fn ms(ns: Option<f64>) -> Field<'static> {
    ns.filter(|ns| ns.is_finite()).map_or(Field::Absent, |ns| Field::Real(ns / 1e6))
}

fn kind(load: &Load) -> Field<'_> {
    match load.write_percent {
        None => Field::Absent,
        Some(0) => Field::Text("R".into()),
        Some(100) => Field::Text("W".into()),
        Some(percent) => Field::Text(format!("W{percent}").into()),
    }
}

fn stripe(load: &Load) -> Field<'_> {
    let order = PatternKind::of_word(&load.pattern);
    let sequential = order.is_some_and(PatternKind::is_sequential);
    Field::Text(if sequential { "sequential".into() } else { load.pattern.as_str().into() })
}

/// One column under a name of SQLIO's tools.
const fn sqlio(name: &'static str, holds: Type, of: fn(&Load) -> Field<'_>) -> Column<Load> {
    Column { name, holds, of }
}

/// Every measurement with the columns that scripts around SQLIO use, under their names: KiB, milliseconds.
pub(crate) const SQLIO: &[Column<Load>] = &[
    sqlio("Kind", Type::Text, kind),
    sqlio("Threads", Type::Whole, |l| l.threads.shown()),
    sqlio("Seconds", Type::Real, |l| l.seconds.shown()),
    sqlio("Drive", Type::Text, |l| l.target.shown()),
    sqlio("Stripe", Type::Text, stripe),
    sqlio("Outstanding", Type::Whole, |l| l.depth.shown()),
    sqlio("Size", Type::Real, |l| match l.block_bytes {
        Some(bytes) => Field::Real(bytes as f64 / 1024.0),
        None => Field::Absent,
    }),
    sqlio("IOs", Type::Real, |l| l.iops.shown()),
    sqlio("MBs", Type::Real, |l| l.mib_per_s.shown()),
    sqlio("Latency_min", Type::Real, |l| ms(l.latency_min_ns.map(|ns| ns as f64))),
    sqlio("Latency_avg", Type::Real, |l| ms(l.latency_mean_ns)),
    sqlio("Latency_max", Type::Real, |l| ms(l.latency_max_ns.map(|ns| ns as f64))),
];

/// Every point of every series.
pub(crate) const SERIES: &[Column<SeriesRow>] = columns!(SeriesRow;
    measurement_id, experiment_id, cell, part, t, seconds, read_iops, write_iops, read_mib_per_s, write_mib_per_s,
    read_mean_ns, write_mean_ns, read_p99_ns, write_p99_ns, max_ns, errors,
);
