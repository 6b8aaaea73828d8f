//! What other tools do that iosonde does not do by itself: their order of offsets, their way to
//! share threads between targets, and the layout of their buffers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// The order of offsets and directions that DiskSpd makes. Offsets count from the stream's
/// `offset_bytes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskspdOrder {
    /// How the next offset follows from the last.
    pub access: DiskspdAccess,
    /// Random offsets are multiples of this; sequential ones are this far apart. May be smaller or
    /// larger than the block.
    pub step_bytes: Bytes,
    /// Thread `n` of a target starts at `n` times this.
    #[serde(default)]
    pub thread_stride_bytes: Bytes,
    /// Slices of the target, one after the other, and the share of the random I/Os that each
    /// receives. Empty: uniform.
    #[serde(default, skip_serializing_if = "DiskspdSlices::is_empty")]
    pub slices: DiskspdSlices,
}

impl DiskspdOrder {
    /// The words for it in titles: it is random or sequential, as other orders are.
    #[must_use]
    pub fn words(&self) -> String {
        let step = self.step_bytes;
        let words = match self.access {
            DiskspdAccess::Random => "random".to_owned(),
            DiskspdAccess::Mixed { random_percent } => {
                format!("sequential with {random_percent} % random")
            }
            DiskspdAccess::Sequential => format!("sequential every {step}"),
            DiskspdAccess::Interlocked => format!("sequential (shared cursor) every {step}"),
            DiskspdAccess::Parallel => format!("sequential (cursor of each I/O) every {step}"),
        };
        if self.slices.is_empty() { words } else { words + " (in slices)" }
    }
}

/// How the next offset follows from the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DiskspdAccess {
    /// Every offset is drawn at random.
    Random,
    /// This share of the I/Os goes to a drawn offset, the others continue after the last one. The
    /// direction is drawn anew with each offset that is drawn, and stays in between.
    Mixed {
        /// The share of random offsets, 1 to 99 percent.
        random_percent: u8,
    },
    /// Each thread continues from its last I/O.
    Sequential,
    /// All threads of a target share one cursor.
    Interlocked,
    /// Each outstanding I/O of a thread has its own cursor; all start at the same place.
    Parallel,
}

/// Slices of a target with their shares of the I/Os.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DiskspdSlices {
    /// Pairs of percent of the I/Os and percent of the target.
    Percent(Vec<(u8, u8)>),
    /// Pairs of percent of the I/Os and length in bytes; a last length of 0 is up to the end.
    Absolute(Vec<(u8, Bytes)>),
}

impl Default for DiskspdSlices {
    fn default() -> Self {
        Self::Percent(Vec::new())
    }
}

impl DiskspdSlices {
    /// Whether the I/Os are spread evenly over the whole target.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Percent(slices) => slices.is_empty(),
            Self::Absolute(slices) => slices.is_empty(),
        }
    }
}

/// Threads that work on all targets of their stream. The stream's `threads` is then their number in
/// all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// How a thread's outstanding I/Os belong to its targets.
    pub share: PoolShare,
}

/// How a thread's outstanding I/Os belong to its targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PoolShare {
    /// The stream's depth on each target.
    Each,
    /// The stream's depth in all; each I/O goes to the next target in turn.
    InTurn,
    /// The stream's depth in all; each I/O draws its target. Weights are in the order of the
    /// stream's targets; empty means equal.
    Drawn {
        /// How often each target is drawn, relative to the others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<u32>,
    },
}

/// A thread of a pool, and how often it draws the targets of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolMember {
    /// Its number among the threads of the pool, from 0.
    pub thread: u32,
    /// Relative frequency of the stream's target where targets are drawn, instead of the share's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
}

/// The hint that the operating system's cache gets on the order of offsets. Without a hint it finds
/// out by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    /// They are anywhere: nothing is read ahead.
    Random,
    /// They follow one another: more is read ahead.
    Sequential,
}

/// How the memory of one I/O is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Buffers {
    /// One piece, as large as the I/O.
    #[default]
    Single,
    /// In one piece, in large pages (2 MiB), however small it is. A system that has none uses
    /// ordinary ones; the features of the engine in the result tell.
    Large,
    /// Vectored I/O (preadv, pwritev) on this many equal pieces.
    Scattered {
        /// The pieces; the block is a multiple of them.
        pieces: u32,
    },
    /// Vectored I/O on pieces of so many bytes, as a database scatters what it reads over the pages
    /// of its memory, and gathers what it writes. Where they would be more than the system takes at
    /// once (1024), each has several times as many bytes.
    Pages {
        /// Bytes of a piece; the block is a multiple of them.
        bytes: Bytes,
    },
}

impl Buffers {
    /// Whether it is the ordinary way.
    #[must_use]
    pub fn is_single(&self) -> bool {
        *self == Self::Single
    }
}
