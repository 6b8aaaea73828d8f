//! What writing a test file may take, of space and of time.

use std::sync::atomic::AtomicBool;

use engine::{Event, PrepareError};
use inspect::Storage;
use workload::{Bytes, Stream};

use crate::lab::Setup;

/// The speed of writing is learnt on a file of this size.
pub(crate) const PROBE_BYTES: u64 = 256 << 20;
/// A test file takes at most this share of the free space.
const SPACE_SHARE: u64 = 2;

/// How large a new test file may be here; without limit where the free space is not known.
pub(crate) fn space_bytes(storage: &[Storage]) -> u64 {
    let system = storage.first().and_then(|s| s.file_system.as_ref());
    system.map_or(u64::MAX, |fs| fs.available_bytes / SPACE_SHARE)
}

/// Writes a file of at most this size and of no more than is needed, removes it, and gives bytes
/// per second; `None` if nothing had to be written.
pub(crate) fn speed_bytes_per_s(
    setup: &Setup,
    at_most: Bytes,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Event),
) -> Result<Option<f64>, PrepareError> {
    let mut setup = setup.clone();
    let size = Bytes(PROBE_BYTES.min(at_most.0) >> 12 << 12);
    setup.targets.iter_mut().for_each(|t| t.size_bytes = Some(size));
    setup.permissions.keep = false;
    let workload = setup.workload(vec![Stream { write_percent: 100, ..Stream::default() }]);
    let mut speed = None;
    let mut note = |event: &Event| {
        if let Event::Filling { bytes_per_s, .. } = event {
            speed = Some(*bytes_per_s);
        }
        observe(event);
    };
    drop(engine::prepare(&workload, &setup.permissions, stop, &mut note)?);
    Ok(speed)
}
