//! Where it was measured: the machine, and the storage under each target.

use inspect::{Device, Finding, Severity, Storage};
use results::Assessment;

use super::Fact;
use crate::words;

pub(crate) struct StorageView {
    pub(crate) target: String,
    pub(crate) facts: Vec<Fact>,
    pub(crate) devices: Vec<DeviceView>,
    pub(crate) findings: Vec<FindingView>,
}

pub(crate) struct DeviceView {
    pub(crate) name: String,
    pub(crate) facts: Vec<Fact>,
}

pub(crate) struct FindingView {
    pub(crate) class: &'static str,
    pub(crate) severity: &'static str,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) remedy: String,
}

pub(crate) fn host(a: &Assessment) -> Vec<Fact> {
    let Some(host) = &a.environment.host else { return Vec::new() };
    let memory = format!(
        "{}, {} of it available",
        words::size(host.memory_bytes),
        words::size(host.memory_available_bytes)
    );
    let mut facts = vec![
        Fact::new("Host", words::clean(&host.hostname)),
        Fact::new("Operating system", words::clean(&host.os)),
        Fact::new("Kernel", words::clean(&host.kernel)),
        Fact::new(
            "Processor",
            format!("{} ({} logical)", words::clean(&host.cpu_model), host.cpus),
        ),
        Fact::new("Memory", memory),
    ];
    let mut add = |name, value: &Option<String>| {
        if let Some(value) = value {
            facts.push(Fact::new(name, words::clean(value)));
        }
    };
    add("Virtual machine on", &host.virtualization);
    add("Clock source", &host.clocksource);
    facts
}

pub(crate) fn storage(a: &Assessment) -> Vec<StorageView> {
    a.environment.storage.iter().map(view).collect()
}

fn view(s: &Storage) -> StorageView {
    let mut facts = Vec::new();
    if s.path != s.target {
        facts.push(Fact::new("Path", words::path(&s.path)));
    }
    if let Some(fs) = &s.file_system {
        let space = format!(
            "{}, {} used, {} available",
            words::size(fs.total_bytes),
            words::percent(Some(fs.used_percent)),
            words::size(fs.available_bytes)
        );
        let source = words::clean(&fs.source);
        let place =
            format!("{} on {} ({source})", words::clean(&fs.kind), words::path(&fs.mount_point));
        facts.push(Fact::new("File system", place));
        facts.push(Fact::new("Mount options", words::clean(&fs.options.join(", "))));
        facts.push(Fact::new("Allocation unit", words::size(fs.block_bytes)));
        facts.push(Fact::new("Space", space));
    }
    if let Some(partition) = &s.partition {
        let name = words::clean(&partition.name);
        let text = format!(
            "{name}, starts at {} ({} B), {} long",
            words::size(partition.start_bytes),
            words::count(partition.start_bytes),
            words::size(partition.size_bytes)
        );
        facts.push(Fact::new("Partition", text));
    }
    if !s.layers.is_empty() {
        facts.push(Fact::new("Layers", words::clean(&s.layers.join(" → "))));
    }
    if let Some(counted) = &s.counted_device {
        facts.push(Fact::new("Counters of", words::clean(counted)));
    }
    StorageView {
        target: words::path(&s.target),
        facts,
        devices: s.devices.iter().map(device).collect(),
        findings: s.findings.iter().map(finding).collect(),
    }
}

fn device(d: &Device) -> DeviceView {
    let mut facts = Vec::new();
    let mut text = |name, value: &Option<String>| {
        if let Some(value) = value {
            facts.push(Fact::new(name, words::clean(value)));
        }
    };
    text("Transport", &d.transport);
    text("Firmware", &d.firmware);
    text("Serial number", &d.serial);
    text("Driver", &d.driver);
    text("Scheduler", &d.scheduler);
    text("Write cache", &d.write_cache);
    let yes_no = |value: bool| if value { "yes" } else { "no" };
    if let Some(fua) = d.fua {
        facts.push(Fact::new("Forced unit access", yes_no(fua)));
    }
    if let Some(rotational) = d.rotational {
        facts.push(Fact::new("Rotating disks", yes_no(rotational)));
    }
    let mut number = |name, value: Option<u64>| {
        if let Some(value) = value {
            facts.push(Fact::new(name, words::count(value)));
        }
    };
    number("Requests a queue holds", d.nr_requests);
    number("Queue depth of the device", d.queue_depth);
    let mut size = |name, value: Option<u64>| {
        if let Some(value) = value.filter(|v| *v > 0) {
            facts.push(Fact::new(name, words::size(value)));
        }
    };
    size("Logical block", d.logical_block_bytes);
    size("Physical block", d.physical_block_bytes);
    size("Largest I/O", d.max_io_bytes);
    size("Preferred I/O", d.optimal_io_bytes);
    size("Least preferred I/O", d.minimum_io_bytes);
    DeviceView { name: words::device(d), facts }
}

fn finding(f: &Finding) -> FindingView {
    let (class, severity) = match f.severity {
        Severity::Info => ("info", "Note"),
        Severity::Warning => ("warning", "Warning"),
        Severity::Serious => ("serious", "Serious"),
    };
    FindingView {
        class,
        severity,
        code: words::clean(&f.code),
        message: words::clean(&f.message),
        remedy: f.remedy.as_deref().map(words::clean).unwrap_or_default(),
    }
}
