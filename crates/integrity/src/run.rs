//! A whole run: every page is written, users work, every page and the log are read again.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use engine::{Queue, mixed};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use workload::{Block, Buffers, Bytes, Pool, PoolShare, Stream};

use crate::block::BlockFormat;
use crate::events::Hear;
use crate::files::{DataFile, Shape};
use crate::kept::{KeptError, KeptLedger, Needs, Parts, now_milliseconds};
use crate::ledger::{Ledger, LedgerError, Recovered, Words};
use crate::log::{Index, Log};
use crate::mapped::Part;
use crate::pace::Pace;
use crate::page::{PageError, PageFormat};
use crate::phases::{Cycled, PhaseResults, Total, phases};
use crate::plan::{Hardening, Plan};
use crate::platform::is_device;
use crate::report::{Report, Resumed};
use crate::rules::PlanError;
use crate::shared::{Noted, Shared};

/// The smallest part of the log that a thread can work with.
const LOG_BYTES_MIN: u64 = 1 << 20;
/// Blocks of the log begin at multiples of this where the target asks for less.
const LOG_ALIGN_MIN: u64 = 512;
/// Sizes of files that change are multiples of this.
const SIZE_UNIT: u64 = 4096;
/// The least size of a slot: the longest record must fit.
const SLOT_BYTES_MIN: u32 = 128 << 10;

/// A target of a run, and its role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// For messages, and to read it through the cache of the operating system.
    pub path: PathBuf,
    /// The bytes of it that may be used.
    pub size_bytes: u64,
    /// Whether it holds pages or the log.
    pub role: Role,
    /// Offsets and lengths of I/Os must be multiples of this; 1 where they go through the cache of
    /// the operating system.
    pub align_bytes: u64,
    /// How a file with pages begins, and whether its size changes.
    pub shape: Shape,
}

impl Place {
    /// Whether I/O goes past the cache of the operating system, which takes any offset and length.
    fn is_direct(&self) -> bool {
        self.align_bytes > 1
    }
}

/// What a target is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Pages, each at its own place.
    Data,
    /// Records, one after the other: the log.
    Log,
    /// Changed pages, before they are written in their places.
    Doublewrite,
}

/// Opens a queue to all targets in the thread that asks, for I/Os of at most so many bytes, which
/// are never more than [`slot_bytes`]. It must have the plan's depth, buffers for reads and writes,
/// and its targets in the order of the places; those of the plan's [`stream`] have.
pub type OpenQueue<'a> = dyn Fn(u32) -> Result<Box<dyn Queue>, String> + Sync + 'a;

/// The largest I/O of a plan, in bytes.
#[must_use]
pub fn slot_bytes(plan: &Plan) -> u32 {
    let bytes = plan.page_bytes.saturating_mul(plan.io_pages()).max(SLOT_BYTES_MIN);
    bytes.checked_next_multiple_of(plan.page_bytes).unwrap_or(bytes)
}

/// The largest I/O of a plan while its users work, in bytes. Users of single pages have buffers of
/// one page, side by side. With the larger buffers of the first writing, each would use the same
/// sets of the processor's caches.
pub(crate) fn slot_bytes_of_work(plan: &Plan) -> u32 {
    let all = slot_bytes(plan);
    if plan.changes_pages() || plan.resizing.is_some() {
        return all;
    }
    plan.page_bytes.saturating_mul(plan.io_pages_of_users()).min(all)
}

/// The stream whose queues a plan is run on.
#[must_use]
pub fn stream(plan: &Plan) -> Stream {
    // As in databases, reads go to the pages of a pool, wherever they are, and writes come from
    // there. A single page is contiguous anyway, and one in a large page of memory is checked
    // faster.
    let pages = Buffers::Pages { bytes: Bytes(plan.page_bytes.into()) };
    let buffers = if plan.scatters() { pages } else { Buffers::Large };
    Stream {
        name: "validate".to_owned(),
        threads: plan.threads,
        depth: plan.depth,
        blocks: vec![Block { bytes: Bytes(slot_bytes(plan).into()), weight: 1 }],
        align_bytes: Some(Bytes(plan.page_bytes.into())),
        write_percent: 50,
        durable: plan.hardening == Hardening::WriteThrough,
        pool: Some(Pool { share: PoolShare::InTurn }),
        buffers,
        ..Stream::default()
    }
}

/// Why a run could not be made.
#[derive(Debug, Error)]
pub enum RunError {
    /// The plan breaks rules; all of them are listed.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Plan(Vec<PlanError>),
    /// The pages have an impossible size.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The ledger needs too much memory.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The file of the ledger cannot be used.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// The targets do not fit the plan.
    #[error("{0}")]
    Places(String),
    /// A queue for I/O cannot be opened.
    #[error("{0}")]
    Open(String),
    /// A thread failed and could not continue.
    #[error("the run cannot continue: {0}")]
    Io(#[from] io::Error),
}

/// A phase of a run, as displays name it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Every page is written for the first time.
    #[default]
    Load,
    /// Simulated users read and change pages.
    Work,
    /// Every page is read and checked.
    Audit,
    /// The log is read and checked.
    Log,
}

impl Phase {
    /// What it does, in a phrase.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Load => "writing every page",
            Self::Work => "the load is running",
            Self::Audit => "reading every page",
            Self::Log => "reading the log",
        }
    }
}

/// Runs a plan on these places. `stop` ends it early; then not every page is read. `hear` gets
/// every event.
///
/// What ends a run before its time is part of the report, so that nothing that was found is lost;
/// an error is only what kept it from beginning.
pub fn run(
    plan: &Plan,
    places: &[Place],
    time: Duration,
    open: &OpenQueue<'_>,
    stop: &AtomicBool,
    hear: &Hear<'_>,
) -> Result<Report, RunError> {
    run_kept(plan, places, time, open, stop, hear, None)
}

/// The log of each thread that has one, with its kept index.
fn logs_of(
    plan: &Plan,
    places: &LogPlaces<'_>,
    blocks: &BlockFormat,
    parts: Vec<Part>,
    kept: Option<&KeptLedger>,
) -> Result<Vec<Option<Log>>, KeptError> {
    let mut indexes = parts.into_iter().map(|part| Index(Words::Kept(part)));
    let log = |thread| {
        let Some(log) = log_of(plan, places, thread, blocks) else { return Ok(None) };
        match (indexes.next(), kept) {
            (Some(index), Some(kept)) => {
                log.kept_in(index).ok_or_else(|| kept.of_a_damaged_log(thread)).map(Some)
            }
            _ => Ok(Some(log)),
        }
    };
    (0..plan.threads).map(log).collect()
}

/// The same with a ledger file, so that the run can be resumed after a kill, or that knows an
/// earlier run, which is resumed.
pub fn run_kept(
    plan: &Plan,
    places: &[Place],
    time: Duration,
    open: &OpenQueue<'_>,
    stop: &AtomicBool,
    hear: &Hear<'_>,
    kept: Option<&KeptLedger>,
) -> Result<Report, RunError> {
    let violations = plan.violations();
    if !violations.is_empty() {
        return Err(RunError::Plan(violations));
    }
    let Parts { data, logs } =
        kept.map(|kept| kept.begin(plan, places)).transpose()?.unwrap_or_default();
    let mut data = data.into_iter().map(Ledger::kept);
    let is_resumed = kept.is_some_and(KeptLedger::is_resumed);
    if kept.is_some() && places.iter().any(|place| place.shape.resize.is_some()) {
        let text = "files that become shorter and longer cannot be resumed: how long they \
                    were is not kept; leave out one of both";
        return Err(RunError::Places(text.to_owned()));
    }
    let (files, log_places) = files(plan, places, (&mut data, is_resumed))?;
    let recovered = is_resumed.then(|| recover(&files));
    let identity = run_identity(plan, kept);
    let format = PageFormat::new(plan.page_bytes as usize, identity)?;
    let paths = places.iter().map(|place| place.path.clone()).collect();
    let formats = (format, BlockFormat::new(identity));
    let mut shared = Shared::new(plan, formats, files, paths, stop, hear);
    shared.time = time;
    if let Some(kept) = kept {
        shared.keeps(kept);
    }
    let logs = logs_of(plan, &log_places, &shared.blocks, logs, kept)?;

    let (over, is_over) = mpsc::channel();
    let done = std::thread::scope(|scope| {
        // The thread that passes events on ends when the other end of the channel is gone, however
        // the run ends.
        let _over = over;
        let shared = &shared;
        let tell = move || shared.teller.tell(shared, &is_over);
        std::thread::Builder::new().name("validate-tell".to_owned()).spawn_scoped(scope, tell)?;
        phases(shared, time, logs, open)
    })?;
    let interrupted = shared.stop.load(Ordering::Relaxed);
    let resumes = shared.resumes();
    let fault_count = shared.fault_count.load(Ordering::Relaxed);
    let long_ios = shared.long_ios.load(Ordering::Relaxed);
    let paced = shared.paces.iter().map(Pace::paced).collect();
    let log_fault_count = shared.log_fault_count();
    let Noted { faults, kinds: fault_kinds, log_faults, failures } = shared.noted();
    let PhaseResults { load, cycled, total, log_blocks, log_time } = done;
    let Total { targets, work, ended } = total;
    let Cycled { work_time, audit, number: cycles, .. } = cycled;
    Ok(Report {
        load,
        work_time,
        audit,
        log_time,
        cycles,
        targets,
        paced,
        work,
        faults,
        fault_kinds,
        fault_count,
        log_blocks,
        log_fault_count,
        log_faults,
        failures,
        long_ios,
        interrupted,
        ended,
        resumed: recovered.map(|recovered| Resumed { times: resumes, recovered }),
    })
}

/// What all pages and log blocks of a run follow from. It differs from that of earlier runs, even
/// those with the same seed. Otherwise what such a run left in the files could hide a lost write.
fn run_identity(plan: &Plan, kept: Option<&KeptLedger>) -> u64 {
    let began = kept.map_or_else(now_milliseconds, KeptLedger::began);
    mixed(plan.seed) ^ began
}

/// What a run that was killed has left in the ledgers of its files.
fn recover(files: &[DataFile]) -> Recovered {
    let each = files.iter().map(|file| file.ledger.recover());
    each.fold(Recovered::default(), |sum, one| Recovered {
        written: sum.written + one.written,
        unsure: sum.unsure + one.unsure,
    })
}

/// How many words a ledger file needs.
pub(crate) fn needs(plan: &Plan, places: &[Place]) -> Needs {
    let of_data = places.iter().filter(|place| place.role != Role::Log);
    let data = of_data.map(|p| p.size_bytes / u64::from(plan.page_bytes.max(1))).collect();
    let of_logs = (0..).zip(places).filter(|(_, place)| place.role == Role::Log);
    let places: LogPlaces<'_> = of_logs.collect();
    let part = |thread| part_of(plan, &places, thread).map(|p| Index::words(p.bytes, p.align));
    Needs { data, logs: (0..plan.threads).filter_map(part).collect() }
}

/// Targets that have a log, with their kept index.
type LogPlaces<'a> = Vec<(u16, &'a Place)>;

/// The files with pages, whose ledgers are the `kept` ones as far as there are such, and the logs.
fn files<'a>(
    plan: &Plan,
    places: &'a [Place],
    (kept, is_resumed): (&mut dyn Iterator<Item = Ledger>, bool),
) -> Result<(Vec<DataFile>, LogPlaces<'a>), RunError> {
    let (mut files, mut logs) = (Vec::new(), LogPlaces::new());
    let page_bytes = u64::from(plan.page_bytes);
    for (index, place) in places.iter().enumerate() {
        let too_many = || RunError::Places("there are more than 65535 targets".to_owned());
        let target = u16::try_from(index).map_err(|_| too_many())?;
        let path = place.path.display();
        if !page_bytes.is_multiple_of(place.align_bytes.max(1)) {
            return Err(RunError::Places(format!(
                "direct I/O on `{path}` needs multiples of {} bytes; use larger pages or buffered \
                 mode",
                place.align_bytes
            )));
        }
        match place.role {
            Role::Data | Role::Doublewrite => {
                let new = || Ledger::new(place.size_bytes / page_bytes);
                let ledger = kept.next().map_or_else(new, Ok)?;
                if ledger.pages() == 0 {
                    return Err(RunError::Places(format!("`{path}` has no room for a page")));
                }
                check_shape(plan, place)?;
                let (path, shape) = (place.path.clone(), place.shape.clone());
                let mut file = DataFile::new(target, path, page_bytes, ledger, shape, is_resumed);
                file.is_area = place.role == Role::Doublewrite;
                file.is_direct = place.is_direct();
                file.settles = file.is_direct && !(is_resumed && is_device(&file.path));
                files.push(file);
            }
            Role::Log => logs.push((target, place)),
        }
    }
    if files.iter().all(|file| file.is_area) {
        return Err(RunError::Places("there is no file for pages".to_owned()));
    }
    check_area(plan, &files)?;
    check_log_places(plan, &logs)?;
    Ok((files, logs))
}

/// There is an area where one is needed, and it has room for all threads.
fn check_area(plan: &Plan, files: &[DataFile]) -> Result<(), RunError> {
    let needed = u64::from(plan.doublewrite_pages) * u64::from(plan.threads);
    let areas: Vec<&DataFile> = files.iter().filter(|file| file.is_area).collect();
    let text = match areas.as_slice() {
        [] if needed == 0 => return Ok(()),
        [one] if needed > 0 && one.pages() >= needed => return Ok(()),
        [one] if needed > 0 => format!(
            "`{}` has room for {} pages, and {needed} are written twice at a time; use a larger \
             one",
            one.path.display(),
            one.pages()
        ),
        _ => "pages are written twice where there is one place for that, and not otherwise"
            .to_owned(),
    };
    Err(RunError::Places(text))
}

/// Sizes fit to pages, and to what direct I/O and the end of a test file need.
fn check_shape(plan: &Plan, place: &Place) -> Result<(), RunError> {
    let Some(resize) = &place.shape.resize else { return Ok(()) };
    let unit = u64::from(plan.page_bytes).max(SIZE_UNIT);
    let fits = |bytes: u64| bytes > 0 && bytes.is_multiple_of(unit) && bytes <= place.size_bytes;
    if fits(resize.begin_bytes) && fits(resize.step_bytes) {
        return Ok(());
    }
    Err(RunError::Places(format!(
        "`{}` cannot begin with {} bytes and change by {}: both must be multiples of {unit}, and \
         no more than {}",
        place.path.display(),
        resize.begin_bytes,
        resize.step_bytes,
        place.size_bytes
    )))
}

/// Each log has a thread at least, and room for all of its threads.
fn check_log_places(plan: &Plan, logs: &LogPlaces<'_>) -> Result<(), RunError> {
    let (number, threads) = (logs.len() as u64, u64::from(plan.threads));
    if number > threads {
        return Err(RunError::Places(format!(
            "{number} logs need as many threads, and there are {threads}; use more threads or \
             fewer logs"
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

/// The part of a log that a thread has.
struct LogPart {
    target: u16,
    start: u64,
    bytes: u64,
    align: u64,
}

/// A thread's part of its log; threads take the logs in turn.
fn part_of(plan: &Plan, logs: &LogPlaces<'_>, thread: u32) -> Option<LogPart> {
    let number = u64::try_from(logs.len()).ok().filter(|n| *n > 0)?;
    let (index, part) = (u64::from(thread) % number, u64::from(thread) / number);
    let (target, place) = *logs.get(usize::try_from(index).ok()?)?;
    let sharing = u64::from(plan.threads).saturating_sub(index).div_ceil(number).max(1);
    let align = place.align_bytes.max(LOG_ALIGN_MIN).max(plan.log.block_bytes.into());
    let bytes = place.size_bytes / sharing / align * align;
    Some(LogPart { target, start: bytes * part, bytes, align })
}

fn log_of(plan: &Plan, logs: &LogPlaces<'_>, thread: u32, blocks: &BlockFormat) -> Option<Log> {
    let LogPart { target, start, bytes, align } = part_of(plan, logs, thread)?;
    let align = usize::try_from(align).unwrap_or(4096);
    let thread = u16::try_from(thread).unwrap_or(u16::MAX);
    Some(Log::new(blocks.clone(), start, start + bytes, align).of(thread, target))
}
