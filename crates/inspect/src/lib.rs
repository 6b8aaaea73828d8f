//! How the storage is set up: the host, the file system, the chain of devices under it, and what a
//! DBA should know about them before trusting a figure ([`Finding`]s).
//!
//! An [`Inspector`] only looks; it changes no setting and issues no I/O to the storage. What a
//! system does not say, or says in a way that cannot be understood, is left out and is never an
//! error: only a target that cannot be examined at all is one.

use std::io;
use std::path::{Path, PathBuf};

mod databases;
#[cfg(any(target_os = "linux", windows))]
pub mod files;
mod finding;
mod host;
mod inspection;
mod judged;
mod layer;
mod link;
mod lossy_path;
mod medium;
#[cfg(any(target_os = "linux", windows, test))]
mod nvme_health;
mod processors;
pub mod reading;
mod rules;
mod shell_word;
mod signatures;
mod storage;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod platform;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "other.rs"]
mod platform;
// What needs only the answers of Windows, which is tested on every system.
#[cfg(any(windows, test))]
#[path = "windows/answers.rs"]
mod windows_answers;
#[cfg(any(windows, test))]
#[path = "windows/examine.rs"]
mod windows_examine;
#[cfg(any(windows, test))]
#[path = "windows/findings.rs"]
mod windows_findings;
#[cfg(any(windows, test))]
#[path = "windows/guards.rs"]
mod windows_guards;
#[cfg(any(windows, test))]
#[path = "windows/layers.rs"]
mod windows_layers;
#[cfg(any(windows, test))]
#[path = "windows/management.rs"]
mod windows_management;
#[cfg(any(windows, test))]
#[path = "windows/mof.rs"]
mod windows_mof;
#[cfg(any(windows, test))]
#[path = "windows/recorder.rs"]
mod windows_recorder;
#[cfg(test)]
#[path = "windows/replay.rs"]
mod windows_replay;
#[cfg(any(windows, test))]
#[path = "windows/structures.rs"]
mod windows_structures;

pub use databases::{database_name, database_sign};
pub use finding::{Evidence, Finding, Severity};
pub use host::{Host, Settings, is_zero};
pub use inspection::{
    Disk, Extents, Health, INSPECTION_SCHEMA, Inspected, Inspection, PlannedLoad, Request,
};
pub use layer::{Layer, LayerKind, Raid, RaidMember, StoragePath, ThinSpace};
pub use link::{Link, giga_per_s};
pub use medium::Medium;
#[cfg(target_os = "linux")]
pub use platform::{Extent, Writeback, extent_map};
pub use processors::{Processor, Processors};
pub use rules::{Rule, rule, rules};
pub use shell_word::shell_word;
pub use signatures::{Signature, SignatureKind, signatures};
pub use storage::{Device, FileSystem, Partition, Storage, TargetAttribute, TargetKind};

/// The first line of a recording of the answers of a system.
pub const ANSWERS: &str = "iosonde.answers/1";

/// Why a target could not be examined.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// Neither the target nor the directory it would be in exists.
    #[error("{} does not exist, nor does the directory it would be in", path.display())]
    Missing {
        /// The target as the user named it.
        path: PathBuf,
    },
    /// The target exists but the operating system does not let it be examined.
    #[error("cannot examine {}: {source}", path.display())]
    Unreadable {
        /// The path that could not be read.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The target is a pipe, a socket or the like.
    #[error("{} is neither a directory nor a file nor a device, so it has no \
        storage", path.display())]
    NotStorage {
        /// The target as the user named it.
        path: PathBuf,
    },
    /// Inspection is not implemented for this operating system.
    #[error("how storage is set up is not available on this system yet ({system})")]
    Unavailable {
        /// The name of the operating system.
        system: &'static str,
    },
    /// The answers of this operating system are not recorded.
    #[error("answers of the system can only be recorded on Windows, and this is {system}")]
    Unrecordable {
        /// The name of the operating system.
        system: &'static str,
    },
    /// The recording of answers could not be written.
    #[error("cannot write the recording of answers: {source}")]
    Unwritable {
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Looks at the host and at the storage of targets.
#[derive(Debug, Clone)]
pub struct Inspector {
    root: PathBuf,
}

impl Inspector {
    /// An inspector of the running system.
    #[must_use]
    pub fn new() -> Self {
        Self::with_root(Path::new("/"))
    }

    /// An inspector that reads `root`/proc, `root`/sys, `root`/etc and `root`/dev instead of the
    /// system's own. Targets are still paths of the running system.
    #[must_use]
    pub fn with_root(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The machine and its operating system.
    #[must_use]
    pub fn host(&self) -> Host {
        platform::host(&self.root)
    }

    /// The logical processors; `None` if the system does not tell.
    #[must_use]
    pub fn processors(&self) -> Processors {
        platform::processors(&self.root)
    }

    /// The storage of `target`: a directory, a file or a device, or a file yet to be made in a
    /// directory that exists.
    pub fn storage(&self, target: &Path) -> Result<Storage, InspectError> {
        platform::storage(&self.root, target)
    }

    /// Inspects targets without changing anything: their storage, the place of files, the disks'
    /// own reports. Without targets, all mounted file systems on block devices and all other disks.
    ///
    /// Findings carry their reasons. A target that cannot be examined is an error.
    pub fn inspection(&self, request: &Request) -> Result<Inspection, InspectError> {
        platform::inspection(&self.root, request)
    }

    /// The same, and hands over a text with every answer of the system as bytes, from which tests
    /// make a machine like this one. Paths, names of volumes, serial numbers and identities of
    /// disks are left out. Only Windows can be recorded.
    pub fn record(
        &self,
        request: &Request,
        write: impl FnOnce(&str) -> io::Result<()>,
    ) -> Result<Inspection, InspectError> {
        let (inspection, recording) = platform::recorded_inspection(&self.root, request)?;
        write(&recording).map_err(|source| InspectError::Unwritable { source })?;
        Ok(inspection)
    }
}

impl Default for Inspector {
    fn default() -> Self {
        Self::new()
    }
}
