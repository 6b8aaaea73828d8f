//! A time span as a workload.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use workload::{
    Arrival, Block, Buffers, Bytes, Content, DiskspdAccess, DiskspdOrder, DiskspdSlices, Hint,
    Mode, Nanoseconds, Pool, PoolMember, PoolShare, Priority, Rate, RateLimit, Stream,
    THREAD_POINTS_MAX, Think, ThinkFrom, Workload,
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

/// A time span in iosonde's words.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The same as a workload of iosonde.
    pub workload: Workload,
    /// The names that the workload's targets have in the profile.
    pub names: Vec<String>,
    /// What iosonde does in another way than DiskSpd on Windows.
    pub notes: Vec<String>,
    /// Where the used part of each stream's targets ends; none: at their ends.
    ends: Vec<Option<u64>>,
    /// The sizes that are asked for, of the targets that are made: the files that are made may be
    /// longer.
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
    let interval_ms = if span.iops_std_dev { span.io_bucket_ms } else { 1000 };
    if !(1..=3_600_000).contains(&interval_ms) {
        wrong.push(format!("intervals (-D) are 1 ms to 1 h long here, and not {interval_ms} ms"));
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
    let ends =
        if streams.len() == 1 { vec![end(first)] } else { span.targets.iter().map(end).collect() };
    let mode = common_mode(&mut streams);
    let asked = targets.iter().map(|target| target.size_bytes.map(|size| size.0)).collect();
    let mut workload = Workload {
        targets,
        streams,
        seconds: f64::from(span.duration_s),
        warmup_seconds: f64::from(span.warmup_s),
        cooldown_seconds: f64::from(span.cooldown_s),
        mode,
        interval_ns: Nanoseconds(u64::from(interval_ms) * 1_000_000),
        seed: u64::from(span.seed),
        ..Workload::default()
    };
    workload.thread_series = span.iops_std_dev && has_room_for_thread_series(&workload);
    Ok(Job { workload, names, notes: notes::of(span), ends, asked })
}

fn has_room_for_thread_series(workload: &Workload) -> bool {
    workload.thread_points() <= THREAD_POINTS_MAX
}

impl Job {
    /// Does without the series of single threads where it would be too long, and says so; to be
    /// called when the length of the window is settled.
    pub fn fit_series(&mut self, span: &TimeSpan) {
        self.workload.thread_series =
            span.iops_std_dev && has_room_for_thread_series(&self.workload);
        if span.iops_std_dev && !self.workload.thread_series {
            self.notes.push(notes::without_thread_series(&self.workload));
        }
    }

    /// For targets that are made before all time spans, what is asked for is used, too.
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

    /// Ends the used parts within targets of these sizes, in the workload's order.
    pub fn fit(&mut self, sizes: &[u64]) {
        self.part(sizes);
        let parts: Vec<Vec<Used>> = self.used(sizes);
        for (stream, used) in self.workload.streams.iter_mut().zip(parts) {
            let limited = used.iter().find(|used| used.end < used.size || used.limited);
            stream.span_bytes =
                limited.map(|used| Bytes(used.end.saturating_sub(stream.offset_bytes.0)));
        }
    }

    /// What each stream uses of each of its targets.
    fn used(&self, sizes: &[u64]) -> Vec<Vec<Used>> {
        let streams = self.workload.streams.iter().zip(&self.ends);
        let of = |(stream, end): (&Stream, &Option<u64>)| {
            let one = |target: usize| {
                let size = *sizes.get(target)?;
                let limits = [*end, self.asked(target)];
                let end = limits.into_iter().flatten().fold(size, u64::min);
                Some(Used { size, end, limited: limits.iter().any(Option::is_some) })
            };
            stream.target_indexes(sizes.len()).into_iter().filter_map(one).collect()
        };
        streams.map(of).collect()
    }

    /// Threads that share targets of which they use parts of different sizes work for a stream for
    /// each of them.
    fn part(&mut self, sizes: &[u64]) {
        let alike = |used: &Vec<Used>| {
            let limited = used.iter().any(|used| used.limited);
            !limited || used.windows(2).all(|pair| matches!(pair, [a, b] if a.end == b.end))
        };
        if self.used(sizes).iter().all(alike) {
            return;
        }
        let (mut streams, mut ends) = (Vec::new(), Vec::new());
        for (stream, end) in self.workload.streams.iter().zip(&self.ends) {
            let apart = apart(stream);
            ends.extend(std::iter::repeat_n(*end, apart.len()));
            streams.extend(apart);
        }
        (self.workload.streams, self.ends) = (streams, ends);
    }
}

/// What a stream uses of a target.
struct Used {
    size: u64,
    end: u64,
    /// The end is set, even if it is where the target ends.
    limited: bool,
}

/// A pool's stream as one for each of its targets, with the same threads.
fn apart(stream: &Stream) -> Vec<Stream> {
    let count = stream.targets.len();
    let Some(pool) = stream.pool.as_ref().filter(|_| count > 1) else {
        return vec![stream.clone()];
    };
    let part = |(number, target): (usize, &usize)| {
        let share = match &pool.share {
            PoolShare::Drawn { weights } => {
                PoolShare::Drawn { weights: weights.get(number).into_iter().copied().collect() }
            }
            share => share.clone(),
        };
        let limit = |limit| match limit {
            RateLimit::Iops(iops) => RateLimit::Iops(iops / count as f64),
            RateLimit::MibPerS(mib) => RateLimit::MibPerS(mib / count as f64),
        };
        Stream {
            name: format!("target {}", number + 1),
            targets: vec![*target],
            pool: Some(Pool { share }),
            joined: number > 0,
            rate: stream.rate.map(|rate| Rate { limit: limit(rate.limit), ..rate }),
            ..stream.clone()
        }
    };
    stream.targets.iter().enumerate().map(part).collect()
}

/// The mode of all streams, which then have no mode themselves; the mode of the first if they
/// differ.
fn common_mode(streams: &mut [Stream]) -> Mode {
    let modes: Vec<Mode> = streams.iter().filter_map(|stream| stream.mode).collect();
    let first = modes.first().copied().unwrap_or_default();
    if modes.iter().all(|mode| *mode == first) {
        for stream in streams.iter_mut() {
            stream.mode = None;
        }
    }
    first
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

/// The caches that a target uses.
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
        let (path, create_bytes) = (target.path.clone(), target.create_bytes);
        let of_first = Target { path, create_bytes, weight: target.weight, ..first.clone() };
        of_first == *target && target.thread_targets.is_empty()
    };
    let mut seen = HashSet::new();
    let apart = indexes.iter().all(|index| seen.insert(index));
    if apart && span.targets.iter().all(alike) {
        return vec![shared(span, indexes, first)];
    }
    check_shared(span, wrong);
    let large = span.targets.iter().any(|target| target.large_pages);
    let one = |(number, (target, &index)): (usize, (&Target, &usize))| {
        let members = members(target);
        let named = u32::try_from(members.len()).unwrap_or(u32::MAX);
        let users = if members.is_empty() { span.thread_count } else { named };
        let (depth, share) = if span.draws_targets() {
            (span.request_count, PoolShare::Drawn { weights: vec![target.weight] })
        } else {
            (target.outstanding, PoolShare::Each)
        };
        Stream {
            name: format!("target {}", number + 1),
            targets: vec![index],
            threads: span.thread_count,
            depth,
            pool: Some(Pool { share }),
            joined: number > 0,
            members,
            rate: rate(target, users.into()),
            think: think(target, users),
            cpus: cpus(span, 0),
            buffers: if large { Buffers::Large } else { Buffers::Single },
            ..stream(span, target)
        }
    };
    span.targets.iter().zip(indexes).enumerate().map(one).collect()
}

/// All threads do the same on all targets.
fn shared(span: &TimeSpan, indexes: &[usize], first: &Target) -> Stream {
    let weights: Vec<u32> = span.targets.iter().map(|target| target.weight).collect();
    let equal = weights.windows(2).all(|pair| pair.first() == pair.last());
    let (depth, share) = if span.draws_targets() {
        let weights = if equal { Vec::new() } else { weights };
        (span.request_count, PoolShare::Drawn { weights })
    } else {
        (first.outstanding, PoolShare::Each)
    };
    let threads = span.thread_count;
    let users = u64::from(threads).saturating_mul(span.targets.len() as u64);
    Stream {
        targets: indexes.to_vec(),
        threads,
        depth,
        pool: Some(Pool { share }),
        rate: rate(first, users),
        think: think(first, threads),
        cpus: cpus(span, 0),
        ..stream(span, first)
    }
}

/// What a thread has once must be the same for all of its targets, and each must have one.
fn check_shared(span: &TimeSpan, wrong: &mut Vec<String>) {
    let differ = |of: &dyn Fn(&Target) -> u32| {
        let first = span.targets.first().map(of);
        span.targets.iter().any(|target| Some(of(target)) != first)
    };
    if differ(&|target| target.io_priority) {
        let text = "threads that share targets (-F, ThreadCount) have one priority for all of \
                    them here; give all the same IOPriority";
        wrong.push(text.to_owned());
    }
    if differ(&|target| target.memory_mapped.into()) {
        let text = "threads that share targets (-F, ThreadCount) map all of them into memory \
                    (-Sm) or none here; give the others their own threads, or a time span";
        wrong.push(text.to_owned());
    }
    if span.targets.iter().any(|target| target.thread_targets.is_empty()) {
        return;
    }
    let named = span.targets.iter().flat_map(|target| &target.thread_targets);
    let busy: HashSet<u32> = named.map(|named| named.thread).collect();
    if let Some(idle) = (0..span.thread_count).find(|thread| !busy.contains(thread)) {
        wrong.push(format!(
            "thread {idle} has no target; name it in the ThreadTargets of one, or lower \
             ThreadCount"
        ));
    }
}

/// The threads that a target names, each once: of several mentions, the first holds.
fn members(target: &Target) -> Vec<PoolMember> {
    let weight = |weight: u32| (weight > 0).then_some(weight);
    let named = target.thread_targets.iter();
    let mut members: Vec<PoolMember> =
        named.map(|t| PoolMember { thread: t.thread, weight: weight(t.weight) }).collect();
    members.sort_by_key(|member| member.thread);
    members.dedup_by_key(|member| member.thread);
    members
}

/// What does not depend on how many threads there are.
fn stream(span: &TimeSpan, target: &Target) -> Stream {
    let (content, content_file) = content(span, target);
    let write_percent = percent(target.write_percent);
    let flushes = target.memory_mapped && target.flush.is_some();
    let durable = flushes || (target.write_through && !target.memory_mapped);
    let mode = mode(target);
    let hint = match (target.random_access, target.sequential_scan) {
        (true, _) => Some(Hint::Random),
        (false, true) => Some(Hint::Sequential),
        (false, false) => None,
    };
    Stream {
        blocks: vec![Block { bytes: Bytes(u64::from(target.block_bytes)), weight: 1 }],
        write_percent,
        durable: durable && write_percent > 0,
        mode: Some(mode),
        // Past the cache, there is nobody to tell.
        hint: hint.filter(|_| mode != Mode::Direct),
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
