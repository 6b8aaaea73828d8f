//! RAID, volumes, paths: what the layers of a chain do.

use super::{INFO, SERIOUS, WARNING, in_block, size};
use crate::judged::CHUNK_BYTES;
use crate::{Finding, Layer, LayerKind, Raid, Severity, shell_word};

/// The block of file systems and disks.
const BLOCK_BYTES: u64 = 4096;
/// With less than this left, the next test file does not fit.
const FULL_BYTES: u64 = 64 << 20;

pub(in super::super) fn of(layer: &Layer) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(raid) = &layer.raid {
        findings.extend([state(layer, raid), action(layer, raid), mismatches(layer, raid)]);
        findings.extend([parity(layer, raid), write_hole(layer, raid), bitmap(layer, raid)]);
        findings.push(members(layer, raid));
    }
    findings.push(chunk(layer));
    findings.push(kind(layer));
    findings.push(failed_paths(layer));
    findings.push(single_path(layer));
    findings.extend([loop_device(layer), loop_offset(layer), promised(layer)]);
    if layer.kind != LayerKind::Partition && layer.kind != LayerKind::Disk {
        findings.push(offset(layer));
    }
    findings.into_iter().flatten().collect()
}

/// The name of the layer with the one that people gave it.
fn named(layer: &Layer) -> String {
    layer
        .label
        .as_ref()
        .map_or_else(|| layer.name.clone(), |label| format!("{} ({label})", layer.name))
}

fn md(layer: &Layer, file: &str) -> String {
    in_block(&layer.name, &format!("md/{file}"))
}

fn is_parity(raid: &Raid) -> bool {
    ["raid4", "raid5", "raid6"].contains(&raid.level.as_str())
}

fn state(layer: &Layer, raid: &Raid) -> Option<Finding> {
    let missing = raid.degraded.filter(|count| *count > 0)?;
    let message = format!(
        "{} is a {} of {} devices that lacks {missing} of them.",
        layer.name, raid.level, raid.devices
    );
    let finding = Finding::new(SERIOUS, "raid-degraded", message)
        .evidence(md(layer, "degraded"), missing)
        .remedy("Add a device for the one that is missing, and measure when it is rebuilt.")
        .command(format!("mdadm /dev/{} --add /dev/DEVICE", layer.name));
    let faulty = raid.members.iter().filter(|member| member.state.contains("faulty"));
    Some(faulty.fold(finding, |finding, member| {
        finding.evidence(md(layer, &format!("dev-{}/state", member.name)), &member.state)
    }))
}

fn action(layer: &Layer, raid: &Raid) -> Option<Finding> {
    let busy = ["resync", "recover", "check", "repair", "reshape"];
    let action = raid.action.as_deref().filter(|action| busy.contains(action))?;
    let message = format!(
        "{} is being worked on by the kernel ({action}), which takes the disks' time.",
        layer.name
    );
    let finding = Finding::new(WARNING, "raid-rebuilding", message)
        .evidence(md(layer, "sync_action"), action)
        .remedy("Wait until it is done, then measure.");
    Some(finding.command("cat /proc/mdstat"))
}

fn mismatches(layer: &Layer, raid: &Raid) -> Option<Finding> {
    let count = raid.mismatches.filter(|count| *count > 0)?;
    // Copies may differ where nothing is stored, as in swap; parity may not.
    let severity = if is_parity(raid) { WARNING } else { INFO };
    let message = format!(
        "The last check of {} ({}) found {count} sectors in which its devices disagree.",
        layer.name, raid.level
    );
    let finding = Finding::new(severity, "raid-mismatches", message)
        .evidence(md(layer, "mismatch_cnt"), count)
        .remedy("Look for the reason in the kernel's log, verify the data, then repair.");
    Some(finding.command(format!("echo repair > /sys/block/{}/md/sync_action", layer.name)))
}

fn parity(layer: &Layer, raid: &Raid) -> Option<Finding> {
    let message = format!(
        "{} is a {}: each small write has to bring the parity up to date.",
        layer.name, raid.level
    );
    let finding = Finding::new(INFO, "raid-parity", message);
    is_parity(raid).then(|| {
        finding.evidence(md(layer, "level"), &raid.level).remedy(
            "Put the log and what is written much on RAID 1 or 10, or measure whether this is \
             fast enough.",
        )
    })
}

fn write_hole(layer: &Layer, raid: &Raid) -> Option<Finding> {
    let policy = raid.consistency.as_deref();
    let journal = raid.members.iter().any(|member| member.state.contains("journal"));
    if !is_parity(raid) || journal || policy.is_some_and(|p| p == "journal" || p == "ppl") {
        return None;
    }
    let message = format!(
        "{} is a {} with neither a journal nor a partial parity log: a power failure may leave \
         parity that does not match the data (the write hole).",
        layer.name, raid.level
    );
    let finding = Finding::new(WARNING, "raid-write-hole", message)
        .evidence(md(layer, "consistency_policy"), policy.unwrap_or("not reported"));
    Some(if raid.level == "raid5" {
        finding
            .remedy(
                "Turn on the partial parity log (RAID 5), or make it anew with a journal device.",
            )
            .command(format!("mdadm --grow /dev/{} --consistency-policy=ppl", layer.name))
    } else {
        finding
            .remedy("Add a journal on a fast device that survives a power failure.")
            .command(format!("mdadm /dev/{} --add-journal /dev/DEVICE", layer.name))
    })
}

fn bitmap(layer: &Layer, raid: &Raid) -> Option<Finding> {
    let policy = raid.consistency.as_deref().filter(|policy| *policy == "resync")?;
    let message = format!(
        "{} ({}, {}) has no bitmap of what is being written: after a crash all of it is \
         synchronised.",
        layer.name,
        raid.level,
        size(layer.size_bytes)
    );
    let finding = Finding::new(INFO, "raid-no-bitmap", message)
        .evidence(md(layer, "consistency_policy"), policy)
        .remedy("Add a bitmap, on other devices if its writes cost too much.");
    Some(finding.command(format!("mdadm --grow /dev/{} --bitmap=internal", layer.name)))
}

fn members(layer: &Layer, raid: &Raid) -> Option<Finding> {
    let bad: Vec<_> = raid.members.iter().filter(|m| m.errors.is_some_and(|e| e > 0)).collect();
    let names: Vec<&str> = bad.iter().map(|member| member.name.as_str()).collect();
    let first = bad.first()?;
    let message = format!(
        "Reads of {} in {} failed and were mended from the other devices.",
        names.join(", "),
        layer.name
    );
    let finding = Finding::new(WARNING, "raid-member-errors", message)
        .remedy("Look at its health, and replace it.")
        .command(format!("smartctl -a /dev/{}", first.name));
    Some(bad.iter().fold(finding, |finding, member| {
        let place = md(layer, &format!("dev-{}/errors", member.name));
        finding.evidence(place, member.errors.unwrap_or(0))
    }))
}

fn chunk(layer: &Layer) -> Option<Finding> {
    let (chunk, place) = match (&layer.raid, layer.kind) {
        (Some(raid), _) => (raid.chunk_bytes?, md(layer, "chunk_size")),
        (None, LayerKind::Striped) => {
            (layer.minimum_io_bytes?, in_block(&layer.name, "queue/minimum_io_size"))
        }
        _ => return None,
    };
    let message = format!(
        "{} gives each disk {} in a row, less than the 64 KiB of an extent of the database.",
        named(layer),
        size(chunk)
    );
    let finding = Finding::new(INFO, "raid-chunk", message).evidence(place, chunk);
    (chunk < CHUNK_BYTES).then(|| finding.remedy("Make it anew with a chunk of 64 KiB or more."))
}

/// What the kind of a volume means for figures.
fn kind(layer: &Layer) -> Option<Finding> {
    let name = named(layer);
    let (severity, code, message, remedy): (Severity, _, _, _) = match layer.kind {
        LayerKind::Thin => (
            WARNING,
            "thin-storage",
            format!(
                "{name} is a thin volume: its space is taken from a pool when it is first written \
                 to."
            ),
            "Watch how full the pool is; measure on a volume that is wholly written, as the \
             database will be.",
        ),
        LayerKind::Vdo => (
            WARNING,
            "compressing-device",
            format!("{name} compresses what is written and looks for duplicates."),
            "Measure with the database's own data as well.",
        ),
        LayerKind::Snapshot => (
            WARNING,
            "snapshot",
            format!("{name} is a snapshot or has one: the first write to each block copies it."),
            "Remove the snapshot before measuring, or measure with one on purpose.",
        ),
        LayerKind::Cache | LayerKind::Bcache => (
            INFO,
            "cache-volume",
            format!("{name} has a cache on a faster device: what fits it is faster than the rest."),
            "Measure with a file much larger than the cache.",
        ),
        LayerKind::Crypt => (
            INFO,
            "encryption",
            format!("{name} is encrypted: the processor's part is in every figure."),
            "Compare with the device below to know its cost.",
        ),
        _ => return None,
    };
    let finding = Finding::new(severity, code, message).remedy(remedy);
    Some(match layer.kind {
        LayerKind::Bcache => finding.evidence(
            in_block(&layer.name, "bcache/cache_mode"),
            layer.cache_mode.as_deref().unwrap_or("not reported"),
        ),
        LayerKind::Thin => {
            finding.evidence(in_block(&layer.name, "dm/uuid"), "on a thin pool").command("lvs -a")
        }
        _ => {
            finding.evidence(in_block(&layer.name, "dm/name"), layer.label.as_deref().unwrap_or(""))
        }
    })
}

fn failed_paths(layer: &Layer) -> Option<Finding> {
    let works = |state: &str| ["running", "live", "unknown"].contains(&state);
    let failed: Vec<_> = layer.paths.iter().filter(|path| !works(&path.state)).collect();
    if failed.is_empty() {
        return None;
    }
    let names: Vec<String> =
        failed.iter().map(|path| format!("{} ({})", path.name, path.state)).collect();
    let message = format!(
        "{} of the {} paths of {} do not work: {}.",
        failed.len(),
        layer.paths.len(),
        named(layer),
        names.join(", ")
    );
    let nvme = layer.name.starts_with("nvme");
    let finding = Finding::new(SERIOUS, "path-failed", message)
        .remedy(
            "Find out why (cable, switch port, zoning, the array's controller) before measuring.",
        )
        .command(if nvme { "nvme list-subsys" } else { "multipath -ll" });
    Some(failed.iter().fold(finding, |finding, path| {
        let place = if nvme {
            format!("/sys/class/nvme/{}/state", path.name)
        } else {
            in_block(&path.name, "device/state")
        };
        finding.evidence(place, &path.state)
    }))
}

fn single_path(layer: &Layer) -> Option<Finding> {
    let [only] = layer.paths.as_slice() else { return None };
    // The driver of NVMe is prepared for several paths, whether or not there can be any.
    if layer.name.starts_with("nvme") && only.access.is_none() {
        return None;
    }
    let message =
        format!("{} is set up for several paths and has one: {}.", named(layer), only.name);
    let finding = Finding::new(WARNING, "path-single", message)
        .evidence(in_block(&layer.name, "slaves"), &only.name)
        .remedy("Add a second path over another adapter and switch.");
    Some(finding.command("multipath -ll"))
}

fn loop_device(layer: &Layer) -> Option<Finding> {
    let file = layer.backing_file.as_ref()?;
    let message = format!(
        "{} goes through the cache of the file system that its file {file} is in: what was \
         written and flushed is written a second time from there.",
        layer.name
    );
    let finding = Finding::new(INFO, "loop-buffered", message)
        .evidence(in_block(&layer.name, "loop/dio"), 0)
        .remedy("Turn on direct I/O for the loop device.")
        .command(format!("losetup --direct-io=on /dev/{}", layer.name));
    (layer.direct == Some(false)).then_some(finding)
}

/// A loop device whose blocks are cut by those of its file.
fn loop_offset(layer: &Layer) -> Option<Finding> {
    let offset = layer.offset_bytes.filter(|bytes| !bytes.is_multiple_of(BLOCK_BYTES))?;
    let message = format!(
        "{} begins at byte {offset} of its file, which is not a multiple of {BLOCK_BYTES}. Each \
         page touches one block too many, and direct I/O to the file is not possible.",
        layer.name
    );
    let finding = Finding::new(WARNING, "loop-misaligned", message)
        .evidence(in_block(&layer.name, "loop/offset"), offset);
    Some(finding.remedy("Set it up with an offset that is a multiple of 1 MiB."))
}

/// A volume that promises more than the storage below it can still hold.
fn promised(layer: &Layer) -> Option<Finding> {
    let space = layer.thin.filter(|space| space.free_bytes < space.promised_bytes)?;
    let (promised, free) = (size(space.promised_bytes), size(space.free_bytes));
    let message = format!(
        "{} promises {promised} that it has not taken yet, and {free} are left below it: writes \
         fail when they are used up, whatever the file system on it has free.",
        named(layer)
    );
    let is_full = space.free_bytes < FULL_BYTES;
    let severity = if is_full { SERIOUS } else { WARNING };
    let finding = Finding::new(severity, "thin-overcommitted", message)
        .evidence(format!("space of {}", layer.name), format!("{promised} promised, {free} left"))
        .remedy("Make room below it: extend the pool, or the file system that its file is in.");
    Some(match &layer.backing_file {
        None => finding.command("lvs -a"),
        Some(file) => finding.command(format!("df -h {}", shell_word(std::path::Path::new(file)))),
    })
}

fn offset(layer: &Layer) -> Option<Finding> {
    let offset = layer.alignment_offset_bytes?;
    let message = format!(
        "The kernel says that {} begins {offset} bytes off the natural alignment of what is below \
         it.",
        named(layer)
    );
    let finding = Finding::new(WARNING, "alignment-offset", message)
        .evidence(in_block(&layer.name, "alignment_offset"), offset);
    Some(finding.remedy("Make the volume anew on aligned partitions."))
}
