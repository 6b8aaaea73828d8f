//! Reads what the writer has left, and says what of its promises is there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::{Filling, Permissions, PrepareError, Prepared, Refusal};
use integrity::durability::{Header, VerifyError, conclude, verify};
use results::{Durability, WriterEnd};
use survey::Progress;
use workload::{Bytes, EngineChoice, Workload};

use super::layout::workload_of;
use super::witness::Source;
use crate::conduct::{JobError, Relay};

/// How long files may still be in use by a program that was killed: the kernel ends its I/Os after
/// it.
const LAST_IOS: Duration = Duration::from_secs(30);
/// Lengths are cut to a multiple of this, which every alignment divides.
const WHOLE_BYTES: u64 = 4096;
/// Time between two reports on the progress of the check.
const SAID_EVERY: Duration = Duration::from_secs(10);

/// Checks a run; `written` is how often the writer was let continue, and how it ended. Files are
/// only read.
pub(super) fn check(
    (header, source): (&Header, &Source),
    written: (Option<u32>, WriterEnd),
    engine: EngineChoice,
    relay: &Relay<'_>,
    stop: &AtomicBool,
) -> Result<Durability, JobError> {
    let mut there = header.clone();
    let mut available = Vec::new();
    for target in &mut there.targets {
        target.size_bytes = bytes_of(target)?;
        available.push(target.size_bytes);
    }
    relay.notice("reading everything that was written".to_owned());
    // A user who interrupts the writer still wants the result; a second signal ends the program.
    let interrupted = stop.load(Ordering::Relaxed);
    let stops = || !interrupted && stop.load(Ordering::Relaxed);
    let workload = workload_of(&there, engine, false);
    let mut show = |event: &engine::Event| relay.hear(&Progress::Engine(event));
    let prepared = prepare_left(&workload, &Permissions::default(), &mut show)?;
    // A writer that outlived its parent has ended by now: before that, it promised more and more.
    let (_, state) = source.read()?;
    let (mut queue, _) = engine::open_queue(&workload, &prepared, 0)?;
    let total: u64 = available.iter().sum();
    let (mut read, mut said) = (0u64, Instant::now());
    let mut progress = |bytes: u64| {
        read += bytes;
        if said.elapsed() >= SAID_EVERY {
            said = Instant::now();
            relay.notice(format!("{} of {} read", Bytes(read), Bytes(total)));
        }
    };
    let checked = verify(header, &state, queue.as_mut(), &available, &stops, &mut progress);
    let checked = checked.map_err(|error| match error {
        VerifyError::Interrupted => JobError::Interrupted(error.to_string()),
        _ => JobError::CannotRun(error.to_string()),
    })?;
    Ok(conclude((header, &state), &checked, written))
}

/// The bytes of a target that are there: a file may have become shorter.
fn bytes_of(target: &integrity::durability::Target) -> Result<u64, JobError> {
    let (path, size) = (target.path.display(), target.size_bytes);
    let metadata = std::fs::metadata(&target.path).map_err(|error| {
        JobError::CannotRun(format!(
            "cannot look at `{path}`: {error}; is its file system mounted where it was? If the \
             file itself is gone, everything that was promised in it is lost"
        ))
    })?;
    if !metadata.is_file() || metadata.len() >= size {
        return Ok(size);
    }
    let left = metadata.len() / WHOLE_BYTES * WHOLE_BYTES;
    if left == 0 {
        return Err(JobError::CannotRun(format!(
            "`{path}` has {} bytes and had {size}: everything that was promised in it is lost",
            metadata.len()
        )));
    }
    Ok(left)
}

/// Opens what an earlier process has left, as it is.
pub(super) fn prepare_left(
    workload: &Workload,
    permissions: &Permissions,
    show: &mut dyn FnMut(&engine::Event),
) -> Result<Prepared, PrepareError> {
    let fillings = vec![Filling::AsItIs; workload.targets.len()];
    let (never, until) = (AtomicBool::new(false), Instant::now() + LAST_IOS);
    loop {
        match engine::prepare_as(workload, permissions, &fillings, &never, show) {
            Err(PrepareError::Refused(refusals))
                if Instant::now() < until
                    && refusals.iter().all(|r| matches!(r, Refusal::InUse { .. })) =>
            {
                std::thread::sleep(Duration::from_millis(20));
            }
            prepared => return prepared,
        }
    }
}
