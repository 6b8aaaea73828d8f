//! Where a file is on its device: the extent map of its file system.
#![expect(unsafe_code, reason = "the extent map is an ioctl with a structure of variable length")]

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::Extents;

/// `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
const BATCH: usize = 256;
/// A file in more extents than this is in too many.
const EXTENTS_MAX: u64 = 1 << 20;

const LAST: u32 = 0x1;
/// Place unknown, delayed, encoded, encrypted, or not aligned to blocks.
const ENCODED: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100;
const UNWRITTEN: u32 = 0x800;
const SHARED: u32 = 0x2000;

/// Asks the file system to write what the page cache holds before it answers.
const SYNC: u32 = 0x1;

/// A part of a file that is in one piece on its device (`struct fiemap_extent`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Extent {
    /// Where it begins in the file.
    pub logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_tail: [u32; 3],
}

impl Extent {
    /// Where it ends in the file.
    #[must_use]
    pub fn logical_end(&self) -> u64 {
        self.logical.saturating_add(self.length)
    }

    /// Where it begins on the device of its file system, and its length. `None` if that place is
    /// not settled, or what is there is not the content as it is.
    #[must_use]
    pub fn place(&self) -> Option<(u64, u64)> {
        (self.flags & ENCODED == 0).then_some((self.physical, self.length))
    }

    /// Set aside for the file, but never written.
    #[must_use]
    pub fn is_unwritten(&self) -> bool {
        self.flags & UNWRITTEN != 0
    }

    /// Whether the file has none after it.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.flags & LAST != 0
    }
}

/// What happens to the parts of a file that are only in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writeback {
    /// They are written to the disk first.
    First,
    /// They stay, and count as encoded.
    Never,
}

#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

/// The extents of a file; `None` if it may not be read or its file system does not tell. Nothing is
/// written back for it: what the page cache holds and the file system has no place for yet counts
/// as encoded.
pub(super) fn extents(path: &Path) -> Option<Extents> {
    let open =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW).open(path);
    let file = open.ok()?;
    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut summary = Summary::new(metadata.len());
    let mut at = 0;
    while at < metadata.len() {
        let batch = extent_map(&file, at, Writeback::Never)?;
        let Some(next) = summary.take(&batch).filter(|next| *next > at) else { break };
        at = next;
    }
    Some(summary.finish())
}

/// The next extents of a file from an offset on; `None` if its file system does not tell. A long
/// map takes several calls.
#[must_use]
pub fn extent_map(file: &File, start: u64, writeback: Writeback) -> Option<Vec<Extent>> {
    let mut map = Map {
        start,
        length: u64::MAX - start,
        flags: if writeback == Writeback::First { SYNC } else { 0 },
        mapped: 0,
        count: u32::try_from(BATCH).unwrap_or(0),
        reserved: 0,
        extents: [Extent::default(); BATCH],
    };
    // SAFETY: the structure has the kernel's layout and room for the `count` extents it names.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut map) };
    (result == 0).then(|| map.extents.iter().take(map.mapped as usize).copied().collect())
}

/// Adds up extents in the order of the file.
#[derive(Debug)]
struct Summary {
    sums: Extents,
    /// Where the last extent ended, in the file and on the device.
    end: Option<(u64, u64)>,
}

impl Summary {
    fn new(file_bytes: u64) -> Self {
        Self { sums: Extents { file_bytes, ..Extents::default() }, end: None }
    }

    /// Takes a part of the map; gives where the next begins, or None at the end.
    fn take(&mut self, batch: &[Extent]) -> Option<u64> {
        for extent in batch {
            let sums = &mut self.sums;
            sums.extents += 1;
            let logical_end = extent.logical_end();
            // Space that was reserved past the end of the file is not part of the file.
            let bytes = logical_end.min(sums.file_bytes).saturating_sub(extent.logical);
            let add = |sum: &mut u64| *sum = sum.saturating_add(bytes);
            match extent.flags {
                flags if flags & ENCODED != 0 => add(&mut sums.encoded_bytes),
                flags if flags & UNWRITTEN != 0 => add(&mut sums.unwritten_bytes),
                _ => add(&mut sums.written_bytes),
            }
            if extent.flags & SHARED != 0 {
                add(&mut sums.shared_bytes);
            }
            if self.end != Some((extent.logical, extent.physical)) {
                sums.pieces += 1;
            }
            self.end = Some((logical_end, extent.physical.saturating_add(extent.length)));
        }
        let last = batch.last()?;
        self.sums.cut_short = self.sums.extents >= EXTENTS_MAX && !last.is_last();
        let goes_on = !last.is_last() && !self.sums.cut_short;
        goes_on.then(|| last.logical_end())
    }

    fn finish(mut self) -> Extents {
        let sums = &mut self.sums;
        let given = [sums.written_bytes, sums.unwritten_bytes, sums.encoded_bytes];
        let given = given.into_iter().fold(0, u64::saturating_add);
        if !sums.cut_short {
            sums.hole_bytes = sums.file_bytes.saturating_sub(given);
        }
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extent(logical: u64, physical: u64, length: u64, flags: u32) -> Extent {
        Extent { logical, physical, length, flags, ..Extent::default() }
    }

    fn summary(file_bytes: u64, extents: &[Extent]) -> Extents {
        let mut summary = Summary::new(file_bytes);
        summary.take(extents);
        summary.finish()
    }

    #[test]
    fn neighbours_are_one_piece() {
        let found = summary(
            40,
            &[
                extent(0, 100, 10, 0),
                extent(10, 110, 10, UNWRITTEN),
                extent(25, 200, 15, SHARED | LAST),
            ],
        );
        let expected = Extents {
            file_bytes: 40,
            pieces: 2,
            extents: 3,
            written_bytes: 25,
            unwritten_bytes: 10,
            hole_bytes: 5,
            shared_bytes: 15,
            encoded_bytes: 0,
            cut_short: false,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_file_that_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        std::fs::File::open(&path).unwrap().sync_all().unwrap();
        // File systems in memory have no map.
        if let Some(found) = extents(&path) {
            assert_eq!(found.file_bytes, 1 << 20);
            let given = found.written_bytes + found.unwritten_bytes + found.encoded_bytes;
            assert_eq!(given + found.hole_bytes, 1 << 20);
        }
        assert_eq!(extents(directory.path()), None);
        assert_eq!(extents(&directory.path().join("none")), None);
    }

    proptest! {
        #[test]
        fn any_map_is_survived(
            file_bytes in any::<u64>(),
            parts in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<u32>()),
                0..20),
        ) {
            let parts: Vec<Extent> = parts.into_iter().map(|(l, p, n, f)| extent(l, p, n, f))
                .collect();
            let found = summary(file_bytes, &parts);
            prop_assert!(found.pieces <= found.extents);
        }
    }
}
