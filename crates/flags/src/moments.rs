//! Moments as people type them.

use jiff::civil::DateTime;
use jiff::{Span, Timestamp, Zoned};

/// A moment as people write it: a date, a time, a day or how long ago, seen from `now` and in its
/// zone.
///
/// # Errors
///
/// A sentence with the forms that are understood.
pub fn moment(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    let text = text.trim();
    let zoned = || {
        let local: DateTime = text.parse().ok()?;
        local.to_zoned(now.time_zone().clone()).ok().map(|zoned| zoned.timestamp())
    };
    let wrong = || {
        "write a date such as 2026-11-21, a time such as 2026-11-21T15:04, `today`, `yesterday`, \
         or how long ago: 30m, 12h, 7d, 2w"
            .to_owned()
    };
    let found = text.parse().ok().or_else(zoned).or_else(|| day(text, now));
    found.or_else(|| ago(text, now)).ok_or_else(wrong)
}

/// The beginning of today or yesterday, and now.
fn day(text: &str, now: &Zoned) -> Option<Timestamp> {
    let day = match text.to_ascii_lowercase().as_str() {
        "now" => return Some(now.timestamp()),
        "today" => now.clone(),
        "yesterday" => now.yesterday().ok()?,
        _ => return None,
    };
    day.start_of_day().ok().map(|zoned| zoned.timestamp())
}

/// `7d`, `12h`, `2w`, also with ` ago`. A day is one of the calendar, whatever its length.
fn ago(text: &str, now: &Zoned) -> Option<Timestamp> {
    let text = text.strip_suffix(" ago").unwrap_or(text).trim_end();
    let at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    let number: i64 = number.parse().ok().filter(|number| *number < 1_000_000)?;
    let span = match unit.trim_start() {
        "s" | "sec" => Span::new().seconds(number),
        "m" | "min" => Span::new().minutes(number),
        "h" => Span::new().hours(number),
        "d" | "day" | "days" => Span::new().try_days(number).ok()?,
        "w" | "week" | "weeks" => Span::new().try_weeks(number).ok()?,
        _ => return None,
    };
    now.checked_sub(span).ok().map(|then| then.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Zoned {
        "2026-03-30T10:30:00+02:00[Europe/Berlin]".parse().unwrap()
    }

    #[test]
    fn a_moment_is_a_date_or_a_time_with_or_without_a_zone() {
        let at = |text| moment(text, &now()).map(|then| then.to_string());
        assert_eq!(at("2026-11-21T15:04:00Z").as_deref(), Ok("2026-11-21T15:04:00Z"));
        assert_eq!(at("2026-11-21T15:04").as_deref(), Ok("2026-11-21T14:04:00Z"));
        assert_eq!(at("2026-11-21").as_deref(), Ok("2026-11-20T23:00:00Z"));
        assert!(at("tomorrow").is_err() && at("").is_err());
    }

    /// `--since 7d` and `--since yesterday` were refused.
    #[test]
    fn a_moment_is_also_how_long_ago_it_was() {
        let at = |text| moment(text, &now()).map(|then| then.to_string());
        assert_eq!(at("today").as_deref(), Ok("2026-03-29T22:00:00Z"));
        // The day of 23 hours before it.
        assert_eq!(at("yesterday").as_deref(), Ok("2026-03-28T23:00:00Z"));
        assert_eq!(at("12h").as_deref(), Ok("2026-03-29T20:30:00Z"));
        assert_eq!(at("7d"), at("1w"));
        assert_eq!(at("7 days ago").as_deref(), Ok("2026-03-23T09:30:00Z"));
        for wrong in ["d", "7", "7x", "-1d", "99999999999999999999d", "999999w", "7d7"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_moment_or_refused(text in "[0-9a-z :-]{0,20}|.{0,12}") {
            let _ = moment(&text, &now());
        }
    }
}
