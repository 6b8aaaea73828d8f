//! A device whose behaviour is known: given service times, parallel servers, caches and faults, when is an I/O done?
//!
//! Pure: no clock and no I/O. Whoever has a clock, a virtual one or that of the machine, asks [`Device::serve`] at the
//! moment an I/O arrives, and answers it at the moment that says. All chance comes from a seed.
//!
//! I/Os pass what they share in the order in which they arrive: first the link, reads and writes alike, then a cache or
//! the first server that is free. So nothing is ever reserved ahead of somebody who comes there sooner.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use workload::{SimDevice, SimService};

/// Units in which a device transfers.
const SECTOR_BYTES: u32 = 512;

/// What an I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Brings data from the device.
    Read,
    /// Takes data to the device.
    Write,
    /// Flushes what was written before.
    Sync,
}

/// One I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Which of the device's targets.
    pub target: usize,
    /// What it does.
    pub op: Op,
    /// Where on the target.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u32,
    /// A write that must be on stable media when it is done.
    pub durable: bool,
}

/// How an I/O ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// So many bytes were transferred; fewer than asked for where the device cuts I/Os short.
    Done {
        /// Bytes transferred; 0 for a flush.
        bytes: u32,
    },
    /// An I/O error.
    Failed,
}

/// When and how an I/O ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// The moment, on the clock of the arrivals.
    pub done_ns: u64,
    /// The result.
    pub outcome: Outcome,
}

/// The state of a device.
#[derive(Debug, Clone)]
pub struct Device {
    model: SimDevice,
    random: Xoshiro256PlusPlus,
    servers_free_at: BinaryHeap<Reverse<u64>>,
    link_free_at: u64,
    write_cache_bytes: f64,
    write_cache_at: u64,
    writes_done_at: u64,
    ios: u64,
}

impl Device {
    /// A device that is idle at time 0. `target_bytes` has the size of each target.
    #[must_use]
    pub fn new(model: &SimDevice, _target_bytes: &[u64], seed: u64) -> Self {
        Self {
            model: model.clone(),
            random: Xoshiro256PlusPlus::seed_from_u64(!seed),
            servers_free_at: (0..model.servers.max(1)).map(|_| Reverse(0)).collect(),
            link_free_at: 0,
            write_cache_bytes: 0.0,
            write_cache_at: 0,
            writes_done_at: 0,
            ios: 0,
        }
    }

    /// When an I/O that arrives at `now_ns` is done, and with what result. Arrivals never go back in time.
    pub fn serve(&mut self, request: &Request, now_ns: u64) -> Reply {
        self.ios += 1;
        let mut done_ns = match request.op {
            Op::Read => {
                let arrived = self.over_link(now_ns, request.bytes);
                self.read(request, arrived)
            }
            Op::Write => {
                let arrived = self.over_link(now_ns, request.bytes);
                self.write(request.bytes, arrived)
            }
            Op::Sync => now_ns.max(self.writes_done_at).saturating_add(self.model.sync_ns.0),
        };
        if let Some(stuck) = self.model.stuck
            && stuck.at_io == self.ios
        {
            done_ns = now_ns.saturating_add(stuck.length_ns.0);
        }
        if request.op == Op::Write {
            self.writes_done_at = self.writes_done_at.max(done_ns);
        }
        Reply { done_ns, outcome: self.outcome(request.bytes) }
    }

    fn outcome(&self, bytes: u32) -> Outcome {
        let every = |n: Option<u64>| n.is_some_and(|n| n > 0 && self.ios.is_multiple_of(n));
        if every(self.model.fail_every) {
            Outcome::Failed
        } else if every(self.model.short_every) && bytes > SECTOR_BYTES {
            Outcome::Done { bytes: bytes / 2 / SECTOR_BYTES * SECTOR_BYTES }
        } else {
            Outcome::Done { bytes }
        }
    }

    fn read(&mut self, request: &Request, now: u64) -> u64 {
        let end = request.offset.saturating_add(u64::from(request.bytes));
        match self.model.cache {
            Some(cache) if end <= cache.size_bytes.0 => {
                self.after_stall(now).saturating_add(cache.hit_ns.0)
            }
            _ => self.on_server(self.model.read_ns.0, now),
        }
    }

    fn write(&mut self, bytes: u32, now: u64) -> u64 {
        let Some(cache) = self.model.write_cache else {
            return self.on_server(self.model.write_ns.0, now);
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
        let service = match self.model.service {
            SimService::Constant => mean_ns,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
            SimService::Exponential => {
                let share: f64 = Exp1.sample(&mut self.random);
                (mean_ns as f64 * share) as u64
            }
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
        let Some(limit) = self.model.link_bytes_per_s else { return now };
        let transfer = u64::from(bytes) * 1_000_000_000 / limit.0.max(1);
        let done = now.max(self.link_free_at).saturating_add(transfer);
        self.link_free_at = done;
        done
    }

    /// The next moment at which the device begins anything.
    fn after_stall(&self, now: u64) -> u64 {
        let Some(stall) = self.model.stall else { return now };
        let (period, length) = (stall.period_ns.0.max(1), stall.length_ns.0);
        let phase = now % period;
        if phase >= period.saturating_sub(length) {
            (now - phase).saturating_add(period)
        } else {
            now
        }
    }
}
