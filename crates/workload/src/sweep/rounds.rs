//! Rounds: all cells of a sweep again and again, until the storage is in steady state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cell, Plan};
use crate::units::Bytes;

/// Rounds that the rule of steady state looks at.
pub const ROUNDS_WINDOW: u32 = 5;

/// How a sweep is measured in rounds. Every round is all cells in their order; the sweep ends when
/// the last five rounds of every tracked cell are steady, and the figures of every cell are those
/// of these five.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// It ends after so many rounds, steady or not.
    pub at_most: u32,
    /// The cells whose IOPS decide whether the storage is steady.
    pub tracked: Vec<Tracked>,
    /// The used part of a target is written so many times before the first round.
    pub precondition_times: u32,
    /// With sequential writes of this size.
    pub precondition_block_bytes: Bytes,
    /// A device that may be destroyed is discarded as a whole before it is written.
    pub purge: bool,
}

/// Cells that decide whether the storage is steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tracked {
    /// Share of I/Os that write, in percent.
    pub write_percent: u8,
    /// Size of one I/O of the cell.
    pub block_bytes: Bytes,
}

impl Tracked {
    /// Whether a cell of the plan is the one that is meant, or one of them.
    #[must_use]
    pub fn is(&self, cell: &Cell) -> bool {
        (self.write_percent, self.block_bytes) == (cell.write_percent, cell.block_bytes)
    }
}

impl Rounds {
    /// Whether the IOPS of a cell decide.
    #[must_use]
    pub fn tracks(&self, cell: &Cell) -> bool {
        self.tracked.iter().any(|tracked| tracked.is(cell))
    }
}

impl Plan {
    /// How often every cell is measured, at least and at most.
    #[must_use]
    pub fn rounds_range(&self) -> (u32, u32) {
        self.rounds.as_ref().map_or((1, 1), |rounds| (ROUNDS_WINDOW, rounds.at_most))
    }
}
