//! What is done about a page that is wrong: it is read again, named, and described with all that is known of it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::classify::{Kept, classify, examine, expected};
use crate::dump::dump;
use crate::ledger::Claim;
use crate::report::FaultReport;
use crate::shared::Shared;

/// Pages that are wrong are read again so often as the plan says only until there are so many: a file of zeros would take days.
const PATIENT_FAULTS: u64 = 20;
/// Others this often at most.
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
    /// The page.
    pub page: u64,
    /// The version that was written, or read and found right.
    pub version: u32,
    /// It was written.
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
    /// Finds out what is wrong with what was read, and notes it; none if nothing is.
    pub(crate) fn look_into(&self, found: &[u8], again: &mut Again<'_>) -> Option<Kept> {
        let Self { shared, file, claim } = *self;
        let examined = examine(&shared.format, file, claim, found)?;
        let (mut rereads, mut right) = (0, false);
        let (mut pause, mut bytes) = (Duration::from_micros(500), Vec::new());
        let over = || shared.is_broken() || shared.stop.load(Ordering::Relaxed);
        // Once at least, or nobody knew whether it stays.
        let patient = shared.fault_count.load(Ordering::Relaxed) < PATIENT_FAULTS;
        let most =
            if patient { shared.plan.rereads } else { shared.plan.rereads.min(REREADS_LATER) };
        while rereads < most && !right && (rereads == 0 || !over()) {
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
            rereads += 1;
            right =
                again(&mut bytes).is_ok() && examine(&shared.format, file, claim, &bytes).is_none();
        }
        let right_cached = self
            .read_cached()
            .ok()
            .map(|bytes| examine(&shared.format, file, claim, &bytes).is_none());
        let kept = if right { Kept::Transient } else { Kept::Persistent };
        let place = shared.file(file);
        let expected = expected(&shared.format, file, claim);
        shared.fault(FaultReport {
            fault: classify(file, claim, examined, kept),
            path: place.path.clone(),
            offset_bytes: place.offset(claim.page),
            found_after: shared.since_start(),
            written_after: claim.written_after,
            rereads,
            right_cached,
            dump: dump(&expected, found),
            history: shared.history_of(file, claim.page),
        });
        Some(kept)
    }

    /// The page through the cache of the operating system.
    fn read_cached(&self) -> io::Result<Vec<u8>> {
        let place = self.shared.file(self.file);
        let mut file = File::open(&place.path)?;
        file.seek(SeekFrom::Start(place.offset(self.claim.page)))?;
        let mut bytes = vec![0; self.shared.format.page_bytes()];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
