//! Measurements and results to keep.

use history::NewExperiment;
use inspect::{Device, FileSystem, Finding, Host, Partition, Severity, Storage, TargetKind};
use results::{
    Document, Environment, Experiment, Latency, Measurement, Point, Runs, Statistics, StreamResult,
};
use workload::{Stream, Target, Workload};

pub(crate) fn measurement(id: &str) -> Measurement {
    let target = Target { path: "sim".into(), size_bytes: None };
    Measurement {
        total: Statistics { ios: 7, iops: 0.1 + 0.2, ..Statistics::default() },
        ..testing::measurement(id, Workload::single(target, Stream::default()))
    }
}

pub(crate) fn new<'a>(id: &'a str, plan_id: &'a str, started: &'a str) -> NewExperiment<'a> {
    let (schema, kind, title, plan) = ("iosonde.sweep/1", "sweep", "a sweep", "{\"cells\":3}");
    NewExperiment { id, schema, kind, title, started, plan_id, plan }
}

/// A measurement with everything that has a separate table.
pub(crate) fn full(id: &str, iops: f64) -> Measurement {
    let total = statistics(iops, "SElTVA==");
    let point = |n: u32| Point {
        t: f64::from(n) + 0.1,
        seconds: 1.0,
        read_iops: iops * 1.1,
        read_mean_ns: Some(1e9 / 3.0),
        read_p99_ns: Some(u64::from(n)),
        ..Point::default()
    };
    Measurement {
        tool_version: "1.2.3".to_owned(),
        environment: environment(),
        total: total.clone(),
        read: total.clone(),
        streams: vec![StreamResult {
            name: "main".to_owned(),
            threads: 1,
            depth: 1,
            rate_reached_percent: None,
            total,
            read: statistics(iops, "b3RoZXI="),
            write: Statistics::default(),
            sync: Statistics::default(),
        }],
        series: (0..20).map(point).collect(),
        warmup_series: (0..3).map(point).collect(),
        warmed: None,
        ..measurement(id)
    }
}

fn statistics(iops: f64, histogram: &str) -> Statistics {
    let latency = Latency {
        min: Some(90_000),
        mean: 1e6 / 7.0,
        max: Some(2_000_000),
        p50: Some(1),
        ..Latency::default()
    };
    Statistics {
        ios: 1000,
        bytes: 8_192_000,
        iops,
        mib_per_s: iops / 128.0,
        latency_ns: Some(latency),
        histogram: Some(histogram.to_owned()),
        ..Statistics::default()
    }
}

/// A host with one disk.
pub(crate) fn environment() -> Environment {
    let text = |text: &str| text.to_owned();
    let some = |text: &str| Some(text.to_owned());
    Environment {
        host: Some(Host {
            hostname: text("db1"),
            os: text("Debian GNU/Linux 13 (trixie)"),
            kernel: text("6.12.0"),
            cpu_model: text("a CPU"),
            cpus: 8,
            memory_bytes: 32 << 30,
            memory_available_bytes: 17 << 30,
            virtualization: None,
            clocksource: some("tsc"),
            ..Host::default()
        }),
        storage: vec![Storage {
            target: "/data".into(),
            path: "/data".into(),
            kind: TargetKind::Directory,
            file_system: Some(FileSystem {
                kind: text("xfs"),
                mount_point: "/data".into(),
                source: text("/dev/nvme0n1p1"),
                options: vec![text("rw"), text("noatime")],
                block_bytes: 4096,
                total_bytes: 1 << 40,
                available_bytes: 1 << 39,
                used_percent: 50.1,
                read_only: false,
                ..FileSystem::default()
            }),
            partition: Some(Partition {
                name: text("nvme0n1p1"),
                number: Some(1),
                start_bytes: 1 << 20,
                size_bytes: 1 << 40,
            }),
            layers: vec![text("nvme0n1p1"), text("nvme0n1")],
            devices: vec![device()],
            counted_device: some("nvme0n1"),
            findings: vec![Finding::new(Severity::Info, "half-full", text("It is half full."))],
            ..Storage::default()
        }],
    }
}

fn device() -> Device {
    let some = |text: &str| Some(text.to_owned());
    Device {
        name: "nvme0n1".to_owned(),
        major_minor: "259:0".to_owned(),
        size_bytes: 2 << 40,
        model: some("Fast 9000"),
        vendor: some("Maker"),
        serial: some("S123"),
        firmware: some("F7"),
        transport: some("nvme"),
        rotational: Some(false),
        scheduler: some("none"),
        nr_requests: Some(1023),
        queue_depth: Some(1024),
        logical_block_bytes: Some(512),
        physical_block_bytes: Some(4096),
        optimal_io_bytes: None,
        minimum_io_bytes: Some(4096),
        max_io_bytes: Some(1 << 17),
        write_cache: some("write back"),
        fua: Some(true),
        driver: some("nvme"),
        ..Device::default()
    }
}

/// Several runs of one load as a result.
pub(crate) fn runs(id: &str, started: &str, measurements: Vec<Measurement>) -> Document {
    let figures: Vec<f64> = measurements.iter().map(|m| m.total.iops).collect();
    let conclusion = Runs {
        title: "8 KiB random read".to_owned(),
        asked: 3,
        trust: survey::Publish::publish(analysis::noise::trust(&figures, None)),
    };
    Document::Runs(Box::new(Experiment {
        plan: None,
        tool_version: "1.2.3".to_owned(),
        finished: "2026-11-21T13:00:00Z".to_owned(),
        environment: environment(),
        measurements,
        method: vec!["It was measured.".to_owned()],
        ..testing::experiment(id, started, conclusion)
    }))
}
