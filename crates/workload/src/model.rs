//! The words of a workload.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::order::{Buffers, DiskspdOrder, Pool, PoolShare};
use crate::sim::SimDevice;
use crate::units::{Bytes, Nanoseconds};

/// Everything that one measurement does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The files, directories or devices that receive the I/O. Every stream works on every target unless it names its own.
    pub targets: Vec<Target>,
    /// What runs at the same time.
    #[serde(default = "one_stream")]
    pub streams: Vec<Stream>,
    /// Length of the measured window in seconds.
    #[serde(default = "default_seconds")]
    pub seconds: f64,
    /// When the window may end before its length. The warm-up is then cut by rule, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// I/O in this many seconds before the window is done but not counted.
    #[serde(default = "default_warmup")]
    pub warmup_seconds: f64,
    /// I/O goes on for this many seconds after the window and is not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cooldown_seconds: f64,
    /// Which backend makes the I/O.
    #[serde(default)]
    pub engine: EngineChoice,
    /// Whether the operating system's cache is used.
    #[serde(default)]
    pub mode: Mode,
    /// How a worker waits for its I/Os.
    #[serde(default)]
    pub completion: Completion,
    /// Distance of the points of the interval series. 10 ms to 1 h.
    #[serde(default = "default_interval")]
    pub interval_ns: Nanoseconds,
    /// What a failed I/O does to the run.
    #[serde(default)]
    pub on_error: OnError,
    /// Where every random choice starts. The same seed gives the same offsets, sizes and directions for each thread.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The simulated device of the engine `sim`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sim: Option<SimDevice>,
}

/// How well a figure must be known for a measurement to end before its time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Precision {
    /// Half of the width of the 95 % confidence interval of the mean throughput, in percent of it.
    pub percent: f64,
    /// No end before this length.
    pub at_least_seconds: f64,
    /// Of a workload that writes, no end before it has written this much, because no statistic foresees the moment at which a write
    /// cache is full …
    pub written_bytes: Bytes,
    /// … or before this length.
    pub written_seconds: f64,
}

impl Default for Precision {
    /// 2 % after at least 15 s; writes 32 GiB or a minute.
    fn default() -> Self {
        Self {
            percent: 2.0,
            at_least_seconds: 15.0,
            written_bytes: Bytes(32 << 30),
            written_seconds: 60.0,
        }
    }
}

/// One thing that receives I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// A directory (a test file is made inside), a file, or a block device.
    pub path: PathBuf,
    /// How much of it is used. Needed where a file is to be made; otherwise the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<Bytes>,
}

/// Threads doing one kind of I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stream {
    /// How the stream is called in results.
    pub name: String,
    /// Indexes into the workload's targets; empty means all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<usize>,
    /// Threads for each target; of a pool, threads in all.
    pub threads: u32,
    /// Outstanding I/Os of each thread; of a pool where each target has them, of each thread on each target.
    pub depth: u32,
    /// Block sizes and how often each is chosen.
    pub blocks: Vec<Block>,
    /// Where the next I/O goes.
    pub pattern: Pattern,
    /// Share of I/Os that ignore a sequential or strided order and go to a random place instead, in percent.
    pub random_percent: u8,
    /// How random offsets are spread over the span.
    pub distribution: Distribution,
    /// Random offsets are multiples of this; by default of the largest block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align_bytes: Option<Bytes>,
    /// Share of I/Os that write, in percent.
    pub write_percent: u8,
    /// Flush calls between writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncPolicy>,
    /// Every write is on stable media before it completes (write-through, O_DSYNC).
    pub durable: bool,
    /// An open loop: I/Os are due at given moments, whether or not the storage keeps up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Pauses between bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// Where the used part of each target begins.
    pub offset_bytes: Bytes,
    /// Length of the used part of each target; by default up to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<Bytes>,
    /// DiskSpd's order of offsets and directions instead of the one that `pattern`, `random_percent`, `distribution` and
    /// `align_bytes` describe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diskspd: Option<DiskspdOrder>,
    /// Threads that work on all targets of the stream at once; without it, each thread has one target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pool>,
    /// How the memory of one I/O is laid out.
    #[serde(skip_serializing_if = "Buffers::is_single")]
    pub buffers: Buffers,
    /// What is written.
    pub content: Content,
    /// The file whose bytes fill the buffer of the content `source`, repeated where it is shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_file: Option<PathBuf>,
    /// CPUs that the stream's threads are bound to, in turn; empty leaves it to the system.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// I/O priority of the stream's threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
}

impl Default for Stream {
    /// One thread of 8 KiB random reads, one at a time.
    fn default() -> Self {
        Self {
            name: "main".to_owned(),
            targets: Vec::new(),
            threads: 1,
            depth: 1,
            blocks: vec![Block { bytes: Bytes(8192), weight: 1 }],
            pattern: Pattern::Random,
            random_percent: 0,
            distribution: Distribution::Uniform,
            align_bytes: None,
            write_percent: 0,
            sync: None,
            durable: false,
            rate: None,
            think: None,
            offset_bytes: Bytes(0),
            span_bytes: None,
            diskspd: None,
            pool: None,
            buffers: Buffers::Single,
            content: Content::Random,
            content_file: None,
            cpus: Vec::new(),
            priority: None,
        }
    }
}

impl Stream {
    /// The largest block of the stream, in bytes.
    #[must_use]
    pub fn largest_block(&self) -> u64 {
        self.blocks.iter().map(|b| b.bytes.0).max().unwrap_or(0)
    }

    /// The distance of possible random offsets, in bytes.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.align_bytes.map_or_else(|| self.largest_block(), |a| a.0)
    }

    /// Whether any I/O of the stream writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.write_percent > 0
    }

    /// Whether any I/O of the stream reads.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.write_percent < 100
    }

    /// Whether I/Os are due at given moments, whether or not the storage keeps up.
    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        self.rate.is_some_and(|r| r.arrival != Arrival::Capped)
    }

    /// Indexes of the targets that the stream works on, of `count` targets in all.
    #[must_use]
    pub fn target_indexes(&self, count: usize) -> Vec<usize> {
        if self.targets.is_empty() { (0..count).collect() } else { self.targets.clone() }
    }

    /// Threads of the stream in all, of a workload with `count` targets.
    #[must_use]
    pub fn threads_in_all(&self, count: usize) -> u64 {
        let each = if self.pool.is_some() { 1 } else { self.targets_of(count) };
        u64::from(self.threads).saturating_mul(each)
    }

    /// Outstanding I/Os of one thread of the stream, on all of its targets, of a workload with `count` targets.
    #[must_use]
    pub fn depth_of_thread(&self, count: usize) -> u64 {
        let on_each = self.pool.as_ref().is_some_and(|p| p.share == PoolShare::Each);
        u64::from(self.depth).saturating_mul(if on_each { self.targets_of(count) } else { 1 })
    }

    fn targets_of(&self, count: usize) -> u64 {
        (if self.targets.is_empty() { count } else { self.targets.len() }) as u64
    }
}

impl Workload {
    /// A workload of one stream on one target, everything else by default.
    #[must_use]
    pub fn single(target: Target, stream: Stream) -> Self {
        Self {
            targets: vec![target],
            streams: vec![stream],
            seconds: default_seconds(),
            precision: None,
            warmup_seconds: default_warmup(),
            cooldown_seconds: 0.0,
            engine: EngineChoice::default(),
            mode: Mode::default(),
            completion: Completion::default(),
            interval_ns: default_interval(),
            on_error: OnError::default(),
            seed: default_seed(),
            sim: None,
        }
    }

    /// Threads in all: of every stream on each of its targets, or on all of them.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.sum_over_streams(|s| s.threads_in_all(self.targets.len()))
    }

    /// I/Os in flight in all, when every thread holds its depth.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let count = self.targets.len();
        self.sum_over_streams(|s| s.threads_in_all(count).saturating_mul(s.depth_of_thread(count)))
    }

    /// The depth that all streams share, if they do.
    #[must_use]
    pub fn common_depth(&self) -> Option<u32> {
        let first = self.streams.first()?.depth;
        self.streams.iter().all(|s| s.depth == first).then_some(first)
    }

    /// Workers in all, whose figures are kept apart: of every thread on each of its targets.
    pub(crate) fn workers(&self) -> u64 {
        let count = self.targets.len();
        self.sum_over_streams(|s| u64::from(s.threads).saturating_mul(s.targets_of(count)))
    }

    fn sum_over_streams(&self, of: impl Fn(&Stream) -> u64) -> u64 {
        self.streams.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Whether any stream writes to the target of this index.
    #[must_use]
    pub fn writes_to(&self, target: usize) -> bool {
        let count = self.targets.len();
        self.streams.iter().any(|s| s.writes() && s.target_indexes(count).contains(&target))
    }
}

/// A block size and its weight among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Size of one I/O.
    pub bytes: Bytes,
    /// Relative frequency; only the ratio to the other weights counts.
    #[serde(default = "one")]
    pub weight: u32,
}

/// Where the next I/O goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// Anywhere in the span, by the stream's distribution.
    #[default]
    Random,
    /// One after the other; each thread has a cursor of its own, and the threads start evenly spread over the span.
    Sequential,
    /// One after the other; all threads of a stream share one cursor for each target.
    SequentialShared,
    /// Each thread steps by a fixed distance from the start of one I/O to the start of the next.
    Stride {
        /// The distance.
        stride_bytes: Bytes,
    },
    /// SQLIO's matrix of blocks, row by row `columns` wide and `rows` high. Of `T` threads, thread `t` owns the columns from
    /// `t * (columns / T)` on. It goes down one of them, then down the next, and after its last it begins again: I/O `k` of run `r`
    /// is at block `k * columns + t * (columns / T) + r mod (columns / T)`.
    Matrix {
        /// Blocks of a row, at least as many as there are threads: SQLIO's stripe factor.
        columns: u32,
        /// I/Os of one run: blocks of a column.
        rows: u32,
        /// Every run is down the thread's first column, as in SQLIO 1.1.1.
        #[serde(default)]
        same_column: bool,
    },
}

/// How random offsets are spread over the span.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// Every place is equally likely.
    #[default]
    Uniform,
    /// The k-th most used place is used in proportion to k^-theta; the places are scattered over the span.
    Zipf {
        /// The exponent; 0.99 is the one of most key-value benchmarks.
        theta: f64,
    },
    /// A hot part at the start of the span receives a given share of the I/Os, the rest of the span the others.
    Hot {
        /// Share of the span that is hot, in percent.
        span_percent: f64,
        /// Share of the I/Os that go there, in percent.
        access_percent: f64,
    },
}

/// Which backend makes the I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// The best that works for this target and depth; the result says which and why.
    #[default]
    Auto,
    /// Linux io_uring.
    Uring,
    /// Linux native asynchronous I/O (libaio's system calls).
    Aio,
    /// pread and pwrite, one at a time for each thread.
    Sync,
    /// Completes at once without any I/O: what the tool itself costs.
    Null,
    /// A simulated device on a virtual clock.
    Sim,
}

impl EngineChoice {
    /// The name on the command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Uring => "uring",
            Self::Aio => "aio",
            Self::Sync => "sync",
            Self::Null => "null",
            Self::Sim => "sim",
        }
    }

    /// Whether this engine leaves real targets alone.
    #[must_use]
    pub fn is_artificial(self) -> bool {
        matches!(self, Self::Null | Self::Sim)
    }
}

/// Whether the operating system's cache is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// I/O goes past the cache of the operating system (O_DIRECT).
    #[default]
    Direct,
    /// I/O goes through the cache of the operating system.
    Buffered,
    /// The target is mapped into memory, and I/O is copying. A durable write is followed by msync of its range.
    Mapped,
}

/// How a worker waits for its I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// Sleep until one completes.
    #[default]
    Block,
    /// Look for completions without ever sleeping: lower latency on some devices, a core for each thread.
    Spin,
}

/// What a failed I/O does to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The run ends; what was measured until then is kept.
    #[default]
    Stop,
    /// The error is counted and the run goes on.
    Continue,
}

/// Flush calls between writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyncPolicy {
    /// Each thread flushes after this many of its own writes.
    pub every_writes: u32,
    /// The call that flushes.
    #[serde(default)]
    pub call: SyncCall,
}

/// The call that flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncCall {
    /// Data and all metadata.
    Fsync,
    /// Data and the metadata needed to read it.
    #[default]
    Fdatasync,
}

/// When I/Os of an open loop are due.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// How much, for the whole stream over all of its threads and targets.
    pub limit: RateLimit,
    /// How the I/Os are spaced.
    #[serde(default)]
    pub arrival: Arrival,
}

/// How much an open loop offers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateLimit {
    /// I/Os for each second.
    Iops(f64),
    /// MiB for each second.
    MibPerS(f64),
}

/// How the I/Os of an open loop are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// At equal distances.
    #[default]
    Even,
    /// At exponentially distributed distances, as independent users make them.
    Poisson,
    /// A cap on a closed loop instead of an open one: no I/O starts before its share of the rate is due, and latency counts from
    /// its submission. The rate is one on average from the start of the run: what a stall held up may follow at full speed.
    Capped,
}

/// Pauses between bursts: a thread issues a burst, waits until all of it is complete, then pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Think {
    /// The pause.
    pub pause_ns: Nanoseconds,
    /// I/Os in a burst.
    #[serde(default = "one")]
    pub burst_ios: u32,
    /// When the pause begins.
    #[serde(default, skip_serializing_if = "ThinkFrom::is_completion")]
    pub from: ThinkFrom,
}

/// When the pause after a burst begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThinkFrom {
    /// When all of the burst is complete.
    #[default]
    Completion,
    /// When the last of the burst is issued.
    Submission,
}

impl ThinkFrom {
    /// Whether it is the ordinary one.
    #[must_use]
    pub fn is_completion(&self) -> bool {
        *self == Self::Completion
    }
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Content {
    /// Incompressible, and no two blocks alike.
    #[default]
    Random,
    /// Zeros: what storage with compression or zero detection likes best.
    Zero,
    /// A share of each 4 KiB is zeros, the rest incompressible.
    Compressible {
        /// The share of zeros, in percent.
        percent: u8,
    },
    /// The bytes 0 to 255, over and over: what compresses and repeats.
    Counting,
    /// Parts of one buffer of this size, from random places in it. Its bytes are random, or those of the stream's `content_file`.
    Source {
        /// Size of the buffer.
        bytes: Bytes,
    },
}

/// I/O priority of a thread, for schedulers that honour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Priority {
    /// Only when nobody else wants the device.
    Idle,
    /// The ordinary class with a level from 0 (first) to 7 (last).
    BestEffort {
        /// 0 to 7.
        level: u8,
    },
    /// Before everybody else, level 0 (first) to 7 (last). Needs privileges.
    Realtime {
        /// 0 to 7.
        level: u8,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

fn one() -> u32 {
    1
}

fn one_stream() -> Vec<Stream> {
    vec![Stream::default()]
}

pub(crate) fn default_seconds() -> f64 {
    30.0
}

pub(crate) fn default_warmup() -> f64 {
    3.0
}

fn default_interval() -> Nanoseconds {
    Nanoseconds(1_000_000_000)
}

pub(crate) fn default_seed() -> u64 {
    42
}
