//! /proc/pressure, /proc/meminfo and /proc/vmstat next to the disks and processors.

use std::path::{Path, PathBuf};

use super::{CounterFile, accounting, fields, monotonic_ns, number, parse_all, parse_stat};
use crate::{CountersError, MemoryCounters, PressureCounters, SystemSample};

/// The files, held open. Which are not there is found out once.
#[derive(Debug)]
pub(crate) struct SystemSource {
    disks: Option<CounterFile>,
    cpus: CounterFile,
    io: Option<CounterFile>,
    memory: Option<CounterFile>,
    cpu: Option<CounterFile>,
    meminfo: Option<CounterFile>,
    vmstat: Option<CounterFile>,
    page_bytes: u64,
    root: PathBuf,
}

impl SystemSource {
    pub(crate) fn open(root: &Path) -> Result<Self, CountersError> {
        let open = |name: &str| CounterFile::open(root.join("proc").join(name));
        Ok(Self {
            cpus: open("stat")?,
            disks: open("diskstats").ok(),
            io: open("pressure/io").ok(),
            memory: open("pressure/memory").ok(),
            cpu: open("pressure/cpu").ok(),
            meminfo: open("meminfo").ok(),
            vmstat: open("vmstat").ok(),
            page_bytes: rustix::param::page_size() as u64,
            root: root.to_owned(),
        })
    }

    pub(crate) fn sample(&mut self) -> Result<SystemSample, CountersError> {
        let before_ns = monotonic_ns();
        let disks = match &mut self.disks {
            Some(file) => Some(file.read()?),
            None => None,
        };
        // The kernel adds the counters up somewhere during the read.
        let at_ns = before_ns.midpoint(monotonic_ns());
        let mut disks = disks.map(parse_all).unwrap_or_default();
        accounting::mark(&self.root, &mut disks);
        let cpus = parse_stat(self.cpus.read()?);
        Ok(SystemSample { at_ns, disks, cpus, pressure: self.pressure(), memory: self.memory() })
    }

    fn pressure(&mut self) -> PressureCounters {
        let (io_some_us, io_full_us) = stalled(&mut self.io);
        let (memory_some_us, memory_full_us) = stalled(&mut self.memory);
        let (cpu_some_us, _) = stalled(&mut self.cpu);
        PressureCounters { io_some_us, io_full_us, memory_some_us, memory_full_us, cpu_some_us }
    }

    fn memory(&mut self) -> MemoryCounters {
        let mut memory = MemoryCounters::default();
        if let Some(Ok(text)) = self.meminfo.as_mut().map(CounterFile::read) {
            let [dirty, write_back] = values(text, [b"Dirty:", b"Writeback:"]);
            let bytes = |kib: Option<u64>| kib?.checked_mul(1024);
            (memory.dirty_bytes, memory.write_back_bytes) = (bytes(dirty), bytes(write_back));
        }
        if let Some(Ok(text)) = self.vmstat.as_mut().map(CounterFile::read) {
            let [dirtied, written] = values(text, [b"nr_dirtied", b"nr_written"]);
            let bytes = |pages: Option<u64>| pages?.checked_mul(self.page_bytes);
            (memory.dirtied_bytes, memory.written_back_bytes) = (bytes(dirtied), bytes(written));
        }
        memory
    }
}

/// Stalled time of some and of all. The kernel refuses the read where it counts no pressure, which
/// is not an error.
fn stalled(file: &mut Option<CounterFile>) -> (Option<u64>, Option<u64>) {
    match file.as_mut().map(CounterFile::read) {
        Some(Ok(text)) => parse_pressure(text),
        _ => (None, None),
    }
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`, and the same for `full`.
fn parse_pressure(text: &[u8]) -> (Option<u64>, Option<u64>) {
    let total = |name: &[u8]| {
        let mut lines = text.split(|byte| *byte == b'\n');
        let line = lines.find(|line| fields(line).next() == Some(name))?;
        fields(line).find_map(|field| number(field.strip_prefix(b"total=")?))
    };
    (total(b"some"), total(b"full"))
}

/// The numbers that follow these words at the beginnings of lines.
fn values<const N: usize>(text: &[u8], names: [&[u8]; N]) -> [Option<u64>; N] {
    let mut found = [None; N];
    for line in text.split(|byte| *byte == b'\n') {
        for (place, name) in found.iter_mut().zip(names) {
            if place.is_none() && line.starts_with(name) {
                let mut words = fields(line);
                if words.next() == Some(name) {
                    *place = words.next().and_then(number);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pressure_and_memory_as_the_kernel_writes_them() {
        let text = b"some avg10=1.00 avg60=0.20 avg300=0.00 total=5000\n\
            full avg10=0.00 avg60=0.00 avg300=0.00 total=70\n";
        assert_eq!(parse_pressure(text), (Some(5000), Some(70)));
        assert_eq!(parse_pressure(b"some avg10=1.00 total=x\n"), (None, None));
        let text = b"MemTotal: 9 kB\nDirty:      12 kB\nWriteback:   3 kB\nWritebackTmp: 99 kB\n";
        assert_eq!(values(text, [b"Dirty:", b"Writeback:"]), [Some(12), Some(3)]);
        let text = b"nr_dirty 7\nnr_dirtied 8\nnr_written 9\nnr_written_x 10\n";
        assert_eq!(values(text, [b"nr_dirtied", b"nr_written"]), [Some(8), Some(9)]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..300)) {
            parse_pressure(&text);
            values(&text, [b"Dirty:", b""]);
            parse_all(&text);
        }
    }
}
