//! `Input parameters` of DiskSpd's text, as a profile. What another version says in another way
//! stays at its default.

use crate::diskspd::profile::{
    CacheMode, Distribution, DistributionKind, DistributionRange, FlushType, Processor, Target,
    Throughput, TimeSpan, WriteContent,
};

/// Time spans as they are read, line by line.
#[derive(Debug, Default)]
pub(super) struct Input {
    spans: Vec<TimeSpan>,
    /// Which of [`SAID_OF_EACH`] the text says of each target.
    said: Vec<Vec<[bool; SAID_OF_EACH.len()]>>,
    /// Whether it says how many threads each time span has.
    threads_said: Vec<bool>,
}

/// What every version says of every target, each in one of these ways. Where a line was lost, its
/// default would be made up.
const SAID_OF_EACH: [&[&str]; 5] = [
    &["block size:"],
    &["number of outstanding I/O operations", "relative IO weight in thread pool:"],
    &["performing "],
    &["using random I/O", "using mixed ", "using sequential I/O", "using interlocked "],
    &["using software ", "software ", "local software cache ", "hardware and software "],
];

impl Input {
    /// A time span, by its number from 1, of which nothing is missing.
    pub(super) fn span(&self, number: usize) -> Option<&TimeSpan> {
        let index = number.checked_sub(1)?;
        let (span, said) = (self.spans.get(index)?, self.said.get(index)?);
        let whole = !said.is_empty() && said.iter().flatten().all(|said| *said);
        whole.then_some(span)
    }

    /// Whether no line says how many threads a time span has. Before 2.1 that is so with `-F`, and
    /// the figures say it.
    pub(super) fn threads_unsaid(&self, number: usize) -> bool {
        number.checked_sub(1).and_then(|index| self.threads_said.get(index)) == Some(&false)
    }

    /// Takes a line without the blanks around it. DiskSpd's tabs say what belongs to a target;
    /// where they are lost, the order does: whatever comes after a path is of that target.
    pub(super) fn line(&mut self, text: &str) {
        if text.starts_with("timespan:") {
            self.spans.push(TimeSpan::default());
            self.said.push(Vec::new());
            self.threads_said.push(false);
            return;
        }
        let (Some(span), Some(said)) = (self.spans.last_mut(), self.said.last_mut()) else {
            return;
        };
        if let Some(path) = path(text) {
            span.targets.push(Target { path, ..Target::default() });
            said.push([false; SAID_OF_EACH.len()]);
        } else if let (Some(target), Some(said)) = (span.targets.last_mut(), said.last_mut()) {
            of_target(target, text);
            for (said, ways) in said.iter_mut().zip(SAID_OF_EACH) {
                *said |= ways.iter().any(|way| text.starts_with(way));
            }
        } else {
            of_span(span, text);
        }
        if let Some(threads_said) = self.threads_said.last_mut() {
            *threads_said |=
                text.starts_with("threads per file:") || text.starts_with("thread pool with ");
        }
        if text.starts_with("using completion routines") {
            span.completion_routines = true;
        }
    }
}

/// `path: 'f.dat'`, or of a template.
fn path(text: &str) -> Option<String> {
    let rest = text.strip_prefix("path:")?.trim_start();
    let template = rest.strip_prefix("template target").map(str::trim_start);
    let name = template.unwrap_or(rest).strip_prefix('\'')?.strip_suffix('\'')?;
    Some(if template.is_some() { format!("*{name}") } else { name.to_owned() })
}

fn of_span(span: &mut TimeSpan, text: &str) {
    if let Some((name, value)) = parted(text) {
        match name {
            "duration" => set(&mut span.duration_s, number(value)),
            "warm up time" => set(&mut span.warmup_s, number(value)),
            "cool down time" => set(&mut span.cooldown_s, number(value)),
            "random seed" => set(&mut span.seed, number(value)),
            "number of outstanding I/O operations per thread" => {
                set(&mut span.request_count, number(value));
            }
            _ if name.starts_with("advanced affinity") => {
                span.affinity = value.split(", ").filter_map(processor).collect();
            }
            _ => {}
        }
    } else if let Some(rest) = text.strip_prefix("gathering IOPS at intervals of ") {
        span.iops_std_dev = true;
        set(&mut span.io_bucket_ms, number(rest));
    } else if let Some(rest) = text.strip_prefix("thread pool with ") {
        set(&mut span.thread_count, number(rest));
    }
    match text {
        "measuring latency" => span.measure_latency = true,
        "affinity disabled" => span.disable_affinity = true,
        _ if text.contains("random data for each write") => span.random_write_data = true,
        _ => {}
    }
}

/// Splits `name: value` at its first colon.
fn parted(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').map(|(name, value)| (name.trim_end(), value.trim_start()))
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// The number that a text begins with.
fn number(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..digits)?.parse().ok()
}

fn processor(text: &str) -> Option<Processor> {
    let (group, cpu) = text.trim().split_once('/')?;
    Some(Processor { group: group.parse().ok()?, cpu: cpu.parse().ok()? })
}

/// A size as DiskSpd shows it: with a unit, and exact where it has no decimals.
pub(super) fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (value, unit) = text.split_at(digits);
    let shift = match unit.trim() {
        "" | "B" => 0,
        "KiB" | "KB" | "K" => 10,
        "MiB" | "MB" | "M" => 20,
        "GiB" | "GB" | "G" => 30,
        "TiB" | "TB" | "T" => 40,
        _ => return None,
    };
    if let Ok(whole) = value.parse::<u64>() {
        return whole.checked_mul(1 << shift);
    }
    let bytes = value.parse::<f64>().ok()? * (1_u64 << shift) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Some(bytes.round() as u64)
}

/// The text between the first of two words and the second; `None` if either is absent.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let rest = text.get(text.find(before)? + before.len()..)?;
    rest.get(..rest.find(after)?)
}

fn of_target(target: &mut Target, text: &str) {
    if let Some((name, value)) = parted(text) {
        with_value(target, name, value);
    }
    match text {
        "software cache disabled" => target.cache = CacheMode::DisableOsCache,
        "zeroing write buffers" => target.write_content = WriteContent::Zero,
        "using parallel async I/O" => target.parallel_async = true,
        "performing read test" => target.write_percent = 0,
        "performing write test" => target.write_percent = 100,
        _ => phrases(target, text),
    }
}

fn with_value(target: &mut Target, name: &str, value: &str) {
    match name {
        "think time" => target.think_ms = number(value).filter(|ms| *ms > 0),
        "burst size" => target.burst_ios = number(value).filter(|ios| *ios > 0),
        "block size" => {
            set(&mut target.block_bytes, size(value).and_then(|b| u32::try_from(b).ok()));
        }
        "number of outstanding I/O operations"
        | "number of outstanding I/O operations per thread" => {
            set(&mut target.outstanding, number(value));
        }
        "relative IO weight in thread pool" => set(&mut target.weight, number(value)),
        "base file offset" => set(&mut target.base_offset_bytes, size(value)),
        "max file size" => set(&mut target.max_offset_bytes, size(value)),
        "thread stride size" => set(&mut target.thread_stride_bytes, size(value)),
        "threads per file" => set(&mut target.threads_per_file, number(value)),
        "write buffer size" => {
            let bytes = size(value).unwrap_or(0);
            target.write_content = WriteContent::Random { bytes, file: None };
        }
        "write buffer source" => {
            if let WriteContent::Random { file, .. } = &mut target.write_content {
                let name = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\''));
                *file = name.map(str::to_owned);
            }
        }
        "IO priority" => {
            target.io_priority = match value {
                "very low" => 1,
                "low" => 2,
                _ => 3,
            };
        }
        _ => {}
    }
}

fn phrases(target: &mut Target, text: &str) {
    let is_old = text.contains("software") && !text.contains("writethrough");
    if is_old && text.ends_with("disabled") {
        // Before 2.1: of the software, of the hardware, or of both.
        target.cache = CacheMode::DisableOsCache;
        target.write_through |= text.contains("hardware");
    } else if text.starts_with("local software cache disabled") {
        target.cache = CacheMode::DisableLocalCache;
    } else if text.ends_with("writethrough on") {
        target.write_through = true;
    } else if let Some(rest) = text.strip_prefix("memory mapped I/O enabled") {
        target.memory_mapped = true;
        target.flush = match rest.strip_prefix(", flush mode: ") {
            Some("FlushViewOfFile") => Some(FlushType::ViewOfFile),
            Some("FlushNonVolatileMemory") => Some(FlushType::NonVolatileMemory),
            Some(_) => Some(FlushType::NonVolatileMemoryNoDrain),
            None => None,
        };
    } else if let Some(ratio) = between(text, "(read/write ratio: ", ")") {
        set(
            &mut target.write_percent,
            ratio.split_once('/').and_then(|(_, writes)| number(writes)),
        );
    } else if let Some(ratio) = between(text, "(write/read ratio: ", ")") {
        set(&mut target.write_percent, number(ratio));
    } else if text.contains("% random)") {
        set(&mut target.random_percent, between(text, "(", "%").and_then(number));
        target.step_bytes = between(text, "(alignment/stride: ", ")").and_then(size);
    } else if text.starts_with("using random I/O") {
        target.random_percent = 100;
        target.step_bytes = between(text, "(alignment: ", ")").and_then(size);
    } else if text.starts_with("using sequential I/O") || text.starts_with("using interlocked") {
        target.interlocked = text.starts_with("using interlocked");
        target.step_bytes = between(text, "(stride: ", ")").and_then(size);
    } else if let Some(rest) = text.strip_prefix("throughput rate-limited to ") {
        let limit = if rest.ends_with("IOPS") { Throughput::Iops } else { Throughput::BytesPerMs };
        target.throughput = number(rest).map(limit);
    } else if text.contains("% of IO => [") {
        let so_far = target.distribution.take();
        target.distribution = range(text, so_far);
    }
}

/// Adds a line such as `    90% of IO => [ 0% -  10%) of target`.
fn range(text: &str, so_far: Option<Distribution>) -> Option<Distribution> {
    let percent = text.contains(") of target");
    let kind = if percent { DistributionKind::Percent } else { DistributionKind::Absolute };
    let mut distribution = so_far.unwrap_or(Distribution { kind, ranges: Vec::new() });
    let io_percent = number(text)?;
    let (from, to) = between(text, "[", ")")?.split_once(" - ")?;
    let bound = |text: &str| {
        if percent { number(text).map(u64::from) } else { size(text) }
    };
    let from = bound(from)?;
    let extent = if to.trim() == "end" { 0 } else { bound(to)?.saturating_sub(from) };
    distribution.ranges.push(DistributionRange { io_percent, extent });
    Some(distribution)
}
