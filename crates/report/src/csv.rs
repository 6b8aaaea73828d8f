//! Every load of a report as CSV, for spreadsheets and scripts: one header, a line for each measurement.

pub use results::csv_field as field;
use results::{Conditions, Document};

use crate::build::loads;
use crate::model::{Cell, Report, Unit};

/// Columns by which such a table is known; later versions may have more at the end.
const SIGN: usize = 30;

/// The loads of all results in one table.
///
/// The header is the same for every report; columns may be added at its end. Figures are plain numbers in the unit at
/// the end of their column's name. What is not known is empty.
#[must_use]
pub fn text(report: &Report) -> String {
    let columns = loads::columns();
    let mut head: Vec<&str> = columns.iter().map(|c| c.key).collect();
    head.push("conditions_id");
    let mut out = head.join(",");
    out.push_str("\r\n");
    for part in &report.results {
        let conditions = conditions(&part.document);
        for (row, id) in loads::rows(&part.document).iter().zip(conditions) {
            let cells = row.iter().zip(&columns).map(|(cell, column)| show(cell, column.unit));
            let line: Vec<String> = cells.chain([id]).collect();
            out.push_str(&line.join(","));
            out.push_str("\r\n");
        }
    }
    out
}

/// Whether a text is such a table; what is not is somebody else's.
#[must_use]
pub fn is_report(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let known: Vec<&str> = loads::columns().iter().map(|c| c.key).take(SIGN).collect();
    first.starts_with(&known.join(","))
}

/// What must be alike for two loads to be compared, by name.
fn conditions(document: &Document) -> Vec<String> {
    document.measurements().into_iter().map(|m| Conditions::of(m).id()).collect()
}

fn show(cell: &Cell, unit: Unit) -> String {
    match cell {
        Cell::Text(text) => field(text),
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
