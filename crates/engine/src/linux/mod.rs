//! Linux: backends, threads, targets.

mod aio;
mod aliases;
mod choose;
#[cfg(test)]
mod contract;
mod extents;
mod fault;
pub(crate) mod files;
mod fill;
pub(crate) mod guard;
mod memory;
mod mmap;
mod open;
mod purge;
mod sync;
mod thread;
mod uring;
mod vectors;
mod write_out;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Advice;
use workload::{Completion, Hint, Mode, Stream, Workload};

use crate::buffers::BufferPlan;
use crate::error::EngineError;
use crate::job::Job;
use crate::null::NullQueue;
use crate::opened::{Boxed, Opened, start_thread};
use crate::prepared::PreparedTarget;
use crate::queue::Queue;
use crate::run::{Backend, memory_error};

use choose::Kind;

pub(crate) use choose::{Choice, check, choose};
pub(crate) use fill::fill;
pub(crate) use memmap2::MmapMut as Pages;
pub(crate) use memory::{available_memory, has_large_pages};
pub(crate) use open::{direct_alignment, open_for_io, open_for_io as open_to_fill};
pub(crate) use purge::purge;
pub use thread::Prompt;
pub(crate) use thread::{allowed_cpus, process_cpu, thread_cpu_ns, thread_wanted_ns};
pub(crate) use write_out::write_out;

/// I/Os handed to a device at a time: the call costs about a tenth of the batch, and the device
/// works while the next batch is made.
const DEVICE_BATCH: usize = 8;

/// A sleeping thread may wake this much late, so the last stretch before a due moment is spent
/// looking at the clock.
pub(crate) const SPIN_NS: u64 = 30_000;

/// Starts one thread, the one of this number in its stream, on these targets.
pub(crate) fn spawn(
    workload: &Workload,
    stream: &Stream,
    rank: u32,
    targets: &[(&Stream, &PreparedTarget)],
    plan: BufferPlan,
    choice: Choice,
    job: Job,
) -> Result<(), EngineError> {
    let start = Start::new(workload, targets, plan, choice)?;
    let setup = thread::Setup::new(stream, rank);
    let body = move || match setup.apply() {
        Ok(()) => start.open(job),
        Err(error) => job.fail(error),
    };
    start_thread(&stream.name, rank, body)
}

/// A target that is open for one thread.
struct Open {
    file: File,
    path: PathBuf,
    size_bytes: u64,
    writes: bool,
    durable: bool,
    hint: Option<Hint>,
}

/// Tells the operating system's cache of the order of the offsets.
fn advise(file: &File, hint: Hint, path: &Path) -> Result<(), EngineError> {
    let advice = match hint {
        Hint::Random => Advice::Random,
        Hint::Sequential => Advice::Sequential,
    };
    rustix::fs::fadvise(file, 0, None, advice).map_err(|error| EngineError::Open {
        path: path.to_owned(),
        what: "a hint on the order of its offsets".to_owned(),
        source: error.into(),
    })
}

/// What a thread opens its queue with.
struct Start {
    choice: Choice,
    opened: Vec<Open>,
    plan: BufferPlan,
    completion: Completion,
}

/// Opens a queue in this thread, on these targets.
pub(crate) fn open_queue(
    workload: &Workload,
    targets: &[(&Stream, &PreparedTarget)],
    plan: BufferPlan,
    choice: Choice,
) -> Result<(Box<dyn Queue>, Backend), EngineError> {
    Start::new(workload, targets, plan, choice)?.open(Boxed)
}

impl Start {
    /// Opens the targets, each for this thread alone and as its stream uses it.
    fn new(
        workload: &Workload,
        targets: &[(&Stream, &PreparedTarget)],
        plan: BufferPlan,
        choice: Choice,
    ) -> Result<Self, EngineError> {
        let open = |(stream, target): &(&Stream, &PreparedTarget)| {
            let mode = workload.mode_of(stream);
            let file = open_for_io(target, mode, stream)?;
            // A mapping gets its hint elsewhere, and direct I/O has no hint.
            if let Some(hint) = stream.hint.filter(|_| mode == Mode::Buffered) {
                advise(&file, hint, target.path())?;
            }
            Ok(Open {
                file,
                path: target.path().to_owned(),
                size_bytes: target.size_bytes(),
                writes: stream.writes(),
                durable: stream.durable,
                hint: stream.hint,
            })
        };
        let real = if choice.kind == Kind::Null { &[] } else { targets };
        let opened = real.iter().map(open).collect::<Result<Vec<_>, EngineError>>()?;
        Ok(Self { choice, opened, plan, completion: workload.completion })
    }

    /// Opens the queue and runs the driver on it.
    fn open<O: Opened>(self, then: O) -> O::Output {
        let Self { choice: Choice { kind, reason }, opened, plan, completion } = self;
        let files = |opened: Vec<Open>| opened.into_iter().map(|o| o.file).collect::<Vec<_>>();
        let backend = |features| Backend { name: kind.name(), reason, features, late: None };
        let unavailable = |error: io::Error| EngineError::Unavailable {
            engine: kind.name(),
            cause: choose::hint(&error),
        };
        match kind {
            Kind::Uring => match uring::UringQueue::new(files(opened), plan, completion) {
                Ok((queue, features)) => then.open(queue, plan, backend(features)),
                Err(error) => then.fail(unavailable(error)),
            },
            Kind::Aio => match aio::AioQueue::new(files(opened), plan, completion) {
                Ok(queue) => then.open(queue, plan, backend(Vec::new())),
                Err(error) => then.fail(unavailable(error)),
            },
            Kind::Sync => match sync::SyncQueue::new(files(opened), plan) {
                Ok(queue) => then.open(queue, plan, backend(Vec::new())),
                Err(error) => then.fail(memory_error(plan, error)),
            },
            Kind::Mmap => match mapped(opened, plan) {
                Ok(queue) => then.open(queue, plan, backend(Vec::new())),
                Err(error) => then.fail(error),
            },
            Kind::Null => match NullQueue::new(plan) {
                Ok(queue) => then.open(queue, plan, backend(Vec::new())),
                Err(error) => then.fail(memory_error(plan, error)),
            },
        }
    }
}

fn mapped(opened: Vec<Open>, plan: BufferPlan) -> Result<mmap::MmapQueue, EngineError> {
    let map = |Open { file, path, size_bytes, writes, durable, hint }: Open| {
        let mapping = mmap::Mapping::new(file, size_bytes, writes, durable).and_then(|mapping| {
            hint.map_or(Ok(()), |hint| mapping.advise(hint))?;
            Ok(mapping)
        });
        mapping.map_err(|source| EngineError::Open {
            path,
            what: "copying, mapped into memory".to_owned(),
            source,
        })
    };
    let mappings = opened.into_iter().map(map).collect::<Result<Vec<_>, _>>()?;
    mmap::MmapQueue::new(mappings, plan).map_err(|error| memory_error(plan, error))
}
