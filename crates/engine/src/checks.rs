//! Whether the figures of a run fit together, and what gives reason to doubt them.

use results::{Checks, Histogram, Point, Stalls, StreamResult};
use workload::show_ns;

use crate::collect::WorkerTotals;
use crate::outcome::Facts;
use crate::queue::KINDS;
use crate::recorder::Tally;
use crate::teams::Place;
use crate::watch::LONG_IO_NS;
use crate::worker::WorkerEnd;

/// I/Os in flight at the end of the window are reported if they are older than this and than twice
/// the 99th percentile.
const LEFT_OVER_NS: u64 = 10_000_000;
/// A schedule that is this late is reported, whatever the latencies are.
const BEHIND_NS: u64 = 100_000_000;

/// What is judged: a run's counts and what was made of them.
pub(crate) struct RunEvidence<'a> {
    pub workers: &'a [WorkerTotals],
    pub places: &'a [Place],
    pub facts: &'a Facts,
    pub streams: &'a [StreamResult],
    /// I/Os in flight, averaged over the window.
    pub achieved: f64,
    /// Length of the window in seconds.
    pub seconds: f64,
}

/// All checks that need nothing but the run itself.
pub(crate) fn checks(judged: &RunEvidence<'_>) -> Checks {
    let mut warnings = lost(judged);
    warnings.extend(left_over(judged));
    let rates = judged.streams.iter().filter_map(|s| s.rate_reached_percent);
    Checks {
        littles_law_percent: littles_law(judged),
        tool_ceiling_iops: None,
        rate_reached_percent: rates.min_by(f64::total_cmp),
        warnings,
        contradictions: Vec::new(),
    }
}

/// The latencies from submission to completion, in an open loop too.
fn service(tally: &Tally) -> &Histogram {
    tally.open_loop.as_deref().map_or(&tally.latency, |p| &p.service)
}

/// Compares the time in flight of every I/O, flushes included, with the integral of what was in
/// flight.
fn littles_law(judged: &RunEvidence<'_>) -> Option<f64> {
    let completed = |t: &Tally| service(t).mean().unwrap_or(0.0) * t.ios as f64;
    // Thread by thread: in a sum of open and closed loops, only some I/Os have their own service
    // time. I/Os that failed or never returned were in flight as well.
    let each = |w: &WorkerTotals| {
        let never = w.end.as_ref().map_or(0.0, |e| e.unfinished.in_window_ns);
        w.counts.tallies.iter().map(completed).sum::<f64>() + w.counts.failed_ns + never
    };
    let in_flight_s = judged.workers.iter().map(each).sum::<f64>() / 1e9;
    let possible = judged.seconds > 0.0 && judged.achieved > 0.0 && in_flight_s > 0.0;
    possible.then(|| 100.0 * (in_flight_s / judged.seconds / judged.achieved - 1.0))
}

fn ends(workers: &[WorkerTotals]) -> impl Iterator<Item = &WorkerEnd> {
    workers.iter().filter_map(|w| w.end.as_ref())
}

/// Seconds of a series need not add up to the last bit.
const SECOND_OFF: f64 = 1e-6;

/// I/Os a second in the slowest whole second of a series.
pub(crate) fn slowest_second(series: &[Point]) -> Option<f64> {
    let (mut whole, mut slowest) = (0, f64::INFINITY);
    let (mut seconds, mut ios) = (0.0, 0.0);
    for point in series {
        seconds += point.seconds;
        ios += (point.read_iops + point.write_iops) * point.seconds;
        if seconds > 1.0 + SECOND_OFF {
            return None;
        }
        if seconds >= 1.0 - SECOND_OFF {
            slowest = slowest.min(ios / seconds);
            whole += 1;
            (seconds, ios) = (0.0, 0.0);
        }
    }
    (whole >= 2).then_some(slowest)
}

/// The document's part on long waits.
pub(crate) fn stalls(workers: &[WorkerTotals], facts: &Facts) -> Stalls {
    let ages = || ends(workers).flat_map(|e| e.unfinished.ages_ns.iter().copied());
    // The watchdog looks now and then, and sees the warm-up too; the histograms have all that
    // returned in the window.
    let long = |t: &Tally| {
        let service = service(t);
        let some = service.max().is_some_and(|max| max >= LONG_IO_NS);
        service.count_above(LONG_IO_NS).max(u64::from(some))
    };
    let returned: u64 = workers.iter().flat_map(|w| &w.counts.tallies).map(long).sum();
    let running = ages().filter(|age| *age >= LONG_IO_NS).count() as u64;
    Stalls {
        longest_gap_ns: workers.iter().map(|w| w.counts.longest_gap_ns).max().unwrap_or(0),
        over_15_s: facts.over_15_s.max(returned + running),
        unfinished: ages().count() as u64,
        oldest_unfinished_ns: ages().max().unwrap_or(0),
        slowest_second_iops: None,
    }
}

/// I/Os that failed, never returned or took very long, in sentences.
fn lost(judged: &RunEvidence<'_>) -> Vec<String> {
    let errors = ends(judged.workers).filter_map(|e| e.queue_error.as_ref());
    let mut warnings: Vec<String> =
        errors.map(|error| format!("a worker ended early: {error}")).collect();
    warnings.extend(judged.facts.lost.iter().map(|lost| {
        format!(
            "what was written to the page cache did not reach {}: {}; the figures are those of \
             the cache",
            lost.path.display(),
            lost.message
        )
    }));
    let stalls = stalls(judged.workers, judged.facts);
    if stalls.unfinished > 0 {
        let age = show_ns(stalls.oldest_unfinished_ns as f64);
        warnings.push(format!(
            "{} I/Os had not returned when the run ended, the oldest after {age}; they are in no \
             figure",
            stalls.unfinished
        ));
    }
    if stalls.over_15_s > 0 {
        warnings.push(format!("{} I/Os ran for over 15 s", stalls.over_15_s));
    }
    warnings
}

/// I/Os that were in flight or due when the window ended and that are older than the latencies let
/// expect: a percentile without them is too good.
fn left_over(judged: &RunEvidence<'_>) -> Vec<String> {
    let (mut count, mut oldest_ns, mut behind_ns) = (0, 0, 0);
    for stream in 0..judged.streams.len() {
        let places = judged.workers.iter().zip(judged.places);
        let mine: Vec<&WorkerTotals> =
            places.filter(|(_, p)| p.stream == stream).map(|(w, _)| w).collect();
        let limits: [u64; KINDS] = std::array::from_fn(|kind| limit_ns(&mine, kind));
        let ends = || mine.iter().filter_map(|w| w.end.as_ref());
        let old = ends().flat_map(|e| &e.left_over).filter(|(kind, age)| *age > limits[*kind]);
        for (_, age) in old {
            count += 1;
            oldest_ns = oldest_ns.max(*age);
        }
        let limit = BEHIND_NS.min(limits[0].max(limits[1]));
        let behind = ends().map(|e| e.behind_ns).filter(|b| *b > limit);
        behind_ns = behind.fold(behind_ns, u64::max);
    }
    let mut warnings = Vec::new();
    if count > 0 {
        let age = show_ns(oldest_ns as f64);
        warnings.push(format!(
            "when the window ended, {count} I/Os had been under way for much longer than the \
             others took, the oldest for {age}. No figure includes them, so percentiles are too low"
        ));
    }
    if behind_ns > 0 {
        let behind = show_ns(behind_ns as f64);
        warnings.push(format!(
            "the storage did not keep up with the requested rate: at the end, I/Os had been due \
             for {behind} without a free slot. No figure includes them, so latencies are too low"
        ));
    }
    warnings
}

/// From which age on an I/O of this kind is one that its stream's percentiles do not know.
fn limit_ns(workers: &[&WorkerTotals], kind: usize) -> u64 {
    let mut latency = Histogram::new();
    for worker in workers {
        latency.merge(&worker.counts.tallies[kind].latency);
    }
    latency.quantile(0.99).map_or(LEFT_OVER_NS, |p99| LEFT_OVER_NS.max(p99.saturating_mul(2)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn series(interval_s: f64, iops: &[f64]) -> Vec<Point> {
        let point = |iops: &f64| Point {
            seconds: interval_s,
            read_iops: iops / 4.0,
            write_iops: iops * 0.75,
            ..Point::default()
        };
        iops.iter().map(point).collect()
    }

    #[test]
    fn the_slowest_second_is_a_whole_one() {
        assert_eq!(slowest_second(&series(1.0, &[9.0, 4.0, 8.0])), Some(4.0));
        // Its slow and its fast half are one second.
        assert_eq!(slowest_second(&series(0.5, &[8.0, 8.0, 2.0, 10.0])), Some(6.0));
        // The last half of a second is not a whole one, so it does not count.
        assert_eq!(slowest_second(&series(0.5, &[8.0, 8.0, 7.0, 7.0, 1.0])), Some(7.0));
        assert_eq!(slowest_second(&series(1.0, &[5.0, 0.0])), Some(0.0));
        for unknown in [series(1.0, &[5.0]), series(2.0, &[5.0, 5.0]), series(0.4, &[5.0; 9])] {
            assert_eq!(slowest_second(&unknown), None);
        }
    }

    proptest! {
        /// Finer intervals do not make a second slower.
        #[test]
        fn the_length_of_the_intervals_does_not_matter(
            iops in prop::collection::vec(0.0..1e7_f64, 2..20),
            parts in prop::sample::select(vec![1_usize, 2, 3, 5, 7, 10, 100]),
        ) {
            let fine: Vec<f64> = iops.iter().flat_map(|iops| vec![*iops; parts]).collect();
            let slowest = slowest_second(&series(1.0 / parts as f64, &fine)).unwrap();
            let least = iops.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert!((slowest - least).abs() <= 1e-6 * least.max(1.0), "{slowest} {least}");
        }
    }
}
