//! A device whose behaviour is known: with given service times, parallel servers, caches and
//! faults, when is an I/O done?
//!
//! Pure: no clock and no I/O. The caller owns the clock, virtual or real. It asks [`Device::serve`]
//! at the moment an I/O arrives, and completes it at the moment that returns. All chance comes from
//! a seed.
//!
//! I/Os pass the shared parts in the order in which they arrive: the queue limit, the bucket, the
//! link, then a cache or a server. So nothing is ever reserved ahead of an I/O that gets there
//! sooner. Nothing is allocated after the start.

mod bucket;
mod cache;
mod completions;
mod lru;
mod servers;
mod speed;
mod volume;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use workload::{SimDevice, SimStuck};

pub use completions::Completions;
use volume::Volume;

/// Units in which a device transfers.
const SECTOR_BYTES: u32 = 512;

/// What an I/O asks of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Reads data from the device.
    Read,
    /// Writes data to the device.
    Write,
    /// Waits until all earlier writes are on stable media.
    Sync,
}

/// An I/O that arrives at the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The target that it goes to, counted from 0.
    pub target: usize,
    /// What the I/O asks of the device.
    pub op: Op,
    /// The offset on the target, in bytes.
    pub offset: u64,
    /// Length of the I/O in bytes.
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
    /// It fails with an I/O error.
    Failed,
}

/// When and how an I/O ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// The moment, on the clock of the arrivals.
    pub done_ns: u64,
    /// How it ends.
    pub outcome: Outcome,
}

/// A simulated device, with everything that changes over time.
#[derive(Debug, Clone)]
pub struct Device {
    /// One for all targets, or one for each.
    volumes: Vec<Volume>,
    separate: bool,
    stuck: Option<SimStuck>,
    fail_every: Option<u64>,
    short_every: Option<u64>,
    ios: u64,
}

impl Device {
    /// A device that is idle at time 0. `target_bytes` has the size of each target.
    #[must_use]
    pub fn new(model: &SimDevice, target_bytes: &[u64], seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!seed);
        let mut volume = |targets: &[u64]| {
            let volume = Volume::new(model, targets, random.clone());
            random.jump();
            volume
        };
        let volumes = if model.separate {
            target_bytes.chunks(1).map(&mut volume).collect()
        } else {
            vec![volume(target_bytes)]
        };
        Self {
            volumes,
            separate: model.separate,
            stuck: model.stuck,
            fail_every: model.fail_every,
            short_every: model.short_every,
            ios: 0,
        }
    }

    /// When an I/O that arrives at `now_ns` is done, and with what result. Arrivals never go back
    /// in time.
    ///
    /// # Panics
    ///
    /// When the device has no such target.
    pub fn serve(&mut self, request: &Request, now_ns: u64) -> Reply {
        self.ios += 1;
        let (volume, target) =
            if self.separate { (request.target, 0) } else { (0, request.target) };
        let volume = &mut self.volumes[volume];
        let mut done_ns = volume.serve(&Request { target, ..*request }, now_ns);
        if let Some(stuck) = self.stuck
            && stuck.at_io == self.ios
        {
            done_ns = now_ns.saturating_add(stuck.length_ns.0);
        }
        // Time must pass, or a virtual clock would stop for ever.
        done_ns = done_ns.max(now_ns.saturating_add(1));
        if request.op == Op::Write {
            volume.note_write(done_ns);
        }
        Reply { done_ns, outcome: self.outcome(request.bytes) }
    }

    fn outcome(&self, bytes: u32) -> Outcome {
        let every = |n: Option<u64>| n.is_some_and(|n| self.ios.is_multiple_of(n));
        if every(self.fail_every) {
            Outcome::Failed
        } else if every(self.short_every) && bytes > SECTOR_BYTES {
            Outcome::Done { bytes: bytes / 2 / SECTOR_BYTES * SECTOR_BYTES }
        } else {
            Outcome::Done { bytes }
        }
    }
}

/// A time multiplied by a factor.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, not negative")]
fn scaled(ns: u64, factor: f64) -> u64 {
    (ns as f64 * factor).round() as u64
}
