//! The figures of a replay become the words of its document.

use std::path::PathBuf;

use replay::{CLASSES, Contents, MapKind, Mode, SETS};
use results::{
    CapturedLatency, CapturedOp, Histogram, ReplayMap, ReplayPoint, ReplayResult, ReplayTiming,
    ReplayedClass,
};

use super::perform::{Manner, Performed};
use crate::capture::op;

/// Shares at which two distributions of latency are compared.
const COMPARED: usize = 100;

pub(super) fn mode(timing: ReplayTiming) -> Mode {
    match timing {
        ReplayTiming::AsTimed => Mode::AsTimed,
        ReplayTiming::Closed => Mode::Closed,
        ReplayTiming::Dependent => Mode::Dependent,
    }
}

pub(super) fn map_kind(map: ReplayMap) -> MapKind {
    match map {
        ReplayMap::Identity => MapKind::Identity,
        ReplayMap::Compact => MapKind::Compact,
        ReplayMap::Stretched => MapKind::Stretched,
        ReplayMap::Folded => MapKind::Folded,
    }
}

/// The word for a set of I/Os.
pub(crate) fn set(index: usize) -> CapturedOp {
    match CLASSES.get(index) {
        Some(class) => op(*class),
        None => CapturedOp::LogWrite,
    }
}

/// The figures of a histogram; `None` if it is empty.
pub(crate) fn latency(histogram: &Histogram) -> Option<CapturedLatency> {
    let at = |q| histogram.quantile(q);
    Some(CapturedLatency {
        ios: histogram.count(),
        mean: histogram.mean()?,
        p50: at(0.5)?,
        p90: at(0.9)?,
        p99: at(0.99)?,
        p99_9: at(0.999)?,
        max: histogram.max()?,
    })
}

/// The root mean square of the differences of the quantiles, divided by the mean of the first.
/// After Ruemmler and Wilkes, "An introduction to disk drive modeling" (1994).
pub(crate) fn demerit(recorded: &Histogram, replayed: &Histogram) -> Option<f64> {
    let mean = recorded.mean().filter(|mean| *mean > 0.0)?;
    let mut squares = 0.0;
    for step in 0..COMPARED {
        let q = (step as f64 + 0.5) / COMPARED as f64;
        let difference = recorded.quantile(q)? as f64 - replayed.quantile(q)? as f64;
        squares += difference * difference;
    }
    Some((squares / COMPARED as f64).sqrt() / mean)
}

/// What came of a replay on one target.
pub(super) fn result(
    (target, map): (PathBuf, ReplayMap),
    contents: &Contents,
    manner: &Manner,
    performed: &Performed,
) -> ReplayResult {
    let figures = &performed.figures;
    let speed = manner.selection.speed;
    let span_s = contents.span_at(speed) as f64 / 1e9;
    let class = |index: usize| {
        let (class, recorded) = (&figures.classes[index], &contents.latencies[index]);
        (contents.counts[index] > 0).then(|| ReplayedClass {
            kind: set(index),
            ios: class.ios,
            bytes: class.bytes,
            recorded_ns: latency(recorded),
            due_ns: latency(&class.from_due),
            issue_ns: latency(&class.from_issue),
            demerit: demerit(recorded, &class.from_due),
        })
    };
    let is_whole = !figures.ended_early && manner.at_most_ns == u64::MAX;
    let width_s = figures.interval_ns as f64 / 1e9;
    let point = |(index, interval): (usize, &replay::Interval)| ReplayPoint {
        t: index as f64 * width_s,
        seconds: width_s,
        ios: interval.ios,
        mean_ns: (interval.ios > 0).then(|| interval.sum_ns as f64 / interval.ios as f64),
        max_ns: (interval.ios > 0).then_some(interval.max_ns),
    };
    ReplayResult {
        target,
        backend: performed.backend.to_owned(),
        map,
        touched_bytes: contents.touched_bytes(),
        target_bytes: performed.target_bytes,
        depth: performed.depth,
        most_in_flight: figures.most_in_flight,
        waited_ios: figures.waited,
        ios: figures.ios(),
        iops: figures.iops(),
        recorded_iops: contents.ios as f64 * manner.selection.users / span_s,
        seconds: figures.elapsed_ns as f64 / 1e9,
        elapsed_ratio: is_whole.then_some(figures.elapsed_ns as f64 / 1e9 / span_s),
        lag_ns: latency(&figures.lag).filter(|_| manner.mode != Mode::Closed),
        backlog_ns: figures.backlog_ns,
        classes: (0..SETS).filter_map(class).collect(),
        errors: figures.errors,
        first_error: figures.first_error.clone(),
        unfinished: figures.unfinished,
        points: figures.intervals.iter().enumerate().map(point).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl Iterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        values.for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn the_demerit_is_the_distance_in_means() {
        let recorded = of(1000..3000);
        assert_eq!(demerit(&recorded, &recorded), Some(0.0));
        let slower = demerit(&recorded, &of(2000..4000)).unwrap();
        assert!((slower - 0.5).abs() < 0.02, "{slower}");
        assert_eq!(demerit(&recorded, &Histogram::new()), None);
    }
}
