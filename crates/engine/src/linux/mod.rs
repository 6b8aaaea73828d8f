//! Linux: backends, threads, targets.

mod aio;
mod choose;
#[cfg(test)]
mod contract;
mod extents;
mod fault;
mod fill;
mod guard;
mod memory;
mod mmap;
mod ready;
mod sync;
mod targets;
mod thread;
mod uring;
mod vectors;

use std::fs::File;
use std::path::PathBuf;

use workload::{Stream, Workload};

use crate::buffers::BufferPlan;
use crate::error::EngineError;
use crate::job::Job;
use crate::null::NullQueue;
use crate::prepared::PreparedTarget;
use crate::run::{Backend, Place, memory_error};

use choose::Kind;

pub(crate) use choose::{Choice, choose};
pub(crate) use memory::available_memory;
pub(crate) use ready::prepare_target;
pub(crate) use targets::{is_named, plan_target};
pub(crate) use thread::{process_cpu, thread_cpu_ns};

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
    let artificial = choice.kind == Kind::Null;
    let file =
        if artificial { None } else { Some(ready::open_for_io(target, workload.mode, stream)?) };
    let setup = thread::Setup::new(stream, place.rank);
    let completion = workload.completion;
    let mapped = Mapped::new(stream, target);
    let body = move || {
        if let Err(error) = setup.apply() {
            return job.fail(error);
        }
        let Choice { kind, reason } = choice;
        match (kind, file) {
            (Kind::Uring, Some(file)) => match uring::UringQueue::new(vec![file], plan, completion)
            {
                Ok((queue, features)) => {
                    job.run(queue, plan, Backend { name: "uring", reason, features });
                }
                Err(error) => {
                    job.fail(EngineError::Unavailable {
                        engine: "uring",
                        cause: choose::hint(&error),
                    });
                }
            },
            (Kind::Aio, Some(file)) => match aio::AioQueue::new(vec![file], plan, completion) {
                Ok(queue) => {
                    job.run(queue, plan, Backend { name: "aio", reason, features: Vec::new() });
                }
                Err(error) => {
                    job.fail(EngineError::Unavailable {
                        engine: "aio",
                        cause: choose::hint(&error),
                    });
                }
            },
            (Kind::Sync, Some(file)) => run_sync(file, plan, reason, job),
            (Kind::Mmap, Some(file)) => mapped.run(file, plan, reason, job),
            _ => match NullQueue::new(plan) {
                Ok(queue) => {
                    job.run(queue, plan, Backend { name: "null", reason, features: Vec::new() });
                }
                Err(error) => job.fail(memory_error(plan, error)),
            },
        }
    };
    // No name may end the program: what cannot stand in the name of a thread is left out.
    let name: String = stream.name.chars().filter(|c| !c.is_control()).collect();
    std::thread::Builder::new()
        .name(format!("{name}-{}", place.thread))
        .spawn(body)
        .map(|_| ())
        .map_err(|source| EngineError::Thread {
            what: "start a thread".to_owned(),
            source,
            remedy: "use fewer threads and a larger depth",
        })
}

fn run_sync(file: File, plan: BufferPlan, reason: String, job: Job) {
    match sync::SyncQueue::new(vec![file], plan) {
        Ok(queue) => job.run(queue, plan, Backend { name: "sync", reason, features: Vec::new() }),
        Err(error) => job.fail(memory_error(plan, error)),
    }
}

/// How a target is mapped.
struct Mapped {
    path: PathBuf,
    size_bytes: u64,
    writes: bool,
    durable: bool,
}

impl Mapped {
    fn new(stream: &Stream, target: &PreparedTarget) -> Self {
        let (path, size_bytes) = (target.path().to_owned(), target.size_bytes());
        Self { path, size_bytes, writes: stream.writes(), durable: stream.durable }
    }

    fn run(self, file: File, plan: BufferPlan, reason: String, job: Job) {
        let Self { path, size_bytes, writes, durable } = self;
        let mapping = match mmap::Mapping::new(file, size_bytes, writes, durable) {
            Ok(mapping) => mapping,
            Err(source) => {
                let what = "copying, mapped into memory".to_owned();
                return job.fail(EngineError::Open { path, what, source });
            }
        };
        match mmap::MmapQueue::new(vec![mapping], plan) {
            Ok(queue) => {
                job.run(queue, plan, Backend { name: "mmap", reason, features: Vec::new() });
            }
            Err(error) => job.fail(memory_error(plan, error)),
        }
    }
}
