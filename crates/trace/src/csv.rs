//! Public traces in CSV, as I/Os: those of MSR Cambridge, of Alibaba, of Systor '17 (SNIA), and of
//! the Storage Performance Council (UMass). Line by line, in bounded memory. Names of hosts become
//! numbers of devices.

use std::io::BufRead;

use crate::ImportError;
use crate::io::{Io, Kind};
use crate::lines::{Devices, Lines, number, seconds_ns};

/// The unit of addresses in traces of the Storage Performance Council.
const SPC_BLOCK: u64 = 512;

/// The tool or site that published the trace decides which columns it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `time,host,disk,Read|Write,offset,bytes,response`; times in 100 ns.
    MsrCambridge,
    /// `device,R|W,offset,bytes,time`; the time in microseconds. Latencies are unknown.
    Alibaba,
    /// `time,response,R|W,LUN,offset,bytes`; times in seconds with a fraction. Lines without a kind
    /// are I/Os that nobody answered, and are left out.
    Systor,
    /// `unit,address,bytes,R|W,time` and columns of any meaning; the address in blocks of 512
    /// bytes, the time in seconds with a fraction. Latencies are unknown.
    Spc,
}

/// From 1601, where the times of Windows begin, to 1970, in nanoseconds.
const WINDOWS_TO_UNIX_NS: u128 = 11_644_473_600 * 1_000_000_000;
/// Milliseconds since 1970 that are a date: of 1990 to 2100. Other times count from the beginning
/// of a trace.
const DATES_MS: std::ops::Range<u64> = 631_152_000_000..4_102_444_800_000;

/// When a trace began, in milliseconds since 1970, by its first lines; `None` if its times are no
/// dates.
#[must_use]
pub fn csv_began_unix_ms(head: &str, layout: Layout) -> Option<u64> {
    let first = head.lines().find_map(|line| {
        let columns: Vec<&str> = line.split(',').map(str::trim).collect();
        match (layout, columns.as_slice()) {
            (Layout::MsrCambridge, [time, ..]) => {
                (u128::from(number(time).ok()?) * 100).checked_sub(WINDOWS_TO_UNIX_NS)
            }
            (Layout::Alibaba, [_, _, _, _, time]) => Some(u128::from(number(time).ok()?) * 1000),
            (Layout::Systor, [time, ..]) => seconds_ns(time).ok(),
            _ => None,
        }
    });
    u64::try_from(first? / 1_000_000).ok().filter(|ms| DATES_MS.contains(ms))
}

/// The columns of one line, as text. Numbers and times are not parsed yet.
struct Found<'a> {
    time: &'a str,
    device: String,
    kind: &'a str,
    offset: &'a str,
    length: &'a str,
    /// Empty if the layout has no such column.
    response: &'a str,
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
    left_out: u64,
}

impl<R: BufRead> CsvReader<R> {
    /// Reads a trace whose lines have this layout.
    pub fn new(from: R, layout: Layout) -> Self {
        let columns = Columns { layout, first_ns: None, devices: Devices::default(), left_out: 0 };
        Self { lines: Lines::new(from), columns, failed: false }
    }

    /// How many devices were met so far. Their numbers are 0, 1, 2 … in the order of their lines.
    pub fn devices(&self) -> usize {
        self.columns.devices.len()
    }

    /// Lines that were left out, because they do not say what the I/O did.
    pub fn left_out(&self) -> u64 {
        self.columns.left_out
    }
}

impl Columns {
    /// The I/O of a line; `None` for an empty line, a heading in the first, and what is left out.
    fn io(&mut self, line: u64, text: &str) -> Result<Option<Io>, &'static str> {
        let columns: Vec<&str> = text.split(',').map(str::trim).collect();
        let found = match (self.layout, &columns[..]) {
            (_, [""]) => return Ok(None),
            (Layout::MsrCambridge, [time, host, disk, kind, offset, length, response]) => {
                Found { time, device: format!("{host},{disk}"), kind, offset, length, response }
            }
            (Layout::Alibaba, [device, kind, offset, length, time])
            | (Layout::Spc, [device, offset, length, kind, time, ..]) => {
                Found { time, device: (*device).to_owned(), kind, offset, length, response: "" }
            }
            (Layout::Systor, [time, response, kind, device, offset, length]) => {
                Found { time, device: (*device).to_owned(), kind, offset, length, response }
            }
            _ => return Err("it has another number of columns"),
        };
        if line == 1 && columns[0].starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Ok(None);
        }
        if self.layout == Layout::Systor && found.kind.is_empty() {
            self.left_out += 1;
            return Ok(None);
        }
        self.found(&found).map(Some)
    }

    fn found(&mut self, found: &Found<'_>) -> Result<Io, &'static str> {
        let kind = match found.kind.to_ascii_lowercase().as_str() {
            "r" | "read" => Kind::Read,
            "w" | "write" => Kind::Write,
            _ => return Err("an I/O is neither a read nor a write"),
        };
        let time_ns = match self.layout {
            Layout::MsrCambridge => u128::from(number(found.time)?) * 100,
            Layout::Alibaba => u128::from(number(found.time)?) * 1000,
            Layout::Systor | Layout::Spc => seconds_ns(found.time)?,
        };
        let (unit, too_far) = match self.layout {
            Layout::Spc => (SPC_BLOCK, "an address is too large"),
            _ => (1, ""),
        };
        let offset_bytes = number(found.offset)?.checked_mul(unit).ok_or(too_far)?;
        let length_bytes = number(found.length)?;
        let latency_ns = match (self.layout, found.response) {
            (_, "") => None,
            (Layout::Systor, text) => Some(seconds_ns(text)?),
            (_, text) => Some(u128::from(number(text)?) * 100),
        };
        let latency_ns = latency_ns.map(u64::try_from).transpose();
        let latency_ns = latency_ns.map_err(|_| "a latency is too large")?;
        let first_ns = *self.first_ns.get_or_insert(time_ns);
        let since = time_ns.checked_sub(first_ns).ok_or("it is earlier than the first I/O")?;
        let issued_ns = u64::try_from(since).map_err(|_| "a time is too late")?;
        let device = self.devices.number_of(&found.device)?;
        Ok(Io { issued_ns, latency_ns, device, stream: 0, offset_bytes, length_bytes, kind })
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
