//! The document of an assessment, `iosonde.assessment/1`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::alignment::Alignment;
use crate::cause::Likely;
use crate::claims::JudgedClaim;
use crate::honesty::Honesty;
use crate::knee::Knee;
use crate::levels::LevelChange;
use crate::matrix::ReadWriteMatrix;
use crate::measurement::{Environment, Measurement, Status};
use crate::noise::Trust;
use crate::verdict::{Database, Verdict};

/// The schema name that every assessment carries.
pub const ASSESSMENT_SCHEMA: &str = "iosonde.assessment/1";

/// What a storage system can do, and whether it is fit for a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// Always `iosonde.assessment/1`.
    pub schema: String,
    /// Unique name of this assessment.
    pub id: String,
    /// Version of the program that measured.
    pub tool_version: String,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// End, UTC, RFC 3339.
    pub finished: String,
    /// How it ended; the figures of an interrupted one are those of the part that was measured.
    pub status: Status,
    /// The plan that `iosonde do` and `iosonde again` repeat; none of older results, of those of
    /// other tools, and where names were taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<serde_json::Value>,
    /// What will live on it: decided the loads and the limits.
    #[serde(default)]
    pub database: Database,
    /// How long each measurement was.
    pub pace: Pace,
    /// What was assessed, as it was named.
    pub target: PathBuf,
    /// Size of the test file (or the used part of the device).
    pub file_bytes: u64,
    /// Why this size.
    pub file_size_reason: String,
    /// Where it was done.
    pub environment: Environment,
    /// One verdict for each role, in the order of the report.
    pub verdicts: Vec<Verdict>,
    /// What was expected of it, and whether it does that; empty where nothing was expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<JudgedClaim>,
    /// Whether durable writes can be where they claim to be; none where they were not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub honesty: Option<Honesty>,
    /// Loads that had another throughput when they were measured again; empty where none had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_changes: Vec<LevelChange>,
    /// What could not show in the time that was measured; it is among the warnings, too. None where
    /// no pattern was measured to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// What I/O off the boundaries costs; none where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment: Option<Alignment>,
    /// The patterns that matter for a database, each at its own depth.
    pub patterns: Vec<PatternResult>,
    /// The same load at rising depth.
    pub ramps: Vec<Ramp>,
    /// Loads that were offered at set rates, in an open loop, to find how much fits within the
    /// limits; empty of earlier builds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<OfferedLoad>,
    /// Loads that were measured while another went on: commits during a checkpoint, users during a
    /// backup; empty at the paces that leave it out, and of earlier builds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<BesideLoad>,
    /// Read rates with write rates; none at the paces that leave it out, and of earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed: Option<MixedLoads>,
    /// The first pattern once more at the end, twice: how well figures repeat here; none where it
    /// was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// What this program reaches on this host without any I/O, I/Os for each second.
    pub tool_ceiling_iops: Option<f64>,
    /// The largest measured IOPS as percent of the ceiling.
    pub tool_ceiling_used_percent: Option<f64>,
    /// How it was measured, sentence by sentence.
    pub method: Vec<String>,
    /// Every reason to doubt a figure, each once.
    pub warnings: Vec<String>,
}

/// How long an assessment takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Half a minute: an impression, from which nothing is judged.
    Glance,
    /// About two minutes: an indication.
    Quick,
    /// About a quarter of an hour.
    #[default]
    Normal,
    /// About two hours: a baseline.
    Long,
}

/// One pattern of a database and its measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternResult {
    /// Short stable name, for example `log_write_4k`.
    pub name: String,
    /// The load in words, for example `4 KiB sequential write, durable`.
    pub title: String,
    /// What a database does this for, for example `transaction log`.
    pub operation: String,
    /// The figures.
    pub measurement: Measurement,
}

/// A pattern that was measured several times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repeats {
    /// Name of the pattern.
    pub name: String,
    /// The load in words.
    pub title: String,
    /// What the repetitions say, the first measurement among them.
    pub trust: Trust,
    /// The repetitions, without the first measurement.
    pub measurements: Vec<Measurement>,
}

/// The same load, offered at set rates whether or not the storage keeps up: latency is counted from
/// the moment at which an I/O is due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedLoad {
    /// Short stable name, for example `oltp_8k`.
    pub name: String,
    /// The load in words, for example `8 KiB random read and write, 70/30`.
    pub title: String,
    /// Every rate that was offered, in rising order.
    pub points: Vec<Measurement>,
    /// The rate that fitted within the limits at first and did not last, I/Os each second; none
    /// where it lasted as long as it was offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_iops: Option<f64>,
    /// How long the rate that fits was offered at a stretch, in seconds; none where none fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_seconds: Option<f64>,
}

/// A load that was measured while another went on at the same storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BesideLoad {
    /// Name of the load, for example `log_write_4k`.
    pub name: String,
    /// The load in words, for example `4 KiB sequential write, durable`.
    pub title: String,
    /// What went on beside it, for example `a checkpoint (8 KiB random write, 64 in flight)`.
    pub beside: String,
    /// What the other load cost this one, in a sentence.
    pub sentence: String,
    /// The load by itself, where it was measured for this comparison; where not, it is the pattern
    /// of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Measurement>,
    /// Both at once: the first stream is the load, the second is what went on beside it.
    pub measurement: Measurement,
}

/// Read rates with write rates, as part of an assessment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixedLoads {
    /// The loads in words, for example `8 KiB random read with 8 KiB random write`.
    pub title: String,
    /// What was found.
    pub matrix: ReadWriteMatrix,
    /// The highest rates, then every combination that was measured.
    pub measurements: Vec<Measurement>,
}

/// The same load at rising depth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ramp {
    /// Short stable name, for example `random_read_8k`.
    pub name: String,
    /// The load in words, for example `8 KiB random read`.
    pub title: String,
    /// Every measured depth, in rising order.
    pub points: Vec<Measurement>,
    /// Where it saturates; none where too few depths were measured.
    pub knee: Option<Knee>,
    /// Why throughput stops growing there, the likeliest cause first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Likely>,
}
