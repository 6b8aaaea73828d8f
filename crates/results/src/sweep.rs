//! The document of a sweep, `iosonde.sweep/1`: what every cell of a plan gave, and the best of each
//! load.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::sweep::{Cell, Plan};

use crate::document::plan_of;
use crate::experiment::Conclusion;
use crate::knee::Knee;
use crate::measurement::Measurement;

/// What a sweep found, cell by cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// The plan, which `iosonde again` repeats.
    pub plan: Plan,
    /// Name of the plan. The same plan always has the same name.
    pub plan_id: String,
    /// Every cell of the plan in the order of its lists, whether or not it was measured.
    pub cells: Vec<SweptCell>,
    /// The best of each load, over all of its threads and depths.
    pub curves: Vec<SweptCurve>,
    /// What was measured to check what is inferred, one entry per kind of I/O.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<SweptCheck>,
    /// For a sweep in rounds, whether the storage was in steady state: one entry per group of
    /// targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<SweptRounds>,
    /// How much of the storage's time the measurements took: warm-ups, windows and pauses, in
    /// seconds.
    pub device_seconds: f64,
    /// What the whole matrix takes at the lengths of the plan, all of its rounds, in seconds.
    pub matrix_seconds: f64,
}

impl Conclusion for Sweep {
    const SCHEMA: &'static str = "iosonde.sweep/1";

    fn title(&self, _: &[Measurement]) -> String {
        self.plan.title.clone()
    }

    fn plan(&self) -> Option<serde_json::Value> {
        plan_of("sweep", &self.plan)
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        self.plan.targets.iter_mut().map(|target| &mut target.path).collect()
    }
}

/// One cell of the plan and its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweptCell {
    /// What the cell does: direction, order, size, threads and depth.
    #[serde(flatten)]
    pub cell: Cell,
    /// I/Os in flight, over all threads and targets.
    pub in_flight: u64,
    /// Whether the figures were measured or inferred.
    pub source: Source,
    /// If there are no figures, why.
    pub reason: Option<String>,
    /// Its places among the measurements of the document.
    pub measurements: Vec<usize>,
    /// I/Os per second; absent if there are no figures.
    pub iops: Option<f64>,
    /// MiB per second; absent if there are no figures.
    pub mib_per_s: Option<f64>,
    /// Mean latency in nanoseconds; absent if there are no figures.
    pub latency_ns: Option<f64>,
    /// 99th percentile of the latency; absent if the cell was inferred.
    pub p99_ns: Option<u64>,
    /// Half of the width of the interval of the throughput, in percent of it. In an adaptive sweep
    /// it holds what windows of the cell's whole length give on average, for nine of ten cells:
    /// widened by `checks` if the cell was inferred, by what repetitions differ by if it was
    /// measured. In any other sweep it is the 95 % interval that the window itself shows.
    pub error_percent: Option<f64>,
}

/// The rounds of one group of targets. The figures of its cells are those of the last five.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweptRounds {
    /// The group: indexes into the plan's targets.
    pub targets: Vec<usize>,
    /// Rounds in which every cell was measured.
    pub rounds: u32,
    /// The first round, from 1, that the figures of the cells are of; absent if there were fewer
    /// than five.
    pub window_from: Option<u32>,
    /// Whether the last five rounds of every tracked cell are steady.
    pub steady: bool,
    /// The cells whose IOPS decide whether the rounds are steady.
    pub tracked: Vec<TrackedCell>,
    /// Bytes that were written before the first round; 0 if an earlier session did it.
    pub written_before_bytes: u64,
    /// In what the sweep differs from the IOPS test of the SNIA Solid State Storage Performance
    /// Test Specification, one sentence each; empty if it is that test.
    pub differences: Vec<String>,
}

/// A cell whose IOPS decide whether the storage is steady: over the last five rounds they spread by
/// at most 20 % of their mean, and their fitted line moves by at most 10 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrackedCell {
    /// The number of the cell in the plan.
    pub cell: u32,
    /// The load of the cell in words.
    pub title: String,
    /// I/Os per second, one value per round.
    pub iops: Vec<f64>,
    /// Mean of the last five rounds.
    pub mean_iops: Option<f64>,
    /// Highest less lowest of the last five rounds, in percent of their mean.
    pub range_percent: Option<f64>,
    /// Change of the line fitted to the last five rounds, in percent of their mean.
    pub slope_percent: Option<f64>,
    /// Whether range and slope are within the limits.
    pub steady: bool,
}

/// The checks of one kind of I/O: cells drawn at random, measured over their whole length and kept
/// out of what the others are inferred from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweptCheck {
    /// The kind of I/O in words, for example `random read`.
    pub title: String,
    /// What a database does this for.
    pub operation: Option<String>,
    /// The targets that they were measured on: indexes into the plan's targets.
    pub targets: Vec<usize>,
    /// Numbers of the cells that were measured as checks.
    pub cells: Vec<u32>,
    /// By how much each of these cells was faster than inferred, in percent of what was inferred;
    /// negative where it was slower.
    pub errors_percent: Vec<f64>,
    /// By how much the checks widen the intervals of inferred cells, in percent of the throughput;
    /// absent if a check did no I/O at all.
    pub widened_percent: Option<f64>,
    /// By how much cells that were measured twice widen the intervals of measured cells, in percent
    /// of the throughput.
    pub measured_widened_percent: Option<f64>,
    /// How far the beginning of a check, as long as a short window, differs from the whole of it,
    /// in percent: the median.
    pub changed_percent: Option<f64>,
    /// What else was measured because the checks were too far off, in this order.
    pub refinements: Vec<Refinement>,
}

/// What an adaptive sweep measures more of when its checks are too far off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refinement {
    /// Windows of their whole length instead of short ones.
    WholeWindows,
    /// Every block size at rising loads.
    EverySize,
    /// Every cell of the kind, so that nothing is inferred.
    EveryCell,
}

/// Where the figures of a cell come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The cell itself was measured, once or more often.
    Measured,
    /// They follow from what was measured at other threads, depths or block sizes.
    Inferred,
    /// The cell cannot be done on these targets.
    LeftOut,
    /// The sweep ended before it came to the cell.
    Missing,
}

/// One load over all of its threads and depths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweptCurve {
    /// The load in words, for example `8 KiB random read`.
    pub title: String,
    /// What a database does this for.
    pub operation: Option<String>,
    /// The targets of the load: indexes into the plan's targets.
    pub targets: Vec<usize>,
    /// Numbers of the cells of this load.
    pub cells: Vec<u32>,
    /// Whether the best was measured at cells of this load, or inferred from others too.
    pub source: Source,
    /// The highest throughput, in I/Os per second.
    pub best_iops: f64,
    /// The highest throughput, in MiB per second.
    pub best_mib_per_s: f64,
    /// Half of the width of the interval of the highest throughput, in percent of it, with the
    /// meaning that it has for a cell.
    pub error_percent: Option<f64>,
    /// The least load with at least 95 % of the highest throughput, I/Os in flight in all.
    pub operating_in_flight: Option<f64>,
    /// Mean latency at that load, in nanoseconds.
    pub operating_latency_ns: Option<f64>,
    /// The saturation of the measured points, those of the same total in flight taken together.
    pub knee: Option<Knee>,
    /// The largest difference in throughput between cells of the same total in flight and another
    /// split into threads and depth, in percent of their mean; absent if there are no two such
    /// cells.
    pub split_difference_percent: Option<f64>,
}
