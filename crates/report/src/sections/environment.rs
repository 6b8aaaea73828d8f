//! Where it was measured: the machine, and the storage under each target.

use inspect::{Device, Finding, Settings, Severity, Storage};
use results::Environment;

use super::make::fact;
use crate::language::say;
use crate::model::{Block, Fact, Section};
use crate::words;

/// The section; it says so where nothing is known.
pub(super) fn section_of(environment: &Environment) -> Vec<Block> {
    let mut blocks = match host(environment) {
        facts if facts.is_empty() => vec![Block::Paragraph("The host is not known.".to_owned())],
        facts => vec![Block::Facts(facts)],
    };
    if let Some(host) = environment.host.as_ref().filter(|host| !host.findings.is_empty()) {
        blocks.extend(findings(&host.findings));
    }
    for storage in &environment.storage {
        blocks.push(Block::Facts(facts(storage)));
        blocks.extend(storage.devices.iter().map(|d| Block::Facts(device(d))));
        blocks.extend(findings(&storage.findings));
    }
    blocks
}

/// The host, the storage and what was found about its set-up.
pub(super) fn section(environment: &Environment) -> Option<Section> {
    super::make::section("environment", say!("heading-environment"), section_of(environment))
}

fn host(environment: &Environment) -> Vec<Fact> {
    let Some(host) = &environment.host else { return Vec::new() };
    // Another tool told its name and nothing else.
    if host.cpus == 0 && host.memory_bytes == 0 {
        return vec![fact(say!("label-host"), words::clean(&host.hostname))];
    }
    let memory = format!(
        "{}, {} of it available",
        words::size(host.memory_bytes),
        words::size(host.memory_available_bytes)
    );
    let mut facts = vec![
        fact(say!("label-host"), words::clean(&host.hostname)),
        fact(say!("label-operating-system"), words::clean(&host.os)),
        fact(say!("label-kernel"), words::clean(&host.kernel)),
        fact(say!("label-processor"), format!("{} ({} logical)", words::clean(&host.cpu_model), host.cpus)),
        fact(say!("label-memory"), memory),
    ];
    let mut add = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            facts.push(fact(name, words::clean(value)));
        }
    };
    add("Virtual machine on", &host.virtualization);
    add("Clock source", &host.clocksource);
    add("Machine", &host.product);
    if let Some(settings) = &host.settings {
        facts.extend(self::settings(settings));
    }
    facts
}

/// Settings of the kernel that storage depends on.
fn settings(s: &Settings) -> Vec<Fact> {
    let number = |name: &str, value: Option<u64>| value.map(|v| fact(name, v.to_string()));
    let limit = |name: &str, percent: Option<u64>, bytes: Option<u64>| match (bytes, percent) {
        (Some(bytes), _) => Some(fact(name, words::size(bytes))),
        (None, Some(percent)) => Some(fact(name, format!("{percent} % of memory"))),
        (None, None) => None,
    };
    let text = |name: &str, value: &Option<String>| {
        value.as_ref().map(|value| fact(name, words::clean(value)))
    };
    [
        number("vm.swappiness", s.swappiness),
        limit(
            "Dirty pages are written back from",
            s.dirty_background_percent,
            s.dirty_background_bytes,
        ),
        limit("Dirty pages at most", s.dirty_ratio_percent, s.dirty_bytes),
        text("Transparent huge pages", &s.transparent_huge_pages),
        text("Frequency governor", &s.governor),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn facts(s: &Storage) -> Vec<Fact> {
    let mut facts = vec![fact(say!("label-storage-under"), words::path(&s.target))];
    if s.path != s.target {
        facts.push(fact(say!("label-path"), words::path(&s.path)));
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
        facts.push(fact(say!("label-file-system"), place));
        facts.push(fact(say!("label-mount-options"), words::clean(&fs.options.join(", "))));
        facts.push(fact(say!("label-allocation-unit"), words::size(fs.block_bytes)));
        facts.push(fact(say!("label-space"), space));
    }
    if let Some(partition) = &s.partition {
        let name = words::clean(&partition.name);
        let text = format!(
            "{name}, starts at {} ({} B), {} long",
            words::size(partition.start_bytes),
            words::count(partition.start_bytes),
            words::size(partition.size_bytes)
        );
        facts.push(fact(say!("label-partition"), text));
    }
    if !s.layers.is_empty() {
        facts.push(fact(say!("label-layers"), words::clean(&s.layers.join(" → "))));
    }
    if let Some(counted) = &s.counted_device {
        facts.push(fact(say!("label-counters-of"), words::clean(counted)));
    }
    facts
}

fn device(d: &Device) -> Vec<Fact> {
    let mut facts = vec![fact(say!("label-device"), words::device(d))];
    let mut text = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            facts.push(fact(name, words::clean(value)));
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
        facts.push(fact(say!("label-forced-unit-access"), yes_no(fua)));
    }
    if let Some(rotational) = d.rotational {
        facts.push(fact(say!("label-rotating-disks"), yes_no(rotational)));
    }
    let mut number = |name: &str, value: Option<u64>| {
        if let Some(value) = value {
            facts.push(fact(name, words::count(value)));
        }
    };
    number("Requests a queue holds", d.nr_requests);
    number("Queue depth of the device", d.queue_depth);
    number("Queues", d.queues);
    number("NUMA node", d.numa_node.map(u64::from));
    let mut size = |name: &str, value: Option<u64>| {
        if let Some(value) = value.filter(|v| *v > 0) {
            facts.push(fact(name, words::size(value)));
        }
    };
    size("Logical block", d.logical_block_bytes);
    size("Physical block", d.physical_block_bytes);
    size("Largest I/O", d.max_io_bytes);
    size("Preferred I/O", d.optimal_io_bytes);
    size("Least preferred I/O", d.minimum_io_bytes);
    size("Read-ahead", d.read_ahead_bytes);
    if let Some(link) = &d.link {
        let lanes = link.lanes.map(|n| words::plural(n.into(), "lane", "lanes"));
        let parts = [Some(link.bus.clone()), lanes, link.speed.clone()];
        let text: Vec<String> = parts.into_iter().flatten().map(|t| words::clean(&t)).collect();
        facts.push(fact(say!("label-link"), text.join(", ")));
    }
    facts
}

/// Findings that cost something as warnings, the others as a list.
fn findings(all: &[Finding]) -> Vec<Block> {
    if all.is_empty() {
        return vec![Block::Paragraph("No findings about the set-up.".to_owned())];
    }
    let (notes, warnings): (Vec<&Finding>, Vec<&Finding>) =
        all.iter().partition(|f| f.severity == Severity::Info);
    let sentences = |findings: Vec<&Finding>| findings.into_iter().map(finding).collect::<Vec<_>>();
    let (warnings, notes) = (sentences(warnings), sentences(notes));
    let mut blocks = Vec::new();
    if !warnings.is_empty() {
        blocks.push(Block::Warnings(warnings));
    }
    if !notes.is_empty() {
        blocks.push(Block::List(notes));
    }
    blocks
}

fn finding(f: &Finding) -> String {
    let severity = match f.severity {
        Severity::Info => "Note",
        Severity::Warning => "Warning",
        Severity::Serious => "Serious",
    };
    let (message, code) = (words::clean(&f.message), words::clean(&f.code));
    let remedy = f.remedy.as_deref().map(|r| format!(" {}", words::clean(r))).unwrap_or_default();
    // Documents leave the reason out; the rule knows it.
    let why = f.why.as_deref().or_else(|| inspect::rule(&f.code).map(|rule| rule.why));
    let why = why.map(|why| format!(" Why: {}", words::clean(why))).unwrap_or_default();
    let evidence: Vec<String> =
        f.evidence.iter().map(|e| words::clean(&format!("{} = {}", e.place, e.value))).collect();
    let seen =
        if evidence.is_empty() { String::new() } else { format!("; {}", evidence.join(", ")) };
    format!("{severity}. {message}{remedy}{why} ({code}{seen})")
}
