//! Block events, and the I/Os that they make.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trace::{Io, Kind, Pairs};

use crate::check::Tally;
use crate::format::EventFormat;
use crate::page::page_events;

const SECTOR_BYTES: u64 = 512;

/// Whether an I/O begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// The kernel gave it to the driver.
    Issue,
    /// The driver returned it to the kernel.
    Complete,
}

/// The issue or the completion of one I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockEvent {
    /// When it happened, by the monotonic clock.
    pub time_ns: u64,
    /// Whether the I/O was issued or completed.
    pub what: EventKind,
    /// The device as the kernel numbers it: major number times 2^20 plus minor number.
    pub device: u64,
    /// Where it begins, in units of 512 bytes.
    pub sector: u64,
    /// How long it is, in units of 512 bytes.
    pub sectors: u64,
    /// The operation of the I/O.
    pub kind: Kind,
}

/// Events of several CPUs become I/Os.
///
/// Buffers of CPUs are read one after the other, so an event may be read before an earlier one of
/// another CPU: events wait until all buffers were read that far.
#[derive(Debug)]
pub struct Events {
    issue: EventFormat,
    complete: EventFormat,
    /// The devices as the kernel numbers them, in the order of the trace.
    devices: Vec<u64>,
    begin_ns: u64,
    waiting: BinaryHeap<Reverse<BlockEvent>>,
    pairs: Pairs,
    early: Tally,
    empty: u64,
}

impl Events {
    /// For these formats and devices; times count from `begin_ns` of the monotonic clock.
    #[must_use]
    pub fn new(
        (issue, complete): (EventFormat, EventFormat),
        devices: Vec<u64>,
        begin_ns: u64,
    ) -> Self {
        let (waiting, pairs) = (BinaryHeap::new(), Pairs::default());
        let (early, empty) = (Tally::default(), 0);
        Self { issue, complete, devices, begin_ns, waiting, pairs, early, empty }
    }

    /// Completions whose issue was not seen: those of I/Os that began before.
    #[must_use]
    pub fn early(&self) -> Tally {
        self.early
    }

    /// Completions without bytes: callers that waited for a flush.
    #[must_use]
    pub fn empty(&self) -> u64 {
        self.empty
    }

    /// Adds the events of a page.
    pub fn add_page(&mut self, page: &[u8]) {
        for event in page_events(page) {
            let block = self.block_event(event.time_ns, event.data);
            self.waiting.extend(block.map(Reverse));
        }
    }

    /// Reads an event; `None` if it is not about an I/O.
    fn block_event(&mut self, time_ns: u64, data: &[u8]) -> Option<BlockEvent> {
        let id = u16::from_ne_bytes(data.get(..2)?.try_into().ok()?);
        let (what, format) = match id {
            id if id == self.issue.id => (EventKind::Issue, &self.issue),
            id if id == self.complete.id => (EventKind::Complete, &self.complete),
            _ => return None,
        };
        let (sectors, flags) = (format.sectors.of(data)?, format.flags.of(data)?);
        let Some(kind) = kind(flags, sectors) else {
            let is_wait = what == EventKind::Complete && flags.contains(&b'W');
            self.empty += u64::from(is_wait && sectors == 0);
            return None;
        };
        Some(BlockEvent {
            time_ns,
            what,
            device: format.device.of(data)?,
            sector: format.sector.of(data)?,
            sectors,
            kind,
        })
    }

    /// The I/Os that ended before this time, which all buffers have been read up to.
    pub fn finished(&mut self, before_ns: u64, ios: &mut Vec<Io>) {
        while self.waiting.peek().is_some_and(|Reverse(event)| event.time_ns < before_ns) {
            if let Some(Reverse(event)) = self.waiting.pop() {
                ios.extend(self.take(&event));
            }
        }
    }

    /// All that is left: I/Os that did not end have no latency.
    pub fn finish(&mut self, ios: &mut Vec<Io>) {
        self.finished(u64::MAX, ios);
        ios.extend(std::iter::from_fn(|| self.pairs.give_up_oldest()));
    }

    fn take(&mut self, event: &BlockEvent) -> Option<Io> {
        let device = self.devices.iter().position(|device| *device == event.device)?;
        let device = u32::try_from(device).ok()?;
        let time_ns = event.time_ns.saturating_sub(self.begin_ns);
        let offset_bytes = event.sector.wrapping_mul(SECTOR_BYTES);
        let io = Io {
            issued_ns: time_ns,
            latency_ns: None,
            device,
            stream: 0,
            offset_bytes,
            length_bytes: event.sectors.wrapping_mul(SECTOR_BYTES),
            kind: event.kind,
        };
        if event.what == EventKind::Issue {
            return self.pairs.issue(io);
        }
        let done = self.pairs.complete(device, event.kind, offset_bytes, time_ns);
        if done.is_none() {
            self.early.add(&io);
        }
        done
    }
}

/// The kind of an I/O from the kernel's letters: an `F` before the operation says that a flush
/// precedes it, one after it is force unit access. The wait of a caller for a flush has no bytes
/// and is not an I/O of the device; nor are commands without data (`N`).
fn kind(flags: &[u8], sectors: u64) -> Option<Kind> {
    let (first, rest) = flags.split_first()?;
    let (op, rest) = match (first, rest.split_first()) {
        // A write that a flush precedes, or the flush itself.
        (b'F', Some((op, rest))) => (op, rest),
        (op, _) => (op, rest),
    };
    match op {
        b'F' => Some(Kind::Flush),
        b'D' => Some(Kind::Discard),
        _ if sectors == 0 => None,
        b'W' if rest.first() == Some(&b'F') => Some(Kind::DurableWrite),
        b'W' => Some(Kind::Write),
        b'R' => Some(Kind::Read),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_what_an_io_does() {
        let cases: [(&[u8], u64, Option<Kind>); 12] = [
            (b"R", 8, Some(Kind::Read)),
            (b"RA", 8, Some(Kind::Read)),
            (b"WS", 8, Some(Kind::Write)),
            (b"WFS", 8, Some(Kind::DurableWrite)),
            (b"FWFS", 8, Some(Kind::DurableWrite)),
            (b"FWS", 8, Some(Kind::Write)),
            (b"FF", 0, Some(Kind::Flush)),
            (b"F", 0, Some(Kind::Flush)),
            (b"WS", 0, None),
            (b"FWS", 0, None),
            (b"DS", 8, Some(Kind::Discard)),
            (b"N", 8, None),
        ];
        for (flags, sectors, known) in cases {
            assert_eq!(kind(flags, sectors), known, "{}", String::from_utf8_lossy(flags));
        }
    }
}
