//! Which parts of a file are really there, and what reads can do on it.
#![expect(unsafe_code, reason = "the extent map is an ioctl with a structure of variable length")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::fs::SeekFrom;
use workload::Buffers as Layout;

use crate::buffers::{BufferPlan, Buffers};

/// `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
const FLAG_SYNC: u32 = 1;
const EXTENT_LAST: u32 = 0x1;
const EXTENT_UNWRITTEN: u32 = 0x800;
const BATCH: usize = 128;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_tail: [u32; 3],
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

/// Bytes of a file's first `size_bytes` that are holes or were never written: reading them measures nothing.
///
/// None where the file system tells neither its extents nor its holes.
pub(super) fn missing_bytes(file: &File, size_bytes: u64) -> Option<u64> {
    unwritten_extents(file, size_bytes).or_else(|| holes(file, size_bytes))
}

/// The same by seeking from hole to data, which network and memory file systems know, too.
fn holes(file: &File, size_bytes: u64) -> Option<u64> {
    let (mut at, mut missing) = (0, 0);
    while at < size_bytes {
        let data = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) => data,
            // There is no data any more.
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
        let batch = extents(file, at, size_bytes - at).ok()?;
        let Some(last) = batch.last() else { break };
        for extent in &batch {
            let end = extent.logical.saturating_add(extent.length).min(size_bytes);
            if extent.flags & EXTENT_UNWRITTEN == 0 {
                present += end.saturating_sub(extent.logical.max(at));
            }
        }
        let next = last.logical.saturating_add(last.length);
        if last.flags & EXTENT_LAST != 0 || next <= at {
            break;
        }
        at = next;
    }
    Some(size_bytes.saturating_sub(present))
}

fn extents(file: &File, start: u64, length: u64) -> io::Result<Vec<Extent>> {
    let mut map = Map {
        start,
        length,
        flags: FLAG_SYNC,
        mapped: 0,
        count: u32::try_from(BATCH).unwrap_or(0),
        reserved: 0,
        extents: [Extent::default(); BATCH],
    };
    // SAFETY: the structure has the kernel's layout and room for the `count` extents it names.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut map) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let mapped = (map.mapped as usize).min(BATCH);
    Ok(map.extents[..mapped].to_vec())
}

/// Whether a read that would have to wait is refused at once (RWF_NOWAIT), instead of not being possible at all.
pub(super) fn read_nowait(file: &File, align_bytes: u64) -> bool {
    !matches!(direct_read(file, align_bytes, libc::RWF_NOWAIT), Err(e) if e.raw_os_error() == Some(libc::EOPNOTSUPP))
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

    /// Memory and network file systems have no extent map; there a sparse file passed for a written one.
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
