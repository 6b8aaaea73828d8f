//! Readers of /proc/diskstats and /proc/stat. Files stay open, so that a sample costs one read
//! each, and about 10 µs for each device's `queue/iostats`, which can be switched at any moment: a
//! thousandth of a core for ten devices at ten samples a second.

mod accounting;
mod devices;
mod system;

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::time::{ClockId, clock_gettime};

use crate::{CoreTicks, CountersError, CpuCounters, CpuTicks, DiskCounters, Sample, Unreported};

pub(crate) use accounting::is_uncounted;
pub(crate) use devices::devices;
pub(crate) use system::SystemSource;

/// No system's counters are longer; further bytes are not read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Columns of a line of /proc/diskstats after the name, of the newest kernel.
const COLUMNS: usize = 17;

/// Where the system's counters are read, as a text names it.
pub(crate) const SOURCES: &str =
    "/proc/diskstats, /proc/stat, /proc/pressure, /proc/meminfo, /proc/vmstat";

/// Amounts of a device that this system does not count.
pub(crate) fn unreported() -> Unreported {
    Unreported::default()
}

/// The counter files of the kernel, held open.
#[derive(Debug)]
pub(crate) struct Source {
    /// None when no device is watched.
    disks: Option<CounterFile>,
    cpus: CounterFile,
    root: PathBuf,
}

impl Source {
    pub(crate) fn open(root: &Path, devices: &[String]) -> Result<Self, CountersError> {
        let (cpus, root) = (CounterFile::open(root.join("proc/stat"))?, root.to_owned());
        if devices.is_empty() {
            return Ok(Self { disks: None, cpus, root });
        }
        let mut disks = CounterFile::open(root.join("proc/diskstats"))?;
        let text = disks.read()?;
        let found = parse_diskstats(text, devices);
        if let Some(device) =
            devices.iter().find(|device| !found.iter().any(|disk| disk.device == **device))
        {
            let known: Vec<_> = text
                .split(|byte| *byte == b'\n')
                .filter_map(|line| fields(line).nth(2))
                .map(String::from_utf8_lossy)
                .collect();
            return Err(CountersError::UnknownDevice {
                device: device.clone(),
                known: known.join(" "),
                path: disks.path,
            });
        }
        Ok(Self { disks: Some(disks), cpus, root })
    }

    pub(crate) fn sample(&mut self, devices: &[String]) -> Result<Sample, CountersError> {
        let before_ns = monotonic_ns();
        let disks = match &mut self.disks {
            Some(file) => Some(file.read()?),
            None => None,
        };
        let after_ns = monotonic_ns();
        let mut disks = disks.map_or_else(Vec::new, |text| parse_diskstats(text, devices));
        accounting::mark(&self.root, &mut disks);
        Ok(Sample {
            // The kernel adds the counters up somewhere during the read.
            at_ns: before_ns.midpoint(after_ns),
            disks,
            cpus: parse_stat(self.cpus.read()?),
        })
    }
}

/// A file whose text is made anew by the kernel at each reading.
#[derive(Debug)]
struct CounterFile {
    path: PathBuf,
    file: File,
    text: Vec<u8>,
}

impl CounterFile {
    fn open(path: PathBuf) -> Result<Self, CountersError> {
        match File::open(&path) {
            Ok(file) => Ok(Self { path, file, text: Vec::with_capacity(16 << 10) }),
            Err(source) => Err(CountersError::Unreadable { path, source }),
        }
    }

    fn read(&mut self) -> Result<&[u8], CountersError> {
        self.text.clear();
        self.file
            .rewind()
            .and_then(|()| (&self.file).take(MAX_FILE_BYTES).read_to_end(&mut self.text))
            .map_err(|source| CountersError::Unreadable { path: self.path.clone(), source })?;
        Ok(&self.text)
    }
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

fn number<T: FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// The counters of `devices`, in their order; a device without a whole line is left out.
fn parse_diskstats(text: &[u8], devices: &[String]) -> Vec<DiskCounters> {
    let mut found: Vec<Option<DiskCounters>> = vec![None; devices.len()];
    for line in text.split(|byte| *byte == b'\n') {
        let name = fields(line).nth(2);
        let place = devices.iter().position(|device| Some(device.as_bytes()) == name);
        if let Some(place) = place {
            found[place] = parse_disk(&devices[place], line);
        }
    }
    found.into_iter().flatten().collect()
}

/// The counters of every device with a whole line.
fn parse_all(text: &[u8]) -> Vec<DiskCounters> {
    let line = |line: &[u8]| {
        let name = std::str::from_utf8(fields(line).nth(2)?).ok()?;
        parse_disk(name, line)
    };
    text.split(|byte| *byte == b'\n').filter_map(line).collect()
}

fn parse_disk(device: &str, line: &[u8]) -> Option<DiskCounters> {
    let mut columns: [&[u8]; COLUMNS] = [b""; COLUMNS];
    for (place, field) in columns.iter_mut().zip(fields(line).skip(3)) {
        *place = field;
    }
    let column = |index: usize| number::<u64>(columns.get(index)?);
    let bytes = |index: usize| Some(column(index)?.saturating_mul(512));
    Some(DiskCounters {
        device: device.to_owned(),
        reads: column(0)?,
        read_merges: column(1)?,
        read_bytes: bytes(2)?,
        read_time_ms: column(3)?,
        writes: column(4)?,
        write_merges: column(5)?,
        write_bytes: bytes(6)?,
        write_time_ms: column(7)?,
        // Some kernels let this one drop below zero.
        in_flight: column(8).unwrap_or(0),
        busy_ms: column(9)?,
        weighted_ms: column(10)?,
        discards: column(11),
        discard_merges: column(12),
        discard_bytes: bytes(13),
        discard_time_ms: column(14),
        flushes: column(15),
        flush_ms: column(16),
        uncounted: false,
    })
}

/// What cannot be understood counts nothing.
fn parse_stat(text: &[u8]) -> CpuCounters {
    let mut cpus = CpuCounters::default();
    for line in text.split(|byte| *byte == b'\n') {
        let mut fields = fields(line);
        let Some(name) = fields.next().and_then(|name| name.strip_prefix(b"cpu")) else {
            continue;
        };
        let mut next = || fields.next().and_then(number);
        let ticks = CpuTicks {
            user: next().unwrap_or(0),
            nice: next().unwrap_or(0),
            system: next().unwrap_or(0),
            idle: next().unwrap_or(0),
            iowait: next(),
            irq: next().unwrap_or(0),
            softirq: next().unwrap_or(0),
            steal: next(),
        };
        if name.is_empty() {
            cpus.total = ticks;
        } else if let Some(core) = number(name) {
            cpus.cores.push(CoreTicks { core, ticks });
        }
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DISKSTATS: &[u8] = b"   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n \
        254       0 vda 28201 5890 2973258 7779 5717 10867 875960 1498 3 4424 9435 3327 14 200168 \
        150 259 8\n \
        259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n   \
        8       0 sda 1 2 3 4 5 6 7 8 -1 10 11\n   8       1 sda1 1 2 3 4\n";

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_columns_of_a_recent_kernel() {
        let disks = parse_diskstats(DISKSTATS, &names(&["vda"]));
        let expected = DiskCounters {
            device: "vda".into(),
            reads: 28_201,
            read_merges: 5_890,
            read_bytes: 2_973_258 * 512,
            read_time_ms: 7_779,
            writes: 5_717,
            write_merges: 10_867,
            write_bytes: 875_960 * 512,
            write_time_ms: 1_498,
            in_flight: 3,
            busy_ms: 4_424,
            weighted_ms: 9_435,
            discards: Some(3_327),
            discard_merges: Some(14),
            discard_bytes: Some(200_168 * 512),
            discard_time_ms: Some(150),
            flushes: Some(259),
            flush_ms: Some(8),
            uncounted: false,
        };
        assert_eq!(disks, [expected]);
    }

    #[test]
    fn older_kernels_have_fewer_columns() {
        let disks = parse_diskstats(DISKSTATS, &names(&["sda", "nvme0n1"]));
        assert_eq!(disks.len(), 2);
        assert_eq!((disks[0].device.as_str(), disks[0].in_flight), ("sda", 0));
        assert_eq!((disks[0].weighted_ms, disks[0].discards), (11, None));
        assert_eq!((disks[1].discards, disks[1].flushes), (Some(12), None));
    }

    #[test]
    fn a_line_that_is_not_whole_is_no_device() {
        assert_eq!(parse_diskstats(DISKSTATS, &names(&["sda1", "sdz"])), []);
        let huge = b"8 0 sda 1 1 99999999999999999999999 1 1 1 1 1 1 1 1";
        assert_eq!(parse_diskstats(huge, &names(&["sda"])), []);
    }

    #[test]
    fn processors_with_one_offline() {
        let text =
            b"cpu  30 1 2 3 4 5 6 7 8 9\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu2 9 9\nintr 1 2\nctxt 3\n";
        let cpus = parse_stat(text);
        assert_eq!((cpus.total.user, cpus.total.steal), (30, Some(7)));
        assert_eq!((cpus.total.total(), cpus.total.busy()), (58, 51));
        let cores: Vec<_> = cpus.cores.iter().map(|core| core.core).collect();
        assert_eq!(cores, [0, 2]);
        assert_eq!((cpus.cores[1].ticks.nice, cpus.cores[1].ticks.idle), (9, 0));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..600)) {
            parse_diskstats(&text, &names(&["vda", ""]));
            parse_stat(&text);
        }

        #[test]
        fn any_words_in_the_columns_are_survived(
            columns in prop::collection::vec("-?[0-9]{1,22}|x|\u{e9}", 0..20),
        ) {
            let line = format!("8 0 sda {}\ncpu {}\n", columns.join(" "), columns.join(" "));
            let disks = parse_diskstats(line.as_bytes(), &names(&["sda"]));
            prop_assert!(disks.len() <= 1);
            let cpus = parse_stat(line.as_bytes());
            prop_assert!(cpus.total.total() >= cpus.total.busy());
        }

        #[test]
        fn numbers_come_back(columns in prop::collection::vec(0..u64::MAX / 512, 17)) {
            let text: Vec<_> = columns.iter().map(u64::to_string).collect();
            let line = format!("  8  0 sda {}", text.join(" "));
            let disks = parse_diskstats(line.as_bytes(), &names(&["sda"]));
            prop_assert_eq!(disks.len(), 1);
            prop_assert_eq!(disks[0].reads, columns[0]);
            prop_assert_eq!(disks[0].write_bytes, columns[6] * 512);
            prop_assert_eq!(disks[0].flush_ms, Some(columns[16]));
        }
    }
}
