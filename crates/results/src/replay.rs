//! The document of a trace that was replayed on storage, `iosonde.replay/1`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capture::{CapturedLatency, CapturedOp};
use crate::experiment::Conclusion;
use crate::measurement::Measurement;

/// A part of a trace, and what came of it on each target.
///
/// METHODS.md defines the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// The part of the trace that was replayed.
    pub part: TracePart,
    /// What decided when an I/O was issued.
    pub timing: ReplayTiming,
    /// What came of it, one entry per target.
    pub results: Vec<ReplayResult>,
}

/// A part of a trace as it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TracePart {
    /// The file of the trace, as an absolute path where it is known.
    pub trace: PathBuf,
    /// What recorded the trace: `ebpf`, `tracefs`, `blktrace` and so on.
    pub source: String,
    /// Where the part begins, from the start of the trace.
    pub from_seconds: f64,
    /// The length of the part, in seconds.
    pub seconds: f64,
    /// I/Os in it, without discards, which are not replayed.
    pub ios: u64,
    /// Discards in the part; they are not replayed.
    pub discards: u64,
    /// Events that the source of the trace lost, in all of the trace.
    pub lost_ios: u64,
    /// I/Os that are longer than 4 MiB, and were cut to that.
    pub cut_ios: u64,
    /// Mean number of I/Os in flight; absent where the trace has no latencies.
    pub in_flight: Option<f64>,
    /// How many times as fast the users worked as in the trace.
    pub speed: f64,
    /// How many times as many users there were as in the trace.
    pub users: f64,
    /// Whether the part began again when it was over.
    pub looped: bool,
}

/// What decides when an I/O is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayTiming {
    /// The clock: an open loop issues each I/O at its time, whatever the target does.
    #[default]
    AsTimed,
    /// Completions: the same order and the same number in flight.
    Closed,
    /// Completions and think time: an I/O waits for an earlier one, then as long as it did in the
    /// trace.
    Dependent,
}

impl ReplayTiming {
    /// That of the flags `--closed` and `--dependent`.
    #[must_use]
    pub fn of_flags(closed: bool, dependent: bool) -> Self {
        match (closed, dependent) {
            (true, _) => Self::Closed,
            (_, true) => Self::Dependent,
            _ => Self::AsTimed,
        }
    }
}

/// How the address space of a trace becomes that of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayMap {
    /// Each I/O to its own offset.
    Identity,
    /// The parts that the trace uses, side by side.
    Compact,
    /// The parts that the trace uses, with equal gaps, so that they take the whole target.
    Stretched,
    /// Side by side, and from the start again where the target ends.
    Folded,
}

impl ReplayMap {
    const WORDS: [(Self, &'static str); 4] = [
        (Self::Identity, "identity"),
        (Self::Compact, "compact"),
        (Self::Stretched, "stretched"),
        (Self::Folded, "folded"),
    ];
}

impl fmt::Display for ReplayMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(map, _)| map == self);
        f.pad(word.map_or("compact", |(_, word)| word))
    }
}

impl FromStr for ReplayMap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::WORDS.iter().find(|(_, word)| *word == text);
        let wrong = || "the maps are compact, identity, stretched and folded".to_owned();
        found.map(|(map, _)| *map).ok_or_else(wrong)
    }
}

/// What came of a replay on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayResult {
    /// The file, device or directory that was replayed on.
    pub target: PathBuf,
    /// The I/O engine: `uring`, `aio`, `sync`, `null` or `sim`.
    pub backend: String,
    /// How addresses of the trace became addresses of the target.
    pub map: ReplayMap,
    /// Bytes of the parts that the trace uses.
    pub touched_bytes: u64,
    /// Bytes of the target that I/O may use.
    pub target_bytes: u64,
    /// The most I/Os in flight that were allowed.
    pub depth: u32,
    /// The most I/Os that were in flight at once.
    pub most_in_flight: u32,
    /// I/Os that were due and had to wait because `depth` I/Os were in flight.
    pub waited_ios: u64,
    /// I/Os that completed without an error, flushes included.
    pub ios: u64,
    /// I/Os per second, over the time of the replay.
    pub iops: f64,
    /// I/Os per second of the trace, at this number of users and this speed.
    pub recorded_iops: f64,
    /// From the start of the replay to the last completion, in seconds.
    pub seconds: f64,
    /// How many times as long as in the trace, at its speed; absent where it did not end with the
    /// end of the part.
    pub elapsed_ratio: Option<f64>,
    /// How late I/Os were issued; absent in closed loops without due times.
    pub lag_ns: Option<CapturedLatency>,
    /// How late the last I/O was issued: the backlog that had built up.
    pub backlog_ns: u64,
    /// The figures of each kind of I/O that was replayed.
    pub classes: Vec<ReplayedClass>,
    /// I/Os that failed; the first ended the replay.
    pub errors: u64,
    /// What the first failed I/O said.
    pub first_error: Option<String>,
    /// I/Os that had not returned at the end.
    pub unfinished: u64,
    /// Rates and latency over time, at most 256 points of equal length.
    pub points: Vec<ReplayPoint>,
}

/// I/Os of one kind, in the trace and on the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedClass {
    /// The kind of I/O, or the writes of the log.
    pub kind: CapturedOp,
    /// I/Os that completed without an error on the target.
    pub ios: u64,
    /// Bytes that these I/Os moved.
    pub bytes: u64,
    /// Latency in the trace; absent where it has none.
    pub recorded_ns: Option<CapturedLatency>,
    /// Latency on the target, from the moment at which each I/O was due.
    pub due_ns: Option<CapturedLatency>,
    /// Latency on the target, from the moment at which each I/O was issued.
    pub issue_ns: Option<CapturedLatency>,
    /// How far the latencies from due are from those of the trace: the root mean square of the
    /// differences of their quantiles, divided by the recorded mean.
    pub demerit: Option<f64>,
}

/// What happened in an interval of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayPoint {
    /// Begin of the interval, in seconds from the start.
    pub t: f64,
    /// Length of the interval in seconds.
    pub seconds: f64,
    /// I/Os that completed in it without an error, flushes included.
    pub ios: u64,
    /// Their mean latency, from the moment at which each was due; absent without I/Os.
    pub mean_ns: Option<f64>,
    /// Their longest latency, from the moment at which each was due; absent without I/Os.
    pub max_ns: Option<u64>,
}

impl TracePart {
    /// The part in a phrase: how many I/Os in how much time, and any other users or speed.
    #[must_use]
    pub fn title(&self) -> String {
        let (ios, seconds) = (workload::plural(self.ios, "I/O", "I/Os"), self.seconds);
        let mut title = format!("{ios} of {}", workload::show_duration(seconds));
        if (self.users - 1.0).abs() > 1e-9 {
            title.push_str(", ");
            title.push_str(&workload::show_number(self.users));
            title.push_str(" times the users");
        }
        if (self.speed - 1.0).abs() > 1e-9 {
            title.push_str(", at ");
            title.push_str(&workload::show_number(self.speed));
            title.push_str(" times the speed");
        }
        title
    }
}

impl Conclusion for Replay {
    const SCHEMA: &'static str = "iosonde.replay/1";

    fn title(&self, _: &[Measurement]) -> String {
        format!("replay of {}", self.part.title())
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        let targets = self.results.iter_mut().map(|result| &mut result.target);
        std::iter::once(&mut self.part.trace).chain(targets).collect()
    }
}
