//! A database server with one NVMe drive.

use std::path::PathBuf;

use inspect::{Device, FileSystem, Finding, Host, Partition, Severity, Storage, TargetKind};
use results::Environment;

pub(crate) fn environment() -> Environment {
    Environment {
        host: Some(Host {
            hostname: "db01.example".to_owned(),
            os: "Debian GNU/Linux 12 (bookworm)".to_owned(),
            kernel: "6.1.0-18-amd64".to_owned(),
            cpu_model: "AMD EPYC 9354P 32-Core Processor".to_owned(),
            cpus: 64,
            memory_bytes: 256 << 30,
            memory_available_bytes: 201 << 30,
            virtualization: None,
            clocksource: Some("tsc".to_owned()),
            ..Host::default()
        }),
        storage: vec![storage()],
    }
}

fn storage() -> Storage {
    let finding = |severity, code: &str, message: &str, remedy: Option<&str>| Finding {
        remedy: remedy.map(str::to_owned),
        ..Finding::new(severity, code, message.to_owned())
    };
    Storage {
        target: PathBuf::from("/data/pg"),
        path: PathBuf::from("/data/pg"),
        kind: TargetKind::Directory,
        file_system: Some(FileSystem {
            kind: "ext4".to_owned(),
            mount_point: PathBuf::from("/data"),
            source: "/dev/nvme0n1p1".to_owned(),
            options: ["rw", "noatime", "data=ordered"].map(str::to_owned).to_vec(),
            block_bytes: 4096,
            total_bytes: 3_750_000_000_000,
            available_bytes: 2_900_000_000_000,
            used_percent: 22.7,
            read_only: false,
            ..FileSystem::default()
        }),
        partition: Some(Partition {
            name: "nvme0n1p1".to_owned(),
            number: Some(1),
            start_bytes: 1 << 20,
            size_bytes: 3_840_000_000_000,
        }),
        layers: vec!["nvme0n1p1".to_owned(), "nvme0n1".to_owned()],
        devices: vec![Device {
            name: "nvme0n1".to_owned(),
            major_minor: "259:0".to_owned(),
            size_bytes: 3_840_755_982_336,
            model: Some("SAMSUNG MZQL23T8HCLS-00A07".to_owned()),
            vendor: None,
            serial: Some("S64HNE0T000001".to_owned()),
            firmware: Some("GDC5602Q".to_owned()),
            transport: Some("nvme".to_owned()),
            rotational: Some(false),
            scheduler: Some("mq-deadline".to_owned()),
            nr_requests: Some(1023),
            queue_depth: Some(1024),
            logical_block_bytes: Some(512),
            physical_block_bytes: Some(4096),
            optimal_io_bytes: Some(131_072),
            minimum_io_bytes: Some(131_072),
            max_io_bytes: Some(131_072),
            write_cache: Some("write back".to_owned()),
            fua: Some(true),
            driver: Some("nvme".to_owned()),
            ..Device::default()
        }],
        counted_device: Some("nvme0n1".to_owned()),
        findings: vec![
            finding(
                Severity::Warning,
                "scheduler-on-nvme",
                "The scheduler mq-deadline is in use on nvme0n1, which orders its own queue.",
                Some("Set the scheduler to none: echo none > /sys/block/nvme0n1/queue/scheduler"),
            ),
            finding(
                Severity::Info,
                "io-split",
                "The kernel splits I/Os larger than 128 KiB; 512 KiB reads arrive at the device \
                 as four.",
                None,
            ),
        ],
        ..Storage::default()
    }
}
