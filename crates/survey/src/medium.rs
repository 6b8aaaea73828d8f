//! What is known of the medium under a target.

use inspect::Device;
use results::Environment;

/// Ways to a device on which the device itself says whether it turns. A hypervisor says that its
/// disks turn, whatever they are.
const OWN_WORD: [&str; 6] = ["sata", "sas", "usb", "fc", "iscsi", "nvme"];

/// Whether the medium turns; none where it is not known, or where the devices under the targets
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

/// What all devices under the targets say.
fn agreed(environment: &Environment, of: impl Fn(&Device) -> Option<bool>) -> Option<bool> {
    let mut all = environment.storage.iter().flat_map(|s| &s.devices).map(of);
    let first = all.next()??;
    all.all(|one| one == Some(first)).then_some(first)
}
