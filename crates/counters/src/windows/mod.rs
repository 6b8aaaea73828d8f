//! The counters of Windows: those of disks from `IOCTL_DISK_PERFORMANCE`, those of processors from
//! `NtQuerySystemInformation`, what the cache has to write from PDH. A disk that appears later is
//! not watched.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

mod pdh;

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use windows_sys::Wdk::System::SystemInformation::{
    NtQuerySystemInformation, SystemProcessorPerformanceInformation,
};
use windows_sys::Win32::System::IO::DeviceIoControl;

use self::pdh::DirtyPages;
use crate::windows_structures::{self as structures, DISK_BYTES, PROCESSOR_BYTES};
use crate::{
    Amount, BlockDevice, BlockKind, CoreTicks, CountersError, CpuCounters, DiskCounters,
    MemoryCounters, PressureCounters, Sample, SystemSample, Unreported,
};

const DISK_GET_DRIVE_GEOMETRY_EX: u32 = 0x0007_00A0;
const DISK_PERFORMANCE: u32 = 0x0007_0020;
const DISK_PERFORMANCE_OFF: u32 = 0x0007_0060;
/// Disks are numbered from 0; there may be gaps.
const DISKS_MAX: u32 = 256;
/// Room for `DISK_GEOMETRY_EX`.
const GEOMETRY_BYTES: usize = 128;
/// Processors of a group, of which Windows answers for one.
const GROUP_CPUS: usize = 64;

/// Where the system's counters are read, as a text names it.
pub(crate) const SOURCES: &str = "IOCTL_DISK_PERFORMANCE, NtQuerySystemInformation, PDH";

/// Amounts of a device that this system does not count.
pub(crate) fn unreported() -> Unreported {
    [Amount::ReadMerges, Amount::WriteMerges].into_iter().collect()
}

/// The time since the first call, in nanoseconds of a monotonic clock.
fn now_ns() -> u64 {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    u64::try_from(BEGAN.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// What a device answers to a question without data.
fn control(device: &File, code: u32, room: &mut [u8]) -> io::Result<usize> {
    let (length, mut returned) = (u32::try_from(room.len()).unwrap_or(0), 0);
    // SAFETY: takes a handle that is open; Windows writes at most `length` bytes and one number.
    let result = unsafe {
        let (input, output) = (std::ptr::null(), room.as_mut_ptr().cast::<c_void>());
        let (handle, none) = (device.as_raw_handle(), std::ptr::null_mut());
        DeviceIoControl(handle, code, input, 0, output, length, &raw mut returned, none)
    };
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(returned as usize) }
}

/// A disk whose counters are asked for; Windows counts as long as anybody asks.
#[derive(Debug)]
struct Disk {
    name: String,
    device: File,
}

impl Disk {
    /// Opens the disk of this name, such as `PhysicalDrive0`, without the right to read it.
    fn open(name: &str) -> io::Result<Self> {
        let path = PathBuf::from(format!(r"\\.\{name}"));
        let device = OpenOptions::new().access_mode(0).open(path)?;
        Ok(Self { name: name.to_owned(), device })
    }

    /// Opens every disk that there is.
    fn all() -> impl Iterator<Item = Self> {
        (0..DISKS_MAX).filter_map(|number| Self::open(&format!("PhysicalDrive{number}")).ok())
    }

    fn counters(&self) -> Option<DiskCounters> {
        let mut room = [0; DISK_BYTES];
        let bytes = control(&self.device, DISK_PERFORMANCE, &mut room).ok()?;
        structures::disk(&self.name, room.get(..bytes)?, now_ns() / 100)
    }

    fn size_bytes(&self) -> Option<u64> {
        let mut room = [0; GEOMETRY_BYTES];
        let bytes = control(&self.device, DISK_GET_DRIVE_GEOMETRY_EX, &mut room).ok()?;
        structures::size(room.get(..bytes)?)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Where nothing was switched on, nothing can be switched off.
        let _ = control(&self.device, DISK_PERFORMANCE_OFF, &mut []);
    }
}

/// The times of the processors of this program's group.
fn cpus() -> CpuCounters {
    let mut room = vec![0_u8; GROUP_CPUS * PROCESSOR_BYTES];
    let (length, mut returned) = (u32::try_from(room.len()).unwrap_or(0), 0);
    // SAFETY: Windows writes at most `length` bytes and one number.
    let status = unsafe {
        let room = room.as_mut_ptr().cast::<c_void>();
        let class = SystemProcessorPerformanceInformation;
        NtQuerySystemInformation(class, room, length, &raw mut returned)
    };
    let answer = if status >= 0 { room.get(..returned as usize) } else { None };
    let found = structures::processors(answer.unwrap_or_default());
    let cores = (0..).zip(&found).map(|(core, ticks)| CoreTicks { core, ticks: *ticks });
    CpuCounters { total: structures::total(&found), cores: cores.collect() }
}

/// Reads the counters of some disks; they count as long as this lives.
#[derive(Debug)]
pub(crate) struct Source {
    disks: Vec<Disk>,
}

impl Source {
    pub(crate) fn open(_root: &Path, devices: &[String]) -> Result<Self, CountersError> {
        let counted = |name: &String| Disk::open(name).ok().filter(|d| d.counters().is_some());
        let unknown = |name: &String| CountersError::UnknownDevice {
            device: name.clone(),
            known: known().join(" "),
            path: PathBuf::from(r"\\.\PhysicalDrive…"),
        };
        let open = |name: &String| counted(name).ok_or_else(|| unknown(name));
        Ok(Self { disks: devices.iter().map(open).collect::<Result<_, _>>()? })
    }

    #[expect(clippy::unnecessary_wraps, reason = "the signature is that of every system")]
    pub(crate) fn sample(&mut self, _devices: &[String]) -> Result<Sample, CountersError> {
        let before_ns = now_ns();
        let disks = self.disks.iter().filter_map(Disk::counters).collect();
        Ok(Sample { at_ns: before_ns.midpoint(now_ns()), disks, cpus: cpus() })
    }
}

/// The names of disks that have counters.
fn known() -> Vec<String> {
    Disk::all().filter(|disk| disk.counters().is_some()).map(|disk| disk.name.clone()).collect()
}

/// The counters of every disk and of the system.
#[derive(Debug)]
pub(crate) struct SystemSource {
    disks: Vec<Disk>,
    dirty: Option<DirtyPages>,
}

impl SystemSource {
    #[expect(clippy::unnecessary_wraps, reason = "the signature is that of every system")]
    pub(crate) fn open(_root: &Path) -> Result<Self, CountersError> {
        Ok(Self { disks: Disk::all().collect(), dirty: DirtyPages::open() })
    }

    #[expect(clippy::unnecessary_wraps, reason = "the signature is that of every system")]
    pub(crate) fn sample(&mut self) -> Result<SystemSample, CountersError> {
        let before_ns = now_ns();
        let disks = self.disks.iter().filter_map(Disk::counters).collect();
        Ok(SystemSample {
            at_ns: before_ns.midpoint(now_ns()),
            disks,
            cpus: cpus(),
            pressure: PressureCounters::default(),
            memory: MemoryCounters {
                dirty_bytes: self.dirty.as_mut().and_then(DirtyPages::bytes),
                ..MemoryCounters::default()
            },
        })
    }
}

/// Never: Windows counts the I/O of every disk.
pub(crate) fn is_uncounted(_root: &Path, _device: &str) -> bool {
    false
}

/// Every disk that has counters, by its number.
pub(crate) fn devices(_root: &Path) -> Vec<BlockDevice> {
    let device = |disk: Disk| BlockDevice {
        name: disk.name.clone(),
        kind: BlockKind::Disk,
        label: None,
        size_bytes: disk.size_bytes().unwrap_or(0),
        below: Vec::new(),
    };
    Disk::all().filter(|disk| disk.counters().is_some()).map(device).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Sampler, SystemSampler, SystemWindow, Window};

    /// Work of this program is in the processors' times.
    #[test]
    fn processors_are_counted() {
        let mut sampler = Sampler::new(Vec::new()).unwrap();
        let first = sampler.sample().unwrap();
        let mut last = first.clone();
        let mut number = 1_u64;
        // Windows counts in ticks of 15.6 ms.
        while last.cpus.total.busy() <= first.cpus.total.busy() {
            for _ in 0..1_000_000 {
                number = std::hint::black_box(number.wrapping_mul(3));
            }
            last = sampler.sample().unwrap();
        }
        assert!(!first.cpus.cores.is_empty());
        let cpu = Window::between(&first, &last).cpu.unwrap();
        assert!(cpu.host_percent > 0.0 && cpu.host_percent <= 100.0, "{cpu:?}");
    }

    #[test]
    fn the_whole_system_is_sampled() {
        let mut sampler = SystemSampler::new().unwrap();
        let (first, last) = (sampler.sample().unwrap(), sampler.sample().unwrap());
        let window = SystemWindow::between(&first, &last);
        assert_eq!(window.missing, [""; 0]);
        assert_eq!(window.cores.len(), last.cpus.cores.len());
    }

    #[test]
    fn an_unknown_disk_is_named() {
        let error = Sampler::new(vec!["PhysicalDrive255".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("PhysicalDrive255"), "{error}");
    }
}
