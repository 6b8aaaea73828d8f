//! The mark by which test files are recognised, reused and removed: their last 4096 bytes.
//!
//! The mark is text, so that anybody can read it (`tail -c 4096 iosonde.test`): the line
//! `iosonde test file`, then `version 1`, `size N` (bytes before the mark), `state filling` or
//! `state filled`, `keep yes` or `keep no`, then newlines up to its length. It counts only when the
//! file is exactly `size` + 4096 bytes long, so that a copy that was cut or added to is not taken
//! for a test file.

/// Length of a mark, and of the end of every test file.
pub const MARK_BYTES: u64 = 4096;
const TITLE: &str = "iosonde test file";

/// What a test file says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Bytes of the file before the mark.
    pub size_bytes: u64,
    /// Whether all of them are written.
    pub filled: bool,
    /// Whether the file is to stay after the run that made it.
    pub keep: bool,
}

impl Mark {
    /// The text of the mark, as the end of a test file holds it.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        let state = if self.filled { "filled" } else { "filling" };
        let keep = if self.keep { "yes" } else { "no" };
        let size = self.size_bytes;
        let text = format!(
            "{TITLE}\nversion 1\nsize {size}\nstate {state}\nkeep {keep}\n\
             Made by iosonde to measure storage. It holds random bytes and may be removed when no \
             iosonde runs.\n"
        );
        let mut bytes = text.into_bytes();
        bytes.resize(usize::try_from(MARK_BYTES).unwrap_or(4096), b'\n');
        bytes
    }

    /// Reads the mark from the last bytes of a file of this length; `None` if they are not its
    /// mark.
    #[must_use]
    pub fn parse(bytes: &[u8], file_bytes: u64) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.lines();
        if lines.next() != Some(TITLE) || lines.next() != Some("version 1") {
            return None;
        }
        let size_bytes: u64 = lines.next()?.strip_prefix("size ")?.parse().ok()?;
        let filled = match lines.next()? {
            "state filled" => true,
            "state filling" => false,
            _ => return None,
        };
        let keep = match lines.next()? {
            "keep yes" => true,
            "keep no" => false,
            _ => return None,
        };
        let whole =
            size_bytes.checked_add(MARK_BYTES)? == file_bytes && bytes.len() as u64 == MARK_BYTES;
        whole.then_some(Self { size_bytes, filled, keep })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_mark_reads_back(size_bytes in 0u64..1 << 60, filled: bool, keep: bool) {
            let mark = Mark { size_bytes, filled, keep };
            let bytes = mark.to_bytes();
            prop_assert_eq!(bytes.len() as u64, MARK_BYTES);
            prop_assert_eq!(Mark::parse(&bytes, size_bytes + MARK_BYTES), Some(mark));
            prop_assert_eq!(Mark::parse(&bytes, size_bytes + MARK_BYTES + 1), None, "a file that \
                grew is foreign");
        }

        #[test]
        fn foreign_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..5000),
            size: u64) {
            let _ = Mark::parse(&bytes, size);
            let mut almost = Mark { size_bytes: 1, filled: true, keep: false }.to_bytes();
            let at = bytes.len().min(almost.len());
            almost[..at].copy_from_slice(&bytes[..at]);
            let _ = Mark::parse(&almost, size);
        }
    }
}
