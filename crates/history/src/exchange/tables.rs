//! The tables that are exported: every measurement with the columns of its figures, the same with
//! the columns of SQLIO's tools, and the points of the series.

use std::sync::LazyLock;

use results::{
    FIGURES, FigureField, FigureKind, FigureType as _, FigureValue, Load, Measurement, Point,
};
use workload::PatternKind;

use super::columns::{Column, kind_of};
use crate::points::with_point_columns;

/// A point of a measurement's series.
#[derive(Debug, Clone)]
pub(crate) struct SeriesRow {
    measurement_id: String,
    experiment_id: String,
    cell: u32,
    part: String,
    point: Point,
}

impl SeriesRow {
    /// The points of a measurement: those of the beginning that was left out, then those of the
    /// window.
    pub(crate) fn all<'a>(
        measurement: &'a Measurement,
        experiment_id: &'a str,
        cell: u32,
    ) -> impl Iterator<Item = Self> + 'a {
        let row = move |part: &str, p: &Point| Self {
            measurement_id: measurement.id.clone(),
            experiment_id: experiment_id.to_owned(),
            cell,
            part: part.to_owned(),
            point: *p,
        };
        let warmup = measurement.warmup_series.iter().map(move |p| row("warmup", p));
        warmup.chain(measurement.series.iter().map(move |p| row("window", p)))
    }
}

/// Every measurement: the figures that have a column.
pub(crate) static LOADS: LazyLock<Vec<Column<Load>>> = LazyLock::new(|| {
    let column = |figure: &FigureField| {
        Some(Column { name: figure.key, kind: figure.kind, of: figure.column? })
    };
    FIGURES.iter().filter_map(column).collect()
});

/// Nanoseconds as milliseconds, in which SQLIO reports latencies.
fn ms(ns: Option<f64>) -> FigureValue<'static> {
    ns.filter(|ns| ns.is_finite()).map_or(FigureValue::Absent, |ns| FigureValue::Real(ns / 1e6))
}

fn kind(load: &Load) -> FigureValue<'_> {
    match load.write_percent {
        None => FigureValue::Absent,
        Some(0) => FigureValue::Text("R".into()),
        Some(100) => FigureValue::Text("W".into()),
        Some(percent) => FigureValue::Text(format!("W{percent}").into()),
    }
}

fn stripe(load: &Load) -> FigureValue<'_> {
    let order = PatternKind::of_word(&load.pattern);
    let sequential = order.is_some_and(PatternKind::is_sequential);
    FigureValue::Text(if sequential { "sequential".into() } else { load.pattern.as_str().into() })
}

/// One column under a name of SQLIO's tools.
const fn sqlio(
    name: &'static str,
    kind: FigureKind,
    of: fn(&Load) -> FigureValue<'_>,
) -> Column<Load> {
    Column { name, kind, of }
}

/// Every measurement with the columns that scripts around SQLIO use, under their names: KiB,
/// milliseconds.
pub(crate) const SQLIO: &[Column<Load>] = &[
    sqlio("Kind", FigureKind::Text, kind),
    sqlio("Threads", FigureKind::Whole, |l| l.threads.value()),
    sqlio("Seconds", FigureKind::Real, |l| l.seconds.value()),
    sqlio("Drive", FigureKind::Text, |l| l.target.value()),
    sqlio("Stripe", FigureKind::Text, stripe),
    sqlio("Outstanding", FigureKind::Whole, |l| l.depth.value()),
    sqlio("Size", FigureKind::Real, |l| match l.block_bytes {
        Some(bytes) => FigureValue::Real(bytes as f64 / 1024.0),
        None => FigureValue::Absent,
    }),
    sqlio("IOs", FigureKind::Real, |l| l.iops.value()),
    sqlio("MBs", FigureKind::Real, |l| l.mib_per_s.value()),
    sqlio("Latency_min", FigureKind::Real, |l| ms(l.latency_min_ns.map(|ns| ns as f64))),
    sqlio("Latency_avg", FigureKind::Real, |l| ms(l.latency_mean_ns)),
    sqlio("Latency_max", FigureKind::Real, |l| ms(l.latency_max_ns.map(|ns| ns as f64))),
];

/// The columns of the row itself, then those of the point in it.
macro_rules! series_columns {
    ($($own:ident),*; $($name:ident),*) => {
        &[
            $(Column {
                name: stringify!($own),
                kind: kind_of::<SeriesRow, _>(|row| &row.$own),
                of: |row| row.$own.value(),
            },)*
            $(Column {
                name: stringify!($name),
                kind: kind_of::<SeriesRow, _>(|row| &row.point.$name),
                of: |row| row.point.$name.value(),
            },)*
        ]
    };
}

/// Columns of the table with every point of every series.
pub(crate) const SERIES: &[Column<SeriesRow>] =
    with_point_columns!(series_columns!(measurement_id, experiment_id, cell, part;));
