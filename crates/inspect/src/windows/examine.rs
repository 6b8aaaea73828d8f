//! How storage is set up on Windows, from the answers of the system: the machine, the file system,
//! and the disks that a volume is on.

use std::io;
use std::path::{Path, PathBuf};

use crate::host::UNKNOWN;
use crate::windows_answers::{DRIVE_LAYOUT, PREDICT_FAILURE, QUERY_PROPERTY, Question, System};
use crate::windows_guards as guards;
use crate::windows_management::Management;
use crate::windows_structures::{self as structures, Answers, Extent};
use crate::{
    Device, Disk, FileSystem, Finding, Health, Host, INSPECTION_SCHEMA, InspectError, Inspected,
    Inspection, Layer, LayerKind, Partition, PlannedLoad, Processors, Request, Settings, Storage,
    TargetKind,
};
use crate::{windows_findings as findings, windows_layers as layers};

const VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
const PROCESSOR: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0";
const FIRMWARE: &str = r"HARDWARE\DESCRIPTION\System\BIOS";
pub(crate) const POWER: &str = r"SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes";
const VOLUME_GET_VOLUME_DISK_EXTENTS: u32 = 0x0056_0000;
const DISK_GET_DRIVE_GEOMETRY_EX: u32 = 0x0007_00A0;
const DISK_IS_WRITABLE: u32 = 0x0007_0024;
const SCSI_GET_ADDRESS: u32 = 0x0004_1018;
/// How a virtual disk of Storage Spaces is attached.
const SPACES: &str = "storage-spaces";
const FILE_ATTRIBUTE_COMPRESSED: u32 = 0x800;
const FILE_ATTRIBUTE_ENCRYPTED: u32 = 0x4000;
const ERROR_WRITE_PROTECT: u32 = 19;

/// Describes the machine, without its name.
pub(crate) fn host(system: &dyn System) -> Host {
    let registry = |key: &str, value| system.text(key, &Question::Registry(value));
    let version = structures::ints(&system.bytes("", &Question::Version));
    let build = version.get(2).copied().unwrap_or(0);
    let product = registry(VERSION, "ProductName");
    let release = registry(VERSION, "DisplayVersion");
    let maker = registry(FIRMWARE, "SystemManufacturer");
    let model = registry(FIRMWARE, "SystemProductName");
    let machine: Vec<String> = maker.into_iter().chain(model).collect();
    let processors = processors(system);
    let memory = structures::longs(&system.bytes("", &Question::Memory));
    let kernel: Vec<String> = version.iter().map(u32::to_string).collect();
    let governor = processors.governor.clone();
    let mut host = Host {
        os: structures::system(product.as_deref(), release.as_deref(), build),
        kernel: kernel.join("."),
        cpu_model: registry(PROCESSOR, "ProcessorNameString").unwrap_or_else(|| UNKNOWN.to_owned()),
        cpus: u32::try_from(processors.online.len()).unwrap_or(0),
        memory_bytes: memory.first().copied().unwrap_or(0),
        memory_available_bytes: memory.get(1).copied().unwrap_or(0),
        product: Some(machine.join(" ")).filter(|text| !text.is_empty()),
        settings: governor.map(|plan| Settings { governor: Some(plan), ..Settings::default() }),
        ..Host::default()
    };
    host.findings = findings::of_host(&host);
    host
}

pub(crate) fn processors(system: &dyn System) -> Processors {
    let plan = system.text(POWER, &Question::Registry("ActivePowerScheme"));
    Processors {
        online: structures::processors(&system.bytes("", &Question::Processors)),
        governor: plan.map(|guid| structures::power_plan(&guid)),
    }
}

pub(crate) fn storage(system: &dyn System, target: &Path) -> Result<Storage, InspectError> {
    let (kind, there) = locate(system, target)?;
    let unreadable = |number: u32| InspectError::Unreadable {
        path: target.to_owned(),
        source: io::Error::from_raw_os_error(i32::try_from(number).unwrap_or(0)),
    };
    let place = there.to_string_lossy();
    let path =
        system.text(&place, &Question::FinalPath).map_or_else(|| there.clone(), PathBuf::from);
    let mount_point = system.ask(&place, &Question::MountPoint).map_err(unreadable)?;
    let mount_point = String::from_utf8_lossy(&mount_point).into_owned();
    let volume = system.text(&mount_point, &Question::Volume);
    let extents = volume.as_deref().map(|volume| extents_of(system, volume)).unwrap_or_default();
    let devices = disks_of(system, &extents);
    let partition = match extents[..] {
        [only] => Some(partition(&mount_point, &only)),
        _ => None,
    };
    let chain = chain(partition.as_ref(), &devices);
    let mut storage = Storage {
        target: target.to_owned(),
        path: if kind == TargetKind::Missing { target.to_owned() } else { path },
        kind,
        file_system: Some(file_system(system, &place, &mount_point, volume).map_err(unreadable)?),
        layers: chain.iter().map(|layer| layer.name.clone()).collect(),
        counted_device: match &devices[..] {
            [only] => Some(only.name.clone()),
            _ => None,
        },
        devices,
        partition,
        chain,
        ..Storage::default()
    };
    storage.findings = findings::of_storage(&storage);
    Ok(storage)
}

/// What a target is, and the path that is there: the target, or the directory it would be in.
fn locate(system: &dyn System, target: &Path) -> Result<(TargetKind, PathBuf), InspectError> {
    let kind = |path: &Path| {
        let answer = system.bytes(&path.to_string_lossy(), &Question::Kind);
        answer.first().copied()
    };
    match kind(target) {
        Some(1) => Ok((TargetKind::Directory, target.to_owned())),
        Some(2) => Ok((TargetKind::File, target.to_owned())),
        Some(_) => Err(InspectError::NotStorage { path: target.to_owned() }),
        None => {
            let parent = target.parent().filter(|p| !p.as_os_str().is_empty());
            let directory = parent.unwrap_or(Path::new("."));
            if kind(directory) == Some(1) {
                Ok((TargetKind::Missing, directory.to_owned()))
            } else {
                Err(InspectError::Missing { path: target.to_owned() })
            }
        }
    }
}

/// The parts of disks that a volume is on.
fn extents_of(system: &dyn System, volume: &str) -> Vec<Extent> {
    let question = Question::Control(VOLUME_GET_VOLUME_DISK_EXTENTS, Vec::new());
    structures::extents(&system.bytes(volume, &question))
}

/// The disks of these parts, each once.
fn disks_of(system: &dyn System, extents: &[Extent]) -> Vec<Device> {
    let mut numbers: Vec<u32> = extents.iter().map(|extent| extent.disk).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(|number| disk(system, number)).collect()
}

fn disk(system: &dyn System, number: u32) -> Device {
    let name = format!("PhysicalDrive{number}");
    let control = |code, input| system.ask(&name, &Question::Control(code, input));
    let property = |id: u32| {
        // The property, a standard query, and room for parameters.
        let query = [id.to_le_bytes(), [0; 4], [0; 4]].concat();
        control(QUERY_PROPERTY, query).unwrap_or_default()
    };
    let answers = Answers {
        device: property(0),
        adapter: property(1),
        write_cache: property(4),
        alignment: property(6),
        seek_penalty: property(7),
        io_capability: property(48),
        geometry: control(DISK_GET_DRIVE_GEOMETRY_EX, Vec::new()).unwrap_or_default(),
        read_only: match control(DISK_IS_WRITABLE, Vec::new()) {
            Ok(_) => Some(false),
            Err(ERROR_WRITE_PROTECT) => Some(true),
            Err(_) => None,
        },
    };
    let address = control(SCSI_GET_ADDRESS, Vec::new()).unwrap_or_default();
    let driver = structures::adapter_number(&address).and_then(|adapter| {
        let key = format!(r"HARDWARE\DEVICEMAP\Scsi\Scsi Port {adapter}");
        system.text(&key, &Question::Registry("Driver"))
    });
    Device {
        driver_settings: driver.iter().flat_map(|name| driver_settings(system, name)).collect(),
        driver,
        ..structures::disk(name, &answers)
    }
}

/// What somebody set for all adapters of a driver. Without settings the driver has its own.
fn driver_settings(system: &dyn System, driver: &str) -> Vec<String> {
    let key = format!(r"SYSTEM\CurrentControlSet\Services\{driver}\Parameters\Device");
    let lines = system.text(&key, &Question::RegistryValues).unwrap_or_default();
    let setting = |line: &str| {
        let (name, value) = line.split_once('\t')?;
        (!name.is_empty() && !value.is_empty()).then(|| format!("{name}={value}"))
    };
    lines.lines().filter_map(setting).collect()
}

/// What a disk says of its own state.
fn health(system: &dyn System, disk: &Device) -> Option<Health> {
    let ask = |code, input| system.bytes(&disk.name, &Question::Control(code, input));
    if disk.transport.as_deref() == Some("nvme") {
        structures::health(&ask(QUERY_PROPERTY, structures::health_query()))
    } else {
        structures::prediction(&ask(PREDICT_FAILURE, Vec::new()))
    }
}

fn partition(mount_point: &str, extent: &Extent) -> Partition {
    Partition {
        name: mount_point.to_owned(),
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

fn file_system(
    system: &dyn System,
    place: &str,
    mount_point: &str,
    volume: Option<String>,
) -> Result<FileSystem, u32> {
    let (kind, read_only) =
        structures::file_system(&system.ask(mount_point, &Question::FileSystem)?);
    let space = structures::longs(&system.ask(mount_point, &Question::Space)?);
    let bytes = |index: usize| space.get(index).copied().unwrap_or(0);
    let (available, whole, free) = (bytes(0), bytes(1), bytes(2));
    let used = whole.saturating_sub(free);
    let all = used.saturating_add(available);
    let cluster = structures::longs(&system.bytes(mount_point, &Question::Cluster));
    let attributes = structures::ints(&system.bytes(place, &Question::Attributes));
    let has = |flag: u32| attributes.first().is_some_and(|attributes| attributes & flag != 0);
    // Only ReFS checks what is in files, and only it is asked.
    let is_refs = kind.eq_ignore_ascii_case("ReFS");
    let integrity = is_refs.then(|| system.bytes(place, &Question::Integrity));
    let integrity = integrity.and_then(|answer| structures::integrity(&answer));
    let options = has(FILE_ATTRIBUTE_ENCRYPTED).then(|| "efs".to_owned());
    let options = options.into_iter().chain(integrity.map(|how| format!("integrity={how}")));
    Ok(FileSystem {
        options: options.collect(),
        compression: has(FILE_ATTRIBUTE_COMPRESSED).then(|| kind.clone()),
        kind,
        mount_point: PathBuf::from(mount_point),
        source: volume.unwrap_or_else(|| mount_point.to_owned()),
        block_bytes: cluster.first().copied().unwrap_or(0),
        total_bytes: whole,
        available_bytes: available,
        used_percent: if all > 0 { 100.0 * used as f64 / all as f64 } else { 0.0 },
        read_only,
        ..FileSystem::default()
    })
}

/// The partitions of the disks under a target. Where the table of a disk is not told, the volume's
/// own place is known.
fn disks_under(system: &dyn System, storage: &Storage) -> Vec<Disk> {
    let disk = |device: &Device| {
        let question = Question::Control(DRIVE_LAYOUT, Vec::new());
        let mut partitions = structures::partitions(&system.bytes(&device.name, &question));
        let own = storage.partition.as_ref();
        match partitions
            .iter_mut()
            .find(|p| own.is_some_and(|own| own.start_bytes == p.start_bytes))
        {
            Some(known) => known.name = own.map_or_else(String::new, |own| own.name.clone()),
            None => partitions.extend(own.cloned()),
        }
        let health = health(system, device);
        Disk { name: device.name.clone(), partitions, health, ..Disk::default() }
    };
    storage.devices.iter().map(disk).collect()
}

pub(crate) fn inspection(
    system: &dyn System,
    request: &Request,
    hostname: String,
) -> Result<Inspection, InspectError> {
    let mut storages: Vec<Storage> = if request.targets.is_empty() {
        let drives = ('A'..='Z').map(|letter| PathBuf::from(format!(r"{letter}:\")));
        drives.filter_map(|drive| storage(system, &drive).ok()).collect()
    } else {
        request.targets.iter().map(|target| storage(system, target)).collect::<Result<_, _>>()?
    };
    let is_elevated = system.bytes("", &Question::Elevated).first() == Some(&1);
    let mut devices = storages.iter().flat_map(|storage| &storage.devices);
    let has_spaces = devices.any(|device| device.transport.as_deref() == Some(SPACES));
    let known = Management::ask(system, is_elevated, has_spaces);
    let guards = Guards::ask(system);
    let mut host = Host { hostname, ..host(system) };
    guards.add_to(&mut host);
    for storage in &mut storages {
        layers::add(storage, &known);
        storage.findings.extend(layers::findings(storage));
        storage.findings.extend(guards.of(storage));
    }
    let inspected = |mut storage: Storage| {
        let disks = disks_under(system, &storage);
        storage.findings.extend(disks.iter().flat_map(findings::of_disk));
        storage.findings.extend(findings::of_asked(&storage, &request.asked));
        Inspected { disks, extents: None, storage }
    };
    let targets: Vec<Inspected> = storages.into_iter().map(inspected).collect();
    let unseen = known.unseen.iter().copied().chain(guards.unseen()).collect::<Vec<_>>();
    let inspection = Inspection {
        schema: INSPECTION_SCHEMA.to_owned(),
        tool_version: request.tool_version.clone(),
        made: request.made.clone(),
        privileged: is_elevated,
        host,
        clock_synchronised: None,
        hidden: hidden(&targets, &unseen, is_elevated, &request.asked),
        targets,
        findings: Vec::new(),
    };
    Ok(inspection.gathered())
}

/// What was asked about the ways to files, which are the same for all targets.
struct Guards {
    /// `None` if Windows did not list them.
    filters: Option<Vec<guards::Filter>>,
    exclusions: Option<guards::Exclusions>,
    instant_files: Option<Vec<Finding>>,
}

impl Guards {
    fn ask(system: &dyn System) -> Self {
        let filters = system.ask("", &Question::Filters).ok();
        Self {
            filters: filters.map(|lines| guards::filters(&String::from_utf8_lossy(&lines))),
            exclusions: guards::exclusions(system),
            instant_files: guards::of_instant_files(system),
        }
    }

    fn add_to(&self, host: &mut Host) {
        let filters = self.filters.as_deref().unwrap_or_default();
        host.findings.extend(guards::of_filters(filters));
        host.findings.extend(self.instant_files.iter().flatten().cloned());
        if !filters.is_empty() {
            let settings = host.settings.get_or_insert_default();
            settings.filters = filters.iter().map(guards::Filter::shown).collect();
        }
    }

    fn of(&self, storage: &Storage) -> Option<Finding> {
        let filters = self.filters.as_deref().unwrap_or_default();
        guards::of_exclusions(storage, filters, self.exclusions.as_ref()?)
    }

    fn unseen(&self) -> Vec<&'static str> {
        let all = [
            (self.filters.is_none(), "filter drivers"),
            (self.exclusions.is_none(), "what Defender excludes"),
            (self.instant_files.is_none(), "who may initialise files instantly"),
        ];
        all.into_iter().filter(|(is_unseen, _)| *is_unseen).map(|(_, about)| about).collect()
    }
}

/// What was not seen, and what would show it.
fn hidden(
    targets: &[Inspected],
    unseen: &[&str],
    is_elevated: bool,
    asked: &PlannedLoad,
) -> Vec<String> {
    let mut hidden = Vec::new();
    if !unseen.is_empty() {
        let names = unseen.join(", ");
        hidden.push(if is_elevated {
            format!("Windows did not answer about: {names}.")
        } else {
            format!(
                "Only an administrator sees all of these; run it from an elevated prompt: {names}."
            )
        });
    }
    let devices: Vec<&Device> = targets.iter().flat_map(|target| &target.storage.devices).collect();
    if targets.iter().any(|target| target.storage.devices.is_empty()) {
        hidden.push("The disks of some volumes are not known, so nothing judges them.".to_owned());
    }
    if devices.iter().any(|device| device.write_cache.is_none()) {
        hidden.push("Some disks do not say whether they have a write cache.".to_owned());
    }
    if devices.iter().any(|device| device.queue_depth.is_none()) {
        let unused =
            if asked.depth.is_some() { ", so --depth was not compared with it" } else { "" };
        hidden.push(format!("Some disks do not say how many I/Os they take at once{unused}."));
    }
    if targets.iter().flat_map(|target| &target.disks).any(|disk| disk.health.is_none()) {
        hidden.push("Some disks do not report on their health.".to_owned());
    }
    hidden
}

#[cfg(test)]
#[path = "examine_tests.rs"]
mod tests;
