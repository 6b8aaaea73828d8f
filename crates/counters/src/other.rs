//! Systems whose counters iosonde does not read yet.

use std::path::Path;

use crate::{CountersError, Sample};

/// Stands where the counter files of a supported system would be.
#[derive(Debug)]
pub(crate) struct Source;

const UNAVAILABLE: CountersError = CountersError::Unavailable { system: std::env::consts::OS };

impl Source {
    pub(crate) fn open(_root: &Path, _devices: &[String]) -> Result<Self, CountersError> {
        Err(UNAVAILABLE)
    }

    #[expect(clippy::unused_self, reason = "the signature is that of every system")]
    pub(crate) fn sample(&mut self, _devices: &[String]) -> Result<Sample, CountersError> {
        Err(UNAVAILABLE)
    }
}
