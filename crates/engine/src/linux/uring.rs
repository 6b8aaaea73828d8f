//! The backend on io_uring: registered file and buffers, one system call for each batch.
#![expect(unsafe_code, reason = "requests carry addresses of buffers to the kernel")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, opcode, squeue};
use workload::{Buffers as Layout, Completion};

use super::vectors::Vectors;
use super::{DEVICE_BATCH, SPIN_NS};
use crate::buffers::{BufferPlan, Buffers};
use crate::clock::Clock;
use crate::drive::sleep_until;
use crate::queue::{Finished, Op, Queue, Request};

/// A timer in the ring ends a wait this often, so that the end of a run is seen in time whatever
/// the storage does. One time limit per wait would arm and cancel a timer of the kernel for nearly
/// every I/O of a slow device.
const TICK_NS: u32 = 20_000_000;
/// What the timer's completion is known by; slots are numbers of 32 bits.
const TICK: u64 = u64::MAX;

/// IORING_ENTER_REGISTERED_RING: the ring is named by its registered number.
const ENTER_REGISTERED_RING: u32 = 1 << 4;
/// `IORING_REGISTER_RING_FDS`: gives the ring a registered number.
const REGISTER_RING_FDS: libc::c_uint = 20;
/// `IORING_UNREGISTER_RING_FDS`: takes that number back.
const UNREGISTER_RING_FDS: libc::c_uint = 21;

/// A queue on its own ring. It must be made and used by the same thread.
pub(super) struct UringQueue {
    ring: IoUring,
    buffers: Buffers,
    read_base: *mut u8,
    write_base: *mut u8,
    fixed_buffers: bool,
    vectors: Option<Vectors>,
    completion: Completion,
    clock: Clock,
    to_submit: u32,
    unfinished: u32,
    /// What the call started last had completed when it returned.
    instant: bool,
    /// The ring's number among those registered by this thread.
    registered_ring: Option<libc::c_int>,
    ticking: bool,
    tick_time: Box<Timespec>,
    _files: Vec<File>,
}

/// The largest ring that kernels make.
const ENTRIES_MAX: u32 = 32_768;

/// Setup flags from best to plainest, as (name, how to ask for it).
type Setup = fn(&mut io_uring::Builder);
const SETUPS: [(&str, Setup); 3] = [
    ("defer_taskrun", |b| {
        b.setup_single_issuer().setup_defer_taskrun();
    }),
    ("coop_taskrun", |b| {
        b.setup_coop_taskrun();
    }),
    ("plain", |_| {}),
];

/// Makes a ring with the best flags that this kernel has.
fn open_ring(depth: u32) -> io::Result<(IoUring, &'static str)> {
    let mut last = io::Error::from(io::ErrorKind::Unsupported);
    for (name, setup) in SETUPS {
        let mut builder = IoUring::builder();
        setup(&mut builder);
        // One entry more than I/Os: the timer's.
        match builder.build((depth + 1).next_power_of_two().min(ENTRIES_MAX)) {
            Ok(ring) if ring.params().is_feature_ext_arg() => return Ok((ring, name)),
            Ok(_) => return Err(io::Error::other("the kernel is older than 5.11")),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// How the kernel learns of rings that are registered: `struct io_uring_rsrc_update`.
#[repr(C)]
struct RingUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

impl RingUpdate {
    /// Registers a ring with the calling thread, or takes it back; says whether the kernel did it.
    fn apply(&mut self, ring: &IoUring, what: libc::c_uint) -> bool {
        // SAFETY: the structure has the kernel's layout; the kernel writes the number it chose to
        // `offset`.
        let done = unsafe {
            libc::syscall(libc::SYS_io_uring_register, ring.as_raw_fd(), what, &raw mut *self, 1)
        };
        done == 1
    }
}

/// Registers the ring with the calling thread, which spares a look-up in every call; kernels before
/// 5.18 cannot.
fn register_ring(ring: &IoUring) -> Option<libc::c_int> {
    let data = u64::try_from(ring.as_raw_fd()).ok()?;
    let mut update = RingUpdate { offset: u32::MAX, reserved: 0, data };
    let registered = update.apply(ring, REGISTER_RING_FDS);
    if registered { libc::c_int::try_from(update.offset).ok() } else { None }
}

/// Whether a ring can be made at all, and if not, why.
pub(super) fn probe() -> io::Result<()> {
    open_ring(1).map(|_| ())
}

impl UringQueue {
    /// A queue to `files`, and the features it uses.
    pub(super) fn new(
        files: Vec<File>,
        plan: BufferPlan,
        completion: Completion,
    ) -> io::Result<(Self, Vec<String>)> {
        let (ring, taskrun) = open_ring(plan.depth)?;
        let mut features = vec![taskrun.to_owned()];
        let numbers: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
        ring.submitter().register_files(&numbers)?;
        features.push("fixed_file".to_owned());
        let mut buffers = Buffers::new(plan)?;
        let regions = buffers.regions();
        let vectors =
            regions.map(|(base, len)| libc::iovec { iov_base: base.cast(), iov_len: len });
        let in_pieces = Vectors::new(&plan);
        // Without the right to lock that much memory, requests name their buffers by address;
        // several pieces always do. SAFETY: the regions live in `buffers`, which the queue drops
        // after the ring.
        let fixed_buffers = !matches!(plan.layout, Layout::Scattered { .. })
            && unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        if fixed_buffers {
            features.push("fixed_buffers".to_owned());
        }
        if completion == Completion::Spin {
            features.push("spin".to_owned());
        }
        let [(read_base, _), (write_base, _)] = regions;
        let clock = Clock::get();
        let registered_ring = register_ring(&ring);
        if registered_ring.is_some() {
            features.push("registered_ring".to_owned());
        }
        let queue = Self {
            ring,
            registered_ring,
            buffers,
            read_base,
            write_base,
            fixed_buffers,
            vectors: in_pieces,
            completion,
            clock,
            to_submit: 0,
            unfinished: 0,
            instant: false,
            ticking: false,
            tick_time: Box::new(Timespec::new().nsec(TICK_NS)),
            _files: files,
        };
        Ok((queue, features))
    }

    /// Submits what was issued and lets the kernel post completions, without waiting.
    fn submit(&mut self) -> io::Result<()> {
        self.enter(0, None)
    }

    /// The system call: submits what was issued and waits for completions, at most for a time.
    fn enter(&mut self, least: u32, time: Option<&Timespec>) -> io::Result<()> {
        let mut flags = EnterFlags::GETEVENTS.bits();
        let arguments = time.map(|time| SubmitArgs::new().timespec(time));
        let (mut address, mut length) = (std::ptr::null(), 0);
        if let Some(arguments) = &arguments {
            flags |= EnterFlags::EXT_ARG.bits();
            address = std::ptr::from_ref(arguments).cast::<libc::c_void>();
            length = size_of::<SubmitArgs<'_, '_>>();
        }
        let ring = self.registered_ring.map_or(self.ring.as_raw_fd(), |index| {
            flags |= ENTER_REGISTERED_RING;
            index
        });
        // SAFETY: the entries of the queue are valid, see `issue`; the arguments live until the
        // call returns.
        let entered = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                ring,
                self.to_submit,
                least,
                flags,
                address,
                length,
            )
        };
        let entered = if entered < 0 { Err(io::Error::last_os_error()) } else { Ok(entered) };
        self.note(entered)
    }

    /// Sets the ring's timer, if it is not running; says whether it is.
    fn tick(&mut self) -> bool {
        if !self.ticking {
            let timer = opcode::Timeout::new(&raw const *self.tick_time).build().user_data(TICK);
            // SAFETY: the time lives as long as the queue.
            self.ticking = unsafe { self.ring.submission().push(&timer) }.is_ok();
            self.to_submit += u32::from(self.ticking);
        }
        self.ticking
    }

    /// Takes the outcome of a system call: how many entries the kernel took.
    fn note(&mut self, entered: io::Result<libc::c_long>) -> io::Result<()> {
        match entered {
            Ok(taken) => {
                self.to_submit = self.to_submit.saturating_sub(u32::try_from(taken).unwrap_or(0));
                Ok(())
            }
            Err(error) => match error.raw_os_error() {
                // The time is up, or a signal came, or the kernel wants completions reaped first.
                Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(()),
                _ => Err(error),
            },
        }
    }
}

/// The flag that makes one write durable.
fn durability(op: Op) -> i32 {
    if op == Op::WriteDurable { libc::RWF_DSYNC } else { 0 }
}

fn entry(
    request: &Request,
    base: (*mut u8, *mut u8),
    stride: usize,
    fixed_buffers: bool,
) -> squeue::Entry {
    let at = request.slot as usize * stride + request.buffer_offset as usize;
    let file = Fixed(request.target.into());
    let entry = match (request.op, fixed_buffers) {
        (Op::Read, true) => {
            let address = base.0.wrapping_add(at);
            opcode::ReadFixed::new(file, address, request.bytes, 0).offset(request.offset).build()
        }
        (Op::Write | Op::WriteDurable, true) => {
            let address = base.1.wrapping_add(at).cast_const();
            let write = opcode::WriteFixed::new(file, address, request.bytes, 1);
            write.offset(request.offset).rw_flags(durability(request.op)).build()
        }
        (Op::Read, false) => {
            let address = base.0.wrapping_add(at);
            opcode::Read::new(file, address, request.bytes).offset(request.offset).build()
        }
        (Op::Write | Op::WriteDurable, false) => {
            let address = base.1.wrapping_add(at).cast_const();
            let write = opcode::Write::new(file, address, request.bytes);
            write.offset(request.offset).rw_flags(durability(request.op)).build()
        }
        (Op::Fsync, _) => opcode::Fsync::new(file).build(),
        (Op::Fdatasync, _) => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
    };
    entry.user_data(u64::from(request.slot))
}

/// A request for an I/O in several pieces.
fn vectored(
    request: &Request,
    base: (*mut u8, *mut u8),
    stride: usize,
    fixed_buffers: bool,
    vectors: &mut Vectors,
) -> squeue::Entry {
    let at = request.slot as usize * stride;
    let buffer = match request.op {
        Op::Read => base.0,
        Op::Write | Op::WriteDurable => base.1,
        Op::Fsync | Op::Fdatasync => return entry(request, base, stride, false),
    };
    let pieces = vectors.of(request, buffer.wrapping_add(at));
    if pieces.len() == 1 {
        return entry(request, base, stride, fixed_buffers);
    }
    let (address, count) = (pieces.as_ptr(), u32::try_from(pieces.len()).unwrap_or(u32::MAX));
    let (file, offset) = (Fixed(request.target.into()), request.offset);
    let entry = match request.op {
        Op::Read => opcode::Readv::new(file, address, count).offset(offset).build(),
        op => {
            let write = opcode::Writev::new(file, address, count);
            write.offset(offset).rw_flags(durability(op)).build()
        }
    };
    entry.user_data(u64::from(request.slot))
}

impl Queue for UringQueue {
    #[inline]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        let base = (self.read_base, self.write_base);
        let stride = self.buffers.stride();
        let mut submission = self.ring.submission();
        // The crate looks at the kernel's head only when told to; without this the queue seems
        // full.
        submission.sync();
        for request in requests {
            let entry = match &mut self.vectors {
                None => entry(request, base, stride, self.fixed_buffers),
                Some(vectors) => vectored(request, base, stride, self.fixed_buffers, vectors),
            };
            // SAFETY: the address is in the buffers of the request's slot, which nothing else uses
            // until the I/O is reaped; the buffers outlive the ring.
            let pushed = unsafe { submission.push(&entry) };
            pushed.map_err(|_| io::Error::other("the submission queue is full"))?;
        }
        drop(submission);
        let count = u32::try_from(requests.len()).unwrap_or(0);
        self.to_submit += count;
        self.unfinished += count;
        Ok(())
    }

    #[inline]
    fn batch(&self) -> usize {
        // Nothing is gained by handing over early what completes inside the call.
        if self.instant { usize::MAX } else { DEVICE_BATCH }
    }

    fn start(&mut self) -> io::Result<()> {
        self.submit()?;
        self.instant = self.ring.completion().len() == self.unfinished as usize;
        Ok(())
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        self.instant = false;
        let left = until_ns.saturating_sub(self.clock.now());
        if self.unfinished == 0 {
            sleep_until(self.clock, until_ns);
            return Ok(());
        }
        if left <= SPIN_NS || self.completion == Completion::Spin {
            return self.submit();
        }
        if left >= 2 * u64::from(TICK_NS) && self.tick() {
            return self.enter(1, None);
        }
        let left = left - SPIN_NS;
        let nanos = u32::try_from(left % 1_000_000_000).unwrap_or(0);
        let time = Timespec::new().sec(left / 1_000_000_000).nsec(nanos);
        self.enter(1, Some(&time))
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        let before = finished.len();
        let mut ticked = false;
        for completion in self.ring.completion() {
            match u32::try_from(completion.user_data()) {
                Ok(slot) => finished.push(Finished { slot, result: completion.result() }),
                Err(_) => ticked = true,
            }
        }
        self.ticking &= !ticked;
        self.unfinished -= u32::try_from(finished.len() - before).unwrap_or(0);
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.write(slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }
}

impl Drop for UringQueue {
    /// Unregisters everything now. The kernel takes rings down in the background, and until then a
    /// test file that is removed would keep its space. Memory that the kernel may still write to
    /// has to stay: an I/O that never returned keeps its buffers.
    fn drop(&mut self) {
        if let Some(offset) = self.registered_ring.and_then(|n| u32::try_from(n).ok()) {
            RingUpdate { offset, reserved: 0, data: 0 }.apply(&self.ring, UNREGISTER_RING_FDS);
        }
        if self.unfinished == 0 {
            // What fails here the end of the ring does, only later.
            let _ = self.ring.submitter().unregister_files();
            return;
        }
        let one =
            BufferPlan { depth: 1, bytes: 1, reads: false, writes: false, layout: Layout::Single };
        if let Ok(empty) = Buffers::new(one) {
            std::mem::forget(std::mem::replace(&mut self.buffers, empty));
        }
    }
}
