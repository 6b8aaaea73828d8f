//! The I/O logs of fio, versions 2 and 3, as I/Os. Line by line, in bounded memory. Names of files
//! become numbers of devices.

use std::io::BufRead;

use crate::ImportError;
use crate::io::{Io, Kind};
use crate::lines::{Devices, Lines, number};

/// The I/Os of a log, in the order of its lines. Latencies are unknown. It stops after the first
/// error.
///
/// Version 3 has the time of each I/O. Version 2 has none: the time advances at its `wait` lines
/// only, each in microseconds since the one before.
#[derive(Debug)]
pub struct FioReader<R> {
    lines: Lines<R>,
    log: Log,
    failed: bool,
}

/// What the reader has to remember from earlier lines.
#[derive(Debug, Default)]
struct Log {
    version: u64,
    waited_us: u64,
    devices: Devices<String>,
}

impl<R: BufRead> FioReader<R> {
    /// Reads a log; its first line says the version.
    pub fn new(from: R) -> Self {
        Self { lines: Lines::new(from), log: Log::default(), failed: false }
    }

    /// How many files were met so far. Their numbers are 0, 1, 2 … in the order of their lines.
    pub fn devices(&self) -> usize {
        self.log.devices.len()
    }
}

impl Log {
    /// The I/O of a line; `None` for what is not one.
    fn io(&mut self, line: u64, text: &str) -> Result<Option<Io>, &'static str> {
        if line == 1 {
            self.version = match text {
                "fio version 2 iolog" => 2,
                "fio version 3 iolog" => 3,
                _ => return Err("it is not the first line of an I/O log of fio, version 2 or 3"),
            };
            return Ok(None);
        }
        let columns: Vec<&str> = text.split_whitespace().collect();
        let (time_us, rest) = match (self.version, &columns[..]) {
            (_, []) => return Ok(None),
            (2, rest) => (self.waited_us, rest),
            (_, [time, rest @ ..]) => (number(time)?, rest),
        };
        match rest {
            [_, "add" | "open" | "close" | "unlink"] => Ok(None),
            [_, "wait", time, ..] if self.version == 2 => {
                let waited = self.waited_us.checked_add(number(time)?);
                self.waited_us = waited.ok_or("a time is too late")?;
                Ok(None)
            }
            [file, action, offset, length] => {
                let kind = match *action {
                    "read" => Kind::Read,
                    "write" => Kind::Write,
                    "trim" => Kind::Discard,
                    "sync" | "datasync" | "sync_file_range" => Kind::Flush,
                    _ => return Err("its action is not one of fio's"),
                };
                let (mut offset_bytes, mut length_bytes) = (number(offset)?, number(length)?);
                if kind == Kind::Flush {
                    (offset_bytes, length_bytes) = (0, 0);
                }
                let issued_ns = time_us.checked_mul(1000).ok_or("a time is too late")?;
                let device = self.devices.number_of(*file)?;
                let (stream, latency_ns) = (0, None);
                let io =
                    Io { issued_ns, latency_ns, device, stream, offset_bytes, length_bytes, kind };
                Ok(Some(io))
            }
            _ => Err("it has another number of columns"),
        }
    }
}

impl<R: BufRead> Iterator for FioReader<R> {
    type Item = Result<Io, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let Self { lines, log, .. } = self;
        let next = lines.find_io(|line, text| log.io(line, text)).transpose();
        self.failed = !matches!(next, Some(Ok(_)));
        next
    }
}
