//! Everything about targets: their storage, and facts that cost more than reading a few small
//! files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::IFlags;

use super::chain::{self, PlacedPartition};
use super::mountinfo::{self, Mount};
use super::storage::{Located, locate, storage_at};
use super::tree::Tree;
use super::{clock, extents, findings, health, interrupts, layers, partitions};
use crate::{
    Disk, INSPECTION_SCHEMA, InspectError, Inspected, Inspection, LayerKind, PlannedLoad, Request,
    Storage, TargetKind,
};

/// File systems that hold no database and are on a separate device all the same.
const IMAGES: [&str; 3] = ["squashfs", "iso9660", "erofs"];

pub(crate) fn inspection(root: &Path, request: &Request) -> Result<Inspection, InspectError> {
    let live = root == Path::new("/");
    let tree = Tree::new(root);
    let mountinfo = tree.bytes("proc/self/mountinfo").unwrap_or_default();
    let named = !request.targets.is_empty();
    let located = if named {
        request.targets.iter().map(|target| locate(target)).collect::<Result<Vec<_>, _>>()?
    } else {
        mounted(&mountinfo::parse(&mountinfo), &tree)
    };
    let privileged = live && rustix::process::geteuid().is_root();
    let of_target = Target { tree: &tree, mountinfo: &mountinfo, asked: &request.asked };
    let mut targets: Vec<Inspected> =
        located.into_iter().map(|one| of_target.inspect(one)).collect();
    if !named {
        targets.extend(of_target.remaining(&targets));
    }
    let clock_synchronised = if live { clock::synchronised() } else { None };
    let mut host = super::host(root);
    host.findings.extend(findings::unsynchronised(clock_synchronised));
    for swap in host.settings.iter().flat_map(|settings| &settings.swap) {
        let disks = of_target.disks_under(Path::new(swap));
        for target in &mut targets {
            let found = findings::of_swap(target, swap, &disks);
            target.storage.findings.extend(found);
        }
    }
    let shared = if named { findings::shared(&targets) } else { Vec::new() };
    let inspection = Inspection {
        schema: INSPECTION_SCHEMA.to_owned(),
        tool_version: request.tool_version.clone(),
        made: request.made.clone(),
        privileged,
        host,
        clock_synchronised,
        hidden: hidden(&targets, privileged),
        targets,
        findings: shared,
    };
    Ok(inspection.gathered())
}

pub(crate) fn recorded_inspection(
    _root: &Path,
    _request: &Request,
) -> Result<(Inspection, String), InspectError> {
    Err(InspectError::Unrecordable { system: std::env::consts::OS })
}

/// What could not be seen, and what would show it.
fn hidden(targets: &[Inspected], privileged: bool) -> Vec<String> {
    let mut hidden = Vec::new();
    let devices = || targets.iter().flat_map(|target| &target.storage.devices);
    let on = |transport: &str| devices().any(|d| d.transport.as_deref() == Some(transport));
    let has_health = |name: &str| {
        targets.iter().flat_map(|t| &t.disks).any(|d| d.name == name && d.health.is_some())
    };
    if devices().any(|d| d.name.starts_with("nvme") && !has_health(&d.name)) {
        hidden.push(if privileged {
            "The health log of an NVMe disk could not be read: its controller's device is not \
             there or refused."
                .to_owned()
        } else {
            "The health log of NVMe disks is for the administrator: run this as root.".to_owned()
        });
    }
    if on("sata") || on("sas") || on("scsi") || on("usb") {
        hidden.push(
            "The health (SMART) of SATA, SAS and USB disks is not asked for: `smartctl -a \
             /dev/DISK` shows it."
                .to_owned(),
        );
    }
    if !privileged && devices().any(|d| d.serial.is_none()) {
        hidden.push("Serial numbers of some disks can only be read by root.".to_owned());
    }
    let mapped = |kind: LayerKind| {
        !matches!(kind, LayerKind::Disk | LayerKind::Partition | LayerKind::Loop | LayerKind::Raid)
    };
    let volumes = targets.iter().flat_map(|t| &t.storage.chain);
    if volumes
        .clone()
        .any(|layer| layer.label.is_some() && layer.table.is_empty() && mapped(layer.kind))
    {
        hidden.push(
            "What volumes of the device mapper are made of was concluded from their names; \
             `dmsetup table` and `lvs -a` show it to root."
                .to_owned(),
        );
    }
    if targets.iter().any(|t| t.storage.kind == TargetKind::File && t.extents.is_none()) {
        hidden.push(
            "The place of a file on its disk is not known: it may not be read, or its file \
             system does not report it."
                .to_owned(),
        );
    }
    hidden
}

/// The directories that file systems on devices are mounted on, each file system once.
fn mounted(mounts: &[Mount], tree: &Tree) -> Vec<Located> {
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for mount in mounts {
        let volumes = chain::volumes(tree, mount);
        let is_directory = |located: &Located| located.kind == TargetKind::Directory;
        if volumes.is_empty() || seen.contains(&volumes) || IMAGES.contains(&mount.kind.as_str()) {
            continue;
        }
        if let Some(located) = locate(&mount.directory).ok().filter(is_directory) {
            seen.push(volumes);
            found.push(located);
        }
    }
    found
}

/// A target with the facts that its inspection needs.
pub(super) struct Target<'a> {
    pub(super) tree: &'a Tree,
    pub(super) mountinfo: &'a [u8],
    pub(super) asked: &'a PlannedLoad,
}

impl Target<'_> {
    pub(super) fn inspect(&self, located: Located) -> Inspected {
        let is_file = located.kind == TargetKind::File;
        let extents = is_file.then(|| extents::extents(&located.path)).flatten();
        let mut storage = storage_at(self.tree, self.mountinfo, located);
        let interrupts_table = self.tree.text("proc/interrupts").unwrap_or_default();
        let (mut disks, mut placed) = (Vec::new(), Vec::new());
        for device in &storage.devices {
            let Some(dir) = self.dir(&device.name) else { continue };
            let all = partitions::partitions(self.tree, &dir);
            disks.push(Disk {
                name: device.name.clone(),
                partitions: all.iter().map(|placed| placed.partition.clone()).collect(),
                health: health::health(self.tree, &dir),
                interrupts: interrupts::interrupts(self.tree, &dir, &interrupts_table),
            });
            placed.push(all);
        }
        let mut found = of_whole_disk(&storage, &placed);
        found.extend(findings::of_disks(&storage, &disks));
        found.extend(extents.iter().flat_map(|extents| findings::of_extents(&storage, extents)));
        found.extend(findings::of_asked(&storage, self.asked));
        found.extend(self.of_paths(&storage));
        storage.findings.extend(found);
        Inspected { storage, extents, disks }
    }

    /// The directory of the device with this name.
    fn dir(&self, name: &str) -> Option<PathBuf> {
        self.tree.canonical(Path::new("sys/class/block").join(name.replace('/', "!")))
    }

    fn of_paths(&self, storage: &Storage) -> Vec<crate::Finding> {
        let ios = |dir: PathBuf| {
            let text = self.tree.text(dir.join("stat"))?;
            let numbers: Vec<u64> =
                text.split_whitespace().map_while(|word| word.parse().ok()).collect();
            Some(numbers.first()?.saturating_add(*numbers.get(4)?))
        };
        let of_layer = |layer: &crate::Layer| {
            let dirs: Vec<PathBuf> = if layer.name.starts_with("nvme") {
                let controllers = layers::nvme_controllers(self.tree, &self.dir(&layer.name)?);
                controllers.iter().filter_map(|dir| self.own_block(dir)).collect()
            } else {
                layer.paths.iter().filter_map(|path| self.dir(&path.name)).collect()
            };
            let all: Option<Vec<u64>> = dirs.into_iter().map(ios).collect();
            let all = all.filter(|all| all.len() == layer.paths.len())?;
            findings::of_paths(layer, &all)
        };
        storage.chain.iter().filter(|layer| !layer.paths.is_empty()).filter_map(of_layer).collect()
    }

    /// The hidden block device of one NVMe controller's own path: `nvme0c1n1`.
    fn own_block(&self, controller: &Path) -> Option<PathBuf> {
        self.tree.entries(controller).into_iter().find(|entry| {
            let name = entry.file_name().and_then(OsStr::to_str).unwrap_or_default();
            name.starts_with("nvme") && name.contains('c')
        })
    }

    /// The disks that no target is on.
    fn remaining(&self, targets: &[Inspected]) -> Vec<Inspected> {
        let known = |name: &str| targets.iter().any(|t| t.storage.layers.iter().any(|l| l == name));
        partitions::disks(self.tree)
            .into_iter()
            .filter(|dir| !known(&super::device::name(dir)) && !self.is_below_another(dir))
            .filter_map(|dir| self.located(&dir))
            .map(|located| self.inspect(located))
            .collect()
    }

    /// Whether something is on the device: that is inspected, with the device below it.
    fn is_below_another(&self, dir: &Path) -> bool {
        !self.tree.entries(dir.join("holders")).is_empty()
    }

    /// The device in `dir` as a target.
    fn located(&self, dir: &Path) -> Option<Located> {
        let numbers = self.tree.text(dir.join("dev"))?;
        let (major, minor) = numbers.split_once(':')?;
        let path = Path::new("/dev").join(super::device::name(dir));
        Some(Located {
            target: path.clone(),
            path,
            kind: TargetKind::BlockDevice,
            device: (major.parse().ok()?, minor.parse().ok()?),
            mount_id: None,
            space: None,
            attributes: IFlags::empty(),
        })
    }

    /// The names of the disks under a device or file in use for swapping.
    fn disks_under(&self, path: &Path) -> Vec<String> {
        let mounts = mountinfo::parse(self.mountinfo);
        let volumes = match path.strip_prefix("/dev") {
            Ok(name) => self.dir(&name.to_string_lossy()).into_iter().collect(),
            Err(_) => mountinfo::find(&mounts, path, None, None)
                .map(|mount| chain::volumes(self.tree, mount))
                .unwrap_or_default(),
        };
        let chain = chain::follow(self.tree, &mounts, &volumes);
        chain.disks.iter().map(|dir| super::device::name(dir)).collect()
    }
}

/// A whole disk is judged by all of its partitions.
fn of_whole_disk(storage: &Storage, placed: &[Vec<PlacedPartition>]) -> Vec<crate::Finding> {
    match placed {
        [partitions] if storage.kind == TargetKind::BlockDevice && storage.layers.len() == 1 => {
            findings::of_partitions(partitions)
        }
        _ => Vec::new(),
    }
}
