//! In place of workbooks, where this program was built without them.

use crate::ReportError;
use crate::format::Format;

/// The format by its name, which cannot be written here. A workbook that is there is not replaced.
pub static FORMAT: Format = Format {
    name: "xlsx",
    aliases: &[],
    title: "XLSX",
    help: "A workbook with charts",
    endings: &["xlsx"],
    media: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    write: |_| Err(ReportError::NotBuilt { what: "XLSX" }),
    is_report: |_| false,
    apart: None,
};
