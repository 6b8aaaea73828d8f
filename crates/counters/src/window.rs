//! The difference of two samples, and the figures of that window.
//!
//! Notation in the formulas: D is the later counter minus the earlier one, dt the window's length
//! in seconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CpuCounters, CpuTicks, DiskCounters, DiskTally, NoCounts, Sample};

/// Where a counter of 32 bits starts again.
pub(crate) const WRAP_32_BIT: u64 = 1 << 32;

/// Where a counter of 32 bits that counts sectors of 512 bytes starts again, in bytes.
pub(crate) const WRAP_SECTORS: u64 = WRAP_32_BIT * 512;

/// What devices and processors did between two samples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Length in seconds; 0 when the second sample is not later than the first.
    pub seconds: f64,
    /// The devices that are in both samples.
    pub disks: Vec<DiskWindow>,
    /// Devices without figures: they are in only one of the samples, their counters were reset in
    /// between (unplugged and back again), or their I/O is not counted.
    pub missing: Vec<String>,
    /// Those of `missing` whose I/O is not counted ([`crate::is_uncounted`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<String>,
    /// The processors; None when the window is shorter than the kernel's tick (usually 10 ms).
    pub cpu: Option<CpuWindow>,
}

/// One block device's activity. Counts everybody's I/O, after merging and splitting, so it need
/// not equal what one program issued.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DiskWindow {
    /// The device's name, such as `vda` or `dm-0`.
    pub device: String,
    /// Reads that completed in the window.
    pub reads: u64,
    /// Writes that completed in the window.
    pub writes: u64,
    /// Reads that were joined to a neighbouring one before they were issued.
    pub read_merges: u64,
    /// Writes that were joined to a neighbouring one before they were issued.
    pub write_merges: u64,
    /// Reads per second: D reads / dt; 0 in a window of no length. Performance Monitor: Disk
    /// Reads/sec.
    pub read_iops: f64,
    /// Writes per second: D writes / dt; 0 in a window of no length. Performance Monitor: Disk
    /// Writes/sec.
    pub write_iops: f64,
    /// Bytes read per second: D bytes / dt; 0 in a window of no length. Performance Monitor: Disk
    /// Read Bytes/sec.
    pub read_bytes_per_s: f64,
    /// Bytes written per second: D bytes / dt; 0 in a window of no length. Performance Monitor:
    /// Disk Write Bytes/sec.
    pub write_bytes_per_s: f64,
    /// Mean time of a read in nanoseconds, queueing in the kernel included: D read time / D reads.
    /// None when nothing was read, or all of it took less than the 1 ms the counter can resolve,
    /// so never 0. Performance Monitor: Avg. Disk sec/Read, which shows 0 then.
    pub read_latency_ns: Option<f64>,
    /// Mean time of a write in nanoseconds, queueing in the kernel included: D write time / D
    /// writes. None when nothing was written, or all of it took less than the 1 ms the counter can
    /// resolve, so never 0. Performance Monitor: Avg. Disk sec/Write, which shows 0 then.
    pub write_latency_ns: Option<f64>,
    /// Mean size of a read in bytes: D bytes / D reads; None when nothing was read. Performance
    /// Monitor: Avg. Disk Bytes/Read.
    pub read_bytes_per_io: Option<f64>,
    /// Mean size of a write in bytes: D bytes / D writes; None when nothing was written.
    /// Performance Monitor: Avg. Disk Bytes/Write.
    pub write_bytes_per_io: Option<f64>,
    /// Mean number of I/Os in flight, weighted by time: D weighted time / dt; 0 in a window of no
    /// length. Performance Monitor: Avg. Disk Queue Length; iostat: aqu-sz.
    pub average_queue: f64,
    /// Percent of the window in which at least one I/O was in flight, at most 100: 100 D busy time
    /// / dt. A device that works on several I/Os at once is not saturated at 100. Performance
    /// Monitor: 100 - % Idle Time; iostat: %util.
    pub utilisation_percent: f64,
    /// Cache flushes completed in the window; None before Linux 5.5. No counter in Performance
    /// Monitor.
    pub flushes: Option<u64>,
    /// Mean time of a cache flush in nanoseconds: D flush time / D flushes; None when there was
    /// none, or it took less than the counter can resolve, and before Linux 5.5. No counter in
    /// Performance Monitor.
    pub flush_latency_ns: Option<f64>,
}

/// What the processors did in a window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CpuWindow {
    /// Percent of all processors' time that was neither idle nor iowait; steal counts, it was
    /// wanted: 100 D busy / D total. Performance Monitor: Processor(_Total) % Processor Time.
    pub host_percent: f64,
    /// The same for the busiest single processor; `None` if the system does not distinguish
    /// processors. Performance Monitor: the highest Processor(n) % Processor Time.
    pub busiest_core_percent: Option<f64>,
    /// The number of the busiest processor.
    pub busiest_core: Option<u32>,
    /// Percent of all processors' time that was idle while an I/O was waited for: 100 D iowait / D
    /// total. Absent where the system does not count it, as on Windows. No counter in Performance
    /// Monitor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iowait_percent: Option<f64>,
    /// Percent of all processors' time the hypervisor gave to others: 100 D steal / D total. Absent
    /// where the system does not count it, as on Windows. No counter in Performance Monitor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_percent: Option<f64>,
}

impl Window {
    /// The activity from `earlier` to `later`. Counters that started again at 2^32 are put right;
    /// a device that vanished or was replaced is named in `missing`.
    #[must_use]
    pub fn between(earlier: &Sample, later: &Sample) -> Self {
        let seconds = later.at_ns.saturating_sub(earlier.at_ns) as f64 / 1e9;
        let mut window = Self {
            seconds,
            cpu: CpuWindow::between(&earlier.cpus, &later.cpus),
            ..Self::default()
        };
        for before in &earlier.disks {
            let figures = later
                .disk(&before.device)
                .and_then(|after| DiskWindow::between(before, after, seconds));
            match figures {
                Some(disk) => window.disks.push(disk),
                None => window.missing.push(before.device.clone()),
            }
        }
        let off = earlier.disks.iter().chain(&later.disks).filter(|disk| disk.uncounted);
        for disk in off {
            if !window.uncounted.contains(&disk.device) {
                window.uncounted.push(disk.device.clone());
            }
        }
        let appeared = later.disks.iter().filter(|after| earlier.disk(&after.device).is_none());
        window.missing.extend(appeared.map(|after| after.device.clone()));
        window
    }

    /// Why it lacks the counts of a device, if it does.
    #[must_use]
    pub fn no_counts(&self) -> Option<NoCounts> {
        let off = self.uncounted.first().map(|d| NoCounts::AccountingOff { device: d.clone() });
        off.or_else(|| Some(NoCounts::Vanished { device: self.missing.first()?.clone() }))
    }

    /// The activity of the device of this name, if there are figures for it.
    #[must_use]
    pub fn disk(&self, device: &str) -> Option<&DiskWindow> {
        self.disks.iter().find(|disk| disk.device == device)
    }
}

impl DiskWindow {
    /// None when the counters were reset, or nothing is counted.
    fn between(before: &DiskCounters, after: &DiskCounters, seconds: f64) -> Option<Self> {
        DiskTally::between(before, after).map(|did| Self::of(&after.device, &did, seconds))
    }

    /// The figures of what a device did in so many seconds.
    #[must_use]
    pub fn of(device: &str, did: &DiskTally, seconds: f64) -> Self {
        Self {
            device: device.to_owned(),
            reads: did.reads,
            writes: did.writes,
            read_merges: did.read_merges,
            write_merges: did.write_merges,
            read_iops: per_second(did.reads, seconds),
            write_iops: per_second(did.writes, seconds),
            read_bytes_per_s: per_second(did.read_bytes, seconds),
            write_bytes_per_s: per_second(did.written_bytes, seconds),
            read_latency_ns: latency_ns(did.read_ms, did.reads),
            write_latency_ns: latency_ns(did.write_ms, did.writes),
            read_bytes_per_io: per_io(did.read_bytes, did.reads),
            write_bytes_per_io: per_io(did.written_bytes, did.writes),
            average_queue: per_second(did.queue_ms, seconds) / 1e3,
            // The counter and the clock are not read in the same instant; 100.2 would only confuse.
            utilisation_percent: (per_second(did.busy_ms, seconds) / 10.0).min(100.0),
            flushes: did.flushes,
            flush_latency_ns: did.flushes.and_then(|flushes| latency_ns(did.flush_ms, flushes)),
        }
    }
}

impl CpuWindow {
    fn between(before: &CpuCounters, after: &CpuCounters) -> Option<Self> {
        let ticks = before.total.until(&after.total);
        let host_percent = ticks.percent(ticks.busy())?;
        let busiest = after
            .cores
            .iter()
            .filter_map(|core| {
                let earlier = before.cores.iter().find(|c| c.core == core.core)?;
                let ticks = earlier.ticks.until(&core.ticks);
                Some((core.core, ticks.percent(ticks.busy())?))
            })
            .reduce(|best, core| if core.1 > best.1 { core } else { best });
        Some(Self {
            host_percent,
            busiest_core_percent: busiest.map(|(_, percent)| percent),
            busiest_core: busiest.map(|(core, _)| core),
            iowait_percent: ticks.iowait.and_then(|part| ticks.percent(part)),
            steal_percent: ticks.steal.and_then(|part| ticks.percent(part)),
        })
    }
}

impl CpuTicks {
    /// The ticks from here to `later`. The kernel lets iowait and steal step back a little.
    pub(crate) fn until(&self, later: &Self) -> Self {
        let passed = |before: Option<u64>, after: Option<u64>| {
            after.map(|after| after.saturating_sub(before.unwrap_or(0)))
        };
        Self {
            user: later.user.saturating_sub(self.user),
            nice: later.nice.saturating_sub(self.nice),
            system: later.system.saturating_sub(self.system),
            idle: later.idle.saturating_sub(self.idle),
            iowait: passed(self.iowait, later.iowait),
            irq: later.irq.saturating_sub(self.irq),
            softirq: later.softirq.saturating_sub(self.softirq),
            steal: passed(self.steal, later.steal),
        }
    }

    fn percent(&self, part: u64) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| 100.0 * part as f64 / total as f64)
    }
}

/// How far a counter of events advanced. A counter that went back has either passed `wrap`, and
/// then is a little past it, or has started again: `None`.
pub(crate) fn advance(earlier: u64, later: u64, wrap: u64) -> Option<u64> {
    if later >= earlier {
        return Some(later - earlier);
    }
    let advanced = wrap.checked_sub(earlier)? + later;
    (advanced < wrap / 2).then_some(advanced)
}

/// How far a counter of milliseconds advanced. At a deep queue these may advance by more than half
/// their range within a day; stepping back by less than a second is the kernel's own rounding.
pub(crate) fn advance_ms(earlier: u64, later: u64) -> u64 {
    match later.checked_sub(earlier) {
        Some(advanced) => advanced,
        None if earlier - later < 1000 => 0,
        None => WRAP_32_BIT.checked_sub(earlier).map_or(0, |rest| rest + later),
    }
}

fn per_second(amount: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount as f64 / seconds } else { 0.0 }
}

fn per_io(amount: u64, ios: u64) -> Option<f64> {
    (ios > 0).then(|| amount as f64 / ios as f64)
}

fn latency_ns(time_ms: u64, ios: u64) -> Option<f64> {
    per_io(time_ms, ios).filter(|ms| *ms > 0.0).map(|ms| ms * 1e6)
}
