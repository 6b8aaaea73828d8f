//! The layers between a file system and the disks under it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Partition;

/// The kind of a layer between file system and disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// A whole disk, the lowest layer.
    #[default]
    Disk,
    /// A partition of the layer under it.
    Partition,
    /// A loop device over a file.
    Loop,
    /// A RAID of the kernel (md, or through device mapper), or of Storage Spaces.
    Raid,
    /// A logical volume in one piece or several, one after the other.
    Linear,
    /// A logical volume in stripes over several devices.
    Striped,
    /// A logical volume that takes its space from a pool when it is first written to.
    Thin,
    /// The pool that thin volumes take their space from.
    ThinPool,
    /// A volume with a cache on a faster device.
    Cache,
    /// A snapshot, or a volume that has one: what changes is copied first.
    Snapshot,
    /// A volume that is written to several devices.
    Mirror,
    /// Encryption by dm-crypt or `BitLocker`.
    Crypt,
    /// Several paths to one disk (dm-multipath, MPIO).
    Multipath,
    /// A volume that compresses and finds duplicates.
    Vdo,
    /// A cache of the kernel's bcache.
    Bcache,
    /// Another layer of the device mapper.
    Mapped,
}

/// One layer of the chain from a volume to its disks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Layer {
    /// Its name in the kernel, such as `dm-0`.
    pub name: String,
    /// How far it is below the volume, which is 0.
    pub level: u32,
    /// The kind of the layer: encryption, RAID and so on.
    pub kind: LayerKind,
    /// Size of the device in bytes.
    pub size_bytes: u64,
    /// The name that people gave it: that of a logical volume, of a multipath device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The lines of its table, for a layer of the device mapper; only the administrator may read
    /// it, and those of encryption are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<String>,
    /// Where it begins, for a partition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
    /// Its geometry and state, for a RAID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid: Option<Raid>,
    /// The file it reads and writes, for a loop device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_file: Option<String>,
    /// Whether a loop device goes past the cache of the file system its file is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Where the device begins in its file, for a loop device that does not begin at its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// Space that it promises and has not taken yet, for a thin volume or the device of a sparse
    /// file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thin: Option<ThinSpace>,
    /// How paths are chosen, where the system shows it: `numa`, `round-robin`, `queue-depth`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The ways to the disk, for multipath.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<StoragePath>,
    /// How the cache works, for bcache: `writethrough`, `writeback`, `writearound`, `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_mode: Option<String>,
    /// The smallest size it prefers, in bytes; for a volume in stripes, one device's share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_io_bytes: Option<u64>,
    /// The size it prefers for long transfers, in bytes; for a volume in stripes, the whole stripe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimal_io_bytes: Option<u64>,
    /// How far its beginning is off the natural alignment of the device below, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alignment_offset_bytes: Option<u64>,
}

/// A software RAID of the kernel, or a virtual disk of Storage Spaces.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Raid {
    /// The RAID level, such as `raid5`.
    pub level: String,
    /// The devices it is made of when it is whole.
    pub devices: u32,
    /// How many of them it lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<u32>,
    /// The devices that data is spread over, where copies and parity do not count as such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<u32>,
    /// What goes to one device before the next has its turn, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
    /// Data in one stripe over all devices, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_bytes: Option<u64>,
    /// How it is made consistent after a crash: `resync`, `bitmap`, `journal`, `ppl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistency: Option<String>,
    /// The place of its write-intent bitmap: `none`, `file`, `internal`, or an offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitmap: Option<String>,
    /// What the kernel says of it: `clean`, `active`, `inactive`, `readonly`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The current action on all of it: `idle`, `resync`, `recover`, `check`, `repair`, `reshape`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Sectors in which copies or parity were found to disagree at the last check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatches: Option<u64>,
    /// The devices that the array is made of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<RaidMember>,
}

/// The space of a volume that takes it when it is first written to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThinSpace {
    /// Bytes that it promises and has not taken yet.
    pub promised_bytes: u64,
    /// Bytes that are left to take.
    pub free_bytes: u64,
}

/// One device of a RAID, with its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RaidMember {
    /// The kernel's name of the device.
    pub name: String,
    /// `in_sync`, `faulty`, `spare`, `write_mostly`, `journal`, several of them with commas.
    pub state: String,
    /// Read errors that were mended from the other devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
}

/// One of several paths to a disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StoragePath {
    /// The disk or the controller at its end, such as `sdc` or `nvme1`.
    pub name: String,
    /// `running` or `live` when it works.
    pub state: String,
    /// Where it goes: the controller's address, or the adapter, bus, target and unit (`1:0:0:3`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Whether it is the best path for I/O, if known: `optimized`, `active/optimized`, `standby`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
}
