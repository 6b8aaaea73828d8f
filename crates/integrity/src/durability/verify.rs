//! Reads everything after a crash and compares it with what was promised.

use std::collections::{HashMap, HashSet};
use std::io;

use crate::{PageFormat, PageId};
use engine::Queue;
use results::{CheckedArea, Loss};
use thiserror::Error;

use crate::durability::judge::{Doubt, Expected, Judged, Judgement, judge, judge_unread};
use crate::durability::plan::{Header, LOG_RECORD_BYTES, Order, PlanError, Shape};
use crate::durability::reader::{Extent, Page, read_all};
use crate::durability::state::{Promised, State};

/// Reads of the check in flight, which its queue must have slots for.
const READ_DEPTH: u32 = 8;
/// Size of a read, as far as pages allow it.
const READ_BYTES: u32 = 256 << 10;
/// So many losses are kept; further ones are only counted.
const LOSSES_MAX: usize = 1 << 20;

/// Why a check could not be made.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The plan in the witness's file cannot be.
    #[error("the witness's file has a plan that cannot be: {0}")]
    Plan(#[from] PlanError),
    /// The queue that reads the targets failed.
    #[error("reading cannot continue: {0}")]
    Io(#[from] io::Error),
    /// The check was stopped before all was read.
    #[error("interrupted before everything was read; nothing can be said")]
    Interrupted,
}

/// A promise that was not kept, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) loss: Loss,
    pub(crate) target: u16,
    /// Number of the page, or of the record, on its target.
    pub(crate) page: u64,
    pub(crate) thread: u32,
    /// The operation that was promised, or whose record is missing.
    pub(crate) operation: u32,
    pub(crate) found: Option<u32>,
    pub(crate) right_sectors: usize,
    foreign_only: bool,
    /// Of a page; not of a record.
    data: bool,
}

/// What a check found in all pages and the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// How many pages hold what was promised, and how many do not.
    pub data: CheckedArea,
    /// The same of the records of the log; all 0 without a log.
    pub log: CheckedArea,
    pub(crate) broken: Vec<Broken>,
    pub(crate) counts: HashMap<Loss, u64>,
    /// Of the promised versions that are the last of their page: those no older than the oldest
    /// that is lost, by thread.
    pub(crate) behind_oldest: u64,
}

impl Checked {
    /// How many operations were lost in this way.
    #[must_use]
    pub fn count(&self, loss: Loss) -> u64 {
        self.counts.get(&loss).copied().unwrap_or(0)
    }

    /// Target, page there, and what became of it, of everything that was lost, a page at most once
    /// for each kind.
    pub fn losses(&self) -> impl Iterator<Item = (u16, u64, Loss)> + '_ {
        self.broken.iter().map(|b| (b.target, b.page, b.loss))
    }

    /// Whether the storage kept every promise.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.counts.values().all(|n| *n == 0)
    }

    fn area(&mut self, data: bool) -> &mut CheckedArea {
        if data { &mut self.data } else { &mut self.log }
    }

    fn lost(&mut self, broken: Broken) {
        *self.counts.entry(broken.loss).or_default() += 1;
        if self.broken.len() < LOSSES_MAX {
            self.broken.push(broken);
        }
    }
}

impl crate::durability::plan::Plan {
    /// Depth and size of the reads of a check; its queue must have as many slots, with buffers of
    /// that size.
    #[must_use]
    pub fn reads(&self) -> (u32, u32) {
        (READ_DEPTH, READ_BYTES.max(self.page_bytes) / self.page_bytes * self.page_bytes)
    }
}

/// The versions that every page may hold.
struct Expectations {
    /// The version that was promised last, of each page of all; 0 if none.
    promised: Vec<u32>,
    /// The versions after the mark that a page may have.
    window: HashMap<u64, Vec<u32>>,
}

/// What the witness's file says about the run to check.
struct Check<'a> {
    header: &'a Header,
    shape: Shape,
    threads: &'a [Promised],
    checked: Checked,
}

impl Check<'_> {
    /// Last versions of a thread that were promised: in the log, and on pages.
    fn marks(&self, thread: u32) -> (u32, u32) {
        let promised = self.threads.get(thread as usize).copied().unwrap_or_default();
        (self.shape.versions_of(promised.log), self.shape.versions_of(promised.data))
    }

    /// The last version of a thread that may have been begun.
    fn last(&self, thread: u32) -> u32 {
        let promised = self.threads.get(thread as usize).copied().unwrap_or_default();
        let logged = self.header.plan.order == Order::LogThenPage;
        let first = if logged { promised.log } else { promised.data };
        self.shape.versions_of(first.saturating_add(self.header.plan.window_batches()))
    }

    fn expectations(&self) -> Expectations {
        let pages = usize::try_from(self.shape.pages()).unwrap_or(0);
        let mut promised = vec![0; pages];
        let mut window: HashMap<u64, Vec<u32>> = HashMap::new();
        let mut chosen = Vec::new();
        for (thread, marks) in (0u32..).zip(self.threads) {
            let end = self.shape.batch_of(self.last(thread)) + 1;
            for batch in marks.data..end {
                self.shape.batch(thread, batch, &mut chosen);
                for (index, page) in chosen.iter().enumerate() {
                    window.entry(*page).or_default().extend(self.shape.version(batch, index));
                }
            }
            // Backwards, until every page has its last version: seldom to the first batch.
            let mut left = self.shape.pages_in(thread);
            for batch in (0..marks.data).rev() {
                if left == 0 {
                    break;
                }
                self.shape.batch(thread, batch, &mut chosen);
                for (index, page) in chosen.iter().enumerate() {
                    let place = usize::try_from(*page).ok().and_then(|p| promised.get_mut(p));
                    if let (Some(place @ 0), Some(version)) =
                        (place, self.shape.version(batch, index))
                    {
                        *place = version;
                        left -= 1;
                    }
                }
            }
        }
        Expectations { promised, window }
    }

    /// Notes a judgement; returns the promise that is broken, if one is.
    fn note(&mut self, data: bool, place: (u16, u64), owner: (u32, u32), judged: &Judged) {
        let area = self.checked.area(data);
        area.checked += 1;
        area.promised += u64::from(owner.1 > 0);
        match judged.judgement {
            Judgement::Unused => area.unused += 1,
            Judgement::Right => area.right += 1,
            Judgement::InDoubt(Doubt::Old) => area.in_doubt.old += 1,
            Judgement::InDoubt(Doubt::New) => area.in_doubt.new += 1,
            Judgement::InDoubt(Doubt::Torn) => area.in_doubt.torn += 1,
            Judgement::Lost(loss, found) => {
                area.lost += 1;
                self.checked.lost(Broken {
                    loss,
                    target: place.0,
                    page: place.1,
                    thread: owner.0,
                    operation: owner.1,
                    found,
                    right_sectors: judged.right_sectors,
                    foreign_only: judged.foreign_only,
                    data,
                });
            }
        }
    }

    /// Reads the log; gives the version of every record that is whole, 0 where none is.
    fn log(&mut self, read: &mut Reading<'_>) -> Result<Vec<u32>, VerifyError> {
        let Some((target, slots)) = self.shape.log_target() else { return Ok(Vec::new()) };
        let page_bytes = LOG_RECORD_BYTES as usize;
        let format = PageFormat::new(page_bytes, self.header.plan.seed).map_err(PlanError::Page)?;
        let mut found = vec![0; usize::try_from(slots).unwrap_or(0)];
        let extent = read.extent(target, page_bytes, slots);
        read.all(extent, &mut |slot, page| {
            let (thread, number) = self.shape.slot_owner(slot);
            let (logged, _) = self.marks(thread);
            let promised = self.shape.version_in_slot(number, logged);
            let next = self.shape.version_in_slot(number, self.last(thread));
            let window = if next > promised { vec![next] } else { Vec::new() };
            let expected = Expected { promised, window: &window };
            let id = PageId { file: target, page: slot };
            let mut judged = match page {
                Page::Bytes(bytes) => {
                    let whole =
                        [promised, next].into_iter().find(|v| *v > 0 && format.is(id, *v, bytes));
                    let place = usize::try_from(slot).ok().and_then(|slot| found.get_mut(slot));
                    if let (Some(place), Some(version)) = (place, whole) {
                        *place = version;
                    }
                    judge(&format, id, bytes, expected)
                }
                Page::Missing => judge_unread(Loss::Missing, expected),
                Page::Failed => judge_unread(Loss::Unreadable, expected),
            };
            // Content from before the run looks foreign.
            let first = u64::from(promised) <= self.shape.log_slots();
            if first && judged.foreign_only {
                name_first(&mut judged.judgement, judged.right_sectors);
            }
            self.note(false, (target, slot), (thread, promised), &judged);
        })?;
        Ok(found)
    }

    fn data(&mut self, read: &mut Reading<'_>, log: &[u32]) -> Result<Expectations, VerifyError> {
        let expectations = self.expectations();
        let page_bytes = self.header.plan.page_bytes as usize;
        let format = PageFormat::new(page_bytes, self.header.plan.seed).map_err(PlanError::Page)?;
        let targets: Vec<(u16, u64)> = self.shape.data_targets().collect();
        for (target, pages) in targets {
            let first = self.shape.first_page(target);
            let extent = read.extent(target, page_bytes, pages);
            read.all(extent, &mut |number, page| {
                let all = first + number;
                let at = usize::try_from(all).unwrap_or(usize::MAX);
                let promised = expectations.promised.get(at).copied().unwrap_or(0);
                let window = expectations.window.get(&all).map_or(&[][..], Vec::as_slice);
                let expected = Expected { promised, window };
                let id = PageId { file: target, page: number };
                let judged = match page {
                    Page::Bytes(bytes) => judge(&format, id, bytes, expected),
                    Page::Missing => judge_unread(Loss::Missing, expected),
                    Page::Failed => judge_unread(Loss::Unreadable, expected),
                };
                let thread = self.shape.thread_of(all);
                self.note(true, (target, number), (thread, promised), &judged);
                self.compare_with_log((target, number), thread, &judged, log);
            })?;
        }
        Ok(expectations)
    }

    /// A page is never newer than the log: its record was durable before it was written.
    fn compare_with_log(&mut self, place: (u16, u64), thread: u32, judged: &Judged, log: &[u32]) {
        if self.shape.log_target().is_none() {
            return;
        }
        let holds = |version: u32| {
            let slot = usize::try_from(self.shape.slot(thread, version)).unwrap_or(usize::MAX);
            // A later record on the same place has taken it over.
            log.get(slot).is_some_and(|found| *found >= version)
        };
        let ahead = judged.newer.iter().copied().find(|version| !holds(*version));
        if let Some(operation) = ahead {
            self.checked.lost(Broken {
                loss: Loss::AheadOfLog,
                target: place.0,
                page: place.1,
                thread,
                operation,
                found: Some(operation),
                right_sectors: judged.right_sectors,
                foreign_only: false,
                data: true,
            });
        }
    }

    /// Content from before the run looks foreign. If the promised write was the first of its page,
    /// that write is lost.
    fn name_first_writes(&mut self) {
        let suspect = |b: &&Broken| b.data && b.foreign_only && b.loss == Loss::Foreign;
        let mut pages: HashSet<u64> = HashSet::new();
        let mut ends: HashMap<u32, u64> = HashMap::new();
        for broken in self.checked.broken.iter().filter(suspect) {
            pages.insert(self.shape.first_page(broken.target) + broken.page);
            let end = ends.entry(broken.thread).or_default();
            *end = (*end).max(self.shape.batch_of(broken.operation) + 1);
        }
        let mut first: HashMap<u64, u32> = HashMap::new();
        let mut chosen = Vec::new();
        for (thread, end) in ends {
            for batch in 0..end {
                self.shape.batch(thread, batch, &mut chosen);
                for (index, page) in chosen.iter().enumerate().filter(|(_, p)| pages.contains(p)) {
                    let version = self.shape.version(batch, index).unwrap_or(0);
                    first.entry(*page).or_insert(version);
                }
            }
        }
        for broken in &mut self.checked.broken {
            let page = self.shape.first_page(broken.target) + broken.page;
            let is_first = first.get(&page) == Some(&broken.operation);
            if broken.data && broken.foreign_only && broken.loss == Loss::Foreign && is_first {
                let loss = if broken.right_sectors > 0 { Loss::Torn } else { Loss::Older };
                self.checked.counts.entry(Loss::Foreign).and_modify(|n| *n -= 1);
                *self.checked.counts.entry(loss).or_default() += 1;
                broken.loss = loss;
            }
        }
    }

    /// How many of the pages that were promised last since the oldest loss there are: if nearly all
    /// of them are lost, the storage forgot everything after a moment.
    fn count_behind_oldest(&mut self, expectations: &Expectations) {
        let mut oldest: HashMap<u32, u32> = HashMap::new();
        let lost = |b: &&Broken| b.data && b.loss != Loss::AheadOfLog;
        for broken in self.checked.broken.iter().filter(lost) {
            let entry = oldest.entry(broken.thread).or_insert(u32::MAX);
            *entry = (*entry).min(broken.operation);
        }
        if !oldest.is_empty() {
            let behind = |(page, version): &(u64, u32)| {
                oldest.get(&self.shape.thread_of(*page)).is_some_and(|o| version >= o)
            };
            let all = (0..).zip(expectations.promised.iter().copied());
            self.checked.behind_oldest = all.filter(behind).count() as u64;
        }
    }
}

/// Names a lost first write, whose page still holds what was there before.
fn name_first(judgement: &mut Judgement, right_sectors: usize) {
    if let Judgement::Lost(loss @ Loss::Foreign, _) = judgement {
        *loss = if right_sectors > 0 { Loss::Torn } else { Loss::Older };
    }
}

/// The areas to read, and how to read them.
struct Reading<'a> {
    queue: &'a mut dyn Queue,
    reads: (u32, u32),
    available: &'a [u64],
    stop: &'a dyn Fn() -> bool,
    progress: &'a mut dyn FnMut(u64),
}

impl Reading<'_> {
    fn extent(&self, target: u16, page_bytes: usize, pages: u64) -> Extent {
        let available_bytes = self.available.get(usize::from(target)).copied().unwrap_or(0);
        Extent { target, page_bytes, pages, available_bytes }
    }

    fn all(
        &mut self,
        extent: Extent,
        take: &mut dyn FnMut(u64, Page<'_>),
    ) -> Result<(), VerifyError> {
        let progress = &mut *self.progress;
        let mut noted = |page: u64, read: Page<'_>| {
            progress(extent.page_bytes as u64);
            take(page, read);
        };
        let whole = read_all(self.queue, extent, self.reads, self.stop, &mut noted)?;
        if whole { Ok(()) } else { Err(VerifyError::Interrupted) }
    }
}

/// Reads all targets of a run and says what of the promises that the witness holds is there.
///
/// The targets of `queue` are those of the header, in its order; `available` says how many bytes
/// each of them has. `progress` hears of bytes that were read.
pub fn verify(
    header: &Header,
    state: &State,
    queue: &mut dyn Queue,
    available: &[u64],
    stop: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(u64),
) -> Result<Checked, VerifyError> {
    let shape = Shape::new(&header.plan, &header.targets)?;
    let reads = header.plan.reads();
    let mut reading = Reading { queue, reads, available, stop, progress };
    let mut check = Check { header, shape, threads: &state.threads, checked: Checked::default() };
    let log = check.log(&mut reading)?;
    let expectations = check.data(&mut reading, &log)?;
    check.name_first_writes();
    check.count_behind_oldest(&expectations);
    Ok(check.checked)
}
