//! Moments of a trace as people write them: a time of day, or a time from its beginning.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use workload::Nanoseconds;

/// A moment of a trace, and the text that named it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceMoment {
    text: String,
    when: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// From the beginning of the trace.
    After(u64),
    /// The first such time of day in the trace, in this host's time zone.
    Clock(Time),
}

impl FromStr for TraceMoment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let clock = || text.contains(':').then(|| text.parse::<Time>().ok()).flatten();
        let after = || text.parse::<Nanoseconds>().ok().map(|ns| When::After(ns.0));
        let when = clock().map(When::Clock).or_else(after).ok_or_else(|| {
            "write a time of day such as 14:00 or 14:00:30, or a time from the beginning of the \
             trace such as 90s or 5min"
                .to_owned()
        })?;
        Ok(Self { text: text.to_owned(), when })
    }
}

impl TryFrom<String> for TraceMoment {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<TraceMoment> for String {
    fn from(moment: TraceMoment) -> Self {
        moment.text
    }
}

impl fmt::Display for TraceMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl TraceMoment {
    /// Its time from the beginning of a trace that began then.
    ///
    /// # Errors
    /// It is a time of day, and the trace does not say when it began.
    pub(super) fn in_trace(
        &self,
        began_unix_ms: Option<u64>,
        zone: &TimeZone,
    ) -> Result<u64, String> {
        let time = match self.when {
            When::After(ns) => return Ok(ns),
            When::Clock(time) => time,
        };
        let began = began_unix_ms.and_then(|ms| i64::try_from(ms).ok());
        let began = began.and_then(|ms| Timestamp::from_millisecond(ms).ok()).ok_or_else(|| {
            format!(
                "the trace does not say when it began, so {} is not known in it; write a time from \
                 its beginning, such as 90s",
                self.text
            )
        })?;
        let local = began.to_zoned(zone.clone());
        let on = |day: jiff::civil::Date| day.to_datetime(time).to_zoned(zone.clone()).ok();
        let today = on(local.date()).filter(|at| at.timestamp() >= began);
        let at = today.or_else(|| local.date().tomorrow().ok().and_then(on));
        let after = at.map_or(SignedDuration::ZERO, |at| at.timestamp().duration_since(began));
        Ok(u64::try_from(after.as_nanos()).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn moment(text: &str) -> TraceMoment {
        text.parse().unwrap()
    }

    #[test]
    fn a_time_of_day_is_the_first_one_in_the_trace() {
        // 2026-11-24, 13:30:00 UTC.
        let began = Some(1_795_527_000_000);
        let at = |text: &str| moment(text).in_trace(began, &TimeZone::UTC).unwrap();
        assert_eq!(at("14:00"), 1800 * 1_000_000_000);
        assert_eq!(at("13:30:05"), 5_000_000_000);
        assert_eq!(at("13:00"), (24 * 3600 - 1800) * 1_000_000_000, "of the next day");
        assert_eq!(at("90s"), 90_000_000_000);
        let unknown = moment("14:00").in_trace(None, &TimeZone::UTC).unwrap_err();
        assert!(unknown.contains("does not say when it began"), "{unknown}");
        assert_eq!(moment("5min").in_trace(None, &TimeZone::UTC), Ok(300_000_000_000));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9:a-z. ]{0,12}|.{0,8}", began: Option<u64>) {
            if let Ok(moment) = text.parse::<TraceMoment>() {
                let again: TraceMoment = String::from(moment.clone()).parse().unwrap();
                prop_assert_eq!(&again, &moment);
                let _ = moment.in_trace(began, &TimeZone::UTC);
            }
        }
    }
}
