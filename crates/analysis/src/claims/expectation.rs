//! One expectation as people write it: `iops >= 8000`, `latency_p99 <= 10ms`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::words::{grouped, milliseconds, number};

/// Larger numbers are a slip of the pen.
const LIMIT_MAX: f64 = 1e15;

/// A figure of a measurement that something can be expected of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// I/Os per second, for random loads.
    Iops,
    /// MiB (2^20 bytes) a second.
    MibPerS,
    /// Mean latency, in nanoseconds.
    LatencyMean,
    /// Median latency, in nanoseconds.
    LatencyP50,
    /// 90th percentile of latency, in nanoseconds.
    LatencyP90,
    /// 95th percentile of latency, in nanoseconds.
    LatencyP95,
    /// 99th percentile of latency, in nanoseconds.
    LatencyP99,
    /// 99.9th percentile of latency, in nanoseconds.
    #[serde(rename = "latency_p99_9")]
    LatencyP999,
    /// The longest latency of any I/O, in nanoseconds.
    LatencyMax,
}

impl Figure {
    /// Every figure that can be expected.
    pub const ALL: [Self; 9] = [
        Self::Iops,
        Self::MibPerS,
        Self::LatencyMean,
        Self::LatencyP50,
        Self::LatencyP90,
        Self::LatencyP95,
        Self::LatencyP99,
        Self::LatencyP999,
        Self::LatencyMax,
    ];

    /// The name in an expectations file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::MibPerS => "mib_per_s",
            Self::LatencyMean => "latency_mean",
            Self::LatencyP50 => "latency_p50",
            Self::LatencyP90 => "latency_p90",
            Self::LatencyP95 => "latency_p95",
            Self::LatencyP99 => "latency_p99",
            Self::LatencyP999 => "latency_p99_9",
            Self::LatencyMax => "latency_max",
        }
    }

    /// Whether it is a latency, so that less is better.
    #[must_use]
    pub fn is_latency(self) -> bool {
        !matches!(self, Self::Iops | Self::MibPerS)
    }

    /// What it is called in a sentence.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Iops => "the IOPS",
            Self::MibPerS => "the MiB/s",
            Self::LatencyMean => "the mean latency",
            Self::LatencyP50 => "the median latency",
            Self::LatencyP90 => "the 90th percentile of latency",
            Self::LatencyP95 => "the 95th percentile of latency",
            Self::LatencyP99 => "the 99th percentile of latency",
            Self::LatencyP999 => "the 99.9th percentile of latency",
            Self::LatencyMax => "the longest latency",
        }
    }

    /// A value of the figure, with its unit.
    pub(super) fn show(self, value: f64) -> String {
        match self {
            Self::Iops if value >= 100.0 => grouped(value),
            Self::Iops => number(value),
            Self::MibPerS if value >= 1000.0 => format!("{} MiB/s", grouped(value)),
            Self::MibPerS => format!("{} MiB/s", number(value)),
            _ => milliseconds(value),
        }
    }

    /// The expectation, as it appears in a sentence.
    pub(super) fn claim(self, limit: f64) -> String {
        let shown = self.show(limit);
        match self {
            Self::Iops => format!("{shown} IOPS"),
            Self::MibPerS => shown,
            Self::LatencyMean => format!("a mean latency up to {shown}"),
            Self::LatencyP50 => format!("a median latency up to {shown}"),
            Self::LatencyP90 => format!("a 90th percentile of latency up to {shown}"),
            Self::LatencyP95 => format!("a 95th percentile of latency up to {shown}"),
            Self::LatencyP99 => format!("a 99th percentile of latency up to {shown}"),
            Self::LatencyP999 => format!("a 99.9th percentile of latency up to {shown}"),
            Self::LatencyMax => format!("no latency above {shown}"),
        }
    }
}

/// A figure and its limit: at least so many I/Os, at most so much time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Expectation {
    /// The figure that the expectation limits.
    pub figure: Figure,
    /// Its limit: I/Os a second, MiB a second, or nanoseconds (whole).
    pub limit: f64,
}

impl Expectation {
    /// The measured value as a share of the claimed one, inverted for latencies, so that 1 and more
    /// is met.
    pub(super) fn attained(&self, measured: f64) -> f64 {
        if self.figure.is_latency() { self.limit / measured } else { measured / self.limit }
    }
}

/// A text that is not an expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectationError(String);

impl fmt::Display for ExpectationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExpectationError {}

/// The text that is parsed back to the same expectation.
impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.figure.name();
        if !self.figure.is_latency() {
            return write!(f, "{name} >= {}", self.limit);
        }
        let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
        let whole = |(unit, _): &&(f64, &str)| (self.limit / unit).fract() == 0.0;
        let (unit, suffix) = units.iter().find(whole).unwrap_or(&units[3]);
        write!(f, "{name} <= {}{suffix}", self.limit / unit)
    }
}

impl From<Expectation> for String {
    fn from(expectation: Expectation) -> Self {
        expectation.to_string()
    }
}

impl TryFrom<String> for Expectation {
    type Error = ExpectationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl FromStr for Expectation {
    type Err = ExpectationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |what: String| ExpectationError(format!("`{text}`: {what}"));
        let signs = [(">=", false), ("≥", false), ("<=", true), ("≤", true)];
        let found = signs.iter().find_map(|(sign, most)| Some((text.split_once(sign)?, *most)));
        let Some(((name, limit), most)) = found else {
            let form = "write a figure, `>=` or `<=`, and a limit, as in `iops >= 8000` or \
                        `latency_p99 <= 10ms`";
            return Err(error(form.to_owned()));
        };
        let name = name.trim();
        let Some(figure) = Figure::ALL.into_iter().find(|f| f.name() == name) else {
            let names = Figure::ALL.map(Figure::name).join(", ");
            return Err(error(format!("no figure is called `{name}`; there are {names}")));
        };
        if figure.is_latency() != most {
            let sign = if figure.is_latency() { "<=" } else { ">=" };
            return Err(error(format!("a limit of {name} is written with `{sign}`")));
        }
        let limit = if figure.is_latency() { nanoseconds(limit) } else { plain(limit) };
        let limit = limit.map_err(error)?;
        if limit > 0.0 && limit <= LIMIT_MAX {
            Ok(Self { figure, limit })
        } else {
            Err(error("the limit must be above zero and no more than can be".to_owned()))
        }
    }
}

/// A number; spaces and underscores may set thousands apart.
fn plain(text: &str) -> Result<f64, String> {
    let apart = |c: char| c == '_' || c.is_whitespace();
    let digits: String = text.trim().chars().filter(|c| !apart(*c)).collect();
    let clean = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    match digits.parse::<f64>() {
        Ok(value) if clean => Ok(value),
        _ => Err(format!("`{}` is not a number; write 8000 or 0.5", text.trim())),
    }
}

/// A time with its unit, to the whole nanosecond.
fn nanoseconds(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let units = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let found = units.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, *ns)));
    let Some((digits, ns)) = found else {
        return Err(format!("`{text}` needs a unit: ns, us, ms or s"));
    };
    Ok((plain(digits)? * ns).round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Expectation {
        text.parse().unwrap()
    }

    #[test]
    fn it_reads_what_people_write() {
        let iops = Expectation { figure: Figure::Iops, limit: 8000.0 };
        for text in ["iops >= 8000", "iops>=8 000", " iops ≥ 8_000 "] {
            assert_eq!(parsed(text), iops, "{text}");
        }
        assert_eq!(parsed("latency_mean <= 0.5ms"), parsed("latency_mean <= 500 us"));
        assert!((parsed("latency_p99_9 <= 1s").limit - 1e9).abs() < 1e-9);
        assert_eq!(parsed("latency_p99 <= 10ms").to_string(), "latency_p99 <= 10ms");
    }

    #[test]
    fn what_is_wrong_is_said_with_the_remedy() {
        let error = |text: &str| text.parse::<Expectation>().unwrap_err().to_string();
        assert!(error("iops = 8000").contains("as in `iops >= 8000`"));
        assert!(error("iops <= 8000").contains("is written with `>=`"));
        assert!(error("speed >= 8").contains("there are iops, mib_per_s, latency_mean"));
        assert!(error("latency_p99 <= 10").contains("needs a unit: ns, us, ms or s"));
        assert!(error("iops >= 8,000").contains("is not a number"));
        assert!(error("iops >= 0").contains("above zero"));
        assert!(error("iops >= 1e9").contains("is not a number"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = text.parse::<Expectation>();
        }

        #[test]
        fn anything_like_an_expectation_is_read_or_refused(
            text in "(iops|latency_p99|mib_per_s) ?(>=|<=|≥) ?[0-9_. ]{0,20}(ms|s|us|ns|)",
        ) {
            if let Ok(read) = text.parse::<Expectation>() {
                prop_assert_eq!(read.to_string().parse::<Expectation>().unwrap(), read);
            }
        }

        #[test]
        fn what_is_written_reads_back(figure in 0usize..9, limit in 1u64..1_000_000_000_000_000) {
            let written = Expectation { figure: Figure::ALL[figure], limit: limit as f64 };
            prop_assert_eq!(written.to_string().parse::<Expectation>().unwrap(), written);
        }
    }
}
