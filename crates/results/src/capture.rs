//! The document of what a trace of a live system is like, `iosonde.capture/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::captured_files::{CapturedDatabase, CapturedFiles};
use crate::experiment::Conclusion;
use crate::measurement::Measurement;

/// What a system asked of its storage. What the source of the trace does not record is absent.
///
/// METHODS.md defines the figures. The target of such a document is the file of the trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capture {
    /// What recorded the I/Os: `ebpf`, `tracefs`, `blktrace`, `fio-iolog`, `msr`, `alibaba`,
    /// `systor`, `spc`, `etw`.
    pub source: String,
    /// Whether the trace is whole, and if not, how it ended.
    pub ending: CaptureEnding,
    /// What the source knows it lost: I/Os, or (`tracefs`) events, of which an I/O has two.
    pub lost_ios: u64,
    /// I/Os so far from their place in time that they count where they were read.
    pub late_ios: u64,
    /// Which times are known, and so what `seconds` covers.
    #[serde(default)]
    pub span: CapturedSpan,
    /// The length of the trace; all rates are over it.
    pub seconds: f64,
    /// All I/Os, flushes and discards included.
    pub ios: u64,
    /// The I/Os of each kind that occurs.
    pub kinds: Vec<CapturedKind>,
    /// Each device, the first 64 of them.
    pub devices: Vec<CapturedDevice>,
    /// Rates and latencies over time: at most 256 points of equal length.
    pub points: Vec<CapturedPoint>,
    /// How sequential reads are; absent without reads.
    pub read_sequence: Option<CapturedSequence>,
    /// How sequential writes are; absent without writes.
    pub write_sequence: Option<CapturedSequence>,
    /// Which parts are used how often, and how much a cache would help.
    pub locality: Option<CapturedLocality>,
    /// Writes of the log and of data, told apart by their files where the trace has log files, and
    /// otherwise by how they are written; empty where no log is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<CapturedWrites>,
    /// I/Os by their files; absent where the trace has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<CapturedFiles>,
    /// What databases counted while the trace was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<CapturedDatabase>,
    /// How bursty arrivals are, from short time scales to long ones.
    pub bursts: Vec<CapturedBursts>,
    /// How many I/Os are in flight.
    pub depth: Option<CapturedDepth>,
    /// The second with the most I/Os, of traces that are as long.
    pub busiest_second: Option<CapturedPeak>,
    /// The busiest minute, of traces that are longer.
    pub busiest_minute: Option<CapturedPeak>,
}

/// Whether a trace is whole, and if not, how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaptureEnding {
    /// It is whole: nothing is missing at its end.
    Whole,
    /// It stops before its end, as after a killed capture.
    Cut,
    /// A block of it is damaged; all before that was read.
    Damaged,
}

/// What is known about the begin and the end of a trace, and so what its length is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapturedSpan {
    /// Neither: from the first issue to the last issue or completion.
    #[default]
    FirstToLast,
    /// The begin: from there to the last issue or completion, as of a capture that was killed.
    BeginToLast,
    /// Both: the time that was recorded.
    Recorded,
}

/// What an I/O did to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapturedOp {
    /// It read data from the device.
    Read,
    /// It wrote data, to a volatile cache if the device has one.
    Write,
    /// It wrote data to stable storage before completion (force unit access).
    DurableWrite,
    /// The device emptied its volatile cache.
    Flush,
    /// It wrote to the log: such an I/O is a write or a durable write, too.
    LogWrite,
    /// It gave up a range, whose content is no longer needed (TRIM, UNMAP).
    Discard,
}

/// The I/Os of one kind: how many, how large, how fast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedKind {
    /// The operation that these I/Os have in common.
    pub kind: CapturedOp,
    /// How many there are in the trace.
    pub ios: u64,
    /// How many bytes they moved, or gave up.
    pub bytes: u64,
    /// The most frequent sizes, the most frequent first; at most 8.
    pub sizes: Vec<CapturedSize>,
    /// How many I/Os have another size than these.
    pub other_sizes: u64,
    /// Their latencies; percentiles are within 1 %.
    pub latency_ns: Option<CapturedLatency>,
}

/// The writes to the log, or those to anything else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedWrites {
    /// Whether these writes are to the log.
    pub purpose: CapturedPurpose,
    /// Plain writes and durable writes, each with their sizes and latencies.
    pub kinds: Vec<CapturedKind>,
    /// How many of them continue or repeat an earlier write, in percent.
    pub sequential_percent: f64,
}

/// What a write is for: the log or data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapturedPurpose {
    /// To a log file; or, by the pattern, each write continues one before and is durable at once.
    Log,
    /// To anything else than the log.
    Data,
}

/// How often an I/O of one size occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedSize {
    /// The size of such an I/O.
    pub bytes: u64,
    /// How many I/Os have exactly this size.
    pub ios: u64,
}

/// The distribution of latencies, from issue to completion, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedLatency {
    /// I/Os whose latency is known; all figures here are theirs.
    pub ios: u64,
    /// The arithmetic mean of the latencies.
    pub mean: f64,
    /// The median: half of the I/Os took no longer.
    pub p50: u64,
    /// 90 % of the I/Os took no longer.
    pub p90: u64,
    /// 99 % of the I/Os took no longer.
    pub p99: u64,
    /// 99.9 % of the I/Os took no longer.
    pub p99_9: u64,
    /// The longest latency of any of them.
    pub max: u64,
}

/// What one device of the trace did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedDevice {
    /// The number by which the trace calls it.
    pub number: u32,
    /// Its size; absent if the source does not record it.
    pub size_bytes: Option<u64>,
    /// Whether it has a volatile write cache. Without one, the kernel sends it no flushes.
    pub write_back: Option<bool>,
    /// How many reads the device received.
    pub reads: u64,
    /// How many writes it got, durable ones included.
    pub writes: u64,
    /// How often it was asked to empty its cache.
    pub flushes: u64,
    /// How many discards the device received.
    pub discards: u64,
    /// How many bytes were read from it.
    pub read_bytes: u64,
    /// How many bytes were written to it.
    pub write_bytes: u64,
    /// Where the last of its reads and writes ends.
    pub end_bytes: u64,
}

/// What happened in one of equal parts of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedPoint {
    /// Its begin, in seconds since that of the trace: see `span`.
    pub t: f64,
    /// Its length, the same for every point.
    pub seconds: f64,
    /// Reads that were issued in it.
    pub reads: u64,
    /// Writes that were issued in it, durable ones included.
    pub writes: u64,
    /// Flushes that were issued in it.
    pub flushes: u64,
    /// Bytes that those reads asked for.
    pub read_bytes: u64,
    /// Bytes that those writes carried, durable ones included.
    pub write_bytes: u64,
    /// The median latency of its reads, within 7 %, as are the other percentiles.
    pub read_p50_ns: Option<u64>,
    /// The 99th percentile of its reads.
    pub read_p99_ns: Option<u64>,
    /// The median latency of its writes.
    pub write_p50_ns: Option<u64>,
    /// The 99th percentile of its writes.
    pub write_p99_ns: Option<u64>,
    /// Its reads and writes by latency, a class for each power of two that has any.
    pub latencies: Vec<LatencyClass>,
}

/// I/Os whose latency is at least this, and less than twice as much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyClass {
    /// The lowest latency of the class.
    pub from_ns: u64,
    /// How many I/Os are in the class.
    pub ios: u64,
}

/// How sequential reads, or writes, are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedSequence {
    /// The share of I/Os that continue one of the last 32 streams of their device.
    pub sequential_percent: f64,
    /// The share of I/Os that repeat exactly the last I/O of such a stream.
    pub repeated_percent: f64,
    /// Mean bytes from the beginning of a stream to its end.
    pub run_bytes: f64,
}

/// Which parts are used how often, and how much a cache would help.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedLocality {
    /// The share of pages of 4 KiB that was looked at; the figures stand for all.
    pub sampled_percent: f64,
    /// Bytes that were read or written at least once: the working set.
    pub touched_bytes: f64,
    /// The smallest parts that receive 50, 80, 90 and 99 % of the accesses.
    pub hot: Vec<HotPart>,
    /// What LRU caches of these sizes would do, from 1 MiB to one that holds everything.
    pub cache: Vec<CapturedCache>,
    /// The share of accesses of reads to what was written before in this trace.
    pub read_after_write_percent: Option<f64>,
}

/// A part that receives a share of the accesses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotPart {
    /// The share of accesses that this part receives, in percent.
    pub access_percent: f64,
    /// The size of the part in bytes; an estimate if not all pages were looked at.
    pub bytes: f64,
}

/// What an LRU cache of one size would do for this trace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedCache {
    /// The size of the cache, in bytes.
    pub bytes: u64,
    /// The share of accesses of reads that it would not serve.
    pub miss_percent: f64,
}

/// How bursty arrivals are over one time scale: the variance of the I/Os per window divided by
/// their mean. 0 is a metronome, 1 chance, more are bursts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedBursts {
    /// The length of a window: the time scale.
    pub seconds: f64,
    /// The index of reads and writes together.
    pub all: f64,
    /// The index of reads alone; absent without reads.
    pub reads: Option<f64>,
    /// The index of writes alone; absent without writes.
    pub writes: Option<f64>,
}

/// I/Os in flight, from those whose latency is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedDepth {
    /// The mean over time, not over I/Os.
    pub mean: f64,
    /// The median of what an I/O finds when it is issued, itself included.
    pub p50: u64,
    /// 99 % of the I/Os find at most this many.
    pub p99: u64,
    /// The most that were in flight at once.
    pub max: u64,
}

/// The busiest of equal windows, and how busy it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedPeak {
    /// The beginning of the window with most I/Os, in seconds since that of the trace: see `span`.
    pub t: f64,
    /// Reads and writes per second in it.
    pub iops: f64,
    /// MiB per second in that window.
    pub mib_per_s: f64,
    /// The most MiB per second of any window.
    pub most_mib_per_s: f64,
}

impl Capture {
    /// Reads and writes of the device together.
    #[must_use]
    pub fn transfers(&self) -> u64 {
        let moves =
            |kind: &&CapturedKind| !matches!(kind.kind, CapturedOp::Flush | CapturedOp::Discard);
        self.kinds.iter().filter(moves).map(|kind| kind.ios).sum()
    }
}

impl Conclusion for Capture {
    const SCHEMA: &'static str = "iosonde.capture/1";

    fn title(&self, _: &[Measurement]) -> String {
        let source = if self.source.is_empty() { "a trace" } else { &self.source };
        let seconds = workload::show_duration(self.seconds);
        format!("{} in {seconds} ({source})", workload::plural(self.ios, "I/O", "I/Os"))
    }
}
