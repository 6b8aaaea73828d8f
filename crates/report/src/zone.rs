//! The zone in which people read times. Documents and files for programs have UTC.
//!
//! The program names the zone once, at its start; until then, and where the system does not know
//! its zone, times are in UTC. Every time is shown with the name of its zone.

use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;

static ZONE: OnceLock<TimeZone> = OnceLock::new();

/// Shows times in the zone of this process: that of the variable TZ, else that of the system. The
/// first call counts.
pub fn set_of_system() {
    let _ = ZONE.set(known(TimeZone::try_system().ok()));
}

/// A zone that is not known is UTC, and called so.
fn known(zone: Option<TimeZone>) -> TimeZone {
    zone.filter(|zone| !zone.is_unknown()).unwrap_or(TimeZone::UTC)
}

/// The zone in which times are shown.
#[must_use]
pub fn zone() -> TimeZone {
    ZONE.get().cloned().unwrap_or(TimeZone::UTC)
}

/// A moment as `2026-11-20 11:12:13 CET`.
pub(crate) fn moment(at: Timestamp) -> String {
    in_zone(at, zone())
}

fn in_zone(at: Timestamp, zone: TimeZone) -> String {
    at.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

/// A moment to the minute, `2026-11-20 11:12`; the heading above it has [`label`].
#[must_use]
pub fn minute(at: Timestamp) -> String {
    at.to_zoned(zone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// What the zone is called, `Europe/Berlin` or `UTC`; without a name, how far it is from UTC.
#[must_use]
pub fn label() -> String {
    called(&zone())
}

fn called(zone: &TimeZone) -> String {
    let name = zone.iana_name().map(str::to_owned);
    name.unwrap_or_else(|| Timestamp::now().to_zoned(zone.clone()).strftime("UTC%:z").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz;

    #[test]
    fn a_time_carries_its_zone() {
        let at: Timestamp = "2026-11-20T10:12:13.25Z".parse().unwrap();
        assert_eq!(in_zone(at, TimeZone::UTC), "2026-11-20 10:12:13 UTC");
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(in_zone(at, berlin), "2026-11-20 11:12:13 CET");
        let fixed = TimeZone::fixed(tz::offset(-3));
        assert_eq!(in_zone(at, fixed.clone()), "2026-11-20 07:12:13 -03");
        assert_eq!((called(&fixed), called(&TimeZone::UTC)), ("UTC-03:00".into(), "UTC".into()));
    }

    /// A small container has no database of zones.
    #[test]
    fn a_zone_that_is_not_known_is_utc() {
        assert_eq!(called(&known(None)), "UTC");
        assert_eq!(called(&known(Some(TimeZone::unknown()))), "UTC");
    }
}
