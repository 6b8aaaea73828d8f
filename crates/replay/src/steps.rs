//! The I/Os of a replay, one after the other, with what each waits for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use engine::Op;
use trace::{Io, Kind, Logs, TraceError};

use crate::copies::Copy;
use crate::map::AddressMap;
use crate::outcome::class_of;
use crate::player::Supply;
use crate::tracker::Tracker;
use crate::{Contents, OpenTrace, Selection, scaled};

/// What decides when an I/O is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The clock: an open loop. Latency counts from the moment at which the I/O is due.
    AsTimed,
    /// Completions: in the order of the trace, with as many in flight as there were then.
    Closed,
    /// Completions and think time: an I/O waits for the one that completed last before it was
    /// issued in the trace, and then as long as it did there.
    Dependent,
}

/// The I/O whose completion another waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parent {
    /// The number of the other I/O.
    pub number: u64,
    /// The time from the completion of that to the issue of this.
    pub think_ns: u64,
}

/// One I/O of a replay, with its place on the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// When it is due, from the start of the replay.
    pub due_ns: u64,
    /// What it waits for in [`Mode::Dependent`]; without, it is due at its time.
    pub parent: Option<Parent>,
    /// I/Os in flight in the trace when this one had been issued.
    pub depth: u32,
    /// The operation to perform.
    pub op: Op,
    /// Its class, an index into [`CLASSES`](crate::CLASSES).
    pub class: u8,
    /// Whether it is a write of the log.
    pub is_log: bool,
    /// Where it begins on the target, in bytes.
    pub offset: u64,
    /// How many bytes; 0 for a flush.
    pub bytes: u32,
}

/// The share of the part by which each copy begins later than the one before: the golden ratio,
/// because whole fractions would put what is periodic, such as checkpoints, on top of each other.
const SHIFT: f64 = 0.618_033_988_749_895;

/// Makes the steps of a replay one by one, from all copies of the trace.
pub struct Steps<'a> {
    copies: Vec<Copy<'a>>,
    trackers: Vec<Tracker>,
    all: Tracker,
    /// The next I/O of each copy by its time.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    heads: Vec<Option<Io>>,
    map: AddressMap,
    logs: Logs,
    speed: f64,
    number: u64,
    error: Option<TraceError>,
}

impl<'a> Steps<'a> {
    /// The steps of a selection.
    ///
    /// # Errors
    /// The trace cannot be read.
    pub fn new(
        open: &'a OpenTrace<'a>,
        selection: &Selection,
        contents: &Contents,
        map: AddressMap,
    ) -> Result<Self, TraceError> {
        let part = (contents.from_ns, contents.span_ns);
        let mut copies = Vec::new();
        let mut left = selection.users;
        while left > 1e-9 {
            let turn = (copies.len() as f64 * SHIFT).fract();
            let shift_ns = scaled(part.1, turn).min(part.1 - 1);
            let of = (part, contents.logs());
            copies.push(Copy::new(open, *selection, of, shift_ns, left.min(1.0))?);
            left -= 1.0;
        }
        let count = copies.len();
        let mut steps = Self {
            copies,
            trackers: (0..count).map(|_| Tracker::default()).collect(),
            all: Tracker::default(),
            waiting: BinaryHeap::with_capacity(count),
            heads: vec![None; count],
            map,
            logs: contents.logs().clone(),
            speed: selection.speed,
            number: 0,
            error: None,
        };
        (0..count).for_each(|copy| steps.fetch(copy));
        Ok(steps)
    }

    fn fetch(&mut self, copy: usize) {
        match self.copies[copy].next() {
            Some(Ok((at, io))) => {
                self.heads[copy] = Some(io);
                self.waiting.push(Reverse((at, copy)));
            }
            Some(Err(error)) => self.error = Some(error),
            None => {}
        }
    }

    fn step(&mut self, at: u64, copy: usize, io: &Io) -> Option<Step> {
        let class = class_of(io.kind)?;
        let tracker = &mut self.trackers[copy];
        let parent = tracker.issue(at).map(|(completed, number)| Parent {
            number,
            think_ns: scaled(at.saturating_sub(completed), 1.0 / self.speed),
        });
        self.all.issue(at);
        if let Some(latency) = io.latency_ns {
            let end = at.saturating_add(latency);
            tracker.completes(end, self.number);
            self.all.completes(end, self.number);
        }
        let depth = u32::try_from(self.all.in_flight().max(1)).unwrap_or(u32::MAX);
        self.number += 1;
        let (offset, bytes) = match io.kind {
            Kind::Flush => (0, 0),
            _ => self.map.place(io.device, io.offset_bytes, io.length_bytes),
        };
        let op = match io.kind {
            Kind::Read => Op::Read,
            Kind::DurableWrite => Op::WriteDurable,
            Kind::Flush => Op::Fdatasync,
            _ => Op::Write,
        };
        let due_ns = scaled(at, 1.0 / self.speed);
        let class = u8::try_from(class).unwrap_or(0);
        let is_log = self.logs.is_log_write(io);
        Some(Step { due_ns, parent, depth, op, class, is_log, offset, bytes })
    }
}

impl Iterator for Steps<'_> {
    type Item = Result<Step, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(error) = self.error.take() {
                self.waiting.clear();
                return Some(Err(error));
            }
            let Reverse((at, copy)) = self.waiting.pop()?;
            let io = self.heads[copy].take();
            self.fetch(copy);
            if let Some(step) = io.and_then(|io| self.step(at, copy, &io)) {
                return Some(Ok(step));
            }
        }
    }
}

/// At most so many steps are handed over at once.
const BLOCK: usize = 4096;

impl Supply for Steps<'_> {
    fn next_block(&mut self, mut used: Vec<Step>) -> Result<Option<Vec<Step>>, TraceError> {
        for step in self.by_ref().take(BLOCK) {
            used.push(step?);
        }
        Ok((!used.is_empty()).then_some(used))
    }
}
