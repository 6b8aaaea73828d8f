//! What happened in a window as amounts that add up: the sum of two windows is the window of both.
//!
//! Every figure is a function of such amounts and of the length of the window, so a figure of a
//! long window weighs by I/Os and not by seconds, however many short ones it was put together from.
//! [`crate::DISK_FIELDS`] and [`crate::SYSTEM_FIELDS`] say which figures there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::platform;
use crate::unreported::{Amount, Unreported};
use crate::window::{advance, advance_ms};
use crate::{CpuTicks, DiskCounters, PressureCounters, WRAP_32_BIT, WRAP_SECTORS};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of skip_serializing_if")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// The amounts of one block device. JSON leaves out amounts of 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DiskTally {
    /// Reads that the device completed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reads: u64,
    /// Writes that the device completed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub writes: u64,
    /// Bytes that these reads moved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub read_bytes: u64,
    /// Bytes that these writes moved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub written_bytes: u64,
    /// Sum of the times of all reads, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub read_ms: u64,
    /// Sum of the times of all writes, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_ms: u64,
    /// Nanoseconds of the reads' times beyond `read_ms`, from counters finer than Linux's.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub read_rest_ns: u64,
    /// Nanoseconds of the writes' times beyond `write_ms`, from counters finer than Linux's.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_rest_ns: u64,
    /// Reads that were joined to a neighbouring one before they were issued.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub read_merges: u64,
    /// Writes that were joined to a neighbouring one before they were issued.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_merges: u64,
    /// Time in which I/Os were in flight, each counted, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queue_ms: u64,
    /// Time in which at least one I/O was in flight, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub busy_ms: u64,
    /// I/Os in flight at the end of the window; the sum of them where windows were put together.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight: u64,
    /// Cache flushes completed; none before Linux 5.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
    /// Sum of their times, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flush_ms: u64,
    /// Discards completed; none before Linux 4.18.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discards: Option<u64>,
    /// Bytes of the ranges that were discarded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub discarded_bytes: u64,
    /// Sum of their times, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub discard_ms: u64,
    /// I/Os that the devices below completed beyond those of this one; absent if nothing below is
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splits: Option<u64>,
    /// Reads and writes together, from a tool that does not count them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfers: Option<u64>,
    /// Bytes read and written together, from a tool that does not count them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_bytes: Option<u64>,
    /// Sum of the times of reads and writes together in nanoseconds, from a tool that does not
    /// tell them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_ns: Option<u64>,
    /// Amounts that the counting tool does not report; their fields are 0. Figures that need one of
    /// them are absent.
    #[serde(default, skip_serializing_if = "Unreported::is_empty")]
    pub unreported: Unreported,
}

impl DiskTally {
    /// What a device did from one reading to the next; `None` if its counters were reset in
    /// between, or its I/O is not counted.
    #[must_use]
    pub fn between(before: &DiskCounters, after: &DiskCounters) -> Option<Self> {
        if before.uncounted || after.uncounted {
            return None;
        }
        let events = |before, after| advance(before, after, WRAP_32_BIT);
        let both = |before: Option<u64>, after: Option<u64>| match (before, after) {
            (Some(before), Some(after)) => events(before, after).map(Some),
            _ => Some(None),
        };
        let ms = |before: Option<u64>, after: Option<u64>| {
            before.zip(after).map_or(0, |(before, after)| advance_ms(before, after))
        };
        let discarded = before.discard_bytes.zip(after.discard_bytes);
        Some(Self {
            reads: events(before.reads, after.reads)?,
            writes: events(before.writes, after.writes)?,
            read_bytes: advance(before.read_bytes, after.read_bytes, WRAP_SECTORS)?,
            written_bytes: advance(before.write_bytes, after.write_bytes, WRAP_SECTORS)?,
            read_ms: advance_ms(before.read_time_ms, after.read_time_ms),
            write_ms: advance_ms(before.write_time_ms, after.write_time_ms),
            read_merges: events(before.read_merges, after.read_merges)?,
            write_merges: events(before.write_merges, after.write_merges)?,
            queue_ms: advance_ms(before.weighted_ms, after.weighted_ms),
            busy_ms: advance_ms(before.busy_ms, after.busy_ms),
            in_flight: after.in_flight,
            flushes: both(before.flushes, after.flushes)?,
            flush_ms: ms(before.flush_ms, after.flush_ms),
            discards: both(before.discards, after.discards)?,
            discarded_bytes: match discarded {
                Some((before, after)) => advance(before, after, WRAP_SECTORS)?,
                None => 0,
            },
            discard_ms: ms(before.discard_time_ms, after.discard_time_ms),
            unreported: platform::unreported(),
            ..Self::default()
        })
    }

    /// Whether nothing was done and nothing is in flight.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let amounts = [self.reads, self.writes, self.in_flight, self.queue_ms, self.busy_ms];
        let known = [self.flushes, self.discards, self.transfers, self.transfer_bytes];
        amounts.iter().all(|amount| *amount == 0)
            && known.iter().flatten().all(|amount| *amount == 0)
    }

    /// Adds what the device did in another window.
    pub fn add(&mut self, other: &Self) {
        let amounts = [
            (&mut self.reads, other.reads),
            (&mut self.writes, other.writes),
            (&mut self.read_bytes, other.read_bytes),
            (&mut self.written_bytes, other.written_bytes),
            (&mut self.read_ms, other.read_ms),
            (&mut self.write_ms, other.write_ms),
            (&mut self.read_merges, other.read_merges),
            (&mut self.write_merges, other.write_merges),
            (&mut self.queue_ms, other.queue_ms),
            (&mut self.busy_ms, other.busy_ms),
            (&mut self.in_flight, other.in_flight),
            (&mut self.flush_ms, other.flush_ms),
            (&mut self.discarded_bytes, other.discarded_bytes),
            (&mut self.discard_ms, other.discard_ms),
            (&mut self.read_rest_ns, other.read_rest_ns),
            (&mut self.write_rest_ns, other.write_rest_ns),
        ];
        for (sum, more) in amounts {
            *sum = sum.saturating_add(more);
        }
        for (sum, more) in [
            (&mut self.flushes, other.flushes),
            (&mut self.discards, other.discards),
            (&mut self.splits, other.splits),
            (&mut self.transfers, other.transfers),
            (&mut self.transfer_bytes, other.transfer_bytes),
            (&mut self.transfer_ns, other.transfer_ns),
        ] {
            *sum = known_sum(*sum, more);
        }
        self.unreported.join(other.unreported);
    }

    /// An amount, unless the tool that counted does not report it.
    #[must_use]
    pub fn reported(&self, amount: Amount) -> Option<u64> {
        let value = match amount {
            Amount::Reads => self.reads,
            Amount::Writes => self.writes,
            Amount::ReadBytes => self.read_bytes,
            Amount::WrittenBytes => self.written_bytes,
            Amount::ReadTime => ns(self.read_ms, self.read_rest_ns),
            Amount::WriteTime => ns(self.write_ms, self.write_rest_ns),
            Amount::ReadMerges => self.read_merges,
            Amount::WriteMerges => self.write_merges,
            Amount::Queue => self.queue_ms,
            Amount::Busy => self.busy_ms,
            Amount::InFlight => self.in_flight,
        };
        (!self.unreported.has(amount)).then_some(value)
    }

    /// Reads and writes together, if they are reported.
    #[must_use]
    pub fn all_transfers(&self) -> Option<u64> {
        self.both(Amount::Reads, Amount::Writes).or(self.transfers)
    }

    /// Bytes of reads and writes together, if they are reported.
    #[must_use]
    pub fn all_bytes(&self) -> Option<u64> {
        self.both(Amount::ReadBytes, Amount::WrittenBytes).or(self.transfer_bytes)
    }

    /// The times of reads and writes together, in nanoseconds.
    #[must_use]
    pub fn all_time_ns(&self) -> Option<u64> {
        self.both(Amount::ReadTime, Amount::WriteTime).or(self.transfer_ns)
    }

    fn both(&self, one: Amount, other: Amount) -> Option<u64> {
        Some(self.reported(one)?.saturating_add(self.reported(other)?))
    }
}

fn ns(ms: u64, rest_ns: u64) -> u64 {
    ms.saturating_mul(1_000_000).saturating_add(rest_ns)
}

/// The sum of two amounts. An unknown one adds nothing; the sum is unknown if both are.
pub(crate) fn known_sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

/// What processors did, in ticks of the kernel (usually 10 ms each).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CpuTally {
    /// Time in which a processor was wanted: all but idle and iowait.
    pub busy_ticks: u64,
    /// Time in which it had nothing to do but an I/O was waited for; absent where the system does
    /// not count it, as on Windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iowait_ticks: Option<u64>,
    /// Time that the hypervisor gave to others, of the busy time; absent where the system does not
    /// count it, as on Windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_ticks: Option<u64>,
    /// The sum of all kinds of time.
    pub ticks: u64,
}

impl CpuTally {
    pub(crate) fn between(before: &CpuTicks, after: &CpuTicks) -> Self {
        let ticks = before.until(after);
        Self {
            busy_ticks: ticks.busy(),
            iowait_ticks: ticks.iowait,
            steal_ticks: ticks.steal,
            ticks: ticks.total(),
        }
    }

    /// Adds the amounts of another window.
    pub fn add(&mut self, other: &Self) {
        self.busy_ticks = self.busy_ticks.saturating_add(other.busy_ticks);
        self.iowait_ticks = known_sum(self.iowait_ticks, other.iowait_ticks);
        self.steal_ticks = known_sum(self.steal_ticks, other.steal_ticks);
        self.ticks = self.ticks.saturating_add(other.ticks);
    }

    /// A part of the time in percent; `None` if no tick passed.
    #[must_use]
    pub fn percent(&self, part: u64) -> Option<f64> {
        (self.ticks > 0).then(|| 100.0 * part as f64 / self.ticks as f64)
    }
}

/// What one processor did in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CoreTally {
    /// The processor's number; numbers are missing where processors are offline.
    pub core: u32,
    /// Where its time went.
    #[serde(flatten)]
    pub cpu: CpuTally,
}

/// For how long programs were held up for want of something, in microseconds (pressure stall
/// information). Absent if the kernel does not report, as before Linux 4.20 or with `psi=0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PressureTally {
    /// At least one waited for I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_some_us: Option<u64>,
    /// All that had something to do waited for I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_full_us: Option<u64>,
    /// At least one waited for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_some_us: Option<u64>,
    /// All that had something to do waited for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_full_us: Option<u64>,
    /// At least one waited for a processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_some_us: Option<u64>,
}

impl PressureTally {
    pub(crate) fn between(before: &PressureCounters, after: &PressureCounters) -> Self {
        let passed = |before: Option<u64>, after: Option<u64>| {
            before.zip(after).map(|(before, after)| after.saturating_sub(before))
        };
        Self {
            io_some_us: passed(before.io_some_us, after.io_some_us),
            io_full_us: passed(before.io_full_us, after.io_full_us),
            memory_some_us: passed(before.memory_some_us, after.memory_some_us),
            memory_full_us: passed(before.memory_full_us, after.memory_full_us),
            cpu_some_us: passed(before.cpu_some_us, after.cpu_some_us),
        }
    }

    fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.io_some_us, other.io_some_us),
            (&mut self.io_full_us, other.io_full_us),
            (&mut self.memory_some_us, other.memory_some_us),
            (&mut self.memory_full_us, other.memory_full_us),
            (&mut self.cpu_some_us, other.cpu_some_us),
        ] {
            *sum = known_sum(*sum, more);
        }
    }
}

/// The page cache in a window; `None` for values that the system does not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CacheTally {
    /// Bytes that waited to be written at the end of the window; the sum of them where windows were
    /// put together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// Bytes that were being written then; the sum of them where windows were put together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_back_bytes: Option<u64>,
    /// Bytes that were changed in the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirtied_bytes: Option<u64>,
    /// Bytes that the cache wrote to storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_back_bytes: Option<u64>,
}

impl CacheTally {
    fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.dirty_bytes, other.dirty_bytes),
            (&mut self.write_back_bytes, other.write_back_bytes),
            (&mut self.dirtied_bytes, other.dirtied_bytes),
            (&mut self.written_back_bytes, other.written_back_bytes),
        ] {
            *sum = known_sum(*sum, more);
        }
    }
}

/// The amounts of the host, apart from its devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SystemTally {
    /// The times of all processors together.
    #[serde(default)]
    pub cpu: CpuTally,
    /// How long work was held up.
    #[serde(default)]
    pub pressure: PressureTally,
    /// The state of the page cache.
    #[serde(default)]
    pub cache: CacheTally,
}

impl SystemTally {
    /// Adds the amounts of another window.
    pub fn add(&mut self, other: &Self) {
        self.cpu.add(&other.cpu);
        self.pressure.add(&other.pressure);
        self.cache.add(&other.cache);
    }
}
