//! Decides when the rules for a set-up on Windows apply; [`crate::rules`] says why they matter.

use crate::judged::{self, INFO, WARNING};
use crate::windows_examine::POWER;
use crate::{Device, Disk, FileSystem, Finding, Host, PlannedLoad, Storage};

/// The plans of Windows under which processors slow down.
const SLOW_PLANS: [&str; 2] = ["balanced", "power saver"];

/// Judges the settings of the machine.
pub(crate) fn of_host(host: &Host) -> Vec<Finding> {
    power_plan(host).into_iter().collect()
}

fn power_plan(host: &Host) -> Option<Finding> {
    let plan = host.settings.as_ref()?.governor.as_deref()?;
    SLOW_PLANS.contains(&plan).then(|| {
        let message =
            format!("The power plan is `{plan}`: processors may be slow when an I/O completes.");
        Finding::new(WARNING, "cpu-governor", message)
            .evidence(format!(r"HKLM\{POWER}\ActivePowerScheme"), plan)
            .remedy("Choose the plan High performance, at least while measuring.")
            .command("powercfg /setactive SCHEME_MIN")
    })
}

/// All findings about the storage of a target, the most serious first.
pub(crate) fn of_storage(storage: &Storage) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(storage.file_system.iter().flat_map(of_file_system));
    findings.extend(storage.file_system.iter().flat_map(|fs| of_files(storage, fs)));
    findings.extend(alignment(storage));
    findings.extend(storage.devices.iter().flat_map(of_device));
    judged::sort(&mut findings);
    findings
}

fn of_file_system(file_system: &FileSystem) -> Vec<Finding> {
    let place = file_system.mount_point.display();
    let units = ["NTFS", "ReFS"].contains(&file_system.kind.as_str());
    let unit = judged::allocation_unit(file_system).filter(|_| units).map(|finding| {
        // The drive's letter, or the name of the volume.
        let volume = place.to_string();
        let volume = volume.trim_end_matches('\\');
        finding
            .evidence(format!("GetDiskFreeSpace of {place}"), file_system.block_bytes)
            .command(format!("format {volume} /FS:{} /A:64K /Q", file_system.kind))
    });
    let read_only = judged::read_only(file_system).map(|finding| {
        finding
            .evidence(format!("GetVolumeInformation of {place}"), "FILE_READ_ONLY_VOLUME")
            .remedy("Find out who made the volume read-only: an administrator, or a snapshot.")
    });
    let full = judged::full(file_system).map(|finding| {
        let percent = format!("{:.1} %", file_system.used_percent);
        finding.evidence(format!("GetDiskFreeSpaceEx of {place}"), percent)
    });
    [unit, read_only, full].into_iter().flatten().collect()
}

/// What happens to what is written in the target.
fn of_files(storage: &Storage, file_system: &FileSystem) -> Vec<Finding> {
    let place = storage.path.display().to_string();
    // A quotation mark within a text of PowerShell is written twice.
    let quoted = place.replace('\'', "''");
    let mut found = Vec::new();
    if file_system.compression.is_some() {
        let message = format!("What is written in {place} is compressed by {}.", file_system.kind);
        found.push(
            Finding::new(WARNING, "compression", message)
                .evidence(format!("attributes of {place}"), "FILE_ATTRIBUTE_COMPRESSED")
                .remedy("Put the database's files where nothing is compressed, or measure there.")
                .command(format!("compact /u /s:\"{place}\"")),
        );
    }
    if file_system.options.iter().any(|option| option == "efs") {
        let message =
            format!("{place} is encrypted by Windows: the processor's part is in every figure.");
        found.push(
            Finding::new(INFO, "encryption", message)
                .evidence(format!("attributes of {place}"), "FILE_ATTRIBUTE_ENCRYPTED")
                .remedy("Compare with a directory that is not encrypted to know its cost."),
        );
    }
    let mut options = file_system.options.iter();
    if let Some(how) = options.find_map(|option| option.strip_prefix("integrity=")) {
        let message = format!(
            "{place} has integrity streams of ReFS ({how}): a page that changes is written to a \
             new place, not over the old one."
        );
        found.push(
            Finding::new(WARNING, "copy-on-write", message)
                .evidence(format!("FSCTL_GET_INTEGRITY_INFORMATION of {place}"), how)
                .remedy("Turn them off for the database's directory before its files are made.")
                .command(format!("Set-FileIntegrity -FileName '{quoted}' -Enable $false")),
        );
    }
    found
}

/// What a disk says of its own state.
pub(crate) fn of_disk(disk: &Disk) -> Vec<Finding> {
    let command = "Get-PhysicalDisk | Get-StorageReliabilityCounter";
    judged::health(disk).into_iter().map(|finding| finding.command(command)).collect()
}

/// Compares the planned depth with what the disks take at once.
pub(crate) fn of_asked(storage: &Storage, asked: &PlannedLoad) -> Option<Finding> {
    let limit = |device: &Device| Some(device.queue_depth?.min(adapter_depth(device)));
    let finding = judged::depth_asked(storage, asked, limit)?;
    Some(storage.devices.iter().fold(finding, |finding, device| {
        let depth = device.queue_depth.unwrap_or(0).min(adapter_depth(device));
        finding.evidence(io_capability(device), depth)
    }))
}

/// What the adapter takes at once, which its disks share; without an answer it is not the limit.
fn adapter_depth(device: &Device) -> u64 {
    device.adapter_queue_depth.unwrap_or(u64::MAX)
}

fn io_capability(device: &Device) -> String {
    format!("LunMaxIoCount and AdapterMaxIoCount of {}", device.name)
}

fn queue_depth(device: &Device) -> Option<Finding> {
    let finding = judged::depth(device)?;
    let finding = finding.evidence(io_capability(device), device.queue_depth.unwrap_or(0));
    let driver = device.driver.as_deref().unwrap_or("DRIVER");
    let finding = device.driver_settings.iter().fold(finding, |finding, setting| {
        finding.evidence(format!("settings of {driver}"), setting)
    });
    let key = format!(r"HKLM\SYSTEM\CurrentControlSet\Services\{driver}\Parameters\Device");
    Some(finding.command(format!("reg query {key}")))
}

/// Where the volume begins on its disk.
fn alignment(storage: &Storage) -> Option<Finding> {
    let partition = storage.partition.as_ref()?;
    let disk = storage.devices.first()?;
    let (name, start) = (&partition.name, partition.start_bytes);
    let finding = judged::alignment(
        name,
        start,
        disk.physical_block_bytes,
        judged::stripe(disk.optimal_io_bytes),
    )?;
    let place = format!("{} KiB on {}", kib(start), disk.name);
    Some(
        finding
            .evidence("IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS", place)
            .command("diskpart: create partition primary align=1024"),
    )
}

/// KiB of a number of bytes, with a fraction where there is one.
fn kib(bytes: u64) -> String {
    if bytes.is_multiple_of(1024) {
        (bytes / 1024).to_string()
    } else {
        format!("{:.1}", bytes as f64 / 1024.0)
    }
}

fn of_device(device: &Device) -> Vec<Finding> {
    let property = |name: &str| format!("{name} of {}", device.name);
    let cache = property("STORAGE_WRITE_CACHE_PROPERTY");
    let alignment = property("STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR");
    let most = device.max_io_bytes.unwrap_or(0);
    let blocks =
        [device.logical_block_bytes, device.physical_block_bytes].map(|bytes| bytes.unwrap_or(0));
    let all = [
        judged::write_cache(device).map(|finding| {
            finding.evidence(cache.clone(), "write back, WriteThroughSupported: no").remedy(
                "Expect commits to be slow, unless a battery protects the cache; do not switch \
                 the flushing off without one.",
            )
        }),
        judged::flush_disabled(device)
            .map(|finding| finding.evidence(cache.clone(), "UserDefinedPowerProtection")),
        judged::device_read_only(device)
            .map(|finding| finding.evidence(property("IOCTL_DISK_IS_WRITABLE"), "write-protected")),
        judged::split(device).map(|finding| {
            let adapter = property("STORAGE_ADAPTER_DESCRIPTOR");
            finding.evidence(adapter, format!("MaximumTransferLength {most}"))
        }),
        judged::sectors(device).map(|finding| {
            finding.evidence(alignment, format!("logical {}, physical {}", blocks[0], blocks[1]))
        }),
        queue_depth(device),
        judged::usb(device)
            .map(|finding| finding.evidence(property("STORAGE_DEVICE_DESCRIPTOR"), "BusTypeUsb")),
    ];
    all.into_iter().flatten().collect()
}
