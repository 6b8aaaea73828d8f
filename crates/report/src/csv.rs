//! The records of a report as CSV, for spreadsheets and scripts: one header, one line per load, or
//! for what the results have instead of loads.

pub use results::csv_field as field;

use inspect::files::Seal;

use crate::format::Format;
use crate::model::{Cell, Report, Table, Unit};
use crate::sections;

/// How this format is named and written.
pub static FORMAT: Format = Format {
    name: "csv",
    aliases: &[],
    title: "CSV",
    help: "Every load as a line",
    endings: &["csv"],
    media: "text/csv; charset=utf-8",
    write: |content| Ok(text(content.report).into_bytes()),
    seal: Seal::None,
    apart: None,
};

/// The records of all results in one table.
///
/// If all results have the same columns, the table has them; otherwise it has the loads. Columns
/// may be added at the end of a header. Figures are plain numbers in the unit at the end of their
/// column's name. Unknown figures are empty.
#[must_use]
pub fn text(report: &Report) -> String {
    let loads = sections::columns_of_loads();
    let tables = || report.results.iter().map(|part| &part.records);
    let first = tables().next().map_or(loads.as_slice(), |table| &table.columns);
    let is_alike = tables().all(|table| table.columns == first);
    let columns = if is_alike { first } else { &loads };
    let head: Vec<&str> = columns.iter().map(|column| column.key).collect();
    let lines = tables().filter(|table| table.columns == columns).flat_map(lines);
    std::iter::once(head.join(",")).chain(lines).map(|line| line + "\r\n").collect()
}

fn lines(table: &Table) -> impl Iterator<Item = String> {
    table.rows.iter().map(|row| {
        let cells = row.iter().zip(&table.columns);
        cells.map(|(cell, column)| show(cell, column.unit)).collect::<Vec<_>>().join(",")
    })
}

fn show(cell: &Cell, unit: Unit) -> String {
    match cell {
        Cell::Text(text) => field(text),
        Cell::Unsure(value) => show(&Cell::Number(*value), unit),
        Cell::Number(value) if unit == Unit::Moment => moment(*value),
        Cell::Number(value) if value.is_finite() => value.to_string(),
        Cell::Number(_) | Cell::Empty => String::new(),
    }
}

/// Seconds since 1970 as RFC 3339 in UTC.
fn moment(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let ms = (seconds * 1e3).round() as i64;
    jiff::Timestamp::from_millisecond(ms).map(|t| t.to_string()).unwrap_or_default()
}
