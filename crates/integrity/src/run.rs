//! A whole run: every page is written, users work, every page and the log are read again.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use engine::{Op, Queue, Request};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use thiserror::Error;

use crate::events::Hear;
use crate::figures::{FileFigures, Work};
use crate::ledger::{Ledger, LedgerError};
use crate::log::Log;
use crate::pace::Pace;
use crate::page::{PageError, PageFormat};
use crate::plan::Plan;
use crate::report::{LogFault, Report};
use crate::rules::PlanError;
use crate::shared::{DataFile, Noted, Shared};
use crate::site::{Left, Site};
use crate::users::{Chance, User};

/// The smallest part of the log that a thread can work with.
const LOG_BYTES_MIN: u64 = 1 << 20;
/// Blocks of the log begin at multiples of this where the target asks for less.
const LOG_ALIGN_MIN: u64 = 512;
/// Room for the longest record.
const SLOT_BYTES_MIN: u32 = 128 << 10;

/// A target of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// For messages, and to read it through the cache of the operating system.
    pub path: PathBuf,
    /// The bytes of it that may be used.
    pub size_bytes: u64,
    /// What it holds.
    pub role: Role,
    /// Offsets and lengths of I/Os must be multiples of this.
    pub align_bytes: u64,
}

/// What a target holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Pages.
    Data,
    /// The log.
    Log,
}

/// Opens a queue to all targets in the thread that asks. It must have the plan's depth, buffers for reads and writes of
/// [`slot_bytes`], and its targets in the order of the places.
pub type OpenQueue<'a> = dyn Fn() -> Result<Box<dyn Queue>, String> + Sync + 'a;

/// The largest I/O of a plan, in bytes.
#[must_use]
pub fn slot_bytes(plan: &Plan) -> u32 {
    plan.page_bytes.saturating_mul(plan.io_pages()).max(SLOT_BYTES_MIN)
}

/// Why a run could not be made.
#[derive(Debug, Error)]
pub enum RunError {
    /// The plan breaks rules.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Plan(Vec<PlanError>),
    /// The pages cannot be.
    #[error(transparent)]
    Page(#[from] PageError),
    /// There is too little memory.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The targets do not do.
    #[error("{0}")]
    Places(String),
    /// A queue cannot be opened.
    #[error("{0}")]
    Open(String),
    /// A thread could not go on.
    #[error("the run cannot go on: {0}")]
    Io(#[from] io::Error),
}

/// A phase of a run, for whoever shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Every page is written for the first time.
    Load,
    /// Users work.
    Work,
    /// Every page is read.
    Audit,
    /// The log is read.
    Log,
}

/// Runs a plan on these places. `stop` ends it early; then not every page is read. `hear` is told what goes on.
///
/// What ends a run before its time is part of the report, so that nothing that was found is lost; an error is only what kept it from
/// beginning.
pub fn run(
    plan: &Plan,
    places: &[Place],
    time: Duration,
    open: &OpenQueue<'_>,
    stop: &AtomicBool,
    hear: &Hear<'_>,
) -> Result<Report, RunError> {
    let violations = plan.violations();
    if !violations.is_empty() {
        return Err(RunError::Plan(violations));
    }
    let (files, log_places) = files(plan, places)?;
    let format = PageFormat::new(plan.page_bytes as usize, plan.seed)?;
    let paths = places.iter().map(|place| place.path.clone()).collect();
    let shared = Shared::new(plan, format, files, paths, stop, hear);
    let logs: Vec<Option<Log>> =
        (0..plan.threads).map(|thread| log_of(plan, &log_places, thread)).collect();

    let (over, is_over) = mpsc::channel();
    let done = std::thread::scope(|scope| {
        // Whoever tells what goes on ends when nobody holds the other end of the channel, however this one ends.
        let _over = over;
        let shared = &shared;
        let tell = move || shared.teller.tell(shared, &is_over);
        std::thread::Builder::new().name("validate-tell".to_owned()).spawn_scoped(scope, tell)?;
        phases(shared, time, logs, open)
    })?;
    let interrupted = shared.stop.load(Ordering::Relaxed);
    let fault_count = shared.fault_count.load(Ordering::Relaxed);
    let long_ios = shared.long_ios.load(Ordering::Relaxed);
    let paced = shared.paces.iter().map(Pace::paced).collect();
    let Noted { faults, kinds: fault_kinds, failures } = shared.noted();
    let Done { load, cycled, total, log_blocks, log_faults } = done;
    let Total { targets, work, ended } = total;
    let Cycled { work_time, audit, number: cycles, .. } = cycled;
    Ok(Report {
        load,
        work_time,
        audit,
        cycles,
        targets,
        paced,
        work,
        faults,
        fault_kinds,
        fault_count,
        log_blocks,
        log_faults,
        failures,
        long_ios,
        interrupted,
        ended,
    })
}

/// What all phases leave.
struct Done {
    load: Duration,
    cycled: Cycled,
    total: Total,
    log_blocks: u64,
    log_faults: Vec<LogFault>,
}

/// Every page is written, users work, every page and the log are read again.
fn phases(
    shared: &Shared<'_>,
    time: Duration,
    logs: Vec<Option<Log>>,
    open: &OpenQueue<'_>,
) -> Result<Done, RunError> {
    let plan = shared.plan;
    let mut total = Total::new(shared.paths.len());
    shared.teller.begins(Phase::Load, 1, shared.sizes.iter().sum());
    let began = Instant::now();
    let all = |thread| User::over_all(plan, thread, true);
    total.add(phase(shared, (Duration::MAX, 0), no_logs(plan), open, &all)?);
    let load = began.elapsed();

    let cycled = cycles(shared, time, logs, open, &mut total)?;
    let blocks = cycled.logs.iter().flatten().flat_map(Log::acknowledged).count();
    shared.teller.begins(Phase::Log, cycled.number.max(1), blocks as u64);
    let (log_blocks, log_faults) = check_logs(shared, &cycled.logs, open)?;
    Ok(Done { load, cycled, total, log_blocks, log_faults })
}

/// What the cycles of a run leave.
struct Cycled {
    logs: Vec<Option<Log>>,
    work_time: Duration,
    audit: Option<Duration>,
    /// How many were done.
    number: u32,
}

/// Users work, and every page is read behind that; as often as the plan says, or until somebody ends it.
fn cycles(
    shared: &Shared<'_>,
    time: Duration,
    logs: Vec<Option<Log>>,
    open: &OpenQueue<'_>,
    total: &mut Total,
) -> Result<Cycled, RunError> {
    let plan = shared.plan;
    let over = |total: &Total| {
        shared.is_broken() || shared.stop.load(Ordering::Relaxed) || total.ended.is_some()
    };
    let mut done = Cycled { logs, work_time: Duration::ZERO, audit: None, number: 0 };
    let mut audits = Duration::ZERO;
    loop {
        // No two cycles draw the same.
        let round = u64::from(done.number);
        let cycle = done.number.saturating_add(1);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        shared.teller.begins(Phase::Work, cycle, nanoseconds);
        let began = Instant::now();
        let users = |thread| User::of_thread(plan, thread);
        let logs = std::mem::take(&mut done.logs);
        done.logs = total.add(phase(shared, (time, round), logs, open, &users)?);
        done.work_time += began.elapsed();
        done.audit = None;
        // Whoever wants an end does not wait until everything was read.
        if over(total) {
            return Ok(done);
        }
        shared.teller.begins(Phase::Audit, cycle, shared.sizes.iter().sum());
        let began = Instant::now();
        let all = |thread| User::over_all(plan, thread, false);
        total.add(phase(shared, (Duration::MAX, round), no_logs(plan), open, &all)?);
        if over(total) {
            return Ok(done);
        }
        audits += began.elapsed();
        done.audit = Some(audits);
        done.number = done.number.saturating_add(1);
        if done.number == plan.cycles {
            return Ok(done);
        }
    }
}

/// For phases that log nothing.
fn no_logs(plan: &Plan) -> Vec<Option<Log>> {
    (0..plan.threads).map(|_| None).collect()
}

/// What was counted in all phases.
struct Total {
    targets: Vec<FileFigures>,
    work: Work,
    /// Why a thread could not go on.
    ended: Option<String>,
}

impl Total {
    fn new(targets: usize) -> Self {
        let (targets, work) = (vec![FileFigures::default(); targets], Work::default());
        Self { targets, work, ended: None }
    }

    /// Adds a phase; gives the logs of its threads.
    fn add(&mut self, left: Vec<Left>) -> Vec<Option<Log>> {
        let mut logs = Vec::new();
        for one in left {
            for (sum, figures) in self.targets.iter_mut().zip(&one.figures) {
                sum.merge(figures);
            }
            self.work.merge(&one.work);
            self.ended = self.ended.take().or(one.failed.map(|error| error.to_string()));
            logs.push(one.log);
        }
        logs
    }
}

/// Targets that have a log, and what is known of them.
type LogPlaces<'a> = Vec<(u16, &'a Place)>;

/// The files with pages, and the logs.
fn files<'a>(plan: &Plan, places: &'a [Place]) -> Result<(Vec<DataFile>, LogPlaces<'a>), RunError> {
    let (mut files, mut logs) = (Vec::new(), LogPlaces::new());
    let page_bytes = u64::from(plan.page_bytes);
    for (index, place) in places.iter().enumerate() {
        let too_many = || RunError::Places("there are more than 65535 targets".to_owned());
        let target = u16::try_from(index).map_err(|_| too_many())?;
        let path = place.path.display();
        if !page_bytes.is_multiple_of(place.align_bytes.max(1)) {
            return Err(RunError::Places(format!(
                "direct I/O on `{path}` needs multiples of {} bytes; use larger pages or buffered mode",
                place.align_bytes
            )));
        }
        match place.role {
            Role::Data => {
                let ledger = Ledger::new(place.size_bytes / page_bytes)?;
                if ledger.pages() == 0 {
                    return Err(RunError::Places(format!("`{path}` has no room for a page")));
                }
                let path = place.path.clone();
                files.push(DataFile { target, path, page_bytes, ledger });
            }
            Role::Log => logs.push((target, place)),
        }
    }
    if files.is_empty() {
        return Err(RunError::Places("there is no file for pages".to_owned()));
    }
    check_log_places(plan, &logs)?;
    Ok((files, logs))
}

/// Each log has a thread at least, and room for all of its threads.
fn check_log_places(plan: &Plan, logs: &LogPlaces<'_>) -> Result<(), RunError> {
    let (number, threads) = (logs.len() as u64, u64::from(plan.threads));
    if number > threads {
        return Err(RunError::Places(format!(
            "{number} logs need as many threads, and there are {threads}; use more threads or fewer logs"
        )));
    }
    for (index, (_, place)) in (0..).zip(logs) {
        let sharing = (threads - index).div_ceil(number);
        let needed = LOG_BYTES_MIN * sharing;
        if place.size_bytes < needed {
            return Err(RunError::Places(format!(
                "the log `{}` needs {needed} bytes for {sharing} threads",
                place.path.display()
            )));
        }
    }
    Ok(())
}

/// A thread's part of its log; threads take the logs in turn.
fn log_of(plan: &Plan, logs: &LogPlaces<'_>, thread: u32) -> Option<Log> {
    let number = u64::try_from(logs.len()).ok().filter(|n| *n > 0)?;
    let (index, part) = (u64::from(thread) % number, u64::from(thread) / number);
    let (target, place) = *logs.get(usize::try_from(index).ok()?)?;
    let sharing = (u64::from(plan.threads) - index).div_ceil(number);
    let align = place.align_bytes.max(LOG_ALIGN_MIN);
    let each = place.size_bytes / sharing / align * align;
    let start = each * part;
    let align = usize::try_from(align).unwrap_or(4096);
    let seed = plan.seed ^ u64::from(thread) << 32;
    Some(Log::new(seed, start, start + each, align).on(target))
}

/// All threads, each on a queue of its own, until their users have left or the time is over. What is drawn follows from the round.
fn phase(
    shared: &Shared<'_>,
    (time, round): (Duration, u64),
    logs: Vec<Option<Log>>,
    open: &OpenQueue<'_>,
    users: &(dyn Fn(u32) -> Vec<User> + Sync),
) -> Result<Vec<Left>, RunError> {
    let one = |thread: u32, log: Option<Log>| {
        let mut queue = open().map_err(RunError::Open)?;
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let end_ns = queue.now().saturating_add(nanoseconds);
        let lane = u64::from(thread).wrapping_add(round << 32);
        let lane = shared.plan.seed.wrapping_add(lane).wrapping_mul(0x9E37_79B9);
        let chance = Chance(Xoshiro256PlusPlus::seed_from_u64(lane));
        let site = Site::new(shared, thread, users(thread), chance, log, &mut *queue);
        Ok(site.work(end_ns))
    };
    std::thread::scope(|scope| {
        let numbered = (0u32..).zip(logs);
        let threads: Vec<_> = numbered
            .map(|(thread, log)| {
                let body = move || one(thread, log).inspect_err(|_| shared.end());
                let name = format!("validate-{thread}");
                std::thread::Builder::new()
                    .name(name)
                    .spawn_scoped(scope, body)
                    .inspect_err(|_| shared.end())
            })
            .collect();
        let lost = || RunError::Io(io::Error::other("a thread was lost"));
        let join = |thread: io::Result<ScopedJoinHandle<'_, Result<Left, RunError>>>| {
            thread?.join().unwrap_or_else(|_| Err(lost()))
        };
        // Every thread is waited for, whatever became of those before it.
        let all: Vec<Result<Left, RunError>> = threads.into_iter().map(join).collect();
        all.into_iter().collect()
    })
}

/// Reads every acknowledged block of the logs.
fn check_logs(
    shared: &Shared<'_>,
    logs: &[Option<Log>],
    open: &OpenQueue<'_>,
) -> Result<(u64, Vec<LogFault>), RunError> {
    let (mut blocks, mut faults) = (0, Vec::new());
    if logs.iter().flatten().next().is_none() {
        return Ok((blocks, faults));
    }
    let mut queue = open().map_err(RunError::Open)?;
    for (thread, log) in (0..).zip(logs) {
        for block in log.iter().flat_map(Log::acknowledged) {
            if shared.stop.load(Ordering::Relaxed) {
                return Ok((blocks, faults));
            }
            let request = Request {
                slot: 0,
                op: Op::Read,
                target: log.as_ref().map_or(0, Log::target),
                offset: block.offset,
                bytes: block.bytes,
                buffer_offset: 0,
            };
            let found = match read_whole(&mut *queue, request) {
                Ok(found) => found,
                Err(error) => {
                    // What cannot be read is no wrong data, and the blocks behind it may be readable.
                    let errno = error.raw_os_error().unwrap_or(0);
                    shared.failed_io(&request, errno.wrapping_neg());
                    continue;
                }
            };
            blocks += 1;
            shared.teller.log_blocks.store(blocks, Ordering::Relaxed);
            let damage = log.as_ref().and_then(|log| log.examine(block, found));
            let (number, offset_bytes) = (block.number, block.offset);
            faults.extend(damage.map(|damage| LogFault { damage, thread, number, offset_bytes }));
        }
    }
    Ok((blocks, faults))
}

fn read_whole(queue: &mut dyn Queue, mut request: Request) -> io::Result<&[u8]> {
    let whole = request.bytes as usize;
    let mut finished = Vec::new();
    queue.issue(&[request])?;
    loop {
        queue.start()?;
        queue.wait(queue.now() + 100_000_000)?;
        queue.reap(&mut finished);
        let Some(one) = finished.pop() else { continue };
        let moved = u32::try_from(one.result)
            .map_err(|_| io::Error::from_raw_os_error(one.result.wrapping_neg()))?;
        if moved == 0 && request.bytes > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        request.offset += u64::from(moved);
        request.buffer_offset += moved;
        request.bytes = request.bytes.saturating_sub(moved);
        if request.bytes == 0 {
            return Ok(queue.read_buffer(0).get(..whole).unwrap_or_default());
        }
        queue.issue(&[request])?;
    }
}
