//! A simulated device on a virtual clock: every I/O is done exactly when the model of the device
//! says.
//!
//! No simulated time passes elsewhere. Figures of a run on it are therefore exact and the same on
//! every machine, whatever else that machine does.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use device::{Completions, Device, Outcome};

use crate::buffers::{BufferPlan, Buffers};
use crate::error::DEVICE_FAILED;
use crate::queue::{Finished, Op, Queue, Request};

/// One worker's queue to a simulated device; all queues of a run share the device and the clock.
pub(crate) struct SimQueue {
    device: Rc<RefCell<Device>>,
    clock: Rc<Cell<u64>>,
    targets: Vec<(usize, bool)>,
    pending: Completions,
    buffers: Buffers,
}

impl SimQueue {
    /// A queue to some targets of a device, on a clock that the caller advances. For each target,
    /// the queue knows whether its writes must be on stable media when they complete.
    pub(crate) fn new(
        device: &Rc<RefCell<Device>>,
        clock: &Rc<Cell<u64>>,
        plan: BufferPlan,
        targets: Vec<(usize, bool)>,
    ) -> io::Result<Self> {
        Ok(Self {
            device: Rc::clone(device),
            clock: Rc::clone(clock),
            targets,
            pending: Completions::with_capacity(plan.depth as usize),
            buffers: Buffers::new(plan)?,
        })
    }

    /// What the device is asked for.
    fn to_device(&self, request: &Request) -> device::Request {
        let op = match request.op {
            Op::Read => device::Op::Read,
            Op::Write | Op::WriteDurable => device::Op::Write,
            Op::Fsync | Op::Fdatasync => device::Op::Sync,
        };
        let Request { offset, bytes, .. } = *request;
        let (target, durable) = self.targets[usize::from(request.target)];
        let durable = request.op == Op::WriteDurable || durable && op == device::Op::Write;
        device::Request { target, op, offset, bytes, durable }
    }

    /// When the next I/O of this queue is done.
    pub(crate) fn next_completion(&self) -> Option<u64> {
        self.pending.next_ns()
    }
}

impl Queue for SimQueue {
    fn now(&self) -> u64 {
        self.clock.get()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        let now = self.now();
        let mut device = self.device.borrow_mut();
        for request in requests {
            let reply = device.serve(&self.to_device(request), now);
            let result = match reply.outcome {
                Outcome::Done { bytes } => i32::try_from(bytes).unwrap_or(i32::MAX),
                Outcome::Failed => -DEVICE_FAILED,
            };
            self.pending.push(reply.done_ns, request.slot, result);
        }
        Ok(())
    }

    /// Moves the clock to the next completion or to `until_ns`; only for a queue that has the clock
    /// to itself.
    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        let next = self.next_completion().unwrap_or(u64::MAX).min(until_ns);
        self.clock.set(self.clock.get().max(next));
        Ok(())
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        let now = self.now();
        while let Some((slot, result)) = self.pending.pop_by(now) {
            finished.push(Finished { slot, result });
        }
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.write(slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }
}
