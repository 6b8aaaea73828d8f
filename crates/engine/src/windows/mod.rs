//! Windows, and every other system without backends of its own yet: simulated and null targets
//! only.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use workload::{EngineChoice, Stream, Workload};

use crate::buffers::BufferPlan;
use crate::error::EngineError;
use crate::event::Event;
use crate::job::Job;
use crate::mark::Mark;
use crate::null::NullQueue;
use crate::prepare::Filling;
use crate::prepared::{Cleaned, Permissions, PrepareError, PreparedTarget, Refusal, TargetPlan};
use crate::queue::Queue;
use crate::run::{Backend, memory_error};

/// The backend of a stream: there is one.
#[derive(Debug, Clone)]
pub(crate) struct Choice;

fn not_yet(engine: &'static str) -> EngineError {
    EngineError::Unavailable { engine, cause: "it is not made for this system yet".to_owned() }
}

/// Takes the null backend, or says that there is no other.
pub(crate) fn choose(
    workload: &Workload,
    _in_flight: u64,
    _targets: &[(&Stream, &PreparedTarget)],
) -> Result<Choice, EngineError> {
    match workload.engine {
        EngineChoice::Null => Ok(Choice),
        asked => Err(not_yet(asked.name())),
    }
}

/// Starts one thread.
pub(crate) fn spawn(
    _workload: &Workload,
    _stream: &Stream,
    _rank: u32,
    _targets: &[(&Stream, &PreparedTarget)],
    plan: BufferPlan,
    _choice: Choice,
    job: Job,
) -> Result<(), EngineError> {
    std::thread::spawn(move || match NullQueue::new(plan) {
        Ok(queue) => {
            let reason = "asked for".to_owned();
            job.run(queue, plan, Backend { name: "null", reason, features: Vec::new() });
        }
        Err(error) => job.fail(memory_error(plan, error)),
    });
    Ok(())
}

/// The system is not asked.
pub(crate) fn allowed_cpus() -> Vec<u32> {
    Vec::new()
}

/// Opens a queue of the null backend.
pub(crate) fn open_queue(
    _workload: &Workload,
    _targets: &[(&Stream, &PreparedTarget)],
    plan: BufferPlan,
    _choice: Choice,
) -> Result<(Box<dyn Queue>, Backend), EngineError> {
    let queue = NullQueue::new(plan).map_err(|error| memory_error(plan, error))?;
    let reason = "asked for".to_owned();
    Ok((Box::new(queue), Backend { name: "null", reason, features: Vec::new() }))
}

/// There are no real targets.
pub(crate) fn plan_target(
    workload: &Workload,
    index: usize,
    _permissions: &Permissions,
    _earlier: &[TargetPlan],
) -> Result<TargetPlan, Refusal> {
    Err(Refusal::System { path: workload.targets[index].path.clone() })
}

/// There are no real targets.
pub(crate) fn prepare_target(
    workload: &Workload,
    (index, _filling): (usize, Filling),
    _permissions: &Permissions,
    _stop: &AtomicBool,
    _observe: &mut dyn FnMut(&Event),
) -> Result<PreparedTarget, PrepareError> {
    let path = workload.targets[index].path.clone();
    Err(PrepareError::Refused(vec![Refusal::System { path }]))
}

/// No file is made, so none is removed.
pub(crate) fn is_named(_file: &File, _path: &Path) -> bool {
    false
}

/// There are no test files, so none is finished.
pub(crate) fn finish(
    _target: &PreparedTarget,
    _written_bytes: u64,
    _mark: Mark,
) -> Result<(), PrepareError> {
    Ok(())
}

/// There are no test files, so none changes its size.
pub(crate) fn resize(
    _file: &File,
    _before: Mark,
    _after: Mark,
    _reserve: bool,
) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// There are no test files, so none is removed.
pub(crate) fn clean(_path: &Path, _kept: bool, _dry_run: bool) -> std::io::Result<Cleaned> {
    Ok(Cleaned::NotOurs)
}

/// There are no real targets to purge.
pub(crate) fn purge(_file: &File, _bytes: u64) -> std::io::Result<bool> {
    Ok(false)
}

/// Not told.
pub(crate) fn thread_cpu_ns() -> Option<u64> {
    None
}

/// Not told.
pub(crate) fn process_cpu() -> Option<(f64, f64)> {
    None
}

/// Not told.
pub(crate) fn has_large_pages() -> bool {
    false
}

/// Bytes of memory that are free, as far as the system tells.
pub(crate) fn available_memory() -> Option<u64> {
    None
}
