//! The document of what a trace of a live system is like, `iosonde.capture/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Conclusion;
use crate::measurement::Measurement;

/// What a system asked of its storage. What the source of the trace does not tell is absent.
///
/// METHODS.md defines the figures. The target of such a document is the file of the trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capture {
    /// What recorded the I/Os: `tracefs`, `blktrace`, `fio-iolog`, `msr`, `alibaba`.
    pub source: String,
    /// How the trace ended.
    pub ending: CaptureEnding,
    /// What the source knows it lost: I/Os, or (`tracefs`) events, of which an I/O has two.
    pub lost_ios: u64,
    /// I/Os so far from their place in time that they count where they were read.
    pub late_ios: u64,
    /// From the first issue to the last issue or completion.
    pub seconds: f64,
    /// I/Os of all kinds.
    pub ios: u64,
    /// Each kind that occurs.
    pub kinds: Vec<CapturedKind>,
    /// Each device, the first 64 of them.
    pub devices: Vec<CapturedDevice>,
    /// Rates and latencies over time: at most 256 points of equal length.
    pub points: Vec<CapturedPoint>,
    /// How sequential reads are.
    pub read_sequence: Option<CapturedSequence>,
    /// How sequential writes are.
    pub write_sequence: Option<CapturedSequence>,
    /// Which parts are used how often, and how much a cache would help.
    pub locality: Option<CapturedLocality>,
    /// How bursty arrivals are, from short time scales to long ones.
    pub bursts: Vec<CapturedBursts>,
    /// How many I/Os are in flight.
    pub depth: Option<CapturedDepth>,
    /// The busiest second.
    pub busiest_second: Option<CapturedPeak>,
    /// The busiest minute, of traces that are longer.
    pub busiest_minute: Option<CapturedPeak>,
}

/// How a trace ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaptureEnding {
    /// Nothing is missing.
    Whole,
    /// It stops before its end, as after a killed capture.
    Cut,
    /// A block of it is damaged; all before that was read.
    Damaged,
}

/// What an I/O did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapturedOp {
    /// Data was read.
    Read,
    /// Data was written.
    Write,
    /// Data was written to stable storage before completion (force unit access).
    DurableWrite,
    /// The device emptied its volatile cache.
    Flush,
    /// A range was given up.
    Discard,
}

/// I/Os of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedKind {
    /// The kind.
    pub kind: CapturedOp,
    /// How many.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The most frequent sizes, the most frequent first; at most 8.
    pub sizes: Vec<CapturedSize>,
    /// I/Os of other sizes.
    pub other_sizes: u64,
    /// Their latencies; percentiles are within 1 %.
    pub latency_ns: Option<CapturedLatency>,
}

/// How often a size occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedSize {
    /// The size.
    pub bytes: u64,
    /// I/Os of it.
    pub ios: u64,
}

/// Latencies in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedLatency {
    /// I/Os whose latency is known.
    pub ios: u64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: u64,
    /// 90 % are not longer.
    pub p90: u64,
    /// 99 % are not longer.
    pub p99: u64,
    /// 99.9 % are not longer.
    pub p99_9: u64,
    /// The longest.
    pub max: u64,
}

/// What one device did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedDevice {
    /// Its number in the trace.
    pub number: u32,
    /// Its size.
    pub size_bytes: Option<u64>,
    /// Whether it has a volatile write cache. Without one, the kernel sends it no flushes.
    pub write_back: Option<bool>,
    /// Reads.
    pub reads: u64,
    /// Writes, durable ones too.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Bytes that were written.
    pub write_bytes: u64,
    /// Where the last of its reads and writes ends.
    pub end_bytes: u64,
}

/// What happened in one of equal parts of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedPoint {
    /// Its begin, in seconds since the first I/O.
    pub t: f64,
    /// Its length.
    pub seconds: f64,
    /// Reads issued in it.
    pub reads: u64,
    /// Writes issued in it, durable ones too.
    pub writes: u64,
    /// Flushes issued in it.
    pub flushes: u64,
    /// Bytes of its reads.
    pub read_bytes: u64,
    /// Bytes of its writes.
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
    /// How many.
    pub ios: u64,
}

/// How sequential reads, or writes, are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedSequence {
    /// The share of I/Os that continue one of the last 32 streams of their device.
    pub sequential_percent: f64,
    /// The share of I/Os that repeat exactly the last I/O of such a stream.
    pub repeated_percent: f64,
    /// Mean bytes from the begin of a stream to its end.
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
    /// The share of accesses.
    pub access_percent: f64,
    /// Its bytes.
    pub bytes: f64,
}

/// What a cache would do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedCache {
    /// Its size.
    pub bytes: u64,
    /// The share of accesses of reads that it would not serve.
    pub miss_percent: f64,
}

/// How bursty arrivals are over one time scale: the variance of the I/Os per window divided by
/// their mean. 0 is a metronome, 1 chance, more are bursts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedBursts {
    /// The length of a window.
    pub seconds: f64,
    /// Of reads and writes together.
    pub all: f64,
    /// Of reads.
    pub reads: Option<f64>,
    /// Of writes.
    pub writes: Option<f64>,
}

/// I/Os in flight, from those whose latency is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedDepth {
    /// The mean over time.
    pub mean: f64,
    /// The median of what an I/O finds when it is issued, itself included.
    pub p50: u64,
    /// 99 % of the I/Os find at most this many.
    pub p99: u64,
    /// The most.
    pub max: u64,
}

/// The busiest of equal windows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedPeak {
    /// The begin of the window with most I/Os, in seconds since the first I/O.
    pub t: f64,
    /// Reads and writes per second in it.
    pub iops: f64,
    /// MiB per second in it.
    pub mib_per_s: f64,
    /// The most MiB per second of any window.
    pub most_mib_per_s: f64,
}

impl Capture {
    /// Reads and writes in it.
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
