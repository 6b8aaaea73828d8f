//! Numbers as they appear in a sentence.

/// Three significant digits without a tail of zeros: `0.85`, `12.3`, `316`, `2681`.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    let size = value.abs();
    if size >= 1e15 {
        return format!("{value:.2e}");
    }
    let decimals = [100.0, 10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4]
        .iter()
        .position(|floor| size >= *floor)
        .unwrap_or(7);
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A percentage or share of one: whole from ten on, one decimal below.
pub(crate) fn percent(value: f64) -> String {
    if value.abs() >= 9.95 { grouped(value) } else { number((value * 10.0).round() / 10.0) }
}

/// A whole number with a space between groups of three digits: `8 000`.
pub(crate) fn grouped(value: f64) -> String {
    if !value.is_finite() || value.abs() >= 1e15 {
        return number(value);
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = if value <= -0.5 { "-".to_owned() } else { String::new() };
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Nanoseconds as milliseconds, the unit in which database limits are written.
pub(crate) fn milliseconds(ns: f64) -> String {
    format!("{} ms", number(ns / 1e6))
}

/// Bytes in the largest binary unit that leaves a number of at least one.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    format!("{} {unit}", number(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_a_person_would_write_it() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(0.85), "0.85");
        assert_eq!(number(20.0), "20");
        assert_eq!(number(0.000_123_4), "0.000123");
        assert_eq!(number(1e-300), "0");
        assert_eq!(number(100.0), "100");
        assert_eq!(number(525.423), "525");
        assert_eq!(number(-3.25), "-3.25");
        assert_eq!(number(1e300), "1.00e300");
        assert_eq!(number(f64::NAN), "unknown");
        assert_eq!(milliseconds(30_418_250.0), "30.4 ms");
        assert_eq!(milliseconds(85_000.0), "0.085 ms");
        assert_eq!(percent(51.96), "52");
        assert_eq!(percent(2.04), "2");
        assert_eq!(percent(0.43), "0.4");
        assert_eq!(grouped(3912.4), "3 912");
        assert_eq!(grouped(-1_234_567.0), "-1 234 567");
        assert_eq!(grouped(999.0), "999");
        assert_eq!(size(512), "512 bytes");
        assert_eq!(size(20 << 30), "20 GiB");
        assert_eq!(size(1536 << 20), "1.5 GiB");
    }
}
