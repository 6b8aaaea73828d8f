//! Dates and times of day as tools print them, in one country or another.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// A time of day, and whether it is of a clock with AM and PM. The rest of the words.
pub(crate) fn clock(words: &[&str]) -> Option<(Time, bool, usize)> {
    let first = words.first()?.replace(['時', '时', '分'], ":");
    let mut parts = first.trim_end_matches('秒').split(':');
    let mut next = || parts.next()?.parse::<i8>().ok();
    let (hour, minute) = (next()?, next()?);
    let (second, nanosecond) = match parts.next() {
        None => (0, 0),
        Some(text) => seconds(text)?,
    };
    if parts.next().is_some() {
        return None;
    }
    let half = words.get(1).map(|word| word.to_ascii_uppercase().replace('.', ""));
    let hour12 = |hour: i8| (1..=12).contains(&hour).then_some(hour % 12);
    let (hour, used) = match half.as_deref() {
        Some("AM") => (hour12(hour)?, 2),
        Some("PM") => (hour12(hour)? + 12, 2),
        _ => (hour, 1),
    };
    Some((Time::new(hour, minute, second, nanosecond).ok()?, used == 2, used))
}

/// Seconds with or without a fraction.
fn seconds(text: &str) -> Option<(i8, i32)> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let digits = fraction.get(..fraction.len().min(9))?;
    let nanosecond = if fraction.is_empty() { 0 } else { format!("{digits:0<9}").parse().ok()? };
    Some((whole.parse().ok()?, nanosecond))
}

/// A day: `2026-11-25`, `11/25/2026`, `11/25/26`, `25.11.2026`, `2026年11月25日`. Of two numbers that
/// may both be months, nobody knows which is, unless the month is known to come first.
pub(crate) fn day(text: &str, month_first: bool) -> Option<Date> {
    let text = text.trim_end_matches('日');
    let parts: Vec<&str> = text.split(['-', '/', '.', '年', '月']).collect();
    let &[first, second, third] = parts.as_slice() else { return None };
    let number = |text: &str| {
        let digits = text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<i16>().ok().filter(|_| digits)
    };
    let year = |text: &str| number(text).map(|y| if text.len() <= 2 { 2000 + y } else { y });
    let (a, b, c) = (number(first)?, number(second)?, number(third)?);
    let (year, month, day) = if first.len() == 4 {
        (a, b, c)
    } else if text.contains('.') {
        (year(third)?, b, a)
    } else {
        match (a, b) {
            (1..=12, 13..) => (year(third)?, a, b),
            (13.., _) => (year(third)?, b, a),
            _ if month_first || a == b => (year(third)?, a, b),
            _ => return None,
        }
    };
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;

/// How long it was from one printed time to the next, where most intervals are `usual` long and the
/// clock seems to have gone back: by a day where it passed midnight and the day is not known, by an
/// hour at the end of summer. What is still below 0 was set by hand.
pub(super) fn forward(seconds: f64, usual: f64, is_dated: bool) -> f64 {
    if seconds >= 0.0 {
        seconds
    } else if is_near(seconds + HOUR, usual) {
        seconds + HOUR
    } else if !is_dated && seconds >= -DAY {
        seconds + DAY
    } else {
        seconds
    }
}

/// Whether an interval is about as long as most are; times have whole seconds.
fn is_near(seconds: f64, usual: f64) -> bool {
    usual > 0.0 && seconds > 0.0 && (seconds - usual).abs() <= (usual / 2.0).max(1.0)
}

/// The lengths of intervals between these times. One that is a second off is as long as the others.
pub(super) fn lengths(times: &[f64], is_dated: bool) -> Vec<f64> {
    let apart: Vec<f64> = times.iter().zip(times.iter().skip(1)).map(|(a, b)| b - a).collect();
    let usual = usual(apart.iter().copied().filter(|seconds| *seconds > 0.0));
    let mut went_back = false;
    let length = |apart: f64| {
        let mut seconds = forward(apart, usual, is_dated);
        went_back |= apart < 0.0;
        // In a time zone with summer time, the clock of the second hour is read as of the first.
        if went_back && is_near(seconds - HOUR, usual) {
            seconds -= HOUR;
            went_back = false;
        }
        if (seconds - usual).abs() <= 1.0 { usual } else { seconds }
    };
    apart.into_iter().map(length).collect()
}

/// Printed times as they rise: an hour back at the end of summer is no step back. `None` for those
/// that are not in order.
pub(super) fn rising(times: &[f64]) -> Vec<Option<f64>> {
    let apart = times.iter().zip(times.iter().skip(1)).map(|(a, b)| b - a);
    let usual = usual(apart.filter(|seconds| *seconds > 0.0));
    let (mut shift, mut last) = (0.0, f64::NEG_INFINITY);
    let rise = |time: &f64| {
        let apart = time + shift - last;
        if apart <= 0.0 && is_near(apart + HOUR, usual) {
            shift += HOUR;
        } else if shift > 0.0 && is_near(apart - HOUR, usual) {
            // With summer time, the clock of the second hour is read as of the first.
            shift -= HOUR;
        }
        let time = time + shift;
        (time > last).then(|| {
            last = time;
            time
        })
    };
    times.iter().map(rise).collect()
}

/// The length of most intervals: the middle one of all.
pub(super) fn usual(seconds: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = seconds.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// A moment in seconds since 1970.
pub(super) fn unix(moment: Timestamp) -> f64 {
    moment.as_duration().as_secs_f64()
}

/// The moment of a clock in a time zone, in seconds since 1970.
pub(crate) fn in_zone(at: DateTime, zone: &TimeZone) -> Option<f64> {
    Some(unix(zone.to_timestamp(at).ok()?))
}

/// Reads `2026-11-25T02:10:52+0000`, as `S_TIME_FORMAT=ISO` writes it.
pub(super) fn iso(text: &str) -> Option<f64> {
    let moment =
        text.parse::<Timestamp>().or_else(|_| Timestamp::strptime("%Y-%m-%dT%H:%M:%S%z", text));
    moment.ok().map(unix)
}

/// A moment as RFC 3339 in UTC.
pub(super) fn rfc3339(unix_seconds: f64) -> Option<String> {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and is then refused")]
    let ms = (unix_seconds * 1e3).round() as i64;
    Timestamp::from_millisecond(ms).ok().map(|moment| moment.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn days_are_read_where_they_mean_one() {
        let show = |text, first| day(text, first).map(|day| day.to_string());
        assert_eq!(show("11/25/26", false).as_deref(), Some("2026-11-25"));
        assert_eq!(show("25/11/2026", false).as_deref(), Some("2026-11-25"));
        assert_eq!(show("2026-03-05", false).as_deref(), Some("2026-03-05"));
        assert_eq!(show("05.03.2026", false).as_deref(), Some("2026-03-05"));
        assert_eq!(show("03/05/2026", false), None);
        assert_eq!(show("03/05/2026", true).as_deref(), Some("2026-03-05"));
        assert_eq!(show("02/30/2026", true), None);
        assert_eq!(show("2026年3月5日", false).as_deref(), Some("2026-03-05"));
    }

    #[test]
    fn clocks_have_12_or_24_hours() {
        let show = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            clock(&words).map(|(time, half, used)| (time.to_string(), half, used))
        };
        assert_eq!(show("12:00:01 AM x"), Some(("00:00:01".to_owned(), true, 2)));
        assert_eq!(show("12:00:01 PM"), Some(("12:00:01".to_owned(), true, 2)));
        assert_eq!(show("11:59:59 p.m."), Some(("23:59:59".to_owned(), true, 2)));
        assert_eq!(show("23:59:59 sda"), Some(("23:59:59".to_owned(), false, 1)));
        assert_eq!(show("10:00:01.250"), Some(("10:00:01.25".to_owned(), false, 1)));
        assert_eq!(show("18時33分48秒 DEV"), Some(("18:33:48".to_owned(), false, 1)));
        assert_eq!(show("18时33分48秒"), Some(("18:33:48".to_owned(), false, 1)));
        assert_eq!(show("18时"), None);
        assert_eq!(show("Average: sda"), None);
        assert_eq!(show("13:00:00 PM"), None);
    }

    #[test]
    fn iso_names_its_zone() {
        assert_eq!(iso("1970-01-01T01:00:00+0100"), Some(0.0));
        assert_eq!(iso("1970-01-01T00:00:02+00:00"), Some(2.0));
        assert_eq!(iso("1970-01-01T00:00:02"), None);
    }

    /// An hour back was taken for midnight: a window of 23 hours.
    #[test]
    fn clocks_go_back_at_midnight_and_in_autumn() {
        let all = |length: f64, count: usize| vec![length; count];
        for (times, is_dated, expected) in [
            // This system is in a zone without summer time, and in one with it.
            (vec![7198.0, 7199.0, 3600.0, 3601.0], true, all(1.0, 3)),
            (vec![0.0, 1200.0, -1200.0, 0.0, 1200.0, 6000.0, 7200.0], true, all(1200.0, 6)),
            (vec![85_800.0, 0.0, 600.0, 1200.0], false, all(600.0, 3)),
            (vec![10_200.0, 7200.0, 7800.0, 8400.0], false, all(600.0, 3)),
            // The clock was set.
            (vec![100.0, 105.0, 40.0, 45.0], true, vec![5.0, -65.0, 5.0]),
        ] {
            assert_eq!(lengths(&times, is_dated), expected, "{times:?}");
        }
    }

    #[test]
    fn times_rise_over_an_hour_back() {
        for (times, risen) in [
            (vec![0.0, 5.0, -3590.0, -3585.0], vec![0.0, 5.0, 10.0, 15.0]),
            // In a time zone with summer time.
            (vec![0.0, 5.0, -3590.0, -3585.0, 20.0, 25.0], vec![0.0, 5.0, 10.0, 15.0, 20.0, 25.0]),
            (vec![10.0, 15.0, 12.0, 20.0], vec![10.0, 15.0, 20.0]),
            (vec![10.0, 15.0, 15.0, 20.0], vec![10.0, 15.0, 20.0]),
        ] {
            let found: Vec<f64> = rising(&times).into_iter().flatten().collect();
            assert_eq!(found, risen, "{times:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,40}", numbers in "[0-9/.: AMP年月日时分秒-]{0,30}") {
            for text in [text, numbers] {
                let words: Vec<&str> = text.split_whitespace().collect();
                let _ = (clock(&words), day(&text, true), day(&text, false), iso(&text));
            }
        }
    }
}
