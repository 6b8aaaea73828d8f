//! What has to hold in a fit, as people write it, and how fast a load grows.

use std::str::FromStr;

use replay::Limit;
use results::verdict::{Database, Limits, Role, Statistic};
use results::{CapturedOp, FitLimit};
use serde::{Deserialize, Serialize};
use workload::Nanoseconds;

/// The sets of I/Os of a limit by their words, as indexes into [`replay::CLASSES`].
const WORDS: [(&str, &[usize]); 5] =
    [("read", &[0]), ("write", &[1]), ("durable", &[2]), ("flush", &[3]), ("log", LOG)];

/// Writes and flushes of the log where it is not told apart, and where it is.
const LOG: &[usize] = &[2, 3];
const KNOWN_LOG: &[usize] = &[replay::LOG_WRITES, 3];

/// A limit such as `log=5ms@p99`: of reads, writes, durable writes, flushes, or `log`, which is the
/// writes of the log, or all durable writes where it is not told apart, and the flushes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LatencyLimit {
    text: String,
    classes: &'static [usize],
    quantile: f64,
    at_most_ns: u64,
}

impl FromStr for LatencyLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "write a limit such as log=5ms@p99, with read, write, durable, flush or log before the \
             equals sign"
                .to_owned()
        };
        let (word, limit) = text.trim().split_once('=').ok_or_else(wrong)?;
        let found = WORDS.iter().find(|(known, _)| *known == word.trim());
        let (_, classes) = found.ok_or_else(wrong)?;
        let (time, quantile) = limit.split_once('@').unwrap_or((limit, "p99"));
        let percent: f64 =
            quantile.trim().strip_prefix('p').and_then(|p| p.parse().ok()).ok_or_else(wrong)?;
        let time: Nanoseconds = time.trim().parse().map_err(|_| wrong())?;
        if !(1.0..=99.99).contains(&percent) || time.0 == 0 {
            return Err(wrong());
        }
        Ok(Self {
            text: text.trim().to_owned(),
            classes,
            quantile: percent / 100.0,
            at_most_ns: time.0,
        })
    }
}

impl TryFrom<String> for LatencyLimit {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<LatencyLimit> for String {
    fn from(limit: LatencyLimit) -> Self {
        limit.text
    }
}

/// The limits that hold: those of the user, or those of the roles.
///
/// Where the log is known, its limit holds for its writes and all flushes; elsewhere, for all
/// durable writes and flushes.
pub(super) fn limits(asked: &[LatencyLimit], knows_log: bool) -> Vec<(Limit, FitLimit)> {
    let one = |class: usize, quantile: f64, at_most_ns: u64, source: &str| {
        let kind: CapturedOp = super::convert::set(class);
        let published = FitLimit { kind, quantile, at_most_ns, source: source.to_owned() };
        (Limit { class, quantile, at_most_ns }, published)
    };
    if !asked.is_empty() {
        let each = |l: &LatencyLimit| {
            let classes = if knows_log && l.classes == LOG { KNOWN_LOG } else { l.classes };
            classes
                .iter()
                .map(|class| one(*class, l.quantile, l.at_most_ns, "set by the user"))
                .collect::<Vec<_>>()
        };
        return asked.iter().flat_map(each).collect();
    }
    let roles = survey::limits_of(Database::Generic);
    let limits = limits_of_roles(&roles, knows_log).into_iter();
    limits.map(|(role, l)| one(l.class, l.quantile, l.at_most_ns, &role.source)).collect()
}

/// What 99 % of the I/Os of each role have to hold, as in a verdict: the acceptable limit where the
/// 99th percentile is judged, and that times the role's factor where the mean is.
pub(super) fn limits_of_roles(roles: &[Limits], knows_log: bool) -> Vec<(&Limits, Limit)> {
    let mut limits = Vec::new();
    for role in roles {
        let classes: &[usize] = match role.role {
            Role::Log if knows_log => KNOWN_LOG,
            Role::Log => LOG,
            Role::OltpData => &[0],
            Role::DssData | Role::Compaction => &[],
        };
        let factor = match role.statistic {
            Statistic::Mean => role.tail_factor,
            Statistic::P99 => 1,
        };
        let at_most_ns = role.acceptable_ns.saturating_mul(u64::from(factor));
        let limit = |class: &usize| (role, Limit { class: *class, quantile: 0.99, at_most_ns });
        limits.extend(classes.iter().map(limit));
    }
    limits
}

/// The growth of a load, such as `4%/month` or `50%/year`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Growth {
    percent: f64,
    months: f64,
}

impl FromStr for Growth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write a growth such as 4%/month or 50%/year".to_owned();
        let (percent, period) = text.split_once('/').ok_or_else(wrong)?;
        let percent = percent.trim().strip_suffix('%').ok_or_else(wrong)?.trim();
        let percent: f64 = percent.parse().map_err(|_| wrong())?;
        let months = match period.trim() {
            "month" => 1.0,
            "year" => 12.0,
            _ => return Err(wrong()),
        };
        if !(0.01..=1000.0).contains(&percent) {
            return Err(wrong());
        }
        Ok(Self { percent, months })
    }
}

impl TryFrom<String> for Growth {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Growth> for String {
    fn from(growth: Growth) -> Self {
        let period = if growth.months > 1.0 { "year" } else { "month" };
        format!("{}%/{period}", growth.percent)
    }
}

impl Growth {
    fn factor_per_month(self) -> f64 {
        (1.0 + self.percent / 100.0).powf(1.0 / self.months)
    }

    /// The growth of the load, in percent per month.
    pub(super) fn percent_per_month(self) -> f64 {
        100.0 * (self.factor_per_month() - 1.0)
    }

    /// Months until a load is so many times as large; 0 where it is already.
    pub(super) fn months(self, factor: f64) -> f64 {
        (factor.max(1.0).ln() / self.factor_per_month().ln()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn limits_and_growth_are_read_as_they_are_typed() {
        let log: LatencyLimit = "log=5ms@p99.9".parse().unwrap();
        let all = limits(&[log], false);
        assert_eq!(all.len(), 2, "durable writes and flushes");
        assert_eq!((all[1].0.class, all[1].0.at_most_ns), (3, 5_000_000));
        assert!((all[1].0.quantile - 0.999).abs() < 1e-9);
        let known = limits(&["log=5ms".parse().unwrap()], true);
        assert_eq!(known.iter().map(|l| l.0.class).collect::<Vec<_>>(), [replay::LOG_WRITES, 3]);
        for text in ["log", "log=5", "tape=5ms", "read=0ms", "read=5ms@99", "read=5ms@p100"] {
            assert!(text.parse::<LatencyLimit>().is_err(), "{text}");
        }
        assert!(limits(&[], false).len() >= 3, "those of the roles");
        let growth: Growth = "4%/month".parse().unwrap();
        assert!((growth.months(2.0) - 17.67).abs() < 0.01);
        let yearly: Growth = "50%/year".parse().unwrap();
        assert!((yearly.months(1.5) - 12.0).abs() < 1e-9);
        assert!(yearly.months(0.5).abs() < 1e-9, "it is full already");
        assert!("4/month".parse::<Growth>().is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z0-9=@p.%/]{0,16}|.{0,8}") {
            if let Ok(limit) = text.parse::<LatencyLimit>() {
                prop_assert_eq!(String::from(limit.clone()).parse::<LatencyLimit>(), Ok(limit));
            }
            if let Ok(growth) = text.parse::<Growth>() {
                prop_assert_eq!(String::from(growth).parse::<Growth>(), Ok(growth));
                prop_assert!(growth.months(3.0) > 0.0);
            }
        }
    }
}
