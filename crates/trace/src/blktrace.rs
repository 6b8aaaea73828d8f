//! Binary traces of blktrace, version 7, as I/Os: an I/O is issued to its driver (event D) and
//! completes (event C). Several files, one per CPU, are read together by their times.

use std::io::Read;

use crate::ImportError;
use crate::block::fill;
use crate::io::{Io, Kind};
use crate::lines::Devices;
use crate::pairs::Pairs;

/// The first four bytes of a trace, on machines of either byte order.
pub const BLKTRACE_MAGICS: [[u8; 4]; 2] = [[0x07, 0x74, 0x61, 0x65], [0x65, 0x61, 0x74, 0x07]];

/// The bytes of a record before what its kind adds.
const RECORD: usize = 48;
const SECTOR_BYTES: u64 = 512;

/// Where an action says what happened; the bit above says that a cgroup follows.
const WHAT: u32 = 0xff;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;
/// What it happened to, in the high 16 bits.
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const PASSTHROUGH: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;

/// The I/Os of a trace, in the order of their completion; those without one at the end. It stops
/// after the first error.
#[derive(Debug)]
pub struct BlktraceReader<R> {
    files: Vec<File<R>>,
    first_ns: Option<u64>,
    devices: Devices<u32>,
    pairs: Pairs,
    failed: bool,
}

/// One file, and its next event.
#[derive(Debug)]
struct File<R> {
    from: R,
    record: u64,
    is_big_endian: Option<bool>,
    is_cut: bool,
    next: Option<Event>,
}

#[derive(Debug, Clone, Copy)]
struct Event {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
}

impl Event {
    /// What it is about; `None` for what is not an I/O, such as the wait for a flush.
    fn kind(&self) -> Option<Kind> {
        let has = |bits| self.action & bits != 0;
        match () {
            () if has(PASSTHROUGH | NOTIFY) => None,
            () if has(DISCARD) => Some(Kind::Discard),
            // A flush of the device has no bytes; a write with this bit was preceded by one.
            () if has(FLUSH) && self.bytes == 0 => Some(Kind::Flush),
            () if self.bytes == 0 => None,
            () if has(WRITE) && has(FUA) => Some(Kind::DurableWrite),
            () if has(WRITE) => Some(Kind::Write),
            () if has(READ) => Some(Kind::Read),
            () => None,
        }
    }
}

impl<R: Read> File<R> {
    /// Reads the next event of interest; none at the end, and where the last record is cut off.
    fn advance(&mut self) -> Result<(), ImportError> {
        self.next = None;
        loop {
            let mut head = [0; RECORD];
            let first = self.from.read(&mut head[..1])?;
            if first == 0 {
                return Ok(());
            }
            self.record += 1;
            if !fill(&mut self.from, &mut head[1..])? {
                self.is_cut = true;
                return Ok(());
            }
            let magic = [head[0], head[1], head[2], head[3]];
            let is_big_endian = BLKTRACE_MAGICS.iter().position(|m| *m == magic).map(|p| p == 1);
            if is_big_endian.is_none()
                || self.is_big_endian.is_some_and(|b| Some(b) != is_big_endian)
            {
                let what = "it does not begin with the magic of blktrace, version 7";
                return Err(ImportError::Record { record: self.record, what });
            }
            self.is_big_endian = is_big_endian;
            let event = Event {
                time_ns: self.number(&head[8..16]),
                sector: self.number(&head[16..24]),
                bytes: self.short(&head[24..28]),
                action: self.short(&head[28..32]),
                device: self.short(&head[36..40]),
            };
            let more = u64::from(self.short(&head[46..48]));
            if std::io::copy(&mut (&mut self.from).take(more), &mut std::io::sink())? < more {
                self.is_cut = true;
                return Ok(());
            }
            if [ISSUE, COMPLETE].contains(&(event.action & WHAT)) {
                self.next = Some(event);
                return Ok(());
            }
        }
    }

    fn number(&self, bytes: &[u8]) -> u64 {
        let add = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        if self.is_big_endian == Some(true) {
            bytes.iter().fold(0, add)
        } else {
            bytes.iter().rev().fold(0, add)
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "of at most four bytes")]
    fn short(&self, bytes: &[u8]) -> u32 {
        self.number(bytes) as u32
    }
}

impl<R: Read> BlktraceReader<R> {
    /// Reads the files of one trace: those of each CPU, or one that holds all. Give buffered
    /// readers.
    ///
    /// # Errors
    /// The first record of a file is not one of blktrace, version 7, or cannot be read.
    pub fn new(files: Vec<R>) -> Result<Self, ImportError> {
        let file = |from| File { from, record: 0, is_big_endian: None, is_cut: false, next: None };
        let mut files: Vec<_> = files.into_iter().map(file).collect();
        files.iter_mut().try_for_each(File::advance)?;
        Ok(Self {
            files,
            first_ns: None,
            devices: Devices::default(),
            pairs: Pairs::default(),
            failed: false,
        })
    }

    /// How many devices were met so far. Their numbers are 0, 1, 2 … in the order of their events.
    #[must_use]
    pub fn devices(&self) -> usize {
        self.devices.len()
    }

    /// Completions whose issue is not in the trace: they are left out.
    #[must_use]
    pub fn unmatched(&self) -> u64 {
        self.pairs.unmatched()
    }

    /// Whether a file ends within a record, as after a killed blktrace.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.files.iter().any(|file| file.is_cut)
    }

    fn next_io(&mut self) -> Result<Option<Io>, ImportError> {
        loop {
            let time = |file: &File<R>| file.next.map(|event| event.time_ns);
            let heads =
                self.files.iter().enumerate().filter_map(|(i, file)| Some((time(file)?, i)));
            let Some((_, index)) = heads.min() else { return Ok(self.pairs.give_up_oldest()) };
            let Some(file) = self.files.get_mut(index) else { return Ok(None) };
            let record = file.record;
            let Some(event) = file.next else { return Ok(None) };
            file.advance()?;
            let io = self.take(&event);
            if let Some(io) = io.map_err(|what| ImportError::Record { record, what })? {
                return Ok(Some(io));
            }
        }
    }

    /// An I/O, if the event ends one.
    fn take(&mut self, event: &Event) -> Result<Option<Io>, &'static str> {
        let Some(kind) = event.kind() else { return Ok(None) };
        let first_ns = *self.first_ns.get_or_insert(event.time_ns);
        let time_ns = event.time_ns.saturating_sub(first_ns);
        let device = self.devices.number_of(&event.device)?;
        let sector = if kind == Kind::Flush { 0 } else { event.sector };
        let offset_bytes = sector.checked_mul(SECTOR_BYTES).ok_or("its sector is too large")?;
        if event.action & WHAT == COMPLETE {
            return Ok(self.pairs.complete(device, kind, offset_bytes, time_ns));
        }
        let (length_bytes, stream) = (u64::from(event.bytes), 0);
        let (issued_ns, latency_ns) = (time_ns, None);
        let io = Io { issued_ns, latency_ns, device, stream, offset_bytes, length_bytes, kind };
        Ok(self.pairs.issue(io))
    }
}

impl<R: Read> Iterator for BlktraceReader<R> {
    type Item = Result<Io, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.next_io().transpose();
        self.failed = !matches!(next, Some(Ok(_)));
        next
    }
}
