//! Which disks are recorded, and which are under a file.

use std::path::{Path, PathBuf};

use counters::{BlockDevice, BlockKind, block_devices};
use inspect::Inspector;

use super::record::RecordRequest;
use crate::conduct::JobError;
use crate::monitor::look;

/// The path of a device from its name.
///
/// # Errors
/// The name is empty.
pub fn device_path(name: &str) -> Result<PathBuf, String> {
    if name.is_empty() { Err("it is empty".to_owned()) } else { Ok(Path::new("/dev").join(name)) }
}

/// The disks that a request is about, each once: those under its targets, or, if only processes or
/// a cgroup are named, all.
pub(super) fn disks_of(request: &RecordRequest<'_>) -> Result<Vec<String>, JobError> {
    let known = block_devices(Path::new("/"));
    let mut disks: Vec<String> = Vec::new();
    if request.targets.is_empty() && !request.is_filtered() {
        let text = "name what to record: a file, a directory, a device or its name (vda)";
        return Err(JobError::Usage(text.to_owned()));
    }
    if request.targets.is_empty() {
        let all = known.iter().filter(|device| device.size_bytes > 0 && is_disk(device));
        disks.extend(all.map(|device| device.name.clone()));
    }
    let inspector = Inspector::new();
    for target in request.targets {
        let (_, chain) = look(target, &inspector, &known)?;
        let found = disks_in(&chain.devices, &known);
        if found.is_empty() {
            let text = format!("no disk under `{}` can be recorded", target.display());
            return Err(JobError::CannotRun(text));
        }
        disks.extend(found);
    }
    disks.sort();
    disks.dedup();
    Ok(disks)
}

/// Whether the kernel gives its I/O to a driver as requests.
fn is_disk(device: &BlockDevice) -> bool {
    matches!(device.kind, BlockKind::Disk | BlockKind::NvmeNamespace | BlockKind::Loop)
}

/// The disks under a file, which may not exist yet; none if it is in memory or on another host.
pub(super) fn disks_under(file: &Path) -> Result<Vec<String>, JobError> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let place = if file.exists() { file } else { parent.unwrap_or(Path::new(".")) };
    let known = block_devices(Path::new("/"));
    match look(place, &Inspector::new(), &known) {
        // Every layer: what is written to a loop device is written to the disk under it, too.
        Ok((_, chain)) => Ok(chain.devices),
        Err(crate::monitor::WatchError::NoDevice { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// From devices on top of each other to those whose requests the kernel reports: the highest that
/// are not a mere map of others.
fn disks_in(devices: &[String], known: &[BlockDevice]) -> Vec<String> {
    let find = |name: &String| known.iter().find(|device| device.name == *name);
    let is_below = |name: &String| devices.iter().filter_map(find).any(|d| d.below.contains(name));
    // A loop device does not know what is below it; the list has that after it.
    let is_loop = |name: &String| find(name).is_some_and(|device| device.kind == BlockKind::Loop);
    let first_loop = devices.iter().position(is_loop).unwrap_or(devices.len());
    let is_top =
        |(at, name): &(usize, &String)| !is_below(name) && (*at <= first_loop || is_loop(name));
    let top = devices.iter().enumerate().filter(is_top);
    let mut open: Vec<&String> = top.map(|(_, name)| name).collect();
    let mut disks = Vec::new();
    while let Some(device) = open.pop().and_then(find) {
        if is_disk(device) {
            disks.push(device.name.clone());
        } else {
            open.extend(&device.below);
        }
    }
    disks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, kind: BlockKind, below: &[&str]) -> BlockDevice {
        let below = below.iter().map(|name| (*name).to_owned()).collect();
        BlockDevice { name: name.to_owned(), kind, label: None, size_bytes: 1, below }
    }

    #[test]
    fn maps_lead_to_their_disks_and_a_loop_device_is_one() {
        let known = [
            device("dm-0", BlockKind::LogicalVolume, &["sda1", "md0"]),
            device("sda1", BlockKind::Partition, &["sda"]),
            device("sda", BlockKind::Disk, &[]),
            device("md0", BlockKind::Raid, &["nvme0n1", "nvme1n1"]),
            device("nvme0n1", BlockKind::NvmeNamespace, &[]),
            device("nvme1n1", BlockKind::NvmeNamespace, &[]),
            device("loop0", BlockKind::Loop, &[]),
        ];
        let disks = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let mut disks = disks_in(&names, &known);
            disks.sort();
            disks
        };
        assert_eq!(
            disks(&["dm-0", "sda1", "sda", "md0", "nvme0n1", "nvme1n1"]),
            ["nvme0n1", "nvme1n1", "sda"]
        );
        assert_eq!(disks(&["loop0", "sda1", "sda"]), ["loop0"]);
        assert!(disks(&["zram0"]).is_empty());
    }
}
