//! What DiskSpd is asked to do, whether by a command line or by an XML profile, in DiskSpd's own
//! words.
//!
//! A [`Profile`] is plain data: it may break every rule, until the rules are asked. Sizes are bytes
//! unless a name says otherwise.

mod build;
mod shape;
mod substitute;
mod text;
mod write;

use std::collections::HashMap;

pub use build::{ProfileError, Wrong, read};
pub use shape::schema;

/// The block size where none is given.
pub const BLOCK_BYTES_DEFAULT: u32 = 64 * 1024;

/// Everything that one call of DiskSpd does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The words of the command line with the program's name, joined by blanks: the first line of a
    /// result as text.
    pub command_line: String,
    /// What runs one after the other.
    pub time_spans: Vec<TimeSpan>,
    /// A dot after every so many completions of a thread; 0: none.
    pub progress: u32,
    /// Flags of experiments; 1 allows throttled threads to sleep longer than a millisecond.
    pub experiment_flags: u32,
    /// The form of the result (`-R`).
    pub result_format: ResultFormat,
    /// Only the profile is shown, and nothing runs.
    pub profile_only: bool,
    /// Print messages about what it is doing (`-v`).
    pub verbose: bool,
    /// How threads waited is part of the result.
    pub verbose_stats: bool,
    /// Which files are made before the first time span; none: each time span makes its own.
    pub precreate: Option<Precreate>,
    /// The trace of the kernel of Windows that is asked for.
    pub etw: Option<Etw>,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            command_line: "diskspd".to_owned(),
            time_spans: Vec::new(),
            progress: 0,
            experiment_flags: 0,
            result_format: ResultFormat::Text,
            profile_only: false,
            verbose: false,
            verbose_stats: false,
            precreate: None,
            etw: None,
        }
    }
}

impl Profile {
    /// The files that are made before the first time span, with their sizes: the names as they were
    /// written.
    #[must_use]
    pub fn precreated(&self) -> Vec<(String, u64)> {
        let Some(which) = self.precreate else { return Vec::new() };
        let mut files: Vec<(String, Vec<&Target>)> = Vec::new();
        let mut indexes: HashMap<&str, usize> = HashMap::new();
        for target in self.time_spans.iter().flat_map(|span| &span.targets) {
            let index = *indexes.entry(&target.path).or_insert(files.len());
            match files.get_mut(index) {
                Some((_, mentions)) => mentions.push(target),
                None => files.push((target.path.clone(), vec![target])),
            }
        }
        let wanted = |(path, mentions): (String, Vec<&Target>)| {
            let sizes: Vec<u64> = mentions.iter().map(|t| t.create_bytes.unwrap_or(0)).collect();
            let largest = sizes.iter().copied().max().filter(|&size| size > 0)?;
            let is_wanted = match which {
                Precreate::UseMaxSize => true,
                Precreate::ConstantSizes => sizes.iter().all(|&size| size == largest),
                Precreate::ConstantOrZeroSizes => {
                    sizes.iter().all(|&size| size == largest || size == 0)
                }
            };
            is_wanted.then_some((path, largest))
        };
        files.into_iter().filter_map(wanted).collect()
    }
}

/// In which form DiskSpd prints a result (`-R`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultFormat {
    /// Text: tables for people.
    #[default]
    Text,
    /// XML: elements for programs.
    Xml,
}

/// Which of the files that several time spans name are made before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precreate {
    /// All, with the largest size that is asked for.
    UseMaxSize,
    /// Those for which the same size is asked everywhere, and it is not 0.
    ConstantSizes,
    /// Those for which the same size is asked everywhere but where it is 0.
    ConstantOrZeroSizes,
}

/// A trace of the Windows kernel: which events, and by which clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an element of a profile")]
pub struct Etw {
    /// When processes start and end.
    pub process: bool,
    /// When threads start and end.
    pub thread: bool,
    /// When programs and libraries are loaded.
    pub image_load: bool,
    /// When disks are read and written.
    pub disk_io: bool,
    /// Every page fault, whether or not it reads from a disk.
    pub memory_page_faults: bool,
    /// Page faults that read from a disk.
    pub memory_hard_faults: bool,
    /// When data is sent or received over TCP and UDP.
    pub network: bool,
    /// When programs use the Windows registry.
    pub registry: bool,
    /// Buffers that may be paged out.
    pub use_paged_memory: bool,
    /// Time stamps from the performance counter.
    pub use_perf_timer: bool,
    /// Time stamps from the system time.
    pub use_system_timer: bool,
    /// The counter of CPU cycles as clock.
    pub use_cycles_counter: bool,
}

/// What runs at the same time, and how long.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option or an element of a profile")]
pub struct TimeSpan {
    /// The targets that receive I/O in it.
    pub targets: Vec<Target>,
    /// Length of the measured window in seconds.
    pub duration_s: u32,
    /// Seconds of I/O before the window.
    pub warmup_s: u32,
    /// Seconds of I/O after the window.
    pub cooldown_s: u32,
    /// Where the random choices of the first thread start.
    pub seed: u32,
    /// Threads that share all targets (`-F`); 0: each target has threads of its own.
    pub thread_count: u32,
    /// Outstanding I/Os of each of those threads over all of its targets (`-O`); 0: as many as the
    /// targets say.
    pub request_count: u32,
    /// The processors that threads are bound to, in turn; empty: all.
    pub affinity: Vec<Processor>,
    /// Threads are bound to no processor (`-n`).
    pub disable_affinity: bool,
    /// Every write has new random bytes (`-Zr`).
    pub random_write_data: bool,
    /// Completion routines instead of completion ports (`-x`).
    pub completion_routines: bool,
    /// Latencies are part of the result (`-L`).
    pub measure_latency: bool,
    /// I/Os of each interval are part of the result (`-D`).
    pub iops_std_dev: bool,
    /// Length of an interval of the series in milliseconds.
    pub io_bucket_ms: u32,
}

impl Default for TimeSpan {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            duration_s: 10,
            warmup_s: 5,
            cooldown_s: 0,
            seed: 0,
            thread_count: 0,
            request_count: 0,
            affinity: Vec::new(),
            disable_affinity: false,
            random_write_data: false,
            completion_routines: false,
            measure_latency: false,
            iops_std_dev: false,
            io_bucket_ms: 1000,
        }
    }
}

impl TimeSpan {
    /// Threads of all targets together, or of the pool.
    #[must_use]
    pub fn threads(&self) -> u64 {
        if self.thread_count > 0 {
            return u64::from(self.thread_count);
        }
        self.targets.iter().map(|t| u64::from(t.threads_per_file)).sum()
    }

    /// Whether each I/O of a thread draws its target, as `-F` and `-O` together say.
    #[must_use]
    pub fn draws_targets(&self) -> bool {
        self.thread_count > 0 && self.request_count > 0
    }
}

/// A processor by its group and its number in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processor {
    /// The group, of at most 64 processors.
    pub group: u32,
    /// The number of the processor within its group.
    pub cpu: u32,
}

/// A file, disk or volume, and the I/O that it receives.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option or an element of a profile")]
pub struct Target {
    /// Its name as it was written: a path, `#1` for a disk, `C:` for a volume, `*1` for a template.
    pub path: String,
    /// Size of one I/O in bytes.
    pub block_bytes: u32,
    /// Multiple of random offsets, or distance of sequential ones; none: the block.
    pub step_bytes: Option<u64>,
    /// Share of random I/Os in percent: 0 sequential, 100 random, mixed in between.
    pub random_percent: u32,
    /// How random I/Os are spread; none: evenly.
    pub distribution: Option<Distribution>,
    /// All threads share one sequential cursor (`-si`).
    pub interlocked: bool,
    /// Each outstanding I/O has its own sequential cursor (`-p`).
    pub parallel_async: bool,
    /// Distance of the threads' first I/Os (`-T`); 0: all start at the same place.
    pub thread_stride_bytes: u64,
    /// Where the used part begins (`-B`).
    pub base_offset_bytes: u64,
    /// Where the used part ends (`-f`); 0: where the target ends.
    pub max_offset_bytes: u64,
    /// The file is made with this size (`-c`); 0 makes an empty file. `None` uses an existing file.
    pub create_bytes: Option<u64>,
    /// Opened with the hint that it will be read from begin to end (`-fs`).
    pub sequential_scan: bool,
    /// Opened with the hint that it will be read anywhere (`-fr`).
    pub random_access: bool,
    /// Opened with the hint that it is temporary (`-ft`).
    pub temporary: bool,
    /// Whether buffers are in large pages (`-l`).
    pub large_pages: bool,
    /// The caches that I/O goes through.
    pub cache: CacheMode,
    /// Writes go through to the medium.
    pub write_through: bool,
    /// I/O is copying to and from mapped memory (`-Sm`).
    pub memory_mapped: bool,
    /// How mapped writes are made durable.
    pub flush: Option<FlushType>,
    /// The bytes that writes carry (`-Z`).
    pub write_content: WriteContent,
    /// I/Os after which a thread pauses (`-i`).
    pub burst_ios: Option<u32>,
    /// The pause after a burst, in milliseconds (`-j`).
    pub think_ms: Option<u32>,
    /// The most that a thread does on this target (`-g`).
    pub throughput: Option<Throughput>,
    /// How many threads work on this target (`-t`).
    pub threads_per_file: u32,
    /// Queue depth: outstanding I/Os per thread (`-o`).
    pub outstanding: u32,
    /// Share of writes in percent (`-w`).
    pub write_percent: u32,
    /// Priority: 1 very low, 2 low, 3 normal (`-I`).
    pub io_priority: u32,
    /// Relative frequency among the targets of threads that draw their targets.
    pub weight: u32,
    /// The threads that use this target, of those that share all; empty: all of them.
    pub thread_targets: Vec<ThreadTarget>,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            path: String::new(),
            block_bytes: BLOCK_BYTES_DEFAULT,
            step_bytes: None,
            random_percent: 0,
            distribution: None,
            interlocked: false,
            parallel_async: false,
            thread_stride_bytes: 0,
            base_offset_bytes: 0,
            max_offset_bytes: 0,
            create_bytes: None,
            sequential_scan: false,
            random_access: false,
            temporary: false,
            large_pages: false,
            cache: CacheMode::Cached,
            write_through: false,
            memory_mapped: false,
            flush: None,
            write_content: WriteContent::Counting,
            burst_ios: None,
            think_ms: None,
            throughput: None,
            threads_per_file: 1,
            outstanding: 2,
            write_percent: 0,
            io_priority: 3,
            weight: 1,
            thread_targets: Vec::new(),
        }
    }
}

impl Target {
    /// Multiple of random offsets, or distance of sequential ones.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step_bytes.filter(|&step| step > 0).unwrap_or(u64::from(self.block_bytes))
    }

    /// Whether its name is a template's, to be replaced by a target of the command line.
    #[must_use]
    pub fn is_template(&self) -> bool {
        self.path.starts_with('*')
    }
}

/// The caches that I/O goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheMode {
    /// The operating system's cache.
    #[default]
    Cached,
    /// Not the local one of a file on another host, but that host's (`-Sr`).
    DisableLocalCache,
    /// None of the operating system's (`-Su`).
    DisableOsCache,
}

/// How mapped writes are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushType {
    /// By a call that writes the view (`-Nv`).
    ViewOfFile,
    /// By instructions of the CPU (`-Nn`).
    NonVolatileMemory,
    /// By the same without waiting for the last (`-Ni`).
    NonVolatileMemoryNoDrain,
}

/// The bytes that writes carry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WriteContent {
    /// The bytes 0 to 255, over and over.
    #[default]
    Counting,
    /// Zeros only (`-Z`).
    Zero,
    /// Parts of one buffer (`-Z<size>[,file]`).
    Random {
        /// Size of the buffer in bytes.
        bytes: u64,
        /// The file whose bytes fill it, over and over; none: random bytes.
        file: Option<String>,
    },
}

/// The most that a thread does on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Throughput {
    /// So many I/Os per second.
    Iops(u32),
    /// So many bytes per millisecond.
    BytesPerMs(u32),
}

/// How random I/Os are spread over a target: slices, one after the other from its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    /// What the extents of the slices are.
    pub kind: DistributionKind,
    /// The slices, from the beginning of the target on.
    pub ranges: Vec<DistributionRange>,
}

/// What the extents of slices are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistributionKind {
    /// Slices in percent of the target.
    Percent,
    /// Bytes; a last extent of 0 is up to the target's end.
    Absolute,
}

impl Distribution {
    /// The remaining I/Os go to the rest of the target, in a last slice.
    pub(super) fn complete(&mut self) {
        let io: u32 = self.ranges.iter().fold(0, |sum, r| sum.saturating_add(r.io_percent));
        let target = self.ranges.iter().fold(0u64, |sum, r| sum.saturating_add(r.extent));
        let extent = match self.kind {
            DistributionKind::Percent => 100u64.saturating_sub(target),
            DistributionKind::Absolute => 0,
        };
        let is_open = self.kind == DistributionKind::Absolute || extent > 0;
        if io < 100 && is_open {
            self.ranges.push(DistributionRange { io_percent: 100 - io, extent });
        }
    }
}

/// A slice, and its share of the I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistributionRange {
    /// Share of the I/Os in percent; 0 is a hole.
    pub io_percent: u32,
    /// Percent of the target, or bytes.
    pub extent: u64,
}

/// A thread that uses a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadTarget {
    /// Number of the thread in the run.
    pub thread: u32,
    /// Weight of the target for this thread; 0: the target's own.
    pub weight: u32,
}
