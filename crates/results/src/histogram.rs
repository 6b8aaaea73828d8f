//! A log-linear histogram of latencies: every I/O is recorded, and the answer of any quantile is
//! within 0.8 %.
//!
//! Values below 128 ns have a bucket each. Above, every power of two is cut into 64 buckets of
//! equal width, so that a bucket is at most 1/64 of its lower edge wide; a value is reported as the
//! middle of its bucket, at most 1/128 = 0.78 % from the truth. The range ends at 2^46 ns (19.5
//! hours); longer values count in the last bucket, and the maximum is kept exactly.

use std::fmt;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use thiserror::Error;

/// Buckets per power of two, as a power of two.
const SUB_BITS: u32 = 6;
const SUB_BUCKETS: usize = 1 << SUB_BITS;
/// The exponent of the first value out of range.
const RANGE_BITS: u32 = 46;
const BUCKETS: usize = ((RANGE_BITS - SUB_BITS) as usize) * SUB_BUCKETS + SUB_BUCKETS;
/// The largest value that has its own bucket.
const VALUE_MAX: u64 = (1 << RANGE_BITS) - 1;

/// Counts of latencies in nanoseconds. Histograms can be merged without loss.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64; BUCKETS]>,
    sum: u64,
    min: u64,
    max: u64,
}

/// A text that is not a histogram, and why.
#[derive(Debug, Error)]
#[error("the histogram is not in the HdrHistogram V2 compressed encoding: {0}")]
pub struct EncodingError(String);

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, min, max) = (self.count(), self.min, self.max);
        write!(f, "Histogram {{ count: {count}, min: {min}, max: {max} }}")
    }
}

/// The bucket that counts a value.
#[inline]
fn index_of(value: u64) -> usize {
    // The highest bit decides the group; below 2^(SUB_BITS + 1) the shift is zero and buckets are
    // one value wide.
    let shift = (value | (SUB_BUCKETS as u64)).ilog2() - SUB_BITS;
    let index = ((shift as usize) << SUB_BITS) + usize::try_from(value >> shift).unwrap_or(0);
    // Values out of range count in the last bucket. The limit also spares every use of the index
    // its check.
    index.min(BUCKETS - 1)
}

/// The value that a bucket reports: its middle.
fn value_of(index: usize) -> u64 {
    let shift = (index >> SUB_BITS).saturating_sub(1);
    let low = (index - (shift << SUB_BITS)) as u64;
    (low << shift) + ((1u64 << shift) >> 1)
}

impl Histogram {
    /// An empty histogram. It has its final size at once: recording never allocates.
    #[must_use]
    pub fn new() -> Self {
        let counts = vec![0u64; BUCKETS].into_boxed_slice();
        let counts = counts.try_into().unwrap_or_else(|_| unreachable!("it has BUCKETS elements"));
        Self { counts, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.counts[index_of(value_ns)] += 1;
        self.sum = self.sum.saturating_add(value_ns);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// Counts one latency in nanoseconds several times.
    pub fn record_many(&mut self, value_ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.counts[index_of(value_ns)] += count;
        self.sum = self.sum.saturating_add(value_ns.saturating_mul(count));
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// Adds all counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        let used = other.used();
        for (mine, theirs) in self.counts[used.clone()].iter_mut().zip(&other.counts[used]) {
            *mine += theirs;
        }
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets all counts and keeps the memory, so that recording still never allocates.
    pub fn clear(&mut self) {
        let used = self.used();
        self.counts[used].fill(0);
        (self.sum, self.min, self.max) = (0, u64::MAX, 0);
    }

    /// How many latencies were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts[self.used()].iter().sum()
    }

    /// The buckets that may hold anything: latencies lie close together, and most buckets are
    /// empty.
    fn used(&self) -> Range<usize> {
        if self.is_empty() { 0..0 } else { index_of(self.min)..index_of(self.max) + 1 }
    }

    /// Whether no latency was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.max == 0 && self.min == u64::MAX
    }

    /// The smallest value, exactly; `None` if nothing was recorded.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min)
    }

    /// The largest value, exactly; `None` if nothing was recorded.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// The arithmetic mean, from the exact sum.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / count as f64)
    }

    /// The standard deviation of the recorded values, from the middles of the buckets.
    #[must_use]
    pub fn stddev(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares: f64 =
            self.buckets().map(|(value, count)| (value as f64 - mean).powi(2) * count as f64).sum();
        Some((squares / self.count() as f64).sqrt())
    }

    /// The smallest value that at least the share `q` of all values do not exceed; within 0.8 %.
    ///
    /// `q` is clipped to 0 … 1; the result never leaves the exact minimum and maximum.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let q = if q.is_nan() { 1.0 } else { q.clamp(0.0, 1.0) };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in 0..=count")]
        let rank = ((q * count as f64).ceil() as u64).clamp(1, count);
        // These two are known exactly, whatever the width of their buckets.
        match rank {
            _ if rank == count => return Some(self.max),
            1 => return Some(self.min),
            _ => {}
        }
        let mut seen = 0;
        for (value, n) in self.buckets() {
            seen += n;
            if seen >= rank {
                return Some(value.clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }

    /// A quantile that enough values support: at least ten lie above it.
    #[must_use]
    pub fn supported_quantile(&self, q: f64) -> Option<u64> {
        let above = self.count() as f64 * (1.0 - q);
        // The tolerance is for shares such as 0.999 that binary numbers cannot hold.
        (above >= 10.0 - 1e-6).then(|| self.quantile(q)).flatten()
    }

    /// The buckets that hold anything, as (middle in ns, count), in rising order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let used = self.used();
        let counts = self.counts[used.clone()].iter();
        used.zip(counts).filter(|(_, n)| **n > 0).map(|(i, n)| (value_of(i), *n))
    }

    /// How many values are above a limit in ns; exact at the edges of buckets.
    #[must_use]
    pub fn count_above(&self, limit_ns: u64) -> u64 {
        self.buckets().filter(|(value, _)| *value > limit_ns).map(|(_, n)| n).sum()
    }

    /// The HdrHistogram V2 compressed encoding in base64: what other tools of the field read.
    #[must_use]
    pub fn encode(&self) -> String {
        // Two significant digits give HdrHistogram 128 buckets a power of two, twice as fine as
        // ours: nothing is lost.
        let Ok(mut hdr) = hdrhistogram::Histogram::<u64>::new_with_bounds(1, VALUE_MAX, 2) else {
            return String::new();
        };
        for (value, count) in self.buckets() {
            hdr.saturating_record_n(value.max(1), count);
        }
        let mut bytes = Vec::new();
        match V2DeflateSerializer::new().serialize(&hdr, &mut bytes) {
            Ok(_) => BASE64.encode(&bytes),
            Err(_) => String::new(),
        }
    }

    /// Reads what [`Histogram::encode`] wrote. Minimum, maximum and sum are then those of the
    /// buckets' middles.
    pub fn decode(text: &str) -> Result<Self, EncodingError> {
        let bytes = BASE64.decode(text).map_err(|e| EncodingError(e.to_string()))?;
        let hdr: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|e| EncodingError(e.to_string()))?;
        let mut histogram = Self::new();
        for entry in hdr.iter_recorded() {
            let value = hdr.lowest_equivalent(entry.value_iterated_to());
            let (index, count) = (index_of(value), entry.count_since_last_iteration());
            histogram.counts[index] += count;
            histogram.sum = histogram.sum.saturating_add(value.saturating_mul(count));
            histogram.min = histogram.min.min(value);
            histogram.max = histogram.max.max(value);
        }
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_bucket_holds_its_own_middle() {
        for index in 0..BUCKETS {
            assert_eq!(index_of(value_of(index)), index);
        }
        assert_eq!(index_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn nothing_recorded_has_no_figures() {
        let empty = Histogram::new();
        assert_eq!((empty.mean(), empty.quantile(0.5), empty.max()), (None, None, None));
    }

    /// DiskSpd's nine nines lay below the maximum, because the last bucket has a width.
    #[test]
    fn the_first_and_the_last_are_exact() {
        let mut histogram = Histogram::new();
        for value in [1_000_003, 2_000_000, 35_999_999] {
            histogram.record(value);
        }
        assert_eq!(histogram.quantile(0.0), Some(1_000_003));
        assert_eq!(histogram.quantile(0.999_999_999), Some(35_999_999));
    }

    #[test]
    fn a_quantile_needs_ten_values_above_it() {
        let mut histogram = Histogram::new();
        for _ in 0..1000 {
            histogram.record(500);
        }
        assert_eq!(histogram.supported_quantile(0.99), Some(500));
        assert_eq!(histogram.supported_quantile(0.999), None);
    }

    fn histogram_of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        for value in values {
            histogram.record(*value);
        }
        histogram
    }

    proptest! {
        #[test]
        fn the_error_stays_below_a_hundred_and_twenty_eighth(value in 1u64..=VALUE_MAX) {
            let middle = value_of(index_of(value));
            let error = (middle as f64 - value as f64).abs() / value as f64;
            prop_assert!(error <= 1.0 / 128.0, "{value} is shown as {middle}");
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_values(
            mut values in prop::collection::vec(1u64..10_000_000_000, 1..300), q in 0.0f64..=1.0,
        ) {
            let histogram = histogram_of(&values);
            values.sort_unstable();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in \
                0..=len")]
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let truth = values[rank - 1] as f64;
            let shown = histogram.quantile(q).unwrap() as f64;
            prop_assert!((shown - truth).abs() / truth <= 1.0 / 128.0 + 1e-9);
            prop_assert_eq!(histogram.count(), values.len() as u64);
            prop_assert_eq!(histogram.min(), values.first().copied());
            prop_assert_eq!(histogram.max(), values.last().copied());
        }

        #[test]
        fn many_at_once_are_as_many_one_by_one(values in prop::collection::vec((any::<u32>(),
            0u64..20), 0..20)) {
            let (mut at_once, mut one_by_one) = (Histogram::new(), Histogram::new());
            for (value, count) in values {
                at_once.record_many(value.into(), count);
                (0..count).for_each(|_| one_by_one.record(value.into()));
            }
            prop_assert_eq!(at_once, one_by_one);
        }

        #[test]
        fn merging_is_recording_everything_in_one(
            a in prop::collection::vec(any::<u64>(), 0..100),
                b in prop::collection::vec(any::<u64>(), 0..100),
        ) {
            let mut merged = histogram_of(&a);
            merged.merge(&histogram_of(&b));
            prop_assert_eq!(merged, histogram_of(&[a, b].concat()));
        }

        #[test]
        fn the_exchange_format_keeps_every_bucket(values in prop::collection::vec(1u64..=VALUE_MAX,
            0..200)) {
            let histogram = histogram_of(&values);
            let read = Histogram::decode(&histogram.encode()).unwrap();
            prop_assert_eq!(read.counts, histogram.counts);
        }

        #[test]
        fn foreign_text_never_panics(text in ".{0,80}",
            bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Histogram::decode(&text);
            let _ = Histogram::decode(&BASE64.encode(bytes));
        }
    }
}
