//! Figures of rows, in iosonde's words and units.

use jiff::SignedDuration;
use jiff::civil::DateTime;
use results::{Latency, Point, Statistics};

use super::{Column, ResultRow};
use crate::identities::{Printed, PrintedFigures};

/// The columns of one kind of I/O.
pub(super) struct Kind {
    ios: &'static [Column],
    bytes: &'static [Column],
    iops: Column,
    mib_per_s: Column,
    mb_per_s: Column,
    errors: Column,
    mean_ms: Column,
    max_ms: Column,
}

pub(super) const TOTAL: Kind = Kind {
    ios: &[Column::Reads, Column::Writes],
    bytes: &[Column::BytesRead, Column::BytesWritten],
    iops: Column::Iops,
    mib_per_s: Column::MibPerS,
    mb_per_s: Column::MbPerS,
    errors: Column::Errors,
    mean_ms: Column::MeanMs,
    max_ms: Column::MaxMs,
};

pub(super) const READ: Kind = Kind {
    ios: &[Column::Reads],
    bytes: &[Column::BytesRead],
    iops: Column::ReadIops,
    mib_per_s: Column::ReadMibPerS,
    mb_per_s: Column::ReadMbPerS,
    errors: Column::ReadErrors,
    mean_ms: Column::ReadMeanMs,
    max_ms: Column::ReadMaxMs,
};

pub(super) const WRITE: Kind = Kind {
    ios: &[Column::Writes],
    bytes: &[Column::BytesWritten],
    iops: Column::WriteIops,
    mib_per_s: Column::WriteMibPerS,
    mb_per_s: Column::WriteMbPerS,
    errors: Column::WriteErrors,
    mean_ms: Column::WriteMeanMs,
    max_ms: Column::WriteMaxMs,
};

pub(super) fn count(row: &ResultRow, column: Column) -> u64 {
    row.count(column).unwrap_or(0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn ns(ms: f64) -> u64 {
    (ms * 1e6).round() as u64
}

pub(super) fn statistics(row: &ResultRow, kind: &Kind) -> Statistics {
    let sum = |columns: &[Column]| {
        columns.iter().fold(0u64, |sum, column| sum.saturating_add(count(row, *column)))
    };
    let ios = sum(kind.ios);
    let decimal = row.figure(kind.mb_per_s).map(|mb| mb * 1e6 / 1_048_576.0);
    let mean = row.figure(kind.mean_ms).filter(|_| ios > 0);
    let latency_ns = mean.map(|mean| Latency {
        mean: mean * 1e6,
        max: row.figure(kind.max_ms).map(ns),
        ..Latency::default()
    });
    Statistics {
        ios,
        bytes: sum(kind.bytes),
        iops: row.figure(kind.iops).unwrap_or(0.0),
        mib_per_s: row.figure(kind.mib_per_s).or(decimal).unwrap_or(0.0),
        errors: count(row, kind.errors),
        latency_ns,
        ..Statistics::default()
    }
}

/// What a row says about one kind of I/O, as printed; the counts of both kinds are not.
pub(super) fn printed(row: &ResultRow, kind: &Kind) -> PrintedFigures {
    let count = |columns: &[Column]| match columns {
        [one] => row.count(*one).map(Printed::count),
        _ => None,
    };
    let figure = |column| row.figure(column).and_then(|n| Printed::text(&n.to_string(), 1.0));
    let decimal =
        row.figure(kind.mb_per_s).and_then(|n| Printed::text(&n.to_string(), 1e6 / 1_048_576.0));
    PrintedFigures {
        seconds: None,
        ios: count(kind.ios),
        bytes: count(kind.bytes),
        iops: figure(kind.iops),
        mib_per_s: figure(kind.mib_per_s).or(decimal),
    }
}

/// Several rows as one: rates and counts add up, and means weigh as many I/Os as they are of.
pub(super) fn together(parts: &[Statistics]) -> Statistics {
    let mut sum = Statistics::default();
    let mut weighed = 0.0;
    for part in parts {
        sum.ios = sum.ios.saturating_add(part.ios);
        sum.bytes = sum.bytes.saturating_add(part.bytes);
        sum.iops += part.iops;
        sum.mib_per_s += part.mib_per_s;
        sum.errors = sum.errors.saturating_add(part.errors);
        if let Some(latency) = part.latency_ns {
            weighed += latency.mean * part.ios as f64;
            let all = sum.latency_ns.get_or_insert_default();
            all.max = all.max.max(latency.max);
        }
    }
    if let Some(latency) = &mut sum.latency_ns {
        latency.mean = weighed / (sum.ios as f64).max(1.0);
    }
    sum
}

/// Adds a worker's figures to those of the others in the interval.
pub(super) fn add(point: &mut Point, row: &ResultRow) {
    let figure = |column| row.figure(column).unwrap_or(0.0);
    let mean = |before: Option<f64>, rate: f64, column, own: f64| {
        let here = row.figure(column).filter(|_| own > 0.0).map(|ms| ms * 1e6);
        match (before, here) {
            (Some(before), Some(here)) => Some((before * rate + here * own) / (rate + own)),
            (before, here) => before.or(here),
        }
    };
    let (reads, writes) = (figure(Column::ReadIops), figure(Column::WriteIops));
    point.read_mean_ns = mean(point.read_mean_ns, point.read_iops, Column::ReadMeanMs, reads);
    point.write_mean_ns = mean(point.write_mean_ns, point.write_iops, Column::WriteMeanMs, writes);
    point.read_iops += reads;
    point.write_iops += writes;
    point.read_mib_per_s += figure(Column::ReadMibPerS);
    point.write_mib_per_s += figure(Column::WriteMibPerS);
    point.max_ns = point.max_ns.max(row.figure(Column::MaxMs).map(ns));
    point.errors = point.errors.saturating_add(count(row, Column::Errors));
}

/// The bins in words, and the I/Os that are in no bin: IOMeter never fills the last.
pub(super) fn bins(all: &ResultRow) -> Vec<String> {
    let counts: Vec<(Column, u64)> =
        Column::BINS.into_iter().filter_map(|c| Some((c, all.count(c)?))).collect();
    if counts.is_empty() {
        return Vec::new();
    }
    let in_bins = counts.iter().fold(0u64, |sum, (_, n)| sum.saturating_add(*n));
    let ios = count(all, Column::Reads).saturating_add(count(all, Column::Writes));
    let word = |(column, n): &(Column, u64)| format!("{} {n}", column.title().trim());
    let words: Vec<String> = counts.iter().filter(|(_, n)| *n > 0).map(word).collect();
    let mut said = vec![format!("latencies in IOMeter's bins: {}", words.join(", "))];
    if ios > in_bins {
        said.push(format!(
            "{} I/Os are in none of IOMeter's bins: they took 10 s or more",
            ios - in_bins
        ));
    }
    said
}

/// A time as IOMeter writes it: a colon is before the milliseconds.
pub(super) fn moment(stamp: &str) -> Option<DateTime> {
    let (seconds, _) =
        stamp.trim().rsplit_once(':').filter(|(s, _)| s.matches(':').count() == 2)?;
    let at: DateTime = seconds.parse().ok()?;
    let milliseconds: i64 =
        stamp.trim().rsplit(':').next()?.parse().ok().filter(|n| (0..1000).contains(n))?;
    at.checked_add(SignedDuration::from_millis(milliseconds)).ok()
}
