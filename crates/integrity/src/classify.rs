//! Names the damage of a page that does not hold what it should.

use results::{PageDamage, Persistence};

use crate::block::BlockFormat;
use crate::ledger::Claim;
use crate::page::{PageFormat, PageId, SECTOR_BYTES, Stamp, is_of_checksum};

/// So many wrong bits of the 4096 of a sector still make it that sector: of foreign data, about
/// half differ.
const DAMAGED_BITS_MAX: u32 = 64;

/// What one sector of a page holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectorState {
    /// Exactly what it should hold.
    Right,
    /// What the same sector held, or was to hold, in another version of the page.
    Version(u32),
    /// What belongs into another page, or into another place of this one.
    Elsewhere {
        /// The page that it belongs to.
        id: PageId,
        /// The version of the page of which it is a part.
        version: u32,
    },
    /// What belongs into a block of a log.
    Log {
        /// The thread whose log it belongs to.
        log: u16,
        /// The number of the block in that thread's log.
        number: u64,
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

/// A page that is not as it should be, sector by sector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// The state of each sector, in order.
    pub sectors: Vec<SectorState>,
    /// The first byte of the page that is not as it should be.
    pub first_byte: usize,
    /// Whether the content is right, and only the checksum differs.
    pub checksum_only: bool,
}

impl Examined {
    /// Recognises parts of the run's logs in what was `found`.
    pub(crate) fn recognise(&mut self, blocks: &BlockFormat, found: &[u8]) {
        for (state, sector) in self.sectors.iter_mut().zip(found.chunks(SECTOR_BYTES)) {
            if *state == SectorState::Foreign
                && let Some(id) = blocks.recognise(sector)
            {
                *state = SectorState::Log { log: id.log, number: id.number };
            }
        }
    }

    /// The thread and the number of the first block of a log of which there is a part.
    pub(crate) fn block(&self) -> Option<(u16, u64)> {
        self.sectors.iter().find_map(|state| match state {
            SectorState::Log { log, number } => Some((*log, *number)),
            _ => None,
        })
    }
}

/// A page that was wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file and the number of the page.
    pub id: PageId,
    /// The version that it should have; 0 where it should be zeros, because nobody has written it
    /// since it came to be.
    pub expected_version: u32,
    /// What is wrong with it, judged by what it holds.
    pub damage: PageDamage,
    /// Whether it was still wrong when read again.
    pub kept: Persistence,
    /// For misdirected I/O, where the found content belongs.
    pub belongs_to: Option<PageId>,
    /// The version that was found, where the page is whole and of another.
    pub found_version: Option<u32>,
    /// The page when it was read first.
    pub examined: Examined,
}

/// The bytes that a page should hold.
pub(crate) fn expected(format: &PageFormat, file: u16, claim: &Claim) -> Vec<u8> {
    if claim.zero {
        return vec![0; format.page_bytes()];
    }
    format.page(PageId { file, page: claim.page }, claim.version)
}

/// Whether a page holds what it should; `next` is looked at next.
fn holds(format: &PageFormat, file: u16, claim: &Claim, bytes: &[u8], next: &[u8]) -> bool {
    if claim.zero {
        return bytes.len() == format.page_bytes() && bytes.iter().all(|byte| *byte == 0);
    }
    format.is_before(PageId { file, page: claim.page }, claim.version, bytes, next)
}

/// The version that all of a page is of, where it holds what it should; `None` if it does not, or,
/// after a write that has failed, holds sectors of that and of the one before. `next` is looked at
/// next.
pub(crate) fn whole_version(
    format: &PageFormat,
    file: u16,
    claim: &Claim,
    bytes: &[u8],
    next: &[u8],
) -> Option<u32> {
    if holds(format, file, claim, bytes, next) {
        return Some(claim.version);
    }
    let new = claim.next_version();
    let is_new = claim.unsure && format.is(PageId { file, page: claim.page }, new, bytes);
    is_new.then_some(new)
}

/// Compares a read of a page with what `claim` says it should hold; `None` if they agree. If the
/// last write of a page failed, any sector may be from that write, which is repeated with the same
/// bytes.
#[must_use]
pub fn examine(format: &PageFormat, file: u16, claim: &Claim, bytes: &[u8]) -> Option<Examined> {
    let id = PageId { file, page: claim.page };
    if holds(format, file, claim, bytes, &[]) {
        return None;
    }
    let expected = expected(format, file, claim);
    let may_be = claim.unsure.then(|| format.page(id, claim.next_version()));
    let sectors: Vec<_> = (0..format.sectors())
        .map(|index| {
            let part = index * SECTOR_BYTES..(index + 1) * SECTOR_BYTES;
            let found = bytes.get(part.clone()).unwrap_or_default();
            let also = may_be.as_ref().is_some_and(|page| page[part.clone()] == *found);
            if also { SectorState::Right } else { state(format, id, index, &expected[part], found) }
        })
        .collect();
    let differs = |i: usize| bytes.get(i) != expected.get(i);
    let first_byte = (0..expected.len()).find(|i| differs(*i)).unwrap_or(0);
    let wrong = sectors.iter().any(|s| *s != SectorState::Right);
    wrong.then(|| Examined {
        sectors,
        first_byte,
        checksum_only: !claim.zero && (0..expected.len()).all(|i| is_of_checksum(i) || !differs(i)),
    })
}

/// What a sector holds that should hold `expected`.
fn state(
    format: &PageFormat,
    id: PageId,
    index: usize,
    expected: &[u8],
    found: &[u8],
) -> SectorState {
    if found == expected {
        return SectorState::Right;
    }
    if !found.is_empty() && found.iter().all(|byte| *byte == 0) {
        return SectorState::Zero;
    }
    if let Some(bits) = is_nearly(expected, found) {
        return SectorState::Damaged { bits };
    }
    // Where the stamp survived and the bytes after it did not, nothing is known either.
    match format.recognise(found) {
        Some(stamp) if stamp.id == id && usize::from(stamp.sector) == index => {
            SectorState::Version(stamp.version)
        }
        Some(Stamp { id, version, .. }) => SectorState::Elsewhere { id, version },
        None => SectorState::Foreign,
    }
}

/// The number of bits that differ between the expected and the found content, if they are so few
/// that it is still the same.
pub(crate) fn is_nearly(expected: &[u8], found: &[u8]) -> Option<u32> {
    Some(differing_bits(expected, found)).filter(|bits| *bits <= DAMAGED_BITS_MAX)
}

fn differing_bits(a: &[u8], b: &[u8]) -> u32 {
    if a.len() != b.len() {
        return u32::MAX;
    }
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Whether a version comes after another one. They go round, from the last to 1, so it is the
/// shorter way that counts; before the first is 0.
fn is_newer(found: u32, known: u32) -> bool {
    let ahead = (i64::from(found) - i64::from(known)).rem_euclid(i64::from(u32::MAX));
    (1..=i64::from(u32::MAX / 2)).contains(&ahead)
}

/// Says what happened to a page that was `examined` when it was read first and should hold what
/// `claim` says, and whether reading it again gave that.
#[must_use]
pub fn classify(file: u16, claim: &Claim, examined: Examined, kept: Persistence) -> Fault {
    let id = PageId { file, page: claim.page };
    let expected_version = if claim.zero { 0 } else { claim.version };
    let sectors = &examined.sectors;
    let has = |is: &dyn Fn(&SectorState) -> bool| sectors.iter().any(is);
    let elsewhere = sectors.iter().find_map(|s| match s {
        SectorState::Elsewhere { id, version } => Some((*id, *version)),
        _ => None,
    });
    let other = sectors.iter().find_map(|s| match s {
        SectorState::Version(version) => Some(*version),
        _ => None,
    });
    let whole = other.filter(|v| sectors.iter().all(|s| *s == SectorState::Version(*v)));
    let transient = kept == Persistence::Transient;
    let damage = if examined.checksum_only {
        PageDamage::ChecksumOnly
    } else if elsewhere.is_some() || examined.block().is_some() {
        if transient { PageDamage::MisdirectedRead } else { PageDamage::MisdirectedWrite }
    } else if has(&|s| *s == SectorState::Foreign) {
        PageDamage::ForeignData
    } else if has(&|s| *s == SectorState::Zero) {
        PageDamage::Zeroed
    } else if whole.is_some_and(|version| is_newer(version, claim.version)) {
        PageDamage::NewerThanKnown
    } else if whole.is_some() {
        if transient { PageDamage::StaleRead } else { PageDamage::LostWrite }
    } else if other.is_some() {
        PageDamage::TornPage
    } else {
        PageDamage::BitError
    };
    Fault {
        id,
        expected_version,
        damage,
        kept,
        belongs_to: elsewhere.map(|(id, _)| id),
        found_version: whole.or(elsewhere.map(|(_, version)| version)),
        examined,
    }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
