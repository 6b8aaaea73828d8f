//! The backend on overlapped I/O and a completion port: one port per thread.
#![expect(unsafe_code, reason = "requests carry addresses of buffers to the system")]

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::sync::{Arc, Once};

use windows_sys::Win32::Foundation::{
    GetLastError, HANDLE, INVALID_HANDLE_VALUE, RtlNtStatusToDosError, WAIT_IO_COMPLETION,
    WAIT_TIMEOUT,
};
use windows_sys::Win32::Media::timeBeginPeriod;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_SEGMENT_ELEMENT, ReadFile, ReadFileScatter, SetFileCompletionNotificationModes, WriteFile,
    WriteFileGather,
};
use windows_sys::Win32::System::IO::{
    CancelIoEx, CreateIoCompletionPort, GetQueuedCompletionStatusEx, OVERLAPPED, OVERLAPPED_ENTRY,
};
use workload::{Buffers as Layout, Completion};

use super::open::Pair;
use super::timer::Timer;
use crate::buffers::{BufferPlan, Buffers};
use crate::clock::Clock;
use crate::drive::sleep_until;
use crate::error::DEVICE_FAILED;
use crate::late::LateWaits;
use crate::queue::{Finished, Op, Queue, Request};
use crate::windows_outcome::{Started, finished, started, wait_ms};
use crate::windows_pieces::{ELEMENT_BYTES, has_elements, is_in_pieces};

/// Nothing is queued for a call that succeeds at once, and the handle is not signalled.
const SKIP_ON_SUCCESS: u8 = 1;
const SKIP_SET_EVENT: u8 = 2;
/// How long a queue that ends waits for I/Os that it has cancelled.
const LAST_IOS_MS: u32 = 2000;

/// A handle that is bound to the port.
struct Bound {
    handle: HANDLE,
    /// The port gets no completion for calls that succeed at once.
    skips: bool,
}

/// A queue with its own port.
pub(super) struct IocpQueue {
    port: OwnedHandle,
    files: Vec<Pair>,
    /// For each target the handle of all I/Os, and that of durable writes.
    bound: Vec<[Bound; 2]>,
    buffers: Buffers,
    read_base: *mut u8,
    write_base: *mut u8,
    /// What Windows knows an I/O by: one for each slot, at an address that does not change.
    slots: Vec<OVERLAPPED>,
    base: *mut OVERLAPPED,
    segments: Segments,
    entries: Vec<OVERLAPPED_ENTRY>,
    /// Flushes are plain calls, made when the queue waits.
    flushes: Vec<Request>,
    ready: Vec<Finished>,
    completion: Completion,
    clock: Clock,
    /// None where waits end with the system's tick.
    timer: Option<Timer>,
    pending: u32,
    /// The last wait has asked the port already.
    asked: bool,
}

/// Buffers of all slots as pages of memory, for I/O that is scattered over them.
struct Segments {
    /// Those of one slot, with the one that ends the list; 0 if I/Os are in one piece.
    per_slot: usize,
    all: Vec<FILE_SEGMENT_ELEMENT>,
}

impl Segments {
    fn new(plan: BufferPlan) -> Self {
        let elements = plan.bytes.div_ceil(ELEMENT_BYTES) as usize + 1;
        let per_slot = if is_in_pieces(plan.layout) { elements } else { 0 };
        let none = FILE_SEGMENT_ELEMENT { Alignment: 0 };
        Self { per_slot, all: vec![none; per_slot * plan.depth as usize] }
    }

    /// The pages of a request, in memory that begins at `buffer`. They stay where they are until
    /// the slot is used again.
    fn of(&mut self, request: &Request, buffer: *mut u8) -> *const FILE_SEGMENT_ELEMENT {
        let first = request.slot as usize * self.per_slot;
        let room = &mut self.all[first..first + self.per_slot];
        let count = (request.bytes / ELEMENT_BYTES) as usize;
        for (page, element) in room.iter_mut().enumerate() {
            let at = page * ELEMENT_BYTES as usize;
            *element = FILE_SEGMENT_ELEMENT { Alignment: 0 };
            if page < count {
                element.Buffer = buffer.wrapping_add(at).cast();
            }
        }
        room.as_ptr()
    }
}

/// Without a timer, waits follow the system's tick, which is up to 15.6 ms unless a program asks
/// for a shorter one.
fn shorten_ticks() {
    static ONCE: Once = Once::new();
    // SAFETY: takes a plain number. Where the system has no such tick, waits end later.
    ONCE.call_once(|| unsafe {
        timeBeginPeriod(1);
    });
}

impl IocpQueue {
    /// A queue to files that are open for overlapped I/O. Without a timer, its waits follow the
    /// system's tick.
    pub(super) fn new(
        files: Vec<Pair>,
        plan: BufferPlan,
        completion: Completion,
        timer: Option<Timer>,
    ) -> io::Result<Self> {
        if timer.is_none() {
            shorten_ticks();
        }
        // SAFETY: makes a port for one thread; the handle is owned from here on.
        let port = unsafe {
            let none = std::ptr::null_mut();
            let port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, none, 0, 1);
            if port.is_null() {
                return Err(io::Error::last_os_error());
            }
            OwnedHandle::from_raw_handle(port)
        };
        let bind = |pair: &Pair| {
            let usual = bind(&port, pair.plain.as_raw_handle())?;
            let durable = match &pair.durable {
                Some(file) => bind(&port, file.as_raw_handle())?,
                None => Bound { ..usual },
            };
            Ok([usual, durable])
        };
        let bound = files.iter().map(bind).collect::<io::Result<Vec<_>>>()?;
        let mut buffers = Buffers::new(plan)?;
        let [(read_base, _), (write_base, _)] = buffers.regions();
        let depth = plan.depth as usize;
        let mut slots = vec![OVERLAPPED::default(); depth];
        let base = slots.as_mut_ptr();
        Ok(Self {
            port,
            files,
            bound,
            buffers,
            read_base,
            write_base,
            slots,
            base,
            segments: Segments::new(plan),
            entries: vec![OVERLAPPED_ENTRY::default(); depth.max(1)],
            flushes: Vec::with_capacity(depth),
            ready: Vec::with_capacity(depth),
            completion,
            clock: Clock::get(),
            timer,
            pending: 0,
            asked: false,
        })
    }

    fn flush(&mut self) {
        for request in self.flushes.drain(..) {
            // Windows has one call for data and for data with metadata.
            let done = self.files[usize::from(request.target)].plain.sync_all();
            let number = |e: io::Error| -e.raw_os_error().unwrap_or(DEVICE_FAILED);
            let result = done.map_or_else(number, |()| 0);
            self.ready.push(Finished { slot: request.slot, result });
        }
    }

    /// What is in use besides the port, as results name it.
    pub(super) fn features(&self) -> Vec<String> {
        let waits = if self.timer.is_some() { "high-resolution timer" } else { "1 ms ticks" };
        vec![waits.to_owned()]
    }

    /// How late waits end that the timer ends.
    pub(super) fn late_waits(&self) -> Option<Arc<LateWaits>> {
        self.timer.as_ref().map(Timer::late)
    }

    /// How many waits the timer has interrupted.
    #[cfg(test)]
    pub(super) fn interruptions(&self) -> u32 {
        self.timer.as_ref().map_or(0, Timer::interruptions)
    }

    /// How long to wait on the port until a moment, in milliseconds; none if it is too near. The
    /// timer interrupts the wait.
    fn wait_ms(&mut self, until_ns: u64) -> Option<u32> {
        let now = self.clock.now();
        match &mut self.timer {
            Some(timer) => timer.set(now, until_ns),
            None => wait_ms(until_ns.saturating_sub(now)),
        }
    }

    /// Asks the port for all that is done, or waits for the first, or for the timer.
    fn ask(&mut self, ms: u32) -> io::Result<()> {
        let room = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        let mut count = 0;
        let alertable = i32::from(ms > 0);
        // SAFETY: Windows writes at most `room` entries and one number.
        let (result, error) = unsafe {
            let entries = self.entries.as_mut_ptr();
            let port = self.port.as_raw_handle();
            let removed = &raw mut count;
            let result = GetQueuedCompletionStatusEx(port, entries, room, removed, ms, alertable);
            (result, if result == 0 { GetLastError() } else { 0 })
        };
        if result == 0 {
            return match (error, &mut self.timer) {
                (WAIT_TIMEOUT, _) => Ok(()),
                (WAIT_IO_COMPLETION, Some(timer)) => {
                    timer.has_interrupted(self.clock.now());
                    Ok(())
                }
                _ => Err(io::Error::from_raw_os_error(error.cast_signed())),
            };
        }
        // An interruption brings no entries, or entries without an I/O.
        let of_ios = |entry: &&OVERLAPPED_ENTRY| !entry.lpOverlapped.is_null();
        for entry in self.entries[..count as usize].iter().filter(of_ios) {
            let at = entry.lpOverlapped.addr().wrapping_sub(self.base.addr());
            // SAFETY: takes and gives a plain number.
            let code_of = |status: u32| unsafe { RtlNtStatusToDosError(status.cast_signed()) };
            #[expect(clippy::cast_possible_truncation, reason = "a status has 32 bits")]
            let status = entry.Internal as u32;
            self.ready.push(Finished {
                slot: u32::try_from(at / size_of::<OVERLAPPED>()).unwrap_or(u32::MAX),
                result: finished(status, entry.dwNumberOfBytesTransferred, code_of),
            });
            self.pending -= 1;
        }
        Ok(())
    }
}

/// Binds a handle to the port.
fn bind(port: &OwnedHandle, handle: HANDLE) -> io::Result<Bound> {
    // SAFETY: takes handles that are open, and plain numbers.
    unsafe {
        if CreateIoCompletionPort(handle, port.as_raw_handle(), 0, 0).is_null() {
            return Err(io::Error::last_os_error());
        }
        let flags = SKIP_ON_SUCCESS | SKIP_SET_EVENT;
        Ok(Bound { handle, skips: SetFileCompletionNotificationModes(handle, flags) != 0 })
    }
}

impl Queue for IocpQueue {
    #[inline]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        for request in requests {
            let [plain, durable] = &self.bound[usize::from(request.target)];
            let (file, base) = match request.op {
                Op::Read => (plain, self.read_base),
                Op::Write => (plain, self.write_base),
                Op::WriteDurable => (durable, self.write_base),
                Op::Fsync | Op::Fdatasync => {
                    self.flushes.push(*request);
                    continue;
                }
            };
            let slot = request.slot as usize;
            let buffer =
                base.wrapping_add(slot * self.buffers.stride() + request.buffer_offset as usize);
            let in_pieces =
                self.segments.per_slot > 0 && has_elements(request.buffer_offset, request.bytes);
            let pages = in_pieces.then(|| self.segments.of(request, buffer));
            // SAFETY: the slot has no I/O, so nobody else uses its structure and its buffer; both
            // stay where they are until its I/O is reaped, or for ever. Pages are in that buffer.
            let (succeeded, error, bytes) = unsafe {
                let overlapped = self.base.add(slot);
                let mut place = OVERLAPPED::default();
                place.Anonymous.Anonymous.Offset = low(request.offset);
                place.Anonymous.Anonymous.OffsetHigh = low(request.offset >> 32);
                overlapped.write(place);
                let (handle, bytes, is_read) = (file.handle, request.bytes, request.op == Op::Read);
                let result = if let Some(pages) = pages {
                    let none = std::ptr::null();
                    if is_read {
                        ReadFileScatter(handle, pages, bytes, none, overlapped)
                    } else {
                        WriteFileGather(handle, pages, bytes, none, overlapped)
                    }
                } else if is_read {
                    ReadFile(handle, buffer, bytes, std::ptr::null_mut(), overlapped)
                } else {
                    WriteFile(handle, buffer, bytes, std::ptr::null_mut(), overlapped)
                };
                // Of an I/O that is under way, Windows still writes the structure.
                let at_once = result != 0 && file.skips;
                let error = if result == 0 { GetLastError() } else { 0 };
                (result != 0, error, if at_once { (*overlapped).InternalHigh } else { 0 })
            };
            match started(succeeded, error, bytes, file.skips) {
                Started::Done(result) => {
                    self.ready.push(Finished { slot: request.slot, result });
                }
                Started::Pending => self.pending += 1,
            }
        }
        Ok(())
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        self.flush();
        if !self.ready.is_empty() {
            return Ok(());
        }
        if self.pending == 0 {
            sleep_until(self.clock, until_ns);
            return Ok(());
        }
        if self.completion == Completion::Spin {
            return Ok(());
        }
        if let Some(ms) = self.wait_ms(until_ns) {
            self.ask(ms)?;
            self.asked = true;
        }
        Ok(())
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        let asked = std::mem::take(&mut self.asked);
        if self.pending > 0 && !asked {
            // What fails here will fail in the next wait, which can say so.
            let _ = self.ask(0);
        }
        finished.append(&mut self.ready);
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.write(slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
fn low(number: u64) -> u32 {
    number as u32
}

impl Drop for IocpQueue {
    /// Cancels I/Os in flight and waits for them. The memory of an I/O that never returns is kept
    /// until the process ends.
    fn drop(&mut self) {
        if self.pending == 0 {
            return;
        }
        for bound in self.bound.iter().flatten() {
            // SAFETY: takes a handle that is open.
            unsafe { CancelIoEx(bound.handle, std::ptr::null()) };
        }
        let until = self.clock.now() + u64::from(LAST_IOS_MS) * 1_000_000;
        while self.pending > 0 && self.clock.now() < until {
            if self.ask(10).is_err() {
                break;
            }
            self.ready.clear();
        }
        if self.pending == 0 {
            return;
        }
        std::mem::forget(std::mem::take(&mut self.slots));
        std::mem::forget(std::mem::take(&mut self.segments.all));
        keep_for_ever(&mut self.buffers);
    }
}

/// Keeps the memory of I/Os that never return until the process ends.
fn keep_for_ever(buffers: &mut Buffers) {
    let one =
        BufferPlan { depth: 1, bytes: 1, reads: false, writes: false, layout: Layout::Single };
    if let Ok(empty) = Buffers::new(one) {
        std::mem::forget(std::mem::replace(buffers, empty));
    } else {
        std::process::abort();
    }
}
