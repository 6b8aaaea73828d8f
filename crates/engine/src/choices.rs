//! Which I/O comes next: what it does, where, how long it is, and what it writes.

use std::sync::Arc;

use workload::{Content, Stream};

use crate::content;
use crate::offsets::Offsets;
use crate::queue::{Op, Queue};
use crate::random::Random;

/// Which I/O comes next on one worker.
pub(crate) struct Choices {
    /// Where every random choice but content comes from.
    pub random: Random,
    offsets: Offsets,
    blocks: Vec<(u64, u32)>,
    direction: Direction,
    content: Content,
    /// What the content `source` is taken from.
    source: Arc<Vec<u8>>,
    content_seed: u64,
    serial: u64,
}

/// What decides whether an I/O reads or writes.
enum Direction {
    Reads,
    Writes,
    Drawn {
        write_percent: u8,
    },
    /// By DiskSpd's order, which decides the offset first.
    Diskspd {
        writes: bool,
    },
}

impl Choices {
    /// The choices of a stream's worker. The same generator chooses the same again; content
    /// has its own seed.
    pub(crate) fn new(
        stream: &Stream,
        mut offsets: Offsets,
        random: Random,
        content_seed: u64,
        source: Arc<Vec<u8>>,
    ) -> Self {
        let mut sum = 0;
        let total: u64 = stream.blocks.iter().map(|b| u64::from(b.weight)).sum();
        let blocks = stream.blocks.iter().map(|block| {
            sum += u64::from(block.weight);
            let bytes = u32::try_from(block.bytes.0).unwrap_or(u32::MAX);
            // The share of draws up to this block, of 2^32.
            ((sum << 32) / total.max(1), bytes)
        });
        let blocks = blocks.collect();
        let direction = match (offsets.diskspd(), stream.write_percent) {
            (Some(_), _) => Direction::Diskspd { writes: stream.writes() },
            (None, 0) => Direction::Reads,
            (None, 100..) => Direction::Writes,
            (None, write_percent) => Direction::Drawn { write_percent },
        };
        let content = stream.content;
        let serial = content_seed;
        Self { random, offsets, blocks, direction, content, source, content_seed, serial }
    }

    /// Fills the write buffers of this many slots, before the run.
    pub(crate) fn prepare<Q: Queue>(&self, queue: &mut Q, slots: u32) {
        let mut random = Random::new(self.content_seed, 0);
        if !matches!(self.direction, Direction::Reads | Direction::Diskspd { writes: false }) {
            for slot in 0..slots {
                if self.content == Content::Fixed {
                    random = Random::new(self.content_seed, 0);
                }
                content::prepare(self.content, queue.write_buffer(slot), &mut random);
            }
        }
    }

    /// Makes what a slot will write new.
    #[inline]
    pub(crate) fn freshen<Q: Queue>(&mut self, queue: &mut Q, slot: u32, bytes: u32) {
        let buffer = queue.write_buffer(slot);
        content::freshen(self.content, &self.source, buffer, bytes as usize, &mut self.serial);
    }

    /// Operation, offset and length of the next I/O, which this slot will make.
    #[inline]
    pub(crate) fn next(&mut self, slot: u32) -> (Op, u64, u32) {
        let writes = match self.direction {
            Direction::Reads => false,
            Direction::Writes => true,
            Direction::Drawn { write_percent } => self.random.percent(write_percent),
            Direction::Diskspd { .. } => return self.next_of_diskspd(slot),
        };
        let block = if self.blocks.len() == 1 { 0 } else { self.pick_block() };
        let bytes = self.blocks[block].1;
        let offset = self.offsets.next(&mut self.random, block, u64::from(bytes));
        (if writes { Op::Write } else { Op::Read }, offset, bytes)
    }

    #[inline(never)]
    fn next_of_diskspd(&mut self, slot: u32) -> (Op, u64, u32) {
        let bytes = self.blocks[0].1;
        let Some(order) = self.offsets.diskspd() else { return (Op::Read, 0, bytes) };
        let (op, offset) = order.next(&mut self.random, slot);
        (op, offset, bytes)
    }

    #[inline(never)]
    fn pick_block(&mut self) -> usize {
        let draw = self.random.bits() >> 32;
        let found = self.blocks.iter().position(|(up_to, _)| draw < *up_to);
        found.unwrap_or(self.blocks.len() - 1)
    }
}
