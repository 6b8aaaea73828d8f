//! A profile from XML.

use std::fmt;

use roxmltree::{Document, Node, ParsingOptions};
use thiserror::Error;

use super::shape::{self, FLUSH, PRECREATE, boolean, number, text_of};
use super::{
    CacheMode, Distribution, DistributionKind, DistributionRange, Etw, FlushType, Precreate,
    Processor, Profile, ResultFormat, Target, ThreadTarget, Throughput, TimeSpan, WriteContent,
};
use crate::markup::{Limits, TooMuch, guard};
use crate::text::decode;

/// The most that is read as a profile.
const LIMITS: Limits = Limits { bytes: 4 << 20, depth: 32, tag_bytes: 4096 };
/// The most elements, attributes and texts of a profile.
const NODES_MAX: u32 = 400_000;

/// An error at one place of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The number of the line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// What is wrong at this place.
    pub what: String,
}

impl Wrong {
    pub(super) fn at(document: &Document<'_>, node: Node<'_, '_>, what: String) -> Self {
        let place = document.text_pos_at(node.range().start);
        Self { line: place.row, column: place.col, what }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

/// Why bytes are not a profile.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// The document exceeds a limit: its size, its nesting, or the size of a tag.
    #[error("this is too much for a profile: {0}")]
    TooMuch(#[from] TooMuch),
    /// The text cannot be parsed as XML.
    #[error("this is not XML: {0}")]
    Malformed(String),
    /// The text is XML, but not a profile.
    #[error("{}", lines(.0))]
    Shape(Vec<Wrong>),
}

fn lines(wrong: &[Wrong]) -> String {
    wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Reads a profile. It has the right shape then, but may still break the rules.
pub fn read(bytes: &[u8]) -> Result<Profile, ProfileError> {
    // In UTF-16, four bytes are at least one of UTF-8.
    if bytes.len() > LIMITS.bytes.saturating_mul(2) {
        return Err(TooMuch::Long(LIMITS.bytes).into());
    }
    let text = decode(bytes);
    guard(&text, LIMITS)?;
    let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&text, options)
        .map_err(|error| ProfileError::Malformed(malformed(&error, &text)))?;
    let mut wrong = shape::check(&document);
    if wrong.is_empty() {
        wrong = strides_of_random(&document);
    }
    if wrong.is_empty() {
        Ok(profile(document.root_element()))
    } else {
        Err(ProfileError::Shape(wrong))
    }
}

/// The error for a text that is not XML, after its line and column.
fn malformed(error: &roxmltree::Error, text: &str) -> String {
    let (mut what, mut place) = (error.to_string(), error.pos());
    match what.strip_suffix(&format!(" at {place}")) {
        Some(short) => what = short.to_owned(),
        // An end that is missing is missing at the end.
        None if matches!(error, roxmltree::Error::UnclosedRootNode) => {
            let count = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
            place.row = count(text.matches('\n').count());
            place.col = count(text.rsplit('\n').next().unwrap_or_default().chars().count());
        }
        None => {}
    }
    format!("line {}, column {}: {what}", place.row, place.col)
}

/// Targets that say both how far sequential I/Os are apart and that they are random.
fn strides_of_random(document: &Document<'_>) -> Vec<Wrong> {
    let strides = document.descendants().filter(|node| node.has_tag_name("StrideSize"));
    let random = |node: &Node<'_, '_>| {
        let mut siblings = node.parent().into_iter().flat_map(|parent| parent.children());
        siblings.any(|n| n.has_tag_name("Random") || n.has_tag_name("RandomRatio"))
    };
    let what = "`StrideSize` belongs to sequential I/O and excludes `Random` and `RandomRatio`";
    let wrong = |node| Wrong::at(document, node, what.to_owned());
    strides.filter(random).map(wrong).collect()
}

/// Looks up the children of an element whose shape is right.
#[derive(Clone, Copy)]
struct Children<'a>(Node<'a, 'a>);

impl<'a> Children<'a> {
    fn get(self, name: &str) -> Option<Node<'a, 'a>> {
        self.0.children().find(|node| node.has_tag_name(name))
    }

    fn all(self, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
        self.0.children().filter(move |node| node.has_tag_name(name))
    }

    fn text(self, name: &str) -> Option<String> {
        self.get(name).map(text_of)
    }

    fn u64(self, name: &str) -> Option<u64> {
        self.get(name).and_then(|node| number(&text_of(node)))
    }

    fn u32(self, name: &str) -> Option<u32> {
        self.u64(name).and_then(|value| u32::try_from(value).ok())
    }

    fn bool(self, name: &str) -> bool {
        self.get(name).and_then(|node| boolean(&text_of(node))).unwrap_or(false)
    }
}

fn profile(root: Node<'_, '_>) -> Profile {
    let of = Children(root);
    let spans = of.get("TimeSpans").into_iter().flat_map(|node| Children(node).all("TimeSpan"));
    let xml = of.text("ResultFormat").is_some_and(|format| format == "xml");
    let precreate =
        of.text("PrecreateFiles").map(|which| match PRECREATE.iter().position(|p| *p == which) {
            Some(0) => Precreate::UseMaxSize,
            Some(1) => Precreate::ConstantSizes,
            _ => Precreate::ConstantOrZeroSizes,
        });
    Profile {
        time_spans: spans.map(time_span).collect(),
        progress: of.u32("Progress").unwrap_or(0),
        experiment_flags: of.u32("ExperimentFlags").unwrap_or(0),
        result_format: if xml { ResultFormat::Xml } else { ResultFormat::Text },
        verbose: of.bool("Verbose"),
        verbose_stats: of.bool("VerboseStats"),
        precreate,
        etw: of.get("ETW").and_then(etw),
        ..Profile::default()
    }
}

/// A trace is wanted as soon as anything is set in it.
fn etw(node: Node<'_, '_>) -> Option<Etw> {
    let of = Children(node);
    node.children().find(Node::is_element)?;
    Some(Etw {
        process: of.bool("Process"),
        thread: of.bool("Thread"),
        image_load: of.bool("ImageLoad"),
        disk_io: of.bool("DiskIO"),
        memory_page_faults: of.bool("MemoryPageFaults"),
        memory_hard_faults: of.bool("MemoryHardFaults"),
        network: of.bool("Network"),
        registry: of.bool("Registry"),
        use_paged_memory: of.bool("UsePagedMemory"),
        use_perf_timer: of.bool("UsePerfTimer"),
        use_system_timer: of.bool("UseSystemTimer"),
        use_cycles_counter: of.bool("UseCyclesCounter"),
    })
}

fn time_span(node: Node<'_, '_>) -> TimeSpan {
    let of = Children(node);
    let usual = TimeSpan::default();
    let targets = of.get("Targets").into_iter().flat_map(|node| Children(node).all("Target"));
    TimeSpan {
        targets: targets.map(target).collect(),
        duration_s: of.u32("Duration").unwrap_or(usual.duration_s),
        warmup_s: of.u32("Warmup").unwrap_or(usual.warmup_s),
        cooldown_s: of.u32("Cooldown").unwrap_or(usual.cooldown_s),
        seed: of.u32("RandSeed").unwrap_or(usual.seed),
        thread_count: of.u32("ThreadCount").unwrap_or(usual.thread_count),
        request_count: of.u32("RequestCount").unwrap_or(usual.request_count),
        affinity: of.get("Affinity").map(affinity).unwrap_or_default(),
        disable_affinity: of.bool("DisableAffinity"),
        random_write_data: of.bool("RandomWriteData"),
        completion_routines: of.bool("CompletionRoutines"),
        measure_latency: of.bool("MeasureLatency"),
        iops_std_dev: of.bool("CalculateIopsStdDev"),
        io_bucket_ms: of.u32("IoBucketDuration").unwrap_or(usual.io_bucket_ms),
    }
}

fn affinity(node: Node<'_, '_>) -> Vec<Processor> {
    let attribute = |node: Node<'_, '_>, name| {
        let value = node.attribute(name).and_then(number);
        value.and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
    };
    let grouped = Children(node).all("AffinityGroupAssignment").map(|node| Processor {
        group: attribute(node, "Group"),
        cpu: attribute(node, "Processor"),
    });
    let old = Children(node).all("AffinityAssignment").map(|node| {
        let cpu = number(&text_of(node)).and_then(|cpu| u32::try_from(cpu).ok());
        Processor { group: 0, cpu: cpu.unwrap_or(0) }
    });
    grouped.chain(old).collect()
}

fn target(node: Node<'_, '_>) -> Target {
    let of = Children(node);
    let usual = Target::default();
    let random = of.u64("Random");
    let random_percent = of.u32("RandomRatio").unwrap_or(if random.is_some() { 100 } else { 0 });
    let (cache, write_through) = caches(of);
    let throughput = of.u32("Throughput").filter(|&limit| limit > 0).map(|limit| {
        let unit = of.get("Throughput").and_then(|node| node.attribute("unit"));
        if unit == Some("IOPS") { Throughput::Iops(limit) } else { Throughput::BytesPerMs(limit) }
    });
    let flush = of.text("FlushType").map(|kind| match FLUSH.iter().position(|f| *f == kind) {
        Some(0) => FlushType::ViewOfFile,
        Some(1) => FlushType::NonVolatileMemory,
        _ => FlushType::NonVolatileMemoryNoDrain,
    });
    let threads =
        of.get("ThreadTargets").into_iter().flat_map(|node| Children(node).all("ThreadTarget"));
    Target {
        path: of.text("Path").unwrap_or_default(),
        block_bytes: of.u32("BlockSize").unwrap_or(usual.block_bytes),
        step_bytes: random.or(of.u64("StrideSize")).filter(|&step| step > 0),
        random_percent,
        distribution: of.get("Distribution").and_then(distribution),
        interlocked: of.bool("InterlockedSequential"),
        parallel_async: of.bool("ParallelAsyncIO"),
        thread_stride_bytes: of.u64("ThreadStride").unwrap_or(0),
        base_offset_bytes: of.u64("BaseFileOffset").unwrap_or(0),
        max_offset_bytes: of.u64("MaxFileSize").unwrap_or(0),
        create_bytes: of.u64("FileSize"),
        sequential_scan: of.bool("SequentialScan"),
        random_access: of.bool("RandomAccess"),
        temporary: of.bool("TemporaryFile"),
        large_pages: of.bool("UseLargePages"),
        cache,
        write_through,
        memory_mapped: of.bool("MemoryMappedIo"),
        flush,
        write_content: of.get("WriteBufferContent").map(write_content).unwrap_or_default(),
        burst_ios: of.u32("BurstSize"),
        think_ms: of.u32("ThinkTime"),
        throughput,
        threads_per_file: of.u32("ThreadsPerFile").unwrap_or(usual.threads_per_file),
        outstanding: of.u32("RequestCount").unwrap_or(usual.outstanding),
        write_percent: of.u32("WriteRatio").unwrap_or(usual.write_percent),
        io_priority: of.u32("IOPriority").unwrap_or(usual.io_priority),
        weight: of.u32("Weight").unwrap_or(usual.weight),
        thread_targets: threads.map(thread_target).collect(),
    }
}

fn thread_target(node: Node<'_, '_>) -> ThreadTarget {
    let of = Children(node);
    ThreadTarget { thread: of.u32("Thread").unwrap_or(0), weight: of.u32("Weight").unwrap_or(0) }
}

/// Which caches are used, and whether writes go through them.
fn caches(of: Children<'_>) -> (CacheMode, bool) {
    let all = of.bool("DisableAllCache");
    let cache = if of.bool("DisableLocalCache") {
        CacheMode::DisableLocalCache
    } else if all || of.bool("DisableOSCache") {
        CacheMode::DisableOsCache
    } else {
        CacheMode::Cached
    };
    (cache, all || of.bool("WriteThrough"))
}

fn write_content(node: Node<'_, '_>) -> WriteContent {
    match Children(node).text("Pattern").as_deref() {
        Some("zero") => WriteContent::Zero,
        Some("random") => {
            let source = Children(node).get("RandomDataSource").map(Children);
            WriteContent::Random {
                bytes: source.and_then(|of| of.u64("SizeInBytes")).unwrap_or(0),
                file: source.and_then(|of| of.text("FilePath")),
            }
        }
        _ => WriteContent::Counting,
    }
}

fn distribution(node: Node<'_, '_>) -> Option<Distribution> {
    let of = Children(node);
    let (kind, inside) = match (of.get("Percent"), of.get("Absolute")) {
        (Some(inside), _) => (DistributionKind::Percent, inside),
        (None, inside) => (DistributionKind::Absolute, inside?),
    };
    let range = |node: Node<'_, '_>| {
        let io = node.attribute("IO").and_then(number).and_then(|io| u32::try_from(io).ok());
        DistributionRange {
            io_percent: io.unwrap_or(0),
            extent: number(&text_of(node)).unwrap_or(0),
        }
    };
    let ranges = Children(inside).all("Range").map(range).collect();
    let mut distribution = Distribution { kind, ranges };
    distribution.complete();
    Some(distribution)
}
