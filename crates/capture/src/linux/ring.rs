//! Memory that the kernel's programs write and this process reads: the rings of records, and the
//! counters.
#![expect(unsafe_code, reason = "memory that is shared with the kernel")]

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bpf;
use crate::program::{FULL_AT, READ_AT, RECORDS_AT, WRITTEN_AT};
use crate::record::RECORD;

/// The values of a map, mapped into this process.
#[derive(Debug)]
struct Mapping {
    address: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread, and only its owner unmaps it.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(map: &OwnedFd, bytes: usize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let file = map.as_raw_fd();
        // SAFETY: the kernel chooses the address, so no memory that is in use is replaced.
        let address =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, file, 0) };
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

/// Records of all rings together, about; each ring has at least the least, and at most the most.
const SLOTS: usize = 1 << 20;
const SLOTS_MIN: usize = 1 << 13;
const SLOTS_MAX: usize = 1 << 16;

/// The rings of records, one for each processor.
#[derive(Debug)]
pub(super) struct Rings {
    pub(super) map: OwnedFd,
    values: Mapping,
    processors: usize,
    /// Records in each ring: a power of two.
    slots: usize,
}

impl Rings {
    /// For processors whose numbers are below this.
    pub(super) fn new(processors: usize) -> io::Result<Self> {
        let processors = processors.max(1);
        let slots = (SLOTS / processors.next_power_of_two()).clamp(SLOTS_MIN, SLOTS_MAX);
        let number = |value: usize| u32::try_from(value).map_err(io::Error::other);
        let bytes = ring_bytes(slots);
        let map = bpf::make_values(number(processors)?, number(bytes)?)?;
        let values = Mapping::new(&map, processors * bytes)?;
        Ok(Self { map, values, processors, slots })
    }

    /// How many records each ring holds.
    pub(super) fn slots(&self) -> u32 {
        u32::try_from(self.slots).unwrap_or(1)
    }

    /// Gives every record, and its room back to the programs.
    pub(super) fn take(&mut self, mut visit: impl FnMut(&[u8])) {
        for begin in self.begins() {
            let read = self.values.long(begin + place(READ_AT));
            let mut at = read.load(Ordering::Relaxed);
            let end = self.values.long(begin + place(WRITTEN_AT)).load(Ordering::Acquire);
            while at < end {
                let slot = usize::try_from(at % self.slots as u64).unwrap_or(0);
                visit(self.values.bytes(begin + place(RECORDS_AT) + slot * RECORD, RECORD));
                at += 1;
            }
            read.store(at, Ordering::Release);
        }
    }

    /// How many records found no room.
    pub(super) fn full(&self) -> u64 {
        let of = |begin: usize| self.values.long(begin + place(FULL_AT)).load(Ordering::Relaxed);
        self.begins().map(of).sum()
    }

    /// Where the ring of each processor begins, in bytes.
    fn begins(&self) -> impl Iterator<Item = usize> + use<> {
        let bytes = ring_bytes(self.slots);
        (0..self.processors).map(move |processor| processor * bytes)
    }
}

fn ring_bytes(slots: usize) -> usize {
    place(RECORDS_AT) + slots * RECORD
}

fn place(at: i16) -> usize {
    usize::try_from(at).unwrap_or(0)
}

/// The counters that all programs share.
#[derive(Debug)]
pub(super) struct Counters {
    pub(super) map: OwnedFd,
    values: Mapping,
}

impl Counters {
    pub(super) fn new(bytes: u32) -> io::Result<Self> {
        let map = bpf::make_values(1, bytes)?;
        let values = Mapping::new(&map, rustix::param::page_size())?;
        Ok(Self { map, values })
    }

    /// Reads the counter at this offset.
    pub(super) fn get(&self, at: i16) -> u64 {
        self.values.long(place(at)).load(Ordering::Relaxed)
    }
}
