//! Why throughput stops growing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bottleneck: what keeps throughput from growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The storage is saturated: it already serves as many I/Os at once as it can.
    Device,
    /// The bandwidth of the path to the storage, or of the storage itself.
    Link,
    /// A queue on the way that takes no more I/Os at once.
    Queue,
    /// A set rate, as cloud volumes have.
    Throttle,
    /// iosonde itself, or the CPU that it runs on.
    Tool,
    /// There is none yet: throughput was still growing.
    NotReached,
    /// Nothing that is known explains it.
    Unknown,
}

impl Cause {
    /// The cause in one word, for tables and programs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Device => "storage",
            Self::Link => "path",
            Self::Queue => "queue",
            Self::Throttle => "throttle",
            Self::Tool => "tool",
            Self::NotReached => "none",
            Self::Unknown => "unknown",
        }
    }

    /// The cause in a few words, for headings.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Device => "the storage itself",
            Self::Link => "the bandwidth of the path",
            Self::Queue => "a queue on the way",
            Self::Throttle => "a set rate (throttle)",
            Self::Tool => "the tool or its CPU",
            Self::NotReached => "no limit was reached",
            Self::Unknown => "unknown",
        }
    }
}

/// How far ahead of the next a cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Nothing else comes near, and nothing else could cause what was seen.
    Certain,
    /// More supports it than anything else, including observations that nothing else could cause.
    Likely,
    /// It is one of several causes that fit what was seen.
    Possible,
}

/// A possible cause with its observations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Likely {
    /// The bottleneck; or that none was reached, or that none is known.
    pub cause: Cause,
    /// How far ahead of the next it is.
    pub certainty: Certainty,
    /// What it means, in one sentence.
    pub sentence: String,
    /// Observations that support it, one sentence each.
    pub evidence: Vec<String>,
    /// Observations that contradict it, one sentence each.
    pub against: Vec<String>,
}

/// A path to the storage, and its bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Its name, such as `2GFC`; its bandwidth if it has no name.
    pub name: String,
    /// What it carries by its standard, in bytes per second in one direction, after line coding.
    pub bytes_per_s: f64,
    /// The least that it carries in practice at its limit: what is left after frames and protocols.
    pub practical_bytes_per_s: f64,
}
