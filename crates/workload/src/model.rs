//! The words of a workload.

use std::ops::Range;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::order::PoolShare;
use crate::sim::SimDevice;
use crate::stream::{Stream, is_false};
use crate::units::{Bytes, Nanoseconds};

/// Everything that one measurement does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The files, directories or devices that receive the I/O. Every stream works on every target
    /// unless it names its own.
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
    /// I/O continues for this many seconds after the window and is not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cooldown_seconds: f64,
    /// The engine that does the I/O.
    #[serde(default)]
    pub engine: EngineChoice,
    /// Whether the operating system's cache is used.
    #[serde(default)]
    pub mode: Mode,
    /// How a worker waits for its I/Os.
    #[serde(default)]
    pub completion: Completion,
    /// Distance of the points of the interval series. 10 ms to 1 h; of at most 16 threads from 1 ms
    /// on.
    #[serde(default = "default_interval")]
    pub interval_ns: Nanoseconds,
    /// Whether each thread has its own interval series. At most 100,000 points of all threads.
    #[serde(default, skip_serializing_if = "is_false")]
    pub thread_series: bool,
    /// What to do after a failed I/O.
    #[serde(default)]
    pub on_error: OnError,
    /// Seed of every random choice. The same seed gives the same offsets, sizes and directions per
    /// thread.
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
    /// With a precision, the window does not end before this length.
    pub at_least_seconds: f64,
    /// A workload that writes also has to write this much, or for `written_seconds`: no statistic
    /// foresees when a write cache is full.
    pub written_bytes: Bytes,
    /// The alternative to `written_bytes`: a window of this length.
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

/// A file, device or directory that receives I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// A directory (a test file is made inside), a file, or a block device.
    pub path: PathBuf,
    /// How much of it is used. Needed where a file is to be made; otherwise the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<Bytes>,
}

impl Default for Workload {
    /// The usual stream, on no target yet.
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            streams: one_stream(),
            seconds: default_seconds(),
            precision: None,
            warmup_seconds: default_warmup(),
            cooldown_seconds: 0.0,
            engine: EngineChoice::default(),
            mode: Mode::default(),
            completion: Completion::default(),
            interval_ns: default_interval(),
            thread_series: false,
            on_error: OnError::default(),
            seed: default_seed(),
            sim: None,
        }
    }
}

impl Workload {
    /// A workload of one stream on one target, everything else by default.
    #[must_use]
    pub fn single(target: Target, stream: Stream) -> Self {
        Self { targets: vec![target], streams: vec![stream], ..Self::default() }
    }

    /// Threads in all: of every stream on each of its targets, or on all of them.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.sum_over_streams(|s| match &s.pool {
            Some(_) if s.joined => 0,
            Some(_) => s.threads.into(),
            None => s.threads_in_all(self.targets.len()),
        })
    }

    /// Streams that share their threads, as ranges of their indexes: one stream where nothing is
    /// joined.
    #[must_use]
    pub fn crews(&self) -> Vec<Range<usize>> {
        let mut crews: Vec<Range<usize>> = Vec::new();
        for (index, stream) in self.streams.iter().enumerate() {
            match crews.last_mut() {
                Some(crew) if stream.joined => crew.end = index + 1,
                _ => crews.push(index..index + 1),
            }
        }
        crews
    }

    /// Whether a stream uses the operating system's cache.
    #[must_use]
    pub fn mode_of(&self, stream: &Stream) -> Mode {
        stream.mode.unwrap_or(self.mode)
    }

    /// The modes of all streams, each once.
    #[must_use]
    pub fn modes(&self) -> Vec<Mode> {
        let mut modes = Vec::new();
        for mode in self.streams.iter().map(|s| self.mode_of(s)) {
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        modes
    }

    /// Whether all I/O goes past the operating system's cache.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.streams.iter().all(|s| self.mode_of(s) == Mode::Direct)
    }

    /// I/Os in flight in all, when every thread holds its depth.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let count = self.targets.len();
        self.sum_over_streams(|s| {
            let each = s.pool.as_ref().is_none_or(|p| p.share == PoolShare::Each);
            let threads = match each {
                true => s.threads_in_all(count),
                // The share belongs to the thread, however many streams it works for.
                false if s.joined => 0,
                false => s.threads.into(),
            };
            threads.saturating_mul(s.depth_of_thread(count))
        })
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
        self.sum_over_streams(|s| {
            let targets = if s.pool.is_some() { s.targets_of(count) } else { 1 };
            s.threads_in_all(count).saturating_mul(targets)
        })
    }

    /// Points that the series of all threads have together, where each has its own: one per
    /// interval of the window, thread and target.
    #[must_use]
    pub fn thread_points(&self) -> u64 {
        let window_ns = Nanoseconds::from_seconds(self.seconds).0;
        let points = window_ns.div_ceil(self.interval_ns.0.max(1));
        points.saturating_mul(self.workers())
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

/// The I/O engine that issues the I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// The best that works for this target and depth; the result says which and why.
    #[default]
    Auto,
    /// Linux io_uring, several I/Os per system call.
    Uring,
    /// Linux native asynchronous I/O (libaio's system calls).
    Aio,
    /// Windows' completion ports.
    Iocp,
    /// pread and pwrite, or ReadFile and WriteFile; one at a time per thread.
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
            Self::Iocp => "iocp",
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
    /// The target is mapped into memory, and I/O is copying. A durable write is followed by msync
    /// of its range.
    Mapped,
}

/// How a worker waits for its I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// Sleep in the kernel until one completes.
    #[default]
    Block,
    /// Look for completions without ever sleeping: lower latency on some devices, one core per
    /// thread.
    Spin,
}

/// What to do after a failed I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The run ends, and keeps what was measured until then.
    #[default]
    Stop,
    /// The error is counted and the run continues.
    Continue,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
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
