//! DiskSpd's order of offsets and directions: with the same seed, the same I/Os.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use workload::{DiskspdAccess, DiskspdOrder, EffectiveSlice, Stream, diskspd_reach};

use crate::queue::Op;

/// Bob Jenkins' small generator of 64 bits. Each thread has one, whose seed is the run's plus the
/// thread's number.
#[derive(Debug, Clone)]
pub(crate) struct Generator {
    a: u64,
    b: u64,
    c: u64,
    d: u64,
}

impl Generator {
    /// The generator that DiskSpd has for a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut generator = Self { a: 0xF1EA_5EED, b: seed, c: seed, d: seed };
        for _ in 0..20 {
            generator.bits();
        }
        generator
    }

    pub(crate) fn bits(&mut self) -> u64 {
        let e = self.a.wrapping_sub(self.b.rotate_left(7));
        self.a = self.b ^ self.c.rotate_left(13);
        self.b = self.c.wrapping_add(self.d.rotate_left(37));
        self.c = self.d.wrapping_add(e);
        self.d = e.wrapping_add(self.a);
        self.d
    }

    /// A number below `bound` by the low half of the bits.
    pub(crate) fn below_of_half(&mut self, bound: u64) -> u64 {
        (self.bits() & 0xFFFF_FFFF) % bound.max(1)
    }

    /// True `percent` times of a hundred.
    fn percent(&mut self, percent: u8) -> bool {
        self.below_of_half(100) < u64::from(percent)
    }
}

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
    Mixed { percent: u8, next: u64 },
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
            // The first place is drawn when the generator is there.
            DiskspdAccess::Mixed { random_percent } => {
                Access::Mixed { percent: random_percent, next: 0 }
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

    /// Draws what DiskSpd draws before the first I/O.
    pub(crate) fn begin(&mut self, generator: &mut Generator) {
        if matches!(self.access, Access::Mixed { .. }) {
            let first = self.drawn(generator);
            if let Access::Mixed { next, .. } = &mut self.access {
                *next = first;
            }
        }
        self.draw_direction(generator);
    }

    /// The direction and the offset of the next I/O, which a slot of the thread will make.
    pub(crate) fn next(&mut self, generator: &mut Generator, slot: u32) -> (Op, u64) {
        let Self { last, step, again, .. } = *self;
        let mut redraws = true;
        let at = match &mut self.access {
            Access::Random => self.drawn(generator),
            Access::Mixed { percent, .. } => {
                redraws = generator.percent(*percent);
                let drawn = redraws.then(|| self.drawn(generator));
                let Access::Mixed { next, .. } = &mut self.access else { return (Op::Read, 0) };
                *next = drawn.unwrap_or(*next);
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
        if redraws {
            self.draw_direction(generator);
        }
        (if self.writes { Op::Write } else { Op::Read }, self.start + at.min(last))
    }

    fn draw_direction(&mut self, generator: &mut Generator) {
        if (1..100).contains(&self.write_percent) {
            self.writes = generator.percent(self.write_percent);
        }
    }

    /// A place of its own: drawn in the whole, or in the slice that a second draw picks.
    fn drawn(&self, generator: &mut Generator) -> u64 {
        let bits = generator.bits();
        let aligned = bits - bits % self.step;
        if self.io_span == 0 {
            return aligned % self.reach;
        }
        let share = generator.bits() % self.io_span;
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
