//! Which parts of a file are really there, and what reads can do on it.
#![expect(unsafe_code, reason = "reads that must not wait are a separate system call")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use inspect::{Writeback, extent_map};
use rustix::fs::SeekFrom;
use workload::Buffers as Layout;

use crate::buffers::{BufferPlan, Buffers};

/// Bytes of a file's first `size_bytes` that are holes or were never written: reading them measures
/// nothing.
///
/// `None` if the file system tells neither its extents nor its holes.
pub(super) fn missing_bytes(file: &File, size_bytes: u64) -> Option<u64> {
    unwritten_extents(file, size_bytes).or_else(|| holes(file, size_bytes))
}

/// The same by seeking from hole to data, which network and memory file systems know, too.
fn holes(file: &File, size_bytes: u64) -> Option<u64> {
    let (mut at, mut missing) = (0, 0);
    while at < size_bytes {
        let data = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) => data,
            // There is no data up to the end of the file.
            Err(rustix::io::Errno::NXIO) => size_bytes,
            Err(_) => return None,
        };
        missing += data.min(size_bytes).saturating_sub(at);
        if data >= size_bytes {
            break;
        }
        at = rustix::fs::seek(file, SeekFrom::Hole(data)).ok().filter(|hole| *hole > data)?;
    }
    Some(missing)
}

fn unwritten_extents(file: &File, size_bytes: u64) -> Option<u64> {
    let (mut at, mut present) = (0, 0);
    while at < size_bytes {
        let batch = extent_map(file, at, Writeback::First)?;
        let Some(last) = batch.last() else { break };
        for extent in batch.iter().filter(|extent| !extent.is_unwritten()) {
            let end = extent.logical_end().min(size_bytes);
            present += end.saturating_sub(extent.logical.max(at));
        }
        if last.is_last() || last.logical_end() <= at {
            break;
        }
        at = last.logical_end();
    }
    Some(size_bytes.saturating_sub(present))
}

/// Whether a read that would have to wait is refused at once (RWF_NOWAIT), instead of not being
/// possible at all.
pub(super) fn read_nowait(file: &File, align_bytes: u64) -> bool {
    !matches!(direct_read(file, align_bytes, libc::RWF_NOWAIT),
        Err(e) if e.raw_os_error() == Some(libc::EOPNOTSUPP))
}

/// Whether reads of this size at its multiples work on a file opened for direct I/O.
pub(super) fn reads_aligned_to(file: &File, align_bytes: u64) -> bool {
    direct_read(file, align_bytes, 0).is_ok()
}

fn direct_read(file: &File, bytes: u64, flags: libc::c_int) -> io::Result<()> {
    let bytes = u32::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut buffers = Buffers::new(BufferPlan {
        depth: 1,
        bytes,
        reads: true,
        writes: false,
        layout: Layout::Single,
    })?;
    let buffer = buffers.read_mut(0);
    let vector = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: the vector describes `buffer`, which lives until the call returns.
    let result = unsafe { libc::preadv2(file.as_raw_fd(), &raw const vector, 1, 0, flags) };
    if result >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    /// Memory and network file systems have no extent map; there a sparse file passed for a written
    /// one.
    #[test]
    fn holes_are_found_with_and_without_an_extent_map() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        file.write_all_at(&vec![1; 65536], 262_144).unwrap();
        file.sync_all().unwrap();
        let missing = (1 << 20) - 65536;
        assert_eq!(holes(&file, 1 << 20), Some(missing));
        assert!(unwritten_extents(&file, 1 << 20).is_none_or(|bytes| bytes == missing));
        assert_eq!(missing_bytes(&file, 262_144 + 65536), Some(262_144));
    }
}
