//! Settings of the kernel that storage depends on.

use super::device::selected;
use super::tree::Tree;
use crate::Settings;

/// The settings; `None` if the system shows none of them.
pub(super) fn settings(tree: &Tree) -> Option<Settings> {
    let vm = |name: &str| tree.number(format!("proc/sys/vm/{name}"));
    let bytes = |name: &str| vm(name).filter(|bytes| *bytes > 0);
    let settings = Settings {
        swappiness: vm("swappiness"),
        dirty_ratio_percent: vm("dirty_ratio"),
        dirty_background_percent: vm("dirty_background_ratio"),
        dirty_bytes: bytes("dirty_bytes"),
        dirty_background_bytes: bytes("dirty_background_bytes"),
        transparent_huge_pages: tree
            .text("sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|list| selected(&list)),
        governor: super::processors::governor(tree),
        filters: Vec::new(),
        numa_nodes: nodes(tree),
        swap: swap(tree),
    };
    (settings != Settings::default()).then_some(settings)
}

fn nodes(tree: &Tree) -> Option<u32> {
    let list = tree.text("sys/devices/system/node/online")?;
    let count = super::processors::numbers(&list).len();
    u32::try_from(count).ok().filter(|count| *count > 0)
}

/// The first column of /proc/swaps under its heading.
fn swap(tree: &Tree) -> Vec<String> {
    let text = tree.text("proc/swaps").unwrap_or_default();
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// What the firmware says the machine is: `Dell Inc. PowerEdge R740`.
pub(super) fn product(tree: &Tree) -> Option<String> {
    let text = |name: &str| tree.text(format!("sys/class/dmi/id/{name}"));
    let parts: Vec<String> =
        [text("sys_vendor"), text("product_name")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The kind of disk of a cloud, by what the machine and the disk are called.
pub(super) fn cloud(tree: &Tree, model: Option<&str>, vendor: Option<&str>) -> Option<String> {
    let dmi: Vec<String> = ["sys_vendor", "product_name", "bios_vendor", "chassis_asset_tag"]
        .iter()
        .filter_map(|name| tree.text(format!("sys/class/dmi/id/{name}")))
        .collect();
    let on = |word: &str| dmi.iter().any(|text| text.contains(word));
    let is = |word: &str| model.is_some_and(|model| model.contains(word));
    let found = match () {
        () if is("Amazon Elastic Block Store") => "Amazon EBS",
        () if is("Amazon EC2 NVMe Instance Storage") => {
            "Amazon instance store (lost when the instance stops)"
        }
        () if is("PersistentDisk") || is("nvme_card-pd") => "Google Persistent Disk",
        () if is("EphemeralDisk") || on("Google") && is("nvme_card") => {
            "Google local SSD (lost when the instance stops)"
        }
        () if is("MSFT NVMe Accelerator") => "Azure managed disk (NVMe)",
        () if is("Microsoft NVMe Direct Disk") => {
            "Azure local NVMe (lost when the machine is moved)"
        }
        // This asset tag is that of Azure, not of other machines on Hyper-V.
        () if is("Virtual Disk")
            && vendor == Some("Msft")
            && on("7783-7084-3265-9085-8269-3286-77") =>
        {
            "Azure managed disk"
        }
        () if is("DigitalOcean") || vendor == Some("DO") => "DigitalOcean volume",
        () if is("BlockVolume") && on("Oracle") => "Oracle Cloud block volume",
        () => return None,
    };
    Some(found.to_owned())
}
