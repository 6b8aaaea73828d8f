//! Set-ups of many machines are read as they are.

use super::fixture::Fixture;
use super::machines::{
    fc, host, iscsi, nvme, nvme_multipath, raid, sas_multipath, sata, usb, virtual_disk, volume,
};
use crate::{Inspector, LayerKind, Link, PlannedLoad, Request, Storage, TargetKind};

fn on(fixture: &Fixture, device: (u32, u32)) -> Storage {
    fixture.inspected(device, &PlannedLoad::default()).storage
}

fn link(fixture: &Fixture, device: (u32, u32)) -> Link {
    let storage = on(fixture, device);
    storage.devices.into_iter().find_map(|device| device.link).expect("there is a link")
}

#[expect(clippy::unnecessary_wraps, reason = "what is compared is wrapped")]
fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn links_of_every_bus() {
    let sata = link(&sata(&[]), (8, 0));
    let expected = Link {
        bus: "sata".into(),
        speed: text("6.0 Gbps"),
        speed_max: text("6.0 Gbps"),
        lowered: Some(0),
        ..Link::default()
    };
    assert_eq!(sata, expected);
    let nvme = link(&nvme("8.0 GT/s PCIe", "2", None), (259, 0));
    assert_eq!((nvme.bus.as_str(), nvme.lanes, nvme.lanes_max), ("pcie", Some(2), Some(4)));
    let sas = link(&sas_multipath(&[("running", "1")]), (253, 0));
    assert_eq!((sas.speed, sas.lanes), (text("12.0 Gbit"), Some(1)));
    assert_eq!(sas.remote_port, text("0x500c0ff123456789"));
    let fc = link(&fc("8 Gbit", "64"), (8, 0));
    assert_eq!((fc.speed, fc.speed_max), (text("8 Gbit"), text("16 Gbit")));
    assert_eq!(fc.local_port, text("0x21000024ff000001"));
    assert_eq!((fc.remote_port, fc.state), (text("0x500a098200000002"), text("Online")));
    let iscsi = link(&iscsi(), (8, 0));
    assert_eq!(
        (iscsi.remote_port, iscsi.address),
        (text("iqn.2026-01.example:lun"), text("192.0.2.7"))
    );
    let usb = link(&usb("480"), (8, 0));
    assert_eq!((usb.speed, usb.speed_max), (text("480 Mbit/s"), text("5000 Mbit/s")));
}

#[test]
fn a_device_says_what_it_is_on() {
    let storage = on(&nvme("8.0 GT/s PCIe", "4", None), (259, 0));
    let device = &storage.devices[0];
    assert_eq!(device.cloud.as_deref(), Some("Amazon EBS"));
    assert_eq!((device.queues, device.numa_node), (Some(2), Some(1)));
    assert_eq!(device.wwn.as_deref(), Some("nvme.1d0f-766f6c"));
    assert_eq!(device.state.as_deref(), Some("live"));
}

#[test]
fn paths_of_both_kinds_of_multipath() {
    let storage = on(&sas_multipath(&[("running", "1"), ("offline", "1")]), (253, 0));
    let top = &storage.chain[0];
    assert_eq!((top.kind, top.label.as_deref()), (LayerKind::Multipath, Some("mpatha")));
    let paths: Vec<_> = top.paths.iter().map(|p| (p.name.as_str(), p.state.as_str())).collect();
    assert_eq!(paths, [("sda", "running"), ("sdb", "offline")]);
    assert_eq!(top.paths[1].address.as_deref(), Some("1:0:0:1"));
    assert_eq!(storage.chain.iter().map(|l| l.level).collect::<Vec<_>>(), [0, 1, 1]);

    let storage = on(&nvme_multipath(&[("live", "1"), ("live", "1")]), (259, 0));
    let top = &storage.chain[0];
    assert_eq!((top.kind, top.policy.as_deref()), (LayerKind::Multipath, Some("round-robin")));
    assert_eq!(top.paths[1].name, "nvme1");
    assert_eq!(top.paths[1].access.as_deref(), Some("optimized"));
    let device = &storage.devices[0];
    assert_eq!((device.model.as_deref(), device.queue_depth), (Some("Shared NVMe"), Some(127)));
    assert_eq!(device.transport.as_deref(), Some("nvme"));
}

#[test]
fn the_geometry_of_a_raid() {
    let storage = on(&raid("raid5", &[("raid_disks", "3 (2)")], "relatime"), (9, 0));
    let raid = storage.chain[0].raid.as_ref().unwrap();
    assert_eq!((raid.level.as_str(), raid.devices), ("raid5", 3));
    assert_eq!((raid.chunk_bytes, raid.stripe_bytes), (Some(512 << 10), Some(1 << 20)));
    assert_eq!((raid.consistency.as_deref(), raid.bitmap.as_deref()), (Some("bitmap"), Some("+8")));
    let members: Vec<&str> = raid.members.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(members, ["sda", "sdb", "sdc"]);
    let mirror = on(&super::machines::raid("raid1", &[], "relatime"), (9, 0));
    assert_eq!(mirror.chain[0].raid.as_ref().unwrap().stripe_bytes, None);
}

#[test]
fn volumes_of_every_kind() {
    let kind = |fixture: &Fixture| on(fixture, (253, 0)).chain[0].kind;
    let between = |name, uuid| kind(&volume("LVM-aaaa", &[], Some((name, uuid))));
    assert_eq!(kind(&volume("LVM-aaaa", &[], None)), LayerKind::Linear);
    let stripes = [("queue/minimum_io_size", "65536"), ("queue/optimal_io_size", "131072")];
    assert_eq!(kind(&volume("LVM-striped", &stripes, None)), LayerKind::Striped);
    assert_eq!(kind(&volume("LVM-striped", &[], None)), LayerKind::Linear);
    assert_eq!(between("vg-p-tpool", "LVM-b-tpool"), LayerKind::Thin);
    assert_eq!(between("vg-lv_rimage_0", "LVM-b"), LayerKind::Raid);
    assert_eq!(between("vg-lv_mimage_0", "LVM-b"), LayerKind::Mirror);
    assert_eq!(kind(&volume("CRYPT-LUKS2", &[], None)), LayerKind::Crypt);
    assert_eq!(kind(&volume("something", &[], None)), LayerKind::Mapped);
    let bcache = virtual_disk("bcache0", &[("bcache/cache_mode", "writethrough [writeback] none")]);
    let storage = on(&bcache, (252, 0));
    assert_eq!(storage.chain[0].cache_mode.as_deref(), Some("writeback"));
}

#[test]
fn settings_of_the_kernel() {
    let fixture = host(&[
        ("proc/sys/vm/swappiness", "60"),
        ("proc/sys/vm/dirty_ratio", "20"),
        ("proc/sys/vm/dirty_bytes", "0"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
        ("sys/devices/system/node/online", "0-1"),
    ]);
    let settings = Inspector::with_root(fixture.root()).host().settings.unwrap();
    assert_eq!((settings.swappiness, settings.dirty_ratio_percent), (Some(60), Some(20)));
    assert_eq!((settings.dirty_bytes, settings.numa_nodes), (None, Some(2)));
    assert_eq!(settings.transparent_huge_pages.as_deref(), Some("madvise"));
    assert_eq!(settings.swap, ["/dev/sda"]);
}

#[test]
fn file_systems_tell_their_journals() {
    let journal = |kind: &str, options: &str, task: Option<&str>| {
        let mut fixture = sata(&[]);
        if let Some(task) = task {
            fixture.write("sys/fs/ext4/sda/journal_task", task);
        }
        fixture.mountinfo(b"");
        fixture.mount(&format!("8:0 / /x rw,noatime - {kind} /dev/sda {options}"));
        on(&fixture, (8, 0)).file_system.unwrap().journal.unwrap_or_default()
    };
    assert_eq!(journal("ext4", "rw", Some("99")), "ordered");
    assert_eq!(journal("ext4", "rw,data=writeback", None), "writeback");
    assert_eq!(journal("ext4", "rw", Some("<none>\n")), "none");
    assert_eq!(journal("xfs", "rw", None), "metadata");
    assert_eq!(journal("btrfs", "rw", None), "");
}

/// All disks of a machine; the mounted ones are those of the running system, of which the tree
/// knows none.
#[test]
fn without_targets_all_disks_are_inspected() {
    let fixture = sata(&[]);
    fixture.block("virtual/block/loop0", "7:0", &[("size", "0")]);
    let dir = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    for (number, start) in [("2", "4096"), ("1", "63")] {
        let attributes = [("partition", number), ("start", start), ("size", "8")];
        fixture.block(&format!("{dir}/sda{number}"), &format!("8:{number}"), &attributes);
    }
    let inspection = Inspector::with_root(fixture.root()).inspection(&Request::default()).unwrap();
    assert_eq!(inspection.targets.len(), 1);
    let target = &inspection.targets[0];
    assert_eq!(
        (target.storage.kind, target.storage.path.to_str()),
        (TargetKind::BlockDevice, Some("/dev/sda"))
    );
    let starts: Vec<u64> =
        target.disks[0].partitions.iter().map(|partition| partition.start_bytes).collect();
    assert_eq!(starts, [63 * 512, 4096 * 512]);
    // All findings are in one list, which once was empty.
    assert!(target.storage.findings.is_empty() && inspection.host.findings.is_empty());
    let first = &inspection.findings[0];
    assert_eq!(
        (first.code.as_str(), first.target.as_deref()),
        ("partition-misaligned", Some("/dev/sda"))
    );
    assert!(first.why.is_some());
    assert!(!inspection.privileged);
    assert!(
        inspection.hidden.iter().any(|text| text.contains("smartctl")),
        "{:?}",
        inspection.hidden
    );
    let json = serde_json::to_string(&inspection).unwrap();
    assert_eq!(serde_json::from_str::<crate::Inspection>(&json).unwrap(), inspection);
}

#[test]
fn the_running_system_can_be_inspected() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let request = Request { targets: vec![directory.path().into(), file], ..Request::default() };
    let inspection = Inspector::new().inspection(&request).unwrap();
    assert_eq!(inspection.targets.len(), 2);
    assert!(inspection.host.settings.is_some());
    let all = Inspector::new().inspection(&Request::default()).unwrap();
    assert_eq!(all.schema, "iosonde.inspection/1");
    let missing = Request { targets: vec!["/no/such/thing".into()], ..Request::default() };
    assert!(Inspector::new().inspection(&missing).is_err());
}

/// A document of a version that knew less.
#[test]
fn older_documents_can_be_read() {
    let old = r#"{"target":"/d","path":"/d","kind":"directory","file_system":{"kind":"xfs","mount_point":"/d",
        "source":"/dev/sda","options":["rw"],"block_bytes":4096,"total_bytes":1,"available_bytes":1,
        "used_percent":0.0,"read_only":false},"partition":null,"layers":["sda"],"devices":[{"name":"sda",
        "major_minor":"8:0","size_bytes":1,"model":null,"vendor":null,"serial":null,"firmware":null,
        "transport":null,"rotational":null,"scheduler":null,"nr_requests":null,"queue_depth":null,
        "logical_block_bytes":null,"physical_block_bytes":null,"optimal_io_bytes":null,"minimum_io_bytes":null,
        "max_io_bytes":null,"write_cache":null,"fua":null,"driver":null}],"counted_device":"sda",
        "findings":[{"severity":"info","code":"c","message":"m","remedy":null}]}"#;
    let storage: Storage = serde_json::from_str(old).unwrap();
    assert_eq!((storage.chain.len(), storage.findings[0].evidence.len()), (0, 0));
    // Unknown values are not written, so a document comes out as it went in.
    let again = serde_json::to_value(&storage).unwrap();
    assert_eq!(again, serde_json::from_str::<serde_json::Value>(old).unwrap());
}
