//! What an experiment over several targets concludes, `iosonde.scale/1`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Conclusion;
use crate::scaling::Scaling;

/// The same load on each target alone, then on several together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scale {
    /// What is added up: I/Os a second for random loads, MiB a second for sequential ones.
    pub unit: ScaleUnit,
    /// Each target alone, in the order in which they were named.
    pub alone: Vec<TargetAlone>,
    /// The first target alone with twice as many I/Os in flight: whether the load saturates it.
    /// Absent if that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubled: Option<TargetAlone>,
    /// Several together, in the order in which they were measured.
    pub together: Vec<TargetsTogether>,
    /// What follows; absent until several targets were measured together.
    pub scaling: Option<Scaling>,
}

impl Conclusion for Scale {
    const SCHEMA: &'static str = "iosonde.scale/1";

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        self.alone.iter_mut().chain(&mut self.doubled).map(|alone| &mut alone.target).collect()
    }
}

/// What is added up over targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScaleUnit {
    /// I/Os per second, for random loads.
    Iops,
    /// MiB per second, for sequential loads.
    MibPerS,
}

/// What one target gives when it is measured alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetAlone {
    /// The target, as the user named it.
    pub target: PathBuf,
    /// Size of the test file on it.
    pub file_bytes: u64,
    /// I/Os per second, without the other targets.
    pub iops: f64,
    /// MiB per second, without the other targets.
    pub mib_per_s: f64,
    /// Half width of the 95 % interval of the throughput in percent, if known.
    pub half_width_percent: Option<f64>,
    /// Mean latency in nanoseconds; absent if nothing completed.
    pub mean_latency_ns: Option<f64>,
}

/// What several targets give at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetsTogether {
    /// Which targets, by their place in `alone`.
    pub targets: Vec<usize>,
    /// I/Os a second, of all of them.
    pub iops: f64,
    /// MiB a second, of all of them.
    pub mib_per_s: f64,
    /// Half width of the 95 % interval of the throughput in percent, if known.
    pub half_width_percent: Option<f64>,
    /// Mean latency over all of them in nanoseconds; absent if nothing completed.
    pub mean_latency_ns: Option<f64>,
    /// What each target gave of it, in the unit that is added up.
    pub each: Vec<f64>,
}
