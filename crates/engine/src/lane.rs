//! A queue for callers that decide themselves what they read and write: what checks data, and what
//! replays a trace.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::Device;
use workload::{Content, EngineChoice, Stream, Workload};

use crate::buffers::BufferPlan;
use crate::content;
use crate::error::EngineError;
use crate::platform;
use crate::prepared::{Prepared, PreparedTarget};
use crate::queue::Queue;
use crate::random::Random;
use crate::run::{Backend, memory_error};
use crate::sim::SimQueue;
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
    let plan = buffer_plan(stream, workload.targets.len());
    let plan = BufferPlan { bytes: plan.bytes.min(io_bytes), ..plan };
    if workload.engine == EngineChoice::Sim {
        return simulated(workload, prepared, &indexes, stream.durable, plan);
    }
    let choice = platform::choose(workload, in_flight, &targets)?;
    platform::open_queue(workload, &targets, plan, choice)
}

/// A queue to a simulated device that is idle, on a virtual clock that the queue alone moves: its
/// `wait` does. Every call makes another device.
fn simulated(
    workload: &Workload,
    prepared: &Prepared,
    indexes: &[usize],
    durable: bool,
    plan: BufferPlan,
) -> Result<(Box<dyn Queue>, Backend), EngineError> {
    let sizes: Vec<u64> = prepared.targets().iter().map(PreparedTarget::size_bytes).collect();
    let model = workload.sim.clone().unwrap_or_default();
    let device = Rc::new(RefCell::new(Device::new(&model, &sizes, workload.seed)));
    // The virtual clock starts at 1, so that a time of zero can mean "none".
    let clock = Rc::new(Cell::new(1));
    let targets = indexes.iter().map(|index| (*index, durable)).collect();
    let queue = SimQueue::new(&device, &clock, plan, targets).map_err(|e| memory_error(plan, e))?;
    let backend =
        Backend { name: "sim", reason: "asked for".into(), features: Vec::new(), late: None };
    Ok((Box::new(queue), backend))
}

/// What a caller's writes carry: bytes that storage can neither compress nor recognise.
#[derive(Debug)]
pub struct WriteContent {
    random: Random,
    serial: u64,
}

impl WriteContent {
    /// Content that follows from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed, 0), serial: seed }
    }

    /// Fills a write buffer, once before the run.
    pub fn prepare(&mut self, buffer: &mut [u8]) {
        content::prepare(Content::Random, buffer, &mut self.random);
    }

    /// Makes the first bytes of a prepared buffer differ from everything that was written before.
    pub fn freshen(&mut self, buffer: &mut [u8], bytes: usize) {
        content::freshen(Content::Random, &[], buffer, bytes, &mut self.serial);
    }
}
