//! The machine: processors, memory, kernel and settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Finding;

/// The machine and its operating system. A text the system does not give is `unknown`, a number 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// The network name of the machine.
    pub hostname: String,
    /// The operating system's name and version, such as `Debian GNU/Linux 12 (bookworm)`.
    pub os: String,
    /// The kernel's release, such as `6.1.0-18-amd64`.
    pub kernel: String,
    /// The model of the processor, as the system reports it.
    pub cpu_model: String,
    /// How many logical processors are online; absent, as 0 here, where they are not known.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub cpus: u32,
    /// Memory the operating system has, in bytes; absent, as 0 here, where it is not known.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub memory_bytes: u64,
    /// Memory that programs could still get without swapping, in bytes; absent, as 0 here, where it
    /// is not known.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub memory_available_bytes: u64,
    /// The hypervisor, as far as it can be told; None on bare metal, or where nothing shows one.
    pub virtualization: Option<String>,
    /// Where the kernel takes the time from, such as `tsc` or `kvm-clock`.
    pub clocksource: Option<String>,
    /// The machine's maker and model, as its firmware has them; clouds write the type of the
    /// instance here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Settings of the kernel that storage depends on; None if they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// Findings about the machine, the most serious first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Whether a figure is 0, which means that it is not known: such a figure is absent in documents.
#[must_use]
pub fn is_zero<T: Default + PartialEq>(figure: &T) -> bool {
    *figure == T::default()
}

/// Settings of the kernel that storage depends on; absent if the system does not report them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Settings {
    /// How readily the kernel takes memory of programs for its page cache, 0 to 200
    /// (`vm.swappiness`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swappiness: Option<u64>,
    /// Percent of memory that may be dirty before writers have to wait (`vm.dirty_ratio`); 0 where
    /// bytes are set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_ratio_percent: Option<u64>,
    /// Percent of memory that may be dirty before it is written back (`vm.dirty_background_ratio`);
    /// 0 where bytes are set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_background_percent: Option<u64>,
    /// Bytes that may be dirty before writers have to wait (`vm.dirty_bytes`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// Bytes that may be dirty before they are written back (`vm.dirty_background_bytes`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_background_bytes: Option<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages: Option<String>,
    /// What chooses the processors' frequency, such as `performance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Filters of file systems that run on Windows, with what they are for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// How many NUMA nodes are online.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa_nodes: Option<u32>,
    /// Devices and files that memory is swapped to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub swap: Vec<String>,
}

/// The text where the system gives none.
pub(crate) const UNKNOWN: &str = "unknown";
