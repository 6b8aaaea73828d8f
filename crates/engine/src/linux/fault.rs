//! Faults in mapped memory. A system call would return an error; a fault makes the system send a
//! signal (SIGBUS), which ends the program. Here it becomes the error of the I/O that met it.
//!
//! The handler puts an empty page where the fault was, so that the copy can continue, and notes
//! that it did. The copying code looks at the note and maps the file again. The handler calls
//! nothing but mmap, and touches no memory but its thread's own note. Faults at other addresses go
//! to the previous handler.
#![expect(unsafe_code, reason = "a signal handler, and memory that files are mapped to")]

use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;

/// What the handler must know of the copy that its thread makes.
struct Copying {
    from: Cell<usize>,
    to: Cell<usize>,
    faulted: Cell<bool>,
}

thread_local! {
    static COPYING: Copying =
        const { Copying { from: Cell::new(0), to: Cell::new(0), faulted: Cell::new(false) } };
}

/// What the handler needs: the previous handler, and the size of a page.
struct Before {
    action: libc::sigaction,
    page_bytes: usize,
}

static BEFORE: OnceLock<Before> = OnceLock::new();

/// Length of a page of memory.
pub(super) fn page_bytes() -> usize {
    // SAFETY: asks for a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|b| b.is_power_of_two()).unwrap_or(4096)
}

/// Catches faults from now on, in every thread.
pub(super) fn catch() -> io::Result<()> {
    if BEFORE.get().is_some() {
        return Ok(());
    }
    // SAFETY: the structures are plain numbers, for which zero is a value; the handler has the form
    // that SA_SIGINFO asks for.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        // The first of several threads sets the handler, and not before what it needs is there.
        if BEFORE.set(Before { action: before, page_bytes: page_bytes() }).is_err() {
            return Ok(());
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        if libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Runs `copy`, which touches mapped memory at these addresses only; says whether all of it was
/// there.
#[inline]
pub(super) fn guarded(addresses: Range<usize>, copy: impl FnOnce()) -> bool {
    COPYING.with(|c| {
        c.faulted.set(false);
        c.from.set(addresses.start);
        c.to.set(addresses.end);
        // The note must be written before the memory is touched, for a handler that runs in
        // between.
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        copy();
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        c.to.set(0);
        !c.faulted.get()
    })
}

extern "C" fn on_fault(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let Some(before) = BEFORE.get() else { return };
    // SAFETY: the kernel gives a valid structure.
    let address = unsafe { (*info).si_addr() } as usize;
    let ours = COPYING.with(|c| {
        let ours = (c.from.get()..c.to.get()).contains(&address);
        c.faulted.set(ours || c.faulted.get());
        ours
    });
    // SAFETY: the page at the address belongs to the mapping of this thread's queue, which maps the
    // file there again before it is used once more; the number of the last error is the interrupted
    // code's.
    unsafe {
        let error = *libc::__errno_location();
        if !ours || !put_empty_page(address & !(before.page_bytes - 1), before.page_bytes) {
            // The fault is not ours. When this returns, the access is tried again and reaches the
            // previous handler.
            libc::sigaction(libc::SIGBUS, &raw const before.action, std::ptr::null_mut());
        }
        *libc::__errno_location() = error;
    }
}

/// # Safety
///
/// The page must be part of a mapping that the caller may change.
unsafe fn put_empty_page(page: usize, bytes: usize) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    let at = std::ptr::with_exposed_provenance_mut(page);
    // SAFETY: see above.
    unsafe { libc::mmap(at, bytes, protection, flags, -1, 0) != libc::MAP_FAILED }
}
