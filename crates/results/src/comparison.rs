//! The document of a comparison, `iosonde.comparison/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Compared, Sample};
use crate::conditions::Difference;
use crate::figures::{FigureField, figure};

/// The schema name that every comparison carries.
pub const COMPARISON_SCHEMA: &str = "iosonde.comparison/1";

/// Two sides, load by load, and whether the second is better, the same or worse than the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Which document this is: always `iosonde.comparison/1`.
    pub schema: String,
    /// Version of the program that compared.
    pub tool_version: String,
    /// The side that is compared against.
    pub a: Side,
    /// The side that is judged, against the other.
    pub b: Side,
    /// In what the sides differ as a whole. Those that make them unlike withhold every verdict.
    pub differences: Vec<SideDifference>,
    /// Changes up to this count as no change, in percent either way.
    pub band_percent: f64,
    /// Whether verdicts were asked for although the sides are not alike.
    pub anyway: bool,
    /// What was compared, load by load: first those that are alike, then those that are only near
    /// each other.
    pub loads: Vec<ComparedLoad>,
    /// Loads of the first side that the second has nothing like.
    pub only_a: Vec<String>,
    /// Loads of the second side that the first has nothing like.
    pub only_b: Vec<String>,
    /// The verdict on the second side.
    pub verdict: Change,
    /// Whether no verdict was drawn, because nothing in the sides is alike.
    pub withheld: bool,
    /// The verdict in one sentence, for people.
    pub explanation: String,
    /// How the figures were counted for it, sentence by sentence.
    pub findings: Vec<String>,
    /// How it was compared, sentence by sentence.
    pub method: Vec<String>,
    /// Every reason to doubt the verdict.
    pub warnings: Vec<String>,
}

/// One side of a comparison: the results, and where they were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// What it was named by, for example `@baseline`.
    pub name: String,
    /// The results in it, the oldest first.
    pub results: Vec<SideResult>,
    /// The machines; empty for a simulated device.
    pub hosts: Vec<String>,
    /// The targets, as they were named.
    pub targets: Vec<String>,
    /// The devices under them, by model or name.
    pub devices: Vec<String>,
}

/// A result that belongs to a side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideResult {
    /// Its unique name in the history.
    pub id: String,
    /// The command that makes such results, such as `run`.
    pub kind: String,
    /// What it is of, for example `8 KiB random read`.
    pub title: String,
    /// When it started: UTC, RFC 3339.
    pub started: String,
}

/// In what the sides differ as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideDifference {
    /// What differs, and what it is on each side.
    #[serde(flatten)]
    pub difference: Difference,
    /// Whether it makes the sides unlike. Otherwise it may be the very thing that is compared.
    pub unlike: bool,
}

/// A load that both sides have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedLoad {
    /// The load in words: `8 KiB random read, 4 threads × depth 8`.
    pub title: String,
    /// What its figures mean nothing without: file size and cache, of the second side.
    pub caption: String,
    /// Name of the conditions that both sides share; absent if they do not share them, and for a
    /// whole curve.
    pub conditions_id: Option<String>,
    /// In what the two sides of this load differ. If it is not empty, verdicts are withheld.
    pub unlike: Vec<Difference>,
    /// The measurements of the first side, by their unique names.
    pub runs_a: Vec<String>,
    /// The measurements of the second side.
    pub runs_b: Vec<String>,
    /// The figures that both sides have.
    pub figures: Vec<ComparedFigure>,
}

/// A figure on both sides of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFigure {
    /// Which figure of the load it is.
    pub figure: Figure,
    /// Whether the verdict on the whole depends on it.
    pub decides: bool,
    /// The runs of the first side.
    pub a: Sample,
    /// The runs of the second side.
    pub b: Sample,
    /// Fewest I/Os of any run that lie above the percentile; only for percentiles.
    pub tail_ios: Option<u64>,
    /// The change and its verdict; absent where verdicts are withheld.
    pub compared: Option<Compared>,
}

/// A figure of a load that can be compared between results.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "LoadFigure")]
pub enum Figure {
    /// I/Os per second.
    Iops,
    /// MiB per second.
    MibPerS,
    /// Mean latency, nanoseconds.
    MeanNs,
    /// Median of the latency, nanoseconds.
    P50Ns,
    /// 95th percentile of the latency, nanoseconds.
    P95Ns,
    /// 99th percentile of the latency, nanoseconds.
    P99Ns,
    /// 99.9th percentile of the latency, nanoseconds.
    #[serde(rename = "p99_9_ns")]
    P999Ns,
    /// User and kernel CPU time of iosonde per I/O, in microseconds.
    CpuUsPerIo,
    /// Throughput at unlimited load, in I/Os per second.
    SaturatedIops,
    /// Latency at the operating point, nanoseconds.
    OperatingPointNs,
}

/// What a figure is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureUnit {
    /// I/Os per second.
    Iops,
    /// MiB per second.
    MibPerS,
    /// Time in nanoseconds: latencies.
    Nanoseconds,
    /// Time in microseconds: the CPU that an I/O costs.
    Microseconds,
}

impl Figure {
    /// Every figure, in the order of a table.
    pub const ALL: [Self; 10] = [
        Self::SaturatedIops,
        Self::OperatingPointNs,
        Self::Iops,
        Self::MibPerS,
        Self::MeanNs,
        Self::P50Ns,
        Self::P95Ns,
        Self::P99Ns,
        Self::P999Ns,
        Self::CpuUsPerIo,
    ];

    /// The name that tables and sentences give it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::MibPerS => "MiB/s",
            Self::MeanNs => "mean latency",
            Self::P50Ns => "p50 latency",
            Self::P95Ns => "p95 latency",
            Self::P99Ns => "p99 latency",
            Self::P999Ns => "p99.9 latency",
            Self::CpuUsPerIo => "CPU per I/O",
            Self::SaturatedIops => "saturated IOPS",
            Self::OperatingPointNs => "operating latency",
        }
    }

    /// Its name on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::MibPerS => "mib",
            Self::MeanNs => "mean",
            Self::P50Ns => "p50",
            Self::P95Ns => "p95",
            Self::P99Ns => "p99",
            Self::P999Ns => "p99.9",
            Self::CpuUsPerIo => "cpu",
            Self::SaturatedIops => "saturated",
            Self::OperatingPointNs => "operating-point",
        }
    }

    /// Its entry in the list of figures; `None` for a figure of a whole curve.
    #[must_use]
    pub fn field(self) -> Option<&'static FigureField> {
        figure(match self {
            Self::Iops => "iops",
            Self::MibPerS => "mib_per_s",
            Self::MeanNs => "latency_mean_ns",
            Self::P50Ns => "latency_p50_ns",
            Self::P95Ns => "latency_p95_ns",
            Self::P99Ns => "latency_p99_ns",
            Self::P999Ns => "latency_p99_9_ns",
            Self::CpuUsPerIo => "cpu_us_per_io",
            Self::SaturatedIops | Self::OperatingPointNs => return None,
        })
    }

    /// The unit in which a comparison shows it.
    #[must_use]
    pub fn unit(self) -> FigureUnit {
        match self {
            Self::Iops | Self::SaturatedIops => FigureUnit::Iops,
            Self::MibPerS => FigureUnit::MibPerS,
            Self::CpuUsPerIo => FigureUnit::Microseconds,
            _ => FigureUnit::Nanoseconds,
        }
    }

    /// Whether more of it is better, as of throughput, or less, as of latency.
    #[must_use]
    pub fn is_better_higher(self) -> bool {
        matches!(self, Self::Iops | Self::MibPerS | Self::SaturatedIops)
    }

    /// For a percentile, the share of I/Os below it.
    #[must_use]
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::P50Ns => Some(0.5),
            Self::P95Ns => Some(0.95),
            Self::P99Ns => Some(0.99),
            Self::P999Ns => Some(0.999),
            _ => None,
        }
    }
}
