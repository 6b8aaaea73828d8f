//! Instead of workbooks, where this program was built without them.

use crate::ReportError;
use crate::model::Report;

/// Refuses: this build has no workbooks.
pub fn workbook(_: &Report) -> Result<Vec<u8>, ReportError> {
    Err(ReportError::NotBuilt { what: "XLSX" })
}

/// Nobody here can tell, so a workbook that is there is not replaced.
#[must_use]
pub fn is_workbook(_: &[u8]) -> bool {
    false
}
