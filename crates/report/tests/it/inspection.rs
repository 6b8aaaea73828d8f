//! The text of an inspection, and its copy without names.

use inspect::{
    Device, Disk, Extents, FileSystem, Finding, Health, Host, Inspected, Inspection, Layer,
    LayerKind, Link, Partition, Raid, Settings, Severity, Storage, StoragePath, TargetKind,
};
use proptest::prelude::*;

fn partition(name: &str, start_bytes: u64) -> Partition {
    Partition { name: name.into(), number: Some(1), start_bytes, size_bytes: 1 << 30 }
}

fn device() -> Device {
    Device {
        name: "sda".into(),
        size_bytes: 4 << 40,
        model: Some("Array".into()),
        serial: Some("SERIAL-77".into()),
        wwn: Some("naa.600c0ff00".into()),
        transport: Some("fc".into()),
        link: Some(Link {
            bus: "fc".into(),
            speed: Some("8 Gbit".into()),
            speed_max: Some("16 Gbit".into()),
            local_port: Some("0x21000024ff000001".into()),
            remote_port: Some("0x500a098200000002".into()),
            ..Link::default()
        }),
        queue_depth: Some(32),
        ..Device::default()
    }
}

fn chain() -> Vec<Layer> {
    let path = |name: &str, state: &str| StoragePath {
        name: name.into(),
        state: state.into(),
        address: Some("traddr=10.1.2.3,trsvcid=4420".into()),
        access: None,
    };
    let raid = Raid { level: "raid5".into(), devices: 3, degraded: Some(1), ..Raid::default() };
    vec![
        Layer { name: "md0".into(), kind: LayerKind::Raid, raid: Some(raid), ..Layer::default() },
        Layer {
            name: "dm-0".into(),
            level: 1,
            kind: LayerKind::Multipath,
            label: Some("acme-payroll".into()),
            paths: vec![path("sda", "running"), path("sdb", "offline")],
            ..Layer::default()
        },
        Layer { name: "sda".into(), level: 2, size_bytes: 4 << 40, ..Layer::default() },
    ]
}

fn sample() -> Inspection {
    let findings = vec![
        Finding::new(Severity::Serious, "raid-degraded", "md0 at /srv/acme lacks one.".into())
            .remedy("Add one.")
            .command("mdadm /dev/md0 --add /dev/DEVICE")
            .evidence("/sys/class/block/md0/md/degraded", 1),
        Finding::new(Severity::Info, "io-split", "A note about sda.".into()),
    ];
    let storage = Storage {
        target: "/srv/acme".into(),
        path: "/srv/acme".into(),
        file_system: Some(FileSystem {
            kind: "xfs".into(),
            mount_point: "/srv/acme".into(),
            source: "/dev/mapper/acme-payroll".into(),
            block_bytes: 4096,
            ..FileSystem::default()
        }),
        layers: vec!["md0".into(), "dm-0".into(), "sda".into()],
        devices: vec![device()],
        chain: chain(),
        ..Storage::default()
    };
    let health =
        Health { critical: vec!["too hot".into()], used_percent: Some(97), ..Health::default() };
    let disk = Disk {
        name: "sda".into(),
        partitions: vec![partition("sda1", 63 * 512), partition("sda2", 1 << 20)],
        health: Some(health),
        interrupts: vec![900, 2],
    };
    let extents =
        Extents { file_bytes: 1 << 20, pieces: 3, hole_bytes: 4096, ..Extents::default() };
    Inspection {
        schema: inspect::INSPECTION_SCHEMA.into(),
        tool_version: "0.1.0".into(),
        made: "2026-11-22T00:00:00Z".into(),
        privileged: false,
        host: Host {
            hostname: "db01.acme.example".into(),
            settings: Some(Settings { swappiness: Some(60), ..Settings::default() }),
            ..Host::default()
        },
        clock_synchronised: Some(true),
        targets: vec![Inspected { storage, extents: Some(extents), disks: vec![disk] }],
        findings,
        hidden: vec!["Serial numbers can only be read by root.".into()],
    }
}

#[test]
fn the_chain_is_a_tree_and_partitions_are_a_table() {
    let text = report::text::inspection(&sample());
    for part in [
        "db01.acme.example",
        "swappiness 60",
        "/srv/acme\n  xfs on /srv/acme",
        "a file of 1 MiB in 3 pieces, 4 KiB in holes",
        "  └─ md0 RAID",
        "raid5 of 3 devices, 1 MISSING",
        "     └─ dm-0 multipath",
        "path sdb offline",
        "        └─ sda disk, 4 TiB",
        "serial SERIAL-77",
        "fc at 8 Gbit of 16 Gbit",
        "FAILING, 97 % of its life used",
        "interrupts on 1 processor",
        "StartingOffset (KiB)",
        "Not seen:\n  - Serial numbers",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let row = |name: &str| text.lines().find(|l| l.contains(name) && l.contains("512 B")).is_some();
    assert!(row("sda1") && !row("sda2"), "{text}");
    assert!(text.contains("31.5") && text.contains("1 024"), "{text}");
}

/// What only Windows has: columns of Storage Spaces, the settings of a driver, filters.
#[test]
fn a_server_of_windows_has_its_own_facts() {
    let mut sample = sample();
    let storage = &mut sample.targets[0].storage;
    let raid = storage.chain[0].raid.as_mut().unwrap();
    *raid = Raid {
        level: "Storage Spaces mirror".into(),
        devices: 4,
        columns: Some(2),
        state: Some("healthy".into()),
        ..Raid::default()
    };
    storage.devices[0].adapter_queue_depth = Some(1000);
    storage.devices[0].driver_settings = vec!["NumberOfRequests=254".into()];
    let filters = vec!["WdFilter (anti-virus)".into(), "Wof".into()];
    sample.host.settings = Some(Settings { filters, ..Settings::default() });
    let text = report::text::inspection(&sample);
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "Storage Spaces mirror of 4 devices, 2 columns, healthy",
        "queue depth 32, adapter's depth 1000, NumberOfRequests=254",
        "file system filters: WdFilter (anti-virus), Wof",
    ] {
        assert!(unwrapped.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn the_worst_finding_comes_first_with_its_evidence_and_command() {
    let text = report::text::inspection(&sample());
    let (worst, note) = (text.find("SERIOUS raid-degraded"), text.find("note io-split"));
    assert!(worst.is_some() && worst < note, "{text}");
    assert!(text.contains("1 serious, 0 warnings, 1 note"), "{text}");
    assert!(text.contains("\n    $ mdadm /dev/md0 --add /dev/DEVICE\n"), "{text}");
    assert!(text.contains("seen: /sys/class/block/md0/md/degraded = 1"), "{text}");
    let mut well = sample();
    well.findings.clear();
    assert!(report::text::inspection(&well).contains("There are no findings"));
}

#[test]
fn what_is_not_there_yet_is_told() {
    let mut inspection = sample();
    inspection.targets[0].storage.kind = TargetKind::Missing;
    assert!(report::text::inspection(&inspection).contains("/srv/acme (not there yet"));
}

#[test]
fn a_redacted_copy_has_no_names() {
    let mut sample = sample();
    let message = "SQL Server's service MSSQL$PAYSLIPS does not hold the right.".to_owned();
    let of_host = Finding::new(Severity::Warning, "instant-file-initialisation", message);
    sample.findings.push(of_host);
    let limit = Finding::new(Severity::Warning, "cgroup-io-limit", "Limited.".to_owned());
    let place = "/sys/fs/cgroup/blkio/billing-contoso/blkio.throttle.read_iops_device";
    sample.findings.push(limit.evidence(place, "8:0 200"));
    let redacted = report::redact::redact_inspection(&sample).unwrap();
    let json = serde_json::to_string(&redacted).unwrap();
    let text = report::text::inspection(&redacted);
    for secret in [
        "db01",
        "acme",
        "SERIAL-77",
        "600c0ff00",
        "21000024ff000001",
        "500a098200000002",
        "10.1.2.3",
        "payroll",
        "PAYSLIPS",
        "contoso",
    ] {
        assert!(!json.contains(secret) && !text.contains(secret), "{secret} in {json}");
    }
    assert!(json.contains("\"sda\"") && json.contains("raid-degraded"), "{json}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_texts_and_numbers_are_survived(texts in prop::collection::vec(any::<String>(), 9),
        n in any::<u64>()) {
        let mut i = sample();
        let text = |at: usize| texts[at].clone();
        i.host.hostname = text(0);
        let target = &mut i.targets[0];
        target.storage.path = text(1).into();
        target.storage.devices[0].model = Some(text(2));
        target.storage.chain[0].name = text(3);
        target.storage.chain[0].level = u32::try_from(n % (1 << 32)).unwrap();
        target.storage.chain[1].label = Some(text(4));
        target.disks[0].partitions[0].start_bytes = n;
        target.disks[0].interrupts = vec![n, n];
        target.extents.as_mut().unwrap().pieces = n;
        i.findings[0].message = text(5);
        i.findings[1].command = Some(text(6));
        i.hidden = vec![text(7)];
        let shown = report::text::inspection(&i);
        prop_assert!(!shown.contains('\u{1b}'), "{shown:?}");
        report::redact::redact_inspection(&i).unwrap();
    }
}
