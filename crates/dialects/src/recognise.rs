//! Whose result is in a file?

use crate::foreign::{ForeignRuns, ReadError};
use crate::{DIALECTS, text};

/// Reads every run of a file of another tool; `None` if no tool is recognised. `file` is the name
/// of the file, `read` the moment (UTC, RFC 3339) to use as the start of runs whose start is not
/// known.
pub fn recognise(bytes: &[u8], file: &str, read: &str) -> Result<Option<ForeignRuns>, ReadError> {
    let text = text::decode(bytes);
    let form = DIALECTS.iter().flat_map(|dialect| dialect.results).find(|form| (form.is_in)(&text));
    let found = form.map(|form| (form.read)(&text, file, read)).transpose()?;
    Ok(found.map(|found| found.without_the_impossible().in_their_order(read)))
}
