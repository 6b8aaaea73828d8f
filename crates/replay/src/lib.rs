//! Replays a trace: which I/Os of it, where on the target, when each is due, and what came of them.
//!
//! [`Contents`] reads the trace once and says what is in it. [`Steps`] reads it again, as often as
//! users and loops need, and gives one [`Step`] after the other. [`play`] makes them on a queue of
//! the engine and counts. Memory is bounded however long the trace is. This crate opens no file,
//! starts no thread and reads no clock but that of the queue.

mod contents;
mod copies;
mod fit;
mod host;
mod map;
mod outcome;
mod player;
mod steps;
mod tracker;
mod window;

pub use contents::Contents;
pub use fit::{Attempt, Bracket, Edge, FACTORS, Failing, Limit, SUPPORT_MIN, bracket};
pub use host::HostFigures;
pub use map::{AddressMap, MapKind};
pub use outcome::{CLASSES, ClassFigures, Figures, Interval, LOG_WRITES, PARTS, SETS};
pub use player::{PlayError, PlayOptions, Supply, play};
pub use steps::{Mode, Parent, Step, Steps};

use trace::{Io, TraceError};

/// The I/Os of a trace, in the order of their issue.
pub type Ios = Box<dyn Iterator<Item = Result<Io, TraceError>> + Send>;

/// Opens the trace at its beginning; a replay reads it several times.
pub type OpenTrace<'a> = dyn Fn() -> Result<Ios, TraceError> + Send + Sync + 'a;

/// Which part of a trace is replayed, by how many users and how fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Selection {
    /// I/Os before this moment of the trace are left out.
    pub from_ns: u64,
    /// I/Os from this moment on are left out; `u64::MAX` keeps all.
    pub to_ns: u64,
    /// How many times as fast the same users work.
    pub speed: f64,
    /// How many times as many users: shifted copies of the trace, one of them thinned where this is
    /// not a whole number.
    pub users: f64,
    /// Whether the part begins again when it is over.
    pub looped: bool,
}

impl Default for Selection {
    /// All of the trace, once, as it was.
    fn default() -> Self {
        Self { from_ns: 0, to_ns: u64::MAX, speed: 1.0, users: 1.0, looped: false }
    }
}

impl Selection {
    /// Whether an I/O of this time is in it.
    #[must_use]
    pub fn contains(&self, issued_ns: u64) -> bool {
        (self.from_ns..self.to_ns).contains(&issued_ns)
    }
}

/// A time that is scaled; it saturates.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) fn scaled(ns: u64, factor: f64) -> u64 {
    (ns as f64 * factor) as u64
}
