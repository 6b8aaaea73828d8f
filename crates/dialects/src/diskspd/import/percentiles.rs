//! The tables of percentiles in DiskSpd's text.

use super::spans::{Span, Times};
use super::text::Row;
use crate::foreign::ReadError;

/// A table of percentiles, known by its heading.
#[derive(Debug, Default)]
pub(super) struct Chart {
    /// Whose latencies each column has; none before the heading.
    columns: Vec<Column>,
    /// Whether it is of one target among several.
    of_one: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Read,
    Write,
    Total,
}

impl Chart {
    /// The table that begins with this heading. `above` is the line before it.
    pub(super) fn of(row: &Row, above: &str, span: &Span) -> Result<Self, ReadError> {
        let names = row.text.trim_end_matches('|').split('|').skip(1).map(str::trim);
        let column = |name: &str| match name {
            "Read (ms)" => Ok(Column::Read),
            "Write (ms)" => Ok(Column::Write),
            "Total (ms)" => Ok(Column::Total),
            other => Err(row.error(&format!(
                "`{other}` is not a column of DiskSpd's percentiles: `Read (ms)`, `Write (ms)`, \
                 `Total (ms)`"
            ))),
        };
        let columns = names.map(column).collect::<Result<Vec<Column>, ReadError>>()?;
        if columns.is_empty() {
            return Err(row.error("the columns of this table are not parted by `|`"));
        }
        let of_all = matches!(above, "total:" | "Total latency distribution:");
        // Before 2.1 the path alone is above the table of one target.
        let of_one = above.starts_with("Latency distribution:") || span.places.contains_key(above);
        if !of_all && !of_one && span.targets.len() > 1 {
            return Err(row.error(
                "nothing says which target these percentiles are of, or whether of all; `Total \
                 latency distribution:` is above those of all",
            ));
        }
        Ok(Self { columns, of_one })
    }

    /// Takes a percentile; true where it is the last one of all targets together.
    pub(super) fn row(&self, row: &Row, span: &mut Span) -> Result<bool, ReadError> {
        if self.columns.is_empty() {
            return Err(row.error(
                "a row of percentiles without the heading `%-ile | Read (ms) | …`, so nobody \
                 knows what its columns are",
            ));
        }
        let mut cells = row.text.trim_end_matches('|').split('|').map(str::trim);
        let name = cells.next().unwrap_or_default();
        let cells: Vec<&str> = cells.collect();
        if cells.len() != self.columns.len() {
            let (has, wanted) = (cells.len() + 1, self.columns.len() + 1);
            return Err(row.error(&format!("the row has {has} columns and its heading {wanted}")));
        }
        if self.of_one {
            return Ok(false);
        }
        for (column, cell) in self.columns.iter().zip(cells) {
            if cell == "N/A" || cell.is_empty() {
                continue;
            }
            let ms = row.amount(cell)?;
            let times: &mut Times = match column {
                Column::Read => &mut span.read.times,
                Column::Write => &mut span.write.times,
                Column::Total => &mut span.total.times,
            };
            match (name, percent_of(name)) {
                ("min", _) => times.min = Some(ms),
                (_, Some(percent)) => times.percentiles.push((percent, ms)),
                _ => times.max = Some(ms),
            }
        }
        Ok(name == "max")
    }
}

/// Whether a line is a row of such a table. Outside of one, `max |` may be anybody's unless a
/// figure comes after it.
pub(super) fn is_row(text: &str, inside: bool) -> bool {
    let mut cells = text.split('|').map(str::trim);
    let name = cells.next().unwrap_or_default();
    let is_figure = |cell: &str| inside || cell == "N/A" || cell.parse::<f64>().is_ok();
    (matches!(name, "min" | "max") || percent_of(name).is_some())
        && cells.next().is_some_and(is_figure)
}

/// The percentage that a name such as `25th` or `3-nines` means.
fn percent_of(name: &str) -> Option<f64> {
    if let Some(percent) = name.strip_suffix("th") {
        return percent.parse().ok().filter(|p| (0.0..=100.0).contains(p));
    }
    let nines: usize = name.strip_suffix("-nines")?.parse().ok().filter(|n| (3..=9).contains(n))?;
    format!("99.{}", "9".repeat(nines - 2)).parse().ok()
}
