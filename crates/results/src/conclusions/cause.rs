//! Why throughput stops growing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What keeps throughput from growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The storage itself: all that it can work on at once is at work.
    Device,
    /// The bandwidth of the path to it, or its own.
    Link,
    /// A queue on the way takes no more I/Os at once.
    Queue,
    /// A set rate, as volumes in clouds have.
    Throttle,
    /// This program or its CPU.
    Tool,
    /// Nothing did: it was still growing.
    NotReached,
    /// Nothing is known that explains it.
    Unknown,
}

impl Cause {
    /// In one word.
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

    /// In a few words.
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
    /// Nothing else comes near, and nothing else could give what was seen.
    Certain,
    /// More speaks for it than for anything else, some of it what nothing else could give.
    Likely,
    /// It is one of several that what was seen allows.
    Possible,
}

/// A possible cause with its observations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Likely {
    /// Which.
    pub cause: Cause,
    /// How far ahead of the next it is.
    pub certainty: Certainty,
    /// What it means, in one sentence.
    pub sentence: String,
    /// What speaks for it.
    pub evidence: Vec<String>,
    /// What speaks against it.
    pub against: Vec<String>,
}

/// A path and its bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Its name, such as `2GFC`, or its bandwidth.
    pub name: String,
    /// What it carries by its standard, bytes for each second in one direction, after line coding.
    pub bytes_per_s: f64,
    /// The least that it carries in practice when it is the limit: what is left after frames and
    /// protocols.
    pub practical_bytes_per_s: f64,
}
