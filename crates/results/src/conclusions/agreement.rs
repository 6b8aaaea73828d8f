//! Whether the operating system saw the same I/O as the tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A line of the agreement table. The operating systems' own names for it are in brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Reads a second (Disk Reads/sec, r/s).
    ReadIops,
    /// Bytes read a second (Disk Read Bytes/sec, rkB/s).
    ReadBytesPerS,
    /// Mean size of a read (Avg. Disk Bytes/Read, rareq-sz).
    ReadBytesPerIo,
    /// Mean latency of a read (Avg. Disk sec/Read, r_await).
    ReadLatencyNs,
    /// Writes a second (Disk Writes/sec, w/s).
    WriteIops,
    /// Bytes written a second (Disk Write Bytes/sec, wkB/s).
    WriteBytesPerS,
    /// Mean size of a write (Avg. Disk Bytes/Write, wareq-sz).
    WriteBytesPerIo,
    /// Mean latency of a write (Avg. Disk sec/Write, w_await).
    WriteLatencyNs,
}

/// One figure as both observers saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgreementRow {
    /// The figure that both observers have.
    pub figure: Figure,
    /// What the tool measured, in the unit of the figure.
    pub tool: f64,
    /// What the kernel counted, in the unit of the figure.
    pub kernel: f64,
    /// Kernel less tool, in percent of the tool's figure. For a direction in which the tool did
    /// nothing, in percent of what it did in both; 100 if it did nothing at all.
    pub difference_percent: f64,
    /// The difference up to which this row agrees: the tolerance and the I/Os that the edges of the
    /// window may cut, N/(X T). Absent if the row is only shown: latency, and the I/O size, which
    /// follows from the others.
    pub allowed_percent: Option<f64>,
}

/// The two observers side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// One row per figure that both observers have, for every direction in which there was I/O.
    pub rows: Vec<AgreementRow>,
    /// The largest difference, either way, among the rows that are judged; 0 if there are none.
    pub worst_percent: f64,
    /// The tolerance asked for, before the allowance for the edges of the window.
    pub tolerance_percent: f64,
    /// Whether there are rows to judge and each is within what it is allowed.
    pub within_tolerance: bool,
    /// What the difference looks like, if there is one.
    pub suspicion: Option<Suspicion>,
    /// Whether they agree, in one sentence.
    pub explanation: String,
}

impl Agreement {
    /// Whether the difference casts doubt on the figures. That I/Os were joined, cut or answered
    /// from a cache, or that others use the device, does not: it explains the difference.
    #[must_use]
    pub fn is_doubt(&self) -> bool {
        let explained = match self.suspicion {
            Some(
                Suspicion::OtherLoad
                | Suspicion::Splitting
                | Suspicion::Merging
                | Suspicion::Caching,
            ) => true,
            Some(Suspicion::Amplification | Suspicion::Disagreement) | None => false,
        };
        !self.within_tolerance && !explained
    }
}

/// The likely cause of a difference, from its direction in I/Os and in bytes. A likelihood, not a
/// proof: the counters of a device do not say who used it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Suspicion {
    /// The kernel counted more I/Os and more bytes: another program uses the device, or the file
    /// system adds I/O (journal, metadata, copy-on-write). The counters cannot distinguish these.
    OtherLoad,
    /// More I/Os, the same bytes: each I/O is cut in pieces on its way.
    Splitting,
    /// Fewer I/Os, the same bytes: neighbouring I/Os are joined on their way.
    Merging,
    /// Fewer bytes: a cache above the device answered, or the counters are those of another device.
    Caching,
    /// More bytes than the additional I/Os could carry, so another load does not explain it. Each
    /// I/O moves more than was asked for (read-ahead, or whole blocks or records for a part of
    /// one).
    Amplification,
    /// None of these: I/Os and bytes contradict each other, so one of the two instruments is wrong.
    Disagreement,
}
