//! The log of one thread: blocks of records in an order that can be checked afterwards.
//!
//! A block has a number that is one more than that of the block before it, and begins at a multiple
//! of the alignment. Records give it its length; its bytes follow from its number, so that what
//! should be there is known of every block, also of a run that was killed. After the last place of
//! its part of the file the log begins again at the first.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::block::{BlockFormat, BlockId};
use crate::ledger::Words;

/// What a block has next to its records.
const HEADER_BYTES: usize = 40;
/// What a record has next to its bytes.
const RECORD_HEADER_BYTES: usize = 16;
/// The longest block: what SQL Server writes at once.
pub(crate) const BLOCK_BYTES_MAX: usize = 60 << 10;

/// The log of one thread, in its part of the target.
#[derive(Debug)]
pub(crate) struct Log {
    /// The target that it is on.
    target: u16,
    format: BlockFormat,
    /// The thread whose log it is.
    thread: u16,
    start: u64,
    end: u64,
    align: usize,
    position: u64,
    number: u64,
    /// The first block since the log began at its first place.
    lap_began: u64,
    /// Bytes of the records that are in no block yet.
    pending: VecDeque<usize>,
    /// Bytes of all of them together.
    pending_bytes: usize,
    /// The number of the next record.
    next_record: u64,
    /// The first record that is pending.
    first_pending: u64,
    /// All records before this one are on stable media.
    hardened: u64,
    /// Blocks that no later one is on, in the order in which later ones come to them.
    blocks: VecDeque<Block>,
    /// Which of them begin where, for the run that continues after a kill.
    index: Option<Index>,
}

/// Which blocks of a log begin where: a word per place where one may, 0 for none.
#[derive(Debug)]
pub(crate) struct Index(pub Words);

/// Set in a word of the index when the block was acknowledged.
const ACKNOWLEDGED: u64 = 1 << 63;
/// After the length of the block in units of 512 bytes comes its number.
const NUMBER_SHIFT: u32 = 16;
const UNIT: u64 = 512;

impl Index {
    /// Words that it needs for so many bytes of a log.
    pub(crate) fn words(log_bytes: u64, align: u64) -> u64 {
        log_bytes / align.max(UNIT)
    }

    /// Notes a block that is going to be written; what began in its place is gone.
    fn begin(&self, place: usize, places: usize, block: &Block) {
        let Some(words) = self.0.get(place..place.saturating_add(places)) else { return };
        for word in words {
            word.store(0, Ordering::Relaxed);
        }
        let word = (block.number << NUMBER_SHIFT) | (u64::from(block.bytes) / UNIT);
        if let Some(first) = words.first() {
            first.store(word & !ACKNOWLEDGED, Ordering::Release);
        }
    }

    fn acknowledge(&self, place: usize) {
        if let Some(word) = self.0.get(place) {
            word.fetch_or(ACKNOWLEDGED, Ordering::Release);
        }
    }
}

/// A block, ready to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub number: u64,
    pub offset: u64,
    pub bytes: u32,
    /// All records before this one are in this block or in an earlier one.
    pub up_to: u64,
    /// Whether the storage acknowledged the write of the block.
    pub acknowledged: bool,
    /// When that was seen, from the start of the run; absent if a run before this one wrote it.
    pub written_after: Option<Duration>,
}

impl Log {
    /// A log on a part of a file, empty.
    pub(crate) fn new(format: BlockFormat, start: u64, end: u64, align: usize) -> Self {
        Self {
            target: 0,
            format,
            thread: 0,
            start,
            end,
            align: align.max(512),
            position: start,
            number: 1,
            lap_began: 1,
            pending: VecDeque::new(),
            pending_bytes: 0,
            next_record: 0,
            first_pending: 0,
            hardened: 0,
            blocks: VecDeque::new(),
            index: None,
        }
    }

    /// The same with an index that is kept, and with its knowledge of the blocks of a killed run.
    /// Those stay known until later ones overwrite them; the log continues with a new lap. `None`
    /// if no log leaves such an index: blocks that are not a whole number of places long, or
    /// overlap each other or the end.
    pub(crate) fn kept_in(mut self, index: Index) -> Option<Self> {
        let (mut last, mut free_from) = (0, 0);
        let words = index.0.iter().enumerate();
        for (place, word) in words {
            let word = word.load(Ordering::Relaxed);
            if word == 0 {
                continue;
            }
            let (number, units) =
                ((word & !ACKNOWLEDGED) >> NUMBER_SHIFT, word & ((1 << NUMBER_SHIFT) - 1));
            let bytes = usize::try_from(units * UNIT).ok()?;
            let end = place + bytes / self.align;
            let is_whole = bytes > 0 && bytes.is_multiple_of(self.align);
            if !is_whole || place < free_from || end > index.0.len() {
                return None;
            }
            free_from = end;
            last = last.max(number);
            if word & ACKNOWLEDGED == 0 {
                continue;
            }
            self.blocks.push_back(Block {
                number,
                offset: self.start + (place * self.align) as u64,
                bytes: u32::try_from(units * UNIT).unwrap_or(u32::MAX),
                up_to: 0,
                acknowledged: true,
                written_after: None,
            });
        }
        self.number = last + 1;
        self.lap_began = self.number;
        // No record is like one of before.
        self.next_record = self.number << 24;
        (self.first_pending, self.hardened) = (self.next_record, self.next_record);
        self.index = Some(index);
        Some(self)
    }

    fn place_of(&self, block: &Block) -> usize {
        usize::try_from(block.offset.saturating_sub(self.start)).unwrap_or(usize::MAX) / self.align
    }

    /// The same of this thread, on this target.
    pub(crate) fn of(self, thread: u16, target: u16) -> Self {
        Self { target, thread, ..self }
    }

    pub(crate) fn format(&self) -> &BlockFormat {
        &self.format
    }

    /// Which block of which log it is.
    pub(crate) fn id_of(&self, block: &Block) -> BlockId {
        BlockId { log: self.thread, number: block.number }
    }

    /// The bytes that a block should hold.
    pub(crate) fn bytes_of(&self, block: &Block) -> Vec<u8> {
        self.format.block(self.id_of(block), block.bytes as usize)
    }

    /// Whether no later block is on the one of this number.
    pub(crate) fn knows(&self, number: u64) -> bool {
        self.blocks.iter().any(|block| block.number == number)
    }

    /// The number of the last block that was begun.
    pub(crate) fn last_number(&self) -> u64 {
        self.number - 1
    }

    /// The target that it is on.
    pub(crate) fn target(&self) -> u16 {
        self.target
    }

    /// Appends a record of this many bytes; gives its number.
    pub(crate) fn append(&mut self, bytes: u32) -> u64 {
        let number = self.next_record;
        self.next_record += 1;
        let whole = RECORD_HEADER_BYTES + bytes as usize;
        self.pending.push_back(whole);
        self.pending_bytes += whole;
        number
    }

    /// Bytes that are in no block yet.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// Whether this record is on stable media.
    pub(crate) fn is_hard(&self, record: u64) -> bool {
        record < self.hardened
    }

    /// Makes the next block of pending records in `out`; `None` if nothing is pending, or if a
    /// record is longer than `out`.
    pub(crate) fn block(&mut self, out: &mut [u8]) -> Option<Block> {
        let room = out.len().min(BLOCK_BYTES_MAX.max(self.longest())) / self.align * self.align;
        let (used, records) = self.records_in(room.checked_sub(HEADER_BYTES)?);
        if records == 0 {
            return None;
        }
        let bytes = (HEADER_BYTES + used).next_multiple_of(self.align);
        if self.position + bytes as u64 > self.end {
            if self.start + bytes as u64 > self.end {
                return None;
            }
            // Those of this lap stay until the next one comes to them.
            let began = self.lap_began;
            self.blocks.retain(|b| b.number >= began);
            self.position = self.start;
            self.lap_began = self.number;
        }
        let end = self.position + bytes as u64;
        let began = self.lap_began;
        while self.blocks.front().is_some_and(|b| b.number < began && b.offset < end) {
            self.blocks.pop_front();
        }
        let block = out.get_mut(..bytes)?;
        self.pending.drain(..records);
        self.pending_bytes -= used;
        self.first_pending += records as u64;
        let made = Block {
            number: self.number,
            offset: self.position,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            up_to: self.first_pending,
            acknowledged: false,
            written_after: None,
        };
        self.format.fill(self.id_of(&made), block);
        self.number += 1;
        self.position += bytes as u64;
        if let Some(index) = &self.index {
            index.begin(self.place_of(&made), bytes / self.align, &made);
        }
        self.blocks.push_back(made);
        Some(made)
    }

    /// The block that the first record needs alone.
    fn longest(&self) -> usize {
        let first = self.pending.front().copied().unwrap_or(0);
        (HEADER_BYTES + first).next_multiple_of(self.align)
    }

    /// Bytes and number of the pending records that fit into this room.
    fn records_in(&self, room: usize) -> (usize, usize) {
        let (mut used, mut records) = (0, 0);
        for bytes in &self.pending {
            if used + bytes > room {
                break;
            }
            (used, records) = (used + bytes, records + 1);
        }
        (used, records)
    }

    /// Notes that a block is on stable media, when that was seen.
    pub(crate) fn harden(&mut self, block: Block, after: Duration) {
        self.hardened = self.hardened.max(block.up_to);
        if let Some(mine) = self.blocks.iter_mut().rev().find(|b| b.number == block.number) {
            (mine.acknowledged, mine.written_after) = (true, Some(after));
        }
        if let Some(index) = &self.index {
            index.acknowledge(self.place_of(&block));
        }
    }

    /// The blocks that were acknowledged and that no later one is on, in their order.
    pub(crate) fn acknowledged(&self) -> impl Iterator<Item = Block> + '_ {
        self.blocks.iter().filter(|b| b.acknowledged).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicU64;

    /// Writes everything that is pending to a file in memory.
    fn flush(log: &mut Log, file: &mut [u8]) {
        let mut out = vec![0; 128 << 10];
        while let Some(block) = log.block(&mut out) {
            let at = usize::try_from(block.offset).unwrap();
            file[at..at + block.bytes as usize].copy_from_slice(&out[..block.bytes as usize]);
            log.harden(block, Duration::ZERO);
        }
    }

    /// Acknowledged blocks that are not there.
    fn missing(log: &Log, file: &[u8]) -> Vec<u64> {
        let is_there = |b: &Block| {
            let at = usize::try_from(b.offset).unwrap();
            file[at..at + b.bytes as usize] == log.bytes_of(b)
        };
        log.acknowledged().filter(|b| !is_there(b)).map(|b| b.number).collect()
    }

    fn log(end: u64) -> Log {
        Log::new(BlockFormat::new(7), 0, end, 512)
    }

    proptest! {
        #[test]
        fn what_was_logged_is_there_in_order(
            records in prop::collection::vec(1u32..64_000, 1..200),
                align in prop::sample::select(vec![512usize, 4096])
        ) {
            let mut file = vec![0; 2 << 20];
            let mut log = Log::new(BlockFormat::new(7), 4096, 1 << 20, align);
            for (n, bytes) in (0u64..).zip(&records) {
                let number = log.append(*bytes);
                prop_assert_eq!(number, n);
                prop_assert!(!log.is_hard(number));
                if n % 3 == 0 {
                    flush(&mut log, &mut file);
                    prop_assert!(log.is_hard(number));
                }
            }
            flush(&mut log, &mut file);
            prop_assert_eq!(log.pending_bytes(), 0);
            let blocks: Vec<Block> = log.acknowledged().collect();
            prop_assert!(blocks.windows(2).all(|w| w[1].number == w[0].number + 1));
            prop_assert!(blocks.iter()
                .all(|b| b.offset >= 4096 && b.offset + u64::from(b.bytes) <= 1 << 20));
            prop_assert_eq!(missing(&log, &file), [0; 0]);
        }
    }

    /// Only the blocks of the last lap were known: after a wrap, one of hundreds was looked at.
    #[test]
    fn blocks_of_the_lap_before_are_known_until_they_are_overwritten() {
        let mut file = vec![0; 1 << 20];
        let mut log = log(100 << 10);
        for _ in 0..45 {
            log.append(4000);
            flush(&mut log, &mut file);
        }
        // 25 blocks of 4096 bytes in a lap; of the first lap the last five are left.
        let numbers: Vec<u64> = log.acknowledged().map(|b| b.number).collect();
        assert_eq!(numbers, (21..=45).collect::<Vec<_>>());
        assert_eq!(missing(&log, &file), [0; 0]);
    }

    /// A log that is killed again and again, with a block under way that may or may not have
    /// arrived: what it knows of is there.
    #[test]
    fn a_log_goes_on_where_it_was_killed() {
        let words: std::sync::Arc<[AtomicU64]> = (0..256).map(|_| AtomicU64::new(0)).collect();
        let copied = || {
            let now = words.iter().map(|w| AtomicU64::new(w.load(Ordering::Relaxed)));
            Index(Words::Own(now.collect()))
        };
        let mut file = vec![0; 128 << 10];
        let mut seen = 0;
        for kill in 0..40u32 {
            let mut log = log(128 << 10).kept_in(copied()).unwrap();
            assert_eq!(missing(&log, &file), [0; 0], "kill {kill}");
            let known = log.acknowledged().count();
            seen = seen.max(known);
            assert!(kill == 0 || known > 5);
            for n in 0..(30 + kill) {
                log.append(700 + 37 * (n + kill) % 4000);
                flush(&mut log, &mut file);
            }
            log.append(3000);
            let mut out = vec![0; 128 << 10];
            let block = log.block(&mut out).unwrap();
            if kill % 2 == 0 {
                let at = usize::try_from(block.offset).unwrap();
                let arrived = 512 * (kill as usize % 7);
                file[at..at + arrived].copy_from_slice(&out[..arrived]);
            }
            let index = log.index.as_ref().unwrap();
            for (word, now) in words.iter().zip(index.0.iter()) {
                word.store(now.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        assert!(seen > 20, "{seen}");
    }

    /// The words of a ledger have no checksums. A length that was changed made a reader wait for
    /// bytes that its buffer had no room for, and "moved less than was asked for" blamed the
    /// storage.
    #[test]
    fn an_index_that_no_log_leaves_is_refused() {
        let index = |words: &[(usize, u64)]| {
            let all: Vec<AtomicU64> = (0..256)
                .map(|place| words.iter().find(|(p, _)| *p == place).map_or(0, |(_, word)| *word))
                .map(AtomicU64::new)
                .collect();
            Index(Words::Own(all.into_boxed_slice()))
        };
        let word = |number: u64, units: u64| ACKNOWLEDGED | number << NUMBER_SHIFT | units;
        let takes = |words: &[(usize, u64)]| log(128 << 10).kept_in(index(words)).is_some();
        assert!(takes(&[(0, word(1, 8)), (8, word(2, 4)), (12, word(3, 244))]));
        for words in [
            &[(0, word(1, 0))][..],
            &[(0, word(1, 257))],
            &[(255, word(1, 2))],
            &[(0, word(1, 0xFFFF))],
            &[(0, word(1, 8)), (7, word(2, 4))],
        ] {
            assert!(!takes(words), "{words:?}");
        }
        let aligned = Log::new(BlockFormat::new(7), 0, 1 << 20, 4096);
        assert!(aligned.kept_in(index(&[(0, word(1, 9))])).is_none());
    }

    #[test]
    fn a_log_too_small_for_a_record_makes_no_block() {
        let mut log = log(2048);
        log.append(5000);
        assert_eq!(log.block(&mut vec![0; 128 << 10]), None);
    }
}
