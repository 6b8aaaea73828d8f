//! What is between a volume of Windows and its disks, added to what the volume and the disks say
//! of themselves, and what it means for a database.

use crate::judged::{self, INFO, SERIOUS, WARNING};
use crate::windows_management::{Management, is_same_volume};
use crate::{FileSystem, Finding, Layer, LayerKind, Storage};

const VIRTUAL_DISK: &str = "MSFT_VirtualDisk";
const POLICY: &str = "DSM_QueryLBPolicy_V2";

/// Adds what the management service knows to the storage of a target.
pub(crate) fn add(storage: &mut Storage, known: &Management) {
    let volume = storage.file_system.as_ref().map(|fs| fs.source.clone()).unwrap_or_default();
    let is_its = |name: &&String| is_same_volume(name, &volume);
    let shadows = known.shadows.iter().filter(is_its).count();
    if let Some(file_system) = &mut storage.file_system {
        if shadows > 0 {
            file_system.options.push(format!("shadow-copies={shadows}"));
        }
        if known.deduplicated.iter().any(|name| is_its(&name)) {
            file_system.options.push("deduplicated".to_owned());
        }
    }
    for layer in &mut storage.chain {
        let number = layer.name.strip_prefix("PhysicalDrive");
        let number: Option<u64> = number.and_then(|text| text.parse().ok());
        let Some(number) = number.filter(|_| layer.kind == LayerKind::Disk) else { continue };
        if let Some(space) = known.spaces.iter().find(|space| space.disk == number) {
            layer.kind = LayerKind::Raid;
            layer.raid = Some(space.raid.clone());
            let device = storage.devices.iter_mut().find(|device| device.name == layer.name);
            if let Some(device) = device {
                device.thin = space.is_thin;
            }
        } else if let Some(found) = known.multipaths.iter().find(|found| found.disk == number) {
            layer.kind = LayerKind::Multipath;
            layer.policy.clone_from(&found.policy);
            layer.paths.clone_from(&found.paths);
        }
    }
    if known.encrypted.iter().any(|name| is_its(&name)) {
        encrypt(storage);
    }
    storage.layers = storage.chain.iter().map(|layer| layer.name.clone()).collect();
}

/// Puts a layer of encryption under the volume.
fn encrypt(storage: &mut Storage) {
    let place = usize::from(storage.partition.is_some());
    let layer = Layer {
        name: "BitLocker".to_owned(),
        level: u32::try_from(place).unwrap_or(0),
        kind: LayerKind::Crypt,
        size_bytes: storage.chain.first().map_or(0, |volume| volume.size_bytes),
        ..Layer::default()
    };
    for below in storage.chain.iter_mut().skip(place) {
        below.level += 1;
    }
    storage.chain.insert(place.min(storage.chain.len()), layer);
}

/// All findings about what is between the volume and its disks.
pub(crate) fn findings(storage: &Storage) -> Vec<Finding> {
    let mut found: Vec<Finding> = storage.file_system.iter().flat_map(of_file_system).collect();
    for layer in &storage.chain {
        found.extend(encryption(storage, layer));
        found.extend(state(layer));
        found.extend(parity(layer));
        found.extend(interleave(layer));
        found.extend(failed_paths(layer));
        found.extend(single_path(layer));
    }
    for device in storage.devices.iter().filter(|device| device.thin == Some(true)) {
        let message = format!(
            "{} is a thin virtual disk: its space is taken from a pool when it is first written \
             to.",
            device.name
        );
        found.push(
            Finding::new(WARNING, "thin-storage", message)
                .evidence(format!("ProvisioningType of {VIRTUAL_DISK}"), "1 (thin)")
                .remedy(
                    "Watch how full the pool is; measure on a virtual disk that is wholly written.",
                )
                .command("Get-VirtualDisk | Format-List FriendlyName,ProvisioningType"),
        );
    }
    found
}

fn of_file_system(file_system: &FileSystem) -> Vec<Finding> {
    let place = file_system.mount_point.display();
    let has = |option: &str| file_system.options.iter().any(|known| known == option);
    let mut found = Vec::new();
    let copies =
        file_system.options.iter().find_map(|option| option.strip_prefix("shadow-copies="));
    if let Some(count) = copies {
        let message = format!(
            "{place} has shadow copies ({count}): the first write to each block after one copies \
             what was there."
        );
        found.push(
            Finding::new(WARNING, "snapshot", message)
                .evidence("Win32_ShadowCopy", format!("{count} of this volume"))
                .remedy("Measure without them, or with one on purpose.")
                .command("vssadmin list shadows"),
        );
    }
    if has("deduplicated") {
        let message = format!("Windows looks for duplicates on {place} and stores them once.");
        found.push(
            Finding::new(WARNING, "deduplication", message)
                .evidence("Enabled of MSFT_DedupVolume", "TRUE")
                .remedy("Exclude the directories of the database, or put them elsewhere.")
                .command("Get-DedupVolume | Format-List Volume,UsageType,ExcludeFolder"),
        );
    }
    found
}

fn encryption(storage: &Storage, layer: &Layer) -> Option<Finding> {
    let place = storage.file_system.as_ref()?.mount_point.display();
    (layer.kind == LayerKind::Crypt).then(|| {
        let message =
            format!("{place} is encrypted by BitLocker: the processor's part is in every figure.");
        Finding::new(INFO, "encryption", message)
            .evidence("ProtectionStatus of Win32_EncryptableVolume", "1 (on)")
            .remedy("Compare with a volume that is not encrypted to know its cost.")
            .command("manage-bde -status")
    })
}

fn state(layer: &Layer) -> Option<Finding> {
    let state = layer.raid.as_ref()?.state.as_deref().filter(|state| *state != "healthy")?;
    let message = format!("{} is a virtual disk of Storage Spaces that is {state}.", layer.name);
    Some(
        Finding::new(SERIOUS, "raid-degraded", message)
            .evidence(format!("HealthStatus of {VIRTUAL_DISK}"), state)
            .remedy("Replace what failed, and measure when the pool is repaired.")
            .command("Get-PhysicalDisk | Sort-Object HealthStatus; Get-StorageJob"),
    )
}

fn parity(layer: &Layer) -> Option<Finding> {
    let raid = layer.raid.as_ref().filter(|raid| raid.level.ends_with("parity"))?;
    let message = format!(
        "{} is a parity space: each small write has to bring the parity up to date.",
        layer.name
    );
    Some(
        Finding::new(INFO, "raid-parity", message)
            .evidence(format!("ResiliencySettingName of {VIRTUAL_DISK}"), &raid.level)
            .remedy("Put the log and what is written much on a mirror, or measure this one."),
    )
}

fn interleave(layer: &Layer) -> Option<Finding> {
    let raid = layer.raid.as_ref()?;
    let chunk = raid.chunk_bytes.filter(|bytes| *bytes < judged::CHUNK_BYTES)?;
    let message = format!(
        "{} gives each disk {} in a row, less than the 64 KiB of an extent of the database.",
        layer.name,
        judged::size(chunk)
    );
    Some(
        Finding::new(INFO, "raid-chunk", message)
            .evidence(format!("Interleave of {VIRTUAL_DISK}"), chunk)
            .remedy("Make the virtual disk anew with an interleave of 64 KiB or more.")
            .command("New-VirtualDisk -Interleave 65536 …"),
    )
}

fn failed_paths(layer: &Layer) -> Option<Finding> {
    let failed: Vec<&str> = layer
        .paths
        .iter()
        .filter(|path| path.state == "failed")
        .map(|path| path.name.as_str())
        .collect();
    let message = format!(
        "{} of the {} paths of {} do not work.",
        failed.len(),
        layer.paths.len(),
        layer.name
    );
    (!failed.is_empty()).then(|| {
        Finding::new(SERIOUS, "path-failed", message)
            .evidence(format!("FailedPath of {POLICY}"), format!("path {}", failed.join(", ")))
            .remedy("Find out why (cable, switch port, zoning, the array) before measuring.")
            .command("mpclaim -s -d")
    })
}

fn single_path(layer: &Layer) -> Option<Finding> {
    (layer.paths.len() == 1).then(|| {
        let message = format!("{} is set up for several paths and has one.", layer.name);
        Finding::new(WARNING, "path-single", message)
            .evidence(format!("DSM_Paths of {POLICY}"), 1)
            .remedy("Add a second path over another adapter and switch.")
            .command("mpclaim -s -d")
    })
}
