//! Bytes that the operating system still has to write to storage, so that a test can wait for them.

use std::path::Path;

/// Bytes in the memory of the host that are not on storage yet, whatever storage they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteBack {
    /// Bytes that wait to be written.
    pub dirty_bytes: u64,
    /// Bytes that are being written now.
    pub writing_bytes: u64,
}

impl WriteBack {
    /// The bytes that are outstanding now; `None` if the system does not report them.
    #[must_use]
    pub fn now() -> Option<Self> {
        Self::in_root(Path::new("/"))
    }

    fn in_root(root: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(root.join("proc/meminfo")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
            kib.checked_mul(1024)
        };
        Some(Self { dirty_bytes: bytes("Dirty:")?, writing_bytes: bytes("Writeback:")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dirty_and_writeback_are_those_of_the_whole_host() {
        let text = "MemTotal: 8 kB\n\
            Dirty:              1148 kB\n\
            Writeback:            16 kB\n\
            WritebackTmp: 9 kB\n";
        let expected = WriteBack { dirty_bytes: 1148 * 1024, writing_bytes: 16 * 1024 };
        assert_eq!(WriteBack::parse(text), Some(expected));
        assert_eq!(WriteBack::parse("Dirty: 3 kB\n"), None);
        assert_eq!(WriteBack::in_root(Path::new("/no/such/root")), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(number: u64, text in ".{0,40}") {
            let _ = WriteBack::parse(&format!("Dirty: {number} kB\nWriteback:{text}"));
        }
    }
}
