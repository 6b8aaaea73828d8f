//! What each layer of a chain does, from its directory in /sys.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mapper::Question;
use super::tree::Tree;
use super::{device, mapper};
use crate::{Layer, LayerKind, Raid, RaidMember, StoragePath, ThinSpace};

/// More members and paths than anyone has.
const MEMBERS_MAX: usize = 1024;

/// The layer whose directory, without symbolic links, is `dir`; `below` are the directories of what
/// it is on.
pub(super) fn layer(tree: &Tree, dir: &Path, level: u32, below: &[PathBuf]) -> Layer {
    let mut layer = Layer {
        name: device::name(dir),
        level,
        size_bytes: device::sectors_to_bytes(tree.number(dir.join("size"))),
        minimum_io_bytes: device::nonzero(tree.number(dir.join("queue/minimum_io_size"))),
        optimal_io_bytes: device::nonzero(tree.number(dir.join("queue/optimal_io_size"))),
        alignment_offset_bytes: device::nonzero(tree.number(dir.join("alignment_offset"))),
        ..Layer::default()
    };
    if device::is_partition(tree, dir) {
        layer.kind = LayerKind::Partition;
        layer.partition = Some(device::partition(tree, dir));
    } else if let Some(raid) = raid(tree, dir) {
        layer.kind = LayerKind::Raid;
        layer.raid = Some(raid);
    } else if let Some(file) = tree.text(dir.join("loop/backing_file")) {
        layer.kind = LayerKind::Loop;
        layer.thin = sparse(&tree.at(&file));
        layer.backing_file = Some(file);
        layer.direct = tree.flag(dir.join("loop/dio"));
        layer.offset_bytes = device::nonzero(tree.number(dir.join("loop/offset")));
    } else if let Some(name) = tree.text(dir.join("dm/name")) {
        let table = table(tree, dir).unwrap_or_default();
        layer.kind = mapper::kind(&table).unwrap_or_else(|| mapped(tree, dir, below, &layer));
        layer.policy = mapper::policy(&table);
        layer.table = table.iter().map(mapper::Line::to_string).collect();
        layer.label = Some(name);
        if layer.kind == LayerKind::Thin {
            layer.thin = below.first().and_then(|pool| thin(tree, dir, pool));
        }
        if layer.kind == LayerKind::Multipath {
            layer.paths = below.iter().map(|path| scsi_path(tree, path)).collect();
        }
    } else if layer.name.starts_with("bcache") {
        layer.kind = LayerKind::Bcache;
        layer.cache_mode =
            tree.text(dir.join("bcache/cache_mode")).and_then(|list| device::selected(&list));
    } else {
        nvme_paths(tree, dir, &mut layer);
    }
    layer
}

fn table(tree: &Tree, dir: &Path) -> Option<Vec<mapper::Line>> {
    mapper::ask(tree, &tree.text(dir.join("dev"))?, Question::Table)
}

/// The space of a thin volume of the device mapper, and of the pool it is on.
fn thin(tree: &Tree, dir: &Path, pool: &Path) -> Option<ThinSpace> {
    let state = |dir: &Path| mapper::ask(tree, &tree.text(dir.join("dev"))?, Question::State);
    mapper::thin_space(state(dir)?.first()?, table(tree, pool)?.first()?, state(pool)?.first()?)
}

/// The space of a file with holes, and of the file system it is in.
fn sparse(file: &Path) -> Option<ThinSpace> {
    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let taken = metadata.blocks().saturating_mul(512);
    let space = rustix::fs::statvfs(file).ok()?;
    let promised_bytes = metadata.len().saturating_sub(taken);
    let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    (promised_bytes > 0).then_some(ThinSpace { promised_bytes, free_bytes })
}

/// What a volume of the device mapper does, as far as the names its makers gave it tell.
fn mapped(tree: &Tree, dir: &Path, below: &[PathBuf], layer: &Layer) -> LayerKind {
    let uuid = tree.text(dir.join("dm/uuid")).unwrap_or_default();
    let uuids: Vec<String> =
        below.iter().filter_map(|dir| tree.text(dir.join("dm/uuid"))).collect();
    let names: Vec<String> =
        below.iter().filter_map(|dir| tree.text(dir.join("dm/name"))).collect();
    let on = |suffixes: &[&str]| uuids.iter().any(|u| suffixes.iter().any(|s| u.ends_with(s)));
    let has_part = |part: &str| names.iter().any(|name| name.contains(part));
    let whole_stripes = || {
        let (least, most) = (layer.minimum_io_bytes?, layer.optimal_io_bytes?);
        Some(least >= 4096 && most > least && most.is_multiple_of(least))
    };
    match () {
        () if uuid.starts_with("mpath-") => LayerKind::Multipath,
        () if uuid.starts_with("CRYPT-") => LayerKind::Crypt,
        () if uuid.starts_with("VDO-") || uuid.ends_with("-vpool") => LayerKind::Vdo,
        () if uuid.starts_with("DMRAID-") => LayerKind::Raid,
        () if !uuid.starts_with("LVM-") => LayerKind::Mapped,
        () if uuid.ends_with("-tpool") || uuid.ends_with("-pool") => LayerKind::ThinPool,
        () if on(&["-tpool"]) => LayerKind::Thin,
        () if on(&["-cpool", "-cdata", "-cmeta", "-corig", "-cvol"]) => LayerKind::Cache,
        () if on(&["-cow"]) => LayerKind::Snapshot,
        () if on(&["-vpool"]) => LayerKind::Vdo,
        () if has_part("_rimage_") => LayerKind::Raid,
        () if has_part("_mimage_") => LayerKind::Mirror,
        () if below.len() > 1 && whole_stripes() == Some(true) => LayerKind::Striped,
        () => LayerKind::Linear,
    }
}

fn raid(tree: &Tree, dir: &Path) -> Option<Raid> {
    let md = dir.join("md");
    let level = tree.text(md.join("level"))?;
    let text = |file: &str| tree.text(md.join(file));
    let number = |file: &str| tree.number(md.join(file));
    // While it is being reshaped: `4 (3)`.
    let devices = text("raid_disks")
        .and_then(|text| text.split_whitespace().next()?.parse::<u32>().ok())
        .unwrap_or(0);
    let chunk_bytes = device::nonzero(number("chunk_size"));
    Some(Raid {
        stripe_bytes: chunk_bytes
            .zip(data_devices(&level, devices))
            .map(|(chunk, count)| chunk.saturating_mul(count)),
        level,
        devices,
        degraded: number("degraded").and_then(|count| u32::try_from(count).ok()),
        columns: None,
        chunk_bytes,
        consistency: text("consistency_policy"),
        bitmap: text("bitmap/location"),
        state: text("array_state"),
        action: text("sync_action"),
        mismatches: number("mismatch_cnt"),
        members: members(tree, &md),
    })
}

/// Devices that hold data in each stripe; `None` without stripes.
fn data_devices(level: &str, devices: u32) -> Option<u64> {
    let count = match level {
        "raid0" => devices,
        "raid4" | "raid5" => devices.checked_sub(1)?,
        "raid6" => devices.checked_sub(2)?,
        // With two copies of everything, which is what nearly all have.
        "raid10" => devices / 2,
        _ => return None,
    };
    (count > 0).then_some(count.into())
}

fn members(tree: &Tree, md: &Path) -> Vec<RaidMember> {
    let member = |dir: PathBuf| {
        let name = dir.file_name()?.to_str()?.strip_prefix("dev-")?.replace('!', "/");
        Some(RaidMember {
            name,
            state: tree.text(dir.join("state"))?,
            errors: device::nonzero(tree.number(dir.join("errors"))),
        })
    };
    tree.entries(md).into_iter().filter_map(member).take(MEMBERS_MAX).collect()
}

/// A disk that is one path of a multipath device.
fn scsi_path(tree: &Tree, dir: &Path) -> StoragePath {
    let address = tree
        .canonical(dir.join("device"))
        .and_then(|device| Some(device.file_name()?.to_string_lossy().into_owned()));
    StoragePath {
        name: device::name(dir),
        state: tree.text(dir.join("device/state")).unwrap_or_else(|| "unknown".to_owned()),
        address,
        access: tree.text(dir.join("device/access_state")),
    }
}

/// The controllers of an NVMe namespace that has several.
fn nvme_paths(tree: &Tree, dir: &Path, layer: &mut Layer) {
    let controllers = nvme_controllers(tree, dir);
    if controllers.is_empty() {
        return;
    }
    layer.kind = LayerKind::Multipath;
    layer.policy = tree.text(dir.join("device/iopolicy"));
    layer.paths = controllers.iter().map(|controller| nvme_path(tree, controller)).collect();
}

/// The directories of the controllers of an NVMe namespace that several share; `None` for others.
pub(super) fn nvme_controllers(tree: &Tree, dir: &Path) -> Vec<PathBuf> {
    if !dir.iter().any(|step| step == "nvme-subsystem") {
        return Vec::new();
    }
    let is_controller = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix("nvme").unwrap_or_default();
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    };
    let entries = tree.entries(dir.join("device")).into_iter().filter(is_controller);
    entries.filter_map(|link| tree.canonical(link)).take(MEMBERS_MAX).collect()
}

fn nvme_path(tree: &Tree, controller: &Path) -> StoragePath {
    let access = tree.entries(controller).into_iter().find_map(|entry| {
        let name = entry.file_name()?.to_str()?;
        let ours = name.starts_with("nvme") && name.contains('c');
        tree.text(entry.join("ana_state")).filter(|_| ours)
    });
    StoragePath {
        name: device::name(controller),
        state: tree.text(controller.join("state")).unwrap_or_else(|| "unknown".to_owned()),
        address: tree.text(controller.join("address")),
        access,
    }
}
