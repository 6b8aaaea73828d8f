//! Files that `build.rs` has packed into the program.

use std::io::Read as _;

use flate2::read::DeflateDecoder;

/// A packed file by its name without an extension.
macro_rules! packed {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".deflate"))
    };
}
pub(crate) use packed;

/// What was packed. It is empty if it cannot be unpacked, which a test would notice.
pub(crate) fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    match DeflateDecoder::new(packed).read_to_end(&mut whole) {
        Ok(_) => whole,
        Err(_) => Vec::new(),
    }
}
