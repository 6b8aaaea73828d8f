//! State that the threads of a run share.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engine::Request;

use crate::block::{BlockFormat, BlockId};
use crate::checks::Touched;
use crate::events::{Hear, NoticeKind, Teller};
use crate::files::DataFile;
use crate::kept::KeptLedger;
use crate::pace::Pace;
use crate::page::PageFormat;
use crate::plan::Plan;
use crate::remembered::Ring;
use crate::report::{FaultKind, FaultReport, IoFailure, LogFault, failure_words};
use crate::run::Phase;
use crate::waiting::SlowIo;

/// So many wrong pages, and so many wrong blocks of the logs, are kept with all that is known of
/// them; more are counted.
const FAULTS_MAX: usize = 200;
/// So many different failed I/Os are kept.
const FAILURES_MAX: usize = 64;

/// State that the threads of a run share.
pub(crate) struct Shared<'a> {
    pub plan: &'a Plan,
    /// How many changed pages a thread holds back: as many as the plan says, but no more than a
    /// quarter of all pages for all threads together, because pages in memory are not read from the
    /// storage.
    pub dirty_most: usize,
    pub format: PageFormat,
    pub blocks: BlockFormat,
    pub files: Vec<DataFile>,
    /// The path of each target, for messages.
    pub paths: Vec<PathBuf>,
    /// The smoothed durations on each target, if I/Os are throttled.
    pub paces: Vec<Pace>,
    /// Set when the user wants an end.
    pub stop: &'a AtomicBool,
    /// How long the users work in a cycle.
    pub time: Duration,
    /// The ledger file, if there is one, which outlives the program.
    pub kept: Option<&'a KeptLedger>,
    /// An I/O that takes longer than this is reported.
    pub long_io: Duration,
    pub long_ios: AtomicU64,
    /// For each thread, its I/Os that have been under way for some time.
    waiting: Vec<Mutex<Vec<SlowIo>>>,
    broken: AtomicBool,
    start: Instant,
    faults: Mutex<(Vec<FaultReport>, Vec<FaultKind>)>,
    pub fault_count: AtomicU64,
    log_faults: Mutex<LogFaults>,
    failures: Mutex<Vec<IoFailure>>,
    pub failure_count: AtomicU64,
    /// For each thread, the I/Os it made last.
    touched: Vec<Ring>,
    pub teller: Teller<'a>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        (format, blocks): (PageFormat, BlockFormat),
        files: Vec<DataFile>,
        paths: Vec<PathBuf>,
        stop: &'a AtomicBool,
        hear: &'a Hear<'a>,
    ) -> Self {
        let most = u64::from(plan.threads) * u64::from(plan.depth);
        let targets = paths.len();
        let all: u64 = files.iter().map(|file| file.ledger.pages()).sum();
        let share = all / (4 * u64::from(plan.threads.max(1)));
        let dirty_most = usize::try_from(share.max(1).min(plan.dirty_pages.into())).unwrap_or(1);
        let pace = |throttle| (0..targets).map(move |_| Pace::new(throttle, most));
        let paces = plan.throttle.into_iter().flat_map(pace).collect();
        let touched = (0..plan.threads).map(|_| Ring::default()).collect();
        Self {
            plan,
            dirty_most,
            format,
            blocks,
            files,
            paths,
            paces,
            stop,
            time: Duration::ZERO,
            kept: None,
            long_io: Duration::from_secs(15),
            long_ios: AtomicU64::new(0),
            waiting: (0..plan.threads).map(|_| Mutex::default()).collect(),
            broken: AtomicBool::new(false),
            start: Instant::now(),
            faults: Mutex::default(),
            fault_count: AtomicU64::new(0),
            log_faults: Mutex::default(),
            failures: Mutex::default(),
            failure_count: AtomicU64::new(0),
            touched,
            teller: Teller::new(plan.threads, hear),
        }
    }

    /// The ledger file. Times count from the beginning of the run that is resumed.
    pub(crate) fn keeps(&mut self, kept: &'a KeptLedger) {
        self.kept = Some(kept);
        if kept.is_resumed() {
            self.start = self.start.checked_sub(kept.age()).unwrap_or(self.start);
        }
    }

    /// A phase begins. A run that is killed in it resumes with it.
    pub(crate) fn begins(&self, phase: Phase, cycle: u32, whole: u64) {
        if let Some(kept) = self.kept {
            kept.enters(phase);
        }
        self.tells(phase, cycle, whole);
    }

    /// A phase begins, as far as others hear of it.
    pub(crate) fn tells(&self, phase: Phase, cycle: u32, whole: u64) {
        self.teller.begins(phase, cycle, whole);
    }

    /// How often the run was resumed.
    pub(crate) fn resumes(&self) -> u64 {
        self.kept.map_or(0, KeptLedger::resumes)
    }

    /// A data file by its number, which the ledger gave out.
    pub(crate) fn file(&self, number: u16) -> &DataFile {
        &self.files[usize::from(number)]
    }

    /// Pages of each file that there are now and that are used in a phase.
    pub(crate) fn sizes(&self, phase: Phase) -> impl Iterator<Item = u64> {
        let is_used = move |file: &DataFile| match phase {
            // Files with holes are not written before a user needs them.
            Phase::Load => !file.shape.sparse,
            // The area is not a user's.
            Phase::Work => !file.is_area,
            Phase::Audit | Phase::Log => true,
        };
        self.files.iter().map(move |f| if is_used(f) { f.pages() } else { 0 })
    }

    /// The file that changed pages are written to before they are written in their places.
    pub(crate) fn area(&self) -> Option<u16> {
        (0..).zip(&self.files).find(|(_, file)| file.is_area).map(|(number, _)| number)
    }

    /// How many bytes this many pages have.
    pub(crate) fn bytes_of(&self, pages: usize) -> u32 {
        u32::try_from(pages * self.format.page_bytes()).unwrap_or(u32::MAX)
    }

    pub(crate) fn since_start(&self) -> Duration {
        self.start.elapsed()
    }

    /// Whether the run is over before its time: a page was wrong, or a thread cannot continue.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Ends the run before its time.
    pub(crate) fn end(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    /// A thread notes what it has done to a page.
    #[inline]
    pub(crate) fn remember(&self, thread: u32, touched: Touched) {
        if let Some(mine) = self.touched.get(thread as usize) {
            mine.remember(touched);
        }
    }

    /// The latest I/Os on a page, in order of time.
    pub(crate) fn history_of(&self, file: u16, page: u64) -> Vec<Touched> {
        let now = self.since_start();
        let mut found: Vec<Touched> =
            self.touched.iter().flat_map(|ring| ring.of_page(file, page, now)).collect();
        found.sort_by_key(|t| t.after);
        found
    }

    /// Notes a wrong page, and ends the run if the plan asks for that.
    pub(crate) fn fault(&self, report: FaultReport) {
        self.fault_count.fetch_add(1, Ordering::Relaxed);
        let kind = NoticeKind::WrongData(report.fault.damage);
        self.teller.notice(kind, format!("WRONG DATA: {report}"));
        let mut noted = held(&self.faults);
        let (faults, kinds) = &mut *noted;
        let (damage, kept) = (report.fault.damage, report.fault.kept);
        match kinds.iter_mut().find(|k| (k.damage, k.kept) == (damage, kept)) {
            Some(kind) => kind.count += 1,
            None => kinds.push(FaultKind { damage, kept, count: 1 }),
        }
        if faults.len() < FAULTS_MAX {
            faults.push(report);
        }
        drop(noted);
        if self.plan.stop_on_fault {
            self.end();
        }
    }

    /// Notes a block of a log that was wrong.
    pub(crate) fn log_fault(&self, fault: LogFault) {
        let kind = NoticeKind::WrongLog(fault.damage);
        self.teller.notice(kind, format!("WRONG DATA: {fault}"));
        let mut noted = held(&self.log_faults);
        noted.known.insert((fault.thread, fault.number));
        if noted.faults.len() < FAULTS_MAX {
            noted.faults.push(fault);
        }
    }

    /// Whether a block was wrong before.
    pub(crate) fn knows_log_fault(&self, id: BlockId) -> bool {
        held(&self.log_faults).known.contains(&(id.log, id.number))
    }

    /// How many blocks of the logs were wrong.
    pub(crate) fn log_fault_count(&self) -> u64 {
        held(&self.log_faults).known.len() as u64
    }

    /// Notes an I/O that the system failed.
    pub(crate) fn failed_io(&self, request: &Request, result: i32) {
        let errno = result.wrapping_neg().max(0);
        self.failed(request.op.name(), request.target, request.offset, errno);
    }

    /// Notes what the system failed to do to a target.
    pub(crate) fn failed(&self, op: &'static str, target: u16, offset: u64, errno: i32) {
        self.failure_count.fetch_add(1, Ordering::Relaxed);
        let mut failures = held(&self.failures);
        let target = usize::from(target);
        let same = |f: &&mut IoFailure| (f.op, f.target, f.errno) == (op, target, errno);
        if let Some(known) = failures.iter_mut().find(same) {
            known.count += 1;
        } else if failures.len() < FAILURES_MAX {
            let first_offset_bytes = offset;
            failures.push(IoFailure { op, target, errno, count: 1, first_offset_bytes });
            drop(failures);
            self.tell_of_failure(op, target, offset, errno);
        }
    }

    /// Reports the first I/O that failed in this way.
    fn tell_of_failure(&self, op: &str, target: usize, offset: u64, errno: i32) {
        let path = self.paths.get(target).map(|path| path.display());
        let path = path.map_or_else(String::new, |path| format!(" of `{path}`"));
        let why = failure_words(errno);
        let text = format!("a {op}{path} at {offset} bytes failed: {why}");
        self.teller.notice(NoticeKind::IoFailed, text);
    }

    /// A thread names its I/Os that have been under way for some time.
    pub(crate) fn names(&self, thread: u32, waiting: Vec<SlowIo>) {
        if let Some(mine) = self.waiting.get(thread as usize) {
            *held(mine) = waiting;
        }
    }

    /// Slow I/Os that all threads have named.
    pub(crate) fn waiting(&self) -> Vec<SlowIo> {
        self.waiting.iter().flat_map(|one| held(one).clone()).collect()
    }

    /// Everything that the threads noted about faults and failed I/Os.
    pub(crate) fn noted(self) -> Noted {
        let (faults, kinds) = self.faults.into_inner().unwrap_or_else(PoisonError::into_inner);
        let failures = self.failures.into_inner().unwrap_or_else(PoisonError::into_inner);
        let log_faults = self.log_faults.into_inner().unwrap_or_else(PoisonError::into_inner);
        Noted { faults, kinds, log_faults: log_faults.faults, failures }
    }
}

/// Blocks of the logs that were wrong.
#[derive(Default)]
struct LogFaults {
    faults: Vec<LogFault>,
    /// Thread and number of every known block.
    known: BTreeSet<(u16, u64)>,
}

/// Wrong pages, wrong blocks and failed I/Os.
pub(crate) struct Noted {
    pub faults: Vec<FaultReport>,
    pub kinds: Vec<FaultKind>,
    pub log_faults: Vec<LogFault>,
    pub failures: Vec<IoFailure>,
}

/// What a thread that panicked left is still whole: nothing here is changed in steps.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
