//! The bytes of a block of the log: made from the log, the block's number and a seed. So every byte
//! is known from these, and what a block holds that is not as it should be.
//!
//! A block consists of sectors of 512 bytes. Each begins with a stamp of 24 bytes that says which
//! sector of which block of which log of which run it is, so that a sector is recognised wherever
//! it is found. Incompressible content that no two sectors share follows it.

use std::sync::Arc;

use engine::mixed;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use results::{PageDamage, Persistence};

use crate::classify::is_nearly;
use crate::page::{PageFormat, PageId, SECTOR_BYTES, Stamp};

const WORD: usize = size_of::<u64>();
const SECTOR_WORDS: usize = SECTOR_BYTES / WORD;
/// How many words a stamp has.
const STAMP_WORDS: usize = 3;
/// Keeps the stamps of logs apart from those of pages.
const LOGS: u64 = u64::from_le_bytes(*b"iosonlog");
/// Below the log's number in a stamp is the block's.
const LOG_SHIFT: u32 = 48;
/// Above the sector's index, a stamp has bits that only the seed can produce.
const PROOF_SHIFT: u32 = 16;

/// A block, by its log and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockId {
    /// The thread whose log it is.
    pub log: u16,
    /// Its number in the log; below 2^47.
    pub number: u64,
}

/// How the blocks of a run are made and recognised. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct BlockFormat {
    seed: u64,
    /// What every sector is combined with.
    base: Arc<[u64]>,
}

/// What one sector of a block of the log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockSector {
    /// Exactly what it should hold.
    Right,
    /// What the log wrote before, as a part of the block of this number, which is overwritten
    /// everywhere else.
    Older(u64),
    /// What the log has not written yet, as a part of the block of this number.
    Newer(u64),
    /// What belongs into another block, or into another place of this one.
    Elsewhere {
        /// The thread whose log it belongs to.
        log: u16,
        /// The number of the block in that thread's log.
        number: u64,
    },
    /// What belongs into a page of a data file.
    Page {
        /// The page that it belongs to.
        id: PageId,
        /// The version of the page of which it is a part.
        version: u32,
    },
    /// Zeros only, as where nothing was written.
    Zero,
    /// What it should hold, with a few wrong bits.
    Damaged {
        /// How many of its bits differ.
        bits: u32,
    },
    /// Bytes that are not recognised as written by this run.
    Foreign,
}

impl BlockFormat {
    pub(crate) fn new(seed: u64) -> Self {
        let seed = mixed(seed ^ LOGS);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let base = (0..SECTOR_WORDS).map(|_| random.next_u64()).collect();
        Self { seed, base }
    }

    /// Writes a block into `out`, which is as long as the block.
    pub(crate) fn fill(&self, id: BlockId, out: &mut [u8]) {
        for (index, sector) in (0..).zip(out.chunks_mut(SECTOR_BYTES)) {
            self.fill_sector(id, index, sector);
        }
    }

    /// Every byte of a block of this length.
    pub(crate) fn block(&self, id: BlockId, bytes: usize) -> Vec<u8> {
        let mut block = vec![0; bytes];
        self.fill(id, &mut block);
        block
    }

    fn fill_sector(&self, id: BlockId, index: u16, out: &mut [u8]) {
        let place = place_of(id);
        let spread = mixed(self.seed.rotate_left(32) ^ place);
        let mask = mixed(spread.wrapping_add(u64::from(index)));
        let (words, _) = out.as_chunks_mut::<WORD>();
        for (word, base) in words.iter_mut().zip(self.base.iter()) {
            *word = (base ^ mask).to_le_bytes();
        }
        for (word, stamp) in words.iter_mut().zip(stamp(self.seed, place, index)) {
            *word = stamp.to_le_bytes();
        }
    }

    /// What the stamp of a sector says; none if it was not written by a log of this seed.
    fn read_stamp(&self, sector: &[u8]) -> Option<(BlockId, u16)> {
        read_any_stamp(sector)
            .filter(|(seed, ..)| *seed == self.seed)
            .map(|(_, id, index)| (id, index))
    }

    /// Whether a log of another seed wrote this sector. Zeros are a stamp of the seed 0, and
    /// nobody's.
    pub(crate) fn is_of_another_seed(&self, sector: &[u8]) -> bool {
        read_any_stamp(sector).is_some_and(|(seed, ..)| seed != self.seed && seed != 0)
    }

    /// The block that a sector is a part of; `None` if it belongs to no block of this seed. A stamp
    /// alone does not prove what was written with it.
    pub(crate) fn recognise(&self, sector: &[u8]) -> Option<BlockId> {
        let (id, index) = self.read_stamp(sector)?;
        let mut original = vec![0; SECTOR_BYTES];
        self.fill_sector(id, index, &mut original);
        is_nearly(&original, sector).map(|_| id)
    }
}

fn stamp(seed: u64, place: u64, index: u16) -> [u64; STAMP_WORDS] {
    let proof = mixed(mixed(seed ^ place).wrapping_add(u64::from(index)));
    [place, u64::from(index) | proof << PROOF_SHIFT, seed]
}

/// What the stamp of a sector says, whichever run wrote it; none if no log did.
fn read_any_stamp(sector: &[u8]) -> Option<(u64, BlockId, u16)> {
    let (words, _) = sector.get(..STAMP_WORDS * WORD)?.as_chunks::<WORD>();
    let [place, rest, seed] = words else { return None };
    let [place, rest, seed] = [place, rest, seed].map(|word| u64::from_le_bytes(*word));
    let index = u16::try_from(rest & ((1 << PROOF_SHIFT) - 1)).ok()?;
    let log = u16::try_from(place >> LOG_SHIFT).ok()?;
    let id = BlockId { log, number: place & ((1 << LOG_SHIFT) - 1) };
    (stamp(seed, place, index) == [place, rest, seed]).then_some((seed, id, index))
}

fn place_of(id: BlockId) -> u64 {
    u64::from(id.log) << LOG_SHIFT | id.number & ((1 << LOG_SHIFT) - 1)
}

/// The formats and places that recognise whatever is in the place of a block.
pub(crate) struct BlockContext<'a> {
    pub blocks: &'a BlockFormat,
    pub pages: &'a PageFormat,
    /// The block that should be there.
    pub id: BlockId,
    /// The number of the last block of its log.
    pub last: u64,
    /// Whether a block of its log is somewhere else.
    pub lies_elsewhere: &'a dyn Fn(u64) -> bool,
}

impl BlockContext<'_> {
    /// What each sector of a read holds; `expected` should be there.
    pub(crate) fn sectors(&self, expected: &[u8], found: &[u8]) -> Vec<BlockSector> {
        let pairs = expected.chunks(SECTOR_BYTES).zip(found.chunks(SECTOR_BYTES));
        pairs.map(|(expected, found)| self.sector(expected, found)).collect()
    }

    fn sector(&self, expected: &[u8], found: &[u8]) -> BlockSector {
        if found == expected {
            return BlockSector::Right;
        }
        if found.iter().all(|byte| *byte == 0) {
            return BlockSector::Zero;
        }
        if let Some(bits) = is_nearly(expected, found) {
            return BlockSector::Damaged { bits };
        }
        if let Some(id) = self.blocks.recognise(found) {
            return self.of_a_log(id);
        }
        match self.pages.recognise(found) {
            Some(Stamp { id, version, .. }) => BlockSector::Page { id, version },
            None => BlockSector::Foreign,
        }
    }

    fn of_a_log(&self, id: BlockId) -> BlockSector {
        let (log, number) = (id.log, id.number);
        if log == self.id.log && number < self.id.number && !(self.lies_elsewhere)(number) {
            return BlockSector::Older(number);
        }
        if log == self.id.log && number > self.last {
            return BlockSector::Newer(number);
        }
        BlockSector::Elsewhere { log, number }
    }
}

/// What happened to a block, from what its sectors held when it was read first.
pub(crate) fn name(sectors: &[BlockSector], kept: Persistence) -> PageDamage {
    let transient = kept == Persistence::Transient;
    let has = |is: &dyn Fn(&BlockSector) -> bool| sectors.iter().any(is);
    let mine = |s: &BlockSector| matches!(s, BlockSector::Right | BlockSector::Damaged { .. });
    if has(&|s| matches!(s, BlockSector::Elsewhere { .. } | BlockSector::Page { .. })) {
        if transient { PageDamage::MisdirectedRead } else { PageDamage::MisdirectedWrite }
    } else if has(&|s| matches!(s, BlockSector::Newer(_))) {
        PageDamage::NewerThanKnown
    } else if sectors.iter().all(mine) {
        PageDamage::BitError
    } else if has(&mine) {
        // A part of the block is there, whatever is next to it: before the log comes round for the
        // first time, nobody knows what was there.
        PageDamage::TornPage
    } else if has(&|s| matches!(s, BlockSector::Older(_))) {
        if transient { PageDamage::StaleRead } else { PageDamage::LostWrite }
    } else if sectors.iter().all(|s| *s == BlockSector::Zero) {
        PageDamage::Zeroed
    } else {
        PageDamage::ForeignData
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: usize = 8 * SECTOR_BYTES;
    const ID: BlockId = BlockId { log: 3, number: 70 };

    /// The name for what is there.
    fn named(found: &[u8], kept: Persistence) -> PageDamage {
        let (blocks, pages) = (BlockFormat::new(7), PageFormat::new(8192, 7).unwrap());
        let lies_elsewhere = |number| number >= 60;
        let known = BlockContext {
            blocks: &blocks,
            pages: &pages,
            id: ID,
            last: 90,
            lies_elsewhere: &lies_elsewhere,
        };
        name(&known.sectors(&blocks.block(ID, BYTES), found), kept)
    }

    fn block(number: u64) -> Vec<u8> {
        BlockFormat::new(7).block(BlockId { number, ..ID }, BYTES)
    }

    /// A block of whose head something was wrong was called by its first words alone.
    #[test]
    fn a_block_is_judged_sector_by_sector() {
        use Persistence::{Persistent, Transient};
        let with = |part: std::ops::Range<usize>, other: &[u8]| {
            let mut bytes = block(70);
            bytes[part.clone()].copy_from_slice(&other[part]);
            bytes
        };
        let page = PageFormat::new(8192, 7).unwrap().page(PageId { file: 1, page: 5 }, 2);
        let other_log = BlockFormat::new(7).block(BlockId { log: 4, number: 70 }, BYTES);
        let (zeros, foreign) = (vec![0; BYTES], BlockFormat::new(8).block(ID, BYTES));
        for (found, persistent, transient) in [
            (zeros.clone(), PageDamage::Zeroed, PageDamage::Zeroed),
            (block(40), PageDamage::LostWrite, PageDamage::StaleRead),
            (block(91), PageDamage::NewerThanKnown, PageDamage::NewerThanKnown),
            (block(80), PageDamage::MisdirectedWrite, PageDamage::MisdirectedRead),
            (block(60), PageDamage::MisdirectedWrite, PageDamage::MisdirectedRead),
            (other_log, PageDamage::MisdirectedWrite, PageDamage::MisdirectedRead),
            (page, PageDamage::MisdirectedWrite, PageDamage::MisdirectedRead),
            (foreign.clone(), PageDamage::ForeignData, PageDamage::ForeignData),
            // The head is zeros, another run's data, or of the lap before, and the rest is right.
            (with(0..512, &zeros), PageDamage::TornPage, PageDamage::TornPage),
            (with(0..512, &foreign), PageDamage::TornPage, PageDamage::TornPage),
            (with(0..512, &block(40)), PageDamage::TornPage, PageDamage::TornPage),
            // The head is right, and the rest is not.
            (with(512..BYTES, &zeros), PageDamage::TornPage, PageDamage::TornPage),
            (with(3584..BYTES, &block(40)), PageDamage::TornPage, PageDamage::TornPage),
        ] {
            let found = &found[..BYTES];
            assert_eq!(named(found, Persistent), persistent);
            assert_eq!(named(found, Transient), transient);
        }
        let mut shifted = block(70);
        shifted.rotate_left(SECTOR_BYTES);
        assert_eq!(named(&shifted, Persistent), PageDamage::MisdirectedWrite);
        let mut ends = block(40);
        ends[2048..].fill(0);
        assert_eq!(named(&ends, Persistent), PageDamage::LostWrite);
    }

    proptest! {
        #[test]
        fn flipped_bits_are_bit_errors(flips in prop::collection::hash_set((0usize..BYTES, 0u8..8),
            1..20)) {
            let mut bytes = block(70);
            for (byte, bit) in &flips {
                bytes[*byte] ^= 1 << bit;
            }
            prop_assert_eq!(named(&bytes, Persistence::Persistent), PageDamage::BitError);
        }

        #[test]
        fn stamps_say_which_sector_it_is(seed: u64, log: u16, number in 0u64..1 << 47) {
            let format = BlockFormat::new(seed);
            let id = BlockId { log, number };
            let bytes = format.block(id, 64 << 10);
            for (index, sector) in (0u16..).zip(bytes.chunks(SECTOR_BYTES)) {
                prop_assert_eq!(format.read_stamp(sector), Some((id, index)));
                let other = BlockFormat::new(!seed);
                prop_assert_eq!(other.read_stamp(sector), None);
                prop_assert!(other.is_of_another_seed(sector)
                    && !format.is_of_another_seed(sector));
                prop_assert!(!other.is_of_another_seed(&[0; SECTOR_BYTES]));
            }
            let mut contents: Vec<&[u8]> = bytes.chunks(SECTOR_BYTES).map(|s| &s[24..32]).collect();
            contents.sort_unstable();
            contents.dedup();
            prop_assert_eq!(contents.len(), 128, "no two sectors are alike");
        }

        #[test]
        fn hostile_blocks_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2 * BYTES),
            kept: bool) {
            let _ = named(&bytes,
                if kept { Persistence::Persistent } else { Persistence::Transient });
        }
    }
}
