//! Which devices are watched: all real ones, or the whole chain under a target.

use std::collections::HashMap;
use std::path::PathBuf;

use counters::BlockDevice;
use inspect::Storage;
use serde::{Deserialize, Serialize};

/// The choice of devices to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watched {
    /// Every real device of the system, also one that comes later.
    Real,
    /// Every block device of the system, partitions and memory too.
    All,
    /// Only the devices with these names.
    Named(Vec<String>),
}

/// The devices under one target, the uppermost first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The target as it was named.
    pub target: PathBuf,
    /// The file system that it is in, such as `ext4 on /data`; absent for a device.
    pub file_system: Option<String>,
    /// Names of the devices, upper layers first.
    pub devices: Vec<String>,
}

impl Chain {
    /// The chain of devices under a target. Devices below those it names are added.
    #[must_use]
    pub fn of(storage: &Storage, known: &[BlockDevice]) -> Self {
        let mut devices = storage.layers.clone();
        devices.extend(storage.counted_device.clone());
        devices.extend(storage.devices.iter().map(|device| device.name.clone()));
        let found = down(devices, known);
        let file_system = storage.file_system.as_ref();
        Self {
            target: storage.target.clone(),
            file_system: file_system.map(|f| format!("{} on {}", f.kind, f.mount_point.display())),
            devices: found,
        }
    }

    /// A device and what it is on.
    #[must_use]
    pub fn down_from(name: &str, known: &[BlockDevice]) -> Vec<String> {
        down(vec![name.to_owned()], known)
    }
}

/// These devices and all devices under them, each once.
fn down(mut devices: Vec<String>, known: &[BlockDevice]) -> Vec<String> {
    let below: HashMap<&str, &[String]> =
        known.iter().map(|d| (d.name.as_str(), d.below.as_slice())).collect();
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(name) = devices.get(at).cloned() {
        at += 1;
        if !found.contains(&name) {
            devices.extend(below.get(name.as_str()).into_iter().copied().flatten().cloned());
            found.push(name);
        }
    }
    found
}

impl Watched {
    /// Whether a device of the system is watched.
    #[must_use]
    pub fn includes(&self, device: &BlockDevice) -> bool {
        match self {
            Self::Real => device.is_real(),
            Self::All => true,
            Self::Named(names) => names.contains(&device.name),
        }
    }
}
