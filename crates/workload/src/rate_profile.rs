//! How the rate of an open loop changes over time: I/Os per window, in patterns that follow each
//! other.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::Nanoseconds;

/// The most numbers of one list: windows of a pattern, or patterns in their order.
pub(crate) const COUNTS_MAX: usize = 100_000;

/// How the rate of an open loop changes over time: how many I/Os are due in windows that follow
/// each other.
///
/// Only the ratios of the numbers count: the mean over the whole profile is the stream's rate. When
/// the profile is over, it begins again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateProfile {
    /// How long each window is.
    pub window_ns: Nanoseconds,
    /// I/Os in the windows of each pattern.
    pub patterns: Vec<Counts>,
    /// Which patterns follow each other, the first being 0; without it, each comes once.
    #[serde(default, skip_serializing_if = "Counts::is_empty")]
    pub order: Counts,
}

/// Whole numbers, as text with a blank between them. `0*12` is twelve times 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts(pub Vec<u32>);

/// Text that is not a list of whole numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CountsError {
    /// A word is neither a number nor a number and how often it comes.
    #[error("`{word}` is not a whole number; write for example `3 0*12 5`")]
    NotANumber {
        /// The word.
        word: String,
    },
    /// There are too many numbers.
    #[error("it has more than {COUNTS_MAX} numbers; write fewer or longer windows")]
    TooMany,
}

impl RateProfile {
    /// How many patterns follow each other.
    #[must_use]
    pub fn patterns_in_order(&self) -> usize {
        if self.order.is_empty() { self.patterns.len() } else { self.order.0.len() }
    }

    /// The pattern at a place of the order. There is none at a place beyond the last.
    #[must_use]
    pub fn pattern_at(&self, place: usize) -> Option<&[u32]> {
        self.pattern(place).map(|(_, pattern)| pattern)
    }

    /// The same with its index.
    fn pattern(&self, place: usize) -> Option<(usize, &[u32])> {
        let index = match self.order.0.get(place) {
            Some(index) => *index as usize,
            None if self.order.is_empty() => place,
            None => return None,
        };
        self.patterns.get(index).map(|counts| (index, counts.0.as_slice()))
    }

    /// The mean rate between two moments, in seconds from the start, as a share of the mean of the
    /// whole profile.
    #[must_use]
    pub fn mean_between(&self, from_s: f64, to_s: f64) -> f64 {
        let (windows, ios) = self.whole();
        let (whole_s, ios) = (windows as f64 * self.window_ns.seconds(), ios as f64);
        let until = |s: f64| {
            let rounds = (s / whole_s).floor();
            rounds * ios + self.ios_until(s - rounds * whole_s)
        };
        let mean = (until(to_s) - until(from_s)) / (to_s - from_s);
        mean * whole_s / ios
    }

    /// I/Os of the first so many seconds, which are not more than the whole.
    fn ios_until(&self, seconds: f64) -> f64 {
        let sums = self.sums();
        let mut windows = seconds / self.window_ns.seconds();
        let mut ios = 0.0;
        for place in 0..self.patterns_in_order() {
            let Some((index, pattern)) = self.pattern(place) else { continue };
            if windows >= pattern.len() as f64 {
                windows -= pattern.len() as f64;
                ios += sums[index] as f64;
                continue;
            }
            for count in pattern {
                ios += windows.clamp(0.0, 1.0) * f64::from(*count);
                windows -= 1.0;
            }
            return ios;
        }
        ios
    }

    /// I/Os of each pattern.
    fn sums(&self) -> Vec<u64> {
        let sum = |pattern: &Counts| pattern.0.iter().map(|count| u64::from(*count)).sum();
        self.patterns.iter().map(sum).collect()
    }

    /// Windows of the whole profile, and their I/Os.
    #[must_use]
    pub fn whole(&self) -> (u64, u64) {
        let sums = self.sums();
        let patterns = (0..self.patterns_in_order()).filter_map(|place| self.pattern(place));
        patterns.fold((0, 0), |(windows, ios), (index, pattern)| {
            (windows + pattern.len() as u64, ios + sums[index])
        })
    }
}

impl Counts {
    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for Counts {
    type Err = CountsError;

    fn from_str(text: &str) -> Result<Self, CountsError> {
        let mut counts = Vec::new();
        for word in text.split_ascii_whitespace() {
            let wrong = || CountsError::NotANumber { word: word.chars().take(40).collect() };
            let (number, times) = word.split_once('*').unwrap_or((word, "1"));
            let number: u32 = number.parse().map_err(|_| wrong())?;
            let times: usize = times.parse().map_err(|_| wrong())?;
            if times > COUNTS_MAX - counts.len() {
                return Err(CountsError::TooMany);
            }
            counts.resize(counts.len() + times, number);
        }
        Ok(Self(counts))
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for run in self.0.chunk_by(|a, b| a == b) {
            if !text.is_empty() {
                text.push(' ');
            }
            // Writing to a string does not fail. Two short numbers are shorter than their product.
            let _ = match (run[0], run.len()) {
                (number, 1) => write!(text, "{number}"),
                (number @ 0..10, 2) => write!(text, "{number} {number}"),
                (number, times) => write!(text, "{number}*{times}"),
            };
        }
        f.pad(&text)
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Counts {
    fn schema_name() -> Cow<'static, str> {
        "Counts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Whole numbers with a blank between them. `0*12` is twelve times 0."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_windows_of_a_profile_are_those_of_its_order() {
        let counts = |text: &str| text.parse::<Counts>().unwrap();
        let profile = RateProfile {
            window_ns: Nanoseconds(10_000_000),
            patterns: vec![counts("1 0*3"), counts("7")],
            order: counts("1 0*2"),
        };
        assert_eq!(profile.whole(), (9, 9));
        assert_eq!(profile.pattern_at(0), Some(&[7][..]));
        assert_eq!(profile.pattern_at(2), Some(&[1, 0, 0, 0][..]));
        assert_eq!(profile.pattern_at(3), None);
        let plain = RateProfile { order: Counts::default(), ..profile };
        assert_eq!(plain.whole(), (5, 8));
        assert_eq!(plain.pattern_at(2), None);
        assert!((plain.ios_until(0.045) - 4.5).abs() < 1e-9);
        assert!((plain.mean_between(0.04, 0.05) - 7.0 * 5.0 / 8.0).abs() < 1e-9);
        assert!((plain.mean_between(0.05, 5.05) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_a_list_is_refused() {
        for text in ["1 x", "1*", "*3", "1*2*3", "-1", "4294967296", "1.5"] {
            assert!(text.parse::<Counts>().is_err(), "{text}");
        }
        assert_eq!("0*99999999999".parse::<Counts>(), Err(CountsError::TooMany));
        assert_eq!("1 0*100000".parse::<Counts>(), Err(CountsError::TooMany));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}") {
            let _ = text.parse::<Counts>();
        }

        #[test]
        fn a_list_reads_back(counts in prop::collection::vec(0u32..12, 0..40)) {
            let counts = Counts(counts);
            prop_assert_eq!(counts.to_string().parse::<Counts>().unwrap(), counts);
        }
    }
}
