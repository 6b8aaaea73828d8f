//! The bytes of a page: made from its place, its version and a seed, so every byte is known from
//! these.
//!
//! A page consists of sectors of 512 bytes. Each begins with a stamp of 16 bytes that says which
//! sector of which version of which page of which file it is, so that a sector is recognised
//! wherever it is found. The first sector's stamp is followed by a checksum over the whole page and
//! the seed, so a whole page shows whether another run wrote it. Everything else is incompressible
//! content that no two versions of any two pages share.

use std::sync::Arc;

use engine::mixed;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use thiserror::Error;
use twox_hash::XxHash3_64;

use crate::classify::is_nearly;
use crate::past_cache;

/// The smallest part of a page that storage writes whole.
pub const SECTOR_BYTES: usize = 512;
/// What fits into the index of a sector in its stamp.
const SECTORS_MAX: usize = 1 << 12;
/// The bytes that hold the checksum.
const CHECKSUM: std::ops::Range<usize> = 16..24;
/// The bytes that hold the seed.
const SEED: std::ops::Range<usize> = 24..32;
const WORD: usize = size_of::<u64>();
/// What of a page goes into its checksum at once.
const PIECE_BYTES: usize = 1024;
/// How far ahead memory is fetched. The processor's own prefetching ends with a frame.
const AHEAD_BYTES: usize = 4096;

/// A page, by its file and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId {
    /// Number of the file in the plan.
    pub file: u16,
    /// Number of the page in it; below 2^48.
    pub page: u64,
}

/// What the stamp of a sector says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The page it was written as a part of.
    pub id: PageId,
    /// The version of the page it belongs to.
    pub version: u32,
    /// The place of the sector in its page, counted from 0.
    pub sector: u16,
}

/// Why pages of a size are not possible.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PageError {
    /// A page cannot have this size.
    #[error(
        "a page of {page_bytes} bytes cannot be checked; use a multiple of 512 bytes, at most 1 \
         MiB"
    )]
    Size {
        /// The size that was asked for.
        page_bytes: usize,
    },
}

/// How pages of one size and seed are made and recognised. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PageFormat {
    seed: u64,
    /// A page of random words, which every page is combined with.
    base: Arc<[u64]>,
}

impl PageFormat {
    /// Pages of this size. Two formats of the same size and seed make the same pages.
    pub fn new(page_bytes: usize, seed: u64) -> Result<Self, PageError> {
        let sectors = page_bytes / SECTOR_BYTES;
        if !page_bytes.is_multiple_of(SECTOR_BYTES) || !(1..=2048).contains(&sectors) {
            return Err(PageError::Size { page_bytes });
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let base = (0..page_bytes / WORD).map(|_| random.next_u64()).collect();
        Ok(Self { seed, base })
    }

    /// Size of a page in bytes.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.base.len() * WORD
    }

    /// How many sectors a page has.
    #[must_use]
    pub fn sectors(&self) -> usize {
        self.page_bytes() / SECTOR_BYTES
    }

    /// Writes a version of a page into `out`, which is a page long; bytes after that are not
    /// touched.
    pub fn fill(&self, id: PageId, version: u32, out: &mut [u8]) {
        let mask = self.mask(id, version);
        let (words, _) = out.as_chunks_mut::<WORD>();
        for (word, base) in words.iter_mut().zip(self.base.iter()) {
            *word = (base ^ mask).to_le_bytes();
        }
        let stamps = self.stamps(id, version);
        let (sectors, _) = out.as_chunks_mut::<SECTOR_BYTES>();
        for (index, sector) in (0..).zip(sectors.iter_mut().take(self.sectors())) {
            sector[..16].copy_from_slice(&stamps.of(index));
        }
        out[SEED].copy_from_slice(&self.seed.to_le_bytes());
        let sum = checksum(&out[..self.page_bytes()], &[]);
        out[CHECKSUM].copy_from_slice(&sum);
    }

    /// Every byte of a version of a page.
    #[must_use]
    pub fn page(&self, id: PageId, version: u32) -> Vec<u8> {
        let mut bytes = vec![0; self.page_bytes()];
        self.fill(id, version, &mut bytes);
        bytes
    }

    /// Whether `bytes` are this version of this page: the first stamp says so, and the checksum
    /// over all the rest, other stamps among it, is right.
    #[must_use]
    pub fn is(&self, id: PageId, version: u32, bytes: &[u8]) -> bool {
        self.is_before(id, version, bytes, &[])
    }

    /// The same, where `next` is looked at next: the first of it is on its way into the cache then.
    pub(crate) fn is_before(&self, id: PageId, version: u32, bytes: &[u8], next: &[u8]) -> bool {
        bytes.len() == self.page_bytes()
            && bytes[..16] == self.stamps(id, version).of(0)
            && bytes[SEED] == self.seed.to_le_bytes()
            && bytes[CHECKSUM] == checksum(bytes, next)[..]
    }

    /// What the stamp of a sector says, wherever it was found; none if it was not written by a
    /// format of this seed.
    #[must_use]
    pub fn read_stamp(&self, sector: &[u8]) -> Option<Stamp> {
        let (words, _) = sector.get(..16)?.as_chunks::<WORD>();
        let [place, rest] = words else { return None };
        let (place, rest) = (u64::from_le_bytes(*place), u64::from_le_bytes(*rest));
        let index = u16::try_from((rest >> 32) & (SECTORS_MAX as u64 - 1)).ok()?;
        let version = u32::try_from(rest & u64::from(u32::MAX)).ok()?;
        let file = u16::try_from(place >> 48).ok()?;
        let id = PageId { file, page: place & PAGE_MASK };
        let ours = self.stamps(id, version).of(index);
        (ours[..] == sector[..16]).then_some(Stamp { id, version, sector: index })
    }

    /// What the stamp of a sector says, where the rest of the sector is what was written with it,
    /// but for a few bits. A stamp alone is known by 20 bits: one of a million foreign sectors has
    /// one.
    #[must_use]
    pub fn recognise(&self, sector: &[u8]) -> Option<Stamp> {
        let stamp = self.read_stamp(sector)?;
        let page = self.page(stamp.id, stamp.version);
        let original = page.chunks(SECTOR_BYTES).nth(stamp.sector.into())?;
        is_nearly(original, sector).map(|_| stamp)
    }

    /// Whether `bytes` are a whole page that a format of another seed wrote, wherever it belongs.
    pub(crate) fn is_of_another_seed(&self, bytes: &[u8]) -> bool {
        if bytes.len() != self.page_bytes() {
            return false;
        }
        let (words, _) = bytes.as_chunks::<WORD>();
        let [place, rest, _, seed, ..] = words else { return false };
        let (place, seed) = (u64::from_le_bytes(*place), u64::from_le_bytes(*seed));
        let version = u32::try_from(u64::from_le_bytes(*rest) & u64::from(u32::MAX)).unwrap_or(0);
        let stamps = Stamps { place, version, key: mixed(seed ^ place) };
        seed != self.seed
            && bytes[..16] == stamps.of(0)
            && bytes[CHECKSUM] == checksum(bytes, &[])[..]
    }

    /// What the stamps of a version of a page have in common.
    fn stamps(&self, id: PageId, version: u32) -> Stamps {
        let place = place_of(id);
        Stamps { place, version, key: mixed(self.seed ^ place) }
    }

    /// What all words of a version of a page are combined with.
    fn mask(&self, id: PageId, version: u32) -> u64 {
        mixed(mixed(self.seed.rotate_left(32) ^ place_of(id)).wrapping_add(u64::from(version)))
    }
}

/// The stamps of a version of a page.
#[derive(Debug, Clone, Copy)]
struct Stamps {
    place: u64,
    version: u32,
    /// A key that is made from the seed.
    key: u64,
}

impl Stamps {
    /// Page and file; version, index, and 20 bits that only the seed can produce.
    #[inline]
    fn of(&self, sector: u16) -> [u8; 16] {
        let rest = u64::from(self.version) | (u64::from(sector) % SECTORS_MAX as u64) << 32;
        let proof = mixed(self.key ^ rest) >> 44 << 44;
        let mut bytes = [0; 16];
        bytes[..WORD].copy_from_slice(&self.place.to_le_bytes());
        bytes[WORD..].copy_from_slice(&(rest | proof).to_le_bytes());
        bytes
    }
}

const PAGE_MASK: u64 = (1 << 48) - 1;

fn place_of(id: PageId) -> u64 {
    u64::from(id.file) << 48 | id.page & PAGE_MASK
}

/// The checksum of a whole page: the first stamp starts it, and every KiB is added with its XXH3,
/// the first without the checksum itself.
///
/// A device has just written these bytes, so much of the time is spent waiting for memory.
/// Therefore one KiB is fetched while another is checked, from `next` at the end of the page.
fn checksum(bytes: &[u8], next: &[u8]) -> [u8; WORD] {
    let (words, _) = bytes.as_chunks::<WORD>();
    let start =
        words.iter().take(2).fold(0, |sum: u64, w| sum.rotate_left(1) ^ u64::from_le_bytes(*w));
    let ahead = AHEAD_BYTES.min(bytes.len());
    let coming = bytes[ahead..].chunks(PIECE_BYTES).chain(next.chunks(PIECE_BYTES));
    let mut coming = coming.map(past_cache::fetch);
    let sum = bytes.chunks(PIECE_BYTES).enumerate().fold(start, |sum, (index, piece)| {
        coming.next();
        let from = if index == 0 { CHECKSUM.end.min(piece.len()) } else { 0 };
        mixed(sum ^ XxHash3_64::oneshot(&piece[from..]))
    });
    sum.to_le_bytes()
}

/// Whether a byte of a page, by its index, is part of the checksum.
pub(crate) fn is_of_checksum(index: usize) -> bool {
    CHECKSUM.contains(&index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn id(file: u16, page: u64) -> PageId {
        PageId { file, page }
    }

    #[test]
    fn a_page_has_a_size_that_sectors_have() {
        for page_bytes in [512, 4096, 8192, 16_384, 1 << 20] {
            assert_eq!(PageFormat::new(page_bytes, 1).unwrap().page_bytes(), page_bytes);
        }
        for page_bytes in [0, 100, 8191, (1 << 20) + 512] {
            assert!(PageFormat::new(page_bytes, 1).is_err(), "{page_bytes}");
        }
    }

    #[test]
    fn no_two_sectors_of_any_pages_are_alike() {
        let format = PageFormat::new(8192, 7).unwrap();
        let mut seen = HashSet::new();
        for page in 0..50 {
            for version in 0..50 {
                let bytes = format.page(id(1, page), version);
                // After stamp, checksum and seed, too.
                assert!(bytes.chunks(512).all(|s| seen.insert(s[32..].to_vec())));
            }
        }
    }

    proptest! {
        #[test]
        fn a_page_is_what_it_is_and_nothing_else(
            seed: u64, file: u16, page in 0u64..1 << 48, version: u32,
            other in 1u32.., byte in 0usize..8192, bit in 0u8..8
        ) {
            let format = PageFormat::new(8192, seed).unwrap();
            let mut bytes = format.page(id(file, page), version);
            prop_assert!(format.is(id(file, page), version, &bytes));
            prop_assert!(!format.is(id(file, page), version.wrapping_add(other), &bytes));
            prop_assert!(!format.is(id(file, page ^ 1), version, &bytes));
            prop_assert!(!format.is(id(file ^ 1, page), version, &bytes));
            bytes[byte] ^= 1 << bit;
            prop_assert!(!format.is(id(file, page), version, &bytes), "byte {byte} bit {bit}");
        }

        /// KiB of a page go into its checksum one by one: their order counts, and the order of
        /// prefetching does not.
        #[test]
        fn pieces_have_their_places(
            sectors in 1usize..=40, version: u32, next_bytes in 0usize..9000, from in 0usize..20,
                to in 0usize..20
        ) {
            let format = PageFormat::new(sectors * SECTOR_BYTES, 5).unwrap();
            let bytes = format.page(id(1, 2), version);
            prop_assert!(format.is_before(id(1, 2), version, &bytes, &vec![9; next_bytes]));
            let pieces = bytes.len() / PIECE_BYTES;
            if from % pieces.max(1) != to % pieces.max(1) {
                let mut moved = bytes;
                let (from, to) = (from % pieces * PIECE_BYTES, to % pieces * PIECE_BYTES);
                for at in CHECKSUM.end..PIECE_BYTES {
                    moved.swap(from + at, to + at);
                }
                prop_assert!(!format.is(id(1, 2), version, &moved));
            }
        }

        #[test]
        fn stamps_are_recognised_and_others_are_not(seed: u64, page in 0u64..1 << 48, version: u32,
            noise: [u8; 16]) {
            let format = PageFormat::new(4096, seed).unwrap();
            let bytes = format.page(id(9, page), version);
            for (sector, found) in (0..).zip(bytes.chunks(512)) {
                prop_assert_eq!(format.read_stamp(found),
                    Some(Stamp { id: id(9, page), version, sector }));
            }
            prop_assert_eq!(PageFormat::new(4096, !seed).unwrap().read_stamp(&bytes), None);
            // One in a million foreign blocks looks as if it were ours; a test with hundreds does
            // not meet it.
            prop_assert_eq!(format.read_stamp(&noise), None);
            prop_assert_eq!(format.read_stamp(&[]), None);
        }

        /// One in a million foreign sectors begins with what could be a stamp of this seed. Here,
        /// each does.
        #[test]
        fn a_stamp_alone_is_not_recognised(seed: u64, page in 0u64..1 << 48, version: u32,
            at in 0usize..512 * 8, noise in prop::collection::vec(any::<u8>(), 496)) {
            let format = PageFormat::new(4096, seed).unwrap();
            for (sector, found) in (0..).zip(format.page(id(9, page), version).chunks(512)) {
                let stamp = Stamp { id: id(9, page), version, sector };
                prop_assert_eq!(format.recognise(found), Some(stamp));
                let mut damaged = found.to_vec();
                damaged[at / 8] ^= 1 << (at % 8);
                // A bit of the stamp itself may make it another one, which its content is not of.
                prop_assert_eq!(format.recognise(&damaged), (at >= 16 * 8).then_some(stamp));
                let mixed = [&found[..16], &noise].concat();
                prop_assert_eq!(format.read_stamp(&mixed), Some(stamp));
                prop_assert_eq!(format.recognise(&mixed), None);
            }
        }

        #[test]
        fn a_page_of_another_run_is_told_from_noise(
            seed: u64, other: u64, file: u16, page in 0u64..1 << 48, version: u32,
            byte in 0usize..4096, bit in 0u8..8,
                noise in prop::collection::vec(any::<u8>(), 0..5000)
        ) {
            prop_assume!(seed != other);
            let (format, others) =
                (PageFormat::new(4096, seed).unwrap(), PageFormat::new(4096, other).unwrap());
            let mut bytes = others.page(id(file, page), version);
            prop_assert!(format.is_of_another_seed(&bytes));
            prop_assert!(!others.is_of_another_seed(&bytes), "that is its own");
            prop_assert!(!format.is_of_another_seed(&bytes[..2048]));
            bytes[byte] ^= 1 << bit;
            prop_assert!(!format.is_of_another_seed(&bytes), "byte {byte} bit {bit}");
            prop_assert!(!format.is_of_another_seed(&noise));
            prop_assert!(!format.is_of_another_seed(&[0; 4096]), "zeros are nobody's");
        }
    }
}
