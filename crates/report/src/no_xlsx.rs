//! Instead of workbooks, where this program was built without them.

use crate::ReportError;
use crate::model::Report;

/// Refuses: this build has no workbooks.
pub fn workbook(_: &Report) -> Result<Vec<u8>, ReportError> {
    Err(ReportError::NotBuilt { what: "XLSX" })
}
