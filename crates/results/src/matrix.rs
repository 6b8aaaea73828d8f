//! What a grid of read rates and write rates concludes, `iosonde.matrix/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Conclusion;
use crate::measurement::Measurement;

/// Reads and writes at offered rates, in every combination: what writes cost readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadWriteMatrix {
    /// The most reads per second without writes, in a closed loop. Read rates are shares of it.
    pub highest_read_iops: Option<f64>,
    /// The most writes per second without reads, in a closed loop. If the rate fell permanently
    /// during the measurement, the level after that. Write rates are shares of it.
    pub highest_write_iops: Option<f64>,
    /// Every combination, by rising read rate, then by rising write rate.
    pub cells: Vec<MatrixCell>,
    /// What writes cost at each read rate, by rising read rate.
    pub costs: Vec<WriteCost>,
    /// Whether writes slow reads down, and how much.
    pub interference: Interference,
    /// What writes cost readers here, in a sentence.
    pub sentence: String,
    /// The rule that led to it, with its numbers.
    pub rule: String,
}

impl Conclusion for ReadWriteMatrix {
    const SCHEMA: &'static str = "iosonde.matrix/1";

    fn title(&self, measurements: &[Measurement]) -> String {
        measurements.first().map(|m| m.workload.title() + " with writes").unwrap_or_default()
    }
}

/// One read rate with one write rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixCell {
    /// Share of the highest read rate that was offered, in percent.
    pub read_percent: u8,
    /// Share of the highest write rate that was offered, in percent.
    pub write_percent: u8,
    /// Reads per second that were offered.
    pub offered_read_iops: f64,
    /// Writes per second that were offered.
    pub offered_write_iops: f64,
    /// Whether the storage kept up. If it did not, latencies depend on how long the cell was
    /// measured, so they are absent.
    pub outcome: CellOutcome,
    /// Reads per second that completed; absent if the cell was skipped.
    pub read_iops: Option<f64>,
    /// Writes per second that completed; absent if the cell was skipped.
    pub write_iops: Option<f64>,
    /// Median latency of reads, in nanoseconds; absent unless the rates were reached.
    pub read_p50_ns: Option<u64>,
    /// 99th percentile of the latency of reads.
    pub read_p99_ns: Option<u64>,
    /// Median latency of writes, in nanoseconds; absent unless the rates were reached.
    pub write_p50_ns: Option<u64>,
    /// 99th percentile of the latency of writes.
    pub write_p99_ns: Option<u64>,
}

/// Whether the storage kept up with what a cell offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellOutcome {
    /// It kept up with both rates.
    Reached,
    /// It did not keep up with at least one of the rates.
    NotReached,
    /// It was not measured, because the storage did not keep up with less.
    Skipped,
}

/// What writes cost at one read rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WriteCost {
    /// Share of the highest read rate, in percent.
    pub read_percent: u8,
    /// Reads per second that were offered.
    pub offered_read_iops: f64,
    /// 99th percentile of the latency of reads without writes.
    pub p99_alone_ns: u64,
    /// The highest write rate up to which this percentile stayed within twice that; 0 if the lowest
    /// write rate was too much.
    pub bearable_write_iops: f64,
    /// The next write rate, which was too much; absent if no write rate was.
    pub excessive_write_iops: Option<f64>,
    /// Why that write rate was too much.
    pub limit: Option<WriteLimit>,
    /// This percentile with the highest bearable write rate, as a multiple of that without writes.
    pub p99_ratio: f64,
}

/// Why a write rate is too much for readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteLimit {
    /// The 99th percentile of the latency of reads more than doubled.
    Latency,
    /// The storage did not keep up with the reads.
    ReadRate,
    /// The storage kept up with the reads, and not with the writes.
    WriteRate,
    /// Too few reads completed to know the percentile.
    TooFewReads,
}

/// How much writes slow reads down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interference {
    /// The 99th percentile of reads doubled, or reads fell behind, because of writes.
    Strong,
    /// That percentile rose by more than a quarter, and never doubled.
    Slight,
    /// That percentile never rose by more than a quarter.
    None,
    /// There are too few measurements to say.
    Unknown,
}
