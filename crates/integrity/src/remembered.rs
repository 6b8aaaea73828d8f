//! What each thread did last, as evidence for a page that is wrong.
//!
//! Only the thread itself writes its ring, so that noting an I/O costs three stores and no lock.
//! Others look at it rarely; entries that are overwritten while they look are left out.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::checks::Touched;

/// How many I/Os a thread remembers.
const REMEMBERED: usize = 1 << 16;
/// Marks an entry of a write.
const WROTE: u64 = 1 << 63;
/// Above the version are milliseconds since the start of the run, from 1 on. They begin again after
/// 24 days; remembered entries are younger.
const TIME_SHIFT: u32 = 32;
const TIME_MASK: u64 = (1 << 31) - 1;
const FILE_SHIFT: u32 = 48;
/// An entry may be this much later than the moment at which a thread looks.
const SLACK: Duration = Duration::from_secs(3600);

/// The latest I/Os of one thread.
#[derive(Debug)]
pub(crate) struct Ring {
    entries: Box<[Entry]>,
    next: AtomicUsize,
}

/// One I/O; nothing where `what` is 0.
#[derive(Debug, Default)]
struct Entry {
    place: AtomicU64,
    what: AtomicU64,
}

impl Default for Ring {
    fn default() -> Self {
        let entries = (0..REMEMBERED).map(|_| Entry::default()).collect();
        Self { entries, next: AtomicUsize::new(0) }
    }
}

impl Ring {
    /// Notes an I/O; only the thread that owns the ring calls it.
    #[inline]
    pub(crate) fn remember(&self, touched: Touched) {
        let next = self.next.load(Ordering::Relaxed);
        let Some(entry) = self.entries.get(next % REMEMBERED) else { return };
        let time = milliseconds(touched.after).wrapping_add(1) & TIME_MASK;
        let wrote = if touched.wrote { WROTE } else { 0 };
        let place = u64::from(touched.file) << FILE_SHIFT | touched.page;
        // A reader that sees the same value twice has seen a consistent pair.
        entry.what.store(0, Ordering::Release);
        entry.place.store(place, Ordering::Release);
        let what = wrote | time << TIME_SHIFT | u64::from(touched.version);
        entry.what.store(what, Ordering::Release);
        self.next.store(next.wrapping_add(1), Ordering::Relaxed);
    }

    /// The I/Os on a page until `now`, counted from the start of the run, in order of time.
    pub(crate) fn of_page(&self, file: u16, page: u64, now: Duration) -> Vec<Touched> {
        // Others continue meanwhile.
        let latest = milliseconds(now + SLACK);
        let next = self.next.load(Ordering::Relaxed) % REMEMBERED;
        let (newer, older) = self.entries.split_at(next);
        let mine = u64::from(file) << FILE_SHIFT | page;
        let read = |entry: &Entry| {
            let what = entry.what.load(Ordering::Acquire);
            let place = entry.place.load(Ordering::Acquire);
            let whole = what != 0 && entry.what.load(Ordering::Acquire) == what;
            (whole && place == mine).then(|| Touched {
                after: Duration::from_millis(time_of(what >> TIME_SHIFT & TIME_MASK, latest)),
                file,
                page,
                version: u32::try_from(what & u64::from(u32::MAX)).unwrap_or(0),
                wrote: what & WROTE != 0,
            })
        };
        older.iter().chain(newer).filter_map(read).collect()
    }
}

/// The last moment up to `latest` that is remembered so, in milliseconds.
fn time_of(remembered: u64, latest: u64) -> u64 {
    let latest = latest.saturating_add(1);
    let before = latest.wrapping_sub(remembered) & TIME_MASK;
    latest.saturating_sub(before).saturating_sub(1)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Duration = Duration::from_secs(3600);

    fn touched(page: u64, version: u32) -> Touched {
        let after = Duration::from_millis(u64::from(version));
        Touched { after, file: 65_535, page, version, wrote: version.is_multiple_of(2) }
    }

    #[test]
    fn the_last_are_remembered_in_their_order() {
        let ring = Ring::default();
        assert_eq!(ring.of_page(0, 0, LATER), []);
        for version in 1..=100_000u32 {
            ring.remember(touched(u64::from(version % 10) | 1 << 47, version));
        }
        let found = ring.of_page(65_535, 3 | 1 << 47, LATER);
        let versions = (100_000 - 65_536 + 1..=100_000u32).filter(|v| v % 10 == 3);
        let expected: Vec<Touched> = versions.map(|v| touched(3 | 1 << 47, v)).collect();
        assert_eq!(found, expected);
        assert_eq!(ring.of_page(65_534, 3 | 1 << 47, LATER), []);
    }

    /// From the twenty-fifth day on, everything had been done at the same moment.
    #[test]
    fn times_are_right_after_weeks() {
        let ring = Ring::default();
        for day in [1u64, 24, 25, 60] {
            let now = Duration::from_secs(day * 24 * 60 * 60);
            let at = |before| now.checked_sub(Duration::from_millis(before)).unwrap();
            for before in [70_000, 3, 0] {
                ring.remember(Touched { after: at(before), ..touched(day, 5) });
            }
            let found = ring.of_page(65_535, day, now);
            let times: Vec<Duration> = found.iter().map(|t| t.after).collect();
            assert_eq!(times, [at(70_000), at(3), at(0)], "day {day}");
        }
    }

    /// An entry that is seen while it is written is either right or left out.
    #[test]
    fn whoever_looks_meanwhile_sees_what_was_done() {
        let ring = Ring::default();
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for n in 0..2_000_000u32 {
                    ring.remember(touched(u64::from(n % 7), n));
                }
                over.store(true, Ordering::Relaxed);
            });
            while !over.load(Ordering::Relaxed) {
                let found = ring.of_page(65_535, 4, LATER);
                assert!(found.iter().all(|t| t.version % 7 == 4 && *t == touched(4, t.version)));
            }
        });
    }
}
