//! Public traces in CSV, as I/Os: those of MSR Cambridge and of Alibaba. Line by line, in bounded
//! memory. Names of hosts become numbers of devices.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use crate::io::{Io, Kind};

/// A longer line is not one of these formats.
const LINE_MAX: u64 = 1024;
/// More devices than any such trace has.
const DEVICES_MAX: usize = 65536;

/// Whose columns the lines have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `time,host,disk,Read|Write,offset,bytes,response`; times in 100 ns.
    MsrCambridge,
    /// `device,R|W,offset,bytes,time`; the time in microseconds. Latencies are unknown.
    Alibaba,
}

/// Why a CSV trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// A line lacks a column, or holds a value that cannot be.
    #[error("line {line} of the trace: {what}. Check that the file has the layout you named.")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Reading failed.
    #[error("cannot read the trace: {0}. Check the disk that holds it.")]
    Io(#[from] std::io::Error),
}

/// The I/Os of a CSV trace, in the order of its lines. It stops after the first error.
#[derive(Debug)]
pub struct CsvReader<R> {
    from: R,
    layout: Layout,
    line: u64,
    first_ns: Option<u128>,
    devices: BTreeMap<String, u32>,
    failed: bool,
}

impl<R: BufRead> CsvReader<R> {
    /// Reads lines of that layout.
    pub fn new(from: R, layout: Layout) -> Self {
        Self { from, layout, line: 0, first_ns: None, devices: BTreeMap::new(), failed: false }
    }

    /// How many devices were met so far. Their numbers are 0, 1, 2 … in the order of their lines.
    pub fn devices(&self) -> usize {
        self.devices.len()
    }

    fn next_line(&mut self) -> Result<Option<Io>, CsvError> {
        loop {
            self.line += 1;
            let mut bytes = Vec::new();
            let length = (&mut self.from).take(LINE_MAX).read_until(b'\n', &mut bytes)?;
            if length == 0 {
                return Ok(None);
            }
            let io = if length as u64 == LINE_MAX && !bytes.ends_with(b"\n") {
                Err("it is too long")
            } else {
                std::str::from_utf8(&bytes)
                    .map_err(|_| "it is not text")
                    .and_then(|text| self.io(text.trim_end()))
            };
            match io {
                Ok(None) => {}
                Ok(io) => return Ok(io),
                Err(what) => return Err(CsvError::Line { line: self.line, what }),
            }
        }
    }

    /// The I/O of a line; `None` for an empty line and for a heading in the first.
    fn io(&mut self, text: &str) -> Result<Option<Io>, &'static str> {
        let columns: Vec<&str> = text.split(',').map(str::trim).collect();
        let (time, scale, device, kind, offset, length, response) =
            match (self.layout, &columns[..]) {
                (_, [""]) => return Ok(None),
                (Layout::MsrCambridge, [time, host, disk, kind, offset, length, response]) => {
                    (time, 100, format!("{host},{disk}"), kind, offset, length, Some(response))
                }
                (Layout::Alibaba, [device, kind, offset, length, time]) => {
                    (time, 1000, (*device).to_owned(), kind, offset, length, None)
                }
                _ => return Err("it has another number of columns"),
            };
        if self.line == 1 && time.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Ok(None);
        }
        let number =
            |text: &str| text.parse::<u64>().map_err(|_| "a number is missing or too large");
        let kind = match kind.to_ascii_lowercase().as_str() {
            "r" | "read" => Kind::Read,
            "w" | "write" => Kind::Write,
            _ => return Err("an I/O is neither a read nor a write"),
        };
        let (offset_bytes, length_bytes) = (number(offset)?, number(length)?);
        let latency_ns = match response {
            Some(text) => Some(number(text)?.checked_mul(100).ok_or("a latency is too large")?),
            None => None,
        };
        let time_ns = u128::from(number(time)?) * scale;
        let first_ns = *self.first_ns.get_or_insert(time_ns);
        let since = time_ns.checked_sub(first_ns).ok_or("it is earlier than the first I/O")?;
        let issued_ns = u64::try_from(since).map_err(|_| "a time is too late")?;
        let device = self.device(device)?;
        Ok(Some(Io { issued_ns, latency_ns, device, stream: 0, offset_bytes, length_bytes, kind }))
    }

    fn device(&mut self, name: String) -> Result<u32, &'static str> {
        if let Some(number) = self.devices.get(&name) {
            return Ok(*number);
        }
        if self.devices.len() == DEVICES_MAX {
            return Err("it names one device too many");
        }
        let number = u32::try_from(self.devices.len()).map_err(|_| "too many devices")?;
        self.devices.insert(name, number);
        Ok(number)
    }
}

impl<R: BufRead> Iterator for CsvReader<R> {
    type Item = Result<Io, CsvError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.next_line().transpose();
        self.failed = !matches!(next, Some(Ok(_)));
        next
    }
}
