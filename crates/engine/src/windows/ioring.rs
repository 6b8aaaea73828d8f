//! The backend on Windows' I/O rings: many I/Os per system call. Only `--engine ioring` takes it.
//!
//! No test machine has rings, so the queue works on a [`Ring`], which tests provide in their own
//! way. The one of Windows is in `ioring_calls.rs`.

use std::io;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Foundation::HANDLE;
use workload::Completion;

use super::iocp::{LAST_IOS_MS, keep_for_ever, shorten_ticks};
use super::open::Pair;
use crate::buffers::{BufferPlan, Buffers};
use crate::clock::Clock;
use crate::drive::sleep_until;
use crate::queue::{DEVICE_BATCH, Finished, Op, Queue, Request};
use crate::windows_outcome::{ring_finished, wait_ms};

/// An I/O as a ring takes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) op: Op,
    pub(super) file: HANDLE,
    /// Where the bytes come from or go to; of no meaning for a flush.
    pub(super) buffer: *mut u8,
    pub(super) bytes: u32,
    pub(super) offset: u64,
    /// The number that its completion repeats.
    pub(super) slot: u32,
}

/// A completion as a ring gives it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completed {
    pub(super) slot: usize,
    /// An `HRESULT`: negative if the I/O failed.
    pub(super) code: i32,
    pub(super) bytes: usize,
}

/// A submission queue and a completion queue.
pub(super) trait Ring {
    /// Puts an I/O into the submission queue; false if that is full.
    ///
    /// # Safety
    /// The file is open, and the buffer stays where it is and is used by nobody else until the I/O
    /// has completed.
    #[expect(unsafe_code, reason = "the system keeps the address of the buffer")]
    unsafe fn put(&mut self, entry: &Entry) -> io::Result<bool>;

    /// Submits what is in the submission queue, and waits for so many completions, so many
    /// milliseconds at most.
    fn submit(&mut self, wait_for: u32, ms: u32) -> io::Result<()>;

    /// Takes the next completion; `None` if there is none yet.
    fn pop(&mut self) -> Option<Completed>;
}

/// Makes a queue of I/Os from a ring.
pub(super) struct RingQueue<R: Ring> {
    ring: R,
    files: Vec<Pair>,
    buffers: Buffers,
    read_base: *mut u8,
    write_base: *mut u8,
    ready: Vec<Finished>,
    completion: Completion,
    clock: Clock,
    /// Entries in the submission queue that were not submitted yet.
    put: u32,
    /// Not completed, those in the submission queue included.
    pending: u32,
}

impl<R: Ring> RingQueue<R> {
    /// A queue to files that are open for overlapped I/O. Its waits follow the system's tick.
    pub(super) fn new(
        ring: R,
        files: Vec<Pair>,
        plan: BufferPlan,
        completion: Completion,
    ) -> io::Result<Self> {
        shorten_ticks();
        let mut buffers = Buffers::new(plan)?;
        let [(read_base, _), (write_base, _)] = buffers.regions();
        Ok(Self {
            ring,
            files,
            buffers,
            read_base,
            write_base,
            ready: Vec::with_capacity(plan.depth as usize),
            completion,
            clock: Clock::get(),
            put: 0,
            pending: 0,
        })
    }

    /// The ring, for tests.
    #[cfg(test)]
    pub(super) fn ring(&self) -> &R {
        &self.ring
    }

    fn entry(&self, request: &Request) -> Entry {
        let Pair { plain, .. } = &self.files[usize::from(request.target)];
        let base = if request.op == Op::Read { self.read_base } else { self.write_base };
        let at = request.slot as usize * self.buffers.stride() + request.buffer_offset as usize;
        Entry {
            op: request.op,
            file: plain.as_raw_handle(),
            buffer: base.wrapping_add(at),
            bytes: request.bytes,
            offset: request.offset,
            slot: request.slot,
        }
    }

    fn submit(&mut self, wait_for: u32, ms: u32) -> io::Result<()> {
        self.ring.submit(wait_for, ms)?;
        self.put = 0;
        Ok(())
    }

    fn take(&mut self) {
        while let Some(Completed { slot, code, bytes }) = self.ring.pop() {
            let slot = u32::try_from(slot).unwrap_or(u32::MAX);
            self.ready.push(Finished { slot, result: ring_finished(code, bytes) });
            self.pending -= 1;
        }
    }
}

impl<R: Ring> Queue for RingQueue<R> {
    #[inline]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    #[expect(unsafe_code, reason = "the system keeps the address of the buffer")]
    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        for request in requests {
            let entry = self.entry(request);
            // SAFETY: the file is open as long as this queue, which waits for its I/Os or keeps
            // their memory for ever. The slot has no other I/O, so nobody else uses its buffer.
            while !unsafe { self.ring.put(&entry)? } {
                self.submit(0, 0)?;
            }
            self.put += 1;
            self.pending += 1;
        }
        Ok(())
    }

    #[inline]
    fn batch(&self) -> usize {
        DEVICE_BATCH
    }

    fn start(&mut self) -> io::Result<()> {
        if self.put > 0 { self.submit(0, 0) } else { Ok(()) }
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        self.start()?;
        self.take();
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
        match wait_ms(until_ns.saturating_sub(self.clock.now())) {
            Some(ms) => self.submit(1, ms),
            None => Ok(()),
        }
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        self.take();
        finished.append(&mut self.ready);
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.write(slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }
}

impl<R: Ring> Drop for RingQueue<R> {
    /// Waits for I/Os in flight. The memory of one that never returns is kept until the process
    /// ends.
    fn drop(&mut self) {
        let until = self.clock.now() + u64::from(LAST_IOS_MS) * 1_000_000;
        while self.pending > 0 && self.clock.now() < until {
            if self.submit(1, 10).is_err() {
                break;
            }
            self.take();
        }
        if self.pending > 0 {
            keep_for_ever(&mut self.buffers);
        }
    }
}
