//! The interface between a workload and a backend: one queue of I/Os, owned by one thread.

use std::io;

/// The operation of one I/O, as a backend performs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Reads into the slot's read buffer.
    Read,
    /// Writes the slot's write buffer, possibly to a volatile cache.
    Write,
    /// Writes the slot's write buffer, and is done when that is on stable media: a write with
    /// RWF_DSYNC, which goes to a device as one with forced unit access (FUA) where the device has
    /// that.
    WriteDurable,
    /// Makes earlier writes durable, with all metadata (`fsync`).
    Fsync,
    /// Makes earlier writes durable, with the metadata that reading them needs (`fdatasync`).
    Fdatasync,
}

/// How many kinds of I/O are counted apart: reads, writes, flushes.
pub(crate) const KINDS: usize = 3;

impl Op {
    /// The kind it is counted as: 0 read, 1 write, 2 flush.
    #[must_use]
    pub(crate) fn kind(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Write | Self::WriteDurable => 1,
            Self::Fsync | Self::Fdatasync => 2,
        }
    }

    /// Whether it writes data, durably or not.
    #[must_use]
    pub fn writes(self) -> bool {
        self.kind() == 1
    }

    /// The word for it in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["read", "write", "sync"][self.kind()]
    }
}

/// One I/O, ready to be issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Which of the queue's slots it uses; each slot has one I/O at a time.
    pub slot: u32,
    /// The operation to perform.
    pub op: Op,
    /// Which of the queue's targets it goes to.
    pub target: u16,
    /// Where it begins on the target, in bytes.
    pub offset: u64,
    /// How many bytes to move; 0 for a flush.
    pub bytes: u32,
    /// Where in the slot's buffer; above zero for the rest of a short transfer.
    pub buffer_offset: u32,
}

/// An I/O that has finished, with its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// The slot that the I/O had; it is free again.
    pub slot: u32,
    /// Bytes transferred, or the negative error number of the system.
    pub result: i32,
}

/// A queue of I/Os to one target, or to several for a pool of threads.
///
/// The contract, which one test checks for every implementation: every request of
/// [`issue`](Queue::issue) comes back exactly once from [`reap`](Queue::reap), in any order;
/// requests may wait until [`wait`](Queue::wait) before they start, and `wait` starts all of them;
/// `wait` returns when something can be reaped or `until_ns` has come, whichever is first; time
/// never runs backwards.
pub trait Queue {
    /// The time on the run's clock, in nanoseconds.
    fn now(&self) -> u64;

    /// Takes requests; never more than the queue's depth are unfinished at a time.
    fn issue(&mut self, requests: &[Request]) -> io::Result<()>;

    /// How many requests to issue before [`start`](Queue::start) is worth its call.
    #[inline]
    fn batch(&self) -> usize {
        usize::MAX
    }

    /// Submits what was issued, without waiting.
    #[inline]
    fn start(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Submits what was issued and waits for a completion or for a moment on the run's clock.
    fn wait(&mut self, until_ns: u64) -> io::Result<()>;

    /// Appends all I/Os that have finished.
    fn reap(&mut self, finished: &mut Vec<Finished>);

    /// The write buffer of a slot that is not in use.
    fn write_buffer(&mut self, slot: u32) -> &mut [u8];

    /// The read buffer of a slot that is not in use: what its last read brought.
    fn read_buffer(&self, slot: u32) -> &[u8];
}
