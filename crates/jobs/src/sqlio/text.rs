//! Files that are read as text, and never more of them than memory has room for.

use std::io;
use std::path::Path;

use dialects::text::decode;
use inspect::reading;

/// The largest batch or parameter file.
pub(super) const SCRIPT_BYTES_MAX: u64 = 16 << 20;
/// The largest file of results: tens of thousands of runs.
pub(super) const RESULTS_BYTES_MAX: u64 = 64 << 20;

/// The text of a file of no more than `most` bytes, in whatever encoding Windows left it.
pub(super) fn text_of(path: &Path, most: u64) -> io::Result<String> {
    Ok(decode(&reading::bytes(path, most)?))
}
