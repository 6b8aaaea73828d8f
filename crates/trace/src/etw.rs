//! The text that `xperf -a dumper` makes of a trace of Windows (ETW), as I/Os: its lines
//! `DiskRead`, `DiskWrite` and `DiskFlush`. Line by line, in bounded memory. Names of processes and
//! files are not kept.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::ImportError;
use crate::io::{Io, Kind};
use crate::lines::{Devices, Lines, number};

/// More columns than any event of a disk has.
const COLUMNS_MAX: usize = 64;
const NS_PER_US: u64 = 1000;

/// The I/Os of a dump, in the order of its lines: that of their completion. It stops after the
/// first error.
#[derive(Debug)]
pub struct EtwReader<R> {
    lines: Lines<R>,
    dump: Dump,
    failed: bool,
}

/// What the reader has to remember from earlier lines.
#[derive(Debug, Default)]
struct Dump {
    in_header: bool,
    /// The columns of each event that is an I/O.
    columns: BTreeMap<&'static str, Columns>,
    devices: Devices<String>,
    early: u64,
}

/// Where the columns of an event are.
#[derive(Debug, Clone, Copy)]
struct Columns {
    time: usize,
    elapsed: usize,
    disk: usize,
    /// Offset and length; a flush has none.
    place: Option<(usize, usize)>,
}

const EVENTS: [(&str, Kind); 3] =
    [("DiskRead", Kind::Read), ("DiskWrite", Kind::Write), ("DiskFlush", Kind::Flush)];

impl<R: BufRead> EtwReader<R> {
    /// Reads a dump; its header says which columns its events have.
    pub fn new(from: R) -> Self {
        Self { lines: Lines::of_any_text(from), dump: Dump::default(), failed: false }
    }

    /// How many disks were met so far. Their numbers are 0, 1, 2 … in the order of their lines.
    pub fn devices(&self) -> usize {
        self.dump.devices.len()
    }

    /// I/Os that were left out, because they began before the trace.
    pub fn early(&self) -> u64 {
        self.dump.early
    }
}

impl Dump {
    /// The I/O of a line; `None` for any other event.
    fn io(&mut self, text: &str) -> Result<Option<Io>, &'static str> {
        match text.trim() {
            "BeginHeader" => self.in_header = true,
            "EndHeader" => self.in_header = false,
            _ => {
                let columns: Vec<&str> = text.split(',').take(COLUMNS_MAX).map(str::trim).collect();
                let event = columns.first().copied().unwrap_or_default();
                if let Some((event, kind)) = EVENTS.into_iter().find(|(name, _)| *name == event) {
                    return self.event(event, kind, &columns);
                }
            }
        }
        Ok(None)
    }

    fn event(
        &mut self,
        event: &'static str,
        kind: Kind,
        columns: &[&str],
    ) -> Result<Option<Io>, &'static str> {
        if self.in_header {
            let find = |name: &str| columns.iter().position(|column| *column == name);
            let missing = "the header does not name the columns of this event";
            let place = find("ByteOffset").zip(find("IOSize"));
            if kind != Kind::Flush && place.is_none() {
                return Err(missing);
            }
            let (time, elapsed) = (find("TimeStamp"), find("ElapsedTime"));
            let (time, elapsed) = time.zip(elapsed).ok_or(missing)?;
            let disk = find("DiskNum").ok_or(missing)?;
            self.columns.insert(event, Columns { time, elapsed, disk, place });
            return Ok(None);
        }
        let at = *self.columns.get(event).ok_or("no header before it names its columns")?;
        let column = |at: usize| columns.get(at).copied().ok_or("it has too few columns");
        let (offset_bytes, length_bytes) = match at.place {
            Some((offset, length)) if kind != Kind::Flush => {
                (any_number(column(offset)?)?, any_number(column(length)?)?)
            }
            _ => (0, 0),
        };
        let (done_us, elapsed_us) = (number(column(at.time)?)?, number(column(at.elapsed)?)?);
        let device = self.devices.number_of(column(at.disk)?)?;
        let Some(begin_us) = done_us.checked_sub(elapsed_us) else {
            self.early += 1;
            return Ok(None);
        };
        let issued_ns = begin_us.checked_mul(NS_PER_US).ok_or("a time is too late")?;
        let latency_ns = elapsed_us.checked_mul(NS_PER_US).ok_or("a latency is too large")?;
        let (latency_ns, stream) = (Some(latency_ns), 0);
        Ok(Some(Io { issued_ns, latency_ns, device, stream, offset_bytes, length_bytes, kind }))
    }
}

/// A number, of base 16 after `0x`.
fn any_number(text: &str) -> Result<u64, &'static str> {
    match text.strip_prefix("0x") {
        Some(digits) => {
            u64::from_str_radix(digits, 16).map_err(|_| "a number is missing or too large")
        }
        None => number(text),
    }
}

impl<R: BufRead> Iterator for EtwReader<R> {
    type Item = Result<Io, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let Self { lines, dump, .. } = self;
        let next = lines.find_io(|_, text| dump.io(text)).transpose();
        self.failed = !matches!(next, Some(Ok(_)));
        next
    }
}
