//! Whose result is in a file?

use crate::foreign::{ForeignRuns, ReadError};
use crate::{DIALECTS, text};

/// Reads every run of a file of another tool; `None` if no tool is recognised. `file` is the name
/// of the file, `read` the moment, UTC and RFC 3339, that stands for the start of runs of which
/// nobody knows it.
pub fn recognise(bytes: &[u8], file: &str, read: &str) -> Result<Option<ForeignRuns>, ReadError> {
    let text = text::decode(bytes);
    let form = DIALECTS.iter().flat_map(|dialect| dialect.results).find(|form| (form.is_in)(&text));
    let found = form.map(|form| (form.read)(&text, file, read)).transpose()?;
    Ok(found.map(|found| found.without_the_impossible().in_their_order(read)))
}
