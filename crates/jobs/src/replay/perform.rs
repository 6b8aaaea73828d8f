//! One replay on one target: a thread reads the trace, this one makes the I/Os.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use engine::{Permissions, Prepared, WriteContent};
use replay::{
    AddressMap, Contents, Figures, MapKind, Mode, PlayOptions, Selection, Step, Steps, Supply,
};
use serde::{Deserialize, Serialize};
use survey::Progress;
use trace::TraceError;
use workload::{Block, Bytes, EngineChoice, SimDevice, Stream, Target, Workload};

use super::host::Watch;
use super::part::opener;
use crate::conduct::{JobError, Relay};

/// Blocks of steps that are read ahead.
const BLOCKS_AHEAD: usize = 8;
/// Memory for the buffers of the I/Os in flight, and how many these may be.
const BUFFER_BYTES: u64 = 256 << 20;
const DEPTHS: (u64, u64) = (64, 1024);
/// The least size of a test file.
const SIZE_UNIT: u64 = 1 << 20;

/// The storage of a replay, and how it is accessed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayTarget {
    /// The file, device or directory.
    pub target: Target,
    /// The I/O engine that issues the I/Os.
    pub engine: EngineChoice,
    /// The simulated device of the engine `sim`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sim: Option<SimDevice>,
    /// Past the cache of the operating system, or through it.
    pub mode: workload::Mode,
    /// The seed of content and of simulated devices.
    pub seed: u64,
    /// The most I/Os in flight; chosen by the largest I/O where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

impl ReplayTarget {
    /// The settings of a workload, which all its targets share; [`at`](Self::at) chooses the
    /// target.
    #[must_use]
    pub fn of(workload: &Workload, depth: Option<u32>) -> Self {
        Self {
            target: Target { path: "sim".into(), size_bytes: None },
            engine: workload.engine,
            sim: workload.sim.clone(),
            mode: workload.mode,
            seed: workload.seed,
            depth,
        }
    }

    /// The same settings with another target.
    #[must_use]
    pub fn at(&self, target: &Target) -> Self {
        Self { target: target.clone(), ..self.clone() }
    }

    /// The workload that makes the target ready as the replay will use it.
    pub(crate) fn workload(&self, contents: &Contents, map: MapKind) -> Workload {
        let largest = contents.largest_bytes.max(1).next_multiple_of(4096);
        let stream = Stream {
            depth: self.depth_for(largest),
            blocks: vec![Block { bytes: Bytes(largest), weight: 1 }],
            write_percent: if contents.writes { 50 } else { 0 },
            ..Stream::default()
        };
        let needed = match map {
            MapKind::Identity => contents.end_bytes,
            _ => contents.touched_bytes(),
        };
        // A map over all of a target takes all that there is.
        let size = (map != MapKind::Stretched).then(|| {
            Bytes(needed.max(largest).checked_next_multiple_of(SIZE_UNIT).unwrap_or(needed))
        });
        let size_bytes = self.target.size_bytes.or(size);
        Workload {
            engine: self.engine,
            sim: self.sim.clone(),
            mode: self.mode,
            seed: self.seed,
            ..Workload::single(Target { size_bytes, ..self.target.clone() }, stream)
        }
    }

    fn depth_for(&self, largest: u64) -> u32 {
        let by_memory = (BUFFER_BYTES / largest).clamp(DEPTHS.0, DEPTHS.1);
        self.depth.unwrap_or_else(|| u32::try_from(by_memory).unwrap_or(u32::MAX)).max(1)
    }
}

/// Makes the target of a workload ready.
pub(super) fn prepare(
    workload: &Workload,
    (permissions, stop): (&Permissions, &AtomicBool),
    relay: &Relay<'_>,
) -> Result<Prepared, JobError> {
    let mut show = |event: &engine::Event| relay.hear(&Progress::Engine(event));
    Ok(engine::prepare(workload, permissions, stop, &mut show)?)
}

/// What a replay was, and what came of it.
pub(crate) struct Performed {
    pub(crate) figures: Figures,
    pub(crate) backend: &'static str,
    pub(crate) target_bytes: u64,
    pub(crate) depth: u32,
}

/// What one replay does, apart from its target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) selection: Selection,
    pub(crate) mode: Mode,
    pub(crate) map: MapKind,
    pub(crate) at_most_ns: u64,
}

/// Replays on a target that is ready. Each call on a simulated device begins with an idle one.
pub(crate) fn perform(
    trace: &Path,
    contents: &Contents,
    manner: &Manner,
    (workload, prepared): (&Workload, &Prepared),
    stop: &AtomicBool,
) -> Result<Performed, JobError> {
    let Some((target, facts)) = prepared.targets().first().zip(prepared.facts().first().copied())
    else {
        return Err(JobError::CannotRun("there is no target".to_owned()));
    };
    let target_bytes = target.size_bytes();
    let is_real = !workload.engine.is_artificial();
    let direct = is_real && workload.mode == workload::Mode::Direct;
    let align = if direct { facts.direct_align_bytes.max(512) } else { 512 };
    let map = AddressMap::new(manner.map, contents, target_bytes, align);
    let lacks = match manner.map {
        MapKind::Identity => contents.devices > 1 || contents.end_bytes > target_bytes,
        MapKind::Folded => false,
        MapKind::Compact | MapKind::Stretched => !map.fits(),
    };
    if lacks {
        return Err(too_small(contents, manner.map, target_bytes));
    }
    let (mut queue, backend) = engine::open_queue(workload, prepared, 0)?;
    let depth = workload.streams.first().map_or(1, |stream| stream.depth);
    let opening = opener(trace).map_err(|error| JobError::CannotRun(error.to_string()))?;
    let options = PlayOptions {
        mode: manner.mode,
        depth,
        at_most_ns: manner.at_most_ns,
        interval_ns: 10_000_000,
        span_ns: contents.span_at(manner.selection.speed),
        stop,
        // A target that is only read has no buffers to write from.
        content: (is_real && contents.writes).then(|| WriteContent::new(workload.seed)),
    };
    let (blocks, from_reader) = sync_channel(BLOCKS_AHEAD);
    let (give_back, used) = sync_channel(BLOCKS_AHEAD + 2);
    let played = thread::scope(|scope| {
        let selection = &manner.selection;
        scope.spawn(move || {
            let steps = Steps::new(&opening, selection, contents, map);
            feed(steps, &blocks, &used);
        });
        let mut supply = Fed { blocks: from_reader, used: give_back };
        let watch = is_real.then(Watch::begin);
        let mut played = replay::play(queue.as_mut(), &mut supply, options);
        if let (Some(watch), Ok(figures)) = (watch, &mut played) {
            watch.end(&mut figures.host);
        }
        played
    });
    let figures = played.map_err(|error| {
        JobError::CannotRun(format!("replay of `{}`: {error}", trace.display()))
    })?;
    Ok(Performed { figures, backend: backend.name, target_bytes, depth })
}

fn too_small(contents: &Contents, map: MapKind, target_bytes: u64) -> JobError {
    if map == MapKind::Identity && contents.devices > 1 {
        let text = format!(
            "the trace is of {} devices, whose offsets overlap; leave out --map, or use --map \
             compact",
            contents.devices
        );
        return JobError::Usage(text);
    }
    let needed =
        if map == MapKind::Identity { contents.end_bytes } else { contents.touched_bytes() };
    JobError::CannotRun(format!(
        "the trace uses {} and the target has {}; give it more with --size, or let parts of the \
         trace share their place with --map folded",
        Bytes(needed),
        Bytes(target_bytes)
    ))
}

/// Reads the trace ahead of the replay until that takes no more.
fn feed(
    steps: Result<Steps<'_>, TraceError>,
    blocks: &SyncSender<Result<Vec<Step>, TraceError>>,
    used: &Receiver<Vec<Step>>,
) {
    let mut steps = match steps {
        Ok(steps) => steps,
        Err(error) => {
            // Nobody is left to be told where this fails.
            let _ = blocks.send(Err(error));
            return;
        }
    };
    loop {
        let empty = used.try_recv().unwrap_or_default();
        let Some(block) = steps.next_block(empty).transpose() else { return };
        if blocks.send(block).is_err() {
            return;
        }
    }
}

/// Receives blocks of steps from the thread that makes them.
struct Fed {
    blocks: Receiver<Result<Vec<Step>, TraceError>>,
    used: SyncSender<Vec<Step>>,
}

impl Supply for Fed {
    fn next_block(&mut self, used: Vec<Step>) -> Result<Option<Vec<Step>>, TraceError> {
        let _ = self.used.try_send(used);
        self.blocks.recv().ok().transpose()
    }
}
