//! A target's file system and the devices under it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Finding, Layer, Link, lossy_path};

/// What a target is: a directory, a file or a device, or nothing yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A directory, in which a test file is made.
    #[default]
    Directory,
    /// A regular file, with its content.
    File,
    /// A block device: a disk, a partition or a volume.
    BlockDevice,
    /// A character device; nothing is known about the hardware under it.
    CharDevice,
    /// Nothing yet; the directory it would be in was examined.
    Missing,
}

/// How the storage of one target is set up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// The target as the user named it.
    #[serde(with = "lossy_path")]
    #[schemars(with = "String")]
    pub target: PathBuf,
    /// The target's absolute path without symbolic links.
    #[serde(with = "lossy_path")]
    #[schemars(with = "String")]
    pub path: PathBuf,
    /// Whether it is a directory, a file or a device, or nothing yet.
    pub kind: TargetKind,
    /// The file system that the target is in; absent for a device.
    pub file_system: Option<FileSystem>,
    /// The partition under the volume, where there is exactly one.
    pub partition: Option<Partition>,
    /// The chain of block devices from the volume down to whole disks, each followed by what it is
    /// on: `dm-0`, `md0`, `sda1`, `sda`, `sdb1`, `sdb`. Empty when no device is known.
    pub layers: Vec<String>,
    /// The whole disks at the bottom of the chain. A loop device is among them, before the disks
    /// its file is on.
    pub devices: Vec<Device>,
    /// The name in /proc/diskstats whose counters cover the volume's whole top device: the whole
    /// disk for a partition of one, the device itself for a volume on device mapper, RAID or loop.
    /// Absent if there is no single such device.
    pub counted_device: Option<String>,
    /// Findings about the storage, the most serious first. An inspection has them in one list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Each of `layers` in detail, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<Layer>,
}

impl Storage {
    /// The I/Os that the queues of its devices take, by the limit of each, and the devices whose
    /// queues those are: queues next to each other together, and of those on top of one another the
    /// smallest.
    #[must_use]
    pub fn queue_room(&self, limit: impl Fn(&Device) -> Option<u64>) -> Option<(u64, Vec<&str>)> {
        let known = |name: &str| limit(self.devices.iter().find(|device| device.name == name)?);
        let mut layers: Vec<(u32, &str)> =
            self.chain.iter().map(|layer| (layer.level, layer.name.as_str())).collect();
        if layers.is_empty() {
            layers.extend(self.devices.iter().map(|device| (0, device.name.as_str())));
        }
        room(&layers, &known)
    }
}

/// The I/Os that the queues of these layers take, each followed by those below it, and the devices
/// whose queues those are.
fn room<'a>(
    layers: &[(u32, &'a str)],
    limit: &impl Fn(&str) -> Option<u64>,
) -> Option<(u64, Vec<&'a str>)> {
    let (level, _) = layers.first()?;
    let one = |part: &[(u32, &'a str)]| {
        let ((_, name), below) = part.split_first()?;
        let own = limit(name).map(|most| (most, vec![*name]));
        let below = room(below, limit);
        own.into_iter().chain(below).min_by_key(|(most, _)| *most)
    };
    let beside = layers.chunk_by(|_, (next, _)| next > level).map(one);
    let all: Vec<_> = beside.collect::<Option<_>>()?;
    let sum = |(total, mut names): (u64, Vec<_>), (most, more): (u64, Vec<_>)| {
        names.extend(more);
        (total.saturating_add(most), names)
    };
    all.into_iter().reduce(sum)
}

/// The file system of a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileSystem {
    /// Its type, such as `ext4` or `nfs4`.
    pub kind: String,
    /// The directory it is mounted on.
    #[serde(with = "lossy_path")]
    #[schemars(with = "String")]
    pub mount_point: PathBuf,
    /// What is mounted: a device, an export of a server, or a pool.
    pub source: String,
    /// Mount options, those of the mount first, then those of the file system. On Windows, what is
    /// special about the volume or the target: `efs`, `integrity=crc64`, `shadow-copies=2`,
    /// `deduplicated`.
    pub options: Vec<String>,
    /// The unit in which it gives out space, in bytes.
    pub block_bytes: u64,
    /// Size of the file system in bytes.
    pub total_bytes: u64,
    /// Space this user may still fill, in bytes.
    pub available_bytes: u64,
    /// Percent in use, as df has it (df rounds up): used / (used + available to this user).
    pub used_percent: f64,
    /// Whether it cannot be written to.
    pub read_only: bool,
    /// What its journal holds, where the mount options or its kind tell: `ordered`, `writeback`,
    /// `journal`, `metadata`, `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// How it compresses, where it does: `zstd:3`; `by property` for ZFS, whose properties are not
    /// asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<String>,
    /// Free space that only the administrator may fill, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_bytes: Option<u64>,
    /// Errors that it has noted about itself since it was last checked (ext4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Files that it can hold; absent where nothing but space limits their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inodes: Option<u64>,
    /// Files that this user may still make; absent where nothing but space limits their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_inodes: Option<u64>,
    /// Attributes of the target, or of the directory that it would be made in (`lsattr`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<TargetAttribute>,
}

/// An attribute of a file or directory, which files made in a directory inherit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetAttribute {
    /// Blocks are written in place (`chattr +C`).
    NoCopyOnWrite,
    /// What is written is compressed (`chattr +c`).
    Compressed,
    /// Content and names are encrypted (fscrypt).
    Encrypted,
    /// Each write waits for the medium (`chattr +S`).
    Synchronous,
    /// Each change of the directory waits for the medium (`chattr +D`).
    SynchronousDirectory,
    /// Data goes through the journal, too (`chattr +j`).
    DataJournal,
}

/// The partition that a target is on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// Its device name, such as `sda1`.
    pub name: String,
    /// Its number in the partition table.
    pub number: Option<u32>,
    /// Where on the disk it begins, in bytes.
    pub start_bytes: u64,
    /// Size of the partition in bytes.
    pub size_bytes: u64,
}

/// A whole disk, as the operating system sees it; values are absent if the system does not report
/// them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// Its name, such as `vda` or `nvme0n1`.
    pub name: String,
    /// Its device number, such as `254:0`.
    pub major_minor: String,
    /// Size of the disk in bytes.
    pub size_bytes: u64,
    /// The model it says it is.
    pub model: Option<String>,
    /// The maker's name.
    pub vendor: Option<String>,
    /// The serial number, as the device reports it.
    pub serial: Option<String>,
    /// The version of its firmware.
    pub firmware: Option<String>,
    /// How it is attached: `nvme`, `nvme-tcp`, `virtio`, `sata`, `sas`, `scsi`, `usb`, `iscsi`,
    /// `fc`, `mmc`, `xen`, `hyper-v`, `pmem`, `loop`, `zram`, `nbd`, `rbd`, …
    pub transport: Option<String>,
    /// Whether it says it has rotating disks. Virtual disks often say so without having any.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use, such as `none`.
    pub scheduler: Option<String>,
    /// Requests each of the kernel's queues holds.
    pub nr_requests: Option<u64>,
    /// Commands the device takes at once (SCSI), or in each queue (NVMe).
    pub queue_depth: Option<u64>,
    /// The smallest unit it can address, in bytes.
    pub logical_block_bytes: Option<u64>,
    /// The smallest unit it can write without reading first, in bytes.
    pub physical_block_bytes: Option<u64>,
    /// The size it prefers for long transfers, in bytes (often the RAID stripe).
    pub optimal_io_bytes: Option<u64>,
    /// The smallest size it prefers, in bytes (often the RAID chunk).
    pub minimum_io_bytes: Option<u64>,
    /// The largest I/O the kernel issues to it, in bytes; larger ones are split.
    pub max_io_bytes: Option<u64>,
    /// `write back` when it has a volatile cache that must be flushed, else `write through`.
    pub write_cache: Option<String>,
    /// Whether a single write can be forced to stable media (forced unit access).
    pub fua: Option<bool>,
    /// The kernel driver of the disk.
    pub driver: Option<String>,
    /// Whether the kernel was told not to count its I/O.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
    /// The way to it, and how fast that was agreed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// Its name that is unique in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wwn: Option<String>,
    /// What the kernel says of it: `running`, `offline`, `live`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The cloud's kind of disk, as far as the machine's firmware and the disk's model tell, such
    /// as `Amazon EBS`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cloud: Option<String>,
    /// Queues that the driver has for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<u64>,
    /// Where a request is completed: 0 wherever the interrupt is, 1 on the processors near the one
    /// that issued it, 2 on that very one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rq_affinity: Option<u64>,
    /// Whether its completions can be polled for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_poll: Option<bool>,
    /// Whether the kernel merges neighbouring requests: 0 yes, 1 only the simplest, 2 not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nomerges: Option<u64>,
    /// The NUMA node it is attached to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa_node: Option<u32>,
    /// What the kernel reads ahead, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// The largest I/O that the device takes, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_hardware_io_bytes: Option<u64>,
    /// How far the beginning is off the natural alignment of the medium below, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment_offset_bytes: Option<u64>,
    /// Whether it cannot be written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether it says that its space is given out on demand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thin: Option<bool>,
    /// What the disk itself says of its write cache (SCSI, SATA and virtio): `write back`,
    /// `write through`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_type: Option<String>,
    /// I/Os that its adapter takes at once, from all its disks together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter_queue_depth: Option<u64>,
    /// Settings of its adapter's driver that differ from the driver's own: `NumberOfRequests=254`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub driver_settings: Vec<String>,
    /// How zones have to be written, where it has any: `host-managed`, `host-aware`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zoned: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop device that takes 4 on a disk that takes 256 was said to take 260.
    #[test]
    fn the_smallest_queue_of_a_stack_decides() {
        let limit = |name: &str| match name {
            "loop0" => Some(4),
            "sda" | "sdb" => Some(32),
            _ => None,
        };
        let of = |layers: &[(u32, &'static str)]| room(layers, &limit);
        assert_eq!(of(&[(0, "loop0"), (1, "sda1"), (2, "sda")]), Some((4, vec!["loop0"])));
        let raid = [(0, "md0"), (1, "sda1"), (2, "sda"), (1, "sdb")];
        assert_eq!(of(&raid), Some((64, vec!["sda", "sdb"])));
        let under = [(0, "dm-0"), (1, "sda"), (1, "loop0"), (2, "sdb")];
        assert_eq!(of(&under), Some((36, vec!["sda", "loop0"])));
        assert_eq!(of(&[(0, "sda"), (0, "sdb")]), Some((64, vec!["sda", "sdb"])));
        assert_eq!(of(&[(0, "md0"), (1, "sda"), (1, "nbd0")]), None, "one of them is not known");
        assert_eq!(of(&[]), None);
    }
}
