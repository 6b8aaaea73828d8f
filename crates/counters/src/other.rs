//! Systems whose counters iosonde does not read yet: every call reports that it is unsupported.

use std::path::Path;

use crate::{BlockDevice, CountersError, Sample, SystemSample, Unreported};

/// The stand-in for the counter files of a supported system.
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

/// Where the system's counters are read, as a text names it.
pub(crate) const SOURCES: &str = "none";

/// Amounts of a device that this system does not count.
pub(crate) fn unreported() -> Unreported {
    Unreported::default()
}

/// The same for all counters of the system.
#[derive(Debug)]
pub(crate) struct SystemSource;

impl SystemSource {
    pub(crate) fn open(_root: &Path) -> Result<Self, CountersError> {
        Err(UNAVAILABLE)
    }

    #[expect(clippy::unused_self, reason = "the signature is that of every system")]
    pub(crate) fn sample(&mut self) -> Result<SystemSample, CountersError> {
        Err(UNAVAILABLE)
    }
}

/// No device: this system's accounting is not known.
pub(crate) fn is_uncounted(_root: &Path, _device: &str) -> bool {
    false
}

/// No devices: this system's are not known.
pub(crate) fn devices(_root: &Path) -> Vec<BlockDevice> {
    Vec::new()
}
