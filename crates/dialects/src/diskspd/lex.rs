//! Numbers and sizes as DiskSpd reads them.

use thiserror::Error;

/// Why a text is not a size.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SizeError {
    /// It does not begin with a digit.
    #[error(
        "`{0}` is not a size; write digits and at most one of K, M, G, T (powers of 1024) or b \
         (blocks)"
    )]
    NotANumber(String),
    /// Other characters follow the size.
    #[error(
        "after the size `{size}` comes `{rest}`; a size is digits and at most one of K, M, G, T \
         or b"
    )]
    Trailing {
        /// The part that is a size.
        size: String,
        /// The characters after it.
        rest: String,
    },
    /// It does not fit 64 bits.
    #[error("`{0}` does not fit 64 bits")]
    TooLarge(String),
}

/// A whole text as a size in bytes; `block_bytes` is the value of `b`.
pub fn size(text: &str, block_bytes: u64) -> Result<u64, SizeError> {
    let (value, rest) = size_before(text, block_bytes)?;
    if rest.is_empty() {
        return Ok(value);
    }
    let size = text.strip_suffix(rest).unwrap_or(text).to_owned();
    Err(SizeError::Trailing { size, rest: rest.to_owned() })
}

/// The size in bytes that a text begins with, and what follows it.
pub fn size_before(text: &str, block_bytes: u64) -> Result<(u64, &str), SizeError> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Err(SizeError::NotANumber(text.to_owned()));
    }
    let unit = rest.chars().next().and_then(|c| match c.to_ascii_lowercase() {
        'b' => Some(block_bytes),
        'k' => Some(1 << 10),
        'm' => Some(1 << 20),
        'g' => Some(1 << 30),
        't' => Some(1 << 40),
        _ => None,
    });
    let rest = if unit.is_some() { rest.get(1..).unwrap_or_default() } else { rest };
    let value = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit.unwrap_or(1)));
    value.map(|value| (value, rest)).ok_or_else(|| SizeError::TooLarge(text.to_owned()))
}

/// A number as C's `atoi` reads it: blanks and a sign may come first, what follows the digits is
/// ignored, no digits are 0. What does not fit 32 bits is the nearest number that does.
#[must_use]
pub fn integer(text: &str) -> i32 {
    let (negative, digits) = signed(text);
    let value = digits
        .bytes()
        .fold(0i64, |n, digit| (n * 10 + i64::from(digit - b'0')).min(i64::from(i32::MAX) + 1));
    let value = if negative { -value } else { value };
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// A number as C's `strtoul` reads it, where nothing may follow: a minus wraps, what does not fit
/// 32 bits is the largest number that does. `None` if it is not a number.
#[must_use]
pub fn unsigned(text: &str) -> Option<u32> {
    let (negative, digits) = signed(text);
    if digits.is_empty() || !text.ends_with(digits) {
        return None;
    }
    let value = match digits.parse::<u32>() {
        Ok(value) if negative => value.wrapping_neg(),
        Ok(value) => value,
        Err(_) => u32::MAX,
    };
    Some(value)
}

/// Whether there is a minus, and the digits after blanks and a sign.
fn signed(text: &str) -> (bool, &str) {
    let text = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (negative, &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers_are_read_as_in_c() {
        for (text, value) in [
            ("4x", 4),
            ("1.5", 1),
            ("", 0),
            ("x", 0),
            (" 5", 5),
            ("\t+7", 7),
            ("-1", -1),
            ("--1", 0),
            ("2147483647", i32::MAX),
            ("2147483648", i32::MAX),
            ("99999999999999999999999", i32::MAX),
            ("-2147483648", i32::MIN),
        ] {
            assert_eq!(integer(text), value, "{text}");
        }
    }

    #[test]
    fn unsigned_numbers_are_read_as_in_c() {
        for (text, value) in [
            ("12", Some(12)),
            ("12x", None),
            ("", None),
            ("-", None),
            ("-1", Some(u32::MAX)),
            ("4294967295", Some(u32::MAX)),
            ("4294967296", Some(u32::MAX)),
            ("99999999999999999999999", Some(u32::MAX)),
        ] {
            assert_eq!(unsigned(text), value, "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_64_bits_is_refused_however_long_it_is() {
        for text in ["18446744073709551616", "16777216T", "99999999999999999999999999", "2b"] {
            assert_eq!(size(text, u64::MAX), Err(SizeError::TooLarge(text.to_owned())), "{text}");
        }
        assert_eq!(size("18446744073709551615", 1), Ok(u64::MAX));
        assert_eq!(size("0007k", 1), Ok(7 << 10));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", block in any::<u64>()) {
            let _ = size(&text, block);
            let _ = (integer(&text), unsigned(&text));
        }

        #[test]
        fn a_size_means_what_it_says(number in 0u64..1 << 20, unit in 0usize..5) {
            let (letter, factor) =
                [("", 1), ("K", 1 << 10), ("m", 1 << 20), ("G", 1 << 30), ("t", 1u64 << 40)][unit];
            prop_assert_eq!(size(&format!("{number}{letter}"), 1), Ok(number * factor));
        }
    }
}
