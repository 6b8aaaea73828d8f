//! The rules by which a set-up is judged.

use super::chain::PlacedPartition;
use crate::{Device, FileSystem, Finding, Severity, Storage, TargetKind};

/// Beyond this, file systems scatter new files over what room is left.
const FULL_PERCENT: f64 = 85.0;

/// Where partitioning tools have put partitions since 2009.
const USUAL_ALIGNMENT_BYTES: u64 = 1 << 20;

/// The block of today's disks, whatever they say.
const BLOCK_BYTES: u64 = 4096;

const MEMORY: [&str; 3] = ["tmpfs", "ramfs", "devtmpfs"];

const NETWORK: [&str; 14] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ceph",
    "glusterfs",
    "lustre",
    "gpfs",
    "beegfs",
    "afs",
    "9p",
    "virtiofs",
    "vboxsf",
];

/// All findings, the most serious first.
pub(crate) fn findings(storage: &Storage, partitions: &[PlacedPartition]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(file_system) = &storage.file_system {
        findings.extend(medium(storage, file_system));
        findings.extend(room(file_system));
        findings.extend(compression(file_system));
        findings.extend(mount_options(storage, file_system));
    } else if storage.kind != TargetKind::CharDevice && storage.devices.is_empty() {
        findings.push(no_block_device(&storage.path.to_string_lossy(), "whose mount is not known"));
    }
    findings.extend(partitions.iter().filter_map(alignment));
    for device in &storage.devices {
        findings.extend(loop_device(device));
        findings.extend(scheduler(device));
        findings.extend(write_cache(device));
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

fn finding(
    severity: Severity,
    code: &str,
    message: String,
    remedy: impl Into<Option<&'static str>>,
) -> Finding {
    Finding { severity, code: code.to_owned(), message, remedy: remedy.into().map(str::to_owned) }
}

/// A file system that is not on a device of this machine.
fn medium(storage: &Storage, file_system: &FileSystem) -> Option<Finding> {
    let place = file_system.mount_point.display();
    let (kind, source) = (file_system.kind.as_str(), &file_system.source);
    if MEMORY.contains(&kind) {
        return Some(finding(
            Severity::Serious,
            "memory-file-system",
            format!(
                "{place} is {kind}, a file system in memory: the figures will be those of memory, \
                    not of a storage device."
            ),
            "Give a directory on the storage the database will live on.",
        ));
    }
    if !storage.devices.is_empty() {
        return None;
    }
    if NETWORK.contains(&kind) {
        return Some(finding(
            Severity::Warning,
            "network-file-system",
            format!(
                "{place} is {kind} from {source}: the storage belongs to another system, whose \
                    caches and the way to it are part of every figure."
            ),
            "Inspect and measure on the system that has the storage as well.",
        ));
    }
    if kind == "fuse" || kind.starts_with("fuse.") {
        return Some(finding(
            Severity::Warning,
            "user-space-file-system",
            format!(
                "{place} is {kind} from {source}: a program serves it, and that program is part \
                    of every figure."
            ),
            None,
        ));
    }
    let what = format!("({kind}, source {source})");
    Some(no_block_device(&place.to_string(), &what))
}

fn no_block_device(place: &str, what: &str) -> Finding {
    finding(
        Severity::Info,
        "no-block-device",
        format!(
            "No block device was found under {place} {what}, so no device could be examined and \
                the kernel's counters cannot confirm the figures."
        ),
        None,
    )
}

fn room(file_system: &FileSystem) -> Option<Finding> {
    let place = file_system.mount_point.display();
    if file_system.read_only {
        return Some(finding(
            Severity::Serious,
            "read-only",
            format!("{place} cannot be written to: it is mounted read-only."),
            "Mount it for writing; if it was so once, look in the kernel's log for the error that \
                made it read-only.",
        ));
    }
    if file_system.used_percent < FULL_PERCENT {
        return None;
    }
    Some(finding(
        Severity::Warning,
        "file-system-full",
        format!(
            "{place} is {:.1} % full with {} of {} left: new files become fragmented, and \
                solid-state disks slower.",
            file_system.used_percent,
            gib(file_system.available_bytes),
            gib(file_system.total_bytes),
        ),
        "Make room, or judge the figures as those of a full file system.",
    ))
}

fn gib(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    if gib < 1.0 { format!("{:.0} MiB", 1024.0 * gib) } else { format!("{gib:.1} GiB") }
}

fn compression(file_system: &FileSystem) -> Option<Finding> {
    let place = file_system.mount_point.display();
    if file_system.kind == "zfs" {
        return Some(finding(
            Severity::Warning,
            "compression",
            format!(
                "{place} is ZFS ({}), which compresses unless told not to and keeps what was read \
                    in memory, direct I/O or not.",
                file_system.source
            ),
            "Look at the properties compression, recordsize and primarycache of the dataset.",
        ));
    }
    let option = file_system.options.iter().find(|option| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let named = ["compress", "compress-force", "compress_algorithm", "compression"];
        named.contains(&name) && value != "no" && value != "none"
    })?;
    Some(finding(
        Severity::Warning,
        "compression",
        format!(
            "{place} ({}) is mounted with {option}: the test data does not compress, a database's \
                pages do, so its figures will differ.",
            file_system.kind
        ),
        "Put the database's files where nothing is compressed, or measure there.",
    ))
}

fn mount_options(storage: &Storage, file_system: &FileSystem) -> Vec<Finding> {
    let has = |option: &str| file_system.options.iter().any(|known| known == option);
    let place = file_system.mount_point.display();
    let mut findings = Vec::new();
    // The kernel shows how access times are kept only where they are kept less strictly.
    if !storage.devices.is_empty() && !file_system.read_only && !has("noatime") && !has("relatime")
    {
        findings.push(finding(
            Severity::Info,
            "strict-access-times",
            format!(
                "{place} is mounted with strictatime: reading a file also writes its time of \
                access."
            ),
            "Mount it with noatime, or relatime.",
        ));
    }
    if has("data=journal") {
        findings.push(finding(
            Severity::Warning,
            "data-journal",
            format!(
                "{place} ({}) is mounted with data=journal: everything is written twice, and \
                direct I/O is not direct.",
                file_system.kind
            ),
            "Mount it with data=ordered; a database has a journal of its own.",
        ));
    }
    if has("nobarrier") || has("barrier=0") {
        findings.push(finding(
            Severity::Warning,
            "no-write-barrier",
            format!(
                "{place} is mounted without write barriers: a flush does not reach the disk's \
                cache, so durable writes look fast and a power failure can lose them."
            ),
            "Mount it with barriers unless every cache under it is protected by a battery.",
        ));
    }
    findings
}

fn alignment(placed: &PlacedPartition) -> Option<Finding> {
    let (name, start) = (&placed.partition.name, placed.partition.start_bytes);
    let physical = placed.physical_block_bytes.unwrap_or(BLOCK_BYTES);
    let remedy = "Make the partition anew, beginning at a multiple of 1 MiB.";
    if let Some(block) =
        [physical, BLOCK_BYTES].into_iter().find(|block| !start.is_multiple_of(*block))
    {
        return Some(finding(
            Severity::Warning,
            "partition-misaligned",
            format!(
                "Partition {name} begins at byte {start}, which is not a multiple of {block}: a \
                    page of the database may touch one disk block more than it needs."
            ),
            remedy,
        ));
    }
    (!start.is_multiple_of(USUAL_ALIGNMENT_BYTES)).then(|| {
        finding(
            Severity::Info,
            "partition-not-on-mib",
            format!(
                "Partition {name} begins at byte {start}, which is a multiple of \
                {BLOCK_BYTES} but not of 1 MiB: it may lie across the stripes of a RAID or the \
                blocks of an array."
            ),
            remedy,
        )
    })
}

fn loop_device(device: &Device) -> Option<Finding> {
    (device.transport.as_deref() == Some("loop")).then(|| {
        finding(
            Severity::Warning,
            "loop-device",
            format!(
                "{} is a loop device of {}: the figures are those of the file under it, and \
                of that file's file system and cache.",
                device.name,
                gib(device.size_bytes)
            ),
            "Give the storage itself.",
        )
    })
}

fn scheduler(device: &Device) -> Option<Finding> {
    let scheduler = device.scheduler.as_deref()?;
    let light = ["none", "mq-deadline", "noop", "deadline"].contains(&scheduler);
    (device.rotational == Some(false) && !light).then(|| {
        finding(
            Severity::Info,
            "scheduler",
            format!(
                "{} has no rotating disks but the I/O scheduler {scheduler}, which costs time \
                for each I/O and may hold some back.",
                device.name
            ),
            "Set the scheduler to none or mq-deadline.",
        )
    })
}

fn write_cache(device: &Device) -> Option<Finding> {
    let volatile = device.write_cache.as_deref() == Some("write back") && device.fua == Some(false);
    volatile.then(|| {
        finding(
            Severity::Info,
            "volatile-write-cache",
            format!(
                "{} has a volatile write cache and no forced unit access: each durable write \
                costs a flush of the whole cache.",
                device.name
            ),
            None,
        )
    })
}
