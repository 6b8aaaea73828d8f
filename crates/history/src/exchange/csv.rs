//! Rows as CSV (RFC 4180): a fixed head, then one line per row.

use std::io::{self, Write};

use results::{FigureValue, csv_field};

use super::columns::Column;

/// The first line of a table with these columns, without its end. A file that begins otherwise is
/// not an export of iosonde.
pub(crate) fn head<R>(columns: &[Column<R>]) -> String {
    columns.iter().map(|c| c.name).collect::<Vec<_>>().join(",")
}

/// Writes rows as lines of CSV.
pub(crate) fn write<R>(out: &mut dyn Write, columns: &[Column<R>], rows: &[R]) -> io::Result<()> {
    for row in rows {
        for (number, column) in columns.iter().enumerate() {
            if number > 0 {
                out.write_all(b",")?;
            }
            match (column.of)(row) {
                FigureValue::Absent => {}
                FigureValue::Whole(value) => write!(out, "{value}")?,
                // The shortest digits that read back as the same number.
                FigureValue::Real(value) => write!(out, "{value}")?,
                FigureValue::Flag(value) => write!(out, "{value}")?,
                FigureValue::Text(text) => out.write_all(csv_field(&text).as_bytes())?,
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
