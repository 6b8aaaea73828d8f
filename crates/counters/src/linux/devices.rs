//! /sys/class/block: what each block device is and what it is on.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::{BlockDevice, BlockKind};

/// More than any of these files holds.
const TEXT_BYTES_MAX: u64 = 4096;

pub(crate) fn devices(root: &Path) -> Vec<BlockDevice> {
    let class = root.join("sys/class/block");
    let mut names = names_in(&class);
    names.sort_by_key(|name| natural(name));
    names.into_iter().map(|name| device(&class.join(&name), name)).collect()
}

/// A sort key by which `sda2` comes before `sda10`.
fn natural(name: &str) -> (String, u64) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem.to_owned(), name.get(stem.len()..).and_then(|n| n.parse().ok()).unwrap_or(0))
}

fn names_in(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

pub(super) fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(TEXT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn device(place: &Path, name: String) -> BlockDevice {
    let sectors = text(&place.join("size")).and_then(|text| text.parse::<u64>().ok());
    let is_partition = place.join("partition").exists();
    let mut below = names_in(&place.join("slaves"));
    below.sort();
    if is_partition {
        // The directory of a partition is in that of its disk.
        let disk = fs::canonicalize(place).ok();
        let disk = disk.as_deref().and_then(Path::parent).and_then(Path::file_name);
        below.extend(disk.map(|disk| disk.to_string_lossy().into_owned()));
    }
    let (kind, label) =
        if is_partition { (BlockKind::Partition, None) } else { kind_of(place, &name) };
    BlockDevice { name, kind, label, size_bytes: sectors.unwrap_or(0).saturating_mul(512), below }
}

fn kind_of(place: &Path, name: &str) -> (BlockKind, Option<String>) {
    if place.join("dm").is_dir() {
        let uuid = text(&place.join("dm/uuid")).unwrap_or_default();
        let kind = match uuid.split('-').next() {
            Some("LVM") => BlockKind::LogicalVolume,
            Some("CRYPT") => BlockKind::Encrypted,
            Some("mpath") => BlockKind::Multipath,
            _ => BlockKind::DeviceMapper,
        };
        return (kind, text(&place.join("dm/name")));
    }
    if place.join("md").is_dir() {
        return (BlockKind::Raid, text(&place.join("md/level")));
    }
    let starts = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if starts("loop") {
        return (BlockKind::Loop, text(&place.join("loop/backing_file")));
    }
    if starts("ram") || starts("zram") {
        return (BlockKind::Memory, None);
    }
    let kind = if starts("nvme") { BlockKind::NvmeNamespace } else { BlockKind::Disk };
    (kind, text(&place.join("device/model")))
}
