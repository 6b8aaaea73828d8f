//! The words that the text and the HTML report share: loads, captions, figures with their units.
//!
//! Everything that comes out of a document goes through [`clean`] before it is shown, because a
//! path, a model or a host name may hold control characters that would otherwise reach a terminal.

use std::path::{Path, PathBuf};

use crate::language::{count as counted, say};
use counters::BlockDevice;
use results::steady::UNSURE_PERCENT;
use results::{Latency, Measurement, Source, Statistics, Sweep};
pub(crate) use workload::plural;
use workload::{Bytes, Mode, PoolShare, Stream, Workload, show_ns, show_number};

/// Shown where there is no figure.
pub(crate) const NONE: &str = "–";

/// A text on one line without control characters and without marks that turn the direction of
/// writing.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' => ' ',
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FFFE}' | '\u{FFFF}' => {
                '\u{FFFD}'
            }
            c if c.is_control() => '\u{FFFD}',
            c => c,
        })
        .collect()
}

/// A path as text; anything that is not UTF-8 is replaced.
pub(crate) fn path(path: &Path) -> String {
    clean(&path.to_string_lossy())
}

/// The same path in UTF-8, with replacement characters where it is not.
pub(crate) fn path_lossy(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().into_owned())
}

/// A number of bytes with its unit.
pub(crate) fn size(bytes: u64) -> String {
    Bytes(bytes).to_string()
}

/// A whole count with its digits in groups of three.
pub(crate) fn count(value: u64) -> String {
    if value < 100 { value.to_string() } else { show_number(value as f64) }
}

/// A time in nanoseconds, or a dash.
pub(crate) fn time(ns: Option<u64>) -> String {
    ns.map_or_else(|| NONE.to_owned(), |ns| show_ns(ns as f64))
}

/// A time in nanoseconds, or a dash.
pub(crate) fn mean_time(ns: Option<f64>) -> String {
    ns.map_or_else(|| NONE.to_owned(), show_ns)
}

/// A share in percent with at most three significant digits, or a dash.
pub(crate) fn percent(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_finite() => format!("{} %", show_number(value)),
        _ => NONE.to_owned(),
    }
}

/// A length of time in seconds as people say it: `30 s`, `12 min 5 s`.
pub(crate) fn seconds(value: f64) -> String {
    if !(120.0..1e9).contains(&value) {
        return format!("{} s", show_number(value));
    }
    let minutes = (value / 60.0).floor();
    format!("{minutes:.0} min {:.0} s", (value - minutes * 60.0).floor())
}

/// An RFC 3339 time in UTC in the zone of the reader, `2026-11-20 11:12:13 CET`; another text as it
/// is.
#[must_use]
pub fn moment(text: &str) -> String {
    text.parse().map_or_else(|_| clean(text), crate::zone::moment)
}

/// Seconds since 1970 as `2026-11-20 10:12:13 UTC`; a dash where no calendar has them.
pub(crate) fn moment_of(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let time = jiff::Timestamp::from_second(seconds.floor() as i64);
    time.map_or_else(|_| NONE.to_owned(), |time| moment(&time.to_string()))
}

/// `direct` or `buffered`, and whether writes are durable.
pub(crate) fn mode(workload: &Workload) -> String {
    let word = |mode: &Mode| match mode {
        Mode::Direct => say!("mode-direct"),
        Mode::Buffered => say!("mode-buffered"),
        Mode::Mapped => say!("mode-mapped"),
    };
    if workload.is_unknown() {
        return say!("words-not-known");
    }
    let mode = workload.modes().iter().map(word).collect::<Vec<_>>().join(&say!("list-and"));
    let writing = workload.streams.iter().filter(|s| s.writes());
    let (durable, plain): (Vec<_>, Vec<_>) = writing.partition(|s| s.durable);
    match (durable.is_empty(), plain.is_empty()) {
        (true, true) => mode,
        (true, false) => say!("mode-not-durable", mode = mode),
        (false, true) => say!("mode-durable", mode = mode),
        (false, false) => say!("mode-partly-durable", mode = mode),
    }
}

/// `4 threads x depth 32 = 128`, with the targets of a pool where each has the depth, or the sum
/// alone where streams differ.
pub(crate) fn in_flight(m: &Measurement) -> String {
    if m.origin.is_some() && m.threads == 0 {
        return say!("words-not-known");
    }
    let (shown, most) = (count(m.threads), counted(m.threads));
    let threads = say!("caption-threads", threads = shown, most = most);
    let product = |depth: u32| m.threads.saturating_mul(depth.into());
    let on_each = |s: &Stream| s.pool.as_ref().is_some_and(|p| p.share == PoolShare::Each);
    match m.depth {
        Some(depth) if m.in_flight > product(depth) && m.workload.streams.iter().all(on_each) => {
            let all = count(m.in_flight);
            say!("words-depth-on-each", threads = threads, depth = depth.to_string(), all = all)
        }
        Some(depth) => {
            let (depth, all) = (depth.to_string(), count(m.in_flight));
            say!("words-depth", threads = threads, depth = depth, all = all)
        }
        None if m.origin.is_some() && m.in_flight == 0 => {
            say!("words-depth-not-known", threads = threads)
        }
        None => say!("words-in-all", threads = threads, all = count(m.in_flight)),
    }
}

/// The shortest latency; `None` if a tool that cuts off fractions has nothing left of it.
pub(crate) fn least(m: &Measurement, latency: &Latency) -> Option<u64> {
    let cuts = m.origin.as_ref().is_some_and(|o| o.latency_mean_short_by_ns.is_some());
    latency.min.filter(|ns| !cuts || *ns > 0)
}

/// The I/Os in flight that were asked for; another tool may not report it.
pub(crate) fn asked_in_flight(m: &Measurement) -> Option<u64> {
    Some(m.in_flight).filter(|asked| m.origin.is_none() || *asked > 0)
}

/// The average I/Os in flight; another tool may not report it.
pub(crate) fn achieved(m: &Measurement) -> Option<f64> {
    Some(m.achieved_in_flight).filter(|achieved| m.origin.is_none() || *achieved > 0.0)
}

/// Everything without which a figure means nothing: file size, block, pattern, depth, cache.
pub(crate) fn caption(m: &Measurement) -> String {
    crate::sections::caption::of([m])
}

/// Whether throughput of this load is in MiB/s (large sequential blocks) and not in IOPS.
pub(crate) fn is_bandwidth(m: &Measurement) -> bool {
    let large = |s: &Stream| s.is_mostly_sequential() && s.largest_block() >= 64 * 1024;
    !m.workload.streams.is_empty() && m.workload.streams.iter().all(large)
}

/// Whether a measurement only has the shape of something that does many kinds of I/O.
pub(crate) fn is_shape(m: &Measurement) -> bool {
    let streams = &m.workload.streams;
    streams.windows(2).any(|two| two[0].title() != two[1].title())
        || streams.iter().any(|s| s.mix.is_some())
}

/// The mean latency of some I/O.
pub(crate) fn mean_of(statistics: &Statistics) -> Option<f64> {
    statistics.latency_ns.map(|l| l.mean)
}

/// The model of a device with its name and size: `Samsung PM9A3 (nvme0n1, 3.49 TiB)`.
pub(crate) fn device(device: &inspect::Device) -> String {
    let mut names: Vec<String> = Vec::new();
    for part in [device.vendor.as_deref(), device.model.as_deref()].into_iter().flatten() {
        let part = clean(part.trim());
        if !part.is_empty() && !names.iter().any(|n| part.contains(n.as_str())) {
            names.push(part);
        }
    }
    let place = format!("{}, {}", clean(&device.name), size(device.size_bytes));
    if names.is_empty() { place } else { format!("{} ({place})", names.join(" ")) }
}

/// `dm-0 (LVM volume vg-data, 10 GiB)`.
#[must_use]
pub fn layer(name: &str, devices: &[BlockDevice]) -> String {
    let Some(device) = devices.iter().find(|device| device.name == name) else {
        return clean(name);
    };
    let label = device.label.as_deref().map(clean).unwrap_or_default();
    let what = format!("{} {label}", device.kind.title());
    // Of a device that another tool names, nobody knows the size.
    let size = match device.size_bytes {
        0 => String::new(),
        bytes => format!(", {}", Bytes(bytes)),
    };
    format!("{} ({}{size})", clean(name), crate::text::shorten(what.trim(), 48))
}

/// The devices and the file system under a target, in one phrase.
pub(crate) fn storage(storage: &inspect::Storage) -> String {
    let mut parts: Vec<String> = storage.devices.iter().take(2).map(device).collect();
    if storage.devices.len() > 2 {
        parts.push(say!("words-more-devices", devices = counted(storage.devices.len() - 2)));
    }
    if let Some(fs) = &storage.file_system {
        parts.push(say!(
            "words-file-system",
            kind = clean(&fs.kind),
            place = path(&fs.mount_point)
        ));
    }
    if parts.is_empty() { say!("words-device-not-known") } else { parts.join(", ") }
}

/// The tool that measured, where it was not iosonde: `fio 3.33`.
pub(crate) fn tool(m: &Measurement) -> Option<String> {
    let origin = m.origin.as_ref()?;
    Some(clean(&match origin.tool_version.as_deref() {
        // iosonde measured, and printed the result in the form of that tool.
        Some(version) if is_own(version) => {
            say!("words-tool-own", version = version, tool = &origin.tool)
        }
        Some(version) => format!("{} {version}", origin.tool),
        None => say!("words-tool-without-version", tool = &origin.tool),
    }))
}

/// Whether an imported result is one of iosonde.
pub(crate) fn is_own(tool_version: &str) -> bool {
    tool_version.starts_with("iosonde")
}

/// The bytes of all targets; another tool may not tell them.
pub(crate) fn file_size(m: &Measurement) -> String {
    if m.origin.is_some() && m.file_bytes == 0 {
        say!("words-not-known")
    } else {
        size(m.file_bytes)
    }
}

/// A mean latency, with what it may be short by: `29 ms to 30.5 ms`.
pub(crate) fn mean_of_tool(m: &Measurement, mean_ns: f64) -> String {
    let short_by = m.origin.as_ref().and_then(|o| o.latency_mean_short_by_ns);
    match short_by {
        Some(short_by) => {
            [show_ns(mean_ns), show_ns(mean_ns + short_by as f64)].join(&say!("list-to"))
        }
        None => show_ns(mean_ns),
    }
}

/// How long was measured, from when on.
pub(crate) fn when(m: &Measurement) -> String {
    let (from, warmup) = (moment(&m.started), seconds(m.workload.warmup_seconds));
    match &m.origin {
        None => {
            let seed = m.workload.seed.to_string();
            say!("words-when", warmup = warmup, from = from, seed = seed)
        }
        Some(_) if m.workload.warmup_seconds > 0.0 => {
            say!("words-after-warm-up", warmup = warmup, from = from)
        }
        Some(_) => say!("words-from", from = from),
    }
}

/// What made the I/O, why that, with which features, and whose clock.
pub(crate) fn engine(m: &Measurement) -> String {
    if let Some(tool) = tool(m) {
        let features = clean(&m.engine.features.join(", "));
        return if features.is_empty() { tool } else { format!("{tool}, {features}") };
    }
    let mut text = clean(&m.engine.name);
    if !m.engine.reason.is_empty() {
        text.push_str(&format!(" ({})", clean(&m.engine.reason)));
    }
    if !m.engine.features.is_empty() {
        text.push_str(&format!(", {}", clean(&m.engine.features.join(", "))));
    }
    text.push_str(&say!("words-clock", clock = clean(&m.engine.clock)));
    text
}

/// What an I/O costs the host; `None` if another tool does not tell it.
pub(crate) fn cost(m: &Measurement) -> Option<String> {
    let cpu = &m.cpu;
    let mut parts = Vec::new();
    if let (Some(total), Some(user)) = (cpu.total_us_per_io, cpu.user_us_per_io) {
        let [total, user] = [total, user].map(|us| show_ns(us * 1e3));
        parts.push(say!("words-cost", total = total, user = user));
    }
    let shares = [
        (say!("words-busiest-thread"), cpu.busiest_thread_percent),
        (say!("words-busiest-core"), cpu.busiest_core_percent),
        (say!("words-host"), cpu.host_percent),
    ];
    for (name, share) in shares.into_iter().filter(|(_, share)| share.is_some()) {
        parts.push(format!("{name} {}", percent(share)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// How many cells of a sweep were measured, inferred, impossible and missing.
pub(crate) fn cells(sweep: &Sweep) -> String {
    let of = |source: Source| sweep.cells.iter().filter(|c| c.source == source).count() as u64;
    let mut counts = say!(
        "words-cells",
        measured = counted(of(Source::Measured)),
        cells = counted(sweep.cells.len())
    );
    for (source, word) in [
        (Source::Inferred, say!("sweep-inferred")),
        (Source::LeftOut, say!("sweep-left-out")),
        (Source::Missing, say!("sweep-missing")),
    ] {
        if of(source) > 0 {
            counts.push_str(&format!(", {} {word}", count(of(source))));
        }
    }
    counts
}

/// A sentence that begins with a capital letter.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// The sentence that explains grey figures.
pub(crate) fn grey_note() -> String {
    say!("unsure-grey", percent = show_number(UNSURE_PERCENT))
}

/// What figures with this mark are, where nothing can be grey.
pub(crate) fn mark_note(mark: &str) -> String {
    say!("unsure-marked", mark = mark, percent = show_number(UNSURE_PERCENT))
}
