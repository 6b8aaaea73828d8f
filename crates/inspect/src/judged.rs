//! What is judged alike on every system. Each system adds where it read the facts, and the command
//! that would mend it.

use crate::{Device, Disk, FileSystem, Finding, PlannedLoad, Severity, Storage};

pub(crate) const INFO: Severity = Severity::Info;
pub(crate) const WARNING: Severity = Severity::Warning;
pub(crate) const SERIOUS: Severity = Severity::Serious;

/// Where partitioning tools have put partitions since 2009.
const USUAL_ALIGNMENT_BYTES: u64 = 1 << 20;
/// The block of today's disks, whatever they say.
const BLOCK_BYTES: u64 = 4096;
/// What some bridges name as their preferred size is not a stripe.
const STRIPE_BYTES_MAX: u64 = 64 << 20;
/// What mends a partition that is not aligned.
pub(crate) const REALIGN: &str =
    "Make the partition anew, beginning at a multiple of 1 MiB; what is on it is lost by that.";
/// Beyond this, file systems scatter new files over what room is left.
const FULL_PERCENT: f64 = 85.0;
/// The allocation unit that is recommended for NTFS and ReFS under SQL Server.
const NTFS_BYTES: u64 = 64 << 10;
/// Read-ahead of databases is 512 KiB at once.
const IO_BYTES_LEAST: u64 = 512 << 10;
/// If one disk has fewer consecutive bytes than this, an I/O uses more than one of them.
pub(crate) const CHUNK_BYTES: u64 = 64 << 10;
/// What a host bus adapter comes with at best; SATA cannot do more than 32, one of which is kept.
const DEPTH_LEAST: u64 = 31;
/// Used life from which a disk counts as worn.
const WORN_PERCENT: u64 = 90;
/// Ways to a device on which the device itself says whether it turns.
pub(crate) const OWN_WORD: [&str; 3] = ["sata", "sas", "usb"];

/// The most serious first; equal ones keep their order.
pub(crate) fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

/// A size in the largest unit that fits it, as text.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    for (unit, bits) in UNITS {
        if bytes >= 1 << bits {
            let value = bytes as f64 / (1_u64 << bits) as f64;
            let whole = bytes.is_multiple_of(1 << bits) || value >= 100.0;
            return if whole { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") };
        }
    }
    format!("{bytes} B")
}

/// The stripe that a partition should begin on, if the disk's preferred size is one.
pub(crate) fn stripe(optimal_io_bytes: Option<u64>) -> Option<u64> {
    optimal_io_bytes.filter(|bytes| {
        *bytes > BLOCK_BYTES && *bytes <= STRIPE_BYTES_MAX && bytes.is_multiple_of(BLOCK_BYTES)
    })
}

/// Where a partition begins, on a disk with these blocks and stripes.
pub(crate) fn alignment(
    name: &str,
    start: u64,
    physical: Option<u64>,
    stripe: Option<u64>,
) -> Option<Finding> {
    let physical = physical.filter(|bytes| *bytes > 0).unwrap_or(BLOCK_BYTES);
    let off = |unit: u64| !start.is_multiple_of(unit);
    let (severity, code, message) = if let Some(block) =
        [physical, BLOCK_BYTES].into_iter().find(|block| off(*block))
    {
        let message = format!(
            "Partition {name} begins at byte {start}, which is not a multiple of {block}: a page \
             of the database may touch one disk block more than it needs."
        );
        (WARNING, "partition-misaligned", message)
    } else if let Some(stripe) = stripe.filter(|stripe| off(*stripe)) {
        let message = format!(
            "Partition {name} begins at byte {start}, which is not a multiple of the stripe of \
             {}: I/Os that would fit one stripe touch two.",
            size(stripe)
        );
        (WARNING, "stripe-misaligned", message)
    } else if off(USUAL_ALIGNMENT_BYTES) {
        let message = format!(
            "Partition {name} begins at byte {start}, which is a multiple of {BLOCK_BYTES} but not \
            of 1 MiB. It may lie across the stripes of a RAID or the blocks of an array."
        );
        (INFO, "partition-not-on-mib", message)
    } else {
        return None;
    };
    Some(Finding::new(severity, code, message).remedy(REALIGN))
}

/// The unit in which NTFS and ReFS give out space.
pub(crate) fn allocation_unit(file_system: &FileSystem) -> Option<Finding> {
    let (place, bytes) = (file_system.mount_point.display(), file_system.block_bytes);
    (bytes > 0 && bytes != NTFS_BYTES).then(|| {
        let message = format!(
            "{place} ({}) gives out space in units of {}; for SQL Server 64 KiB are recommended.",
            file_system.kind,
            size(bytes)
        );
        Finding::new(INFO, "allocation-unit", message)
            .remedy("Format it anew with units of 64 KiB; what is on it is lost by that.")
    })
}

/// A file system that cannot be written to.
pub(crate) fn read_only(file_system: &FileSystem) -> Option<Finding> {
    let place = file_system.mount_point.display();
    let message = format!("{place} cannot be written to: it is mounted read-only.");
    file_system.read_only.then(|| Finding::new(SERIOUS, "read-only", message))
}

/// A file system with little room.
pub(crate) fn full(file_system: &FileSystem) -> Option<Finding> {
    if file_system.used_percent < FULL_PERCENT {
        return None;
    }
    let message = format!(
        "{} is {:.1} % full with {} of {} left: new files become fragmented, and solid-state \
         disks slower.",
        file_system.mount_point.display(),
        file_system.used_percent,
        size(file_system.available_bytes),
        size(file_system.total_bytes),
    );
    let finding = Finding::new(WARNING, "file-system-full", message);
    Some(finding.remedy("Make room, or judge the figures as those of a full file system."))
}

/// A volatile cache, all of which has to be flushed for each durable write.
pub(crate) fn write_cache(device: &Device) -> Option<Finding> {
    let volatile = device.write_cache.as_deref() == Some("write back") && device.fua == Some(false);
    volatile.then(|| {
        let message = format!(
            "{} has a volatile write cache and no forced unit access: each durable write costs a \
             flush of the whole cache.",
            device.name
        );
        Finding::new(INFO, "volatile-write-cache", message)
    })
}

/// A volatile cache that is never flushed.
pub(crate) fn flush_disabled(device: &Device) -> Option<Finding> {
    let says = device.cache_type.as_deref().map(|own| own.starts_with("write back"));
    // Linux forces unit access only past a volatile cache, and gives a loop device one.
    let is_loop = device.transport.as_deref() == Some("loop") && device.read_only == Some(false);
    let has_one =
        says.unwrap_or(cfg!(target_os = "linux") && (device.fua == Some(true) || is_loop));
    (has_one && device.write_cache.as_deref() == Some("write through")).then(|| {
        let message = format!(
            "{} has a volatile write cache, but the kernel was told that it has none and never \
             flushes it: a power failure loses what was acknowledged.",
            device.name
        );
        Finding::new(SERIOUS, "flush-disabled", message)
            .remedy("Let the kernel flush, unless a battery protects the cache.")
    })
}

/// A disk that cannot be written to.
pub(crate) fn device_read_only(device: &Device) -> Option<Finding> {
    (device.read_only == Some(true)).then(|| {
        let message = format!("{} cannot be written to.", device.name);
        Finding::new(SERIOUS, "device-read-only", message).remedy(
            "Find out who made it so: a switch, the array, the kernel after errors, or an \
             administrator.",
        )
    })
}

/// A finding if the kernel splits long I/Os to the device.
pub(crate) fn split(device: &Device) -> Option<Finding> {
    let most = device.max_io_bytes.filter(|bytes| *bytes < IO_BYTES_LEAST)?;
    let message = format!(
        "The kernel issues at most {} at once to {}; larger I/Os are split.",
        size(most),
        device.name
    );
    Some(Finding::new(INFO, "io-split", message))
}

/// A disk behind a bridge to USB.
pub(crate) fn usb(device: &Device) -> Option<Finding> {
    (device.transport.as_deref() == Some("usb")).then(|| {
        let message = format!("{} is attached by USB.", device.name);
        Finding::new(WARNING, "usb-attached", message).remedy("Do not keep a database on it.")
    })
}

/// Small writes to a disk whose blocks are larger.
pub(crate) fn sectors(device: &Device) -> Option<Finding> {
    let (logical, physical) = (device.logical_block_bytes?, device.physical_block_bytes?);
    let own_word = device.transport.as_deref().is_some_and(|t| OWN_WORD.contains(&t));
    (logical < physical && own_word && device.rotational == Some(true)).then(|| {
        let message = format!(
            "{} takes writes of {logical} bytes but has blocks of {physical}: a smaller write \
             waits for a read.",
            device.name
        );
        Finding::new(INFO, "emulated-sectors", message)
            .remedy("Let the database write its log in blocks of 4 KiB.")
    })
}

/// A queue that takes few commands.
pub(crate) fn depth(device: &Device) -> Option<Finding> {
    let depth = device.queue_depth.filter(|depth| (1..DEPTH_LEAST).contains(depth))?;
    // Bridges to USB and cards have no queue to speak of.
    if device.transport.as_deref().is_none_or(|t| t == "usb" || t == "mmc") {
        return None;
    }
    let message = format!(
        "The queue of {} takes {depth} commands at once: a database that has more in flight waits \
         in the kernel.",
        device.name
    );
    Some(Finding::new(INFO, "queue-depth-small", message).remedy(
        "Raise it to 64 or more where the array and the adapter allow it, then measure again.",
    ))
}

/// Compares the planned depth with what the queues on the way take together.
pub(crate) fn depth_asked(
    storage: &Storage,
    asked: &PlannedLoad,
    limit: impl Fn(&Device) -> Option<u64>,
) -> Option<Finding> {
    let depth = asked.depth?;
    let (total, names) = storage.queue_room(limit)?;
    (depth > total).then(|| {
        let message = format!(
            "{depth} I/Os in flight are more than the queue of {} takes ({total}): the rest wait \
             in the kernel.",
            names.join(" + ")
        );
        Finding::new(WARNING, "queue-depth-below-asked", message)
            .remedy("Raise the queue depth, or ask for less in flight.")
    })
}

/// What a disk says of its own state.
pub(crate) fn health(disk: &Disk) -> Vec<Finding> {
    let Some(health) = &disk.health else { return Vec::new() };
    let place = format!("{} of {}", health.source, disk.name);
    let mut found = Vec::new();
    if !health.critical.is_empty() {
        let words = health.critical.join("; ");
        let message = format!("{} warns of itself: {words}.", disk.name);
        found.push(
            Finding::new(SERIOUS, "health-critical", message)
                .evidence(&place, words)
                .remedy("Save what is on it and replace it."),
        );
    }
    if let Some(errors) = health.media_errors.filter(|errors| *errors > 0) {
        let message = format!("{} has counted {errors} errors of its medium.", disk.name);
        found.push(
            Finding::new(WARNING, "media-errors", message)
                .evidence(&place, errors)
                .remedy("Watch whether they grow; replace it if they do."),
        );
    }
    if let Some(used) = health.used_percent.filter(|used| *used >= WORN_PERCENT) {
        let message = format!("{} has used {used} % of its rated life.", disk.name);
        found.push(
            Finding::new(WARNING, "worn", message)
                .evidence(&place, format!("{used} %"))
                .remedy("Plan to replace it."),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size(512), "512 B");
        assert_eq!(size(64 << 10), "64 KiB");
        assert_eq!(size(3 << 29), "1.5 GiB");
    }
}
