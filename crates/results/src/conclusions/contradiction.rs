//! Figures of another tool that contradict each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The I/Os that a figure of another tool is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum PrintedSide {
    Total,
    Read,
    Write,
}

/// What a figure of another tool measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum PrintedQuantity {
    Ios,
    Bytes,
    Iops,
    MibPerS,
    Seconds,
    BlockBytes,
    Threads,
    /// Threads that the parameters ask for.
    ThreadsAsked,
}

/// A figure of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrintedFigure {
    /// What it measures.
    pub quantity: PrintedQuantity,
    /// The I/Os that it is about.
    pub side: PrintedSide,
    /// Its value.
    pub value: f64,
}

/// How a figure follows from others in every true result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// Their product: IOPS x seconds = I/Os.
    Product,
    /// Their sum: reads + writes = total.
    Sum,
    /// IOPS x bytes / MiB/s = I/Os, of a window whose length is not printed.
    SameWindow,
    /// The other figure itself.
    Same,
}

/// An identity that does not hold in a result of another tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contradiction {
    /// The figures of which at least one is wrong.
    pub suspects: Vec<PrintedFigure>,
    /// The identity.
    pub identity: Identity,
    /// The figures from which the last one follows.
    pub others: Vec<PrintedFigure>,
    /// The last figure as the tool printed it.
    pub printed: PrintedFigure,
    /// The last figure as it follows from the others.
    pub follows: f64,
    /// How far apart the two may be, by the digits that the tool printed.
    pub tolerance: f64,
}

impl Contradiction {
    /// Whether only the block size of the load can be wrong.
    #[must_use]
    pub fn is_of_block(&self) -> bool {
        self.suspects.iter().all(|suspect| suspect.quantity == PrintedQuantity::BlockBytes)
    }
}
