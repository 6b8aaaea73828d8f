//! Counts the memory that one input takes. Only the fuzzing worker switches the counting on; the
//! other benchmarks pay one load per call.
#![expect(unsafe_code, reason = "an allocator that counts is unsafe to write")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Beyond this much at once, allocation fails, which aborts the worker before it can harm the
/// machine.
const BYTES_MAX: i64 = 2 << 30;

static COUNTS: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts allocated memory; false if it exceeds the limit.
fn add(bytes: i64) -> bool {
    if !COUNTS.load(Ordering::Relaxed) {
        return true;
    }
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
    if live > BYTES_MAX && bytes > 0 {
        LIVE.fetch_sub(bytes, Ordering::Relaxed);
        return false;
    }
    true
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX / 2)
}

// SAFETY: everything is passed on to the system's allocator as it came, or refused, which an
// allocator may do.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !add(signed(layout.size())) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !add(signed(layout.size())) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-signed(layout.size()));
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !add(signed(size) - signed(layout.size())) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs something; gives the most memory that it had at once, beyond what there was before.
pub(super) fn peak_of(run: impl FnOnce()) -> u64 {
    COUNTS.store(true, Ordering::Relaxed);
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    run();
    let peak = PEAK.load(Ordering::Relaxed);
    COUNTS.store(false, Ordering::Relaxed);
    u64::try_from(peak - before).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test: the counters are the whole process's.
    #[test]
    fn what_is_allocated_at_once_is_counted() {
        let peak = peak_of(|| {
            for _ in 0..10 {
                std::hint::black_box(vec![1u8; 3 << 20]);
            }
            let mut growing = Vec::new();
            growing.resize(5 << 20, 1u8);
            std::hint::black_box(growing);
        });
        // Other tests of this process allocate and free meanwhile.
        assert!((4 << 20..64 << 20).contains(&peak), "{peak}");
    }
}
