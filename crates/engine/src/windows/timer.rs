//! The timer that ends waits on a port at their moment, and not at the next tick of the system.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::ffi::c_void;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::sync::Arc;

use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CancelWaitableTimer, CreateWaitableTimerExW,
    SetWaitableTimer, TIMER_ALL_ACCESS,
};

use crate::late::LateWaits;
use crate::windows_outcome::{Margin, is_set_for};

/// A timer of high resolution. It interrupts the alertable waits of the thread that sets it.
pub(super) struct Timer {
    handle: OwnedHandle,
    /// When it interrupts; `None` if it is not set, or its interruption was seen.
    due_ns: Option<u64>,
    /// When it was last asked for.
    asked_ns: u64,
    margin: Margin,
    late: Arc<LateWaits>,
    #[cfg(test)]
    interruptions: u32,
}

/// The interruption is all; there is nothing else to do.
unsafe extern "system" fn interrupts(_: *const c_void, _: u32, _: u32) {}

impl Timer {
    /// `None` on systems without such a timer: those before version 1803 of Windows 10.
    pub(super) fn new() -> Option<Self> {
        let (none, flags) = (std::ptr::null(), CREATE_WAITABLE_TIMER_HIGH_RESOLUTION);
        // SAFETY: takes plain numbers; the handle is owned from here on.
        let handle = unsafe {
            let handle = CreateWaitableTimerExW(none, none.cast(), flags, TIMER_ALL_ACCESS);
            if handle.is_null() {
                return None;
            }
            OwnedHandle::from_raw_handle(handle)
        };
        Some(Self {
            handle,
            due_ns: None,
            asked_ns: 0,
            margin: Margin::default(),
            late: Arc::default(),
            #[cfg(test)]
            interruptions: 0,
        })
    }

    /// Sees to it that an alertable wait of this thread is interrupted shortly before `until_ns`,
    /// or earlier. Gives the milliseconds after which a wait ends that it does not interrupt; none
    /// if the moment is so near that the clock must be watched.
    pub(super) fn set(&mut self, now_ns: u64, until_ns: u64) -> Option<u32> {
        let (due_ns, ms) = self.margin.due(now_ns, until_ns)?;
        if !is_set_for(self.due_ns, now_ns, due_ns) {
            // Negative times are counted from now on, in 100 ns.
            let from_now = -i64::try_from((due_ns - now_ns) / 100).unwrap_or(i64::MAX);
            // SAFETY: takes a handle that is open and a function that lives for ever; the number
            // is read before the call returns.
            let set = unsafe {
                let routine = Some(interrupts as unsafe extern "system" fn(_, _, _));
                let timer = self.handle.as_raw_handle();
                SetWaitableTimer(timer, &raw const from_now, 0, routine, std::ptr::null(), 0)
            };
            self.due_ns = (set != 0).then_some(due_ns);
        }
        self.asked_ns = now_ns;
        Some(ms)
    }

    /// A wait was interrupted, the one that it was last asked for.
    pub(super) fn has_interrupted(&mut self, now_ns: u64) {
        #[cfg(test)]
        {
            self.interruptions += 1;
        }
        let due_ns = self.due_ns.take();
        let late_ns = due_ns.and_then(|due_ns| self.margin.learn(self.asked_ns, due_ns, now_ns));
        if let Some(late_ns) = late_ns {
            self.late.add(late_ns);
        }
    }

    /// How late the timer has interrupted waits so far.
    pub(super) fn late(&self) -> Arc<LateWaits> {
        Arc::clone(&self.late)
    }
}

#[cfg(test)]
impl Timer {
    /// How many waits it has interrupted.
    pub(super) fn interruptions(&self) -> u32 {
        self.interruptions
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: takes a handle that is open. An interruption under way goes with it.
        unsafe { CancelWaitableTimer(self.handle.as_raw_handle()) };
    }
}
