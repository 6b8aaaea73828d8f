//! What Windows answers about disks and processors: bytes in, values out.

use crate::{CpuTicks, DiskCounters};

/// Units of 100 ns, in which Windows counts time, in a millisecond.
const UNITS_PER_MS: u64 = 10_000;
/// Moments are counted from so early that no disk can have been idle for longer.
const LONG_AGO: u64 = 1 << 62;
/// Bytes of `DISK_PERFORMANCE`.
pub(crate) const DISK_BYTES: usize = 88;
/// Bytes of `SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION`.
pub(crate) const PROCESSOR_BYTES: usize = 48;

/// Bytes of a page, with which the cache counts: the same on every processor that Windows 10 and
/// later run on.
const PAGE_BYTES: u64 = 4096;

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    u64::try_from(i64::from_le_bytes(*bytes)).ok()
}

fn int(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?).into())
}

/// The counters of a disk, from the answer to `IOCTL_DISK_PERFORMANCE`, which came at `now` (in
/// units of 100 ns of any monotonic clock). `None` if it is not such an answer.
///
/// Windows counts neither flushes nor discards, nor merges. It counts how long a disk was idle, so
/// it was busy for the rest; and the sum of all times in flight is that of reads and writes.
pub(crate) fn disk(device: &str, answer: &[u8], now: u64) -> Option<DiskCounters> {
    let long = |at| long(answer, at);
    let (read_time, write_time, idle) = (long(16)?, long(24)?, long(32)?);
    let busy = (LONG_AGO + now).saturating_sub(idle);
    // Every answer says when it was made; an emulator answers with zeros.
    long(56).filter(|made| answer.len() >= DISK_BYTES && *made > 0)?;
    Some(DiskCounters {
        device: device.to_owned(),
        reads: int(answer, 40)?,
        read_bytes: long(0)?,
        read_time_ms: read_time / UNITS_PER_MS,
        writes: int(answer, 44)?,
        write_bytes: long(8)?,
        write_time_ms: write_time / UNITS_PER_MS,
        in_flight: int(answer, 48)?,
        busy_ms: busy / UNITS_PER_MS,
        weighted_ms: read_time.saturating_add(write_time) / UNITS_PER_MS,
        ..DiskCounters::default()
    })
}

/// The times of each processor in units of 100 ns, from the answer to
/// `SystemProcessorPerformanceInformation`. Windows counts idle time, interrupts and deferred calls
/// as time of the kernel.
pub(crate) fn processors(answer: &[u8]) -> Vec<CpuTicks> {
    let (whole, _) = answer.as_chunks::<PROCESSOR_BYTES>();
    let ticks = |one: &[u8; PROCESSOR_BYTES]| {
        let at = |at| long(one, at).unwrap_or(0);
        let (idle, deferred, interrupts) = (at(0), at(24), at(32));
        let other = idle.saturating_add(deferred).saturating_add(interrupts);
        CpuTicks {
            user: at(16),
            system: at(8).saturating_sub(other),
            idle,
            irq: interrupts,
            softirq: deferred,
            ..CpuTicks::default()
        }
    };
    whole.iter().map(ticks).collect()
}

/// The times of all processors, added up.
pub(crate) fn total(processors: &[CpuTicks]) -> CpuTicks {
    processors.iter().fold(CpuTicks::default(), |sum, one| CpuTicks {
        user: sum.user.saturating_add(one.user),
        system: sum.system.saturating_add(one.system),
        idle: sum.idle.saturating_add(one.idle),
        irq: sum.irq.saturating_add(one.irq),
        softirq: sum.softirq.saturating_add(one.softirq),
        ..sum
    })
}

/// Bytes that the cache has to write, from the value of `\Cache\Dirty Pages` with its status;
/// `None` if the value does not count.
pub(crate) fn dirty_bytes(status: u32, pages: i64) -> Option<u64> {
    const VALID: u32 = 0;
    const NEW: u32 = 1;
    let pages = u64::try_from(pages).ok().filter(|_| status == VALID || status == NEW)?;
    pages.checked_mul(PAGE_BYTES)
}

/// Bytes of a disk, from the answer to `IOCTL_DISK_GET_DRIVE_GEOMETRY_EX`.
pub(crate) fn size(answer: &[u8]) -> Option<u64> {
    long(answer, 24)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DiskTally, DiskWindow};
    use proptest::prelude::*;

    /// An answer, as the header `winioctl.h` lays it out.
    fn answer(longs: [i64; 5], ints: [u32; 4]) -> Vec<u8> {
        let mut bytes: Vec<u8> = longs.iter().flat_map(|n| n.to_le_bytes()).collect();
        bytes.extend(ints.iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend(133_000_000_000_000_000_i64.to_le_bytes());
        bytes.extend(2_u32.to_le_bytes());
        bytes.extend("Partmgr ".encode_utf16().flat_map(u16::to_le_bytes));
        bytes.resize(DISK_BYTES, 0);
        bytes
    }

    /// Half a second, in which 1000 reads took 2 ms each, and the disk was idle for 100 ms.
    #[test]
    fn two_answers_are_the_figures_of_performance_monitor() {
        let second = 10_000_000;
        let before = answer([1 << 30, 5, 7 * second, second, 90 * second], [u32::MAX - 9, 3, 0, 0]);
        let after = answer(
            [(1 << 30) + 8_192_000, 5, 9 * second, second, 90 * second + second / 10],
            [990, 3, 4, 0],
        );
        let before = disk("PhysicalDrive0", &before, 1000).unwrap();
        let after = disk("PhysicalDrive0", &after, 1000 + 5_000_000).unwrap();
        let did = DiskTally::between(&before, &after).unwrap();
        let window = DiskWindow::of("PhysicalDrive0", &did, 0.5);
        assert_eq!((window.reads, window.writes), (1000, 0), "counts of 32 bits begin anew");
        assert!((window.read_iops - 2000.0).abs() < 1e-9);
        assert_eq!(window.read_bytes_per_io, Some(8192.0));
        assert_eq!(window.read_latency_ns, Some(2e6));
        assert!((window.average_queue - 4.0).abs() < 1e-9);
        assert!((window.utilisation_percent - 80.0).abs() < 1e-9);
        assert_eq!((did.in_flight, window.flushes), (4, None));
    }

    #[test]
    fn an_answer_that_is_not_whole_is_no_disk() {
        let whole = answer([1, 2, 3, 4, 5], [6, 7, 8, 9]);
        assert!(disk("d", &whole, 0).is_some());
        assert_eq!(disk("d", &whole[..DISK_BYTES - 1], 0), None);
        assert_eq!(disk("d", &[0; DISK_BYTES], 0), None, "an answer of zeros");
        let negative = answer([-1, 2, 3, 4, 5], [6, 7, 8, 9]);
        assert_eq!(disk("d", &negative, 0), None);
    }

    #[test]
    fn the_kernel_s_time_is_without_idle_time_and_interrupts() {
        let mut bytes = Vec::new();
        for numbers in [[70, 100, 40, 5, 10, 0], [1, 2, 3, 4, 5, 0]] {
            bytes.extend(numbers.iter().flat_map(|n: &i64| n.to_le_bytes()));
        }
        let found = processors(&bytes);
        let first = found[0];
        assert_eq!((first.user, first.system, first.idle), (40, 15, 70));
        assert_eq!((first.irq, first.softirq), (10, 5));
        assert_eq!(first.total(), 140, "kernel and user time");
        assert_eq!((found[1].system, found.len()), (0, 2), "never below zero");
        assert_eq!(total(&found).user, 43);
    }

    #[test]
    fn dirty_pages_are_bytes() {
        assert_eq!(dirty_bytes(0, 256), Some(1 << 20));
        assert_eq!(dirty_bytes(1, 0), Some(0));
        // PDH_CSTATUS_NO_INSTANCE and PDH_CSTATUS_INVALID_DATA.
        assert_eq!(dirty_bytes(0x8000_07d1, 256), None);
        assert_eq!(dirty_bytes(0xc000_0bba, 256), None);
        assert_eq!(dirty_bytes(0, -1), None);
        assert_eq!(dirty_bytes(0, i64::MAX), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), now: u32) {
            let found = disk("d", &bytes, now.into());
            prop_assert!(found.is_none() || bytes.len() >= DISK_BYTES);
            let found = processors(&bytes);
            prop_assert_eq!(found.len(), bytes.len() / PROCESSOR_BYTES);
            prop_assert!(total(&found).total() >= total(&found).busy());
            size(&bytes);
        }
    }
}
