//! The backend on Linux native asynchronous I/O, by its system calls.
#![expect(unsafe_code, reason = "requests carry addresses of buffers to the kernel")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use workload::{Buffers as Layout, Completion};

use super::vectors::Vectors;
use super::{DEVICE_BATCH, SPIN_NS};
use crate::buffers::{BufferPlan, Buffers};
use crate::clock::Clock;
use crate::drive::sleep_until;
use crate::queue::{Finished, Op, Queue, Request};

/// What the kernel's shared completion ring begins with when it is the layout known here.
const RING_MAGIC: u32 = 0xa10a_10a1;
const READ: u16 = 0;
const WRITE: u16 = 1;
const READ_VECTORED: u16 = 7;
const WRITE_VECTORED: u16 = 8;

/// The head of the completion ring, which the kernel maps at the address that is the context's
/// number.
#[repr(C)]
struct Ring {
    id: u32,
    count: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible: u32,
    incompatible: u32,
    header_length: u32,
}

/// One completion, as the kernel writes it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    control_block: u64,
    result: i64,
    result_2: i64,
}

/// One request, as the kernel reads it on a little-endian machine. The header of musl does not have
/// it.
#[expect(clippy::struct_field_names, reason = "they are the names of the kernel")]
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ControlBlock {
    aio_data: u64,
    aio_key: u32,
    aio_rw_flags: i32,
    aio_lio_opcode: u16,
    aio_reqprio: i16,
    aio_fildes: u32,
    aio_buf: u64,
    aio_nbytes: u64,
    aio_offset: i64,
    aio_reserved: u64,
    aio_flags: u32,
    aio_resfd: u32,
}

const _: () = assert!(cfg!(target_endian = "little") && size_of::<ControlBlock>() == 64);

/// A queue with its own kernel context.
pub(super) struct AioQueue {
    context: libc::c_ulong,
    ring: *const Ring,
    files: Vec<File>,
    buffers: Buffers,
    read_base: *mut u8,
    write_base: *mut u8,
    blocks: Vec<ControlBlock>,
    vectors: Option<Vectors>,
    events: Vec<Event>,
    pointers: Vec<*mut ControlBlock>,
    /// Flushes are done by a plain call when the queue waits; this kernel interface has none that
    /// every file system takes.
    flushes: Vec<Request>,
    flushed: Vec<Finished>,
    completion: Completion,
    clock: Clock,
    in_kernel: u32,
}

/// Whether a context can be made at all, and if not, why.
pub(super) fn probe() -> io::Result<()> {
    let context = setup(1)?;
    destroy(context);
    Ok(())
}

fn setup(depth: u32) -> io::Result<libc::c_ulong> {
    let mut context: libc::c_ulong = 0;
    // SAFETY: the kernel writes one number to the address of `context`.
    let result = unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(context) }
}

fn destroy(context: libc::c_ulong) {
    // SAFETY: the context came from `setup` and is used no more.
    unsafe { libc::syscall(libc::SYS_io_destroy, context) };
}

impl AioQueue {
    /// Sets up a context for `plan.depth` I/Os, and their buffers.
    pub(super) fn new(
        files: Vec<File>,
        plan: BufferPlan,
        completion: Completion,
    ) -> io::Result<Self> {
        let context = setup(plan.depth)?;
        let mut buffers = Buffers::new(plan)?;
        let [(read_base, _), (write_base, _)] = buffers.regions();
        let depth = plan.depth as usize;
        Ok(Self {
            context,
            // The kernel's name of a context is the address of its ring.
            ring: std::ptr::with_exposed_provenance(usize::try_from(context).unwrap_or(0)),
            files,
            buffers,
            read_base,
            write_base,
            blocks: vec![ControlBlock::default(); depth],
            vectors: Vectors::new(&plan),
            events: vec![Event::default(); depth],
            pointers: Vec::with_capacity(depth),
            flushes: Vec::with_capacity(depth),
            flushed: Vec::with_capacity(depth),
            completion,
            clock: Clock::get(),
            in_kernel: 0,
        })
    }

    fn flush(&mut self) {
        for request in self.flushes.drain(..) {
            let file = &self.files[usize::from(request.target)];
            let done = match request.op {
                Op::Fsync => file.sync_all(),
                _ => file.sync_data(),
            };
            let result = done.map_or_else(|e| -e.raw_os_error().unwrap_or(libc::EIO), |()| 0);
            self.flushed.push(Finished { slot: request.slot, result });
        }
    }

    /// Hands everything that was issued to the kernel; what it does not take stays for the next
    /// time.
    fn submit(&mut self) {
        while !self.pointers.is_empty() {
            // SAFETY: every pointer is to a control block in `blocks` whose buffer is the slot's
            // own; both stay where they are until the I/O is reaped.
            let taken = unsafe {
                let (count, list) = (self.pointers.len(), self.pointers.as_mut_ptr());
                libc::syscall(libc::SYS_io_submit, self.context, count, list)
            };
            if taken < 0 {
                let error = io::Error::last_os_error();
                let passing = matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR));
                if passing && self.in_kernel > 0 {
                    return;
                }
                if passing {
                    continue;
                }
                self.refuse(&error);
                continue;
            }
            let taken = usize::try_from(taken).unwrap_or(0);
            self.pointers.drain(..taken);
            self.in_kernel += u32::try_from(taken).unwrap_or(0);
        }
    }

    /// The kernel refused the first control block; that I/O has failed, the others continue.
    fn refuse(&mut self, error: &io::Error) {
        let block = self.pointers.remove(0);
        // SAFETY: the pointer is to a control block of this queue.
        let slot = unsafe { (*block).aio_data };
        let result = -error.raw_os_error().unwrap_or(libc::EIO);
        self.flushed.push(Finished { slot: u32::try_from(slot).unwrap_or(0), result });
    }

    /// Takes completions from the ring in shared memory, without a system call. False where the
    /// layout is unknown.
    fn reap_shared(&mut self, finished: &mut Vec<Finished>) -> bool {
        let address = self.ring;
        // SAFETY: the kernel maps the ring at this address for as long as the context lives.
        let ring = unsafe { &*address };
        if ring.magic != RING_MAGIC || ring.incompatible != 0 {
            return false;
        }
        let mut head = ring.head.load(Ordering::Relaxed);
        let tail = ring.tail.load(Ordering::Acquire);
        let before = finished.len();
        // SAFETY: the events follow the head of the ring, `count` of them, aligned as the kernel
        // needs them itself.
        #[expect(clippy::cast_ptr_alignment, reason = "the header is as long as an event")]
        let events =
            unsafe { address.cast::<u8>().add(ring.header_length as usize).cast::<Event>() };
        while head != tail {
            // SAFETY: `head` is below `count`, and the kernel published this event before `tail`.
            let event = unsafe { *events.add(head as usize) };
            finished.push(done(&event));
            head = (head + 1) % ring.count.max(1);
        }
        fence(Ordering::Release);
        ring.head.store(head, Ordering::Release);
        self.in_kernel -= u32::try_from(finished.len() - before).unwrap_or(0);
        true
    }

    /// Waits in the kernel until one I/O is done or the time is up; completions stay in the ring if
    /// it can be read.
    fn get_events(
        &mut self,
        least: u32,
        time_ns: u64,
        finished: Option<&mut Vec<Finished>>,
    ) -> io::Result<()> {
        let nanos = |n: u64| libc::c_long::try_from(n).unwrap_or(0);
        let time = libc::timespec {
            tv_sec: (time_ns / 1_000_000_000).try_into().unwrap_or(0),
            tv_nsec: nanos(time_ns % 1_000_000_000),
        };
        let room = self.events.len();
        // SAFETY: the kernel writes at most `room` events to `events`.
        let got = unsafe {
            let events = self.events.as_mut_ptr();
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                least,
                room,
                events,
                &raw const time,
            )
        };
        if got < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) };
        }
        let got = usize::try_from(got).unwrap_or(0);
        self.in_kernel -= u32::try_from(got).unwrap_or(0);
        let taken = self.events[..got].iter().map(done);
        match finished {
            Some(finished) => finished.extend(taken),
            None => self.flushed.extend(taken),
        }
        Ok(())
    }
}

fn done(event: &Event) -> Finished {
    Finished {
        slot: u32::try_from(event.data).unwrap_or(u32::MAX),
        result: i32::try_from(event.result).unwrap_or(-libc::EIO),
    }
}

impl Queue for AioQueue {
    #[inline]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        for request in requests {
            let (opcode, vectored, base) = match request.op {
                Op::Read => (READ, READ_VECTORED, self.read_base),
                Op::Write | Op::WriteDurable => (WRITE, WRITE_VECTORED, self.write_base),
                Op::Fsync | Op::Fdatasync => {
                    self.flushes.push(*request);
                    continue;
                }
            };
            let file = &self.files[usize::from(request.target)];
            let buffer = base.wrapping_add(request.slot as usize * self.buffers.stride());
            let block = &mut self.blocks[request.slot as usize];
            block.aio_data = u64::from(request.slot);
            block.aio_rw_flags = if request.op == Op::WriteDurable { libc::RWF_DSYNC } else { 0 };
            block.aio_fildes = u32::try_from(file.as_raw_fd()).unwrap_or(0);
            if let Some(vectors) = &mut self.vectors {
                let pieces = vectors.of(request, buffer);
                block.aio_lio_opcode = vectored;
                (block.aio_buf, block.aio_nbytes) = (pieces.as_ptr() as u64, pieces.len() as u64);
            } else {
                block.aio_lio_opcode = opcode;
                block.aio_buf = buffer.wrapping_add(request.buffer_offset as usize) as u64;
                block.aio_nbytes = u64::from(request.bytes);
            }
            block.aio_offset = i64::try_from(request.offset).unwrap_or(i64::MAX);
            self.pointers.push(block);
        }
        Ok(())
    }

    #[inline]
    fn batch(&self) -> usize {
        DEVICE_BATCH
    }

    fn start(&mut self) -> io::Result<()> {
        self.submit();
        Ok(())
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        self.submit();
        self.flush();
        if !self.flushed.is_empty() {
            return Ok(());
        }
        if self.in_kernel == 0 {
            sleep_until(self.clock, until_ns);
            return Ok(());
        }
        let left = until_ns.saturating_sub(self.clock.now());
        if left <= SPIN_NS || self.completion == Completion::Spin {
            return Ok(());
        }
        self.get_events(1, left - SPIN_NS, None)
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        finished.append(&mut self.flushed);
        if self.in_kernel > 0 && !self.reap_shared(finished) {
            // What fails here will fail in the next wait, which can say so.
            let _ = self.get_events(0, 0, Some(finished));
        }
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.write(slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }
}

impl Drop for AioQueue {
    /// Destroying a context waits for its I/Os; one with an I/O that never returns is left to the
    /// end of the process.
    fn drop(&mut self) {
        if self.in_kernel == 0 {
            destroy(self.context);
            return;
        }
        let one =
            BufferPlan { depth: 1, bytes: 1, reads: false, writes: false, layout: Layout::Single };
        if let Ok(empty) = Buffers::new(one) {
            std::mem::forget(std::mem::replace(&mut self.buffers, empty));
        }
    }
}
