//! Systems whose storage iosonde does not inspect yet.

use std::env;
use std::path::Path;
use std::thread;

use crate::host::UNKNOWN;
use crate::{Host, InspectError, Inspection, Processors, Request, Storage};

pub(crate) fn host(_root: &Path) -> Host {
    let cpus = thread::available_parallelism().map_or(0, std::num::NonZero::get);
    Host {
        hostname: env::var("COMPUTERNAME").unwrap_or_else(|_| UNKNOWN.to_owned()),
        os: env::consts::OS.to_owned(),
        kernel: UNKNOWN.to_owned(),
        cpu_model: UNKNOWN.to_owned(),
        cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
        memory_bytes: 0,
        memory_available_bytes: 0,
        virtualization: None,
        clocksource: None,
        ..Host::default()
    }
}

pub(crate) fn storage(_root: &Path, _target: &Path) -> Result<Storage, InspectError> {
    Err(InspectError::Unavailable { system: env::consts::OS })
}

pub(crate) fn open_without_waiting(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::File::open(path)
}

pub(crate) fn kind_of(_: &std::fs::Metadata) -> &'static str {
    "a device"
}

pub(crate) fn is_stream(_: &std::fs::Metadata) -> bool {
    false
}

pub(crate) fn processors(_root: &Path) -> Processors {
    Processors::default()
}

pub(crate) fn inspection(_root: &Path, _request: &Request) -> Result<Inspection, InspectError> {
    Err(InspectError::Unavailable { system: env::consts::OS })
}

pub(crate) fn recorded_inspection(
    _root: &Path,
    _request: &Request,
) -> Result<(Inspection, String), InspectError> {
    Err(InspectError::Unrecordable { system: env::consts::OS })
}
