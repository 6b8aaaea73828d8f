//! Writes of the log and of data, told apart.

use std::path::Path;

use results::{CapturedPurpose, CapturedWrites};
use trace::profile::Profile;
use trace::{Kind, Logs, TraceError};

use crate::capture::kind;
use crate::replay::open;

/// What was written to the logs and what elsewhere; nothing where no log is known. Reads the trace
/// again.
pub(crate) fn writes(path: &Path, logs: &Logs) -> Result<Vec<CapturedWrites>, TraceError> {
    if logs.is_empty() {
        return Ok(Vec::new());
    }
    let mut profiles = [Profile::new(), Profile::new()];
    for io in open(path)? {
        let io = io?;
        if matches!(io.kind, Kind::Write | Kind::DurableWrite) {
            profiles[usize::from(!logs.is_log_write(&io))].add(&io);
        }
    }
    let purposes = [CapturedPurpose::Log, CapturedPurpose::Data].into_iter();
    let all = purposes.zip(profiles.map(Profile::finish));
    let found = all.filter(|(_, summary)| summary.ios > 0).map(|(purpose, summary)| {
        let sequential = summary.write_sequence.map(|s| 100.0 * (s.sequential + s.repeated));
        CapturedWrites {
            purpose,
            kinds: summary.kinds.iter().map(kind).collect(),
            sequential_percent: sequential.unwrap_or(0.0),
        }
    });
    Ok(found.collect())
}
