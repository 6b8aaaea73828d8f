//! Sizes as DiskSpd shows them.

/// In the largest unit of KiB to TiB that is not above the size: whole where it is exact, else with
/// two decimals. Below 1 KiB, the number alone.
#[must_use]
pub fn show_size(bytes: u64) -> String {
    match unit(bytes) {
        None => bytes.to_string(),
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{}{name}", bytes / unit),
        Some((unit, name)) => format!("{:.2}{name}", bytes as f64 / unit as f64),
    }
}

/// The same with the number at the right of 6 places.
#[must_use]
pub fn show_size_aligned(bytes: u64) -> String {
    match unit(bytes) {
        None => format!("{bytes:>6}"),
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{:>6}{name}", bytes / unit),
        Some((unit, name)) => format!("{:>6.2}{name}", bytes as f64 / unit as f64),
    }
}

fn unit(bytes: u64) -> Option<(u64, &'static str)> {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    units.into_iter().find(|(unit, _)| bytes >= *unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_largest_unit_that_fits() {
        let cases = [
            (0, "0"),
            (1, "1"),
            (512, "512"),
            (1023, "1023"),
            (1024, "1KiB"),
            (1025, "1.00KiB"),
            (1536, "1.50KiB"),
            (2000, "1.95KiB"),
            (65536, "64KiB"),
            (65537, "64.00KiB"),
            ((1 << 30) - 1, "1024.00MiB"),
            (1 << 30, "1GiB"),
            (3 << 40, "3TiB"),
            (u64::MAX, "16777216.00TiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(show_size(bytes), text);
        }
        assert_eq!(show_size_aligned(100), "   100");
        assert_eq!(show_size_aligned(1 << 30), "     1GiB");
        assert_eq!(show_size_aligned(1536), "  1.50KiB");
    }
}
