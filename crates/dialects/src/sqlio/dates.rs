//! Dates in the heads of logs, as Windows writes them in one country or another.

use jiff::civil::{Date, DateTime};

/// A date with or without a time, as UTC in RFC 3339. `None` if it may mean two days, or none.
pub(super) fn read(text: &str) -> Option<String> {
    let mut parts =
        text.split_whitespace().filter(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let date = day(parts.next()?)?;
    let clock = parts.next().and_then(|time| clock(time, text)).unwrap_or((0, 0, 0));
    let at =
        DateTime::new(date.year(), date.month(), date.day(), clock.0, clock.1, clock.2, 0).ok()?;
    Some(format!("{}Z", at.strftime("%Y-%m-%dT%H:%M:%S")))
}

/// `2011-05-23`, `5/23/2011`, `23.05.2011`; of two numbers that may both be months, nobody knows
/// which is.
fn day(text: &str) -> Option<Date> {
    let numbers: Vec<i16> =
        text.split(['-', '/', '.']).map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let &[first, second, third] = numbers.as_slice() else { return None };
    let (year, month, day) = match (first, second, third) {
        (year @ 1990.., month, day)
        | (month @ 1..=12, day @ 13.., year)
        | (day @ 13.., month, year) => (year, month, day),
        (same, other, year) if same == other => (year, same, other),
        _ => return None,
    };
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// `22:11:05.37`, `10:11:05` with `PM` after it.
fn clock(time: &str, text: &str) -> Option<(i8, i8, i8)> {
    let mut numbers = time.split([':', '.', ',']).map(str::parse::<i8>);
    let (hour, minute) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let second = numbers.next().and_then(Result::ok).unwrap_or(0);
    let half = text.trim_end().to_ascii_lowercase();
    let hour = match hour {
        12 if half.ends_with("am") => 0,
        1..=11 if half.ends_with("pm") => hour + 12,
        hour => hour,
    };
    Some((hour, minute, second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_date_is_read_where_it_means_one_day() {
        for (text, found) in [
            ("2011-05-03 22:11:05", Some("2011-05-03T22:11:05Z")),
            ("Mon 05/23/2011 10:11:05.37", Some("2011-05-23T10:11:05Z")),
            ("5/23/2011 10:11:05 PM", Some("2011-05-23T22:11:05Z")),
            ("23.05.2011", Some("2011-05-23T00:00:00Z")),
            ("5/5/2011", Some("2011-05-05T00:00:00Z")),
            ("05/03/2011 10:00", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(read(text).as_deref(), found, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in ".{0,60}", numbers in "[0-9/.: -]{0,30}") {
            let _ = (read(&text), read(&numbers));
        }
    }
}
