//! The document of one measurement, `iosonde.measurement/1`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Stream, Workload};

use crate::agreement::Agreement;
use crate::histogram::Histogram;
use crate::noise::Stability;
use crate::phases::WriteCache;
use crate::steady::Steady;

/// The schema name that every measurement carries.
pub const MEASUREMENT_SCHEMA: &str = "iosonde.measurement/1";

/// One workload, what it gave, and whether to believe it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Always `iosonde.measurement/1`.
    pub schema: String,
    /// Unique name of this measurement.
    pub id: String,
    /// Version of the program that measured.
    pub tool_version: String,
    /// Start of the run, UTC, RFC 3339.
    pub started: String,
    /// The tool that measured; none where it was iosonde.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// How the run ended.
    pub status: Status,
    /// What was done, with every default written out.
    pub workload: Workload,
    /// Where it was done.
    pub environment: Environment,
    /// What made the I/O.
    pub engine: Engine,
    /// Length of the measured window in seconds.
    pub seconds: f64,
    /// Threads in all.
    pub threads: u64,
    /// Outstanding I/Os of each thread; none where streams differ.
    pub depth: Option<u32>,
    /// Outstanding I/Os in all, as asked.
    pub in_flight: u64,
    /// Outstanding I/Os in all, averaged over the measured window.
    pub achieved_in_flight: f64,
    /// Bytes of all targets that I/O could use.
    pub file_bytes: u64,
    /// Reads and writes together.
    pub total: Statistics,
    /// Reads.
    pub read: Statistics,
    /// Writes.
    pub write: Statistics,
    /// Flush calls. They count in no other figure.
    pub sync: Statistics,
    /// The same for each stream.
    pub streams: Vec<StreamResult>,
    /// The same for each target.
    pub targets: Vec<TargetResult>,
    /// The same for each thread. A run of one thread has no histograms here: they equal those
    /// above.
    pub threads_detail: Vec<ThreadResult>,
    /// What happened in each interval.
    pub series: Vec<Point>,
    /// What happened before that, where the beginning of the window turned out to be warm-up and
    /// was left out of every figure. Times are up to 0, the beginning of what was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warmup_series: Vec<Point>,
    /// How well the mean throughput is known; none where the series is too short to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steady>,
    /// What came first and what was left, where throughput fell for good on the way: a write cache
    /// that was full, or burst credits that were used up. Seconds are counted from the beginning of
    /// `warmup_series`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<WriteCache>,
    /// Of a workload that writes: steady state by the five rounds of the SNIA specification, as
    /// parts of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Stability>,
    /// What the run cost the host.
    pub cpu: Cpu,
    /// What the kernel counted on the device meanwhile; none where there is no device to ask.
    pub kernel: Option<Kernel>,
    /// Failed I/Os by kind.
    pub errors: Vec<ErrorRecord>,
    /// Long waits.
    pub stalls: Stalls,
    /// Whether the figures fit together, and every reason to doubt them.
    pub checks: Checks,
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

    /// Half of the 95 % interval of the throughput in percent of it, where it is known.
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

/// Where a measurement comes from that iosonde did not make. What the tool did not tell is empty or
/// absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The tool: `SQLIO`, `DiskSpd`, `fio`.
    pub tool: String,
    /// Its version, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<String>,
    /// Name of the file that it was read from, without its directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The command line, where the tool writes it.
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

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The whole window was measured.
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

    /// The status with this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(status, _)| *status)
    }
}

/// Where a measurement was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The machine; none for a simulated device.
    pub host: Option<inspect::Host>,
    /// How the storage under each target is set up, in the order of the targets.
    pub storage: Vec<inspect::Storage>,
}

impl Environment {
    /// The machine that measured.
    #[must_use]
    pub fn hostname(&self) -> Option<String> {
        self.host.as_ref().map(|host| host.hostname.clone())
    }

    /// What a list calls the disk under the first target: its model, else its name.
    #[must_use]
    pub fn device(&self) -> Option<String> {
        let device = self.storage.first()?.devices.first()?;
        Some(device.model.clone().unwrap_or_else(|| device.name.clone()))
    }
}

/// What made the I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// The backend: `uring`, `aio`, `iocp`, `sync`, `mmap`, `null` or `sim`. Several, joined by
    /// `+`, where streams differ.
    pub name: String,
    /// Why this one.
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
    /// Bytes they moved.
    pub bytes: u64,
    /// I/Os for each second of the window.
    pub iops: f64,
    /// MiB (2^20 bytes) for each second of the window.
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

/// A distribution of times in nanoseconds. A percentile that fewer than ten I/Os lie above is
/// absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the field names are the definition")]
pub struct Latency {
    pub min: u64,
    pub mean: f64,
    pub stddev: f64,
    pub max: u64,
    pub p50: Option<u64>,
    pub p90: Option<u64>,
    pub p95: Option<u64>,
    pub p99: Option<u64>,
    pub p99_9: Option<u64>,
    pub p99_99: Option<u64>,
    pub p99_999: Option<u64>,
}

impl Latency {
    /// The summary of a histogram; none where nothing was recorded.
    #[must_use]
    pub fn of(histogram: &Histogram) -> Option<Self> {
        Some(Self {
            min: histogram.min()?,
            mean: histogram.mean()?,
            stddev: histogram.stddev()?,
            max: histogram.max()?,
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

/// The figures of one stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamResult {
    /// Name of the stream.
    pub name: String,
    /// Its threads on all of its targets.
    pub threads: u64,
    /// Outstanding I/Os of each thread.
    pub depth: u32,
    /// Asked rate that was reached, percent; none without a rate.
    #[serde(default)]
    pub rate_reached_percent: Option<f64>,
    /// Reads and writes together.
    pub total: Statistics,
    /// Reads.
    pub read: Statistics,
    /// Writes.
    pub write: Statistics,
    /// Flush calls.
    pub sync: Statistics,
}

/// The figures of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetResult {
    /// The file or device that received the I/O.
    pub path: PathBuf,
    /// The bytes of it that I/O could use.
    pub file_bytes: u64,
    /// What is known of its content: who wrote it and with what.
    pub content: String,
    /// Reads and writes together.
    pub total: Statistics,
    /// Reads.
    pub read: Statistics,
    /// Writes.
    pub write: Statistics,
    /// Flush calls.
    pub sync: Statistics,
}

/// The figures of one thread; of a thread of a pool, those on one of its targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadResult {
    /// Name of its stream.
    pub stream: String,
    /// Index of its target.
    pub target: usize,
    /// Its number among the threads of its stream and target, from 0; in a pool, among all threads
    /// of its stream.
    pub thread: u32,
    /// Outstanding I/Os, averaged over the measured window.
    pub achieved_depth: f64,
    /// CPU time the thread used in the window, on all of its targets, as percent of one core; none
    /// where the system does not tell.
    pub cpu_percent: Option<f64>,
    /// Reads and writes together.
    pub total: Statistics,
    /// Reads.
    pub read: Statistics,
    /// Writes.
    pub write: Statistics,
    /// Flush calls.
    pub sync: Statistics,
    /// What it did in each interval, where the workload asks for it (`thread_series`).
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
    /// Its reads.
    pub read: IntervalSpread,
    /// Its writes.
    pub write: IntervalSpread,
}

/// I/Os of one kind in one interval, and how their latencies are spread. Latencies are absent where
/// nothing completed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalSpread {
    /// I/Os that completed without error.
    pub ios: u64,
    /// The shortest latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<u64>,
    /// The mean latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// The standard deviation of the latencies, divided by the number of I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stddev_ns: Option<f64>,
    /// The longest latency.
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
    /// Reads for each second.
    pub read_iops: f64,
    /// Writes for each second.
    pub write_iops: f64,
    /// MiB read for each second.
    pub read_mib_per_s: f64,
    /// MiB written for each second.
    pub write_mib_per_s: f64,
    /// Mean latency of the reads; none where there were none.
    pub read_mean_ns: Option<f64>,
    /// Mean latency of the writes; none where there were none.
    pub write_mean_ns: Option<f64>,
    /// 99th percentile of the reads' latency.
    pub read_p99_ns: Option<u64>,
    /// 99th percentile of the writes' latency.
    pub write_p99_ns: Option<u64>,
    /// Longest latency of any I/O.
    pub max_ns: Option<u64>,
    /// Failed I/Os.
    pub errors: u64,
}

/// What the run cost the host in the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// CPU seconds of this program in user mode.
    pub user_s: f64,
    /// CPU seconds of this program in the kernel.
    pub system_s: f64,
    /// User CPU for each I/O, microseconds.
    pub user_us_per_io: f64,
    /// User and kernel CPU for each I/O, microseconds.
    pub total_us_per_io: f64,
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
    /// Share of the device's I/O that was not this measurement's, percent; none where the tool's
    /// I/O cannot be expected at the device.
    #[serde(default)]
    pub foreign_percent: Option<f64>,
    /// Reads the device completed for each second.
    pub read_iops: f64,
    /// Writes the device completed for each second.
    pub write_iops: f64,
    /// Bytes read for each second.
    pub read_bytes_per_s: f64,
    /// Bytes written for each second.
    pub write_bytes_per_s: f64,
    /// Mean time of a read in the block layer and device; none without reads.
    pub read_latency_ns: Option<f64>,
    /// Mean time of a write in the block layer and device; none without writes.
    pub write_latency_ns: Option<f64>,
    /// I/Os in flight at the device, averaged.
    pub average_queue: f64,
    /// Share of the window in which the device had anything to do, percent.
    pub utilisation_percent: f64,
    /// Flushes the device completed for each second.
    pub flushes_per_s: f64,
    /// 100 minus the largest difference between the tool's and the kernel's IOPS and bytes, in
    /// percent.
    pub agreement_percent: Option<f64>,
    /// The comparison figure by figure; none where the tool's I/O cannot be expected at the device.
    pub agreement: Option<Agreement>,
}

/// Why an I/O failed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// EIO: the device or the path failed.
    Io,
    /// The file system is full.
    NoSpace,
    /// Fewer bytes than asked, and no more to come.
    ShortTransfer,
    /// The device is gone.
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
    /// `read`, `write` or `sync`.
    pub operation: String,
    /// The file or device.
    pub path: PathBuf,
    /// How many in the whole run: those of the warm-up and of the time after the window too, which
    /// the `errors` of the statistics leave out.
    pub count: u64,
    /// Where the first of them was.
    pub first_offset_bytes: u64,
    /// What the system said of the first.
    pub message: String,
}

/// Long waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stalls {
    /// The longest time in the measured window in which nothing completed on any one thread.
    pub longest_gap_ns: u64,
    /// I/Os that took 15 s or more, from submission on, those that never returned included.
    pub over_15_s: u64,
    /// I/Os that never returned.
    pub unfinished: u64,
    /// How long the oldest of those had been running when the run ended.
    pub oldest_unfinished_ns: u64,
    /// I/Os that completed in the slowest whole second of the measured window; none where it has
    /// fewer than two, or intervals that do not add up to seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest_second_iops: Option<f64>,
}

/// Whether the figures fit together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// Deviation of IOPS x mean service time from `achieved_in_flight`, percent. I/Os that failed
    /// or never returned are taken into account with their time.
    pub littles_law_percent: Option<f64>,
    /// What this program reaches on this host without any I/O, where it was measured.
    pub tool_ceiling_iops: Option<f64>,
    /// Asked rate that was reached, percent; open loop only, and the lowest of all streams that
    /// have a rate.
    pub rate_reached_percent: Option<f64>,
    /// Every reason to doubt a figure, in words.
    pub warnings: Vec<String>,
}
