//! Memory that the kernel's programs write and this process reads: the ring of records, and the
//! counters.
#![expect(unsafe_code, reason = "memory that is shared with the kernel")]

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::bpf;

/// The head of a record: its length with two flags, and where its page is.
const HEAD: usize = 8;
/// The kernel has not written the record to its end.
const BUSY: u32 = 1 << 31;
/// The record does not count.
const DISCARDED: u32 = 1 << 30;

/// Memory of a map.
#[derive(Debug)]
struct Mapping {
    address: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread, and only its owner unmaps it.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(map: &OwnedFd, (from, bytes): (usize, usize), is_ours: bool) -> io::Result<Self> {
        let access = if is_ours { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        let from = libc::off_t::try_from(from).map_err(io::Error::other)?;
        let file = map.as_raw_fd();
        // SAFETY: the kernel chooses the address, so no memory that is in use is replaced.
        let address = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, file, from)
        };
        match NonNull::new(address.cast::<u8>()) {
            Some(address) if address.as_ptr().cast() != libc::MAP_FAILED => {
                Ok(Self { address, bytes })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The 8 bytes at a multiple of 8; the first ones if they were outside.
    fn long(&self, at: usize) -> &AtomicU64 {
        let at = if at + 8 <= self.bytes { at & !7 } else { 0 };
        // SAFETY: a mapping is at least a page, aligned to one, and lives as long as `self`. What
        // the kernel changes meanwhile is read as an atomic.
        unsafe { AtomicU64::from_ptr(self.address.as_ptr().add(at).cast()) }
    }

    /// The same of 4 bytes.
    fn word(&self, at: usize) -> &AtomicU32 {
        let at = if at + 4 <= self.bytes { at & !3 } else { 0 };
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(self.address.as_ptr().add(at).cast()) }
    }

    /// Bytes that nobody changes until they are given back.
    fn bytes(&self, at: usize, length: usize) -> &[u8] {
        if at.checked_add(length).is_none_or(|end| end > self.bytes) {
            return &[];
        }
        // SAFETY: they are inside the mapping, and the kernel writes no record again that was not
        // given back by the position of the reader.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr().add(at), length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no reference to it outlives `self`.
        unsafe { libc::munmap(self.address.as_ptr().cast(), self.bytes) };
    }
}

/// The ring of records.
#[derive(Debug)]
pub(super) struct Ring {
    pub(super) map: OwnedFd,
    /// How far this process has read.
    read: Mapping,
    /// A page that says how far the kernel has written, then the records twice, so that none is
    /// split.
    written: Mapping,
    page: usize,
    /// A power of two.
    size: usize,
}

impl Ring {
    pub(super) fn new(bytes: u32) -> io::Result<Self> {
        let map = bpf::make_ring(bytes)?;
        let (page, size) = (rustix::param::page_size(), bytes as usize);
        let read = Mapping::new(&map, (0, page), true)?;
        let written = Mapping::new(&map, (page, page + 2 * size), false)?;
        Ok(Self { map, read, written, page, size })
    }

    /// Gives every record that is whole, and its room back to the kernel. Says whether all that
    /// the kernel has begun was whole.
    pub(super) fn take(&mut self, mut visit: impl FnMut(&[u8])) -> bool {
        let position = self.read.long(0);
        let mut at = position.load(Ordering::Relaxed);
        let end = self.written.long(0).load(Ordering::Acquire);
        let wrap = self.size as u64 - 1;
        while at < end {
            let place = self.page + usize::try_from(at & wrap).unwrap_or(0);
            let mark = self.written.word(place).load(Ordering::Acquire);
            if mark & BUSY != 0 {
                break;
            }
            let length = (mark & !(BUSY | DISCARDED)) as usize;
            if mark & DISCARDED == 0 {
                visit(self.written.bytes(place + HEAD, length));
            }
            at += (HEAD + length).next_multiple_of(8) as u64;
        }
        position.store(at, Ordering::Release);
        at >= end
    }
}

/// The counters of the programs.
#[derive(Debug)]
pub(super) struct Counters {
    pub(super) map: OwnedFd,
    values: Mapping,
}

impl Counters {
    pub(super) fn new(bytes: u32) -> io::Result<Self> {
        let map = bpf::make_counters(bytes)?;
        let values = Mapping::new(&map, (0, rustix::param::page_size()), false)?;
        Ok(Self { map, values })
    }

    /// The counter at this place.
    pub(super) fn get(&self, at: i16) -> u64 {
        self.values.long(usize::try_from(at).unwrap_or(0)).load(Ordering::Relaxed)
    }
}
