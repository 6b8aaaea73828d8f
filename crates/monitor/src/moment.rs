//! A time of the day in JSON: RFC 3339, UTC, to the nanosecond.

use std::time::Duration;

use jiff::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(unix: &Duration, out: S) -> Result<S::Ok, S::Error> {
    let at = i128::try_from(unix.as_nanos()).map(Timestamp::from_nanosecond);
    out.collect_str(&at.unwrap_or(Ok(Timestamp::MAX)).unwrap_or(Timestamp::MAX))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let at: Timestamp = String::deserialize(from)?.parse().map_err(D::Error::custom)?;
    Duration::try_from(at.as_duration()).map_err(D::Error::custom)
}
