//! The document of an assessment, `iosonde.assessment/1`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::alignment::Alignment;
use crate::captured_load::CapturedLoad;
use crate::cause::Likely;
use crate::claims::JudgedClaim;
use crate::environment::Environment;
use crate::honesty::Honesty;
use crate::knee::Knee;
use crate::levels::LevelChange;
use crate::matrix::ReadWriteMatrix;
use crate::measurement::{Measurement, Status};
use crate::noise::Trust;
use crate::verdict::{Database, Verdict};

/// The schema name that every assessment carries.
pub const ASSESSMENT_SCHEMA: &str = "iosonde.assessment/1";

/// A host of a fleet, and what was assessed there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssessedHost {
    /// The name by which the coordinator called the host.
    pub name: String,
    /// The target that was assessed on that host.
    pub target: PathBuf,
}

impl AssessedHost {
    /// The target as measurements of many hosts have it: `host:/path`.
    #[must_use]
    pub fn place(&self) -> PathBuf {
        format!("{}:{}", self.name, self.target.display()).into()
    }
}

/// What a storage system can do, and whether it is fit for a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// Which document this is: always `iosonde.assessment/1`.
    pub schema: String,
    /// Unique name of this assessment, by which the history finds it.
    pub id: String,
    /// Version of the program that measured.
    pub tool_version: String,
    /// When it started: UTC, RFC 3339.
    pub started: String,
    /// When it ended: UTC, RFC 3339.
    pub finished: String,
    /// How it ended. The figures of an interrupted assessment are those of the part that was
    /// measured.
    pub status: Status,
    /// The plan that `iosonde do` and `iosonde again` repeat. Absent in results of other tools,
    /// and where names were taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<serde_json::Value>,
    /// The database that will live on the storage. It decided the loads and the limits.
    #[serde(default)]
    pub database: Database,
    /// How long each load was measured.
    pub pace: Pace,
    /// The target that was assessed, as the user named it. Where several hosts were assessed
    /// together, `{host}` in it stands for the name of each.
    pub target: PathBuf,
    /// The hosts that were assessed together, each with its target, in the order in which they were
    /// named. Absent if one host was assessed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<AssessedHost>,
    /// Size of the test file, or of the used part of a device.
    pub file_bytes: u64,
    /// Why the test file has this size, in a sentence.
    pub file_size_reason: String,
    /// The host and the storage that it was done on.
    pub environment: Environment,
    /// One verdict for each role, in the order of the report.
    pub verdicts: Vec<Verdict>,
    /// What the user expected of the storage, and whether it does that; empty if nothing was
    /// expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<JudgedClaim>,
    /// Whether durable writes can be where they claim to be; absent if they were not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub honesty: Option<Honesty>,
    /// Loads whose throughput differed when they were measured again; empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_changes: Vec<LevelChange>,
    /// What could not show in the time that was measured. It is among the warnings, too. Absent if
    /// no pattern was measured to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// What I/O off the boundaries costs; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment: Option<Alignment>,
    /// The patterns that matter for a database, each at its own depth.
    pub patterns: Vec<PatternResult>,
    /// The same load at rising depth.
    pub ramps: Vec<Ramp>,
    /// Loads that were offered at set rates, in an open loop, to find how much fits within the
    /// limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<OfferedLoad>,
    /// Loads that were measured while another ran: commits during a checkpoint, users during a
    /// backup. Empty at the paces that leave it out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<BesideLoad>,
    /// Read rates with write rates. Absent at the paces that leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed: Option<MixedLoads>,
    /// The load of a trace, replayed and judged by the limits of the roles. Absent if none was
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<CapturedLoad>,
    /// The first pattern measured twice more at the end, to show how well figures repeat here;
    /// absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// What iosonde reaches on this host without any I/O, in I/Os per second.
    pub tool_ceiling_iops: Option<f64>,
    /// The largest measured IOPS as percent of the ceiling.
    pub tool_ceiling_used_percent: Option<f64>,
    /// How it was measured, sentence by sentence.
    pub method: Vec<String>,
    /// Every reason to doubt a figure, each once.
    pub warnings: Vec<String>,
}

/// How long an assessment takes, from an impression to a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Half a minute: an impression, from which nothing is judged.
    Glance,
    /// About two minutes: enough for an indication.
    Quick,
    /// About a quarter of an hour.
    #[default]
    Normal,
    /// About two hours: enough for a baseline.
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
    /// The figures, with the workload that gave them.
    pub measurement: Measurement,
}

/// A pattern that was measured several times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repeats {
    /// Short stable name of the pattern, for example `log_write_4k`.
    pub name: String,
    /// The load in words, for example `4 KiB sequential write, durable`.
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
    /// The rate that fitted within the limits at first and did not last, in I/Os per second; absent
    /// if it lasted as long as it was offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_iops: Option<f64>,
    /// How long the rate that fits was offered at a stretch, in seconds; absent if none fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_seconds: Option<f64>,
}

/// A load that was measured while another ran on the same storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BesideLoad {
    /// Name of the load, for example `log_write_4k`.
    pub name: String,
    /// The load in words, for example `4 KiB sequential write, durable`.
    pub title: String,
    /// The other load, for example `a checkpoint (8 KiB random write, 64 in flight)`.
    pub beside: String,
    /// What the other load cost this one, in a sentence.
    pub sentence: String,
    /// The load by itself, if it was measured for this comparison; otherwise it is the pattern of
    /// this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Measurement>,
    /// Both at once: the first stream is the load, the second is the other one.
    pub measurement: Measurement,
}

/// Read rates with write rates, as part of an assessment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixedLoads {
    /// The loads in words, for example `8 KiB random read with 8 KiB random write`.
    pub title: String,
    /// What writes cost readers at each rate.
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
    /// Where it saturates; absent if too few depths were measured.
    pub knee: Option<Knee>,
    /// Why throughput stops growing there, the likeliest cause first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Likely>,
}
