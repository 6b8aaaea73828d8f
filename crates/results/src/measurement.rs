//! The document of one measurement, `iosonde.measurement/1`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Stream, Workload};

use crate::agreement::Agreement;
use crate::contradiction::Contradiction;
use crate::environment::Environment;
use crate::histogram::Histogram;
use crate::noise::Stability;
use crate::phases::WriteCache;
use crate::sizes::Warmed;
use crate::steady::Steady;

/// The schema name that every measurement carries.
pub const MEASUREMENT_SCHEMA: &str = "iosonde.measurement/1";

/// One workload, what it gave, and whether to believe it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Which document this is: always `iosonde.measurement/1`.
    pub schema: String,
    /// Unique name of this measurement, by which the history finds it.
    pub id: String,
    /// Version of the program that measured.
    pub tool_version: String,
    /// When the run started: UTC, RFC 3339.
    pub started: String,
    /// The tool that measured; absent if it was iosonde.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Whether the run came to its end.
    pub status: Status,
    /// What was done, with every default written out.
    pub workload: Workload,
    /// The host and the storage that it was done on.
    pub environment: Environment,
    /// The I/O engine that the run used.
    pub engine: Engine,
    /// Length of the measured window in seconds.
    pub seconds: f64,
    /// How many threads all streams have together.
    pub threads: u64,
    /// Outstanding I/Os of each thread; absent if streams differ.
    pub depth: Option<u32>,
    /// Outstanding I/Os in all, as asked.
    pub in_flight: u64,
    /// Outstanding I/Os in all, averaged over the measured window.
    pub achieved_in_flight: f64,
    /// Bytes of all targets that I/O could use; absent, as 0 here, where another tool does not
    /// report them.
    #[serde(default, skip_serializing_if = "inspect::is_zero")]
    pub file_bytes: u64,
    /// Reads and writes of all streams together; flushes are not counted.
    pub total: Statistics,
    /// Reads of all streams together.
    pub read: Statistics,
    /// Writes of all streams together.
    pub write: Statistics,
    /// Flush calls. They count in no other figure.
    pub sync: Statistics,
    /// The same figures per stream.
    pub streams: Vec<StreamResult>,
    /// The same figures per target.
    pub targets: Vec<TargetResult>,
    /// The same figures per thread. A run of one thread has no histograms here: they equal those
    /// above.
    pub threads_detail: Vec<ThreadResult>,
    /// What happened in each interval of the window.
    pub series: Vec<Point>,
    /// What happened before that, if the beginning of the window turned out to be warm-up and was
    /// left out of every figure. Times are negative, up to 0: the beginning of what was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warmup_series: Vec<Point>,
    /// What was read of the target before, so that caches could fill, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmed: Option<Warmed>,
    /// How well the mean throughput is known; absent if the series is too short to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steady>,
    /// The level at first and the level that was left, if throughput fell permanently on the way: a
    /// write cache that was full, or burst credits that were used up. Seconds count from the
    /// beginning of `warmup_series`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<WriteCache>,
    /// For a workload that writes: steady state by the five rounds of the SNIA specification, as
    /// parts of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Stability>,
    /// What the run cost the host.
    pub cpu: Cpu,
    /// What the kernel counted on the device meanwhile; absent if there is no device to ask.
    pub kernel: Option<Kernel>,
    /// I/Os that failed, by kind of error and target.
    pub errors: Vec<ErrorRecord>,
    /// I/Os and threads that waited long.
    pub stalls: Stalls,
    /// Whether the figures fit together, and every reason to doubt them.
    pub checks: Checks,
    /// What each host of a fleet measured, where the figures above are those of several hosts
    /// together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostMeasurement>,
}

/// The part of one host in a measurement of several hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostMeasurement {
    /// The name by which the coordinator called the host.
    pub name: String,
    /// How long after the named moment its last thread started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_ns: Option<u64>,
    /// When its measured window began, in seconds after that moment.
    pub from_s: f64,
    /// What it measured: a whole document of this kind, as the host keeps it in its own history.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub measurement: Measurement,
}

impl Measurement {
    /// The bytes of all targets that I/O was spread over: all that could be used, unless the load
    /// keeps to a part.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        let targets = (self.workload.targets.len() as u64).max(1);
        let whole = self.file_bytes / targets;
        let span = |s: &Stream| s.span_bytes.map_or(whole, |b| b.0.min(whole));
        let used = self.workload.streams.iter().map(span).max().unwrap_or(whole);
        if used == whole { self.file_bytes } else { used.saturating_mul(targets) }
    }

    /// The size of each target, in bytes.
    #[must_use]
    pub fn target_bytes(&self) -> Vec<u64> {
        self.targets.iter().map(|target| target.file_bytes).collect()
    }

    /// Half of the 95 % interval of the throughput in percent of it, if it is known.
    #[must_use]
    pub fn half_width_percent(&self) -> Option<f64> {
        self.steady.as_ref()?.half_width_percent
    }

    /// Whether the interval is so wide that the figures are not known, so that nothing is judged by
    /// them.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        crate::steady::is_unsure(self.half_width_percent())
    }
}

/// Where a measurement comes from that iosonde did not make. What the tool did not report is empty
/// or absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The name of the tool: `SQLIO`, `DiskSpd`, `fio`.
    pub tool: String,
    /// Its version, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<String>,
    /// Name of the file that it was read from, without its directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The command line, if the tool writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_line: Option<String>,
    /// The true mean latency is at least the given one and at most this much above, because the
    /// tool cuts off fractions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_mean_short_by_ns: Option<u64>,
    /// Percent of the I/Os in each millisecond from 0 to 23 ms and above, rounded by the tool, of
    /// one that has nothing finer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram_percent: Option<Vec<u8>>,
}

/// Whether a run came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It did: the whole window was measured.
    Complete,
    /// A signal ended the run early; the figures are of the part that was measured.
    Interrupted,
    /// An I/O error ended the run early, or an I/O never returned, or a thread did not; the figures
    /// are of the part that was measured.
    Failed,
}

impl Status {
    const WORDS: [(Self, &'static str); 3] = [
        (Self::Complete, "complete"),
        (Self::Interrupted, "interrupted"),
        (Self::Failed, "failed"),
    ];

    /// Its word in tables and lists.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(status, _)| *status == self).map_or("failed", |(_, word)| word)
    }

    /// The status with this word, if there is one.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(status, _)| *status)
    }
}

/// The I/O engine that a run used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// The engine's name: `uring`, `aio`, `iocp`, `sync`, `mmap`, `null` or `sim`.
    /// Several, joined by `+`, if streams differ.
    pub name: String,
    /// Why this engine was chosen, in words.
    pub reason: String,
    /// Features that are in use, such as `defer_taskrun` or `fixed_buffers`.
    pub features: Vec<String>,
    /// Where the time stamps come from: `tsc`, `os` or `virtual`.
    pub clock: String,
}

/// Counts, rates and latencies of one kind of I/O in the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// I/Os that completed without error inside the window.
    pub ios: u64,
    /// How many bytes these I/Os moved.
    pub bytes: u64,
    /// I/Os per second of the window.
    pub iops: f64,
    /// MiB (2^20 bytes) per second of the window.
    pub mib_per_s: f64,
    /// I/Os that failed inside the window.
    pub errors: u64,
    /// From submission (in an open loop: from the intended start) to completion.
    pub latency_ns: Option<Latency>,
    /// Open loop only: from submission to completion.
    pub service_ns: Option<Latency>,
    /// Open loop only: from the intended start to submission.
    pub delay_ns: Option<Latency>,
    /// The latencies in the HdrHistogram V2 compressed encoding, base64.
    pub histogram: Option<String>,
}

/// A distribution of times in nanoseconds. A percentile is absent if fewer than ten I/Os lie above
/// it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the field names are the definition")]
pub struct Latency {
    pub min: Option<u64>,
    pub mean: f64,
    pub stddev: Option<f64>,
    pub max: Option<u64>,
    pub p50: Option<u64>,
    pub p90: Option<u64>,
    pub p95: Option<u64>,
    pub p99: Option<u64>,
    pub p99_9: Option<u64>,
    pub p99_99: Option<u64>,
    pub p99_999: Option<u64>,
}

impl Latency {
    /// The summary of a histogram; `None` if nothing was recorded.
    #[must_use]
    pub fn of(histogram: &Histogram) -> Option<Self> {
        Some(Self {
            min: histogram.min(),
            mean: histogram.mean()?,
            stddev: histogram.stddev(),
            max: histogram.max(),
            p50: histogram.supported_quantile(0.5),
            p90: histogram.supported_quantile(0.9),
            p95: histogram.supported_quantile(0.95),
            p99: histogram.supported_quantile(0.99),
            p99_9: histogram.supported_quantile(0.999),
            p99_99: histogram.supported_quantile(0.9999),
            p99_999: histogram.supported_quantile(0.99999),
        })
    }

    /// The percentiles with their names, in rising order.
    #[must_use]
    pub fn percentiles(&self) -> [(&'static str, Option<u64>); 7] {
        [
            ("p50", self.p50),
            ("p90", self.p90),
            ("p95", self.p95),
            ("p99", self.p99),
            ("p99.9", self.p99_9),
            ("p99.99", self.p99_99),
            ("p99.999", self.p99_999),
        ]
    }
}

/// The figures of one stream, over all of its threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamResult {
    /// Name of the stream in the workload.
    pub name: String,
    /// Its threads on all of its targets.
    pub threads: u64,
    /// I/Os that each of its threads keeps in flight.
    pub depth: u32,
    /// Asked rate that was reached, percent; absent without a rate.
    #[serde(default)]
    pub rate_reached_percent: Option<f64>,
    /// Reads and writes of this stream; flushes are not counted.
    pub total: Statistics,
    /// Reads of this stream.
    pub read: Statistics,
    /// Writes of this stream.
    pub write: Statistics,
    /// Flush calls of this stream.
    pub sync: Statistics,
}

/// The figures of one target, over all streams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetResult {
    /// The file or device that received the I/O.
    pub path: PathBuf,
    /// The bytes of it that I/O could use; absent, as 0 here, where another tool does not report
    /// them.
    #[serde(default, skip_serializing_if = "inspect::is_zero")]
    pub file_bytes: u64,
    /// What is known of its content: what wrote it, and which bytes.
    pub content: String,
    /// Reads and writes of this target; flushes are not counted.
    pub total: Statistics,
    /// Reads of this target.
    pub read: Statistics,
    /// Writes to this target.
    pub write: Statistics,
    /// Flush calls for this target.
    pub sync: Statistics,
}

/// The figures of one thread; of a thread of a pool, those on one of its targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadResult {
    /// Name of the stream that it belongs to.
    pub stream: String,
    /// Index of its target in `targets`.
    pub target: usize,
    /// Its number among the threads of its stream and target, from 0; in a pool, among all threads
    /// of its stream.
    pub thread: u32,
    /// Outstanding I/Os, averaged over the measured window.
    pub achieved_depth: f64,
    /// CPU time the thread used in the window, on all of its targets, as percent of one core;
    /// absent if the system does not report it.
    pub cpu_percent: Option<f64>,
    /// Reads and writes of this thread; flushes are not counted.
    pub total: Statistics,
    /// Reads of this thread.
    pub read: Statistics,
    /// Writes of this thread.
    pub write: Statistics,
    /// Flush calls of this thread.
    pub sync: Statistics,
    /// What it did in each interval, if the workload asks for it (`thread_series`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<ThreadPoint>,
}

/// What one thread did in one interval of the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPoint {
    /// End of the interval, in seconds from the start of the window.
    pub t: f64,
    /// Length of the interval in seconds.
    pub seconds: f64,
    /// Reads that completed in the interval.
    pub read: IntervalSpread,
    /// Writes that completed in the interval.
    pub write: IntervalSpread,
}

/// I/Os of one kind in one interval, and how their latencies are spread. Latencies are absent if
/// nothing completed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalSpread {
    /// I/Os that completed in it without error.
    pub ios: u64,
    /// The shortest latency, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<u64>,
    /// The mean latency, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// The standard deviation of the latencies, in nanoseconds; its divisor is the number of I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stddev_ns: Option<f64>,
    /// The longest latency, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
}

/// What happened in one interval of the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// End of the interval, in seconds from the start of the window.
    pub t: f64,
    /// Length of the interval in seconds.
    pub seconds: f64,
    /// Reads that completed per second.
    pub read_iops: f64,
    /// Writes that completed per second.
    pub write_iops: f64,
    /// MiB read per second.
    pub read_mib_per_s: f64,
    /// MiB written per second.
    pub write_mib_per_s: f64,
    /// Mean latency of the reads; absent without reads.
    pub read_mean_ns: Option<f64>,
    /// Mean latency of the writes; absent without writes.
    pub write_mean_ns: Option<f64>,
    /// 99th percentile of the reads' latency.
    pub read_p99_ns: Option<u64>,
    /// 99th percentile of the writes' latency.
    pub write_p99_ns: Option<u64>,
    /// Longest latency of any I/O, in nanoseconds.
    pub max_ns: Option<u64>,
    /// I/Os that failed in the interval.
    pub errors: u64,
}

/// What the run cost the host in the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// CPU seconds of iosonde in user mode.
    pub user_s: Option<f64>,
    /// CPU seconds of iosonde in the kernel.
    pub system_s: Option<f64>,
    /// Time of iosonde in user mode per I/O, in microseconds.
    pub user_us_per_io: Option<f64>,
    /// User and kernel CPU per I/O, microseconds.
    pub total_us_per_io: Option<f64>,
    /// The busiest submitting thread, as percent of one core.
    pub busiest_thread_percent: Option<f64>,
    /// The busiest core of the host, percent.
    pub busiest_core_percent: Option<f64>,
    /// All cores of the host together, percent.
    pub host_percent: Option<f64>,
}

/// What the kernel counted on the device under the target, over the measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// The device, or several joined by `+`.
    pub device: String,
    /// Length of the kernel's window in seconds.
    pub seconds: f64,
    /// Share of the device's I/O that was not this measurement's, percent; absent if the tool's I/O
    /// need not reach the device as it was issued.
    #[serde(default)]
    pub foreign_percent: Option<f64>,
    /// Reads per second that the device completed.
    pub read_iops: f64,
    /// Writes per second that the device completed.
    pub write_iops: f64,
    /// Bytes that these reads moved per second.
    pub read_bytes_per_s: f64,
    /// Bytes that these writes moved per second.
    pub write_bytes_per_s: f64,
    /// Mean time of a read in the block layer and device; absent without reads.
    pub read_latency_ns: Option<f64>,
    /// Mean time of a write in the block layer and device; absent without writes.
    pub write_latency_ns: Option<f64>,
    /// I/Os in flight at the device, averaged.
    pub average_queue: f64,
    /// Share of the window in which the device had anything to do, percent.
    pub utilisation_percent: f64,
    /// Flushes per second that the device completed.
    pub flushes_per_s: f64,
    /// 100 minus the largest difference between the tool's and the kernel's IOPS and bytes, in
    /// percent.
    pub agreement_percent: Option<f64>,
    /// The comparison figure by figure; absent if the tool's I/O need not reach the device as it
    /// was issued.
    pub agreement: Option<Agreement>,
}

/// The reason that an I/O failed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// EIO: the device or the path failed.
    Io,
    /// ENOSPC: the file system is full.
    NoSpace,
    /// It moved fewer bytes than asked, and there are no more to come.
    ShortTransfer,
    /// The device was removed, or its path is gone.
    NoDevice,
    /// The kernel refused the request as invalid: usually size or alignment.
    Invalid,
    /// The target may not be written.
    ReadOnly,
    /// The I/O took longer than the kernel allows.
    TimedOut,
    /// Anything else; the message has the number.
    Other,
}

/// Failed I/Os of one kind on one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorRecord {
    /// Why they failed.
    pub kind: ErrorKind,
    /// What failed: `read`, `write` or `sync`.
    pub operation: String,
    /// The path of the file or device.
    pub path: PathBuf,
    /// How many failed in the whole run: those of the warm-up and of the time after the window
    /// included, which the `errors` of the statistics leave out.
    pub count: u64,
    /// Where the first of them was, in bytes.
    pub first_offset_bytes: u64,
    /// What the system reported for the first.
    pub message: String,
}

/// I/Os and threads that waited long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stalls {
    /// The longest time in the measured window in which nothing completed on any one thread.
    pub longest_gap_ns: u64,
    /// I/Os that took 15 s or more from submission, including those that never returned.
    pub over_15_s: u64,
    /// I/Os that were still in flight when the run gave up waiting.
    pub unfinished: u64,
    /// How long the oldest of those had been in flight when the run ended.
    pub oldest_unfinished_ns: u64,
    /// I/Os that completed in the slowest whole second of the measured window; absent if it has
    /// fewer than two, or intervals that do not add up to seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest_second_iops: Option<f64>,
}

/// Checks of the figures against each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// Deviation of IOPS x mean service time from `achieved_in_flight`, percent. I/Os that failed
    /// or never returned count with their time.
    pub littles_law_percent: Option<f64>,
    /// What iosonde reaches on this host without any I/O, if it was measured.
    pub tool_ceiling_iops: Option<f64>,
    /// Asked rate that was reached, percent; only in an open loop, and the lowest of all streams
    /// that have a rate.
    pub rate_reached_percent: Option<f64>,
    /// Every reason to doubt a figure, one sentence each.
    pub warnings: Vec<String>,
    /// Figures of another tool that contradict each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
}
