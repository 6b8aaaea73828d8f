//! One reading of the counters. They count up since the system started; only differences mean
//! something, and [`crate::Window`] takes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tally::known_sum;

/// The counters of devices and processors at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// When the disk counters were read, in nanoseconds of the system's monotonic clock. Only
    /// differences mean something.
    pub at_ns: u64,
    /// The watched devices in the order they were asked for. One that has vanished is left out.
    pub disks: Vec<DiskCounters>,
    /// Where the time of the processors went, since the system started.
    pub cpus: CpuCounters,
}

impl Sample {
    /// The counters of the device of this name, if it is there.
    #[must_use]
    pub fn disk(&self, device: &str) -> Option<&DiskCounters> {
        self.disks.iter().find(|disk| disk.device == device)
    }
}

/// The counters of one block device since the system started, as in /proc/diskstats.
///
/// Times are kept by the kernel in whole milliseconds, cut off, and start again at 2^32.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DiskCounters {
    /// The device's name, such as `vda` or `dm-0`.
    pub device: String,
    /// Reads that the device completed.
    pub reads: u64,
    /// Reads that were joined to a neighbouring one before they were issued.
    pub read_merges: u64,
    /// Bytes read (the kernel's sectors times 512).
    pub read_bytes: u64,
    /// Sum of the times of all reads, from queueing to completion, in milliseconds.
    pub read_time_ms: u64,
    /// Writes that the device completed.
    pub writes: u64,
    /// Writes that were joined to a neighbouring one before they were issued.
    pub write_merges: u64,
    /// Bytes written (the kernel's sectors times 512).
    pub write_bytes: u64,
    /// Sum of the times of all writes, from queueing to completion, in milliseconds.
    pub write_time_ms: u64,
    /// I/Os in flight at this moment (Performance Monitor: Current Disk Queue Length).
    pub in_flight: u64,
    /// Time during which at least one I/O was in flight, in milliseconds.
    pub busy_ms: u64,
    /// Sum of the times of all I/Os, in milliseconds.
    pub weighted_ms: u64,
    /// Discards (TRIM) completed; None before Linux 4.18.
    pub discards: Option<u64>,
    /// Discards that were joined to a neighbouring one; None before Linux 4.18.
    pub discard_merges: Option<u64>,
    /// Bytes discarded; None before Linux 4.18.
    pub discard_bytes: Option<u64>,
    /// Sum of the times of all discards, in milliseconds; None before Linux 4.18.
    pub discard_time_ms: Option<u64>,
    /// Cache flushes completed; None before Linux 5.5.
    pub flushes: Option<u64>,
    /// Sum of the times of all cache flushes, in milliseconds; None before Linux 5.5.
    pub flush_ms: Option<u64>,
    /// Whether the kernel was told not to count the I/O of the device ([`crate::is_uncounted`]):
    /// the other fields say nothing then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
}

/// The processors' times since the system started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CpuCounters {
    /// The times of all processors together.
    pub total: CpuTicks,
    /// The times of each processor that is online.
    pub cores: Vec<CoreTicks>,
}

/// A logical processor, with its times.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CoreTicks {
    /// The processor's number; numbers are missing where processors are offline.
    pub core: u32,
    /// Where the time of this processor went.
    pub ticks: CpuTicks,
}

/// Where processor time went, in ticks of the kernel (usually 10 ms each).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CpuTicks {
    /// Programs, including guests of this machine.
    pub user: u64,
    /// Time in programs of low priority.
    pub nice: u64,
    /// Time in the kernel.
    pub system: u64,
    /// Time without work.
    pub idle: u64,
    /// Nothing to do but an I/O was waited for. Windows does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iowait: Option<u64>,
    /// Time in hardware interrupts.
    pub irq: u64,
    /// Time in soft interrupts.
    pub softirq: u64,
    /// Ready to run, but the hypervisor ran something else. Windows does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<u64>,
}

impl CpuTicks {
    /// Adds the times of another processor.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.user, other.user),
            (&mut self.nice, other.nice),
            (&mut self.system, other.system),
            (&mut self.idle, other.idle),
            (&mut self.irq, other.irq),
            (&mut self.softirq, other.softirq),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.iowait = known_sum(self.iowait, other.iowait);
        self.steal = known_sum(self.steal, other.steal);
    }

    /// The sum of all kinds of time.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.busy().saturating_add(self.idle).saturating_add(self.iowait.unwrap_or(0))
    }

    /// The ticks in which the processor was wanted: all but idle and iowait.
    #[must_use]
    pub fn busy(&self) -> u64 {
        let steal = self.steal.unwrap_or(0);
        [self.user, self.nice, self.system, self.irq, self.softirq, steal]
            .iter()
            .fold(0, |sum: u64, ticks| sum.saturating_add(*ticks))
    }
}
