//! A queue for callers that decide themselves what to read and write, as the checks of data do.

use workload::{Stream, Workload};

use crate::buffers::BufferPlan;
use crate::error::EngineError;
use crate::platform;
use crate::prepared::{Prepared, PreparedTarget};
use crate::queue::Queue;
use crate::run::Backend;
use crate::teams::buffer_plan;

/// Opens a queue to the targets of one stream of a workload, as a thread of that stream would use
/// them, in the calling thread.
///
/// It has the depth and the buffers that the stream asks for. `Request::target` counts the stream's
/// targets, in its order.
pub fn open_queue(
    workload: &Workload,
    prepared: &Prepared,
    stream: usize,
) -> Result<(Box<dyn Queue>, Backend), EngineError> {
    open_queue_for(workload, prepared, stream, u32::MAX)
}

/// The same for I/Os of at most so many bytes, for streams that also have larger ones: small
/// buffers are close together.
pub fn open_queue_for(
    workload: &Workload,
    prepared: &Prepared,
    stream: usize,
    io_bytes: u32,
) -> Result<(Box<dyn Queue>, Backend), EngineError> {
    let nothing = || EngineError::Unavailable {
        engine: workload.engine.name(),
        cause: "the workload has no such stream or target".to_owned(),
    };
    let stream = workload.streams.get(stream).ok_or_else(nothing)?;
    let indexes = stream.target_indexes(workload.targets.len());
    let target = |index: &usize| Some((stream, prepared.targets().get(*index)?));
    let targets: Option<Vec<(&Stream, &PreparedTarget)>> = indexes.iter().map(target).collect();
    let targets = targets.filter(|t| !t.is_empty()).ok_or_else(nothing)?;
    let in_flight = stream.depth_of_thread(workload.targets.len());
    let choice = platform::choose(workload, in_flight, &targets)?;
    let plan = buffer_plan(stream, workload.targets.len());
    let plan = BufferPlan { bytes: plan.bytes.min(io_bytes), ..plan };
    platform::open_queue(workload, &targets, plan, choice)
}
