//! Decides when the rules for a set-up apply; [`crate::rules`] says why they matter.

mod alignment;
mod devices;
mod file_system;
mod layers;
mod limits;
mod machine;
mod probed;

use super::cgroup::Cgroups;
use super::chain::PlacedPartition;
pub(super) use crate::judged::sort;
use crate::judged::{INFO, SERIOUS, WARNING, size};
use crate::{Finding, Host, Storage, TargetKind};

pub(super) use alignment::of_partitions;
#[cfg(test)]
pub(super) use layers::of as of_layer;
pub(super) use machine::{shared, unsynchronised};
pub(super) use probed::{of_asked, of_disks, of_extents, of_paths, of_swap};

/// All findings about how the storage of a target is set up, the most serious first.
pub(super) fn of_storage(
    storage: &Storage,
    partitions: &[PlacedPartition],
    cgroups: &Cgroups<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(file_system) = &storage.file_system {
        findings.extend(file_system::of(storage, file_system));
    } else if storage.kind != TargetKind::CharDevice && storage.devices.is_empty() {
        let place = storage.path.to_string_lossy();
        findings.push(file_system::no_block_device(&place, "whose mount is not known"));
    }
    findings.extend(of_partitions(partitions));
    for layer in &storage.chain {
        findings.extend(layers::of(layer));
    }
    for device in &storage.devices {
        findings.extend(devices::of(storage, device));
    }
    findings.extend(limits::of_io(storage, cgroups));
    sort(&mut findings);
    findings
}

/// All findings about the machine, the most serious first.
pub(super) fn of_host(host: &Host, cgroups: &Cgroups<'_>) -> Vec<Finding> {
    let mut findings = machine::of(host);
    findings.extend(limits::of_machine(host, cgroups));
    sort(&mut findings);
    findings
}

/// The place of a file in the directory of a block device.
fn in_block(name: &str, file: &str) -> String {
    format!("/sys/class/block/{}/{file}", name.replace('/', "!"))
}
