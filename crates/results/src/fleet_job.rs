//! What many hosts found, each with the same job, `iosonde.fleet-job/1`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::Document;
use crate::experiment::Conclusion;
use crate::fleet::OnLoss;
use crate::measurement::Measurement;

/// One job that each of several hosts did by itself, begun at the same moment: an assessment, a
/// validation or a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetJob {
    /// The job as plans name it: `assess`, `validate` or `monitor`.
    pub job: String,
    /// How the coordinator reached the hosts: `ssh` or `nats`.
    pub transport: String,
    /// What to do when a host is lost.
    pub on_loss: OnLoss,
    /// Between the first host that began and the last; each reports how late it was by its own
    /// clock. Absent until two hosts have begun.
    pub start_skew_ns: Option<u64>,
    /// How well the clocks are known: no host's clock is farther off than this.
    pub clock_bound_ns: Option<u64>,
    /// What was judged, on each host and over all; empty where the job judges nothing.
    pub verdicts: Vec<FleetVerdict>,
    /// Each host, in the order in which they were named.
    pub hosts: Vec<FleetJobHost>,
}

impl FleetJob {
    /// The results of the hosts that have one, with the names of these hosts.
    pub fn documents(&self) -> impl Iterator<Item = (&str, Document)> {
        let read = |host: &FleetJobHost| Document::from_value(host.document.clone()?).ok();
        self.hosts.iter().filter_map(move |host| Some((host.name.as_str(), read(host)?)))
    }
}

impl Conclusion for FleetJob {
    const SCHEMA: &'static str = "iosonde.fleet-job/1";

    fn title(&self, _: &[Measurement]) -> String {
        format!("{} on {} hosts", self.job, self.hosts.len())
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }
}

/// One thing that was judged on every host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetVerdict {
    /// What was judged: a role of the database (`oltp_data`, `log`, …), `data` or `alerts`.
    pub subject: String,
    /// Over all hosts: the worst of theirs. `incomplete` if a host has no verdict and none of the
    /// others is bad.
    pub overall: String,
    /// The verdict of each host, in the words of its own result and in the order of the hosts; null
    /// where it has none.
    pub hosts: Vec<Option<String>>,
}

/// One host and its own result, or why it has none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetJobHost {
    /// The name by which the coordinator called it.
    pub name: String,
    /// The name by which the host calls itself.
    pub hostname: String,
    /// Version of iosonde on the host.
    pub version: String,
    /// Its clock is off by no more than this.
    pub clock_bound_ns: Option<u64>,
    /// How long after the named moment it began, by its own clock.
    pub late_ns: Option<u64>,
    /// If the host was lost: why there is no result.
    pub lost: Option<String>,
    /// Events that did not arrive. The result has everything.
    pub missing_events: u64,
    /// The host's own result, complete: a document of the schema that it names.
    pub document: Option<Value>,
}
