//! What many hosts did together, `iosonde.fleet/1`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Conclusion;
use crate::measurement::{Measurement, Point, Statistics};

/// One load on many hosts, started at the same moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fleet {
    /// How the coordinator reached the hosts: `ssh`.
    pub transport: String,
    /// What to do when a host is lost.
    pub on_loss: OnLoss,
    /// Between the first host that started and the last; each reports how late it was by its own
    /// clock. Absent until two hosts have started.
    pub start_skew_ns: Option<u64>,
    /// How well the clocks are known: no host's clock is farther off than this.
    pub clock_bound_ns: Option<u64>,
    /// The time in which every host ran, and what all of them did in it; absent if there was no
    /// such time.
    pub window: Option<FleetWindow>,
    /// What all hosts that have a result counted in the whole of their windows; absent without a
    /// result.
    pub merged: Option<FleetMerged>,
    /// Each host, in the order in which they were named.
    pub hosts: Vec<FleetHost>,
}

impl Conclusion for Fleet {
    const SCHEMA: &'static str = "iosonde.fleet/1";

    fn title(&self, measurements: &[Measurement]) -> String {
        let load = measurements.first().map(|m| m.workload.title()).unwrap_or_default();
        format!("{load} from {} hosts", self.hosts.len())
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }
}

/// What to do with the other hosts when one is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnLoss {
    /// Stop the other hosts, too.
    Abort,
    /// Let the other hosts continue without it.
    Continue,
}

/// The time in which every host ran. An interval that is partly in it counts in proportion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetWindow {
    /// Its beginning, in seconds after the moment that was named for the start.
    pub from_s: f64,
    /// How long it is, in seconds.
    pub seconds: f64,
    /// Reads of all hosts per second.
    pub read_iops: f64,
    /// Writes of all hosts per second.
    pub write_iops: f64,
    /// MiB read by all hosts per second.
    pub read_mib_per_s: f64,
    /// MiB written by all hosts per second.
    pub write_mib_per_s: f64,
}

/// Counts are added and histograms merged; percentiles are those of the merged histogram. Rates are
/// the sums of the hosts' rates, each over its own window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetMerged {
    /// How many hosts have a result.
    pub hosts: u64,
    /// Reads and writes of all these hosts together.
    pub total: Statistics,
    /// Reads of all these hosts together.
    pub read: Statistics,
    /// Writes of all these hosts together.
    pub write: Statistics,
    /// Flush calls. They count in no other figure.
    pub sync: Statistics,
}

/// What one host did, or why it did not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetHost {
    /// The name by which the coordinator called it.
    pub name: String,
    /// The name by which the host calls itself.
    pub hostname: String,
    /// Version of iosonde on the host.
    pub version: String,
    /// The place of its measurement in `measurements`, from 0; absent if the host has none.
    pub measurement: Option<u64>,
    /// Its clock is off by no more than this.
    pub clock_bound_ns: Option<u64>,
    /// How long after the named moment its last thread started, by its own clock.
    pub late_ns: Option<u64>,
    /// When its measured window began, in seconds after the named moment.
    pub from_s: Option<f64>,
    /// When its measured window ended, or the last of its intervals that arrived.
    pub to_s: Option<f64>,
    /// Its I/Os per second in the time in which every host ran.
    pub iops: Option<f64>,
    /// Its MiB per second in the time in which every host ran.
    pub mib_per_s: Option<f64>,
    /// If the host was lost: why there is no measurement.
    pub lost: Option<String>,
    /// Events that did not arrive while it ran. The figures of its measurement have all I/Os.
    pub missing_events: u64,
    /// The intervals that arrived from a host that was lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Point>,
}
