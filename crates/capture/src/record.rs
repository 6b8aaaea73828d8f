//! The records that the program writes, and the I/Os that they are.

use trace::{Io, Kind};

use crate::btf::{Btf, BtfError};
use crate::check::Tally;

/// The bytes of a record: times of arrival and completion, sector (eight each), flags, bytes, the
/// number of the device, and what the kernel notes about the request (four each).
pub(crate) const RECORD: usize = 40;
const SECTOR_BYTES: u64 = 512;
const OPERATION: u32 = 0xff;
/// The sector that stands for none, as of a flush.
const NO_SECTOR: u64 = u64::MAX;

/// What the flags of a request mean, which differs between kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags {
    /// The operation that writes data.
    pub write: u32,
    /// The operation that empties the cache of the device.
    pub flush: u32,
    /// The operation that gives up a range.
    pub discard: u32,
    /// The operation that gives up a range and erases it.
    pub secure_erase: u32,
    /// The operation that writes zeros without carrying them.
    pub write_zeroes: u32,
    /// The bit of force unit access.
    pub durable: u32,
    /// The bit of a request that flushes precede or follow; older kernels do not name it.
    pub flush_sequence: Option<u32>,
}

impl Flags {
    /// Reads the values.
    ///
    /// # Errors
    /// A value is not there.
    pub fn find(btf: &Btf<'_>) -> Result<Self, BtfError> {
        let bit = |name| btf.value(name).map(|bit| 1_u32.checked_shl(bit).unwrap_or(0));
        Ok(Self {
            write: btf.value("REQ_OP_WRITE")?,
            flush: btf.value("REQ_OP_FLUSH")?,
            discard: btf.value("REQ_OP_DISCARD")?,
            secure_erase: btf.value("REQ_OP_SECURE_ERASE")?,
            write_zeroes: btf.value("REQ_OP_WRITE_ZEROES")?,
            durable: bit("__REQ_FUA")?,
            flush_sequence: bit("__RQF_FLUSH_SEQ").ok(),
        })
    }
}

/// Turns records of the kernel's programs into I/Os of a trace.
#[derive(Debug)]
pub struct Records {
    flags: Flags,
    begin_ns: u64,
    /// Completions of I/Os that began before the recording.
    early: Tally,
    /// Writes that the kernel completes a second time, without bytes, after their flushes.
    twice: u64,
    /// Completions without bytes that are recorded as flushes.
    waits: u64,
    /// I/Os whose arrival the kernel did not note.
    undated: u64,
}

impl Records {
    /// For a kernel whose flags are these; times count from `begin_ns` of the monotonic clock.
    #[must_use]
    pub fn new(flags: Flags, begin_ns: u64) -> Self {
        Self { flags, begin_ns, early: Tally::default(), twice: 0, waits: 0, undated: 0 }
    }

    /// The I/O of a record; none of one that began before the recording, that carries no data, or
    /// that is cut off.
    pub fn io(&mut self, record: &[u8]) -> Option<Io> {
        let record: &[u8; RECORD] = record.get(..RECORD)?.try_into().ok()?;
        let long = |at: usize| record.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes);
        let word = |at: usize| record.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
        let (arrived_ns, done_ns, sector) = (long(0)?, long(8)?, long(16)?);
        let (flags, bytes, device, notes) = (word(24)?, word(28)?, word(32)?, word(36)?);
        let kind = self.kind_of(flags, u64::from(bytes))?;
        self.waits += u64::from(kind == Kind::Flush && flags & OPERATION != self.flags.flush);
        let has_place = kind != Kind::Flush && sector != NO_SECTOR;
        let io = Io {
            issued_ns: arrived_ns.saturating_sub(self.begin_ns),
            latency_ns: Some(done_ns.saturating_sub(arrived_ns)),
            device,
            stream: 0,
            offset_bytes: if has_place { sector.wrapping_mul(SECTOR_BYTES) } else { 0 },
            length_bytes: u64::from(bytes),
            kind,
        };
        if arrived_ns == 0 {
            self.undated += 1;
            let issued_ns = done_ns.saturating_sub(self.begin_ns);
            return Some(Io { issued_ns, latency_ns: None, ..io });
        }
        let sequence = self.flags.flush_sequence.unwrap_or(0);
        self.twice += u64::from(notes & sequence != 0 && kind != Kind::Flush);
        if arrived_ns < self.begin_ns {
            self.early.add(&io);
            return None;
        }
        Some(io)
    }

    /// When the recording began, by the monotonic clock.
    #[must_use]
    pub fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Completions of I/Os that began before the recording.
    #[must_use]
    pub fn early(&self) -> Tally {
        self.early
    }

    /// Writes that the kernel completes once more, without bytes; absent if the kernel does not
    /// tell.
    #[must_use]
    pub fn twice(&self) -> Option<u64> {
        self.flags.flush_sequence.map(|_| self.twice)
    }

    /// Callers' waits for a flush, which are recorded as flushes.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.waits
    }

    /// I/Os whose arrival the kernel did not note: they have no latency.
    #[must_use]
    pub fn undated(&self) -> u64 {
        self.undated
    }

    /// The kind of a request with these flags; `None` for one that a trace does not hold.
    pub(crate) fn kind_of(&self, flags: u32, bytes: u64) -> Option<Kind> {
        let is = self.flags;
        match flags & OPERATION {
            0 if bytes > 0 => Some(Kind::Read),
            op if op == is.flush => Some(Kind::Flush),
            op if op == is.write && bytes == 0 => Some(Kind::Flush),
            op if op == is.write && flags & is.durable != 0 => Some(Kind::DurableWrite),
            op if op == is.write || op == is.write_zeroes => Some(Kind::Write),
            op if op == is.discard || op == is.secure_erase => Some(Kind::Discard),
            _ => None,
        }
    }
}
