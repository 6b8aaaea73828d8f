//! How much a verdict is worth, and why.

use serde::{Deserialize, Serialize};

/// How sure a verdict is, from the surest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sureness {
    /// There is no reason to doubt it.
    High,
    /// It may change with a longer or quieter measurement.
    Medium,
    /// Low: the verdict is only an indication.
    Low,
}

/// A reason to doubt a verdict, and how far it goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// No verdict with this doubt is surer.
    pub at_most: Sureness,
    /// The reason, as it appears in a list: "the file of 512 MiB may fit a cache".
    pub reason: String,
}

impl Doubt {
    /// A doubt that leaves an indication.
    pub fn grave(reason: impl Into<String>) -> Self {
        Self { at_most: Sureness::Low, reason: reason.into() }
    }

    /// A doubt that leaves a verdict which may change.
    pub fn slight(reason: impl Into<String>) -> Self {
        Self { at_most: Sureness::Medium, reason: reason.into() }
    }
}

/// How sure a verdict is, with the reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// How sure the verdict is.
    pub sureness: Sureness,
    /// What keeps it from being surer, the most severe first; empty where it is high.
    pub reasons: Vec<String>,
}

impl Confidence {
    /// The confidence that these doubts leave: the most severe decides.
    #[must_use]
    pub fn of(mut doubts: Vec<Doubt>) -> Self {
        doubts.sort_by_key(|doubt| std::cmp::Reverse(doubt.at_most));
        let sureness = doubts.first().map_or(Sureness::High, |doubt| doubt.at_most);
        let mut reasons: Vec<String> = Vec::new();
        for doubt in doubts {
            if !reasons.contains(&doubt.reason) {
                reasons.push(doubt.reason);
            }
        }
        Self { sureness, reasons }
    }
}
