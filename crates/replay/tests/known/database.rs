//! A simulated database on a simulated device: users who think, read and commit, a log with group
//! commit, checkpoints. What it asks of the device is a trace.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use device::{Device, Op, Request};
use results::Histogram;
use trace::{Io, Kind};
use workload::SimDevice;

/// A generator of which the same seed gives the same again (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self, mean: u64) -> u64 {
        (-(1.0 - self.unit()).ln() * mean as f64) as u64
    }
}

/// What the database is.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) users: u32,
    pub(crate) think_ns: u64,
    /// Pages that a transaction reads, one after the other.
    pub(crate) reads: u32,
    pub(crate) pages: u64,
    pub(crate) checkpoint_ns: u64,
    pub(crate) seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Begin(u32),
    Read(u32, u32),
    Log,
    Page,
    Written,
    Checkpoint,
}

/// What was asked of the device, and how long it took by class (read, write, durable write, flush).
pub(crate) struct Recorded {
    pub(crate) ios: Vec<Io>,
    pub(crate) latencies: [Histogram; 4],
    pub(crate) seconds: f64,
}

const PAGE: u64 = 8192;
/// Pages that a checkpoint writes at a time.
const BATCH: u64 = 4;
const LOG_AT: u64 = 1 << 40;
const LOG_BYTES: u64 = 64 << 20;

struct Database {
    plan: Plan,
    device: Device,
    random: Random,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    recorded: Recorded,
    /// Users whose commit waits for the next write of the log, and for the one under way.
    joining: Vec<u32>,
    committing: Vec<u32>,
    log_at: u64,
    dirty: u64,
    to_write: u64,
    pace_ns: u64,
}

/// Lets it work, and gives what it asked of the device.
pub(crate) fn run(plan: Plan, model: &SimDevice, seed: u64) -> Recorded {
    let recorded = Recorded {
        ios: Vec::new(),
        latencies: std::array::from_fn(|_| Histogram::new()),
        seconds: plan.seconds,
    };
    let mut database = Database {
        plan,
        device: Device::new(model, &[1 << 41], seed ^ 0x5bd1),
        random: Random(seed),
        events: BinaryHeap::new(),
        number: 0,
        recorded,
        joining: Vec::new(),
        committing: Vec::new(),
        log_at: 0,
        dirty: 0,
        to_write: 0,
        pace_ns: 0,
    };
    for user in 0..plan.users {
        let at = database.random.exponential(plan.think_ns);
        database.at(at, Event::Begin(user));
    }
    database.at(plan.checkpoint_ns / 2, Event::Checkpoint);
    let end = (plan.seconds * 1e9) as u64;
    while let Some(Reverse((now, _, event))) = database.events.pop() {
        if now >= end {
            break;
        }
        database.happens(now, event);
    }
    database.recorded.ios.sort_by_key(|io| io.issued_ns);
    database.recorded
}

impl Database {
    fn at(&mut self, when: u64, event: Event) {
        self.number += 1;
        self.events.push(Reverse((when, self.number, event)));
    }

    fn io(&mut self, now: u64, kind: Kind, offset: u64, bytes: u64, then: Event) {
        let op = if kind == Kind::Read { Op::Read } else { Op::Write };
        let durable = kind == Kind::DurableWrite;
        let offset_in = offset % (1 << 41);
        let request = Request { target: 0, op, offset: offset_in, bytes: bytes as u32, durable };
        let done = self.device.serve(&request, now).done_ns;
        let class = usize::from(kind != Kind::Read) + usize::from(durable);
        self.recorded.latencies[class].record(done - now);
        self.recorded.ios.push(Io {
            issued_ns: now,
            latency_ns: Some(done - now),
            device: 0,
            stream: 0,
            offset_bytes: offset,
            length_bytes: bytes,
            kind,
        });
        self.at(done, then);
    }

    fn read(&mut self, now: u64, user: u32, left: u32) {
        // A fifth of the pages gets four fifths of the reads.
        let hot = self.random.unit() < 0.8;
        let page = self.random.bits() % (self.plan.pages / 5);
        let page = if hot { page } else { page * 4 + self.plan.pages / 5 };
        self.io(now, Kind::Read, page % self.plan.pages * PAGE, PAGE, Event::Read(user, left));
    }

    fn log(&mut self, now: u64) {
        if !self.committing.is_empty() || self.joining.is_empty() {
            return;
        }
        self.committing = std::mem::take(&mut self.joining);
        let bytes = (self.committing.len() as u64 * 1200).next_multiple_of(4096);
        let at = LOG_AT + self.log_at;
        self.log_at = (self.log_at + bytes) % LOG_BYTES;
        self.io(now, Kind::DurableWrite, at, bytes, Event::Log);
    }

    fn write_pages(&mut self, now: u64) {
        let batch = self.to_write.min(BATCH);
        self.to_write -= batch;
        for _ in 0..batch {
            let page = self.random.bits() % self.plan.pages;
            self.io(now, Kind::Write, page * PAGE, PAGE, Event::Written);
        }
        if self.to_write > 0 {
            self.at(now + self.pace_ns, Event::Page);
        }
    }

    fn happens(&mut self, now: u64, event: Event) {
        match event {
            Event::Begin(user) => self.read(now, user, self.plan.reads - 1),
            Event::Read(user, 0) => {
                self.joining.push(user);
                self.log(now);
            }
            Event::Read(user, left) => self.read(now, user, left - 1),
            Event::Log => {
                for user in std::mem::take(&mut self.committing) {
                    self.dirty += 1;
                    let think = self.random.exponential(self.plan.think_ns);
                    self.at(now + think, Event::Begin(user));
                }
                self.log(now);
            }
            Event::Page => self.write_pages(now),
            Event::Written => {}
            Event::Checkpoint => {
                self.to_write += std::mem::take(&mut self.dirty);
                // Spread over most of the time until the next one, in batches, as the operating
                // system's cache writes them.
                let batches = (self.to_write / BATCH).max(1);
                self.pace_ns = self.plan.checkpoint_ns * 8 / 10 / batches;
                self.write_pages(now);
                self.at(now + self.plan.checkpoint_ns, Event::Checkpoint);
            }
        }
    }
}
