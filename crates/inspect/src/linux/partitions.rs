//! All partitions of a disk.

use std::path::{Path, PathBuf};

use super::chain::PlacedPartition;
use super::device;
use super::tree::Tree;

/// The partitions of the disk in `dir`, in their order on the disk.
pub(super) fn partitions(tree: &Tree, dir: &Path) -> Vec<PlacedPartition> {
    let disk = device::name(dir);
    let of_disk = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.replace('!', "/").starts_with(&disk) && device::is_partition(tree, path)
    };
    let mut found: Vec<PlacedPartition> = tree
        .entries(dir)
        .into_iter()
        .filter(of_disk)
        .map(|path| PlacedPartition::of(tree, &path, dir))
        .collect();
    found.sort_by_key(|placed| placed.partition.start_bytes);
    found
}

/// The directories of all whole disks that hold something: no loop device without a file, no empty
/// drive.
pub(super) fn disks(tree: &Tree) -> Vec<PathBuf> {
    tree.entries("sys/class/block")
        .into_iter()
        .filter_map(|link| tree.canonical(link))
        .filter(|dir| !device::is_partition(tree, dir))
        .filter(|dir| tree.number(dir.join("size")).is_some_and(|sectors| sectors > 0))
        .filter(|dir| tree.flag(dir.join("hidden")) != Some(true))
        .filter(|dir| !device::name(dir).starts_with("ram"))
        .collect()
}
