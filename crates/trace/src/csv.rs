//! Public traces in CSV, as I/Os: those of MSR Cambridge and of Alibaba. Line by line, in bounded
//! memory. Names of hosts become numbers of devices.

use std::io::BufRead;

use crate::ImportError;
use crate::io::{Io, Kind};
use crate::lines::{Devices, Lines, number};

/// Whose columns the lines have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `time,host,disk,Read|Write,offset,bytes,response`; times in 100 ns.
    MsrCambridge,
    /// `device,R|W,offset,bytes,time`; the time in microseconds. Latencies are unknown.
    Alibaba,
}

/// The I/Os of a CSV trace, in the order of its lines. It stops after the first error.
#[derive(Debug)]
pub struct CsvReader<R> {
    lines: Lines<R>,
    columns: Columns,
    failed: bool,
}

/// What a line means, and what the lines before it said.
#[derive(Debug)]
struct Columns {
    layout: Layout,
    first_ns: Option<u128>,
    devices: Devices<String>,
}

impl<R: BufRead> CsvReader<R> {
    /// Reads lines of that layout.
    pub fn new(from: R, layout: Layout) -> Self {
        let columns = Columns { layout, first_ns: None, devices: Devices::default() };
        Self { lines: Lines::new(from), columns, failed: false }
    }

    /// How many devices were met so far. Their numbers are 0, 1, 2 … in the order of their lines.
    pub fn devices(&self) -> usize {
        self.columns.devices.len()
    }
}

impl Columns {
    /// The I/O of a line; `None` for an empty line and for a heading in the first.
    fn io(&mut self, line: u64, text: &str) -> Result<Option<Io>, &'static str> {
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
        if line == 1 && time.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Ok(None);
        }
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
        let device = self.devices.number_of(&device)?;
        Ok(Some(Io { issued_ns, latency_ns, device, stream: 0, offset_bytes, length_bytes, kind }))
    }
}

impl<R: BufRead> Iterator for CsvReader<R> {
    type Item = Result<Io, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let Self { lines, columns, .. } = self;
        let next = lines.find_io(|line, text| columns.io(line, text)).transpose();
        self.failed = !matches!(next, Some(Ok(_)));
        next
    }
}
