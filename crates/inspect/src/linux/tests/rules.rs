//! Findings of the rules on made-up systems.

use super::super::storage::Space;
use super::fixture::{Fixture, codes};
use crate::{Severity, Storage, TargetKind};

/// A directory on a file system without a device.
fn mounted(line: &str) -> Storage {
    let mut fixture = Fixture::new();
    fixture.mount(line);
    fixture.storage("/x/dir", TargetKind::Directory, (0, 50))
}

/// A directory on a disk, with these mount options and attributes of the disk.
fn on_disk(options: &str, attributes: &[(&str, &str)]) -> Storage {
    let mut fixture = Fixture::new();
    fixture.block("pci0000:00/ata1/host0/target0:0:0/block/sda", "8:0", attributes);
    fixture.mount(&format!("8:0 / /x rw - ext4 /dev/sda {options}"));
    fixture.storage("/x/dir", TargetKind::Directory, (8, 0))
}

#[test]
fn memory_is_not_a_device() {
    let storage = mounted("0:50 / /x rw - tmpfs tmpfs rw");
    assert_eq!(codes(&storage), ["memory-file-system"]);
    assert_eq!(storage.findings[0].severity, Severity::Serious);
    assert_eq!((storage.layers.len(), storage.counted_device), (0, None));
}

#[test]
fn storage_elsewhere() {
    for (kind, code) in [
        ("nfs4", "network-file-system"),
        ("cifs", "network-file-system"),
        ("fuse.sshfs", "user-space-file-system"),
        ("fuse", "user-space-file-system"),
        ("bind", "no-block-device"),
    ] {
        let storage = mounted(&format!("0:50 / /x rw - {kind} server:/export rw"));
        assert_eq!(codes(&storage), [code], "{kind}");
        assert!(storage.findings[0].message.contains("server:/export"));
    }
    let storage = mounted("0:50 / /x rw - zfs tank/db rw");
    assert_eq!(codes(&storage), ["compression", "no-block-device", "copy-on-write"]);
    // No mount table at all.
    let storage = mounted("");
    assert_eq!(codes(&storage), ["no-block-device"]);
}

#[test]
fn mount_options() {
    let cases: [(&str, &[&str]); 8] = [
        ("rw,relatime", &[]),
        ("rw,noatime", &[]),
        ("rw", &["strict-access-times"]),
        ("rw,noatime,data=journal", &["data-journal"]),
        ("rw,noatime,nobarrier", &["no-write-barrier"]),
        ("rw,barrier=0", &["no-write-barrier", "strict-access-times"]),
        ("ro", &["read-only"]),
        ("rw,noatime,compress=no", &[]),
    ];
    for (options, expected) in cases {
        assert_eq!(codes(&on_disk(options, &[])), expected, "{options}");
    }
}

#[test]
fn full_file_systems() {
    let mut fixture = Fixture::new();
    fixture.block("pci0000:00/block/sda", "8:0", &[]);
    fixture.mount("8:0 / /x rw,noatime - ext4 /dev/sda rw");
    let space = |available_blocks| Space {
        block_bytes: 1 << 20,
        blocks: 100_000,
        free_blocks: 15_000,
        available_blocks,
        ..Space::default()
    };
    let storage =
        |blocks| fixture.storage_with("/x", TargetKind::Directory, (8, 0), Some(space(blocks)));
    assert_eq!(codes(&storage(15_000)), ["file-system-full"]);
    assert_eq!(codes(&storage(15_001)), [""; 0]);
    // Space that is reserved for the administrator does not count as free.
    let message = &storage(10_240).findings[0].message;
    assert!(message.contains("89.2 % full with 10 GiB of 97.7 GiB"), "{message}");
    let empty = fixture.storage_with("/x", TargetKind::Directory, (8, 0), Some(Space::default()));
    assert_eq!(codes(&empty), [""; 0]);
}

#[test]
fn devices() {
    let scheduler = |name: &str, rotational: &str| {
        let attributes = [("queue/scheduler", name), ("queue/rotational", rotational)];
        codes(&on_disk("noatime", &attributes)).join(" ")
    };
    assert_eq!(scheduler("none [bfq]", "0"), "scheduler");
    assert_eq!(scheduler("none [bfq]", "1"), "");
    assert_eq!(scheduler("none [bfq]", "unsupported"), "");
    assert_eq!(scheduler("[mq-deadline] none", "0"), "");
    let cache = |cache: &str, fua: &str| {
        let attributes = [("queue/write_cache", cache), ("queue/fua", fua)];
        codes(&on_disk("noatime", &attributes)).join(" ")
    };
    assert_eq!(cache("write back", "0"), "volatile-write-cache");
    assert_eq!(cache("write back", "1"), "");
    assert_eq!(cache("write through", "0"), "");
    assert_eq!(cache("write back", ""), "");
}

#[test]
fn alignment() {
    let with_start = |start: &str, physical: &str| {
        let fixture = Fixture::new();
        let disk = "pci0000:00/block/sda";
        fixture.block(disk, "8:0", &[("queue/physical_block_size", physical)]);
        let attributes = [("partition", "1"), ("start", start)];
        fixture.block(&format!("{disk}/sda1"), "8:1", &attributes);
        let storage = fixture.storage("/dev/sda1", TargetKind::BlockDevice, (8, 1));
        codes(&storage).join(" ")
    };
    assert_eq!(with_start("2048", "512"), "");
    assert_eq!(with_start("63", "512"), "partition-misaligned");
    assert_eq!(with_start("64", "512"), "partition-not-on-mib");
    assert_eq!(with_start("64", "65536"), "partition-misaligned");
    assert_eq!(with_start("64", "0"), "partition-not-on-mib");
    assert_eq!(with_start("4096", "unsupported"), "");
}

#[test]
fn the_most_serious_comes_first() {
    let attributes = [("queue/write_cache", "write back"), ("queue/fua", "0")];
    let storage = on_disk("ro,data=journal", &attributes);
    let expected = ["read-only", "data-journal", "volatile-write-cache"];
    assert_eq!(codes(&storage), expected);
}
