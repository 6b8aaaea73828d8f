//! What a coordinator is asked for, and what it gives back.

use std::str::FromStr;

use serde_json::Value;
use thiserror::Error;

use crate::clock::ClockEstimate;

/// One run on all hosts, as the coordinator has to carry it out.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The plan of each host, in the order in which the hosts were named; `None` of one that takes
    /// no part.
    pub plans: &'a [Option<Value>],
    /// Test files stay on the hosts.
    pub keep: bool,
    /// Targets stay ready for the next run, until the coordinator leaves.
    pub hold: bool,
    /// Identifier of the run, the same on every host.
    pub run: &'a str,
    /// What happens when one is lost.
    pub on_loss: LossPolicy,
}

/// What happens when a host is lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LossPolicy {
    /// The other hosts stop.
    #[default]
    Abort,
    /// The other hosts continue without it.
    Continue,
}

/// A word that is not a policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("write `abort` or `continue`")]
pub struct NotAPolicy;

impl FromStr for LossPolicy {
    type Err = NotAPolicy;

    fn from_str(word: &str) -> Result<Self, NotAPolicy> {
        match word {
            "abort" => Ok(Self::Abort),
            "continue" => Ok(Self::Continue),
            _ => Err(NotAPolicy),
        }
    }
}

/// Hears what happens on the hosts, and says when to stop.
pub trait Watch {
    /// Takes an event of the job on the host with this index.
    fn hear(&mut self, host: usize, event: &Value);

    /// All hosts have begun, and so much time is between the first and the last.
    fn begun(&mut self, skew_ns: u64) {
        let _ = skew_ns;
    }

    /// Shows a sentence to the user.
    fn notice(&mut self, text: String);

    /// Whether the user wants to stop early.
    fn is_stopped(&self) -> bool;
}

/// What the coordinator knows about one host after a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostRun {
    /// The name by which it was called.
    pub name: String,
    /// The host's own name for itself, from its greeting; for a result fetched later, `name`.
    pub hostname: String,
    /// The version of iosonde that runs as agent there.
    pub version: String,
    /// The directories and devices that its agent lets a plan name.
    pub allowed: Vec<String>,
    /// How far its clock is ahead; absent before clocks were compared.
    pub clock: Option<ClockEstimate>,
    /// What it says of its targets and of itself, once these are ready.
    pub site: Option<Box<Value>>,
    /// How long after the common moment it started; absent until it reports that.
    pub late_ns: Option<u64>,
    /// How long after that moment its measured window began.
    pub window_ns: Option<u64>,
    /// What it measured, as JSON: of a thousand hosts, trees of values take a gigabyte.
    pub measurement: Option<Box<str>>,
    /// Why it has no measurement; absent if it has one.
    pub lost: Option<String>,
    /// Events of its job that did not arrive, as far as their numbers show it.
    pub missing_events: u64,
}

/// What all hosts did in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetRun {
    /// Every host of the run, also those that were lost.
    pub hosts: Vec<HostRun>,
    /// What was to happen when one is lost.
    pub on_loss: LossPolicy,
    /// Whether the user stopped the run early.
    pub interrupted: bool,
}

/// Why hosts could not be called or asked, or why a run did not start on any of them.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FleetError {
    /// A host did not appear or went away.
    #[error("lost the host `{0}`: {1}. Nothing was started on any host")]
    Lost(String, String),
    /// A host refused to take part, for the reason in the second part.
    #[error("the host `{0}` refused: {1}. Nothing was started on any host")]
    Refused(String, String),
    /// A host did not answer in time.
    #[error("the host `{0}` did not answer in time ({1}). Nothing was started on any host")]
    Late(String, &'static str),
    /// The user stopped the run before it began.
    #[error("interrupted before the start")]
    Interrupted,
}
