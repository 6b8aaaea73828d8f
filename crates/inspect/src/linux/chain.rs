//! From a device number down to the whole disks.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::device;
use super::layers;
use super::mountinfo::{self, Mount};
use super::tree::Tree;
use crate::{Layer, Partition};

/// Far more layers than anyone stacks.
const MAX_DEPTH: usize = 32;

/// The devices under one or more volumes.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// Names from the top down, each once.
    pub(crate) layers: Vec<String>,
    /// The directories of whole disks and loop devices, in the same order.
    pub(crate) disks: Vec<PathBuf>,
    pub(crate) partitions: Vec<PlacedPartition>,
    /// The details of each layer, in the order of `layers`.
    pub(crate) details: Vec<Layer>,
}

/// A partition and what its disk can write at once.
#[derive(Debug)]
pub(crate) struct PlacedPartition {
    pub(crate) partition: Partition,
    pub(crate) physical_block_bytes: Option<u64>,
    /// What the disk prefers for long transfers: often the stripe of an array.
    pub(crate) optimal_io_bytes: Option<u64>,
    /// How far the partition is off the alignment of the device below.
    pub(crate) alignment_offset_bytes: Option<u64>,
    /// The directory of the partition in sysfs.
    pub(crate) dir: PathBuf,
}

impl PlacedPartition {
    /// The partition in `dir`, of the disk in `disk`.
    pub(crate) fn of(tree: &Tree, dir: &Path, disk: &Path) -> Self {
        Self {
            partition: device::partition(tree, dir),
            physical_block_bytes: device::physical_block_bytes(tree, disk),
            optimal_io_bytes: device::nonzero(tree.number(disk.join("queue/optimal_io_size"))),
            alignment_offset_bytes: device::nonzero(tree.number(dir.join("alignment_offset"))),
            dir: dir.to_owned(),
        }
    }
}

/// The directory of the block device with this number.
pub(crate) fn block_device(tree: &Tree, major: u32, minor: u32) -> Option<PathBuf> {
    tree.canonical(format!("sys/dev/block/{major}:{minor}"))
}

/// The directories of the block devices a file system is on; several for btrfs.
pub(crate) fn volumes(tree: &Tree, mount: &Mount) -> Vec<PathBuf> {
    if let Some(dir) = block_device(tree, mount.major, mount.minor) {
        return vec![dir];
    }
    // btrfs has its own device number, and only its source tells (one of) its devices.
    let Some(dir) = named(tree, &mount.source) else {
        return Vec::new();
    };
    if mount.kind == "btrfs" {
        let members = btrfs_members(tree, &dir);
        if !members.is_empty() {
            return members;
        }
    }
    vec![dir]
}

/// The mount that holds what is written to an overlay; `None` for other file systems, and where
/// that directory cannot be seen from here, as in a container.
pub(crate) fn upper<'a>(tree: &Tree, mounts: &'a [Mount], mount: &Mount) -> Option<&'a Mount> {
    let directory = mount.options.iter().find_map(|option| option.strip_prefix("upperdir="))?;
    let is_there = mount.kind == "overlay" && tree.at(directory).is_dir();
    let found = mountinfo::find(mounts, Path::new(directory), None, None).filter(|_| is_there)?;
    (found.kind != "overlay").then_some(found)
}

/// The device with this path in /dev.
fn named(tree: &Tree, source: &Path) -> Option<PathBuf> {
    let name = source.strip_prefix("/dev").ok()?;
    let linked =
        tree.canonical(source).and_then(|path| by_name(tree, path.strip_prefix("dev").ok()?));
    linked.or_else(|| by_name(tree, name)).or_else(|| {
        let mapped = name.strip_prefix("mapper").ok()?.to_str()?;
        let dir = tree
            .entries("sys/class/block")
            .into_iter()
            .find(|dir| tree.text(dir.join("dm/name")).as_deref() == Some(mapped))?;
        tree.canonical(dir)
    })
}

fn by_name(tree: &Tree, name: &Path) -> Option<PathBuf> {
    let name = name.to_str().filter(|name| !name.is_empty())?;
    tree.canonical(Path::new("sys/class/block").join(name.replace('/', "!")))
}

/// All devices of the btrfs of which `member` is one.
fn btrfs_members(tree: &Tree, member: &Path) -> Vec<PathBuf> {
    tree.entries("sys/fs/btrfs")
        .into_iter()
        .map(|file_system| {
            tree.entries(file_system.join("devices"))
                .into_iter()
                .filter_map(|link| tree.canonical(link))
                .collect::<Vec<_>>()
        })
        .find(|members| members.iter().any(|dir| dir == member))
        .unwrap_or_default()
}

/// The name under which the kernel counts all I/O of the volume's top device.
pub(crate) fn counted_device(tree: &Tree, volumes: &[PathBuf]) -> Option<String> {
    let [dir] = volumes else {
        return None;
    };
    if device::is_partition(tree, dir) {
        dir.parent().map(device::name)
    } else {
        Some(device::name(dir))
    }
}

/// Follows `volumes` down to the disks.
pub(crate) fn follow(tree: &Tree, mounts: &[Mount], volumes: &[PathBuf]) -> Chain {
    let mut walk = Walk { tree, mounts, visited: BTreeSet::new(), chain: Chain::default() };
    for dir in volumes {
        walk.visit(dir, 0);
    }
    walk.chain
}

struct Walk<'a> {
    tree: &'a Tree,
    mounts: &'a [Mount],
    visited: BTreeSet<PathBuf>,
    chain: Chain,
}

impl Walk<'_> {
    fn visit(&mut self, dir: &Path, depth: usize) {
        if depth > MAX_DEPTH || !self.visited.insert(dir.to_owned()) {
            return;
        }
        self.chain.layers.push(device::name(dir));
        let place = self.chain.details.len();
        let below = self.below(dir);
        let level = u32::try_from(depth).unwrap_or(u32::MAX);
        self.chain.details.insert(place, layers::layer(self.tree, dir, level, &below));
        for dir in below {
            self.visit(&dir, depth + 1);
        }
    }

    /// What the device is on; notes partitions and disks on the way.
    fn below(&mut self, dir: &Path) -> Vec<PathBuf> {
        if device::is_partition(self.tree, dir) {
            let Some(disk) = dir.parent() else {
                return Vec::new();
            };
            self.chain.partitions.push(PlacedPartition::of(self.tree, dir, disk));
            return vec![disk.to_owned()];
        }
        if let Some(file) = self.backing_file(dir) {
            self.chain.disks.push(dir.to_owned());
            return mountinfo::find(self.mounts, &file, None, None)
                .map(|mount| volumes(self.tree, mount))
                .unwrap_or_default();
        }
        let slaves: Vec<_> = self
            .tree
            .entries(dir.join("slaves"))
            .into_iter()
            .filter_map(|link| self.tree.canonical(link))
            .collect();
        if slaves.is_empty() {
            self.chain.disks.push(dir.to_owned());
        }
        slaves
    }

    /// The file or device a loop device reads and writes.
    fn backing_file(&self, dir: &Path) -> Option<PathBuf> {
        let bytes = self.tree.bytes(dir.join("loop/backing_file"))?;
        let path = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        Some(PathBuf::from(OsStr::from_bytes(path)))
    }
}
