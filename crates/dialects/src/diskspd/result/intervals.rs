//! I/Os counted in intervals of equal length.

/// How many I/Os completed in each interval of a time span, and how long they took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Intervals {
    counts: Vec<(u64, Option<Spread>)>,
    interval_ms: f64,
}

/// How long the I/Os of one interval took, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// The shortest latency, in milliseconds.
    pub min: f64,
    /// The longest latency, in milliseconds.
    pub max: f64,
    /// The mean latency, in milliseconds.
    pub mean: f64,
    /// The standard deviation, divided by the number.
    pub stddev: f64,
}

impl Intervals {
    /// Intervals of a length in milliseconds with their I/Os: how many, and how long they took, if
    /// known.
    #[must_use]
    pub fn new(interval_ms: u32, counts: Vec<(u64, Option<Spread>)>) -> Self {
        Self { counts, interval_ms: f64::from(interval_ms.max(1)) }
    }

    /// Adds the I/Os of others, interval by interval. As in DiskSpd, the shortest time of an
    /// interval is 0 where one of both has no I/O in it.
    pub fn merge(&mut self, other: &Self) {
        if self.interval_ms == 0.0 {
            self.clone_from(other);
            return;
        }
        let none = (0, Some(Spread::default()));
        let length = self.counts.len().max(other.counts.len());
        self.counts.resize(length, none);
        let others = other.counts.iter().copied().chain(std::iter::repeat(none));
        for (mine, theirs) in self.counts.iter_mut().zip(others) {
            mine.1 = mine.1.zip(theirs.1).map(|(a, b)| a.merged(mine.0, &b, theirs.0));
            mine.0 = mine.0.saturating_add(theirs.0);
        }
    }

    /// The end of each interval in milliseconds, its I/Os per second, and how long they took.
    pub fn rates(&self) -> impl Iterator<Item = (f64, f64, Option<Spread>)> + '_ {
        let seconds = self.interval_ms / 1e3;
        self.counts.iter().enumerate().map(move |(index, (count, spread))| {
            ((index + 1) as f64 * self.interval_ms, *count as f64 / seconds, *spread)
        })
    }

    /// The standard deviation of the I/Os per second, divided by the number of intervals; 0 without
    /// intervals.
    #[must_use]
    pub fn stddev_iops(&self) -> f64 {
        let rates: Vec<f64> = self.rates().map(|(_, rate, _)| rate).collect();
        stddev(&rates)
    }
}

impl Spread {
    /// The spread of these latencies; all 0 if there are none.
    #[must_use]
    pub fn of(times: &[f64]) -> Self {
        if times.is_empty() {
            return Self::default();
        }
        Self {
            min: times.iter().copied().fold(f64::INFINITY, f64::min),
            max: times.iter().copied().fold(0.0, f64::max),
            mean: mean(times),
            stddev: stddev(times),
        }
    }

    fn merged(&self, mine: u64, other: &Self, theirs: u64) -> Self {
        let (n, m) = (mine as f64, theirs as f64);
        if n + m == 0.0 {
            return Self::default();
        }
        let mean = (self.mean * n + other.mean * m) / (n + m);
        let part = |s: &Self, n: f64| n * (s.stddev.powi(2) + (s.mean - mean).powi(2));
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            mean,
            stddev: ((part(self, n) + part(other, m)) / (n + m)).sqrt(),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn stddev(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = mean(values);
    (values.iter().map(|v| (v - middle).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intervals(times: &[&[f64]]) -> Intervals {
        Intervals::new(10, times.iter().map(|t| (t.len() as u64, Some(Spread::of(t)))).collect())
    }

    #[test]
    fn rates_are_of_whole_intervals() {
        let sum = intervals(&[&[1.0, 2.0], &[3.0, 5.0], &[], &[]]);
        let spreads: Vec<Spread> = sum.rates().filter_map(|(.., spread)| spread).collect();
        assert_eq!(spreads[0], Spread { min: 1.0, max: 2.0, mean: 1.5, stddev: 0.5 });
        assert_eq!(spreads[1], Spread { min: 3.0, max: 5.0, mean: 4.0, stddev: 1.0 });
        assert_eq!(spreads[2..], [Spread::default(); 2]);
        let rates: Vec<(f64, f64)> = sum.rates().map(|(end, rate, _)| (end, rate)).collect();
        assert_eq!(rates, [(10.0, 200.0), (20.0, 200.0), (30.0, 0.0), (40.0, 0.0)]);
        assert!((sum.stddev_iops() - 100.0).abs() < 1e-9);
        assert!(Intervals::default().stddev_iops().abs() < 1e-9);
    }

    #[test]
    fn the_times_of_a_sum_are_those_of_all() {
        let mut sum = intervals(&[&[1.0, 2.0], &[1.0]]);
        sum.merge(&intervals(&[&[6.0]]));
        let spreads: Vec<Option<Spread>> = sum.rates().map(|rate| rate.2).collect();
        let first = spreads[0].unwrap();
        assert_eq!((first.min, first.max, first.mean), (1.0, 6.0, 3.0));
        assert!((first.stddev - Spread::of(&[1.0, 2.0, 6.0]).stddev).abs() < 1e-12);
        // Nothing of the other in the second: its shortest time counts as 0.
        assert!(spreads[1].unwrap().min.abs() < 1e-12);
        let unknown = Intervals::new(10, vec![(1, None), (4, None)]);
        sum.merge(&unknown);
        assert!(sum.rates().all(|(.., spread)| spread.is_none()));
        assert_eq!(sum.rates().map(|r| r.1).collect::<Vec<_>>(), [400.0, 500.0]);
    }
}
