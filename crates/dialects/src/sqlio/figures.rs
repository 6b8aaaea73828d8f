//! Numbers as SQLIO printed them, as people typed them again, and as editors changed them.

use super::printout::{Figure, HISTOGRAM_MS};

/// A longer text is not a number.
const NUMBER_BYTES_MAX: usize = 40;

/// The number at the beginning of a text: `2,681.12`, `2681`, `2681,12`, `2 681`. What follows it
/// is left out, such as a unit.
pub(super) fn figure(text: &str) -> Option<Figure> {
    let text = text.trim_start();
    let end = number_end(text);
    let digits = text.get(..end)?;
    if end == 0 || end > NUMBER_BYTES_MAX {
        return None;
    }
    let (whole, fraction) = match last_point(digits) {
        Some(at) => (digits.get(..at)?, digits.get(at + 1..)?),
        None => (digits, ""),
    };
    let mut plain: String = whole.chars().filter(char::is_ascii_digit).collect();
    if plain.is_empty() {
        return None;
    }
    plain.push('.');
    plain.push_str(fraction);
    let value: f64 = plain.parse().ok()?;
    (value < 1e15).then_some(Figure { value, decimals: u8::try_from(fraction.len()).ok()? })
}

/// Where the number ends: digits, points and commas between digits, and blanks before groups of
/// exactly three.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while end < bytes.len() && end <= NUMBER_BYTES_MAX {
        let group = digit(end + 1) && digit(end + 2) && digit(end + 3) && !digit(end + 4);
        let goes_on = match bytes.get(end) {
            Some(byte) if byte.is_ascii_digit() => true,
            Some(b'.' | b',') => end > 0 && digit(end + 1),
            Some(b' ' | b'\'') => end > 0 && digit(end - 1) && group,
            _ => false,
        };
        if !goes_on {
            break;
        }
        end += 1;
    }
    end
}

/// Where the fraction begins. A comma before exactly three digits separates thousands; so does a
/// sign that occurs twice.
fn last_point(digits: &str) -> Option<usize> {
    let at = digits.rfind(['.', ','])?;
    let sign = digits.get(at..=at)?;
    let other = if sign == "." { "," } else { "." };
    let thousands = digits.len() - at == 4;
    let twice = digits.matches(sign).count() > 1;
    let only = !digits.contains(other);
    (!(twice || sign == "," && only && thousands)).then_some(at)
}

/// A whole number at the beginning of a text.
pub(super) fn whole(text: &str) -> Option<u64> {
    let found = figure(text)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 10^15")]
    (found.decimals == 0).then_some(found.value as u64)
}

/// The same, where it is not larger than threads, blocks and depths are.
pub(super) fn small(text: &str) -> Option<u32> {
    whole(text).and_then(|n| u32::try_from(n).ok())
}

/// The row of percents. Columns are three wide, so that nothing parts a full one from its
/// neighbour.
pub(super) fn percents(text: &str) -> Option<[u8; HISTOGRAM_MS]> {
    let text = text.trim_end();
    let parted = text.split_whitespace().map(|n| n.parse().ok());
    percent_row(parted).or_else(|| {
        let columns = text.as_bytes().chunks(3);
        percent_row(columns.map(|c| std::str::from_utf8(c).ok()?.trim().parse().ok()))
    })
}

fn percent_row(mut parts: impl Iterator<Item = Option<u8>>) -> Option<[u8; HISTOGRAM_MS]> {
    let mut row = [0; HISTOGRAM_MS];
    for column in &mut row {
        *column = parts.next()??;
    }
    (parts.next().is_none() && row.iter().all(|p| *p <= 100)).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_as_they_were_typed() {
        for (text, value, decimals) in [
            ("26263.98", 26263.98, 2),
            ("   102.59", 102.59, 2),
            ("2,681", 2681.0, 0),
            ("19,871.02 I/Os", 19871.02, 2),
            ("1,234,567", 1_234_567.0, 0),
            ("2681,12", 2681.12, 2),
            ("2.681,12", 2681.12, 2),
            ("2 681", 2681.0, 0),
            ("0", 0.0, 0),
            ("52428800000 bytes", 52_428_800_000.0, 0),
            ("11, then", 11.0, 0),
        ] {
            assert_eq!(figure(text), Some(Figure { value, decimals }), "{text}");
        }
        for text in ["", "x", ".5", "-1", "99999999999999999999", "n/a 5"] {
            assert_eq!(figure(text), None, "{text}");
        }
        assert_eq!((small("5000000000"), small("4.5"), whole("64 thr")), (None, None, Some(64)));
    }

    #[test]
    fn a_full_column_touches_its_neighbours() {
        let rest = "  0".repeat(24);
        assert_eq!(percents(&format!("100{rest}")).unwrap()[0], 100);
        let second = format!("  0100{}", "  0".repeat(23));
        assert_eq!(percents(&second).unwrap()[1], 100);
        assert_eq!(percents(&rest), None, "a column is missing");
        assert_eq!(percents(&format!("101{rest}")), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(text in ".{0,90}") {
            let _ = (figure(&text), whole(&text), small(&text), percents(&text));
        }

        #[test]
        fn hundredths_are_read_back(n in 0u64..100_000_000_000) {
            let Figure { value, decimals } = figure(&format!("{:8.2}", n as f64 / 100.0)).unwrap();
            prop_assert_eq!((value, decimals), (n as f64 / 100.0, 2));
        }
    }
}
