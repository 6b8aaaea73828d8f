//! How storage is set up, for a terminal: the chain as a tree, the partitions, the findings.

use inspect::{
    Device, Disk, Extents, Finding, Host, Inspected, Inspection, Layer, LayerKind, Severity,
    TargetKind,
};

use super::layout::{Table, WIDTH, wrap};
use crate::words;

/// Pieces of a device's description that are too many for one line each.
type Facts = Vec<String>;

/// The machine, the chain under each target, the partition table and the findings, the most serious
/// first.
#[must_use]
pub fn inspection(i: &Inspection) -> String {
    let mut out = host(&i.host);
    for target in &i.targets {
        out.push('\n');
        out.push_str(&chain(target));
    }
    out.push_str(&partitions(&i.targets));
    out.push_str(&findings(i));
    if !i.hidden.is_empty() {
        out.push_str("\nNot seen:\n");
        out.extend(i.hidden.iter().map(|text| wrap("  - ", &words::clean(text), WIDTH)));
    }
    out
}

fn host(host: &Host) -> String {
    let mut facts = vec![words::clean(&host.os), format!("kernel {}", words::clean(&host.kernel))];
    facts.extend(host.product.iter().map(|text| words::clean(text)));
    facts.extend(
        host.virtualization.iter().map(|text| format!("a guest of {}", words::clean(text))),
    );
    facts.push(format!("{} processors", host.cpus));
    facts.push(format!("{} of memory", words::size(host.memory_bytes)));
    let mut out =
        wrap("", &format!("{}: {}", words::clean(&host.hostname), facts.join(", ")), WIDTH);
    let Some(s) = &host.settings else { return out };
    let number = |name: &str, value: Option<u64>| value.map(|value| format!("{name} {value}"));
    let dirty = |name: &str, percent: Option<u64>, bytes: Option<u64>| match (bytes, percent) {
        (Some(bytes), _) => Some(format!("{name} {}", words::size(bytes))),
        (None, Some(percent)) => Some(format!("{name} {percent} % of memory")),
        (None, None) => None,
    };
    let text = |name: &str, value: &Option<String>| {
        value.as_ref().map(|value| format!("{name} {}", words::clean(value)))
    };
    let facts: Facts = [
        number("swappiness", s.swappiness),
        dirty("written back from", s.dirty_background_percent, s.dirty_background_bytes),
        dirty("dirty at most", s.dirty_ratio_percent, s.dirty_bytes),
        text("huge pages", &s.transparent_huge_pages),
        text("governor", &s.governor),
        text("clock", &host.clocksource),
        s.numa_nodes.filter(|nodes| *nodes > 1).map(|nodes| format!("{nodes} NUMA nodes")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !facts.is_empty() {
        out.push_str(&wrap("  ", &facts.join(", "), WIDTH));
    }
    if !s.filters.is_empty() {
        let filters = words::clean(&s.filters.join(", "));
        out.push_str(&wrap("  ", &format!("file system filters: {filters}"), WIDTH));
    }
    out
}

fn chain(target: &Inspected) -> String {
    let storage = &target.storage;
    let there = match storage.kind {
        TargetKind::Missing => " (not there yet; the directory it would be in)",
        _ => "",
    };
    let mut out = format!("{}{there}\n", words::path(&storage.path));
    if let Some(fs) = &storage.file_system {
        let mut facts = vec![
            format!("{} on {}", words::clean(&fs.kind), words::path(&fs.mount_point)),
            format!("{} free of {}", words::size(fs.available_bytes), words::size(fs.total_bytes)),
            format!("blocks of {}", words::size(fs.block_bytes)),
        ];
        facts.extend(fs.reserved_bytes.map(|bytes| format!("{} reserved", words::size(bytes))));
        facts.extend(fs.journal.iter().map(|mode| format!("journal {}", words::clean(mode))));
        facts.extend(fs.compression.iter().map(|how| format!("compression {}", words::clean(how))));
        if !fs.options.is_empty() {
            facts.push(words::clean(&fs.options.join(",")));
        }
        out.push_str(&wrap("  ", &facts.join("; "), WIDTH));
    }
    if let Some(extents) = &target.extents {
        out.push_str(&wrap("  ", &file(extents), WIDTH));
    }
    if storage.chain.is_empty() {
        out.push_str("  no block device of this machine is known under it\n");
    }
    for layer in &storage.chain {
        let indent = "   ".repeat(usize::try_from(layer.level).unwrap_or(0).min(20));
        let first = format!("  {indent}└─ {} ", words::clean(&layer.name));
        out.push_str(&wrap(&first, &of_layer(layer), WIDTH));
        for line in &layer.table {
            out.push_str(&wrap(&format!("  {indent}     "), &words::clean(line), WIDTH));
        }
        let device = storage.devices.iter().find(|device| device.name == layer.name);
        let inner = format!("  {indent}     ");
        for facts in device.map(of_device).unwrap_or_default() {
            out.push_str(&wrap(&inner, &facts.join(", "), WIDTH));
        }
        if let Some(disk) = target.disks.iter().find(|disk| disk.name == layer.name) {
            let facts = of_disk(disk);
            if !facts.is_empty() {
                out.push_str(&wrap(&inner, &facts.join(", "), WIDTH));
            }
        }
    }
    out
}

fn file(e: &Extents) -> String {
    let mut facts = vec![format!(
        "a file of {} in {}",
        words::size(e.file_bytes),
        words::plural(e.pieces, "piece", "pieces")
    )];
    for (name, bytes) in [
        ("never written", e.unwritten_bytes),
        ("in holes", e.hole_bytes),
        ("shared with other files", e.shared_bytes),
        ("compressed or not yet placed", e.encoded_bytes),
    ] {
        if bytes > 0 {
            facts.push(format!("{} {name}", words::size(bytes)));
        }
    }
    facts.join(", ")
}

fn kind(kind: LayerKind) -> &'static str {
    match kind {
        LayerKind::Disk => "disk",
        LayerKind::Partition => "partition",
        LayerKind::Loop => "loop device",
        LayerKind::Raid => "RAID",
        LayerKind::Linear => "logical volume",
        LayerKind::Striped => "striped volume",
        LayerKind::Thin => "thin volume",
        LayerKind::ThinPool => "thin pool",
        LayerKind::Cache => "cached volume",
        LayerKind::Snapshot => "volume with a snapshot",
        LayerKind::Mirror => "mirrored volume",
        LayerKind::Crypt => "encryption",
        LayerKind::Multipath => "multipath",
        LayerKind::Vdo => "deduplicating volume",
        LayerKind::Bcache => "cached by bcache",
        LayerKind::Mapped => "mapped device",
    }
}

fn of_layer(layer: &Layer) -> String {
    let mut facts = vec![kind(layer.kind).to_owned(), words::size(layer.size_bytes)];
    facts.extend(layer.label.iter().map(|label| words::clean(label)));
    if let Some(p) = &layer.partition {
        let (sectors, kib) = (p.start_bytes / 512, p.start_bytes as f64 / 1024.0);
        facts.push(format!("begins at sector {sectors} = {} KiB", workload::show_number(kib)));
    }
    if let Some(raid) = &layer.raid {
        facts.push(format!(
            "{} of {}",
            words::clean(&raid.level),
            words::plural(raid.devices.into(), "device", "devices")
        ));
        let columns = raid.columns.map(u64::from);
        facts.extend(columns.map(|count| words::plural(count, "column", "columns")));
        facts.extend(raid.chunk_bytes.map(|bytes| format!("chunk {}", words::size(bytes))));
        facts.extend(raid.stripe_bytes.map(|bytes| format!("stripe {}", words::size(bytes))));
        facts.extend(
            raid.consistency.iter().map(|how| format!("kept consistent by {}", words::clean(how))),
        );
        facts.extend(raid.state.iter().map(|state| words::clean(state)));
        let missing = raid.degraded.filter(|count| *count > 0);
        facts.extend(missing.map(|count| format!("{count} MISSING")));
        let action = raid.action.as_ref().filter(|action| *action != "idle");
        facts.extend(action.map(|action| words::clean(action)));
    }
    facts.extend(layer.backing_file.iter().map(|file| format!("in {}", words::clean(file))));
    facts.extend(layer.policy.iter().map(|policy| format!("policy {}", words::clean(policy))));
    facts.extend(layer.cache_mode.iter().map(|mode| words::clean(mode)));
    facts.extend(layer.paths.iter().map(|path| {
        let access =
            path.access.as_ref().map(|a| format!(" {}", words::clean(a))).unwrap_or_default();
        format!("path {} {}{access}", words::clean(&path.name), words::clean(&path.state))
    }));
    facts.join(", ")
}

/// What a disk is, how it is attached, and what its queue does: a line each.
fn of_device(d: &Device) -> Vec<Facts> {
    let text = |name: &str, value: &Option<String>| {
        let blank = if name.is_empty() { "" } else { " " };
        value.as_ref().map(|value| format!("{name}{blank}{}", words::clean(value)))
    };
    let number = |name: &str, value: Option<u64>| value.map(|value| format!("{name} {value}"));
    let size = |name: &str, value: Option<u64>| {
        value.map(|value| format!("{name} {}", words::size(value)))
    };
    let yes = |words: &str, value: Option<bool>| value.filter(|is| *is).map(|_| words.to_owned());
    let what = [
        text("", &d.vendor),
        text("", &d.model),
        text("firmware", &d.firmware),
        text("serial", &d.serial),
        text("wwn", &d.wwn),
        text("", &d.cloud),
        d.rotational.map(|turns| if turns { "rotating" } else { "not rotating" }.to_owned()),
        yes("thin", d.thin),
        text("zoned", &d.zoned),
        yes("READ-ONLY", d.read_only),
    ];
    let mut attached =
        vec![text("", &d.transport), text("driver", &d.driver), text("state", &d.state)];
    attached.extend(d.link.iter().flat_map(|link| {
        let of = |name: &str, is: &Option<String>, can: &Option<String>| {
            let is = is.as_ref()?;
            let can = can.as_ref().filter(|can| *can != is);
            let more = can.map(|can| format!(" of {}", words::clean(can))).unwrap_or_default();
            Some(format!("{name} {}{more}", words::clean(is)))
        };
        let count = |n: Option<u32>| n.map(|n| n.to_string());
        [
            of(&format!("{} at", words::clean(&link.bus)), &link.speed, &link.speed_max),
            of("lanes", &count(link.lanes), &count(link.lanes_max)),
            text("from", &link.local_port),
            text("to", &link.remote_port),
            text("at", &link.address),
            text("", &link.state),
        ]
    }));
    attached.push(d.numa_node.map(|node| format!("NUMA node {node}")));
    let queue = [
        text("scheduler", &d.scheduler),
        number("nr_requests", d.nr_requests),
        number("queue depth", d.queue_depth),
        number("adapter's depth", d.adapter_queue_depth),
        number("queues", d.queues),
        size("largest I/O", d.max_io_bytes),
        size("read-ahead", d.read_ahead_bytes),
        number("rq_affinity", d.rq_affinity),
        yes("polled", d.io_poll),
        Some(words::clean(&d.driver_settings.join(", "))).filter(|text| !text.is_empty()),
    ];
    let medium = [
        text("cache", &d.write_cache),
        d.fua.map(|fua| if fua { "FUA" } else { "no FUA" }.to_owned()),
        size("logical block", d.logical_block_bytes),
        size("physical", d.physical_block_bytes),
        size("least", d.minimum_io_bytes),
        size("optimal", d.optimal_io_bytes),
    ];
    let lines = [what.into_iter().flatten().collect(), attached.into_iter().flatten().collect()];
    let more = [queue.into_iter().flatten().collect(), medium.into_iter().flatten().collect()];
    lines.into_iter().chain(more).filter(|facts: &Facts| !facts.is_empty()).collect()
}

fn of_disk(disk: &Disk) -> Facts {
    let mut facts = Facts::new();
    if let Some(health) = &disk.health {
        let number = |name: &str, value: Option<u64>| value.map(|value| format!("{name} {value}"));
        facts.push(if health.critical.is_empty() { "healthy" } else { "FAILING" }.to_owned());
        facts.extend(health.used_percent.map(|used| format!("{used} % of its life used")));
        facts.extend(health.spare_percent.map(|spare| format!("{spare} % spare left")));
        facts.extend(health.temperature_c.map(|t| format!("{t} °C")));
        facts.extend(number("media errors", health.media_errors));
        facts.extend(number("unsafe shutdowns", health.unsafe_shutdowns));
        facts.extend(health.power_on_hours.map(|hours| format!("{} h on", words::count(hours))));
        facts.extend(health.written_bytes.map(|bytes| format!("{} written", words::size(bytes))));
    }
    let total: u64 = disk.interrupts.iter().fold(0, |sum, count| sum.saturating_add(*count));
    if total > 0 {
        let used = disk.interrupts.iter().filter(|count| **count > total / 100).count() as u64;
        facts.push(format!("interrupts on {}", words::plural(used, "processor", "processors")));
    }
    facts
}

/// Disk, partition, starting offset: the table that DiskPart and the WMI script of the SQL Server
/// documents gave.
fn partitions(targets: &[Inspected]) -> String {
    let mut table = Table::new(
        2,
        &["Disk", "Partition", "Start (sectors)", "StartingOffset (KiB)", "Size", "Multiple of"],
    );
    let mut seen: Vec<&str> = Vec::new();
    for disk in targets.iter().flat_map(|target| &target.disks) {
        if seen.contains(&disk.name.as_str()) {
            continue;
        }
        seen.push(&disk.name);
        for p in &disk.partitions {
            // The largest power of two, up to what partitions are aligned to today.
            let multiple = (9..=20).rev().find(|bits| p.start_bytes.is_multiple_of(1 << bits));
            table.row(vec![
                words::clean(&disk.name),
                words::clean(&p.name),
                (p.start_bytes / 512).to_string(),
                workload::show_number(p.start_bytes as f64 / 1024.0),
                words::size(p.size_bytes),
                multiple.map_or_else(|| words::NONE.to_owned(), |bits| words::size(1 << bits)),
            ]);
        }
    }
    let text = table.show();
    if text.lines().count() < 2 { String::new() } else { format!("\nPartitions\n{text}") }
}

fn findings(i: &Inspection) -> String {
    let all = &i.findings;
    if all.is_empty() {
        return "\nThere are no findings against this set-up.\n".to_owned();
    }
    let count = |severity| all.iter().filter(|f| f.severity == severity).count();
    let mut out = format!(
        "\nFindings: {} serious, {}, {}\n",
        count(Severity::Serious),
        words::plural(count(Severity::Warning) as u64, "warning", "warnings"),
        words::plural(count(Severity::Info) as u64, "note", "notes")
    );
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for f in all {
        let key = (f.code.as_str(), f.message.as_str());
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        out.push_str(&finding(f));
    }
    out
}

fn finding(f: &Finding) -> String {
    let severity = match f.severity {
        Severity::Info => "note",
        Severity::Warning => "WARNING",
        Severity::Serious => "SERIOUS",
    };
    let mut out = format!("\n  {severity} {}\n", words::clean(&f.code));
    let mut line = |first: &str, text: &str| out.push_str(&wrap(first, &words::clean(text), WIDTH));
    line("    ", &f.message);
    if let Some(why) = &f.why {
        let source = f.source.as_ref().map(|source| format!(" [{source}]")).unwrap_or_default();
        line("    why: ", &format!("{why}{source}"));
    }
    if let Some(remedy) = &f.remedy {
        line("    do: ", remedy);
    }
    if let Some(command) = &f.command {
        // In one piece, so that it can be copied.
        out.push_str(&format!("    $ {}\n", words::clean(command)));
    }
    for evidence in &f.evidence {
        let text = format!("{} = {}", evidence.place, evidence.value);
        out.push_str(&wrap("    seen: ", &words::clean(&text), WIDTH));
    }
    out
}
