//! A figure over time, and the second that it is taken over.

use std::collections::VecDeque;

use results::Point;

/// Values that are remembered; the widest terminal shows no more.
const REMEMBERED: usize = 512;
/// Points are put together until they make so many seconds: what changes faster cannot be read.
const SECOND: f64 = 0.95;

/// A figure now, before, and at its highest.
#[derive(Debug, Clone, Default)]
pub(super) struct Figure {
    /// Absent if there is nothing to show.
    pub now: Option<f64>,
    /// The highest seen since the screen began.
    pub highest: f64,
    /// The latest last; absent if nothing was measured.
    pub history: VecDeque<Option<f64>>,
}

impl Figure {
    /// Takes the value of the next second.
    pub(super) fn push(&mut self, value: Option<f64>) {
        let value = value.filter(|value| value.is_finite());
        self.now = value;
        self.highest = self.highest.max(value.unwrap_or(0.0));
        self.remember(value);
    }

    /// Nothing is measured for a while.
    pub(super) fn pause(&mut self) {
        self.now = None;
        // One gap says it.
        if self.history.back().is_some_and(Option::is_some) {
            self.remember(None);
        }
    }

    fn remember(&mut self, value: Option<f64>) {
        if self.history.len() == REMEMBERED {
            self.history.pop_front();
        }
        self.history.push_back(value);
    }
}

/// What happened over some points; as many as make a second, or a whole window.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub seconds: f64,
    pub reads: Side,
    pub writes: Side,
    pub max_ns: Option<u64>,
    pub errors: u64,
}

/// The reads or the writes of a span.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Side {
    pub ios: f64,
    pub mib: f64,
    /// Sum of the latencies, in nanoseconds.
    latency_ns: f64,
    /// The highest p99 of the points.
    pub p99_ns: Option<u64>,
}

impl Side {
    fn add(&mut self, other: &Self) {
        self.ios += other.ios;
        self.mib += other.mib;
        self.latency_ns += other.latency_ns;
        self.p99_ns = self.p99_ns.max(other.p99_ns);
    }

    /// Mean latency in nanoseconds; `None` without I/Os.
    pub(super) fn mean_ns(&self) -> Option<f64> {
        (self.ios > 0.0).then(|| self.latency_ns / self.ios)
    }
}

impl Span {
    /// The sums of one interval, from its rates.
    pub(super) fn of(point: &Point) -> Self {
        let side = |iops: f64, mib_per_s: f64, mean_ns: Option<f64>, p99_ns| {
            let ios = iops * point.seconds;
            let latency_ns = mean_ns.unwrap_or(0.0) * ios;
            Side { ios, mib: mib_per_s * point.seconds, latency_ns, p99_ns }
        };
        let (read, write) = (point.read_iops, point.write_iops);
        Self {
            seconds: point.seconds,
            reads: side(read, point.read_mib_per_s, point.read_mean_ns, point.read_p99_ns),
            writes: side(write, point.write_mib_per_s, point.write_mean_ns, point.write_p99_ns),
            max_ns: point.max_ns,
            errors: point.errors,
        }
    }

    /// Adds the figures of a later interval.
    pub(super) fn add(&mut self, next: &Self) {
        self.seconds += next.seconds;
        self.reads.add(&next.reads);
        self.writes.add(&next.writes);
        self.max_ns = self.max_ns.max(next.max_ns);
        self.errors += next.errors;
    }

    /// Whether it is long enough to be shown.
    pub(super) fn is_second(&self) -> bool {
        self.seconds >= SECOND
    }

    /// The figures of reads and writes together.
    pub(super) fn both(&self) -> Side {
        let mut both = self.reads;
        both.add(&self.writes);
        both
    }

    /// So many of something in it, per second.
    pub(super) fn rate(&self, count: f64) -> f64 {
        if self.seconds > 0.0 { count / self.seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_points_make_seconds_weighted_by_their_ios() {
        let point = |read_iops, mean| {
            let point = super::super::model::tests::point(read_iops);
            Point { seconds: 0.5, read_mean_ns: mean, ..point }
        };
        let mut span = Span::of(&point(100.0, Some(1_000.0)));
        assert!(!span.is_second());
        span.add(&Span::of(&point(300.0, Some(2_000.0))));
        span.add(&Span::of(&point(0.0, None)));
        assert!(span.is_second());
        assert!((span.rate(span.both().ios) - 200.0 / 1.5).abs() < 1e-9);
        assert!(span.both().mean_ns().is_some_and(|ns| (ns - 1_750.0).abs() < 1e-9));
        assert_eq!(span.writes.mean_ns(), None);
    }

    #[test]
    fn what_is_no_number_is_no_figure() {
        let mut figure = Figure::default();
        for value in [Some(3.0), Some(f64::NAN), Some(f64::INFINITY), None, Some(2.0)] {
            figure.push(value);
        }
        assert_eq!((figure.now, figure.highest, figure.history.len()), (Some(2.0), 3.0, 5));
        figure.pause();
        figure.pause();
        assert_eq!((figure.now, figure.history.len()), (None, 6), "one gap is enough");
        (0..2_000).for_each(|n| figure.push(Some(f64::from(n))));
        assert_eq!(figure.history.len(), REMEMBERED);
    }
}
