//! Sizes and times: how people write them, how the program keeps them, how they are shown.
//!
//! Inside the program a size is bytes and a time is nanoseconds, both `u64`. `K M G T` are powers
//! of 1024 everywhere.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use thiserror::Error;

/// Why a written size or time cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnitError {
    /// The text has no number in front of its unit.
    #[error("`{text}` is not a {what}: write a number and a unit, for example `{example}`")]
    NotANumber {
        /// The text as it was written.
        text: String,
        /// What it should be: "size" or "time".
        what: &'static str,
        /// A text that would have been accepted.
        example: &'static str,
    },
    /// The unit is not known.
    #[error("`{text}` has the unit `{unit}`; known are {known}")]
    UnknownUnit {
        /// The text as it was written.
        text: String,
        /// The part that was taken for the unit.
        unit: String,
        /// The units that would have been understood.
        known: &'static str,
    },
    /// The value does not fit 64 bits, is negative, or is not a whole number of bytes or
    /// nanoseconds.
    #[error("`{text}` is out of range: {rule}")]
    OutOfRange {
        /// The text as it was written.
        text: String,
        /// What the value must be, as the end of a sentence.
        rule: &'static str,
    },
}

/// Splits `12.5 MiB` in its number and its unit, and multiplies them exactly.
fn scale(
    text: &str,
    what: &'static str,
    example: &'static str,
    unit_of: fn(&str) -> Option<u64>,
    known: &'static str,
) -> Result<u64, UnitError> {
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let number = number.replace('_', "");
    let not_a_number = || UnitError::NotANumber { text: text.to_owned(), what, example };
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if number.is_empty() || (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(not_a_number());
    }
    let unit = unit.trim();
    let factor = unit_of(unit).ok_or_else(|| UnitError::UnknownUnit {
        text: text.to_owned(),
        unit: unit.to_owned(),
        known,
    })?;
    let too_large =
        || UnitError::OutOfRange { text: text.to_owned(), rule: "it must fit in 64 bits" };
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
    let mut value = whole.checked_mul(factor).ok_or_else(too_large)?;
    if !fraction.is_empty() {
        // Twelve digits are exact in 128 bits for every factor; more would be noise.
        let digits: String = fraction.chars().take(12).collect();
        let numerator: u128 = digits.parse().map_err(|_| not_a_number())?;
        let denominator = 10u128.pow(u32::try_from(digits.len()).unwrap_or(0));
        let part = numerator * u128::from(factor) / denominator;
        let part = u64::try_from(part).map_err(|_| too_large())?;
        value = value.checked_add(part).ok_or_else(too_large)?;
    }
    Ok(value)
}

fn size_unit(unit: &str) -> Option<u64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return None,
    })
}

fn time_unit(unit: &str) -> Option<u64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// A size in bytes. Read from `8K`, `1.5 MiB`, `4096`; written as a whole number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        scale(text, "size", "8K", size_unit, "B, K, M, G, T (powers of 1024)").map(Self)
    }
}

impl fmt::Display for Bytes {
    /// The shortest exact form with at most two decimals: `8 KiB`, `1.5 GiB`, `4097 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("TiB", 40u32), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        for (name, shift) in units {
            if self.0 >= 1 << shift {
                let value = self.0 as f64 / (1u64 << shift) as f64;
                let text = format!("{value:.2}");
                let text = text.trim_end_matches('0').trim_end_matches('.');
                return f.pad(&format!("{text} {name}"));
            }
        }
        f.pad(&format!("{} B", self.0))
    }
}

/// A time in nanoseconds. Read from `5ms`, `15 us`, `2s`; written as a whole number of nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Nanoseconds(pub u64);

impl Nanoseconds {
    /// The same time in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// A time from seconds; negative and not-a-number give zero, too large gives the largest.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as u64)
    }
}

impl FromStr for Nanoseconds {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        scale(text, "time", "5ms", time_unit, "ns, us, ms, s, min, h").map(Self)
    }
}

impl fmt::Display for Nanoseconds {
    /// Three significant digits with the fitting unit: `87 ns`, `1.23 ms`, `15 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&show_ns(self.0 as f64))
    }
}

/// Nanoseconds as people read them: three significant digits and the fitting unit. Not-a-number is
/// a dash.
#[must_use]
pub fn show_ns(ns: f64) -> String {
    if !ns.is_finite() {
        return "–".to_owned();
    }
    let (value, unit) = match ns {
        n if n < 999.5 => (n, "ns"),
        n if n < 999_500.0 => (n / 1e3, "µs"),
        n if n < 999_500_000.0 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    format!("{} {unit}", show_number(value))
}

/// A length of time as people read it: `45 s`, `3 min 20 s`, `2 h 5 min`, `2 d 9 h 36 min`.
/// Not-a-number is a dash.
#[must_use]
pub fn show_duration(seconds: f64) -> String {
    if !(0.0..1e15).contains(&seconds) {
        return "–".to_owned();
    }
    let parts = |unit: f64| ((seconds / unit).floor(), (seconds % unit).floor());
    if seconds < 60.0 {
        return format!("{} s", show_number(seconds));
    }
    if seconds < 3600.0 {
        let (minutes, rest) = parts(60.0);
        return if rest < 1.0 {
            format!("{minutes} min")
        } else {
            format!("{minutes} min {rest} s")
        };
    }
    let minutes = (seconds % 3600.0 / 60.0).floor();
    let days = (seconds / 86_400.0).floor();
    let hours = (seconds % 86_400.0 / 3600.0).floor();
    let shown = [(days, "d"), (hours, "h"), (minutes, "min")];
    let kept = shown.iter().filter(|(value, _)| *value > 0.0);
    kept.map(|(value, unit)| format!("{value} {unit}")).collect::<Vec<_>>().join(" ")
}

/// A number with three significant digits, and thousands set apart by a thin space when it is
/// large.
#[must_use]
pub fn show_number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let magnitude = value.abs();
    if magnitude >= 99.95 {
        return group_thousands(value);
    }
    let decimals = match magnitude {
        9.995.. => 1,
        0.005.. => 2,
        // Little is not nothing.
        0.0005.. => 3,
        0.00005.. => 4,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A count with its noun: `1 result`, `4 000 results`.
#[must_use]
pub fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", show_number(count as f64), if count == 1 { one } else { many })
}

/// A whole number with a space between groups of three digits: `1 234 567`.
fn group_thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut out = String::with_capacity(digits.len() * 2);
    if value < 0.0 {
        out.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Accepts a text with a unit or a bare whole number of the base unit.
struct UnitVisitor<T> {
    expects: &'static str,
    make: fn(u64) -> T,
    parse: fn(&str) -> Result<T, UnitError>,
}

impl<T> de::Visitor<'_> for UnitVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expects)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<T, E> {
        Ok((self.make)(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
        let value =
            u64::try_from(value).map_err(|_| E::custom(format!("`{value}` is negative")))?;
        Ok((self.make)(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnitVisitor {
            expects: "a size such as \"8K\" or a number of bytes",
            make: Bytes,
            parse: Bytes::from_str,
        })
    }
}

impl<'de> Deserialize<'de> for Nanoseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnitVisitor {
            expects: "a time such as \"5ms\" or a number of nanoseconds",
            make: Nanoseconds,
            parse: Nanoseconds::from_str,
        })
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "description": "A size in bytes."})
    }
}

impl JsonSchema for Nanoseconds {
    fn schema_name() -> Cow<'static, str> {
        "Nanoseconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "description": "A time in nanoseconds."})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_times_are_in_the_units_that_people_use() {
        let shown = |s: f64| show_duration(s);
        assert_eq!(shown(45.26), "45.3 s");
        assert_eq!((shown(60.0), shown(200.0)), ("1 min".to_owned(), "3 min 20 s".to_owned()));
        assert_eq!((shown(7500.0), shown(3600.0)), ("2 h 5 min".to_owned(), "1 h".to_owned()));
        assert_eq!(shown(57.6 * 3600.0), "2 d 9 h 36 min");
        assert_eq!((shown(f64::NAN), shown(-1.0)), ("–".to_owned(), "–".to_owned()));
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("8K", 8192),
            ("8k", 8192),
            ("8 KiB", 8192),
            ("1.5M", 1_572_864),
            ("1_000", 1000),
            ("2T", 2 << 40),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn a_wrong_size_says_what_would_be_right() {
        let error = "8Q".parse::<Bytes>().unwrap_err().to_string();
        assert_eq!(error, "`8Q` has the unit `Q`; known are B, K, M, G, T (powers of 1024)");
        assert!("".parse::<Bytes>().is_err());
        assert!("-1K".parse::<Bytes>().is_err());
        assert!("1.2.3K".parse::<Bytes>().is_err());
        assert!("99999999T".parse::<Bytes>().is_err());
    }

    #[test]
    fn times_carry_their_unit() {
        assert_eq!("5ms".parse(), Ok(Nanoseconds(5_000_000)));
        assert_eq!("1.5us".parse(), Ok(Nanoseconds(1500)));
        assert!("5".parse::<Nanoseconds>().is_err(), "a bare number is ambiguous to a person");
    }

    #[test]
    fn numbers_are_shown_as_people_read_them() {
        assert_eq!(show_ns(87.0), "87 ns");
        assert_eq!(show_ns(1_234_000.0), "1.23 ms");
        assert_eq!(show_ns(999_700.0), "1 ms");
        assert_eq!(show_number(1_234_567.0), "1 234 567");
        assert_eq!(show_number(4.109), "4.11");
        assert_eq!(Bytes(1_610_612_736).to_string(), "1.5 GiB");
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in ".{0,40}") {
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Nanoseconds>();
        }

        #[test]
        fn whole_sizes_survive_the_way_there_and_back(bytes: u64, unit in 0usize..4) {
            let name = ["", "K", "M", "G"][unit];
            let shift = 10 * unit;
            let k = bytes >> shift;
            prop_assert_eq!(format!("{k}{name}").parse(), Ok(Bytes(k << shift)));
        }
    }
}
