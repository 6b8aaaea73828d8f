//! Machines of many kinds, each a function that makes its files.

use super::fixture::Fixture;

/// Paths of files, with their contents.
pub(super) type Files<'a> = &'a [(&'a str, &'a str)];

/// What a healthy disk shows; what comes later takes its place.
const USUAL: Files<'static> = &[
    ("size", "1953525168"),
    ("ro", "0"),
    ("queue/scheduler", "[mq-deadline] none"),
    ("queue/logical_block_size", "512"),
    ("queue/physical_block_size", "512"),
    ("queue/max_sectors_kb", "1280"),
    ("queue/max_hw_sectors_kb", "32767"),
    ("queue/nr_requests", "256"),
    ("queue/write_cache", "write through"),
    ("queue/fua", "0"),
];

/// A disk whose device in /sys is at `device` below sys/devices; `own` are files of that device.
pub(super) fn disk(fixture: &Fixture, device: &str, name: &str, own: Files<'_>, block: Files<'_>) {
    let number = number_of(name);
    let dir = format!("{device}/block/{name}");
    fixture.block(&dir, &number, USUAL);
    for (file, content) in block {
        fixture.write(&format!("sys/devices/{dir}/{file}"), format!("{content}\n"));
    }
    for (file, content) in own {
        fixture.write(&format!("sys/devices/{device}/{file}"), format!("{content}\n"));
    }
    fixture.link(&format!("sys/devices/{dir}/device"), &format!("sys/devices/{device}"));
}

/// `8:0` for `sda`, `8:16` for `sdb`, and other majors for others.
pub(super) fn number_of(name: &str) -> String {
    let letter = name.bytes().last().unwrap_or(b'a');
    let major = if name.starts_with("sd") { 8 } else { 254 };
    format!("{major}:{}", u32::from(letter.wrapping_sub(b'a')) * 16)
}

const SATA: &str = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0";

/// A SATRotating disk, with XFS on it.
pub(super) fn sata(block: Files<'_>) -> Fixture {
    let mut fixture = Fixture::new();
    let own = [
        ("model", "Spinner 4TB"),
        ("vendor", "ATA"),
        ("state", "running"),
        ("queue_depth", "32"),
        ("scsi_disk/0:0:0:0/cache_type", "write through"),
        ("scsi_disk/0:0:0:0/thin_provisioning", "0"),
    ];
    disk(&fixture, SATA, "sda", &own, &[("queue/rotational", "1")]);
    for (file, content) in block {
        fixture.write(&format!("sys/devices/{SATA}/block/sda/{file}"), format!("{content}\n"));
    }
    fixture.write("sys/class/ata_link/link1/sata_spd", "6.0 Gbps\n");
    fixture.write("sys/class/ata_link/link1/hw_sata_spd_limit", "6.0 Gbps\n");
    fixture.write("sys/class/ata_device/dev1.0/spdn_cnt", "0\n");
    fixture.mount("8:0 / /x rw,noatime - xfs /dev/sda rw");
    fixture
}

/// The same with files of its device changed, such as `device/state`.
pub(super) fn sata_device(files: Files<'_>) -> Fixture {
    let fixture = sata(&[]);
    for (file, content) in files {
        fixture.write(&format!("sys/devices/{SATA}/{file}"), format!("{content}\n"));
    }
    fixture
}

/// A disk with a bridge to USB 3, on a port of this speed.
pub(super) fn usb(speed: &str) -> Fixture {
    let mut fixture = Fixture::new();
    let port = "pci0000:00/0000:00:14.0/usb2/2-1";
    let device = format!("{port}/2-1:1.0/host4/target4:0:0/4:0:0:0");
    disk(&fixture, &device, "sda", &[("queue_depth", "1")], &[]);
    fixture.write(&format!("sys/devices/{port}/speed"), format!("{speed}\n"));
    fixture.write(&format!("sys/devices/{port}/version"), " 3.20\n");
    fixture.mount("8:0 / /x rw,noatime - xfs /dev/sda rw");
    fixture
}

/// A LUN of an array over SAS by two paths, with the states of the paths and the I/Os each did.
pub(super) fn sas_multipath(paths: &[(&str, &str)]) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.block(
        "virtual/block/dm-0",
        "253:0",
        &[("dm/name", "mpatha"), ("dm/uuid", "mpath-3600c0ff0"), ("size", "2048")],
    );
    for (index, (state, ios)) in paths.iter().enumerate() {
        let name = ["sda", "sdb", "sdc"][index];
        let port = format!("pci0000:00/0000:00:0{index}.0/host{index}/port-{index}:0");
        let device = format!("{port}/end_device-{index}:0/target{index}:0:0/{index}:0:0:1");
        let own =
            [("state", *state), ("queue_depth", "64"), ("vendor", "ACME"), ("model", "Array")];
        let stat = format!("{ios} 0 0 0 0 0 0 0 0 0 0");
        disk(&fixture, &device, name, &own, &[("stat", &stat)]);
        let phy = format!("{port}/phy-{index}:0/sas_phy/phy-{index}:0");
        fixture.write(&format!("sys/devices/{phy}/negotiated_linkrate"), "12.0 Gbit\n");
        fixture.write(&format!("sys/devices/{phy}/maximum_linkrate"), "12.0 Gbit\n");
        let sas = format!("sys/class/sas_device/end_device-{index}:0/sas_address");
        fixture.write(&sas, "0x500c0ff123456789\n");
        fixture.slave("virtual/block/dm-0", &format!("{device}/block/{name}"));
    }
    fixture.mount("253:0 / /x rw,noatime - xfs /dev/mapper/mpatha rw");
    fixture
}

/// A namespace that two NVMe controllers share, with their states and the I/Os each did.
pub(super) fn nvme_multipath(paths: &[(&str, &str)]) -> Fixture {
    let mut fixture = Fixture::new();
    let subsystem = "virtual/nvme-subsystem/nvme-subsys0";
    let files = [
        ("size", "4096"),
        ("queue/scheduler", "none"),
        ("queue/rotational", "0"),
        ("wwid", "uuid.1234-5678"),
    ];
    fixture.block(&format!("{subsystem}/nvme0n1"), "259:0", &files);
    let subsystem = format!("sys/devices/{subsystem}");
    fixture.link(&format!("{subsystem}/nvme0n1/device"), &subsystem);
    fixture.write(&format!("{subsystem}/model"), "Shared NVMe\n");
    fixture.write(&format!("{subsystem}/iopolicy"), "round-robin\n");
    for (index, (state, ios)) in paths.iter().enumerate() {
        let function = format!("sys/devices/pci0000:00/0000:00:0{index}.0");
        let controller = format!("{function}/nvme/nvme{index}");
        fixture.write(&format!("{controller}/state"), format!("{state}\n"));
        fixture.write(&format!("{controller}/address"), format!("0000:00:0{index}.0\n"));
        fixture.write(&format!("{controller}/transport"), "pcie\n");
        fixture.write(&format!("{controller}/sqsize"), "127\n");
        let own = format!("{controller}/nvme0c{index}n1");
        fixture.write(&format!("{own}/ana_state"), "optimized\n");
        fixture.write(&format!("{own}/stat"), format!("{ios} 0 0 0 0 0 0 0 0 0 0\n"));
        fixture.link(&format!("{controller}/device"), &function);
        for (file, value) in [("speed", "16.0 GT/s PCIe"), ("width", "4")] {
            fixture.write(&format!("{function}/current_link_{file}"), format!("{value}\n"));
            fixture.write(&format!("{function}/max_link_{file}"), format!("{value}\n"));
        }
        fixture.link(&format!("{subsystem}/nvme{index}"), &controller);
    }
    fixture.mount("259:0 / /x rw,noatime - xfs /dev/nvme0n1 rw");
    fixture
}

/// An NVMe disk in a slot, with what its link came to.
pub(super) fn nvme(speed: &str, lanes: &str, interrupts: Option<&str>) -> Fixture {
    let mut fixture = Fixture::new();
    let function = "pci0000:00/0000:00:04.0";
    let dir = format!("{function}/nvme/nvme0/nvme0n1");
    let files = [
        ("size", "4096"),
        ("device/transport", "pcie"),
        ("device/state", "live"),
        ("device/model", "Amazon Elastic Block Store"),
        ("device/sqsize", "1023"),
        ("queue/scheduler", "none"),
        ("queue/rotational", "0"),
        ("queue/max_sectors_kb", "1024"),
        ("mq/0/cpu_list", "0"),
        ("mq/1/cpu_list", "1"),
        ("wwid", "nvme.1d0f-766f6c"),
    ];
    fixture.block(&dir, "259:0", &files);
    fixture.link(&format!("sys/devices/{dir}/device/device"), &format!("sys/devices/{function}"));
    let put = |file: &str, text: &str| {
        fixture.write(&format!("sys/devices/{function}/{file}"), format!("{text}\n"));
    };
    put("current_link_speed", speed);
    put("current_link_width", lanes);
    put("max_link_speed", "8.0 GT/s PCIe");
    put("max_link_width", "4");
    put("numa_node", "1");
    put("msi_irqs/30", "msix");
    put("msi_irqs/31", "msix");
    if let Some(table) = interrupts {
        fixture.write("proc/interrupts", table);
    }
    fixture.mount("259:0 / /x rw,noatime - xfs /dev/nvme0n1 rw");
    fixture
}

/// A LUN over Fibre Channel, with the speed its port came to and the depth of its queue.
pub(super) fn fc(speed: &str, depth: &str) -> Fixture {
    let mut fixture = Fixture::new();
    let device = "pci0000:00/0000:00:05.0/host5/rport-5:0-1/target5:0:1/5:0:1:0";
    disk(&fixture, device, "sda", &[("queue_depth", depth), ("state", "running")], &[]);
    for (file, text) in [
        ("fc_host/host5/speed", speed),
        ("fc_host/host5/supported_speeds", "4 Gbit, 8 Gbit, 16 Gbit"),
        ("fc_host/host5/port_name", "0x21000024ff000001"),
        ("fc_remote_ports/rport-5:0-1/port_name", "0x500a098200000002"),
        ("fc_remote_ports/rport-5:0-1/port_state", "Online"),
    ] {
        fixture.write(&format!("sys/class/{file}"), format!("{text}\n"));
    }
    fixture.mount("8:0 / /x rw,noatime - xfs /dev/sda rw");
    fixture
}

/// A machine with a LUN over iSCSI.
pub(super) fn iscsi() -> Fixture {
    let mut fixture = Fixture::new();
    let device = "platform/host3/session1/target3:0:0/3:0:0:0";
    disk(&fixture, device, "sda", &[("queue_depth", "64"), ("state", "running")], &[]);
    for (file, text) in [
        ("iscsi_session/session1/targetname", "iqn.2026-01.example:lun"),
        ("iscsi_session/session1/initiatorname", "iqn.2026-01.example:db1"),
        ("iscsi_session/session1/state", "LOGGED_IN"),
        ("iscsi_connection/connection1:0/persistent_address", "192.0.2.7"),
    ] {
        fixture.write(&format!("sys/class/{file}"), format!("{text}\n"));
    }
    fixture.mount("8:0 / /x rw,noatime - xfs /dev/sda rw");
    fixture
}

/// A whole md RAID of three disks with ext4 on it; `md` are files in its directory `md`.
pub(super) fn raid(level: &str, md: Files<'_>, options: &str) -> Fixture {
    let mut fixture = Fixture::new();
    let files = [
        ("size", "4096"),
        ("md/raid_disks", "3"),
        ("md/degraded", "0"),
        ("md/chunk_size", if level == "raid1" { "0" } else { "524288" }),
        ("md/consistency_policy", "bitmap"),
        ("md/bitmap/location", "+8"),
        ("md/array_state", "clean"),
        ("md/sync_action", "idle"),
        ("md/mismatch_cnt", "0"),
    ];
    fixture.block("virtual/block/md0", "9:0", &files);
    let put = |file: &str, text: &str| {
        fixture.write(&format!("sys/devices/virtual/block/md0/md/{file}"), format!("{text}\n"));
    };
    put("level", level);
    for (index, name) in ["sda", "sdb", "sdc"].into_iter().enumerate() {
        let device = format!("pci0000:00/host{index}/target{index}:0:0/{index}:0:0:0");
        disk(&fixture, &device, name, &[("state", "running"), ("queue_depth", "64")], &[]);
        fixture.slave("virtual/block/md0", &format!("{device}/block/{name}"));
        put(&format!("dev-{name}/state"), "in_sync");
        put(&format!("dev-{name}/errors"), "0");
    }
    for (file, content) in md {
        put(file, content);
    }
    fixture.mount(&format!("9:0 / /x rw,noatime - ext4 /dev/md0 rw,{options}"));
    fixture
}

/// A logical volume on a disk. `uuid` and `name` belong to the layer in between, if there is one.
pub(super) fn volume(uuid: &str, files: Files<'_>, between: Option<(&str, &str)>) -> Fixture {
    let mut fixture = Fixture::new();
    let device = "pci0000:00/host0/target0:0:0/0:0:0:0";
    disk(&fixture, device, "sda", &[("state", "running"), ("queue_depth", "64")], &[]);
    disk(&fixture, "pci0000:00/host1/target1:0:0/1:0:0:0", "sdb", &[("state", "running")], &[]);
    fixture.block(
        "virtual/block/dm-0",
        "253:0",
        &[("size", "2048"), ("dm/name", "vg-lv"), ("dm/uuid", uuid)],
    );
    for (file, content) in files {
        fixture.write(&format!("sys/devices/virtual/block/dm-0/{file}"), format!("{content}\n"));
    }
    let mut upper = "virtual/block/dm-0";
    if let Some((name, uuid)) = between {
        let files = [("size", "2048"), ("dm/name", name), ("dm/uuid", uuid)];
        fixture.block("virtual/block/dm-1", "253:1", &files);
        fixture.slave(upper, "virtual/block/dm-1");
        upper = "virtual/block/dm-1";
    }
    fixture.slave(upper, &format!("{device}/block/sda"));
    if uuid.contains("striped") {
        fixture.slave(upper, "pci0000:00/host1/target1:0:0/1:0:0:0/block/sdb");
    }
    fixture.mount("253:0 / /x rw,noatime - xfs /dev/mapper/vg-lv rw");
    fixture
}

/// A disk without a bus, of this kernel name.
pub(super) fn virtual_disk(name: &str, files: Files<'_>) -> Fixture {
    let mut fixture = Fixture::new();
    let dir = format!("virtual/block/{name}");
    fixture.block(&dir, "252:0", &[("size", "2048")]);
    for (file, content) in files {
        fixture.write(&format!("sys/devices/{dir}/{file}"), format!("{content}\n"));
    }
    fixture.mount(&format!("252:0 / /x rw,noatime - xfs /dev/{name} rw"));
    fixture
}

/// A disk with a partition that begins at this sector, and what the disk says of its blocks.
pub(super) fn partitioned(start: &str, disk_files: Files<'_>, partition: Files<'_>) -> Fixture {
    let fixture = sata(disk_files);
    let dir = format!("{SATA}/block/sda/sda1");
    fixture.block(&dir, "8:1", &[("partition", "1"), ("start", start), ("size", "4096")]);
    for (file, content) in partition {
        fixture.write(&format!("sys/devices/{dir}/{file}"), format!("{content}\n"));
    }
    fixture
}

/// A machine that has these files.
pub(super) fn host(files: Files<'_>) -> Fixture {
    let fixture = Fixture::new();
    fixture.write("proc/meminfo", "MemTotal:  67108864 kB\n");
    fixture.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sda partition 9 0 -2\n");
    fixture.write("sys/devices/system/cpu/online", "0-1\n");
    for (file, content) in files {
        fixture.write(file, format!("{content}\n"));
    }
    fixture
}
