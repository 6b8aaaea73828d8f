//! The documents of the experiments: a list of measurements and what was concluded from them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::measurement::{Measurement, Status};

/// What was concluded in an experiment of one kind.
pub trait Conclusion {
    /// The schema name that every document with it carries, for example `iosonde.knee/1`.
    const SCHEMA: &'static str;

    /// What was done, in a phrase.
    fn title(&self, measurements: &[Measurement]) -> String {
        measurements.first().map(|m| m.workload.title()).unwrap_or_default()
    }

    /// The plan that repeats it, if it is in the conclusion.
    fn plan(&self) -> Option<serde_json::Value> {
        None
    }

    /// Every path in the conclusion, so that names can be taken out.
    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }
}

/// An experiment: measurements on the same targets, and what follows from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment<C> {
    /// Which experiment, and the version of its document.
    pub schema: String,
    /// Unique name of this experiment, by which the history finds it.
    pub id: String,
    /// Version of the program that measured.
    pub tool_version: String,
    /// When it started: UTC, RFC 3339.
    pub started: String,
    /// When it ended: UTC, RFC 3339.
    pub finished: String,
    /// How it ended. The figures of an interrupted experiment are those of the part that was
    /// measured.
    pub status: Status,
    /// The plan that `iosonde do` and `iosonde again` repeat. Absent in results of other tools,
    /// and where names were taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<serde_json::Value>,
    /// The files and devices that received the I/O, as the user named them.
    pub targets: Vec<PathBuf>,
    /// Bytes of all targets that I/O could use.
    pub file_bytes: u64,
    /// The host and the storage that it was done on.
    pub environment: Environment,
    /// What follows from the measurements, and the rule that was applied.
    pub conclusion: C,
    /// Every measurement, in the order in which they were made.
    pub measurements: Vec<Measurement>,
    /// How it was measured, sentence by sentence.
    pub method: Vec<String>,
    /// Every reason to doubt a figure, each once.
    pub warnings: Vec<String>,
}
