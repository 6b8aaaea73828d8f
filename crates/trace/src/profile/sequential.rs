//! Which I/Os continue an earlier one.

use std::collections::HashMap;

use crate::io::Io;

/// The streams that are followed on each device.
const STREAMS: usize = 32;
/// The most devices that are followed.
const DEVICES_MAX: usize = 1024;
/// How far before the end of an I/O the next may begin: a log writes its last page again.
const OVERLAP_BYTES: u64 = 8192;

/// How sequential reads, or writes, are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sequence {
    /// The share of I/Os, 0 to 1, that begin at the end of one of the last 32 streams of the same
    /// device and kind, or up to 8 KiB before, and end after it.
    pub sequential: f64,
    /// The share of I/Os that repeat exactly the last I/O of such a stream.
    pub repeated: f64,
    /// Mean bytes from the begin of a stream to the last I/O that continues it.
    pub run_bytes: f64,
}

/// The recent streams of each device, for one kind of I/O.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    devices: HashMap<u32, Vec<Recent>>,
    ios: u64,
    sequential: u64,
    repeated: u64,
    bytes: u128,
}

/// The last I/O of a stream.
#[derive(Debug, Clone, Copy)]
struct Recent {
    start: u64,
    end: u64,
}

impl Sequences {
    pub(super) fn add(&mut self, io: &Io) {
        if !self.devices.contains_key(&io.device) && self.devices.len() == DEVICES_MAX {
            return;
        }
        let recent = self.devices.entry(io.device).or_default();
        let (start, end) = (io.offset_bytes, io.offset_bytes.saturating_add(io.length_bytes));
        let repeats = |r: &Recent| start == r.start && end == r.end;
        let continues = |r: &Recent| {
            (r.end.saturating_sub(OVERLAP_BYTES)..=r.end).contains(&start) && end > r.end
        };
        let found = recent.iter().position(|r| continues(r) || repeats(r));
        self.ios += 1;
        match found.map(|index| recent.remove(index)) {
            Some(before) if repeats(&before) => self.repeated += 1,
            Some(before) => {
                self.sequential += 1;
                self.bytes += u128::from(end - before.end);
            }
            None => {
                recent.truncate(STREAMS - 1);
                self.bytes += u128::from(io.length_bytes);
            }
        }
        recent.insert(0, Recent { start, end });
    }

    pub(super) fn finish(self) -> Option<Sequence> {
        if self.ios == 0 {
            return None;
        }
        let runs = self.ios - self.sequential - self.repeated;
        let share = |count: u64| count as f64 / self.ios as f64;
        let (sequential, repeated) = (share(self.sequential), share(self.repeated));
        Some(Sequence { sequential, repeated, run_bytes: self.bytes as f64 / runs.max(1) as f64 })
    }
}
