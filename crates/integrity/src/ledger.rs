//! What every page should hold: eight bytes for each, outside of the pages.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use thiserror::Error;

use crate::mapped::Part;
use crate::past_cache;

/// Set while a thread reads or writes the page.
const BUSY: u64 = 1 << 63;
/// Set when a write has failed: the page holds the version before it, that of it, or parts of both.
const UNSURE: u64 = 1 << 62;
/// Set where the storage is known to hold something wrong: it is not looked at again before it is
/// written.
const BAD: u64 = 1 << 61;
/// Set while the page is written: if that never ends, it holds the version before, the new one, or
/// parts of both.
const WRITING: u64 = 1 << 60;
/// Set while nobody has written the page since it came to be, with its file or at its end: it must
/// be zeros.
const ZERO: u64 = 1 << 59;
/// How long a tick is, in which the time of the last write is kept.
const TICK_MS: u64 = 16;
const TIME_SHIFT: u32 = 32;
const TIME_MASK: u64 = (1 << 27) - 1;
const VERSION_MASK: u64 = (1 << 32) - 1;
/// Memory that the ledger needs per page, in bytes.
const ENTRY_BYTES: u64 = size_of::<AtomicU64>() as u64;

/// Versions of the pages of one file, and when each was last written. Shared by all threads.
///
/// A page is claimed while it is read or written: with two threads on it at once, nobody could say
/// what is right.
#[derive(Debug)]
pub struct Ledger {
    pages: Words,
}

/// Numbers that threads share, in memory or in a file that is memory.
#[derive(Debug)]
pub(crate) enum Words {
    Own(Box<[AtomicU64]>),
    Kept(Part),
}

impl Deref for Words {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        match self {
            Self::Own(words) => words,
            Self::Kept(part) => part,
        }
    }
}

/// What a run that was killed has left of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovered {
    /// Pages that were written once at least.
    pub written: u64,
    /// Those of them that were being written again, and hold the version before, the new one, or
    /// parts of both.
    pub unsure: u64,
}

/// Why a ledger cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LedgerError {
    /// The memory for all versions is not available.
    #[error(
        "the versions of {pages} pages need {needed_bytes} bytes of memory, which cannot be had; \
         use a smaller file or larger pages"
    )]
    Memory {
        /// How many pages the file has.
        pages: u64,
        /// Memory that they need, in bytes.
        needed_bytes: u64,
    },
}

/// A page that is claimed, and what it should hold. It stays claimed until it is given back to the
/// ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The number of the page in its file.
    pub page: u64,
    /// Its version; 0 before the first write.
    pub version: u32,
    /// A write of the next version has failed and may have changed the page.
    pub unsure: bool,
    /// The storage is known to hold something wrong.
    pub bad: bool,
    /// Nobody has written it since it came to be, so it must be zeros, whatever its version was
    /// before.
    pub zero: bool,
    /// When it was last written, from the start of the run, to 16 ms; none if that was later than
    /// 24 days after it, which is the last that there is room for, or if nobody has written it.
    pub written_after: Option<Duration>,
}

impl Claim {
    /// The version that the next write makes; never 0. After a write that failed it is that
    /// write's, whose bytes are the same.
    #[must_use]
    pub fn next_version(&self) -> u32 {
        self.version.wrapping_add(1).max(1)
    }
}

impl Ledger {
    /// The memory in bytes that a ledger of this many pages takes.
    #[must_use]
    pub fn needed_bytes(pages: u64) -> u64 {
        pages.saturating_mul(ENTRY_BYTES)
    }

    /// A ledger of pages that have not been written.
    pub fn new(pages: u64) -> Result<Self, LedgerError> {
        let short = || LedgerError::Memory { pages, needed_bytes: Self::needed_bytes(pages) };
        let count = usize::try_from(pages).map_err(|_| short())?;
        let mut all = Vec::new();
        all.try_reserve_exact(count).map_err(|_| short())?;
        all.resize_with(count, AtomicU64::default);
        Ok(Self { pages: Words::Own(all.into_boxed_slice()) })
    }

    /// A ledger that is a part of a file.
    pub(crate) fn kept(part: Part) -> Self {
        Self { pages: Words::Kept(part) }
    }

    /// Releases all pages of a thread that is gone. Pages that were known to be wrong are examined
    /// again.
    pub(crate) fn recover(&self) -> Recovered {
        let mut found = Recovered::default();
        for entry in self.pages.iter() {
            let before = entry.load(Ordering::Relaxed);
            let unsure = if before & WRITING == 0 { before & UNSURE } else { UNSURE };
            let after = before & !(BUSY | WRITING | BAD | UNSURE) | unsure;
            if before != after {
                entry.store(after, Ordering::Relaxed);
            }
            let written = after & VERSION_MASK != 0;
            found.written += u64::from(written);
            found.unsure += u64::from(written && unsure != 0);
        }
        found
    }

    /// How many pages the file has.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages.len() as u64
    }

    /// The state of a page now, whichever thread has it.
    pub(crate) fn peek(&self, page: u64) -> Option<Claim> {
        Some(claim_of(page, self.entry(page)?.load(Ordering::Relaxed)))
    }

    /// Claims a page, if nobody else has it and it exists.
    #[must_use]
    pub fn claim(&self, page: u64) -> Option<Claim> {
        let entry = self.entry(page)?;
        let before = entry.fetch_or(BUSY, Ordering::Acquire);
        (before & BUSY == 0).then(|| claim_of(page, before))
    }

    /// Prefetches the state of a page into the processor's cache.
    #[inline]
    pub(crate) fn fetch(&self, page: u64) {
        if let Some(entry) = self.entry(page) {
            past_cache::fetch(std::slice::from_ref(entry));
        }
    }

    /// The write of a page that is claimed begins.
    pub fn writing(&self, claim: &Claim) {
        if let Some(entry) = self.entry(claim.page) {
            entry.fetch_or(WRITING, Ordering::Relaxed);
        }
    }

    /// Gives a page back that was only read, or whose write was not begun.
    pub fn release(&self, claim: &Claim) {
        self.give_back(claim.page);
    }

    /// Gives a page back of which this version was written, this long after the start of the run.
    pub fn written(&self, claim: &Claim, version: u32, after: Duration) {
        let ticks = u64::try_from(after.as_millis()).unwrap_or(u64::MAX) / TICK_MS;
        if let Some(entry) = self.entry(claim.page) {
            entry.store(u64::from(version) | ticks.min(TIME_MASK) << TIME_SHIFT, Ordering::Release);
        }
    }

    /// Gives a page back whose write has failed: it may hold the old version, the new one, or parts
    /// of both.
    pub fn failed(&self, claim: &Claim) {
        if let Some(entry) = self.entry(claim.page) {
            entry.fetch_or(UNSURE, Ordering::Relaxed);
            entry.fetch_and(!(BUSY | WRITING), Ordering::Release);
        }
    }

    /// Releases a page that was in doubt, after a read has shown this version in all of it: what
    /// was read once must stay.
    pub(crate) fn settled(&self, claim: &Claim, version: u32) {
        let Some(entry) = self.entry(claim.page) else { return };
        // What it held before that write, which may have been the zeros of a new page, or all of
        // that write.
        let zero = if claim.zero && version == claim.version { ZERO } else { 0 };
        let time = entry.load(Ordering::Relaxed) & (TIME_MASK << TIME_SHIFT);
        entry.store(u64::from(version) | time | zero, Ordering::Release);
    }

    /// Gives a page back of which the storage holds something wrong.
    pub fn wrong(&self, claim: &Claim) {
        if let Some(entry) = self.entry(claim.page) {
            entry.fetch_or(BAD, Ordering::Relaxed);
            entry.fetch_and(!BUSY, Ordering::Release);
        }
    }

    /// Gives a page back that is gone, or was never there: when it comes to be, it is zeros. Its
    /// versions continue from where they were.
    pub(crate) fn cut(&self, page: u64) {
        if let Some(entry) = self.entry(page) {
            let claim = claim_of(page, entry.load(Ordering::Relaxed));
            let version = if claim.unsure { claim.next_version() } else { claim.version };
            entry.store(u64::from(version) | ZERO, Ordering::Release);
        }
    }

    /// Gives a page back that nothing was done with.
    pub(crate) fn give_back(&self, page: u64) {
        if let Some(entry) = self.entry(page) {
            // Nobody else changes it meanwhile: a thread that finds it busy sets nothing that is
            // not set.
            let before = entry.load(Ordering::Relaxed);
            entry.store(before & !(BUSY | WRITING), Ordering::Release);
        }
    }

    fn entry(&self, page: u64) -> Option<&AtomicU64> {
        self.pages.get(usize::try_from(page).ok()?)
    }
}

fn claim_of(page: u64, entry: u64) -> Claim {
    let ticks = entry >> TIME_SHIFT & TIME_MASK;
    let version = u32::try_from(entry & VERSION_MASK).unwrap_or(0);
    let knows_time = ticks < TIME_MASK && version > 0 && entry & ZERO == 0;
    Claim {
        page,
        version,
        unsure: entry & UNSURE != 0,
        bad: entry & BAD != 0,
        zero: entry & ZERO != 0,
        written_after: knows_time.then(|| Duration::from_millis(ticks * TICK_MS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn a_page_is_claimed_once_at_a_time() {
        let ledger = Ledger::new(3).unwrap();
        let claim = ledger.claim(1).unwrap();
        assert_eq!((claim.version, claim.unsure, claim.next_version()), (0, false, 1));
        assert_eq!(ledger.claim(1), None);
        assert_eq!(ledger.claim(3), None, "there are three pages");
        ledger.written(&claim, 1, Duration::from_secs(2));
        let claim = ledger.claim(1).unwrap();
        assert_eq!((claim.version, claim.written_after), (1, Some(Duration::from_secs(2))));
        ledger.release(&claim);
        assert_eq!(ledger.claim(1).unwrap(), claim);
    }

    /// The version after one that failed was another one: a page whose second write failed, too,
    /// could hold a version that nobody allowed, and that was called a lost write.
    #[test]
    fn a_write_that_failed_is_made_again() {
        let ledger = Ledger::new(1).unwrap();
        let claim = ledger.claim(0).unwrap();
        ledger.written(&claim, 7, Duration::from_millis(5));
        let claim = ledger.claim(0).unwrap();
        for _ in 0..2 {
            ledger.failed(&claim);
            let claim = ledger.claim(0).unwrap();
            assert_eq!((claim.version, claim.unsure, claim.next_version()), (7, true, 8));
        }
        ledger.written(&claim, 8, Duration::ZERO);
        assert!(!ledger.claim(0).unwrap().unsure);
    }

    /// Of a page that was written later than there is room for, the last moment that has room was
    /// told.
    #[test]
    fn a_time_that_has_no_room_is_not_told() {
        let ledger = Ledger::new(1).unwrap();
        let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
        for (after, told) in [(days(24), true), (days(25), false), (days(1000), false)] {
            let claim = ledger.claim(0).unwrap();
            ledger.written(&claim, 1, after);
            let claim = ledger.claim(0).unwrap();
            assert_eq!(claim.written_after, told.then_some(after));
            ledger.release(&claim);
        }
        assert_eq!(Ledger::new(1).unwrap().claim(0).unwrap().written_after, None);
    }

    #[test]
    fn what_was_under_way_when_a_run_was_killed_may_be_old_or_new() {
        let ledger = Ledger::new(5).unwrap();
        for page in 0..4 {
            let claim = ledger.claim(page).unwrap();
            ledger.writing(&claim);
            ledger.written(&claim, 3, Duration::from_millis(1600));
        }
        // One is read, one written, one changed in memory, one known to be wrong, one was never
        // written.
        let claims: Vec<Claim> = (0..5).map(|page| ledger.claim(page).unwrap()).collect();
        ledger.writing(&claims[1]);
        ledger.wrong(&claims[3]);
        ledger.writing(&claims[4]);
        assert_eq!(ledger.recover(), Recovered { written: 4, unsure: 1 });
        let found: Vec<_> = (0..5).map(|page| ledger.claim(page).unwrap()).collect();
        assert_eq!(found.iter().map(|c| c.version).collect::<Vec<_>>(), [3, 3, 3, 3, 0]);
        assert_eq!(
            found.iter().map(|c| c.unsure).collect::<Vec<_>>(),
            [false, true, false, false, true]
        );
        assert!(found.iter().all(|c| !c.bad));
        assert_eq!(found[1].written_after, Some(Duration::from_millis(1600)));
    }

    #[test]
    fn versions_go_round_without_none() {
        let claim = Claim {
            page: 0,
            version: u32::MAX,
            unsure: false,
            bad: false,
            zero: false,
            written_after: None,
        };
        assert_eq!(claim.next_version(), 1);
    }

    #[test]
    fn a_terabyte_of_pages_needs_a_gigabyte() {
        assert_eq!(Ledger::needed_bytes((1 << 40) / 8192), 1 << 30);
        assert!(Ledger::new(u64::MAX).is_err(), "what cannot be had is an error");
    }

    #[test]
    fn threads_that_claim_the_same_pages_never_meet() {
        let ledger = Ledger::new(4).unwrap();
        let inside: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (ledger, inside) = (&ledger, &inside);
                scope.spawn(move || {
                    for n in 0..20_000u64 {
                        let page = (n + thread) % 4;
                        let Some(claim) = ledger.claim(page) else { continue };
                        let here = &inside[usize::try_from(page).unwrap()];
                        assert_eq!(here.fetch_add(1, Ordering::SeqCst), 0);
                        here.fetch_sub(1, Ordering::SeqCst);
                        ledger.written(&claim, claim.next_version(), Duration::ZERO);
                    }
                });
            }
        });
    }
}
