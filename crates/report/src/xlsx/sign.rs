//! The sign by which iosonde recognises its own earlier workbooks.

use std::io::{Cursor, Read};

use zip::ZipArchive;

/// What the program calls itself among the properties of a workbook.
const AUTHOR: &str = "<dc:creator>iosonde ";
/// The properties of such a workbook are short.
const PROPERTIES_MAX: u64 = 64 << 10;

/// Whether a file is a workbook that [`workbook`](super::workbook) made, in this version or
/// another.
#[must_use]
pub fn is_workbook(content: &[u8]) -> bool {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(content)) else { return false };
    let Ok(part) = archive.by_name("docProps/core.xml") else { return false };
    let mut text = String::new();
    let read = part.take(PROPERTIES_MAX).read_to_string(&mut text);
    read.is_ok() && text.contains(AUTHOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Report;

    #[test]
    fn a_workbook_of_ours_is_known_and_nothing_else_is() {
        let report = Report { title: "Nothing".to_owned(), comparison: None, results: Vec::new() };
        let book = crate::xlsx::workbook(&report).unwrap();
        assert!(is_workbook(&book));
        assert!(!is_workbook(&book[..book.len() / 2]) && !is_workbook(b"PK") && !is_workbook(b""));
        let mut other = rust_xlsxwriter::Workbook::new();
        other.add_worksheet();
        assert!(!is_workbook(&other.save_to_buffer().unwrap()), "somebody else's");
    }
}
