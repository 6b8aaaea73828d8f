//! The block devices of the system, and which of them are built on which.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::platform;

/// The kind of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockKind {
    /// A whole disk, or what the system takes for one.
    Disk,
    /// A namespace of an NVMe controller.
    NvmeNamespace,
    /// A partition of a disk.
    Partition,
    /// A logical volume of LVM.
    LogicalVolume,
    /// A volume that dm-crypt encrypts.
    Encrypted,
    /// A disk that is reached over several paths.
    Multipath,
    /// Another volume of the device mapper.
    DeviceMapper,
    /// A software RAID of the kernel (md).
    Raid,
    /// A file that serves as a device.
    Loop,
    /// A part of memory that serves as a device.
    Memory,
}

impl BlockKind {
    /// The kind in words, for tables.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::NvmeNamespace => "NVMe namespace",
            Self::Partition => "partition",
            Self::LogicalVolume => "LVM volume",
            Self::Encrypted => "encrypted volume",
            Self::Multipath => "multipath",
            Self::DeviceMapper => "device mapper volume",
            Self::Raid => "RAID",
            Self::Loop => "loop device",
            Self::Memory => "memory",
        }
    }
}

/// A block device of the system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockDevice {
    /// Its name, such as `vda` or `dm-0`.
    pub name: String,
    /// Whether it is a disk, a partition, or a layer above them.
    pub kind: BlockKind,
    /// What people call it: the name of a volume, the level of a RAID, the file of a loop device,
    /// the model of a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its size in bytes; 0 where it has none, as a loop device without a file.
    pub size_bytes: u64,
    /// The devices that it is on: the disk of a partition, the parts of a volume.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<String>,
}

impl BlockDevice {
    /// Whether it is worth watching where nobody named it: it has a size, and is neither memory nor
    /// a part of something.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.size_bytes > 0 && !matches!(self.kind, BlockKind::Memory | BlockKind::Partition)
    }
}

/// Whether the kernel was told not to count the I/O of this device: its counters stand still
/// whatever it does.
#[must_use]
pub fn is_uncounted(root: &Path, device: &str) -> bool {
    platform::is_uncounted(root, device)
}

/// Every block device under `root`/sys, in the order of their names. What cannot be read is left
/// out.
#[must_use]
pub fn block_devices(root: &Path) -> Vec<BlockDevice> {
    platform::devices(root)
}
