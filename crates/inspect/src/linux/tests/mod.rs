//! Systems of all kinds, made up in files.

mod every;
mod fixture;
mod hostile;
mod machines;
mod rules;
mod setups;
mod system;

use std::path::Path;

use crate::{Device, Partition, TargetKind};
use fixture::{Fixture, codes, names};

const NVME: &str = "pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1";

fn nvme() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.block(
        NVME,
        "259:0",
        &[
            ("size", "1953525168"),
            ("device/model", "Quick SSD 1TB                           "),
            ("device/serial", "S1234\0\0"),
            ("device/firmware_rev", "2B4QFXO7"),
            ("device/transport", "pcie"),
            ("device/sqsize", "1023"),
            ("queue/rotational", "0"),
            ("queue/scheduler", "[none] mq-deadline kyber bfq"),
            ("queue/nr_requests", "1023"),
            ("queue/logical_block_size", "512"),
            ("queue/physical_block_size", "4096"),
            ("queue/optimal_io_size", "0"),
            ("queue/minimum_io_size", "4096"),
            ("queue/max_sectors_kb", "512"),
            ("queue/write_cache", "write back"),
            ("queue/fua", "1"),
        ],
    );
    fixture.link(&format!("sys/devices/{NVME}/device/device/driver"), "sys/bus/pci/drivers/nvme");
    fixture.block(
        &format!("{NVME}/nvme0n1p2"),
        "259:2",
        &[("partition", "2"), ("start", "2048"), ("size", "8192")],
    );
    fixture.mount("259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw");
    fixture
}

#[test]
fn nvme_with_partition() {
    let storage = nvme().storage("/srv/db", TargetKind::Directory, (259, 2));
    let expected = Device {
        name: "nvme0n1".into(),
        major_minor: "259:0".into(),
        size_bytes: 1_000_204_886_016,
        model: Some("Quick SSD 1TB".into()),
        vendor: None,
        serial: Some("S1234".into()),
        firmware: Some("2B4QFXO7".into()),
        transport: Some("nvme".into()),
        rotational: Some(false),
        scheduler: Some("none".into()),
        nr_requests: Some(1023),
        queue_depth: Some(1023),
        logical_block_bytes: Some(512),
        physical_block_bytes: Some(4096),
        optimal_io_bytes: None,
        minimum_io_bytes: Some(4096),
        max_io_bytes: Some(512 << 10),
        write_cache: Some("write back".into()),
        fua: Some(true),
        driver: Some("nvme".into()),
        ..Device::default()
    };
    assert_eq!(storage.devices, [expected]);
    assert_eq!(storage.layers, ["nvme0n1p2", "nvme0n1"]);
    assert_eq!(storage.counted_device.as_deref(), Some("nvme0n1"));
    let partition = Partition {
        name: "nvme0n1p2".into(),
        number: Some(2),
        start_bytes: 1 << 20,
        size_bytes: 4 << 20,
    };
    assert_eq!(storage.partition, Some(partition));
    let file_system = storage.file_system.as_ref().unwrap();
    assert_eq!(file_system.mount_point, Path::new("/"));
    assert_eq!(file_system.options, ["rw", "relatime"]);
    assert_eq!(file_system.total_bytes, 4_096_000);
    assert!((file_system.used_percent - 50.0).abs() < 1e-9);
    assert_eq!(codes(&storage), [""; 0]);
}

#[test]
fn a_block_device_has_no_file_system() {
    let storage = nvme().storage("/dev/nvme0n1", TargetKind::BlockDevice, (259, 0));
    assert_eq!(storage.layers, ["nvme0n1"]);
    assert_eq!((storage.file_system, storage.partition), (None, None));
    let storage = nvme().storage("/dev/nvme0n1p2", TargetKind::BlockDevice, (259, 2));
    assert_eq!(storage.counted_device.as_deref(), Some("nvme0n1"));
}

#[test]
fn a_character_device_is_not_the_block_device_of_its_number() {
    let storage = nvme().storage("/dev/null", TargetKind::CharDevice, (259, 0));
    assert_eq!((storage.layers.len(), storage.devices.len()), (0, 0));
    assert_eq!(codes(&storage), [""; 0]);
}

#[test]
fn virtio_disk_without_partition() {
    let mut fixture = Fixture::new();
    let disk = "pci0000:00/0000:00:02.0/virtio1/block/vda";
    fixture.block(
        disk,
        "254:0",
        &[
            ("size", "4096"),
            ("serial", "disk-1"),
            ("device/vendor", "0x1af4"),
            ("queue/rotational", "1"),
            ("queue/scheduler", "none [mq-deadline] kyber"),
            ("queue/write_cache", "write back"),
            ("queue/fua", "0"),
        ],
    );
    let driver = format!("sys/devices/{disk}/device/driver");
    fixture.link(&driver, "sys/bus/virtio/drivers/virtio_blk");
    fixture.mount("254:0 / / rw,noatime - xfs /dev/vda rw");
    let storage = fixture.storage("/data/new", TargetKind::Missing, (254, 0));
    let device = &storage.devices[0];
    assert_eq!(device.transport.as_deref(), Some("virtio"));
    assert_eq!(device.driver.as_deref(), Some("virtio_blk"));
    assert_eq!(device.serial.as_deref(), Some("disk-1"));
    assert_eq!((&device.vendor, device.queue_depth), (&None, None));
    assert_eq!(device.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!(storage.counted_device.as_deref(), Some("vda"));
    assert_eq!(codes(&storage), ["volatile-write-cache"]);
}

#[test]
fn encrypted_raid_of_two_partitions() {
    let mut fixture = Fixture::new();
    for (number, name, ata) in [(0, "sda", 1), (16, "sdb", 2)] {
        let disk =
            format!("pci0000:00/ata{ata}/host{ata}/target{ata}:0:0/{ata}:0:0:0/block/{name}");
        let attributes = [
            ("size", "9999"),
            ("device/vendor", "ATA     "),
            ("device/rev", "1.0"),
            ("device/vpd_pg80", "\0\u{1}\0\u{8}  SERIAL"),
            ("queue/physical_block_size", "4096"),
        ];
        fixture.block(&disk, &format!("8:{number}"), &attributes);
        // The old start of sector 63 on the second disk.
        let start = if name == "sda" { "2048" } else { "63" };
        let part = format!("{disk}/{name}1");
        let number = format!("8:{}", number + 1);
        fixture.block(&part, &number, &[("partition", "1"), ("start", start)]);
        fixture.slave("virtual/block/md0", &part);
    }
    fixture.block("virtual/block/md0", "9:0", &[("size", "9000")]);
    fixture.block("virtual/block/dm-0", "253:0", &[("dm/name", "secret")]);
    fixture.slave("virtual/block/dm-0", "virtual/block/md0");
    fixture.mount("253:0 / /data rw,relatime - ext4 /dev/mapper/secret rw");

    let storage = fixture.storage("/data/file", TargetKind::File, (253, 0));
    assert_eq!(storage.layers, ["dm-0", "md0", "sda1", "sda", "sdb1", "sdb"]);
    assert_eq!(names(&storage), ["sda", "sdb"]);
    assert_eq!(storage.devices[1].transport.as_deref(), Some("sata"));
    assert_eq!(storage.devices[1].serial.as_deref(), Some("SERIAL"));
    assert_eq!(storage.devices[1].vendor.as_deref(), Some("ATA"));
    assert_eq!(storage.counted_device.as_deref(), Some("dm-0"));
    assert_eq!(storage.partition, None);
    assert_eq!(codes(&storage), ["partition-misaligned"]);
    assert!(storage.findings[0].message.contains("sdb1 begins at byte 32256"));
}

#[test]
fn loop_device_in_a_file_on_ext4() {
    let mut fixture = nvme();
    let attributes = [
        ("size", "2097152"),
        ("loop/backing_file", "/var/my disk.img"),
        ("queue/scheduler", "none"),
    ];
    fixture.block("virtual/block/loop0", "7:0", &attributes);
    fixture.mount("7:0 / /mnt/a\\040b rw,relatime - xfs /dev/loop0 rw");
    let storage = fixture.storage("/mnt/a b/file", TargetKind::File, (7, 0));
    assert_eq!(storage.layers, ["loop0", "nvme0n1p2", "nvme0n1"]);
    assert_eq!(names(&storage), ["loop0", "nvme0n1"]);
    assert_eq!(storage.counted_device.as_deref(), Some("loop0"));
    assert_eq!(codes(&storage), ["loop-device"]);
    assert!(storage.findings[0].message.contains("loop0 is a loop device of 1 GiB"));
    // A loop device without a file is just an empty device.
    fixture.block("virtual/block/loop1", "7:1", &[("size", "0")]);
    let storage = fixture.storage("/dev/loop1", TargetKind::BlockDevice, (7, 1));
    assert_eq!(storage.layers, ["loop1"]);
}

#[test]
fn a_loop_device_in_a_file_on_itself_ends() {
    let mut fixture = Fixture::new();
    let attributes = [("loop/backing_file", "/mnt/file")];
    fixture.block("virtual/block/loop0", "7:0", &attributes);
    fixture.block("virtual/block/dm-0", "253:0", &[]);
    fixture.slave("virtual/block/dm-0", "virtual/block/dm-0");
    fixture.mount("7:0 / /mnt rw,relatime - xfs /dev/loop0 rw");
    let storage = fixture.storage("/mnt", TargetKind::Directory, (7, 0));
    assert_eq!(storage.layers, ["loop0"]);
    let storage = fixture.storage("/dev/dm-0", TargetKind::BlockDevice, (253, 0));
    assert_eq!(storage.layers, ["dm-0"]);
}

#[test]
fn btrfs_is_found_by_its_source() {
    let mut fixture = nvme();
    fixture.mountinfo(b"");
    fixture
        .mount("0:33 /@db /db rw,relatime - btrfs /dev/nvme0n1p2 rw,compress=zstd:3,subvolid=256");
    // Neither number of a btrfs is that of a device, and each subvolume has its own.
    let storage = fixture.storage("/db/file", TargetKind::File, (0, 41));
    assert_eq!(storage.layers, ["nvme0n1p2", "nvme0n1"]);
    assert_eq!(storage.counted_device.as_deref(), Some("nvme0n1"));
    assert_eq!(codes(&storage), ["compression", "copy-on-write"]);

    // A second device: no single one counts all.
    fixture.block("virtual/block/dm-1", "253:1", &[("dm/name", "vg-lv")]);
    let devices = "sys/fs/btrfs/0000-1111/devices";
    fixture.link(&format!("{devices}/dm-1"), "sys/devices/virtual/block/dm-1");
    let part = format!("sys/devices/{NVME}/nvme0n1p2");
    fixture.link(&format!("{devices}/nvme0n1p2"), &part);
    let storage = fixture.storage("/db/file", TargetKind::File, (0, 41));
    assert_eq!(storage.layers, ["dm-1", "nvme0n1p2", "nvme0n1"]);
    assert_eq!(storage.counted_device, None);
}

#[test]
fn sources_by_mapper_name_and_by_link() {
    let mut fixture = nvme();
    fixture.block("virtual/block/dm-1", "253:1", &[("dm/name", "vg-lv")]);
    fixture.write("dev/nvme0n1p2", "");
    fixture.link("dev/disk/by-label/data", "dev/nvme0n1p2");
    fixture.mountinfo(b"");
    fixture.mount("0:33 / /a rw,relatime - btrfs /dev/mapper/vg-lv rw");
    fixture.mount("0:34 / /b rw,relatime - btrfs /dev/disk/by-label/data rw");
    let layers = |path| fixture.storage(path, TargetKind::File, (0, 41)).layers;
    assert_eq!(layers("/a/file"), ["dm-1"]);
    assert_eq!(layers("/b/file"), ["nvme0n1p2", "nvme0n1"]);
}
