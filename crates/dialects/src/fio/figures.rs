//! The figures of a job.

use results::{Histogram, Latency, Statistics};

use super::document::{Direction, Job, Sync, Times};
use crate::identities::{Printed, PrintedFigures, PrintedRun};

const MIB: f64 = 1_048_576.0;

/// The figures of a job by direction.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) total: Statistics,
    pub(super) read: Statistics,
    pub(super) write: Statistics,
    pub(super) sync: Statistics,
}

/// A direction's latency as it is known.
#[derive(Debug, Clone, Default)]
struct DirectionLatency {
    count: u64,
    latency: Option<Latency>,
    histogram: Option<Histogram>,
}

/// The figures of a job, and what a reader must know of them.
pub(super) fn of(job: &Job, warnings: &mut Vec<String>) -> Figures {
    let mut figures = Figures::default();
    let mut known = Vec::new();
    for (direction, name, place) in [
        (&job.read, "reads", &mut figures.read),
        (&job.write, "writes", &mut figures.write),
        (&job.mixed, "I/Os", &mut figures.total),
    ] {
        let Some(direction) = direction.as_ref().filter(|d| d.total_ios > 0) else { continue };
        let latency = latency(direction, name, warnings);
        *place = statistics(direction, &latency);
        known.push(latency);
    }
    if job.mixed.as_ref().is_some_and(|d| d.total_ios > 0) {
        warnings.push("fio did not count reads and writes apart (unified_rw_reporting)".to_owned());
    } else {
        figures.total = sum(&figures.read, &figures.write, &known);
    }
    if job.trim.as_ref().is_some_and(|d| d.total_ios > 0) {
        warnings.push("the trims of the job are left out: iosonde has no word for them".to_owned());
    }
    figures.sync = job.sync.as_ref().map(|sync| flushes(sync, job.seconds())).unwrap_or_default();
    figures
}

/// The figures of a job as fio prints them. It counts I/Os when they are issued and bytes when they
/// are complete: `in_flight` bytes may be apart. Of a job that failed, more are.
pub(super) fn printed(job: &Job, in_flight_bytes: u64) -> PrintedRun {
    let of = |direction: &Option<Direction>| {
        let direction = direction.as_ref().filter(|d| d.total_ios > 0 && job.error == 0);
        direction.map(|d| d.printed(!job.counted, in_flight_bytes as f64)).unwrap_or_default()
    };
    let (total, read, write) = (of(&job.mixed), of(&job.read), of(&job.write));
    PrintedRun { total, read, write, ..PrintedRun::default() }
}

impl Direction {
    fn printed(&self, is_counted: bool, in_flight_bytes: f64) -> PrintedFigures {
        let json = || {
            let bw = self.bw_bytes.map(|bytes| Printed::within(bytes / MIB, 1.0 / MIB));
            let kib = self.bw.map(|kib| Printed::within(kib / 1024.0, 1.0 / 1024.0));
            let unit = if self.io_kbytes.is_some() { 0.0 } else { 1024.0 };
            PrintedFigures {
                seconds: None,
                ios: is_counted.then(|| Printed::count(self.total_ios)),
                bytes: Some(Printed::within(self.io_bytes as f64, unit)),
                iops: self.iops.and_then(|iops| Printed::text(&iops.0.to_string(), 1.0)),
                mib_per_s: bw.or(kib),
            }
        };
        let printed = self.printed.unwrap_or_else(json);
        let runtime = Printed::within(self.runtime as f64 / 1e3, 1e-3);
        let seconds = (self.runtime > 0).then_some(runtime);
        let in_flight_mib_per_s = seconds.map_or(0.0, |s| in_flight_bytes / MIB / s.value());
        PrintedFigures {
            seconds,
            bytes: printed.bytes.map(|bytes| bytes.or_within(in_flight_bytes)),
            mib_per_s: printed.mib_per_s.map(|mib| mib.or_within(in_flight_mib_per_s)),
            ..printed
        }
    }
}

/// Flushes; fio counts those that begin after a write among their times only.
fn flushes(sync: &Sync, seconds: f64) -> Statistics {
    let timed = sync.lat_ns.as_ref().and_then(|times| times.count).unwrap_or(0);
    let ios = sync.total_ios.max(timed);
    let known = sync.lat_ns.as_ref().map(|times| summary(times, times, ios)).unwrap_or_default();
    Statistics {
        ios,
        iops: if seconds > 0.0 { ios as f64 / seconds } else { 0.0 },
        latency_ns: known.latency,
        histogram: known.histogram.as_ref().map(Histogram::encode),
        ..Statistics::default()
    }
}

fn statistics(direction: &Direction, known: &DirectionLatency) -> Statistics {
    let seconds = direction.runtime as f64 / 1e3;
    let rate = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    Statistics {
        ios: direction.total_ios,
        bytes: direction.io_bytes,
        iops: direction.iops.map_or_else(|| rate(direction.total_ios as f64), |iops| iops.0),
        mib_per_s: rate(direction.io_bytes as f64 / MIB),
        latency_ns: known.latency,
        histogram: known.histogram.as_ref().map(Histogram::encode),
        ..Statistics::default()
    }
}

/// Adds the figures of reads and writes.
fn sum(read: &Statistics, write: &Statistics, known: &[DirectionLatency]) -> Statistics {
    let together = match known {
        [one] => one.clone(),
        [a, b] => merged(a, b),
        _ => DirectionLatency::default(),
    };
    Statistics {
        ios: read.ios.saturating_add(write.ios),
        bytes: read.bytes.saturating_add(write.bytes),
        iops: read.iops + write.iops,
        mib_per_s: read.mib_per_s + write.mib_per_s,
        latency_ns: together.latency,
        histogram: together.histogram.as_ref().map(Histogram::encode),
        ..Statistics::default()
    }
}

fn merged(one: &DirectionLatency, other: &DirectionLatency) -> DirectionLatency {
    let (Some(a), Some(b)) = (one.latency, other.latency) else {
        return DirectionLatency::default();
    };
    let (weight_a, weight_b) = (one.count as f64, other.count as f64);
    let all = (weight_a + weight_b).max(1.0);
    let mean = (a.mean * weight_a + b.mean * weight_b) / all;
    let part =
        |l: &Latency, stddev: f64, weight: f64| weight * (stddev.powi(2) + (l.mean - mean).powi(2));
    let histogram = one.histogram.clone().zip(other.histogram.as_ref()).map(|(mut sum, other)| {
        sum.merge(other);
        sum
    });
    let latency = Latency {
        min: a.min.zip(b.min).map(|(a, b)| a.min(b)),
        mean,
        stddev: a.stddev.zip(b.stddev).map(|(of_a, of_b)| {
            ((part(&a, of_a, weight_a) + part(&b, of_b, weight_b)) / all).sqrt()
        }),
        max: a.max.zip(b.max).map(|(a, b)| a.max(b)),
        ..histogram.as_ref().and_then(Latency::of).unwrap_or_default()
    };
    DirectionLatency {
        count: one.count.saturating_add(other.count),
        latency: Some(latency),
        histogram,
    }
}

/// Latency from the call to completion. fio has percentiles of that only if they were asked for;
/// otherwise percentiles from the end of submission are used.
fn latency(direction: &Direction, name: &str, warnings: &mut Vec<String>) -> DirectionLatency {
    let counted = |times: &&Times| times.count.unwrap_or(direction.total_ios) > 0;
    let whole = direction.lat_ns.as_ref().filter(counted);
    let completion = direction.clat_ns.as_ref().filter(counted);
    let detailed = |times: &&Times| times.percentile.is_some() || times.bins.is_some();
    let Some(summarised) = whole.or(completion) else { return DirectionLatency::default() };
    let detail = whole.filter(detailed).or(completion.filter(detailed)).unwrap_or(summarised);
    let mean = |times: &Times| times.mean.map(|mean| mean.0);
    let left_out = mean(summarised).zip(mean(detail)).map(|(all, part)| (all - part, all));
    if whole.is_none() {
        warnings.push(format!("the latencies of the {name} begin at the end of submission (clat)"));
    } else if let Some((left_out, _)) = left_out.filter(|(part, all)| *part > all / 100.0) {
        warnings.push(format!(
            "percentiles of the {name} begin at the end of submission (clat): a mean of {} µs \
             comes before that",
            round(left_out / 1e3)
        ));
    }
    summary(summarised, detail, direction.total_ios)
}

fn round(us: f64) -> f64 {
    if us < 10.0 { (us * 100.0).round() / 100.0 } else { us.round() }
}

/// Ends, mean and deviation of one distribution, percentiles of another.
fn summary(of: &Times, detail: &Times, ios: u64) -> DirectionLatency {
    let count = of.count.unwrap_or(ios);
    let Some(mean) = of.mean.filter(|_| count > 0) else { return DirectionLatency::default() };
    let histogram = detail.bins.as_ref().and_then(|bins| histogram(bins, count));
    let at = |percent: f64| {
        let found = detail
            .percentile
            .iter()
            .flatten()
            .find(|(name, _)| name.parse::<f64>().is_ok_and(|p| (p - percent).abs() < 1e-9));
        // The rule for all results: a percentile needs ten I/Os above it.
        let supported = count as f64 * (100.0 - percent) / 100.0 >= 10.0 - 1e-6;
        found.filter(|_| supported).map(|(_, value)| ns(value.0))
    };
    let from_bins = histogram.as_ref().and_then(Latency::of).unwrap_or_default();
    let latency = Latency {
        min: of.min.map(|min| ns(min.0)),
        mean: mean.0,
        stddev: of.stddev.map(|stddev| stddev.0),
        max: of.max.map(|max| ns(max.0)),
        p50: at(50.0).or(from_bins.p50),
        p90: at(90.0).or(from_bins.p90),
        p95: at(95.0).or(from_bins.p95),
        p99: at(99.0).or(from_bins.p99),
        p99_9: at(99.9).or(from_bins.p99_9),
        p99_99: at(99.99).or(from_bins.p99_99),
        p99_999: at(99.999).or(from_bins.p99_999),
    };
    DirectionLatency { count, latency: Some(latency), histogram }
}

/// The bins as a histogram; `None` if they do not hold every I/O.
fn histogram(bins: &std::collections::BTreeMap<u64, u64>, count: u64) -> Option<Histogram> {
    let held = bins.values().try_fold(0_u64, |sum, n| sum.checked_add(*n))?;
    // Beyond 2^53 nobody counted.
    if held != count || held > 1 << 53 {
        return None;
    }
    let mut histogram = Histogram::new();
    for (value, n) in bins {
        histogram.record_many(*value, *n);
    }
    Some(histogram)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn ns(value: f64) -> u64 {
    value.round() as u64
}
