//! Handles a wrong page: reads it again, names the damage, and describes all that is known of it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use results::Persistence;

use crate::classify::{classify, examine, expected};
use crate::dump::dump;
use crate::ledger::Claim;
use crate::report::FaultReport;
use crate::shared::Shared;

/// Pages that are wrong are read again so often as the plan says only until there are so many: a
/// file of zeros would take days.
const PATIENT_FAULTS: u64 = 20;
/// Later wrong pages are read again at most so often.
const REREADS_LATER: u32 = 2;
/// The pause before a page is read again grows to this.
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// A page that was read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// When it was done, from the start of the run.
    pub after: Duration,
    /// The file, counted among those with pages.
    pub file: u16,
    /// The number of the page in its file.
    pub page: u64,
    /// The version that was written, or read and found right.
    pub version: u32,
    /// Whether it was written; otherwise it was read and was right.
    pub wrote: bool,
}

/// A page to be looked into.
pub(crate) struct Checks<'a, 'b> {
    pub shared: &'a Shared<'b>,
    pub file: u16,
    pub claim: &'a Claim,
}

/// Reads a page again into a buffer.
pub(crate) type Again<'a> = dyn FnMut(&mut Vec<u8>) -> io::Result<()> + 'a;

impl Checks<'_, '_> {
    /// Finds out what is wrong with a read, and notes it; `None` if nothing is wrong.
    pub(crate) fn look_into(&self, found: &[u8], again: &mut Again<'_>) -> Option<Persistence> {
        let Self { shared, file, claim } = *self;
        let mut examined = examine(&shared.format, file, claim, found)?;
        examined.recognise(&shared.blocks, found);
        let over = || shared.is_broken() || shared.stop.load(Ordering::Relaxed);
        let mut bytes = Vec::new();
        let again = reread(shared, &over, &mut || {
            again(&mut bytes).ok()?;
            Some(examine(&shared.format, file, claim, &bytes).is_none())
        });
        let place = shared.file(file);
        let offset_bytes = place.offset(claim.page);
        let through_cache = cached(&place.path, offset_bytes, shared.format.page_bytes()).ok();
        let is_right = |bytes: Vec<u8>| examine(&shared.format, file, claim, &bytes).is_none();
        let expected = expected(&shared.format, file, claim);
        shared.fault(FaultReport {
            fault: classify(file, claim, examined, again.kept),
            path: place.path.clone(),
            offset_bytes,
            found_after: shared.since_start(),
            written_after: claim.written_after,
            rereads: again.rereads,
            rereads_planned: again.planned,
            right_cached: through_cache.map(is_right),
            dump: dump(&expected, found),
            history: shared.history_of(file, claim.page),
        });
        Some(again.kept)
    }
}

/// What reading something again has shown.
pub(crate) struct Reread {
    pub kept: Persistence,
    /// How often it could be read again.
    pub rereads: u32,
    /// How often it was to be, unless it is right before.
    pub planned: u32,
}

/// Reads something that was wrong again, until it is right, or was read often enough, or the run is
/// over. `is_right` has no answer where it cannot be read.
pub(crate) fn reread(
    shared: &Shared<'_>,
    is_over: &dyn Fn() -> bool,
    is_right: &mut dyn FnMut() -> Option<bool>,
) -> Reread {
    let known = shared.fault_count.load(Ordering::Relaxed) + shared.log_fault_count();
    let most = shared.plan.rereads;
    let planned = if known < PATIENT_FAULTS { most } else { most.min(REREADS_LATER) };
    let (mut tries, mut rereads, mut right) = (0, 0, false);
    let mut pause = Duration::from_micros(500);
    // Once at least, or nobody knew whether it stays.
    while tries < planned && !right && (tries == 0 || !is_over()) {
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE_MAX);
        tries += 1;
        if let Some(is_right) = is_right() {
            (rereads, right) = (rereads + 1, is_right);
        }
    }
    let kept = if right { Persistence::Transient } else { Persistence::Persistent };
    Reread { kept, rereads, planned }
}

/// What a file holds, through the cache of the operating system.
pub(crate) fn cached(path: &Path, offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut found = vec![0; bytes];
    file.read_exact(&mut found)?;
    Ok(found)
}
