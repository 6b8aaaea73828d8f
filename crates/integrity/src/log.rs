//! The log of one thread: blocks of records in an order that can be checked afterwards.
//!
//! A block has a number that is one more than that of the block before it, and a checksum; it begins at a multiple of the alignment.
//! Behind the last place of its part of the file the log begins again at the first.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use twox_hash::XxHash3_64;

use crate::ledger::Words;

/// What a block begins with, before the seed is mixed in.
const MAGIC: u64 = u64::from_le_bytes(*b"iosonlog");
/// Magic, number, first record, length, checksum: eight bytes each.
const HEADER_BYTES: usize = 40;
/// Length and number of a record.
const RECORD_HEADER_BYTES: usize = 16;
/// The longest block: what SQL Server writes at once.
pub(crate) const BLOCK_BYTES_MAX: usize = 60 << 10;

/// The log of one thread.
#[derive(Debug)]
pub(crate) struct Log {
    /// The target that it is on.
    target: u16,
    seed: u64,
    start: u64,
    end: u64,
    align: usize,
    position: u64,
    number: u64,
    /// The first block since the log began at its first place.
    lap_began: u64,
    /// Records that are in no block yet, one after the other.
    pending: Vec<u8>,
    /// The number of the next record.
    next_record: u64,
    /// The first record that is pending.
    first_pending: u64,
    /// All records before this one are on stable media.
    hardened: u64,
    /// Blocks that no later one lies on, in the order in which later ones come to them.
    blocks: VecDeque<Block>,
    /// Which of them begin where, for whoever comes after a run that was killed.
    index: Option<Index>,
}

/// Which blocks of a log begin where: a word for each place where one may, 0 for none.
#[derive(Debug)]
pub(crate) struct Index(pub Words);

/// Set in a word of the index when the block was acknowledged.
const ACKNOWLEDGED: u64 = 1 << 63;
/// Behind the length of the block in units of 512 bytes comes its number.
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
    /// It was acknowledged.
    pub acknowledged: bool,
}

/// What a block of the log holds that should hold another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogDamage {
    /// There is an older block, or none: the write did not arrive.
    Lost,
    /// It begins as it should, and does not go on so.
    Torn,
    /// It is zeros.
    Zeroed,
    /// Nothing that the log has written.
    Foreign,
}

impl LogDamage {
    /// The words for it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Lost => "an older block, or none, is there",
            Self::Torn => "it begins as it should and does not go on so",
            Self::Zeroed => "zeros are there",
            Self::Foreign => "foreign data is there",
        }
    }
}

impl Log {
    /// A log on a part of a file, empty.
    pub(crate) fn new(seed: u64, start: u64, end: u64, align: usize) -> Self {
        Self {
            target: 0,
            seed,
            start,
            end,
            align: align.max(512),
            position: start,
            number: 1,
            lap_began: 1,
            pending: Vec::new(),
            next_record: 0,
            first_pending: 0,
            hardened: 0,
            blocks: VecDeque::new(),
            index: None,
        }
    }

    /// The same with an index that is kept, and with what it knows of the blocks of a run that was killed. Those stay known until later
    /// ones lie on them; the log goes on with a new lap.
    pub(crate) fn kept_in(mut self, index: Index) -> Self {
        let mut last = 0;
        let words = index.0.iter().enumerate();
        for (place, word) in words {
            let word = word.load(Ordering::Relaxed);
            let (number, units) =
                ((word & !ACKNOWLEDGED) >> NUMBER_SHIFT, word & ((1 << NUMBER_SHIFT) - 1));
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
            });
        }
        self.number = last + 1;
        self.lap_began = self.number;
        // No record is like one of before.
        self.next_record = self.number << 24;
        (self.first_pending, self.hardened) = (self.next_record, self.next_record);
        self.index = Some(index);
        self
    }

    fn place_of(&self, block: &Block) -> usize {
        usize::try_from(block.offset.saturating_sub(self.start)).unwrap_or(usize::MAX) / self.align
    }

    /// The same on this target.
    pub(crate) fn on(self, target: u16) -> Self {
        Self { target, ..self }
    }

    /// The target that it is on.
    pub(crate) fn target(&self) -> u16 {
        self.target
    }

    /// Appends a record of this many random bytes; gives its number.
    pub(crate) fn append(&mut self, bytes: u32) -> u64 {
        let number = self.next_record;
        self.next_record += 1;
        let length = bytes as usize;
        self.pending.extend((length as u64).to_le_bytes());
        self.pending.extend(number.to_le_bytes());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ number);
        let words = std::iter::repeat_with(move || random.next_u64().to_le_bytes());
        self.pending.extend(words.take(length.div_ceil(8)).flatten().take(length));
        number
    }

    /// Bytes that are in no block yet.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending.len()
    }

    /// Whether this record is on stable media.
    pub(crate) fn is_hard(&self, record: u64) -> bool {
        record < self.hardened
    }

    /// Makes the next block of what is pending in `out`; none if nothing is, or if a record is longer than `out`.
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
        block.fill(0);
        block[HEADER_BYTES..HEADER_BYTES + used].copy_from_slice(&self.pending[..used]);
        for (part, value) in block.chunks_exact_mut(8).zip([
            MAGIC ^ self.seed,
            self.number,
            self.first_pending,
            used as u64,
        ]) {
            part.copy_from_slice(&value.to_le_bytes());
        }
        let sum = checksum(block);
        block[32..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
        self.pending.drain(..used);
        self.first_pending += records;
        let made = Block {
            number: self.number,
            offset: self.position,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            up_to: self.first_pending,
            acknowledged: false,
        };
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
        let length = self.pending.first_chunk::<8>().map_or(0, |b| u64::from_le_bytes(*b));
        let whole = HEADER_BYTES + RECORD_HEADER_BYTES + usize::try_from(length).unwrap_or(0);
        whole.next_multiple_of(self.align)
    }

    /// Bytes and number of the whole pending records that fit into this room.
    fn records_in(&self, room: usize) -> (usize, u64) {
        let (mut used, mut records) = (0, 0);
        while let Some(length) = self.pending[used..].first_chunk::<8>() {
            let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
            let end = used.saturating_add(RECORD_HEADER_BYTES).saturating_add(length);
            if end > room {
                break;
            }
            (used, records) = (end, records + 1);
        }
        (used, records)
    }

    /// Notes that a block is on stable media.
    pub(crate) fn harden(&mut self, block: Block) {
        self.hardened = self.hardened.max(block.up_to);
        if let Some(mine) = self.blocks.iter_mut().rev().find(|b| b.number == block.number) {
            mine.acknowledged = true;
        }
        if let Some(index) = &self.index {
            index.acknowledge(self.place_of(&block));
        }
    }

    /// The blocks that were acknowledged and that no later one lies on, in their order.
    pub(crate) fn acknowledged(&self) -> impl Iterator<Item = Block> + '_ {
        self.blocks.iter().filter(|b| b.acknowledged).copied()
    }

    /// What is wrong with what was read where a block should be.
    pub(crate) fn examine(&self, block: Block, found: &[u8]) -> Option<LogDamage> {
        let word = |i: usize| {
            let bytes = found.get(8 * i..)?.first_chunk::<8>()?;
            Some(u64::from_le_bytes(*bytes))
        };
        let ours = word(0) == Some(MAGIC ^ self.seed);
        let whole = found.len() == block.bytes as usize;
        match word(1) {
            _ if found.iter().all(|b| *b == 0) => Some(LogDamage::Zeroed),
            Some(number) if ours && number == block.number => {
                let right = whole && word(4) == Some(checksum(found));
                (!right).then_some(LogDamage::Torn)
            }
            Some(number) if ours && number < block.number => Some(LogDamage::Lost),
            _ => Some(LogDamage::Foreign),
        }
    }
}

/// Over everything but itself.
fn checksum(block: &[u8]) -> u64 {
    let (words, _) = block.as_chunks::<8>();
    let start =
        words.iter().take(4).fold(0, |sum: u64, w| sum.rotate_left(9) ^ u64::from_le_bytes(*w));
    XxHash3_64::oneshot_with_seed(start, block.get(HEADER_BYTES..).unwrap_or_default())
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
            log.harden(block);
        }
    }

    fn damages(log: &Log, file: &[u8]) -> Vec<LogDamage> {
        let read = |b: Block| {
            let at = usize::try_from(b.offset).unwrap();
            &file[at..at + b.bytes as usize]
        };
        log.acknowledged().filter_map(|b| log.examine(b, read(b))).collect()
    }

    proptest! {
        #[test]
        fn what_was_logged_is_there_in_order(
            records in prop::collection::vec(1u32..64_000, 1..200), align in prop::sample::select(vec![512usize, 4096])
        ) {
            let mut file = vec![0; 2 << 20];
            let mut log = Log::new(7, 4096, 1 << 20, align);
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
            prop_assert!(blocks.iter().all(|b| b.offset >= 4096 && b.offset + u64::from(b.bytes) <= 1 << 20));
            prop_assert_eq!(damages(&log, &file), []);
        }
    }

    /// Only the blocks of the last lap were known: after a wrap, one of hundreds was looked at.
    #[test]
    fn blocks_of_the_lap_before_are_known_until_they_are_overwritten() {
        let mut file = vec![0; 1 << 20];
        let mut log = Log::new(7, 0, 100 << 10, 512);
        for _ in 0..45 {
            log.append(4000);
            flush(&mut log, &mut file);
        }
        // 25 blocks of 4096 bytes in a lap; of the first lap the last five are left.
        let numbers: Vec<u64> = log.acknowledged().map(|b| b.number).collect();
        assert_eq!(numbers, (21..=45).collect::<Vec<_>>());
        assert_eq!(damages(&log, &file), []);
    }

    #[test]
    fn each_damage_is_told() {
        let mut file = vec![0; 1 << 20];
        let mut log = Log::new(7, 0, 200 << 10, 512);
        for _ in 0..100 {
            log.append(3000);
            flush(&mut log, &mut file);
        }
        let block = log.acknowledged().min_by_key(|b| b.offset).unwrap();
        let at = usize::try_from(block.offset).unwrap();
        let right = file[at..at + block.bytes as usize].to_vec();
        let with = |change: &dyn Fn(&mut [u8])| {
            let mut bytes = right.clone();
            change(&mut bytes);
            log.examine(block, &bytes)
        };
        assert_eq!(with(&|_| {}), None);
        assert_eq!(with(&|b| b[3000] ^= 1), Some(LogDamage::Torn));
        assert_eq!(with(&|b| b[600..].fill(0)), Some(LogDamage::Torn));
        assert_eq!(with(&|b| b.fill(0)), Some(LogDamage::Zeroed));
        assert_eq!(with(&|b| b.fill(7)), Some(LogDamage::Foreign));
        assert_eq!(log.examine(block, &[]), Some(LogDamage::Zeroed));
        // The block of the lap before, which began at the same place.
        let mut older = Log::new(7, 0, 200 << 10, 512);
        let mut old = vec![0; 1 << 20];
        for _ in 0..10 {
            older.append(3000);
            flush(&mut older, &mut old);
        }
        assert_eq!(log.examine(block, &old[at..at + block.bytes as usize]), Some(LogDamage::Lost));
    }

    /// A log that is killed again and again, with a block under way that may or may not have arrived: what it knows of is there.
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
            let mut log = Log::new(7, 0, 128 << 10, 512).kept_in(copied());
            assert_eq!(damages(&log, &file), [], "kill {kill}");
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

    #[test]
    fn a_log_too_small_for_a_record_makes_no_block() {
        let mut log = Log::new(7, 0, 2048, 512);
        log.append(5000);
        assert_eq!(log.block(&mut vec![0; 128 << 10]), None);
    }
}
