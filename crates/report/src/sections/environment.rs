//! Where it was measured: the machine, and the storage under each target.

use inspect::{Device, Finding, Settings, Severity, Storage};
use results::Environment;

use super::make::fact;
use crate::language::{count, say};
use crate::model::{Block, Fact, Section};
use crate::words;

/// The section; it says so where nothing is known.
pub(super) fn section_of(environment: &Environment) -> Vec<Block> {
    let mut blocks = match host(environment) {
        facts if facts.is_empty() => vec![Block::Paragraph(say!("environment-host-not-known"))],
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

/// The host, the storage and the findings about its set-up.
pub(super) fn section(environment: &Environment) -> Option<Section> {
    super::make::section("environment", say!("heading-environment"), section_of(environment))
}

fn host(environment: &Environment) -> Vec<Fact> {
    let Some(host) = &environment.host else { return Vec::new() };
    // Another tool told its name and nothing else.
    if host.cpus == 0 && host.memory_bytes == 0 {
        return vec![fact(say!("label-host"), words::clean(&host.hostname))];
    }
    let memory = say!(
        "environment-memory",
        memory = words::size(host.memory_bytes),
        available = words::size(host.memory_available_bytes)
    );
    let model = words::clean(&host.cpu_model);
    let processor = say!("environment-processor", model = model, cpus = host.cpus.to_string());
    let mut facts = vec![
        fact(say!("label-host"), words::clean(&host.hostname)),
        fact(say!("label-operating-system"), words::clean(&host.os)),
        fact(say!("label-kernel"), words::clean(&host.kernel)),
        fact(say!("label-processor"), processor),
        fact(say!("label-memory"), memory),
    ];
    let mut add = |name: String, value: &Option<String>| {
        if let Some(value) = value {
            facts.push(fact(name, words::clean(value)));
        }
    };
    add(say!("label-virtual-machine-on"), &host.virtualization);
    add(say!("label-clock-source"), &host.clocksource);
    add(say!("label-machine"), &host.product);
    if let Some(settings) = &host.settings {
        facts.extend(self::settings(settings));
    }
    facts
}

/// Settings of the kernel that storage depends on.
fn settings(s: &Settings) -> Vec<Fact> {
    let number = |name: String, value: Option<u64>| value.map(|v| fact(name, v.to_string()));
    let limit = |name: String, percent: Option<u64>, bytes: Option<u64>| match (bytes, percent) {
        (Some(bytes), _) => Some(fact(name, words::size(bytes))),
        (None, Some(percent)) => {
            Some(fact(name, say!("environment-share-of-memory", percent = percent.to_string())))
        }
        (None, None) => None,
    };
    let text = |name: String, value: &Option<String>| {
        value.as_ref().map(|value| fact(name, words::clean(value)))
    };
    [
        number("vm.swappiness".to_owned(), s.swappiness),
        limit(
            say!("label-dirty-pages-are-written-back-from"),
            s.dirty_background_percent,
            s.dirty_background_bytes,
        ),
        limit(say!("label-dirty-pages-at-most"), s.dirty_ratio_percent, s.dirty_bytes),
        text(say!("label-transparent-huge-pages"), &s.transparent_huge_pages),
        text(say!("label-frequency-governor"), &s.governor),
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
        let space = say!(
            "environment-space",
            size = words::size(fs.total_bytes),
            used = words::percent(Some(fs.used_percent)),
            available = words::size(fs.available_bytes)
        );
        let source = words::clean(&fs.source);
        let place = say!(
            "environment-file-system",
            kind = words::clean(&fs.kind),
            place = words::path(&fs.mount_point),
            source = source
        );
        facts.push(fact(say!("label-file-system"), place));
        facts.push(fact(say!("label-mount-options"), words::clean(&fs.options.join(", "))));
        facts.push(fact(say!("label-allocation-unit"), words::size(fs.block_bytes)));
        facts.push(fact(say!("label-space"), space));
    }
    if let Some(partition) = &s.partition {
        let name = words::clean(&partition.name);
        let text = say!(
            "environment-partition",
            name = name,
            start = words::size(partition.start_bytes),
            bytes = words::count(partition.start_bytes),
            size = words::size(partition.size_bytes)
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
    let mut text = |name: String, value: &Option<String>| {
        if let Some(value) = value {
            facts.push(fact(name, words::clean(value)));
        }
    };
    text(say!("label-transport"), &d.transport);
    text(say!("label-firmware"), &d.firmware);
    text(say!("label-serial-number"), &d.serial);
    text(say!("label-driver"), &d.driver);
    text(say!("label-scheduler"), &d.scheduler);
    text(say!("label-write-cache"), &d.write_cache);
    let yes_no = |value: bool| if value { say!("word-yes") } else { say!("word-no") };
    if let Some(fua) = d.fua {
        facts.push(fact(say!("label-forced-unit-access"), yes_no(fua)));
    }
    if let Some(rotational) = d.rotational {
        facts.push(fact(say!("label-rotating-disks"), yes_no(rotational)));
    }
    let mut number = |name: String, value: Option<u64>| {
        if let Some(value) = value {
            facts.push(fact(name, words::count(value)));
        }
    };
    number(say!("label-requests-a-queue-holds"), d.nr_requests);
    number(say!("label-queue-depth-of-the-device"), d.queue_depth);
    number(say!("label-queues"), d.queues);
    number(say!("label-numa-node"), d.numa_node.map(u64::from));
    let mut size = |name: String, value: Option<u64>| {
        if let Some(value) = value.filter(|v| *v > 0) {
            facts.push(fact(name, words::size(value)));
        }
    };
    size(say!("label-logical-block"), d.logical_block_bytes);
    size(say!("label-physical-block"), d.physical_block_bytes);
    size(say!("label-largest-i-o"), d.max_io_bytes);
    size(say!("label-preferred-i-o"), d.optimal_io_bytes);
    size(say!("label-least-preferred-i-o"), d.minimum_io_bytes);
    size(say!("label-read-ahead"), d.read_ahead_bytes);
    if let Some(link) = &d.link {
        let lanes = link.lanes.map(|n| say!("environment-lanes", lanes = count(n)));
        let parts = [Some(link.bus.clone()), lanes, link.speed.clone()];
        let text: Vec<String> = parts.into_iter().flatten().map(|t| words::clean(&t)).collect();
        facts.push(fact(say!("label-link"), text.join(", ")));
    }
    facts
}

/// Findings that cost something as warnings, the others as a list.
fn findings(all: &[Finding]) -> Vec<Block> {
    if all.is_empty() {
        return vec![Block::Paragraph(say!("environment-no-findings"))];
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
        Severity::Info => say!("environment-note"),
        Severity::Warning => say!("page-warning"),
        Severity::Serious => say!("environment-serious"),
    };
    let (message, code) = (words::clean(&f.message), words::clean(&f.code));
    let remedy = f.remedy.as_deref().map(|r| format!(" {}", words::clean(r))).unwrap_or_default();
    // Documents leave the reason out; the rule knows it.
    let why = f.why.as_deref().or_else(|| inspect::rule(&f.code).map(|rule| rule.why));
    let why = why.map(|why| say!("environment-why", why = words::clean(why))).unwrap_or_default();
    let evidence: Vec<String> =
        f.evidence.iter().map(|e| words::clean(&format!("{} = {}", e.place, e.value))).collect();
    let seen =
        if evidence.is_empty() { String::new() } else { format!("; {}", evidence.join(", ")) };
    format!("{severity}. {message}{remedy}{why} ({code}{seen})")
}
