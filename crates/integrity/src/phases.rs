//! The phases of a run: every page is written, users work, every page and the log are read again;
//! and what of it is left to do of a run that was killed.

use std::io;
use std::sync::atomic::Ordering;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use results::DatabaseWork;

use crate::belonging::check_files;
use crate::figures::FileFigures;
use crate::log::Log;
use crate::log_checks::check_logs;
use crate::plan::Plan;
use crate::run::{OpenQueue, Phase, RunError, slot_bytes, slot_bytes_of_work};
use crate::shared::Shared;
use crate::site::{Left, Site};
use crate::users::{Chance, User};

/// The results of all phases together.
pub(crate) struct PhaseResults {
    pub load: Duration,
    pub cycled: Cycled,
    pub total: Total,
    pub log_blocks: u64,
    pub log_time: Duration,
}

/// Every page is written, users work, every page and the log are read again.
///
/// Of a run that was killed, everything that was written is read first; then it continues where it
/// was.
pub(crate) fn phases(
    shared: &Shared<'_>,
    time: Duration,
    mut logs: Vec<Option<Log>>,
    open: &OpenQueue<'_>,
) -> Result<PhaseResults, RunError> {
    let plan = shared.plan;
    let mut total = Total::new(shared.paths.len());
    let mut start = Start { time, cycle: 0, audit: None };
    let mut loads = true;
    let mut checked = None;
    if let Some(kept) = shared.kept.filter(|kept| kept.is_resumed()) {
        check_files(shared, &logs, open)?;
        kept.takes_up()?;
        let stage = kept.phase();
        (start.cycle, loads) = (kept.cycles(), stage == Some(Phase::Load));
        if stage == Some(Phase::Work) {
            start.time = kept.left();
        }
        let audit = audit(shared, (start.cycle, start.cycle), open, &mut total)?;
        if !total.is_over(shared) {
            checked = Some(check_logs(shared, &logs, open)?);
            if plan.stop_on_fault && shared.log_fault_count() > 0 {
                // A wrong page is not written again: it is evidence.
                shared.end();
            }
        }
        if matches!(stage, None | Some(Phase::Audit | Phase::Log)) && !total.is_over(shared) {
            // That was the reading that it was killed in, or the one after it.
            start.cycle += u32::from(stage == Some(Phase::Audit));
            kept.enters(Phase::Log);
            kept.set_cycles(start.cycle);
            start.audit = Some(audit);
        }
    }
    for resize in shared.files.iter().filter_map(|file| file.shape.resize.as_ref()) {
        resize.change.to(resize.begin_bytes)?;
    }
    let mut load = Duration::ZERO;
    if loads && !total.is_over(shared) {
        shared.begins(Phase::Load, 1, shared.sizes(Phase::Load).sum());
        let began = Instant::now();
        let all = |thread| User::over_all(plan, thread, true);
        let queues = (open, slot_bytes(plan));
        total.add(phase(shared, (Duration::MAX, 0), no_logs(plan), queues, &all)?);
        load = began.elapsed();
    }
    let cycled = cycles(shared, start, std::mem::take(&mut logs), open, &mut total)?;
    let is_over = total.is_over(shared);
    let mut log_blocks = 0;
    let began = Instant::now();
    let is_logged = cycled.logs.iter().any(Option::is_some);
    if is_logged && (cycled.work_time > Duration::ZERO || checked.is_none()) {
        let blocks = cycled.logs.iter().flatten().flat_map(Log::acknowledged).count();
        let begins = if is_over { Shared::tells } else { Shared::begins };
        begins(shared, Phase::Log, cycled.number.max(1), blocks as u64);
        log_blocks = check_logs(shared, &cycled.logs, open)?;
    }
    log_blocks += checked.unwrap_or(0);
    if let Some(kept) = shared.kept.filter(|_| !total.is_over(shared)) {
        kept.ends();
    }
    let log_time = began.elapsed();
    Ok(PhaseResults { load, cycled, total, log_blocks, log_time })
}

/// Reads every page; gives how long that took.
fn audit(
    shared: &Shared<'_>,
    (cycle, round): (u32, u32),
    open: &OpenQueue<'_>,
    total: &mut Total,
) -> Result<Duration, RunError> {
    let plan = shared.plan;
    shared.tells(Phase::Audit, cycle + 1, shared.sizes(Phase::Audit).sum());
    let began = Instant::now();
    let all = |thread| User::over_all(plan, thread, false);
    let queues = (open, slot_bytes(plan));
    total.add(phase(shared, (Duration::MAX, round.into()), no_logs(plan), queues, &all)?);
    Ok(began.elapsed())
}

/// Where the cycles of a run begin.
#[derive(Clone, Copy)]
struct Start {
    /// How long users work in the first of them.
    time: Duration,
    /// How many cycles are finished already.
    cycle: u32,
    /// How long the last reading of every page took; `None` if it was not done.
    audit: Option<Duration>,
}

/// What the cycles of a run leave.
pub(crate) struct Cycled {
    logs: Vec<Option<Log>>,
    pub work_time: Duration,
    pub audit: Option<Duration>,
    /// How many cycles ran to their end.
    pub number: u32,
}

/// Lets users work and then reads every page, as often as the plan says or until the user ends it.
fn cycles(
    shared: &Shared<'_>,
    start: Start,
    logs: Vec<Option<Log>>,
    open: &OpenQueue<'_>,
    total: &mut Total,
) -> Result<Cycled, RunError> {
    let plan = shared.plan;
    let (number, audit_before) = (start.cycle, start.audit);
    let mut done = Cycled { logs, work_time: Duration::ZERO, audit: audit_before, number };
    let (mut audits, mut time) = (Duration::ZERO, start.time);
    let is_last = |number| plan.cycles != 0 && number >= plan.cycles;
    while !is_last(done.number) && !total.is_over(shared) {
        // No two cycles draw the same numbers, and a resumed one does not repeat them either.
        let round = u64::from(done.number) | shared.resumes() << 24;
        let cycle = done.number.saturating_add(1);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        if let Some(kept) = shared.kept {
            kept.set_left(nanoseconds);
        }
        shared.begins(Phase::Work, cycle, nanoseconds);
        let began = Instant::now();
        let users = |thread| User::of_thread(plan, thread);
        let logs = std::mem::take(&mut done.logs);
        let queues = (open, slot_bytes_of_work(plan));
        done.logs = total.add(phase(shared, (time, round), logs, queues, &users)?);
        done.work_time += began.elapsed();
        done.audit = None;
        // A user who wants an end does not wait until everything was read.
        if total.is_over(shared) {
            break;
        }
        if let Some(kept) = shared.kept {
            kept.enters(Phase::Audit);
        }
        let took = audit(shared, (done.number, done.number), open, total)?;
        if total.is_over(shared) {
            break;
        }
        audits += took;
        done.audit = Some(audits);
        done.number = done.number.saturating_add(1);
        if let Some(kept) = shared.kept {
            kept.enters(Phase::Log);
            kept.set_cycles(done.number);
        }
        time = shared.time;
    }
    Ok(done)
}

/// No log per thread, for phases that log nothing.
fn no_logs(plan: &Plan) -> Vec<Option<Log>> {
    (0..plan.threads).map(|_| None).collect()
}

/// What all phases did together.
pub(crate) struct Total {
    pub targets: Vec<FileFigures>,
    pub work: DatabaseWork,
    /// Why a thread could not continue.
    pub ended: Option<String>,
}

impl Total {
    fn new(targets: usize) -> Self {
        let (targets, work) = (vec![FileFigures::default(); targets], DatabaseWork::default());
        Self { targets, work, ended: None }
    }

    /// Whether the run has to end now.
    fn is_over(&self, shared: &Shared<'_>) -> bool {
        shared.is_broken() || shared.stop.load(Ordering::Relaxed) || self.ended.is_some()
    }

    /// Adds a phase; gives the logs of its threads.
    fn add(&mut self, left: Vec<Left>) -> Vec<Option<Log>> {
        let mut logs = Vec::new();
        for one in left {
            for (sum, figures) in self.targets.iter_mut().zip(&one.figures) {
                sum.merge(figures);
            }
            self.work += one.work;
            self.ended = self.ended.take().or(one.failed.map(|error| error.to_string()));
            logs.push(one.log);
        }
        logs
    }
}

/// Runs all threads, each on a separate queue for I/Os of that size, until their users have left or
/// the time is over. The round decides what they draw.
fn phase(
    shared: &Shared<'_>,
    (time, round): (Duration, u64),
    logs: Vec<Option<Log>>,
    (open, io_bytes): (&OpenQueue<'_>, u32),
    users: &(dyn Fn(u32) -> Vec<User> + Sync),
) -> Result<Vec<Left>, RunError> {
    let one = |thread: u32, log: Option<Log>| {
        let mut queue = open(io_bytes).map_err(RunError::Open)?;
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
