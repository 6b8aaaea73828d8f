//! Findings that only an inspection asks for: the health of disks, where a file is, interrupts,
//! paths in use, swap.

use super::{INFO, WARNING, in_block, size};
use crate::judged;
use crate::{Device, Disk, Extents, Finding, Inspected, PlannedLoad, Storage, shell_word};

/// Fewer pieces than this, or larger ones, do not show in figures.
const PIECES_LEAST: u64 = 64;
const PIECE_BYTES: u64 = 4 << 20;
/// Interrupts from which their spread says something.
const INTERRUPTS_LEAST: u64 = 100_000;
/// I/Os from which the use of paths says something, and how many times as many one has to have.
const PATH_IOS_LEAST: u64 = 10_000;
const PATHS_UNEQUAL: u64 = 4;

/// What the disks say of themselves.
pub(in super::super) fn of_disks(storage: &Storage, disks: &[Disk]) -> Vec<Finding> {
    let device = |disk: &Disk| storage.devices.iter().find(|device| device.name == disk.name);
    let of_disk = |disk: &Disk| {
        let smartctl = |finding: Finding| match finding.code.as_str() {
            "worn" => finding,
            _ => finding.command(format!("smartctl -a /dev/{}", disk.name)),
        };
        let health = judged::health(disk).into_iter().map(smartctl);
        health.chain(device(disk).and_then(|d| interrupts(d, disk))).collect::<Vec<_>>()
    };
    disks.iter().flat_map(of_disk).collect()
}

fn interrupts(device: &Device, disk: &Disk) -> Option<Finding> {
    let total: u64 = disk.interrupts.iter().fold(0, |sum, count| sum.saturating_add(*count));
    let (cpu, most) = disk.interrupts.iter().enumerate().max_by_key(|(_, count)| **count)?;
    let several = disk.interrupts.len() > 1 && device.queues.is_some_and(|queues| queues > 1);
    let share = 100.0 * *most as f64 / total.max(1) as f64;
    (several && total >= INTERRUPTS_LEAST && share >= 95.0).then(|| {
        let message = format!(
            "{share:.0} % of the interrupts of {} went to processor {cpu}, though it has {} \
             queues.",
            disk.name,
            device.queues.unwrap_or(0)
        );
        Finding::new(INFO, "interrupts-on-one-cpu", message)
            .evidence("/proc/interrupts", format!("{most} of {total} on CPU{cpu}"))
            .remedy("Spread them: irqbalance, or smp_affinity of each interrupt.")
            .command("systemctl start irqbalance")
    })
}

/// How a file is on its file system.
pub(in super::super) fn of_extents(storage: &Storage, extents: &Extents) -> Vec<Finding> {
    let path = shell_word(&storage.path);
    let shown = storage.path.to_string_lossy();
    let mut findings = Vec::new();
    let average = extents.file_bytes / extents.pieces.max(1);
    if extents.pieces >= PIECES_LEAST && average < PIECE_BYTES {
        let message =
            format!("{shown} is in {} pieces of {} on average.", extents.pieces, size(average));
        let mend = match storage.file_system.as_ref().map(|fs| fs.kind.as_str()) {
            Some("xfs") => format!("xfs_fsr {path}"),
            Some("btrfs") => format!("btrfs filesystem defragment {path}"),
            _ => format!("e4defrag {path}"),
        };
        findings.push(
            Finding::new(INFO, "file-fragmented", message)
                .evidence(format!("FIEMAP of {shown}"), format!("{} extents", extents.extents))
                .remedy("Copy it to a place with room, or let the file system put it together.")
                .command(mend),
        );
    }
    let missing = extents.unwritten_bytes.saturating_add(extents.hole_bytes);
    if missing > extents.file_bytes / 20 {
        let message = format!(
            "{} of the {} of {shown} were never written: reading them touches no medium.",
            size(missing),
            size(extents.file_bytes)
        );
        findings.push(
            Finding::new(WARNING, "file-unwritten", message)
                .evidence(
                    format!("FIEMAP of {shown}"),
                    format!("{} unwritten, {} holes", extents.unwritten_bytes, extents.hole_bytes),
                )
                .remedy("Measure on a file that is wholly written."),
        );
    }
    if extents.shared_bytes > 0 {
        let message = format!(
            "{} of {shown} are shared with a copy or a snapshot.",
            size(extents.shared_bytes)
        );
        findings.push(
            Finding::new(INFO, "file-shared", message)
                .evidence(format!("FIEMAP of {shown}"), format!("{} shared", extents.shared_bytes))
                .remedy("Measure on a separate file."),
        );
    }
    findings
}

/// Compares the planned depth with the queues.
pub(in super::super) fn of_asked(storage: &Storage, asked: &PlannedLoad) -> Option<Finding> {
    let limit = |device: &Device| {
        // NVMe has the depth in each of its queues; the kernel holds as many requests for each
        // queue.
        let queues = device.queues.unwrap_or(1).max(1);
        let one = [device.queue_depth, device.nr_requests].into_iter().flatten().min()?;
        let is_shared = device.queue_depth.is_some() && !device.name.starts_with("nvme");
        Some(if is_shared { one } else { one.saturating_mul(queues) })
    };
    let finding = judged::depth_asked(storage, asked, limit)?;
    Some(storage.devices.iter().fold(finding, |finding, device| {
        let number =
            |value: Option<u64>| value.map_or_else(|| "not reported".to_owned(), |v| v.to_string());
        finding
            .evidence(in_block(&device.name, "device/queue_depth"), number(device.queue_depth))
            .evidence(in_block(&device.name, "queue/nr_requests"), number(device.nr_requests))
    }))
}

/// How the paths of a disk are used: I/Os of each, in the order of the layer's paths.
pub(in super::super) fn of_paths(layer: &crate::Layer, ios: &[u64]) -> Option<Finding> {
    let first = layer.paths.first()?;
    // Paths of unlike worth are meant to be used unequally.
    let alike = layer.paths.iter().all(|path| path.access == first.access);
    let (least, most) = (ios.iter().min()?, ios.iter().max()?);
    let unequal = *most >= PATH_IOS_LEAST && *most >= least.saturating_mul(PATHS_UNEQUAL);
    (alike && ios.len() > 1 && unequal).then(|| {
        let each: Vec<String> =
            layer.paths.iter().zip(ios).map(|(path, ios)| format!("{} {ios}", path.name)).collect();
        let message = format!(
            "The paths of {} are used unequally, by I/Os since the machine was started: {}.",
            layer.label.as_ref().unwrap_or(&layer.name),
            each.join(", ")
        );
        let finding = Finding::new(INFO, "paths-unequal", message)
            .remedy("Look at the policy by which paths are chosen.")
            .command("multipath -ll");
        layer.paths.iter().zip(ios).fold(finding, |finding, (path, ios)| {
            finding.evidence(in_block(&path.name, "stat"), ios)
        })
    })
}

/// Swap on the same disks as a target.
pub(in super::super) fn of_swap(
    target: &Inspected,
    swap: &str,
    disks: &[String],
) -> Option<Finding> {
    let on = |name: &String| target.storage.devices.iter().any(|device| device.name == *name);
    let disk = disks.iter().find(|name| on(name))?;
    let message = format!(
        "Swap space ({swap}) is on {disk}, as is {}.",
        target.storage.path.to_string_lossy()
    );
    let finding = Finding::new(INFO, "swap-on-device", message)
        .evidence("/proc/swaps", swap)
        .remedy("Move the swap space to another disk, or do without.");
    Some(finding.command(format!("swapoff {}", shell_word(swap))))
}
