//! DiskSpd's order of offsets and directions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use workload::{DiskspdAccess, DiskspdOrder, EffectiveSlice, Stream, diskspd_reach};

use crate::queue::Op;
use crate::random::Random;

/// The order of one thread on one target.
#[derive(Debug)]
pub(crate) struct Ordered {
    /// Where the used part begins; everything else counts from there.
    start: u64,
    /// The last place at which an I/O can begin.
    last: u64,
    step: u64,
    /// Random offsets are multiples of the step below this.
    reach: u64,
    /// Where a cursor starts again after its end.
    again: u64,
    access: Access,
    slices: Vec<EffectiveSlice>,
    io_span: u64,
    write_percent: u8,
    writes: bool,
}

/// How the next offset follows from the last.
#[derive(Debug)]
enum Access {
    Random,
    Mixed { percent: u8, next: Option<u64> },
    Sequential { next: u64 },
    Interlocked { cursor: Arc<AtomicU64> },
    Parallel { next: Box<[u64]> },
}

impl Ordered {
    /// The order of thread number `thread` of `stream` on a used part of `span` bytes.
    ///
    /// `cursor` is shared by all threads of the stream on this target. The workload must have been
    /// checked.
    pub(crate) fn new(
        stream: &Stream,
        order: &DiskspdOrder,
        span: u64,
        thread: u32,
        cursor: &Arc<AtomicU64>,
    ) -> Self {
        let (block, step) = (stream.largest_block(), order.step_bytes.0.max(1));
        let first = order.thread_stride_bytes.0.saturating_mul(u64::from(thread));
        let access = match order.access {
            DiskspdAccess::Random => Access::Random,
            DiskspdAccess::Mixed { random_percent } => {
                Access::Mixed { percent: random_percent, next: None }
            }
            DiskspdAccess::Sequential => Access::Sequential { next: first },
            DiskspdAccess::Interlocked => Access::Interlocked { cursor: Arc::clone(cursor) },
            DiskspdAccess::Parallel => {
                Access::Parallel { next: vec![first; stream.depth.max(1) as usize].into() }
            }
        };
        let last = span.saturating_sub(block);
        let effective = order.slices.effective(span, block, step).ok();
        let (slices, io_span) = effective.map_or((Vec::new(), 0), |e| (e.slices, e.io_span));
        Self {
            start: stream.offset_bytes.0,
            last,
            step,
            reach: diskspd_reach(span, block, step).max(1),
            again: (first % step).min(last),
            access,
            slices,
            io_span,
            write_percent: stream.write_percent,
            writes: stream.write_percent >= 100,
        }
    }

    /// The direction and the offset of the next I/O, which a slot of the thread will make.
    pub(crate) fn next(&mut self, random: &mut Random, slot: u32) -> (Op, u64) {
        let Self { last, step, again, .. } = *self;
        let jumps = match &self.access {
            Access::Mixed { percent, next } => next.is_none() || random.percent(*percent),
            _ => true,
        };
        // A sequential part of a mixed order keeps its direction.
        if jumps && (1..100).contains(&self.write_percent) {
            self.writes = random.percent(self.write_percent);
        }
        let drawn = match self.access {
            Access::Random | Access::Mixed { .. } if jumps => self.drawn(random),
            _ => 0,
        };
        let at = match &mut self.access {
            Access::Random => drawn,
            Access::Mixed { next, .. } => {
                let next = if jumps { next.insert(drawn) } else { next.get_or_insert(drawn) };
                step_on(next, step, last, again)
            }
            Access::Sequential { next } => step_on(next, step, last, again),
            Access::Interlocked { cursor } => {
                cursor.fetch_add(step, Ordering::Relaxed) % self.reach
            }
            Access::Parallel { next } => {
                let slot = slot as usize % next.len();
                step_on(&mut next[slot], step, last, again)
            }
        };
        (if self.writes { Op::Write } else { Op::Read }, self.start + at.min(last))
    }

    /// A place of its own: drawn in the whole, or in the slice that a second draw picks.
    fn drawn(&self, random: &mut Random) -> u64 {
        let bits = random.bits();
        let aligned = bits - bits % self.step;
        if self.io_span == 0 {
            return aligned % self.reach;
        }
        let share = random.below(self.io_span);
        let behind = self.slices.partition_point(|s| s.io_base <= share);
        let slice = self.slices.get(behind.saturating_sub(1));
        slice.map_or(0, |s| s.first + aligned % s.reach)
    }
}

/// Takes the place of a cursor and moves it on; one that does not fit before the end begins again.
fn step_on(next: &mut u64, step: u64, last: u64, again: u64) -> u64 {
    let at = if *next > last { again } else { *next };
    *next = at.saturating_add(step);
    at
}

#[cfg(test)]
#[path = "diskspd_tests.rs"]
mod tests;
