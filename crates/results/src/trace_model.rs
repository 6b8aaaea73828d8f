//! The document of a workload that stands for a trace, `iosonde.model/1`: what it is, and how far
//! its latencies are from those of the trace on devices of known behaviour.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{SimDevice, Workload};

use crate::capture::{CapturedLatency, CapturedOp};
use crate::experiment::Conclusion;
use crate::measurement::Measurement;
use crate::replay::TracePart;

/// A workload that was made of a trace, and how well it stands for it.
///
/// METHODS.md says how both are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceModel {
    /// The part of the trace that the workload stands for.
    pub part: TracePart,
    /// The workload, ready for `iosonde run`.
    pub workload: Workload,
    /// What each stream of the workload stands for, in the order of the streams.
    pub streams: Vec<ModelledStream>,
    /// How the I/Os are spaced in time.
    pub arrivals: ModelledArrivals,
    /// The trace and the workload on devices of known behaviour.
    pub devices: Vec<ModelledDevice>,
    /// Whether the workload stands for the trace: every distance is within what is allowed.
    pub stands: bool,
    /// Whether it stands for the trace, in words for people.
    pub sentence: String,
}

/// A stream of the workload, and the I/Os that it stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelledStream {
    /// The name of the stream in the workload.
    pub name: String,
    /// What it does, in a phrase.
    pub title: String,
    /// Reads and writes of the trace that it stands for.
    pub ios: u64,
    /// Reads and writes per second that it stands for.
    pub iops: f64,
    /// Flushes of the trace that it stands for.
    pub flushes: u64,
    /// Index of dispersion of these I/Os per 10 ms: 1 for independent arrivals, more for bursts.
    /// Absent where the part is too short.
    pub dispersion: Option<f64>,
    /// I/Os of other sizes than the eight most frequent, which it leaves out.
    pub other_sizes: u64,
}

/// How the I/Os of the workload are spaced in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "spacing")]
pub enum ModelledArrivals {
    /// At random moments, as the I/Os of independent users.
    Poisson,
    /// As many in each window as in the trace.
    Windows {
        /// The length of a window.
        window_ns: u64,
        /// Whether they are evenly spaced in it; otherwise they are at random moments.
        evenly: bool,
    },
}

/// The trace and the workload on a device of known behaviour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelledDevice {
    /// The word for this device in reports.
    pub name: String,
    /// The simulated device, with all its settings.
    pub device: SimDevice,
    /// How much of it the load uses on average, in percent.
    pub used_percent: f64,
    /// Each kind of I/O that is compared.
    pub classes: Vec<ModelledClass>,
}

/// Latencies of one kind of I/O on one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelledClass {
    /// The kind of I/O, or the writes of the log.
    pub kind: CapturedOp,
    /// Latency of the trace when it is replayed on this device.
    pub trace_ns: CapturedLatency,
    /// Latency of the workload; absent where it has no such I/O.
    pub model_ns: Option<CapturedLatency>,
    /// How far they are apart: the root mean square of the differences of their quantiles, divided
    /// by the mean of the trace.
    pub demerit: Option<f64>,
    /// The demerit of two replays of the trace that differ in chance only: the least to expect.
    pub floor: Option<f64>,
    /// The most that the demerit may be.
    pub at_most: f64,
    /// Whether the demerit and the 99th percentile are close enough.
    pub is_close: bool,
}

impl Conclusion for TraceModel {
    const SCHEMA: &'static str = "iosonde.model/1";

    fn title(&self, _: &[Measurement]) -> String {
        format!("model of {}", self.part.title())
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        let targets = self.workload.targets.iter_mut().map(|target| &mut target.path);
        std::iter::once(&mut self.part.trace).chain(targets).collect()
    }
}
