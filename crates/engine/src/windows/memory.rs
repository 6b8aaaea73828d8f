//! Memory: how much is free, and pages for buffers.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::ffi::c_void;
use std::io;
use std::ops::{Deref, DerefMut};

use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

/// Bytes that programs can have without anything being swapped out; unknown if the system says that
/// it has no memory at all, as Wine does to the second of two threads that ask at once.
pub(crate) fn available_memory() -> Option<u64> {
    let length = u32::try_from(size_of::<MEMORYSTATUSEX>()).unwrap_or(0);
    let mut status = MEMORYSTATUSEX { dwLength: length, ..MEMORYSTATUSEX::default() };
    // SAFETY: the structure is as long as it says.
    let known = unsafe { GlobalMemoryStatusEx(&raw mut status) != 0 };
    (known && status.ullTotalPhys > 0).then_some(status.ullAvailPhys)
}

/// Large pages need a right that not even administrators have, so none are asked for.
pub(crate) fn has_large_pages() -> bool {
    false
}

/// Pages of memory that belong to nothing else. Those of a mapping without a file would be part of
/// the page file, and each I/O would find that out anew.
pub(crate) struct Pages {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: nothing else refers to the pages, and this value owns them alone.
unsafe impl Send for Pages {}

impl Pages {
    /// So many bytes, which are zero.
    pub(crate) fn map_anon(bytes: usize) -> io::Result<Self> {
        let bytes = bytes.max(1);
        // SAFETY: asks for new pages anywhere.
        let start = unsafe {
            let flags = MEM_COMMIT | MEM_RESERVE;
            VirtualAlloc(std::ptr::null(), bytes, flags, PAGE_READWRITE).cast::<u8>()
        };
        if start.is_null() { Err(io::Error::last_os_error()) } else { Ok(Self { start, bytes }) }
    }
}

impl Deref for Pages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the pages are there as long as this is, and were zero at the beginning.
        unsafe { std::slice::from_raw_parts(self.start, self.bytes) }
    }
}

impl DerefMut for Pages {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the same, and nobody else has them.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages came from `VirtualAlloc` and are used no more.
        unsafe { VirtualFree(self.start.cast::<c_void>(), 0, MEM_RELEASE) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// Two of ten runs of the suites failed: "0 B are free" for a buffer of 16 KiB. Wine keeps its
    /// answer for a second, and clears it before it has the next one.
    #[test]
    fn threads_that_ask_at_once_do_not_hear_that_there_is_no_memory() {
        let barrier = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    assert_ne!(available_memory(), Some(0));
                });
            }
        });
    }
}
