//! The machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine and its operating system. A text the system does not give is `unknown`, a number 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// The machine's name.
    pub hostname: String,
    /// The operating system's name and version, such as `Debian GNU/Linux 12 (bookworm)`.
    pub os: String,
    /// The kernel's release, such as `6.1.0-18-amd64`.
    pub kernel: String,
    /// The processor's model.
    pub cpu_model: String,
    /// Logical processors online.
    pub cpus: u32,
    /// Memory the operating system has, in bytes.
    pub memory_bytes: u64,
    /// Memory that programs could still get without swapping, in bytes.
    pub memory_available_bytes: u64,
    /// The hypervisor, as far as it can be told; None on bare metal, or where nothing shows one.
    pub virtualization: Option<String>,
    /// Where the kernel takes the time from, such as `tsc` or `kvm-clock`.
    pub clocksource: Option<String>,
}

/// What stands for a text the system does not give.
pub(crate) const UNKNOWN: &str = "unknown";
