//! Threads that must not be late.
#![expect(unsafe_code, reason = "the scheduler is asked by a system call")]

use std::cell::Cell;
use std::num::NonZeroU64;

/// Above everything ordinary, below the kernel's own threads that work for it.
const LEVEL: libc::c_int = 10;

/// Lets the calling thread run before all ordinary ones, if that is allowed, and ends its timers on
/// time.
///
/// Without permission the device is late more often, which it reports.
pub(super) fn raise() {
    thread_local!(static RAISED: Cell<bool> = const { Cell::new(false) });
    if RAISED.replace(true) {
        return;
    }
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let parameter = libc::sched_param { sched_priority: LEVEL };
    // SAFETY: 0 is the calling thread, and the parameter is alive during the call.
    let _ = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) };
}
