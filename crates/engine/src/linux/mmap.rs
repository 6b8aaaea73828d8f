//! The backend on a mapped target: a read copies from the mapping, a write copies to it, a durable
//! write is on stable media (msync) before it is done.
//!
//! One I/O at a time. Exactly the used part of the target is mapped. Where it ends sooner by then,
//! or the medium fails, the I/O fails as it would in a system call (EIO); see [`fault`].
#![expect(unsafe_code, reason = "copies from and to memory that a file is mapped to")]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

use memmap2::{Advice, MmapOptions, MmapRaw};
use workload::Hint;

use super::fault;
use crate::buffers::{BufferPlan, Buffers};
use crate::inline::{InlineQueue, Perform};
use crate::queue::{Op, Request};

/// A target that is mapped into memory.
pub(super) struct Mapping {
    file: File,
    map: MmapRaw,
    writes: bool,
    durable: bool,
    page_bytes: usize,
}

impl Mapping {
    /// Maps the first `size_bytes` of `file`, which must be open for writing if `writes`.
    pub(super) fn new(
        file: File,
        size_bytes: u64,
        writes: bool,
        durable: bool,
    ) -> io::Result<Self> {
        fault::catch()?;
        let length = usize::try_from(size_bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut options = MmapOptions::new();
        options.len(length);
        let map =
            if writes { options.map_raw(&file)? } else { options.map_raw_read_only(&file)? };
        Ok(Self { file, map, writes, durable, page_bytes: fault::page_bytes() })
    }

    /// Tells the system of the order in which it will be used.
    pub(super) fn advise(&self, hint: Hint) -> io::Result<()> {
        self.map.advise(match hint {
            Hint::Random => Advice::Random,
            Hint::Sequential => Advice::Sequential,
        })
    }

    /// What of a request is in the mapping, as a part of it.
    fn part(&self, request: &Request) -> Range<usize> {
        let size = self.map.len();
        let from = usize::try_from(request.offset).unwrap_or(usize::MAX).min(size);
        from..from.saturating_add(request.bytes as usize).min(size)
    }

    fn read(&self, part: Range<usize>, into: &mut [u8]) -> io::Result<usize> {
        let length = part.len().min(into.len());
        let from = self.map.as_ptr().wrapping_add(part.start);
        let whole = fault::guarded(from.addr()..from.addr() + length, || {
            // SAFETY: `part` is in the mapping, `length` in the buffer, and the two are apart.
            unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), length) };
        });
        self.checked(whole, part, length)
    }

    fn write(&self, part: Range<usize>, from: &[u8]) -> io::Result<usize> {
        if !self.writes {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        let length = part.len().min(from.len());
        let to = self.map.as_mut_ptr().wrapping_add(part.start);
        let whole = fault::guarded(to.addr()..to.addr() + length, || {
            // SAFETY: as in `read`; the mapping may be written to.
            unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, length) };
        });
        let written = self.checked(whole, part.clone(), length)?;
        if self.durable {
            self.map.flush_range(part.start, written)?;
        }
        Ok(written)
    }

    /// The outcome of a copy; after a fault, the file is mapped again where an empty page took its
    /// place.
    fn checked(&self, whole: bool, part: Range<usize>, length: usize) -> io::Result<usize> {
        if whole {
            return Ok(length);
        }
        let start = part.start & !(self.page_bytes - 1);
        let read = libc::PROT_READ;
        let protection = if self.writes { read | libc::PROT_WRITE } else { read };
        // SAFETY: the pages are this mapping's own, and are mapped to what they were mapped to
        // before.
        let at = unsafe {
            let address = self.map.as_mut_ptr().wrapping_add(start).cast();
            let (file, flags) = (self.file.as_raw_fd(), libc::MAP_SHARED | libc::MAP_FIXED);
            let offset = libc::off_t::try_from(start).unwrap_or(libc::off_t::MAX);
            libc::mmap(address, part.end - start, protection, flags, file, offset)
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Err(io::Error::from_raw_os_error(libc::EIO))
    }
}

/// A queue that copies to and from mappings.
pub(super) type MmapQueue = InlineQueue<Vec<Mapping>>;

impl MmapQueue {
    /// A queue to these mapped targets.
    pub(super) fn new(mappings: Vec<Mapping>, plan: BufferPlan) -> io::Result<Self> {
        Self::to(mappings, plan)
    }
}

impl Perform for Vec<Mapping> {
    fn perform(&mut self, buffers: &mut Buffers, request: &Request) -> io::Result<usize> {
        let mapping = &self[usize::from(request.target)];
        let from = request.buffer_offset as usize;
        let buffer = from..from + request.bytes as usize;
        let part = mapping.part(request);
        match request.op {
            Op::Read => mapping.read(part, &mut buffers.read_mut(request.slot)[buffer]),
            Op::Write => mapping.write(part, &buffers.write(request.slot)[buffer]),
            Op::WriteDurable => {
                let written = mapping.write(part, &buffers.write(request.slot)[buffer])?;
                mapping.file.sync_data().map(|()| written)
            }
            // Both calls also cover writes through the mapping.
            Op::Fsync => mapping.file.sync_all().map(|()| 0),
            Op::Fdatasync => mapping.file.sync_data().map(|()| 0),
        }
    }
}
