//! What hosts did together: the time in which all ran, and histograms of all I/Os.

use results::{FleetMerged, FleetWindow, Histogram, Latency, Measurement, Point, Statistics};

/// When a host ran, in seconds after the named moment, and what it did then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<'a> {
    pub from_s: f64,
    pub to_s: f64,
    pub series: &'a [Point],
}

/// Throughput over some time, reads and writes apart.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Rates {
    pub read_iops: f64,
    pub write_iops: f64,
    pub read_mib_per_s: f64,
    pub write_mib_per_s: f64,
}

impl Span<'_> {
    /// What the host did from one moment to another. An interval that is partly in that time counts
    /// in proportion.
    pub(crate) fn rates(&self, from_s: f64, to_s: f64) -> Rates {
        let mut sum = Rates::default();
        for point in self.series {
            let end = self.from_s + point.t;
            let inside = end.min(to_s) - (end - point.seconds).max(from_s);
            let share = inside.max(0.0) / (to_s - from_s);
            sum.read_iops += share * point.read_iops;
            sum.write_iops += share * point.write_iops;
            sum.read_mib_per_s += share * point.read_mib_per_s;
            sum.write_mib_per_s += share * point.write_mib_per_s;
        }
        sum
    }
}

/// The time in which all of these ran, and the sum of what they did in it; `None` if there is no
/// such time.
pub(crate) fn window(spans: &[Span<'_>]) -> Option<FleetWindow> {
    let from_s = spans.iter().map(|span| span.from_s).reduce(f64::max)?;
    let to_s = spans.iter().map(|span| span.to_s).reduce(f64::min)?;
    if to_s <= from_s {
        return None;
    }
    let mut all = FleetWindow {
        from_s,
        seconds: to_s - from_s,
        read_iops: 0.0,
        write_iops: 0.0,
        read_mib_per_s: 0.0,
        write_mib_per_s: 0.0,
    };
    for rates in spans.iter().map(|span| span.rates(from_s, to_s)) {
        all.read_iops += rates.read_iops;
        all.write_iops += rates.write_iops;
        all.read_mib_per_s += rates.read_mib_per_s;
        all.write_mib_per_s += rates.write_mib_per_s;
    }
    Some(all)
}

/// Everything that was counted; none without a measurement.
pub(crate) fn merged(measurements: &[Measurement]) -> Option<FleetMerged> {
    let of = |kind: fn(&Measurement) -> &Statistics| {
        let all: Vec<&Statistics> = measurements.iter().map(kind).collect();
        sum(&all)
    };
    (!measurements.is_empty()).then(|| FleetMerged {
        hosts: measurements.len() as u64,
        total: of(|m| &m.total),
        read: of(|m| &m.read),
        write: of(|m| &m.write),
        sync: of(|m| &m.sync),
    })
}

/// The statistics of several hosts as one: counts are added, histograms are merged.
pub(crate) fn sum(all: &[&Statistics]) -> Statistics {
    let histogram = histogram(all);
    Statistics {
        ios: all.iter().map(|s| s.ios).sum(),
        bytes: all.iter().map(|s| s.bytes).sum(),
        iops: all.iter().map(|s| s.iops).sum(),
        mib_per_s: all.iter().map(|s| s.mib_per_s).sum(),
        errors: all.iter().map(|s| s.errors).sum(),
        latency_ns: histogram.as_ref().and_then(|merged| latency(merged, all)),
        service_ns: None,
        delay_ns: None,
        histogram: histogram.filter(|merged| !merged.is_empty()).map(|merged| merged.encode()),
    }
}

/// All I/Os in one histogram; `None` if one of them has none that can be read.
fn histogram(all: &[&Statistics]) -> Option<Histogram> {
    let mut merged = Histogram::new();
    for statistics in all.iter().filter(|s| s.ios > 0) {
        merged.merge(&Histogram::decode(statistics.histogram.as_ref()?).ok()?);
    }
    Some(merged)
}

/// Percentiles of the merged histogram. Shortest, longest and mean are known exactly of each host,
/// and so of all.
fn latency(merged: &Histogram, all: &[&Statistics]) -> Option<Latency> {
    let of_buckets = Latency::of(merged)?;
    let each = || all.iter().filter_map(|s| Some((s.ios as f64, s.latency_ns?)));
    let ios: f64 = each().map(|(ios, _)| ios).sum();
    let (min, max) = (each().map(|(_, l)| l.min).min()??, each().map(|(_, l)| l.max).max()??);
    let clip = |percentile: Option<u64>| percentile.map(|p| p.clamp(min, max));
    Some(Latency {
        min: Some(min),
        max: Some(max),
        mean: each().map(|(ios, l)| ios * l.mean).sum::<f64>() / ios,
        stddev: of_buckets.stddev,
        p50: clip(of_buckets.p50),
        p90: clip(of_buckets.p90),
        p95: clip(of_buckets.p95),
        p99: clip(of_buckets.p99),
        p99_9: clip(of_buckets.p99_9),
        p99_99: clip(of_buckets.p99_99),
        p99_999: clip(of_buckets.p99_999),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(t: f64, seconds: f64, iops: f64) -> Point {
        Point {
            t,
            seconds,
            read_iops: iops,
            write_iops: iops / 2.0,
            read_mib_per_s: iops / 4.0,
            write_mib_per_s: 0.0,
            read_mean_ns: None,
            write_mean_ns: None,
            read_p99_ns: None,
            write_p99_ns: None,
            max_ns: None,
            errors: 0,
        }
    }

    /// A host that began later or ended sooner narrows the time for all: nothing that another did
    /// alone is in the total.
    #[test]
    fn totals_are_of_the_time_in_which_every_host_ran() {
        let long = [point(1.0, 1.0, 900.0), point(2.0, 1.0, 100.0), point(3.0, 1.0, 700.0)];
        let short = [point(1.0, 1.0, 50.0)];
        let long = Span { from_s: 0.0, to_s: 3.0, series: &long };
        let together =
            |from_s| window(&[long, Span { from_s, to_s: from_s + 1.0, series: &short }]);
        let whole = together(1.0).unwrap();
        assert_eq!((whole.from_s, whole.seconds), (1.0, 1.0));
        assert_eq!((whole.read_iops, whole.write_iops), (150.0, 75.0));
        let between = together(0.5).unwrap();
        assert_eq!((between.seconds, between.read_iops), (1.0, 450.0 + 50.0 + 50.0));
        assert_eq!(together(3.0), None);
        assert_eq!(window(&[]), None);
        // Alone, it is what the host says.
        assert_eq!(window(&[long]).unwrap().read_iops, 1700.0 / 3.0);
    }

    fn statistics(latencies: &[u64]) -> Statistics {
        let mut histogram = Histogram::new();
        for ns in latencies {
            histogram.record(*ns);
        }
        Statistics {
            ios: latencies.len() as u64,
            latency_ns: Latency::of(&histogram),
            histogram: (!latencies.is_empty()).then(|| histogram.encode()),
            ..Statistics::default()
        }
    }

    proptest! {
        /// Merged is what one histogram of all I/Os would be, to the bit.
        #[test]
        fn merged_is_the_histogram_of_all_ios(
            hosts in prop::collection::vec(prop::collection::vec(1..1_u64 << 40, 0..200), 1..6),
        ) {
            let each: Vec<Statistics> = hosts.iter().map(|ns| statistics(ns)).collect();
            let all = statistics(&hosts.concat());
            let merged = sum(&each.iter().collect::<Vec<_>>());
            prop_assert_eq!(&merged.histogram, &all.histogram);
            prop_assert_eq!(merged.ios, all.ios);
            let (Some(ours), Some(theirs)) = (merged.latency_ns, all.latency_ns) else {
                prop_assert!(merged.latency_ns.is_none() && all.latency_ns.is_none());
                return Ok(());
            };
            prop_assert_eq!((ours.min, ours.max), (theirs.min, theirs.max));
            prop_assert_eq!(ours.p50, theirs.p50);
            prop_assert_eq!(ours.p99, theirs.p99);
            prop_assert!((ours.mean - theirs.mean).abs() <= theirs.mean * 1e-9);
        }
    }

    #[test]
    fn a_histogram_that_is_missing_is_not_made_up() {
        let known = statistics(&[5, 6, 7]);
        let unknown = Statistics { histogram: None, ..known.clone() };
        let broken = Statistics { histogram: Some("?".to_owned()), ..known.clone() };
        for other in [&unknown, &broken] {
            let merged = sum(&[&known, other]);
            assert_eq!((merged.ios, merged.histogram, merged.latency_ns), (6, None, None));
        }
    }
}
