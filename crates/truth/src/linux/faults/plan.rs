//! Which faults to make, in which requests, and how often.

use std::ops::Range;

use device::Op;
use serde::Serialize;
use workload::Nanoseconds;

/// The smallest part that storage writes whole.
pub const SECTOR_BYTES: u64 = 512;

/// What goes wrong with a request. The reader or writer gets success, unless the fault is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The reader gets one wrong bit; the stored data is right.
    BitFlipRead,
    /// One bit of the stored data is wrong.
    BitFlipWrite,
    /// The write is not stored at all.
    LostWrite,
    /// Only some sectors of the write are stored.
    TornWrite(Torn),
    /// The whole is stored elsewhere in the same file, at a multiple of 4 KiB.
    MisdirectedWrite,
    /// The reader gets another part of the same file.
    MisdirectedRead,
    /// A reader is given what each 4 KiB held before its last write; those not written since the
    /// faults began are right.
    StaleRead,
    /// A reader gets zeros, whatever is stored.
    ZeroRead,
    /// A write stores zeros instead of its data.
    ZeroWrite,
    /// A reader is given fewer bytes than asked for, and told so; the first sector at least.
    ShortRead,
    /// Fewer bytes are stored than asked for, at least the first sector, and the writer gets their
    /// number. With several I/Os in flight, Linux reports a failure (EIO) instead.
    ShortWrite,
    /// A read fails with this number of the system, such as EIO.
    ReadError(i32),
    /// A write fails with this number of the system, such as ENOSPC; nothing is stored.
    WriteError(i32),
    /// A flush fails with this number of the system.
    SyncError(i32),
    /// A flush, or a durable write, is acknowledged, and nothing is made stable. It shows at a
    /// crash of a device with a [`Cache`](crate::Cache).
    FsyncLies,
    /// A flush, or a durable write, is acknowledged, and only some of the earlier writes become
    /// stable, in any order. It shows at a crash of a device with a [`Cache`](crate::Cache).
    ReorderAcrossFlush,
    /// A write is made twice, which is harmless.
    DuplicatedWrite,
    /// The answer to a read or write comes so much later than the device's model has it.
    Stall(Nanoseconds),
}

/// Which sectors of a torn write arrive. A write has none of this where all of its sectors would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Torn {
    /// So many sectors from its beginning.
    Prefix(u64),
    /// So many sectors up to its end.
    Suffix(u64),
    /// Each with a chance of one in two, one at least, and not all.
    Random,
}

/// Which of the requests that a fault can happen to it happens to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Each of them with this probability, 0 to 1.
    Probability(f64),
    /// Every n-th of them.
    Every(u64),
    /// Only the n-th request, counted from 1.
    Nth(u64),
}

/// One kind of fault. The requests are counted from the moment it is injected.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultPlan {
    /// What goes wrong.
    pub fault: Fault,
    /// How often it goes wrong.
    pub when: When,
    /// Only in the file of this name; `None` for any file.
    pub file: Option<String>,
    /// Only requests that are wholly in this range; a misdirected one stays in it, too.
    pub range: Range<u64>,
    /// After so many faults, nothing goes wrong any more.
    pub most: u64,
    /// What all random choices start from.
    pub seed: u64,
}

impl FaultPlan {
    /// A fault that may happen in any file, any number of times.
    #[must_use]
    pub fn new(fault: Fault, when: When) -> Self {
        Self { fault, when, file: None, range: 0..u64::MAX, most: u64::MAX, seed: 42 }
    }

    /// The same fault in one file only.
    #[must_use]
    pub fn in_file(self, name: &str) -> Self {
        Self { file: Some(name.to_owned()), ..self }
    }

    /// The same fault in a range of bytes only.
    #[must_use]
    pub fn in_range(self, range: Range<u64>) -> Self {
        Self { range, ..self }
    }

    /// The same fault, at most so many times.
    #[must_use]
    pub fn at_most(self, most: u64) -> Self {
        Self { most, ..self }
    }

    /// The same fault with another seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

impl Fault {
    /// Whether this can happen to such a request of so many bytes, which is a durable write or not.
    pub(super) fn fits(self, op: Op, bytes: u64, durable: bool) -> bool {
        let of = match self {
            Self::BitFlipRead | Self::MisdirectedRead | Self::StaleRead | Self::ZeroRead => {
                op == Op::Read && bytes > 0
            }
            Self::ShortRead => op == Op::Read && bytes > SECTOR_BYTES,
            Self::ReadError(_) => op == Op::Read,
            Self::SyncError(_) => op == Op::Sync,
            Self::FsyncLies | Self::ReorderAcrossFlush => op == Op::Sync || durable,
            Self::Stall(_) => op != Op::Sync,
            _ => op == Op::Write && bytes > 0,
        };
        let sectors = bytes.div_ceil(SECTOR_BYTES);
        of && match self {
            Self::TornWrite(Torn::Prefix(n) | Torn::Suffix(n)) => (1..sectors).contains(&n),
            Self::TornWrite(Torn::Random) | Self::ShortWrite => sectors > 1,
            _ => true,
        }
    }

    pub(super) fn is_misdirected(self) -> bool {
        matches!(self, Self::MisdirectedRead | Self::MisdirectedWrite)
    }
}
