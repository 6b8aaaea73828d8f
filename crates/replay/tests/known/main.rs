//! Replays whose outcome is known: a load on a device of known behaviour, recorded and replayed on
//! the same model.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the figures of these simulations are small and positive"
)]

mod database;
mod fit;
mod host;
mod hostile;
mod player;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Permissions, Queue};
use replay::{
    AddressMap, Contents, Figures, Ios, MapKind, Mode, PlayOptions, Selection, Steps, play,
};
use trace::{Io, TraceError};
use workload::{Block, Bytes, EngineChoice, SimDevice, Stream, Target, Workload};

/// In flight at most.
pub(crate) const DEPTH: u32 = 1024;

/// A trace in memory that can be opened again and again.
pub(crate) fn source(ios: &Arc<Vec<Io>>) -> impl Fn() -> Result<Ios, TraceError> + use<> {
    let ios = Arc::clone(ios);
    move || {
        let ios = Arc::clone(&ios);
        Ok(Box::new((0..ios.len()).map(move |index| Ok(ios[index]))))
    }
}

/// A queue to a simulated device that is idle.
pub(crate) fn queue(model: &SimDevice, size: u64, seed: u64) -> Box<dyn Queue> {
    let target = Target { path: "sim".into(), size_bytes: Some(Bytes(size)) };
    let stream = Stream {
        depth: DEPTH,
        blocks: vec![Block { bytes: Bytes(4096), weight: 1 }],
        write_percent: 50,
        ..Stream::default()
    };
    let workload = Workload {
        engine: EngineChoice::Sim,
        sim: Some(model.clone()),
        seed,
        ..Workload::single(target, stream)
    };
    let stop = AtomicBool::new(false);
    let prepared = engine::prepare(&workload, &Permissions::default(), &stop, &mut |_| ()).unwrap();
    engine::open_queue(&workload, &prepared, 0).unwrap().0
}

/// Replays I/Os on a device.
pub(crate) fn replayed(
    ios: &Arc<Vec<Io>>,
    selection: &Selection,
    mode: Mode,
    model: &SimDevice,
    seed: u64,
) -> Figures {
    replayed_on(ios, selection, mode, |size| queue(model, size, seed))
}

/// Replays I/Os on a queue to a target of a size.
pub(crate) fn replayed_on(
    ios: &Arc<Vec<Io>>,
    selection: &Selection,
    mode: Mode,
    queue: impl FnOnce(u64) -> Box<dyn Queue>,
) -> Figures {
    let open = source(ios);
    let contents = Contents::read(&open, selection).unwrap();
    let size = contents.touched_bytes().max(1 << 20);
    let map = AddressMap::new(MapKind::Compact, &contents, size, 512);
    let mut steps = Steps::new(&open, selection, &contents, map).unwrap();
    let options = PlayOptions {
        mode,
        depth: DEPTH,
        at_most_ns: u64::MAX,
        interval_ns: 1_000_000_000,
        span_ns: contents.span_ns,
        stop: &AtomicBool::new(false),
        content: None,
    };
    play(queue(size).as_mut(), &mut steps, options).unwrap()
}
