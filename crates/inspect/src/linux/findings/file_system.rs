//! File systems: what they are on, how they are mounted, how much room they have.

use super::{INFO, SERIOUS, WARNING, size};
use crate::judged;
use crate::{FileSystem, Finding, Storage, TargetAttribute, TargetKind, shell_word};

/// The page of most file systems, and half of a database's.
const BLOCK_BYTES: u64 = 4096;

const MOUNTS: &str = "/proc/self/mountinfo";

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

pub(super) fn of(storage: &Storage, file_system: &FileSystem) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(medium(storage, file_system));
    findings.extend(overlay(file_system));
    findings.extend(room(file_system));
    findings.extend(inodes(file_system));
    findings.extend(compression(storage, file_system));
    findings.extend(encryption(storage, file_system));
    findings.extend(copy_on_write(storage, file_system));
    findings.extend(mount_options(storage, file_system));
    findings.extend(synchronous(storage, file_system));
    findings.extend(
        [journal(file_system), degraded(file_system), discard(file_system)].into_iter().flatten(),
    );
    findings.extend(errors(storage, file_system));
    findings.extend(unit(file_system));
    findings.extend(stripe(storage, file_system));
    findings
}

/// A file system that is not on a device of this machine.
fn medium(storage: &Storage, file_system: &FileSystem) -> Option<Finding> {
    let place = file_system.mount_point.display();
    let (kind, source) = (file_system.kind.as_str(), &file_system.source);
    let seen = |finding: Finding| finding.evidence(MOUNTS, format!("{kind} from {source}"));
    if MEMORY.contains(&kind) {
        let message = format!(
            "{place} is {kind}, a file system in memory: the figures will be those of memory, not \
             of a storage device."
        );
        let finding = Finding::new(SERIOUS, "memory-file-system", message)
            .remedy("Give a directory on the storage the database will live on.");
        return Some(seen(finding));
    }
    // fuseblk is on a device, and a program serves it all the same.
    if kind == "fuse" || kind == "fuseblk" || kind.starts_with("fuse.") {
        let message = format!(
            "{place} is {kind} from {source}: a program serves it, and that program is part of \
             every figure."
        );
        return Some(seen(Finding::new(WARNING, "user-space-file-system", message)));
    }
    if !storage.devices.is_empty() {
        return None;
    }
    if NETWORK.contains(&kind) {
        let message = format!(
            "{place} is {kind} from {source}: the storage belongs to another system, whose caches \
             and the way to it are part of every figure."
        );
        let finding = Finding::new(WARNING, "network-file-system", message)
            .remedy("Inspect and measure on the system that has the storage as well.");
        return Some(seen(finding));
    }
    let what = format!("({kind}, source {source})");
    Some(no_block_device(&place.to_string(), &what))
}

/// What a container writes outside of its volumes.
fn overlay(file_system: &FileSystem) -> Option<Finding> {
    let option = file_system.options.iter().find(|option| option.starts_with("upperdir="));
    (file_system.kind == "overlay").then(|| {
        let message = format!(
            "{} is overlay, the writable layer of a container (copy on write), not a volume.",
            file_system.mount_point.display()
        );
        Finding::new(WARNING, "overlay-file-system", message)
            .evidence(MOUNTS, option.map_or("overlay", String::as_str))
            .remedy("Measure on the volume that the database's files will be on.")
    })
}

pub(super) fn no_block_device(place: &str, what: &str) -> Finding {
    let message = format!(
        "No block device was found under {place} {what}, so no device could be examined and the \
         kernel's counters cannot confirm the figures."
    );
    Finding::new(INFO, "no-block-device", message)
        .evidence(MOUNTS, "no device of this machine")
        .evidence("/sys/dev/block", "not there")
}

fn room(file_system: &FileSystem) -> Option<Finding> {
    let place = file_system.mount_point.display();
    if let Some(finding) = judged::read_only(file_system) {
        return Some(
            finding
                .evidence(MOUNTS, "ro")
                .remedy(
                    "Mount it for writing; if it was so once, look in the kernel's log for the \
                     error that made it read-only.",
                )
                .command(remount(file_system, "rw")),
        );
    }
    let percent = format!("{:.1} %", file_system.used_percent);
    judged::full(file_system)
        .map(|finding| finding.evidence(format!("statvfs of {place}"), percent))
}

/// A file system in which no more files can be made.
fn inodes(file_system: &FileSystem) -> Option<Finding> {
    let (all, left) = (file_system.inodes?, file_system.available_inodes?);
    (left.saturating_mul(100) < all).then(|| {
        let place = file_system.mount_point.display();
        let message = format!(
            "{place} can hold {left} more files ({all} in all), however much space is free."
        );
        let severity = if left == 0 { SERIOUS } else { WARNING };
        Finding::new(severity, "inodes-used-up", message)
            .evidence(format!("statvfs of {place}"), format!("{left} of {all} inodes"))
            .remedy("Remove small files, or put the database on another file system.")
            .command(format!("df -i {}", shell_word(&file_system.mount_point)))
    })
}

fn has_attribute(file_system: &FileSystem, attribute: TargetAttribute) -> bool {
    file_system.attributes.contains(&attribute)
}

/// Where an attribute of the target was read.
fn lsattr(storage: &Storage) -> String {
    format!("lsattr of {}", storage.path.to_string_lossy())
}

/// Content that the file system encrypts file by file.
fn encryption(storage: &Storage, file_system: &FileSystem) -> Option<Finding> {
    has_attribute(file_system, TargetAttribute::Encrypted).then(|| {
        let message = format!(
            "{} is encrypted by its file system ({}): the processor's part is in every figure.",
            storage.path.to_string_lossy(),
            file_system.kind
        );
        Finding::new(INFO, "encryption", message)
            .evidence(lsattr(storage), "encrypted")
            .remedy("Compare with a directory that is not encrypted to know its cost.")
    })
}

fn remount(file_system: &FileSystem, option: &str) -> String {
    format!("mount -o remount,{option} {}", shell_word(&file_system.mount_point))
}

/// The mounted device, as a word of a shell's command.
fn source(file_system: &FileSystem) -> String {
    shell_word(&file_system.source)
}

fn compression(storage: &Storage, file_system: &FileSystem) -> Option<Finding> {
    let place = file_system.mount_point.display();
    // What is written in place is never compressed.
    if has_attribute(file_system, TargetAttribute::NoCopyOnWrite) {
        return None;
    }
    if has_attribute(file_system, TargetAttribute::Compressed) {
        let target = storage.path.to_string_lossy();
        let message = format!(
            "{target} is compressed by its file system ({}): the test data does not compress, a \
             database's pages do, so its figures will differ.",
            file_system.kind
        );
        let finding = Finding::new(WARNING, "compression", message)
            .evidence(lsattr(storage), "compressed")
            .remedy("Turn it off before the files of the database are made.")
            .command(format!("chattr -c {}", shell_word(&storage.path)));
        return Some(finding);
    }
    let how = file_system.compression.as_ref()?;
    if file_system.kind == "zfs" {
        let message = format!(
            "{place} is ZFS ({}), which compresses unless told not to and keeps what was read in \
             memory, direct I/O or not.",
            file_system.source
        );
        return Some(
            Finding::new(WARNING, "compression", message)
                .evidence(MOUNTS, "zfs")
                .remedy(
                    "Look at the properties compression, recordsize and primarycache of the \
                     dataset.",
                )
                .command(format!(
                    "zfs get compression,recordsize,primarycache {}",
                    source(file_system)
                )),
        );
    }
    let names = ["compress", "compress-force", "compress_algorithm", "compression"];
    let is_it = |option: &&String| names.contains(&option.split('=').next().unwrap_or_default());
    let option = file_system.options.iter().find(is_it).map_or(how.as_str(), String::as_str);
    let message = format!(
        "{place} ({}) is mounted with {option}: the test data does not compress, a database's \
         pages do, so its figures will differ.",
        file_system.kind
    );
    let finding = Finding::new(WARNING, "compression", message)
        .evidence(MOUNTS, option)
        .remedy("Put the database's files where nothing is compressed, or measure there.");
    let is_btrfs = file_system.kind == "btrfs";
    Some(if is_btrfs { finding.command(remount(file_system, "compress=no")) } else { finding })
}

fn copy_on_write(storage: &Storage, file_system: &FileSystem) -> Option<Finding> {
    let kind = file_system.kind.as_str();
    let severity = match kind {
        "btrfs" | "bcachefs" => WARNING,
        // Made for it, and used under databases with the right record size.
        "zfs" => INFO,
        _ => return None,
    };
    let place = file_system.mount_point.display();
    let message = format!(
        "{place} is {kind}: a page that changes is written to a new place, not over the old one."
    );
    let finding = Finding::new(severity, "copy-on-write", message).evidence(MOUNTS, kind).remedy(
        "Turn it off for the directory of the database before its files are made, or use ext4 or \
         XFS.",
    );
    let finding = if kind == "btrfs" {
        // It takes effect in files that are made afterwards.
        let directory = match storage.kind {
            TargetKind::Directory => Some(storage.path.as_path()),
            _ => storage.path.parent(),
        };
        let directory = directory.unwrap_or(&file_system.mount_point);
        finding.command(format!("chattr +C {}", shell_word(directory)))
    } else {
        finding
    };
    let is_off = file_system.options.iter().any(|option| option == "nodatacow")
        || has_attribute(file_system, TargetAttribute::NoCopyOnWrite);
    (!is_off).then_some(finding)
}

fn mount_options(storage: &Storage, file_system: &FileSystem) -> Vec<Finding> {
    let has = |option: &str| file_system.options.iter().any(|known| known == option);
    let place = file_system.mount_point.display();
    let mut findings = Vec::new();
    // The kernel shows how access times are kept only where they are kept less strictly.
    if !storage.devices.is_empty() && !file_system.read_only && !has("noatime") && !has("relatime")
    {
        let message = format!(
            "{place} is mounted with strictatime: reading a file also writes its time of access."
        );
        findings.push(
            Finding::new(INFO, "strict-access-times", message)
                .evidence(MOUNTS, "neither noatime nor relatime")
                .remedy("Mount it with noatime, or relatime.")
                .command(remount(file_system, "noatime")),
        );
    }
    let of_target = has_attribute(file_system, TargetAttribute::DataJournal);
    if has("data=journal") || of_target {
        let message = format!(
            "{place} ({}) has data in its journal: everything is written twice, and direct I/O is \
             not direct.",
            file_system.kind
        );
        let finding = Finding::new(WARNING, "data-journal", message);
        findings.push(if of_target {
            finding
                .evidence(lsattr(storage), "data-journal")
                .remedy("Turn it off; a database has its own journal.")
                .command(format!("chattr -j {}", shell_word(&storage.path)))
        } else {
            finding
                .evidence(MOUNTS, "data=journal")
                .remedy("Mount it with data=ordered; a database has its own journal.")
                .command(format!("tune2fs -o ^journal_data {}", source(file_system)))
        });
    }
    if let Some(option) = ["nobarrier", "barrier=0"].into_iter().find(|option| has(option)) {
        let volatile = storage
            .devices
            .iter()
            .any(|device| device.write_cache.as_deref() == Some("write back"));
        let message = format!(
            "{place} is mounted without write barriers: a flush does not reach the disk's cache, \
             so durable writes look fast and a power failure can lose them."
        );
        findings.push(
            Finding::new(if volatile { SERIOUS } else { WARNING }, "no-write-barrier", message)
                .evidence(MOUNTS, option)
                .remedy(
                    "Mount it with barriers unless every cache under it is protected by a battery.",
                )
                .command(remount(file_system, "barrier")),
        );
    }
    findings
}

/// Writes, or changes of directories, that each wait for the medium.
fn synchronous(storage: &Storage, file_system: &FileSystem) -> Option<Finding> {
    let mounted = |name: &str| file_system.options.iter().any(|option| option == name);
    let place = file_system.mount_point.display();
    let path = shell_word(&storage.path);
    let (severity, what, name, letter, of_target) = match () {
        () if mounted("sync") => (WARNING, "each write", "sync", 'S', false),
        () if has_attribute(file_system, TargetAttribute::Synchronous) => {
            (WARNING, "each write", "sync", 'S', true)
        }
        () if mounted("dirsync") => (INFO, "making or removing a file", "dirsync", 'D', false),
        () if has_attribute(file_system, TargetAttribute::SynchronousDirectory) => {
            (INFO, "making or removing a file", "dirsync", 'D', true)
        }
        () => return None,
    };
    let message = format!("On {place}, {what} waits for the medium ({name}).");
    let finding = Finding::new(severity, "synchronous", message);
    Some(if of_target {
        finding
            .evidence(lsattr(storage), name)
            .remedy("Turn it off; a database flushes what has to be durable.")
            .command(format!("chattr -{letter} {path}"))
    } else {
        let option = if name == "sync" { "async".to_owned() } else { format!("no{name}") };
        let finding = finding
            .evidence(MOUNTS, name)
            .remedy("Mount it without; a database flushes what has to be durable.");
        // The kernel knows no option that takes dirsync back.
        if name == "sync" { finding.command(remount(file_system, &option)) } else { finding }
    })
}

/// A file system whose metadata a crash may damage.
fn journal(file_system: &FileSystem) -> Option<Finding> {
    let has_none = file_system.journal.as_deref() == Some("none");
    let finding = || {
        let message = format!(
            "{} ({}) has no journal: after a crash it has to be checked, and may have lost files.",
            file_system.mount_point.display(),
            file_system.kind
        );
        let finding = Finding::new(WARNING, "no-journal", message)
            .evidence("journal", "none")
            .remedy("Give it a journal while it is not mounted, or use another file system.");
        let can = file_system.kind.starts_with("ext");
        let command = format!("tune2fs -O has_journal {}", source(file_system));
        if can { finding.command(command) } else { finding }
    };
    (has_none && !file_system.read_only).then(finding)
}

/// A btrfs that was mounted although a device may be missing.
fn degraded(file_system: &FileSystem) -> Option<Finding> {
    let is_it = file_system.options.iter().any(|option| option == "degraded");
    (is_it && file_system.kind == "btrfs").then(|| {
        let place = file_system.mount_point.display();
        let message = format!(
            "{place} (btrfs) is mounted with degraded: it may lack a device, and copies of data \
             with it."
        );
        Finding::new(SERIOUS, "raid-degraded", message)
            .evidence(MOUNTS, "degraded")
            .remedy("Replace the missing device, then mount it without degraded.")
            .command(format!("btrfs device usage {}", shell_word(&file_system.mount_point)))
    })
}

fn discard(file_system: &FileSystem) -> Option<Finding> {
    // The asynchronous kind of btrfs waits until there is time for it.
    let on =
        file_system.options.iter().any(|option| option == "discard" || option == "discard=sync");
    on.then(|| {
        let message = format!(
            "{} is mounted with discard: what is deleted is given back to the device at once.",
            file_system.mount_point.display()
        );
        Finding::new(INFO, "online-discard", message)
            .evidence(MOUNTS, "discard")
            .remedy("Mount it with nodiscard and run fstrim once a week.")
            .command(remount(file_system, "nodiscard"))
    })
}

fn errors(storage: &Storage, file_system: &FileSystem) -> Option<Finding> {
    let errors = file_system.errors.filter(|errors| *errors > 0)?;
    let message = format!(
        "{} ({}) has noted {errors} errors in itself since it was last checked.",
        file_system.mount_point.display(),
        file_system.kind
    );
    let volume = storage.layers.first().map_or("", String::as_str);
    Some(
        Finding::new(SERIOUS, "file-system-errors", message)
            .evidence(format!("/sys/fs/ext4/{volume}/errors_count"), errors)
            .remedy("Take a copy of what is on it, unmount it and check it.")
            .command(format!("fsck -f {}", source(file_system))),
    )
}

/// The unit in which space is given out.
fn unit(file_system: &FileSystem) -> Option<Finding> {
    let (kind, bytes) = (file_system.kind.as_str(), file_system.block_bytes);
    let place = file_system.mount_point.display();
    let seen = |finding: Finding| finding.evidence(format!("statvfs of {place}"), bytes);
    if ["ntfs", "ntfs3", "fuseblk"].contains(&kind) {
        return judged::allocation_unit(file_system).map(|finding| {
            let to = source(file_system);
            seen(finding).command(format!("mkfs.ntfs --cluster-size 65536 {to}"))
        });
    }
    let known = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs"].contains(&kind);
    if !known || bytes == 0 || bytes >= BLOCK_BYTES {
        return None;
    }
    let message = format!(
        "{place} ({kind}) has blocks of {bytes} bytes, smaller than a page of memory and of any \
         database."
    );
    let finding = Finding::new(WARNING, "allocation-unit", message)
        .remedy("Format it anew with blocks of 4 KiB; what is on it is lost by that.");
    Some(seen(match kind {
        "xfs" => finding.command(format!("mkfs.xfs -b size=4096 {}", source(file_system))),
        _ => finding.command(format!("mkfs.{kind} -b 4096 {}", source(file_system))),
    }))
}

/// A file system on a RAID in stripes that was not told so.
fn stripe(storage: &Storage, file_system: &FileSystem) -> Option<Finding> {
    let (layer, raid) =
        storage.chain.iter().find_map(|layer| Some((layer, layer.raid.as_ref()?)))?;
    let (chunk, stripe) = (raid.chunk_bytes?, raid.stripe_bytes?);
    let told = |names: &[&str]| {
        let name = |option: &String| option.split('=').next().unwrap_or_default().to_owned();
        file_system.options.iter().any(|option| names.contains(&name(option).as_str()))
    };
    let source = source(file_system);
    let (names, command): (&[&str], String) = match file_system.kind.as_str() {
        "ext4" => {
            let (one, all) = (chunk / BLOCK_BYTES, stripe / BLOCK_BYTES);
            (&["stripe"], format!("tune2fs -E stride={one},stripe_width={all} {source}"))
        }
        "xfs" => {
            (&["sunit", "swidth"], format!("mkfs.xfs -d su={chunk},sw={} {source}", stripe / chunk))
        }
        _ => return None,
    };
    let message = format!(
        "{} is on {} with stripes of {} ({} on each disk), but does not know about them.",
        file_system.mount_point.display(),
        layer.name,
        size(stripe),
        size(chunk)
    );
    (!told(names)).then(|| {
        Finding::new(INFO, "file-system-stripe", message)
            .evidence(MOUNTS, format!("no {}", names.join(" or ")))
            .evidence(super::in_block(&layer.name, "md/chunk_size"), chunk)
            .remedy(
                "Tell it: ext4 can be told later, XFS when it is made (what is on it is lost by \
                 that).",
            )
            .command(command)
    })
}
