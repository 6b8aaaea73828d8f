//! What a trace says: an I/O, and the facts about the system it was seen on.

use serde::{Deserialize, Serialize};

/// Times and latencies in a trace are multiples of this: 100 ns.
pub const TICK_NS: u64 = 100;

/// The operation of an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The device returned data.
    Read,
    /// The device took data, which may still be in its volatile cache.
    Write,
    /// Data was written to stable storage before completion (force unit access).
    DurableWrite,
    /// The device emptied its volatile cache.
    Flush,
    /// The host told the device that it no longer needs a range (trim, unmap).
    Discard,
}

impl Kind {
    /// Every kind, in the order of its number in the file.
    pub const ALL: [Self; 5] =
        [Self::Read, Self::Write, Self::DurableWrite, Self::Flush, Self::Discard];

    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::DurableWrite => 2,
            Self::Flush => 3,
            Self::Discard => 4,
        }
    }

    pub(crate) fn of_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }
}

/// One I/O at a device, or at a file that a trace numbers as a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// When it was issued, counted from the start of the trace.
    pub issued_ns: u64,
    /// How long it took; absent where the source does not say.
    pub latency_ns: Option<u64>,
    /// The number of its device: an index into [`Header::devices`].
    pub device: u32,
    /// The number of the stream it belongs to; 0 where the source does not tell streams apart.
    pub stream: u32,
    /// Where it begins on the device. Without meaning for a flush.
    pub offset_bytes: u64,
    /// How many bytes it covers, from the offset on.
    pub length_bytes: u64,
    /// The operation.
    pub kind: Kind,
}

impl Io {
    /// The I/O as a trace keeps it: its times rounded down to whole ticks.
    #[must_use]
    pub fn in_ticks(self) -> Self {
        let round = |ns: u64| ns / TICK_NS * TICK_NS;
        Self { issued_ns: round(self.issued_ns), latency_ns: self.latency_ns.map(round), ..self }
    }
}

/// What a trace says about itself. It has no field for a name, on purpose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// What recorded the I/O, for example `tracefs` or `blktrace`.
    pub source: String,
    /// The devices, in the order of their numbers. Where it is shorter than the numbers that occur,
    /// nothing is known about the others.
    #[serde(default)]
    pub devices: Vec<DeviceFacts>,
    /// When the trace began, in milliseconds since 1970; absent where its source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_unix_ms: Option<u64>,
    /// When recording began, on the clock of the I/Os. Absent where the source does not say: then
    /// nothing is known about the time before the first I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_from_ns: Option<u64>,
}

/// What is known about a device. What is not known is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// How many bytes the device holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Whether it has a volatile write cache. Without one, the kernel sends it no flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_back: Option<bool>,
}
