//! After a run through the page cache: did the storage take what was written?

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use results::ErrorRecord;

use crate::collect::WorkerTotals;
use crate::error::{kind_of, message_of};
use crate::platform;
use crate::prepared::{Prepared, PreparedTarget};
use crate::queue::Op;
use crate::teams::Place;

/// How long what the page cache still holds is written out.
const WRITE_OUT: Duration = Duration::from_secs(5);

/// Writes out what the page cache still holds of what was written; the errors of storage that does
/// not take it. Such storage fails no I/O of a run through the cache: only this shows it.
pub(crate) fn lost(
    prepared: &Prepared,
    workers: &[WorkerTotals],
    places: &[Place],
    stop: &AtomicBool,
) -> Vec<ErrorRecord> {
    let until = Instant::now() + WRITE_OUT;
    let goes_on = || Instant::now() < until && !stop.load(Ordering::Relaxed);
    let lost = |(index, target): (usize, &PreparedTarget)| {
        let mut mine = workers.iter().zip(places).filter(|(_, place)| place.target == index);
        let is_written = mine.any(|(worker, _)| worker.counts.tallies[Op::Write.kind()].ios > 0);
        let file = target.file.as_ref().filter(|_| is_written)?;
        let written = platform::write_out(file, target.size_bytes(), goes_on);
        let (first_offset_bytes, error) = written.err()?;
        let errno = error.raw_os_error().unwrap_or_default();
        Some(ErrorRecord {
            kind: kind_of(errno),
            operation: Op::Fsync.name().to_owned(),
            path: target.path().to_owned(),
            count: 1,
            first_offset_bytes,
            message: message_of(errno),
        })
    };
    prepared.targets().iter().enumerate().filter_map(lost).collect()
}
