//! Files that are read as text, and never more of them than memory has room for.

use std::io;
use std::path::Path;

use dialects::text::decode;
use workload::Bytes;

use crate::files::first_bytes;

/// The largest batch or parameter file.
pub(super) const SCRIPT_BYTES_MAX: u64 = 16 << 20;
/// The largest file of results: tens of thousands of runs.
pub(super) const RESULTS_BYTES_MAX: u64 = 64 << 20;

/// The text of a file of no more than `most` bytes, in whatever encoding Windows left it.
pub(super) fn text_of(path: &Path, most: u64) -> io::Result<String> {
    let bytes = first_bytes(path, most + 1)?;
    if bytes.len() as u64 > most {
        let most = Bytes(most);
        return Err(io::Error::other(format!("it is larger than {most}; no such file is")));
    }
    Ok(decode(&bytes))
}
