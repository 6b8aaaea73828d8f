//! One whole disk or partition, from its directory in /sys.

use std::fs;
use std::path::Path;

use super::tree::{Tree, clean};
use super::{layers, link, settings};
use crate::{Device, Partition};

/// /sys counts in sectors of this size, whatever the device's own.
const SECTOR_BYTES: u64 = 512;

/// The name of the device whose directory in /sys this is, as /proc/diskstats has it.
pub(crate) fn name(dir: &Path) -> String {
    // A directory's name cannot hold the slash of `cciss/c0d0`.
    let name = dir.file_name().unwrap_or_default();
    name.to_string_lossy().replace('!', "/")
}

pub(crate) fn is_partition(tree: &Tree, dir: &Path) -> bool {
    tree.at(dir).join("partition").exists()
}

pub(crate) fn partition(tree: &Tree, dir: &Path) -> Partition {
    let bytes = |file: &str| sectors_to_bytes(tree.number(dir.join(file)));
    Partition {
        name: name(dir),
        number: tree.number(dir.join("partition")).and_then(|number| u32::try_from(number).ok()),
        start_bytes: bytes("start"),
        size_bytes: bytes("size"),
    }
}

pub(crate) fn physical_block_bytes(tree: &Tree, dir: &Path) -> Option<u64> {
    nonzero(tree.number(dir.join("queue/physical_block_size")))
}

/// The disk whose directory, without symbolic links, is `dir`.
pub(crate) fn device(tree: &Tree, dir: &Path) -> Device {
    let text = |file: &str| tree.text(dir.join(file));
    let first_text = |files: &[&str]| files.iter().find_map(|file| text(file));
    let number = |file: &str| tree.number(dir.join(file));
    let controllers = layers::nvme_controllers(tree, dir);
    let kib = |file: &str| nonzero(number(file)).map(|kib| kib.saturating_mul(1024));
    let transport = transport(tree, dir);
    let model = first_text(&["device/model", "device/name"]);
    // On virtio this is the number of the bus's maker, not a name.
    let vendor = text("device/vendor").filter(|vendor| !vendor.starts_with("0x"));
    let scsi_disk = tree.entries(dir.join("device/scsi_disk")).into_iter().next();
    let of_scsi = |file: &str| tree.text(scsi_disk.as_ref()?.join(file));
    Device {
        name: name(dir),
        uncounted: counters::is_uncounted(&tree.at(""), &name(dir)),
        major_minor: text("dev").unwrap_or_default(),
        size_bytes: sectors_to_bytes(number("size")),
        link: transport.as_deref().and_then(|transport| link::link(tree, dir, transport)),
        wwn: first_text(&["wwid", "device/wwid", "nguid", "eui"]),
        state: text("device/state").or_else(|| tree.text(controllers.first()?.join("state"))),
        cloud: settings::cloud(tree, model.as_deref(), vendor.as_deref()),
        queues: nonzero(Some(tree.entries(dir.join("mq")).len() as u64)),
        rq_affinity: number("queue/rq_affinity"),
        io_poll: tree.flag(dir.join("queue/io_poll")),
        nomerges: number("queue/nomerges"),
        numa_node: numa_node(tree, dir),
        read_ahead_bytes: number("queue/read_ahead_kb").map(|kib| kib.saturating_mul(1024)),
        // Drivers without a limit show the largest number there is.
        max_hardware_io_bytes: kib("queue/max_hw_sectors_kb").filter(|bytes| *bytes < 1 << 40),
        alignment_offset_bytes: nonzero(number("alignment_offset")),
        read_only: tree.flag(dir.join("ro")),
        thin: of_scsi("thin_provisioning").and_then(|text| match text.as_str() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }),
        // The driver of virtio shows it in the disk's own directory.
        cache_type: of_scsi("cache_type").or_else(|| text("cache_type")),
        adapter_queue_depth: None,
        driver_settings: Vec::new(),
        zoned: text("queue/zoned").filter(|zoned| zoned != "none"),
        model,
        vendor,
        serial: first_text(&["device/serial", "serial"]).or_else(|| scsi_serial(tree, dir)),
        firmware: first_text(&["device/firmware_rev", "device/rev", "device/fwrev"]),
        transport,
        rotational: tree.flag(dir.join("queue/rotational")),
        scheduler: text("queue/scheduler").and_then(|list| selected(&list)),
        nr_requests: number("queue/nr_requests"),
        queue_depth: number("device/queue_depth")
            .or_else(|| number("device/sqsize"))
            .or_else(|| tree.number(controllers.first()?.join("sqsize"))),
        logical_block_bytes: nonzero(number("queue/logical_block_size")),
        physical_block_bytes: physical_block_bytes(tree, dir),
        optimal_io_bytes: nonzero(number("queue/optimal_io_size")),
        minimum_io_bytes: nonzero(number("queue/minimum_io_size")),
        max_io_bytes: kib("queue/max_sectors_kb"),
        write_cache: text("queue/write_cache")
            .filter(|cache| cache == "write back" || cache == "write through"),
        fua: tree.flag(dir.join("queue/fua")),
        driver: ["device/driver", "device/device/driver"]
            .iter()
            .find_map(|link| fs::read_link(tree.at(dir.join(link))).ok())
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
    }
}

pub(super) fn sectors_to_bytes(sectors: Option<u64>) -> u64 {
    sectors.unwrap_or(0).saturating_mul(SECTOR_BYTES)
}

/// Devices say 0 where they have nothing to say.
pub(super) fn nonzero(number: Option<u64>) -> Option<u64> {
    number.filter(|number| *number > 0)
}

/// The NUMA node of the nearest device on the way that has one; `None` if there is but one.
fn numa_node(tree: &Tree, dir: &Path) -> Option<u32> {
    let known = |path: &Path| tree.number(path.join("numa_node"));
    known(&dir.join("device/device"))
        .or_else(|| dir.ancestors().find_map(known))
        .and_then(|node| u32::try_from(node).ok())
}

/// The unit serial number page: four bytes of header, then text.
fn scsi_serial(tree: &Tree, dir: &Path) -> Option<String> {
    let page = tree.bytes(dir.join("device/vpd_pg80"))?;
    clean(page.get(4..)?)
}

/// The one in brackets, in `mq-deadline kyber [none]`; a list of one may have none.
pub(super) fn selected(list: &str) -> Option<String> {
    let words: Vec<&str> = list.split_whitespace().collect();
    let bracketed = words.iter().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    match (bracketed, words.as_slice()) {
        (Some(word), _) => Some(word.to_owned()),
        (None, [word]) if *word != "unsupported" => Some((*word).to_owned()),
        _ => None,
    }
}

/// Told from the buses on the way to the device, the most telling first.
fn transport(tree: &Tree, dir: &Path) -> Option<String> {
    let name = name(dir);
    let path = dir.to_string_lossy();
    let steps: Vec<&str> = path.split('/').collect();
    // A step that is this word and then only what numbers a thing: `ata3`, `end_device-0:1`.
    let on = |word: &str| {
        steps.iter().any(|step| {
            step.strip_prefix(word)
                .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || ":-.".contains(c)))
        })
    };
    let by_name =
        ["loop", "zram", "nbd", "rbd", "ram", "dm", "md", "pmem"].into_iter().find(|word| {
            name.strip_prefix(word)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
        });
    if let Some(word) = by_name {
        return Some(word.to_owned());
    }
    if name.starts_with("nvme") {
        let controllers = layers::nvme_controllers(tree, dir);
        let controller = controllers.first().cloned().unwrap_or_else(|| dir.join("device"));
        let fabric =
            tree.text(controller.join("transport")).filter(|transport| transport != "pcie");
        return Some(fabric.map_or_else(|| "nvme".to_owned(), |fabric| format!("nvme-{fabric}")));
    }
    let driver = |word: &str| {
        ["device/driver", "device/device/driver"]
            .iter()
            .filter_map(|link| fs::read_link(tree.at(dir.join(link))).ok())
            .any(|path| path.ends_with(word))
    };
    let transport = match () {
        () if on("usb") => "usb",
        () if on("session") => "iscsi",
        () if on("rport-") => "fc",
        () if on("end_device-") => "sas",
        () if on("ata") => "sata",
        () if on("virtio") => "virtio",
        () if on("mmc") || name.starts_with("mmcblk") => "mmc",
        () if on("vbd-") || driver("vbd") => "xen",
        () if steps.iter().any(|step| step.starts_with("VMBUS")) => "hyper-v",
        () if on("target") => "scsi",
        () => return None,
    };
    Some(transport.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedulers() {
        assert_eq!(selected("mq-deadline kyber [none]").as_deref(), Some("none"));
        assert_eq!(selected("none").as_deref(), Some("none"));
        for nonsense in ["", "a b", "unsupported"] {
            assert_eq!(selected(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn transports_by_path() {
        let cases = [
            ("pci0000:00/0000:00:02.0/virtio1/block/vda", Some("virtio")),
            ("pci0000:00/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0/block/sda", Some("sata")),
            ("pci0000:00/host0/port-0:1/end_device-0:1/target0:0:1/0:0:1:0/block/sdb", Some("sas")),
            ("pci0000:00/usb2/2-1/2-1:1.0/host4/target4:0:0/4:0:0:0/block/sdc", Some("usb")),
            ("platform/host3/session1/target3:0:0/3:0:0:0/block/sdd", Some("iscsi")),
            ("pci0000:00/host5/rport-5:0-1/target5:0:1/5:0:1:0/block/sde", Some("fc")),
            ("pci0000:00/0000:00:10.0/host2/target2:0:0/2:0:0:0/block/sdf", Some("scsi")),
            ("platform/mmc_host/mmc0/mmc0:0001/block/mmcblk0", Some("mmc")),
            ("virtual/block/zram0", Some("zram")),
            ("virtual/block/dm-3", Some("dm")),
            ("virtual/block/mystery", None),
        ];
        let tree = Tree::new(Path::new("/nowhere-at-all"));
        for (path, expected) in cases {
            let dir = Path::new("sys/devices").join(path);
            assert_eq!(transport(&tree, &dir).as_deref(), expected, "{path}");
        }
    }
}
