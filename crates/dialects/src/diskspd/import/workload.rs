//! What DiskSpd was asked for, as a workload that tells what was done. Paths stay those of the machine that measured.

use workload::{
    Arrival, Block, Bytes, Content, DiskspdAccess, DiskspdOrder, DiskspdSlices, Mode, Nanoseconds,
    Pattern, Pool, PoolShare, Priority, Rate, RateLimit, Stream, Think, ThinkFrom, Workload,
};

use super::spans::OnTarget;
use crate::diskspd::profile::{
    CacheMode, DistributionKind, Target, Throughput, TimeSpan, WriteContent,
};

/// The workload of a time span, and what a reader must know of it. Without what was asked for, figures tell what they can.
pub(super) fn workload(
    asked: Option<&TimeSpan>,
    found: &[OnTarget],
    seconds: f64,
) -> (Workload, Vec<String>) {
    let mut doubts = Vec::new();
    let asked = asked.filter(|span| !span.targets.is_empty());
    if asked.is_none() {
        doubts.push("it does not tell what was asked for: block sizes and directions follow from the figures, and threads, depth and order are not known".to_owned());
    }
    let guessed = guess(found);
    let span = asked.unwrap_or(&guessed);
    let same = span.targets.windows(2).all(|pair| like(&pair[0]) == like(&pair[1]));
    let streams = if same {
        span.targets.first().map(|target| stream(span, target, Vec::new())).into_iter().collect()
    } else {
        let each = span.targets.iter().enumerate();
        each.map(|(index, target)| stream(span, target, vec![index])).collect()
    };
    let place = |target: &Target| workload::Target {
        path: target.path.clone().into(),
        size_bytes: target.create_bytes.filter(|bytes| *bytes > 0).map(Bytes),
    };
    let targets: Vec<workload::Target> = span.targets.iter().map(place).collect();
    let first = workload::Target { path: "unknown".into(), size_bytes: None };
    let mode = span.targets.first().map_or(Mode::Buffered, mode_of);
    if span.targets.iter().any(|target| mode_of(target) != mode) {
        doubts.push(
            "targets differ in the caches they use; that of the first stands here".to_owned(),
        );
    }
    if span.random_write_data {
        doubts.push("each write had new random bytes, made while it was measured".to_owned());
    }
    let mut workload = Workload { targets, streams, ..Workload::single(first, Stream::default()) };
    workload.seconds = if asked.is_some() { f64::from(span.duration_s) } else { seconds };
    workload.warmup_seconds = f64::from(span.warmup_s);
    workload.cooldown_seconds = f64::from(span.cooldown_s);
    workload.mode = mode;
    workload.seed = u64::from(span.seed);
    workload.interval_ns = Nanoseconds(u64::from(span.io_bucket_ms) * 1_000_000);
    (workload, doubts)
}

/// A time span in which the figures could have come about.
fn guess(found: &[OnTarget]) -> TimeSpan {
    let target = |of: &OnTarget| {
        let (bytes, ios) = (
            of.read.bytes.saturating_add(of.write.bytes),
            of.read.ios.saturating_add(of.write.ios),
        );
        let percent = of.write.ios.saturating_mul(100).checked_div(ios).unwrap_or(0);
        Target {
            path: of.path.clone(),
            block_bytes: bytes.checked_div(ios).and_then(|b| u32::try_from(b).ok()).unwrap_or(0),
            write_percent: u32::try_from(percent).unwrap_or(0),
            outstanding: 1,
            ..Target::default()
        }
    };
    TimeSpan { targets: found.iter().map(target).collect(), warmup_s: 0, ..TimeSpan::default() }
}

/// A target without what tells it from others that are treated alike.
fn like(target: &Target) -> Target {
    Target { path: String::new(), create_bytes: None, weight: 1, ..target.clone() }
}

fn mode_of(target: &Target) -> Mode {
    match (target.memory_mapped, target.cache) {
        (true, _) => Mode::Mapped,
        (false, CacheMode::DisableOsCache) => Mode::Direct,
        (false, _) => Mode::Buffered,
    }
}

fn stream(span: &TimeSpan, target: &Target, targets: Vec<usize>) -> Stream {
    let pooled = span.thread_count > 0;
    let number = targets.first().map(|index| index + 1);
    let threads = if pooled { span.thread_count } else { target.threads_per_file };
    let users = if targets.is_empty() { span.targets.len() } else { 1 };
    let weights = || span.targets.iter().map(|t| t.weight).collect::<Vec<_>>();
    let share = if span.draws_targets() {
        let even = span.targets.windows(2).all(|pair| pair[0].weight == pair[1].weight);
        PoolShare::Drawn { weights: if even { Vec::new() } else { weights() } }
    } else {
        PoolShare::Each
    };
    let end = target.max_offset_bytes;
    Stream {
        name: number.map_or_else(|| "main".to_owned(), |number| format!("target {number}")),
        targets,
        threads,
        depth: if span.draws_targets() { span.request_count } else { target.outstanding },
        blocks: vec![Block { bytes: Bytes(u64::from(target.block_bytes)), weight: 1 }],
        pattern: if target.random_percent > 0 { Pattern::Random } else { Pattern::Sequential },
        diskspd: Some(order(target)),
        pool: pooled.then_some(Pool { share }),
        write_percent: u8::try_from(target.write_percent.min(100)).unwrap_or(100),
        durable: target.write_through,
        rate: target.throughput.map(|limit| rate(limit, threads, users)),
        think: think(target),
        offset_bytes: Bytes(target.base_offset_bytes),
        span_bytes: (end > 0).then(|| Bytes(end.saturating_sub(target.base_offset_bytes))),
        content: content(span, target),
        content_file: content_file(target),
        cpus: span.affinity.iter().filter(|cpu| cpu.group == 0).map(|cpu| cpu.cpu).collect(),
        priority: match target.io_priority {
            1 => Some(Priority::Idle),
            2 => Some(Priority::BestEffort { level: 7 }),
            _ => None,
        },
        ..Stream::default()
    }
}

fn order(target: &Target) -> DiskspdOrder {
    let access = match (target.random_percent, target.parallel_async, target.interlocked) {
        (100.., ..) => DiskspdAccess::Random,
        (percent @ 1..=99, ..) => {
            DiskspdAccess::Mixed { random_percent: u8::try_from(percent).unwrap_or(99) }
        }
        (0, true, _) => DiskspdAccess::Parallel,
        (0, false, true) => DiskspdAccess::Interlocked,
        (0, false, false) => DiskspdAccess::Sequential,
    };
    let slices = target.distribution.as_ref().map_or_else(DiskspdSlices::default, |distribution| {
        let small = |n: u64| u8::try_from(n).unwrap_or(u8::MAX);
        let ranges = distribution.ranges.iter();
        match distribution.kind {
            DistributionKind::Percent => DiskspdSlices::Percent(
                ranges.map(|r| (small(r.io_percent.into()), small(r.extent))).collect(),
            ),
            DistributionKind::Absolute => DiskspdSlices::Absolute(
                ranges.map(|r| (small(r.io_percent.into()), Bytes(r.extent))).collect(),
            ),
        }
    });
    DiskspdOrder {
        access,
        step_bytes: Bytes(target.step()),
        thread_stride_bytes: Bytes(target.thread_stride_bytes),
        slices,
    }
}

/// DiskSpd's limit is that of one thread on one target.
fn rate(limit: Throughput, threads: u32, targets: usize) -> Rate {
    let all = |each: f64| each * f64::from(threads) * targets as f64;
    let limit = match limit {
        Throughput::Iops(iops) => RateLimit::Iops(all(f64::from(iops))),
        Throughput::BytesPerMs(bytes) => {
            RateLimit::MibPerS(all(f64::from(bytes) * 1e3 / 1_048_576.0))
        }
    };
    Rate { limit, arrival: Arrival::Capped }
}

fn think(target: &Target) -> Option<Think> {
    let pause_ms = target.think_ms.filter(|ms| *ms > 0)?;
    Some(Think {
        pause_ns: Nanoseconds(u64::from(pause_ms) * 1_000_000),
        burst_ios: target.burst_ios.unwrap_or(1).max(1),
        from: ThinkFrom::Submission,
    })
}

fn content(span: &TimeSpan, target: &Target) -> Content {
    match &target.write_content {
        WriteContent::Random { bytes, .. } => Content::Source { bytes: Bytes(*bytes) },
        WriteContent::Zero => Content::Zero,
        WriteContent::Counting if span.random_write_data => Content::Random,
        WriteContent::Counting => Content::Counting,
    }
}

fn content_file(target: &Target) -> Option<std::path::PathBuf> {
    match &target.write_content {
        WriteContent::Random { file, .. } => file.as_ref().map(Into::into),
        _ => None,
    }
}
