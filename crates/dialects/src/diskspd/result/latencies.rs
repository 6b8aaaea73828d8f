//! Times of I/Os and their statistics: the nearest rank, the mean, and the standard deviation of
//! all of them.

use results::Histogram;

/// Times of I/Os in microseconds: exact ones, or those of a histogram's buckets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latencies {
    /// Every different value and how often it was, in rising order.
    counts: Vec<(f64, u64)>,
    count: u64,
    sum_us: f64,
    min_us: f64,
    max_us: f64,
}

impl Latencies {
    /// Exact times in microseconds; values that are not numbers are left out.
    #[must_use]
    pub fn exact(values_us: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values_us.into_iter().filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let mut counts: Vec<(f64, u64)> = Vec::new();
        for value in values {
            match counts.last_mut() {
                Some((last, count)) if last.total_cmp(&value).is_eq() => *count += 1,
                _ => counts.push((value, 1)),
            }
        }
        let count = counts.iter().map(|(_, n)| n).sum();
        let sum_us = counts.iter().map(|(value, n)| value * *n as f64).sum();
        let min_us = counts.first().map_or(0.0, |c| c.0);
        let max_us = counts.last().map_or(0.0, |c| c.0);
        Self { counts, count, sum_us, min_us, max_us }
    }

    /// What a histogram holds; its minimum, maximum and mean as exact as they are there.
    #[must_use]
    pub fn of(histogram: &Histogram) -> Self {
        let count = histogram.count();
        Self {
            counts: histogram.buckets().map(|(ns, n)| (ns as f64 / 1e3, n)).collect(),
            count,
            sum_us: histogram.mean().unwrap_or(0.0) * count as f64 / 1e3,
            min_us: histogram.min().unwrap_or(0) as f64 / 1e3,
            max_us: histogram.max().unwrap_or(0) as f64 / 1e3,
        }
    }

    /// The same with a minimum, a maximum and a mean that are known exactly.
    #[must_use]
    pub fn with_exact(mut self, min_us: f64, max_us: f64, mean_us: f64) -> Self {
        (self.min_us, self.max_us) = (min_us, max_us);
        self.sum_us = mean_us * self.count as f64;
        self
    }

    /// Adds the times of another set.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            self.clone_from(other);
            return;
        }
        let mut all = std::mem::take(&mut self.counts);
        all.extend_from_slice(&other.counts);
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.dedup_by(|later, kept| {
            let same = later.0.total_cmp(&kept.0).is_eq();
            if same {
                kept.1 += later.1;
            }
            same
        });
        self.counts = all;
        self.count += other.count;
        self.sum_us += other.sum_us;
        self.min_us = self.min_us.min(other.min_us);
        self.max_us = self.max_us.max(other.max_us);
    }

    /// How many I/Os were timed.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many different times it holds.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Whether no I/O was timed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The shortest latency in microseconds; 0 without I/Os.
    #[must_use]
    pub fn min_us(&self) -> f64 {
        self.min_us
    }

    /// The longest latency in microseconds; 0 without I/Os.
    #[must_use]
    pub fn max_us(&self) -> f64 {
        self.max_us
    }

    /// The mean latency in microseconds; 0 without I/Os.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_us / self.count as f64 }
    }

    /// The standard deviation of all of them, divided by their number; 0 without I/Os.
    #[must_use]
    pub fn stddev_us(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let mean = self.mean_us();
        let squares: f64 = self.counts.iter().map(|(v, n)| (v - mean).powi(2) * *n as f64).sum();
        (squares / self.count as f64).sqrt()
    }

    /// The smallest time that at least `share` of all do not exceed, for several rising shares of 0
    /// to 1 at once; zeros without I/Os.
    #[must_use]
    pub fn at(&self, shares: &[f64]) -> Vec<f64> {
        let mut counts = self.counts.iter().copied();
        let (mut seen, mut value) = (0, self.min_us);
        shares
            .iter()
            .map(|share| {
                let rank = share * self.count as f64;
                while (seen as f64) < rank {
                    let Some((next, count)) = counts.next() else { break };
                    seen += count;
                    value = next;
                }
                // The last of all is known exactly, whatever the width of its bucket in a
                // histogram.
                let last = self.count > 0 && rank > self.count as f64 - 1.0;
                if last { self.max_us } else { value.clamp(self.min_us, self.max_us) }
            })
            .collect()
    }
}

/// A single time as milliseconds with the 24 bits that DiskSpd keeps of it, because its last
/// decimal depends on them.
#[expect(clippy::cast_possible_truncation, reason = "that is the point")]
pub(super) fn milliseconds(us: f64) -> f64 {
    f64::from(us as f32 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHARES: [f64; 8] = [0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];

    fn numbers(values: impl IntoIterator<Item = u32>) -> Latencies {
        Latencies::exact(values.into_iter().map(f64::from))
    }

    fn check(of: &Latencies, mean: f64, stddev: f64, at: [f64; 8]) {
        assert!((of.mean_us() - mean).abs() < 1e-5, "{}", of.mean_us());
        assert!((of.stddev_us() - stddev).abs() < 1e-5, "{}", of.stddev_us());
        assert_eq!(of.at(&SHARES), at);
    }

    /// Nine nines lay below the longest, because the last bucket of a histogram has a width.
    #[test]
    fn the_last_of_a_histogram_is_the_longest() {
        let mut histogram = Histogram::new();
        for ns in [1_000_003, 2_000_000, 35_999_999] {
            histogram.record(ns);
        }
        let of = Latencies::of(&histogram);
        assert_eq!(of.at(&[0.999_999_999]), [of.max_us()]);
    }

    #[test]
    fn percentiles_are_the_nearest_rank() {
        check(&numbers(1..=3), 2.0, 0.816_497, [1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 3.0]);
        let wanted = [1.0, 1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 99.0];
        check(&numbers(1..=99), 50.0, 28.577_380, wanted);
        check(&numbers((1..=99).flat_map(|n| [n, n])), 50.0, 28.577_380, wanted);
        // The lower half twice.
        let values = (1..=99).chain(1..50);
        check(
            &numbers(values),
            41.722_973,
            27.402_856,
            [1.0, 1.0, 8.0, 19.0, 37.0, 62.0, 85.0, 99.0],
        );
        check(&numbers([5]), 5.0, 0.0, [5.0; 8]);
        let none = numbers([]);
        check(&none, 0.0, 0.0, [0.0; 8]);
        assert!(none.is_empty() && none.distinct() == 0);
    }

    #[test]
    fn a_histogram_keeps_its_exact_ends() {
        let mut histogram = Histogram::new();
        for ns in [1_001_001, 2_002_002, 2_002_003] {
            histogram.record(ns);
        }
        let latencies = Latencies::of(&histogram);
        assert_eq!((latencies.count(), latencies.distinct()), (3, 2));
        assert!((latencies.min_us() - 1001.001).abs() < 1e-9);
        assert!((latencies.max_us() - 2002.003).abs() < 1e-9);
        assert!((latencies.mean_us() - 1668.335).abs() < 1e-3);
        assert!((latencies.at(&[0.5])[0] / 2002.0 - 1.0).abs() < 0.01);
    }

    proptest! {
        #[test]
        fn a_sum_is_that_of_all_values(a: Vec<u16>, b: Vec<u16>) {
            let of = |values: &[u16]| numbers(values.iter().copied().map(u32::from));
            let mut sum = of(&a);
            sum.merge(&of(&b));
            let wanted = of(&[a, b].concat());
            prop_assert_eq!(&sum.counts, &wanted.counts);
            prop_assert_eq!((sum.min_us, sum.max_us, sum.sum_us),
                (wanted.min_us, wanted.max_us, wanted.sum_us));
            prop_assert_eq!(sum.count(), wanted.counts.iter().map(|c| c.1).sum::<u64>());
        }
    }
}
