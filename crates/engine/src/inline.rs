//! A queue that makes each I/O itself, in the thread that waits for it: one at a time, in the order
//! of their issue.

use std::collections::VecDeque;
use std::io;

use crate::buffers::{BufferPlan, Buffers};
use crate::clock::Clock;
use crate::drive::sleep_until;
use crate::error::DEVICE_FAILED;
use crate::queue::{Finished, Queue, Request};

/// Performs one I/O before it returns.
pub(crate) trait Perform {
    /// Makes it, and gives the bytes it moved.
    fn perform(&mut self, buffers: &mut Buffers, request: &Request) -> io::Result<usize>;
}

/// The queue. Other outstanding I/Os wait for their turn, and the wait is part of their latency.
pub(crate) struct InlineQueue<P> {
    targets: P,
    buffers: Buffers,
    issued: VecDeque<Request>,
    done: Vec<Finished>,
    clock: Clock,
}

impl<P: Perform> InlineQueue<P> {
    pub(crate) fn to(targets: P, plan: BufferPlan) -> io::Result<Self> {
        let depth = plan.depth as usize;
        Ok(Self {
            targets,
            buffers: Buffers::new(plan)?,
            issued: VecDeque::with_capacity(depth),
            done: Vec::with_capacity(depth),
            clock: Clock::get(),
        })
    }
}

impl<P: Perform> Queue for InlineQueue<P> {
    #[inline]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        self.issued.extend(requests);
        Ok(())
    }

    /// Makes the I/O whose turn it is.
    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        match self.issued.pop_front() {
            Some(request) => {
                let result = match self.targets.perform(&mut self.buffers, &request) {
                    Ok(bytes) => i32::try_from(bytes).unwrap_or(i32::MAX),
                    Err(error) => -error.raw_os_error().unwrap_or(DEVICE_FAILED),
                };
                self.done.push(Finished { slot: request.slot, result });
            }
            None if self.done.is_empty() => sleep_until(self.clock, until_ns),
            None => {}
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
