//! A simulated device on a virtual clock: given service times, parallel servers, caches and faults, all seeded.
//!
//! When an I/O arrives, the device decides at once when it will be done; no simulated time passes elsewhere. Figures
//! of a run on it are therefore exact and the same on every machine, whatever else that machine does.
//!
//! I/Os pass what they share in the order in which they arrive: first the link, reads and writes alike, then a cache or
//! the first server that is free. So nothing is ever reserved ahead of somebody who comes there sooner.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::rc::Rc;

use workload::{SimDevice, SimService};

use crate::buffers::{BufferPlan, Buffers};
use crate::queue::{Finished, Op, Queue, Request};
use crate::random::Random;

/// The error number that an injected failure carries (EIO everywhere).
const EIO: i32 = 5;
/// Units in which a device transfers.
const SECTOR: u32 = 512;

/// The device behind all queues of one simulated run.
pub(crate) struct SimModel {
    device: SimDevice,
    random: Random,
    servers_free_at: BinaryHeap<Reverse<u64>>,
    link_free_at: u64,
    write_cache_bytes: f64,
    write_cache_at: u64,
    writes_done_at: u64,
    ios: u64,
}

impl SimModel {
    /// A device that is idle at time 0.
    pub(crate) fn new(device: SimDevice, seed: u64) -> Self {
        let servers_free_at = (0..device.servers.max(1)).map(|_| Reverse(0)).collect();
        Self {
            device,
            random: Random::new(seed, u64::MAX),
            servers_free_at,
            link_free_at: 0,
            write_cache_bytes: 0.0,
            write_cache_at: 0,
            writes_done_at: 0,
            ios: 0,
        }
    }

    /// When an I/O that arrives now is done, and with what result.
    fn serve(&mut self, request: &Request, now: u64) -> (u64, i32) {
        self.ios += 1;
        let mut done = match request.op {
            Op::Read => {
                let arrived = self.over_link(now, request.bytes);
                self.read(request, arrived)
            }
            Op::Write => {
                let arrived = self.over_link(now, request.bytes);
                self.write(request.bytes, arrived)
            }
            Op::Fsync | Op::Fdatasync => {
                now.max(self.writes_done_at).saturating_add(self.device.sync_ns.0)
            }
        };
        if let Some(stuck) = self.device.stuck
            && stuck.at_io == self.ios
        {
            done = now.saturating_add(stuck.length_ns.0);
        }
        if request.op == Op::Write {
            self.writes_done_at = self.writes_done_at.max(done);
        }
        (done, self.result(request))
    }

    fn result(&self, request: &Request) -> i32 {
        let every = |n: Option<u64>| n.is_some_and(|n| n > 0 && self.ios.is_multiple_of(n));
        let bytes = i32::try_from(request.bytes).unwrap_or(i32::MAX);
        if every(self.device.fail_every) {
            -EIO
        } else if every(self.device.short_every) && request.bytes > SECTOR {
            i32::try_from(request.bytes / 2 / SECTOR * SECTOR).unwrap_or(bytes)
        } else {
            bytes
        }
    }

    fn read(&mut self, request: &Request, now: u64) -> u64 {
        let end = request.offset.saturating_add(u64::from(request.bytes));
        match self.device.cache {
            Some(cache) if end <= cache.size_bytes.0 => {
                self.after_stall(now).saturating_add(cache.hit_ns.0)
            }
            _ => self.on_server(self.device.read_ns.0, now),
        }
    }

    fn write(&mut self, bytes: u32, now: u64) -> u64 {
        let Some(cache) = self.device.write_cache else {
            return self.on_server(self.device.write_ns.0, now);
        };
        let drain = cache.drain_bytes_per_s.0.max(1) as f64 / 1e9;
        let at = now.max(self.write_cache_at);
        let drained = (at - self.write_cache_at) as f64 * drain;
        self.write_cache_bytes = (self.write_cache_bytes - drained).max(0.0) + f64::from(bytes);
        self.write_cache_at = at;
        let over = self.write_cache_bytes - cache.size_bytes.0 as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time, not negative"
        )]
        let wait = if over > 0.0 { (over / drain) as u64 } else { 0 };
        self.after_stall(at).saturating_add(wait).saturating_add(cache.hit_ns.0)
    }

    /// The first server that is free takes the I/O.
    fn on_server(&mut self, mean_ns: u64, now: u64) -> u64 {
        let service = match self.device.service {
            SimService::Constant => mean_ns,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
            SimService::Exponential => (mean_ns as f64 * self.random.exponential()) as u64,
        };
        // Time must pass, or the clock would stand still for ever.
        let service = service.max(1);
        let free = self.servers_free_at.pop().map_or(0, |Reverse(t)| t);
        let done = self.after_stall(now.max(free)).saturating_add(service);
        self.servers_free_at.push(Reverse(done));
        done
    }

    /// The link carries one I/O after the other, as they come; of a read it is the data that would come back.
    fn over_link(&mut self, now: u64, bytes: u32) -> u64 {
        let Some(limit) = self.device.link_bytes_per_s else { return now };
        let transfer = u64::from(bytes) * 1_000_000_000 / limit.0.max(1);
        let done = now.max(self.link_free_at).saturating_add(transfer);
        self.link_free_at = done;
        done
    }

    /// The next moment at which the device begins anything.
    fn after_stall(&self, now: u64) -> u64 {
        let Some(stall) = self.device.stall else { return now };
        let (period, length) = (stall.period_ns.0.max(1), stall.length_ns.0);
        let phase = now % period;
        if phase >= period.saturating_sub(length) {
            (now - phase).saturating_add(period)
        } else {
            now
        }
    }
}

/// One worker's queue to a simulated device; all queues of a run share the device and the clock.
pub(crate) struct SimQueue {
    model: Rc<RefCell<SimModel>>,
    clock: Rc<Cell<u64>>,
    pending: BinaryHeap<Reverse<(u64, u64, u32, i32)>>,
    sequence: u64,
    buffers: Buffers,
}

impl SimQueue {
    /// A queue to a device, on a clock that whoever drives the run moves on.
    pub(crate) fn new(
        model: &Rc<RefCell<SimModel>>,
        clock: &Rc<Cell<u64>>,
        plan: BufferPlan,
    ) -> io::Result<Self> {
        let buffers = Buffers::new(plan)?;
        let pending = BinaryHeap::with_capacity(plan.depth as usize);
        Ok(Self { model: Rc::clone(model), clock: Rc::clone(clock), pending, sequence: 0, buffers })
    }

    /// When the next I/O of this queue is done.
    pub(crate) fn next_completion(&self) -> Option<u64> {
        self.pending.peek().map(|Reverse((at, ..))| *at)
    }
}

impl Queue for SimQueue {
    fn now(&self) -> u64 {
        self.clock.get()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        let now = self.now();
        let mut model = self.model.borrow_mut();
        for request in requests {
            let (done, result) = model.serve(request, now);
            self.sequence += 1;
            self.pending.push(Reverse((done, self.sequence, request.slot, result)));
        }
        Ok(())
    }

    /// Moves the clock to the next completion or to `until_ns`; only for a queue that has the clock to itself.
    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        let next = self.next_completion().unwrap_or(u64::MAX).min(until_ns);
        self.clock.set(self.clock.get().max(next));
        Ok(())
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        let now = self.now();
        while let Some(Reverse((at, _, slot, result))) = self.pending.peek().copied() {
            if at > now {
                break;
            }
            self.pending.pop();
            finished.push(Finished { slot, result });
        }
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.write(slot)
    }

    fn read_buffer(&mut self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }
}
