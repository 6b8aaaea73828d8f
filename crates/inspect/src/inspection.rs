//! The document of an inspection: the machine, and everything under each target.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Finding, Host, Partition, Severity, Storage};

/// The schema name of an [`Inspection`].
pub const INSPECTION_SCHEMA: &str = "iosonde.inspection/1";

/// How the storage is set up: `iosonde inspect --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inspection {
    /// Which document this is: always `iosonde.inspection/1`.
    pub schema: String,
    /// Version of iosonde that inspected.
    pub tool_version: String,
    /// When it was made, in UTC (RFC 3339).
    pub made: String,
    /// Whether the inspecting user was the administrator.
    pub privileged: bool,
    /// The machine and its settings.
    pub host: Host,
    /// Whether the machine's clock is kept by others'; absent if that is not known.
    pub clock_synchronised: Option<bool>,
    /// What was found out about each target.
    pub targets: Vec<Inspected>,
    /// All findings, the most serious first: on targets, on the machine, on several targets
    /// together.
    pub findings: Vec<Finding>,
    /// What could not be seen, and what would show it.
    pub hidden: Vec<String>,
}

impl Inspection {
    /// Moves the findings of the targets and of the machine into its own list, the most serious
    /// first, with their reasons.
    #[must_use]
    pub(crate) fn gathered(mut self) -> Self {
        let mut all = Vec::new();
        for target in &mut self.targets {
            let path = target.storage.path.to_string_lossy().into_owned();
            let found = std::mem::take(&mut target.storage.findings).into_iter();
            all.extend(found.map(|finding| Finding { target: Some(path.clone()), ..finding }));
        }
        all.append(&mut self.host.findings);
        all.append(&mut self.findings);
        crate::judged::sort(&mut all);
        self.findings = all.into_iter().map(Finding::explained).collect();
        self
    }

    /// The highest severity of all findings.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

/// One target and what can be found out about it next to its set-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inspected {
    /// How its storage is set up.
    pub storage: Storage,
    /// Where a file is; absent if it is not a file.
    pub extents: Option<Extents>,
    /// The whole disks under it, in the order of `storage.devices`.
    pub disks: Vec<Disk>,
}

/// What can be found out about a whole disk next to its set-up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disk {
    /// The kernel's name of the disk, such as `nvme0n1`.
    pub name: String,
    /// All its partitions, in the order of the disk.
    pub partitions: Vec<Partition>,
    /// The disk's report on its own state; absent if it has none or must not be asked.
    pub health: Option<Health>,
    /// Interrupts since the machine was started, by processor; empty where they cannot be told
    /// apart.
    pub interrupts: Vec<u64>,
}

/// Where a file is on its file system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extents {
    /// Length of the file in bytes.
    pub file_bytes: u64,
    /// Pieces that do not follow one another on the device.
    pub pieces: u64,
    /// The kernel's extents, of which several may be one piece.
    pub extents: u64,
    /// Bytes that are given out and written.
    pub written_bytes: u64,
    /// Bytes that are given out but were never written.
    pub unwritten_bytes: u64,
    /// Bytes that nothing is given out for.
    pub hole_bytes: u64,
    /// Bytes that other files have, too.
    pub shared_bytes: u64,
    /// Bytes that are compressed or encrypted, or whose place is not told.
    pub encoded_bytes: u64,
    /// Whether the map was cut short because the file has too many pieces.
    pub cut_short: bool,
}

/// What a disk says about its own state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Health {
    /// Where the figures come from, such as `NVMe health log`.
    pub source: String,
    /// Critical warnings in words; empty without warnings.
    pub critical: Vec<String>,
    /// Percent of its rated life that is used; may exceed 100.
    pub used_percent: Option<u64>,
    /// Percent of its spare blocks that are left.
    pub spare_percent: Option<u64>,
    /// Its temperature in degrees Celsius.
    pub temperature_c: Option<i64>,
    /// Times that it could not read or write its medium.
    pub media_errors: Option<u64>,
    /// Times that power failed without warning.
    pub unsafe_shutdowns: Option<u64>,
    /// For how many hours it was powered.
    pub power_on_hours: Option<u64>,
    /// How many bytes hosts have written to it.
    pub written_bytes: Option<u64>,
}

/// The planned use of the storage, as far as findings depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedLoad {
    /// I/Os in flight on each target.
    pub depth: Option<u64>,
}

/// What an inspection is made of.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The targets; if empty, all mounted file systems and disks.
    pub targets: Vec<PathBuf>,
    /// What the storage is wanted for.
    pub asked: PlannedLoad,
    /// Version of iosonde that inspects.
    pub tool_version: String,
    /// The moment, in UTC (RFC 3339).
    pub made: String,
}
