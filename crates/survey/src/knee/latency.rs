//! The most I/Os a second within a latency.

use std::fmt::{self, Write};
use std::str::FromStr;

use analysis::claims::Outcome;
use results::steady::UNSURE_PERCENT;
use results::{Latency, Measurement, Purpose, WithinLatency};
use serde::{Deserialize, Serialize};
use workload::{Nanoseconds, show_ns, show_number};

use super::KneeLab;

/// Statistics of the latency that can be asked for.
const STATISTICS: [&str; 6] = ["mean", "p50", "p90", "p95", "p99", "p99.9"];
/// The search ends when the depths that are within the latency and beyond it are this close.
const CLOSE: f64 = 1.06;
/// And after so many loads, whatever they gave.
const MEASUREMENTS_MAX: usize = 8;

/// A latency that must be kept: `5ms@p99`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// The longest latency that is allowed.
    pub latency_ns: Nanoseconds,
    /// Of which statistic: `mean`, `p50`, `p90`, `p95`, `p99` or `p99.9`.
    pub statistic: String,
    /// I/Os a second that are expected within it.
    pub expected_iops: Option<f64>,
}

/// Why a text is not a latency target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a latency target; write a time and a statistic, such as 5ms@p99: mean, p50, p90, \
     p95, p99 or p99.9"
)]
pub struct LatencyTargetError(String);

impl FromStr for LatencyTarget {
    type Err = LatencyTargetError;

    fn from_str(text: &str) -> Result<Self, LatencyTargetError> {
        let wrong = || LatencyTargetError(text.to_owned());
        let (time, statistic) = text.split_once('@').ok_or_else(wrong)?;
        let latency_ns: Nanoseconds = time.trim().parse().map_err(|_| wrong())?;
        let statistic = statistic.trim().to_ascii_lowercase();
        if latency_ns.0 == 0 || !STATISTICS.contains(&statistic.as_str()) {
            return Err(wrong());
        }
        Ok(Self { latency_ns, statistic, expected_iops: None })
    }
}

impl fmt::Display for LatencyTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.latency_ns, self.statistic)
    }
}

impl LatencyTarget {
    fn of(&self, latency: &Latency) -> Option<f64> {
        if self.statistic == "mean" {
            return Some(latency.mean);
        }
        let percentiles = latency.percentiles();
        let (_, value) = percentiles.into_iter().find(|(name, _)| *name == self.statistic)?;
        value.map(|ns| ns as f64)
    }

    /// The statistic of a measurement; `None` if too few I/Os lie above it.
    fn reached(&self, measurement: &Measurement) -> Option<f64> {
        measurement.total.latency_ns.as_ref().and_then(|latency| self.of(latency))
    }

    /// An I/O whose latency is not known is not within any.
    fn holds(&self, measurement: &Measurement) -> bool {
        self.reached(measurement).is_some_and(|ns| ns <= self.latency_ns.0 as f64)
    }
}

impl KneeLab<'_, '_> {
    /// Goes in between the deepest load within the latency and the first beyond it, until they are
    /// close.
    pub(super) fn within(&mut self, target: &LatencyTarget) -> WithinLatency {
        for _ in 0..MEASUREMENTS_MAX {
            let Some(depth) = self.next_depth(target) else { break };
            if self.measure(Purpose::LatencyTarget, self.at(depth)).is_none() {
                break;
            }
        }
        self.best(target)
    }

    /// The loads that differ in depth only.
    fn by_depth(&self) -> impl Iterator<Item = (u32, &Measurement)> {
        let same = |purpose| matches!(purpose, Purpose::Curve | Purpose::LatencyTarget);
        let loads = self.loads.iter().filter(move |load| same(load.purpose));
        loads.map(|load| (load.depth, &self.measurements[load.measurement]))
    }

    fn next_depth(&self, target: &LatencyTarget) -> Option<u32> {
        let beyond =
            self.by_depth().filter(|(_, m)| !target.holds(m)).map(|(depth, _)| depth).min();
        let within = self
            .by_depth()
            .filter(|(depth, m)| target.holds(m) && beyond.is_none_or(|b| *depth < b));
        let within = within.map(|(depth, _)| depth).max()?;
        // Where every load is within it: more in flight than the curve needed brings no more, only
        // latency.
        let beyond = beyond?;
        let middle = (f64::from(within) * f64::from(beyond)).sqrt().round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between two u32"
        )]
        let middle = middle as u32;
        let apart = f64::from(beyond) > CLOSE * f64::from(within);
        (apart && middle > within && middle < beyond).then_some(middle)
    }

    /// Whether any load gives that many IOPS within the latency. Nothing is judged by a load that
    /// is hardly known.
    fn outcome(&self, target: &LatencyTarget, iops: f64) -> Outcome {
        let is = |met: bool| if met { Outcome::Met } else { Outcome::NotMet };
        Outcome::of_any(self.by_depth().map(|(_, m)| {
            if m.is_unsure() {
                return Outcome::NotMeasured;
            }
            let latency = target.reached(m).map(|ns| is(ns <= target.latency_ns.0 as f64));
            let latency = latency.unwrap_or(Outcome::NotMeasured);
            Outcome::of_all([is(m.total.iops >= iops), latency])
        }))
    }

    fn best(&self, target: &LatencyTarget) -> WithinLatency {
        let loads = self.loads.iter().filter(|load| {
            matches!(load.purpose, Purpose::Curve | Purpose::LatencyTarget)
                && target.holds(&self.measurements[load.measurement])
        });
        let best = loads.max_by(|a, b| a.iops.total_cmp(&b.iops));
        let reached_ns = best.and_then(|load| target.reached(&self.measurements[load.measurement]));
        let expected = target.expected_iops.map(|iops| (iops, self.outcome(target, iops)));
        let mut explanation = match (best, reached_ns) {
            (Some(load), Some(ns)) => format!(
                "Within {target}, the most is {} IOPS, with {} in flight, at {} of {}.",
                show_number(load.iops),
                load.in_flight,
                target.statistic,
                show_ns(ns)
            ),
            _ => format!("No load that was measured is within {target}."),
        };
        let why = if self.by_depth().any(|(_, m)| m.is_unsure()) {
            format!("figures may be more than {UNSURE_PERCENT} % off")
        } else {
            format!("too few I/Os were measured for {}", target.statistic)
        };
        if let Some((iops, outcome)) = expected {
            let iops = show_number(iops);
            let _ = match outcome {
                Outcome::Met => write!(explanation, " The expected {iops} IOPS are reached."),
                Outcome::NotMet => {
                    write!(explanation, " The expected {iops} IOPS are not reached.")
                }
                Outcome::NotMeasured => write!(
                    explanation,
                    " Whether the expected {iops} IOPS are reached cannot be judged: {why}."
                ),
            };
        }
        WithinLatency {
            target: target.to_string(),
            latency_ns: target.latency_ns.0,
            statistic: target.statistic.clone(),
            measurement: best.map(|load| load.measurement),
            in_flight: best.map(|load| load.in_flight),
            iops: best.map(|load| load.iops),
            reached_ns,
            expected_iops: target.expected_iops,
            met: expected.and_then(|(_, outcome)| match outcome {
                Outcome::Met => Some(true),
                Outcome::NotMet => Some(false),
                Outcome::NotMeasured => None,
            }),
            explanation,
        }
    }
}
