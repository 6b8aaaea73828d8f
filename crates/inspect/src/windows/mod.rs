//! How storage is set up on Windows, as far as a program without rights is told: the machine, the
//! file system, and the disks that a volume is on. Nothing is judged yet.

mod calls;

use std::path::{Path, PathBuf};

use crate::host::UNKNOWN;
use crate::windows_structures::{self as structures, Answers, Extent};
use crate::{
    Device, Disk, FileSystem, Host, INSPECTION_SCHEMA, InspectError, Inspected, Inspection, Layer,
    LayerKind, Partition, Processors, Request, Storage, TargetKind,
};

const VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
const PROCESSOR: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0";
const FIRMWARE: &str = r"HARDWARE\DESCRIPTION\System\BIOS";
const POWER: &str = r"SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes";
const VOLUME_GET_VOLUME_DISK_EXTENTS: u32 = 0x0056_0000;
const STORAGE_QUERY_PROPERTY: u32 = 0x002D_1400;
const DISK_GET_DRIVE_GEOMETRY_EX: u32 = 0x0007_00A0;
/// Room for an answer: some hundred extents, or the texts of a disk.
const ANSWER_BYTES: usize = 8192;

pub(crate) fn host(_root: &Path) -> Host {
    let (major, minor, build) = calls::version();
    let release = calls::registry(VERSION, "DisplayVersion");
    let product = calls::registry(VERSION, "ProductName");
    let (memory_bytes, memory_available_bytes) = calls::memory().unwrap_or_default();
    let maker = calls::registry(FIRMWARE, "SystemManufacturer");
    let model = calls::registry(FIRMWARE, "SystemProductName");
    let machine: Vec<String> = maker.into_iter().chain(model).collect();
    let cpus = structures::processors(&calls::processors()).len();
    Host {
        hostname: std::env::var("COMPUTERNAME").unwrap_or_else(|_| UNKNOWN.to_owned()),
        os: structures::system(product.as_deref(), release.as_deref(), build),
        kernel: format!("{major}.{minor}.{build}"),
        cpu_model: calls::registry(PROCESSOR, "ProcessorNameString")
            .unwrap_or_else(|| UNKNOWN.to_owned()),
        cpus: u32::try_from(cpus).unwrap_or(0),
        memory_bytes,
        memory_available_bytes,
        product: Some(machine.join(" ")).filter(|text| !text.is_empty()),
        ..Host::default()
    }
}

pub(crate) fn processors(_root: &Path) -> Processors {
    Processors {
        online: structures::processors(&calls::processors()),
        governor: calls::registry(POWER, "ActivePowerScheme")
            .map(|guid| structures::power_plan(&guid)),
    }
}

pub(crate) fn storage(_root: &Path, target: &Path) -> Result<Storage, InspectError> {
    let (kind, there) = locate(target)?;
    let unreadable = |source| InspectError::Unreadable { path: target.to_owned(), source };
    let path = calls::final_path(&there).unwrap_or_else(|_| there.clone());
    let mount_point = calls::mount_point(&there).map_err(unreadable)?;
    let volume = calls::volume(&mount_point);
    let extents = volume.as_deref().map(extents_of).unwrap_or_default();
    let disks = disks_of(&extents);
    let partition = match extents[..] {
        [only] => Some(partition(&mount_point, &only)),
        _ => None,
    };
    let chain = chain(partition.as_ref(), &disks);
    Ok(Storage {
        target: target.to_owned(),
        path: if kind == TargetKind::Missing { target.to_owned() } else { path },
        kind,
        file_system: Some(file_system(&mount_point, volume).map_err(unreadable)?),
        layers: chain.iter().map(|layer| layer.name.clone()).collect(),
        counted_device: match &disks[..] {
            [only] => Some(only.name.clone()),
            _ => None,
        },
        devices: disks,
        partition,
        chain,
        ..Storage::default()
    })
}

/// What a target is, and the path that is there: the target, or the directory it would be in.
fn locate(target: &Path) -> Result<(TargetKind, PathBuf), InspectError> {
    let metadata = std::fs::metadata(target);
    match metadata {
        Ok(found) if found.is_dir() => Ok((TargetKind::Directory, target.to_owned())),
        Ok(found) if found.is_file() => Ok((TargetKind::File, target.to_owned())),
        Ok(_) => Err(InspectError::NotStorage { path: target.to_owned() }),
        Err(_) => {
            let parent = target.parent().filter(|p| !p.as_os_str().is_empty());
            let directory = parent.unwrap_or(Path::new("."));
            if directory.is_dir() {
                Ok((TargetKind::Missing, directory.to_owned()))
            } else {
                Err(InspectError::Missing { path: target.to_owned() })
            }
        }
    }
}

/// The parts of disks that a volume is on.
fn extents_of(volume: &str) -> Vec<Extent> {
    // With the last `\`, it would be the root directory.
    let Ok(device) = calls::ask(volume.trim_end_matches('\\')) else { return Vec::new() };
    structures::extents(&calls::control(&device, VOLUME_GET_VOLUME_DISK_EXTENTS, &[], ANSWER_BYTES))
}

/// The disks of these parts, each once.
fn disks_of(extents: &[Extent]) -> Vec<Device> {
    let mut numbers: Vec<u32> = extents.iter().map(|extent| extent.disk).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(disk).collect()
}

fn disk(number: u32) -> Device {
    let name = format!("PhysicalDrive{number}");
    let Ok(device) = calls::ask(&format!(r"\\.\{name}")) else {
        return structures::disk(name, &Answers::default());
    };
    let property = |id: u32| {
        // The property, a standard query, and room for parameters.
        let query = [id.to_le_bytes(), [0; 4], [0; 4]].concat();
        calls::control(&device, STORAGE_QUERY_PROPERTY, &query, ANSWER_BYTES)
    };
    let answers = Answers {
        device: property(0),
        adapter: property(1),
        write_cache: property(4),
        alignment: property(6),
        seek_penalty: property(7),
        geometry: calls::control(&device, DISK_GET_DRIVE_GEOMETRY_EX, &[], ANSWER_BYTES),
    };
    structures::disk(name, &answers)
}

fn partition(mount_point: &Path, extent: &Extent) -> Partition {
    Partition {
        name: mount_point.display().to_string(),
        number: None,
        start_bytes: extent.start_bytes,
        size_bytes: extent.bytes,
    }
}

/// The volume and the disks under it.
fn chain(partition: Option<&Partition>, disks: &[Device]) -> Vec<Layer> {
    let volume = partition.map(|partition| Layer {
        name: partition.name.clone(),
        kind: LayerKind::Partition,
        size_bytes: partition.size_bytes,
        partition: Some(partition.clone()),
        ..Layer::default()
    });
    let level = u32::from(volume.is_some());
    let disk = |disk: &Device| Layer {
        name: disk.name.clone(),
        level,
        kind: LayerKind::Disk,
        size_bytes: disk.size_bytes,
        ..Layer::default()
    };
    volume.into_iter().chain(disks.iter().map(disk)).collect()
}

fn file_system(mount_point: &Path, volume: Option<String>) -> std::io::Result<FileSystem> {
    let (kind, read_only) = calls::file_system(mount_point)?;
    let (available, whole, free) = calls::space(mount_point)?;
    let used = whole.saturating_sub(free);
    let all = used.saturating_add(available);
    Ok(FileSystem {
        kind,
        mount_point: mount_point.to_owned(),
        source: volume.unwrap_or_else(|| mount_point.display().to_string()),
        block_bytes: calls::cluster_bytes(mount_point).unwrap_or(0),
        total_bytes: whole,
        available_bytes: available,
        used_percent: if all > 0 { 100.0 * used as f64 / all as f64 } else { 0.0 },
        read_only,
        ..FileSystem::default()
    })
}

pub(crate) fn inspection(root: &Path, request: &Request) -> Result<Inspection, InspectError> {
    let drives = || ('A'..='Z').map(|letter| PathBuf::from(format!(r"{letter}:\")));
    let inspected = |storage: Storage| {
        let disks = storage.devices.iter();
        let disks = disks.map(|disk| Disk { name: disk.name.clone(), ..Disk::default() });
        Inspected { disks: disks.collect(), extents: None, storage }
    };
    let targets = if request.targets.is_empty() {
        drives().filter_map(|drive| storage(root, &drive).ok()).map(inspected).collect()
    } else {
        let found = request.targets.iter().map(|target| storage(root, target).map(inspected));
        found.collect::<Result<Vec<_>, _>>()?
    };
    Ok(Inspection {
        schema: INSPECTION_SCHEMA.to_owned(),
        tool_version: request.tool_version.clone(),
        made: request.made.clone(),
        privileged: false,
        host: host(root),
        clock_synchronised: None,
        targets,
        findings: Vec::new(),
        hidden: vec![
            "On Windows, this version lists what a program without rights may know, and judges \
             nothing. So a page without findings does not mean that all is well."
                .to_owned(),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_known() {
        let host = host(Path::new("/"));
        assert!(host.os.contains("Windows") && host.kernel.contains('.'), "{host:?}");
        assert!(host.memory_bytes >= host.memory_available_bytes && host.memory_bytes > 0);
        let processors = processors(Path::new("/"));
        assert_eq!(processors.online.len(), host.cpus as usize);
        assert!(host.cpus > 0);
    }

    #[test]
    fn a_directory_has_a_file_system() {
        let directory = std::env::temp_dir();
        let storage = storage(Path::new("/"), &directory).unwrap();
        assert_eq!(storage.kind, TargetKind::Directory);
        let file_system = storage.file_system.unwrap();
        assert!(!file_system.kind.is_empty() && file_system.total_bytes > 0, "{file_system:?}");
        assert!(file_system.block_bytes.is_power_of_two(), "{file_system:?}");
    }

    #[test]
    fn what_is_not_there_is_examined_where_it_would_be() {
        let root = Path::new("/");
        let file = std::env::temp_dir().join("not-there.test");
        assert_eq!(storage(root, &file).unwrap().kind, TargetKind::Missing);
        let nowhere = std::env::temp_dir().join("not-there").join("x");
        assert!(matches!(storage(root, &nowhere), Err(InspectError::Missing { .. })));
    }
}
