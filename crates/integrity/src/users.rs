//! The users of the simulated database: each knows what it wants next, and nothing of how it is
//! done.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::page::PageId;
use crate::plan::{PageOrder, PageUsers, Plan, RandomUsers, Resizing, ScanUsers};
use crate::tables::Tables;

/// What a user wants to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Read and check this many pages from here, as far as nobody else has them.
    Read { from: PageId, pages: u32 },
    /// Change a page in memory, with a record of this many bytes in the log.
    Change { id: PageId, log_bytes: u32 },
    /// Write this many pages from here without reading them.
    Write { from: PageId, pages: u32 },
    /// Write a record of this many bytes to the log.
    Log { bytes: u32 },
    /// Continue when the file was flushed, if files are flushed.
    Harden { file: u16 },
    /// Make a file shorter or longer by so many steps, and continue when that is done.
    Resize { steps: u32 },
    /// Continue when everything it changed is in the log.
    Commit,
    /// Pause for this time, then continue.
    Sleep(Duration),
    /// Stop: the user has nothing more to do.
    Leave,
}

/// The random choices of a thread's users.
pub(crate) struct Chance(pub Xoshiro256PlusPlus);

impl Chance {
    /// A number below `bound`; 0 for 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        u64::try_from((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64).unwrap_or(0)
    }

    pub(crate) fn between(&mut self, (from, to): (u32, u32)) -> u32 {
        let more = self.below(u64::from(to.saturating_sub(from)) + 1);
        from.saturating_add(u32::try_from(more).unwrap_or(0))
    }

    fn time_between(&mut self, from: Duration, to: Duration) -> Duration {
        let more = u64::try_from(to.saturating_sub(from).as_nanos()).unwrap_or(u64::MAX);
        from.saturating_add(Duration::from_nanos(self.below(more.saturating_add(1))))
    }

    pub(crate) fn percent(&mut self, percent: f64) -> bool {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * 100.0 < percent
    }
}

/// Pages of each data file, by the number of the file.
pub(crate) type Sizes = [u64];

/// Any page of any file, each equally likely.
fn anywhere(sizes: &Sizes, chance: &mut Chance) -> PageId {
    nth(sizes, chance.below(sizes.iter().sum()))
}

/// A page by its place among the pages of all files.
fn nth(sizes: &Sizes, mut place: u64) -> PageId {
    for (file, pages) in (0..).zip(sizes) {
        if place < *pages {
            return PageId { file, page: place };
        }
        place -= pages;
    }
    PageId { file: 0, page: 0 }
}

/// A user of the simulated database.
#[derive(Debug)]
pub(crate) enum User {
    Random {
        how: RandomUsers,
        at: PageId,
        left: u32,
        changes: bool,
        stage: Stage,
    },
    Scan(Scan),
    Pages(Pages),
    Tables(Tables),
    Resizes {
        how: Resizing,
        /// Whether it has made its pause.
        rested: bool,
    },
    Whole(Walk),
}

/// A user that reads and writes pages and nothing else.
#[derive(Debug)]
pub(crate) struct Pages {
    how: PageUsers,
    /// Where the next I/O in a row is; the page users of a thread share it.
    row: Rc<Row>,
}

/// Where the next I/O in a row is.
#[derive(Debug)]
struct Row {
    /// Counted over all pages; none before the first.
    next: Cell<Option<u64>>,
    thread: u32,
    threads: u32,
}

/// A user that reads or writes pages in a row.
#[derive(Debug)]
pub(crate) struct Scan {
    how: ScanUsers,
    writes: bool,
    /// How many I/Os come before the next pause.
    left: u32,
    /// How often its pages are in memory, in percent.
    hit_percent: f64,
    /// Each page is its own I/O: what remains of the last ones.
    singly: Option<(PageId, u32)>,
    scatter_gather: bool,
}

/// What a random user did last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Arrived,
    Read,
    Changed,
    Committed,
}

/// Goes over a part of all pages once: every `of`-th piece of `pages` pages, from number `next` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    pub writes: bool,
    pub pages: u32,
    pub next: u64,
    pub of: u64,
}

impl User {
    /// The users that one thread has.
    pub(crate) fn of_thread(plan: &Plan, thread: u32) -> Vec<Self> {
        let mine = |users: u32| users / plan.threads + u32::from(thread < users % plan.threads);
        let at = PageId { file: 0, page: 0 };
        let random = (0..mine(plan.random.users)).map(|_| Self::Random {
            how: plan.random,
            at,
            left: 0,
            changes: false,
            stage: Stage::Arrived,
        });
        let ahead = if plan.force_read_ahead { 0.0 } else { plan.cache_hit_percent };
        let scans =
            [(plan.audit, false, 0.0), (plan.read_ahead, false, ahead), (plan.bulk, true, 0.0)];
        let scatter_gather = plan.scatter_gather;
        let scans = scans.into_iter().flat_map(|(how, writes, hit_percent)| {
            (0..mine(how.users)).map(move |_| {
                let left = how.cycles;
                Self::Scan(Scan { how, writes, left, hit_percent, singly: None, scatter_gather })
            })
        });
        let row = Rc::new(Row { next: Cell::new(None), thread, threads: plan.threads });
        let how = plan.pages;
        let pages = (0..mine(how.users)).map(move |_| Self::Pages(Pages { how, row: row.clone() }));
        // One of the first thread is enough for all files.
        let resizes = plan.resizing.filter(|_| thread == 0);
        let resizes = resizes.map(|how| Self::Resizes { how, rested: false });
        let tables = (0..plan.tables.users).filter(|n| n % plan.threads == thread);
        let tables = tables.map(|number| Self::Tables(Tables::new(plan.tables, number)));
        random.chain(scans).chain(pages).chain(tables).chain(resizes).collect()
    }

    /// Users that together go over every page once.
    pub(crate) fn over_all(plan: &Plan, thread: u32, writes: bool) -> Vec<Self> {
        let each = plan.depth;
        let of = u64::from(plan.threads) * u64::from(each);
        let first = u64::from(thread) * u64::from(each);
        let walk = |n: u32| Walk { writes, pages: plan.io_pages(), next: first + u64::from(n), of };
        (0..each).map(|n| Self::Whole(walk(n))).collect()
    }

    /// What the user wants now that its last wish is fulfilled.
    pub(crate) fn next(&mut self, sizes: &Sizes, chance: &mut Chance) -> Wish {
        match self {
            Self::Random { how, at, left, changes, stage } => {
                let (wish, now) = random(how, at, left, changes, *stage, sizes, chance);
                *stage = now;
                wish
            }
            Self::Scan(scan) => scan.next(sizes, chance),
            Self::Pages(pages) => pages.next(sizes, chance),
            Self::Tables(tables) => tables.next(sizes, chance),
            Self::Resizes { how, rested } => {
                *rested = !*rested;
                if *rested {
                    Wish::Sleep(chance.time_between(how.pause_min, how.pause_max))
                } else {
                    Wish::Resize { steps: chance.between(how.steps) }
                }
            }
            Self::Whole(walk) => walk.next(sizes),
        }
    }

    /// How often a page that it wants to read is in memory, in percent.
    pub(crate) fn hit_percent(&self, plan: &Plan) -> f64 {
        match self {
            Self::Random { .. } => plan.cache_hit_percent,
            Self::Scan(scan) => scan.hit_percent,
            Self::Pages(_) | Self::Tables(_) | Self::Resizes { .. } | Self::Whole(_) => 0.0,
        }
    }

    /// Whether it writes to the log, or changes pages in memory, which are written later.
    pub(crate) fn changes_pages(&self) -> bool {
        matches!(self, Self::Random { .. } | Self::Tables(_))
    }

    /// Whether it continues with pages that another thread has once they are released.
    pub(crate) fn wants_all(&self) -> bool {
        matches!(self, Self::Tables(_))
    }

    /// Whether it writes every page for the first time.
    pub(crate) fn loads(&self) -> bool {
        matches!(self, Self::Whole(walk) if walk.writes)
    }

    /// Whether it only tries again if other threads have all pages.
    pub(crate) fn insists(&self) -> bool {
        matches!(self, Self::Pages(_) | Self::Tables(_))
    }
}

impl Pages {
    fn next(&mut self, sizes: &Sizes, chance: &mut Chance) -> Wish {
        let pages = chance.between(self.how.pages);
        let from = match self.how.order {
            PageOrder::Random => anywhere(sizes, chance),
            PageOrder::Sequential => self.row.take(sizes, pages),
        };
        if chance.percent(self.how.write_percent) {
            Wish::Write { from, pages }
        } else {
            Wish::Read { from, pages }
        }
    }
}

impl Row {
    /// The first of so many pages in a row. An I/O ends with its file, and the next begins with the
    /// next file.
    fn take(&self, sizes: &Sizes, pages: u32) -> PageId {
        let all: u64 = sizes.iter().sum();
        let first = || all / u64::from(self.threads.max(1)) * u64::from(self.thread);
        let at = self.next.get().map_or_else(first, |next| if next < all { next } else { 0 });
        let place = nth(sizes, at);
        let rest = sizes.get(usize::from(place.file)).map_or(0, |pages| pages - place.page);
        self.next.set(Some(at + u64::from(pages).min(rest)));
        place
    }
}

impl Scan {
    fn next(&mut self, sizes: &Sizes, chance: &mut Chance) -> Wish {
        let wish = |from, pages| {
            if self.writes { Wish::Write { from, pages } } else { Wish::Read { from, pages } }
        };
        if let Some((at, left)) = self.singly.take() {
            let next = PageId { page: at.page + 1, ..at };
            let ends = sizes.get(usize::from(at.file)).is_none_or(|pages| next.page >= *pages);
            self.singly = (left > 1 && !ends).then_some((next, left - 1));
            return wish(at, 1);
        }
        if self.left == 0 {
            self.left = self.how.cycles;
            return Wish::Sleep(self.how.delay);
        }
        self.left -= 1;
        let (from, pages) = (anywhere(sizes, chance), chance.between(self.how.pages));
        if self.scatter_gather {
            return wish(from, pages);
        }
        self.singly = Some((from, pages));
        self.next(sizes, chance)
    }
}

fn random(
    how: &RandomUsers,
    at: &mut PageId,
    left: &mut u32,
    changes: &mut bool,
    stage: Stage,
    sizes: &Sizes,
    chance: &mut Chance,
) -> (Wish, Stage) {
    match stage {
        Stage::Read => {
            let updates = chance.percent(how.update_percent);
            if updates && !chance.percent(how.rollback_percent) {
                *changes = true;
                let log_bytes = chance.between(how.log_bytes);
                return (Wish::Change { id: *at, log_bytes }, Stage::Changed);
            }
            random(how, at, left, changes, Stage::Changed, sizes, chance)
        }
        Stage::Changed if *left == 0 => {
            if std::mem::take(changes) {
                (Wish::Commit, Stage::Committed)
            } else {
                (Wish::Sleep(how.sleep), Stage::Arrived)
            }
        }
        Stage::Committed => (Wish::Sleep(how.sleep), Stage::Arrived),
        Stage::Arrived | Stage::Changed => {
            let next = PageId { page: at.page + 1, ..*at };
            let ends = sizes.get(usize::from(at.file)).is_none_or(|pages| next.page >= *pages);
            if stage == Stage::Arrived {
                *left = chance.between(how.chain_pages);
            }
            *left = left.saturating_sub(1);
            let jumps = stage == Stage::Arrived || ends || chance.percent(how.jump_percent);
            *at = if jumps { anywhere(sizes, chance) } else { next };
            (Wish::Read { from: *at, pages: 1 }, Stage::Read)
        }
    }
}

impl Walk {
    fn next(&mut self, sizes: &Sizes) -> Wish {
        let mut piece = self.next;
        self.next += self.of;
        let each = u64::from(self.pages.max(1));
        for (file, pages) in (0..).zip(sizes) {
            let pieces = pages.div_ceil(each);
            if piece < pieces {
                let from = PageId { file, page: piece * each };
                let rest = u32::try_from(pages - from.page).unwrap_or(u32::MAX);
                let pages = self.pages.min(rest);
                return if self.writes {
                    Wish::Write { from, pages }
                } else {
                    Wish::Read { from, pages }
                };
            }
            piece -= pieces;
        }
        Wish::Leave
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_xoshiro::rand_core::SeedableRng;
    use std::collections::HashMap;

    fn chance() -> Chance {
        Chance(Xoshiro256PlusPlus::seed_from_u64(1))
    }

    proptest! {
        #[test]
        fn walkers_meet_every_page_once(
            sizes in prop::collection::vec(0u64..500, 1..4), threads in 1u32..4, depth in 4u32..9,
                gather in 1u32..40
        ) {
            let scan = ScanUsers { pages: (1, gather), ..Plan::default().audit };
            let plan = Plan {
                threads, depth, gather_pages: gather, audit: scan, read_ahead: scan, bulk: scan,
                    ..Plan::default()
            };
            let mut seen: HashMap<PageId, u32> = HashMap::new();
            for thread in 0..threads {
                for mut user in User::over_all(&plan, thread, false) {
                    while let Wish::Read { from, pages } = user.next(&sizes, &mut chance()) {
                        for page in from.page..from.page + u64::from(pages) {
                            *seen.entry(PageId { file: from.file, page }).or_default() += 1;
                        }
                    }
                }
            }
            prop_assert_eq!(seen.len() as u64, sizes.iter().sum::<u64>());
            prop_assert!(seen.values().all(|times| *times == 1));
        }
    }

    #[test]
    fn a_random_user_reads_changes_and_commits_in_its_shares() {
        let how = RandomUsers { chain_pages: (10, 10), ..Plan::default().random };
        let plan = Plan { threads: 1, random: RandomUsers { users: 1, ..how }, ..Plan::default() };
        let mut user = User::of_thread(&plan, 0).remove(0);
        let (sizes, mut chance) = ([10_000, 30_000], chance());
        let (mut reads, mut changes, mut commits, mut jumps, mut second) = (0, 0, 0, 0, 0);
        let mut last = PageId { file: 9, page: 0 };
        for _ in 0..100_000 {
            match user.next(&sizes, &mut chance) {
                Wish::Read { from, pages } => {
                    assert_eq!(pages, 1);
                    reads += 1;
                    jumps += u32::from((from.file, from.page) != (last.file, last.page + 1));
                    second += u32::from(from.file == 1);
                    last = from;
                }
                Wish::Change { id, log_bytes } => {
                    assert!(id == last && (64..=8192).contains(&log_bytes));
                    changes += 1;
                }
                Wish::Commit => commits += 1,
                Wish::Sleep(_) => {}
                other => panic!("{other:?}"),
            }
        }
        let share = |n: u32| 100.0 * f64::from(n) / f64::from(reads);
        assert!((share(changes) - 90.0 * 0.99).abs() < 1.0, "{}", share(changes));
        assert!((share(commits) - 10.0).abs() < 0.2, "{}", share(commits));
        assert!((share(jumps) - (10.0 + 5.0 * 0.9)).abs() < 1.0, "{}", share(jumps));
        assert!((share(second) - 75.0).abs() < 3.0, "{}", share(second));
    }

    #[test]
    fn users_are_spread_over_the_threads() {
        let plan = Plan { threads: 3, ..Plan::default() };
        let count: usize = (0..3).map(|t| User::of_thread(&plan, t).len()).sum();
        assert_eq!(count, 8 + 2 + 2 + 8);
    }
}
