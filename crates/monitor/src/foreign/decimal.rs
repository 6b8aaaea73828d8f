//! The numbers of a file that a spreadsheet may have written anew: with a decimal comma, or with
//! separators of thousands.

use super::ForeignError;

/// How a file writes a fraction: 0.5 or 0,5. The other sign separates thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DecimalMark(char);

const POINT: DecimalMark = DecimalMark('.');
const COMMA: DecimalMark = DecimalMark(',');

/// What one cell says about the mark.
enum Evidence {
    Mark(DecimalMark),
    /// One sign before three digits: 1,200.
    Either,
    None,
}

impl DecimalMark {
    /// The mark of the first cell that has no second reading; a point without one. `others` are
    /// cells besides those of figures, and come last. Errors if figures have commas only, and each
    /// may be either.
    pub(crate) fn of(
        figures: impl Iterator<Item = String>,
        others: impl Iterator<Item = String>,
    ) -> Result<Self, ForeignError> {
        let mut unclear = None;
        let figures = figures.map(|cell| (true, cell));
        for (is_figure, cell) in figures.chain(others.map(|cell| (false, cell))) {
            match evidence(cell.trim()) {
                Evidence::Mark(mark) => return Ok(mark),
                Evidence::Either if is_figure && cell.contains(',') => {
                    unclear = unclear.or(Some(cell));
                }
                Evidence::Either | Evidence::None => {}
            }
        }
        unclear.map_or(Ok(POINT), |cell| Err(ForeignError::Ambiguous { cell }))
    }

    /// The number in a cell; `None` if it holds none, or one below 0.
    pub(crate) fn number(self, cell: &str) -> Option<f64> {
        let cell = cell.trim();
        if !begins_a_number(cell) {
            return None;
        }
        let (whole, fraction) = cell.split_once(self.0).unwrap_or((cell, "0"));
        let separates = |c: char| ".,' \u{a0}\u{202f}’".contains(c) && c != self.0;
        let mut groups = whole.split(separates);
        let first = groups.next().unwrap_or_default();
        let grouped = groups.clone().next().is_none()
            || (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
        let digits: String = whole.chars().filter(|c| !separates(*c)).collect();
        let number = format!("{digits}.{fraction}");
        // Without a fraction, the exponent is in the whole part.
        let number = if cell.contains(self.0) { number } else { digits };
        let number = if number.starts_with('.') { format!("0{number}") } else { number };
        let number = number.parse::<f64>().ok().filter(|_| grouped);
        number.filter(|number| number.is_finite() && *number < super::cells::AMOUNT_MAX)
    }
}

fn begins_a_number(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == ',')
}

fn evidence(cell: &str) -> Evidence {
    if !begins_a_number(cell) {
        return Evidence::None;
    }
    let count = |sign| cell.matches(sign).count();
    let alone = |sign, mark| {
        let (whole, fraction) = cell.split_once(sign).unwrap_or_default();
        let either =
            fraction.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0');
        if either { Evidence::Either } else { Evidence::Mark(mark) }
    };
    // An address, a version or a date has signs, too.
    let grouped = |sign| {
        let mut groups = cell.split(sign);
        groups.next().is_some_and(|first| (1..=3).contains(&first.len()))
            && groups.all(|group| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit()))
            && (count(sign) != 3 || cell.parse::<std::net::Ipv4Addr>().is_err())
    };
    match (count('.'), count(',')) {
        (0, 0) => Evidence::None,
        (1, 0) => alone('.', POINT),
        (0, 1) => alone(',', COMMA),
        (0, _) if grouped(',') => Evidence::Mark(POINT),
        (_, 0) if grouped('.') => Evidence::Mark(COMMA),
        (0, _) | (_, 0) => Evidence::None,
        _ if cell.rfind('.') > cell.rfind(',') => Evidence::Mark(POINT),
        _ => Evidence::Mark(COMMA),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark(cells: &[&str]) -> Option<char> {
        let cells = cells.iter().map(|cell| (*cell).to_owned());
        DecimalMark::of(cells, std::iter::empty()).ok().map(|mark| mark.0)
    }

    #[test]
    fn the_first_clear_cell_decides() {
        for (cells, found) in [
            (&["200.000000000"][..], Some('.')),
            (&[" ", "1.200", "0.5"], Some('.')),
            (&["1,200.5"], Some('.')),
            (&["1,200", "9,838,592"], Some('.')),
            (&["1,200", "0,8"], Some(',')),
            (&["1.200,5"], Some(',')),
            (&["1.200.000"], Some(',')),
            (&["1200", " ", "-1"], Some('.')),
            (&["1.200"], Some('.')),
            (&["10.1.2.3", "192.168.100.200", "27.11.2026", "1.20.300", "55.5"], Some('.')),
            (&["1,200", "2,400"], None),
        ] {
            assert_eq!(mark(cells), found, "{cells:?}");
        }
    }

    #[test]
    fn separators_of_thousands_are_no_fractions() {
        for (mark, cell, number) in [
            (POINT, "1,200.5", 1200.5),
            (POINT, "9,838,592.0", 9_838_592.0),
            (POINT, "1,200", 1200.0),
            (POINT, "12 345.5", 12_345.5),
            (POINT, "4.35E-4", 0.000_435),
            (POINT, "2E3", 2000.0),
            (POINT, ".5", 0.5),
            (COMMA, "1.200,5", 1200.5),
            (COMMA, "0,002", 0.002),
            (COMMA, "1234,5", 1234.5),
        ] {
            assert_eq!(mark.number(cell), Some(number), "{cell}");
        }
        for cell in [" ", "", "-1", "NaN"] {
            assert_eq!(POINT.number(cell), None, "{cell}");
        }
        for (mark, cell) in
            [(POINT, "1.200,5"), (POINT, "12,34"), (COMMA, "1,2,3"), (POINT, "12abc")]
        {
            assert_eq!(mark.number(cell), None, "{cell}");
        }
    }

    proptest! {
        #[test]
        fn a_number_is_read_as_any_country_writes_it(
            number in 0_u64..1_000_000_000_000,
            (group, mark) in prop::sample::select(vec![(",", "."), (".", ","), ("\u{a0}", ",")]),
        ) {
            let plain = number.to_string();
            let groups = plain.as_bytes().rchunks(3).rev().map(|c| std::str::from_utf8(c).unwrap());
            let cell = format!("{}{mark}25", groups.collect::<Vec<_>>().join(group));
            let cells = [cell.clone()].into_iter();
            let found = DecimalMark::of(cells, std::iter::empty()).unwrap().number(&cell);
            prop_assert_eq!(found, Some(number as f64 + 0.25));
        }

        #[test]
        fn no_cell_panics(cell in "\\PC{0,20}") {
            let cells = [cell.clone()].into_iter();
            let _ = DecimalMark::of(cells, std::iter::empty()).map(|mark| mark.number(&cell));
        }
    }
}
