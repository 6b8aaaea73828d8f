//! A time span as a workload.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use workload::{
    Arrival, Block, Buffers, Bytes, Content, DiskspdAccess, DiskspdOrder, DiskspdSlices, Mode,
    Nanoseconds, Pool, PoolShare, Priority, Rate, RateLimit, Stream, Think, ThinkFrom, Workload,
};

use super::notes;
use super::profile::{
    CacheMode, Distribution, DistributionKind, Target, Throughput, TimeSpan, WriteContent,
};
use crate::drives::Drives;

/// Processors of a group, as Windows counts them.
const GROUP_CPUS: u32 = 64;

/// The most targets of a time span; their names are compared with one another.
pub const TARGETS_MAX: usize = 10_000;

/// The most threads that may name their targets, each counted on each of its targets, as in a workload.
const WORKERS_MAX: usize = 4096;

/// A time span in iosonde's words.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// What is to be done.
    pub workload: Workload,
    /// The names that the workload's targets have in the profile.
    pub names: Vec<String>,
    /// What is done otherwise than DiskSpd does it on Windows.
    pub notes: Vec<String>,
    /// Where the used part of each stream's targets ends; none: at their ends.
    ends: Vec<Option<u64>>,
    /// The sizes that are asked for, of the targets that are made: the files that are made may be longer.
    asked: Vec<Option<u64>>,
}

/// The workload of a time span; everything that keeps it from being one, otherwise.
pub fn job(span: &TimeSpan, drives: &Drives) -> Result<Job, Vec<String>> {
    if span.targets.len() > TARGETS_MAX {
        return Err(vec![format!("a time span has at most {TARGETS_MAX} targets here")]);
    }
    let mut wrong = Vec::new();
    let (targets, names, indexes) = places(span, drives, &mut wrong);
    let Some(first) = span.targets.first() else {
        return Err(vec!["there is no target".to_owned()]);
    };
    let mode = mode(first);
    if span.targets.iter().any(|target| self::mode(target) != mode) {
        let text = "all targets of a time span use the same caches here; give those with others a time span of their own";
        wrong.push(text.to_owned());
    }
    let interval_ms = if span.iops_std_dev { span.io_bucket_ms } else { 1000 };
    if !(10..=3_600_000).contains(&interval_ms) {
        wrong.push(format!("intervals (-D) are 10 ms to 1 h long here, and not {interval_ms} ms"));
    }
    let mut streams = if span.thread_count > 0 {
        pooled(span, &indexes, &mut wrong)
    } else {
        owned(span, &indexes)
    };
    for stream in &mut streams {
        let file = stream.content_file.take().map(|file| drives.path(&file.to_string_lossy()));
        match file.transpose() {
            Ok(file) => stream.content_file = file,
            Err(error) => wrong.push(error.to_string()),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let ends = if span.thread_count > 0 {
        vec![end(first); streams.len()]
    } else {
        span.targets.iter().map(end).collect()
    };
    let asked = targets.iter().map(|target| target.size_bytes.map(|size| size.0)).collect();
    let nowhere = workload::Target { path: PathBuf::new(), size_bytes: None };
    let workload = Workload {
        targets,
        streams,
        seconds: f64::from(span.duration_s),
        warmup_seconds: f64::from(span.warmup_s),
        cooldown_seconds: f64::from(span.cooldown_s),
        mode,
        interval_ns: Nanoseconds(u64::from(interval_ms) * 1_000_000),
        seed: u64::from(span.seed),
        ..Workload::single(nowhere, Stream::default())
    };
    Ok(Job { workload, names, notes: notes::of(span), ends, asked })
}

impl Job {
    /// Of targets that are made before all time spans, what is asked for is used, too.
    pub fn made_before(&mut self, places: &[workload::Target]) {
        for (target, asked) in self.workload.targets.iter().zip(&mut self.asked) {
            let place = places.iter().find(|place| place.path == target.path);
            *asked = place.and_then(|place| place.size_bytes).map(|size| size.0).or(*asked);
        }
    }

    /// The size that is asked for of a target that is made.
    pub(super) fn asked(&self, target: usize) -> Option<u64> {
        self.asked.get(target).copied().flatten()
    }

    /// Ends the used parts within targets of these sizes, in the workload's order. Threads that share all targets cannot
    /// use parts of different sizes.
    pub fn fit(&mut self, sizes: &[u64]) -> Result<(), String> {
        for (stream, end) in self.workload.streams.iter_mut().zip(&self.ends) {
            let limit = |t: usize| [*end, self.asked.get(t).copied().flatten()];
            let indexes = stream.target_indexes(sizes.len());
            let used: Vec<(u64, u64)> = indexes
                .iter()
                .filter_map(|&t| {
                    let size = *sizes.get(t)?;
                    Some((size, limit(t).into_iter().flatten().fold(size, u64::min)))
                })
                .collect();
            let alike = used.windows(2).all(|pair| matches!(pair, [a, b] if a.1 == b.1));
            let limited = indexes.iter().any(|&t| limit(t).iter().any(Option::is_some));
            stream.span_bytes = match used.first() {
                Some((_, end)) if alike && limited => {
                    Some(Bytes(end.saturating_sub(stream.offset_bytes.0)))
                }
                // Each up to its own end.
                _ if used.iter().all(|(size, used)| size == used) => None,
                _ => {
                    let text = "threads that share all targets (-F, ThreadCount) use parts of one size of them here; leave out -f, or \
                                use targets of one size";
                    return Err(text.to_owned());
                }
            };
        }
        Ok(())
    }
}

type Places = (Vec<workload::Target>, Vec<String>, Vec<usize>);

/// The different places of a time span, what the profile calls them, and the place of each target.
fn places(span: &TimeSpan, drives: &Drives, wrong: &mut Vec<String>) -> Places {
    let (mut targets, mut names, mut indexes) =
        (Vec::<workload::Target>::new(), Vec::new(), Vec::new());
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    for target in &span.targets {
        let path = match drives.path(&target.path) {
            Ok(path) => path,
            Err(error) => {
                wrong.push(error.to_string());
                continue;
            }
        };
        let index = *places.entry(path.clone()).or_insert_with(|| {
            targets.push(workload::Target { path, size_bytes: None });
            names.push(target.path.clone());
            targets.len() - 1
        });
        if let Some(place) = targets.get_mut(index) {
            place.size_bytes = place.size_bytes.max(created(target).map(Bytes));
        }
        indexes.push(index);
    }
    (targets, names, indexes)
}

/// The size of the file that is to be made; disks and volumes are not made.
#[must_use]
pub fn created(target: &Target) -> Option<u64> {
    target.create_bytes.filter(|&bytes| bytes > 0 && !is_device(&target.path))
}

/// Whether a name is that of a disk or a volume.
fn is_device(name: &str) -> bool {
    let mut chars = name.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('#'), Some(_), _) => true,
        (Some(letter), Some(':'), None) => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Which caches are used.
fn mode(target: &Target) -> Mode {
    match target.cache {
        _ if target.memory_mapped => Mode::Mapped,
        CacheMode::Cached => Mode::Buffered,
        CacheMode::DisableLocalCache | CacheMode::DisableOsCache => Mode::Direct,
    }
}

fn end(target: &Target) -> Option<u64> {
    (target.max_offset_bytes > 0).then_some(target.max_offset_bytes)
}

/// Each target has threads of its own.
fn owned(span: &TimeSpan, indexes: &[usize]) -> Vec<Stream> {
    let mut first_thread = 0u64;
    let mut streams = Vec::new();
    for (number, (target, &index)) in span.targets.iter().zip(indexes).enumerate() {
        let threads = target.threads_per_file;
        let name = if span.targets.len() == 1 {
            "main".to_owned()
        } else {
            format!("target {}", number + 1)
        };
        streams.push(Stream {
            name,
            targets: vec![index],
            threads,
            depth: target.outstanding,
            rate: rate(target, u64::from(threads)),
            think: think(target, threads),
            cpus: cpus(span, first_thread),
            ..stream(span, target)
        });
        first_thread += u64::from(threads);
    }
    streams
}

/// All threads share all targets, or each of them some.
fn pooled(span: &TimeSpan, indexes: &[usize], wrong: &mut Vec<String>) -> Vec<Stream> {
    let Some(first) = span.targets.first() else { return Vec::new() };
    let alike = |target: &Target| {
        let of_first = Target {
            path: target.path.clone(),
            create_bytes: target.create_bytes,
            weight: target.weight,
            thread_targets: target.thread_targets.clone(),
            ..first.clone()
        };
        of_first == *target
    };
    if !span.targets.iter().all(alike) {
        let text = "threads that share all targets (-F, ThreadCount) do the same on each of them here; of the targets, only Path, \
                    FileSize, Weight and ThreadTargets may differ";
        wrong.push(text.to_owned());
    }
    let mut seen = HashSet::new();
    if !indexes.iter().all(|index| seen.insert(index)) {
        wrong.push("with -F, a target is named once here".to_owned());
    }
    let groups = groups(span, wrong);
    let alone = groups.len() == 1;
    let together = first.interlocked || first.thread_stride_bytes > 0;
    if !alone && first.random_percent == 0 && together {
        let text = "threads that use different targets (ThreadTargets) have no shared cursor and no distance here; leave out \
                    InterlockedSequential and ThreadStride";
        wrong.push(text.to_owned());
    }
    let stream_of = |group: Group| {
        let weights: Vec<u32> = group.uses.iter().map(|(_, weight)| *weight).collect();
        let equal = weights.windows(2).all(|pair| pair.first() == pair.last());
        let (depth, share) = if span.draws_targets() {
            let weights = if equal { Vec::new() } else { weights };
            (span.request_count, PoolShare::Drawn { weights })
        } else {
            (first.outstanding, PoolShare::Each)
        };
        let users = u64::from(group.threads).saturating_mul(group.uses.len() as u64);
        Stream {
            name: if alone { "main".to_owned() } else { group.name() },
            targets: group.uses.iter().filter_map(|(n, _)| indexes.get(*n).copied()).collect(),
            threads: group.threads,
            depth,
            pool: Some(Pool { share }),
            rate: rate(first, users),
            think: think(first, group.threads),
            cpus: cpus(span, group.first.into()),
            ..stream(span, first)
        }
    };
    groups.into_iter().map(stream_of).collect()
}

/// Threads of a pool, one after the other by their numbers, that use the same targets with the same weights.
struct Group {
    first: u32,
    threads: u32,
    /// Numbers of the time span's targets, and their weights.
    uses: Vec<(usize, u32)>,
}

impl Group {
    fn name(&self) -> String {
        match self.threads {
            1 => format!("thread {}", self.first),
            threads => format!("threads {} to {}", self.first, self.first + (threads - 1)),
        }
    }
}

/// Who uses which targets. A target that names no threads is everybody's.
fn groups(span: &TimeSpan, wrong: &mut Vec<String>) -> Vec<Group> {
    let all = || span.targets.iter().map(|target| target.weight).enumerate().collect();
    if span.targets.iter().all(|target| target.thread_targets.is_empty()) {
        return vec![Group { first: 0, threads: span.thread_count, uses: all() }];
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut workers = 0;
    for thread in 0..span.thread_count {
        let weighed = |(n, target): (usize, &Target)| Some((n, weight_for(target, thread)?));
        let uses: Vec<_> = span.targets.iter().enumerate().filter_map(weighed).collect();
        if uses.is_empty() {
            wrong.push(format!(
                "thread {thread} has no target; name it in the ThreadTargets of one, or lower ThreadCount"
            ));
        }
        workers += uses.len();
        if workers > WORKERS_MAX {
            wrong.push(format!(
                "all threads together use more than {WORKERS_MAX} targets, each counted as often as it is used"
            ));
            break;
        }
        match groups.last_mut() {
            Some(last) if last.uses == uses => last.threads += 1,
            _ => groups.push(Group { first: thread, threads: 1, uses }),
        }
    }
    groups
}

/// The weight of a target for a thread of a pool, if the thread uses it.
fn weight_for(target: &Target, thread: u32) -> Option<u32> {
    let named = &target.thread_targets;
    if named.is_empty() {
        return Some(target.weight);
    }
    let own = named.iter().find(|named| named.thread == thread)?.weight;
    Some(if own > 0 { own } else { target.weight })
}

/// What does not depend on how many threads there are.
fn stream(span: &TimeSpan, target: &Target) -> Stream {
    let (content, content_file) = content(span, target);
    let write_percent = percent(target.write_percent);
    let flushes = target.memory_mapped && target.flush.is_some();
    let durable = flushes || (target.write_through && !target.memory_mapped);
    Stream {
        blocks: vec![Block { bytes: Bytes(u64::from(target.block_bytes)), weight: 1 }],
        write_percent,
        durable: durable && write_percent > 0,
        offset_bytes: Bytes(target.base_offset_bytes),
        diskspd: Some(order(target)),
        content,
        content_file,
        buffers: if target.large_pages { Buffers::Large } else { Buffers::Single },
        priority: match target.io_priority {
            1 => Some(Priority::Idle),
            2 => Some(Priority::BestEffort { level: 7 }),
            _ => None,
        },
        ..Stream::default()
    }
}

fn percent(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

fn order(target: &Target) -> DiskspdOrder {
    let access = match target.random_percent {
        100.. => DiskspdAccess::Random,
        1..=99 => DiskspdAccess::Mixed { random_percent: percent(target.random_percent) },
        0 if target.parallel_async => DiskspdAccess::Parallel,
        0 if target.interlocked => DiskspdAccess::Interlocked,
        0 => DiskspdAccess::Sequential,
    };
    DiskspdOrder {
        access,
        step_bytes: Bytes(target.step()),
        thread_stride_bytes: Bytes(target.thread_stride_bytes),
        slices: target.distribution.as_ref().map(slices).unwrap_or_default(),
    }
}

fn slices(distribution: &Distribution) -> DiskspdSlices {
    let ranges = distribution.ranges.iter();
    match distribution.kind {
        DistributionKind::Percent => {
            let pair = |r: &super::profile::DistributionRange| {
                (percent(r.io_percent), u8::try_from(r.extent).unwrap_or(u8::MAX))
            };
            DiskspdSlices::Percent(ranges.map(pair).collect())
        }
        DistributionKind::Absolute => DiskspdSlices::Absolute(
            ranges.map(|r| (percent(r.io_percent), Bytes(r.extent))).collect(),
        ),
    }
}

fn content(span: &TimeSpan, target: &Target) -> (Content, Option<PathBuf>) {
    match &target.write_content {
        WriteContent::Random { bytes, file } => {
            (Content::Source { bytes: Bytes(*bytes) }, file.as_ref().map(PathBuf::from))
        }
        WriteContent::Zero => (Content::Zero, None),
        WriteContent::Counting if span.random_write_data => (Content::Random, None),
        WriteContent::Counting => (Content::Counting, None),
    }
}

/// The most that all users of a target together do.
fn rate(target: &Target, users: u64) -> Option<Rate> {
    let users = users as f64;
    let limit = match target.throughput? {
        Throughput::Iops(iops) => RateLimit::Iops(f64::from(iops) * users),
        Throughput::BytesPerMs(bytes) => {
            RateLimit::MibPerS(f64::from(bytes) * 1000.0 / 1_048_576.0 * users)
        }
    };
    Some(Rate { limit, arrival: Arrival::Capped })
}

/// A pause after every so many I/Os of a thread; a limited throughput takes its place.
fn think(target: &Target, threads: u32) -> Option<Think> {
    let think_ms = target.think_ms.filter(|&ms| ms > 0 && target.throughput.is_none())?;
    let burst_ios = target.burst_ios.unwrap_or(0) / threads.max(1);
    let pause_ns = Nanoseconds(u64::from(think_ms) * 1_000_000);
    Some(Think { pause_ns, burst_ios: burst_ios.max(1), from: ThinkFrom::Submission })
}

/// The processors of threads from this number on.
fn cpus(span: &TimeSpan, first_thread: u64) -> Vec<u32> {
    let mut cpus: Vec<u32> = span
        .affinity
        .iter()
        .map(|p| p.group.saturating_mul(GROUP_CPUS).saturating_add(p.cpu))
        .collect();
    let turn = first_thread % (cpus.len().max(1) as u64);
    cpus.rotate_left(usize::try_from(turn).unwrap_or(0));
    cpus
}
