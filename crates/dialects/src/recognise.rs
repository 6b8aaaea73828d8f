//! Whose result is in a file?

use crate::foreign::{Found, ReadError};
use crate::{diskspd, fio, iometer, sqlio, text};

/// Reads every run of a file of another tool; none where no tool is recognised. `file` is the name
/// of the file, `read` the moment, UTC and RFC 3339, that stands for the start of runs of which
/// nobody knows it.
pub fn recognise(bytes: &[u8], file: &str, read: &str) -> Result<Option<Found>, ReadError> {
    let found = read_text(bytes, file, read)?;
    Ok(found.map(Found::without_the_impossible))
}

fn read_text(bytes: &[u8], file: &str, read: &str) -> Result<Option<Found>, ReadError> {
    let text = text::decode(bytes);
    if fio::is_in(&text) {
        return fio::read(&text, file, read).map(Some);
    }
    if diskspd::import::is_xml(&text) {
        return diskspd::import::read_xml(&text, file, read).map(Some);
    }
    if diskspd::import::is_text(&text) {
        return diskspd::import::read_text(&text, file, read).map(Some);
    }
    if iometer::result::is_result(&text) {
        return Ok(Some(iometer::result::import(&text, file, read)));
    }
    let found = sqlio::read(&text, file, read);
    let nothing = found.measurements.is_empty() && found.notes.is_empty();
    Ok((!nothing).then_some(found))
}
