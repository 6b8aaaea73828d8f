//! What the threads of a run have in common.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engine::{Op, Request};

use crate::checks::Touched;
use crate::ledger::Ledger;
use crate::pace::Pace;
use crate::page::PageFormat;
use crate::plan::Plan;
use crate::report::{FaultReport, IoFailure};

/// What each thread remembers of the I/Os it made last.
const REMEMBERED: usize = 1 << 16;
/// So many wrong pages are kept with all that is known of them; more are counted.
const FAULTS_MAX: usize = 200;
/// So many different failed I/Os are kept.
const FAILURES_MAX: usize = 64;

/// A file of pages.
#[derive(Debug)]
pub(crate) struct DataFile {
    /// Which of the targets it is.
    pub target: u16,
    pub path: PathBuf,
    pub page_bytes: u64,
    pub ledger: Ledger,
}

impl DataFile {
    /// Where a page begins.
    pub(crate) fn offset(&self, page: u64) -> u64 {
        page.saturating_mul(self.page_bytes)
    }
}

/// What the threads of a run have in common.
pub(crate) struct Shared<'a> {
    pub plan: &'a Plan,
    pub format: PageFormat,
    pub files: Vec<DataFile>,
    /// Pages of each file.
    pub sizes: Vec<u64>,
    /// How many targets there are.
    pub targets: usize,
    /// What is known of the I/Os on each target, where they are throttled.
    pub paces: Vec<Pace>,
    /// The user wants an end.
    pub stop: &'a AtomicBool,
    /// An I/O that takes longer than this is told of.
    pub long_io: Duration,
    pub long_ios: AtomicU64,
    broken: AtomicBool,
    start: Instant,
    faults: Mutex<Vec<FaultReport>>,
    pub fault_count: AtomicU64,
    failures: Mutex<Vec<IoFailure>>,
    /// For each thread, the I/Os it made last.
    touched: Vec<Mutex<VecDeque<Touched>>>,
    notice: &'a (dyn Fn(String) + Sync),
}

impl<'a> Shared<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        format: PageFormat,
        files: Vec<DataFile>,
        targets: usize,
        stop: &'a AtomicBool,
        notice: &'a (dyn Fn(String) + Sync),
    ) -> Self {
        let sizes = files.iter().map(|f| f.ledger.pages()).collect();
        let most = u64::from(plan.threads) * u64::from(plan.depth);
        let pace = |throttle| (0..targets).map(move |_| Pace::new(throttle, most));
        let paces = plan.throttle.into_iter().flat_map(pace).collect();
        let ring = || Mutex::new(VecDeque::with_capacity(REMEMBERED));
        let touched = (0..plan.threads).map(|_| ring()).collect();
        Self {
            plan,
            format,
            files,
            sizes,
            targets,
            paces,
            stop,
            long_io: Duration::from_secs(15),
            long_ios: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            start: Instant::now(),
            faults: Mutex::default(),
            fault_count: AtomicU64::new(0),
            failures: Mutex::default(),
            touched,
            notice,
        }
    }

    /// A data file by its number, which the ledger gave out.
    pub(crate) fn file(&self, number: u16) -> &DataFile {
        &self.files[usize::from(number)]
    }

    /// Bytes of this many pages.
    pub(crate) fn bytes_of(&self, pages: usize) -> u32 {
        u32::try_from(pages * self.format.page_bytes()).unwrap_or(u32::MAX)
    }

    pub(crate) fn since_start(&self) -> Duration {
        self.start.elapsed()
    }

    /// Whether the run is over before its time: a page was wrong, or a thread cannot go on.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Ends the run before its time.
    pub(crate) fn end(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    pub(crate) fn remember(&self, thread: u32, touched: Touched) {
        let Some(mine) = self.touched.get(thread as usize) else { return };
        let mut mine = held(mine);
        if mine.len() == REMEMBERED {
            mine.pop_front();
        }
        mine.push_back(touched);
    }

    /// What was last done with a page, in order of time.
    pub(crate) fn history_of(&self, file: u16, page: u64) -> Vec<Touched> {
        let is = |t: &&Touched| t.file == file && t.page == page;
        let all = |ring: &Mutex<VecDeque<Touched>>| {
            held(ring).iter().filter(is).copied().collect::<Vec<_>>()
        };
        let mut found: Vec<Touched> = self.touched.iter().flat_map(all).collect();
        found.sort_by_key(|t| t.after);
        found
    }

    /// Notes a page that was wrong, and ends the run where that is wanted.
    pub(crate) fn fault(&self, report: FaultReport) {
        self.fault_count.fetch_add(1, Ordering::Relaxed);
        (self.notice)(format!("WRONG DATA: {report}"));
        let mut faults = held(&self.faults);
        if faults.len() < FAULTS_MAX {
            faults.push(report);
        }
        if self.plan.stop_on_fault {
            self.end();
        }
    }

    /// Notes an I/O that the system failed.
    pub(crate) fn failed_io(&self, request: &Request, result: i32) {
        let op = request.op.name();
        let errno = result.wrapping_neg().max(0);
        let mut failures = held(&self.failures);
        let same = |f: &&mut IoFailure| {
            (f.op, f.target, f.errno) == (op, usize::from(request.target), errno)
        };
        if let Some(known) = failures.iter_mut().find(same) {
            known.count += 1;
        } else if failures.len() < FAILURES_MAX {
            let first_offset_bytes = request.offset;
            let target = usize::from(request.target);
            failures.push(IoFailure { op, target, errno, count: 1, first_offset_bytes });
        }
    }

    /// Tells of an I/O that is still under way.
    pub(crate) fn long_io(&self, request: &Request, age: Duration) {
        self.long_ios.fetch_add(1, Ordering::Relaxed);
        let what = match request.op {
            Op::Read => "a read",
            Op::Write => "a write",
            Op::Fsync | Op::Fdatasync => "a flush",
        };
        let (bytes, offset) = (request.bytes, request.offset);
        (self.notice)(format!(
            "{what} of {bytes} bytes at {offset} has been under way for {:.0} s",
            age.as_secs_f64()
        ));
    }

    /// Everything that was noted.
    pub(crate) fn noted(self) -> (Vec<DataFile>, Vec<FaultReport>, Vec<IoFailure>) {
        let faults = self.faults.into_inner().unwrap_or_else(PoisonError::into_inner);
        let failures = self.failures.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.files, faults, failures)
    }
}

/// What a thread that panicked left is still whole: nothing here is changed in steps.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
