//! How the latencies of an interval are spread, in a few numbers that add up.

use results::{Histogram, IntervalSpread};

/// I/Os of one kind in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Spread {
    ios: u64,
    min_ns: u64,
    max_ns: u64,
    mean_ns: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
}

impl Spread {
    fn of(latency: &Histogram) -> Option<Self> {
        let ios = latency.count();
        Some(Self {
            ios,
            min_ns: latency.min()?,
            max_ns: latency.max()?,
            mean_ns: latency.mean()?,
            squares: latency.stddev()?.powi(2) * ios as f64,
        })
    }

    /// Adds I/Os that have these latencies.
    pub(crate) fn add(&mut self, latency: &Histogram) {
        let Some(more) = Self::of(latency) else { return };
        if self.ios == 0 {
            *self = more;
            return;
        }
        let (mine, theirs) = (self.ios as f64, more.ios as f64);
        let apart = more.mean_ns - self.mean_ns;
        self.squares += more.squares + apart.powi(2) * mine * theirs / (mine + theirs);
        self.mean_ns += apart * theirs / (mine + theirs);
        self.min_ns = self.min_ns.min(more.min_ns);
        self.max_ns = self.max_ns.max(more.max_ns);
        self.ios += more.ios;
    }

    /// The same in the words of a document.
    pub(crate) fn published(&self) -> IntervalSpread {
        if self.ios == 0 {
            return IntervalSpread::default();
        }
        IntervalSpread {
            ios: self.ios,
            min_ns: Some(self.min_ns),
            mean_ns: Some(self.mean_ns),
            stddev_ns: Some((self.squares / self.ios as f64).sqrt()),
            max_ns: Some(self.max_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Of an interval longer than a second, several snapshots come.
        #[test]
        fn parts_add_up_to_the_spread_of_all(
            parts in prop::collection::vec(
                prop::collection::vec(1_000_u64..1_000_000, 0..20),
                1..6,
            ),
        ) {
            let mut all = Histogram::new();
            let mut sum = Spread::default();
            for part in &parts {
                let mut histogram = Histogram::new();
                for value in part {
                    histogram.record(*value);
                    all.record(*value);
                }
                sum.add(&histogram);
            }
            let wanted = Spread::of(&all).unwrap_or_default().published();
            let found = sum.published();
            prop_assert_eq!((found.ios, found.min_ns, found.max_ns),
                (wanted.ios, wanted.min_ns, wanted.max_ns));
            let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * b + 1.0,
                (a, b) => a == b,
            };
            prop_assert!(near(found.mean_ns, wanted.mean_ns), "{found:?} {wanted:?}");
            // Each part is measured from its own mean, of values that are the middles of buckets.
            let widest = 0.01 * wanted.max_ns.unwrap_or(0) as f64;
            let apart = found.stddev_ns.unwrap_or(0.0) - wanted.stddev_ns.unwrap_or(0.0);
            prop_assert!(apart.abs() <= widest, "{found:?} {wanted:?}");
        }
    }
}
