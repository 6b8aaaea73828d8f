//! The backend that does nothing: every I/O is complete as soon as it is reaped. What a run on it
//! costs is what the tool itself costs.

use std::io;

use crate::buffers::{BufferPlan, Buffers};
use crate::clock::Clock;
use crate::queue::{Finished, Queue, Request};

/// A queue without a device: every I/O completes at once.
pub(crate) struct NullQueue {
    clock: Clock,
    buffers: Buffers,
    done: Vec<Finished>,
}

impl NullQueue {
    /// A queue with buffers for `plan`.
    pub(crate) fn new(plan: BufferPlan) -> io::Result<Self> {
        let done = Vec::with_capacity(plan.depth as usize);
        Ok(Self { clock: Clock::get(), buffers: Buffers::new(plan)?, done })
    }
}

impl Queue for NullQueue {
    #[inline]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        let bytes = |r: &Request| i32::try_from(r.bytes).unwrap_or(i32::MAX);
        self.done.extend(requests.iter().map(|r| Finished { slot: r.slot, result: bytes(r) }));
        Ok(())
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        if self.done.is_empty() {
            crate::drive::sleep_until(self.clock, until_ns);
        }
        Ok(())
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        finished.append(&mut self.done);
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.write(slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }
}
