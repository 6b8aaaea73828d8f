//! What the system reports about the medium under a target.

use analysis::verdict::Class;
use inspect::Device;
use results::Environment;

/// Ways to a device on which the device itself says whether it turns. A hypervisor says that its
/// disks turn, whatever they are.
const OWN_WORD: [&str; 6] = ["sata", "sas", "usb", "fc", "iscsi", "nvme"];

/// Models by which volumes of cloud providers are known.
const CLOUD_MODELS: [&str; 3] = ["Amazon Elastic Block Store", "PersistentDisk", "Virtual Disk"];

/// Whether the medium turns; `None` if it is not known, or where the devices under the targets
/// differ.
pub(crate) fn rotational(environment: &Environment) -> Option<bool> {
    agreed(environment, |device| {
        let known = device.transport.as_deref().is_some_and(|t| OWN_WORD.contains(&t));
        device.rotational.filter(|_| known)
    })
}

/// Whether the system sees a volatile write cache that it must flush.
pub(crate) fn write_back(environment: &Environment) -> Option<bool> {
    agreed(environment, |device| Some(device.write_cache.as_deref()? == "write back"))
}

/// Whether some device under the targets is known to be flash, or memory that keeps what it holds.
pub(crate) fn has_flash(environment: &Environment) -> bool {
    let mut devices = environment.storage.iter().flat_map(|s| &s.devices);
    devices.any(|device| {
        let transport = device.transport.as_deref().unwrap_or_default();
        transport == "pmem" || OWN_WORD.contains(&transport) && device.rotational == Some(false)
    })
}

/// The class of the storage, by what its devices say of themselves; `None` if they do not say, or
/// differ.
pub(crate) fn class(environment: &Environment) -> Option<Class> {
    agreed(environment, |device| {
        let model = device.model.as_deref().unwrap_or_default();
        if CLOUD_MODELS.iter().any(|name| model.contains(name)) {
            return Some(Class::Cloud);
        }
        match (device.transport.as_deref()?, device.rotational) {
            ("nvme", _) => Some(Class::Nvme),
            ("sata" | "sas", Some(true)) => Some(Class::Hdd),
            ("sata" | "sas", Some(false)) => Some(Class::SataSsd),
            ("fc" | "iscsi", _) => Some(Class::Array),
            _ => None,
        }
    })
}

/// What all devices under the targets say.
fn agreed<T: PartialEq>(environment: &Environment, of: impl Fn(&Device) -> Option<T>) -> Option<T> {
    let mut all = environment.storage.iter().flat_map(|s| &s.devices).map(of);
    let first = all.next()??;
    all.all(|one| one.as_ref() == Some(&first)).then_some(first)
}
