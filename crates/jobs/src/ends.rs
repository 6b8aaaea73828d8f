//! When work that begins now ends, in the reader's time zone.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Zoned};

/// `2026-11-20 11:12 CET`; `None` if no calendar has it.
pub(crate) fn ends(seconds: f64) -> Option<String> {
    ends_from(&Zoned::now(), seconds)
}

fn ends_from(now: &Zoned, seconds: f64) -> Option<String> {
    let span = SignedDuration::try_from_secs_f64(seconds).ok()?;
    let end = now.checked_add(span).ok()?;
    // A system without a zone is in UTC.
    let end = if end.time_zone().is_unknown() { end.with_time_zone(TimeZone::UTC) } else { end };
    Some(end.strftime("%Y-%m-%d %H:%M %Z").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_carries_its_zone() {
        let now: Zoned = "2026-11-20T10:00:00+00:00[UTC]".parse().unwrap();
        assert_eq!(ends_from(&now, 3600.0).as_deref(), Some("2026-11-20 11:00 UTC"));
        let unknown = now.with_time_zone(TimeZone::unknown());
        assert_eq!(ends_from(&unknown, 60.0).as_deref(), Some("2026-11-20 10:01 UTC"));
        assert_eq!(ends_from(&now, f64::NAN), None);
        assert_eq!(ends_from(&now, 1e18), None);
    }
}
