//! Windows: backends, threads, targets. Directories and files only; raw drives and volumes are
//! refused (`names.rs`).

mod calls;
mod choose;
#[cfg(target_arch = "x86_64")]
mod clock;
#[cfg(test)]
mod contract;
pub(crate) mod files;
mod fill;
pub(crate) mod guard;
mod iocp;
mod memory;
mod open;
mod sync;
mod thread;
mod timer;

use std::fs::File;
use std::io;

use workload::{Buffers as Layout, Completion, Mode, Stream, Workload};

use crate::buffers::BufferPlan;
use crate::error::EngineError;
use crate::job::Job;
use crate::null::NullQueue;
use crate::opened::{Boxed, Opened, start_thread};
use crate::prepared::PreparedTarget;
use crate::queue::Queue;
use crate::run::{Backend, memory_error};
use crate::windows_pieces::{is_in_pieces, layout};

use choose::Kind;
use open::Pair;
use timer::Timer;

pub(crate) use choose::{Choice, check, choose};
#[cfg(target_arch = "x86_64")]
pub(crate) use clock::counter_flags;
pub(crate) use fill::fill;
pub(crate) use memory::{Pages, available_memory, has_large_pages};
pub(crate) use open::{direct_alignment, open_to_fill};
pub use thread::Prompt;
pub(crate) use thread::{allowed_cpus, process_cpu, thread_cpu_ns, thread_wanted_ns};

/// A sleeping thread may wake this much late, so the last stretch before a due moment is spent
/// looking at the clock.
pub(crate) const SPIN_NS: u64 = 1_000_000;

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

/// Opens a queue in this thread, on these targets.
pub(crate) fn open_queue(
    workload: &Workload,
    targets: &[(&Stream, &PreparedTarget)],
    plan: BufferPlan,
    choice: Choice,
) -> Result<(Box<dyn Queue>, Backend), EngineError> {
    Start::new(workload, targets, plan, choice)?.open(Boxed)
}

/// What a thread opens its queue with.
struct Start {
    choice: Choice,
    opened: Vec<Pair>,
    plan: BufferPlan,
    completion: Completion,
}

impl Start {
    /// Opens the targets, each for this thread alone and as its stream uses it.
    fn new(
        workload: &Workload,
        targets: &[(&Stream, &PreparedTarget)],
        mut plan: BufferPlan,
        choice: Choice,
    ) -> Result<Self, EngineError> {
        let overlapped = choice.kind == Kind::Iocp;
        let open = |(stream, target): &(&Stream, &PreparedTarget)| {
            open::open_for_io(target, workload.mode_of(stream), stream, overlapped)
        };
        let real = if choice.kind == Kind::Null { &[] } else { targets };
        let in_pieces = |(stream, _): &(&Stream, &PreparedTarget)| {
            let layout = layout(stream, overlapped && workload.mode_of(stream) == Mode::Direct);
            layout.is_ok_and(is_in_pieces)
        };
        if !real.is_empty() && !real.iter().all(in_pieces) && is_in_pieces(plan.layout) {
            plan.layout = Layout::Single;
        }
        let opened = real.iter().map(open).collect::<Result<Vec<_>, EngineError>>()?;
        Ok(Self { choice, opened, plan, completion: workload.completion })
    }

    /// Opens the queue and runs the driver on it.
    fn open<O: Opened>(self, then: O) -> O::Output {
        let Self { choice: Choice { kind, reason }, opened, plan, completion } = self;
        let mut backend = Backend { name: kind.name(), reason, features: Vec::new(), late: None };
        match kind {
            Kind::Iocp => match iocp::IocpQueue::new(opened, plan, completion, Timer::new()) {
                Ok(queue) => {
                    backend.features = queue.features();
                    backend.late = queue.late_waits();
                    then.open(queue, plan, backend)
                }
                Err(error) => then.fail(EngineError::Unavailable {
                    engine: kind.name(),
                    cause: error.to_string(),
                }),
            },
            Kind::Sync => match sync::SyncQueue::new(opened, plan) {
                Ok(queue) => then.open(queue, plan, backend),
                Err(error) => then.fail(memory_error(plan, error)),
            },
            Kind::Null => match NullQueue::new(plan) {
                Ok(queue) => then.open(queue, plan, backend),
                Err(error) => then.fail(memory_error(plan, error)),
            },
        }
    }
}

/// Windows has no call that writes out a part of what its cache holds, and the one for all of it
/// cannot be ended.
#[expect(clippy::unnecessary_wraps, reason = "other systems may fail")]
pub(crate) fn write_out(
    _: &File,
    _size_bytes: u64,
    _: impl Fn() -> bool,
) -> Result<(), (u64, io::Error)> {
    Ok(())
}

/// Raw devices are refused, so none is purged.
#[expect(clippy::unnecessary_wraps, reason = "other systems may fail")]
pub(crate) fn purge(_file: &File, _bytes: u64) -> io::Result<bool> {
    Ok(false)
}
