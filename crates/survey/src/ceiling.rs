//! The tool ceiling: the rate of iosonde on this host when there is no I/O to do.

use std::sync::atomic::AtomicBool;

use engine::{Event, Permissions};
use results::Status;
use workload::{EngineChoice, Stream, Target, Workload};

use crate::measure::{Site, measure};

/// I/Os a second of one thread that does everything but the I/O; `None` if that could not be
/// measured.
pub(crate) fn tool_ceiling(stop: &AtomicBool) -> Option<f64> {
    let target = Target { path: "null".into(), size_bytes: None };
    let stream = Stream { depth: 32, ..Stream::default() };
    let workload = Workload {
        engine: EngineChoice::Null,
        seconds: 0.3,
        warmup_seconds: 0.1,
        ..Workload::single(target, stream)
    };
    // It opens nothing, so there is nothing that could go wrong but threads, which would fail what
    // follows, too.
    let nothing = Permissions::default();
    let prepared = engine::prepare(&workload, &nothing, stop, &mut |_: &Event| ()).ok()?;
    let measured =
        measure(&workload, &prepared, &Site::of(&workload), stop, &mut |_: &Event| ()).ok()?;
    (measured.status == Status::Complete).then_some(measured.total.iops)
}
