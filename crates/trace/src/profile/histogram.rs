//! Figures counted in classes whose width grows with the figure.

/// Counts of whole numbers: exact below `2^BITS`, above that in classes that are at most
/// `1/2^BITS` of their figure wide.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram<const BITS: u32> {
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    max: u64,
}

/// Latencies of I/Os, in nanoseconds. Percentiles are within 1 % of an I/O's latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// I/Os whose latency is known; the others are in none of these figures.
    pub ios: u64,
    /// The arithmetic mean, which is exact.
    pub mean_ns: f64,
    /// 50 % are not longer.
    pub p50_ns: u64,
    /// 90 % are not longer.
    pub p90_ns: u64,
    /// 99 % are not longer.
    pub p99_ns: u64,
    /// 99.9 % are not longer.
    pub p99_9_ns: u64,
    /// The longest, which is exact.
    pub max_ns: u64,
}

impl<const BITS: u32> Histogram<BITS> {
    /// The index of the class that counts a figure.
    #[expect(clippy::cast_possible_truncation, reason = "there are some 4000 classes")]
    fn class(value: u64) -> usize {
        let octave = (value >> BITS).checked_ilog2().map_or(0, |octave| octave + 1);
        let below = octave.saturating_sub(1);
        let within = (value >> below) & ((1 << BITS) - 1);
        ((u64::from(octave) << BITS) + within) as usize
    }

    /// The lowest figure of a class.
    #[expect(clippy::cast_possible_truncation, reason = "there are 64 octaves")]
    fn lowest(class: usize) -> u64 {
        let (octave, within) = ((class >> BITS) as u32, class as u64 & ((1 << BITS) - 1));
        match octave {
            0 => within,
            octave => (within + (1 << BITS)) << (octave - 1),
        }
    }

    /// Counts one figure.
    pub fn add(&mut self, value: u64) {
        let class = Self::class(value);
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
        self.total += 1;
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    /// Adds everything that another histogram counted.
    pub fn join(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.total += other.total;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// How many figures were counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The arithmetic mean, which is exact; `None` if nothing was counted.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum as f64 / self.total as f64)
    }

    /// The largest figure; 0 if nothing was counted.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The figure that this share (0 to 1) does not exceed, as the middle of its class; `None` if
    /// nothing was counted.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        for (class, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                let low = Self::lowest(class);
                let high = Self::lowest(class + 1).max(low + 1) - 1;
                return Some((low + (high - low) / 2).min(self.max));
            }
        }
        None
    }

    /// The counts by octaves: the lowest figure of each and how many there are, from the lowest
    /// that has any to the highest.
    #[must_use]
    pub fn octaves(&self) -> Vec<(u64, u64)> {
        let mut found: Vec<(u64, u64)> = Vec::new();
        for (class, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let low = Self::lowest(class).checked_ilog2().map_or(0, |octave| 1 << octave);
            match found.last_mut() {
                Some((last, sum)) if *last == low => *sum += count,
                _ => found.push((low, *count)),
            }
        }
        found
    }

    /// The counted figures as latencies; `None` if nothing was counted.
    #[must_use]
    pub fn latency(&self) -> Option<Latency> {
        Some(Latency {
            ios: self.total,
            mean_ns: self.mean()?,
            p50_ns: self.quantile(0.5)?,
            p90_ns: self.quantile(0.9)?,
            p99_ns: self.quantile(0.99)?,
            p99_9_ns: self.quantile(0.999)?,
            max_ns: self.max,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_figures_are_exact_and_octaves_add_up() {
        let mut histogram = Histogram::<6>::default();
        assert_eq!((histogram.quantile(0.5), histogram.mean()), (None, None));
        (1..=50).for_each(|value| histogram.add(value));
        assert_eq!((histogram.quantile(0.5), histogram.quantile(1.0)), (Some(25), Some(50)));
        assert_eq!(histogram.octaves(), [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (32, 19)]);
        assert_eq!(histogram.mean(), Some(25.5));
    }

    proptest! {
        #[test]
        fn a_figure_is_found_within_its_class(value in any::<u64>()) {
            let mut histogram = Histogram::<6>::default();
            histogram.add(value);
            histogram.add(u64::MAX);
            let found = histogram.quantile(0.5).unwrap();
            prop_assert!(found.abs_diff(value) as f64 <= value as f64 / 64.0, "{found} of {value}");
        }
    }
}
