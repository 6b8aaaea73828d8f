//! All counters of a system in one pass, and what happened between two of them.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    CacheTally, CoreTally, CountersError, CpuCounters, CpuTally, DiskCounters, DiskTally,
    PressureTally, SystemTally, platform,
};

/// For how long programs have been held up since the system started, in microseconds; `None` for
/// values that the kernel does not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PressureCounters {
    /// At least one waited for I/O.
    pub io_some_us: Option<u64>,
    /// All that had something to do waited for I/O.
    pub io_full_us: Option<u64>,
    /// At least one waited for memory.
    pub memory_some_us: Option<u64>,
    /// All that had something to do waited for memory.
    pub memory_full_us: Option<u64>,
    /// At least one waited for a processor.
    pub cpu_some_us: Option<u64>,
}

/// The state of the page cache; `None` for values that the kernel does not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryCounters {
    /// Bytes that wait to be written.
    pub dirty_bytes: Option<u64>,
    /// Bytes that are being written to devices now.
    pub write_back_bytes: Option<u64>,
    /// Bytes that were changed in the cache since the system started.
    pub dirtied_bytes: Option<u64>,
    /// Bytes that the cache has written since the system started.
    pub written_back_bytes: Option<u64>,
}

/// All counters of the system at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SystemSample {
    /// When the counters of the disks were read, in nanoseconds of the system's monotonic clock.
    pub at_ns: u64,
    /// Every block device that the system counts for, partitions and layers too.
    pub disks: Vec<DiskCounters>,
    /// Where the time of the processors went, since the system started.
    pub cpus: CpuCounters,
    /// How long work has been held up.
    pub pressure: PressureCounters,
    /// The state of the page cache.
    pub memory: MemoryCounters,
}

/// Reads all counters, again and again, at low cost: each file is opened once and read once a
/// sample.
#[derive(Debug)]
pub struct SystemSampler {
    source: platform::SystemSource,
}

impl SystemSampler {
    /// Opens the counters of this system. Those that are not there (pressure, or disks in a
    /// container) are left out later.
    pub fn new() -> Result<Self, CountersError> {
        Self::with_root(Path::new("/"))
    }

    /// Like [`SystemSampler::new`], with `root`/proc instead of /proc.
    pub fn with_root(root: &Path) -> Result<Self, CountersError> {
        Ok(Self { source: platform::SystemSource::open(root)? })
    }

    /// Reads all counters at this moment.
    pub fn sample(&mut self) -> Result<SystemSample, CountersError> {
        self.source.sample()
    }
}

/// The difference of two samples, and the figures of that window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SystemWindow {
    /// Length in seconds; 0 when the second sample is not later than the first.
    pub seconds: f64,
    /// What each device did that is in both samples, in the order of the second.
    pub disks: Vec<(String, DiskTally)>,
    /// Devices without figures: they are in only one of the samples, their counters were reset in
    /// between, or their I/O is not counted.
    pub missing: Vec<String>,
    /// The tally of the host as a whole.
    pub system: SystemTally,
    /// What each processor did in the window.
    pub cores: Vec<CoreTally>,
}

impl SystemWindow {
    /// What happened from `earlier` to `later`.
    #[must_use]
    pub fn between(earlier: &SystemSample, later: &SystemSample) -> Self {
        let mut before: HashMap<&str, &DiskCounters> =
            earlier.disks.iter().map(|disk| (disk.device.as_str(), disk)).collect();
        let (mut disks, mut missing) = (Vec::with_capacity(later.disks.len()), Vec::new());
        for after in &later.disks {
            let before = before.remove(after.device.as_str());
            match before.and_then(|before| DiskTally::between(before, after)) {
                Some(tally) => disks.push((after.device.clone(), tally)),
                None => missing.push(after.device.clone()),
            }
        }
        // In their order, which the map has lost.
        let gone = earlier.disks.iter().filter(|disk| before.contains_key(disk.device.as_str()));
        missing.extend(gone.map(|disk| disk.device.clone()));
        Self {
            seconds: later.at_ns.saturating_sub(earlier.at_ns) as f64 / 1e9,
            disks,
            missing,
            system: SystemTally {
                cpu: CpuTally::between(&earlier.cpus.total, &later.cpus.total),
                pressure: PressureTally::between(&earlier.pressure, &later.pressure),
                cache: cache(&earlier.memory, &later.memory),
            },
            cores: cores(&earlier.cpus, &later.cpus),
        }
    }

    /// What the device of this name did.
    #[must_use]
    pub fn disk(&self, name: &str) -> Option<&DiskTally> {
        self.disks.iter().find(|(device, _)| device == name).map(|(_, tally)| tally)
    }
}

fn cache(before: &MemoryCounters, after: &MemoryCounters) -> CacheTally {
    let passed = |before: Option<u64>, after: Option<u64>| {
        before.zip(after).map(|(before, after)| after.saturating_sub(before))
    };
    CacheTally {
        dirty_bytes: after.dirty_bytes,
        write_back_bytes: after.write_back_bytes,
        dirtied_bytes: passed(before.dirtied_bytes, after.dirtied_bytes),
        written_back_bytes: passed(before.written_back_bytes, after.written_back_bytes),
    }
}

/// Both lists are in the order of the processors' numbers as a rule, and else a processor is
/// missing for one window.
fn cores(before: &CpuCounters, after: &CpuCounters) -> Vec<CoreTally> {
    let mut earlier = before.cores.iter().peekable();
    let mut found = Vec::with_capacity(after.cores.len());
    for core in &after.cores {
        while earlier.next_if(|before| before.core < core.core).is_some() {}
        if let Some(before) = earlier.next_if(|before| before.core == core.core) {
            let cpu = CpuTally::between(&before.ticks, &core.ticks);
            found.push(CoreTally { core: core.core, cpu });
        }
    }
    found
}
