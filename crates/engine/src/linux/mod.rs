//! Linux: backends, threads, targets.

mod aio;
#[cfg(test)]
mod contract;
mod extents;
mod fill;
mod guard;
mod ready;
mod sync;
mod targets;
mod thread;
mod uring;

use std::fs::File;
use std::io;

use workload::{EngineChoice, Mode, Stream, Workload};

use crate::buffers::BufferPlan;
use crate::error::EngineError;
use crate::job::Job;
use crate::null::NullQueue;
use crate::prepared::PreparedTarget;
use crate::run::{Backend, Place, memory_error};

pub(crate) use ready::prepare_target;
pub(crate) use targets::{is_named, plan_target};
pub(crate) use thread::{process_cpu, thread_cpu_ns};

/// The backend that one stream uses on one target.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    kind: EngineChoice,
    reason: String,
}

impl Choice {
    fn new(kind: EngineChoice, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }
}

/// Takes the backend that was asked for, or the best one that works here.
pub(crate) fn choose(
    workload: &Workload,
    stream: &Stream,
    target: &PreparedTarget,
) -> Result<Choice, EngineError> {
    let unavailable =
        |engine, error: &io::Error| EngineError::Unavailable { engine, cause: hint(error) };
    match workload.engine {
        EngineChoice::Auto => Ok(best(workload, stream, target)),
        EngineChoice::Uring => {
            uring::probe().map_err(|e| unavailable("uring", &e))?;
            Ok(Choice::new(EngineChoice::Uring, "asked for"))
        }
        EngineChoice::Aio => {
            aio::probe().map_err(|e| unavailable("aio", &e))?;
            Ok(Choice::new(EngineChoice::Aio, "asked for"))
        }
        asked => Ok(Choice::new(asked, "asked for")),
    }
}

/// What an error of a backend's set-up means, as far as that is known.
fn hint(error: &io::Error) -> String {
    let why = match error.raw_os_error() {
        Some(libc::ENOSYS) => " (the kernel does not have it)",
        Some(libc::EPERM) => {
            " (forbidden by the system: see kernel.io_uring_disabled, or the seccomp profile of the container)"
        }
        Some(libc::EAGAIN) => " (the system's limit is reached: see fs.aio-max-nr)",
        Some(libc::ENOMEM) => " (the limit of locked memory is reached: see ulimit -l)",
        _ => "",
    };
    format!("{error}{why}")
}

fn best(workload: &Workload, stream: &Stream, target: &PreparedTarget) -> Choice {
    if stream.depth == 1 {
        let reason = "at depth 1 plain pread/pwrite has the least overhead";
        return Choice::new(EngineChoice::Sync, reason);
    }
    let mut reasons = Vec::new();
    let nowait = workload.mode == Mode::Buffered || supports_nowait(stream, target);
    if nowait {
        match uring::probe() {
            Ok(()) => {
                return Choice::new(EngineChoice::Uring, "the fastest that works on this target");
            }
            Err(error) => reasons.push(format!("io_uring cannot be used: {}", hint(&error))),
        }
    } else {
        reasons.push(
            "this target has no non-blocking I/O, so io_uring would hand each I/O to a kernel thread".to_owned(),
        );
    }
    match aio::probe() {
        Ok(()) => Choice::new(EngineChoice::Aio, reasons.join("; ")),
        Err(error) => {
            reasons.push(format!("aio cannot be used: {}", hint(&error)));
            Choice::new(EngineChoice::Uring, reasons.join("; "))
        }
    }
}

/// Whether an I/O that would wait can be refused at once: what io_uring needs to stay in the submitting thread.
fn supports_nowait(stream: &Stream, target: &PreparedTarget) -> bool {
    let Ok(file) = ready::open_for_io(target, Mode::Direct, stream) else { return true };
    extents::read_nowait(&file, target.direct_align_bytes)
}

/// Starts the thread of one worker.
pub(crate) fn spawn(
    workload: &Workload,
    stream: &Stream,
    place: Place,
    target: &PreparedTarget,
    plan: BufferPlan,
    choice: Choice,
    job: Job,
) -> Result<(), EngineError> {
    let artificial = choice.kind == EngineChoice::Null;
    let file =
        if artificial { None } else { Some(ready::open_for_io(target, workload.mode, stream)?) };
    let setup = thread::Setup::new(stream, place.rank);
    let completion = workload.completion;
    let body = move || {
        if let Err(error) = setup.apply() {
            return job.fail(error);
        }
        let Choice { kind, reason } = choice;
        match (kind, file) {
            (EngineChoice::Uring, Some(file)) => {
                match uring::UringQueue::new(file, plan, completion) {
                    Ok((queue, features)) => {
                        job.run(queue, Backend { name: "uring", reason, features });
                    }
                    Err(error) => {
                        job.fail(EngineError::Unavailable { engine: "uring", cause: hint(&error) });
                    }
                }
            }
            (EngineChoice::Aio, Some(file)) => match aio::AioQueue::new(file, plan, completion) {
                Ok(queue) => job.run(queue, Backend { name: "aio", reason, features: Vec::new() }),
                Err(error) => {
                    job.fail(EngineError::Unavailable { engine: "aio", cause: hint(&error) });
                }
            },
            (EngineChoice::Sync, Some(file)) => run_sync(file, plan, reason, job),
            _ => match NullQueue::new(plan) {
                Ok(queue) => job.run(queue, Backend { name: "null", reason, features: Vec::new() }),
                Err(error) => job.fail(memory_error(plan, error)),
            },
        }
    };
    std::thread::Builder::new()
        .name(format!("{}-{}", stream.name, place.thread))
        .spawn(body)
        .map(|_| ())
        .map_err(|source| EngineError::Thread {
            what: "start a thread".to_owned(),
            source,
            remedy: "use fewer threads and a larger depth",
        })
}

fn run_sync(file: File, plan: BufferPlan, reason: String, job: Job) {
    match sync::SyncQueue::new(file, plan) {
        Ok(queue) => job.run(queue, Backend { name: "sync", reason, features: Vec::new() }),
        Err(error) => job.fail(memory_error(plan, error)),
    }
}
