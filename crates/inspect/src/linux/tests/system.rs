//! Hosts, hostile files, and the system the tests run on.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::fixture::Fixture;
use crate::{Host, InspectError, Inspector, Storage, TargetKind};

#[test]
fn a_host() {
    let fixture = Fixture::new();
    fixture.write("proc/sys/kernel/hostname", "db1\n");
    fixture.write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    fixture.write("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
    let cpu = "processor\t: 0\nmodel name\t: Fast CPU @ 3GHz\nflags\t\t: fpu hypervisor sse\n";
    fixture.write("proc/cpuinfo", cpu);
    fixture.write("sys/devices/system/cpu/online", "0-7\n");
    fixture.write("proc/meminfo", "MemTotal:  16 kB\nMemAvailable:  8 kB\n");
    fixture.write("sys/class/dmi/id/sys_vendor", "QEMU\n");
    let clock = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    fixture.write(clock, "kvm-clock\n");
    let expected = Host {
        hostname: "db1".into(),
        os: "Debian GNU/Linux 12".into(),
        kernel: "6.1.0-18-amd64".into(),
        cpu_model: "Fast CPU @ 3GHz".into(),
        cpus: 8,
        memory_bytes: 16_384,
        memory_available_bytes: 8_192,
        virtualization: Some("QEMU".into()),
        clocksource: Some("kvm-clock".into()),
        product: Some("QEMU".into()),
        settings: None,
        findings: Vec::new(),
    };
    assert_eq!(Inspector::with_root(fixture.root()).host(), expected);
}

#[test]
fn hypervisors() {
    let name = |vendor: &str, product: &str, flags: &str| {
        let fixture = Fixture::new();
        fixture.write("sys/class/dmi/id/sys_vendor", vendor);
        fixture.write("sys/class/dmi/id/product_name", product);
        fixture.write("proc/cpuinfo", format!("flags : {flags}\n"));
        let host = Inspector::with_root(fixture.root()).host();
        host.virtualization.unwrap_or_default()
    };
    assert_eq!(name("Amazon EC2", "m5.large", "hypervisor"), "Amazon EC2");
    assert_eq!(name("Amazon EC2", "m5.metal", "fpu"), "");
    assert_eq!(name("Microsoft Corporation", "Virtual Machine", ""), "Hyper-V");
    assert_eq!(name("Microsoft Corporation", "Surface Laptop", ""), "");
    assert_eq!(name("VMware, Inc.", "VMware7,1", "hypervisor"), "VMware");
    assert_eq!(name("Dell Inc.", "PowerEdge R740", "fpu"), "");
    assert!(name("", "", "hypervisor").contains("no name"));
}

#[test]
fn a_host_that_says_nothing() {
    let host = Inspector::with_root(Path::new("/nowhere-at-all")).host();
    assert_eq!((host.hostname.as_str(), host.cpus), ("unknown", 0));
    let fixture = Fixture::new();
    for path in [
        "proc/sys/kernel/hostname",
        "etc/os-release",
        "proc/cpuinfo",
        "proc/meminfo",
        "sys/devices/system/cpu/online",
        "sys/class/dmi/id/sys_vendor",
    ] {
        fixture.write(path, b"\xff\xfe\0:\n=-,:9999999999999999999999 kB\n");
    }
    let host = Inspector::with_root(fixture.root()).host();
    assert_eq!((host.os.as_str(), host.memory_bytes), ("unknown", 0));
}

#[test]
fn hostile_attributes() {
    let dir = "pci0000:00/block/sda";
    let files = [
        "size",
        "start",
        "device/model",
        "device/queue_depth",
        "device/vpd_pg80",
        "queue/rotational",
        "queue/scheduler",
        "queue/nr_requests",
        "queue/physical_block_size",
        "queue/max_sectors_kb",
        "queue/write_cache",
        "queue/fua",
    ];
    let contents: [&[u8]; 6] =
        [b"", b"\n", b"\xff\xfe\x00\x80", b"unsupported\n", b"18446744073709551615\n", b"-1\n"];
    for content in contents {
        let mut fixture = Fixture::new();
        fixture.block(dir, "8:0", &[]);
        fixture.block(&format!("{dir}/sda1"), "8:1", &[("partition", "x")]);
        for file in files {
            fixture.write(&format!("sys/devices/{dir}/{file}"), content);
            fixture.write(&format!("sys/devices/{dir}/sda1/{file}"), content);
        }
        fixture.mountinfo(b"1 2 8:1 / / rw - \xff\xfe /dev/\xff ro\n\0\0");
        let storage = fixture.storage("/", TargetKind::Directory, (8, 1));
        assert_eq!(storage.layers, ["sda1", "sda"]);
        let device = &storage.devices[0];
        assert_eq!((&device.write_cache, device.rotational), (&None, None));
        assert_eq!(storage.partition.unwrap().number, None);
    }
}

#[test]
fn paths_that_are_not_utf8_can_still_be_stored() {
    let mut fixture = Fixture::new();
    fixture.mountinfo(b"1 2 0:50 / /\xff rw - tmpfs tmpfs rw\n");
    let mut storage = fixture.storage("/", TargetKind::Directory, (0, 50));
    assert_eq!(storage.file_system, None);
    storage.path = PathBuf::from(OsStr::from_bytes(b"/\xff/dir"));
    let json = serde_json::to_string(&storage).unwrap();
    let back: Storage = serde_json::from_str(&json).unwrap();
    assert_eq!(back.path, Path::new("/\u{fffd}/dir"));
    let schema = schemars::schema_for!(Storage);
    assert_eq!(schema.get("title").unwrap(), "Storage");
}

#[test]
fn targets_of_the_running_system() {
    let inspector = Inspector::new();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let storage = inspector.storage(&file).unwrap();
    assert_eq!(storage.kind, TargetKind::Missing);
    assert_eq!(storage.path, directory.path().canonicalize().unwrap().join("file"));
    fs::write(&file, "x").unwrap();
    let storage = inspector.storage(&file).unwrap();
    assert_eq!(storage.kind, TargetKind::File);
    assert!(storage.file_system.unwrap().total_bytes > 0);
    let storage = inspector.storage(directory.path()).unwrap();
    assert_eq!(storage.kind, TargetKind::Directory);
    let storage = inspector.storage(Path::new("/dev/null")).unwrap();
    assert_eq!(storage.kind, TargetKind::CharDevice);
    assert!(inspector.host().cpus > 0);

    let missing = inspector.storage(&directory.path().join("no/file"));
    assert!(matches!(missing, Err(InspectError::Missing { .. })));
    let below_file = inspector.storage(&file.join("x"));
    assert!(matches!(below_file, Err(InspectError::Unreadable { .. })));
    let socket = directory.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let error = inspector.storage(&socket).unwrap_err();
    assert!(matches!(error, InspectError::NotStorage { .. }), "{error}");
}
