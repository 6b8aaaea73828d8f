//! What the operating system saw meanwhile: the counters of its disks and processors.
//!
//! A [`Sampler`] reads the counters, a [`Window`] is what happened between two samples. Figures are
//! always weighted over exactly that window (sum of times divided by the number of I/Os), never an
//! average of per-second averages, which would over-weight the idle seconds.
//!
//! A [`SystemSampler`] reads every device and what the host reports besides, for watching rather
//! than measuring; a [`SystemWindow`] is what happened between two of its samples, as amounts that
//! add up ([`DiskTally`]). [`DISK_FIELDS`] and [`SYSTEM_FIELDS`] are the figures made of them.
//!
//! What it does not do: keep a history, run a thread, or tell this process's I/O from that of
//! others. The counters of a device include everybody's.

use std::io;
use std::path::{Path, PathBuf};

mod device;
mod field;
mod no_counts;
mod sample;
mod system;
mod tally;
mod unreported;
mod window;
mod write_back;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod platform;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "other.rs"]
mod platform;
// Functions of bytes, which are tested on every system.
#[cfg(any(windows, test))]
#[path = "windows/structures.rs"]
mod windows_structures;

pub use device::{BlockDevice, BlockKind, block_devices, is_uncounted};
pub use field::{DISK_FIELDS, Field, SYSTEM_FIELDS, Span, Unit, disk_field, system_field};
pub use no_counts::NoCounts;
pub use sample::{CoreTicks, CpuCounters, CpuTicks, DiskCounters, Sample};
pub use system::{MemoryCounters, PressureCounters, SystemSample, SystemSampler, SystemWindow};
pub use tally::{CacheTally, CoreTally, CpuTally, DiskTally, PressureTally, SystemTally};
pub use unreported::{Amount, Unreported};
pub use window::{CpuWindow, DiskWindow, Window};
use window::{WRAP_32_BIT, WRAP_SECTORS};
pub use write_back::WriteBack;

/// Where the system's counters are read, as a text names it: files, or calls.
pub const SOURCES: &str = platform::SOURCES;

/// Why the counters could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CountersError {
    /// A counter file could not be opened or read.
    #[error("cannot read the operating system's counters in {}: {source}", path.display())]
    Unreadable {
        /// The file that could not be read.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The operating system counts nothing under this device name.
    #[error("no counters for device {device:?} in {}; it knows: {known}", path.display())]
    UnknownDevice {
        /// The name that was asked for, as in /proc/diskstats (`vda`, `dm-0`).
        device: String,
        /// The path of the file that was searched.
        path: PathBuf,
        /// The names that would do, separated by blanks.
        known: String,
    },
    /// Counters are not implemented for this operating system.
    #[error("the operating system's counters are not available on this system yet ({system})")]
    Unavailable {
        /// The name of the operating system.
        system: &'static str,
    },
}

/// Reads the counters of some disks and of all processors, again and again, at low cost: the
/// files are opened once and only the lines of the named disks are taken apart.
#[derive(Debug)]
pub struct Sampler {
    devices: Vec<String>,
    source: platform::Source,
}

impl Sampler {
    /// Opens the counters of `devices`, by their names in /proc/diskstats (`vda`, `dm-0`). An
    /// empty list gives processor counters only. A name the system does not know is an error here;
    /// a device that vanishes later is only missing from the samples.
    pub fn new(devices: Vec<String>) -> Result<Self, CountersError> {
        Self::with_root(Path::new("/"), devices)
    }

    /// Like [`Sampler::new`], with `root`/proc instead of /proc.
    pub fn with_root(root: &Path, mut devices: Vec<String>) -> Result<Self, CountersError> {
        let mut seen = std::collections::BTreeSet::new();
        devices.retain(|device| seen.insert(device.clone()));
        let source = platform::Source::open(root, &devices)?;
        Ok(Self { devices, source })
    }

    /// The devices that are watched, each once, in the order they were given.
    #[must_use]
    pub fn devices(&self) -> &[String] {
        &self.devices
    }

    /// Reads all counters at this moment.
    pub fn sample(&mut self) -> Result<Sample, CountersError> {
        self.source.sample(&self.devices)
    }
}
